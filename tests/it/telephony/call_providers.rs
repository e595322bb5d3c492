//! Tests for phone calls through Twilio: the request that creates a call, signed status callbacks, and TwiML.

use std::collections::BTreeMap;

use hmac::{Hmac, KeyInit, Mac};
use reqwest::Method;
use serde_json::json;
use sha1::Sha1;

use crate::support::api_client::{ApiResponse, send};
use crate::support::call_fixture::{ACCOUNT_NUMBER, AGENT_PHONE, CallFixture, VISITOR_PHONE};
use crate::support::test_host::{TestHost, run_on_shared_host};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

const ACCOUNT_SID: &str = "AC0123456789";
const AUTH_TOKEN: &str = "0123456789abcdef";

type Form = BTreeMap<String, Vec<String>>;

/// Creates an account whose telephony provider is Twilio. A test server takes the place of Twilio's API.
async fn twilio_fixture(host: &TestHost) -> CallFixture {
    let provider = TestReceiver::start(CannedResponse::Json(201, json!({"sid": "CA1", "status": "queued"}))).await;
    let api_url = provider.url().replace("/hook", "");
    let settings = json!({
        "provider": "twilio", "api_url": api_url, "account_sid": ACCOUNT_SID, "auth_token": AUTH_TOKEN, "record": true,
    });
    CallFixture::create_with_provider(host, provider, settings).await
}

fn parse_form(body: &[u8]) -> Form {
    let mut form = Form::new();
    for (name, value) in url::form_urlencoded::parse(body) {
        form.entry(name.into_owned()).or_default().push(value.into_owned());
    }
    form
}

fn attribute(twiml: &str, name: &str) -> String {
    let (_, rest) = twiml.split_once(&format!(" {name}=\"")).unwrap_or_else(|| panic!("no {name}: {twiml}"));
    rest.split('"').next().unwrap().replace("&amp;", "&")
}

/// Returns the signature that Twilio computes for a form sent to this URL.
fn sign(url: &str, fields: &[(&str, &str)], auth_token: &str) -> String {
    let mut fields = fields.to_vec();
    fields.sort_unstable();
    let text: String = fields.into_iter().flat_map(|(name, value)| [name, value]).collect();
    let mut mac = Hmac::<Sha1>::new_from_slice(auth_token.as_bytes()).unwrap();
    mac.update(format!("{url}{text}").as_bytes());
    base64::Engine::encode(&base64::engine::general_purpose::STANDARD, mac.finalize().into_bytes())
}

async fn post_form(host: &TestHost, url: &str, fields: &[(&str, &str)], signature: &str) -> ApiResponse {
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let request = host.anonymous.request(Method::POST, url).body(body);
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    send(request.header("x-twilio-signature", signature)).await
}

/// Sends a signed form and returns the TwiML in the response.
async fn call_back(host: &TestHost, url: &str, fields: &[(&str, &str)]) -> String {
    let response = post_form(host, url, fields, &sign(url, fields, AUTH_TOKEN)).await;
    assert_eq!(
        (response.status, &response.headers["content-type"]),
        (200, &"text/xml; charset=utf-8".parse().unwrap())
    );
    response.text
}

#[test]
fn twilio_calls_the_agent_and_then_the_visitor() {
    run_on_shared_host(async |host| {
        let fixture = twilio_fixture(host).await;
        assert_eq!(fixture.start_callback().await["result"], "ok");
        let request = fixture.provider.wait_for_requests(1, WAIT_TIMEOUT).await[0].clone();
        let path = format!("/2010-04-01/Accounts/{ACCOUNT_SID}/Calls.json");
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", path.as_str()));
        let credentials = format!("{ACCOUNT_SID}:{AUTH_TOKEN}");
        let credentials = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, credentials);
        assert_eq!(request.header("authorization"), Some(format!("Basic {credentials}").as_str()));
        assert_eq!(request.header("content-type"), Some("application/x-www-form-urlencoded"));
        let mut form = parse_form(&request.body);
        let twiml = form.remove("Twiml").unwrap().remove(0);
        let agent_url = form.remove("StatusCallback").unwrap().remove(0);
        let expected: Form = [
            ("To", vec![AGENT_PHONE]),
            ("From", vec![ACCOUNT_NUMBER]),
            ("Timeout", vec!["15"]),
            ("StatusCallbackEvent", vec!["initiated", "answered", "completed"]),
        ]
        .map(|(name, values)| (name.to_owned(), values.into_iter().map(str::to_owned).collect()))
        .into();
        assert_eq!(form, expected);
        assert!(twiml.contains(&format!(">{VISITOR_PHONE}</Number>")), "{twiml}");
        let settings = ["callerId", "timeout", "timeLimit", "record"].map(|name| attribute(&twiml, name));
        assert_eq!(settings, [ACCOUNT_NUMBER, "15", "3600", "record-from-answer-dual"]);
        let (client_url, dial_url) = (attribute(&twiml, "statusCallback"), attribute(&twiml, "action"));
        assert!(agent_url.starts_with(&fixture.incoming_url) && agent_url.ends_with("/agent"), "{agent_url}");

        for status in ["initiated", "in-progress"] {
            call_back(host, &agent_url, &[("CallSid", "CA1"), ("CallStatus", status)]).await;
        }
        let client = [("CallSid", "CA2"), ("ParentCallSid", "CA1"), ("CallStatus", "in-progress")];
        call_back(host, &client_url, &client).await;
        let dial = [
            ("CallSid", "CA1"),
            ("DialCallSid", "CA2"),
            ("DialCallStatus", "completed"),
            ("DialCallDuration", "61"),
            ("RecordingUrl", "https://api.example/Recordings/RE1"),
        ];
        assert!(call_back(host, &dial_url, &dial).await.contains("<Response/>"));
        call_back(host, &dial_url, &dial).await;
        call_back(host, &agent_url, &[("CallSid", "CA1"), ("CallStatus", "completed")]).await;
        let events = fixture.wait_for_statuses(&["start", "agent_connected", "client_connected", "end"]).await;
        assert_eq!(events[3]["record_url"], "https://api.example/Recordings/RE1.mp3");
        let telephony = fixture.account.admin.client.get("/admin/telephony").await.expect(200);
        assert_eq!(telephony["balance_minutes"], 59, "the service's own clock has seen a talk of a few seconds");
    });
}

#[test]
fn forged_callbacks_are_rejected() {
    run_on_shared_host(async |host| {
        let fixture = twilio_fixture(host).await;
        fixture.start_callback().await;
        let request = fixture.provider.wait_for_requests(1, WAIT_TIMEOUT).await[0].clone();
        let url = parse_form(&request.body)["StatusCallback"][0].clone();
        let fields = [("CallSid", "CA1"), ("CallStatus", "busy")];
        let signature = sign(&url, &fields, AUTH_TOKEN);
        for (url, fields, signature) in [
            (url.clone(), fields, sign(&url, &fields, "another token")),
            (url.clone(), [("CallSid", "CA1"), ("CallStatus", "failed")], signature.clone()),
            (url.replace("/agent", "/client"), fields, signature.clone()),
            (url.clone(), fields, String::from("x")),
        ] {
            let response = post_form(host, &url, &fields, &signature).await;
            response.expect_error(401, "invalid_signature");
        }
        let no_signature = host.anonymous.request(Method::POST, &url).body("CallStatus=busy");
        send(no_signature).await.expect_error(401, "invalid_signature");
        let unknown_leg = url.replace("/agent", "/other");
        let signature = sign(&unknown_leg, &fields, AUTH_TOKEN);
        post_form(host, &unknown_leg, &fields, &signature).await.expect_error(404, "not_found");
        let missing =
            post_form(host, &url, &[("CallSid", "CA1")], &sign(&url, &[("CallSid", "CA1")], AUTH_TOKEN)).await;
        assert_eq!(missing.expect_error(400, "invalid_request")["error"]["field"], "CallStatus");
        assert_eq!(fixture.call(1).await["status"], "start");
        call_back(host, &url, &fields).await;
        let call = fixture.call(1).await;
        assert_eq!((&call["status"], &call["reason"]), (&json!("error"), &json!("busy")));
    });
}

#[test]
fn signature_is_checked_with_the_configured_url_and_not_with_the_host_header() {
    run_on_shared_host(async |host| {
        let fixture = twilio_fixture(host).await;
        let ringing = [("CallSid", "CA9"), ("From", "+31633333333"), ("CallStatus", "ringing")];
        let post = async |signature: String| {
            let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(ringing).finish();
            let request = host.anonymous.request(Method::POST, &fixture.incoming_url).body(body);
            send(request.header("host", "evil.example").header("x-twilio-signature", signature)).await
        };
        let foreign_url = fixture.incoming_url.replace(host.local.base_url(), "http://evil.example");
        post(sign(&foreign_url, &ringing, AUTH_TOKEN)).await.expect_error(401, "invalid_signature");
        let twiml = post(sign(&fixture.incoming_url, &ringing, AUTH_TOKEN)).await.text;
        for name in ["action", "statusCallback"] {
            assert!(attribute(&twiml, name).starts_with(&fixture.incoming_url), "{twiml}");
        }
    });
}

#[test]
fn twilio_rejection_ends_the_call() {
    run_on_shared_host(async |host| {
        let fixture = twilio_fixture(host).await;
        let rejection = json!({"code": 20003, "message": "Authenticate", "status": 401});
        fixture.provider.respond_with(CannedResponse::Json(401, rejection));
        fixture.start_callback().await;
        let events = fixture.wait_for_statuses(&["start", "error"]).await;
        assert_eq!(events[1]["reason"], "the call could not be placed");
        wait_for("the reason in the delivery log", WAIT_TIMEOUT, async || {
            let log = fixture.account.admin.client.get("/admin/deliveries?target=call").await.expect(200);
            if log.to_string().contains("Authenticate (Twilio error 20003)") { Ok(()) } else { Err(log) }
        })
        .await;
    });
}

#[test]
fn twilio_connects_an_incoming_call_with_an_agent() {
    run_on_shared_host(async |host| {
        let fixture = twilio_fixture(host).await;
        let url = &fixture.incoming_url;
        let ringing = [("CallSid", "CA9"), ("From", "+31633333333"), ("To", ACCOUNT_NUMBER), ("CallStatus", "ringing")];
        let twiml = call_back(host, url, &ringing).await;
        assert!(twiml.contains(&format!(">{AGENT_PHONE}</Number>")), "{twiml}");
        assert_eq!(call_back(host, url, &ringing).await, twiml, "a repeated report");
        let agent = [("CallSid", "CA10"), ("ParentCallSid", "CA9"), ("CallStatus", "in-progress")];
        call_back(host, &attribute(&twiml, "statusCallback"), &agent).await;
        let dial = [("CallSid", "CA9"), ("DialCallStatus", "completed"), ("DialCallDuration", "5")];
        call_back(host, &attribute(&twiml, "action"), &dial).await;
        let events = fixture.wait_for_statuses(&["start", "agent_connected", "end"]).await;
        assert_eq!((&events[0]["type"], &events[0]["phone"]), (&json!("incoming"), &json!("+31633333333")));
        fixture.agent.set_presence("offline").await;
        let missed = [("CallSid", "CA11"), ("From", "anonymous"), ("CallStatus", "ringing")];
        assert!(call_back(host, url, &missed).await.contains("<Reject"));
        post_form(host, url, &missed, "x").await.expect_error(401, "invalid_signature");
        let no_id: [(&str, &str); 1] = [("From", "+31633333333")];
        let invalid = post_form(host, url, &no_id, &sign(url, &no_id, AUTH_TOKEN)).await;
        assert_eq!(invalid.expect_error(400, "invalid_request")["error"]["field"], "CallSid");
    });
}
