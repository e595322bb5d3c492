var e=new Set(["photo","sticker","video","audio","voice"]),o=new Set([...e,"document","location"]);export{e as a,o as b};
