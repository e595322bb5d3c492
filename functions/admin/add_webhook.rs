//! POST /admin/settings/webhooks: adds a webhook. The response shows the webhook's signing secret and, if a program
//! fetches the events, the secret address for that. No later response shows them. The public key of an Ed25519
//! signature is shown in every response.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::domain::accounts::account_settings::AccountSettings;
use shared::domain::deliveries::ssrf_guard::SsrfGuard;
use shared::domain::deliveries::webhook::MAX_WEBHOOKS;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::public_base_url::{PublicBaseUrl, webhook_endpoint};
use shared::runtime::random_ids_and_secrets::random_signing_key;
use shared::service::{audit, auth, webhooks};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::webhook_settings::{NewWebhook, WebhookWithSecret};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, SsrfGuard, PublicBaseUrl);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    let (directory, chats, connections, guard, public_url) = dependencies;
    let caller = auth::admin(&connections, &request).await?;
    let (blank, new_key) = (webhooks::new_webhook()?, random_signing_key()?);
    let webhook = request.body_as::<NewWebhook>()?.into_webhook(blank, &new_key, &guard)?;
    let (webhook, pull_secret) = webhooks::with_pull_secret(webhook)?;
    let edit = |settings: &mut AccountSettings| {
        if settings.webhooks.len() >= MAX_WEBHOOKS {
            return Err(Error::Conflict("an account has at most 10 webhooks"));
        }
        settings.webhooks.push(webhook.clone());
        Ok(())
    };
    let directory = audit::by_agent(&directory, &caller, &request);
    // After the webhook is stored, no error may keep its secrets from the admin.
    if webhook.reports_statuses() {
        chats.watch_statuses(&caller.account_id, clock::now()).await?;
    }
    directory.edit_settings(&caller.account_id, edit).await?;
    let secret = webhook.secrets.current().ok_or_else(|| Error::internal("the webhook has no signing secret"))?;
    let base_url = public_url.of_request(&request);
    let pull_url = webhook_endpoint(&base_url, &pull_secret, &caller.account_id, &webhook.webhook_id);
    Ok(Response::created(WebhookWithSecret::new(&webhook, secret, pull_url)))
}
