import{d as r,f as t}from"/console/assets/chunk-WTY6DKZO.js";function o(){let e=t(!0);return r(()=>()=>{e.current=!1},[]),e}export{o as a};
