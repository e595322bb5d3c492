import{C as o}from"/console/assets/chunk-YPUIWHDR.js";var t=o("reports","export");export{t as a};
