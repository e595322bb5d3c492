//! Compares a request that the admin API shows with the request that a receiver got.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::test_receiver::ReceivedRequest;

/// Returns the value of a signature header with all signatures shortened, as the admin API shows it.
fn shortened(signatures: &str) -> String {
    signatures.split(' ').map(|it| format!("{}…", &it[..7])).collect::<Vec<_>>().join(" ")
}

/// Checks that the shown request has exactly the same method, headers and body as the received one, except that its
/// signatures are shortened and the trace context, which is not stored, is missing.
#[track_caller]
pub fn assert_shown_request(shown: &Value, received: &ReceivedRequest) {
    let header =
        |header: &Value| (header["name"].as_str().unwrap().to_owned(), header["value"].as_str().unwrap().to_owned());
    let headers: BTreeMap<String, String> = shown["headers"].as_array().unwrap().iter().map(header).collect();
    let mut expected = received.headers.clone();
    expected.retain(|name, _| !matches!(name.as_str(), "traceparent" | "tracestate"));
    let signature = expected.get_mut("webhook-signature").expect("the request is signed");
    let sent_signature = std::mem::replace(signature, shortened(signature));
    assert_eq!(headers, expected);
    assert_eq!(shown["method"], received.method);
    assert_eq!(shown["body"], String::from_utf8(received.body.clone()).unwrap());
    assert_eq!(shown["body_truncated"], false);
    assert!(!shown.to_string().contains(&sent_signature), "{shown}");
}
