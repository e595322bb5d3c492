import{E as o}from"/console/assets/chunk-UU35XI5N.js";var t=o("reports","export");export{t as a};
