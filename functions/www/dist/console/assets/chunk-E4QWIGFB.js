import{C as o}from"/console/assets/chunk-WX3KCQ2Z.js";var t=o("reports","export");export{t as a};
