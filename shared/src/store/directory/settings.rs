//! An account's settings and its widget's trigger rules. Each is a separate item in the Directory table.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::domain::account_settings::{AccountSettings, CallbackHours, RateLimits};
use crate::domain::link_filter::LinkFilter;
use crate::domain::rate_limit::DEFAULT_CHANNEL_CHATS_PER_WINDOW;
use crate::domain::timestamp::Timestamp;
use crate::domain::webhook::{SigningSecret, Webhook};
use crate::domain::webhook_event::WebhookEvent;
use crate::error::Error;
use crate::store::directory::Directory;
use crate::store::directory::keys::{settings_key, widget_rules_key};
use crate::store::table::{Item, ItemUpdate, WriteError, n, s};
use crate::store::write_races::WriteRaces;
use crate::store::{from_item, to_attribute};

#[derive(Deserialize)]
struct VersionedSettingsItem {
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
    #[serde(default = "default_channel_chats")]
    channel_chats: u32,
}

fn default_channel_chats() -> u32 {
    DEFAULT_CHANNEL_CHATS_PER_WINDOW
}

#[derive(Serialize, Deserialize)]
struct WebhookItem {
    webhook_id: String,
    url: String,
    events: Vec<String>,
    secrets: Vec<SigningSecretItem>,
}

#[derive(Serialize, Deserialize)]
struct SigningSecretItem {
    secret: String,
    valid_until: Option<u64>,
}

#[derive(Deserialize)]
struct WidgetRulesItem {
    /// The widget's trigger rules, as the text of a JSON list.
    rules: String,
}

impl Directory {
    /// Returns the widget's trigger rules as a JSON list (see [`crate::wire::widget_triggers`]). Costs one read.
    pub(crate) async fn widget_rules(&self, account_id: &str) -> Result<Value, Error> {
        let Some(item) = self.table.get(widget_rules_key(account_id)).await? else { return Ok(json!([])) };
        serde_json::from_str(&from_item::<WidgetRulesItem>(item)?.rules).map_err(Error::internal)
    }

    /// Replaces the widget's trigger rules. Costs one write.
    pub(crate) async fn save_widget_rules(&self, account_id: &str, rules: &Value) -> Result<(), Error> {
        let item_update = ItemUpdate {
            key: widget_rules_key(account_id),
            update: "SET #rules = :rules",
            condition: "",
            values: vec![(":rules", s(rules.to_string()))],
        };
        Ok(self.table.update(item_update).await.map(|_| ())?)
    }

    /// Reads the settings without using the cache. Costs one read.
    pub async fn settings(&self, account_id: &str) -> Result<AccountSettings, Error> {
        self.table
            .get(settings_key(account_id))
            .await?
            .map_or_else(|| Ok(AccountSettings::default()), settings_from_item)
    }

    /// Returns the settings. The data may be up to 10 seconds old. Costs one read, or nothing if the settings are
    /// cached.
    pub async fn cached_settings(&self, account_id: &str) -> Result<Arc<AccountSettings>, Error> {
        match self.settings.get(account_id) {
            Some(cached) => Ok(cached.unwrap_or_default()),
            None => self.fresh_settings(account_id).await,
        }
    }

    /// Reads the settings again and caches them. Costs one read.
    pub(crate) async fn fresh_settings(&self, account_id: &str) -> Result<Arc<AccountSettings>, Error> {
        let settings = self.settings(account_id).await?;
        Ok(self.settings.put(account_id, Some(settings)).unwrap_or_default())
    }

    /// Applies `edit` to the current settings and stores the result, provided that the settings have not changed in the
    /// meantime. If they have, they are read and edited again. Costs one read and one write.
    pub(crate) async fn edit_settings<T>(
        &self,
        account_id: &str,
        edit: impl Fn(&mut AccountSettings) -> Result<T, Error>,
    ) -> Result<(AccountSettings, T), Error> {
        let mut races = WriteRaces::new("settings");
        loop {
            let mut settings = self.settings(account_id).await?;
            let before = settings.version;
            let result = edit(&mut settings)?;
            settings.version += 1;
            let item_update = ItemUpdate {
                key: settings_key(account_id),
                update: "SET #version = :version, #settings = :settings",
                condition: "attribute_not_exists(#pk) OR #version = :before",
                values: vec![
                    (":version", n(settings.version)),
                    (":settings", to_attribute(&SettingsItem::from(&settings))?),
                    (":before", n(before)),
                ],
            };
            let written = match self.table.update(item_update).await {
                Ok(_) => Ok(()),
                // The SDK repeats a request if its response is late. If the first write succeeded, the repeated write
                // fails its condition.
                Err(WriteError::ConditionFailed { item: Some(item), .. })
                    if settings_from_item(item.clone())? == settings =>
                {
                    Ok(())
                }
                Err(error) => Err(error),
            };
            if let Some(written) = races.final_result(written) {
                return written.map(|()| (settings, result));
            }
        }
    }
}

fn settings_from_item(item: Item) -> Result<AccountSettings, Error> {
    let VersionedSettingsItem { version, settings } = from_item(item)?;
    let CallbackItem { enabled, days, from, to, utc_offset } = settings.callback;
    let LimitsItem { visitor_messages, bot_requests, channel_chats } = settings.limits;
    Ok(AccountSettings {
        version,
        webhooks: settings.webhooks.into_iter().map(Webhook::try_from).collect::<Result<_, _>>()?,
        safe_urls: LinkFilter(settings.safe_urls),
        callback: CallbackHours { enabled, days, hours: (from, to), utc_offset },
        limits: RateLimits { visitor_messages, bot_requests, channel_chats },
        idle_close: settings.idle_close_seconds.map(Duration::from_secs),
        retention_days: settings.retention_days,
    })
}

impl From<&AccountSettings> for SettingsItem {
    fn from(settings: &AccountSettings) -> Self {
        let AccountSettings { version: _, webhooks, safe_urls, callback, limits, idle_close, retention_days } =
            settings;
        let CallbackHours { enabled, days, hours: (from, to), utc_offset } = callback.clone();
        let RateLimits { visitor_messages, bot_requests, channel_chats } = *limits;
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
        let secret = |SigningSecret { secret, valid_until }| SigningSecretItem {
            secret,
            valid_until: valid_until.map(|at| at.0),
        };
        let events = events.into_iter().map(|event| event.name().to_owned()).collect();
        Self { webhook_id, url, events, secrets: secrets.into_iter().map(secret).collect() }
    }
}

impl TryFrom<WebhookItem> for Webhook {
    type Error = Error;

    fn try_from(item: WebhookItem) -> Result<Self, Error> {
        let WebhookItem { webhook_id, url, events, secrets } = item;
        let parse_event = |event: &String| WebhookEvent::parse(event).ok_or_else(|| Error::internal("webhook event"));
        let secret = |SigningSecretItem { secret, valid_until }| SigningSecret {
            secret,
            valid_until: valid_until.map(Timestamp),
        };
        let events: Result<Vec<_>, _> = events.iter().map(parse_event).collect();
        Ok(Self { webhook_id, url, events: events?, secrets: secrets.into_iter().map(secret).collect() })
    }
}
