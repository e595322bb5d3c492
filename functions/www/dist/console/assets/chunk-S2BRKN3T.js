import{C as o}from"/console/assets/chunk-K64IBDBP.js";var t=o("reports","export");export{t as a};
