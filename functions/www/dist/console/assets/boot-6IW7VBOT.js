"use strict";(()=>{try{let t=JSON.parse(localStorage.getItem("switchboard.theme")??"null");(t==="light"||t==="dark")&&(document.documentElement.dataset.theme=t)}catch{}})();
