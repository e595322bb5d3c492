//! Tests for messages that agents plan to send later.

use serde_json::{Value, json};

use crate::support::account_with_webhook::{add_webhook, ok_response, wait_for_event};
use crate::support::api_client::{ApiResponse, TestAgent, number};
use crate::support::test_host::{ActiveChat, TestHost, run_on_shared_host, run_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::virtual_time::VirtualTime;
use crate::support::wait::seconds;

const INTEGRATOR_URL: &str = "https://app.example/hook";

impl TestAgent {
    /// Plans a message, whose id is made of the text.
    async fn plan(&self, chat: u64, text: &str, send_at: u64) -> ApiResponse {
        let path = format!("/agent/chats/{chat}/planned/{}", text.replace(|it: char| !it.is_alphanumeric(), "-"));
        self.client.put(&path, &json!({"text": text, "send_at": send_at})).await
    }

    async fn planned(&self, chat: u64) -> Value {
        self.client.get(&format!("/agent/chats/{chat}")).await.expect(200)["planned"].clone()
    }

    /// Returns the time of the service, in Unix seconds.
    async fn now(&self, chat: u64) -> u64 {
        let seq = number(
            &self.client.post(&format!("/agent/chats/{chat}/notes"), &json!({"text": "time"})).await.expect(201)["seq"],
        );
        number(&self.timeline_entry(chat, seq).await["timestamp"])
    }
}

async fn run_schedule(host: &TestHost, time: &VirtualTime<'_>) {
    host.local.run_schedule("schedule-close-idle-chats").await.expect("the schedule runs");
    time.wait_until_idle().await;
}

#[test]
fn planned_message_reaches_the_visitor_at_its_time() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let agent = &chat.agent;
        let send_at = agent.now(1).await + 600;
        let planned = agent.plan(1, "Is it solved?", send_at).await.expect(200);
        assert_eq!((&planned["text"], &planned["send_at"]), (&json!("Is it solved?"), &json!(send_at)));
        assert_eq!(agent.planned(1).await, json!([planned]));
        assert_eq!(agent.chats("active").await[0]["planned"], 1);
        time.advance(seconds(590));
        run_schedule(host, time).await;
        assert_eq!(agent.planned(1).await, json!([planned]), "not yet due");
        time.advance(seconds(20));
        run_schedule(host, time).await;
        run_schedule(host, time).await;
        let texts = agent.timeline(1).await.into_iter().filter(|entry| entry["text"] == "Is it solved?");
        let [entry] = &texts.collect::<Vec<_>>()[..] else { panic!("sent once") };
        assert_eq!((&entry["agent"]["id"], &entry["from"]), (&agent.id, &json!("agent")));
        assert_eq!(agent.planned(1).await, Value::Null);
        let sent =
            integrator.requests().into_iter().filter(|request| request.json()["message"]["text"] == "Is it solved?");
        assert_eq!(sent.count(), 1);
    });
}

#[test]
fn author_is_told_if_the_chat_was_closed() {
    run_with_virtual_time(async |host, time| {
        let chat = ActiveChat::create(host, INTEGRATOR_URL, json!({})).await;
        let agent = &chat.agent;
        agent.plan(1, "Is it solved?", agent.now(1).await + 60).await.expect(200);
        agent.close(1).await;
        time.advance(seconds(61));
        run_schedule(host, time).await;
        let note = agent.timeline(1).await.pop().unwrap();
        assert_eq!((&note["type"], &note["mentions"]), (&json!("note"), &json!([agent.id])));
        assert!(note["text"].as_str().unwrap().ends_with("Is it solved?"), "{note}");
        assert_eq!(agent.planned(1).await, Value::Null);
    });
}

#[test]
fn planned_message_is_sent_at_once_or_cancelled() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, INTEGRATOR_URL, json!({})).await;
        let (agent, bob) = (&chat.agent, chat.account.create_agent("Bob").await);
        let webhook = TestReceiver::start(ok_response()).await;
        add_webhook(&chat.account, &webhook, json!({"events": ["message"]})).await;
        let send_at = agent.now(1).await + 3_600;
        let path = async |text: &str| {
            let planned = agent.plan(1, text, send_at).await.expect(200);
            format!("/agent/chats/1/planned/{}", planned["planned_id"].as_str().unwrap())
        };
        let (first, second) = (path("first").await, path("second").await);
        bob.client.delete(&first).await.expect_error(403, "forbidden");
        bob.client.post(&first, &json!({})).await.expect_error(403, "forbidden");
        let sent = agent.client.post(&first, &json!({})).await.expect(201);
        assert_eq!(agent.timeline_entry(1, number(&sent["seq"])).await["text"], "first");
        assert_eq!(wait_for_event(&webhook, "message").await["message"]["message"], "first");
        agent.client.post(&first, &json!({})).await.expect_error(404, "not_found");
        assert_eq!(agent.client.delete(&second).await.expect(200)["cancelled"], true);
        agent.client.delete(&second).await.expect_error(404, "not_found");
        assert_eq!(agent.planned(1).await, Value::Null);
    });
}

#[test]
fn time_of_a_planned_message_is_checked() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, INTEGRATOR_URL, json!({})).await;
        let (agent, bob) = (&chat.agent, chat.account.create_agent("Bob").await);
        let now = agent.now(1).await;
        for send_at in [now - 60, now + 31 * 86_400] {
            let error = agent.plan(1, "x", send_at).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], "send_at", "{error}");
        }
        let place = json!({"type": "location", "latitude": 1, "longitude": 2, "send_at": now + 600});
        agent.client.put("/agent/chats/1/planned/x", &place).await.expect_error(400, "invalid_request");
        let error = agent.client.put("/agent/chats/1/planned/%20", &json!({"text": "x", "send_at": now + 600})).await;
        assert_eq!(error.expect_error(400, "invalid_request")["error"]["field"], "planned_id");
        bob.plan(1, "x", now + 600).await.expect_error(409, "conflict");
    });
}

#[test]
fn repeated_request_plans_a_message_once() {
    run_with_virtual_time(async |host, time| {
        let chat = ActiveChat::create(host, INTEGRATOR_URL, json!({})).await;
        let agent = &chat.agent;
        let send_at = agent.now(1).await + 60;
        let planned = agent.plan(1, "Is it solved?", send_at).await.expect(200);
        assert_eq!(agent.plan(1, "Is it solved?", send_at).await.expect(200), planned);
        assert_eq!(agent.planned(1).await, json!([planned]));
        agent.plan(1, "Is it solved?", send_at + 1).await.expect_error(422, "idempotency_mismatch");
        time.advance(seconds(61));
        run_schedule(host, time).await;
        assert_eq!(agent.plan(1, "Is it solved?", send_at).await.expect(200), planned, "after it was sent");
        run_schedule(host, time).await;
        let sent = agent.timeline(1).await.into_iter().filter(|entry| entry["text"] == "Is it solved?");
        assert_eq!(sent.count(), 1);
        assert_eq!(agent.planned(1).await, Value::Null);
    });
}
