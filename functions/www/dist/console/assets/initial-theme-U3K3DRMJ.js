"use strict";(()=>{try{let e=JSON.parse(localStorage.getItem("switchboard.theme")??"null");(e==="light"||e==="dark")&&(document.documentElement.dataset.theme=e)}catch{}})();
