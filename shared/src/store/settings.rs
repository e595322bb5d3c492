//! The settings of an account, one item of the Directory table.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::directory::Directory;
use super::table::Key;
use super::{from_item, to_item};
use crate::domain::settings::Settings;
use crate::domain::timestamp::Timestamp;
use crate::domain::webhook::{SigningSecret, Webhook, WebhookEvent};
use crate::error::Error;

#[derive(Serialize, Deserialize)]
struct SettingsItem {
    pk: String,
    sk: String,
    webhooks: Vec<WebhookItem>,
}

#[derive(Serialize, Deserialize)]
struct WebhookItem {
    webhook_id: String,
    url: String,
    events: Vec<String>,
    secrets: Vec<SecretItem>,
}

#[derive(Serialize, Deserialize)]
struct SecretItem {
    secret: String,
    valid_until: Option<u64>,
}

fn key(account_id: &str) -> Key {
    Key::new(format!("ACCOUNT#{account_id}"), "SETTINGS")
}

impl Directory {
    /// The settings as they are now. One read.
    pub async fn settings(&self, account_id: &str) -> Result<Settings, Error> {
        let Some(item) = self.table.get(key(account_id)).await? else { return Ok(Settings::default()) };
        let SettingsItem { pk: _, sk: _, webhooks } = from_item(item)?;
        let webhooks: Result<Vec<_>, _> = webhooks.into_iter().map(Webhook::try_from).collect();
        Ok(Settings { webhooks: webhooks? })
    }

    /// The settings, possibly as they were up to 10 s ago. One read, none when cached.
    pub async fn cached_settings(&self, account_id: &str) -> Result<Arc<Settings>, Error> {
        let known = match self.settings.get(account_id) {
            Some(known) => known,
            None => self.settings.put(account_id, Some(self.settings(account_id).await?)),
        };
        Ok(known.unwrap_or_default())
    }

    /// Stores the settings. The last change wins.
    pub async fn save_settings(&self, account_id: &str, settings: &Settings) -> Result<(), Error> {
        let Settings { webhooks } = settings;
        let key = key(account_id);
        let webhooks = webhooks.iter().map(WebhookItem::from).collect();
        Ok(self.table.put(to_item(&SettingsItem { pk: key.pk, sk: key.sk, webhooks })?, false).await?)
    }
}

impl From<&Webhook> for WebhookItem {
    fn from(webhook: &Webhook) -> Self {
        let Webhook { webhook_id, url, events, secrets } = webhook.clone();
        let secret =
            |SigningSecret { secret, valid_until }| SecretItem { secret, valid_until: valid_until.map(|at| at.0) };
        let events = events.into_iter().map(|event| event.name().to_owned()).collect();
        Self { webhook_id, url, events, secrets: secrets.into_iter().map(secret).collect() }
    }
}

impl TryFrom<WebhookItem> for Webhook {
    type Error = Error;

    fn try_from(item: WebhookItem) -> Result<Self, Error> {
        let WebhookItem { webhook_id, url, events, secrets } = item;
        let known = |event: &String| WebhookEvent::parse(event).ok_or_else(|| Error::internal("webhook event"));
        let secret =
            |SecretItem { secret, valid_until }| SigningSecret { secret, valid_until: valid_until.map(Timestamp) };
        let events: Result<Vec<_>, _> = events.iter().map(known).collect();
        Ok(Self { webhook_id, url, events: events?, secrets: secrets.into_iter().map(secret).collect() })
    }
}
