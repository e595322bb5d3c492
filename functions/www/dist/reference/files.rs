// Written by functions/www/build.mjs.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'sha256-xLwl4v5d4u7e6KxGoxkqWxysYSJLvUiQUG9lSRBaPRs='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
static PAGE: EmbeddedFile = EmbeddedFile { content_type: "text/html; charset=utf-8", identity: include_bytes!("index.html"), brotli: include_bytes!("index.html.br"), gzip: include_bytes!("index.html.gz") };
