//! What an admin does with the settings of an account.

use std::time::Duration;

use serde_json::{Value, json};

use crate::delivery::outbound::{Outbound, Post};
use crate::domain::delivery::Attempt;
use crate::domain::retry;
use crate::domain::settings::Settings;
use crate::domain::timestamp::Timestamp;
use crate::domain::webhook::{MAX_WEBHOOKS, SigningSecret, Webhook};
use crate::error::Error;
use crate::runtime::http::Response;
use crate::runtime::secret;
use crate::store::chats::Chats;
use crate::store::directory::Directory;
use crate::wire::{admin, settings, webhook_sample};

/// An admin at work.
pub struct Desk<'a> {
    /// Whose settings.
    pub account_id: &'a str,
    /// Where they are.
    pub directory: &'a Directory,
    /// What they hold for.
    pub chats: &'a Chats,
    /// How webhooks are called.
    pub outbound: &'a Outbound,
    /// Now.
    pub now: Timestamp,
}

impl Desk<'_> {
    /// The settings.
    pub async fn show(&self) -> Result<Response, Error> {
        let rules = self.directory.rules(self.account_id).await?;
        Ok(Response::ok(settings::shown(&self.directory.settings(self.account_id).await?, &rules)))
    }

    /// Sets what the body mentions. `webhook_url` is the first webhook: where this makes one, its signing secret is shown
    /// once.
    pub async fn set(&self, body: &Value) -> Result<Response, Error> {
        let (url, rules) = (settings::webhook_url(body, self.outbound.guard())?, settings::rules(body)?);
        let blank = self.blank()?;
        self.plan_retention(body).await?;
        let edit = |settings: &mut Settings| {
            *settings = settings::changed(body, settings.clone())?;
            url.as_ref().map_or(Ok(false), |url| set_address(settings, url.as_ref(), &blank))
        };
        let (settings, is_new) = self.directory.edit_settings(self.account_id, edit).await?;
        let rules = match rules {
            Some(rules) => {
                self.directory.save_rules(self.account_id, &rules).await?;
                rules
            }
            None => self.directory.rules(self.account_id).await?,
        };
        let show = if is_new { settings::shown_with_secret } else { settings::shown };
        Ok(Response::ok(show(&settings, &rules)))
    }

    /// A changed retention holds for ended chats too. Planned before it is stored: a request that dies in between has
    /// planned a pass that changes nothing, and the other way round a repeated one would find nothing to plan.
    async fn plan_retention(&self, body: &Value) -> Result<(), Error> {
        if body.get("retention_days").is_none() {
            return Ok(());
        }
        let before = self.directory.settings(self.account_id).await?;
        let has_changed = settings::changed(body, before.clone())?.retention_days != before.retention_days;
        if has_changed { self.chats.plan_retention(self.account_id, self.now).await } else { Ok(()) }
    }

    /// Adds a webhook; its signing secret is shown once.
    pub async fn add(&self, body: &Value) -> Result<Response, Error> {
        let webhook = settings::changed_webhook(body, self.blank()?, self.outbound.guard())?;
        let edit = |settings: &mut Settings| {
            if settings.webhooks.len() >= MAX_WEBHOOKS {
                return Err(Error::Conflict("an account has at most 10 webhooks"));
            }
            settings.webhooks.push(webhook.clone());
            Ok(())
        };
        self.directory.edit_settings(self.account_id, edit).await?;
        let secret = webhook.current_secret().ok_or_else(|| Error::internal("a webhook without a secret"))?;
        Ok(Response::created(settings::webhook_with_secret(&webhook, secret)))
    }

    /// Changes the address or the choice of events.
    pub async fn change(&self, webhook_id: &str, body: &Value) -> Result<Response, Error> {
        let edit = |settings: &mut Settings| {
            let webhook = find(settings, webhook_id)?;
            *webhook = settings::changed_webhook(body, webhook.clone(), self.outbound.guard())?;
            Ok(settings::webhook(webhook))
        };
        let (_, answer) = self.directory.edit_settings(self.account_id, edit).await?;
        Ok(Response::ok(answer))
    }

    /// Removes a webhook.
    pub async fn remove(&self, webhook_id: &str) -> Result<Response, Error> {
        let edit = |settings: &mut Settings| {
            find(settings, webhook_id)?;
            settings.webhooks.retain(|webhook| webhook.webhook_id != webhook_id);
            Ok(())
        };
        self.directory.edit_settings(self.account_id, edit).await?;
        Ok(Response::ok(json!({ "webhook_id": webhook_id, "deleted": true })))
    }

    /// Makes a new signing secret; the old ones sign beside it for as long as was promised of each. Of two rotations at the
    /// same moment one is refused. Two reads and a write.
    pub async fn rotate(&self, webhook_id: &str, body: &Value) -> Result<Response, Error> {
        let old_until = self.now.after(Duration::from_secs(admin::overlap(body)?));
        let secret = secret::signing_secret()?;
        let before = find(&mut self.directory.settings(self.account_id).await?, webhook_id)?.secrets.clone();
        let edit = |settings: &mut Settings| {
            let webhook = find(settings, webhook_id)?;
            if !webhook.rotate_from(&before, &secret, self.now, old_until) {
                return Err(Error::Conflict("the secret is being rotated by somebody else"));
            }
            Ok(settings::webhook_with_secret(webhook, &secret))
        };
        let (_, answer) = self.directory.edit_settings(self.account_id, edit).await?;
        Ok(Response::ok(answer))
    }

    /// Sends a signed sample event now, once, and tells what came of it. The event `test` when the body names none.
    pub async fn test(&self, webhook_id: &str, body: &Value) -> Result<Response, Error> {
        let sample = webhook_sample::sample(body)?;
        let mut settings = self.directory.settings(self.account_id).await?;
        let webhook = find(&mut settings, webhook_id)?;
        let url = url::Url::parse(&webhook.url).map_err(Error::internal)?;
        let body = sample.body(webhook_id, self.now).to_string().into_bytes();
        let (id, secrets) = (secret::notice_id(), webhook.signing(self.now));
        let post = Post { url, body, id: &id, secrets: &secrets, chunked: false, timeout: retry::ATTEMPT_TIMEOUT };
        let Attempt { at: _, status, ms, error, answer: _ } = self.outbound.post(post).await?.attempt;
        let refusal = status.filter(|status| !(200..300).contains(status)).map(|status| format!("HTTP {status}"));
        Ok(Response::ok(json!({ "status": status, "ms": ms, "error": error.or(refusal) })))
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

/// Sets or takes away the one address that the specification knows: the first webhook. Whether there was none before.
fn set_address(settings: &mut Settings, url: Option<&String>, blank: &Webhook) -> Result<bool, Error> {
    match (url, settings.webhooks.as_mut_slice()) {
        (Some(url), [first, ..]) => first.url.clone_from(url),
        (Some(url), []) => {
            settings.webhooks.push(Webhook { url: url.clone(), ..blank.clone() });
            return Ok(true);
        }
        (None, [_] | []) => settings.webhooks.clear(),
        // Sent twice it would take away another one each time.
        (None, _) => return Err(Error::Conflict("there are several webhooks: delete one by its id")),
    }
    Ok(false)
}

fn find<'a>(settings: &'a mut Settings, webhook_id: &str) -> Result<&'a mut Webhook, Error> {
    settings.webhooks.iter_mut().find(|webhook| webhook.webhook_id == webhook_id).ok_or(Error::NotFound)
}
