//! Builds TwiML and the form that creates a call through Twilio's voice API, parses Twilio's requests (status callbacks
//! and incoming calls), and checks their signatures.
//!
//! The last segment of a status callback's URL says what the callback reports: the progress of the call to the agent's
//! phone (`agent`) or to the visitor's phone (`client`), or the end of the connection between them (`dial`), with its
//! duration and its recording.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha1::Sha1;
use subtle::ConstantTimeEq;
use url::form_urlencoded;

use crate::domain::calls::phone_call::{Call, CallReport, MAX_REASON_CHARS};
use crate::domain::calls::telephony::{CallOrder, IncomingCall, ProviderReport, Telephony};
use crate::domain::chats::message_content::truncate_chars;
use crate::domain::deliveries::delivery::Failure;
use crate::domain::text::link_detection;
use crate::error::Error;

const AGENT_LEG: &str = "agent";
const CLIENT_LEG: &str = "client";
const DIAL_LEG: &str = "dial";
const MAX_SID_CHARS: usize = 128;
const MAX_PHONE_CHARS: usize = 64;
const MAX_RECORDING_URL_CHARS: usize = 2_000;
/// What Twilio sends in place of a hidden number. The digits spell the words ANONYMOUS, RESTRICTED, BLOCKED, UNKNOWN
/// and UNAVAILABLE on a phone's keys.
const HIDDEN_NUMBERS: [&str; 11] = [
    "anonymous",
    "restricted",
    "blocked",
    "unknown",
    "unavailable",
    "private",
    "+266696687",
    "+7378742833",
    "+2562533",
    "+8656696",
    "+86282452253",
];

/// The fields of a form, in the order in which they were sent.
#[cfg_attr(test, derive(PartialEq))]
pub struct Form(Vec<(String, String)>);

impl Form {
    pub fn parse(body: &[u8]) -> Self {
        Self(form_urlencoded::parse(body).into_owned().collect())
    }

    fn field(&self, name: &str) -> Option<&str> {
        let field = self.0.iter().find(|(field, _)| field == name);
        field.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    fn required(&self, name: &str) -> Result<&str, Error> {
        self.field(name).ok_or_else(|| Error::field(name, "is required"))
    }

    /// Returns an optional field of at most `max_chars` characters.
    fn bounded(&self, name: &str, max_chars: usize) -> Result<Option<&str>, Error> {
        match self.field(name) {
            Some(value) if value.chars().count() > max_chars => {
                Err(Error::field(name, format_args!("must have at most {max_chars} characters")))
            }
            value => Ok(value),
        }
    }

    /// Whether `signature`, the `X-Twilio-Signature` header, is the signature of a request to `url` with this form.
    pub fn has_signature(&self, signature: &str, url: &str, auth_token: &str) -> bool {
        let Ok(signature) = STANDARD.decode(signature) else { return false };
        let is_of = |url: &str| {
            let expected = self.signature(url, auth_token);
            expected.is_some_and(|expected| expected.as_slice().ct_eq(signature.as_slice()).into())
        };
        is_of(url) || is_of(&with_or_without_port(url))
    }

    /// Returns the signature of a request to `url` with this form, as Twilio sends it.
    #[cfg(test)]
    pub(crate) fn signature_header(&self, url: &str, auth_token: &str) -> String {
        self.signature(url, auth_token).map(|signature| STANDARD.encode(signature)).unwrap_or_default()
    }

    /// Returns the HMAC-SHA1 of the URL and the sorted fields. Twilio signs equal fields only once.
    fn signature(&self, url: &str, auth_token: &str) -> Option<Vec<u8>> {
        let mut fields: Vec<_> = self.0.iter().collect();
        fields.sort();
        fields.dedup();
        let mut mac = Hmac::<Sha1>::new_from_slice(auth_token.as_bytes()).ok()?;
        mac.update(url.as_bytes());
        for (name, value) in fields {
            mac.update(name.as_bytes());
            mac.update(value.as_bytes());
        }
        Some(mac.finalize().into_bytes().to_vec())
    }
}

/// Returns a URL without its port, or with the port that it has by default. Twilio signs either of them.
fn with_or_without_port(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    match authority.rsplit_once(':') {
        Some((host, _)) => format!("{scheme}://{host}{path}"),
        None => format!("{scheme}://{authority}:{port}{path}", port = if scheme == "http" { 80 } else { 443 }),
    }
}

/// Returns the form that creates a call. Twilio calls the agent first and connects the visitor when the agent answers.
pub fn order_form(order: &CallOrder<'_>) -> String {
    let CallOrder { telephony, call, agent, .. } = order;
    let status_url = format!("{}/{AGENT_LEG}", order.report_url());
    let twiml = dial(telephony, call, &order.report_url(), CLIENT_LEG, &call.phone);
    form_urlencoded::Serializer::new(String::new())
        .append_pair("To", &agent.phone)
        .append_pair("From", &telephony.number)
        .append_pair("Twiml", &twiml)
        .append_pair("Timeout", &call.limits.ring.as_secs().to_string())
        .append_pair("StatusCallback", &status_url)
        .append_pair("StatusCallbackEvent", "initiated")
        .append_pair("StatusCallbackEvent", "answered")
        .append_pair("StatusCallbackEvent", "completed")
        .finish()
}

/// Returns why Twilio has rejected the request that creates a call, or `None` if the response does not say why.
pub fn parse_rejection(body: &[u8]) -> Option<Failure> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let message = body.get("message")?.as_str().filter(|message| !message.is_empty())?;
    let code = body.get("code").and_then(Value::as_i64);
    let text = code.map_or_else(|| message.to_owned(), |code| format!("{message} (Twilio error {code})"));
    Some(Failure { code, message: truncate_chars(&text, MAX_REASON_CHARS), hidden: false })
}

/// Returns the TwiML that connects an incoming call with the agent, or rejects it if no agent is available.
pub fn incoming_twiml(telephony: &Telephony, call: &Call, report_url: &str) -> String {
    match &call.agent {
        Some(called) => dial(telephony, call, report_url, AGENT_LEG, &called.phone),
        None => rejection_twiml(),
    }
}

pub fn rejection_twiml() -> String {
    r#"<?xml version="1.0" encoding="UTF-8"?><Response><Reject reason="busy"/></Response>"#.to_owned()
}

/// Returns a TwiML document without instructions. Twilio then ends the call.
pub fn empty_twiml() -> String {
    r#"<?xml version="1.0" encoding="UTF-8"?><Response/>"#.to_owned()
}

fn dial(telephony: &Telephony, call: &Call, report_url: &str, leg: &str, phone: &str) -> String {
    let record = if telephony.is_recorded { "record-from-answer-dual" } else { "do-not-record" };
    // The caller of an incoming call hears ringing until the agent answers, and the agent sees the caller's number.
    let bridge = if leg == AGENT_LEG {
        r#" answerOnBridge="true""#.to_owned()
    } else {
        format!(r#" callerId="{}""#, attribute(&telephony.number))
    };
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><Response><Dial action="{action}" timeout="{ring}" timeLimit="{talk}" record="{record}"{bridge}><Number statusCallback="{status}" statusCallbackEvent="answered">{phone}</Number></Dial></Response>"#,
        action = attribute(&format!("{report_url}/{DIAL_LEG}")),
        ring = call.limits.ring.as_secs(),
        talk = call.limits.talk.as_secs(),
        status = attribute(&format!("{report_url}/{leg}")),
        phone = html_escape::encode_text(phone),
    )
}

fn attribute(value: &str) -> String {
    html_escape::encode_double_quoted_attribute(value).into_owned()
}

/// Parses a status callback about a leg. A status such as `initiated`, or an unknown one, only shows that Twilio has
/// accepted the call. Fails with `NotFound` if the leg is unknown.
pub fn parse_report(form: &Form, leg: &str) -> Result<ProviderReport, Error> {
    let report = match leg {
        AGENT_LEG => phone_report(form.required("CallStatus")?, CallReport::AgentConnected),
        CLIENT_LEG => phone_report(form.required("CallStatus")?, CallReport::ClientConnected),
        DIAL_LEG => dial_report(form, form.required("DialCallStatus")?)?,
        _ => return Err(Error::NotFound),
    };
    let provider_call_id = match form.bounded("ParentCallSid", MAX_SID_CHARS)? {
        Some(parent) => Some(parent),
        None => form.bounded("CallSid", MAX_SID_CHARS)?,
    };
    Ok(ProviderReport { report, provider_call_id: provider_call_id.map(str::to_owned) })
}

fn phone_report(status: &str, connected: CallReport) -> CallReport {
    match status {
        "in-progress" => connected,
        "completed" => CallReport::Ended { talk_time: None, record_url: None },
        "no-answer" => unanswered(),
        "busy" | "failed" | "canceled" => CallReport::Failed(status.to_owned()),
        _ => CallReport::Accepted,
    }
}

fn dial_report(form: &Form, status: &str) -> Result<CallReport, Error> {
    Ok(match status {
        "completed" | "answered" => CallReport::Ended {
            talk_time: form.field("DialCallDuration").map(parse_seconds).transpose()?,
            record_url: recording_url(form)?,
        },
        "no-answer" => unanswered(),
        "busy" | "failed" | "canceled" => CallReport::Failed(status.to_owned()),
        _ => CallReport::Accepted,
    })
}

/// Returns the report for a phone that was not answered. The call's current status shows which phone it was.
fn unanswered() -> CallReport {
    CallReport::Ended { talk_time: Some(Duration::ZERO), record_url: None }
}

fn recording_url(form: &Form) -> Result<Option<String>, Error> {
    let Some(url) = form.bounded("RecordingUrl", MAX_RECORDING_URL_CHARS)? else { return Ok(None) };
    if link_detection::is_web_url(url) {
        Ok(Some(format!("{url}.mp3")))
    } else {
        Err(Error::field("RecordingUrl", "must be an http or https URL"))
    }
}

fn parse_seconds(text: &str) -> Result<Duration, Error> {
    let seconds = text.parse().map_err(|_| Error::field("DialCallDuration", "must be a whole number"))?;
    Ok(Duration::from_secs(seconds))
}

pub fn parse_incoming(form: &Form) -> Result<IncomingCall, Error> {
    let phone = form.bounded("From", MAX_PHONE_CHARS)?;
    let phone = phone.filter(|phone| !HIDDEN_NUMBERS.contains(&phone.to_lowercase().as_str()));
    let call_sid = form.bounded("CallSid", MAX_SID_CHARS)?.ok_or_else(|| Error::field("CallSid", "is required"))?;
    Ok(IncomingCall { provider_call_id: call_sid.to_owned(), phone: phone.map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn form(body: &str) -> Form {
        Form::parse(body.as_bytes())
    }

    /// The example in Twilio's documentation of request signatures.
    #[test]
    fn signature_matches_the_documented_example() {
        let url = "https://example.com/myapp.php?foo=1&bar=2";
        let form =
            form("CallSid=CA1234567890ABCDE&Caller=%2B14158675310&Digits=1234&From=%2B14158675310&To=%2B18005551212");
        assert!(form.has_signature("L/OH5YylLD5NRKLltdqwSvS0BnU=", url, "12345"));
        for (signature, url, token) in [
            ("L/OH5YylLD5NRKLltdqwSvS0BnU=", url, "12346"),
            ("L/OH5YylLD5NRKLltdqwSvS0BnU=", "https://example.com/myapp.php?foo=1&bar=3", "12345"),
            ("L/OH5YylLD5NRKLltdqwSvS0BnV=", url, "12345"),
            ("", url, "12345"),
            ("no base64", url, "12345"),
        ] {
            assert!(!form.has_signature(signature, url, token), "{signature} {url} {token}");
        }
    }

    #[test]
    fn signature_may_cover_the_url_with_or_without_its_port() {
        let form = form("CallSid=CA1");
        for (signed, received) in [
            ("https://s.example:443/calls/acc", "https://s.example/calls/acc"),
            ("http://s.example:80/calls/acc", "http://s.example/calls/acc"),
            ("https://s.example/calls/acc", "https://s.example:8443/calls/acc"),
        ] {
            assert!(form.has_signature(&form.signature_header(signed, "token"), received, "token"), "{signed}");
        }
        let other = form.signature_header("https://s.example:8443/calls/acc", "token");
        assert!(!form.has_signature(&other, "https://s.example/calls/acc", "token"));
    }

    #[test]
    fn equal_fields_are_signed_once() {
        let (url, once) = ("https://s.example/calls/acc", form("CallSid=CA1&Digits=1"));
        assert!(form("Digits=1&CallSid=CA1&Digits=1").has_signature(
            &once.signature_header(url, "token"),
            url,
            "token"
        ));
    }

    #[test]
    fn changed_form_has_another_signature() {
        let url = "https://s.example/calls/acc/c1/dial";
        let sign = |form: &Form| STANDARD.encode(form.signature(url, "token").unwrap());
        let signature = sign(&form("DialCallStatus=completed&CallSid=CA1"));
        assert!(form("CallSid=CA1&DialCallStatus=completed").has_signature(&signature, url, "token"), "another order");
        for body in
            ["DialCallStatus=busy&CallSid=CA1", "DialCallStatus=completed", "DialCallStatus=completed&CallSid=CA1&x=1"]
        {
            assert!(!form(body).has_signature(&signature, url, "token"), "{body}");
        }
    }

    #[test]
    fn rejection_contains_twilios_reason() {
        let body = br#"{"code": 21215, "message": "Account not authorized to call +31", "status": 400}"#;
        let failure = parse_rejection(body).unwrap();
        let expected = "Account not authorized to call +31 (Twilio error 21215)";
        assert_eq!((failure.code, failure.message.as_str()), (Some(21_215), expected));
        assert_eq!(parse_rejection(br#"{"message": "No"}"#).unwrap().message, "No");
        for body in [&b"<html>"[..], b"{}", br#"{"code": 1}"#, br#"{"message": ""}"#, b"\"text\""] {
            assert_eq!(parse_rejection(body), None);
        }
    }

    #[test]
    fn status_callbacks_are_parsed() {
        let ended = |seconds: Option<u64>, url: Option<&str>| CallReport::Ended {
            talk_time: seconds.map(Duration::from_secs),
            record_url: url.map(str::to_owned),
        };
        let table = [
            ("agent", "CallStatus=initiated", CallReport::Accepted),
            ("agent", "CallStatus=ringing", CallReport::Accepted),
            ("agent", "CallStatus=in-progress", CallReport::AgentConnected),
            ("agent", "CallStatus=completed", ended(None, None)),
            ("agent", "CallStatus=busy", CallReport::Failed("busy".into())),
            ("agent", "CallStatus=no-answer", ended(Some(0), None)),
            ("agent", "CallStatus=something-new", CallReport::Accepted),
            ("client", "CallStatus=in-progress", CallReport::ClientConnected),
            ("dial", "DialCallStatus=completed&DialCallDuration=61", ended(Some(61), None)),
            (
                "dial",
                "DialCallStatus=completed&DialCallDuration=5&RecordingUrl=https%3A%2F%2Fapi.example%2FRE1",
                ended(Some(5), Some("https://api.example/RE1.mp3")),
            ),
            ("dial", "DialCallStatus=no-answer", ended(Some(0), None)),
            ("dial", "DialCallStatus=busy", CallReport::Failed("busy".into())),
            ("dial", "DialCallStatus=failed", CallReport::Failed("failed".into())),
        ];
        for (leg, body, expected) in table {
            assert_eq!(parse_report(&form(body), leg).unwrap().report, expected, "{leg} {body}");
        }
    }

    #[test]
    fn call_is_identified_by_its_first_leg() {
        let id = |body| parse_report(&form(body), "client").unwrap().provider_call_id;
        assert_eq!(id("CallStatus=in-progress&CallSid=CA1").as_deref(), Some("CA1"));
        assert_eq!(id("CallStatus=in-progress&CallSid=CA2&ParentCallSid=CA1").as_deref(), Some("CA1"));
        assert_eq!(id("CallStatus=in-progress"), None);
    }

    #[test]
    fn error_names_the_missing_field_of_a_callback() {
        let table = [
            ("agent", "", "CallStatus"),
            ("dial", "CallStatus=completed", "DialCallStatus"),
            ("dial", "DialCallStatus=completed&DialCallDuration=long", "DialCallDuration"),
        ];
        for (leg, body, field) in table {
            assert_eq!(parse_report(&form(body), leg).unwrap_err().invalid_field(), Some(field), "{leg} {body}");
        }
        let long = "x".repeat(2_001);
        let hostile = [
            ("RecordingUrl", "RecordingUrl=javascript%3Aalert(1)%2F%2F".to_owned()),
            ("RecordingUrl", format!("RecordingUrl=https%3A%2F%2Fapi.example%2F{long}")),
            ("CallSid", format!("CallSid={long}")),
            ("ParentCallSid", format!("CallSid=CA1&ParentCallSid={long}")),
        ];
        for (field, body) in hostile {
            let report = parse_report(&form(&format!("DialCallStatus=completed&{body}")), "dial");
            assert_eq!(report.unwrap_err().invalid_field(), Some(field), "{field}");
        }
        let incoming = parse_incoming(&form(&format!("CallSid=CA1&From={long}")));
        assert_eq!(incoming.unwrap_err().invalid_field(), Some("From"));
        assert!(matches!(parse_report(&form("CallStatus=completed"), "other"), Err(Error::NotFound)));
        assert_eq!(parse_incoming(&form("From=%2B1")).unwrap_err().invalid_field(), Some("CallSid"));
    }

    #[test]
    fn hidden_number_of_a_caller_is_left_out() {
        for hidden in ["Anonymous", "RESTRICTED", "%2B266696687", "%2B7378742833", "%2B86282452253", ""] {
            let incoming = parse_incoming(&form(&format!("CallSid=CA1&From={hidden}"))).unwrap();
            assert_eq!(incoming, IncomingCall { provider_call_id: "CA1".into(), phone: None }, "{hidden}");
        }
    }
}
