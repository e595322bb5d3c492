import{E as o}from"/console/assets/chunk-PRSPOZHS.js";var t=o("reports","export");export{t as a};
