//! POST /admin/settings/webhooks/{webhook_id}/rotate: creates a new signing secret and, for a webhook with an Ed25519
//! signature, a new key pair. Requests are also signed with each older secret and key until its expiry time. If two requests rotate the secret concurrently, one of them gets 409.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::domain::accounts::account_settings::AccountSettings;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
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

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let (account_id, webhook_id) = (&caller.account_id, request.path_segment("webhook_id"));
    let now = clock::now();
    let old_until = request.optional_body_as::<SecretRotation>()?.old_valid_until(now);
    let secret = random_ids_and_secrets::random_signing_secret()?;
    let key = random_ids_and_secrets::random_signing_key()?;
    let before = find_webhook(&mut directory.settings(account_id).await?, &webhook_id)?.clone();
    let edit = |settings: &mut AccountSettings| {
        let webhook = find_webhook(settings, &webhook_id)?;
        if !webhook.rotate_if_unchanged(&before, (&secret, &key), now, old_until) {
            return Err(Error::Conflict("the secret is being rotated by another request"));
        }
        Ok(WebhookWithSecret::new(webhook, &secret))
    };
    let (_, shown) = audit::by_agent(&directory, &caller, &request).edit_settings(account_id, edit).await?;
    Ok(Response::ok(shown))
}
