//! The endpoints that configure an account's telephony, and the endpoint through which the operator tops up the
//! account's balance: bodies and operations. The signing secret and the token are accepted and never returned.

use std::collections::BTreeSet;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::{JsonSchema, json_schema};
use serde::{Deserialize, Serialize};

use crate::contract::{Failure, Operation};
use crate::domain::calls::phone_call::CallLimits;
use crate::domain::calls::phone_number::{self, MAX_PHONE_NUMBER_CHARS};
use crate::domain::calls::telephony::{
    self, CallbackCaps, DEFAULT_CALLBACK_CAPS, DEFAULT_MAX_TALK_TIME, DEFAULT_RING_TIME, ProviderKind, ProviderSettings,
};
use crate::domain::deliveries::ssrf_guard::SsrfGuard;
use crate::error::Error;
use crate::wire::calls::call_gateway::PhoneNumber;
use crate::wire::fields::urls::{ReceiverUrl, ReceiverUrlOrBlank, WebUrl};
use crate::wire::fields::values::{Change, List, Name, OptionalText, Text, True, Whole, inline_schema};

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
const DEFAULT_LIMITS: CallLimits = CallLimits { ring: DEFAULT_RING_TIME, talk: DEFAULT_MAX_TALK_TIME };

pub(crate) fn operations() -> Vec<Operation> {
    const SHOW: &str = "Shows the account's telephony provider and call balance";
    const CHANGE: &str = "Changes the account's telephony provider";
    const DELETE: &str = "Deletes the account's telephony provider";
    const OF_ACCOUNT: &str = "/operator/accounts/{account_id}/telephony";
    vec![
        shows_telephony(Operation::get("/admin/telephony", "showTelephony", SHOW)),
        changes_telephony(Operation::patch("/admin/telephony", "changeTelephony", CHANGE)).describe(
            "Absent fields stay unchanged. Changing the provider requires the credentials of the new one. 403 is also \
             returned if the operator has locked the settings.",
        ),
        deletes_telephony(Operation::delete("/admin/telephony", "deleteTelephony", DELETE)).describe(
            "Later reports about calls in progress are rejected, so these calls end when their time limits pass. 403 \
             is also returned if the operator has locked the settings.",
        ),
        shows_telephony(Operation::get(OF_ACCOUNT, "showAccountTelephony", SHOW)),
        changes_telephony(Operation::patch(OF_ACCOUNT, "changeAccountTelephony", CHANGE)),
        deletes_telephony(Operation::delete(OF_ACCOUNT, "deleteAccountTelephony", DELETE)),
        Operation::post(
            "/operator/accounts/{account_id}/call-balance",
            "topUpCallBalance",
            "Adds minutes to the call balance of an account",
        )
        .describe("422 if the reference was used with a different number of minutes.")
        .body::<CallBalanceTopUp>()
        .answers::<CallBalance>(200, "The new balance.")
        .fails(&[Failure::IdempotencyKeyReused]),
    ]
}

fn shows_telephony(operation: Operation) -> Operation {
    operation.describe("Without the provider's secrets.").answers::<Telephony>(200, "The telephony settings.")
}

fn changes_telephony(operation: Operation) -> Operation {
    operation
        .describe("Absent fields stay unchanged. Changing the provider requires the credentials of the new one.")
        .body::<TelephonyChanges>()
        .answers::<Telephony>(200, "The telephony settings.")
}

fn deletes_telephony(operation: Operation) -> Operation {
    operation
        .describe("Later reports about calls in progress are rejected, so these calls end when their time limits pass.")
        .answers::<DeletedTelephony>(200, "The provider is deleted, or there was none.")
}

/// Absent fields stay unchanged. The first request, and the first one with another provider, must contain the
/// provider's required fields: url and `signing_secret`, or `account_sid` and `auth_token`. number is required in the
/// first request.
#[derive(Clone, Deserialize, JsonSchema)]
pub struct TelephonyChanges {
    provider: Option<Name<ProviderKind>>,
    /// For the provider http: the URL to which the service sends orders.
    #[serde(default)]
    url: Change<ReceiverUrl>,
    #[serde(default)]
    signing_secret: Change<TelephonySecret>,
    /// For the provider twilio: the API's URL for another region.
    #[serde(default)]
    api_url: Change<ReceiverUrlOrBlank>,
    #[serde(default)]
    account_sid: Change<TwilioCredential>,
    /// Required if `api_url` or `account_sid` changes.
    #[serde(default)]
    auth_token: Change<TwilioCredential>,
    /// The account's own number with its country code.
    #[serde(default)]
    number: Change<OwnNumber>,
    /// The channel in which unknown callers become visitors. null rejects their calls.
    #[serde(default)]
    channel_id: Change<OptionalText<MAX_ID_CHARS>>,
    record: Option<bool>,
    ring_seconds: Option<Whole<1, MAX_RING_SECONDS>>,
    max_minutes: Option<Whole<1, MAX_TALK_MINUTES>>,
    /// The countries whose numbers may be called, as two-letter codes. An empty list or null means the country of
    /// number.
    #[serde(default)]
    countries: Change<List<CountryCode, MAX_COUNTRIES>>,
    /// The maximum number of callbacks to one number on a day (UTC).
    callbacks_per_number: Option<Whole<1, MAX_CALLBACKS_PER_NUMBER>>,
    /// The maximum number of callbacks of the account on a day (UTC).
    callbacks_per_day: Option<Whole<1, MAX_CALLBACKS_PER_DAY>>,
    /// Whether only the operator may change or delete the settings. Only the operator can change this field.
    locked: Option<bool>,
}

impl TelephonyChanges {
    /// Returns the changed settings. `before` is `None` if the account has no telephony; all required fields must then
    /// be present. A change of the provider requires the required fields of the new provider, and a change of Twilio's
    /// URL or account the token.
    pub fn applied_to(
        &self,
        before: Option<telephony::Telephony>,
        guard: &SsrfGuard,
    ) -> Result<telephony::Telephony, Error> {
        let kind = self.provider.map(|Name(kind)| kind).or_else(|| Some(before.as_ref()?.provider.kind()));
        let provider_before = before.as_ref().map(|before| &before.provider);
        let provider = match required("provider", kind)? {
            ProviderKind::Http => self.http(provider_before, guard)?,
            ProviderKind::Twilio => self.twilio(provider_before, guard)?,
        };
        let number = self.number.clone().map(|OwnNumber(number)| number);
        let number = required("number", number.applied_to(before.as_ref().map(|before| before.number.clone())))?;
        let before = before.unwrap_or_else(|| new_telephony(&provider, &number));
        let limits = before.limits;
        let channel_id = self.channel_id.clone().map(|OptionalText(id)| id).flatten();
        Ok(telephony::Telephony {
            channel_id: channel_id.applied_to(before.channel_id),
            is_recorded: self.record.unwrap_or(before.is_recorded),
            limits: CallLimits {
                ring: self.ring_seconds.map_or(limits.ring, |Whole(seconds)| Duration::from_secs(seconds)),
                talk: self.max_minutes.map_or(limits.talk, |Whole(minutes)| Duration::from_secs(minutes * 60)),
            },
            countries: self.countries.clone().map(sorted_codes).applied_or_reset(before.countries, Vec::new()),
            callback_caps: CallbackCaps {
                per_number: self.callbacks_per_number.map_or(before.callback_caps.per_number, Whole::to_u32),
                per_day: self.callbacks_per_day.map_or(before.callback_caps.per_day, Whole::to_u32),
            },
            is_locked: self.locked.unwrap_or(before.is_locked),
            provider,
            number,
        })
    }

    /// Returns the channel that the body names.
    pub fn channel_id(&self) -> Option<&str> {
        match &self.channel_id {
            Change::Set(OptionalText(id)) => id.as_deref(),
            Change::Unchanged | Change::Cleared => None,
        }
    }

    fn http(&self, before: Option<&ProviderSettings>, guard: &SsrfGuard) -> Result<ProviderSettings, Error> {
        let (url, secret) = match before.cloned() {
            Some(ProviderSettings::Http { url, signing_secret }) => (Some(url), Some(signing_secret)),
            Some(ProviderSettings::Twilio { .. }) | None => (None, None),
        };
        let changed_url = self.url.clone().try_map(|url| url.checked("url", guard))?;
        let changed_secret = self.signing_secret.clone().map(|TelephonySecret(secret)| secret);
        Ok(ProviderSettings::Http {
            url: required("url", changed_url.applied_to(url))?,
            signing_secret: required("signing_secret", changed_secret.applied_to(secret))?,
        })
    }

    fn twilio(&self, before: Option<&ProviderSettings>, guard: &SsrfGuard) -> Result<ProviderSettings, Error> {
        let (url_before, sid_before, token) = match before.cloned() {
            Some(ProviderSettings::Twilio { api_url, account_sid, auth_token }) => {
                (Some(api_url), Some(account_sid), Some(auth_token))
            }
            Some(ProviderSettings::Http { .. }) | None => (None, None, None),
        };
        let credential = |TwilioCredential(text): TwilioCredential| text;
        let url = self.api_url.clone().map(|ReceiverUrlOrBlank(url)| url).flatten();
        let url = url.try_map(|url| url.checked("api_url", guard))?.applied_to(url_before.clone());
        let api_url = url.unwrap_or_else(|| TWILIO_API_URL.to_owned());
        let account_sid = self.account_sid.clone().map(credential).applied_to(sid_before.clone());
        let account_sid = required("account_sid", account_sid)?;
        // Each request to the API contains the token, and a new server must not receive a token that was entered for
        // another server.
        let is_same_api = url_before.as_ref() == Some(&api_url) && sid_before.as_ref() == Some(&account_sid);
        let auth_token = self.auth_token.clone().map(credential).applied_to(token.filter(|_| is_same_api));
        Ok(ProviderSettings::Twilio { api_url, account_sid, auth_token: required("auth_token", auth_token)? })
    }
}

fn required<T>(field: &'static str, value: Option<T>) -> Result<T, Error> {
    value.ok_or_else(|| Error::field(field, "is required"))
}

fn new_telephony(provider: &ProviderSettings, number: &str) -> telephony::Telephony {
    telephony::Telephony {
        provider: provider.clone(),
        number: number.to_owned(),
        channel_id: None,
        is_recorded: false,
        limits: DEFAULT_LIMITS,
        countries: Vec::new(),
        callback_caps: DEFAULT_CALLBACK_CAPS,
        is_locked: false,
    }
}

fn sorted_codes(List(codes): List<CountryCode, MAX_COUNTRIES>) -> Vec<String> {
    let codes: BTreeSet<String> = codes.into_iter().map(|CountryCode(code)| code).collect();
    codes.into_iter().collect()
}

/// For the provider http: `whsec_` and the base64 of 24 to 64 bytes. It signs the requests in both directions (Standard
/// Webhooks).
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(try_from = "Text<MAX_SECRET_CHARS>")]
#[schemars(with = "Text<MAX_SECRET_CHARS>", inline)]
struct TelephonySecret(String);

impl TryFrom<Text<MAX_SECRET_CHARS>> for TelephonySecret {
    type Error = &'static str;

    fn try_from(Text(secret): Text<MAX_SECRET_CHARS>) -> Result<Self, Self::Error> {
        let key = secret.strip_prefix(SECRET_PREFIX).and_then(|key| STANDARD.decode(key).ok());
        if key.is_some_and(|key| (24..=64).contains(&key.len())) {
            return Ok(Self(secret));
        }
        Err("must be whsec_ and the base64 of 24 to 64 bytes")
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(try_from = "Text<MAX_SECRET_CHARS>")]
#[schemars(with = "Text<MAX_SECRET_CHARS>", inline)]
struct TwilioCredential(String);

impl TryFrom<Text<MAX_SECRET_CHARS>> for TwilioCredential {
    type Error = &'static str;

    fn try_from(Text(text): Text<MAX_SECRET_CHARS>) -> Result<Self, Self::Error> {
        let is_valid = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_valid { Ok(Self(text)) } else { Err("must consist of letters and digits") }
    }
}

/// A phone number in E.164 format.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(try_from = "Text<MAX_PHONE_NUMBER_CHARS>")]
#[schemars(with = "Text<MAX_PHONE_NUMBER_CHARS>", inline)]
struct OwnNumber(String);

impl TryFrom<Text<MAX_PHONE_NUMBER_CHARS>> for OwnNumber {
    type Error = &'static str;

    fn try_from(Text(text): Text<MAX_PHONE_NUMBER_CHARS>) -> Result<Self, Self::Error> {
        let number = phone_number::to_e164(&text, None);
        number.map(Self).ok_or("must be a phone number with its country code, such as +31201234567")
    }
}

/// The code of a country, in upper case.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
struct CountryCode(String);

impl TryFrom<String> for CountryCode {
    type Error = &'static str;

    fn try_from(code: String) -> Result<Self, Self::Error> {
        phone_number::parse_country(&code).map(Self).ok_or("must be a two-letter country code, such as NL")
    }
}

inline_schema!(CountryCode, "CountryCode", json_schema!({ "type": "string", "pattern": "^[A-Za-z]{2}$" }));

/// The telephony settings of an account, without the credentials of its provider.
#[derive(Serialize, JsonSchema)]
pub struct Telephony {
    /// null if the account makes no calls. Credentials are never returned.
    telephony: Option<TelephonySettings>,
    /// The minutes that are neither used nor reserved for calls in progress.
    balance_minutes: i64,
    /// The URL to which the provider reports incoming calls.
    #[schemars(extend("format" = "uri"))]
    incoming_url: String,
}

impl Telephony {
    pub fn new(telephony: Option<&telephony::Telephony>, balance_minutes: i64, incoming_url: String) -> Self {
        Self { telephony: telephony.map(TelephonySettings::from), balance_minutes, incoming_url }
    }
}

#[derive(Serialize, JsonSchema)]
struct TelephonySettings {
    provider: Name<ProviderKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<WebUrl>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_url: Option<WebUrl>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account_sid: Option<String>,
    number: PhoneNumber,
    channel_id: Option<String>,
    record: bool,
    #[schemars(range(min = 1))]
    ring_seconds: u64,
    #[schemars(range(min = 1))]
    max_minutes: u64,
    /// The countries whose numbers are called, as two-letter codes.
    #[schemars(inner(regex(pattern = "^[A-Z]{2}$")))]
    countries: Vec<String>,
    #[schemars(range(min = 1))]
    callbacks_per_number: u32,
    #[schemars(range(min = 1))]
    callbacks_per_day: u32,
    /// Whether only the operator may change or delete the settings.
    locked: bool,
}

impl From<&telephony::Telephony> for TelephonySettings {
    fn from(telephony: &telephony::Telephony) -> Self {
        let countries = telephony.callable_countries();
        let telephony::Telephony {
            provider,
            number,
            channel_id,
            is_recorded,
            limits: CallLimits { ring, talk },
            countries: _,
            callback_caps: CallbackCaps { per_number, per_day },
            is_locked,
        } = telephony.clone();
        let kind = provider.kind();
        let (url, api_url, account_sid) = match provider {
            ProviderSettings::Http { url, signing_secret: _ } => (Some(WebUrl(url)), None, None),
            ProviderSettings::Twilio { api_url, account_sid, auth_token: _ } => {
                (None, Some(WebUrl(api_url)), Some(account_sid))
            }
        };
        Self {
            provider: Name(kind),
            url,
            api_url,
            account_sid,
            number: PhoneNumber(number),
            channel_id,
            record: is_recorded,
            ring_seconds: ring.as_secs(),
            max_minutes: talk.as_secs() / 60,
            countries,
            callbacks_per_number: per_number,
            callbacks_per_day: per_day,
            locked: is_locked,
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct DeletedTelephony {
    pub deleted: True,
}

/// The body of POST `/operator/accounts/{account_id}/call-balance`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct CallBalanceTopUp {
    pub minutes: Whole<1, MAX_TOP_UP_MINUTES>,
    /// Identifies the payment. A repeated request with the same reference adds nothing.
    pub reference: Text<MAX_REFERENCE_CHARS>,
}

#[derive(Serialize, JsonSchema)]
pub struct CallBalance {
    pub balance_minutes: i64,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::calls::telephony::Telephony;
    use crate::wire::fields::reader::read;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn apply(body: &Value, before: Option<Telephony>) -> Result<Telephony, Error> {
        read::<TelephonyChanges>(body)?.applied_to(before, &SsrfGuard::new(Vec::new(), false))
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
            let telephony = apply(&body, None).unwrap();
            let text = json!(super::Telephony::new(Some(&telephony), 5, "https://s.example".into())).to_string();
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
            ("signing_secret", with(http(), "signing_secret", json!("whsec_"))),
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
        let top_up: CallBalanceTopUp = read(&json!({ "minutes": 60, "reference": "invoice 1" })).unwrap();
        assert_eq!((top_up.minutes.0, &*top_up.reference.0), (60, "invoice 1"));
        for (field, body) in [
            ("minutes", json!({ "reference": "r" })),
            ("minutes", json!({ "minutes": -5, "reference": "r" })),
            ("minutes", json!({ "minutes": 1_000_001, "reference": "r" })),
            ("reference", json!({ "minutes": 5 })),
            ("reference", json!({ "minutes": 5, "reference": "x".repeat(65) })),
        ] {
            assert_eq!(read::<CallBalanceTopUp>(&body).unwrap_err().invalid_field(), Some(field), "{body}");
        }
    }
}
