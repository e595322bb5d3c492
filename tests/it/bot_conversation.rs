//! Part B of the specification: a provider, a visitor and an agent hold a conversation.

use reqwest::Method;
use serde_json::{Value, json};
use standardwebhooks::Webhook;

use crate::client::{merged, number, send};
use crate::harness::{VISITOR, on_stage};
use crate::provider::{Front, NAME, chat_of};
use crate::receiver::{Answer, Receiver, Request};
use crate::wait::{PATIENCE, wait_for};

#[test]
fn a_visitors_message_reaches_the_provider_whole_and_signed() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let sender = json!({
            "id": VISITOR, "name": "Ada", "email": "ada@example.com", "url": "https://shop.example/cart",
        });
        let message = json!({"type": "text", "text": "Is it open?"});
        front.channel.post(&json!({"sender": sender, "message": message})).await.expect(200);

        let event = front.notifications("CLIENT_MESSAGE").await;
        let entry = front.entry(1, "Is it open?").await;
        let expected = json!({
            "event": "CLIENT_MESSAGE",
            "id": entry["id"],
            "site_id": front.account.id,
            "client_id": "1",
            "chat_id": "1",
            "agents_online": false,
            "sender": {"id": 1, "name": "Ada", "url": "https://shop.example/cart", "has_contacts": true},
            "channel": {"id": front.channel.id, "type": "api"},
            "message": {"type": "TEXT", "text": "Is it open?", "timestamp": entry["timestamp"]},
        });
        assert_eq!(event, expected);
        assert_eq!(front.state(1).await, "bot");
        check_signed(&front, &front.provider.requests()[0]);

        front.agent.presence("online").await;
        let event = front.ask("somebody else", "Hello").await;
        assert_eq!(event["agents_online"], true);
        assert_eq!(event["sender"], json!({"id": 2, "name": "Anonymous", "has_contacts": false}));
    });
}

fn check_signed(front: &Front, request: &Request) {
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", &*format!("/hook/{}", front.bot.token)));
    assert_eq!(request.header("content-type"), Some("application/json; charset=utf-8"));
    assert!(request.header("user-agent").is_some_and(|agent| agent.starts_with("Switchboard")));
    assert_eq!(request.header("webhook-id"), request.json()["id"].as_str());
    let webhook = Webhook::new(&front.bot.signing_secret).unwrap();
    webhook.verify(&request.body, &request.header_map()).expect("the signature is right");
}

#[test]
fn what_is_no_text_reaches_the_provider_as_one() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let photo = json!({"type": "photo", "file": "https://cdn.example/p.png", "file_name": "p.png", "file_size": 9});
        let place = json!({"type": "location", "latitude": 52.5, "longitude": 4.25});
        let said = merged(photo.clone(), json!({"text": "Look"}));
        for message in [photo, said, place] {
            front.channel.post(&json!({"sender": {"id": VISITOR}, "message": message})).await.expect(200);
        }
        let requests = front.provider.received(3, PATIENCE).await;
        let said: Vec<_> = requests.iter().map(|request| request.json()["message"].clone()).collect();
        assert!(said.iter().all(|message| message["type"] == "TEXT"), "{said:#?}");
        let texts: Vec<_> = requests.iter().map(Request::text).collect();
        assert_eq!(texts, ["https://cdn.example/p.png", "Look\nhttps://cdn.example/p.png", "52.5,4.25"]);
    });
}

#[test]
fn a_bots_text_reaches_the_integrator_under_its_name() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let chat_id = front.ask(VISITOR, "Is it open?").await["chat_id"].clone();
        assert_eq!(front.bot.say(&chat_id, "From 9 to 5.").await.expect(200), json!({"result": "ok"}));

        let request = front.integrator.received(1, PATIENCE).await.remove(0);
        let entry = front.entry(1, "From 9 to 5.").await;
        let expected = json!({
            "sender": {"name": NAME},
            "recipient": {"id": VISITOR},
            "message": {"type": "text", "id": entry["id"], "text": "From 9 to 5."},
        });
        assert_eq!(request.json(), expected);
        let webhook = Webhook::new(&front.channel.signing_secret).unwrap();
        webhook.verify(&request.body, &request.header_map()).expect("the channel's own signature");

        assert_eq!((&entry["from"], &entry["bot"]), (&json!("bot"), &json!({"name": NAME})));
        assert_eq!(front.agent.verdict(1, number(&entry["seq"])).await["state"], "delivered");
        assert_eq!(front.bot_verdict(1, "Is it open?").await["state"], "delivered");
        let row = &front.agent.chats("bot").await[0];
        assert_eq!(row["last_message"]["text"], "From 9 to 5.");
        assert!(front.agent.chats("waiting").await.is_empty());
    });
}

/// A message of each rich type; what it is called on a channel, and its fields there besides `text` and `id`.
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
fn a_plain_channel_gets_the_fallback_of_a_rich_message_or_nothing() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let webhook = Receiver::start(Answer::ok()).await;
        front.agent.call.post("/admin/settings/webhooks", &json!({"url": webhook.url()})).await.expect(201);
        let chat_id = front.ask(VISITOR, "When?").await["chat_id"].clone();
        let not_shown = json!({"result": "ok", "shown": false});
        for (message, _) in rich_messages() {
            for blank in [json!({}), json!({"text": " "})] {
                let reply = front.bot.message(&chat_id, merged(message.clone(), blank)).await;
                assert_eq!(reply.expect(200), not_shown);
            }
            let kind = message["type"].clone();
            let reply = front.bot.message(&chat_id, merged(message, json!({"text": kind}))).await;
            assert_eq!(reply.expect(200), json!({"result": "ok"}));
        }
        front.bot.say(&chat_id, "the end").await.expect(200);

        let requests = front.integrator.received(4, PATIENCE).await;
        let received: Vec<_> = requests.iter().map(|request| request.json()["message"].clone()).collect();
        let fields: Vec<_> =
            received.iter().map(|message| [&message["type"], &message["text"], &message["force_reply"]]).collect();
        let expected =
            [("MARKDOWN", json!(null)), ("BUTTONS", json!(true)), ("BUTTONS", json!(null)), ("the end", json!(null))];
        for (fields, (text, force_reply)) in fields.into_iter().zip(&expected) {
            assert_eq!(fields, [&json!("text"), &json!(text), force_reply], "{received:#?}");
        }
        let timeline = front.agent.messages(1).await;
        let unsent: Vec<_> =
            timeline.iter().filter(|entry| entry["from"] == "bot" && entry["delivery"].is_null()).collect();
        assert_eq!(unsent.len(), 6, "kept for the agents: {timeline:#?}");
        assert!(unsent.iter().all(|entry| entry["shown"] == false), "{unsent:#?}");
        let shown = timeline.iter().filter(|entry| entry["shown"].is_null()).count();
        assert_eq!(shown, timeline.len() - 6);

        front.agent.close(1).await;
        let finished = webhook.received(1, PATIENCE).await[0].json();
        let log: Vec<_> =
            finished["chat"]["messages"].as_array().unwrap().iter().map(|said| &said["message"]).collect();
        assert_eq!(log, ["When?", "MARKDOWN", "BUTTONS", "BUTTONS", "the end"]);
        for log in ["plain_messages", "html_messages"] {
            assert_eq!(finished[log].as_str().unwrap().lines().count(), 5, "{finished}");
        }
    });
}

#[test]
fn repeated_event_is_told_again_that_it_was_not_shown() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        front.ask(VISITOR, "When?").await;
        let [(message, _), ..] = rich_messages();
        let event = json!({"event": "BOT_MESSAGE", "chat_id": 1, "message": message});
        for _ in 0..2 {
            let request = front.bot.call.request(Method::POST, &front.bot.webhook()).json(&event);
            let reply = send(request.header("idempotency-key", "once")).await;
            assert_eq!(reply.expect(200), json!({"result": "ok", "shown": false}));
        }
        assert_eq!(front.agent.messages(1).await.len(), 2);
    });
}

#[test]
fn a_channel_that_shows_rich_messages_gets_them_whole() {
    on_stage(async |stage| {
        let shows = json!({"shows_markdown": true, "shows_buttons": true});
        let front = Front::open_with(stage, shows, json!({})).await;
        let chat_id = front.ask(VISITOR, "When?").await["chat_id"].clone();
        for (sent, (message, shown)) in rich_messages().into_iter().enumerate() {
            for (n, fallback) in [json!({}), json!({"text": "in plain words"})].into_iter().enumerate() {
                front.bot.message(&chat_id, merged(message.clone(), fallback.clone())).await.expect(200);
                let requests = front.integrator.received(2 * sent + n + 1, PATIENCE).await;
                let mut received = requests.last().unwrap().json()["message"].clone();
                assert!(received.as_object_mut().unwrap().remove("id").is_some_and(|id| id.is_string()));
                assert_eq!(received, merged(shown.clone(), fallback));
            }
        }
    });
}

#[test]
fn a_bot_hands_over_to_an_agent_who_is_online() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        front.agent.presence("online").await;
        let asked = front.ask(VISITOR, "A human, please").await;
        let chat_id = &asked["chat_id"];
        front.bot.invite_agent(chat_id).await.expect(200);
        front.waits(1, PATIENCE).await;
        front.bot.say(chat_id, "too late").await.expect_error(403, "invalid_request");
        front.bot.invite_agent(chat_id).await.expect_error(403, "invalid_request");

        front.agent.accept(1).await;
        let joined = front.notifications("AGENT_JOINED").await;
        let notice = json!({
            "event": "AGENT_JOINED", "id": joined["id"], "site_id": front.account.id, "client_id": "1", "chat_id": "1",
        });
        assert_eq!(joined, notice);
        assert!(joined["id"].is_string() && joined["id"] != asked["id"], "{joined}");
        front.agent.write(1, "Here I am").await;
        front.integrator.received(1, PATIENCE).await;
        assert_eq!(front.integrator.texts(), ["Here I am"]);

        front.agent.close(1).await;
        let closed = front.notifications("CHAT_CLOSED").await;
        assert_eq!(closed, merged(notice, json!({"event": "CHAT_CLOSED", "id": closed["id"]})));
        front.bot.say(chat_id, "still here").await.expect_error(403, "invalid_request");
        let events: Vec<_> = front.provider.requests().iter().map(|request| request.json()["event"].clone()).collect();
        assert_eq!(events, ["CLIENT_MESSAGE", "AGENT_JOINED", "CHAT_CLOSED"], "AGENT_UNAVAILABLE is not among them");

        let again = front.ask(VISITOR, "One more thing").await;
        assert_eq!((&again["chat_id"], &again["client_id"]), (&json!("2"), &json!("1")));
        assert_eq!(front.state(2).await, "bot");
        front.bot.say(&again["chat_id"], "Yes?").await.expect(200);
    });
}

#[test]
fn without_an_agent_the_bot_goes_on_and_asks_for_contacts() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let asked = front.ask(VISITOR, "A human, please").await;
        let (chat_id, client_id) = (&asked["chat_id"], &asked["client_id"]);
        front.bot.invite_agent(chat_id).await.expect(200);
        let notifications = front.notifications("AGENT_UNAVAILABLE").await;
        let expected = json!({
            "event": "AGENT_UNAVAILABLE", "id": notifications["id"], "site_id": front.account.id, "client_id": "1",
            "chat_id": "1",
        });
        assert_eq!(notifications, expected);
        assert_eq!(front.state(1).await, "bot");
        front.bot.say(chat_id, "Nobody is here. What is your number?").await.expect(200);

        front.ask(VISITOR, "Ada, 020 123").await;
        let notifications = json!({"event": "CLIENT_INFO", "client_id": client_id, "name": "Ada", "phone": "020 123"});
        front.bot.post(&notifications).await.expect(200);
        let notifications =
            json!({"event": "CLIENT_INFO", "chat_id": chat_id, "contacts": {"email": "ada@example.com"}});
        front.bot.post(&notifications).await.expect(200);
        let visitor = front.agent.chat(1).await["visitor"].clone();
        let known = [&visitor["name"], &visitor["phone"], &visitor["email"]];
        assert_eq!(known, ["Ada", "020 123", "ada@example.com"]);
        assert_eq!(front.agent.chats("bot").await[0]["visitor"]["name"], "Ada");
        let sender = front.ask(VISITOR, "Well?").await["sender"].clone();
        assert_eq!((&sender["name"], &sender["has_contacts"]), (&json!("Ada"), &json!(true)));

        front.agent.presence("online").await;
        front.bot.invite_agent(chat_id).await.expect(200);
        front.waits(1, PATIENCE).await;
        assert_eq!(front.tries("AGENT_UNAVAILABLE").len(), 1);
    });
}

#[test]
fn an_agent_of_another_channel_is_not_there_for_this_one() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let ann = front.account.agent("Ann").await;
        let channel = format!("/admin/channels/{}", front.channel.id);
        front.agent.call.patch(&channel, &json!({"agent_ids": [ann.id]})).await.expect(200);
        front.agent.presence("online").await;
        let chat_id = front.ask(VISITOR, "A human, please").await["chat_id"].clone();
        front.bot.invite_agent(&chat_id).await.expect(200);
        front.notifications("AGENT_UNAVAILABLE").await;
        ann.presence("online").await;
        front.bot.invite_agent(&chat_id).await.expect(200);
        front.waits(1, PATIENCE).await;
    });
}

#[test]
fn an_agent_takes_over_from_a_bot_that_still_talks() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let chat_id = front.ask(VISITOR, "Hello").await["chat_id"].clone();
        front.agent.accept(1).await;
        front.notifications("AGENT_JOINED").await;
        front.bot.say(&chat_id, "late").await.expect_error(403, "invalid_request");

        front.channel.say(VISITOR, "Who is there?").await;
        assert!(front.entry(1, "Who is there?").await["bot_delivery"].is_null());
        front.agent.write(1, "Me").await;
        front.integrator.received(1, PATIENCE).await;
        assert_eq!(front.integrator.texts(), ["Me"], "nothing of the bot came through");
        front.agent.close(1).await;
        front.notifications("CHAT_CLOSED").await;
        assert_eq!(front.tries("CLIENT_MESSAGE").len(), 1, "what was said to the agent did not go to the bot");
    });
}

#[test]
fn a_chat_is_closed_while_the_bot_has_it() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let chat_id = front.ask(VISITOR, "Hello").await["chat_id"].clone();
        front.agent.close(1).await;
        front.notifications("CHAT_CLOSED").await;
        front.bot.say(&chat_id, "late").await.expect_error(403, "invalid_request");
        assert_eq!(front.ask(VISITOR, "Hello again").await["chat_id"], "2");
    });
}

#[test]
fn a_provider_may_answer_while_it_is_still_being_asked() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let bot = front.bot.clone();
        front.provider.act(move |request| {
            let bot = bot.clone();
            async move {
                let reply = bot.say(&request.json()["chat_id"], "from inside").await;
                Answer::Json(if reply.status == 200 { 200 } else { 500 }, json!({}))
            }
        });
        front.channel.say(VISITOR, "Hello").await;
        front.integrator.received(1, PATIENCE).await;
        assert_eq!(front.integrator.texts(), ["from inside"]);
        let delivery = front.bot_verdict(1, "Hello").await;
        assert_eq!(delivery["state"], "delivered");
        assert_eq!(delivery["attempts"].as_array().unwrap().len(), 1);
    });
}

#[test]
fn ten_messages_of_a_bot_arrive_in_the_order_they_were_posted() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let chat_id = front.ask(VISITOR, "Tell me").await["chat_id"].clone();
        let texts: Vec<String> = (1..=10).map(|n| format!("answer {n}")).collect();
        for text in &texts {
            front.bot.say(&chat_id, text).await.expect(200);
        }
        front.integrator.received(10, PATIENCE).await;
        assert_eq!(front.integrator.texts(), texts);
    });
}

#[test]
fn an_event_finds_its_chat_by_whatever_it_names() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let asked = front.ask(VISITOR, "Hello").await;
        let chat = chat_of(&asked);
        let message = json!({"type": "TEXT", "text": "Hi"});
        let good = [
            json!({"chat_id": "1"}),
            json!({"chat_id": 1}),
            json!({"chat_id": 1, "client_id": "1", "id": null}),
            json!({"client_id": "1"}),
            json!({"client_id": 1, "id": 7}),
            json!({"chat_id": null, "client_id": 1}),
            json!({"id": asked["id"]}),
        ];
        for (sent, route) in good.iter().enumerate() {
            let event = merged(json!({"event": "BOT_MESSAGE", "message": message}), route.clone());
            assert_eq!(front.bot.post(&event).await.expect(200), json!({"result": "ok"}), "{route}");
            wait_for("the message", PATIENCE, async || {
                let said = front.agent.messages(chat).await.iter().filter(|entry| entry["from"] == "bot").count();
                if said == sent + 1 { Ok(()) } else { Err(said) }
            })
            .await;
        }
        let invitation = json!({"event": "INVITE_AGENT", "id": asked["id"]});
        front.bot.post(&invitation).await.expect(200);
        front.notifications("AGENT_UNAVAILABLE").await;
    });
}

#[test]
fn an_event_that_names_no_chat_or_two_is_refused() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let asked = front.ask(VISITOR, "Hello").await;
        front.ask("somebody else", "Me too").await;
        let events = [
            json!({"event": "BOT_MESSAGE", "message": {"type": "TEXT", "text": "Hi"}}),
            json!({"event": "INVITE_AGENT"}),
            json!({"event": "CLIENT_INFO", "name": "Ada"}),
        ];
        let routes = [
            (json!({}), "chat_id"),
            (json!({"id": "any"}), "chat_id"),
            (json!({"id": unknown_id(&asked)}), "chat_id"),
            (json!({"chat_id": "99"}), "chat_id"),
            (json!({"client_id": 99}), "client_id"),
            (json!({"chat_id": 1, "client_id": 2}), "client_id"),
            (json!({"chat_id": "2", "client_id": "1"}), "client_id"),
        ];
        for event in &events {
            for (route, field) in &routes {
                let reply = front.bot.post(&merged(event.clone(), route.clone())).await;
                assert_eq!(reply.status, 400, "{event} {route}: {}", reply.text);
                assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], *field, "{event} {route}");
            }
        }
        assert!(front.integrator.requests().is_empty());
        for chat in [1, 2] {
            assert_eq!(front.agent.messages(chat).await.len(), 1);
            assert_eq!(front.agent.chat(chat).await["visitor"]["name"], "Anonymous");
        }
    });
}

/// An id like ours with another last digit.
fn unknown_id(event: &Value) -> String {
    let mut id = event["id"].as_str().unwrap().to_owned();
    let last = if id.pop() == Some('0') { '1' } else { '0' };
    id.push(last);
    id
}

#[test]
fn a_client_without_an_open_chat_cannot_be_written_to() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        front.ask(VISITOR, "Hello").await;
        front.agent.close(1).await;
        let event = json!({"event": "BOT_MESSAGE", "client_id": 1, "message": {"type": "TEXT", "text": "Hi"}});
        let reply = front.bot.post(&event).await;
        assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], "client_id");
    });
}
