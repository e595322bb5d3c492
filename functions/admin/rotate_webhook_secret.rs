//! POST /admin/settings/webhooks/{webhook_id}/rotate: creates a new signing secret and, for a webhook with an Ed25519
//! signature, a new key pair. A webhook whose events are fetched gets a new address for that. Each older secret, key and
//! address stays valid until its expiry time. If two requests rotate the secret concurrently, one of them gets 409.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::domain::accounts::account_settings::AccountSettings;
use shared::domain::deliveries::webhook::NewSecrets;
use shared::domain::sha256;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::public_base_url::{PublicBaseUrl, webhook_endpoint};
use shared::runtime::{clock, random_ids_and_secrets};
use shared::service::webhooks::find_webhook;
use shared::service::{audit, auth};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::signing_secret::SecretRotation;
use shared::wire::admin::webhook_settings::WebhookWithSecret;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Connections, PublicBaseUrl);

async fn handle((directory, connections, public_url): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let (account_id, webhook_id) = (&caller.account_id, request.path_segment("webhook_id"));
    let now = clock::now();
    let old_until = request.optional_body_as::<SecretRotation>()?.old_valid_until(now);
    let (secret, key) =
        (random_ids_and_secrets::random_signing_secret()?, random_ids_and_secrets::random_signing_key()?);
    let pull_secret = random_ids_and_secrets::random_token()?;
    let new = NewSecrets { signing_secret: &secret, signing_key: &key, pull_hash: sha256::digest(&pull_secret) };
    let pull_url = webhook_endpoint(&public_url.of_request(&request), &pull_secret, account_id, &webhook_id);
    let before = find_webhook(&mut directory.settings(account_id).await?, &webhook_id)?.clone();
    let edit = |settings: &mut AccountSettings| {
        let webhook = find_webhook(settings, &webhook_id)?;
        if !webhook.rotate_if_unchanged(&before, &new, now, old_until) {
            return Err(Error::Conflict("the secret is being rotated by another request"));
        }
        Ok(WebhookWithSecret::new(webhook, &secret, pull_url.clone()))
    };
    let (_, shown) = audit::by_agent(&directory, &caller, &request).edit_settings(account_id, edit).await?;
    Ok(Response::ok(shown))
}
