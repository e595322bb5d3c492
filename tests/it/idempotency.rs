//! The `Idempotency-Key` of every endpoint that honours it: A-2, an agent's message, B-1.

use reqwest::Method;
use reqwest::header::HeaderValue;
use serde_json::{Value, json};

use crate::client::{Caller, Reply, send};
use crate::harness::{Stage, VISITOR, on_stage, visitor_text};
use crate::provider::{Front, chat_of};

/// Three chats of one account, each with an endpoint that takes messages.
struct Endpoints {
    front: Front,
    /// Who calls, where, and the chat in which the messages appear.
    all: Vec<(Caller, String, u64)>,
}

impl Endpoints {
    async fn open(stage: &Stage) -> Self {
        let front = Front::open(stage).await;
        let with_bot = chat_of(&front.ask(VISITOR, "Hello").await);
        let plain = front.account.channel(&front.integrator.url()).await;
        plain.say("ada", "Hello").await;
        plain.say("bob", "Hello").await;
        let of_bob = with_bot + 2;
        front.agent.accept(of_bob).await;
        let all = vec![
            (plain.call.clone(), plain.endpoint.clone(), with_bot + 1),
            (front.agent.call.clone(), format!("/agent/chats/{of_bob}/messages"), of_bob),
            (front.bot.call.clone(), front.bot.webhook(), with_bot),
        ];
        Self { front, all }
    }

    /// A body that the endpoint takes.
    fn body(&self, target: &str, chat: u64, text: &str) -> Value {
        if target.contains("/bot/") {
            json!({"event": "BOT_MESSAGE", "chat_id": chat, "message": {"type": "TEXT", "text": text}})
        } else if target.contains("/channel/") {
            visitor_text("ada", text)
        } else {
            json!({"type": "text", "text": text})
        }
    }

    async fn count(&self, chat: u64) -> usize {
        self.front.agent.messages(chat).await.len()
    }
}

async fn post(call: &Caller, target: &str, key: &[u8], body: &Value) -> Reply {
    let key = HeaderValue::from_bytes(key).unwrap();
    send(call.request(Method::POST, target).header("idempotency-key", key).json(body)).await
}

#[test]
fn idempotency_keys_count_whatever_their_bytes() {
    on_stage(async |stage| {
        let endpoints = Endpoints::open(stage).await;
        // UTF-8, and letters of ISO 8859-1 of which neither is UTF-8.
        let keys = ["ключ-7".as_bytes(), "🎈".as_bytes(), b"caf\xe9", b"caf\xe8", b"plain"];
        for (call, target, chat) in &endpoints.all {
            let before = endpoints.count(*chat).await;
            let body = endpoints.body(target, *chat, "Once");
            for key in keys {
                let first = post(call, target, key, &body).await;
                assert!((200..300).contains(&first.status), "{target} {key:?}: {}", first.text);
                assert_eq!(post(call, target, key, &body).await.text, first.text, "{target} {key:?}");
            }
            assert_eq!(endpoints.count(*chat).await, before + keys.len(), "{target}");
        }
    });
}

#[test]
fn idempotency_key_with_another_body_is_refused() {
    on_stage(async |stage| {
        let endpoints = Endpoints::open(stage).await;
        for (call, target, chat) in &endpoints.all {
            let body = endpoints.body(target, *chat, "One");
            let first = post(call, target, b"k", &body).await.text;
            let before = endpoints.count(*chat).await;
            let reply = post(call, target, b"k", &endpoints.body(target, *chat, "Two")).await;
            let (status, code) =
                if target.contains("/bot/") { (400, "invalid_request") } else { (422, "idempotency_mismatch") };
            let refused = reply.expect_error(status, code);
            assert!(refused["error"]["message"].as_str().unwrap().contains("Idempotency-Key"), "{refused}");
            // The same JSON value in other bytes is the same body.
            let spaced = serde_json::to_string_pretty(&body).unwrap();
            let request = call.request(Method::POST, target).header("idempotency-key", "k").body(spaced);
            assert_eq!(send(request).await.text, first, "{target}");
            assert_eq!(endpoints.count(*chat).await, before, "{target}");
        }
    });
}

#[test]
fn an_idempotency_key_has_at_most_255_characters() {
    on_stage(async |stage| {
        let endpoints = Endpoints::open(stage).await;
        for (call, target, chat) in &endpoints.all {
            let body = endpoints.body(target, *chat, "Hi");
            let longest = post(call, target, "ж".repeat(255).as_bytes(), &body).await;
            assert!((200..300).contains(&longest.status), "{target}: {}", longest.text);
            let too_long = post(call, target, "ж".repeat(256).as_bytes(), &body).await;
            let refused = too_long.expect_error(400, "invalid_request");
            assert_eq!(refused["error"]["field"], "Idempotency-Key");
        }
    });
}
