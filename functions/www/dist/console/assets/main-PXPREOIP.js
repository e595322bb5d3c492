import{I as r,Va as i,Ya as n,b as a,m as e,y as o,z as t}from"/console/assets/chunk-IHYPZA5O.js";o();e();r(i.map(({name:c})=>c));var l=document.getElementById("root");l!==null&&a(t(n,{}),l);
