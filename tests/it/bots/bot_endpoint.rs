//! Tests for the Bot API endpoint (specification, B-1): authentication, errors, limits, the isolation of bots and
//! accounts, and secrets in logs.

use futures_util::future::join_all;
use reqwest::Method;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::channels::input_validation::{assert_client_error, malformed_bodies};
use crate::support::api_client::{ApiResponse, merged, send};
use crate::support::bot_fixture::{BotFixture, TestBot, register_provider, unique_name};
use crate::support::test_host::{TestHost, VISITOR_ID, post_raw, run_on_shared_host, run_with_virtual_time};
use crate::support::wait::{WAIT_TIMEOUT, seconds};

/// The error codes of the Bot API (specification, part B, Authentication).
const ERROR_CODES: [&str; 3] = ["invalid_client", "unauthorized_client", "invalid_request"];

#[track_caller]
fn assert_bot_error(reply: ApiResponse, status: u16, code: &str) -> Value {
    assert!(ERROR_CODES.contains(&code), "{code}");
    reply.expect_error(status, code)
}

pub fn text_event(chat_id: u64) -> Value {
    json!({"event": "BOT_MESSAGE", "chat_id": chat_id, "message": {"type": "TEXT", "text": "Hello"}})
}

#[test]
fn webhook_url_identifies_provider_and_bot() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        fixture.send_visitor_text(VISITOR_ID, "Hello").await;
        let TestBot { client, provider_id, token, .. } = &fixture.bot;
        let post = async |provider: &str, token: &str| {
            client.post(&format!("/bot/webhooks/{provider}/{token}"), &text_event(1)).await
        };
        let long = "x".repeat(2_000);
        for unknown in ["unknown", "%00", &provider_id.to_uppercase(), &long] {
            assert_bot_error(post(unknown, token).await, 404, "invalid_request");
        }
        for unknown in ["unknown", "%00", &token.to_uppercase(), &format!("{token}0"), &long] {
            assert_bot_error(post(provider_id, unknown).await, 401, "invalid_client");
        }
        assert_eq!(post(provider_id, token).await.expect(200), json!({"result": "ok"}));
    });
}

#[test]
fn provider_with_an_authorization_secret_must_send_it() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let secret = unique_name("secret of the provider");
        let protected_provider =
            register_provider(&host.operator, &fixture.provider.url(), json!({"authorization": secret})).await;
        let channel = fixture.account.create_channel(&fixture.integrator.url()).await;
        let bot = TestBot::connect(&fixture.account, &protected_provider, &[&channel], json!({})).await;
        channel.send_text(VISITOR_ID, "Hello").await;
        fixture.provider.wait_for_requests(1, WAIT_TIMEOUT).await;

        let post = async |authorization: Option<&str>| {
            let request = bot.client.request(Method::POST, &bot.webhook_path()).json(&text_event(1));
            let name = HeaderName::from_static("authorization");
            send(match authorization {
                Some(value) => request.header(name, HeaderValue::from_str(value).unwrap()),
                None => request,
            })
            .await
        };
        let token = format!("Bearer {}", bot.token);
        let invalid =
            [None, Some(""), Some("Bearer"), Some("Bearer wrong"), Some(&*token), Some("x"), Some(&secret[1..])];
        for authorization in invalid {
            assert_bot_error(post(authorization).await, 401, "unauthorized_client");
        }
        for right in [secret.clone(), format!("Bearer {secret}"), format!("bearer {secret}")] {
            post(Some(&right)).await.expect(200);
        }
        for repeated_credentials in
            [format!("Bearer {secret}, Bearer {secret}"), format!("{secret},wrong"), "a, b".to_owned()]
        {
            let refused = assert_bot_error(post(Some(&repeated_credentials)).await, 400, "invalid_request");
            assert_eq!(refused["error"]["field"], "Authorization");
        }
        let repeated = bot.client.request(Method::POST, &bot.webhook_path()).json(&text_event(1));
        let repeated = repeated.header("authorization", &secret).header("authorization", &secret);
        assert_bot_error(send(repeated).await, 400, "invalid_request");
        let unknown = bot
            .client
            .with_token(&secret)
            .post(&format!("/bot/webhooks/{protected_provider}/unknown"), &text_event(1))
            .await;
        assert_bot_error(unknown, 401, "invalid_client");
        let shown = host.operator.get(&format!("/operator/providers/{protected_provider}")).await.expect(200);
        assert_eq!(shown["has_authorization"], true);
        assert!(!shown.to_string().contains(&secret), "{shown}");
    });
}

#[test]
fn new_secret_of_a_provider_and_new_token_work_at_once() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        let [old, new] = [unique_name("old secret"), unique_name("new secret")];
        let endpoint = fixture.provider.url();
        let provider = register_provider(&host.operator, &endpoint, json!({"authorization": old})).await;
        let token = unique_name("token");
        let path = format!("/bot/webhooks/{provider}/{token}");
        let post = async |secret: &str| fixture.bot.client.with_token(secret).post(&path, &text_event(1)).await;
        assert_bot_error(post(&old).await, 401, "invalid_client");
        let bot = json!({"provider_id": provider, "token": token, "channel_ids": [], "name": "New"});
        fixture.account.admin.client.post("/admin/bots", &bot).await.expect(201);
        assert_eq!(post(&old).await.status, 400, "the token is known, and the bot has no such chat");
        let changed = json!({"authorization": new});
        host.operator.patch(&format!("/operator/providers/{provider}"), &changed).await.expect(200);
        assert_eq!(post(&new).await.status, 400, "the secret is known");
        // Another process may have read the provider before the change.
        time.advance(seconds(10));
        assert_bot_error(post(&old).await, 401, "unauthorized_client");
    });
}

#[test]
fn only_post_and_only_provider_events_are_supported() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        for method in ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let reply =
                send(fixture.bot.client.request(method, &fixture.bot.webhook_path()).json(&text_event(1))).await;
            assert_eq!(reply.headers["allow"], "POST");
            assert_bot_error(reply, 405, "invalid_request");
        }
        let ours = ["CLIENT_MESSAGE", "AGENT_JOINED", "AGENT_UNAVAILABLE", "CHAT_CLOSED"];
        for event in ours.into_iter().chain(["bot_message", "BOT_MESSAGE ", "DANCE"]) {
            let reply = fixture.bot.post(&json!({"event": event, "chat_id": 1})).await;
            assert_bot_error(reply, 405, "invalid_request");
        }
    });
}

#[test]
fn body_that_is_not_an_event_gets_a_bot_api_error() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        for (what, body) in malformed_bodies() {
            let reply = post_raw(&fixture.bot.client, &fixture.bot.webhook_path(), body).await;
            assert_client_error(what, &reply);
            assert_bot_error(reply, if what == "large" { 413 } else { 400 }, "invalid_request");
        }
        fixture.send_visitor_text(VISITOR_ID, "a valid message").await;
        fixture.bot.send_text(&json!(1), "a valid event").await.expect(200);
    });
}

/// Returns invalid events, each with the name of the field that the error response must mention.
fn invalid_events() -> Vec<(Value, &'static str)> {
    let message = |message: Value| json!({"event": "BOT_MESSAGE", "chat_id": 1, "message": message});
    let buttons = |buttons: Value| message(json!({"type": "BUTTONS", "title": "?", "text": "?", "buttons": buttons}));
    let button = json!({"text": "1"});
    let text = |fields: Value| message(merged(json!({"type": "TEXT", "text": "Hi"}), fields));
    vec![
        (json!({"chat_id": 1}), "event"),
        (json!({"event": 5, "chat_id": 1}), "event"),
        (json!({"event": "", "chat_id": 1}), "event"),
        (json!({"event": "BOT_MESSAGE", "chat_id": 1}), "message"),
        (message(json!("Hi")), "message"),
        (message(json!([])), "message"),
        (message(json!({"text": "Hi"})), "message.type"),
        (message(json!({"type": "text", "text": "Hi"})), "message.type"),
        (message(json!({"type": "HOLOGRAM", "text": "Hi"})), "message.type"),
        (message(json!({"type": "TEXT"})), "message.text"),
        (message(json!({"type": "TEXT", "text": 5})), "message.text"),
        (text(json!({"timestamp": "soon"})), "message.timestamp"),
        (text(json!({"timestamp": -1})), "message.timestamp"),
        (text(json!({"timestamp": []})), "message.timestamp"),
        (text(json!({"force_reply": "yes"})), "message.force_reply"),
        (message(json!({"type": "MARKDOWN", "text": "Hi"})), "message.content"),
        (message(json!({"type": "MARKDOWN", "content": 5})), "message.content"),
        (message(json!({"type": "MARKDOWN", "content": "Hi", "text": 5})), "message.text"),
        (message(json!({"type": "BUTTONS", "title": "?"})), "message.buttons"),
        (message(json!({"type": "BUTTONS", "title": 5, "buttons": [button]})), "message.title"),
        (buttons(json!({})), "message.buttons"),
        (buttons(json!([])), "message.buttons"),
        (buttons(json!([button, button, button, button])), "message.buttons"),
        (buttons(json!(["1"])), "message.buttons[0]"),
        (buttons(json!([button, {}])), "message.buttons[1].text"),
        (buttons(json!([{"text": "1", "id": {}}])), "message.buttons[0].id"),
        (buttons(json!([button, {"text": "1", "id": "x".repeat(120_000)}])), "message.buttons[1].id"),
        (buttons(json!([{"text": "x".repeat(1_001)}])), "message.buttons[0].text"),
        (text(json!({"text": "x".repeat(10_001)})), "message.text"),
        (text(json!({"timestamp": "1".repeat(100_000)})), "message.timestamp"),
        (message(json!({"type": "MARKDOWN", "content": "x".repeat(10_001)})), "message.content"),
        (json!({"event": "INVITE_AGENT", "chat_id": "0".repeat(100_000)}), "chat_id"),
        (json!({"event": "CLIENT_INFO", "chat_id": 1, "name": "x".repeat(1_001)}), "name"),
        (json!({"event": "INVITE_AGENT", "chat_id": "one"}), "chat_id"),
        (json!({"event": "INVITE_AGENT", "chat_id": -1}), "chat_id"),
        (json!({"event": "INVITE_AGENT", "chat_id": 1.5}), "chat_id"),
        (json!({"event": "INVITE_AGENT", "chat_id": 1, "client_id": []}), "client_id"),
        (json!({"event": "INVITE_AGENT", "chat_id": 1, "id": {}}), "id"),
        (json!({"event": "CLIENT_INFO", "chat_id": 1}), "name"),
        (json!({"event": "CLIENT_INFO", "chat_id": 1, "phone": 5}), "phone"),
        (json!({"event": "CLIENT_INFO", "chat_id": 1, "contacts": "Ada"}), "contacts"),
        (json!({"event": "CLIENT_INFO", "chat_id": 1, "contacts": {"email": []}}), "contacts.email"),
    ]
}

#[test]
fn error_names_every_invalid_field_of_an_event() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        fixture.send_visitor_text(VISITOR_ID, "Hello").await;
        for (event, field) in invalid_events() {
            let reply = fixture.bot.post(&event).await;
            assert_eq!(reply.status, 400, "{event}: {}", reply.text);
            assert_eq!(assert_bot_error(reply, 400, "invalid_request")["error"]["field"], field, "{event}");
        }
        assert_eq!(fixture.agent.timeline(1).await.len(), 1);
        assert_eq!(fixture.chat_state(1).await, "bot");
        assert!(fixture.integrator.requests().is_empty());
    });
}

#[test]
fn largest_messages_of_bots_and_agents_are_stored() {
    run_on_shared_host(async |host| {
        let fixture =
            BotFixture::create_with(host, json!({"shows_markdown": true, "shows_buttons": true}), json!({})).await;
        let chat = fixture.send_visitor_text(VISITOR_ID, "Hello").await["chat_id"].clone();
        // Each of these characters takes four bytes, so the texts are as large as the limits allow.
        let (long, short) = ("🎈".repeat(10_000), "🎈".repeat(1_000));
        let button = json!({"text": short, "id": short});
        let messages = [
            json!({"type": "MARKDOWN", "content": long, "text": long}),
            json!({"type": "BUTTONS", "title": short, "text": long, "buttons": [button, button, button]}),
        ];
        for message in &messages {
            fixture.bot.send_message(&chat, message.clone()).await.expect(200);
        }
        fixture.agent.accept(1).await;
        let file = json!({
            "type": "audio", "file": format!("https://cdn.example/{}", "x".repeat(4_000)), "file_name": short,
            "file_size": 9_007_199_254_740_991_u64, "text": long, "performer": short, "title": short, "emoji": short,
        });
        fixture.agent.send_message(1, &file).await;
        let received = fixture.integrator.wait_for_requests(3, WAIT_TIMEOUT).await;
        let received: Vec<Value> = received.iter().map(|request| request.json()["message"].clone()).collect();
        assert_eq!(received[0]["content"], messages[0]["content"]);
        assert_eq!(received[1]["buttons"], messages[1]["buttons"]);
        assert_eq!(merged(received[2].clone(), file), received[2]);
    });
}

#[test]
fn event_with_a_duplicate_json_key_is_rejected() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        fixture.send_visitor_text(VISITOR_ID, "Hello").await;
        let events = [
            (r#"{"event":"INVITE_AGENT","chat_id":1,"chat_id":1}"#, "chat_id"),
            (r#"{"event":"BOT_MESSAGE","chat_id":1,"message":{"type":"TEXT","text":"a","text":"b"}}"#, "message.text"),
            (r#"{"event":"CLIENT_INFO","chat_id":1,"contacts":{"name":"a","name":"b"}}"#, "contacts.name"),
            (r#"{"event":"INVITE_AGENT","chat_id":1,"unknown":{"x":[{"y":1,"y":1}]}}"#, "unknown.x[0].y"),
        ];
        for (event, field) in events {
            let reply = post_raw(&fixture.bot.client, &fixture.bot.webhook_path(), event.into()).await;
            assert_eq!(assert_bot_error(reply, 400, "invalid_request")["error"]["field"], field, "{event}");
        }
        assert_eq!(fixture.agent.timeline(1).await.len(), 1);
        assert_eq!(fixture.chat_state(1).await, "bot");
    });
}

#[test]
fn common_deviations_of_providers_are_accepted() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        fixture.send_visitor_text(VISITOR_ID, "Hello").await;
        let message = |fields: Value| {
            let text = merged(json!({"type": "TEXT", "text": "Hi", "more": {}}), fields);
            json!({"event": "BOT_MESSAGE", "id": 5, "chat_id": "1", "message": text, "unknown": [1]})
        };
        let timestamps = [json!(1_700_000_000), json!(1_700_000_000_000_u64), json!("1700000000"), json!(null)];
        for timestamp in timestamps {
            fixture.bot.post(&message(json!({"timestamp": timestamp}))).await.expect(200);
        }
        let body = message(json!({})).to_string();
        let unlabelled = fixture.bot.client.request(Method::POST, &fixture.bot.webhook_path()).body(body);
        send(unlabelled).await.expect(200);
    });
}

#[test]
fn bot_may_post_300_requests_in_10_seconds() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "Hello").await["chat_id"].clone();
        // An unsupported event counts towards the bot's rate limit even though nothing is stored for it.
        let unsupported_event = json!({"event": "DANCE"});
        let replies = join_all((0..4).map(async |_| {
            let mut replies = Vec::new();
            for _ in 0..100 {
                replies.push(fixture.bot.post(&unsupported_event).await);
            }
            replies
        }))
        .await
        .concat();
        let (refused, counted): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 429);
        assert!(counted.len() >= 300, "{}", counted.len());
        assert!(counted.iter().all(|reply| reply.status == 405));
        let refused = refused.into_iter().next().expect("400 requests are too many");
        let retry_after_seconds: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=10).contains(&retry_after_seconds), "{retry_after_seconds}");
        assert_bot_error(refused, 429, "invalid_request");

        let other = BotFixture::create(host).await;
        let theirs = other.send_visitor_text(VISITOR_ID, "Hello").await["chat_id"].clone();
        other.bot.send_text(&theirs, "another bot is not limited").await.expect(200);
        time.advance(seconds(10));
        fixture.bot.send_text(&chat_id, "after the limit").await.expect(200);
    });
}

/// Two accounts, each with a bot from its own provider. The first account also has a second bot, whose provider uses
/// the same server as the second account's provider. Each of the three bots has at least one chat.
struct TwoAccounts {
    ours: BotFixture,
    theirs: BotFixture,
    /// One CLIENT_MESSAGE event for each bot: the first account's first bot, its second bot, and the second account's
    /// bot.
    client_messages: [Value; 3],
}

impl TwoAccounts {
    async fn create(host: &TestHost) -> Self {
        let (ours, theirs) = (BotFixture::create(host).await, BotFixture::create(host).await);
        let provider = register_provider(&host.operator, &theirs.provider.url(), json!({})).await;
        let second = ours.account.create_channel(&ours.integrator.url()).await;
        TestBot::connect(&ours.account, &provider, &[&second], json!({})).await;
        let mine = ours.send_visitor_text(VISITOR_ID, "Hello").await;
        second.send_text("elsewhere", "Hello, second").await;
        let same_account = theirs.provider.wait_for_requests(1, WAIT_TIMEOUT).await[0].json();
        // Open three chats in the second account, so that the number of its last chat does not exist in the first
        // account.
        let mut other_account = Value::Null;
        for n in 0..3 {
            other_account = theirs.send_visitor_text(&format!("visitor {n}"), &format!("Hello {n}")).await;
        }
        Self { ours, theirs, client_messages: [mine, same_account, other_account] }
    }
}

#[test]
fn provider_cannot_access_other_bots_or_accounts() {
    run_on_shared_host(async |host| {
        let TwoAccounts { ours, theirs, client_messages: [_, same_account, other_account] } =
            TwoAccounts::create(host).await;
        let events = [
            json!({"event": "BOT_MESSAGE", "message": {"type": "TEXT", "text": "intruder"}}),
            json!({"event": "INVITE_AGENT"}),
            json!({"event": "CLIENT_INFO", "name": "Intruder"}),
        ];
        for foreign_event in [&same_account, &other_account] {
            for event in &events {
                for name in ["chat_id", "client_id", "id"] {
                    let reply = ours.bot.post(&merged(event.clone(), json!({name: foreign_event[name]}))).await;
                    assert_eq!(reply.status, 400, "{event} {name} {foreign_event}: {}", reply.text);
                    assert_bot_error(reply, 400, "invalid_request");
                }
            }
        }
        let mismatched_pairs = [(&ours.bot.provider_id, &theirs.bot.token), (&theirs.bot.provider_id, &ours.bot.token)];
        for (provider, token) in mismatched_pairs {
            let reply = ours.bot.client.post(&format!("/bot/webhooks/{provider}/{token}"), &text_event(1)).await;
            assert_bot_error(reply, 401, "invalid_client");
        }
        for fixture in [&ours, &theirs] {
            for row in fixture.agent.chats("open").await {
                assert_eq!((&row["state"], &row["visitor"]["name"]), (&json!("bot"), &json!("Anonymous")), "{row}");
            }
            assert!(fixture.integrator.requests().is_empty());
        }
        assert_eq!(ours.attempts("CLIENT_MESSAGE").len(), 1, "our bot receives none of their messages");
        assert_eq!(theirs.attempts("CLIENT_MESSAGE").len(), 4);
    });
}

#[test]
fn logs_contain_no_secrets_of_a_bot() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        fixture.send_visitor_text(VISITOR_ID, "text-of-the-client").await;
        fixture.bot.send_text(&json!(1), "text-of-the-bot").await.expect(200);
        fixture.integrator.wait_for_requests(1, WAIT_TIMEOUT).await;
        let contacts = json!({"event": "CLIENT_INFO", "chat_id": 1, "phone": "phone-of-the-client"});
        fixture.bot.post(&contacts).await.expect(200);
        let unknown = unique_name("unknown-token");
        let path = format!("/bot/webhooks/{}/{unknown}", fixture.bot.provider_id);
        fixture.bot.client.with_token("secret-of-the-provider").post(&path, &text_event(1)).await.expect(401);
        let secrets = [
            &*fixture.bot.token,
            &unknown,
            &fixture.bot.signing_secret,
            "secret-of-the-provider",
            "text-of-the-client",
            "text-of-the-bot",
            "phone-of-the-client",
        ];
        for line in host.log.lock().unwrap().iter() {
            for secret in secrets {
                assert!(!line.line.contains(secret), "{secret} in a line of {}: {}", line.function, line.line);
            }
        }
    });
}

#[test]
fn guessed_tokens_are_limited_by_network() {
    run_with_virtual_time(async |host, _| {
        let fixture = BotFixture::create(host).await;
        let guess = async |number: usize| {
            let path = format!("/bot/webhooks/{}/guess-{number}-of-many-tokens", fixture.bot.provider_id);
            fixture.bot.client.post(&path, &text_event(1)).await.status
        };
        let mut statuses = Vec::new();
        for number in 0..80 {
            statuses.push(guess(number).await);
        }
        assert_eq!(statuses[0], 401);
        let limited = statuses.iter().filter(|status| **status == 429).count();
        assert!(limited >= 10 && statuses.iter().all(|status| [401, 429].contains(status)), "{statuses:?}");
    });
}
