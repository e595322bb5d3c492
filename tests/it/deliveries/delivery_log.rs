//! Tests for the delivery log, which lists deliveries for admins, and for replay, which sends failed deliveries again.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::account_with_webhook::{WebhookFixture, final_webhook_delivery, ok_response_with};
use crate::support::api_client::{TestAccount, TestAgent, TestChannel, merged, number};
use crate::support::bot_fixture::BotFixture;
use crate::support::test_host::{
    ActiveChat, TestHost, VISITOR_ID, open_accepted_chat, run_on_shared_host, run_with_virtual_time,
};
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

const DELIVERIES_PATH: &str = "/admin/deliveries";
const REPLAY_PATH: &str = "/admin/deliveries/replay";

/// A message text that must not appear in the delivery log or in the functions' logs.
const TEXT: &str = "text-that-nobody-else-may-read";

async fn page(admin: &TestAgent, query: &str) -> Value {
    admin.client.get(&format!("{DELIVERIES_PATH}{query}")).await.expect(200)
}

/// Returns the deliveries that match `query`. Checks that they fit on one page.
async fn deliveries(admin: &TestAgent, query: &str) -> Vec<Value> {
    let page = page(admin, query).await;
    assert_eq!(page["next"], Value::Null, "{page}");
    page["deliveries"].as_array().expect("deliveries").clone()
}

async fn replay(admin: &TestAgent, body: Value) -> Value {
    admin.client.post(REPLAY_PATH, &body).await.expect(202)
}

/// Returns the expected response to a replay that matches `count` deliveries and sends all of them again.
fn replayed(count: u64) -> Value {
    json!({"replayed": count, "skipped": 0, "next": null})
}

/// Waits until the delivery of an entry reaches `state`, and returns its row in the delivery log.
async fn wait_for_state(admin: &TestAgent, chat: u64, seq: u64, state: &str) -> Value {
    wait_for(&format!("{state}: {chat}/{seq}"), WAIT_TIMEOUT, async || {
        let rows = deliveries(admin, &format!("?state={state}&chat_id={chat}")).await;
        rows.iter().find(|row| row["seq"] == seq).cloned().ok_or(rows)
    })
    .await
}

/// Checks that all requests belong to the same delivery (they have the same `webhook-id`) and that their signatures are
/// valid.
#[track_caller]
fn assert_one_delivery(secret: &str, requests: &[ReceivedRequest]) {
    for request in requests {
        assert!(request.is_signed_with(secret));
        assert_eq!(request.header("webhook-id"), requests[0].header("webhook-id"));
    }
}

fn statuses(row: &Value) -> Vec<Value> {
    row["attempts"].as_array().expect("attempts").iter().map(|attempt| attempt["status"].clone()).collect()
}

#[test]
fn failed_message_is_listed_with_attempts_and_replayed() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::Json(500, json!({}))).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let seq = active_chat.send_text(TEXT).await;
        assert_eq!(deliveries(&active_chat.agent, "").await, Vec::<Value>::new(), "it is still pending");
        assert_eq!(deliveries(&active_chat.agent, "?state=pending").await.len(), 1);
        let row = wait_for_state(&active_chat.agent, active_chat.number, seq, "failed").await;
        assert_eq!(deliveries(&active_chat.agent, "").await, std::slice::from_ref(&row));
        let counts = active_chat.agent.client.get("/admin/deliveries/counts?state=failed").await.expect(200);
        assert_eq!(counts["failed"]["count"], 1);

        let message = active_chat.agent.timeline_entry(active_chat.number, seq).await;
        let expected = json!({
            "chat_id": active_chat.number, "seq": seq, "id": message["id"], "target": "channel", "type": "text",
            "channel_id": active_chat.channel.id, "external_id": VISITOR_ID, "since": message["timestamp"],
        });
        let mut delivery = message["delivery"].clone();
        for attempt in delivery["attempts"].as_array_mut().unwrap() {
            // Only admins see what the receiver responded.
            attempt["answer"] = json!("{}");
        }
        assert_eq!(row, merged(expected, delivery));
        assert_eq!((&row["state"], statuses(&row)), (&json!("failed"), vec![json!(500); 3]));
        assert!(row["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{row}");

        integrator.respond_with(CannedResponse::ok());
        assert_eq!(replay(&active_chat.agent, json!({"chat_id": active_chat.number, "seq": seq})).await, replayed(1));
        let row = wait_for_state(&active_chat.agent, active_chat.number, seq, "delivered").await;
        assert_eq!(statuses(&row), [500, 500, 500, 200], "earlier attempts are kept");
        assert_eq!((&row["error"], &row["id"]), (&Value::Null, &message["id"]));
        assert_eq!(deliveries(&active_chat.agent, "").await, Vec::<Value>::new());
        let requests = integrator.requests();
        assert_eq!(requests.len(), 4);
        assert_eq!(requests[3].header("webhook-id"), message["id"].as_str());
        assert_one_delivery(&active_chat.channel.signing_secret, &requests);
        assert!(requests.iter().all(|request| request.body == requests[0].body));
    });
}

#[test]
fn replay_gets_three_new_attempts() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::error(7, "not now")).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let seq = active_chat.send_text("Hello?").await;
        wait_for_state(&active_chat.agent, active_chat.number, seq, "failed").await;
        integrator.respond_with(CannedResponse::Json(503, json!({})));
        replay(&active_chat.agent, json!({"chat_id": active_chat.number, "seq": seq})).await;
        let row = wait_for("the end of the replay", WAIT_TIMEOUT, async || {
            let rows = deliveries(&active_chat.agent, "").await;
            if rows.len() == 1 { Ok(rows[0].clone()) } else { Err(rows) }
        })
        .await;
        assert_eq!(statuses(&row), [200, 503, 503, 503]);
        assert_one_delivery(&active_chat.channel.signing_secret, &integrator.requests());
    });
}

#[test]
fn failed_webhook_event_is_replayed() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create_with(host, [CannedResponse::Json(500, json!({}))]).await;
        let chat = open_accepted_chat(&fixture.agent, &fixture.channel, VISITOR_ID).await;
        assert_eq!(final_webhook_delivery(&fixture.agent, chat, "chat_accepted").await["state"], "failed");
        let admin = &fixture.account.admin;
        let rows = deliveries(admin, "?target=webhook").await;
        let [row] = rows.as_slice() else { panic!("{rows:#?}") };
        assert_eq!((&row["target"], &row["type"]), (&json!("webhook"), &json!("chat_accepted")));
        assert_eq!((&row["webhook_id"], row["chat_id"].as_u64()), (&fixture.webhook["webhook_id"], Some(chat)));
        assert_eq!(statuses(row), [500, 500, 500]);
        assert_eq!(deliveries(admin, "?target=channel").await, Vec::<Value>::new());

        fixture.webhook_receiver.respond_with(ok_response_with(json!({"crm_link": "https://crm.example/1"})));
        assert_eq!(replay(admin, json!({"chat_id": chat})).await, replayed(1));
        wait_for_state(admin, chat, number(&row["seq"]), "delivered").await;
        assert_eq!(fixture.panel(chat).await["crm_link"], "https://crm.example/1", "the response is applied");
        let requests = fixture.webhook_receiver.requests();
        assert_eq!(requests.len(), 4);
        assert_one_delivery(fixture.webhook["signing_secret"].as_str().unwrap(), &requests);
        assert_eq!(requests[0].header("webhook-id"), row["id"].as_str());
    });
}

#[test]
fn failed_bot_notification_is_replayed() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        fixture.send_visitor_text(VISITOR_ID, "Hello").await;
        fixture.provider.respond_with(CannedResponse::Json(500, json!({})));
        fixture.agent.accept(1).await;
        let row = wait_for("AGENT_JOINED failed", WAIT_TIMEOUT, async || {
            let rows = deliveries(&fixture.agent, "?target=bot").await;
            rows.first().cloned().ok_or(rows)
        })
        .await;
        assert_eq!((&row["type"], &row["target"]), (&json!("agent_joined"), &json!("bot")));
        assert_eq!((&row["webhook_id"], statuses(&row)), (&Value::Null, vec![json!(500); 3]));
        fixture.provider.respond_with(CannedResponse::ok());
        assert_eq!(replay(&fixture.agent, json!({"chat_id": 1, "seq": row["seq"]})).await, replayed(1));
        wait_for_state(&fixture.agent, 1, number(&row["seq"]), "delivered").await;
        let requests = fixture.attempts("AGENT_JOINED");
        assert_eq!(requests.len(), 4);
        assert_one_delivery(&fixture.bot.signing_secret, &requests);
    });
}

#[test]
fn visitor_message_to_a_bot_is_not_replayed() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        fixture.send_visitor_text(VISITOR_ID, "Hello").await;
        fixture.provider.respond_with(CannedResponse::Json(500, json!({})));
        fixture.channel.send_text(VISITOR_ID, "Anybody?").await;
        time.run_until_failure_is_shown().await;
        fixture.wait_until_waiting(1, WAIT_TIMEOUT).await;
        assert_eq!(fixture.final_bot_delivery(1, "Anybody?").await["state"], "failed");
        let rows = deliveries(&fixture.agent, "").await;
        let [row] = rows.as_slice() else { panic!("{rows:#?}") };
        let attempts = fixture.attempts("CLIENT_MESSAGE").len();
        fixture.provider.respond_with(CannedResponse::ok());

        let single = json!({"chat_id": 1, "seq": row["seq"]});
        fixture.agent.client.post(REPLAY_PATH, &single).await.expect_error(409, "conflict");
        let skipped = json!({"replayed": 0, "skipped": 1, "next": null});
        assert_eq!(replay(&fixture.agent, json!({"chat_id": 1})).await, skipped);
        let since = number(&row["since"]);
        assert_eq!(replay(&fixture.agent, json!({"from": since, "to": since})).await, skipped);
        assert_eq!(deliveries(&fixture.agent, "").await, rows);
        time.run_until_queues_are_empty().await;
        assert_eq!(fixture.attempts("CLIENT_MESSAGE").len(), attempts);
    });
}

#[test]
fn delivered_message_is_replayed_only_individually() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let seq = active_chat.send_text("Hello").await;
        let row = wait_for_state(&active_chat.agent, active_chat.number, seq, "delivered").await;
        let since = number(&row["since"]);
        assert_eq!(replay(&active_chat.agent, json!({"chat_id": active_chat.number})).await, replayed(0));
        assert_eq!(replay(&active_chat.agent, json!({"from": since, "to": since})).await, replayed(0));
        assert_eq!(replay(&active_chat.agent, json!({"chat_id": active_chat.number, "seq": seq})).await, replayed(1));
        assert_one_delivery(&active_chat.channel.signing_secret, &integrator.wait_for_requests(2, WAIT_TIMEOUT).await);
        wait_for("delivered twice", WAIT_TIMEOUT, async || {
            let row = wait_for_state(&active_chat.agent, active_chat.number, seq, "delivered").await;
            if statuses(&row).len() == 2 { Ok(()) } else { Err(row) }
        })
        .await;
    });
}

#[test]
fn pending_and_undeliverable_entries_are_not_replayed() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::Hang).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let seq = active_chat.send_text("Hello").await;
        let replay_entry = async |chat: u64, seq: u64| {
            active_chat.agent.client.post(REPLAY_PATH, &json!({"chat_id": chat, "seq": seq})).await
        };
        replay_entry(active_chat.number, seq).await.expect_error(409, "conflict");
        replay_entry(active_chat.number, 1).await.expect_error(409, "conflict");
        replay_entry(active_chat.number, 99).await.expect_error(404, "not_found");
        replay_entry(99, 1).await.expect_error(404, "not_found");
        active_chat.agent.client.post(REPLAY_PATH, &json!({"chat_id": 99})).await.expect_error(404, "not_found");
        active_chat.agent.client.get(&format!("{DELIVERIES_PATH}?chat_id=99")).await.expect_error(404, "not_found");
    });
}

/// Two chats in two channels that share an integrator, which rejects every message. Each chat has two failed messages.
struct FailedMessages {
    account: TestAccount,
    integrator: TestReceiver,
    channels: [TestChannel; 2],
    /// The chat number and `seq` of each failed message, in the order in which the messages were sent.
    messages: Vec<(u64, u64)>,
}

impl FailedMessages {
    async fn create(host: &TestHost) -> Self {
        let integrator = TestReceiver::start(CannedResponse::error(7, "no")).await;
        let account = host.create_account().await;
        let channels =
            [account.create_channel(&integrator.url()).await, account.create_channel(&integrator.url()).await];
        let mut messages = Vec::new();
        let chats = [
            open_accepted_chat(&account.admin, &channels[0], VISITOR_ID).await,
            open_accepted_chat(&account.admin, &channels[1], VISITOR_ID).await,
        ];
        for text in ["one", "two"] {
            for chat in chats {
                let seq = account.admin.send_text(chat, text).await;
                wait_for_state(&account.admin, chat, seq, "failed").await;
                messages.push((chat, seq));
            }
        }
        Self { account, integrator, channels, messages }
    }

    /// Returns the chat number and `seq` of each delivery that matches `query`, grouped by page.
    async fn pages(&self, query: &str) -> Vec<Vec<(u64, u64)>> {
        let mut pages = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = page(&self.account.admin, &format!("{query}{cursor}")).await;
            let rows = page["deliveries"].as_array().unwrap().iter();
            pages.push(rows.map(|row| (number(&row["chat_id"]), number(&row["seq"]))).collect());
            let Some(next) = page["next"].as_str() else { return pages };
            cursor = format!("&cursor={next}");
        }
    }

    /// Returns all requests to the integrator except the first `before`.
    fn requests_after(&self, before: usize) -> Vec<ReceivedRequest> {
        self.integrator.requests().split_off(before)
    }
}

#[test]
fn chat_replay_keeps_the_message_order() {
    run_on_shared_host(async |host| {
        let failed = FailedMessages::create(host).await;
        let admin = &failed.account.admin;
        let (chat, ..) = failed.messages[0];
        failed.integrator.respond_with(CannedResponse::ok());
        assert_eq!(replay(admin, json!({"chat_id": chat})).await, replayed(2));
        failed.integrator.wait_for_requests(6, WAIT_TIMEOUT).await;
        let texts: Vec<String> = failed.requests_after(4).iter().map(ReceivedRequest::text).collect();
        assert_eq!(texts, ["one", "two"]);
        for (message_chat, seq) in &failed.messages {
            let state = if *message_chat == chat { "delivered" } else { "failed" };
            wait_for_state(admin, *message_chat, *seq, state).await;
        }
        assert_eq!(replay(admin, json!({"chat_id": chat})).await, replayed(0));
    });
}

#[test]
fn time_range_is_replayed_by_channel_and_target() {
    run_on_shared_host(async |host| {
        let failed = FailedMessages::create(host).await;
        let admin = &failed.account.admin;
        let rows = deliveries(admin, "").await;
        let (from, to) = (number(&rows[3]["since"]), number(&rows[0]["since"]));
        let range = |fields: Value| merged(json!({"from": from, "to": to}), fields);
        failed.integrator.respond_with(CannedResponse::ok());
        assert_eq!(replay(admin, json!({"from": 0, "to": from - 1})).await, replayed(0));
        assert_eq!(replay(admin, json!({"from": to + 1, "to": to + 9})).await, replayed(0));
        assert_eq!(replay(admin, range(json!({"target": "webhook"}))).await, replayed(0));
        assert_eq!(replay(admin, range(json!({"channel_id": "ELSEWHERE"}))).await, replayed(0));
        let first = json!({"target": "channel", "channel_id": failed.channels[0].id});
        assert_eq!(replay(admin, range(first)).await, replayed(2));
        failed.integrator.wait_for_requests(6, WAIT_TIMEOUT).await;
        assert_eq!(replay(admin, range(json!({}))).await, replayed(2));
        failed.integrator.wait_for_requests(8, WAIT_TIMEOUT).await;
        for (chat, seq) in &failed.messages {
            wait_for_state(admin, *chat, *seq, "delivered").await;
        }
        let all_requests = failed.requests_after(0);
        for (chat, channel) in failed.channels.iter().enumerate() {
            let (path, chat) = (format!("/hook/{}", channel.id), failed.messages[chat].0);
            for seq in failed.messages.iter().filter(|(message_chat, _)| *message_chat == chat).map(|(_, seq)| *seq) {
                let id = admin.timeline_entry(chat, seq).await["id"].clone();
                let is_delivery =
                    |request: &&ReceivedRequest| request.path == path && request.header("webhook-id") == id.as_str();
                let requests: Vec<ReceivedRequest> = all_requests.iter().filter(is_delivery).cloned().collect();
                assert_eq!(requests.len(), 2, "{chat}/{seq}");
                assert_one_delivery(&channel.signing_secret, &requests);
            }
        }
    });
}

#[test]
fn pages_are_ordered_newest_first() {
    run_on_shared_host(async |host| {
        let failed = FailedMessages::create(host).await;
        let newest: Vec<_> = failed.messages.iter().rev().copied().collect();
        let [first, second, third, fourth] = newest.as_slice() else { panic!("{newest:?}") };
        assert_eq!(failed.pages("?limit=3").await, [vec![*first, *second, *third], vec![*fourth]]);
        assert_eq!(failed.pages("?limit=1").await.concat(), newest);
        assert_eq!(failed.pages("?state=failed").await, std::slice::from_ref(&newest));
        let of_second = format!("?channel_id={}", failed.channels[1].id);
        assert_eq!(failed.pages(&of_second).await.concat(), [*first, *third]);
        assert_eq!(failed.pages(&format!("?chat_id={}&limit=1", second.0)).await.concat(), [*second, *fourth]);

        failed.integrator.respond_with(CannedResponse::ok());
        replay(&failed.account.admin, json!({"from": 0, "to": 9_999_999_999_u64})).await;
        for (chat, seq) in &failed.messages {
            wait_for_state(&failed.account.admin, *chat, *seq, "delivered").await;
        }
        let by_chat = [*first, *third, *second, *fourth];
        assert_eq!(failed.pages("?state=delivered&limit=1").await.concat(), by_chat, "the newest chat comes first");
        assert_eq!(failed.pages("?state=delivered&target=bot").await.concat(), []);
        assert_eq!(failed.pages("?state=delivered&to=1").await.concat(), []);
        assert_eq!(failed.pages("?state=pending").await.concat(), []);
    });
}

#[test]
fn time_range_is_replayed_in_pages_of_100() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::error(7, "no")).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        for n in 0..105 {
            active_chat.send_text(&format!("message {n}")).await;
        }
        wait_for("the end of every delivery", WAIT_TIMEOUT, async || {
            let pending = deliveries(&active_chat.agent, "?state=pending").await;
            if pending.is_empty() { Ok(()) } else { Err(pending.len()) }
        })
        .await;
        integrator.respond_with(CannedResponse::ok());
        let range = json!({"from": 0, "to": 9_999_999_999_u64});
        let first = replay(&active_chat.agent, range.clone()).await;
        assert_eq!((&first["replayed"], first["next"].is_string()), (&json!(100), true), "{first}");
        let rest = replay(&active_chat.agent, merged(range, json!({"cursor": first["next"]}))).await;
        assert_eq!(rest, replayed(5));
        let texts: Vec<String> =
            integrator.wait_for_requests(210, WAIT_TIMEOUT).await.iter().map(ReceivedRequest::text).collect();
        assert_eq!(texts[..105], texts[105..], "in the order of sending");
    });
}

#[test]
fn concurrent_replays_send_once() {
    run_with_virtual_time(async |host, time| {
        let failed = FailedMessages::create(host).await;
        failed.integrator.respond_with(CannedResponse::ok());
        let range = json!({"from": 0, "to": 9_999_999_999_u64});
        let responses = join_all((0..6).map(|_| replay(&failed.account.admin, range.clone()))).await;
        let replayed_count: u64 = responses.iter().map(|response| number(&response["replayed"])).sum();
        assert!(replayed_count >= 4, "{responses:?}");
        for (chat, seq) in &failed.messages {
            let row = wait_for_state(&failed.account.admin, *chat, *seq, "delivered").await;
            assert_eq!(statuses(&row).len(), 2, "{row}");
        }
        time.run_until_queues_are_empty().await;
        assert_eq!(failed.requests_after(4).len(), 4);
    });
}

#[test]
fn error_names_every_invalid_parameter_and_field() {
    run_on_shared_host(async |host| {
        let admin = host.create_account().await.admin.client;
        let parameters = ["state=lost", "target=all", "chat_id=x", "channel_id=%23", "from=x", "to=-1", "limit=0"];
        for parameter in parameters.into_iter().chain(["limit=101", "cursor=x", "cursor=1-2-3-4"]) {
            let error = admin.get(&format!("{DELIVERIES_PATH}?{parameter}")).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], parameter.split('=').next().unwrap(), "{parameter}: {error}");
        }
        let range = |field: &str, value: Value| (field.to_owned(), json!({"from": 0, "to": 9, field: value}));
        let cases = [
            ("chat_id".to_owned(), json!({})),
            ("chat_id".to_owned(), json!({"seq": 1})),
            ("seq".to_owned(), json!({"chat_id": 1, "seq": "1"})),
            ("from".to_owned(), json!({"chat_id": 1, "from": 0, "to": 9})),
            ("to".to_owned(), json!({"from": 10, "to": 9})),
            range("from", json!("x")),
            range("to", json!([])),
            range("target", json!("visitor")),
            range("channel_id", json!({})),
            range("cursor", json!("1-2")),
        ];
        for (field, body) in cases {
            let error = admin.post(REPLAY_PATH, &body).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], field.as_str(), "{body}: {error}");
        }
        admin.post(REPLAY_PATH, &json!([])).await.expect_error(400, "invalid_request");
    });
}

#[test]
fn deliveries_are_isolated_per_account_and_hide_texts() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::error(7, "no")).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let seq = active_chat.send_text(TEXT).await;
        let row = wait_for_state(&active_chat.agent, active_chat.number, seq, "failed").await;
        let other_admin = host.create_account().await.admin;
        let (chat, id) = (active_chat.number, &active_chat.channel.id);
        for query in ["", "?state=pending", "?state=delivered", &format!("?channel_id={id}")] {
            assert_eq!(deliveries(&other_admin, query).await, Vec::<Value>::new());
        }
        let cursor = format!("?cursor={}-{chat}-{}", number(&row["since"]) * 1_000 + 2_000, seq + 1);
        assert_eq!(deliveries(&other_admin, &cursor).await, Vec::<Value>::new());
        other_admin.client.get(&format!("{DELIVERIES_PATH}?chat_id={chat}")).await.expect_error(404, "not_found");
        for body in [json!({"chat_id": chat, "seq": seq}), json!({"chat_id": chat})] {
            other_admin.client.post(REPLAY_PATH, &body).await.expect_error(404, "not_found");
        }
        assert_eq!(replay(&other_admin, json!({"from": 0, "to": 9_999_999_999_u64})).await, replayed(0));

        let agent = active_chat.account.create_agent("Ann").await;
        agent.client.get(DELIVERIES_PATH).await.expect_error(403, "forbidden");
        agent.client.post(REPLAY_PATH, &json!({"chat_id": chat})).await.expect_error(403, "forbidden");
        assert_eq!(integrator.requests().len(), 1);

        let shown = page(&active_chat.agent, "").await.to_string()
            + &page(&active_chat.agent, "?state=delivered").await.to_string();
        assert!(!shown.contains(TEXT), "{shown}");
        replay(&active_chat.agent, json!({"chat_id": chat})).await;
        integrator.wait_for_requests(2, WAIT_TIMEOUT).await;
        let log = host.log.lock().unwrap();
        assert!(log.iter().any(|line| line.function == "admin-replay-deliveries"));
        assert!(log.iter().all(|line| !line.line.contains(TEXT)));
    });
}
