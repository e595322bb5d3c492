// Written by functions/www/build.mjs.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https: http: data:; media-src https: http:; connect-src 'self' {socket}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
static PAGE: EmbeddedFile = EmbeddedFile { content_type: "text/html; charset=utf-8", identity: include_bytes!("index.html"), brotli: include_bytes!("index.html.br"), gzip: include_bytes!("index.html.gz") };
static ASSETS: [(&str, EmbeddedFile); 7] = [
    ("LICENSES-BC35CCFC.txt", EmbeddedFile { content_type: "text/plain; charset=utf-8", identity: include_bytes!("assets/LICENSES-BC35CCFC.txt"), brotli: include_bytes!("assets/LICENSES-BC35CCFC.txt.br"), gzip: include_bytes!("assets/LICENSES-BC35CCFC.txt.gz") }),
    ("boot-6IW7VBOT.js", EmbeddedFile { content_type: "text/javascript; charset=utf-8", identity: include_bytes!("assets/boot-6IW7VBOT.js"), brotli: include_bytes!("assets/boot-6IW7VBOT.js.br"), gzip: include_bytes!("assets/boot-6IW7VBOT.js.gz") }),
    ("emoji-list-5YEA7NJA.js", EmbeddedFile { content_type: "text/javascript; charset=utf-8", identity: include_bytes!("assets/emoji-list-5YEA7NJA.js"), brotli: include_bytes!("assets/emoji-list-5YEA7NJA.js.br"), gzip: include_bytes!("assets/emoji-list-5YEA7NJA.js.gz") }),
    ("icon-5QYTTSSS.svg", EmbeddedFile { content_type: "image/svg+xml", identity: include_bytes!("assets/icon-5QYTTSSS.svg"), brotli: include_bytes!("assets/icon-5QYTTSSS.svg.br"), gzip: include_bytes!("assets/icon-5QYTTSSS.svg.gz") }),
    ("icon-dot-S67IIGCE.svg", EmbeddedFile { content_type: "image/svg+xml", identity: include_bytes!("assets/icon-dot-S67IIGCE.svg"), brotli: include_bytes!("assets/icon-dot-S67IIGCE.svg.br"), gzip: include_bytes!("assets/icon-dot-S67IIGCE.svg.gz") }),
    ("main-5JUA7CX3.js", EmbeddedFile { content_type: "text/javascript; charset=utf-8", identity: include_bytes!("assets/main-5JUA7CX3.js"), brotli: include_bytes!("assets/main-5JUA7CX3.js.br"), gzip: include_bytes!("assets/main-5JUA7CX3.js.gz") }),
    ("main-SB4MR3OW.css", EmbeddedFile { content_type: "text/css; charset=utf-8", identity: include_bytes!("assets/main-SB4MR3OW.css"), brotli: include_bytes!("assets/main-SB4MR3OW.css.br"), gzip: include_bytes!("assets/main-SB4MR3OW.css.gz") }),
];
