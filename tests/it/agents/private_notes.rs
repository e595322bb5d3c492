//! Tests for private notes, which agents add to the timelines of chats. Only agents see them.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::account_with_webhook::{add_webhook, ok_response};
use crate::support::api_client::{ApiResponse, TestAgent, number, send};
use crate::support::bot_fixture::{BotFixture, chat_number};
use crate::support::test_host::{ActiveChat, VISITOR_ID, run_on_shared_host};
use crate::support::test_receiver::{ReceivedRequest, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

const NOTE: &str = "text-that-only-agents-may-read";

impl TestAgent {
    async fn try_add_note(&self, chat: u64, body: Value) -> ApiResponse {
        self.client.post(&format!("/agent/chats/{chat}/notes"), &body).await
    }

    /// Adds a note and returns its `seq`.
    async fn add_note(&self, chat: u64) -> u64 {
        number(&self.try_add_note(chat, json!({"text": NOTE})).await.expect(201)["seq"])
    }
}

#[test]
fn note_appears_in_the_timeline_with_its_author() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let ann = chat.account.create_agent("Ann").await;
        let added = ann.try_add_note(chat.number, json!({"text": NOTE})).await.expect(201);
        let note = chat.agent.timeline_entry(chat.number, number(&added["seq"])).await;
        let expected = json!({
            "seq": added["seq"], "id": added["id"], "from": "agent", "agent": {"id": ann.id, "name": "Ann"},
            "type": "note", "text": NOTE, "timestamp": note["timestamp"],
        });
        assert_eq!(note, expected, "a note has no delivery");
    });
}

#[test]
fn note_is_not_a_message_of_the_chat() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let row = async || chat.agent.chats("open").await.remove(0);
        let before = row().await;
        let seq = chat.agent.add_note(chat.number).await;
        let after = row().await;
        assert_eq!((number(&before["seq"]) + 1, &after["seq"]), (seq, &json!(seq)));
        for field in ["last_message", "updated_at", "state", "agent"] {
            assert_eq!(after[field], before[field], "{field}");
        }
        let retry = format!("/agent/chats/{}/messages/{seq}/retry", chat.number);
        chat.agent.client.post(&retry, &json!({})).await.expect_error(409, "conflict");
        let replay = json!({"chat_id": chat.number, "seq": seq});
        chat.agent.client.post("/admin/deliveries/replay", &replay).await.expect_error(409, "conflict");
    });
}

/// Adds notes in every state of a chat with a bot, and checks everything that the receivers get.
#[test]
fn no_receiver_gets_a_note() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let webhook_receiver = TestReceiver::start(ok_response()).await;
        add_webhook(&fixture.account, &webhook_receiver, json!({})).await;
        let agent = &fixture.agent;
        agent.set_presence("online").await;
        let event = fixture.send_visitor_text(VISITOR_ID, "Hello").await;
        let (chat, chat_id) = (chat_number(&event), event["chat_id"].clone());
        agent.add_note(chat).await;
        fixture.bot.send_text(&chat_id, "Hello, human").await.expect(200);
        fixture.bot.invite_agent(&chat_id).await.expect(200);
        assert_eq!(fixture.chat_state(chat).await, "waiting");
        agent.add_note(chat).await;
        agent.accept(chat).await;
        agent.add_note(chat).await;
        let answer = agent.send_text(chat, "How can I help?").await;
        assert_eq!(agent.final_delivery(chat, answer).await["state"], "delivered");
        agent.client.patch("/agent/visitors/1", &json!({"name": "Ada"})).await.expect(200);
        agent.close(chat).await;
        agent.add_note(chat).await;
        fixture.wait_for_event("CHAT_CLOSED").await;
        let finished = wait_for("chat_finished", WAIT_TIMEOUT, async || {
            let events: Vec<Value> = webhook_receiver.requests().iter().map(ReceivedRequest::json).collect();
            events.iter().find(|event| event["event_name"] == "chat_finished").cloned().ok_or(events)
        })
        .await;
        let messages = finished["chat"]["messages"].as_array().unwrap();
        let texts: Vec<&Value> = messages.iter().map(|message| &message["message"]).collect();
        assert_eq!(texts, ["Hello", "Hello, human", "How can I help?"]);
        assert_eq!(finished["chat"]["beginning_missing"], false);

        let receivers = [&fixture.integrator, &fixture.provider, &webhook_receiver];
        for request in receivers.into_iter().flat_map(TestReceiver::requests) {
            let body = String::from_utf8_lossy(&request.body).into_owned();
            assert!(!body.contains(NOTE), "{} {body}", request.path);
        }
        for state in ["pending", "delivered", "failed", "superseded"] {
            let path = format!("/admin/deliveries?state={state}&chat_id={chat}");
            let log = agent.client.get(&path).await.expect(200);
            let deliveries = log["deliveries"].as_array().unwrap();
            assert!(deliveries.iter().all(|delivery| delivery["type"] != "note"), "{log}");
        }
        let notes = agent.timeline(chat).await.into_iter().filter(|entry| entry["type"] == "note").count();
        assert_eq!(notes, 4);
    });
}

#[test]
fn agents_who_see_a_chat_may_add_notes_in_it() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let [ann, ben] = [account.create_agent("Ann").await, account.create_agent("Ben").await];
        let channel = account.create_channel_with("https://app.example/hook", json!({"agent_ids": [ann.id]})).await;
        channel.send_text(VISITOR_ID, "Hello").await;
        account.admin.accept(1).await;
        let add_notes = async || {
            let mut statuses = Vec::new();
            for agent in [&ann, &ben, &account.admin] {
                statuses.push(agent.try_add_note(1, json!({"text": NOTE})).await.status);
            }
            statuses
        };
        assert_eq!(add_notes().await, [201, 403, 201], "a chat of another agent");
        account.admin.close(1).await;
        assert_eq!(add_notes().await, [201, 403, 201], "a closed chat");
        let stranger = host.create_account().await.admin;
        stranger.try_add_note(1, json!({"text": NOTE})).await.expect_error(404, "not_found");
        ann.try_add_note(2, json!({"text": NOTE})).await.expect_error(404, "not_found");
    });
}

#[test]
fn note_of_a_transfer_is_stored_before_it() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let ben = chat.account.create_agent("Ben").await;
        ben.set_presence("online").await;
        let path = format!("/agent/chats/{}/transfer", chat.number);
        let invalid = [
            (json!({"agent_id": ben.id, "note": ""}), "note"),
            (json!({"agent_id": ben.id, "note": "é".repeat(10_001)}), "note"),
            (json!({"bot_id": "b", "note": NOTE}), "note"),
        ];
        for (body, field) in invalid {
            let error = chat.agent.client.post(&path, &body).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], field, "{body}");
        }
        chat.agent.client.post(&path, &json!({"agent_id": ben.id, "note": NOTE})).await.expect(200);
        let timeline = ben.timeline(chat.number).await;
        let [_, note, transfer] = timeline.as_slice() else { panic!("{timeline:?}") };
        assert_eq!(
            (&note["type"], &note["text"], &note["agent"]["id"]),
            (&json!("note"), &json!(NOTE), &chat.agent.id)
        );
        assert_eq!(transfer["from"], "system");
        assert_ne!(ben.chat(chat.number).await["last_message"]["text"], NOTE, "a note is no message");
    });
}

#[test]
fn invalid_note_is_rejected() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let bodies =
            [json!({}), json!({"text": null}), json!({"text": ""}), json!({"text": 5}), json!({"text": ["x"]})];
        for body in bodies.into_iter().chain([json!({"text": "é".repeat(10_001)})]) {
            let refused = chat.agent.try_add_note(chat.number, body.clone()).await.expect_error(400, "invalid_request");
            assert_eq!(refused["error"]["field"], "text", "{body}");
        }
        chat.agent.try_add_note(chat.number, json!({"text": "é".repeat(10_000), "more": 1})).await.expect(201);
        assert_eq!(chat.agent.timeline(chat.number).await.len(), 2, "the message and one note");
    });
}

#[test]
fn note_and_message_with_the_same_key_are_both_stored() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let body = json!({"type": "text", "text": "Hi"});
        let post = async |resource: &str| {
            let path = format!("/agent/chats/{}/{resource}", chat.number);
            let request = chat.agent.client.request(Method::POST, &path).header("idempotency-key", "k").json(&body);
            send(request).await.expect(201)["seq"].clone()
        };
        let (note, message) = (post("notes").await, post("messages").await);
        assert_ne!(note, message);
        assert_eq!((post("notes").await, post("messages").await), (note, message), "repeated requests");
        let types: Vec<Value> =
            chat.agent.timeline(chat.number).await.into_iter().map(|entry| entry["type"].clone()).collect();
        assert_eq!(types, ["text", "note", "text"]);
    });
}

#[test]
fn notes_are_erased_with_their_visitor() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        chat.agent.close(chat.number).await;
        chat.agent.add_note(chat.number).await;
        let erased = chat.agent.client.delete("/admin/visitors/1").await.expect(200);
        assert_eq!(erased, json!({"number": 1, "removed": {"chats": 1, "entries": 2, "files": 0}, "complete": true}));
        chat.agent.try_add_note(chat.number, json!({"text": NOTE})).await.expect_error(404, "not_found");
    });
}
