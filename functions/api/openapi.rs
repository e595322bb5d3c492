//! GET /openapi.json: the document of every endpoint (OpenAPI 3.1), `docs/openapi.json`. Touches nothing.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::http::{self, Request, Response};

static DOCUMENT: &str = include_str!("../../docs/openapi.json");

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((): (), request: Request) -> Result<Response, Error> {
    Ok(Response::document(DOCUMENT, &request))
}
