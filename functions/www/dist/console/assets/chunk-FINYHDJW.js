import{B as l}from"/console/assets/chunk-76CLFWLT.js";var $=({label:t,text:e})=>l("pre",{class:"code-block scroll",tabIndex:0,role:"region","aria-label":t,dir:"ltr",children:e});function p(t){try{return JSON.stringify(JSON.parse(t),void 0,2)}catch{return t}}function x({method:t,url:e,headers:s,body:n,body_truncated:r}){return`${[`${t} ${e}`,...s.map(({name:c,value:a})=>`${c}: ${a}`)].join(`
`)}

${r?`${n}…`:p(n)}`}var o=t=>`'${t.replaceAll("'","'\\''")}'`,u=new Set(["host","content-length"]);function S({method:t,url:e,headers:s,body:n}){return[`curl -X ${t} ${o(e)}`,...s.filter(({name:r})=>!u.has(r.toLowerCase())).map(({name:r,value:i})=>`-H ${o(`${r}: ${i}`)}`),...n===""?[]:[`--data-raw ${o(n)}`]].join(` \\
  `)}export{$ as a,p as b,x as c,S as d};
