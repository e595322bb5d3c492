//! Bots on standby: they read along while an agent has their chat, and suggest answers.

use serde_json::{Value, json};

use crate::support::bot_fixture::BotFixture;
use crate::support::test_host::{TestHost, VISITOR_ID, run_on_shared_host, run_with_virtual_time};
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

/// A chat that an agent has taken from its bot.
async fn accepted_chat(host: &TestHost, is_on_standby: bool) -> (BotFixture, Value) {
    let fixture = BotFixture::create_with(host, json!({}), json!({"standby": is_on_standby})).await;
    let chat_id = fixture.send_visitor_text(VISITOR_ID, "Hello").await["chat_id"].clone();
    fixture.agent.accept(1).await;
    fixture.wait_for_event("AGENT_JOINED").await;
    (fixture, chat_id)
}

impl BotFixture {
    async fn suggest(&self, chat_id: &Value, text: &str) {
        self.bot.post(&json!({"event": "DRAFT", "chat_id": chat_id, "text": text})).await.expect(200);
    }

    async fn suggestion(&self) -> Value {
        self.agent.chat(1).await["panel"]["draft"].clone()
    }
}

#[test]
fn bot_on_standby_gets_copies_of_what_visitor_and_agent_write() {
    run_on_shared_host(async |host| {
        let (fixture, chat_id) = accepted_chat(host, true).await;
        fixture.channel.send_text(VISITOR_ID, "And on Sunday?").await;
        fixture.agent.send_text(1, "One moment").await;
        fixture.agent.client.post("/agent/chats/1/notes", &json!({"text": "Private"})).await.expect(201);
        fixture.integrator.wait_for_requests(1, WAIT_TIMEOUT).await;
        let copies = wait_for("two copies", WAIT_TIMEOUT, async || {
            let copies = fixture.attempts("STANDBY_MESSAGE");
            if copies.len() >= 2 { Ok(copies) } else { Err(copies.len()) }
        })
        .await;
        let mut shown: Vec<_> = copies.iter().map(|copy| copy.json()["message"].clone()).collect();
        shown.sort_by_key(|message| message["seq"].as_u64());
        let texts: Vec<_> = shown.iter().map(|message| [&message["from"], &message["text"]]).collect();
        assert_eq!(texts, [[&json!("visitor"), &json!("And on Sunday?")], [&json!("agent"), &json!("One moment")]]);
        assert_eq!(copies[0].json()["chat_id"], chat_id);
        assert!(copies[0].is_signed_with(&fixture.bot.signing_secret));
        assert_eq!(fixture.attempts("CLIENT_MESSAGE").len(), 1, "the bot must answer only its own chats");
        fixture.bot.send_text(&chat_id, "From 10 to 2").await.expect(403);
    });
}

#[test]
fn bot_that_is_not_on_standby_gets_no_copy_and_suggests_nothing() {
    run_with_virtual_time(async |host, time| {
        for (is_on_standby, copies) in [(true, 1), (false, 0)] {
            let (fixture, chat_id) = accepted_chat(host, is_on_standby).await;
            fixture.channel.send_text(VISITOR_ID, "And on Sunday?").await;
            time.run_until_queues_are_empty().await;
            assert_eq!(fixture.attempts("STANDBY_MESSAGE").len(), copies);
            let status = if is_on_standby { 200 } else { 403 };
            fixture.bot.post(&json!({"event": "DRAFT", "chat_id": chat_id, "text": "At ten"})).await.expect(status);
            let path = format!("{}/chats/1/messages", fixture.bot.webhook_path());
            fixture.bot.client.get(&path).await.expect(status);
            assert_eq!(fixture.suggestion().await.is_null(), !is_on_standby);
        }
    });
}

#[test]
fn late_suggestion_counts_as_one_from_before_the_answer() {
    run_on_shared_host(async |host| {
        let (fixture, chat_id) = accepted_chat(host, true).await;
        let answered = fixture.agent.send_text(1, "From 9 to 5").await;
        let late = json!({"event": "DRAFT", "chat_id": chat_id, "reply_to_seq": 1, "text": "From 9 to 5"});
        fixture.bot.post(&late).await.expect(200);
        assert!(fixture.suggestion().await["after_seq"].as_u64().unwrap() < answered, "the console hides it");
        fixture.suggest(&chat_id, "On Sundays from 10").await;
        assert!(fixture.suggestion().await["after_seq"].as_u64().unwrap() >= answered);
        fixture.integrator.wait_for_requests(1, WAIT_TIMEOUT).await;
    });
}

#[test]
fn suggested_answer_is_shown_to_the_agent_and_counted() {
    run_on_shared_host(async |host| {
        let (fixture, chat_id) = accepted_chat(host, true).await;
        fixture.suggest(&chat_id, "From 9 to 5").await;
        fixture.suggest(&chat_id, "From 9 to 5, on Sundays from 10").await;
        let shown = fixture.suggestion().await;
        let expected = json!({
            "bot": "Robin", "text": "From 9 to 5, on Sundays from 10", "after_seq": shown["after_seq"], "at": shown["at"],
        });
        assert_eq!(shown, expected, "the last one");
        assert_eq!(fixture.agent.timeline(1).await.iter().filter(|entry| entry["from"] == "bot").count(), 0);

        let message = |draft: &str| json!({"type": "text", "text": "From 9 to 5", "draft": draft});
        fixture.agent.send_message(1, &message("taken")).await;
        fixture.agent.send_message(1, &message("edited")).await;
        let invalid = fixture.agent.client.post("/agent/chats/1/messages", &message("liked")).await.expect(400);
        assert_eq!(invalid["error"]["field"], "draft");
        fixture.suggest(&chat_id, "Anything else?").await;
        let report = fixture.agent.client.get("/admin/reports").await.expect(200);
        assert_eq!(report["total"]["drafts"], json!({"suggested": 3, "taken": 1, "edited": 1, "ignored": 1}));
        fixture.integrator.wait_for_requests(2, WAIT_TIMEOUT).await;
    });
}

#[test]
fn suggestion_needs_an_agent_and_may_be_refused_as_out_of_date() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create_with(host, json!({}), json!({"standby": true})).await;
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "Hello").await["chat_id"].clone();
        let draft =
            |seq: u64| json!({"event": "DRAFT", "chat_id": chat_id, "reply_to_seq": seq, "text": "From 9 to 5"});
        fixture.bot.post(&draft(1)).await.expect(403);
        fixture.agent.accept(1).await;
        fixture.bot.post(&draft(1)).await.expect(200);
        fixture.channel.send_text(VISITOR_ID, "On Sunday, I mean").await;
        let refused = fixture.bot.post(&draft(1)).await.expect(409);
        assert_eq!(refused["messages"][0]["text"], "On Sunday, I mean");
        let late = json!({"event": "DRAFT", "chat_id": chat_id, "text": " "});
        assert_eq!(fixture.bot.post(&late).await.expect(400)["error"]["field"], "text");
    });
}
