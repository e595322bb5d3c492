//! Request and response bodies of the /admin/settings endpoints, including those for webhooks.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::domain::account_settings::{AccountSettings, CallbackHours, RateLimits};
use crate::domain::link_filter::LinkFilter;
use crate::domain::ssrf_guard::SsrfGuard;
use crate::domain::time_zone::TimeZone;
use crate::domain::webhook::Webhook;
use crate::domain::webhook_event::WebhookEvent;
use crate::error::Error;
use crate::wire::admin::required_outbound_url;
use crate::wire::json_fields::Fields;
use crate::wire::json_object::with_fields;
use crate::wire::widget_triggers;

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
const MAX_UTC_OFFSET_MINUTES: f64 = 14.0 * 60.0;
const MAX_TIME_ZONE_CHARS: usize = 64;

/// Parses the body of PUT /admin/settings, except for `webhook_url` and `rules`, and returns the changed settings.
/// Fields that are absent from the body, or from an object in it, stay unchanged. A field that is null is reset to the
/// default for a new account, except that null in `idle_close` or `retention_days` removes the limit.
pub fn apply_settings_patch(body: &Value, mut settings: AccountSettings) -> Result<AccountSettings, Error> {
    let fields = Fields::of(body)?;
    if fields.has("safe_urls") {
        settings.safe_urls = LinkFilter(parse_domains(fields)?);
    }
    if fields.has("callback") {
        settings.callback = parse_callback(fields, settings.callback)?;
    }
    if fields.has("limits") {
        settings.limits = parse_limits(fields, settings.limits)?;
    }
    if fields.has("idle_close") {
        let minutes = positive_up_to(fields, "idle_close", MAX_IDLE_CLOSE_MINUTES)?;
        settings.idle_close = minutes.map(|minutes| Duration::from_secs(minutes * 60));
    }
    if fields.has("retention_days") {
        let days = positive_up_to(fields, "retention_days", MAX_RETENTION_DAYS)?;
        settings.retention_days = days.and_then(|days| u32::try_from(days).ok());
    }
    if fields.has("time_zone") {
        settings.time_zone = parse_time_zone(fields)?;
    }
    Ok(settings)
}

fn positive_up_to(fields: Fields<'_>, name: &str, max: u64) -> Result<Option<u64>, Error> {
    let value = fields.positive(name)?;
    if value.is_some_and(|value| value > max) {
        return Err(fields.invalid(name, format_args!("must be a whole number from 1 to {max}")));
    }
    Ok(value)
}

fn parse_time_zone(fields: Fields<'_>) -> Result<TimeZone, Error> {
    let Some(name) = fields.text("time_zone", MAX_TIME_ZONE_CHARS)? else { return Ok(TimeZone::default()) };
    TimeZone::parse(&name).ok_or_else(|| fields.invalid("time_zone", "must be an IANA time zone such as Europe/Berlin"))
}

fn parse_domains(fields: Fields<'_>) -> Result<Vec<String>, Error> {
    let Some(value) = fields.value("safe_urls") else { return Ok(Vec::new()) };
    let list = value.as_array().filter(|list| list.len() <= MAX_DOMAINS);
    let domain =
        |value: &Value| LinkFilter::normalize_domain(value.as_str().filter(|text| text.len() <= MAX_DOMAIN_BYTES)?);
    let domains = list.and_then(|list| list.iter().map(domain).collect());
    domains.ok_or_else(|| {
        let expected = format_args!("must be a list of at most {MAX_DOMAINS} domains such as shop.example");
        fields.invalid("safe_urls", expected)
    })
}

fn parse_limits(fields: Fields<'_>, before: RateLimits) -> Result<RateLimits, Error> {
    let default = AccountSettings::default().limits;
    if fields.value("limits").is_none() {
        return Ok(default);
    }
    let (limits, mut after) = (fields.object("limits")?, before);
    if limits.has("visitor_messages") {
        let limit = positive_up_to(limits, "visitor_messages", MAX_VISITOR_MESSAGES)?
            .and_then(|limit| u32::try_from(limit).ok());
        after.visitor_messages = limit.unwrap_or(default.visitor_messages);
    }
    if limits.has("bot_requests") {
        after.bot_requests = positive_up_to(limits, "bot_requests", MAX_BOT_REQUESTS)?.unwrap_or(default.bot_requests);
    }
    if limits.has("channel_chats") {
        let limit =
            positive_up_to(limits, "channel_chats", MAX_CHANNEL_CHATS)?.and_then(|limit| u32::try_from(limit).ok());
        after.channel_chats = limit.unwrap_or(default.channel_chats);
    }
    Ok(after)
}

fn parse_callback(fields: Fields<'_>, before: CallbackHours) -> Result<CallbackHours, Error> {
    let default = CallbackHours::default();
    if fields.value("callback").is_none() {
        return Ok(default);
    }
    let (callback, mut after) = (fields.object("callback")?, before);
    if callback.has("enabled") {
        after.enabled = callback.boolean("enabled")?.unwrap_or(default.enabled);
    }
    if callback.has("days") {
        let days = callback.integers("days", 7)?.map(|days| days.into_iter().map(weekday).collect::<Option<Vec<u8>>>());
        after.days = match days {
            None => default.days,
            Some(days) => {
                days.ok_or_else(|| callback.invalid("days", "must be days of the week from 1 (Monday) to 7"))?
            }
        };
    }
    if callback.has("from") {
        after.hours.0 = parse_time_of_day(callback, "from", default.hours.0)?;
    }
    if callback.has("to") {
        after.hours.1 = parse_time_of_day(callback, "to", default.hours.1)?;
    }
    if callback.has("utc_offset") {
        let offset = callback.number("utc_offset", MAX_UTC_OFFSET_MINUTES)?.unwrap_or_default();
        after.utc_offset =
            whole_minutes(offset).ok_or_else(|| callback.invalid("utc_offset", "must be whole minutes"))?;
    }
    Ok(after)
}

fn weekday(number: i64) -> Option<u8> {
    u8::try_from(number).ok().filter(|day| (1..=7).contains(day))
}

#[allow(clippy::cast_possible_truncation, reason = "the caller passes at most MAX_UTC_OFFSET_MINUTES")]
fn whole_minutes(number: f64) -> Option<i16> {
    (number.fract() == 0.0).then_some(number as i16)
}

/// Parses a time of day such as 09:30. Returns the number of minutes after midnight. 24:00 means the end of the day.
fn parse_time_of_day(fields: Fields<'_>, name: &str, default: u16) -> Result<u16, Error> {
    let Some(text) = fields.text(name, 5)? else { return Ok(default) };
    let two_digits = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = text.split_once(':').filter(|(hour, minute)| two_digits(hour) && two_digits(minute));
    let minutes = parts.and_then(|(hour, minute)| {
        let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
        let minutes = hour.checked_mul(60)?.checked_add(minute)?;
        (minute < 60 && minutes <= 24 * 60).then_some(minutes)
    });
    minutes.ok_or_else(|| fields.invalid(name, "must be a time from 00:00 to 24:00"))
}

/// Parses the body of POST /admin/settings/webhooks or PATCH /admin/settings/webhooks/{webhook_id} and returns the
/// changed webhook. A `webhook` without a URL is new; in that case the body must contain a URL.
pub fn apply_webhook_patch(body: &Value, mut webhook: Webhook, guard: &SsrfGuard) -> Result<Webhook, Error> {
    let fields = Fields::of(body)?;
    if fields.has("url") || webhook.url.is_empty() {
        webhook.url = required_outbound_url(fields, "url", guard)?;
    }
    if let Some(value) = fields.value("events") {
        let names = value.as_array().map(Vec::as_slice);
        let events = names.and_then(|names| names.iter().map(|name| WebhookEvent::parse(name.as_str()?)).collect());
        webhook.events = events.ok_or_else(|| fields.invalid("events", "must be a list of event names"))?;
        let mut unique = BTreeSet::new();
        webhook.events.retain(|event| unique.insert(*event));
    }
    Ok(webhook)
}

/// Parses the `webhook_url` field in the body of PUT /admin/settings, the URL of the first webhook. Returns `None` if
/// the body does not contain the field, and `Some(None)` if the field is null, which deletes the webhook.
pub fn parse_webhook_url(body: &Value, guard: &SsrfGuard) -> Result<Option<Option<String>>, Error> {
    let fields = Fields::of(body)?;
    if !fields.has("webhook_url") {
        return Ok(None);
    }
    // A blank URL is probably a mistake, so it must not delete the webhook.
    let is_null = fields.value("webhook_url").is_none();
    if is_null {
        Ok(Some(None))
    } else {
        required_outbound_url(fields, "webhook_url", guard).map(|url| Some(Some(url)))
    }
}

/// Parses the `rules` field in the body of PUT /admin/settings. Returns `None` if the body does not contain the field.
pub fn parse_rules(body: &Value) -> Result<Option<Value>, Error> {
    let fields = Fields::of(body)?;
    if fields.has("rules") { widget_triggers::validated_rules(fields.value("rules")).map(Some) } else { Ok(None) }
}

/// Returns a webhook without its signing secrets.
pub fn webhook_json(webhook: &Webhook) -> Value {
    let Webhook { webhook_id, url, events, secrets: _ } = webhook;
    let events: Vec<&str> = events.iter().map(|event| event.name()).collect();
    json!({ "webhook_id": webhook_id, "url": url, "events": events })
}

/// Returns a webhook with its new signing secret. No later response contains this secret.
pub fn webhook_with_secret_json(webhook: &Webhook, secret: &str) -> Value {
    with_fields(webhook_json(webhook), [("signing_secret", json!(secret))])
}

pub fn settings_json(settings: &AccountSettings, rules: &Value) -> Value {
    let AccountSettings {
        version: _,
        webhooks,
        safe_urls,
        callback,
        limits,
        idle_close,
        retention_days,
        time_zone,
        suspended_at: _,
    } = settings;
    let RateLimits { visitor_messages, bot_requests, channel_chats } = limits;
    json!({
        "webhook_url": webhooks.first().map(|webhook| webhook.url.as_str()),
        "webhooks": webhooks.iter().map(webhook_json).collect::<Vec<_>>(),
        "safe_urls": safe_urls.0,
        "rules": rules,
        "callback": callback_json(callback),
        "limits": {
            "visitor_messages": visitor_messages, "bot_requests": bot_requests, "channel_chats": channel_chats,
        },
        "idle_close": idle_close.map(|limit| limit.as_secs() / 60),
        "retention_days": retention_days,
        "time_zone": time_zone.name(),
    })
}

/// Adds whether the stack allows http receivers, so that the console can say which addresses are accepted.
pub fn with_receiver_rules(settings: Value, allows_http: bool) -> Value {
    with_fields(settings, [("allows_http_receivers", json!(allows_http))])
}

fn callback_json(callback: &CallbackHours) -> Value {
    let CallbackHours { enabled, days, hours: (from, to), utc_offset } = callback;
    let format_time = |minutes: &u16| format!("{:02}:{:02}", minutes / 60, minutes % 60);
    json!({ "enabled": enabled, "days": days, "from": format_time(from), "to": format_time(to), "utc_offset": utc_offset })
}

/// Returns the settings with the signing secret of the first webhook, which has just been created. No later response
/// contains this secret.
pub fn settings_with_secret_json(settings: &AccountSettings, rules: &Value) -> Value {
    let secret = settings.webhooks.first().and_then(|webhook| webhook.secrets.current());
    with_fields(settings_json(settings, rules), [("signing_secret", json!(secret))])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::domain::signing_secret::SigningSecrets;

    fn put(body: &Value) -> Result<AccountSettings, String> {
        apply_settings_patch(body, AccountSettings::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn absent_settings_are_preserved() {
        let body = json!({
            "safe_urls": ["Shop.Example"], "idle_close": 30, "retention_days": 90, "time_zone": "asia/tokyo",
            "limits": { "visitor_messages": 5 },
            "callback": { "enabled": true, "days": [1, 5], "from": "09:30", "to": "24:00", "utc_offset": -330 },
        });
        let settings = put(&body).unwrap();
        assert_eq!(settings.safe_urls, LinkFilter(vec!["shop.example".to_owned()]));
        assert_eq!(settings.limits, RateLimits { visitor_messages: 5, bot_requests: 300, channel_chats: 300 });
        let callback = CallbackHours { enabled: true, days: vec![1, 5], hours: (570, 1_440), utc_offset: -330 };
        assert_eq!(settings.callback, callback);
        assert_eq!((settings.idle_close, settings.retention_days), (Some(Duration::from_secs(1_800)), Some(90)));
        assert_eq!(settings.time_zone.name(), "Asia/Tokyo");
        assert_eq!(apply_settings_patch(&json!({}), settings.clone()).unwrap(), settings);
        let all = ["safe_urls", "idle_close", "retention_days", "limits", "callback", "time_zone"];
        let nulls = all.into_iter().map(|name| (name.to_owned(), Value::Null)).collect();
        let expected = AccountSettings { idle_close: None, ..AccountSettings::default() };
        assert_eq!(apply_settings_patch(&Value::Object(nulls), settings).unwrap(), expected);
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
            assert_eq!(apply_settings_patch(&body, before.clone()).unwrap(), expected, "{body}");
        }
    }

    #[test]
    fn duplicate_webhook_events_are_removed() {
        let blank =
            Webhook { webhook_id: "w".into(), url: String::new(), events: vec![], secrets: SigningSecrets::default() };
        let events = ["chat_finished", "chat_accepted"].repeat(5_000);
        let body = json!({ "url": "https://crm.example", "events": events });
        let webhook = apply_webhook_patch(&body, blank, &SsrfGuard::new(vec![], false)).unwrap();
        assert_eq!(webhook.events, [WebhookEvent::ChatFinished, WebhookEvent::ChatAccepted]);
    }

    #[test]
    fn settings_response_is_a_valid_request() {
        let body = json!({ "safe_urls": ["a.example"], "callback": { "from": "08:05" }, "idle_close": 7 });
        let settings = put(&body).unwrap();
        assert_eq!(
            apply_settings_patch(&settings_json(&settings, &json!([])), AccountSettings::default()).unwrap(),
            settings
        );
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
        ];
        for (field, body) in table {
            let error = put(&body).unwrap_err();
            assert!(error.starts_with(field), "{body}: {error}");
        }
    }
}
