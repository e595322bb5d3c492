import{f as r,h as t}from"/console/assets/chunk-KFJJSH3H.js";function o(){let e=t(!0);return r(()=>()=>{e.current=!1},[]),e}export{o as a};
