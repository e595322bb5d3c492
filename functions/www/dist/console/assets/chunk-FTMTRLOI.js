import{E as t}from"/console/assets/chunk-W2NRHRSH.js";var s=t("settings","rules"),e=t("settings","audit");export{s as a,e as b};
