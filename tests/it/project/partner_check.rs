//! The kit for partners (infra/check) finds what is wrong with a server, and nothing else. Each server here is right
//! except for one fault.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use check::{Partner, Server, check};
use local::cargo_build::workspace_root;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use standardwebhooks::Webhook;

use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const REFUSALS: [&str; 4] = [
    "refuses a request without a signature",
    "refuses a wrong signature",
    "refuses the signature of another body",
    "refuses a request that was signed ten minutes ago",
];

/// What an integrator's server does wrong with a request, whose body is `null` if it is not JSON. `None` if nothing.
type Fault = fn(&ReceivedRequest, &Value) -> Option<CannedResponse>;

fn status(status: u16) -> Option<CannedResponse> {
    Some(CannedResponse::Json(status, json!({})))
}

fn only_if(is_wrong: bool, wrong: CannedResponse) -> Option<CannedResponse> {
    is_wrong.then_some(wrong)
}

fn message_type(body: &Value) -> &str {
    body["message"]["type"].as_str().unwrap_or_default()
}

fn is_signed(request: &ReceivedRequest) -> bool {
    let headers: HeaderMap = request
        .headers
        .iter()
        .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap()))
        .collect();
    Webhook::new(SECRET).unwrap().verify(&request.body, &headers).is_ok()
}

/// Whether the signature is that of the body at the time of the header, whenever that was.
fn is_signed_at_any_time(request: &ReceivedRequest) -> bool {
    request.header("webhook-id").is_some() && request.is_signed_with(SECRET)
}

fn respond_rightly(request: &ReceivedRequest, body: &Value) -> CannedResponse {
    if !is_signed(request) {
        CannedResponse::Json(401, json!({}))
    } else if body.is_null() {
        CannedResponse::Json(400, json!({}))
    } else {
        CannedResponse::ok()
    }
}

/// Runs the kit against a server with a fault. Returns the clauses that the server breaks.
async fn broken_clauses(
    partner: Partner,
    fault: impl Fn(&ReceivedRequest, &Value) -> Option<CannedResponse> + Send + Sync + 'static,
) -> Vec<String> {
    let server = TestReceiver::start(CannedResponse::ok()).await.without_document_check();
    let fault = Arc::new(fault);
    server.respond_by(move |request| {
        let fault = Arc::clone(&fault);
        async move {
            let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
            fault(&request, &body).unwrap_or_else(|| respond_rightly(&request, &body))
        }
    });
    let checked = Server { partner, url: &server.url(), secret: SECRET, gets_chunks: true };
    let verdicts = check(checked, |_| {}).await.unwrap();
    verdicts.into_iter().filter(|verdict| verdict.problem.is_some()).map(|verdict| verdict.clause).collect()
}

const OTHER_SCHEME: &str = "v1a,";

/// The faults, each with the clauses that it breaks. `accepts` stands for all examples.
const FAULTS: [(&str, Fault, &[&str]); 20] = [
    ("checks no signature", |_, body| only_if(!body.is_null(), CannedResponse::ok()), &REFUSALS),
    (
        "does not compare the time",
        |request, body| only_if(is_signed_at_any_time(request) && !body.is_null(), CannedResponse::ok()),
        &["refuses a request that was signed ten minutes ago"],
    ),
    (
        "reads the first signature only",
        |request, _| {
            let is_second = request.header("webhook-signature").is_some_and(|it| it.contains(" v1,"));
            only_if(is_second, CannedResponse::Json(401, json!({})))
        },
        &[
            "accepts a second signature beside that of an old secret",
            "accepts a second signature beside one of an unknown scheme",
        ],
    ),
    (
        "fails at an unknown scheme",
        |request, _| {
            let is_unknown = request.header("webhook-signature").is_some_and(|it| it.contains(OTHER_SCHEME));
            only_if(is_unknown, CannedResponse::Json(500, json!({})))
        },
        &["accepts a second signature beside one of an unknown scheme"],
    ),
    (
        "signs another body",
        |request, body| {
            let other = ReceivedRequest { body: b"{}".to_vec(), ..request.clone() };
            only_if(
                !body.is_null() && request.header("webhook-id").is_some() && is_signed(&other),
                CannedResponse::ok(),
            )
        },
        &["refuses the signature of another body"],
    ),
    (
        "redirects unsigned requests",
        |request, _| only_if(request.header("webhook-id").is_none(), CannedResponse::Redirect("/login".into())),
        &["refuses a request without a signature"],
    ),
    (
        "closes the connection on a wrong signature",
        |request, _| {
            only_if(
                request.header("webhook-id").is_some() && !is_signed_at_any_time(request),
                CannedResponse::CloseConnection,
            )
        },
        &["refuses a wrong signature", "refuses the signature of another body"],
    ),
    (
        "answers places with an error",
        |_, body| only_if(message_type(body) == "location", CannedResponse::error(7, "?")),
        &["accepts integratorMessage, location"],
    ),
    (
        "knows no typing notices",
        |_, body| {
            if message_type(body) == "typein" { status(400) } else { None }
        },
        &["accepts integratorMessage, typein"],
    ),
    (
        "responds with 202 to files",
        |_, body| {
            if message_type(body) == "document" { status(202) } else { None }
        },
        &["accepts integratorMessage, document"],
    ),
    (
        "says nothing about a file",
        |_, body| {
            if message_type(body) == "document" { status(200) } else { None }
        },
        &["accepts integratorMessage, document"],
    ),
    (
        "responds to Markdown with a text",
        |_, body| only_if(message_type(body) == "markdown", CannedResponse::Text(200, "text/plain", "ok".into())),
        &["accepts integratorMessage, markdown"],
    ),
    (
        "is slow with places",
        |_, body| {
            let slow = CannedResponse::Delayed(Duration::from_millis(3_200), Box::new(CannedResponse::ok()));
            only_if(message_type(body) == "location", slow)
        },
        &["accepts integratorMessage, location"],
    ),
    (
        "knows no chunked bodies",
        |request, _| only_if(request.header("transfer-encoding").is_some(), CannedResponse::Json(411, json!({}))),
        &["accepts chunked transfer encoding"],
    ),
    (
        "refuses unknown fields",
        |_, body| {
            if body.get("field_of_a_later_version").is_some() { status(422) } else { None }
        },
        &["ignores unknown fields"],
    ),
    (
        "refuses long texts",
        |request, _| if request.body.len() > 15_000 { status(413) } else { None },
        &["accepts a text of 10,000 characters"],
    ),
    (
        "crashes at an unknown type",
        |_, body| {
            if message_type(body) == "type_of_a_later_version" { status(500) } else { None }
        },
        &["survives a type that it does not know"],
    ),
    (
        "crashes at a body that is not JSON",
        |_, body| if body.is_null() { status(500) } else { None },
        &["survives a body that is not JSON"],
    ),
    (
        "closes the connection at buttons",
        |_, body| only_if(message_type(body) == "buttons", CannedResponse::CloseConnection),
        &["accepts integratorMessage, buttons"],
    ),
    (
        "sends its result as a list",
        |_, body| only_if(message_type(body) == "location", CannedResponse::Json(200, json!(["ok"]))),
        &["accepts integratorMessage, location"],
    ),
];

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(test);
}

#[test]
fn server_without_a_fault_keeps_all_clauses() {
    run(async {
        for partner in [Partner::Integrator, Partner::Bot, Partner::Webhook, Partner::Gateway] {
            assert_eq!(broken_clauses(partner, |_, _| None).await, [""; 0], "{partner:?}");
        }
    });
}

#[test]
fn each_of_twenty_faults_is_found() {
    run(async {
        for (name, fault, expected) in FAULTS {
            assert_eq!(broken_clauses(Partner::Integrator, fault).await, expected, "{name}");
        }
    });
}

#[test]
fn server_that_refuses_a_repeated_request_is_found() {
    run(async {
        let seen = std::sync::Mutex::new(std::collections::BTreeSet::new());
        let broken = broken_clauses(Partner::Integrator, move |request, _| {
            let id = request.header("webhook-id").unwrap_or_default().to_owned();
            let is_new = seen.lock().unwrap().insert(id);
            if is_new || !is_signed(request) { None } else { status(409) }
        });
        assert_eq!(broken.await, ["accepts a repeated request with the same id"]);
    });
}

#[test]
fn server_that_tires_is_found() {
    run(async {
        let count = AtomicUsize::new(0);
        let broken = broken_clauses(Partner::Integrator, move |_, _| {
            // The last twenty requests are sent at the same time.
            if count.fetch_add(1, Ordering::Relaxed) > 30 { status(503) } else { None }
        });
        assert_eq!(broken.await, ["accepts twenty requests at the same time"]);
    });
}

#[test]
fn webhook_that_reports_a_failure_is_found() {
    run(async {
        let failure = |_: &ReceivedRequest, body: &Value| {
            let is_assigned = body["event_name"] == "chat_assigned";
            only_if(is_assigned, CannedResponse::Json(200, json!({"result": "FAILURE"})))
        };
        let broken = broken_clauses(Partner::Webhook, failure).await;
        assert!(!broken.is_empty() && broken.iter().all(|it| it.starts_with("accepts chat_assigned")), "{broken:?}");
    });
}

#[test]
fn each_partner_gets_new_ids_and_a_long_text() {
    run(async {
        for (partner, id, text) in [
            (Partner::Integrator, "/message/id", Some("/message/text")),
            (Partner::Bot, "/id", Some("/message/text")),
            (Partner::Webhook, "/no_id", Some("/visitor/description")),
            (Partner::Gateway, "/call_id", None),
        ] {
            let server = TestReceiver::start(CannedResponse::ok()).await.without_document_check();
            let checked = Server { partner, url: &server.url(), secret: SECRET, gets_chunks: false };
            check(checked, |_| {}).await.unwrap();
            let bodies: Vec<(String, Value)> = server
                .requests()
                .iter()
                .filter_map(|request| {
                    Some((request.header("webhook-id")?.to_owned(), serde_json::from_slice(&request.body).ok()?))
                })
                .collect();
            for (header, body) in &bodies {
                assert!(body.pointer(id).is_none_or(|id| id == header.as_str()), "{partner:?}: {header}, {body}");
            }
            let is_long = |body: &Value, text| body.pointer(text).is_some_and(|it| it.as_str().unwrap().len() > 10_000);
            let long = bodies.iter().filter(|(_, body)| text.is_some_and(|text| is_long(body, text))).count();
            assert_eq!(long, usize::from(text.is_some()), "{partner:?}");
        }
    });
}

#[test]
fn signature_in_the_documentation_is_right() {
    let page = std::fs::read_to_string(workspace_root().join("docs/webhooks.md")).unwrap();
    let value = |name: &str| {
        let (_, rest) = page.split_once(&format!("| {name} | `")).unwrap_or_else(|| panic!("{name}"));
        rest.split_once('`').unwrap().0
    };
    let secret = Webhook::new(value("secret")).unwrap();
    let at = value("`webhook-timestamp`").parse().unwrap();
    let signature = secret.sign(value("`webhook-id`"), at, value("body").as_bytes()).unwrap();
    assert_eq!(signature, value("`webhook-signature`"));
}

#[test]
fn wrong_arguments_are_named() {
    run(async {
        let check = async |url, secret| {
            let server = Server { partner: Partner::Bot, url, secret, gets_chunks: false };
            check(server, |_| {}).await.unwrap_err().to_string()
        };
        assert_eq!(check("ftp://a/token", SECRET).await, "the address must start with http:// or https://");
        assert_eq!(check("http://a", "").await, "no secret: set SIGNING_SECRET, or use --secret");
        assert_eq!(check("http://a", "secret").await, "the secret must be the text whsec_ and a key in base64");
    });
}
