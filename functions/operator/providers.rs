//! /operator/providers: POST registers a bot provider, GET lists the providers. /operator/providers/{provider_id}: GET
//! returns a provider, PATCH changes it, DELETE deletes it unless bots use it. A provider belongs to no account, so its
//! changes are in the log of the function and not in an audit log.
//!
//! A request with a wrong operator key is rejected before any table request.

use std::process::ExitCode;

use serde_json::json;
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
        directory.create_provider(&provider).await?;
        log_change(&request, &provider, "created");
        return Ok(Response::created(admin::provider_json(&provider)));
    }
    if !request.has_path_segment("provider_id") {
        return Ok(Response::ok(admin::providers_json(&directory.providers().await?)));
    }
    let provider = directory.provider(&request.path_segment("provider_id")).await?.ok_or(Error::NotFound)?;
    if request.method == "PATCH" {
        let changed = admin::apply_provider_patch(&request.json()?, provider.clone(), &guard)?;
        directory.save_provider(&provider, &changed).await?;
        log_change(&request, &changed, "changed");
        return Ok(Response::ok(admin::provider_json(&changed)));
    }
    if request.method == "DELETE" {
        directory.delete_provider(&provider.provider_id).await?;
        log_change(&request, &provider, "deleted");
        return Ok(Response::ok(json!({ "provider_id": provider.provider_id, "deleted": true })));
    }
    Ok(Response::ok(admin::provider_json(&provider)))
}

fn log_change(request: &Request, provider: &Provider, change: &'static str) {
    let (provider_id, source_address) = (&provider.provider_id, request.source_address());
    tracing::info!(provider_id, source_address, change, "bot provider changed by the operator");
}
