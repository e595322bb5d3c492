import{E as o}from"/console/assets/chunk-W2NRHRSH.js";var t=o("reports","export");export{t as a};
