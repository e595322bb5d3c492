//! /admin/settings/webhooks/{webhook_id}: PATCH changes a webhook, DELETE deletes it.
//!
//! If a concurrent request changes the settings, they are read and edited again. An agent without the admin role gets
//! 403 after the session has been read.

use std::process::ExitCode;

use shared::domain::accounts::account_settings::AccountSettings;
use shared::domain::deliveries::ssrf_guard::SsrfGuard;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::random_ids_and_secrets::random_signing_key;
use shared::service::webhooks::find_webhook;
use shared::service::{audit, auth};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::webhook_settings::{DeletedWebhook, Webhook, WebhookChanges};
use shared::wire::fields::values::True;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, SsrfGuard);

async fn handle((directory, chats, connections, guard): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("DELETE, PATCH")?;
    let caller = auth::admin(&connections, &request).await?;
    let directory = audit::by_agent(&directory, &caller, &request);
    let (account_id, webhook_id) = (&caller.account_id, request.path_segment("webhook_id"));
    match request.method.as_str() {
        "PATCH" => {
            let (changes, new_key): (WebhookChanges, _) = (request.body_as()?, random_signing_key()?);
            let edit = |settings: &mut AccountSettings| {
                let webhook = find_webhook(settings, &webhook_id)?;
                *webhook = changes.clone().applied_to(webhook, &new_key, &guard)?;
                Ok(Webhook::new(webhook))
            };
            if changes.reports_statuses() {
                chats.watch_statuses(account_id, clock::now()).await?;
            }
            let (_, shown) = directory.edit_settings(account_id, edit).await?;
            Ok(Response::ok(shown))
        }
        "DELETE" => {
            let edit = |settings: &mut AccountSettings| {
                find_webhook(settings, &webhook_id)?;
                settings.webhooks.retain(|webhook| webhook.webhook_id != webhook_id);
                Ok(())
            };
            directory.edit_settings(account_id, edit).await?;
            Ok(Response::ok(DeletedWebhook { webhook_id, deleted: True }))
        }
        _ => Err(request.unexpected_method()),
    }
}
