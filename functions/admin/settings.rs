//! /admin/settings: GET returns the account's settings and the trigger rules, PUT changes them. The settings include
//! the URL of the first webhook (specification, part C).
//!
//! If a concurrent request changes the settings, they are read and edited again. An agent without the admin role gets
//! 403 after the session has been read.

use std::process::ExitCode;

use shared::domain::accounts::account_settings::AccountSettings;
use shared::domain::deliveries::ssrf_guard::SsrfGuard;
use shared::domain::deliveries::webhook::{MAX_WEBHOOKS, Webhook, WebhookTarget};
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::mail_domain::MailDomain;
use shared::service::{audit, auth, webhooks};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::settings::{self, AccountSettingsChanges, StackParameters};
use shared::wire::fields::values::Change;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, SsrfGuard, MailDomain);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    let (directory, chats, connections, guard, mail_domain) = dependencies;
    let stack = StackParameters { allows_http: guard.allows_http(), mail_domain: mail_domain.get() };
    request.require_method("GET, HEAD, PUT")?;
    let caller = auth::admin(&connections, &request).await?;
    Ok(Response::ok(match request.method.as_str() {
        "GET" => show(&directory, stack, &caller.account_id).await?,
        "PUT" => {
            let directory = audit::by_agent(&directory, &caller, &request);
            update((&directory, &chats, &guard), stack, &caller.account_id, &request.body_as()?).await?
        }
        _ => return Err(request.unexpected_method()),
    }))
}

async fn show(
    directory: &Directory,
    stack: StackParameters<'_>,
    account_id: &str,
) -> Result<settings::AccountSettings, Error> {
    let rules = directory.widget_rules(account_id).await?;
    Ok(settings::AccountSettings::new(account_id, &directory.settings(account_id).await?, rules, stack, clock::now()))
}

/// Changes the fields that are in the body. `webhook_url` is the URL of the first webhook. If this request creates the
/// webhook, its response is the only one that shows the signing secret.
async fn update(
    (directory, chats, guard): (&Directory, &Chats, &SsrfGuard),
    stack: StackParameters<'_>,
    account_id: &str,
    changes: &AccountSettingsChanges,
) -> Result<settings::AccountSettings, Error> {
    if changes.set_email() && stack.mail_domain.is_none() {
        return Err(Error::Conflict("this service sends no e-mails: its operator has not set MailDomain"));
    }
    let (url, rules) = (changes.webhook_url(guard)?, changes.rules()?);
    let new_webhook = webhooks::new_webhook()?;
    plan_retention_pass(directory, chats, account_id, changes).await?;
    let edit = |settings: &mut AccountSettings| {
        *settings = changes.applied_to(settings)?;
        settings.inbox = changes.inbox(&settings.inbox)?;
        change_first_webhook(settings, &url, &new_webhook)
    };
    let (settings, is_created) = directory.edit_settings(account_id, edit).await?;
    let rules = match rules {
        Some(rules) => {
            directory.save_widget_rules(account_id, &rules).await?;
            rules
        }
        None => directory.widget_rules(account_id).await?,
    };
    let shown = settings::AccountSettings::new(account_id, &settings, rules, stack, clock::now());
    Ok(if is_created { shown.with_signing_secret(&settings) } else { shown })
}

/// If the body changes the retention period, plans a retention pass, which later applies the new period to closed
/// chats. The pass is planned before the setting is stored. If the process dies between the two writes, the pass
/// changes nothing, and a repeated request plans another pass. If the setting were stored first, a repeated request
/// would find no change and plan no pass.
async fn plan_retention_pass(
    directory: &Directory,
    chats: &Chats,
    account_id: &str,
    changes: &AccountSettingsChanges,
) -> Result<(), Error> {
    if !changes.contain_retention_days() {
        return Ok(());
    }
    let before = directory.settings(account_id).await?;
    let has_changed = changes.applied_to(&before)?.retention_days != before.retention_days;
    if has_changed { chats.plan_retention_pass(account_id, clock::now()).await } else { Ok(()) }
}

/// Sets or removes `webhook_url` (specification, part C), which is the URL of the first webhook whose target is a
/// server. Returns whether a webhook was created.
fn change_first_webhook(
    settings: &mut AccountSettings,
    url: &Change<String>,
    new_webhook: &Webhook,
) -> Result<bool, Error> {
    let is_server = |webhook: &Webhook| webhook.target == WebhookTarget::Server;
    let servers = settings.webhooks.iter().filter(|webhook| is_server(webhook)).count();
    let is_full = settings.webhooks.len() >= MAX_WEBHOOKS;
    match (url, settings.webhooks.iter_mut().find(|webhook| is_server(webhook))) {
        (Change::Unchanged, _) => {}
        (Change::Set(url), Some(first)) => first.url.clone_from(url),
        (Change::Set(_), None) if is_full => return Err(Error::Conflict("an account has at most 10 webhooks")),
        (Change::Set(url), None) => {
            settings.webhooks.push(Webhook { url: url.clone(), ..new_webhook.clone() });
            return Ok(true);
        }
        (Change::Cleared, _) if servers < 2 => settings.webhooks.retain(|webhook| !is_server(webhook)),
        // If the first of several webhooks were removed, each repetition of the request would remove another one.
        (Change::Cleared, _) => return Err(Error::Conflict("there are several webhooks: delete one by its id")),
    }
    Ok(false)
}
