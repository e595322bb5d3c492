//! What an admin does with the webhooks of an account.

use std::time::Duration;

use serde_json::{Value, json};

use crate::delivery::outbound::{Outbound, Post};
use crate::domain::retry;
use crate::domain::settings::Settings;
use crate::domain::timestamp::Timestamp;
use crate::domain::webhook::{SigningSecret, Webhook};
use crate::error::Error;
use crate::http::Response;
use crate::secret;
use crate::store::directory::Directory;
use crate::wire::admin;

/// Webhooks of one account.
const MOST: usize = 10;

/// An admin at work.
pub struct Desk<'a> {
    /// Whose settings.
    pub account_id: &'a str,
    /// Where they are.
    pub directory: &'a Directory,
    /// How webhooks are called.
    pub outbound: &'a Outbound,
    /// Now.
    pub now: Timestamp,
}

impl Desk<'_> {
    /// The settings.
    pub async fn show(&self) -> Result<Response, Error> {
        let settings = self.directory.settings(self.account_id).await?;
        Ok(Response::ok(admin::settings(&settings)))
    }

    /// Sets or takes away the one address that the specification knows: the first webhook. Where this makes one, its
    /// signing secret is shown once.
    pub async fn set_address(&self, body: &Value) -> Result<Response, Error> {
        let url = admin::webhook_url(body, self.outbound.guard())?;
        let mut settings = self.directory.settings(self.account_id).await?;
        let is_new = url.is_some() && settings.webhooks.is_empty();
        match (url, settings.webhooks.first_mut()) {
            (Some(url), Some(first)) => first.url = url,
            (Some(url), None) => settings.webhooks.push(Webhook { url, ..self.blank()? }),
            (None, Some(_)) => drop(settings.webhooks.remove(0)),
            (None, None) => {}
        }
        self.directory.save_settings(self.account_id, &settings).await?;
        let show = if is_new { admin::settings_with_secret } else { admin::settings };
        Ok(Response::ok(show(&settings)))
    }

    /// Adds a webhook; its signing secret is shown once.
    pub async fn add(&self, body: &Value) -> Result<Response, Error> {
        let webhook = admin::webhook(body, self.blank()?, self.outbound.guard())?;
        let mut settings = self.directory.settings(self.account_id).await?;
        if settings.webhooks.len() >= MOST {
            return Err(Error::Conflict("an account has at most 10 webhooks"));
        }
        settings.webhooks.push(webhook.clone());
        self.directory.save_settings(self.account_id, &settings).await?;
        Ok(Response::created(admin::webhook_with_secret(&webhook)))
    }

    /// Changes the address or the choice of events.
    pub async fn change(&self, webhook_id: &str, body: &Value) -> Result<Response, Error> {
        let mut settings = self.directory.settings(self.account_id).await?;
        let webhook = find(&mut settings, webhook_id)?;
        *webhook = admin::webhook(body, webhook.clone(), self.outbound.guard())?;
        let answer = admin::shown_webhook(webhook);
        self.directory.save_settings(self.account_id, &settings).await?;
        Ok(Response::ok(answer))
    }

    /// Removes a webhook.
    pub async fn remove(&self, webhook_id: &str) -> Result<Response, Error> {
        let mut settings = self.directory.settings(self.account_id).await?;
        find(&mut settings, webhook_id)?;
        settings.webhooks.retain(|webhook| webhook.webhook_id != webhook_id);
        self.directory.save_settings(self.account_id, &settings).await?;
        Ok(Response::ok(json!({ "webhook_id": webhook_id, "deleted": true })))
    }

    /// Makes a new signing secret; the old one signs beside it for a while.
    pub async fn rotate(&self, webhook_id: &str, body: &Value) -> Result<Response, Error> {
        let old_until = self.now.after(Duration::from_secs(admin::overlap(body)?));
        let mut settings = self.directory.settings(self.account_id).await?;
        let webhook = find(&mut settings, webhook_id)?;
        webhook.rotate(secret::signing_secret()?, old_until);
        let answer = admin::webhook_with_secret(webhook);
        self.directory.save_settings(self.account_id, &settings).await?;
        Ok(Response::ok(answer))
    }

    /// Sends a signed test event now, once, and tells what came of it.
    pub async fn test(&self, webhook_id: &str) -> Result<Response, Error> {
        let mut settings = self.directory.settings(self.account_id).await?;
        let webhook = find(&mut settings, webhook_id)?;
        let url = url::Url::parse(&webhook.url).map_err(Error::internal)?;
        let body = json!({ "event_name": "test", "widget_id": "" }).to_string().into_bytes();
        let (id, secrets) = (secret::notice_id(), webhook.signing(self.now));
        let post = Post { url, body, id: &id, secrets: &secrets, chunked: false, timeout: retry::TIMEOUT };
        let attempt = self.outbound.post(post).await?.attempt;
        Ok(Response::ok(json!({ "status": attempt.status, "ms": attempt.ms, "error": attempt.error })))
    }

    fn blank(&self) -> Result<Webhook, Error> {
        let present = SigningSecret { secret: secret::signing_secret()?, valid_until: None };
        Ok(Webhook {
            webhook_id: secret::identifier()?,
            url: String::new(),
            events: Vec::new(),
            secrets: vec![present],
        })
    }
}

fn find<'a>(settings: &'a mut Settings, webhook_id: &str) -> Result<&'a mut Webhook, Error> {
    settings.webhooks.iter_mut().find(|webhook| webhook.webhook_id == webhook_id).ok_or(Error::NotFound)
}
