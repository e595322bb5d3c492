function s(t){let r=t.split(/[\s,;]+/).map(e=>e.replace(/^[a-z][a-z\d+.-]*:\/\//i,"").replace(/[/?#].*$/,"").replace(/:\d+$/,"")).filter(e=>e!=="");return[...new Set(r)]}export{s as a};
