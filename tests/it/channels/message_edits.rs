//! Tests for messages that a visitor edits: the `edits` field of a message of an API channel.

use serde_json::{Value, json};

use crate::support::account_with_webhook::{WebhookFixture, add_webhook, ok_response};
use crate::support::agent_socket::AgentSocket;
use crate::support::api_client::{TestChannel, send};
use crate::support::bot_fixture::{BotFixture, chat_number};
use crate::support::test_host::{ActiveChat, VISITOR_ID, run_on_shared_host, visitor_text};
use crate::support::test_receiver::TestReceiver;
use crate::support::wait::WAIT_TIMEOUT;

const INTEGRATOR: &str = "https://app.example/hook";
const UNKNOWN_ID: &str = "01a214d2-d7b1-7000-8000-04000000ab59";

fn edit_of(id: &Value, text: &str) -> Value {
    json!({"sender": {"id": VISITOR_ID}, "message": {"type": "text", "edits": id, "text": text}})
}

/// Sends a text of the default visitor and returns its id.
async fn send_text(channel: &TestChannel, text: &str) -> Value {
    channel.post(&visitor_text(VISITOR_ID, text)).await.expect(200)["id"].clone()
}

#[test]
fn agents_see_an_edited_message_at_once() {
    run_on_shared_host(async |host| {
        let active = ActiveChat::create(host, INTEGRATOR, json!({})).await;
        let (agent, channel) = (&active.agent, &active.channel);
        let sent = channel.post(&visitor_text(VISITOR_ID, "Where is my ordr?")).await.expect(200);
        let before = agent.timeline_entry(active.number, sent["seq"].as_u64().unwrap()).await;
        assert_eq!(before["id"], sent["id"]);
        assert!(before["edited_at"].is_null(), "{before}");

        let mut socket = AgentSocket::open(agent).await;
        let edited = channel.post(&edit_of(&sent["id"], "Where is my order?")).await.expect(200);
        assert_eq!(edited, sent, "the response is that of the message");
        // The entry and the header are two changes, whose pushes can come in either order.
        let (mut pushed, mut row) = (Value::Null, Value::Null);
        while pushed.is_null() || row.is_null() {
            let frame = socket.next().await;
            match frame["type"].as_str() {
                Some("delivery") => pushed = frame,
                Some("chat") => row = frame["chat"].clone(),
                _ => {}
            }
        }
        assert_eq!(pushed["message"]["text"], "Where is my order?");
        assert_eq!(row["last_message"]["text"], "Where is my order?");
        assert_eq!(row["last_message"]["timestamp"], before["timestamp"], "{row}");

        let mut after = agent.timeline_entry(active.number, sent["seq"].as_u64().unwrap()).await;
        assert_eq!(after, pushed["message"]);
        assert!(after["edited_at"].as_u64() >= before["timestamp"].as_u64(), "{after}");
        after.as_object_mut().unwrap().remove("edited_at");
        after["text"] = before["text"].clone();
        assert_eq!(after, before, "everything else is unchanged");
        let exported = agent.client.get(&format!("/admin/chats/export?chat_id={}", active.number)).await.expect(200);
        assert!(!exported.to_string().contains("ordr"), "{exported}");
        assert!(exported.to_string().contains("Where is my order?"), "{exported}");
    });
}

#[test]
fn edits_are_rejected_like_messages() {
    run_on_shared_host(async |host| {
        let active = ActiveChat::create(host, INTEGRATOR, json!({})).await;
        let (agent, channel) = (&active.agent, &active.channel);
        let id = send_text(channel, "Hi").await;
        let photo = json!({
            "sender": {"id": VISITOR_ID},
            "message": {"type": "photo", "file": "https://cdn.example/f", "file_name": "f", "file_size": 1, "text": "T"},
        });
        let photo_id = channel.post(&photo).await.expect(200)["id"].clone();
        let mut photo_edit = photo.clone();
        photo_edit["message"]["edits"] = id.clone();
        for (field, body) in [
            ("message.edits", edit_of(&json!(7), "new")),
            ("message.edits", edit_of(&photo_id, "new")),
            ("message.edits", photo_edit),
            ("message.text", json!({"sender": {"id": VISITOR_ID}, "message": {"type": "text", "edits": id}})),
        ] {
            let refused = channel.post(&body).await.expect_error(400, "invalid_request");
            assert_eq!(refused["error"]["field"], field, "{body}");
        }
        let answer = active.send_text("Hello").await;
        let answer_id = agent.timeline_entry(active.number, answer).await["id"].clone();
        for unknown in [&answer_id, &json!(UNKNOWN_ID), &json!("x")] {
            channel.post(&edit_of(unknown, "new")).await.expect_error(404, "not_found");
        }
        let mut of_another = edit_of(&id, "new");
        of_another["sender"]["id"] = json!("another");
        channel.post(&of_another).await.expect_error(404, "not_found");
        channel.send_text("another", "Hi").await;
        channel.post(&of_another).await.expect_error(404, "not_found");
        let other = active.account.create_channel(INTEGRATOR).await;
        other.send_text(VISITOR_ID, "Hi").await;
        other.post(&edit_of(&id, "new")).await.expect_error(404, "not_found");

        let long = "ß".repeat(1_001);
        let seq = channel.post(&edit_of(&id, &long)).await.expect(200)["seq"].as_u64().unwrap();
        let text = async || agent.timeline_entry(active.number, seq).await["text"].clone();
        assert_eq!(text().await, json!("ß".repeat(1_000)));
        agent.close(active.number).await;
        channel.post(&edit_of(&id, "new")).await.expect_error(409, "conflict");
        assert_eq!(text().await, json!("ß".repeat(1_000)));
    });
}

#[test]
fn edit_with_an_idempotency_key_happens_once() {
    run_on_shared_host(async |host| {
        let active = ActiveChat::create(host, INTEGRATOR, json!({})).await;
        let channel = &active.channel;
        let id = send_text(channel, "One").await;
        let edit = async |text: &str| {
            let request = channel.client.request(reqwest::Method::POST, &channel.endpoint);
            send(request.header("idempotency-key", "edit-1").json(&edit_of(&id, text))).await
        };
        let first = edit("Two").await.expect(200);
        channel.post(&edit_of(&id, "Three")).await.expect(200);
        assert_eq!(edit("Two").await.expect(200), first);
        edit("Four").await.expect_error(422, "idempotency_mismatch");
        let entry = active.agent.timeline_entry(active.number, first["seq"].as_u64().unwrap()).await;
        assert_eq!(entry["text"], "Three");
    });
}

#[test]
fn edits_of_a_blacklisted_visitor_are_dropped() {
    run_on_shared_host(async |host| {
        let active = ActiveChat::create(host, INTEGRATOR, json!({})).await;
        let sent = active.channel.post(&visitor_text(VISITOR_ID, "One")).await.expect(200);
        active.agent.client.patch("/agent/visitors/1", &json!({"blacklisted": true})).await.expect(200);
        let edited = active.channel.post(&edit_of(&sent["id"], "Two")).await.expect(200);
        assert_eq!(edited, json!({"result": "ok"}));
        let entry = active.agent.timeline_entry(active.number, sent["seq"].as_u64().unwrap()).await;
        assert_eq!(entry["text"], "One");
    });
}

#[test]
fn receivers_of_a_message_get_no_event_for_its_edit() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let webhook = TestReceiver::start(ok_response()).await;
        add_webhook(&fixture.account, &webhook, json!({"events": ["message", "chat_finished"]})).await;
        let id = send_text(&fixture.channel, "Where is my ordr?").await;
        webhook.wait_for_requests(1, WAIT_TIMEOUT).await;
        fixture.channel.post(&edit_of(&id, "Where is my order?")).await.expect(200);
        fixture.agent.accept(1).await;
        fixture.agent.close(1).await;
        let requests = webhook.wait_for_requests(2, WAIT_TIMEOUT).await;
        let finished = requests[1].json();
        assert_eq!(finished["event_name"], "chat_finished");
        assert!(finished.to_string().contains("Where is my order?"), "{finished}");
        assert!(!finished.to_string().contains("ordr"), "{finished}");
    });
}

#[test]
fn bot_reads_the_new_text_but_is_not_told() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let event = fixture.send_visitor_text(VISITOR_ID, "Where is my ordr?").await;
        let chat = chat_number(&event);
        fixture.final_bot_delivery(chat, "Where is my ordr?").await;
        let id = fixture.entry_with_text(chat, "Where is my ordr?").await["id"].clone();
        fixture.channel.post(&edit_of(&id, "Where is my order?")).await.expect(200);
        let history = fixture.bot.client.get(&format!("{}/chats/{chat}/messages", fixture.bot.webhook_path())).await;
        let history = history.expect(200).to_string();
        assert!(history.contains("Where is my order?") && !history.contains("ordr"), "{history}");
        fixture.channel.post(&visitor_text(VISITOR_ID, "Hello?")).await.expect(200);
        fixture.final_bot_delivery(chat, "Hello?").await;
        let texts: Vec<Value> =
            fixture.attempts("CLIENT_MESSAGE").iter().map(|it| it.json()["message"]["text"].clone()).collect();
        assert_eq!(texts, [json!("Where is my ordr?"), json!("Hello?")]);
    });
}
