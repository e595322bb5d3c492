//! Tests for the Bot API (specification, part B): messages and events exchanged by a bot provider, a visitor and an
//! agent.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::api_client::{merged, number, send};
use crate::support::bot_fixture::{BOT_NAME, BotFixture, TestBot, chat_number, register_provider};
use crate::support::test_host::{VISITOR_ID, run_on_shared_host};
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

#[test]
fn visitor_message_is_sent_complete_and_signed() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let sender = json!({
            "id": VISITOR_ID, "name": "Ada", "email": "ada@example.com", "url": "https://shop.example/cart",
        });
        let message = json!({"type": "text", "text": "Is it open?"});
        fixture.channel.post(&json!({"sender": sender, "message": message})).await.expect(200);

        let event = fixture.wait_for_event("CLIENT_MESSAGE").await;
        let entry = fixture.entry_with_text(1, "Is it open?").await;
        let expected = json!({
            "event": "CLIENT_MESSAGE",
            "id": entry["id"],
            "site_id": fixture.account.id,
            "client_id": "1",
            "chat_id": "1",
            "agents_online": false,
            "sender": {"id": 1, "name": "Ada", "url": "https://shop.example/cart", "has_contacts": true},
            "channel": {"id": fixture.channel.id, "type": "api"},
            "shows": {"markdown": false, "buttons": false, "media": true},
            "message": {"type": "TEXT", "text": "Is it open?", "timestamp": entry["timestamp"]},
            "up_to_seq": 1,
            "messages": [{"seq": 1, "type": "text", "text": "Is it open?", "timestamp": entry["timestamp"]}],
        });
        assert_eq!(event, expected);
        assert_eq!(fixture.chat_state(1).await, "bot");
        assert_signed(&fixture, &fixture.provider.requests()[0]);

        fixture.agent.set_presence("online").await;
        let event = fixture.send_visitor_text("another visitor", "Hello").await;
        assert_eq!(event["agents_online"], true);
        assert_eq!(event["sender"], json!({"id": 2, "name": "Anonymous", "has_contacts": false}));
    });
}

fn assert_signed(fixture: &BotFixture, request: &ReceivedRequest) {
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", &*format!("/hook/{}", fixture.bot.token)));
    assert_eq!(request.header("content-type"), Some("application/json; charset=utf-8"));
    assert!(request.header("user-agent").is_some_and(|agent| agent.starts_with("Switchboard")));
    assert_eq!(request.header("webhook-id"), request.json()["id"].as_str());
    assert!(request.is_signed_with(&fixture.bot.signing_secret));
}

#[test]
fn non_text_messages_are_sent_as_text_and_as_they_are() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let photo = json!({"type": "photo", "file": "https://cdn.example/p.png", "file_name": "p.png", "file_size": 9});
        let location = json!({"type": "location", "latitude": 52.5, "longitude": 4.25});
        let captioned_photo = merged(photo.clone(), json!({"text": "Look"}));
        let sent = [photo, captioned_photo, location];
        for message in &sent {
            fixture.channel.post(&json!({"sender": {"id": VISITOR_ID}, "message": message})).await.expect(200);
        }
        let requests = fixture.provider.wait_for_requests(3, WAIT_TIMEOUT).await;
        let messages: Vec<_> = requests.iter().map(|request| request.json()["message"].clone()).collect();
        assert!(messages.iter().all(|message| message["type"] == "TEXT"), "{messages:#?}");
        let texts: Vec<_> = requests.iter().map(ReceivedRequest::text).collect();
        assert_eq!(texts, ["https://cdn.example/p.png", "Look\nhttps://cdn.example/p.png", "52.5,4.25"]);
        for (request, message) in requests.iter().zip(sent) {
            let given = request.json()["messages"][0].clone();
            assert_eq!(merged(given.clone(), message), given);
        }
    });
}

#[test]
fn bot_text_reaches_the_integrator_with_the_bot_name() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "Is it open?").await["chat_id"].clone();
        assert_eq!(fixture.bot.send_text(&chat_id, "From 9 to 5.").await.expect(200), json!({"result": "ok"}));

        let request = fixture.integrator.wait_for_requests(1, WAIT_TIMEOUT).await.remove(0);
        let entry = fixture.entry_with_text(1, "From 9 to 5.").await;
        let expected = json!({
            "sender": {"type": "bot", "name": BOT_NAME},
            "recipient": {"id": VISITOR_ID},
            "message": {"type": "text", "id": entry["id"], "text": "From 9 to 5."},
        });
        assert_eq!(request.json(), expected);
        assert!(request.is_signed_with(&fixture.channel.signing_secret), "the channel's own signature");

        assert_eq!((&entry["from"], &entry["bot"]), (&json!("bot"), &json!({"name": BOT_NAME})));
        assert_eq!(fixture.agent.final_delivery(1, number(&entry["seq"])).await["state"], "delivered");
        assert_eq!(fixture.final_bot_delivery(1, "Is it open?").await["state"], "delivered");
        let row = &fixture.agent.chats("bot").await[0];
        assert_eq!(row["last_message"]["text"], "From 9 to 5.");
        assert!(fixture.agent.chats("waiting").await.is_empty());
    });
}

/// Returns rich messages in the Bot API format, each with the message that the integrator must receive. The expected
/// messages omit the `text` and `id` fields.
fn rich_messages() -> [(Value, Value); 3] {
    let buttons = json!([{"text": "Today", "id": 1}, {"text": "Tomorrow", "id": "b"}, {"text": "Never"}]);
    [
        (
            json!({"type": "MARKDOWN", "content": "**Open** [here](https://shop.example)", "timestamp": "1700000000"}),
            json!({"type": "markdown", "content": "**Open** [here](https://shop.example)"}),
        ),
        (
            json!({"type": "BUTTONS", "title": "When?", "buttons": buttons.clone(), "force_reply": true}),
            json!({"type": "buttons", "title": "When?", "buttons": buttons, "force_reply": true}),
        ),
        (
            json!({"type": "BUTTONS", "title": null, "buttons": [{"text": "Yes", "id": 1.5}]}),
            json!({"type": "buttons", "buttons": [{"text": "Yes", "id": 1.5}]}),
        ),
    ]
}

#[test]
fn plain_channel_gets_only_the_text_fallback_of_rich_messages() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let webhook = TestReceiver::start(CannedResponse::ok()).await;
        fixture.agent.client.post("/admin/settings/webhooks", &json!({"url": webhook.url()})).await.expect(201);
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "When?").await["chat_id"].clone();
        let not_shown = json!({"result": "ok", "shown": false});
        for (message, _) in rich_messages() {
            for blank in [json!({}), json!({"text": " "})] {
                let reply = fixture.bot.send_message(&chat_id, merged(message.clone(), blank)).await;
                assert_eq!(reply.expect(200), not_shown);
            }
            let kind = message["type"].clone();
            let reply = fixture.bot.send_message(&chat_id, merged(message, json!({"text": kind}))).await;
            assert_eq!(reply.expect(200), json!({"result": "ok"}));
        }
        fixture.bot.send_text(&chat_id, "the end").await.expect(200);

        let requests = fixture.integrator.wait_for_requests(4, WAIT_TIMEOUT).await;
        let received: Vec<_> = requests.iter().map(|request| request.json()["message"].clone()).collect();
        let fields: Vec<_> =
            received.iter().map(|message| [&message["type"], &message["text"], &message["force_reply"]]).collect();
        let expected =
            [("MARKDOWN", json!(null)), ("BUTTONS", json!(true)), ("BUTTONS", json!(null)), ("the end", json!(null))];
        for (fields, (text, force_reply)) in fields.into_iter().zip(&expected) {
            assert_eq!(fields, [&json!("text"), &json!(text), force_reply], "{received:#?}");
        }
        let timeline = fixture.agent.timeline(1).await;
        let unsent: Vec<_> =
            timeline.iter().filter(|entry| entry["from"] == "bot" && entry["delivery"].is_null()).collect();
        assert_eq!(unsent.len(), 6, "stored for the agents only: {timeline:#?}");
        assert!(unsent.iter().all(|entry| entry["shown"] == false), "{unsent:#?}");
        let shown = timeline.iter().filter(|entry| entry["shown"].is_null()).count();
        assert_eq!(shown, timeline.len() - 6);

        fixture.agent.close(1).await;
        let finished = webhook.wait_for_requests(1, WAIT_TIMEOUT).await[0].json();
        let log: Vec<_> =
            finished["chat"]["messages"].as_array().unwrap().iter().map(|message| &message["message"]).collect();
        assert_eq!(log, ["When?", "MARKDOWN", "BUTTONS", "BUTTONS", "the end"]);
        for log in ["plain_messages", "html_messages"] {
            assert_eq!(finished[log].as_str().unwrap().lines().count(), 5, "{finished}");
        }
    });
}

#[test]
fn token_is_filled_into_the_endpoint_where_it_stands() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let endpoint = format!("{}/{{token}}/events?key={{token}}", fixture.provider.url());
        let provider_id = register_provider(&host.operator, &endpoint, json!({})).await;
        let bot = TestBot::connect(&fixture.account, &provider_id, &[], json!({"token": "a/0123456789abcdefgh"})).await;
        let tested = fixture.agent.client.post(&format!("/admin/bots/{}/test", bot.bot_id), &json!({})).await;
        let shown = tested.expect(200)["request"]["url"].as_str().unwrap().to_owned();
        assert!(shown.ends_with("/***/events?***"), "{shown}");
        assert!(
            fixture.provider.requests()[0].path.ends_with("/a%2F0123456789abcdefgh/events?key=a%2F0123456789abcdefgh")
        );
    });
}

#[test]
fn repeated_event_gets_the_same_not_shown_response() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        fixture.send_visitor_text(VISITOR_ID, "When?").await;
        let [(message, _), ..] = rich_messages();
        let event = json!({"event": "BOT_MESSAGE", "chat_id": 1, "message": message});
        for _ in 0..2 {
            let request = fixture.bot.client.request(Method::POST, &fixture.bot.webhook_path()).json(&event);
            let reply = send(request.header("idempotency-key", "once")).await;
            assert_eq!(reply.expect(200), json!({"result": "ok", "shown": false}));
        }
        assert_eq!(fixture.agent.timeline(1).await.len(), 2);
    });
}

#[test]
fn channel_with_rich_messages_gets_them_complete() {
    run_on_shared_host(async |host| {
        let channel_settings = json!({"shows_markdown": true, "shows_buttons": true});
        let fixture = BotFixture::create_with(host, channel_settings, json!({})).await;
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "When?").await["chat_id"].clone();
        for (index, (message, expected)) in rich_messages().into_iter().enumerate() {
            for (n, fallback) in [json!({}), json!({"text": "in plain words"})].into_iter().enumerate() {
                fixture.bot.send_message(&chat_id, merged(message.clone(), fallback.clone())).await.expect(200);
                let requests = fixture.integrator.wait_for_requests(2 * index + n + 1, WAIT_TIMEOUT).await;
                let mut received = requests.last().unwrap().json()["message"].clone();
                assert!(received.as_object_mut().unwrap().remove("id").is_some_and(|id| id.is_string()));
                assert_eq!(received, merged(expected.clone(), fallback));
            }
        }
    });
}

#[test]
fn bot_hands_over_to_an_online_agent() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        fixture.agent.set_presence("online").await;
        let client_message = fixture.send_visitor_text(VISITOR_ID, "A human, please").await;
        let chat_id = &client_message["chat_id"];
        fixture.bot.invite_agent(chat_id).await.expect(200);
        fixture.wait_until_waiting(1, WAIT_TIMEOUT).await;
        fixture.bot.send_text(chat_id, "after the handover").await.expect_error(403, "invalid_request");
        fixture.bot.invite_agent(chat_id).await.expect_error(403, "invalid_request");

        fixture.agent.accept(1).await;
        let joined = fixture.wait_for_event("AGENT_JOINED").await;
        let notice = json!({
            "event": "AGENT_JOINED", "id": joined["id"], "site_id": fixture.account.id, "client_id": "1", "chat_id": "1",
        });
        let agent = json!({"id": fixture.agent.id, "name": "Grace"});
        assert_eq!(joined, merged(notice.clone(), json!({"agent": agent})));
        assert!(joined["id"].is_string() && joined["id"] != client_message["id"], "{joined}");
        fixture.agent.send_text(1, "Here I am").await;
        fixture.integrator.wait_for_requests(1, WAIT_TIMEOUT).await;
        assert_eq!(fixture.integrator.texts(), ["Here I am"]);

        fixture.agent.close(1).await;
        let closed = fixture.wait_for_event("CHAT_CLOSED").await;
        assert_eq!(closed, merged(notice, json!({"event": "CHAT_CLOSED", "id": closed["id"], "reason": "agent"})));
        fixture.bot.send_text(chat_id, "still here").await.expect_error(403, "invalid_request");
        let events: Vec<_> =
            fixture.provider.requests().iter().map(|request| request.json()["event"].clone()).collect();
        assert_eq!(events, ["CLIENT_MESSAGE", "AGENT_JOINED", "CHAT_CLOSED"], "AGENT_UNAVAILABLE was not sent");

        let next_message = fixture.send_visitor_text(VISITOR_ID, "One more thing").await;
        assert_eq!((&next_message["chat_id"], &next_message["client_id"]), (&json!("2"), &json!("1")));
        assert_eq!(fixture.chat_state(2).await, "bot");
        fixture.bot.send_text(&next_message["chat_id"], "Yes?").await.expect(200);
    });
}

#[test]
fn bot_keeps_the_chat_when_no_agent_is_online() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let client_message = fixture.send_visitor_text(VISITOR_ID, "A human, please").await;
        let (chat_id, client_id) = (&client_message["chat_id"], &client_message["client_id"]);
        fixture.bot.invite_agent(chat_id).await.expect(200);
        let event = fixture.wait_for_event("AGENT_UNAVAILABLE").await;
        let expected = json!({
            "event": "AGENT_UNAVAILABLE", "id": event["id"], "site_id": fixture.account.id, "client_id": "1",
            "chat_id": "1",
        });
        assert_eq!(event, expected);
        assert_eq!(fixture.chat_state(1).await, "bot");
        fixture.bot.send_text(chat_id, "Nobody is here. What is your number?").await.expect(200);

        fixture.send_visitor_text(VISITOR_ID, "Ada, 020 123").await;
        let client_info = json!({"event": "CLIENT_INFO", "client_id": client_id, "name": "Ada", "phone": "020 123"});
        fixture.bot.post(&client_info).await.expect(200);
        let client_info = json!({"event": "CLIENT_INFO", "chat_id": chat_id, "contacts": {"email": "ada@example.com"}});
        fixture.bot.post(&client_info).await.expect(200);
        let visitor = fixture.agent.chat(1).await["visitor"].clone();
        let contacts = [&visitor["name"], &visitor["phone"], &visitor["email"]];
        assert_eq!(contacts, ["Ada", "020 123", "ada@example.com"]);
        assert_eq!(fixture.agent.chats("bot").await[0]["visitor"]["name"], "Ada");
        let sender = fixture.send_visitor_text(VISITOR_ID, "Well?").await["sender"].clone();
        assert_eq!((&sender["name"], &sender["has_contacts"]), (&json!("Ada"), &json!(true)));

        fixture.agent.set_presence("online").await;
        fixture.bot.invite_agent(chat_id).await.expect(200);
        fixture.wait_until_waiting(1, WAIT_TIMEOUT).await;
        assert_eq!(fixture.attempts("AGENT_UNAVAILABLE").len(), 1);
    });
}

#[test]
fn agent_of_another_channel_does_not_count_as_available() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let ann = fixture.account.create_agent("Ann").await;
        let channel = format!("/admin/channels/{}", fixture.channel.id);
        fixture.agent.client.patch(&channel, &json!({"agent_ids": [ann.id]})).await.expect(200);
        fixture.agent.set_presence("online").await;
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "A human, please").await["chat_id"].clone();
        fixture.bot.invite_agent(&chat_id).await.expect(200);
        fixture.wait_for_event("AGENT_UNAVAILABLE").await;
        ann.set_presence("online").await;
        fixture.bot.invite_agent(&chat_id).await.expect(200);
        fixture.wait_until_waiting(1, WAIT_TIMEOUT).await;
    });
}

#[test]
fn agent_takes_over_from_an_active_bot() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "Hello").await["chat_id"].clone();
        fixture.agent.accept(1).await;
        fixture.wait_for_event("AGENT_JOINED").await;
        fixture.bot.send_text(&chat_id, "late").await.expect_error(403, "invalid_request");

        fixture.channel.send_text(VISITOR_ID, "Who is there?").await;
        assert!(fixture.entry_with_text(1, "Who is there?").await["bot_delivery"].is_null());
        fixture.agent.send_text(1, "Me").await;
        fixture.integrator.wait_for_requests(1, WAIT_TIMEOUT).await;
        assert_eq!(fixture.integrator.texts(), ["Me"], "no message of the bot was delivered");
        fixture.agent.close(1).await;
        fixture.wait_for_event("CHAT_CLOSED").await;
        assert_eq!(fixture.attempts("CLIENT_MESSAGE").len(), 1, "a message to the agent was not sent to the bot");
    });
}

#[test]
fn agent_closes_a_chat_owned_by_the_bot() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "Hello").await["chat_id"].clone();
        fixture.agent.close(1).await;
        fixture.wait_for_event("CHAT_CLOSED").await;
        fixture.bot.send_text(&chat_id, "late").await.expect_error(403, "invalid_request");
        assert_eq!(fixture.send_visitor_text(VISITOR_ID, "Hello again").await["chat_id"], "2");
    });
}

#[test]
fn provider_may_post_before_it_responds() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let bot = fixture.bot.clone();
        fixture.provider.respond_by(move |request| {
            let bot = bot.clone();
            async move {
                let reply = bot.send_text(&request.json()["chat_id"], "from inside").await;
                CannedResponse::Json(if reply.status == 200 { 200 } else { 500 }, json!({}))
            }
        });
        fixture.channel.send_text(VISITOR_ID, "Hello").await;
        fixture.integrator.wait_for_requests(1, WAIT_TIMEOUT).await;
        assert_eq!(fixture.integrator.texts(), ["from inside"]);
        let delivery = fixture.final_bot_delivery(1, "Hello").await;
        assert_eq!(delivery["state"], "delivered");
        assert_eq!(delivery["attempts"].as_array().unwrap().len(), 1);
    });
}

#[test]
fn bot_messages_arrive_in_the_order_they_were_posted() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "Tell me").await["chat_id"].clone();
        let texts: Vec<String> = (1..=10).map(|n| format!("answer {n}")).collect();
        for text in &texts {
            fixture.bot.send_text(&chat_id, text).await.expect(200);
        }
        fixture.integrator.wait_for_requests(10, WAIT_TIMEOUT).await;
        assert_eq!(fixture.integrator.texts(), texts);
    });
}

#[test]
fn event_identifies_its_chat_by_chat_client_or_message_id() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let client_message = fixture.send_visitor_text(VISITOR_ID, "Hello").await;
        let chat = chat_number(&client_message);
        let message = json!({"type": "TEXT", "text": "Hi"});
        let valid = [
            json!({"chat_id": "1"}),
            json!({"chat_id": 1}),
            json!({"chat_id": 1, "client_id": "1", "id": null}),
            json!({"client_id": "1"}),
            json!({"client_id": 1, "id": 7}),
            json!({"chat_id": null, "client_id": 1}),
            json!({"id": client_message["id"]}),
        ];
        for (index, route) in valid.iter().enumerate() {
            let event = merged(json!({"event": "BOT_MESSAGE", "message": message}), route.clone());
            assert_eq!(fixture.bot.post(&event).await.expect(200), json!({"result": "ok"}), "{route}");
            wait_for("the message", WAIT_TIMEOUT, async || {
                let count = fixture.agent.timeline(chat).await.iter().filter(|entry| entry["from"] == "bot").count();
                if count == index + 1 { Ok(()) } else { Err(count) }
            })
            .await;
        }
        let invitation = json!({"event": "INVITE_AGENT", "id": client_message["id"]});
        fixture.bot.post(&invitation).await.expect(200);
        fixture.wait_for_event("AGENT_UNAVAILABLE").await;
    });
}

#[test]
fn event_without_exactly_one_chat_is_rejected() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let client_message = fixture.send_visitor_text(VISITOR_ID, "Hello").await;
        fixture.send_visitor_text("another visitor", "Me too").await;
        let events = [
            json!({"event": "BOT_MESSAGE", "message": {"type": "TEXT", "text": "Hi"}}),
            json!({"event": "INVITE_AGENT"}),
            json!({"event": "CLIENT_INFO", "name": "Ada"}),
        ];
        let routes = [
            (json!({}), "chat_id"),
            (json!({"id": "any"}), "chat_id"),
            (json!({"id": unknown_id(&client_message)}), "chat_id"),
            (json!({"chat_id": "99"}), "chat_id"),
            (json!({"client_id": 99}), "client_id"),
            (json!({"chat_id": 1, "client_id": 2}), "client_id"),
            (json!({"chat_id": "2", "client_id": "1"}), "client_id"),
        ];
        for event in &events {
            for (route, field) in &routes {
                let reply = fixture.bot.post(&merged(event.clone(), route.clone())).await;
                assert_eq!(reply.status, 400, "{event} {route}: {}", reply.text);
                assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], *field, "{event} {route}");
            }
        }
        assert!(fixture.integrator.requests().is_empty());
        for chat in [1, 2] {
            assert_eq!(fixture.agent.timeline(chat).await.len(), 1);
            assert_eq!(fixture.agent.chat(chat).await["visitor"]["name"], "Anonymous");
        }
    });
}

/// Returns an id that does not belong to any event: the id of `event` with a different last digit.
fn unknown_id(event: &Value) -> String {
    let mut id = event["id"].as_str().unwrap().to_owned();
    let last = if id.pop() == Some('0') { '1' } else { '0' };
    id.push(last);
    id
}

#[test]
fn message_to_a_client_without_open_chat_is_rejected() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        fixture.send_visitor_text(VISITOR_ID, "Hello").await;
        fixture.agent.close(1).await;
        let event = json!({"event": "BOT_MESSAGE", "client_id": 1, "message": {"type": "TEXT", "text": "Hi"}});
        let reply = fixture.bot.post(&event).await;
        assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], "client_id");
    });
}
