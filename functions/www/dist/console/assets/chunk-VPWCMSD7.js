import{E as o}from"/console/assets/chunk-AGOQWMCG.js";var t=o("reports","export");export{t as a};
