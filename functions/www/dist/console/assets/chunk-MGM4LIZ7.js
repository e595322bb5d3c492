import{C as t}from"/console/assets/chunk-K64IBDBP.js";var s=t("settings","rules"),e=t("settings","audit");export{s as a,e as b};
