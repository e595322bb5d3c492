//! Determines from an integrator's HTTP response whether a message was delivered, was rejected, or must be sent again
//! (specification, table A2 and Errors; docs/decisions.md, Channel API).

use serde_json::{Map, Value};

use crate::domain::channels::channel::{ApiSettings, ValidationMode};
use crate::domain::chats::message_content::truncate_chars;
use crate::domain::deliveries::delivery::{Failure, Outcome};
use crate::wire::receiver_response::ReceiverResponse;

/// The maximum stored length of the integrator's error message.
const MAX_ERROR_MESSAGE_CHARS: usize = 500;

/// Parses a response body. If it is a JSON string that itself contains JSON, the content of the string is parsed.
/// Returns `None` if the body, or the content of the string, is not JSON.
pub(crate) fn parse_json(body: &[u8]) -> Option<Value> {
    let value: Value = serde_json::from_slice(body).ok()?;
    if let Value::String(inner) = &value { serde_json::from_str(inner).ok() } else { Some(value) }
}

pub fn outcome(response: &ReceiverResponse, settings: &ApiSettings) -> Outcome {
    let body = parse_json(&response.body);
    let object = body.as_ref().and_then(Value::as_object);
    match settings.validation {
        ValidationMode::Strict => strict_outcome(response, object, settings),
        ValidationMode::Lenient => lenient_outcome(response, object, settings),
    }
}

fn strict_outcome(response: &ReceiverResponse, object: Option<&Map<String, Value>>, settings: &ApiSettings) -> Outcome {
    if response.status != 200 {
        return Outcome::Retry(format!("HTTP {}", response.status));
    }
    let Some(object) = object else {
        return Outcome::Retry("the response is not a JSON object".into());
    };
    if let Some(failure) = rejection(object, settings) {
        return Outcome::Rejected(failure);
    }
    let result = object.get("result").and_then(Value::as_str);
    if result.is_some_and(|result| result.eq_ignore_ascii_case("ok")) {
        Outcome::Delivered
    } else {
        Outcome::Retry("the response has neither result ok nor an error".into())
    }
}

fn lenient_outcome(
    response: &ReceiverResponse,
    object: Option<&Map<String, Value>>,
    settings: &ApiSettings,
) -> Outcome {
    let rejection = object.and_then(|object| rejection(object, settings));
    match (response.status, rejection) {
        (200..=299, None) => Outcome::Delivered,
        (200..=299 | 400..=499, Some(failure)) => Outcome::Rejected(failure),
        (status @ 400..=499, None) => Outcome::Rejected(failure(None, &error_text(response, status), settings)),
        (status, _) => Outcome::Retry(format!("HTTP {status}")),
    }
}

/// Returns the failure that the `error` field of a response describes, or `None` if the field is absent or null.
fn rejection(object: &Map<String, Value>, settings: &ApiSettings) -> Option<Failure> {
    let error = object.get("error").filter(|error| !error.is_null())?;
    let message = error.get("message").and_then(Value::as_str).or(error.as_str());
    let message = message.unwrap_or("the integrator rejected the message");
    Some(failure(error.get("code").and_then(Value::as_i64), message, settings))
}

fn failure(code: Option<i64>, message: &str, settings: &ApiSettings) -> Failure {
    let hidden = code.is_some_and(|code| settings.hidden_error_codes.contains(&code));
    Failure { code, message: truncate_chars(message, MAX_ERROR_MESSAGE_CHARS), hidden }
}

/// Returns the error text for a response without an `error` field: the body, or the status if the body is empty or is
/// an HTML page.
fn error_text(response: &ReceiverResponse, status: u16) -> String {
    let text = String::from_utf8_lossy(&response.body);
    let text = text.trim();
    if text.is_empty() || text.starts_with('<') { format!("HTTP {status}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::channels::channel::default_api_settings;

    fn settings(validation: ValidationMode) -> ApiSettings {
        ApiSettings { validation, hidden_error_codes: vec![9], ..default_api_settings() }
    }

    /// Returns the outcome as text: `ok`, `retry`, or `code/message/hidden` for a rejection.
    fn outcome_text(validation: ValidationMode, status: u16, body: &str) -> String {
        match outcome(&ReceiverResponse { status, body: body.into() }, &settings(validation)) {
            Outcome::Delivered => "ok".into(),
            Outcome::Retry(_) => "retry".into(),
            Outcome::Rejected(Failure { code, message, hidden }) => format!("{code:?}/{message}/{hidden}"),
        }
    }

    #[test]
    fn strict_channel_follows_the_specification() {
        let table = [
            (200, r#"{"result":"ok"}"#, "ok"),
            (200, r#"{"result":"OK","error":null}"#, "ok"),
            (200, r#"{"error":{"code":7,"message":"blocked"}}"#, "Some(7)/blocked/false"),
            (200, r#"{"error":{"code":9,"message":"secret"}}"#, "Some(9)/secret/true"),
            (200, r#""{\"result\":\"ok\"}""#, "ok"),
            (200, r#""{\"error\":{\"code\":7,\"message\":\"blocked\"}}""#, "Some(7)/blocked/false"),
            (200, r#""\"{\\\"result\\\":\\\"ok\\\"}\"""#, "retry"),
            (200, r#""ok""#, "retry"),
            (200, r#"{"error":{"code":"7"}}"#, "None/the integrator rejected the message/false"),
            (200, r#"{"result":"no"}"#, "retry"),
            (200, r"{}", "retry"),
            (200, r#"["ok"]"#, "retry"),
            (200, "<html>", "retry"),
            (200, "", "retry"),
            (201, r#"{"result":"ok"}"#, "retry"),
            (302, "", "retry"),
            (400, r#"{"error":{"code":7,"message":"blocked"}}"#, "retry"),
            (500, r#"{"result":"ok"}"#, "retry"),
        ];
        for (status, body, expected) in table {
            assert_eq!(outcome_text(ValidationMode::Strict, status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn lenient_channel_accepts_any_2xx_and_any_4xx() {
        let table = [
            (200, "", "ok"),
            (204, "", "ok"),
            (202, "<html>", "ok"),
            (200, r#"{"error":{"code":7,"message":"blocked"}}"#, "Some(7)/blocked/false"),
            (200, r#""{\"error\":{\"code\":7,\"message\":\"blocked\"}}""#, "Some(7)/blocked/false"),
            (200, r#"{"error":{"code":7,"mess"#, "ok"),
            (403, "go away", "None/go away/false"),
            (404, "<html>", "None/HTTP 404/false"),
            (422, r#"{"error":{"code":9,"message":"m"}}"#, "Some(9)/m/true"),
            (301, "", "retry"),
            (500, r#"{"error":{"code":9,"message":"m"}}"#, "retry"),
        ];
        for (status, body, expected) in table {
            assert_eq!(outcome_text(ValidationMode::Lenient, status, body), expected, "{status} {body}");
        }
    }
}
