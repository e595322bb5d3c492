//! How an account makes phone calls: its telephony provider, its phone number, and its limits. Also the orders to the
//! provider, and the provider's reports and incoming calls.

use std::time::Duration;

use crate::domain::phone_call::{Call, CallAgent, CallLimits, CallReport};

pub const DEFAULT_RING_TIME: Duration = Duration::from_secs(30);
pub const DEFAULT_MAX_TALK_TIME: Duration = Duration::from_secs(2 * 60 * 60);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Telephony {
    pub provider: ProviderSettings,
    /// The account's own number in E.164 format. It is the caller id of outgoing calls and callbacks, which visitors
    /// and agents see. Other numbers that have no country code are treated as numbers in the country of this number.
    pub number: String,
    /// The channel in which unknown callers become visitors. `None` means that their calls are rejected.
    pub channel_id: Option<String>,
    pub is_recorded: bool,
    pub limits: CallLimits,
}

/// How to reach the telephony provider. No endpoint returns the `signing_secret` or the `auth_token`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderSettings {
    /// A gateway that implements the requests of docs/telephony.md. Requests in both directions are signed with
    /// `signing_secret`.
    Http {
        url: String,
        signing_secret: String,
    },
    Twilio {
        api_url: String,
        account_sid: String,
        auth_token: String,
    },
}

impl ProviderSettings {
    /// Returns the name of this value in the APIs and in stored items.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Http { .. } => "http",
            Self::Twilio { .. } => "twilio",
        }
    }
}

pub struct CallOrder<'a> {
    pub telephony: &'a Telephony,
    pub account_id: &'a str,
    pub chat_id: u64,
    /// The id of the call's timeline entry.
    pub call_id: &'a str,
    pub call: &'a Call,
    pub agent: &'a CallAgent,
}

impl CallOrder<'_> {
    pub fn report_url(&self) -> String {
        report_url(&self.call.base_url, self.account_id, self.call_id)
    }
}

pub fn report_url(base_url: &str, account_id: &str, call_id: &str) -> String {
    format!("{}/{call_id}", incoming_url(base_url, account_id))
}

/// Returns the URL to which a provider reports incoming calls of an account.
pub fn incoming_url(base_url: &str, account_id: &str) -> String {
    format!("{base_url}/calls/{account_id}")
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderReport {
    pub report: CallReport,
    /// `None` if the report does not contain the provider's id of the call.
    pub provider_call_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncomingCall {
    pub provider_call_id: String,
    /// The caller's number as the provider writes it. `None` if the caller hides it.
    pub phone: Option<String>,
}
