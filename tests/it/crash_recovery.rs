//! Nothing that was answered is lost, whatever is killed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::time::interval;

use crate::client::{Account, Agent, Caller, Channel, Reply, number};
use crate::command::Program;
use crate::harness::{VISITOR, alone, alone_on_own_stage, kill, on_own_stage};
use crate::hook::{add, fine, notifications};
use crate::provider::Front;
use crate::receiver::{Answer, Receiver, Request};
use crate::wait::{PATIENCE, seconds, wait_for};

/// The queue shows a killed consumer's task again after 36 s, and the sweep runs every minute.
const RECOVERY: Duration = seconds(110);

/// What was promised by an answer.
#[derive(Default)]
struct Promises {
    /// Texts of visitors.
    visitors: Mutex<Vec<String>>,
    /// Chat, place and text of agents' messages.
    agents: Mutex<Vec<(u64, u64, String)>>,
}

/// One account under load.
struct Load {
    agent: Agent,
    channel: Channel,
    promises: Promises,
}

impl Load {
    fn new(agent: Agent, channel: Channel) -> Self {
        Self { agent, channel, promises: Promises::default() }
    }

    /// Several conversations at once; a request that fails promises nothing.
    async fn run(&self, name: &str, visitors: usize) {
        const AT_ONCE: usize = 4;
        join_all((0..AT_ONCE).map(async |lane| {
            for n in (lane..visitors).step_by(AT_ONCE) {
                self.converse(&format!("{name}-{n}")).await;
            }
        }))
        .await;
    }

    async fn converse(&self, visitor: &str) {
        for n in 0..6 {
            self.visitor_writes(visitor, &format!("{visitor} writes {n}")).await;
        }
        let Some(chat) = self.chat_of(visitor).await else { return };
        post(&self.agent.call, &format!("/agent/chats/{chat}/accept"), &json!({})).await;
        for n in 0..6 {
            self.agent_writes(chat, &format!("answer {n} to {visitor}")).await;
        }
    }

    async fn visitor_writes(&self, visitor: &str, text: &str) {
        let body = json!({"sender": {"id": visitor, "name": visitor}, "message": {"type": "text", "text": text}});
        if answered(post(&self.channel.call, &self.channel.endpoint, &body).await, 200).is_some() {
            self.promises.visitors.lock().unwrap().push(text.to_owned());
        }
    }

    async fn agent_writes(&self, chat: u64, text: &str) {
        let body = json!({"type": "text", "text": text});
        let reply = post(&self.agent.call, &format!("/agent/chats/{chat}/messages"), &body).await;
        if let Some(body) = answered(reply, 201) {
            self.promises.agents.lock().unwrap().push((chat, number(&body["seq"]), text.to_owned()));
        }
    }

    async fn chat_of(&self, visitor: &str) -> Option<u64> {
        let reply = self.agent.call.try_get("/agent/chats?state=open").await;
        let body = answered(reply, 200)?;
        let chats = body["chats"].as_array()?;
        chats.iter().find(|chat| chat["visitor"]["name"] == visitor)?["chat_id"].as_u64()
    }

    /// Every visitor's message is there, once; every agent's message has reached its end.
    async fn check(&self, agent: &Agent, integrator: &Receiver, sweep: impl AsyncFn()) {
        self.check_visitors(agent).await;
        let promised = self.promises.agents.lock().unwrap().clone();
        assert!(promised.len() > 20, "too little load: {}", promised.len());
        wait_for("an end for every agent's message", RECOVERY, async || {
            sweep().await;
            let open = open_deliveries(agent, &promised).await;
            if open.is_empty() { Ok(()) } else { Err(open) }
        })
        .await;
        let received = integrator.texts();
        for (chat, seq, text) in promised {
            let state = agent.message(chat, seq).await["delivery"]["state"].clone();
            assert!(state == "failed" || received.contains(&text), "{text} is {state} but never arrived");
        }
    }

    /// A kill may leave a number without an entry, and for ten seconds what is behind it is not shown.
    async fn check_visitors(&self, agent: &Agent) {
        let promised = self.promises.visitors.lock().unwrap().clone();
        assert!(promised.len() > 20, "too little load: {}", promised.len());
        let found = wait_for("every visitor's message", PATIENCE, async || {
            let found = texts_of_visitors(agent).await;
            let lost: Vec<_> = promised.iter().filter(|text| !found.contains(text)).cloned().collect();
            if lost.is_empty() { Ok(found) } else { Err(lost) }
        })
        .await;
        for text in promised {
            let copies = found.iter().filter(|found| **found == text).count();
            assert_eq!(copies, 1, "{text}");
        }
    }
}

/// What visitors wrote, in all chats.
async fn texts_of_visitors(agent: &Agent) -> Vec<String> {
    let mut found = Vec::new();
    for chat in agent.chats("open").await {
        let timeline = agent.messages(number(&chat["chat_id"])).await;
        let texts = timeline.iter().filter(|entry| entry["from"] == "visitor");
        found.extend(texts.map(|entry| entry["text"].as_str().unwrap().to_owned()));
    }
    found
}

/// Entries that are neither delivered nor failed.
async fn open_deliveries(agent: &Agent, promised: &[(u64, u64, String)]) -> Vec<Value> {
    let mut timelines: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    for (chat, ..) in promised {
        if !timelines.contains_key(chat) {
            timelines.insert(*chat, agent.messages(*chat).await);
        }
    }
    let ended = |entry: &Value| ["delivered", "failed"].iter().any(|state| entry["delivery"]["state"] == *state);
    let entry = |(chat, seq, text): &(u64, u64, String)| {
        let found = timelines[chat].iter().find(|entry| entry["seq"] == *seq);
        found.cloned().unwrap_or_else(|| json!({"lost": text}))
    };
    promised.iter().map(entry).filter(|entry| !ended(entry)).collect()
}

async fn post(caller: &Caller, target: &str, body: &Value) -> Option<Reply> {
    caller.try_post(target, body).await
}

/// The body, when this is the answer; any other must be the server's fault.
fn answered(reply: Option<Reply>, status: u16) -> Option<Value> {
    let reply = reply?;
    assert!(reply.status == status || reply.status >= 500 || reply.status == 409, "{reply:?}");
    (reply.status == status).then(|| reply.json())
}

#[test]
fn killed_functions_lose_nothing_that_was_answered() {
    alone_on_own_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let account = stage.account().await;
        let channel = account.channel(&integrator.url()).await;
        let load = Load::new(account.admin.clone(), channel);
        let mut killed = Vec::new();
        let killer = async {
            let mut ticks = interval(Duration::from_millis(120));
            for turn in 0.. {
                ticks.tick().await;
                let processes = stage.host.processes();
                if let Some(process) = processes.get(turn % processes.len().max(1)) {
                    kill(process.1, "-9");
                    killed.push(process.clone());
                }
            }
        };
        tokio::select! {
            () = load.run("visitor", 24) => {}
            () = killer => unreachable!("kills for ever"),
        }
        stage.have_ended(&killed).await;
        let sweep = async || {
            stage.host.run_schedule("schedule-sweep").await.expect("the sweep runs");
        };
        load.check(&account.admin, &integrator, sweep).await;
    });
}

#[test]
fn what_killed_deliveries_left_is_taken_up_by_the_sweep() {
    on_own_stage(&[], async |stage| {
        let front = Front::open(stage).await;
        let crm = Receiver::start(Answer::Hang).await;
        add(&front.account, &crm, json!({})).await;
        front.ask(VISITOR, "Hello").await;
        front.provider.answer(Answer::Hang);
        front.integrator.answer(Answer::Hang);
        front.agent.accept(1).await;
        front.agent.write(1, "Good day").await;
        front.notifications("AGENT_JOINED").await;
        notifications(&crm, "chat_accepted").await;
        front.integrator.received(1, PATIENCE).await;
        stage.kill(|function| function.starts_with("deliver-")).await;
        front.provider.answer(Answer::ok());
        front.integrator.answer(Answer::ok());
        crm.answer(fine());

        let revived = AtomicU64::new(0);
        wait_for("all are delivered", RECOVERY, async || {
            let swept = stage.host.run_schedule("schedule-sweep").await.expect("the sweep runs");
            revived.fetch_add(number(&swept["revived"]), Ordering::Relaxed);
            let timeline = front.agent.messages(1).await;
            let delivered = |kind: &str| timeline.iter().filter(|entry| entry[kind]["state"] == "delivered").count();
            let found = [delivered("webhook_delivery"), delivered("bot_delivery"), delivered("delivery")];
            // The visitor's message had been delivered to the bot before.
            if found == [1, 2, 1] { Ok(()) } else { Err((found, timeline)) }
        })
        .await;
        assert_eq!(revived.into_inner(), 3, "the queues did it alone");
        let ids = |tries: &[Request]| tries.iter().map(|it| it.header("webhook-id").unwrap().to_owned()).collect();
        let sets: [BTreeSet<String>; 3] =
            [&front.tries("AGENT_JOINED"), &crm.requests(), &front.integrator.requests()].map(|tries| ids(tries));
        assert_eq!(sets.map(|set| set.len()), [1, 1, 1], "every try of one thing has its id");
    });
}

/// The demo account of a running program, from outside.
async fn demo_admin(program: &Program) -> Agent {
    let ready = program.ready();
    let anyone = Caller::new(ready["base_url"].as_str().unwrap());
    let demo = &ready["demo"];
    let credentials = json!({"email": demo["admin_email"], "password": demo["admin_password"]});
    let session = anyone.post("/agent/login", &credentials).await.expect(200);
    Agent {
        call: anyone.with(session["token"].as_str().unwrap()),
        id: session["agent"]["id"].clone(),
        email: demo["admin_email"].as_str().unwrap().to_owned(),
    }
}

async fn start(data: &Path) -> Program {
    Program::start(&["--data", data.to_str().unwrap()]).await
}

#[test]
fn a_killed_host_loses_nothing_that_was_answered() {
    alone(async {
        let folder = tempfile::tempdir().unwrap();
        let integrator = Receiver::start(Answer::ok()).await;
        let program = start(folder.path()).await;
        let agent = demo_admin(&program).await;
        let account = Account { id: Value::Null, admin: agent.clone() };
        let load = Load::new(agent, account.channel(&integrator.url()).await);
        let enough = wait_for("agents' messages under way", PATIENCE, async || {
            let written = load.promises.agents.lock().unwrap().len();
            if written > 60 { Ok(()) } else { Err(written) }
        });
        tokio::select! {
            () = load.run("visitor", 1_000) => panic!("the load ended before the kill"),
            () = enough => {}
        }
        program.kill().await;

        let program = start(folder.path()).await;
        let agent = demo_admin(&program).await;
        load.check(&agent, &integrator, async || {}).await;
        program.stop().await;
    });
}
