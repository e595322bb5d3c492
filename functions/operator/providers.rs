//! /operator/providers: POST registers a bot provider, GET lists the providers.
//!
//! A request with a wrong operator key is rejected before any table request.

use std::process::ExitCode;

use shared::domain::deliveries::ssrf_guard::SsrfGuard;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::random_ids_and_secrets::{self, OperatorKey};
use shared::service::{audit, auth};
use shared::store::directory::Directory;
use shared::wire::admin::{NewProvider, Provider, Providers};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, OperatorKey, SsrfGuard);

async fn handle((directory, operator_key, guard): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD, POST")?;
    auth::operator(&operator_key, &request)?;
    match request.method.as_str() {
        "POST" => register(&directory, &guard, &request).await,
        "GET" => Ok(Response::ok(Providers::new(&directory.providers().await?))),
        _ => Err(request.unexpected_method()),
    }
}

async fn register(directory: &Directory, guard: &SsrfGuard, request: &Request) -> Result<Response, Error> {
    let new: NewProvider = request.body_as()?;
    let provider = new.into_provider(random_ids_and_secrets::random_identifier()?, clock::now(), guard)?;
    directory.create_provider(&provider).await?;
    audit::log_provider_change(request, &provider, "created");
    Ok(Response::created(Provider::new(&provider)))
}
