//! GET /reference: returns the page that `functions/www/build-reference.mjs` renders from `docs/openapi.json`.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::http::{self, EmbeddedFile, Request, Response};

include!("../www/dist/reference/files.rs");

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((): (), request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    Ok(Response::file(&PAGE, "public, max-age=300", &request).with_headers([
        ("content-security-policy", CONTENT_SECURITY_POLICY.to_owned()),
        ("referrer-policy", "no-referrer".to_owned()),
    ]))
}
