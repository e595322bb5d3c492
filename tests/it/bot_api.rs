//! Who may speak for a bot, and what is refused: every status and error body of B-1, and the endpoints that
//! manage bots.

use futures_util::future::join_all;
use reqwest::Method;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::bad_input::{check_refused, garbage};
use crate::client::{Channel, Reply, merged, send};
use crate::harness::{VISITOR, alone_on_stage, on_stage, post_raw};
use crate::provider::{Bot, Front, NAME, register, unique};
use crate::wait::{PATIENCE, seconds, wait_for};

/// The error codes of the Bot API (specification, Authentication).
const CODES: [&str; 3] = ["invalid_client", "unauthorized_client", "invalid_request"];

#[track_caller]
fn check_bot_error(reply: Reply, status: u16, code: &str) -> Value {
    assert!(CODES.contains(&code), "{code}");
    reply.expect_error(status, code)
}

fn hello(chat_id: u64) -> Value {
    json!({"event": "BOT_MESSAGE", "chat_id": chat_id, "message": {"type": "TEXT", "text": "Hello"}})
}

#[test]
fn the_address_says_who_speaks() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        front.ask(VISITOR, "Hello").await;
        let Bot { call, provider_id, token, .. } = &front.bot;
        let post = async |provider: &str, token: &str| {
            call.post(&format!("/bot/webhooks/{provider}/{token}"), &hello(1)).await
        };
        let long = "x".repeat(2_000);
        for unknown in ["unknown", "%00", &provider_id.to_uppercase(), &long] {
            check_bot_error(post(unknown, token).await, 404, "invalid_request");
        }
        for unknown in ["unknown", "%00", &token.to_uppercase(), &format!("{token}0"), &long] {
            check_bot_error(post(provider_id, unknown).await, 401, "invalid_client");
        }
        assert_eq!(post(provider_id, token).await.expect(200), json!({"result": "ok"}));
    });
}

#[test]
fn a_provider_registered_with_a_secret_must_show_it() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let secret = unique("secret of the provider");
        let guarded = register(&stage.operator, &front.provider.url(), json!({"authorization": secret})).await;
        let channel = front.account.channel(&front.integrator.url()).await;
        let bot = Bot::connect(&front.account, &guarded, &[&channel], json!({})).await;
        channel.say(VISITOR, "Hello").await;
        front.provider.received(1, PATIENCE).await;

        let post = async |authorization: Option<&str>| {
            let request = bot.call.request(Method::POST, &bot.webhook()).json(&hello(1));
            let name = HeaderName::from_static("authorization");
            send(match authorization {
                Some(value) => request.header(name, HeaderValue::from_str(value).unwrap()),
                None => request,
            })
            .await
        };
        let token = format!("Bearer {}", bot.token);
        let wrong =
            [None, Some(""), Some("Bearer"), Some("Bearer wrong"), Some(&*token), Some("x"), Some(&secret[1..])];
        for authorization in wrong {
            check_bot_error(post(authorization).await, 401, "unauthorized_client");
        }
        for right in [secret.clone(), format!("Bearer {secret}"), format!("bearer {secret}")] {
            post(Some(&right)).await.expect(200);
        }
        for several in [format!("Bearer {secret}, Bearer {secret}"), format!("{secret},wrong"), "a, b".to_owned()] {
            let refused = check_bot_error(post(Some(&several)).await, 400, "invalid_request");
            assert_eq!(refused["error"]["field"], "Authorization");
        }
        let repeated = bot.call.request(Method::POST, &bot.webhook()).json(&hello(1));
        let repeated = repeated.header("authorization", &secret).header("authorization", &secret);
        check_bot_error(send(repeated).await, 400, "invalid_request");
        let unknown = bot.call.with(&secret).post(&format!("/bot/webhooks/{guarded}/unknown"), &hello(1)).await;
        check_bot_error(unknown, 401, "invalid_client");
        let shown = stage.operator.get(&format!("/operator/providers/{guarded}")).await.expect(200);
        assert_eq!(shown["has_authorization"], true);
        assert!(!shown.to_string().contains(&secret), "{shown}");
    });
}

#[test]
fn only_post_and_only_events_of_a_provider_are_supported() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        for method in ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let reply = send(front.bot.call.request(method, &front.bot.webhook()).json(&hello(1))).await;
            assert_eq!(reply.headers["allow"], "POST");
            check_bot_error(reply, 405, "invalid_request");
        }
        let ours = ["CLIENT_MESSAGE", "AGENT_JOINED", "AGENT_UNAVAILABLE", "CHAT_CLOSED"];
        for event in ours.into_iter().chain(["bot_message", "BOT_MESSAGE ", "DANCE"]) {
            let reply = front.bot.post(&json!({"event": event, "chat_id": 1})).await;
            check_bot_error(reply, 405, "invalid_request");
        }
    });
}

#[test]
fn a_body_that_is_no_event_is_refused_in_the_words_of_the_bot_api() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        for (what, body) in garbage() {
            let reply = post_raw(&front.bot.call, &front.bot.webhook(), body).await;
            check_refused(what, &reply);
            check_bot_error(reply, if what == "large" { 413 } else { 400 }, "invalid_request");
        }
        front.ask(VISITOR, "and it still works").await;
        front.bot.say(&json!(1), "it does").await.expect(200);
    });
}

/// Events with something wrong, and the field that is.
fn wrong_events() -> Vec<(Value, &'static str)> {
    let message = |message: Value| json!({"event": "BOT_MESSAGE", "chat_id": 1, "message": message});
    let buttons = |buttons: Value| message(json!({"type": "BUTTONS", "title": "?", "text": "?", "buttons": buttons}));
    let button = json!({"text": "1"});
    let text = |more: Value| message(merged(json!({"type": "TEXT", "text": "Hi"}), more));
    vec![
        (json!({"chat_id": 1}), "event"),
        (json!({"event": 5, "chat_id": 1}), "event"),
        (json!({"event": "", "chat_id": 1}), "event"),
        (json!({"event": "BOT_MESSAGE", "chat_id": 1}), "message"),
        (message(json!("Hi")), "message"),
        (message(json!([])), "message"),
        (message(json!({"text": "Hi"})), "message.type"),
        (message(json!({"type": "text", "text": "Hi"})), "message.type"),
        (message(json!({"type": "PHOTO", "text": "Hi"})), "message.type"),
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
fn every_wrong_field_of_an_event_is_named_and_nothing_is_stored() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        front.ask(VISITOR, "Hello").await;
        for (event, field) in wrong_events() {
            let reply = front.bot.post(&event).await;
            assert_eq!(reply.status, 400, "{event}: {}", reply.text);
            assert_eq!(check_bot_error(reply, 400, "invalid_request")["error"]["field"], field, "{event}");
        }
        assert_eq!(front.agent.messages(1).await.len(), 1);
        assert_eq!(front.state(1).await, "bot");
        assert!(front.integrator.requests().is_empty());
    });
}

#[test]
fn the_largest_messages_of_bots_and_agents_are_stored() {
    on_stage(async |stage| {
        let front = Front::open_with(stage, json!({"shows_markdown": true, "shows_buttons": true}), json!({})).await;
        let chat = front.ask(VISITOR, "Hello").await["chat_id"].clone();
        // Four bytes a character.
        let (long, short) = ("🎈".repeat(10_000), "🎈".repeat(1_000));
        let button = json!({"text": short, "id": short});
        let messages = [
            json!({"type": "MARKDOWN", "content": long, "text": long}),
            json!({"type": "BUTTONS", "title": short, "text": long, "buttons": [button, button, button]}),
        ];
        for message in &messages {
            front.bot.message(&chat, message.clone()).await.expect(200);
        }
        front.agent.accept(1).await;
        let file = json!({
            "type": "audio", "file": format!("https://cdn.example/{}", "x".repeat(4_000)), "file_name": short,
            "file_size": 9_007_199_254_740_991_u64, "text": long, "performer": short, "title": short, "emoji": short,
        });
        front.agent.write_message(1, &file).await;
        let received = front.integrator.received(3, PATIENCE).await;
        let received: Vec<Value> = received.iter().map(|request| request.json()["message"].clone()).collect();
        assert_eq!(received[0]["content"], messages[0]["content"]);
        assert_eq!(received[1]["buttons"], messages[1]["buttons"]);
        assert_eq!(merged(received[2].clone(), file), received[2]);
    });
}

#[test]
fn event_that_repeats_a_key_is_refused() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        front.ask(VISITOR, "Hello").await;
        let events = [
            (r#"{"event":"INVITE_AGENT","chat_id":1,"chat_id":1}"#, "chat_id"),
            (r#"{"event":"BOT_MESSAGE","chat_id":1,"message":{"type":"TEXT","text":"a","text":"b"}}"#, "message.text"),
            (r#"{"event":"CLIENT_INFO","chat_id":1,"contacts":{"name":"a","name":"b"}}"#, "contacts.name"),
            (r#"{"event":"INVITE_AGENT","chat_id":1,"unknown":{"x":[{"y":1,"y":1}]}}"#, "unknown.x[0].y"),
        ];
        for (event, field) in events {
            let reply = post_raw(&front.bot.call, &front.bot.webhook(), event.into()).await;
            assert_eq!(check_bot_error(reply, 400, "invalid_request")["error"]["field"], field, "{event}");
        }
        assert_eq!(front.agent.messages(1).await.len(), 1);
        assert_eq!(front.state(1).await, "bot");
    });
}

#[test]
fn what_providers_in_the_field_send_is_accepted() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        front.ask(VISITOR, "Hello").await;
        let message = |more: Value| {
            let text = merged(json!({"type": "TEXT", "text": "Hi", "more": {}}), more);
            json!({"event": "BOT_MESSAGE", "id": 5, "chat_id": "1", "message": text, "unknown": [1]})
        };
        let timestamps = [json!(1_700_000_000), json!(1_700_000_000_000_u64), json!("1700000000"), json!(null)];
        for timestamp in timestamps {
            front.bot.post(&message(json!({"timestamp": timestamp}))).await.expect(200);
        }
        let body = message(json!({})).to_string();
        let unlabelled = front.bot.call.request(Method::POST, &front.bot.webhook()).body(body);
        send(unlabelled).await.expect(200);
    });
}

#[test]
fn a_bot_may_post_300_requests_in_10_seconds() {
    alone_on_stage(async |stage| {
        let front = Front::open(stage).await;
        let chat_id = front.ask(VISITOR, "Hello").await["chat_id"].clone();
        // Nothing is stored for an event that is not supported, and yet it counts.
        let cheap = json!({"event": "DANCE"});
        let replies = join_all((0..7).map(async |_| {
            let mut replies = Vec::new();
            for _ in 0..100 {
                replies.push(front.bot.post(&cheap).await);
            }
            replies
        }))
        .await
        .concat();
        let (refused, taken): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 429);
        assert!(taken.len() >= 300, "{}", taken.len());
        assert!(taken.iter().all(|reply| reply.status == 405));
        let refused = refused.into_iter().next().expect("700 requests are too many");
        let wait: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=10).contains(&wait), "{wait}");
        check_bot_error(refused, 429, "invalid_request");

        let other = Front::open(stage).await;
        let theirs = other.ask(VISITOR, "Hello").await["chat_id"].clone();
        other.bot.say(&theirs, "nobody else pays for it").await.expect(200);
        wait_for("the bot may speak again", seconds(12), async || {
            let reply = front.bot.say(&chat_id, "at last").await;
            if reply.status == 200 { Ok(()) } else { Err(reply) }
        })
        .await;
    });
}

#[test]
fn a_bot_is_connected_listed_read_changed_and_disconnected() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let admin = &front.agent.call;
        let path = format!("/admin/bots/{}", front.bot.bot_id);
        let read = admin.get(&path).await.expect(200);
        let expected = json!({
            "bot_id": front.bot.bot_id, "provider_id": front.bot.provider_id, "name": NAME,
            "channel_ids": [front.channel.id], "answer_within": null, "created_at": read["created_at"],
        });
        assert_eq!(read, expected, "nothing secret");
        assert_eq!(admin.get("/admin/bots").await.expect(200), json!({"bots": [read]}));
        let channel = format!("/admin/channels/{}", front.channel.id);
        assert_eq!(admin.get(&channel).await.expect(200)["bot_id"], front.bot.bot_id.as_str());

        let second = front.account.channel(&front.integrator.url()).await;
        let change = json!({"name": "Rob", "answer_within": 5, "channel_ids": [second.id]});
        let changed = admin.patch(&path, &change).await.expect(200);
        assert_eq!(changed, merged(expected, change));
        assert_eq!(admin.get(&path).await.expect(200), changed);
        assert_eq!(admin.get(&channel).await.expect(200)["bot_id"], Value::Null);

        admin.delete(&format!("/admin/channels/{}", second.id)).await.expect(200);
        assert_eq!(admin.get(&path).await.expect(200)["channel_ids"], json!([]));
        admin.delete(&path).await.expect(200);
        admin.get(&path).await.expect_error(404, "not_found");
        assert_eq!(admin.get("/admin/bots").await.expect(200), json!({"bots": []}));
        wait_for("its token is forgotten", seconds(13), async || {
            let reply = front.bot.post(&hello(1)).await;
            if reply.status == 401 { Ok(()) } else { Err(reply) }
        })
        .await;
    });
}

#[test]
fn every_wrong_field_of_a_bot_and_of_a_provider_is_named() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let good = json!({"provider_id": front.bot.provider_id, "token": "t", "channel_ids": [], "name": "Rob"});
        let cases = [
            ("provider_id", vec![json!(null), json!(5), json!(""), json!("unknown")]),
            ("token", vec![json!(null), json!(5), json!("")]),
            ("channel_ids", vec![json!(5), json!("x"), json!([5]), json!([null])]),
            ("name", vec![json!(5), json!([])]),
            ("answer_within", vec![json!(0), json!(901), json!("2"), json!(1.5)]),
        ];
        for (field, values) in cases {
            for value in values {
                let reply = front.agent.call.post("/admin/bots", &merged(good.clone(), json!({field: value}))).await;
                assert_eq!(reply.status, 400, "{field} {value}: {}", reply.text);
                assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], field, "{value}");
            }
        }
        for field in ["provider_id", "token"] {
            let path = format!("/admin/bots/{}", front.bot.bot_id);
            let reply = front.agent.call.patch(&path, &json!({field: "another"})).await;
            assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], field);
        }
        let good = json!({"name": "Bots & Co", "endpoint": "https://bots.example"});
        let cases = [
            ("name", vec![json!(null), json!(""), json!(5)]),
            ("endpoint", vec![json!(null), json!(""), json!(5), json!("ftp://x"), json!("http://10.0.0.1/x")]),
            ("authorization", vec![json!(5), json!([])]),
        ];
        for (field, values) in cases {
            for value in values {
                let body = merged(good.clone(), json!({field: value}));
                let reply = stage.operator.post("/operator/providers", &body).await;
                assert_eq!(reply.status, 400, "{field} {value}: {}", reply.text);
                assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], field, "{value}");
            }
        }
    });
}

#[test]
fn changes_of_a_provider_add_up() {
    on_stage(async |stage| {
        let provider = register(&stage.operator, "https://old.example/bots", json!({})).await;
        let path = format!("/operator/providers/{provider}");
        stage.operator.get(&path).await.expect(200);
        for change in
            [json!({"endpoint": "https://new.example"}), json!({"name": "New"}), json!({"authorization": "x"})]
        {
            stage.operator.patch(&path, &change).await.expect(200);
        }
        let shown = stage.operator.get(&path).await.expect(200);
        let fields = [&shown["endpoint"], &shown["name"], &shown["has_authorization"]];
        assert_eq!(fields, [&json!("https://new.example/"), &json!("New"), &json!(true)]);
    });
}

#[test]
fn a_token_belongs_to_one_bot_of_a_provider_and_a_channel_has_one_bot() {
    on_stage(async |stage| {
        let (ours, theirs) = (Front::open(stage).await, Front::open(stage).await);
        let fresh = ours.account.channel(&ours.integrator.url()).await;
        let connect = async |provider: &str, token: &str, channel: &Channel| {
            let body = json!({"provider_id": provider, "token": token, "channel_ids": [channel.id]});
            ours.agent.call.post("/admin/bots", &body).await
        };
        let taken = connect(&theirs.bot.provider_id, &theirs.bot.token, &fresh).await;
        taken.expect_error(409, "conflict");
        let unused = unique("token");
        connect(&ours.bot.provider_id, &unused, &ours.channel).await.expect_error(409, "conflict");
        connect(&ours.bot.provider_id, &unused, &theirs.channel).await.expect_error(409, "conflict");
        let made = connect(&ours.bot.provider_id, &theirs.bot.token, &fresh).await.expect(201);
        assert_eq!(made["answer_within"], 120, "unless set");
        let path = format!("/admin/bots/{}", ours.bot.bot_id);
        let foreign = ours.agent.call.patch(&path, &json!({"channel_ids": [theirs.channel.id]})).await;
        foreign.expect_error(409, "conflict");
        let channel = theirs.agent.call.get(&format!("/admin/channels/{}", theirs.channel.id)).await.expect(200);
        assert_eq!(channel["bot_id"], theirs.bot.bot_id.as_str());
    });
}

/// Two accounts at two providers, and a second bot of the first account; each has a chat.
struct Neighbours {
    ours: Front,
    theirs: Front,
    /// The CLIENT_MESSAGE of each: ours, the one of our account's other bot, theirs.
    asked: [Value; 3],
}

impl Neighbours {
    async fn open(stage: &crate::harness::Stage) -> Self {
        let (ours, theirs) = (Front::open(stage).await, Front::open(stage).await);
        let provider = register(&stage.operator, &theirs.provider.url(), json!({})).await;
        let second = ours.account.channel(&ours.integrator.url()).await;
        Bot::connect(&ours.account, &provider, &[&second], json!({})).await;
        let mine = ours.ask(VISITOR, "Hello").await;
        second.say("elsewhere", "Hello, second").await;
        let next_door = theirs.provider.received(1, PATIENCE).await[0].json();
        // So many that no number of ours leads to one of theirs by chance.
        let mut far = Value::Null;
        for n in 0..3 {
            far = theirs.ask(&format!("visitor {n}"), &format!("Hello {n}")).await;
        }
        Self { ours, theirs, asked: [mine, next_door, far] }
    }
}

#[test]
fn a_provider_reaches_nothing_of_another_bot_or_account() {
    on_stage(async |stage| {
        let Neighbours { ours, theirs, asked: [_, next_door, far] } = Neighbours::open(stage).await;
        let events = [
            json!({"event": "BOT_MESSAGE", "message": {"type": "TEXT", "text": "intruder"}}),
            json!({"event": "INVITE_AGENT"}),
            json!({"event": "CLIENT_INFO", "name": "Intruder"}),
        ];
        for foreign in [&next_door, &far] {
            for event in &events {
                for name in ["chat_id", "client_id", "id"] {
                    let reply = ours.bot.post(&merged(event.clone(), json!({name: foreign[name]}))).await;
                    assert_eq!(reply.status, 400, "{event} {name} {foreign}: {}", reply.text);
                    check_bot_error(reply, 400, "invalid_request");
                }
            }
        }
        let crossed = [(&ours.bot.provider_id, &theirs.bot.token), (&theirs.bot.provider_id, &ours.bot.token)];
        for (provider, token) in crossed {
            let reply = ours.bot.call.post(&format!("/bot/webhooks/{provider}/{token}"), &hello(1)).await;
            check_bot_error(reply, 401, "invalid_client");
        }
        for front in [&ours, &theirs] {
            for row in front.agent.chats("open").await {
                assert_eq!((&row["state"], &row["visitor"]["name"]), (&json!("bot"), &json!("Anonymous")), "{row}");
            }
            assert!(front.integrator.requests().is_empty());
        }
        assert_eq!(ours.tries("CLIENT_MESSAGE").len(), 1, "and hears nothing of them");
        assert_eq!(theirs.tries("CLIENT_MESSAGE").len(), 4);
    });
}

#[test]
fn an_account_does_not_see_the_bots_of_another() {
    on_stage(async |stage| {
        let (ours, theirs) = (Front::open(stage).await, Front::open(stage).await);
        let path = format!("/admin/bots/{}", theirs.bot.bot_id);
        for (method, body) in [
            (Method::GET, json!({})),
            (Method::PATCH, json!({"name": "Mine"})),
            (Method::PATCH, json!({"channel_ids": [ours.channel.id]})),
            (Method::DELETE, json!({})),
        ] {
            let reply = send(ours.agent.call.request(method, &path).json(&body)).await;
            reply.expect_error(404, "not_found");
        }
        let listed = ours.agent.call.get("/admin/bots").await.expect(200);
        assert_eq!(listed["bots"].as_array().unwrap().len(), 1);
        assert_eq!(listed["bots"][0]["bot_id"], ours.bot.bot_id.as_str());
        assert_eq!(theirs.agent.call.get(&path).await.expect(200)["name"], NAME);
        theirs.ask(VISITOR, "Still there?").await;
    });
}

#[test]
fn nothing_secret_of_a_bot_is_in_the_logs() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        front.ask(VISITOR, "words-of-the-client").await;
        front.bot.say(&json!(1), "words-of-the-bot").await.expect(200);
        front.integrator.received(1, PATIENCE).await;
        let contacts = json!({"event": "CLIENT_INFO", "chat_id": 1, "phone": "phone-of-the-client"});
        front.bot.post(&contacts).await.expect(200);
        let unknown = unique("unknown-token");
        let path = format!("/bot/webhooks/{}/{unknown}", front.bot.provider_id);
        front.bot.call.with("secret-of-the-provider").post(&path, &hello(1)).await.expect(401);
        let secrets = [
            &*front.bot.token,
            &unknown,
            &front.bot.signing_secret,
            "secret-of-the-provider",
            "words-of-the-client",
            "words-of-the-bot",
            "phone-of-the-client",
        ];
        for line in stage.log.lock().unwrap().iter() {
            for secret in secrets {
                assert!(!line.line.contains(secret), "{secret} in a line of {}: {}", line.function, line.line);
            }
        }
    });
}
