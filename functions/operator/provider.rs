//! /operator/providers/{provider_id}: GET returns a bot provider, PATCH changes it, DELETE deletes it unless bots use
//! it.
//!
//! A request with a wrong operator key is rejected before any table request.

use std::process::ExitCode;

use shared::domain::deliveries::ssrf_guard::SsrfGuard;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::random_ids_and_secrets::OperatorKey;
use shared::service::{audit, auth};
use shared::store::directory::Directory;
use shared::wire::admin::{DeletedProvider, Provider, ProviderChanges};
use shared::wire::fields::values::True;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, OperatorKey, SsrfGuard);

async fn handle((directory, operator_key, guard): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("DELETE, GET, HEAD, PATCH")?;
    auth::operator(&operator_key, &request)?;
    let provider = directory.provider(&request.path_segment("provider_id")).await?.ok_or(Error::NotFound)?;
    match request.method.as_str() {
        "GET" => Ok(Response::ok(Provider::new(&provider))),
        "PATCH" => {
            let changed = request.body_as::<ProviderChanges>()?.applied_to(&provider, &guard)?;
            directory.save_provider(&provider, &changed).await?;
            audit::log_provider_change(&request, &changed, "changed");
            Ok(Response::ok(Provider::new(&changed)))
        }
        "DELETE" => {
            directory.delete_provider(&provider.provider_id).await?;
            audit::log_provider_change(&request, &provider, "deleted");
            Ok(Response::ok(DeletedProvider { provider_id: provider.provider_id, deleted: True }))
        }
        _ => Err(request.unexpected_method()),
    }
}
