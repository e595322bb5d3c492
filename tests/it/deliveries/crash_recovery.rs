//! Tests that no acknowledged request is lost when functions, deliveries or the whole host are killed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::time::interval;

use crate::project::local_host_command::LocalHostProgram;
use crate::support::account_with_webhook::{add_webhook, ok_response, wait_for_event};
use crate::support::api_client::{ApiClient, ApiResponse, TestAccount, TestAgent, TestChannel, number};
use crate::support::bot_fixture::BotFixture;
use crate::support::call_fixture::{CallFixture, report};
use crate::support::test_host::{TestHost, VISITOR_ID, kill, run_with_virtual_time, run_without_host};
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver};
use crate::support::virtual_time::VirtualTime;
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

/// How long to wait for recovery after the host is killed. The queue redelivers a killed consumer's task after 36
/// seconds, and the sweep runs every minute.
const RECOVERY_TIMEOUT: Duration = seconds(110);

#[derive(Default)]
struct AcknowledgedMessages {
    /// The texts of the visitors' messages.
    visitors: Mutex<Vec<String>>,
    /// The chat number, `seq` and text of each message from an agent.
    agents: Mutex<Vec<(u64, u64, String)>>,
}

/// An account in which conversations run while processes are being killed.
struct Load {
    agent: TestAgent,
    channel: TestChannel,
    acknowledged: AcknowledgedMessages,
}

impl Load {
    fn new(agent: TestAgent, channel: TestChannel) -> Self {
        Self { agent, channel, acknowledged: AcknowledgedMessages::default() }
    }

    /// Runs a conversation with each of `visitors` visitors, four conversations at a time. Records only messages whose
    /// requests succeeded.
    async fn run(&self, name: &str, visitors: usize) {
        const CONCURRENT_CONVERSATIONS: usize = 4;
        join_all((0..CONCURRENT_CONVERSATIONS).map(async |first| {
            for n in (first..visitors).step_by(CONCURRENT_CONVERSATIONS) {
                self.run_conversation(&format!("{name}-{n}")).await;
            }
        }))
        .await;
    }

    async fn run_conversation(&self, visitor: &str) {
        for n in 0..6 {
            self.send_visitor_message(visitor, &format!("{visitor} writes {n}")).await;
        }
        let Some(chat) = self.find_chat(visitor).await else { return };
        try_post(&self.agent.client, &format!("/agent/chats/{chat}/accept"), &json!({})).await;
        for n in 0..6 {
            self.send_agent_message(chat, &format!("answer {n} to {visitor}")).await;
        }
    }

    async fn send_visitor_message(&self, visitor: &str, text: &str) {
        let body = json!({"sender": {"id": visitor, "name": visitor}, "message": {"type": "text", "text": text}});
        if success_body(try_post(&self.channel.client, &self.channel.endpoint, &body).await, 200).is_some() {
            self.acknowledged.visitors.lock().unwrap().push(text.to_owned());
        }
    }

    async fn send_agent_message(&self, chat: u64, text: &str) {
        let body = json!({"type": "text", "text": text});
        let reply = try_post(&self.agent.client, &format!("/agent/chats/{chat}/messages"), &body).await;
        if let Some(body) = success_body(reply, 201) {
            self.acknowledged.agents.lock().unwrap().push((chat, number(&body["seq"]), text.to_owned()));
        }
    }

    async fn find_chat(&self, visitor: &str) -> Option<u64> {
        let reply = self.agent.client.try_get("/agent/chats?state=open").await;
        let body = success_body(reply, 200)?;
        let chats = body["chats"].as_array()?;
        chats.iter().find(|chat| chat["visitor"]["name"] == visitor)?["chat_id"].as_u64()
    }

    /// Checks that every acknowledged message from a visitor is stored exactly once, and that every acknowledged
    /// message from an agent has arrived or is shown as failed.
    async fn assert_nothing_lost(&self, agent: &TestAgent, integrator: &TestReceiver, sweep: impl AsyncFn()) {
        self.assert_visitor_messages_stored(agent).await;
        let acknowledged = self.acknowledged.agents.lock().unwrap().clone();
        assert!(acknowledged.len() > 20, "too little load: {}", acknowledged.len());
        wait_for("the end of every delivery", RECOVERY_TIMEOUT, async || {
            sweep().await;
            let open = unfinished_messages(agent, &acknowledged).await;
            if open.is_empty() { Ok(()) } else { Err(open) }
        })
        .await;
        let received = integrator.texts();
        for (chat, seq, text) in acknowledged {
            let state = agent.timeline_entry(chat, seq).await["delivery"]["state"].clone();
            assert!(state == "failed" || received.contains(&text), "{text} is {state} but never arrived");
        }
    }

    /// Checks that every acknowledged message from a visitor is stored exactly once. Killing a process may leave a gap
    /// in the timeline, and entries after a gap are not listed for ten seconds, so this check waits.
    async fn assert_visitor_messages_stored(&self, agent: &TestAgent) {
        let acknowledged = self.acknowledged.visitors.lock().unwrap().clone();
        assert!(acknowledged.len() > 20, "too little load: {}", acknowledged.len());
        let found = wait_for("every visitor's message", WAIT_TIMEOUT, async || {
            let found = visitor_texts(agent).await;
            let lost: Vec<_> = acknowledged.iter().filter(|text| !found.contains(text)).cloned().collect();
            if lost.is_empty() { Ok(found) } else { Err(lost) }
        })
        .await;
        for text in acknowledged {
            let copies = found.iter().filter(|found| **found == text).count();
            assert_eq!(copies, 1, "{text}");
        }
    }
}

async fn visitor_texts(agent: &TestAgent) -> Vec<String> {
    let mut found = Vec::new();
    for chat in agent.chats("open").await {
        let timeline = agent.timeline(number(&chat["chat_id"])).await;
        let texts = timeline.iter().filter(|entry| entry["from"] == "visitor");
        found.extend(texts.map(|entry| entry["text"].as_str().unwrap().to_owned()));
    }
    found
}

/// Returns the agents' acknowledged messages that are lost or whose delivery is still pending.
async fn unfinished_messages(agent: &TestAgent, acknowledged: &[(u64, u64, String)]) -> Vec<Value> {
    let mut timelines: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    for (chat, ..) in acknowledged {
        if !timelines.contains_key(chat) {
            timelines.insert(*chat, agent.timeline(*chat).await);
        }
    }
    let is_done = |entry: &Value| ["delivered", "failed"].iter().any(|state| entry["delivery"]["state"] == *state);
    let entry = |(chat, seq, text): &(u64, u64, String)| {
        let found = timelines[chat].iter().find(|entry| entry["seq"] == *seq);
        found.cloned().unwrap_or_else(|| json!({"lost": text}))
    };
    acknowledged.iter().map(entry).filter(|entry| !is_done(entry)).collect()
}

async fn try_post(client: &ApiClient, target: &str, body: &Value) -> Option<ApiResponse> {
    client.try_post(target, body).await
}

/// Returns the body if the response has this `status`, otherwise `None`. A response with any other status must be a
/// server error or a conflict. `reply` is `None` if there was no response.
fn success_body(reply: Option<ApiResponse>, status: u16) -> Option<Value> {
    let reply = reply?;
    assert!(reply.status == status || reply.status >= 500 || reply.status == 409, "{reply:?}");
    (reply.status == status).then(|| reply.json())
}

#[test]
fn killed_functions_lose_no_acknowledged_request() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let account = host.create_account().await;
        let channel = account.create_channel(&integrator.url()).await;
        let load = Load::new(account.admin.clone(), channel);
        let mut killed = Vec::new();
        let kill_loop = async {
            let mut ticks = interval(Duration::from_millis(120));
            for turn in 0.. {
                ticks.tick().await;
                let processes = host.local.processes();
                if let Some(process) = processes.get(turn % processes.len().max(1)) {
                    kill(process.1, "-9");
                    killed.push(process.clone());
                }
            }
        };
        tokio::select! {
            () = load.run("visitor", 24) => {}
            () = kill_loop => unreachable!("the loop never ends"),
        }
        host.wait_until_ended(&killed).await;
        // Entries after a gap in a timeline are listed after ten seconds, and the sweep runs every minute.
        let sweep = async || {
            time.run_until_queues_are_empty().await;
            time.advance(seconds(60));
            time.run_until_queues_are_empty().await;
        };
        sweep().await;
        load.assert_nothing_lost(&account.admin, &integrator, sweep).await;
    });
}

#[test]
fn sweep_resumes_deliveries_of_killed_processes() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        let webhook_receiver = TestReceiver::start(CannedResponse::Hang).await;
        add_webhook(&fixture.account, &webhook_receiver, json!({})).await;
        fixture.send_visitor_text(VISITOR_ID, "Hello").await;
        fixture.provider.respond_with(CannedResponse::Hang);
        fixture.integrator.respond_with(CannedResponse::Hang);
        fixture.agent.accept(1).await;
        fixture.agent.send_text(1, "Good day").await;
        fixture.wait_for_event("AGENT_JOINED").await;
        wait_for_event(&webhook_receiver, "chat_accepted").await;
        fixture.integrator.wait_for_requests(1, WAIT_TIMEOUT).await;
        host.kill_processes(|function| function.starts_with("deliver-")).await;
        fixture.provider.respond_with(CannedResponse::ok());
        fixture.integrator.respond_with(CannedResponse::ok());
        webhook_receiver.respond_with(ok_response());

        let requeued = AtomicU64::new(0);
        wait_for("every delivery", RECOVERY_TIMEOUT, async || {
            requeued.fetch_add(sweep_after(host, time, seconds(3)).await, Ordering::Relaxed);
            let timeline = fixture.agent.timeline(1).await;
            let delivered = |kind: &str| timeline.iter().filter(|entry| entry[kind]["state"] == "delivered").count();
            let found = [delivered("webhook_delivery"), delivered("bot_delivery"), delivered("delivery")];
            // Expect two deliveries to the bot: the visitor's message, which was delivered before the processes were
            // killed, and AGENT_JOINED.
            if found == [1, 2, 1] { Ok(()) } else { Err((found, timeline)) }
        })
        .await;
        assert_eq!(requeued.into_inner(), 3, "the queues delivered without the sweep");
        let ids = |attempts: &[ReceivedRequest]| {
            attempts.iter().map(|it| it.header("webhook-id").unwrap().to_owned()).collect()
        };
        let sets: [BTreeSet<String>; 3] =
            [&fixture.attempts("AGENT_JOINED"), &webhook_receiver.requests(), &fixture.integrator.requests()]
                .map(|attempts| ids(attempts));
        assert_eq!(sets.map(|set| set.len()), [1, 1, 1], "all attempts of a delivery share one id");
    });
}

/// Advances the clock, runs the sweep, and waits for the deliveries that are due. Returns how many deliveries the sweep
/// has queued again.
async fn sweep_after(host: &TestHost, time: &VirtualTime<'_>, duration: Duration) -> u64 {
    time.advance(duration);
    let sweep_result = host.local.run_schedule("schedule-requeue-deliveries").await.expect("the sweep runs");
    time.wait_until_idle().await;
    number(&sweep_result["requeued"])
}

/// Returns one string for each chat: the statuses of its call_event events in order, without repeated deliveries.
fn call_statuses(webhook_receiver: &TestReceiver) -> Vec<String> {
    let mut statuses: BTreeMap<u64, BTreeMap<String, String>> = BTreeMap::new();
    for request in webhook_receiver.requests() {
        // The ids of a chat's events are sorted by time.
        let (id, event) = (request.header("webhook-id").unwrap().to_owned(), request.json());
        let status = event["call"]["status"].as_str().unwrap().to_owned();
        statuses.entry(number(&event["chat_id"])).or_default().insert(id, status);
    }
    statuses.into_values().map(|events| events.into_values().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn killed_functions_leave_no_call_open_and_no_event_unsent() {
    run_with_virtual_time(async |host, time| {
        let fixture = CallFixture::create_with(host, json!({"ring_seconds": 1, "max_minutes": 10})).await;
        // The gateway does not report the end of the second call, and reports nothing about the third one.
        let calls = [&["agent_connected", "client_connected", "end"][..], &["agent_connected"], &[]];
        let mut orders = Vec::new();
        for count in 1..=calls.len() {
            let visitor = fixture.widget.visitor().await;
            let request = json!({"message_id": "1", "phone": format!("+3162222222{count}")});
            assert_eq!(visitor.call("call", request).await.expect(200)["result"], "ok");
            orders.push(fixture.provider.wait_for_requests(count, WAIT_TIMEOUT).await[count - 1].json());
        }
        for step in 0..calls[0].len() {
            host.kill_processes(|_| true).await;
            for (order, reports) in orders.iter().zip(calls) {
                if let Some(status) = reports.get(step) {
                    report(host, order, status, json!({})).await.expect(200);
                }
            }
        }
        host.kill_processes(|_| true).await;
        let expected = ["start agent_connected client_connected end", "start agent_connected error", "start error"];
        wait_for("all events of the calls", RECOVERY_TIMEOUT, async || {
            sweep_after(host, time, seconds(10)).await;
            let found = call_statuses(&fixture.webhook_receiver);
            if found == expected { Ok(()) } else { Err(found) }
        })
        .await;
        for (chat, status) in [(1, "end"), (2, "error"), (3, "error")] {
            assert_eq!(fixture.call(chat).await["status"], status);
        }
    });
}

#[test]
fn sweep_places_the_call_of_a_killed_process() {
    run_with_virtual_time(async |host, time| {
        let fixture = CallFixture::create(host).await;
        fixture.provider.respond_with(CannedResponse::Hang);
        let order = fixture.ordered_callback().await;
        host.kill_processes(|function| function == "deliver-call").await;
        fixture.provider.respond_with(CannedResponse::ok());
        let requeued = AtomicU64::new(0);
        let repeated = wait_for("a second order", RECOVERY_TIMEOUT, async || {
            requeued.fetch_add(sweep_after(host, time, seconds(3)).await, Ordering::Relaxed);
            fixture.provider.requests().get(1).map(ReceivedRequest::json).ok_or(())
        })
        .await;
        assert_eq!(
            (requeued.into_inner(), repeated),
            (1, order.clone()),
            "the queue placed the call without the sweep"
        );
        report(host, &order, "error", json!({})).await.expect(200);
    });
}

async fn demo_admin(program: &LocalHostProgram) -> TestAgent {
    let ready = program.ready();
    let anonymous = ApiClient::new(ready["base_url"].as_str().unwrap());
    let demo = &ready["demo"];
    let credentials = json!({"email": demo["admin_email"], "password": demo["admin_password"]});
    let session = anonymous.post("/agent/login", &credentials).await.expect(200);
    TestAgent {
        client: anonymous.with_token(session["token"].as_str().unwrap()),
        id: session["agent"]["id"].clone(),
        email: demo["admin_email"].as_str().unwrap().to_owned(),
    }
}

async fn start(data: &Path) -> LocalHostProgram {
    LocalHostProgram::start(&["--data", data.to_str().unwrap()]).await
}

#[test]
fn killed_host_loses_no_acknowledged_request() {
    run_without_host(async {
        let folder = tempfile::tempdir().unwrap();
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let program = start(folder.path()).await;
        let agent = demo_admin(&program).await;
        let account = TestAccount { id: Value::Null, admin: agent.clone() };
        let load = Load::new(agent, account.create_channel(&integrator.url()).await);
        let enough_messages = wait_for("more than 60 messages of agents", WAIT_TIMEOUT, async || {
            let sent = load.acknowledged.agents.lock().unwrap().len();
            if sent > 60 { Ok(()) } else { Err(sent) }
        });
        tokio::select! {
            () = load.run("visitor", 1_000) => panic!("the load ended before the kill"),
            () = enough_messages => {}
        }
        program.kill().await;

        let program = start(folder.path()).await;
        let agent = demo_admin(&program).await;
        load.assert_nothing_lost(&agent, &integrator, async || {}).await;
        program.stop().await;
    });
}
