//! How an account makes phone calls: its telephony provider, its phone number, and its limits. Also the orders to the
//! provider, and the provider's reports and incoming calls.

use std::time::Duration;

use crate::domain::calls::phone_call::{Call, CallAgent, CallLimits, CallReport};
use crate::domain::calls::phone_number;
use crate::domain::named::named;

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
    /// The codes of the countries whose numbers may be called. Empty means the country of `number`.
    pub countries: Vec<String>,
    pub callback_caps: CallbackCaps,
    /// Whether only the operator may change or delete these settings.
    pub is_locked: bool,
}

/// Who changes an account's telephony settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TelephonyEditor {
    /// An admin of the account, who cannot change locked settings.
    Admin,
    Operator,
}

/// The maximum numbers of callbacks that are started on one day (UTC). They limit what strangers can cost the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallbackCaps {
    /// To the same phone number.
    pub per_number: u32,
    /// In the account.
    pub per_day: u32,
}

pub const DEFAULT_CALLBACK_CAPS: CallbackCaps = CallbackCaps { per_number: 5, per_day: 200 };

/// Why the account does not call a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberRefusal {
    Invalid,
    NotOrdinary,
    Country,
    /// The number belongs to the account or to one of its agents.
    Own,
}

impl NumberRefusal {
    /// Completes a sentence that starts with the name of the field.
    pub fn text(self) -> &'static str {
        match self {
            Self::Invalid => "must be a valid number",
            Self::NotOrdinary => {
                "must be an ordinary number, not a premium-rate, shared-cost, personal or pager number"
            }
            Self::Country => "must be a number of a country to which calls are allowed",
            Self::Own => "must not be a number of the account or of its agents",
        }
    }
}

impl Telephony {
    /// Returns the codes of the countries whose numbers may be called.
    pub fn callable_countries(&self) -> Vec<String> {
        match self.countries.as_slice() {
            [] => phone_number::country(&self.number).into_iter().collect(),
            countries => countries.to_vec(),
        }
    }

    /// Returns the number at which an agent is called, in E.164 format, or `None` for a number that can be expensive.
    /// Agents may be in other countries than the visitors whom the account calls.
    pub fn agent_number(&self, text: &str) -> Option<String> {
        let number = phone_number::to_e164(text, Some(&self.number))?;
        (phone_number::country(&number).is_some() && phone_number::is_ordinary(&number)).then_some(number)
    }

    /// Returns a number in E.164 format, or the reason why it is not called. `agent_phones` are the numbers of the
    /// account's agents as they are typed.
    pub fn callable_number<'a>(
        &self,
        text: &str,
        agent_phones: impl IntoIterator<Item = &'a str>,
    ) -> Result<String, NumberRefusal> {
        let number = phone_number::to_e164(text, Some(&self.number)).ok_or(NumberRefusal::Invalid)?;
        let country = phone_number::country(&number);
        if !country.is_some_and(|country| self.callable_countries().contains(&country)) {
            return Err(NumberRefusal::Country);
        }
        if !phone_number::is_ordinary(&number) {
            return Err(NumberRefusal::NotOrdinary);
        }
        let is_number = |phone: &str| phone_number::to_e164(phone, Some(&self.number)).as_deref() == Some(&*number);
        if self.number == number || agent_phones.into_iter().any(is_number) {
            return Err(NumberRefusal::Own);
        }
        Ok(number)
    }
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
    pub fn kind(&self) -> ProviderKind {
        match self {
            Self::Http { .. } => ProviderKind::Http,
            Self::Twilio { .. } => ProviderKind::Twilio,
        }
    }
}

named! {
    pub enum ProviderKind as TelephonyProvider {
        Http = "http",
        Twilio = "twilio",
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

#[cfg(test)]
mod tests {
    use super::*;

    fn dutch(countries: &[&str]) -> Telephony {
        Telephony {
            provider: ProviderSettings::Http { url: String::new(), signing_secret: String::new() },
            number: "+31201234567".into(),
            channel_id: None,
            is_recorded: false,
            limits: CallLimits { ring: DEFAULT_RING_TIME, talk: DEFAULT_MAX_TALK_TIME },
            countries: countries.iter().map(|&country| country.to_owned()).collect(),
            callback_caps: DEFAULT_CALLBACK_CAPS,
            is_locked: false,
        }
    }

    #[test]
    fn only_ordinary_numbers_of_allowed_countries_are_called() {
        let own = dutch(&[]);
        let with_others = dutch(&["GB", "US"]);
        let table = [
            (&own, "06-22222222", Ok("+31622222222")),
            (&own, "+44 7400 123456", Err(NumberRefusal::Country)),
            (&own, "+881612345678", Err(NumberRefusal::Country)),
            (&own, "+88213000000", Err(NumberRefusal::Country)),
            (&own, "12", Err(NumberRefusal::Invalid)),
            (&own, "0900 123 4567", Err(NumberRefusal::NotOrdinary)),
            (&own, "020 123 4567", Err(NumberRefusal::Own)),
            (&own, "+31 6 11111111", Err(NumberRefusal::Own)),
            (&with_others, "+44 7400 123456", Ok("+447400123456")),
            (&with_others, "+44 70 1234 5678", Err(NumberRefusal::NotOrdinary)),
            (&with_others, "+1 876 555 0123", Err(NumberRefusal::Country)),
            (&with_others, "06-22222222", Err(NumberRefusal::Country)),
        ];
        for (telephony, text, expected) in table {
            let number = telephony.callable_number(text, ["06 11111111", "call me"]);
            assert_eq!(number, expected.map(str::to_owned), "{text} {:?}", telephony.countries);
        }
    }
    #[test]
    fn agents_are_not_called_at_expensive_numbers() {
        let telephony = dutch(&[]);
        for (text, expected) in [
            ("06-22222222", Some("+31622222222")),
            ("+44 7400 123456", Some("+447400123456")),
            ("0900 123 4567", None),
            ("+881612345678", None),
            ("+44 70 1234 5678", None),
        ] {
            assert_eq!(telephony.agent_number(text).as_deref(), expected, "{text}");
        }
    }
}
