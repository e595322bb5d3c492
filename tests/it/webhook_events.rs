//! Part C of the specification: what the webhooks of an account are told, compared with C1 field by field.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::client::{Agent, merged, number};
use crate::harness::{VISITOR, on_stage, open_chat};
use crate::hook::{Hooked, add, fine, names, notifications, recorded};
use crate::provider::{Front, NAME};
use crate::receiver::{Receiver, Request};
use crate::wait::{PATIENCE, wait_for};

const PAGE: &str = "https://shop.example/cart?x=1";

/// A message whose sender tells everything that an event carries.
fn introduction(name: &str) -> Value {
    json!({
        "sender": {
            "id": VISITOR, "name": name, "email": "ada@example.com", "phone": "+31 6 1", "url": PAGE,
            "invite": "Can I help?",
        },
        "message": {"type": "text", "text": "Hello"},
    })
}

/// The fields that all events of a chat share.
fn common(event: &str, widget_id: &str, visitor: &Value) -> Value {
    json!({
        "event_name": event,
        "chat_id": 1,
        "widget_id": widget_id,
        "visitor": visitor,
        "session": {
            "geoip": {
                "region_code": "", "country": "", "country_code": "", "region": "", "city": "", "latitude": "",
                "longitude": "", "organization": "",
            },
            "utm": "", "utm_json": {}, "ip_addr": "", "user_agent": "",
        },
        "page": {"url": PAGE},
        "analytics": null,
        "user_token": null,
    })
}

/// The visitor of [`introduction`] in C1's words.
fn visitor_named(name: &str) -> Value {
    json!({
        "name": name, "email": "ada@example.com", "phone": "+31 6 1", "number": "1", "description": "", "social": {},
        "chats_count": 1,
    })
}

impl Hooked {
    fn ann(&self) -> Value {
        assert!(self.agent.id.is_u64(), "{}", self.agent.id);
        json!({"id": self.agent.id, "name": "Ann", "email": self.agent.email, "phone": "+31 20 1"})
    }

    /// An event about the visitor who introduced themselves, that Ann caused.
    fn expected(&self, event: &str, visitor: &Value) -> Value {
        merged(common(event, &self.channel.id, visitor), json!({"agent": self.ann()}))
    }

    /// The visitor introduces themselves as Ada, and Ann accepts.
    async fn introduced(&self) {
        self.channel.post(&introduction("Ada")).await.expect(200);
        self.agent.accept(1).await;
        recorded(&self.agent, 1, "chat_accepted").await;
    }
}

#[test]
fn chat_accepted_tells_who_asks_and_who_answers() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        hooked.introduced().await;
        let request = hooked.crm.requests().remove(0);
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/hook"));
        assert_eq!(request.header("content-type"), Some("application/json; charset=utf-8"));
        assert!(request.header("user-agent").is_some_and(|agent| agent.starts_with("Switchboard")));
        assert_eq!(request.json(), hooked.expected("chat_accepted", &visitor_named("Ada")));
    });
}

#[test]
fn what_is_not_known_of_a_visitor_or_an_agent_is_left_out() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        open_chat(&hooked.account.admin, &hooked.channel, VISITOR).await;
        let body = notifications(&hooked.crm, "chat_accepted").await;
        assert_eq!(body["visitor"], json!({"number": "1", "description": "", "social": {}, "chats_count": 1}));
        assert_eq!(body["page"], json!({"url": ""}));
        let mut known: Vec<_> = body["agent"].as_object().unwrap().keys().collect();
        known.sort();
        assert_eq!(known, ["email", "id", "name"]);
    });
}

#[test]
fn a_visitor_who_comes_back_has_another_chat_and_the_same_number() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        let first = hooked.accepted().await;
        hooked.agent.close(first).await;
        hooked.accepted().await;
        let last = hooked.crm.requests().pop().unwrap().json();
        assert_eq!((&last["event_name"], &last["chat_id"]), (&json!("chat_accepted"), &json!(2)));
        assert_eq!((&last["visitor"]["number"], &last["visitor"]["chats_count"]), (&json!("1"), &json!(2)));
    });
}

#[test]
fn chat_updated_tells_what_the_agent_corrected() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        hooked.introduced().await;
        let known = json!({"name": "Ada L.", "email": "a@b.c", "phone": "2", "description": "Likes numbers"});
        hooked.correct(known.clone()).await;
        let visitor = merged(visitor_named("Ada"), known);
        assert_eq!(notifications(&hooked.crm, "chat_updated").await, hooked.expected("chat_updated", &visitor));
    });
}

#[test]
fn chat_updated_tells_the_new_name_that_a_message_brings() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        hooked.introduced().await;
        hooked.channel.post(&introduction("Augusta")).await.expect(200);
        let expected = hooked.expected("chat_updated", &visitor_named("Augusta"));
        assert_eq!(notifications(&hooked.crm, "chat_updated").await, expected);
    });
}

#[test]
fn chat_updated_tells_what_a_bot_found_out() {
    on_stage(async |stage| {
        let (front, crm) = (Front::open(stage).await, Receiver::start(fine()).await);
        add(&front.account, &crm, json!({})).await;
        front.channel.say(VISITOR, "Hello").await;
        front.agent.accept(1).await;
        let contacts = json!({"name": "Ada", "email": "ada@example.com", "phone": "1"});
        let info = json!({"event": "CLIENT_INFO", "id": "any", "chat_id": 1, "contacts": contacts});
        front.bot.post(&info).await.expect(200);

        let visitor = &notifications(&crm, "chat_updated").await["visitor"];
        assert_eq!(merged(visitor.clone(), contacts), *visitor);
        let shown = front.agent.chat(1).await;
        assert_eq!(shown["visitor"]["sources"], json!({"name": "bot", "email": "bot", "phone": "bot"}));
    });
}

#[test]
fn what_changes_nothing_is_not_told() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        hooked.introduced().await;
        hooked.correct(json!({"name": "Ada"})).await;
        hooked.channel.post(&introduction("Ada")).await.expect(200);
        hooked.agent.accept(1).await;
        hooked.agent.close(1).await;
        notifications(&hooked.crm, "chat_finished").await;
        assert_eq!(names(&hooked.crm), ["chat_accepted", "chat_finished"]);
    });
}

#[test]
fn what_the_integrator_repeats_is_not_told_and_neither_is_another_page() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        hooked.introduced().await;
        hooked.correct(json!({"name": "Ada L."})).await;
        let mut elsewhere = introduction("Ada");
        elsewhere["sender"]["url"] = json!("https://shop.example/checkout");
        hooked.channel.post(&elsewhere).await.expect(200);
        let visitor = hooked.visitor(1).await;
        assert_eq!((&visitor["name"], &visitor["url"]), (&json!("Ada L."), &elsewhere["sender"]["url"]));
        hooked.agent.close(1).await;
        notifications(&hooked.crm, "chat_finished").await;
        assert_eq!(names(&hooked.crm), ["chat_accepted", "chat_updated", "chat_finished"]);
    });
}

/// Everybody says something in the chat that a bot stands in front of, then the agent closes it.
async fn whole_conversation(front: &Front) {
    front.channel.post(&introduction("Ada & <Co>")).await.expect(200);
    front.bot.say(&json!(1), "1 < 2").await.expect(200);
    front.agent.accept(1).await;
    front.agent.write(1, "I am \"here\"").await;
    let photo = json!({
        "type": "photo", "file": "https://cdn.example/a.png", "file_name": "a.png", "file_size": 1, "text": "Look",
    });
    front.channel.post(&json!({"sender": {"id": VISITOR}, "message": photo})).await.expect(200);
    front.agent.close(1).await;
}

#[test]
fn chat_finished_carries_the_whole_conversation() {
    on_stage(async |stage| {
        let (front, crm) = (Front::open(stage).await, Receiver::start(fine()).await);
        add(&front.account, &crm, json!({})).await;
        whole_conversation(&front).await;
        let mut body = notifications(&crm, "chat_finished").await;
        check_times(body["chat"]["messages"].as_array_mut().unwrap());

        let finished = json!({
            "agents": [{"id": front.agent.id, "name": "Grace", "email": front.agent.email}],
            "chat": {
                "messages": [
                    {"type": "visitor", "message": "Hello"},
                    {"type": "agent", "agent_id": 0, "message": "1 < 2"},
                    {"type": "agent", "agent_id": front.agent.id, "message": "I am \"here\""},
                    {"type": "visitor", "message": "Look\nhttps://cdn.example/a.png"},
                ],
                "rate": null,
                "blacklisted": false,
                "invitation": "Can I help?",
                "beginning_missing": false,
            },
            "plain_messages": body["plain_messages"],
            "html_messages": body["html_messages"],
        });
        let visitor = visitor_named("Ada & <Co>");
        assert_eq!(body, merged(common("chat_finished", &front.channel.id, &visitor), finished));
    });
}

/// Takes the times out of the records, after a look at them: whole seconds, now, in order.
fn check_times(messages: &mut [Value]) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let times: Vec<u64> = messages.iter().map(|message| number(&message["timestamp"])).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert!(times.iter().all(|at| (now - 60..=now).contains(at)), "{times:?}, now {now}");
    for message in messages {
        message.as_object_mut().unwrap().remove("timestamp");
    }
}

#[test]
fn chat_finished_carries_the_conversation_as_text_and_as_escaped_html() {
    on_stage(async |stage| {
        let (front, crm) = (Front::open(stage).await, Receiver::start(fine()).await);
        add(&front.account, &crm, json!({})).await;
        whole_conversation(&front).await;
        let body = notifications(&crm, "chat_finished").await;
        let plain = format!(
            "Ada & <Co>: Hello\n{NAME}: 1 < 2\nGrace: I am \"here\"\nAda & <Co>: Look\nhttps://cdn.example/a.png\n"
        );
        assert_eq!(body["plain_messages"], plain);
        let html = body["html_messages"].as_str().unwrap();
        for escaped in
            ["Ada &amp; &lt;Co&gt;", "1 &lt; 2", "I am &quot;here&quot;", "Look<br>https://cdn.example/a.png"]
        {
            assert!(html.contains(escaped), "{escaped}: {html}");
        }
    });
}

#[test]
fn chat_finished_leaves_out_the_beginning_of_a_chat_that_is_too_long() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        hooked.introduced().await;
        // More than a megabyte.
        for n in 0..30 {
            hooked.agent.write(1, &format!("{n} {}", "\u{1d11e}".repeat(9_990))).await;
        }
        hooked.agent.close(1).await;
        let body = notifications(&hooked.crm, "chat_finished").await;
        let messages = body["chat"]["messages"].as_array().unwrap();
        assert_eq!(body["chat"]["beginning_missing"], true);
        assert!((20..30).contains(&messages.len()), "{}", messages.len());
        assert!(messages.last().unwrap()["message"].as_str().unwrap().starts_with("29 "));
        for log in ["plain_messages", "html_messages"] {
            assert!(body[log].as_str().unwrap().lines().next().unwrap().contains("left out"), "{log}");
        }
    });
}

#[test]
fn chat_finished_names_every_agent_who_took_part() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        let (admin, ann) = (&hooked.account.admin, hooked.ann());
        let ben = hooked.account.agent("Ben").await;
        ben.presence("online").await;
        hooked.introduced().await;
        // Ann has written nothing, and is gone when the chat ends.
        hooked.agent.call.post("/agent/chats/1/transfer", &json!({"agent_id": ben.id})).await.expect(200);
        admin.call.delete(&format!("/admin/agents/{}", hooked.agent.id)).await.expect(200);
        ben.close(1).await;
        let ben = json!({"id": ben.id, "name": "Ben", "email": ben.email});
        assert_eq!(notifications(&hooked.crm, "chat_finished").await["agents"], json!([ann, ben]));

        hooked.channel.say("another", "Hello").await;
        admin.close(2).await;
        recorded(admin, 2, "chat_finished").await;
        let unaccepted = hooked.crm.requests().pop().unwrap().json();
        let grace = json!({"id": admin.id, "name": "Grace", "email": admin.email});
        assert_eq!((&unaccepted["chat_id"], &unaccepted["agents"]), (&json!(2), &json!([grace])));
    });
}

#[test]
fn chat_finished_says_that_the_visitor_was_blacklisted() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        hooked.introduced().await;
        hooked.correct(json!({"blacklisted": true})).await;
        hooked.agent.close(1).await;
        let chat = &notifications(&hooked.crm, "chat_finished").await["chat"];
        assert_eq!((&chat["blacklisted"], &chat["rate"]), (&json!(true), &Value::Null));
    });
}

#[test]
fn nothing_is_told_before_an_agent_accepts() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        for name in ["Ada", "Augusta"] {
            hooked.channel.post(&introduction(name)).await.expect(200);
        }
        hooked.correct(json!({"name": "Countess"})).await;
        let timeline = hooked.agent.messages(1).await;
        assert!(timeline.iter().all(|entry| entry["from"] == "visitor"), "{timeline:#?}");
        hooked.agent.accept(1).await;
        recorded(&hooked.agent, 1, "chat_accepted").await;
        assert_eq!(names(&hooked.crm), ["chat_accepted"]);
    });
}

#[test]
fn the_events_of_a_chat_come_in_the_order_in_which_they_happened() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        open_chat(&hooked.agent, &hooked.channel, VISITOR).await;
        for n in 0..5 {
            hooked.correct(json!({"description": n.to_string()})).await;
        }
        hooked.agent.close(1).await;
        notifications(&hooked.crm, "chat_finished").await;
        let updates = ["chat_updated"; 5].into_iter();
        let expected: Vec<_> = ["chat_accepted"].into_iter().chain(updates).chain(["chat_finished"]).collect();
        assert_eq!(names(&hooked.crm), expected);
        let bodies: Vec<Value> = hooked.crm.requests().iter().map(Request::json).collect();
        let known: Vec<_> = bodies.iter().map(|body| body["visitor"]["description"].as_str().unwrap()).collect();
        assert!(known.is_sorted(), "an event knows less than the one before: {known:?}");
    });
}

#[test]
fn every_event_has_an_id_of_its_own() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        hooked.introduced().await;
        hooked.correct(json!({"name": "Augusta"})).await;
        hooked.agent.close(1).await;
        notifications(&hooked.crm, "chat_finished").await;
        let requests = hooked.crm.requests();
        let mut ids: Vec<_> = requests.iter().map(|request| request.header("webhook-id").unwrap()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 3);
    });
}

#[test]
fn each_webhook_is_told_the_events_that_it_chose() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        let (first, last) = (Receiver::start(fine()).await, Receiver::start(fine()).await);
        add(&hooked.account, &first, json!({"events": ["chat_accepted"]})).await;
        add(&hooked.account, &last, json!({"events": ["chat_updated", "chat_finished"]})).await;
        hooked.introduced().await;
        hooked.correct(json!({"name": "Augusta"})).await;
        hooked.agent.close(1).await;
        wait_for("three, one and two events", PATIENCE, async || {
            let heard = [&hooked.crm, &first, &last].map(names);
            let expected = [
                vec!["chat_accepted", "chat_updated", "chat_finished"],
                vec!["chat_accepted"],
                vec!["chat_updated", "chat_finished"],
            ];
            if heard == expected.map(|names| names.into_iter().map(str::to_owned).collect::<Vec<_>>()) {
                Ok(())
            } else {
                Err(heard)
            }
        })
        .await;
    });
}

#[test]
fn without_a_webhook_nothing_is_told_and_nothing_fails() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        open_chat(&account.admin, &channel, VISITOR).await;
        account.admin.call.patch("/agent/visitors/1", &json!({"name": "Ada"})).await.expect(200);
        channel.post(&introduction("Augusta")).await.expect(200);
        account.admin.close(1).await;
        let timeline = account.admin.messages(1).await;
        assert_eq!(timeline.len(), 2, "{timeline:#?}");
        assert!(timeline.iter().all(|entry| entry["from"] == "visitor"), "{timeline:#?}");
    });
}

#[test]
fn a_webhook_that_was_removed_is_told_no_more() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        hooked.account.admin.call.delete(&hooked.path("")).await.expect(200);
        open_chat(&hooked.agent, &hooked.channel, VISITOR).await;
        let timeline = hooked.agent.messages(1).await;
        assert_eq!(timeline.len(), 1, "{timeline:#?}");
        assert_eq!(hooked.crm.connections(), 0);
    });
}

#[test]
fn a_repeated_close_gets_the_same_answer_and_is_told_once() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        let chat = hooked.accepted().await;
        let close = async |agent: &Agent| agent.call.post(&format!("/agent/chats/{chat}/close"), &json!({})).await;
        let first = close(&hooked.agent).await.expect(200);
        recorded(&hooked.agent, chat, "chat_finished").await;
        assert_eq!(close(&hooked.agent).await.expect(200), first);
        close(&hooked.account.admin).await.expect_error(409, "conflict");
        let timeline = hooked.agent.messages(chat).await;
        assert_eq!(timeline.iter().filter(|entry| entry["type"] == "chat_finished").count(), 1);
        assert_eq!(names(&hooked.crm), ["chat_accepted", "chat_finished"]);
    });
}
