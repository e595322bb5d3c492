//! Tests of the time limits of agents' answers: the mark of a chat, the event before the end, and the report.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};

use crate::support::account_with_webhook::add_webhook;
use crate::support::api_client::{TestAccount, TestAgent, TestChannel, number};
use crate::support::test_host::{TestHost, VISITOR_ID, run_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::virtual_time::VirtualTime;
use crate::support::wait::seconds;

const INTEGRATOR_URL: &str = "https://app.example/hook";

/// An account whose agents have a minute for the first answer and 40 seconds for each next one, with a webhook for
/// answer_due_soon.
struct Fixture {
    account: TestAccount,
    channel: TestChannel,
    agent: TestAgent,
    webhook: TestReceiver,
}

impl Fixture {
    async fn create(host: &TestHost) -> Self {
        let account = host.create_account().await;
        let channel = account.create_channel(INTEGRATOR_URL).await;
        let webhook = TestReceiver::start(CannedResponse::ok()).await;
        add_webhook(&account, &webhook, json!({"events": ["answer_due_soon"]})).await;
        let times = json!({"first_answer_seconds": 60, "next_answer_seconds": 40});
        account.admin.client.put("/admin/settings", &json!({"answer_times": times})).await.expect(200);
        let agent = account.admin.clone();
        Self { account, channel, agent, webhook }
    }

    /// The visitor writes. Returns the time limit that the chat then has.
    async fn ask(&self, time: &VirtualTime<'_>) -> Value {
        self.channel.send_text(VISITOR_ID, "Where is my order?").await;
        time.wait_until_idle().await;
        self.answer_due().await
    }

    async fn answer_due(&self) -> Value {
        self.agent.chat(1).await["answer_due"].clone()
    }

    async fn reported_answers(&self) -> Value {
        self.account.admin.client.get("/admin/reports?days=1").await.expect(200)["total"]["answers"].clone()
    }
}

#[test]
fn first_and_next_answers_have_time_limits() {
    run_with_virtual_time(async |host, time| {
        let fixture = Fixture::create(host).await;
        let due = fixture.ask(time).await;
        let waiting_since = number(&fixture.agent.chat(1).await["waiting_since"]);
        let expected = json!({"at": waiting_since + 60, "soon_at": waiting_since + 45, "first": true});
        assert_eq!(due, expected);
        fixture.agent.accept(1).await;
        time.wait_until_idle().await;
        assert_eq!(fixture.answer_due().await, expected, "accepting is no answer");
        fixture.agent.send_text(1, "One moment").await;
        time.wait_until_idle().await;
        assert_eq!(fixture.answer_due().await, Value::Null);
        time.advance(seconds(10));
        let next = fixture.ask(time).await;
        assert_eq!((&next["first"], number(&next["at"]) - number(&next["soon_at"])), (&json!(false), 10));
        assert_eq!(fixture.ask(time).await, next, "a further message does not change it");
        time.advance(seconds(41));
        let overdue = fixture.agent.client.get("/agent/chats?answer_due=true").await.expect(200);
        assert_eq!(overdue["chats"][0]["answer_due"], next);
        fixture.agent.send_text(1, "Here it is").await;
        time.wait_until_idle().await;
        let none = fixture.agent.client.get("/agent/chats?answer_due=true").await.expect(200);
        assert_eq!((&none["chats"], fixture.reported_answers().await), (&json!([]), json!({"in_time": 1, "late": 1})));
        time.run_until_queues_are_empty().await;
    });
}

#[test]
fn webhook_is_told_before_the_end_of_the_limit() {
    run_with_virtual_time(async |host, time| {
        let fixture = Fixture::create(host).await;
        time.run_until_queues_are_empty().await;
        let due = fixture.ask(time).await;
        assert_eq!(fixture.webhook.requests().len(), 0);
        let delay = time.advance_to_next_message().await.expect("the timer");
        assert!(Duration::from_millis(44_500) <= delay && delay <= seconds(46), "{delay:?}");
        time.wait_until_idle().await;
        let requests = fixture.webhook.requests();
        let events: Vec<Value> = requests.iter().map(|request| request.json()["event_name"].clone()).collect();
        assert_eq!(events, ["answer_due_soon"]);
        assert_eq!(requests[0].json()["chat_id"], 1);
        assert_eq!(fixture.answer_due().await, due);
        time.run_until_queues_are_empty().await;
        assert_eq!(fixture.webhook.requests().len(), 1, "it is sent once");
    });
}

#[test]
fn answered_and_closed_chats_are_not_announced() {
    run_with_virtual_time(async |host, time| {
        let fixture = Fixture::create(host).await;
        fixture.ask(time).await;
        fixture.agent.accept(1).await;
        fixture.agent.send_text(1, "Hello").await;
        fixture.channel.send_text("other", "Hello").await;
        time.wait_until_idle().await;
        fixture.agent.close(2).await;
        time.run_until_queues_are_empty().await;
        assert_eq!(fixture.webhook.requests().len(), 0);
        assert_eq!(fixture.reported_answers().await, json!({"in_time": 1, "late": 0}));
    });
}

#[test]
fn limits_do_not_run_outside_the_business_hours() {
    run_with_virtual_time(async |host, time| {
        let fixture = Fixture::create(host).await;
        let never = json!({"business_hours": {"time_zone": "UTC", "weekly": []}});
        fixture.account.admin.client.put("/admin/settings", &never).await.expect(200);
        assert_eq!(fixture.ask(time).await, Value::Null);
        time.run_until_queues_are_empty().await;
        assert_eq!(fixture.webhook.requests().len(), 0);
    });
}

#[test]
fn department_has_time_limits_of_its_own() {
    run_with_virtual_time(async |host, time| {
        let fixture = Fixture::create(host).await;
        let times = json!({"first_answer_seconds": 600, "next_answer_seconds": null});
        let department = json!({"name": "Sales", "agent_ids": [fixture.agent.id], "answer_times": times});
        let created = fixture.account.admin.client.post("/admin/departments", &department).await.expect(201);
        assert_eq!(created["answer_times"], times);
        let ids = json!({"department_ids": [created["department_id"]]});
        let sales = fixture.account.create_channel_with(INTEGRATOR_URL, ids).await;
        sales.send_text(VISITOR_ID, "Hello").await;
        time.wait_until_idle().await;
        let due = fixture.answer_due().await;
        assert_eq!(number(&due["at"]) - number(&due["soon_at"]), 150);
        fixture.agent.accept(1).await;
        fixture.agent.send_text(1, "Hello").await;
        sales.send_text(VISITOR_ID, "And?").await;
        time.run_until_queues_are_empty().await;
        assert_eq!(fixture.answer_due().await, Value::Null);
    });
}

#[test]
fn lost_timer_is_found_by_the_idle_check() {
    run_with_virtual_time(async |host, time| {
        let fixture = Fixture::create(host).await;
        fixture.ask(time).await;
        let id = fixture.account.id.as_str().expect("an id");
        let request = host.tables().update_item().table_name("Chats");
        let request = request.key("pk", AttributeValue::S(format!("CHAT#{id}#1")));
        let request = request.key("sk", AttributeValue::S("HEAD".to_owned()));
        let request = request.update_expression("SET answer_due.soon_at = :past, due_at = :past");
        request.expression_attribute_values(":past", AttributeValue::N("1".to_owned())).send().await.expect("a header");
        time.wait_until_idle().await;
        host.local.run_schedule("schedule-close-idle-chats").await.expect("the schedule runs");
        time.wait_until_idle().await;
        assert_eq!(fixture.webhook.requests().len(), 1);
        time.run_until_queues_are_empty().await;
        assert_eq!(fixture.webhook.requests().len(), 1);
    });
}
