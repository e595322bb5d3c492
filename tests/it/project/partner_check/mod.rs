//! The kit for partners (infra/check) finds what is wrong with a server, and nothing else. Each server here is right
//! except for one fault.

mod faults;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use check::{Partner, Server, check};
use futures_util::future::join_all;
use local::cargo_build::workspace_root;
use serde_json::{Value, json};
use standardwebhooks::Webhook;
use tokio::process::Command;

use crate::project::partner_check::faults::{Exchange, FAULTS, SECRET};
use crate::support::test_host::binaries;
use crate::support::test_receiver::{CannedResponse, TestReceiver};

const PARTNERS: [Partner; 4] = [Partner::Integrator, Partner::Bot, Partner::Webhook, Partner::Gateway];

async fn start_server() -> Arc<TestReceiver> {
    Arc::new(TestReceiver::start(CannedResponse::ok()).await.without_document_check())
}

/// Makes a server respond rightly to each request for which `fault` returns `None`.
fn respond(
    server: &Arc<TestReceiver>,
    fault: impl Fn(&Exchange<'_>) -> Option<CannedResponse> + Send + Sync + 'static,
) {
    let (receiver, fault) = (Arc::downgrade(server), Arc::new(fault));
    server.respond_by(move |request| {
        let (receiver, fault) = (receiver.clone(), Arc::clone(&fault));
        async move {
            let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
            let mut earlier = receiver.upgrade().unwrap().requests();
            earlier.retain(|earlier| earlier.at < request.at);
            let exchange = Exchange { request: &request, body: &body, earlier: &earlier };
            fault(&exchange).unwrap_or_else(|| exchange.right_response())
        }
    });
}

/// Runs the kit against a server. Returns the clauses that the server breaks.
async fn broken_clauses_of(partner: Partner, server: &TestReceiver) -> Vec<String> {
    let checked = Server { partner, url: &server.url(), secret: SECRET, gets_chunks: true };
    let verdicts = check(checked, |_| {}).await.unwrap();
    verdicts.into_iter().filter(|verdict| verdict.problem.is_some()).map(|verdict| verdict.clause).collect()
}

async fn broken_clauses(
    partner: Partner,
    fault: impl Fn(&Exchange<'_>) -> Option<CannedResponse> + Send + Sync + 'static,
) -> Vec<String> {
    let server = start_server().await;
    respond(&server, fault);
    broken_clauses_of(partner, &server).await
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(test);
}

#[test]
fn server_without_a_fault_keeps_all_clauses() {
    run(async {
        for partner in PARTNERS {
            assert_eq!(broken_clauses(partner, |_| None).await, [""; 0], "{partner:?}");
        }
    });
}

#[test]
fn each_fault_is_found_by_its_clauses_and_no_others() {
    for partner in PARTNERS {
        let count = FAULTS.iter().filter(|(faulty, ..)| *faulty == partner).count();
        assert!(count >= 8, "{count} faults of {partner:?}");
    }
    run(async {
        // A response that is late because the machine is busy would count as a broken clause.
        for faults in FAULTS.chunks(4) {
            join_all(faults.iter().map(async |(partner, name, fault, expected)| {
                assert_eq!(broken_clauses(*partner, fault).await, *expected, "{partner:?} {name}");
            }))
            .await;
        }
    });
}

#[test]
fn server_that_tires_is_found() {
    run(async {
        let server = start_server().await;
        respond(&server, |_| None);
        broken_clauses_of(Partner::Bot, &server).await;
        // The last twenty requests are sent at the same time.
        let limit = server.requests().len() - 10;
        let broken = broken_clauses(Partner::Bot, move |it| {
            (it.earlier.len() > limit).then(|| CannedResponse::Json(503, json!({})))
        });
        assert_eq!(broken.await, ["accepts twenty requests at the same time"]);
    });
}

#[test]
fn server_that_fails_after_a_broken_upload_is_found() {
    run(async {
        for partner in PARTNERS {
            let server = start_server().await;
            let (receiver, has_failed) = (Arc::downgrade(&server), AtomicBool::new(false));
            respond(&server, move |_| {
                let receiver = receiver.upgrade().unwrap();
                let is_broken = receiver.connections() > receiver.requests().len();
                let fails = is_broken && !has_failed.swap(true, Ordering::Relaxed);
                fails.then(|| CannedResponse::Json(503, json!({})))
            });
            let broken = broken_clauses_of(partner, &server).await;
            assert_eq!(broken, ["survives an upload that breaks off"], "{partner:?}");
        }
    });
}

#[test]
fn response_to_a_call_event_is_ignored() {
    run(async {
        let broken = broken_clauses(Partner::Webhook, |it| {
            let is_ignored = it.body["event_name"] == "call_event" || it.body["event_name"] == "test";
            is_ignored.then(|| CannedResponse::Json(200, json!({"result": "FAILURE"})))
        });
        assert_eq!(broken.await, [""; 0]);
    });
}

/// No type of message is without an example.
#[test]
fn integrator_gets_every_type_of_message() {
    run(async {
        let server = start_server().await;
        broken_clauses_of(Partner::Integrator, &server).await;
        let document = std::fs::read(workspace_root().join("docs/openapi.json")).unwrap();
        let document: Value = serde_json::from_slice(&document).unwrap();
        let types = document["components"]["schemas"]["IntegratorContent"]["properties"]["type"]["enum"].clone();
        let requests = server.requests();
        let bodies: Vec<Value> = requests.iter().filter_map(|it| serde_json::from_slice(&it.body).ok()).collect();
        for kind in types.as_array().unwrap() {
            assert!(bodies.iter().any(|body| body["message"]["type"] == *kind), "{kind}");
        }
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
            let server = start_server().await;
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
            for pointer in ["/chat_id", "/client_id", "/recipient/id", "/visitor/number"] {
                for id in bodies.iter().filter_map(|(_, body)| body.pointer(pointer)).filter(|id| !id.is_null()) {
                    assert_eq!(id.to_string().trim_matches('"'), "1000000000", "{partner:?}: {pointer}");
                }
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
        for secret in ["secret", "whsec_", "whsec_?"] {
            let expected = "the secret must be the text whsec_ and a key in base64, which must not be empty";
            assert_eq!(check("http://a", secret).await, expected);
        }
    });
}

#[test]
fn exit_status_says_whether_the_server_keeps_the_contract() {
    run(async {
        let server = start_server().await;
        respond(&server, |_| None);
        let program = binaries().await.join("check");
        let status = async |secret: &str| {
            let mut command = Command::new(&program);
            command.args(["gateway", &server.url()]).env("SIGNING_SECRET", secret);
            command.output().await.unwrap().status.code()
        };
        assert_eq!(status(SECRET).await, Some(0));
        assert_eq!(status(&SECRET.replace('M', "N")).await, Some(1), "another secret");
        assert_eq!(status("whsec_").await, Some(2));
    });
}
