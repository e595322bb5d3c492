//! What a bot may know of the visitor and the chat, and what it can send besides text.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::api_client::merged;
use crate::support::bot_fixture::{BOT_NAME, BotFixture, TestBot, register_provider};
use crate::support::test_host::{TestHost, VISITOR_ID, run_on_shared_host, run_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};
use crate::support::widget_client::TestWidget;

const ALL_DATA: [&str; 6] = ["external_id", "contacts", "user_token", "page", "custom_data", "language"];

/// For this time, functions may use what they have read before.
const CACHE_TIME: Duration = seconds(11);

/// Returns what a CLIENT_MESSAGE says of the visitor besides the specification's fields.
fn further_data(event: &Value) -> Value {
    let mut sender = event["sender"].clone();
    for name in ["id", "name", "url", "has_contacts"] {
        sender.as_object_mut().unwrap().remove(name);
    }
    sender
}

impl BotFixture {
    async fn transcript(&self, chat_id: &Value, query: &str) -> Value {
        let chat = chat_id.as_str().unwrap();
        let path = format!("{}/chats/{chat}/messages{query}", self.bot.webhook_path());
        self.bot.client.get(&path).await.expect(200)
    }
}

#[test]
fn bot_gets_personal_data_only_if_the_admin_allows_it() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let sender = json!({"id": VISITOR_ID, "name": "Ada", "email": "ada@example.com", "phone": "+442079460102"});
        let message = |text: &str| json!({"sender": sender, "message": {"type": "text", "text": text}});
        fixture.channel.post(&message("Hello")).await.expect(200);
        let event = fixture.wait_for_event("CLIENT_MESSAGE").await;
        assert_eq!((further_data(&event), &event["sender"]["has_contacts"]), (json!({}), &json!(true)));

        let allowed = BotFixture::create_with(host, json!({}), json!({"visitor_data": ALL_DATA})).await;
        allowed.channel.post(&message("Hello")).await.expect(200);
        let event = allowed.wait_for_event("CLIENT_MESSAGE").await;
        let expected = json!({"external_id": VISITOR_ID, "email": "ada@example.com", "phone": "+442079460102"});
        assert_eq!(further_data(&event), expected);
    });
}

/// A widget whose bot may know everything.
async fn widget_with_bot(host: &TestHost) -> (TestWidget, TestBot, TestReceiver) {
    let provider = TestReceiver::start(CannedResponse::ok()).await;
    let account = host.create_account().await;
    let widget = account.create_widget(json!({})).await;
    let provider_id = register_provider(&host.operator, &provider.url(), json!({})).await;
    let settings = json!({"channel_ids": [widget.id], "visitor_data": ALL_DATA});
    let bot = TestBot::connect(&account, &provider_id, &[], settings).await;
    (widget, bot, provider)
}

#[test]
fn bot_of_a_widget_gets_page_custom_data_and_pressed_button() {
    run_on_shared_host(async |host| {
        let (widget, bot, provider) = widget_with_bot(host).await;
        let visitor = widget.visitor().await;
        let line = json!({"title": null, "content": "gold", "link": null, "key": "plan"});
        let page = json!({"url": "https://shop.example/cart", "title": "Cart"});
        let data = json!({"user_token": "u-1", "custom_data": [{"content": "gold", "key": "plan"}], "page": page});
        visitor.call("visitor", data).await.expect(200);
        let chat_id = json!(visitor.say("Which sizes?").await["chat_id"]);
        let event = provider.wait_for_requests(1, WAIT_TIMEOUT).await[0].json();
        let expected = json!({"user_token": "u-1", "page_title": "Cart", "custom_data": [line]});
        assert_eq!(further_data(&event), expected, "a test's client has no language");
        assert_eq!(event["shows"], json!({"markdown": true, "buttons": true, "media": true}));

        let sizes = json!([{"text": "Small", "id": 7}, {"text": "Large", "id": "L"}]);
        bot.send_message(&chat_id, json!({"type": "BUTTONS", "buttons": sizes})).await.expect(200);
        let pressed = json!({
            "message_id": "0c1b7a52-0d0e-4f0e-9a53-1f6f1d2c9b12",
            "message": {"type": "text", "text": "Small", "button_id": 7},
        });
        visitor.call("message", pressed).await.expect(200);
        let event = provider.wait_for_requests(2, WAIT_TIMEOUT).await[1].json();
        let message = &event["messages"][0];
        assert_eq!((&message["text"], &message["button_id"]), (&json!("Small"), &json!(7)));
    });
}

#[test]
fn event_says_what_the_channel_shows() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create_with(host, json!({"shows_buttons": true}), json!({})).await;
        let event = fixture.send_visitor_text(VISITOR_ID, "Hello").await;
        assert_eq!(event["shows"], json!({"markdown": false, "buttons": true, "media": true}));
        let pressed = json!({
            "sender": {"id": VISITOR_ID}, "message": {"type": "text", "text": "Large", "button_id": "L"},
        });
        fixture.channel.post(&pressed).await.expect(200);
        fixture.provider.wait_for_requests(2, WAIT_TIMEOUT).await;
        assert_eq!(fixture.attempts("CLIENT_MESSAGE")[1].json()["messages"][0]["button_id"], "L");
    });
}

#[test]
fn bot_sends_files_and_places() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "Where are you?").await["chat_id"].clone();
        let file = json!({"file": "https://bots.example/map.png", "file_name": "map.png", "file_size": 18204});
        let photo = merged(json!({"type": "PHOTO", "text": "The way"}), file.clone());
        fixture.bot.send_message(&chat_id, photo).await.expect(200);
        fixture
            .bot
            .send_message(&chat_id, json!({"type": "LOCATION", "latitude": 51.5, "longitude": -0.1}))
            .await
            .expect(200);
        let sent = fixture.integrator.wait_for_requests(2, WAIT_TIMEOUT).await;
        let mut messages: Vec<Value> = sent.iter().map(|request| request.json()["message"].clone()).collect();
        messages.iter_mut().for_each(|message| drop(message.as_object_mut().unwrap().remove("id")));
        assert_eq!(messages[0], merged(json!({"type": "photo", "text": "The way"}), file));
        assert_eq!(messages[1], json!({"type": "location", "latitude": 51.5, "longitude": -0.1}));
        let unknown = json!({"type": "HOLOGRAM", "file": "https://bots.example/x"});
        let error = fixture.bot.send_message(&chat_id, unknown).await.expect(400);
        assert_eq!(error["error"]["field"], "message.type");
    });
}

#[test]
fn visitor_sees_that_the_bot_is_typing() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "Hello").await["chat_id"].clone();
        for typing in [true, false] {
            let event = json!({"event": "TYPING", "chat_id": chat_id, "typing": typing});
            fixture.bot.post(&event).await.expect(200);
        }
        let notices = fixture.integrator.wait_for_requests(2, WAIT_TIMEOUT).await;
        let types: Vec<Value> = notices.iter().map(|request| request.json()["message"]["type"].clone()).collect();
        assert_eq!(types, ["typein", "typeout"]);
        assert_eq!(notices[0].json()["sender"], json!({"name": BOT_NAME, "type": "bot"}));

        let (widget, bot, _) = widget_with_bot(host).await;
        let visitor = widget.visitor().await;
        let mut socket = visitor.open_socket().await;
        let chat_id = json!(visitor.say("Hello").await["chat_id"]);
        bot.post(&json!({"event": "TYPING", "chat_id": chat_id})).await.expect(200);
        let frame = socket.next_of("typing").await;
        assert_eq!((&frame["from"], &frame["typing"]), (&json!("bot"), &json!(true)));

        fixture.agent.accept(1).await;
        let chat_id = json!("1");
        fixture.bot.post(&json!({"event": "TYPING", "chat_id": chat_id})).await.expect(403);
    });
}

#[test]
fn visitor_sees_an_answer_grow_and_stops_it() {
    run_on_shared_host(async |host| {
        let (widget, bot, _) = widget_with_bot(host).await;
        let visitor = widget.visitor().await;
        let mut socket = visitor.open_socket().await;
        let said = visitor.say("When are you open?").await;
        let (chat_id, seq) = (json!(said["chat_id"]), said["message"]["seq"].clone());
        let chunk =
            |text: &str| json!({"event": "MESSAGE_CHUNK", "chat_id": chat_id, "reply_to_seq": seq, "text": text});
        assert_eq!(bot.post(&chunk("From 9")).await.expect(200), json!({"result": "ok"}));
        let frame = socket.next_of("growing").await;
        assert_eq!((&frame["growing"], &frame["name"]), (&json!("From 9"), &json!(BOT_NAME)));
        let stored = visitor.messages().await;
        assert_eq!(stored.len(), 1, "nothing of the answer is stored: {stored:?}");

        socket.send(&json!({"type": "stop"})).await;
        wait_for("the bot hears of the stop", WAIT_TIMEOUT, async || {
            let response = bot.post(&chunk("From 9 to 5")).await.expect(200);
            if response["stopped"] == true { Ok(()) } else { Err(response) }
        })
        .await;
        bot.send_text(&chat_id, "From 9").await.expect(200);
        assert_eq!(socket.next_of("message").await["message"]["text"], "From 9");
        assert_eq!(bot.post(&chunk("P.S.")).await.expect(200), json!({"result": "ok"}), "the stopped answer has ended");

        visitor.say("And on Sunday?").await;
        let superseded = bot.post(&chunk("From 9 to 5")).await.expect(409);
        assert_eq!(superseded["error"]["code"], "superseded", "it answers the earlier message");
        let next = json!({"event": "MESSAGE_CHUNK", "chat_id": chat_id, "text": "On Sundays"});
        assert_eq!(bot.post(&next).await.expect(200), json!({"result": "ok"}), "only one answer was stopped");
    });
}

#[test]
fn integrator_is_told_once_that_a_long_answer_is_being_written() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "Hello").await["chat_id"].clone();
        fixture.bot.post(&json!({"event": "MESSAGE_CHUNK", "chat_id": chat_id, "text": "Hel"})).await.expect(200);
        let notices = fixture.integrator.wait_for_requests(1, WAIT_TIMEOUT).await;
        assert_eq!(notices[0].json()["message"], json!({"type": "typein"}));
        fixture.bot.send_text(&chat_id, "Hello!").await.expect(200);
        let sent = fixture.integrator.wait_for_requests(2, WAIT_TIMEOUT).await;
        assert_eq!(sent[1].json()["message"]["text"], "Hello!");
    });
}

#[test]
fn widget_says_that_a_bot_answers_unless_the_admin_switches_it_off() {
    run_with_virtual_time(async |host, time| {
        let provider = TestReceiver::start(CannedResponse::ok()).await;
        let account = host.create_account().await;
        let widget = account.create_widget(json!({})).await;
        let visitor = widget.visitor().await;
        assert_eq!(visitor.session().await["bot_disclosure"], false, "no bot answers");
        let provider_id = register_provider(&host.operator, &provider.url(), json!({})).await;
        let bot = TestBot::connect(&account, &provider_id, &[], json!({"channel_ids": [widget.id]})).await;
        time.advance(CACHE_TIME);
        assert_eq!(visitor.session().await["bot_disclosure"], true);
        let admin = &account.admin.client;
        admin.patch(&format!("/admin/bots/{}", bot.bot_id), &json!({"disclosure": false})).await.expect(200);
        let audit = admin.get("/admin/audit").await.expect(200);
        let entry = &audit["entries"][0];
        assert_eq!((&entry["resource_id"], &entry["fields"]), (&json!(bot.bot_id), &json!(["disclosure"])), "{entry}");
        time.advance(CACHE_TIME);
        assert_eq!(visitor.session().await["bot_disclosure"], false);
    });
}

#[test]
fn bot_reads_its_chat_by_pages() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "One").await["chat_id"].clone();
        fixture.bot.send_text(&chat_id, "Two").await.expect(200);
        fixture.send_visitor_text(VISITOR_ID, "Three").await;
        let shown = |page: &Value| {
            let message = |it: &Value| (it["from"].clone(), it["text"].clone());
            page["messages"].as_array().unwrap().iter().map(message).collect::<Vec<_>>()
        };
        let entry = |from: &str, text: &str| (json!(from), json!(text));
        let first = fixture.transcript(&chat_id, "?limit=2").await;
        assert_eq!(shown(&first), [entry("visitor", "One"), entry("bot", "Two")]);
        assert_eq!((&first["messages"][1]["name"], &first["next"]), (&json!(BOT_NAME), &json!(2)));
        let last = fixture.transcript(&chat_id, "?after=2").await;
        assert_eq!((shown(&last), &last["next"]), (vec![entry("visitor", "Three")], &Value::Null));

        let other = BotFixture::create(host).await;
        let path = |bot: &TestBot, chat: &str| format!("{}/chats/{chat}/messages", bot.webhook_path());
        other.bot.client.get(&path(&other.bot, "1")).await.expect(404);
        let unknown = TestBot { token: "a token that nobody has".into(), ..fixture.bot.clone() };
        unknown.client.get(&path(&unknown, "1")).await.expect(401);
        fixture.bot.client.get(&format!("{}?after=x", path(&fixture.bot, "1"))).await.expect(400);
        fixture.agent.accept(1).await;
        fixture.bot.client.get(&path(&fixture.bot, "1")).await.expect(403);
    });
}

#[test]
fn reading_a_chat_counts_towards_the_limit_of_the_bot() {
    run_with_virtual_time(async |host, _| {
        let fixture = BotFixture::create(host).await;
        let limit = json!({"limits": {"bot_requests": 12}});
        fixture.account.admin.client.put("/admin/settings", &limit).await.expect(200);
        fixture.send_visitor_text(VISITOR_ID, "One").await;
        let path = format!("{}/chats/1/messages", fixture.bot.webhook_path());
        let mut statuses = Vec::new();
        for _ in 0..25 {
            statuses.push(fixture.bot.client.get(&path).await.status);
        }
        assert!(statuses.contains(&200) && statuses.contains(&429), "{statuses:?}");
    });
}

#[test]
fn visitor_who_asks_for_a_person_gets_one_if_the_bot_is_set_so() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create_with(host, json!({}), json!({"human_words": true})).await;
        fixture.channel.send_text(VISITOR_ID, "Human, please").await;
        let event = fixture.wait_for_event("CLIENT_MESSAGE").await;
        assert_eq!(event["message"]["text"], "Human, please", "nobody is online, so the bot must answer");

        fixture.agent.set_presence("online").await;
        fixture.send_visitor_text(VISITOR_ID, "Which agent sold me the blue house?").await;
        fixture.channel.send_text(VISITOR_ID, "Ich will mit einem Menschen sprechen").await;
        fixture.wait_until_waiting(1, WAIT_TIMEOUT).await;
        let handover = fixture.agent.chat(1).await["handover"].clone();
        assert_eq!((&handover["is_fallback"], &handover["reason"]), (&json!(false), &json!("requested")));
        let delivery = fixture.final_bot_delivery(1, "Ich will mit einem Menschen sprechen").await;
        assert_eq!((&delivery["state"], fixture.attempts("CLIENT_MESSAGE").len()), (&json!("superseded"), 2));

        let decides = BotFixture::create(host).await;
        decides.agent.set_presence("online").await;
        decides.send_visitor_text(VISITOR_ID, "Human, please").await;
        assert_eq!(decides.chat_state(1).await, "bot");
    });
}
