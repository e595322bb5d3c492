//! The /admin/settings endpoints: bodies and operations.

use std::time::Duration;

use schemars::{JsonSchema, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::contract::{Failure, Operation};
use crate::domain::accounts::account_settings;
use crate::domain::accounts::answer_times::AnswerTimes;
use crate::domain::accounts::assignment::Assignment;
use crate::domain::accounts::inbox_settings::{InboxSettings, MAX_SAVED_VIEWS, MAX_TAGS, SavedView};
use crate::domain::deliveries::ssrf_guard::SsrfGuard;
use crate::domain::deliveries::webhook::MAX_WEBHOOKS;
use crate::domain::email::email_settings;
use crate::domain::text::link_filter::LinkFilter;
use crate::domain::time_zone::TimeZone;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::admin::answer_times::{self, AnswerTimesChange};
use crate::wire::admin::assignment::{self, AssignmentChange};
use crate::wire::admin::business_hours::{
    BusinessHours, BusinessHoursChange, INVALID_TIME_OF_DAY, TIME_OF_DAY_PATTERN, Weekday, checked_change,
    minutes_of_day, time_of_day,
};
use crate::wire::admin::email_settings::{EmailSettings, EmailSettingsChange};
use crate::wire::admin::file_settings::{FileSettings, FileSettingsChanges};
use crate::wire::admin::inbox_settings::{self, NewSavedView, TagChange, replace_tags};
use crate::wire::admin::signing_secret::SigningSecret;
use crate::wire::admin::webhook_settings::Webhook;
use crate::wire::admin::widget_triggers::{TriggerRule, TriggerRules};
use crate::wire::fields::urls::{ReceiverUrl, WebUrl};
use crate::wire::fields::values::{Change, List, OptionalText, Whole, inline_schema};

/// The maximum number of domains that an account can allow for Safe URL, the link filter.
const MAX_DOMAINS: usize = 100;
/// The maximum length of a domain name (RFC 1035).
const MAX_DOMAIN_BYTES: usize = 253;
/// The highest limit that an admin can set for a visitor's messages in ten seconds.
const MAX_VISITOR_MESSAGES: u64 = 1_000;
/// The highest limit that an admin can set for a bot's requests in ten seconds.
const MAX_BOT_REQUESTS: u64 = 10_000;
/// The highest limit that an admin can set for a channel's new chats in ten seconds.
const MAX_CHANNEL_CHATS: u64 = 10_000;
const MAX_IDLE_CLOSE_MINUTES: u64 = 90 * 24 * 60;
/// The longest retention period: ten years.
const MAX_RETENTION_DAYS: u64 = 3_653;
const MAX_UTC_OFFSET_MINUTES: i16 = 14 * 60;
const MAX_TIME_ZONE_CHARS: usize = 64;
const DAYS_OF_WEEK: usize = 7;
const TIME_OF_DAY_CHARS: usize = 5;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/admin/settings", "settings", "Reads the settings of the account")
            .describe("With the webhooks, but without their secrets.")
            .answers::<AccountSettings>(200, "The settings."),
        Operation::put("/admin/settings", "setSettings", "Changes the settings that the body contains")
            .describe(
                "Null resets a setting to its default, or removes a limit. webhook_url is the address of the first \
                 webhook, and null removes it. The signing secret of a new webhook is shown only once.",
            )
            .body::<AccountSettingsChanges>()
            .answers::<AccountSettings>(200, "The settings.")
            .fails(&[Failure::Conflict]),
    ]
}

/// Absent fields stay unchanged.
#[derive(Clone, Deserialize, JsonSchema)]
pub struct AccountSettingsChanges {
    /// The address of the first webhook; null removes the webhook.
    // A blank URL is probably a mistake, so it must not remove the webhook.
    #[serde(default)]
    webhook_url: Change<ReceiverUrl>,
    /// Allowed domains. Agents see no links to other domains, and no words that hide such a link. When the list is
    /// empty, every link is shown.
    #[serde(default)]
    safe_urls: Change<List<SafeDomain, MAX_DOMAINS>>,
    #[serde(default)]
    rules: Change<TriggerRules>,
    #[serde(default)]
    callback: Change<CallbackHoursChanges>,
    #[serde(default)]
    limits: Change<RateLimitsChanges>,
    /// Minutes without a message after which a chat is closed; null for never.
    #[serde(default)]
    idle_close: Change<Whole<1, MAX_IDLE_CLOSE_MINUTES>>,
    /// Days for which messages and chats are kept; a visitor is kept as long as any of their chats. Null for no limit.
    #[serde(default)]
    retention_days: Change<Whole<1, MAX_RETENTION_DAYS>>,
    #[serde(default)]
    time_zone: Change<TimeZoneName>,
    /// The tags that agents put on chats, in the order of the list. Tags that it does not contain are deleted.
    #[serde(default)]
    tags: Change<List<TagChange, MAX_TAGS>>,
    /// The saved views of the console's inbox, in the order of the list.
    #[serde(default)]
    views: Change<List<NewSavedView, MAX_SAVED_VIEWS>>,
    #[serde(default)]
    business_hours: Change<BusinessHoursChange>,
    /// Null: chats are accepted by hand, and agents can have any number of them.
    #[serde(default)]
    assignment: Change<AssignmentChange>,
    /// Null: no time limits.
    #[serde(default)]
    answer_times: Change<AnswerTimesChange>,
    #[serde(default)]
    files: Change<FileSettingsChanges>,
    /// Null: the account sends no e-mails.
    #[serde(default)]
    email: Change<EmailSettingsChange>,
}

impl AccountSettingsChanges {
    /// Returns the changed settings. The webhooks and the trigger rules, which are stored in other ways, are unchanged,
    /// and so is the inbox; see [`inbox`](Self::inbox).
    pub fn applied_to(
        &self,
        settings: &account_settings::AccountSettings,
    ) -> Result<account_settings::AccountSettings, Error> {
        let Self {
            safe_urls,
            callback,
            limits,
            idle_close,
            retention_days,
            time_zone,
            business_hours,
            assignment,
            answer_times,
            files,
            email,
            ..
        } = self.clone();
        let account_settings::AccountSettings { version, webhooks, inbox, suspended_at, .. } = settings.clone();
        let (before, default) = (settings.clone(), account_settings::AccountSettings::default());
        let domains =
            |List(domains): List<SafeDomain, MAX_DOMAINS>| domains.into_iter().map(|SafeDomain(domain)| domain);
        let safe_urls = safe_urls.map(|list| LinkFilter(domains(list).collect()));
        let callback = callback.map(|changes| changes.applied_to(&before.callback));
        let limits = limits.map(|changes| changes.applied_to(before.limits));
        let idle_close = idle_close.map(|Whole(minutes)| Duration::from_secs(minutes * 60));
        let time_zone = time_zone.map(|TimeZoneName(zone)| zone).flatten();
        Ok(account_settings::AccountSettings {
            version,
            webhooks,
            safe_urls: safe_urls.applied_or_reset(before.safe_urls, default.safe_urls),
            callback: callback.applied_or_reset(before.callback, default.callback),
            limits: limits.applied_or_reset(before.limits, default.limits),
            idle_close: idle_close.applied_to(before.idle_close),
            retention_days: retention_days.map(Whole::to_u32).applied_to(before.retention_days),
            time_zone: time_zone.applied_or_reset(before.time_zone, default.time_zone),
            inbox,
            business_hours: checked_change(business_hours)?.applied_to(before.business_hours),
            assignment: assignment.map(Assignment::from).applied_to(before.assignment),
            answer_times: answer_times.map(AnswerTimes::from).applied_to(before.answer_times),
            files: files.map(|changes| changes.applied_to(&before.files)).applied_or_reset(before.files, default.files),
            email: email.map(email_settings::EmailSettings::from).applied_to(before.email),
            suspended_at,
        })
    }

    /// Returns the tags and the saved views after the change. Fails if a tag is not valid.
    pub fn inbox(&self, before: &InboxSettings) -> Result<InboxSettings, Error> {
        let mut inbox = before.clone();
        match &self.tags {
            Change::Unchanged => {}
            Change::Cleared => inbox.tags.clear(),
            Change::Set(List(tags)) => replace_tags(&mut inbox, tags)?,
        }
        let views = self.views.clone().map(|List(views)| views.into_iter().map(SavedView::from).collect());
        inbox.views = views.applied_or_reset(inbox.views, Vec::new());
        Ok(inbox)
    }

    /// Whether the account is to send e-mails.
    pub fn set_email(&self) -> bool {
        matches!(self.email, Change::Set(_))
    }

    pub fn contain_retention_days(&self) -> bool {
        !matches!(self.retention_days, Change::Unchanged)
    }

    /// Returns the change to the URL of the first webhook.
    pub fn webhook_url(&self, guard: &SsrfGuard) -> Result<Change<String>, Error> {
        self.webhook_url.clone().try_map(|url| url.checked("webhook_url", guard))
    }

    /// Returns the new trigger rules in their stored form, or `None` if they do not change.
    pub fn rules(&self) -> Result<Option<Value>, Error> {
        match &self.rules {
            Change::Unchanged => Ok(None),
            Change::Cleared => Ok(Some(Value::Array(Vec::new()))),
            Change::Set(rules) => rules.checked().map(Some),
        }
    }
}

/// A domain in its stored form (see [`LinkFilter::normalize_domain`]).
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
struct SafeDomain(String);

impl TryFrom<String> for SafeDomain {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let text = Some(text).filter(|text| text.len() <= MAX_DOMAIN_BYTES);
        let domain = text.and_then(|text| LinkFilter::normalize_domain(&text));
        domain.map(Self).ok_or("must be a domain such as shop.example")
    }
}

inline_schema!(SafeDomain, "SafeDomain", json_schema!({ "type": "string", "maxLength": MAX_DOMAIN_BYTES }));

/// The IANA name of the time zone whose days the reports show; UTC by default. A change applies to chats that are
/// opened after it.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(try_from = "OptionalText<MAX_TIME_ZONE_CHARS>")]
#[schemars(
    with = "OptionalText<MAX_TIME_ZONE_CHARS>",
    inline,
    extend("pattern" = "^[A-Za-z][A-Za-z0-9_+/-]*$", "examples" = ["Europe/Berlin"])
)]
struct TimeZoneName(Option<TimeZone>);

impl TryFrom<OptionalText<MAX_TIME_ZONE_CHARS>> for TimeZoneName {
    type Error = &'static str;

    fn try_from(OptionalText(name): OptionalText<MAX_TIME_ZONE_CHARS>) -> Result<Self, Self::Error> {
        let zone = |name: String| TimeZone::parse(&name).ok_or("must be an IANA time zone such as Europe/Berlin");
        name.map(zone).transpose().map(Self)
    }
}

/// Limits for a window of ten seconds. Absent fields stay unchanged; null resets a field to its default.
#[derive(Clone, Deserialize, JsonSchema)]
struct RateLimitsChanges {
    #[serde(default)]
    visitor_messages: Change<Whole<1, MAX_VISITOR_MESSAGES>>,
    #[serde(default)]
    bot_requests: Change<Whole<1, MAX_BOT_REQUESTS>>,
    /// Chats that one channel may open.
    #[serde(default)]
    channel_chats: Change<Whole<1, MAX_CHANNEL_CHATS>>,
}

impl RateLimitsChanges {
    fn applied_to(self, before: account_settings::RateLimits) -> account_settings::RateLimits {
        let Self { visitor_messages, bot_requests, channel_chats } = self;
        let default = account_settings::AccountSettings::default().limits;
        account_settings::RateLimits {
            visitor_messages: visitor_messages
                .map(Whole::to_u32)
                .applied_or_reset(before.visitor_messages, default.visitor_messages),
            bot_requests: bot_requests
                .map(|Whole(limit)| limit)
                .applied_or_reset(before.bot_requests, default.bot_requests),
            channel_chats: channel_chats
                .map(Whole::to_u32)
                .applied_or_reset(before.channel_chats, default.channel_chats),
        }
    }
}

/// The hours in which visitors may request a call. Absent fields stay unchanged; null resets a field to its default.
#[derive(Clone, Deserialize, JsonSchema)]
struct CallbackHoursChanges {
    #[serde(default)]
    enabled: Change<bool>,
    /// 1 is Monday.
    #[serde(default)]
    days: Change<List<Weekday, DAYS_OF_WEEK>>,
    #[serde(default)]
    from: Change<TimeOfDay>,
    #[serde(default)]
    to: Change<TimeOfDay>,
    #[serde(default)]
    utc_offset: Change<UtcOffset>,
}

impl CallbackHoursChanges {
    fn applied_to(self, before: &account_settings::CallbackHours) -> account_settings::CallbackHours {
        let Self { enabled, days, from, to, utc_offset } = self;
        let default = account_settings::CallbackHours::default();
        let numbers = |List(days): List<Weekday, DAYS_OF_WEEK>| days.into_iter().map(|Weekday(day)| day).collect();
        let minutes = |time: Change<TimeOfDay>| time.map(|TimeOfDay(minutes)| minutes).flatten();
        account_settings::CallbackHours {
            enabled: enabled.applied_or_reset(before.enabled, default.enabled),
            days: days.map(numbers).applied_or_reset(before.days.clone(), default.days),
            hours: (
                minutes(from).applied_or_reset(before.hours.0, default.hours.0),
                minutes(to).applied_or_reset(before.hours.1, default.hours.1),
            ),
            utc_offset: utc_offset
                .map(|UtcOffset(offset)| offset)
                .applied_or_reset(before.utc_offset, default.utc_offset),
        }
    }
}

/// A time of day in minutes after midnight. 24:00 means the end of the day.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(try_from = "OptionalText<TIME_OF_DAY_CHARS>")]
#[schemars(with = "OptionalText<TIME_OF_DAY_CHARS>", inline, extend("pattern" = TIME_OF_DAY_PATTERN))]
struct TimeOfDay(Option<u16>);

impl TryFrom<OptionalText<TIME_OF_DAY_CHARS>> for TimeOfDay {
    type Error = &'static str;

    fn try_from(OptionalText(text): OptionalText<TIME_OF_DAY_CHARS>) -> Result<Self, Self::Error> {
        let minutes = |text: String| minutes_of_day(&text).ok_or(INVALID_TIME_OF_DAY);
        text.map(minutes).transpose().map(Self)
    }
}

/// Minutes from UTC.
#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(try_from = "i16")]
struct UtcOffset(i16);

impl TryFrom<i16> for UtcOffset {
    type Error = String;

    fn try_from(minutes: i16) -> Result<Self, String> {
        let range = -MAX_UTC_OFFSET_MINUTES..=MAX_UTC_OFFSET_MINUTES;
        if range.contains(&minutes) {
            return Ok(Self(minutes));
        }
        Err(format!("must be a whole number from -{MAX_UTC_OFFSET_MINUTES} to {MAX_UTC_OFFSET_MINUTES}"))
    }
}

inline_schema!(
    UtcOffset,
    "UtcOffset",
    json_schema!({ "type": "integer", "minimum": -MAX_UTC_OFFSET_MINUTES, "maximum": MAX_UTC_OFFSET_MINUTES })
);

#[derive(Serialize, JsonSchema)]
pub struct AccountSettings {
    webhook_url: Option<WebUrl>,
    #[schemars(length(max = MAX_WEBHOOKS))]
    webhooks: Vec<Webhook>,
    safe_urls: Vec<String>,
    #[schemars(with = "Vec<TriggerRule>")]
    rules: Value,
    callback: CallbackHours,
    limits: RateLimits,
    /// Minutes.
    idle_close: Option<u64>,
    retention_days: Option<u32>,
    time_zone: String,
    /// The tags that agents put on chats. Absent if there are none.
    #[schemars(length(max = MAX_TAGS))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<inbox_settings::Tag>,
    /// The saved views of the console's inbox. Absent if there are none.
    #[schemars(length(max = MAX_SAVED_VIEWS))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    views: Vec<inbox_settings::SavedView>,
    /// Null: always open, unless a department or a channel has hours.
    business_hours: Option<BusinessHours>,
    /// Null: chats are accepted by hand, and agents can have any number of them.
    assignment: Option<assignment::Assignment>,
    /// The time limits of answers. Null: none.
    answer_times: Option<answer_times::AnswerTimes>,
    files: FileSettings,
    /// Null: the account sends no e-mails.
    email: Option<EmailSettings>,
    /// The domain from which the stack sends e-mails. Null: it sends none, and `email` cannot be set.
    email_domain: Option<String>,
    /// Whether the stack accepts http receivers. This is a parameter of the stack, which the account cannot change.
    allows_http_receivers: bool,
    /// The external id with which the service assumes the roles of the account's webhooks. It cannot be changed.
    aws_external_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    signing_secret: Option<SigningSecret>,
}

/// Parameters of the stack that admins see.
#[derive(Clone, Copy, Default)]
pub struct StackParameters<'a> {
    /// Whether receivers may have http addresses.
    pub allows_http: bool,
    /// `None` if the stack sends no e-mails.
    pub mail_domain: Option<&'a str>,
}

impl AccountSettings {
    /// `rules` are the trigger rules of the widget.
    pub fn new(
        account_id: &str,
        settings: &account_settings::AccountSettings,
        rules: Value,
        stack: StackParameters<'_>,
        now: Timestamp,
    ) -> Self {
        let account_settings::AccountSettings {
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
            suspended_at: _,
        } = settings;
        Self {
            webhook_url: settings.first_server_webhook().map(|webhook| WebUrl(webhook.url.clone())),
            webhooks: webhooks.iter().map(Webhook::new).collect(),
            safe_urls: safe_urls.0.clone(),
            rules,
            callback: callback.into(),
            limits: (*limits).into(),
            idle_close: idle_close.map(|limit| limit.as_secs() / 60),
            retention_days: *retention_days,
            time_zone: time_zone.name().to_owned(),
            tags: inbox.tags.iter().map(inbox_settings::Tag::from).collect(),
            views: inbox.views.iter().map(inbox_settings::SavedView::from).collect(),
            business_hours: business_hours.as_ref().map(|hours| BusinessHours::new(hours, now)),
            assignment: assignment.map(assignment::Assignment::from),
            answer_times: answer_times.map(answer_times::AnswerTimes::from),
            files: files.into(),
            email: email.as_ref().map(EmailSettings::from),
            email_domain: stack.mail_domain.map(str::to_owned),
            allows_http_receivers: stack.allows_http,
            aws_external_id: account_id.to_owned(),
            signing_secret: None,
        }
    }

    /// Adds the signing secret of the first webhook, which has just been created. No later response contains it.
    pub fn with_signing_secret(self, settings: &account_settings::AccountSettings) -> Self {
        let secret = settings.first_server_webhook().and_then(|webhook| webhook.secrets.current());
        Self { signing_secret: secret.map(SigningSecret::new), ..self }
    }
}

#[derive(Serialize, JsonSchema)]
struct CallbackHours {
    enabled: bool,
    /// 1 is Monday.
    days: Vec<Weekday>,
    #[schemars(regex(pattern = TIME_OF_DAY_PATTERN))]
    from: String,
    #[schemars(regex(pattern = TIME_OF_DAY_PATTERN))]
    to: String,
    /// Minutes from UTC. It applies only while `time_zone` is UTC.
    utc_offset: UtcOffset,
}

impl From<&account_settings::CallbackHours> for CallbackHours {
    fn from(hours: &account_settings::CallbackHours) -> Self {
        let account_settings::CallbackHours { enabled, days, hours: (from, to), utc_offset } = hours;
        Self {
            enabled: *enabled,
            days: days.iter().copied().map(Weekday).collect(),
            from: time_of_day(*from),
            to: time_of_day(*to),
            utc_offset: UtcOffset(*utc_offset),
        }
    }
}

/// The limits for a window of ten seconds.
#[derive(Serialize, JsonSchema)]
struct RateLimits {
    #[schemars(range(min = 1))]
    visitor_messages: u32,
    #[schemars(range(min = 1))]
    bot_requests: u64,
    #[schemars(range(min = 1))]
    channel_chats: u32,
}

impl From<account_settings::RateLimits> for RateLimits {
    fn from(limits: account_settings::RateLimits) -> Self {
        let account_settings::RateLimits { visitor_messages, bot_requests, channel_chats } = limits;
        Self { visitor_messages, bot_requests, channel_chats }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;
    use crate::domain::accounts::account_settings::{AccountSettings, CallbackHours, RateLimits};
    use crate::domain::accounts::assignment::{AssignmentMode, AssignmentRule};
    use crate::domain::files::file_settings::FileSettings;
    use crate::domain::files::file_type::FileType;
    use crate::wire::fields::reader::read;

    fn apply(body: &Value, settings: &AccountSettings) -> Result<AccountSettings, String> {
        let changes: AccountSettingsChanges = read(body).map_err(|error| error.to_string())?;
        changes.applied_to(settings).map_err(|error| error.to_string())
    }

    fn put(body: &Value) -> Result<AccountSettings, String> {
        apply(body, &AccountSettings::default())
    }

    #[test]
    fn absent_settings_are_preserved() {
        let body = json!({
            "safe_urls": ["Shop.Example"], "idle_close": 30, "retention_days": 90, "time_zone": "asia/tokyo",
            "limits": { "visitor_messages": 5 },
            "assignment": { "mode": "least_busy", "offer_seconds": 20 },
            "answer_times": { "first_answer_seconds": 60 },
            "files": { "max_size_bytes": 1000, "types": ["text/csv", "image/png"], "link_days": 3 },
            "email": { "sender_name": "Shop", "transcript_to": ["team@shop.example"], "answers_to_visitor": true },
            "callback": { "enabled": true, "days": [1, 5], "from": "09:30", "to": "24:00", "utc_offset": -330 },
        });
        let settings = put(&body).unwrap();
        assert_eq!(settings.safe_urls, LinkFilter(vec!["shop.example".to_owned()]));
        assert_eq!(settings.limits, RateLimits { visitor_messages: 5, bot_requests: 300, channel_chats: 300 });
        let callback = CallbackHours { enabled: true, days: vec![1, 5], hours: (570, 1_440), utc_offset: -330 };
        assert_eq!(settings.callback, callback);
        assert_eq!((settings.idle_close, settings.retention_days), (Some(Duration::from_secs(1_800)), Some(90)));
        let rule = AssignmentRule { mode: AssignmentMode::LeastBusy, offer: Some(Duration::from_secs(20)) };
        assert_eq!(settings.assignment, Some(Assignment { rule, capacity: 5 }));
        assert_eq!(settings.answer_times, Some(AnswerTimes { first: Some(Duration::from_secs(60)), next: None }));
        assert_eq!(settings.time_zone.name(), "Asia/Tokyo");
        let types = vec![FileType::Png, FileType::Csv];
        assert_eq!(settings.files, FileSettings { enabled: true, max_size_bytes: 1_000, types, link_days: 3 });
        let email = settings.email.clone().unwrap();
        assert_eq!((&*email.sender_name, email.transcript_to.len()), ("Shop", 1));
        assert_eq!((email.transcript_to_visitor, email.answers_to_visitor), (false, true));
        assert_eq!(email.away, Duration::from_secs(300));
        assert_eq!(apply(&json!({}), &settings).unwrap(), settings);
        let all = [
            "safe_urls",
            "idle_close",
            "retention_days",
            "limits",
            "callback",
            "time_zone",
            "business_hours",
            "assignment",
            "answer_times",
            "files",
            "email",
        ];
        let nulls = all.into_iter().map(|name| (name.to_owned(), Value::Null)).collect();
        let expected = AccountSettings { idle_close: None, ..AccountSettings::default() };
        assert_eq!(apply(&Value::Object(nulls), &settings).unwrap(), expected);
    }

    #[test]
    fn absent_limits_and_callback_fields_are_preserved() {
        let body = json!({
            "limits": { "visitor_messages": 5, "bot_requests": 6 },
            "callback": { "enabled": true, "days": [1, 5], "from": "09:30", "to": "17:00", "utc_offset": -330 },
        });
        let before = put(&body).unwrap();
        let hours = before.callback.hours;
        let table = [
            (json!({ "limits": {} }), before.clone()),
            (json!({ "callback": {} }), before.clone()),
            (
                json!({ "limits": { "bot_requests": 9 } }),
                AccountSettings { limits: RateLimits { bot_requests: 9, ..before.limits }, ..before.clone() },
            ),
            (
                json!({ "limits": { "visitor_messages": null } }),
                AccountSettings { limits: RateLimits { visitor_messages: 30, ..before.limits }, ..before.clone() },
            ),
            (
                json!({ "callback": { "enabled": false } }),
                AccountSettings {
                    callback: CallbackHours { enabled: false, ..before.callback.clone() },
                    ..before.clone()
                },
            ),
            (
                json!({ "callback": { "to": "18:00", "utc_offset": 60 } }),
                AccountSettings {
                    callback: CallbackHours { hours: (hours.0, 1_080), utc_offset: 60, ..before.callback.clone() },
                    ..before.clone()
                },
            ),
            (
                json!({ "callback": { "days": null, "from": null, "to": null, "utc_offset": null, "enabled": null } }),
                AccountSettings { callback: CallbackHours::default(), ..before.clone() },
            ),
        ];
        for (body, expected) in table {
            assert_eq!(apply(&body, &before).unwrap(), expected, "{body}");
        }
    }

    #[test]
    fn settings_response_is_a_valid_request() {
        let body = json!({
            "safe_urls": ["a.example"], "callback": { "from": "08:05" }, "idle_close": 7,
            "email": { "sender_name": "Shop", "away_minutes": 3 },
            "business_hours": { "time_zone": "Asia/Tokyo", "weekly": [{ "day": 1, "from": "09:00", "to": "17:00" }] },
        });
        let settings = put(&body).unwrap();
        let response =
            json!(super::AccountSettings::new("acc", &settings, json!([]), StackParameters::default(), Timestamp(0)));
        assert_eq!(put(&response).unwrap(), settings);
    }

    #[test]
    fn error_names_the_invalid_setting() {
        let table = [
            ("safe_urls", json!({ "safe_urls": "a.example" })),
            ("safe_urls", json!({ "safe_urls": ["https://a.example"] })),
            ("safe_urls", json!({ "safe_urls": [7] })),
            ("safe_urls", json!({ "safe_urls": [format!("{}.example", "x".repeat(250))] })),
            ("limits", json!({ "limits": [] })),
            ("limits.visitor_messages", json!({ "limits": { "visitor_messages": 0 } })),
            ("limits.visitor_messages", json!({ "limits": { "visitor_messages": 1_001 } })),
            ("limits.bot_requests", json!({ "limits": { "bot_requests": "many" } })),
            ("limits.channel_chats", json!({ "limits": { "channel_chats": 0 } })),
            ("limits.channel_chats", json!({ "limits": { "channel_chats": 10_001 } })),
            ("callback", json!({ "callback": true })),
            ("callback.enabled", json!({ "callback": { "enabled": 1 } })),
            ("callback.days", json!({ "callback": { "days": [0] } })),
            ("callback.days", json!({ "callback": { "days": "Mo" } })),
            ("callback.from", json!({ "callback": { "from": "9:30" } })),
            ("callback.to", json!({ "callback": { "to": "24:01" } })),
            ("callback.to", json!({ "callback": { "to": "+1:+1" } })),
            ("callback.to", json!({ "callback": { "to": "12:60" } })),
            ("callback.utc_offset", json!({ "callback": { "utc_offset": 900 } })),
            ("callback.utc_offset", json!({ "callback": { "utc_offset": 0.5 } })),
            ("idle_close", json!({ "idle_close": 0 })),
            ("idle_close", json!({ "idle_close": 129_601 })),
            ("retention_days", json!({ "retention_days": -1 })),
            ("retention_days", json!({ "retention_days": 3_654 })),
            ("time_zone", json!({ "time_zone": "Berlin" })),
            ("time_zone", json!({ "time_zone": 1 })),
            ("time_zone", json!({ "time_zone": "x".repeat(65) })),
            ("business_hours.weekly", json!({ "business_hours": { "time_zone": "UTC" } })),
            ("assignment.mode", json!({ "assignment": { "mode": "random" } })),
            ("assignment.capacity", json!({ "assignment": { "mode": "manual", "capacity": 0 } })),
            ("answer_times.next_answer_seconds", json!({ "answer_times": { "next_answer_seconds": 9 } })),
            ("email.sender_name", json!({ "email": { "sender_name": " " } })),
            ("email.transcript_to", json!({ "email": { "sender_name": "Shop", "transcript_to": ["a b@c.example"] } })),
            ("email.away_minutes", json!({ "email": { "sender_name": "Shop", "away_minutes": 16 } })),
            ("assignment.offer_seconds", json!({ "assignment": { "mode": "manual", "offer_seconds": 901 } })),
        ];
        for (field, body) in table {
            let error = put(&body).unwrap_err();
            assert!(error.starts_with(field), "{body}: {error}");
        }
    }
}
