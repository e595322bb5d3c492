import{E as o}from"/console/assets/chunk-W2NRHRSH.js";var i=o("deliveries","webhooks"),r=e=>o("deliveries",`webhooks/${e}`);export{i as a,r as b};
