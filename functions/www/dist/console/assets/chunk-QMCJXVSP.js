import{n}from"/console/assets/chunk-WX3KCQ2Z.js";var a=({label:e,text:t})=>n("pre",{class:"code-block scroll",tabIndex:0,role:"region","aria-label":e,dir:"ltr",children:t});function p(e){try{return JSON.stringify(JSON.parse(e),void 0,2)}catch{return e}}function $({method:e,url:t,headers:i,body:r,body_truncated:s}){return`${[`${e} ${t}`,...i.map(({name:o,value:l})=>`${o}: ${l}`)].join(`
`)}

${s?`${r}…`:p(r)}`}export{a,p as b,$ as c};
