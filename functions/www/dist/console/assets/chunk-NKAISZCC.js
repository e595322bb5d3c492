import{C as t}from"/console/assets/chunk-WX3KCQ2Z.js";var s=t("settings","rules"),e=t("settings","audit");export{s as a,e as b};
