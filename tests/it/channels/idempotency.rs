//! Tests for the `Idempotency-Key` header on the endpoints that store messages and notes: visitors' messages
//! (specification, A-2), agents' messages and notes, and bot events (specification, B-1).

use reqwest::Method;
use reqwest::header::HeaderValue;
use serde_json::{Value, json};

use crate::support::api_client::{ApiClient, ApiResponse, send};
use crate::support::bot_fixture::{BotFixture, chat_number};
use crate::support::test_host::{TestHost, VISITOR_ID, run_on_shared_host, visitor_text};

/// The endpoints that store messages and notes. Each endpoint uses a chat of its own, except that agents' messages and
/// notes share a chat.
struct Endpoints {
    fixture: BotFixture,
    /// Each endpoint's client and path, and the number of the chat in which its messages are stored.
    all: Vec<(ApiClient, String, u64)>,
}

impl Endpoints {
    async fn create(host: &TestHost) -> Self {
        let fixture = BotFixture::create(host).await;
        let with_bot = chat_number(&fixture.send_visitor_text(VISITOR_ID, "Hello").await);
        let plain = fixture.account.create_channel(&fixture.integrator.url()).await;
        plain.send_text("ada", "Hello").await;
        plain.send_text("bob", "Hello").await;
        let chat_of_bob = with_bot + 2;
        fixture.agent.accept(chat_of_bob).await;
        let all = vec![
            (plain.client.clone(), plain.endpoint.clone(), with_bot + 1),
            (fixture.agent.client.clone(), format!("/agent/chats/{chat_of_bob}/messages"), chat_of_bob),
            (fixture.agent.client.clone(), format!("/agent/chats/{chat_of_bob}/notes"), chat_of_bob),
            (fixture.bot.client.clone(), fixture.bot.webhook_path(), with_bot),
        ];
        Self { fixture, all }
    }

    fn body(&self, target: &str, chat: u64, text: &str) -> Value {
        if target.contains("/bot/") {
            json!({"event": "BOT_MESSAGE", "chat_id": chat, "message": {"type": "TEXT", "text": text}})
        } else if target.contains("/channel/") {
            visitor_text("ada", text)
        } else {
            json!({"type": "text", "text": text})
        }
    }

    async fn entry_count(&self, chat: u64) -> usize {
        self.fixture.agent.timeline(chat).await.len()
    }
}

async fn post(client: &ApiClient, target: &str, key: &[u8], body: &Value) -> ApiResponse {
    let key = HeaderValue::from_bytes(key).unwrap();
    send(client.request(Method::POST, target).header("idempotency-key", key).json(body)).await
}

#[test]
fn keys_may_contain_any_bytes() {
    run_on_shared_host(async |host| {
        let endpoints = Endpoints::create(host).await;
        // Some keys are UTF-8. Others are ISO 8859-1 text that is not valid UTF-8.
        let keys = ["ключ-7".as_bytes(), "🎈".as_bytes(), b"caf\xe9", b"caf\xe8", b"plain"];
        for (client, target, chat) in &endpoints.all {
            let before = endpoints.entry_count(*chat).await;
            let body = endpoints.body(target, *chat, "Once");
            for key in keys {
                let first = post(client, target, key, &body).await;
                assert!((200..300).contains(&first.status), "{target} {key:?}: {}", first.text);
                assert_eq!(post(client, target, key, &body).await.text, first.text, "{target} {key:?}");
            }
            assert_eq!(endpoints.entry_count(*chat).await, before + keys.len(), "{target}");
        }
    });
}

#[test]
fn key_reused_with_another_body_is_rejected() {
    run_on_shared_host(async |host| {
        let endpoints = Endpoints::create(host).await;
        for (client, target, chat) in &endpoints.all {
            let body = endpoints.body(target, *chat, "One");
            let first = post(client, target, b"k", &body).await.text;
            let before = endpoints.entry_count(*chat).await;
            let reply = post(client, target, b"k", &endpoints.body(target, *chat, "Two")).await;
            let (status, code) =
                if target.contains("/bot/") { (400, "invalid_request") } else { (422, "idempotency_mismatch") };
            let refused = reply.expect_error(status, code);
            assert!(refused["error"]["message"].as_str().unwrap().contains("Idempotency-Key"), "{refused}");
            // A body that differs only in JSON whitespace counts as the same body.
            let pretty_printed = serde_json::to_string_pretty(&body).unwrap();
            let request = client.request(Method::POST, target).header("idempotency-key", "k").body(pretty_printed);
            assert_eq!(send(request).await.text, first, "{target}");
            assert_eq!(endpoints.entry_count(*chat).await, before, "{target}");
        }
    });
}

#[test]
fn key_has_at_most_255_characters() {
    run_on_shared_host(async |host| {
        let endpoints = Endpoints::create(host).await;
        for (client, target, chat) in &endpoints.all {
            let body = endpoints.body(target, *chat, "Hi");
            let longest = post(client, target, "ж".repeat(255).as_bytes(), &body).await;
            assert!((200..300).contains(&longest.status), "{target}: {}", longest.text);
            let too_long = post(client, target, "ж".repeat(256).as_bytes(), &body).await;
            let refused = too_long.expect_error(400, "invalid_request");
            assert_eq!(refused["error"]["field"], "Idempotency-Key");
        }
    });
}
