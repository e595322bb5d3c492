//! The settings of an account: the bodies of /admin/settings.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::domain::link_filter::SafeUrls;
use crate::domain::settings::{Callback, Limits, Settings};
use crate::domain::target_guard::Guard;
use crate::domain::webhook::{Webhook, WebhookEvent};
use crate::error::Error;
use crate::wire::admin::{required_target, with};
use crate::wire::fields::Fields;
use crate::wire::widget_triggers;

/// Domains of Safe URL.
const MAX_DOMAINS: usize = 100;
/// Bytes of a domain (RFC 1035), and of what is written for it.
const MAX_DOMAIN_BYTES: usize = 253;
/// Messages of a visitor in ten seconds.
const MAX_VISITOR_MESSAGES: u64 = 1_000;
/// Requests of a bot connection in ten seconds.
const MAX_BOT_REQUESTS: u64 = 10_000;
/// Chats that a channel opens in ten seconds.
const MAX_CHANNEL_CHATS: u64 = 10_000;
/// Minutes after which a chat may be closed: 90 days.
const MAX_IDLE_CLOSE_SECONDS: u64 = 90 * 24 * 60;
/// Days for which things may be kept: ten years.
const MAX_RETENTION_DAYS: u64 = 3_653;
/// Minutes between a place's time and UTC.
const MAX_OFFSET_HOURS: f64 = 14.0 * 60.0;

/// Reads PUT /admin/settings onto the settings as they are, except for `webhook_url` and `rules`: what the body does not mention
/// stays, also a member of an object; what is null becomes what it is for a new account, or unlimited.
pub fn changed(body: &Value, mut settings: Settings) -> Result<Settings, Error> {
    let fields = Fields::of(body)?;
    if fields.has("safe_urls") {
        settings.safe_urls = SafeUrls(domains(fields)?);
    }
    if fields.has("callback") {
        settings.callback = callback(fields, settings.callback)?;
    }
    if fields.has("limits") {
        settings.limits = limits(fields, settings.limits)?;
    }
    if fields.has("idle_close") {
        let minutes = up_to(fields, "idle_close", MAX_IDLE_CLOSE_SECONDS)?;
        settings.idle_close = minutes.map(|minutes| Duration::from_secs(minutes * 60));
    }
    if fields.has("retention_days") {
        let days = up_to(fields, "retention_days", MAX_RETENTION_DAYS)?;
        settings.retention_days = days.and_then(|days| u32::try_from(days).ok());
    }
    Ok(settings)
}

fn up_to(fields: Fields<'_>, name: &str, most: u64) -> Result<Option<u64>, Error> {
    let value = fields.positive(name)?;
    if value.is_some_and(|value| value > most) {
        return Err(fields.refuse(name, format_args!("must be a whole number from 1 to {most}")));
    }
    Ok(value)
}

fn domains(fields: Fields<'_>) -> Result<Vec<String>, Error> {
    let Some(value) = fields.value("safe_urls") else { return Ok(Vec::new()) };
    let list = value.as_array().filter(|list| list.len() <= MAX_DOMAINS);
    let domain = |value: &Value| SafeUrls::domain(value.as_str().filter(|text| text.len() <= MAX_DOMAIN_BYTES)?);
    let domains = list.and_then(|list| list.iter().map(domain).collect());
    domains.ok_or_else(|| {
        let expected = format_args!("must be a list of at most {MAX_DOMAINS} domains such as shop.example");
        fields.refuse("safe_urls", expected)
    })
}

fn limits(fields: Fields<'_>, before: Limits) -> Result<Limits, Error> {
    let usual = Settings::default().limits;
    if fields.value("limits").is_none() {
        return Ok(usual);
    }
    let (limits, mut after) = (fields.object("limits")?, before);
    if limits.has("visitor_messages") {
        let most = up_to(limits, "visitor_messages", MAX_VISITOR_MESSAGES)?.and_then(|most| u32::try_from(most).ok());
        after.visitor_messages = most.unwrap_or(usual.visitor_messages);
    }
    if limits.has("bot_requests") {
        after.bot_requests = up_to(limits, "bot_requests", MAX_BOT_REQUESTS)?.unwrap_or(usual.bot_requests);
    }
    if limits.has("channel_chats") {
        let most = up_to(limits, "channel_chats", MAX_CHANNEL_CHATS)?.and_then(|most| u32::try_from(most).ok());
        after.channel_chats = most.unwrap_or(usual.channel_chats);
    }
    Ok(after)
}

fn callback(fields: Fields<'_>, before: Callback) -> Result<Callback, Error> {
    let usual = Callback::default();
    if fields.value("callback").is_none() {
        return Ok(usual);
    }
    let (callback, mut after) = (fields.object("callback")?, before);
    if callback.has("enabled") {
        after.enabled = callback.flag("enabled")?.unwrap_or(usual.enabled);
    }
    if callback.has("days") {
        let days = callback.integers("days", 7)?.map(|days| days.into_iter().map(day).collect::<Option<Vec<u8>>>());
        after.days = match days {
            None => usual.days,
            Some(days) => {
                days.ok_or_else(|| callback.refuse("days", "must be days of the week from 1 (Monday) to 7"))?
            }
        };
    }
    if callback.has("from") {
        after.hours.0 = time(callback, "from", usual.hours.0)?;
    }
    if callback.has("to") {
        after.hours.1 = time(callback, "to", usual.hours.1)?;
    }
    if callback.has("utc_offset") {
        let offset = callback.number("utc_offset", MAX_OFFSET_HOURS)?.unwrap_or_default();
        after.utc_offset = minutes(offset).ok_or_else(|| callback.refuse("utc_offset", "must be whole minutes"))?;
    }
    Ok(after)
}

fn day(number: i64) -> Option<u8> {
    u8::try_from(number).ok().filter(|day| (1..=7).contains(day))
}

#[allow(clippy::cast_possible_truncation, reason = "only numbers up to the farthest offset come here")]
fn minutes(number: f64) -> Option<i16> {
    (number.fract() == 0.0).then_some(number as i16)
}

/// A time of day such as 09:30, in minutes; 24:00 is the end of the day.
fn time(fields: Fields<'_>, name: &str, usual: u16) -> Result<u16, Error> {
    let Some(text) = fields.text(name, 5)? else { return Ok(usual) };
    let two_digits = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = text.split_once(':').filter(|(hour, minute)| two_digits(hour) && two_digits(minute));
    let minutes = parts.and_then(|(hour, minute)| {
        let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
        let minutes = hour.checked_mul(60)?.checked_add(minute)?;
        (minute < 60 && minutes <= 24 * 60).then_some(minutes)
    });
    minutes.ok_or_else(|| fields.refuse(name, "must be a time from 00:00 to 24:00"))
}

/// Reads POST /admin/settings/webhooks, or a change of one that is there: address and choice of events.
pub fn changed_webhook(body: &Value, mut webhook: Webhook, guard: &Guard) -> Result<Webhook, Error> {
    let fields = Fields::of(body)?;
    if fields.has("url") || webhook.url.is_empty() {
        webhook.url = required_target(fields, "url", guard)?;
    }
    if let Some(value) = fields.value("events") {
        let names = value.as_array().map(Vec::as_slice);
        let events = names.and_then(|names| names.iter().map(|name| WebhookEvent::parse(name.as_str()?)).collect());
        webhook.events = events.ok_or_else(|| fields.refuse("events", "must be a list of event names"))?;
        let mut seen = BTreeSet::new();
        webhook.events.retain(|event| seen.insert(*event));
    }
    Ok(webhook)
}

/// Reads `webhook_url` of PUT /admin/settings, the one address that the specification knows: none when the body does not
/// mention it; null takes it away.
pub fn webhook_url(body: &Value, guard: &Guard) -> Result<Option<Option<String>>, Error> {
    let fields = Fields::of(body)?;
    if !fields.has("webhook_url") {
        return Ok(None);
    }
    // A blank address is a mistake; only null takes the webhook away.
    let is_null = fields.value("webhook_url").is_none();
    if is_null { Ok(Some(None)) } else { required_target(fields, "webhook_url", guard).map(|url| Some(Some(url))) }
}

/// Reads `rules` of PUT /admin/settings: none when the body does not mention them.
pub fn rules(body: &Value) -> Result<Option<Value>, Error> {
    let fields = Fields::of(body)?;
    if fields.has("rules") { widget_triggers::read(fields.value("rules")).map(Some) } else { Ok(None) }
}

/// A webhook as admins see it: nothing secret.
pub fn webhook(webhook: &Webhook) -> Value {
    let Webhook { webhook_id, url, events, secrets: _ } = webhook;
    let events: Vec<&str> = events.iter().map(|event| event.name()).collect();
    json!({ "webhook_id": webhook_id, "url": url, "events": events })
}

/// A webhook with the secret that was just made, which is shown once.
pub fn webhook_with_secret(webhook: &Webhook, secret: &str) -> Value {
    with(self::webhook(webhook), [("signing_secret", json!(secret))])
}

/// The settings as admins see them.
pub fn shown(settings: &Settings, rules: &Value) -> Value {
    let Settings { version: _, webhooks, safe_urls, callback, limits, idle_close, retention_days } = settings;
    let Limits { visitor_messages, bot_requests, channel_chats } = limits;
    json!({
        "webhook_url": webhooks.first().map(|webhook| webhook.url.as_str()),
        "webhooks": webhooks.iter().map(webhook).collect::<Vec<_>>(),
        "safe_urls": safe_urls.0,
        "rules": rules,
        "callback": shown_callback(callback),
        "limits": {
            "visitor_messages": visitor_messages, "bot_requests": bot_requests, "channel_chats": channel_chats,
        },
        "idle_close": idle_close.map(|limit| limit.as_secs() / 60),
        "retention_days": retention_days,
    })
}

fn shown_callback(callback: &Callback) -> Value {
    let Callback { enabled, days, hours: (from, to), utc_offset } = callback;
    let time = |minutes: &u16| format!("{:02}:{:02}", minutes / 60, minutes % 60);
    json!({ "enabled": enabled, "days": days, "from": time(from), "to": time(to), "utc_offset": utc_offset })
}

/// The settings with the secret of the first webhook, which was just made and is shown once.
pub fn shown_with_secret(settings: &Settings, rules: &Value) -> Value {
    let secret = settings.webhooks.first().and_then(Webhook::current_secret);
    with(shown(settings, rules), [("signing_secret", json!(secret))])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn put(body: &Value) -> Result<Settings, String> {
        changed(body, Settings::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_not_mentioned_stays() {
        let body = json!({
            "safe_urls": ["Shop.Example"], "idle_close": 30, "retention_days": 90,
            "limits": { "visitor_messages": 5 },
            "callback": { "enabled": true, "days": [1, 5], "from": "09:30", "to": "24:00", "utc_offset": -330 },
        });
        let settings = put(&body).unwrap();
        assert_eq!(settings.safe_urls, SafeUrls(vec!["shop.example".to_owned()]));
        assert_eq!(settings.limits, Limits { visitor_messages: 5, bot_requests: 300, channel_chats: 300 });
        let callback = Callback { enabled: true, days: vec![1, 5], hours: (570, 1_440), utc_offset: -330 };
        assert_eq!(settings.callback, callback);
        assert_eq!((settings.idle_close, settings.retention_days), (Some(Duration::from_secs(1_800)), Some(90)));
        assert_eq!(changed(&json!({}), settings.clone()).unwrap(), settings);
        let all = ["safe_urls", "idle_close", "retention_days", "limits", "callback"];
        let nulls = all.into_iter().map(|name| (name.to_owned(), Value::Null)).collect();
        let expected = Settings { idle_close: None, ..Settings::default() };
        assert_eq!(changed(&Value::Object(nulls), settings).unwrap(), expected);
    }

    #[test]
    fn a_part_of_the_limits_or_the_hours_changes_only_that_part() {
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
                Settings { limits: Limits { bot_requests: 9, ..before.limits }, ..before.clone() },
            ),
            (
                json!({ "limits": { "visitor_messages": null } }),
                Settings { limits: Limits { visitor_messages: 30, ..before.limits }, ..before.clone() },
            ),
            (
                json!({ "callback": { "enabled": false } }),
                Settings { callback: Callback { enabled: false, ..before.callback.clone() }, ..before.clone() },
            ),
            (
                json!({ "callback": { "to": "18:00", "utc_offset": 60 } }),
                Settings {
                    callback: Callback { hours: (hours.0, 1_080), utc_offset: 60, ..before.callback.clone() },
                    ..before.clone()
                },
            ),
            (
                json!({ "callback": { "days": null, "from": null, "to": null, "utc_offset": null, "enabled": null } }),
                Settings { callback: Callback::default(), ..before.clone() },
            ),
        ];
        for (body, expected) in table {
            assert_eq!(changed(&body, before.clone()).unwrap(), expected, "{body}");
        }
    }

    #[test]
    fn webhook_events_are_stored_once_each() {
        let blank = Webhook { webhook_id: "w".into(), url: String::new(), events: vec![], secrets: vec![] };
        let events = ["chat_finished", "chat_accepted"].repeat(5_000);
        let body = json!({ "url": "https://crm.example", "events": events });
        let webhook = changed_webhook(&body, blank, &Guard::new(vec![], false)).unwrap();
        assert_eq!(webhook.events, [WebhookEvent::ChatFinished, WebhookEvent::ChatAccepted]);
    }

    #[test]
    fn what_is_shown_can_be_put_back() {
        let body = json!({ "safe_urls": ["a.example"], "callback": { "from": "08:05" }, "idle_close": 7 });
        let settings = put(&body).unwrap();
        assert_eq!(changed(&shown(&settings, &json!([])), Settings::default()).unwrap(), settings);
    }

    #[test]
    fn every_wrong_field_is_named() {
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
        ];
        for (field, body) in table {
            let error = put(&body).unwrap_err();
            assert!(error.starts_with(field), "{body}: {error}");
        }
    }
}
