//! Builds orders for the plain HTTP gateway for phone calls (docs/telephony.md), parses the gateway's reports and
//! incoming calls, and builds the responses to incoming calls.

use std::time::Duration;

use schemars::{JsonSchema, json_schema};
use serde::Serialize;
use serde_json::{Value, json};

use crate::contract::{Failure, Operation};
use crate::domain::calls::phone_call::{self, Call, CallAgent, CallKind, MAX_REASON_CHARS};
use crate::domain::calls::telephony::{self, IncomingCall, ProviderReport, Telephony};
use crate::domain::chats::message_content::truncate_chars;
use crate::error::Error;
use crate::wire::fields::described::{DigitString, ResultOk, Success, Uuid};
use crate::wire::fields::json_fields::Fields;
use crate::wire::fields::urls::{WebUrl, WebUrlOrBlank};
use crate::wire::fields::values::{Name, OptionalText, OptionalTextOrNumber, SequentialNumber, Text, inline_schema};

const MAX_ID_CHARS: usize = 128;
const MAX_PHONE_CHARS: usize = 64;
/// The maximum duration of a conversation that a gateway can report: one day, in seconds.
const MAX_DURATION_SECONDS: f64 = 86_400.0;
const STATUS_NAMES: &str = "ringing, agent_connected, client_connected, end, error";

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::post(
            "/calls/{account_id}",
            "reportIncomingCall",
            "A telephony provider reports that a visitor is calling",
        )
        .describe("404 if the account has no telephony provider.")
        .body::<IncomingCallReport>()
        .body_of_type::<TwilioForm>("application/x-www-form-urlencoded")
        .answers::<IncomingCallRouting>(200, "The agent to connect, as JSON or, for Twilio, as TwiML.")
        .answers_text("text/xml", 200, "The agent to connect, as JSON or, for Twilio, as TwiML.")
        .fails(&[Failure::IdempotencyKeyReused, Failure::TooManyRequests]),
        Operation::post("/calls/{account_id}/{call_id}", "reportCall", "A gateway reports the progress of a call")
            .describe("A late or repeated report changes nothing and gets the same response.")
            .body::<CallReport>()
            .answers::<Success>(200, "Accepted.")
            .answer_example("ok", None, json!({"result": "ok"})),
        Operation::post(
            "/calls/{account_id}/{call_id}/{leg}",
            "reportCallLeg",
            "Twilio reports the progress of a leg of a call",
        )
        .describe("A late or repeated report changes nothing and gets the same response.")
        .body_of_type::<TwilioForm>("application/x-www-form-urlencoded")
        .answers_text("text/xml", 200, "TwiML without instructions."),
    ]
}

/// Returns the request that the service sends to a gateway.
pub(crate) fn outgoing_operations() -> Vec<Operation> {
    vec![
Operation::outgoing("placeCall", "placeCall", "The service asks a gateway to place a call; POST <url>")
    .describe(
            "The gateway calls the agent, then the client, connects them, and reports each step to report_url. A \
             repeated request has the same call_id.")
    .body::<CallOrder>()
    .example("callback", "", json!({"event": "call", "call_id": "0b0e7a52-0d0e-4f0e-9a53-1f6f1d2c9b11", "site_id": "3Cgnvk966hqkpx8B", "chat_id": "17", "type": "callback", "agent": {"id": 1, "name": "Grace Hopper", "phone": "+442079460101"}, "client": {"phone": "+442079460102"}, "caller_id": "+442079460100", "record": true, "ring_seconds": 30, "max_seconds": 3600, "report_url": "https://chat.example.com/calls/3Cgnvk966hqkpx8B/0b0e7a52-0d0e-4f0e-9a53-1f6f1d2c9b11"}))
    .answers_any_2xx(
            "Accepted. After 3xx, 408, 429 or 5xx, the request is retried; any other response ends the call with an error.",
        ),

    ]
}

/// The order to place a call.
#[derive(Serialize, JsonSchema)]
pub struct CallOrder {
    #[schemars(extend("const" = "call"))]
    event: &'static str,
    #[schemars(with = "Uuid")]
    call_id: String,
    site_id: String,
    #[schemars(with = "DigitString")]
    chat_id: String,
    r#type: Name<CallKind>,
    agent: CallOrderAgent,
    client: CallOrderClient,
    caller_id: PhoneNumber,
    record: bool,
    #[schemars(range(min = 1))]
    ring_seconds: u64,
    #[schemars(range(min = 1))]
    max_seconds: u64,
    #[schemars(with = "WebUrl")]
    report_url: String,
}

#[derive(Serialize, JsonSchema)]
pub struct CallOrderClient {
    phone: PhoneNumber,
}

/// In E.164 format, such as +31201234567, if the number is valid. Empty if a caller hides it.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
pub struct PhoneNumber(#[schemars(length(max = 64))] pub String);

#[derive(Serialize, JsonSchema)]
pub struct CallOrderAgent {
    id: SequentialNumber,
    name: String,
    phone: PhoneNumber,
}

impl From<&CallAgent> for CallOrderAgent {
    fn from(called: &CallAgent) -> Self {
        let CallAgent { agent, phone } = called;
        Self { id: SequentialNumber(agent.agent_id), name: agent.name.clone(), phone: PhoneNumber(phone.clone()) }
    }
}

impl From<&telephony::CallOrder<'_>> for CallOrder {
    fn from(order: &telephony::CallOrder<'_>) -> Self {
        let telephony::CallOrder { telephony, account_id, chat_id, call_id, call, agent } = order;
        Self {
            event: "call",
            call_id: (*call_id).to_owned(),
            site_id: (*account_id).to_owned(),
            chat_id: chat_id.to_string(),
            r#type: Name(call.kind),
            agent: CallOrderAgent::from(*agent),
            client: CallOrderClient { phone: PhoneNumber(call.phone.clone()) },
            caller_id: PhoneNumber(telephony.number.clone()),
            record: telephony.is_recorded,
            ring_seconds: call.limits.ring.as_secs(),
            max_seconds: call.limits.talk.as_secs(),
            report_url: order.report_url(),
        }
    }
}

/// The agent to connect. Without an agent, the gateway rejects the call. call_id is null if the call is not stored.
#[derive(Serialize, JsonSchema)]
pub struct IncomingCallRouting {
    result: ResultOk,
    #[schemars(with = "Option<Uuid>")]
    call_id: Option<String>,
    agent: Option<CallOrderAgent>,
    #[serde(flatten)]
    leg: Option<IncomingCallLeg>,
}

#[derive(Serialize, JsonSchema)]
pub struct IncomingCallLeg {
    record: bool,
    #[schemars(range(min = 1))]
    ring_seconds: u64,
    #[schemars(range(min = 1))]
    max_seconds: u64,
    #[schemars(with = "WebUrl")]
    report_url: String,
}

impl IncomingCallRouting {
    pub fn new(telephony: &Telephony, call_id: &str, call: &Call, report_url: &str) -> Self {
        let leg = IncomingCallLeg {
            record: telephony.is_recorded,
            ring_seconds: call.limits.ring.as_secs(),
            max_seconds: call.limits.talk.as_secs(),
            report_url: report_url.to_owned(),
        };
        let agent = call.agent.as_ref().map(CallOrderAgent::from);
        Self { result: ResultOk::Ok, call_id: Some(call_id.to_owned()), agent, leg: Some(leg) }
    }

    /// The call is rejected and not stored.
    pub fn rejected() -> Self {
        Self { result: ResultOk::Ok, call_id: None, agent: None, leg: None }
    }
}

/// The form that Twilio sends: CallSid, CallStatus or DialCallStatus, and other fields.
pub struct TwilioForm;

inline_schema!(
    TwilioForm,
    "TwilioForm",
    json_schema!({
        "type": "object",
        "description": "The form that Twilio sends: CallSid, CallStatus or DialCallStatus, and other fields.",
    })
);

#[derive(JsonSchema)]
pub struct CallReport {
    /// Must be the call_id in the URL, because the signature does not cover the URL.
    pub call_id: Text<MAX_ID_CHARS>,
    /// ringing only means that the gateway has accepted the call.
    pub status: CallReportStatus,
    /// For the status error. Truncated to 200 characters.
    pub reason: Option<String>,
    /// For the status end: how long the agent and the visitor have talked, in seconds.
    #[schemars(range(min = 0, max = 86400))]
    pub duration: Option<f64>,
    /// For the status end.
    #[serde(default)]
    pub record_url: WebUrlOrBlank,
    /// The gateway's own id for the call. Later reports with another id are ignored.
    #[serde(default)]
    pub provider_call_id: OptionalTextOrNumber<MAX_ID_CHARS>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallReportStatus {
    Ringing,
    AgentConnected,
    ClientConnected,
    End,
    Error,
}

#[derive(JsonSchema)]
pub struct IncomingCallReport {
    /// The gateway's own id for the call. A repeated report with the same id gets the same response.
    pub provider_call_id: IncomingCallId,
    /// The caller's number. Absent if the caller hides it.
    #[serde(default)]
    pub phone: OptionalText<MAX_PHONE_CHARS>,
}

pub struct IncomingCallId;

inline_schema!(
    IncomingCallId,
    "IncomingCallId",
    json_schema!({
        "type": ["string", "number"], "maxLength": MAX_ID_CHARS,
    })
);

/// Parses a report from the gateway. The body must name the call, because the signature does not cover the URL.
pub fn parse_report(body: &Value, call_id: &str) -> Result<ProviderReport, Error> {
    let fields = Fields::of(body)?;
    if fields.required_text("call_id", MAX_ID_CHARS)? != call_id {
        return Err(fields.invalid("call_id", "must be the call_id in the URL"));
    }
    let report = match fields.required_text("status", MAX_ID_CHARS)?.as_str() {
        "ringing" => phone_call::CallReport::Accepted,
        "agent_connected" => phone_call::CallReport::AgentConnected,
        "client_connected" => phone_call::CallReport::ClientConnected,
        "end" => {
            phone_call::CallReport::Ended { talk_time: parse_duration(fields)?, record_url: fields.url("record_url")? }
        }
        "error" => phone_call::CallReport::Failed(parse_reason(fields)?),
        _ => return Err(fields.invalid("status", format_args!("must be one of {STATUS_NAMES}"))),
    };
    Ok(ProviderReport { report, provider_call_id: fields.text_or_number("provider_call_id", MAX_ID_CHARS)? })
}

fn parse_duration(fields: Fields<'_>) -> Result<Option<Duration>, Error> {
    let Some(seconds) = fields.number("duration", MAX_DURATION_SECONDS)? else { return Ok(None) };
    let duration = Duration::try_from_secs_f64(seconds);
    duration.map(Some).map_err(|_| fields.invalid("duration", "must not be negative"))
}

fn parse_reason(fields: Fields<'_>) -> Result<String, Error> {
    let reason = fields.text("reason", usize::MAX)?;
    Ok(truncate_chars(reason.as_deref().unwrap_or("failed"), MAX_REASON_CHARS))
}

pub fn parse_incoming(body: &Value) -> Result<IncomingCall, Error> {
    let fields = Fields::of(body)?;
    let provider_call_id = fields.text_or_number("provider_call_id", MAX_ID_CHARS)?;
    Ok(IncomingCall {
        provider_call_id: provider_call_id.ok_or_else(|| fields.invalid("provider_call_id", "is required"))?,
        phone: fields.text("phone", MAX_PHONE_CHARS)?,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::domain::accounts::agent::AgentSnapshot;
    use crate::domain::calls::phone_call::{CallCharge, CallKind, CallLimits, CallStatus};
    use crate::domain::calls::telephony::{DEFAULT_CALLBACK_CAPS, ProviderSettings};
    use crate::domain::timestamp::Timestamp;

    fn parse(body: Value) -> Result<ProviderReport, Error> {
        let mut body = body;
        body.as_object_mut().unwrap().entry("call_id").or_insert(json!("c1"));
        parse_report(&body, "c1")
    }

    #[test]
    fn order_contains_both_legs_and_the_report_url() {
        let limits = CallLimits { ring: Duration::from_secs(30), talk: Duration::from_secs(600) };
        let provider = ProviderSettings::Http { url: String::new(), signing_secret: "whsec_x".into() };
        let number = "+31201234567".to_owned();
        let telephony = Telephony {
            provider,
            number,
            channel_id: None,
            is_recorded: true,
            limits,
            countries: Vec::new(),
            callback_caps: DEFAULT_CALLBACK_CAPS,
            is_locked: false,
        };
        let agent = AgentSnapshot { agent_id: 1, name: "Ann".into(), photo: None };
        let agent = CallAgent { agent, phone: "+31611111111".into() };
        let call = Call {
            kind: CallKind::Callback,
            phone: "+31622222222".into(),
            agent: Some(agent.clone()),
            status: CallStatus::Start,
            status_at: Timestamp(0),
            started_at: Timestamp(0),
            charge: CallCharge::Free,
            talk_time: None,
            provider_call_id: None,
            is_acknowledged: false,
            limits,
            base_url: "https://s.example".into(),
            revision: 0,
        };
        let order = telephony::CallOrder {
            telephony: &telephony,
            account_id: "acc",
            chat_id: 7,
            call_id: "c1",
            call: &call,
            agent: &agent,
        };
        let expected = json!({
            "event": "call", "call_id": "c1", "site_id": "acc", "chat_id": "7", "type": "callback",
            "agent": { "id": 1, "name": "Ann", "phone": "+31611111111" }, "client": { "phone": "+31622222222" },
            "caller_id": "+31201234567", "record": true, "ring_seconds": 30, "max_seconds": 600,
            "report_url": "https://s.example/calls/acc/c1",
        });
        assert_eq!(json!(CallOrder::from(&order)), expected);
    }

    #[test]
    fn reports_of_the_gateway_are_parsed() {
        let url = || Some("https://x.example/1.mp3".to_owned());
        let table = [
            (json!({ "status": "ringing" }), phone_call::CallReport::Accepted),
            (json!({ "status": "agent_connected" }), phone_call::CallReport::AgentConnected),
            (json!({ "status": "client_connected", "duration": "ignored" }), phone_call::CallReport::ClientConnected),
            (json!({ "status": "end" }), phone_call::CallReport::Ended { talk_time: None, record_url: None }),
            (
                json!({ "status": "end", "duration": 61.5, "record_url": url() }),
                phone_call::CallReport::Ended { talk_time: Some(Duration::from_millis(61_500)), record_url: url() },
            ),
            (json!({ "status": "error" }), phone_call::CallReport::Failed("failed".into())),
            (json!({ "status": "error", "reason": "x".repeat(300) }), phone_call::CallReport::Failed("x".repeat(200))),
        ];
        for (body, expected) in table {
            assert_eq!(parse(body.clone()).unwrap().report, expected, "{body}");
        }
        let id = parse(json!({ "status": "ringing", "provider_call_id": 5 })).unwrap().provider_call_id;
        assert_eq!(id.as_deref(), Some("5"));
    }

    #[test]
    fn error_names_the_invalid_field_of_a_report() {
        let table = [
            ("call_id", json!({ "call_id": "c2", "status": "end" })),
            ("call_id", json!({ "call_id": null, "status": "end" })),
            ("status", json!({})),
            ("status", json!({ "status": "start" })),
            ("duration", json!({ "status": "end", "duration": -1 })),
            ("duration", json!({ "status": "end", "duration": "60" })),
            ("record_url", json!({ "status": "end", "record_url": "javascript:alert(1)" })),
            ("reason", json!({ "status": "error", "reason": 7 })),
        ];
        for (field, body) in table {
            assert_eq!(parse(body.clone()).unwrap_err().invalid_field(), Some(field), "{body}");
        }
        assert_eq!(parse_incoming(&json!({})).unwrap_err().invalid_field(), Some("provider_call_id"));
        let hidden = parse_incoming(&json!({ "provider_call_id": "p1", "phone": "" })).unwrap();
        assert_eq!(hidden, IncomingCall { provider_call_id: "p1".into(), phone: None });
    }
}
