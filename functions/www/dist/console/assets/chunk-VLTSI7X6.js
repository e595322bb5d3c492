import{E as o}from"/console/assets/chunk-XABV3TOB.js";var t=o("reports","export");export{t as a};
