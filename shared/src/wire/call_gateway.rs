//! Builds orders for the plain HTTP gateway for phone calls (docs/telephony.md), parses the gateway's reports and
//! incoming calls, and builds the responses to incoming calls.

use std::time::Duration;

use serde_json::{Value, json};

use crate::domain::message_content::truncate_chars;
use crate::domain::phone_call::{Call, CallAgent, CallReport, MAX_REASON_CHARS};
use crate::domain::telephony::{CallOrder, IncomingCall, ProviderReport, Telephony};
use crate::error::Error;
use crate::wire::json_fields::Fields;

const MAX_ID_CHARS: usize = 128;
const MAX_PHONE_CHARS: usize = 64;
/// The maximum duration of a conversation that a gateway can report: one day, in seconds.
const MAX_DURATION_SECONDS: f64 = 86_400.0;
const STATUS_NAMES: &str = "ringing, agent_connected, client_connected, end, error";

pub fn order_json(order: &CallOrder<'_>) -> Value {
    let CallOrder { telephony, account_id, chat_id, call_id, call, agent } = order;
    json!({
        "event": "call",
        "call_id": call_id,
        "site_id": account_id,
        "chat_id": chat_id.to_string(),
        "type": call.kind.name(),
        "agent": agent_json(agent),
        "client": { "phone": call.phone },
        "caller_id": telephony.number,
        "record": telephony.is_recorded,
        "ring_seconds": call.limits.ring.as_secs(),
        "max_seconds": call.limits.talk.as_secs(),
        "report_url": order.report_url(),
    })
}

/// Returns the response to an incoming call: whom to call and where to report. If the response contains no agent, the
/// gateway rejects the call.
pub fn incoming_json(telephony: &Telephony, call_id: &str, call: &Call, report_url: &str) -> Value {
    json!({
        "result": "ok",
        "call_id": call_id,
        "agent": call.agent.as_ref().map(agent_json),
        "record": telephony.is_recorded,
        "ring_seconds": call.limits.ring.as_secs(),
        "max_seconds": call.limits.talk.as_secs(),
        "report_url": report_url,
    })
}

/// Returns the response to an incoming call that is rejected and not stored.
pub fn rejected_incoming_json() -> Value {
    json!({ "result": "ok", "call_id": null, "agent": null })
}

fn agent_json(called: &CallAgent) -> Value {
    json!({ "id": called.agent.agent_id, "name": called.agent.name, "phone": called.phone })
}

/// Parses a report from the gateway. The body must name the call, because the signature does not cover the URL.
pub fn parse_report(body: &Value, call_id: &str) -> Result<ProviderReport, Error> {
    let fields = Fields::of(body)?;
    if fields.required_text("call_id", MAX_ID_CHARS)? != call_id {
        return Err(fields.invalid("call_id", "must be the call_id in the URL"));
    }
    let report = match fields.required_text("status", MAX_ID_CHARS)?.as_str() {
        "ringing" => CallReport::Accepted,
        "agent_connected" => CallReport::AgentConnected,
        "client_connected" => CallReport::ClientConnected,
        "end" => CallReport::Ended { talk_time: parse_duration(fields)?, record_url: fields.url("record_url")? },
        "error" => CallReport::Failed(parse_reason(fields)?),
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
    use crate::domain::agent::AgentSnapshot;
    use crate::domain::phone_call::{CallCharge, CallKind, CallLimits, CallStatus};
    use crate::domain::telephony::{DEFAULT_CALLBACK_CAPS, ProviderSettings};
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
        let order = CallOrder {
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
        assert_eq!(order_json(&order), expected);
    }

    #[test]
    fn reports_of_the_gateway_are_parsed() {
        let url = || Some("https://x.example/1.mp3".to_owned());
        let table = [
            (json!({ "status": "ringing" }), CallReport::Accepted),
            (json!({ "status": "agent_connected" }), CallReport::AgentConnected),
            (json!({ "status": "client_connected", "duration": "ignored" }), CallReport::ClientConnected),
            (json!({ "status": "end" }), CallReport::Ended { talk_time: None, record_url: None }),
            (
                json!({ "status": "end", "duration": 61.5, "record_url": url() }),
                CallReport::Ended { talk_time: Some(Duration::from_millis(61_500)), record_url: url() },
            ),
            (json!({ "status": "error" }), CallReport::Failed("failed".into())),
            (json!({ "status": "error", "reason": "x".repeat(300) }), CallReport::Failed("x".repeat(200))),
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
