//! An account's settings and the trigger rules of its widgets. Each is a separate item in the Directory table.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::domain::accounts::account_settings::{AccountSettings, CallbackHours, RateLimits};
use crate::domain::accounts::answer_times::AnswerTimes;
use crate::domain::accounts::assignment::Assignment;
use crate::domain::accounts::audit::{AuditAction, AuditedChange, AuditedKind};
use crate::domain::accounts::inbox_settings::{InboxSettings, SavedView, Tag};
use crate::domain::channels::channel::EndpointSecret;
use crate::domain::channels::signing_secret::{SigningSecret, SigningSecrets};
use crate::domain::deliveries::outage::{DeliveryOptions, OutageStatus};
use crate::domain::deliveries::webhook::{BodyDetail, BodyFormat, Webhook, WebhookTarget};
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::email::email_settings::EmailSettings;
use crate::domain::files::file_settings::FileSettings;
use crate::domain::rate_limit::DEFAULT_CHANNEL_CHATS_PER_WINDOW;
use crate::domain::text::link_filter::LinkFilter;
use crate::domain::time_zone::TimeZone;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::directory::Directory;
use crate::store::directory::assignment_items::{AnswerTimesItem, AssignmentItem};
use crate::store::directory::business_hours::BusinessHoursItem;
use crate::store::directory::channels::has_valid_secret;
use crate::store::directory::email_settings_item::EmailSettingsItem;
use crate::store::directory::file_settings_item::FileSettingsItem;
use crate::store::directory::inbox_items::{SavedViewItem, TagItem};
use crate::store::directory::items::{EndpointSecretItem, SigningSecretItem, outage_status_name};
use crate::store::directory::keys::{settings_key, widget_rules_key};
use crate::store::directory::signing_secrets::AUDITED_FIELD;
use crate::store::table::{Item, ItemUpdate, Write, WriteError, WriteResult, key_taken, n, s};
use crate::store::write_races::WriteRaces;
use crate::store::{from_item, to_attribute};

#[derive(Deserialize)]
struct VersionedSettingsItem {
    version: u64,
    settings: SettingsItem,
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct SettingsItem {
    webhooks: Vec<WebhookItem>,
    safe_urls: Vec<String>,
    callback: CallbackItem,
    limits: LimitsItem,
    idle_close_seconds: Option<u64>,
    retention_days: Option<u32>,
    /// `None` stands for UTC.
    #[serde(default)]
    time_zone: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<TagItem>,
    #[serde(default, skip_serializing_if = "is_zero")]
    last_tag_id: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    views: Vec<SavedViewItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    business_hours: Option<BusinessHoursItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    assignment: Option<AssignmentItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer_times: Option<AnswerTimesItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    files: Option<FileSettingsItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    email: Option<EmailSettingsItem>,
    /// Unix time in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    suspended_at: Option<u64>,
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    signing_keys: Vec<SigningSecretItem>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pull_secrets: Vec<EndpointSecretItem>,
    /// `None` stands for a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    role_arn: Option<String>,
    /// `None` stands for JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    /// `None` stands for the full body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    rating_wait_seconds: u64,
    #[serde(default = "default_late_delivery")]
    late_delivery: bool,
    #[serde(default)]
    strict_order: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outage_status: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Webhooks that an earlier version of the service stored have late delivery, too.
fn default_late_delivery() -> bool {
    true
}

#[derive(Deserialize)]
struct WidgetRulesItem {
    /// The trigger rules, as the text of a JSON list.
    rules: String,
}

impl Directory {
    /// Returns the trigger rules of the account's widgets as a JSON list (see [`crate::wire::admin::widget_triggers`]).
    pub async fn widget_rules(&self, account_id: &str) -> Result<Value, Error> {
        let Some(item) = self.table.get(widget_rules_key(account_id)).await? else { return Ok(json!([])) };
        serde_json::from_str(&from_item::<WidgetRulesItem>(item)?.rules).map_err(Error::internal)
    }

    /// Returns the trigger rules, which may be up to 10 seconds old.
    pub async fn cached_widget_rules(&self, account_id: &str) -> Result<Arc<Value>, Error> {
        match self.widget_rules.get(account_id) {
            Some(cached) => Ok(cached.unwrap_or_default()),
            None => {
                let rules = self.widget_rules(account_id).await?;
                Ok(self.widget_rules.put(account_id, Some(rules)).unwrap_or_default())
            }
        }
    }

    /// Replaces the trigger rules.
    pub async fn save_widget_rules(&self, account_id: &str, rules: &Value) -> Result<(), Error> {
        let item_update = ItemUpdate {
            key: widget_rules_key(account_id),
            update: "SET #rules = :rules",
            condition: "",
            values: vec![(":rules", s(rules.to_string()))],
        };
        let written = self.commit(account_id, vec![Write::Update(item_update)], vec![settings_change(["rules"])]).await;
        written.on_condition_failed(key_taken())
    }

    /// Reads the settings without using the cache.
    pub async fn settings(&self, account_id: &str) -> Result<AccountSettings, Error> {
        self.table
            .get(settings_key(account_id))
            .await?
            .map_or_else(|| Ok(AccountSettings::default()), settings_from_item)
    }

    /// Returns the settings, which may be up to 10 seconds old.
    pub async fn cached_settings(&self, account_id: &str) -> Result<Arc<AccountSettings>, Error> {
        match self.settings.get(account_id) {
            Some(cached) => Ok(cached.unwrap_or_default()),
            None => self.fresh_settings(account_id).await,
        }
    }

    /// Reads the settings again and caches them.
    pub async fn fresh_settings(&self, account_id: &str) -> Result<Arc<AccountSettings>, Error> {
        let settings = self.settings(account_id).await?;
        Ok(self.settings.put(account_id, Some(settings)).unwrap_or_default())
    }

    /// Returns the webhook that the address of a program belongs to, which fetches events, and the settings of its
    /// account. Fails with `NotFound` if the webhook does not exist or the secret is not valid. Cached settings without
    /// this secret are read again, like a channel; see [`channel_at_endpoint`](Self::channel_at_endpoint).
    pub async fn webhook_at_endpoint(
        &self,
        account_id: &str,
        webhook_id: &str,
        secret: &str,
        now: Timestamp,
    ) -> Result<(Webhook, Arc<AccountSettings>), Error> {
        let opened = |settings: &AccountSettings| {
            let webhook = settings.webhooks.iter().find(|webhook| webhook.webhook_id == webhook_id);
            let secrets = webhook.map_or(&[] as &[_], |webhook| &webhook.pull_secrets);
            let is_valid = has_valid_secret(secrets, secret, now);
            webhook.cloned().filter(|_| is_valid)
        };
        let was_cached = self.settings.get(account_id).is_some();
        let mut settings = self.cached_settings(account_id).await?;
        let mut webhook = opened(&settings);
        if webhook.is_none() && was_cached && self.settings.allows_reread(account_id) {
            settings = self.fresh_settings(account_id).await?;
            webhook = opened(&settings);
        }
        Ok((webhook.ok_or(Error::NotFound)?, settings))
    }

    /// Stores what an outage of a webhook's receiver means for the webhook. Does nothing if the webhook does not exist.
    pub async fn save_webhook_outage(
        &self,
        account_id: &str,
        webhook_id: &str,
        status: OutageStatus,
    ) -> Result<(), Error> {
        let edit = |settings: &mut AccountSettings| {
            let webhook = settings.webhooks.iter_mut().find(|webhook| webhook.webhook_id == webhook_id);
            if let Some(webhook) = webhook {
                webhook.outage_status = status;
            }
            Ok(())
        };
        self.edit_settings(account_id, edit).await.map(|_| ())
    }

    /// Applies `edit` to the current settings and stores the result, provided that the settings have not changed in the
    /// meantime. If they have, they are read and edited again. Returns the new settings and what `edit` returned.
    pub async fn edit_settings<T>(
        &self,
        account_id: &str,
        edit: impl Fn(&mut AccountSettings) -> Result<T, Error>,
    ) -> Result<(AccountSettings, T), Error> {
        self.edit_settings_with(account_id, edit, &[]).await
    }

    /// Like [`edit_settings`](Self::edit_settings). The transaction also makes these writes, which must not have
    /// conditions that can fail.
    pub(super) async fn edit_settings_with<T>(
        &self,
        account_id: &str,
        edit: impl Fn(&mut AccountSettings) -> Result<T, Error>,
        also: &[Write],
    ) -> Result<(AccountSettings, T), Error> {
        let mut races = WriteRaces::new("settings");
        loop {
            let mut settings = self.settings(account_id).await?;
            let before = settings.clone();
            let result = edit(&mut settings)?;
            settings.version += 1;
            let item_update = ItemUpdate {
                key: settings_key(account_id),
                update: "SET #version = :version, #settings = :settings",
                condition: "attribute_not_exists(#pk) OR #version = :before",
                values: vec![
                    (":version", n(settings.version)),
                    (":settings", to_attribute(&SettingsItem::from(&settings))?),
                    (":before", n(before.version)),
                ],
            };
            let changes = audited_changes(&before, &settings);
            let writes = [Write::Update(item_update)].into_iter().chain(also.iter().cloned()).collect();
            let written = match self.commit(account_id, writes, changes).await {
                Ok(()) => Ok(()),
                // The new settings are already stored. The SDK repeats a request if its response is late, and if the
                // first write succeeded, the condition of the repeated write fails.
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

fn settings_change(fields: impl IntoIterator<Item = &'static str>) -> AuditedChange {
    let (action, kind) = (AuditAction::Changed, AuditedKind::Settings);
    AuditedChange { action, kind, id: String::new(), name: None, fields: Vec::new() }.with_fields(fields)
}

/// Returns the changes between two versions of the settings: one for all changed fields of the account's settings, and
/// one for each webhook that was created, changed or deleted, or whose secret was rotated.
fn audited_changes(before: &AccountSettings, after: &AccountSettings) -> Vec<AuditedChange> {
    let AccountSettings {
        version: _,
        webhooks,
        safe_urls,
        callback,
        limits,
        idle_close,
        retention_days,
        time_zone,
        inbox,
        business_hours,
        assignment,
        answer_times,
        files,
        email,
        suspended_at,
    } = before;
    let suspension = match (suspended_at, after.suspended_at) {
        (None, Some(_)) => Some(AuditAction::Suspended),
        (Some(_), None) => Some(AuditAction::Resumed),
        (None, None) | (Some(_), Some(_)) => None,
    };
    let suspension = suspension.map(|action| AuditedChange::unnamed(action, AuditedKind::Account, ""));
    let fields = [
        ("safe_urls", *safe_urls != after.safe_urls),
        ("callback", *callback != after.callback),
        ("limits", *limits != after.limits),
        ("idle_close", *idle_close != after.idle_close),
        ("retention_days", *retention_days != after.retention_days),
        ("time_zone", *time_zone != after.time_zone),
        ("tags", inbox.tags != after.inbox.tags),
        ("views", inbox.views != after.inbox.views),
        ("business_hours", *business_hours != after.business_hours),
        ("assignment", *assignment != after.assignment),
        ("answer_times", *answer_times != after.answer_times),
        ("files", *files != after.files),
        ("email", *email != after.email),
    ];
    let changed: Vec<_> = fields.into_iter().filter_map(|(name, is_changed)| is_changed.then_some(name)).collect();
    let settings = (!changed.is_empty()).then(|| settings_change(changed));
    let find = |all: &[Webhook], id: &str| all.iter().find(|webhook| webhook.webhook_id == id).cloned();
    let deleted = webhooks.iter().filter(|webhook| find(&after.webhooks, &webhook.webhook_id).is_none());
    let deleted = deleted.map(|webhook| webhook_change(AuditAction::Deleted, webhook, &[]));
    let stored = after.webhooks.iter().filter_map(|webhook| match find(webhooks, &webhook.webhook_id) {
        None => Some(webhook_change(AuditAction::Created, webhook, &[])),
        Some(before) if before.secrets != webhook.secrets => {
            Some(webhook_change(AuditAction::Rotated, webhook, &[AUDITED_FIELD]))
        }
        Some(before) => {
            let fields = [
                ("url", before.url != webhook.url),
                ("role_arn", before.role_arn != webhook.role_arn),
                ("events", before.events != webhook.events),
                ("format", before.format != webhook.format),
                ("body", before.detail != webhook.detail),
                ("rating_wait_seconds", before.rating_wait != webhook.rating_wait),
                ("ed25519_signature", before.signing_keys != webhook.signing_keys),
                ("late_delivery", before.delivery.late_delivery != webhook.delivery.late_delivery),
                ("strict_order", before.delivery.strict_order != webhook.delivery.strict_order),
                ("outage", before.outage_status != webhook.outage_status),
            ];
            let fields: Vec<_> =
                fields.into_iter().filter_map(|(name, is_changed)| is_changed.then_some(name)).collect();
            (!fields.is_empty()).then(|| webhook_change(AuditAction::Changed, webhook, &fields))
        }
    });
    settings.into_iter().chain(suspension).chain(deleted).chain(stored).collect()
}

/// The change contains no name, because a webhook has only a URL, which can contain a secret.
fn webhook_change(action: AuditAction, webhook: &Webhook, fields: &[&'static str]) -> AuditedChange {
    let (kind, id) = (AuditedKind::Webhook, webhook.webhook_id.clone());
    AuditedChange { action, kind, id, name: None, fields: Vec::new() }.with_fields(fields.iter().copied())
}

pub(in crate::store) fn settings_from_item(item: Item) -> Result<AccountSettings, Error> {
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
        // A time zone that the library no longer knows is treated as UTC, because an error would make all of the
        // account's requests fail.
        time_zone: settings.time_zone.as_deref().and_then(TimeZone::parse).unwrap_or_default(),
        inbox: InboxSettings {
            tags: settings.tags.into_iter().map(Tag::from).collect(),
            last_tag_id: settings.last_tag_id,
            views: settings.views.into_iter().map(SavedView::from).collect(),
        },
        business_hours: settings.business_hours.map(BusinessHoursItem::try_into).transpose()?,
        assignment: settings.assignment.map(Assignment::from),
        answer_times: settings.answer_times.map(AnswerTimes::from),
        files: settings.files.map(FileSettings::from).unwrap_or_default(),
        email: settings.email.map(EmailSettings::from),
        suspended_at: settings.suspended_at.map(Timestamp),
    })
}

impl From<&AccountSettings> for SettingsItem {
    fn from(settings: &AccountSettings) -> Self {
        let AccountSettings {
            version: _,
            webhooks,
            safe_urls,
            callback,
            limits,
            idle_close,
            retention_days,
            time_zone,
            inbox: InboxSettings { tags, last_tag_id, views },
            business_hours,
            assignment,
            answer_times,
            files,
            email,
            suspended_at,
        } = settings;
        let CallbackHours { enabled, days, hours: (from, to), utc_offset } = callback.clone();
        let RateLimits { visitor_messages, bot_requests, channel_chats } = *limits;
        Self {
            webhooks: webhooks.iter().map(WebhookItem::from).collect(),
            safe_urls: safe_urls.0.clone(),
            callback: CallbackItem { enabled, days, from, to, utc_offset },
            limits: LimitsItem { visitor_messages, bot_requests, channel_chats },
            idle_close_seconds: idle_close.map(|limit| limit.as_secs()),
            retention_days: *retention_days,
            time_zone: Some(time_zone.name().to_owned()),
            tags: tags.iter().map(TagItem::from).collect(),
            last_tag_id: *last_tag_id,
            views: views.iter().map(SavedViewItem::from).collect(),
            business_hours: business_hours.as_ref().map(BusinessHoursItem::from),
            assignment: assignment.map(AssignmentItem::from),
            answer_times: answer_times.map(AnswerTimesItem::from),
            files: FileSettingsItem::of(files),
            email: email.as_ref().map(EmailSettingsItem::from),
            suspended_at: suspended_at.map(|at| at.0),
        }
    }
}

impl From<&Webhook> for WebhookItem {
    fn from(webhook: &Webhook) -> Self {
        let Webhook {
            webhook_id,
            target,
            url,
            role_arn,
            events,
            secrets,
            signing_keys,
            pull_secrets,
            format,
            detail,
            rating_wait,
            delivery,
            outage_status,
        } = webhook.clone();
        let DeliveryOptions { late_delivery, strict_order } = delivery;
        let items = |secrets: SigningSecrets| secrets.0.into_iter().map(SigningSecretItem::from).collect();
        Self {
            webhook_id,
            target: (target != WebhookTarget::default()).then(|| target.name().to_owned()),
            url,
            role_arn,
            events: events.into_iter().map(|event| event.name().to_owned()).collect(),
            secrets: items(secrets),
            signing_keys: items(signing_keys),
            pull_secrets: pull_secrets.iter().map(EndpointSecretItem::from).collect(),
            format: (format != BodyFormat::default()).then(|| format.name().to_owned()),
            rating_wait_seconds: rating_wait.as_secs(),
            detail: (detail != BodyDetail::default()).then(|| detail.name().to_owned()),
            late_delivery,
            strict_order,
            outage_status: outage_status_name(outage_status),
        }
    }
}

impl TryFrom<WebhookItem> for Webhook {
    type Error = Error;

    fn try_from(item: WebhookItem) -> Result<Self, Error> {
        let WebhookItem {
            webhook_id,
            target,
            url,
            role_arn,
            events,
            secrets,
            signing_keys,
            pull_secrets,
            format,
            detail,
            rating_wait_seconds,
            late_delivery,
            strict_order,
            outage_status,
        } = item;
        let parse_event = |event: &String| WebhookEvent::parse(event).ok_or_else(|| Error::internal("webhook event"));
        let parse_target = |name: &str| WebhookTarget::parse(name).ok_or_else(|| Error::internal("webhook target"));
        let parse_detail = |name: &str| BodyDetail::parse(name).ok_or_else(|| Error::internal("webhook body"));
        let parse_format = |name: &str| BodyFormat::parse(name).ok_or_else(|| Error::internal("webhook format"));
        let read = |items: Vec<SigningSecretItem>| SigningSecrets(items.into_iter().map(SigningSecret::from).collect());
        Ok(Self {
            webhook_id,
            target: target.as_deref().map(parse_target).transpose()?.unwrap_or_default(),
            url,
            role_arn,
            events: events.iter().map(parse_event).collect::<Result<_, _>>()?,
            secrets: read(secrets),
            signing_keys: read(signing_keys),
            pull_secrets: pull_secrets.into_iter().map(EndpointSecret::try_from).collect::<Result<_, _>>()?,
            format: format.as_deref().map(parse_format).transpose()?.unwrap_or_default(),
            rating_wait: Duration::from_secs(rating_wait_seconds),
            detail: detail.as_deref().map(parse_detail).transpose()?.unwrap_or_default(),
            delivery: DeliveryOptions { late_delivery, strict_order },
            outage_status: outage_status.as_deref().and_then(OutageStatus::parse).unwrap_or_default(),
        })
    }
}
