//! The settings of an account, one item of the Directory table.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::domain::link_filter::SafeUrls;
use crate::domain::rate::CHANNEL_LIMIT;
use crate::domain::settings::{Callback, Limits, Settings};
use crate::domain::timestamp::Timestamp;
use crate::domain::webhook::{SigningSecret, Webhook, WebhookEvent};
use crate::error::{Context, Error};
use crate::store::directory::Directory;
use crate::store::table::{Item, ItemUpdate, Key, Refused, n, s};
use crate::store::{MAX_RACE_ATTEMPTS, from_item, to_attribute};

#[derive(Deserialize)]
struct StoredItem {
    version: u64,
    settings: SettingsItem,
}

#[derive(Serialize, Deserialize)]
struct SettingsItem {
    webhooks: Vec<WebhookItem>,
    safe_urls: Vec<String>,
    callback: CallbackItem,
    limits: LimitsItem,
    idle_close_seconds: Option<u64>,
    retention_days: Option<u32>,
}

#[derive(Serialize, Deserialize)]
struct CallbackItem {
    enabled: bool,
    days: Vec<u8>,
    from: u16,
    to: u16,
    utc_offset: i16,
}

#[derive(Serialize, Deserialize)]
struct LimitsItem {
    visitor_messages: u32,
    bot_requests: u64,
    #[serde(default = "usual_channel_chats")]
    channel_chats: u32,
}

fn usual_channel_chats() -> u32 {
    CHANNEL_LIMIT
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

/// The trigger rules, apart from the settings, which every message reads.
fn rules_key(account_id: &str) -> Key {
    Key::new(format!("ACCOUNT#{account_id}"), "RULES")
}

#[derive(Deserialize)]
struct RulesItem {
    /// JSON, as the widget takes it.
    rules: String,
}

impl Directory {
    /// The trigger rules of the widget: a list, see [`crate::wire::widget_triggers`]. One read.
    pub async fn rules(&self, account_id: &str) -> Result<Value, Error> {
        let Some(item) = self.table.get(rules_key(account_id)).await? else { return Ok(json!([])) };
        serde_json::from_str(&from_item::<RulesItem>(item)?.rules).map_err(Error::internal)
    }

    /// Stores the trigger rules. One write.
    pub async fn save_rules(&self, account_id: &str, rules: &Value) -> Result<(), Error> {
        let change = ItemUpdate {
            key: rules_key(account_id),
            update: "SET #rules = :rules",
            condition: "",
            values: vec![(":rules", s(rules.to_string()))],
        };
        Ok(self.table.update(change).await.map(|_| ())?)
    }

    /// The settings as they are now. One read.
    pub async fn settings(&self, account_id: &str) -> Result<Settings, Error> {
        self.table.get(key(account_id)).await?.map_or_else(|| Ok(Settings::default()), stored)
    }

    /// The settings, possibly as they were up to 10 s ago. One read, none when cached.
    pub async fn cached_settings(&self, account_id: &str) -> Result<Arc<Settings>, Error> {
        match self.settings.get(account_id) {
            Some(known) => Ok(known.unwrap_or_default()),
            None => self.fresh_settings(account_id).await,
        }
    }

    /// The settings as they are now, which is what is remembered from now on. One read.
    pub async fn fresh_settings(&self, account_id: &str) -> Result<Arc<Settings>, Error> {
        let settings = self.settings(account_id).await?;
        Ok(self.settings.put(account_id, Some(settings)).unwrap_or_default())
    }

    /// Changes the settings as they are now, also when somebody else changes them meanwhile. A read and a write.
    pub async fn edit_settings<T>(
        &self,
        account_id: &str,
        edit: impl Fn(&mut Settings) -> Result<T, Error>,
    ) -> Result<(Settings, T), Error> {
        for _ in 0..MAX_RACE_ATTEMPTS {
            let mut settings = self.settings(account_id).await?;
            let before = settings.version;
            let result = edit(&mut settings)?;
            settings.version += 1;
            let change = ItemUpdate {
                key: key(account_id),
                update: "SET #version = :version, #settings = :settings",
                condition: "attribute_not_exists(#pk) OR #version = :before",
                values: vec![
                    (":version", n(settings.version)),
                    (":settings", to_attribute(&SettingsItem::from(&settings))?),
                    (":before", n(before)),
                ],
            };
            match self.table.update(change).await {
                Ok(_) => return Ok((settings, result)),
                // The SDK repeats a request whose answer is late, and then meets its own success.
                Err(Refused::Condition { item: Some(item), .. }) if stored(item.clone())? == settings => {
                    return Ok((settings, result));
                }
                Err(Refused::Condition { .. } | Refused::Contended) => {}
                Err(Refused::Error(error)) => return Err(error),
            }
        }
        Err(Error::Unavailable(Context::new("a change of the settings lost every race")))
    }
}

fn stored(item: Item) -> Result<Settings, Error> {
    let StoredItem { version, settings } = from_item(item)?;
    let CallbackItem { enabled, days, from, to, utc_offset } = settings.callback;
    let LimitsItem { visitor_messages, bot_requests, channel_chats } = settings.limits;
    Ok(Settings {
        version,
        webhooks: settings.webhooks.into_iter().map(Webhook::try_from).collect::<Result<_, _>>()?,
        safe_urls: SafeUrls(settings.safe_urls),
        callback: Callback { enabled, days, hours: (from, to), utc_offset },
        limits: Limits { visitor_messages, bot_requests, channel_chats },
        idle_close: settings.idle_close_seconds.map(Duration::from_secs),
        retention_days: settings.retention_days,
    })
}

impl From<&Settings> for SettingsItem {
    fn from(settings: &Settings) -> Self {
        let Settings { version: _, webhooks, safe_urls, callback, limits, idle_close, retention_days } = settings;
        let Callback { enabled, days, hours: (from, to), utc_offset } = callback.clone();
        let Limits { visitor_messages, bot_requests, channel_chats } = *limits;
        Self {
            webhooks: webhooks.iter().map(WebhookItem::from).collect(),
            safe_urls: safe_urls.0.clone(),
            callback: CallbackItem { enabled, days, from, to, utc_offset },
            limits: LimitsItem { visitor_messages, bot_requests, channel_chats },
            idle_close_seconds: idle_close.map(|limit| limit.as_secs()),
            retention_days: *retention_days,
        }
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
