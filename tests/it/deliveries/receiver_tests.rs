//! Tests for the admin endpoints that test a receiver: they send one sample request to an integrator, a bot or a
//! webhook and show the request and the response.

use std::sync::Arc;

use reqwest::header::{HeaderMap, HeaderName};
use serde_json::{Value, json};

use crate::support::account_with_webhook::{WEBHOOKS_PATH, WebhookFixture, add_webhook, ok_response_with};
use crate::support::api_client::ApiClient;
use crate::support::bot_fixture::{BotFixture, TestBot, register_provider};
use crate::support::shown_request::assert_shown_request;
use crate::support::test_host::{run_on_shared_host, run_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, TestReceiver, unused_port};

#[test]
fn integrator_gets_one_signed_sample_message() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        for chunked in [false, true] {
            let integrator = TestReceiver::start(CannedResponse::ok()).await;
            let channel = account.create_channel_with(&integrator.url(), json!({"chunked": chunked})).await;
            let path = format!("/admin/channels/{}/test", channel.id);
            let tested = account.admin.client.post(&path, &json!({})).await.expect(200);
            assert_eq!((&tested["status"], &tested["error"]), (&json!(200), &Value::Null), "{tested}");
            assert_eq!(tested["response"], json!({"body": "{\"result\":\"ok\"}", "body_truncated": false}));

            let requests = integrator.requests();
            assert_eq!(requests.len(), 1);
            assert!(requests[0].is_signed_with(&channel.signing_secret));
            assert_shown_request(&tested["request"], &requests[0]);
            assert_eq!(tested["request"]["url"], format!("{}/{}", integrator.url(), channel.id));
            let sent = requests[0].json();
            assert_eq!(sent["message"]["type"], "text");
            assert_eq!(sent["message"]["id"].as_str(), requests[0].header("webhook-id"));
            assert!(!tested.to_string().contains(&channel.signing_secret), "{tested}");
        }
        let chats = account.admin.chats("open").await;
        assert!(chats.is_empty(), "nothing is stored");
    });
}

#[test]
fn integrator_test_explains_why_a_delivery_would_fail() {
    run_with_virtual_time(async |host, _| {
        let account = host.create_account().await;
        let integrator = TestReceiver::start_sequence([
            CannedResponse::error(7, "blocked"),
            CannedResponse::Json(500, json!({})),
            CannedResponse::Text(200, "text/html", "<p>".repeat(1_000)),
        ])
        .await;
        let channel = account.create_channel(&integrator.url()).await;
        let path = format!("/admin/channels/{}/test", channel.id);
        for (status, error, truncated) in
            [(200, "blocked", false), (500, "HTTP 500", false), (200, "the response is not a JSON object", true)]
        {
            let tested = account.admin.client.post(&path, &json!({})).await.expect(200);
            assert_eq!((&tested["status"], &tested["error"]), (&json!(status), &json!(error)));
            assert_eq!(tested["response"]["body_truncated"], truncated);
            assert!(tested["response"]["body"].as_str().unwrap().len() <= 2_000);
        }

        let closed = json!({"integrator_url": format!("http://127.0.0.1:{}/hook", unused_port().await)});
        account.admin.client.patch(&format!("/admin/channels/{}", channel.id), &closed).await.expect(200);
        let tested = account.admin.client.post(&path, &json!({})).await.expect(200);
        let expected = (&Value::Null, &json!("no connection"), &Value::Null);
        assert_eq!((&tested["status"], &tested["error"], &tested["response"]), expected);
    });
}

#[test]
fn widget_has_neither_integrator_nor_signing_secret() {
    run_on_shared_host(async |host| {
        let (account, other) = (host.create_account().await, host.create_account().await);
        let widget = json!({"kind": "widget", "name": "Shop"});
        let widget = account.admin.client.post("/admin/channels", &widget).await.expect(201);
        let path = format!("/admin/channels/{}", widget["channel_id"].as_str().unwrap());
        for end in ["test", "signing-secret/rotate"] {
            let path = format!("{path}/{end}");
            account.admin.client.post(&path, &json!({})).await.expect_error(409, "conflict");
            other.admin.client.post(&path, &json!({})).await.expect_error(404, "not_found");
        }
        let shown = account.admin.client.get(&path).await.expect(200);
        assert_eq!(shown["old_endpoints"], Value::Null);
    });
}

#[test]
fn bot_gets_one_signed_sample_of_any_event() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let (admin, path) = (&fixture.agent.client, format!("/admin/bots/{}/test", fixture.bot.bot_id));
        let bodies = [
            (json!({}), "CLIENT_MESSAGE"),
            (json!({"event": "CLIENT_MESSAGE"}), "CLIENT_MESSAGE"),
            (json!({"event": "AGENT_JOINED"}), "AGENT_JOINED"),
            (json!({"event": "AGENT_UNAVAILABLE"}), "AGENT_UNAVAILABLE"),
            (json!({"event": "CHAT_CLOSED"}), "CHAT_CLOSED"),
        ];
        for (body, event) in &bodies {
            let tested = admin.post(&path, body).await.expect(200);
            assert_eq!((&tested["status"], &tested["error"]), (&json!(200), &Value::Null), "{tested}");
            let request = fixture.provider.requests().pop().unwrap();
            assert_eq!((&request.json()["event"], &request.json()["site_id"]), (&json!(event), &fixture.account.id));
            assert!(request.is_signed_with(&fixture.bot.signing_secret));
            assert_shown_request(&tested["request"], &request);
            assert_eq!(request.path, format!("/hook/{}", fixture.bot.token));
            assert_eq!(tested["request"]["url"], format!("{}/***", fixture.provider.url()));
            for secret in [&fixture.bot.token, &fixture.bot.signing_secret] {
                assert!(!tested.to_string().contains(secret), "{tested}");
            }
        }
        assert_eq!(fixture.provider.requests().len(), bodies.len());

        for wrong in [json!("BOT_MESSAGE"), json!(7), json!([])] {
            let refused = admin.post(&path, &json!({"event": wrong})).await;
            assert_eq!(refused.expect_error(400, "invalid_request")["error"]["field"], "event");
        }
        fixture.provider.respond_with(CannedResponse::Json(401, json!({"error": {"code": "invalid_client"}})));
        let tested = admin.post(&path, &json!({})).await.expect(200);
        assert_eq!(tested["error"], "HTTP 401 (invalid_client)");
        assert_eq!(tested["response"]["body"], "{\"error\":{\"code\":\"invalid_client\"}}");
    });
}

#[test]
fn webhook_test_shows_request_and_response() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create_with(host, [ok_response_with(json!({"custom_data": []}))]).await;
        let body = json!({"event": "chat_finished"});
        let tested = fixture.account.admin.client.post(&fixture.webhook_path("/test"), &body).await.expect(200);
        assert_shown_request(&tested["request"], &fixture.webhook_receiver.requests()[0]);
        assert_eq!(tested["request"]["url"], fixture.webhook_receiver.url());
        assert_eq!(tested["response"]["body"], "{\"custom_data\":[],\"result\":\"OK\"}");
        assert!(!tested.to_string().contains(fixture.webhook["signing_secret"].as_str().unwrap()), "{tested}");
    });
}

const CLAUSES: [&str; 11] = [
    "accepts",
    "accepts_after_old_signature",
    "accepts_before_old_signature",
    "refuses_unsigned",
    "refuses_wrong_signature",
    "refuses_signature_of_other_body",
    "refuses_old_request",
    "ignores_unknown_fields",
    "survives_unknown_type",
    "survives_malformed_json",
    "accepts_repeated",
];

/// Starts a server that gets requests that no real receiver gets.
async fn start_checked_server() -> TestReceiver {
    TestReceiver::start(CannedResponse::ok()).await.without_document_check()
}

/// From now on, the server refuses requests without a valid signature that is at most five minutes old, and responds
/// with 400 to what is not JSON.
fn verify_requests(server: &TestReceiver, secret: &str) {
    let webhook = Arc::new(standardwebhooks::Webhook::new(secret).unwrap());
    server.respond_by(move |request| {
        let headers: HeaderMap = request
            .headers
            .iter()
            .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap()))
            .collect();
        let response = match webhook.verify(&request.body, &headers) {
            Ok(()) if serde_json::from_slice::<Value>(&request.body).is_ok() => CannedResponse::ok(),
            Ok(()) => CannedResponse::Json(400, json!({})),
            Err(_) => CannedResponse::Json(401, json!({})),
        };
        async { response }
    });
}

/// Returns the clauses that the server breaks.
async fn broken_clauses(admin: &ApiClient, path: &str) -> Vec<&'static str> {
    let mut broken = Vec::new();
    for clause in CLAUSES {
        let tested = admin.post(path, &json!({"clause": clause})).await.expect(200);
        assert_ne!(tested["expected"], "", "{tested}");
        if tested["kept"] == json!(false) {
            broken.push(clause);
        }
    }
    broken
}

#[test]
fn verifying_servers_keep_all_clauses() {
    run_on_shared_host(async |host| {
        let (integrator, provider, hook) =
            (start_checked_server().await, start_checked_server().await, start_checked_server().await);
        let account = host.create_account().await;
        let channel = account.create_channel(&integrator.url()).await;
        let provider_id = register_provider(&host.operator, &provider.url(), json!({})).await;
        let bot = TestBot::connect(&account, &provider_id, &[&channel], json!({})).await;
        let webhook = add_webhook(&account, &hook, json!({"format": "cloudevents"})).await;
        let webhook_id = webhook["webhook_id"].as_str().unwrap();
        verify_requests(&integrator, &channel.signing_secret);
        verify_requests(&provider, &bot.signing_secret);
        verify_requests(&hook, webhook["signing_secret"].as_str().unwrap());
        let paths = [
            format!("/admin/channels/{}/test", channel.id),
            format!("/admin/bots/{}/test", bot.bot_id),
            format!("{WEBHOOKS_PATH}/{webhook_id}/test"),
        ];
        for (path, server) in paths.iter().zip([&integrator, &provider, &hook]) {
            assert!(broken_clauses(&account.admin.client, path).await.is_empty(), "{path}");
            let requests = server.requests();
            let [first, second] = &requests[CLAUSES.len() - 1..] else { panic!("{} requests", requests.len()) };
            assert_eq!(first.header("webhook-id"), second.header("webhook-id"));
            assert_eq!(first.body, second.body);
            assert_ne!(first.header("webhook-signature"), second.header("webhook-signature"));
        }
    });
}

#[test]
fn careless_server_breaks_the_clauses_that_refuse() {
    run_on_shared_host(async |host| {
        let integrator = start_checked_server().await;
        let account = host.create_account().await;
        let channel = account.create_channel(&integrator.url()).await;
        let path = format!("/admin/channels/{}/test", channel.id);
        let refusals: Vec<&str> = CLAUSES.into_iter().filter(|clause| clause.starts_with("refuses")).collect();
        assert_eq!(broken_clauses(&account.admin.client, &path).await, refusals);
        let unsigned = json!({"clause": "refuses_unsigned"});
        let tested = account.admin.client.post(&path, &unsigned).await.expect(200);
        assert_eq!(tested["expected"], "a status from 400 to 499, such as 401");
        assert_eq!((&tested["status"], &tested["error"]), (&json!(200), &Value::Null));
        assert_eq!(integrator.requests().last().unwrap().header("webhook-signature"), None);
        let old = account.admin.client.post(&path, &json!({"clause": "refuses_old_request"})).await.expect(200);
        assert_shown_request(&old["request"], integrator.requests().last().unwrap());

        integrator.respond_in_order([CannedResponse::ok(), CannedResponse::Json(500, json!({}))]);
        let repeated = json!({"clause": "accepts_repeated"});
        let tested = account.admin.client.post(&path, &repeated).await.expect(200);
        assert_eq!((&tested["kept"], &tested["error"]), (&json!(false), &json!("HTTP 500")));
        for clause in [json!("refuses"), json!(7)] {
            let refused = account.admin.client.post(&path, &json!({"clause": clause})).await;
            assert_eq!(refused.expect_error(400, "invalid_request")["error"]["field"], "clause");
        }
    });
}
