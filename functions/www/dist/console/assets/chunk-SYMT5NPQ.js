import{g as r,i as t}from"/console/assets/chunk-W2NRHRSH.js";function o(){let e=t(!0);return r(()=>()=>{e.current=!1},[]),e}export{o as a};
