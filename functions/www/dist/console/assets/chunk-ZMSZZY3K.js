import{E as o}from"/console/assets/chunk-KFJJSH3H.js";var t=o("reports","export");export{t as a};
