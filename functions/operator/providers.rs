//! POST /operator/providers: the operator registers a bot provider; /operator/providers/{provider_id}: GET, PATCH.

use std::process::ExitCode;

use shared::domain::bot::Provider;
use shared::domain::target_guard::Guard;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::secret::{self, OperatorKey};
use shared::service::auth;
use shared::store::directory::Directory;
use shared::wire::admin;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, OperatorKey, Guard);

async fn handle((directory, operator_key, guard): Dependencies, request: Request) -> Result<Response, Error> {
    auth::operator(&operator_key, &request)?;
    if request.method == "POST" {
        let nothing = Provider {
            provider_id: secret::identifier()?,
            name: String::new(),
            endpoint: String::new(),
            authorization_hash: None,
            created_at: clock::now(),
        };
        let provider = admin::changed_provider(&request.json()?, nothing, &guard)?;
        directory.save_provider(&provider).await?;
        return Ok(Response::created(admin::provider(&provider)));
    }
    let mut provider = directory.provider(&request.segment("provider_id")).await?.ok_or(Error::NotFound)?;
    if request.method == "PATCH" {
        provider = admin::changed_provider(&request.json()?, provider, &guard)?;
        directory.save_provider(&provider).await?;
    }
    Ok(Response::ok(admin::provider(&provider)))
}
