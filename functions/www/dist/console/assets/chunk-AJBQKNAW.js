function e(n){return n===null?"":typeof n=="number"?String(n):`"${/^[=+\-@\t\r＝＋－＠]/.test(n)?"'":""}${n.replaceAll('"','""')}"`}var o="\uFEFF",s=(n,r)=>o+[n,...r].map(t=>`${t.map(e).join(",")}\r
`).join(""),i=n=>n.split('"').filter((r,t)=>t%2===0).reduce((r,t)=>r+t.split(`
`).length-1,0);export{o as a,s as b,i as c};
