// Written by functions/www/build.mjs.
static LOADER: EmbeddedFile = EmbeddedFile { content_type: "text/javascript; charset=utf-8", identity: include_bytes!("widget.js"), brotli: include_bytes!("widget.js.br"), gzip: include_bytes!("widget.js.gz") };
static ASSETS: [(&str, EmbeddedFile); 10] = [
    ("ar-AQ2U62LS.js", EmbeddedFile { content_type: "text/javascript; charset=utf-8", identity: include_bytes!("assets/ar-AQ2U62LS.js"), brotli: include_bytes!("assets/ar-AQ2U62LS.js.br"), gzip: include_bytes!("assets/ar-AQ2U62LS.js.gz") }),
    ("call-4R5AUK52.js", EmbeddedFile { content_type: "text/javascript; charset=utf-8", identity: include_bytes!("assets/call-4R5AUK52.js"), brotli: include_bytes!("assets/call-4R5AUK52.js.br"), gzip: include_bytes!("assets/call-4R5AUK52.js.gz") }),
    ("de-5M4NBICC.js", EmbeddedFile { content_type: "text/javascript; charset=utf-8", identity: include_bytes!("assets/de-5M4NBICC.js"), brotli: include_bytes!("assets/de-5M4NBICC.js.br"), gzip: include_bytes!("assets/de-5M4NBICC.js.gz") }),
    ("en-QBEU7H7P.js", EmbeddedFile { content_type: "text/javascript; charset=utf-8", identity: include_bytes!("assets/en-QBEU7H7P.js"), brotli: include_bytes!("assets/en-QBEU7H7P.js.br"), gzip: include_bytes!("assets/en-QBEU7H7P.js.gz") }),
    ("es-WKXWAIEZ.js", EmbeddedFile { content_type: "text/javascript; charset=utf-8", identity: include_bytes!("assets/es-WKXWAIEZ.js"), brotli: include_bytes!("assets/es-WKXWAIEZ.js.br"), gzip: include_bytes!("assets/es-WKXWAIEZ.js.gz") }),
    ("fr-TQF6ZGIM.js", EmbeddedFile { content_type: "text/javascript; charset=utf-8", identity: include_bytes!("assets/fr-TQF6ZGIM.js"), brotli: include_bytes!("assets/fr-TQF6ZGIM.js.br"), gzip: include_bytes!("assets/fr-TQF6ZGIM.js.gz") }),
    ("main-C6VKYXYF.js", EmbeddedFile { content_type: "text/javascript; charset=utf-8", identity: include_bytes!("assets/main-C6VKYXYF.js"), brotli: include_bytes!("assets/main-C6VKYXYF.js.br"), gzip: include_bytes!("assets/main-C6VKYXYF.js.gz") }),
    ("pt-TWPDNF3X.js", EmbeddedFile { content_type: "text/javascript; charset=utf-8", identity: include_bytes!("assets/pt-TWPDNF3X.js"), brotli: include_bytes!("assets/pt-TWPDNF3X.js.br"), gzip: include_bytes!("assets/pt-TWPDNF3X.js.gz") }),
    ("ru-EYPO6GM7.js", EmbeddedFile { content_type: "text/javascript; charset=utf-8", identity: include_bytes!("assets/ru-EYPO6GM7.js"), brotli: include_bytes!("assets/ru-EYPO6GM7.js.br"), gzip: include_bytes!("assets/ru-EYPO6GM7.js.gz") }),
    ("zh-GACI4PWL.js", EmbeddedFile { content_type: "text/javascript; charset=utf-8", identity: include_bytes!("assets/zh-GACI4PWL.js"), brotli: include_bytes!("assets/zh-GACI4PWL.js.br"), gzip: include_bytes!("assets/zh-GACI4PWL.js.gz") }),
];
