//! Request and response bodies of the endpoints that configure an account's telephony, and of the endpoint through
//! which the operator tops up the account's balance. The signing secret and the token are accepted and never returned.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::domain::phone_call::CallLimits;
use crate::domain::phone_number;
use crate::domain::ssrf_guard::SsrfGuard;
use crate::domain::telephony::{
    CallbackCaps, DEFAULT_CALLBACK_CAPS, DEFAULT_MAX_TALK_TIME, DEFAULT_RING_TIME, ProviderSettings, Telephony,
};
use crate::error::Error;
use crate::wire::admin::{outbound_url, required_outbound_url};
use crate::wire::json_fields::Fields;
use crate::wire::json_object::with_fields;

const PROVIDER_NAMES: &str = "http, twilio";
const TWILIO_API_URL: &str = "https://api.twilio.com/";
const MAX_SECRET_CHARS: usize = 255;
const MAX_ID_CHARS: usize = 64;
const MAX_RING_SECONDS: u64 = 120;
/// The maximum duration of a conversation: four hours, which is also Twilio's limit.
const MAX_TALK_MINUTES: u64 = 4 * 60;
const MAX_COUNTRIES: usize = 250;
const MAX_CALLBACKS_PER_NUMBER: u64 = 100;
const MAX_CALLBACKS_PER_DAY: u64 = 100_000;
const MAX_TOP_UP_MINUTES: u64 = 1_000_000;
const MAX_REFERENCE_CHARS: usize = 64;
/// The prefix of a secret in the format of Standard Webhooks. The rest is base64.
const SECRET_PREFIX: &str = "whsec_";

#[derive(Clone, Copy, PartialEq, Eq)]
enum ProviderName {
    Http,
    Twilio,
}

impl ProviderName {
    fn parse(name: &str) -> Option<Self> {
        match name {
            "http" => Some(Self::Http),
            "twilio" => Some(Self::Twilio),
            _ => None,
        }
    }

    fn of(settings: &ProviderSettings) -> Self {
        match settings {
            ProviderSettings::Http { .. } => Self::Http,
            ProviderSettings::Twilio { .. } => Self::Twilio,
        }
    }
}

/// Parses the body of PATCH .../telephony and returns the changed settings. Fields that are absent stay unchanged.
/// `before` is `None` if the account has no telephony; the body must then contain all required fields. A change of the
/// provider requires the required fields of the new provider, and a change of Twilio's URL or account the token.
pub fn apply_telephony_patch(body: &Value, before: Option<Telephony>, guard: &SsrfGuard) -> Result<Telephony, Error> {
    let fields = Fields::of(body)?;
    let named = fields.enumerated("provider", PROVIDER_NAMES, ProviderName::parse)?;
    let name = named.or_else(|| before.as_ref().map(|before| ProviderName::of(&before.provider)));
    let name = name.ok_or_else(|| fields.invalid("provider", "is required"))?;
    let (provider_before, number_before, settings) = match before {
        Some(before) => (Some(before.provider.clone()), Some(before.number.clone()), Some(before)),
        None => (None, None, None),
    };
    let provider = match name {
        ProviderName::Http => parse_http(fields, provider_before, guard)?,
        ProviderName::Twilio => parse_twilio(fields, provider_before, guard)?,
    };
    let limits = settings.as_ref().map_or(DEFAULT_LIMITS, |settings| settings.limits);
    let caps = settings.as_ref().map_or(DEFAULT_CALLBACK_CAPS, |settings| settings.callback_caps);
    Ok(Telephony {
        provider,
        number: match (fields.has("number"), number_before) {
            (false, Some(number)) => number,
            _ => parse_own_number(fields)?,
        },
        channel_id: if fields.has("channel_id") {
            fields.text("channel_id", MAX_ID_CHARS)?
        } else {
            settings.as_ref().and_then(|settings| settings.channel_id.clone())
        },
        is_recorded: match fields.boolean("record")? {
            Some(is_recorded) => is_recorded,
            None => settings.as_ref().is_some_and(|settings| settings.is_recorded),
        },
        limits: CallLimits {
            ring: up_to(fields, "ring_seconds", MAX_RING_SECONDS)?.map_or(limits.ring, Duration::from_secs),
            talk: up_to(fields, "max_minutes", MAX_TALK_MINUTES)?
                .map_or(limits.talk, |minutes| Duration::from_secs(minutes * 60)),
        },
        countries: match parse_countries(fields)? {
            Some(countries) => countries,
            None => settings.as_ref().map(|settings| settings.countries.clone()).unwrap_or_default(),
        },
        callback_caps: CallbackCaps {
            per_number: cap(fields, "callbacks_per_number", MAX_CALLBACKS_PER_NUMBER, caps.per_number)?,
            per_day: cap(fields, "callbacks_per_day", MAX_CALLBACKS_PER_DAY, caps.per_day)?,
        },
        is_locked: match fields.boolean("locked")? {
            Some(is_locked) => is_locked,
            None => settings.as_ref().is_some_and(|settings| settings.is_locked),
        },
    })
}

/// Returns the codes of the countries in the body, sorted. An empty list stands for the country of the account's own
/// number, as does null. Returns `None` if the field is absent.
fn parse_countries(fields: Fields<'_>) -> Result<Option<Vec<String>>, Error> {
    if !fields.has("countries") {
        return Ok(None);
    }
    let expected = "two-letter country codes, such as NL";
    let codes = fields.list("countries", MAX_COUNTRIES, expected, phone_number::parse_country)?;
    let countries: BTreeSet<String> = codes.unwrap_or_default().into_iter().collect();
    Ok(Some(countries.into_iter().collect()))
}

fn cap(fields: Fields<'_>, name: &str, max: u64, before: u32) -> Result<u32, Error> {
    let value = up_to(fields, name, max)?;
    Ok(value.and_then(|value| u32::try_from(value).ok()).unwrap_or(before))
}

/// Returns the `channel_id` in the body of a PATCH, or `None` if the body names no channel.
pub(crate) fn named_channel(body: &Value) -> Result<Option<String>, Error> {
    Fields::of(body)?.text("channel_id", MAX_ID_CHARS)
}

const DEFAULT_LIMITS: CallLimits = CallLimits { ring: DEFAULT_RING_TIME, talk: DEFAULT_MAX_TALK_TIME };

fn parse_http(
    fields: Fields<'_>,
    before: Option<ProviderSettings>,
    guard: &SsrfGuard,
) -> Result<ProviderSettings, Error> {
    let (url, secret) = match before {
        Some(ProviderSettings::Http { url, signing_secret }) => (Some(url), Some(signing_secret)),
        Some(ProviderSettings::Twilio { .. }) | None => (None, None),
    };
    Ok(ProviderSettings::Http {
        url: match url.filter(|_| !fields.has("url")) {
            Some(url) => url,
            None => required_outbound_url(fields, "url", guard)?,
        },
        signing_secret: match secret.filter(|_| !fields.has("signing_secret")) {
            Some(secret) => secret,
            None => parse_signing_secret(fields)?,
        },
    })
}

fn parse_signing_secret(fields: Fields<'_>) -> Result<String, Error> {
    let secret = fields.required_text("signing_secret", MAX_SECRET_CHARS)?;
    let key = secret
        .strip_prefix(SECRET_PREFIX)
        .and_then(|key| base64::Engine::decode(&base64::engine::general_purpose::STANDARD, key).ok());
    match key {
        Some(key) if (24..=64).contains(&key.len()) => Ok(secret),
        _ => Err(fields.invalid("signing_secret", "must be whsec_ and the base64 of 24 to 64 bytes")),
    }
}

fn parse_twilio(
    fields: Fields<'_>,
    before: Option<ProviderSettings>,
    guard: &SsrfGuard,
) -> Result<ProviderSettings, Error> {
    let (url_before, sid_before, token) = match before {
        Some(ProviderSettings::Twilio { api_url, account_sid, auth_token }) => {
            (Some(api_url), Some(account_sid), Some(auth_token))
        }
        Some(ProviderSettings::Http { .. }) | None => (None, None, None),
    };
    let api_url = match url_before.clone().filter(|_| !fields.has("api_url")) {
        Some(api_url) => api_url,
        None => outbound_url(fields, "api_url", guard)?.unwrap_or_else(|| TWILIO_API_URL.to_owned()),
    };
    let account_sid = match sid_before.clone().filter(|_| !fields.has("account_sid")) {
        Some(account_sid) => account_sid,
        None => parse_credential(fields, "account_sid")?,
    };
    // Each request to the API contains the token, and a new server must not receive a token that was entered for
    // another server.
    let is_same_api = url_before.as_ref() == Some(&api_url) && sid_before.as_ref() == Some(&account_sid);
    let auth_token = match token.filter(|_| is_same_api && !fields.has("auth_token")) {
        Some(auth_token) => auth_token,
        None => parse_credential(fields, "auth_token")?,
    };
    Ok(ProviderSettings::Twilio { api_url, account_sid, auth_token })
}

fn parse_credential(fields: Fields<'_>, name: &str) -> Result<String, Error> {
    let text = fields.required_text(name, MAX_SECRET_CHARS)?;
    let is_valid = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_valid { Ok(text) } else { Err(fields.invalid(name, "must consist of letters and digits")) }
}

fn parse_own_number(fields: Fields<'_>) -> Result<String, Error> {
    let text = fields.required_text("number", phone_number::MAX_PHONE_NUMBER_CHARS)?;
    let number = phone_number::to_e164(&text, None);
    number.ok_or_else(|| fields.invalid("number", "must be a phone number with its country code, such as +31201234567"))
}

fn up_to(fields: Fields<'_>, name: &str, max: u64) -> Result<Option<u64>, Error> {
    let value = fields.positive(name)?;
    match value.filter(|value| *value > max) {
        Some(_) => Err(fields.invalid(name, format_args!("must be a whole number from 1 to {max}"))),
        None => Ok(value),
    }
}

/// Returns the telephony settings of an account, without the credentials of its provider.
pub fn telephony_json(telephony: Option<&Telephony>, balance_minutes: i64, incoming_url: &str) -> Value {
    json!({
        "telephony": telephony.map(settings_json),
        "balance_minutes": balance_minutes,
        "incoming_url": incoming_url,
    })
}

fn settings_json(telephony: &Telephony) -> Value {
    let countries = telephony.callable_countries();
    let Telephony {
        provider,
        number,
        channel_id,
        is_recorded,
        limits: CallLimits { ring, talk },
        countries: _,
        callback_caps: CallbackCaps { per_number, per_day },
        is_locked,
    } = telephony;
    let settings = json!({
        "provider": provider.name(), "number": number, "channel_id": channel_id, "record": is_recorded,
        "ring_seconds": ring.as_secs(), "max_minutes": talk.as_secs() / 60, "countries": countries,
        "callbacks_per_number": per_number, "callbacks_per_day": per_day, "locked": is_locked,
    });
    match provider {
        ProviderSettings::Http { url, signing_secret: _ } => with_fields(settings, [("url", json!(url))]),
        ProviderSettings::Twilio { api_url, account_sid, auth_token: _ } => {
            with_fields(settings, [("api_url", json!(api_url)), ("account_sid", json!(account_sid))])
        }
    }
}

/// The body of POST /operator/accounts/{account_id}/call-balance.
#[derive(Debug, PartialEq, Eq)]
pub struct TopUp {
    pub minutes: u64,
    /// The operator's reference for the payment. A later request with the same reference adds nothing, and fails if its
    /// `minutes` are different.
    pub reference: String,
}

pub fn parse_top_up(body: &Value) -> Result<TopUp, Error> {
    let fields = Fields::of(body)?;
    let minutes = up_to(fields, "minutes", MAX_TOP_UP_MINUTES)?;
    let reference = fields.required_text("reference", MAX_REFERENCE_CHARS)?;
    let minutes = minutes.ok_or_else(|| fields.invalid("minutes", "is required"))?;
    Ok(TopUp { minutes, reference })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn apply(body: &Value, before: Option<Telephony>) -> Result<Telephony, Error> {
        apply_telephony_patch(body, before, &SsrfGuard::new(Vec::new(), false))
    }

    fn http() -> Value {
        json!({ "provider": "http", "url": "https://g.example/calls", "signing_secret": SECRET, "number": "+31 20 123 4567" })
    }

    fn twilio() -> Value {
        json!({ "provider": "twilio", "account_sid": "AC1", "auth_token": "t0ken", "number": "+31201234567" })
    }

    #[test]
    fn patch_changes_only_the_fields_in_the_body() {
        let new = apply(&http(), None).unwrap();
        let provider = ProviderSettings::Http { url: "https://g.example/calls".into(), signing_secret: SECRET.into() };
        let number = "+31201234567".to_owned();
        let expected = Telephony {
            provider,
            number,
            channel_id: None,
            is_recorded: false,
            limits: DEFAULT_LIMITS,
            countries: Vec::new(),
            callback_caps: DEFAULT_CALLBACK_CAPS,
            is_locked: false,
        };
        assert_eq!(new, expected);
        assert_eq!(apply(&json!({}), Some(new.clone())).unwrap(), new);
        let body = json!({
            "channel_id": "CH", "record": true, "ring_seconds": 5, "max_minutes": 1, "countries": ["us", "NL", "US"],
            "callbacks_per_number": 1, "callbacks_per_day": 2, "locked": true,
        });
        let countries = vec!["NL".to_owned(), "US".to_owned()];
        let callback_caps = CallbackCaps { per_number: 1, per_day: 2 };
        let limits = CallLimits { ring: Duration::from_secs(5), talk: Duration::from_secs(60) };
        let changed = Telephony {
            channel_id: Some("CH".into()),
            is_recorded: true,
            limits,
            countries,
            callback_caps,
            is_locked: true,
            ..new.clone()
        };
        assert_eq!(apply(&body, Some(new)).unwrap(), changed);
        let without_channel = apply(&json!({ "channel_id": null }), Some(changed.clone())).unwrap();
        assert_eq!(without_channel, Telephony { channel_id: None, ..changed.clone() });
        let moved = apply(&twilio(), Some(changed.clone())).unwrap();
        let provider = ProviderSettings::Twilio {
            api_url: TWILIO_API_URL.into(),
            account_sid: "AC1".into(),
            auth_token: "t0ken".into(),
        };
        assert_eq!(moved, Telephony { provider, ..changed });
    }

    #[test]
    fn stored_token_is_not_sent_to_another_api() {
        let before = apply(&twilio(), None).unwrap();
        for (name, value) in [("api_url", "https://other.example/"), ("account_sid", "AC2")] {
            let without_token = apply(&json!({ name: value }), Some(before.clone()));
            assert_eq!(without_token.unwrap_err().invalid_field(), Some("auth_token"), "{name}");
            assert!(apply(&json!({ name: value, "auth_token": "n3w" }), Some(before.clone())).is_ok(), "{name}");
        }
        let unchanged = json!({ "api_url": TWILIO_API_URL, "account_sid": "AC1" });
        assert_eq!(apply(&unchanged, Some(before.clone())).unwrap(), before);
    }

    #[test]
    fn credentials_are_not_returned() {
        for body in [http(), twilio()] {
            let text = telephony_json(Some(&apply(&body, None).unwrap()), 5, "https://s.example").to_string();
            assert!(!text.contains(SECRET) && !text.contains("t0ken"), "{text}");
        }
    }

    #[test]
    fn error_names_the_invalid_field_of_telephony() {
        let with = |mut body: Value, name: &str, value: Value| {
            body.as_object_mut().unwrap().insert(name.to_owned(), value);
            body
        };
        let table = [
            ("provider", json!({})),
            ("provider", with(http(), "provider", json!("sip"))),
            ("url", with(http(), "url", Value::Null)),
            ("url", with(http(), "url", json!("http://g.example"))),
            ("url", with(http(), "url", json!("https://127.0.0.1/"))),
            ("signing_secret", with(http(), "signing_secret", json!("secret"))),
            ("signing_secret", with(http(), "signing_secret", json!("whsec_c2hvcnQ="))),
            ("number", with(http(), "number", json!("020 123 4567"))),
            ("number", with(http(), "number", Value::Null)),
            ("account_sid", with(twilio(), "account_sid", json!("AC/1"))),
            ("auth_token", with(twilio(), "auth_token", json!(""))),
            ("api_url", with(twilio(), "api_url", json!("ftp://x.example"))),
            ("record", with(http(), "record", json!(1))),
            ("ring_seconds", with(http(), "ring_seconds", json!(121))),
            ("max_minutes", with(http(), "max_minutes", json!(0))),
            ("channel_id", with(http(), "channel_id", json!(7))),
            ("countries", with(http(), "countries", json!("NL"))),
            ("countries", with(http(), "countries", json!(["NL", "XX"]))),
            ("countries", with(http(), "countries", json!(["001"]))),
            ("callbacks_per_number", with(http(), "callbacks_per_number", json!(0))),
            ("callbacks_per_day", with(http(), "callbacks_per_day", json!(100_001))),
            ("locked", with(http(), "locked", json!("yes"))),
        ];
        for (field, body) in table {
            assert_eq!(apply(&body, None).unwrap_err().invalid_field(), Some(field), "{body}");
        }
        let other_provider = apply(&json!({ "provider": "twilio" }), Some(apply(&http(), None).unwrap()));
        assert_eq!(other_provider.unwrap_err().invalid_field(), Some("account_sid"));
    }

    #[test]
    fn top_up_has_minutes_and_a_reference() {
        let expected = TopUp { minutes: 60, reference: "invoice 1".into() };
        assert_eq!(parse_top_up(&json!({ "minutes": 60, "reference": "invoice 1" })).unwrap(), expected);
        for (field, body) in [
            ("minutes", json!({ "reference": "r" })),
            ("minutes", json!({ "minutes": -5, "reference": "r" })),
            ("minutes", json!({ "minutes": 1_000_001, "reference": "r" })),
            ("reference", json!({ "minutes": 5 })),
            ("reference", json!({ "minutes": 5, "reference": "x".repeat(65) })),
        ] {
            assert_eq!(parse_top_up(&body).unwrap_err().invalid_field(), Some(field), "{body}");
        }
    }
}
