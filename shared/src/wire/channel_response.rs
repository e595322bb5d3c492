//! What an integrator's answer means (specification, A2 and Errors; docs/decisions.md, Channel API).

use serde_json::{Map, Value};

use crate::domain::channel::{ChannelSettings, Validation};
use crate::domain::content::cut;
use crate::domain::delivery::{Failure, Outcome};
use crate::wire::receiver_answer::Answer;

/// Characters of an integrator's words that are kept.
const MAX_REFUSAL_CHARS: usize = 500;

/// The JSON that a receiver answered, if it is that. A JSON string that holds JSON is decoded once more.
pub(super) fn json(body: &[u8]) -> Option<Value> {
    let value: Value = serde_json::from_slice(body).ok()?;
    if let Value::String(inner) = &value { serde_json::from_str(inner).ok() } else { Some(value) }
}

/// The outcome of a try that was answered.
pub fn classify(answer: &Answer, settings: &ChannelSettings) -> Outcome {
    let body = json(&answer.body);
    let object = body.as_ref().and_then(Value::as_object);
    match settings.validation {
        Validation::Strict => strict(answer, object, settings),
        Validation::Lenient => lenient(answer, object, settings),
    }
}

fn strict(answer: &Answer, object: Option<&Map<String, Value>>, settings: &ChannelSettings) -> Outcome {
    if answer.status != 200 {
        return Outcome::TryAgain(format!("HTTP {}", answer.status));
    }
    let Some(object) = object else {
        return Outcome::TryAgain("the answer is not a JSON object".into());
    };
    if let Some(failure) = rejection(object, settings) {
        return Outcome::Rejected(failure);
    }
    let result = object.get("result").and_then(Value::as_str);
    if result.is_some_and(|result| result.eq_ignore_ascii_case("ok")) {
        Outcome::Delivered
    } else {
        Outcome::TryAgain("the answer has neither result ok nor an error".into())
    }
}

fn lenient(answer: &Answer, object: Option<&Map<String, Value>>, settings: &ChannelSettings) -> Outcome {
    let rejection = object.and_then(|object| rejection(object, settings));
    match (answer.status, rejection) {
        (200..=299, None) => Outcome::Delivered,
        (200..=299 | 400..=499, Some(failure)) => Outcome::Rejected(failure),
        (status @ 400..=499, None) => Outcome::Rejected(failure(None, &text(answer, status), settings)),
        (status, _) => Outcome::TryAgain(format!("HTTP {status}")),
    }
}

/// The `error` of an answer, if it has one.
fn rejection(object: &Map<String, Value>, settings: &ChannelSettings) -> Option<Failure> {
    let error = object.get("error").filter(|error| !error.is_null())?;
    let words = error.get("message").and_then(Value::as_str).or(error.as_str());
    let words = words.unwrap_or("the integrator rejected the message");
    Some(failure(error.get("code").and_then(Value::as_i64), words, settings))
}

fn failure(code: Option<i64>, message: &str, settings: &ChannelSettings) -> Failure {
    let hidden = code.is_some_and(|code| settings.hidden_error_codes.contains(&code));
    Failure { code, message: cut(message, MAX_REFUSAL_CHARS), hidden }
}

/// The words of an answer that is not JSON; of a page of HTML only its status is worth showing.
fn text(answer: &Answer, status: u16) -> String {
    let text = String::from_utf8_lossy(&answer.body);
    let text = text.trim();
    if text.is_empty() || text.starts_with('<') { format!("HTTP {status}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::content::Shows;

    fn settings(validation: Validation) -> ChannelSettings {
        ChannelSettings {
            name: "App".into(),
            integrator_url: "https://example.com".into(),
            append_channel_id: true,
            enabled: true,
            chunked: false,
            agent_ids: vec![],
            department_ids: vec![],
            validation,
            hidden_error_codes: vec![9],
            shows: Shows::default(),
        }
    }

    /// `ok`, `again`, or `code/message/hidden` of a rejection.
    fn outcome(validation: Validation, status: u16, body: &str) -> String {
        match classify(&Answer { status, body: body.into() }, &settings(validation)) {
            Outcome::Delivered => "ok".into(),
            Outcome::TryAgain(_) => "again".into(),
            Outcome::Rejected(Failure { code, message, hidden }) => format!("{code:?}/{message}/{hidden}"),
        }
    }

    #[test]
    fn strict_channels_read_answers_as_the_specification_says() {
        let table = [
            (200, r#"{"result":"ok"}"#, "ok"),
            (200, r#"{"result":"OK","error":null}"#, "ok"),
            (200, r#"{"error":{"code":7,"message":"blocked"}}"#, "Some(7)/blocked/false"),
            (200, r#"{"error":{"code":9,"message":"secret"}}"#, "Some(9)/secret/true"),
            (200, r#""{\"result\":\"ok\"}""#, "ok"),
            (200, r#""{\"error\":{\"code\":7,\"message\":\"blocked\"}}""#, "Some(7)/blocked/false"),
            (200, r#""\"{\\\"result\\\":\\\"ok\\\"}\"""#, "again"),
            (200, r#""ok""#, "again"),
            (200, r#"{"error":{"code":"7"}}"#, "None/the integrator rejected the message/false"),
            (200, r#"{"result":"no"}"#, "again"),
            (200, r"{}", "again"),
            (200, r#"["ok"]"#, "again"),
            (200, "<html>", "again"),
            (200, "", "again"),
            (201, r#"{"result":"ok"}"#, "again"),
            (302, "", "again"),
            (400, r#"{"error":{"code":7,"message":"blocked"}}"#, "again"),
            (500, r#"{"result":"ok"}"#, "again"),
        ];
        for (status, body, expected) in table {
            assert_eq!(outcome(Validation::Strict, status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn lenient_channels_take_any_success_and_any_refusal() {
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
            (301, "", "again"),
            (500, r#"{"error":{"code":9,"message":"m"}}"#, "again"),
        ];
        for (status, body, expected) in table {
            assert_eq!(outcome(Validation::Lenient, status, body), expected, "{status} {body}");
        }
    }
}
