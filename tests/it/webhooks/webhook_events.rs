//! Tests for the events that webhooks receive (specification, part C), with every field in table C1.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::support::account_with_webhook::{
    WebhookFixture, add_webhook, event_names, final_webhook_delivery, ok_response, wait_for_event,
};
use crate::support::api_client::{TestAgent, merged, number};
use crate::support::bot_fixture::{BOT_NAME, BotFixture};
use crate::support::test_host::{VISITOR_ID, open_accepted_chat, run_on_shared_host, run_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

const PAGE_URL: &str = "https://shop.example/cart?x=1";

/// Returns a message whose sender has every field that webhook events can contain.
fn introduction_message(name: &str) -> Value {
    json!({
        "sender": {
            "id": VISITOR_ID, "name": name, "email": "ada@example.com", "phone": "+31 6 1", "url": PAGE_URL,
            "invite": "Can I help?",
        },
        "message": {"type": "text", "text": "Hello"},
    })
}

/// Returns the fields that every event of a chat has, with their values.
fn common_fields(event: &str, widget_id: &str, visitor: &Value) -> Value {
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
            "utm": "", "ip_addr": "", "user_agent": "",
            "utm_json": {"source": "", "campaign": "", "content": "", "medium": "", "term": ""},
        },
        "page": {"url": PAGE_URL, "title": ""},
        "analytics": null,
        "user_token": null,
    })
}

/// Returns the data of a visitor who sent [`introduction_message`], in the format of table C1 of the specification.
fn visitor_named(name: &str) -> Value {
    json!({
        "name": name, "email": "ada@example.com", "phone": "+31 6 1", "number": "1", "description": "", "social": {},
        "chats_count": 1, "external_id": VISITOR_ID,
    })
}

impl WebhookFixture {
    fn expected_agent(&self) -> Value {
        assert!(self.agent.id.is_u64(), "{}", self.agent.id);
        json!({"id": self.agent.id, "name": "Ann", "email": self.agent.email, "phone": "+31 20 123 4567"})
    }

    /// Returns the event that the webhook must receive when Ann triggers it in a chat with `visitor`.
    fn expected_event(&self, event: &str, visitor: &Value) -> Value {
        merged(common_fields(event, &self.channel.id, visitor), json!({"agent": self.expected_agent()}))
    }

    /// Opens a chat in which the visitor introduces herself as Ada with [`introduction_message`]. Ann accepts the chat.
    /// Returns once `chat_accepted` has been delivered.
    async fn accept_introduced_visitor(&self) {
        self.channel.post(&introduction_message("Ada")).await.expect(200);
        self.agent.accept(1).await;
        final_webhook_delivery(&self.agent, 1, "chat_accepted").await;
    }
}

#[test]
fn chat_accepted_contains_visitor_and_agent() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        fixture.accept_introduced_visitor().await;
        let request = fixture.webhook_receiver.requests().remove(0);
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/hook"));
        assert_eq!(request.header("content-type"), Some("application/json; charset=utf-8"));
        assert!(request.header("user-agent").is_some_and(|agent| agent.starts_with("Switchboard")));
        assert_eq!(request.json(), fixture.expected_event("chat_accepted", &visitor_named("Ada")));
    });
}

#[test]
fn timeline_names_the_agent_who_accepted_or_closed_the_chat() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        fixture.accept_introduced_visitor().await;
        fixture.agent.close(1).await;
        let timeline = fixture.agent.timeline(1).await;
        for kind in ["chat_accepted", "chat_finished"] {
            let entry = timeline.iter().find(|entry| entry["type"] == kind).unwrap();
            assert_eq!((&entry["from"], &entry["agent"]["name"]), (&json!("system"), &json!("Ann")), "{entry}");
            assert_eq!(entry["agent"]["id"], fixture.agent.id);
        }
    });
}

#[test]
fn unknown_visitor_fields_are_empty_and_unknown_agent_fields_are_omitted() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        open_accepted_chat(&fixture.account.admin, &fixture.channel, VISITOR_ID).await;
        let body = wait_for_event(&fixture.webhook_receiver, "chat_accepted").await;
        let visitor = json!({
            "number": "1", "name": "", "email": "", "phone": "", "description": "", "social": {}, "chats_count": 1,
            "external_id": VISITOR_ID,
        });
        assert_eq!(body["visitor"], visitor);
        assert_eq!(body["page"], json!({"url": "", "title": ""}));
        let mut agent_fields: Vec<_> = body["agent"].as_object().unwrap().keys().collect();
        agent_fields.sort();
        assert_eq!(agent_fields, ["email", "id", "name"]);
    });
}

#[test]
fn returning_visitor_keeps_the_number_in_a_new_chat() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let first = fixture.open_accepted_chat().await;
        fixture.agent.close(first).await;
        fixture.open_accepted_chat().await;
        let last = fixture.webhook_receiver.requests().pop().unwrap().json();
        assert_eq!((&last["event_name"], &last["chat_id"]), (&json!("chat_accepted"), &json!(2)));
        assert_eq!((&last["visitor"]["number"], &last["visitor"]["chats_count"]), (&json!("1"), &json!(2)));
    });
}

#[test]
fn chat_updated_contains_agent_changes() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        fixture.accept_introduced_visitor().await;
        let changes = json!({"name": "Ada L.", "email": "a@b.c", "phone": "2", "description": "Likes numbers"});
        fixture.update_visitor(changes.clone()).await;
        let visitor = merged(visitor_named("Ada"), changes);
        assert_eq!(
            wait_for_event(&fixture.webhook_receiver, "chat_updated").await,
            fixture.expected_event("chat_updated", &visitor)
        );
    });
}

#[test]
fn chat_updated_contains_a_new_name_from_a_message() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        fixture.accept_introduced_visitor().await;
        fixture.channel.post(&introduction_message("Augusta")).await.expect(200);
        let expected = fixture.expected_event("chat_updated", &visitor_named("Augusta"));
        assert_eq!(wait_for_event(&fixture.webhook_receiver, "chat_updated").await, expected);
    });
}

#[test]
fn chat_updated_contains_contacts_from_a_bot() {
    run_on_shared_host(async |host| {
        let (fixture, webhook_receiver) = (BotFixture::create(host).await, TestReceiver::start(ok_response()).await);
        add_webhook(&fixture.account, &webhook_receiver, json!({})).await;
        fixture.channel.send_text(VISITOR_ID, "Hello").await;
        fixture.agent.accept(1).await;
        let contacts = json!({"name": "Ada", "email": "ada@example.com", "phone": "1"});
        let client_info = json!({"event": "CLIENT_INFO", "id": "any", "chat_id": 1, "contacts": contacts});
        fixture.bot.post(&client_info).await.expect(200);

        let visitor = &wait_for_event(&webhook_receiver, "chat_updated").await["visitor"];
        assert_eq!(merged(visitor.clone(), contacts), *visitor);
        let shown = fixture.agent.chat(1).await;
        assert_eq!(shown["visitor"]["sources"], json!({"name": "bot", "email": "bot", "phone": "bot"}));
    });
}

#[test]
fn change_without_effect_sends_no_event() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        fixture.accept_introduced_visitor().await;
        fixture.update_visitor(json!({"name": "Ada"})).await;
        fixture.channel.post(&introduction_message("Ada")).await.expect(200);
        fixture.agent.accept(1).await;
        fixture.agent.close(1).await;
        wait_for_event(&fixture.webhook_receiver, "chat_finished").await;
        assert_eq!(event_names(&fixture.webhook_receiver), ["chat_accepted", "chat_finished"]);
    });
}

#[test]
fn repeated_data_and_page_changes_send_no_event() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        fixture.accept_introduced_visitor().await;
        fixture.update_visitor(json!({"name": "Ada L."})).await;
        let mut other_page = introduction_message("Ada");
        other_page["sender"]["url"] = json!("https://shop.example/checkout");
        fixture.channel.post(&other_page).await.expect(200);
        let visitor = fixture.visitor(1).await;
        assert_eq!((&visitor["name"], &visitor["url"]), (&json!("Ada L."), &other_page["sender"]["url"]));
        fixture.agent.close(1).await;
        wait_for_event(&fixture.webhook_receiver, "chat_finished").await;
        assert_eq!(event_names(&fixture.webhook_receiver), ["chat_accepted", "chat_updated", "chat_finished"]);
    });
}

/// Runs a conversation in which the visitor, the bot and the agent send messages. The agent then closes the chat.
async fn hold_conversation(fixture: &BotFixture) {
    fixture.channel.post(&introduction_message("Ada & <Co>")).await.expect(200);
    fixture.bot.send_text(&json!(1), "1 < 2").await.expect(200);
    fixture.agent.accept(1).await;
    fixture.agent.send_text(1, "I am \"here\"").await;
    let photo = json!({
        "type": "photo", "file": "https://cdn.example/a.png", "file_name": "a.png", "file_size": 1, "text": "Look",
    });
    fixture.channel.post(&json!({"sender": {"id": VISITOR_ID}, "message": photo})).await.expect(200);
    fixture.agent.close(1).await;
}

#[test]
fn chat_finished_contains_the_whole_conversation() {
    run_on_shared_host(async |host| {
        let (fixture, webhook_receiver) = (BotFixture::create(host).await, TestReceiver::start(ok_response()).await);
        add_webhook(&fixture.account, &webhook_receiver, json!({})).await;
        hold_conversation(&fixture).await;
        let mut body = wait_for_event(&webhook_receiver, "chat_finished").await;
        remove_timestamps(body["chat"]["messages"].as_array_mut().unwrap());

        let finished = json!({
            "agents": [{"id": fixture.agent.id, "name": "Grace", "email": fixture.agent.email}],
            "chat": {
                "messages": [
                    {"type": "visitor", "message": "Hello"},
                    {"type": "agent", "sender_type": "bot", "agent_id": 0, "message": "1 < 2"},
                    {"type": "agent", "sender_type": "agent", "agent_id": fixture.agent.id, "message": "I am \"here\""},
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
        assert_eq!(body, merged(common_fields("chat_finished", &fixture.channel.id, &visitor), finished));
    });
}

/// Checks that the messages' timestamps are whole seconds, close to the current time, and in order. Then removes the
/// timestamps.
fn remove_timestamps(messages: &mut [Value]) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let times: Vec<u64> = messages.iter().map(|message| number(&message["timestamp"])).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert!(times.iter().all(|at| (now - 60..=now).contains(at)), "{times:?}, now {now}");
    for message in messages {
        message.as_object_mut().unwrap().remove("timestamp");
    }
}

#[test]
fn chat_finished_contains_plain_text_and_escaped_html() {
    run_on_shared_host(async |host| {
        let (fixture, webhook_receiver) = (BotFixture::create(host).await, TestReceiver::start(ok_response()).await);
        add_webhook(&fixture.account, &webhook_receiver, json!({})).await;
        hold_conversation(&fixture).await;
        let body = wait_for_event(&webhook_receiver, "chat_finished").await;
        let plain = format!(
            "Ada & <Co>: Hello\n{BOT_NAME}: 1 < 2\nGrace: I am \"here\"\nAda & <Co>: Look\nhttps://cdn.example/a.png\n"
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
fn chat_finished_omits_the_beginning_of_a_long_chat() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        fixture.accept_introduced_visitor().await;
        // Together, the messages exceed the transcript's limit of one megabyte.
        for n in 0..30 {
            fixture.agent.send_text(1, &format!("{n} {}", "\u{1d11e}".repeat(9_990))).await;
        }
        fixture.agent.close(1).await;
        let body = wait_for_event(&fixture.webhook_receiver, "chat_finished").await;
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
fn chat_finished_lists_every_participating_agent() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let (admin, expected_agent) = (&fixture.account.admin, fixture.expected_agent());
        let ben = fixture.account.create_agent("Ben").await;
        ben.set_presence("online").await;
        fixture.accept_introduced_visitor().await;
        // Ann sends no messages and is deleted before the chat is closed.
        fixture.agent.client.post("/agent/chats/1/transfer", &json!({"agent_id": ben.id})).await.expect(200);
        admin.client.delete(&format!("/admin/agents/{}", fixture.agent.id)).await.expect(200);
        ben.close(1).await;
        let ben = json!({"id": ben.id, "name": "Ben", "email": ben.email});
        assert_eq!(
            wait_for_event(&fixture.webhook_receiver, "chat_finished").await["agents"],
            json!([expected_agent, ben])
        );

        fixture.channel.send_text("another", "Hello").await;
        admin.close(2).await;
        final_webhook_delivery(admin, 2, "chat_finished").await;
        let unaccepted = fixture.webhook_receiver.requests().pop().unwrap().json();
        let grace = json!({"id": admin.id, "name": "Grace", "email": admin.email});
        assert_eq!((&unaccepted["chat_id"], &unaccepted["agents"]), (&json!(2), &json!([grace])));
    });
}

#[test]
fn chat_finished_contains_the_blacklisted_flag() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        fixture.accept_introduced_visitor().await;
        fixture.update_visitor(json!({"blacklisted": true})).await;
        fixture.agent.close(1).await;
        let chat = &wait_for_event(&fixture.webhook_receiver, "chat_finished").await["chat"];
        assert_eq!((&chat["blacklisted"], &chat["rate"]), (&json!(true), &Value::Null));
    });
}

#[test]
fn no_events_are_sent_before_an_agent_accepts() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        for name in ["Ada", "Augusta"] {
            fixture.channel.post(&introduction_message(name)).await.expect(200);
        }
        fixture.update_visitor(json!({"name": "Countess"})).await;
        let timeline = fixture.agent.timeline(1).await;
        assert!(timeline.iter().all(|entry| entry["from"] == "visitor"), "{timeline:#?}");
        fixture.agent.accept(1).await;
        final_webhook_delivery(&fixture.agent, 1, "chat_accepted").await;
        assert_eq!(event_names(&fixture.webhook_receiver), ["chat_accepted"]);
    });
}

#[test]
fn events_of_a_chat_arrive_in_order() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        open_accepted_chat(&fixture.agent, &fixture.channel, VISITOR_ID).await;
        for n in 0..5 {
            fixture.update_visitor(json!({"description": n.to_string()})).await;
        }
        fixture.agent.close(1).await;
        wait_for_event(&fixture.webhook_receiver, "chat_finished").await;
        let updates = ["chat_updated"; 5].into_iter();
        let expected: Vec<_> = ["chat_accepted"].into_iter().chain(updates).chain(["chat_finished"]).collect();
        assert_eq!(event_names(&fixture.webhook_receiver), expected);
        let bodies: Vec<Value> = fixture.webhook_receiver.requests().iter().map(ReceivedRequest::json).collect();
        let descriptions: Vec<_> = bodies.iter().map(|body| body["visitor"]["description"].as_str().unwrap()).collect();
        assert!(descriptions.is_sorted(), "an event has older data than the previous one: {descriptions:?}");
    });
}

#[test]
fn every_event_has_a_unique_id() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        fixture.accept_introduced_visitor().await;
        fixture.update_visitor(json!({"name": "Augusta"})).await;
        fixture.agent.close(1).await;
        wait_for_event(&fixture.webhook_receiver, "chat_finished").await;
        let requests = fixture.webhook_receiver.requests();
        let mut ids: Vec<_> = requests.iter().map(|request| request.header("webhook-id").unwrap()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 3);
    });
}

#[test]
fn webhook_receives_only_its_selected_events() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let (first, last) = (TestReceiver::start(ok_response()).await, TestReceiver::start(ok_response()).await);
        add_webhook(&fixture.account, &first, json!({"events": ["chat_accepted"]})).await;
        add_webhook(&fixture.account, &last, json!({"events": ["chat_updated", "chat_finished"]})).await;
        fixture.accept_introduced_visitor().await;
        fixture.update_visitor(json!({"name": "Augusta"})).await;
        fixture.agent.close(1).await;
        wait_for("three, one and two events", WAIT_TIMEOUT, async || {
            let received = [&fixture.webhook_receiver, &first, &last].map(event_names);
            let expected = [
                vec!["chat_accepted", "chat_updated", "chat_finished"],
                vec!["chat_accepted"],
                vec!["chat_updated", "chat_finished"],
            ];
            if received == expected.map(|names| names.into_iter().map(str::to_owned).collect::<Vec<_>>()) {
                Ok(())
            } else {
                Err(received)
            }
        })
        .await;
    });
}

#[test]
fn account_without_webhooks_sends_no_events() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        open_accepted_chat(&account.admin, &channel, VISITOR_ID).await;
        account.admin.client.patch("/agent/visitors/1", &json!({"name": "Ada"})).await.expect(200);
        channel.post(&introduction_message("Augusta")).await.expect(200);
        account.admin.close(1).await;
        let timeline = account.admin.timeline(1).await;
        assert_eq!(timeline.len(), 2, "{timeline:#?}");
        assert!(timeline.iter().all(|entry| entry["from"] == "visitor"), "{timeline:#?}");
    });
}

#[test]
fn removed_webhook_receives_no_events() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        fixture.account.admin.client.delete(&fixture.webhook_path("")).await.expect(200);
        open_accepted_chat(&fixture.agent, &fixture.channel, VISITOR_ID).await;
        let timeline = fixture.agent.timeline(1).await;
        assert_eq!(timeline.len(), 1, "{timeline:#?}");
        assert_eq!(fixture.webhook_receiver.connections(), 0);
    });
}

#[test]
fn repeated_close_gets_the_same_response_and_one_event() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let chat = fixture.open_accepted_chat().await;
        let close =
            async |agent: &TestAgent| agent.client.post(&format!("/agent/chats/{chat}/close"), &json!({})).await;
        let first = close(&fixture.agent).await.expect(200);
        final_webhook_delivery(&fixture.agent, chat, "chat_finished").await;
        assert_eq!(close(&fixture.agent).await.expect(200), first);
        close(&fixture.account.admin).await.expect_error(409, "conflict");
        let timeline = fixture.agent.timeline(chat).await;
        assert_eq!(timeline.iter().filter(|entry| entry["type"] == "chat_finished").count(), 1);
        assert_eq!(event_names(&fixture.webhook_receiver), ["chat_accepted", "chat_finished"]);
    });
}

#[test]
fn webhook_gets_only_the_ownership_events_that_it_names() {
    run_with_virtual_time(async |host, time| {
        let receiver = TestReceiver::start(ok_response()).await;
        let account = host.create_account().await;
        let agent = account.create_agent("Ann").await;
        let other = account.create_agent("Bob").await;
        other.set_presence("online").await;
        let channel = account.create_channel("https://app.example/hook").await;
        let names = ["chat_opened", "chat_waiting", "chat_joined", "chat_transferred", "chat_ended"];
        add_webhook(&account, &receiver, json!({"events": names})).await;
        time.advance(seconds(11));
        let chat = open_accepted_chat(&agent, &channel, VISITOR_ID).await;
        agent.client.post(&format!("/agent/chats/{chat}/transfer"), &json!({"agent_id": other.id})).await.expect(200);
        other.close(chat).await;
        time.run_until_queues_are_empty().await;
        let events = ["chat_opened", "chat_waiting", "chat_joined", "chat_transferred", "chat_joined", "chat_ended"];
        assert_eq!(event_names(&receiver), events);
        let bodies: Vec<Value> = receiver.requests().iter().map(|request| request.json()).collect();
        let seqs: Vec<u64> = bodies.iter().map(|body| number(&body["seq"])).collect();
        assert!(seqs.is_sorted() && seqs.len() == events.len(), "{seqs:?}");
        let agents: Vec<&Value> = bodies.iter().map(|body| &body["agent"]["id"]).collect();
        assert_eq!(agents, [&Value::Null, &Value::Null, &agent.id, &other.id, &other.id, &other.id]);
        assert!(bodies.iter().all(|body| body["chat_id"] == chat && body["timestamp"].is_u64()));
    });
}

#[test]
fn fallback_from_a_bot_is_reported_to_webhooks() {
    run_with_virtual_time(async |host, time| {
        let receiver = TestReceiver::start(ok_response()).await;
        let bot = BotFixture::create_with(host, json!({"agent_ids": [1]}), json!({})).await;
        add_webhook(&bot.account, &receiver, json!({"events": ["bot_handed_over", "chat_waiting"]})).await;
        bot.provider.respond_with(CannedResponse::Json(500, json!({})));
        time.advance(seconds(11));
        bot.send_visitor_text(VISITOR_ID, "Hello").await;
        time.run_until_queues_are_empty().await;
        assert_eq!(event_names(&receiver), ["bot_handed_over", "chat_waiting"]);
    });
}

#[test]
fn chat_of_a_deleted_agent_reports_that_it_waits() {
    run_with_virtual_time(async |host, time| {
        let receiver = TestReceiver::start(ok_response()).await;
        let account = host.create_account().await;
        let agent = account.create_agent("Ann").await;
        let channel = account.create_channel("https://app.example/hook").await;
        open_accepted_chat(&agent, &channel, VISITOR_ID).await;
        add_webhook(&account, &receiver, json!({"events": ["chat_waiting"]})).await;
        time.advance(seconds(11));
        account.admin.client.delete(&format!("/admin/agents/{}", agent.id)).await.expect(200);
        time.run_until_queues_are_empty().await;
        assert_eq!(event_names(&receiver), ["chat_waiting"]);
    });
}
