function d(n){let e=/^#?([1-9]\d{0,14})$/.exec(n.trim())?.[1];return e===void 0?void 0:Number(e)}export{d as a};
