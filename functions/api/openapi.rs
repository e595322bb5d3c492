//! GET /openapi.json: returns `docs/openapi.json`, which describes every HTTP endpoint (OpenAPI 3.1).

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::http::{self, Request, Response};

static OPENAPI_DOCUMENT: &str = include_str!("../../docs/openapi.json");

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((): (), request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    Ok(Response::embedded_json(OPENAPI_DOCUMENT, &request))
}
