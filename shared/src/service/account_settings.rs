//! The admin endpoints that manage an account's settings, its webhooks, and the webhooks' signing secrets.

use std::time::Duration;

use serde_json::{Value, json};

use crate::delivery::outbound_client::OutboundClient;
use crate::delivery::webhook_request;
use crate::domain::account_settings::AccountSettings;
use crate::domain::audit::{AuditAction, AuditedChange, AuditedKind};
use crate::domain::delivery::Outcome;
use crate::domain::signing_secret::SigningSecrets;
use crate::domain::timestamp::Timestamp;
use crate::domain::webhook::{MAX_WEBHOOKS, Webhook};
use crate::error::Error;
use crate::runtime::http::Response;
use crate::runtime::random_ids_and_secrets;
use crate::service::receiver_test;
use crate::store::chats::Chats;
use crate::store::directory::Directory;
use crate::wire::{admin, settings, webhook_sample};

/// Each public method handles one endpoint.
pub struct AccountSettingsService<'a> {
    pub account_id: &'a str,
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub outbound: &'a OutboundClient,
    pub now: Timestamp,
}

impl AccountSettingsService<'_> {
    /// Returns the settings and the trigger rules.
    pub async fn get(&self) -> Result<Response, Error> {
        let rules = self.directory.widget_rules(self.account_id).await?;
        let settings = self.directory.settings(self.account_id).await?;
        Ok(self.settings_response(settings::settings_json(&settings, &rules)))
    }

    /// Adds which receivers the stack allows. This is not a setting of the account.
    fn settings_response(&self, settings: Value) -> Response {
        let allows_http = self.outbound.guard().allows_http();
        Response::ok(settings::with_receiver_rules(settings, allows_http))
    }

    /// Changes the fields that are in the body. `webhook_url` is the URL of the first webhook. If this request creates
    /// the webhook, its response is the only one that shows the signing secret.
    pub async fn update(&self, body: &Value) -> Result<Response, Error> {
        let (url, rules) = (settings::parse_webhook_url(body, self.outbound.guard())?, settings::parse_rules(body)?);
        let new_webhook = self.new_webhook()?;
        self.plan_retention_pass(body).await?;
        let edit = |settings: &mut AccountSettings| {
            *settings = settings::apply_settings_patch(body, settings.clone())?;
            url.as_ref().map_or(Ok(false), |url| set_first_webhook_url(settings, url.as_ref(), &new_webhook))
        };
        let (settings, is_created) = self.directory.edit_settings(self.account_id, edit).await?;
        let rules = match rules {
            Some(rules) => {
                self.directory.save_widget_rules(self.account_id, &rules).await?;
                rules
            }
            None => self.directory.widget_rules(self.account_id).await?,
        };
        let to_json = if is_created { settings::settings_with_secret_json } else { settings::settings_json };
        Ok(self.settings_response(to_json(&settings, &rules)))
    }

    /// If the body changes the retention period, plans a retention pass, which later applies the new period to closed
    /// chats. The pass is planned before the setting is stored. If the process dies between the two writes, the pass
    /// changes nothing, and a repeated request plans another pass. If the setting were stored first, a repeated request
    /// would find no change and plan no pass.
    async fn plan_retention_pass(&self, body: &Value) -> Result<(), Error> {
        if body.get("retention_days").is_none() {
            return Ok(());
        }
        let before = self.directory.settings(self.account_id).await?;
        let has_changed = settings::apply_settings_patch(body, before.clone())?.retention_days != before.retention_days;
        if has_changed { self.chats.plan_retention_pass(self.account_id, self.now).await } else { Ok(()) }
    }

    /// Creates a webhook. The response shows the webhook's signing secret. No later response shows this secret.
    pub async fn add_webhook(&self, body: &Value) -> Result<Response, Error> {
        let webhook = settings::apply_webhook_patch(body, self.new_webhook()?, self.outbound.guard())?;
        let edit = |settings: &mut AccountSettings| {
            if settings.webhooks.len() >= MAX_WEBHOOKS {
                return Err(Error::Conflict("an account has at most 10 webhooks"));
            }
            settings.webhooks.push(webhook.clone());
            Ok(())
        };
        self.directory.edit_settings(self.account_id, edit).await?;
        let secret = webhook.secrets.current().ok_or_else(|| Error::internal("the webhook has no signing secret"))?;
        Ok(Response::created(settings::webhook_with_secret_json(&webhook, secret)))
    }

    pub async fn update_webhook(&self, webhook_id: &str, body: &Value) -> Result<Response, Error> {
        let edit = |settings: &mut AccountSettings| {
            let webhook = find_webhook(settings, webhook_id)?;
            *webhook = settings::apply_webhook_patch(body, webhook.clone(), self.outbound.guard())?;
            Ok(settings::webhook_json(webhook))
        };
        let (_, answer) = self.directory.edit_settings(self.account_id, edit).await?;
        Ok(Response::ok(answer))
    }

    pub async fn delete_webhook(&self, webhook_id: &str) -> Result<Response, Error> {
        let edit = |settings: &mut AccountSettings| {
            find_webhook(settings, webhook_id)?;
            settings.webhooks.retain(|webhook| webhook.webhook_id != webhook_id);
            Ok(())
        };
        self.directory.edit_settings(self.account_id, edit).await?;
        Ok(Response::ok(json!({ "webhook_id": webhook_id, "deleted": true })))
    }

    /// Creates a new signing secret. Requests are also signed with each older secret until its expiry time. If two
    /// requests rotate the secret concurrently, one of them is rejected.
    pub async fn rotate_signing_secret(&self, webhook_id: &str, body: &Value) -> Result<Response, Error> {
        let old_until = self.now.plus(Duration::from_secs(admin::parse_overlap_seconds(body)?));
        let secret = random_ids_and_secrets::random_signing_secret()?;
        let before = find_webhook(&mut self.directory.settings(self.account_id).await?, webhook_id)?.secrets.clone();
        let edit = |settings: &mut AccountSettings| {
            let webhook = find_webhook(settings, webhook_id)?;
            if !webhook.secrets.rotate_if_unchanged(&before, &secret, self.now, old_until) {
                return Err(Error::Conflict("the secret is being rotated by another request"));
            }
            Ok(settings::webhook_with_secret_json(webhook, &secret))
        };
        let (_, answer) = self.directory.edit_settings(self.account_id, edit).await?;
        Ok(Response::ok(answer))
    }

    /// Sends a signed sample event once and returns the request and the result. The event is `test` unless the body
    /// names another one.
    pub async fn send_test_event(&self, webhook_id: &str, body: &Value) -> Result<Response, Error> {
        let sample = webhook_sample::parse_sample(body)?;
        let mut settings = self.directory.settings(self.account_id).await?;
        let webhook = find_webhook(&mut settings, webhook_id)?;
        let body = sample.body(webhook_id, self.now);
        let tested = AuditedChange::unnamed(AuditAction::Tested, AuditedKind::Webhook, webhook_id);
        self.directory.record(self.account_id, tested).await?;
        let id = random_ids_and_secrets::new_webhook_request_id();
        let post = webhook_request::signed_post(webhook, &body, &id, self.now)?;
        receiver_test::send(self.outbound, &post, |response| match response.status {
            200..=299 => Outcome::Delivered,
            status => Outcome::Retry(format!("HTTP {status}")),
        })
        .await
    }

    /// Returns a webhook with a new id and a new signing secret. It receives all events, and its URL is empty.
    fn new_webhook(&self) -> Result<Webhook, Error> {
        Ok(Webhook {
            webhook_id: random_ids_and_secrets::random_identifier()?,
            url: String::new(),
            events: Vec::new(),
            secrets: SigningSecrets::new(random_ids_and_secrets::random_signing_secret()?),
        })
    }
}

/// Sets or removes `webhook_url` (specification, part C), which is the URL of the first webhook. Returns whether a
/// webhook was created.
fn set_first_webhook_url(
    settings: &mut AccountSettings,
    url: Option<&String>,
    new_webhook: &Webhook,
) -> Result<bool, Error> {
    match (url, settings.webhooks.as_mut_slice()) {
        (Some(url), [first, ..]) => first.url.clone_from(url),
        (Some(url), []) => {
            settings.webhooks.push(Webhook { url: url.clone(), ..new_webhook.clone() });
            return Ok(true);
        }
        (None, [_] | []) => settings.webhooks.clear(),
        // If the first of several webhooks were removed, each repetition of the request would remove another one.
        (None, _) => return Err(Error::Conflict("there are several webhooks: delete one by its id")),
    }
    Ok(false)
}

fn find_webhook<'a>(settings: &'a mut AccountSettings, webhook_id: &str) -> Result<&'a mut Webhook, Error> {
    settings.webhooks.iter_mut().find(|webhook| webhook.webhook_id == webhook_id).ok_or(Error::NotFound)
}
