import{I as l}from"/console/assets/chunk-WTY6DKZO.js";var $=({label:t,text:e})=>l("pre",{class:"code-block scroll",tabIndex:0,role:"region","aria-label":t,dir:"ltr",children:e});function u(t){try{return JSON.stringify(JSON.parse(t),void 0,2)}catch{return t}}function x({method:t,url:e,headers:n,body:r,body_truncated:s}){return`${[`${t} ${e}`.trim(),...n.map(({name:c,value:a})=>`${c}: ${a}`)].join(`
`)}

${s?`${r}…`:u(r)}`}var o=t=>`'${t.replaceAll("'","'\\''")}'`,p=new Set(["host","content-length"]),f=({method:t,url:e,body_truncated:n})=>t==="POST"&&e!==""&&!n;function d({method:t,url:e,headers:n,body:r}){return[`curl -X ${t} ${o(e)}`,...n.filter(({name:s})=>!p.has(s.toLowerCase())).map(({name:s,value:i})=>`-H ${o(`${s}: ${i}`)}`),...r===""?[]:[`--data-raw ${o(r)}`]].join(` \\
  `)}export{$ as a,u as b,x as c,f as d,d as e};
