//! Tests of the hand-over of a chat between bots and agents: what a bot tells the agents, whom it invites, chats that
//! nobody accepts in time, chats that an agent gives to a bot, and bots that close chats. docs/bots.md (Hand-over)
//! lists the rules with these tests.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::account_with_webhook::{add_webhook, wait_for_event};
use crate::support::api_client::{ApiResponse, TestAgent, merged, send};
use crate::support::bot_fixture::{BotFixture, TestBot, register_provider};
use crate::support::test_host::{VISITOR_ID, run_on_shared_host, run_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, seconds};

fn handover(chat_id: &Value) -> Value {
    json!({
        "event": "INVITE_AGENT", "chat_id": chat_id, "text": "I am getting a colleague.", "reason": "complaint",
        "summary": format!("Order **4711** is broken. {}", "x".repeat(300)), "priority": "urgent",
        "data": {"order": 4711},
    })
}

impl BotFixture {
    /// The visitor asks for a person. Returns the chat's id as the bot sends it.
    async fn open_chat(&self) -> Value {
        self.send_visitor_text(VISITOR_ID, "A human, please").await["chat_id"].clone()
    }

    async fn transfer(&self, agent: &TestAgent, chat: u64, to: Value) -> ApiResponse {
        agent.client.post(&format!("/agent/chats/{chat}/transfer"), &to).await
    }

    async fn give_to_bot(&self, chat: u64, bot: &TestBot) -> Value {
        self.transfer(&self.agent, chat, json!({"bot_id": bot.bot_id})).await.expect(200)
    }

    async fn entries_of_type(&self, chat: u64, kind: &str) -> Vec<Value> {
        self.agent.timeline(chat).await.into_iter().filter(|entry| entry["type"] == kind).collect()
    }
}

#[test]
fn agent_reads_the_summary_before_accepting() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let webhook = TestReceiver::start(CannedResponse::ok()).await;
        add_webhook(&fixture.account, &webhook, json!({})).await;
        fixture.agent.set_presence("online").await;
        let chat_id = fixture.open_chat().await;
        let event = handover(&chat_id);
        fixture.bot.post(&event).await.expect(200);

        let row = fixture.agent.chats("waiting").await[0]["handover"].clone();
        let whole_summary = event["summary"].as_str().unwrap();
        let expected = json!({
            "at": row["at"], "is_fallback": false, "reason": "complaint", "priority": "urgent",
            "summary": whole_summary.chars().take(200).collect::<String>(),
        });
        assert_eq!(row, expected);
        let shown = fixture.agent.chat(1).await["handover"].clone();
        assert_eq!(shown, merged(expected, json!({"summary": whole_summary, "data": {"order": 4711}})));

        let entry = fixture.entries_of_type(1, "handover").await.remove(0);
        assert_eq!((&entry["from"], &entry["text"]), (&json!("bot"), &event["summary"]));
        let context = json!({"reason": "complaint", "priority": "urgent", "data": {"order": 4711}});
        assert_eq!(entry["handover"], context);

        fixture.integrator.wait_for_requests(1, WAIT_TIMEOUT).await;
        fixture.agent.accept(1).await;
        fixture.agent.send_text(1, "Here I am").await;
        fixture.agent.close(1).await;
        let finished = wait_for_event(&webhook, "chat_finished").await;
        let log: Vec<_> = finished["chat"]["messages"].as_array().unwrap().iter().map(|it| &it["message"]).collect();
        assert_eq!(
            log,
            ["A human, please", "I am getting a colleague.", "Here I am"],
            "the summary is for agents only"
        );
        assert!(!finished.to_string().contains("4711"), "{finished}");
        fixture.integrator.wait_for_requests(2, WAIT_TIMEOUT).await;
        assert_eq!(fixture.integrator.texts(), ["I am getting a colleague.", "Here I am"]);
    });
}

#[test]
fn last_words_are_kept_when_nobody_is_there() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let chat_id = fixture.open_chat().await;
        fixture.bot.post(&handover(&chat_id)).await.expect(200);
        fixture.wait_for_event("AGENT_UNAVAILABLE").await;
        fixture.integrator.wait_for_requests(1, WAIT_TIMEOUT).await;
        assert_eq!(fixture.integrator.texts(), ["I am getting a colleague."]);
        let chat = fixture.agent.chat(1).await;
        assert_eq!((&chat["state"], &chat["handover"]), (&json!("bot"), &Value::Null));
        assert!(fixture.entries_of_type(1, "handover").await.is_empty());
        fixture.bot.send_text(&chat_id, "Nobody is here.").await.expect(200);
    });
}

#[test]
fn repeated_invitation_with_a_key_is_harmless() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        fixture.agent.set_presence("online").await;
        let chat_id = fixture.open_chat().await;
        let client = &fixture.bot.client;
        for _ in 0..2 {
            let request = client.request(Method::POST, &fixture.bot.webhook_path()).json(&handover(&chat_id));
            send(request.header("idempotency-key", "once")).await.expect(200);
        }
        fixture.bot.post(&handover(&chat_id)).await.expect_error(403, "invalid_request");
        assert_eq!(fixture.entries_of_type(1, "handover").await.len(), 1);
        assert_eq!(fixture.agent.timeline(1).await.len(), 3);
    });
}

#[test]
fn department_is_invited() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let ann = fixture.account.create_agent("Ann").await;
        let body = json!({"name": "Repairs", "agent_ids": [ann.id]});
        let department =
            fixture.agent.client.post("/admin/departments", &body).await.expect(201)["department_id"].clone();
        let chat_id = fixture.open_chat().await;
        let invite = merged(handover(&chat_id), json!({"department_id": department}));
        fixture.agent.set_presence("online").await;
        fixture.bot.post(&invite).await.expect(200);
        fixture.wait_for_event("AGENT_UNAVAILABLE").await;

        ann.set_presence("online").await;
        fixture.bot.post(&invite).await.expect(200);
        let row = ann.chats("waiting").await.remove(0);
        assert_eq!(row["department"], json!({"id": department, "name": "Repairs"}));
        ann.accept(1).await;

        let unknown = |field: &str| merged(json!({"event": "INVITE_AGENT", "chat_id": chat_id}), json!({field: 99}));
        for field in ["department_id", "agent_id"] {
            let error = fixture.bot.post(&unknown(field)).await.expect_error(400, "invalid_request");
            assert!(error["error"]["message"].as_str().unwrap().starts_with(field), "{error}");
        }
    });
}

#[test]
fn named_agent_gets_the_chat_at_once() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let webhook = TestReceiver::start(CannedResponse::ok()).await;
        add_webhook(&fixture.account, &webhook, json!({})).await;
        let ann = fixture.account.create_agent("Ann").await;
        let chat_id = fixture.open_chat().await;
        let invite = merged(handover(&chat_id), json!({"agent_id": ann.id}));
        ann.set_presence("online").await;
        fixture.bot.post(&invite).await.expect(200);
        let joined = fixture.wait_for_event("AGENT_JOINED").await;
        assert_eq!(joined["agent"], json!({"id": ann.id, "name": "Ann"}));
        assert_eq!(wait_for_event(&webhook, "chat_accepted").await["agent"]["id"], ann.id);
        ann.send_text(1, "I have it").await;

        let second = fixture.send_visitor_text("another visitor", "Me too").await["chat_id"].clone();
        ann.set_presence("away").await;
        fixture.agent.set_presence("online").await;
        fixture.bot.post(&merged(handover(&second), json!({"agent_id": ann.id}))).await.expect(200);
        fixture.wait_until_waiting(2, WAIT_TIMEOUT).await;
    });
}

#[test]
fn bot_closes_its_chat_with_last_words() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let chat_id = fixture.open_chat().await;
        let close = json!({"event": "CLOSE_CHAT", "chat_id": chat_id, "text": "Have a nice day!"});
        fixture.bot.post(&close).await.expect(200);
        assert_eq!(fixture.wait_for_event("CHAT_CLOSED").await["reason"], "bot");
        fixture.integrator.wait_for_requests(1, WAIT_TIMEOUT).await;
        assert_eq!(fixture.integrator.texts(), ["Have a nice day!"]);
        assert_eq!(fixture.chat_state(1).await, "closed");
        assert_eq!(fixture.entries_of_type(1, "chat_closed").await[0]["closed_by"], "bot", "agents see it");
        fixture.bot.post(&close).await.expect_error(403, "invalid_request");

        let second = fixture.send_visitor_text(VISITOR_ID, "One more thing").await["chat_id"].clone();
        fixture.agent.accept(2).await;
        let refused = json!({"event": "CLOSE_CHAT", "chat_id": second});
        fixture.bot.post(&refused).await.expect_error(403, "invalid_request");
    });
}

#[test]
fn agent_gives_the_chat_back() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let chat_id = fixture.open_chat().await;
        fixture.agent.accept(1).await;
        fixture.wait_for_event("AGENT_JOINED").await;
        for text in ["One", "Two"] {
            fixture.channel.send_text(VISITOR_ID, text).await;
        }
        let row = fixture.give_to_bot(1, &fixture.bot).await;
        assert_eq!((&row["state"], &row["agent"], &row["handover"]), (&json!("bot"), &Value::Null, &Value::Null));
        let returned = fixture.wait_for_event("CHAT_RETURNED").await;
        assert_eq!(returned["agent"], json!({"id": fixture.agent.id, "name": "Grace"}));
        let messages = returned["messages"].as_array().unwrap();
        let texts: Vec<_> = messages.iter().map(|message| &message["text"]).collect();
        assert_eq!(texts, ["One", "Two"], "{returned}");
        assert_eq!(returned["up_to_seq"], messages[1]["seq"]);
        fixture.bot.send_text(&chat_id, "It is me again").await.expect(200);
        fixture.send_visitor_text(VISITOR_ID, "Three").await;
        let conflict = fixture.transfer(&fixture.agent, 1, json!({"bot_id": fixture.bot.bot_id})).await;
        conflict.expect_error(409, "conflict");
        for (body, field) in [
            (json!({"bot_id": "nobody"}), "bot_id"),
            (json!({"bot_id": fixture.bot.bot_id, "agent_id": 1}), "bot_id"),
            (json!({}), "agent_id"),
        ] {
            let error = fixture.transfer(&fixture.agent, 1, body).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], field, "{error}");
        }
    });
}

#[test]
fn chat_goes_from_one_bot_to_another() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let sales = TestReceiver::start(CannedResponse::ok()).await;
        let provider_id = register_provider(&host.operator, &sales.url(), json!({})).await;
        let second = TestBot::connect(&fixture.account, &provider_id, &[], json!({"name": "Sales bot"})).await;
        let listed = fixture.agent.client.get("/agent/agents?include=bots").await.expect(200);
        assert_eq!(listed["bots"].as_array().unwrap().len(), 2, "{listed}");
        assert!(fixture.agent.client.get("/agent/agents").await.expect(200)["bots"].is_null());

        fixture.agent.set_presence("online").await;
        let chat_id = fixture.open_chat().await;
        fixture.bot.post(&handover(&chat_id)).await.expect(200);
        fixture.give_to_bot(1, &second).await;
        let returned = sales.wait_for_requests(1, WAIT_TIMEOUT).await[0].json();
        assert_eq!((&returned["event"], &returned["chat_id"]), (&json!("CHAT_RETURNED"), &chat_id));
        assert_eq!(returned["messages"][0]["text"], "A human, please", "the new bot knows nothing yet");
        fixture.bot.send_text(&chat_id, "late").await.expect_error(403, "invalid_request");
        fixture.bot.post(&handover(&chat_id)).await.expect_error(403, "invalid_request");
        second.send_text(&chat_id, "Hello from sales").await.expect(200);

        fixture.channel.send_text(VISITOR_ID, "Two, please").await;
        let requests = sales.wait_for_requests(2, WAIT_TIMEOUT).await;
        assert_eq!(requests[1].json()["message"]["text"], "Two, please");
        assert!(requests[1].is_signed_with(&second.signing_secret));
        second.post(&json!({"event": "INVITE_AGENT", "chat_id": chat_id})).await.expect(200);
        fixture.agent.accept(1).await;
        fixture.agent.close(1).await;
        let events = sales.wait_for_requests(4, WAIT_TIMEOUT).await;
        let names: Vec<_> = events.iter().map(|request| request.json()["event"].clone()).collect();
        assert_eq!(names, ["CHAT_RETURNED", "CLIENT_MESSAGE", "AGENT_JOINED", "CHAT_CLOSED"]);
        assert!(fixture.attempts("CHAT_CLOSED").is_empty(), "the former bot");
    });
}

#[test]
fn bot_that_does_not_accept_a_returned_chat_loses_it() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        let provider = TestReceiver::start(CannedResponse::Json(500, json!({}))).await;
        let provider_id = register_provider(&host.operator, &provider.url(), json!({})).await;
        let broken = TestBot::connect(&fixture.account, &provider_id, &[], json!({})).await;
        fixture.open_chat().await;
        fixture.agent.accept(1).await;
        fixture.give_to_bot(1, &broken).await;
        time.run_until_queues_are_empty().await;
        fixture.wait_until_waiting(1, WAIT_TIMEOUT).await;
        assert_eq!(provider.requests().len(), 3);
        assert_eq!(fixture.agent.chat(1).await["handover"]["is_fallback"], true);
    });
}

#[test]
fn bot_that_does_not_answer_the_missed_messages_loses_the_chat() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create_with(host, json!({}), json!({"answer_within": 20})).await;
        let chat_id = fixture.open_chat().await;
        fixture.bot.send_text(&chat_id, "Yes?").await.expect(200);
        fixture.agent.accept(1).await;
        fixture.channel.send_text(VISITOR_ID, "Anybody?").await;
        fixture.give_to_bot(1, &fixture.bot).await;
        fixture.wait_for_event("CHAT_RETURNED").await;
        time.run_until_queues_are_empty().await;
        fixture.wait_until_waiting(1, WAIT_TIMEOUT).await;
    });
}

#[test]
fn invitation_that_nobody_accepts_returns_to_the_bot_once() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create_with(host, json!({}), json!({"agent_wait_seconds": 30})).await;
        fixture.agent.set_presence("online").await;
        let chat_id = fixture.open_chat().await;
        fixture.bot.post(&handover(&chat_id)).await.expect(200);
        time.wait_until_idle().await;
        time.advance(seconds(29));
        time.wait_until_idle().await;
        assert_eq!(fixture.chat_state(1).await, "waiting");
        time.advance(seconds(1));
        let unavailable = fixture.wait_for_event("AGENT_UNAVAILABLE").await;
        assert_eq!((&unavailable["chat_id"], fixture.chat_state(1).await), (&chat_id, json!("bot")));
        fixture.bot.send_text(&chat_id, "Nobody has time. What is your number?").await.expect(200);
        time.advance(seconds(120));
        time.wait_until_idle().await;
        assert_eq!(fixture.attempts("AGENT_UNAVAILABLE").len(), 1, "once, unless the bot invites again");

        fixture.bot.post(&handover(&chat_id)).await.expect(200);
        fixture.agent.accept(1).await;
        time.advance(seconds(60));
        time.wait_until_idle().await;
        assert_eq!((fixture.chat_state(1).await, fixture.attempts("AGENT_UNAVAILABLE").len()), (json!("active"), 1));
    });
}

/// The task that would return the chat is lost, because the bot's queue rejects it.
#[test]
fn lost_task_does_not_keep_the_chat_with_the_agents() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create_with(host, json!({}), json!({"agent_wait_seconds": 30})).await;
        fixture.agent.set_presence("online").await;
        let chat_id = fixture.open_chat().await;
        time.wait_until_idle().await;
        host.local.set_sqs_outage(true);
        fixture.bot.post(&handover(&chat_id)).await.expect(200);
        host.local.set_sqs_outage(false);
        time.advance(seconds(60));
        host.local.run_schedule("schedule-close-idle-chats").await.expect("the schedule runs");
        fixture.wait_for_event("AGENT_UNAVAILABLE").await;
        assert_eq!(fixture.chat_state(1).await, "bot");
    });
}

#[test]
fn department_can_have_its_own_bot() {
    run_on_shared_host(async |host| {
        let (sales_provider, any_provider) =
            (TestReceiver::start(CannedResponse::ok()).await, TestReceiver::start(CannedResponse::ok()).await);
        let account = host.create_account().await;
        let admin = &account.admin.client;
        let connect = async |provider: &TestReceiver, settings: Value| {
            let provider_id = register_provider(&host.operator, &provider.url(), json!({})).await;
            TestBot::connect(&account, &provider_id, &[], settings).await
        };
        let sales_bot = connect(&sales_provider, json!({})).await;
        let department = json!({"name": "Sales", "agent_ids": [1], "bot_id": sales_bot.bot_id});
        let created = admin.post("/admin/departments", &department).await.expect(201);
        assert_eq!(created["bot_id"], sales_bot.bot_id.as_str());
        let sales = created["department_id"].clone();
        let support = admin.post("/admin/departments", &json!({"name": "Support"})).await.expect(201);
        let departments = json!([sales, support["department_id"]]);
        let widget = account.create_widget_with(json!({}), json!({"department_ids": departments})).await;
        connect(&any_provider, json!({"channel_ids": [widget.id]})).await;

        let say = async |text: &str, department: &Value| {
            let message = json!({"type": "text", "text": text});
            let fields = json!({"message_id": text, "message": message, "department_id": department});
            widget.visitor().await.call("message", fields).await.expect(200);
        };
        say("A price, please", &sales).await;
        say("It is broken", &support["department_id"]).await;
        assert_eq!(
            sales_provider.wait_for_requests(1, WAIT_TIMEOUT).await[0].json()["message"]["text"],
            "A price, please"
        );
        assert_eq!(any_provider.wait_for_requests(1, WAIT_TIMEOUT).await[0].json()["message"]["text"], "It is broken");

        let only_sales = account.create_widget_with(json!({}), json!({"department_ids": [sales]})).await;
        let session = only_sales.visitor().await.session().await;
        assert_eq!((&session["bot"], &session["bot_disclosure"]), (&json!(true), &json!(true)), "its department's");
        let path = format!("/admin/departments/{sales}");
        let unknown = admin.patch(&path, &json!({"bot_id": "unknown"})).await.expect(400);
        assert_eq!(unknown["error"]["field"], "bot_id");
        let without = admin.patch(&path, &json!({"bot_id": null})).await.expect(200);
        assert_eq!((&without["bot_id"], &without["name"]), (&Value::Null, &json!("Sales")));
    });
}
