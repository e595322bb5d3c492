//! Tests for the admin endpoints that test a receiver: they send one sample request to an integrator, a bot or a
//! webhook and show the request and the response.

use serde_json::{Value, json};

use crate::support::account_with_webhook::{WebhookFixture, ok_response_with};
use crate::support::bot_fixture::BotFixture;
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
