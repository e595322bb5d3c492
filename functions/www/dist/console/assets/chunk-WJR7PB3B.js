import{E as o}from"/console/assets/chunk-SWCIPYXE.js";var t=o("reports","export");export{t as a};
