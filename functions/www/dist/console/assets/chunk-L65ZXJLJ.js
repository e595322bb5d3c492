import{g as r,i as t}from"/console/assets/chunk-XABV3TOB.js";function o(){let e=t(!0);return r(()=>()=>{e.current=!1},[]),e}export{o as a};
