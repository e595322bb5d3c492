function o(t,n,c){let e=URL.createObjectURL(new Blob([...c],{type:n}));Object.assign(document.createElement("a"),{href:e,download:t}).click(),URL.revokeObjectURL(e)}export{o as a};
