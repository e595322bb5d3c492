import{E as o}from"/console/assets/chunk-XABV3TOB.js";var i=o("deliveries","webhooks"),r=e=>o("deliveries",`webhooks/${e}`);export{i as a,r as b};
