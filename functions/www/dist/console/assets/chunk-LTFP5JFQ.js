import{C as o}from"/console/assets/chunk-WX3KCQ2Z.js";var i=o("deliveries","webhooks"),r=e=>o("deliveries",`webhooks/${e}`);export{i as a,r as b};
