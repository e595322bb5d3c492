//! POST /operator/providers: registers a bot provider. /operator/providers/{provider_id}: GET returns a provider, PATCH
//! changes it.
//!
//! POST costs one write, GET one read, and PATCH one read and one write. A request with a wrong operator key is
//! rejected before any table request.

use std::process::ExitCode;

use shared::domain::bot::Provider;
use shared::domain::ssrf_guard::SsrfGuard;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::random_ids_and_secrets::{self, OperatorKey};
use shared::service::auth;
use shared::store::directory::Directory;
use shared::wire::admin;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, OperatorKey, SsrfGuard);

async fn handle((directory, operator_key, guard): Dependencies, request: Request) -> Result<Response, Error> {
    auth::operator(&operator_key, &request)?;
    if request.method == "POST" {
        let blank = Provider {
            provider_id: random_ids_and_secrets::random_identifier()?,
            name: String::new(),
            endpoint: String::new(),
            authorization_hash: None,
            created_at: clock::now(),
        };
        let provider = admin::apply_provider_patch(&request.json()?, blank, &guard)?;
        directory.save_provider(&provider).await?;
        return Ok(Response::created(admin::provider_json(&provider)));
    }
    let mut provider = directory.provider(&request.path_segment("provider_id")).await?.ok_or(Error::NotFound)?;
    if request.method == "PATCH" {
        provider = admin::apply_provider_patch(&request.json()?, provider, &guard)?;
        directory.save_provider(&provider).await?;
    }
    Ok(Response::ok(admin::provider_json(&provider)))
}
