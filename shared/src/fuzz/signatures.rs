//! Fuzzes the verification of telephony providers' signatures. The inputs are used as the bodies or the headers of
//! requests. A request with the right signature must be accepted, and a request whose body or signature has been
//! changed must be rejected.

use lambda_http::http::HeaderMap;
use serde_json::{Value, json};

use crate::delivery::signature;
use crate::delivery::telephony::adapter;
use crate::domain::calls::telephony::ProviderSettings;
use crate::error::Error;
use crate::fuzz::{CALL_ID, targets};
use crate::runtime::clock;
use crate::runtime::http::Request;
use crate::wire::calls::twilio::{Form, parse_incoming, parse_report};

targets!(signed_body, signature_headers, twilio_form, twilio_signature);

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const AUTH_TOKEN: &str = "t0ken";
const URL: &str = "https://api.example.com/calls/acc";
const OTHER_URL: &str = "https://api.example.com/calls/other";

fn headers(fields: &[(&'static str, &str)]) -> Option<HeaderMap> {
    fields.iter().map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?))).collect()
}

/// Returns variants of `bytes` that each differ in one bit of one byte. If the input is long, only some of its bytes
/// are varied.
fn variants(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    let step = bytes.len() / 16 + 1;
    (0..bytes.len()).step_by(step).map(move |index| {
        let mut variant = bytes.to_vec();
        variant[index] ^= 1 << (index % 7);
        variant
    })
}

/// The input is the body of a request with a Standard Webhooks signature.
fn signed_body(input: &[u8]) {
    let (now, secrets) = (clock::now(), [SECRET.to_owned()]);
    let at = now.seconds().to_string();
    let is_text = std::str::from_utf8(input).is_ok();
    let signed = match signature::sign(&secrets, "m", now, input) {
        Ok(signed) => signed,
        // A body that is not UTF-8 cannot be signed. It must be rejected with any signature, for example with that of
        // `{}`.
        Err(_) => signature::sign(&secrets, "m", now, b"{}").unwrap(),
    };
    let verify = |id: &str, at: &str, signed: &str, body: &[u8]| {
        let fields = [("webhook-id", id), ("webhook-timestamp", at), ("webhook-signature", signed)];
        headers(&fields).is_some_and(|headers| signature::verify(SECRET, &headers, body).is_ok())
    };
    assert_eq!(verify("m", &at, &signed, input), is_text);
    assert!(variants(input).all(|body| !verify("m", &at, &signed, &body)), "a changed body is accepted");
    for changed in variants(signed.as_bytes()) {
        let changed = String::from_utf8_lossy(&changed);
        assert!(!verify("m", &at, &changed, input), "the signature {changed} is accepted instead of {signed}");
    }
    let other_time = (now.seconds() + 1).to_string();
    assert!(!verify("n", &at, &signed, input) && !verify("m", &other_time, &signed, input));
}

/// The input is a JSON object of headers. They do not contain a valid signature, so the request must be rejected.
fn signature_headers(input: &[u8]) {
    let Ok(Value::Object(fields)) = serde_json::from_slice(input) else { return };
    let field =
        |name: &str| fields.get(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    let names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
    let fields: Vec<(&'static str, String)> = names.iter().filter_map(|name| Some((*name, field(name)?))).collect();
    let fields: Vec<(&'static str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let Some(headers) = headers(&fields) else { return };
    assert!(matches!(signature::verify(SECRET, &headers, b"{}"), Err(Error::InvalidSignature)));
}

/// The input is the form of a status callback and of an incoming call from Twilio.
fn twilio_form(input: &[u8]) {
    let form = Form::parse(input);
    for leg in ["agent", "client", "dial"] {
        if let Err(error) = parse_report(&form, leg) {
            assert!(error.status() == 400 && error.invalid_field().is_some(), "{error}");
        }
    }
    assert!(matches!(parse_report(&form, "other"), Err(Error::NotFound | Error::Invalid { .. })));
    let incoming = parse_incoming(&form);
    assert!(incoming.is_ok() || incoming.is_err_and(|error| matches!(error.invalid_field(), Some("CallSid" | "From"))));
}

/// The input is the form of a request that Twilio has signed.
fn twilio_signature(input: &[u8]) {
    let signed = Form::parse(input).signature_header(URL, AUTH_TOKEN);
    let has_signature = |body: &[u8], signed: &str, url: &str| Form::parse(body).has_signature(signed, url, AUTH_TOKEN);
    assert!(has_signature(input, &signed, URL));
    assert!(!has_signature(input, &signed, OTHER_URL));
    for body in variants(input).filter(|body| Form::parse(body) != Form::parse(input)) {
        assert!(!has_signature(&body, &signed, URL), "{} is accepted", String::from_utf8_lossy(&body));
    }
    for changed in variants(signed.as_bytes()) {
        let changed = String::from_utf8_lossy(&changed);
        assert!(!has_signature(input, &changed, URL), "the signature {changed} is accepted instead of {signed}");
    }
    // The adapter must also reject a request with this form if the signature is missing or was made for another URL.
    let twilio = ProviderSettings::Twilio {
        api_url: "https://api.twilio.com".into(),
        account_sid: "AC1".into(),
        auth_token: AUTH_TOKEN.into(),
    };
    let mut event: Value =
        serde_json::from_str(include_str!("../../../tests/events/call-receive-status.json")).unwrap();
    event["body"] = json!(String::from_utf8_lossy(input));
    let unsigned = Request::of_event(event.to_string().as_bytes()).unwrap();
    assert!(matches!(adapter(&twilio).parse_report(&unsigned, URL, CALL_ID), Err(Error::InvalidSignature)));
    event["headers"]["x-twilio-signature"] = json!(signed);
    let signed_request = Request::of_event(event.to_string().as_bytes()).unwrap();
    assert!(matches!(adapter(&twilio).parse_report(&signed_request, OTHER_URL, CALL_ID), Err(Error::InvalidSignature)));
}
