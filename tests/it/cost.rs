//! What a message costs: the numbers of the README's table, counted where the functions reach the services.
//!
//! Every path is taken once before it is counted, so that the processes run and remember the channel. The tests are
//! alone on a host of their own: its counts are everybody's.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::harness::{Conversation, Stage, VISITOR, alone_on_own_stage, open_chat};
use crate::hook::Hooked;
use crate::provider::Front;
use crate::receiver::{Answer, Receiver};
use crate::wait::{seconds, wait_for};

/// What a function used: requests that read, requests that write, requests to queues, units read and written.
#[derive(Debug, Default, PartialEq)]
struct Cost {
    reads: u64,
    writes: u64,
    queue: u64,
    units: (f64, f64),
}

type Bill = BTreeMap<String, Cost>;

/// A row of a bill.
fn row(function: &str, [reads, writes, queue]: [u64; 3], units: (f64, f64)) -> (String, Cost) {
    (function.to_owned(), Cost { reads, writes, queue, units })
}

impl Cost {
    fn of(counts: &Value) -> Self {
        let requests = |kind: &str, is_one: &dyn Fn(&str) -> bool| {
            let counts = counts[kind].as_object().unwrap().iter();
            let wanted = counts.filter(|(name, _)| is_one(name.split('/').next_back().unwrap()));
            wanted.map(|(_, count)| count.as_u64().unwrap()).sum()
        };
        let is_read = |operation: &str| ["GetItem", "BatchGetItem", "Query"].contains(&operation);
        Self {
            reads: requests("dynamodb", &is_read),
            writes: requests("dynamodb", &|operation| !is_read(operation)),
            queue: requests("sqs", &|_| true),
            units: (counts["read_units"].as_f64().unwrap(), counts["write_units"].as_f64().unwrap()),
        }
    }
}

fn bill(stage: &Stage) -> Bill {
    let usage = stage.host.usage();
    usage.as_object().unwrap().iter().map(|(function, counts)| (function.clone(), Cost::of(counts))).collect()
}

/// What each function used for this and for everything that follows from it.
async fn cost(stage: &Stage, act: impl AsyncFnOnce()) -> Bill {
    start_counting(stage).await;
    act().await;
    stage.nothing_is_left().await;
    bill(stage)
}

async fn start_counting(stage: &Stage) {
    stage.nothing_is_left().await;
    let reset = stage.anyone.post("/_local/usage/reset", &json!({})).await;
    assert_eq!(reset.status, 200);
}

#[test]
fn what_a_visitors_message_costs() {
    alone_on_own_stage(async |stage| {
        let talk = Conversation::open(stage, "https://app.example/hook", json!({})).await;
        let say = async || talk.channel.say(VISITOR, "Hello").await;
        say().await;
        assert_eq!(cost(stage, say).await, Bill::from([row("channel-message", [2, 2, 0], (2.0, 2.0))]));

        let rename = async |name: &str| {
            let sender = json!({"id": VISITOR, "name": name});
            let renamed = json!({"sender": sender, "message": {"type": "text", "text": "Hello"}});
            talk.channel.post(&renamed).await.expect(200);
        };
        rename("Ada").await;
        let again = async || rename("Augusta").await;
        assert_eq!(cost(stage, again).await, Bill::from([row("channel-message", [2, 3, 0], (2.0, 3.0))]));

        let first = async || talk.channel.say("somebody new", "Hello").await;
        assert_eq!(cost(stage, first).await, Bill::from([row("channel-message", [1, 2, 0], (1.0, 11.0))]));
    });
}

#[test]
fn what_an_agents_message_costs() {
    alone_on_own_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let write = async || {
            talk.write("Hello").await;
        };
        write().await;
        let expected = [row("agent-message", [1, 2, 1], (1.0, 3.0)), row("deliver-channel", [1, 1, 2], (2.0, 2.0))];
        assert_eq!(cost(stage, write).await, Bill::from(expected));

        let typing = async || talk.agent.typing(talk.chat, "typein").await;
        typing().await;
        let expected = [row("agent-typing", [2, 0, 1], (2.0, 0.0)), row("deliver-channel", [1, 0, 2], (1.0, 0.0))];
        assert_eq!(cost(stage, typing).await, Bill::from(expected));
    });
}

#[test]
fn what_a_try_that_fails_costs() {
    alone_on_own_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        talk.write("so that everything runs").await;
        start_counting(stage).await;
        integrator.answer_with([Answer::Json(500, json!({})), Answer::ok()]);
        talk.write("Hello").await;
        let (function, failed) = row("deliver-channel", [1, 2, 3], (2.0, 2.0));
        wait_for("the cost of the first try, before the second", seconds(3), async || {
            let bill = bill(stage);
            if bill.get(&function) == Some(&failed) { Ok(()) } else { Err(bill) }
        })
        .await;
        stage.nothing_is_left().await;
        // The second try is a delivery that also takes the chat's mark away.
        let (function, both) = row("deliver-channel", [2, 4, 5], (4.0, 5.0));
        assert_eq!(bill(stage)[&function], both);
    });
}

#[test]
fn what_a_failure_costs_and_its_replay() {
    alone_on_own_stage(async |stage| {
        let integrator = Receiver::start(Answer::error(7, "no")).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let write = async || {
            talk.write("Hello").await;
        };
        write().await;
        let (function, failed) = row("deliver-channel", [1, 1, 2], (2.0, 3.0));
        assert_eq!(cost(stage, write).await[&function], failed);

        let admin = &talk.agent.call;
        let replay = async || {
            admin.post("/admin/deliveries/replay", &json!({"chat_id": talk.chat, "seq": 2})).await.expect(202);
        };
        replay().await;
        let expected = [row("admin-deliveries", [1, 1, 1], (1.0, 3.0)), row("deliver-channel", [1, 1, 2], (2.0, 3.0))];
        assert_eq!(cost(stage, replay).await, Bill::from(expected));

        let list = async || {
            let page = admin.get("/admin/deliveries").await.expect(200);
            assert_eq!(page["deliveries"].as_array().unwrap().len(), 2);
        };
        assert_eq!(cost(stage, list).await, Bill::from([row("admin-deliveries", [3, 0, 0], (4.5, 0.0))]));
    });
}

#[test]
fn what_a_webhook_costs() {
    alone_on_own_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        hooked.accepted().await;
        hooked.channel.say("another", "Hello").await;
        let accept = async || hooked.agent.accept(2).await;
        let expected = [row("agent-accept", [3, 1, 1], (3.0, 7.0)), row("deliver-webhook", [3, 1, 2], (4.0, 2.0))];
        assert_eq!(cost(stage, accept).await, Bill::from(expected));

        let rename = async |name: &str| {
            hooked.correct(json!({"name": name})).await;
        };
        rename("Ada").await;
        let update = async || rename("Augusta").await;
        let expected = [row("agent-visitor", [3, 4, 1], (3.0, 5.0)), row("deliver-webhook", [3, 1, 2], (4.0, 2.0))];
        assert_eq!(cost(stage, update).await, Bill::from(expected));
    });
}

#[test]
fn what_an_accepted_chat_costs_without_a_webhook() {
    alone_on_own_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        open_chat(&account.admin, &channel, VISITOR).await;
        channel.say("another", "Hello").await;
        let accept = async || account.admin.accept(2).await;
        assert_eq!(cost(stage, accept).await, Bill::from([row("agent-accept", [3, 1, 0], (3.0, 3.0))]));
    });
}

#[test]
fn what_a_status_costs() {
    alone_on_own_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        let ask = async || {
            channel.status().await.expect(200);
        };
        ask().await;
        assert_eq!(cost(stage, ask).await, Bill::from([row("channel-status", [1, 0, 0], (1.0, 0.0))]));
    });
}

#[test]
fn what_a_channel_with_a_department_costs() {
    alone_on_own_stage(async |stage| {
        let account = stage.account().await;
        let body = json!({"name": "Sales", "agent_ids": [account.admin.id]});
        account.admin.call.post("/admin/departments", &body).await.expect(201);
        let channel = account.channel_with("https://app.example/hook", json!({"department_ids": [1]})).await;
        open_chat(&account.admin, &channel, VISITOR).await;
        channel.status().await.expect(200);
        let ask = async || {
            channel.status().await.expect(200);
        };
        assert_eq!(cost(stage, ask).await, Bill::from([row("channel-status", [1, 0, 0], (1.0, 0.0))]));
        let first = async || channel.say("another", "Hello").await;
        assert_eq!(cost(stage, first).await, Bill::from([row("channel-message", [1, 2, 0], (1.0, 11.0))]));
        let accept = async || account.admin.accept(2).await;
        assert_eq!(cost(stage, accept).await, Bill::from([row("agent-accept", [3, 1, 0], (3.0, 3.0))]));
    });
}

#[test]
fn what_a_transfer_costs() {
    alone_on_own_stage(async |stage| {
        let talk = Conversation::open(stage, "https://app.example/hook", json!({})).await;
        let (ann, ben) = (talk.account.agent("Ann").await, talk.account.agent("Ben").await);
        let body = json!({"name": "Sales", "agent_ids": [ben.id]});
        talk.account.admin.call.post("/admin/departments", &body).await.expect(201);
        for agent in [&ann, &ben] {
            agent.presence("online").await;
        }
        let path = format!("/agent/chats/{}/transfer", talk.chat);
        let transfer = async |to: Value| {
            talk.agent.call.post(&path, &to).await.expect(200);
        };
        transfer(json!({"agent_id": ann.id})).await;
        let to_ben = async || transfer(json!({"agent_id": ben.id})).await;
        assert_eq!(cost(stage, to_ben).await, Bill::from([row("agent-transfer", [4, 1, 0], (4.0, 4.0))]));
        let to_sales = async || transfer(json!({"department_id": 1})).await;
        assert_eq!(cost(stage, to_sales).await, Bill::from([row("agent-transfer", [4, 1, 0], (4.0, 6.0))]));
    });
}

#[test]
fn what_a_conversation_with_a_bot_costs() {
    alone_on_own_stage(async |stage| {
        let front = Front::open(stage).await;
        let say = async || front.channel.say(VISITOR, "Hello").await;
        say().await;
        let expected = [row("channel-message", [2, 2, 1], (2.0, 3.0)), row("deliver-bot", [3, 1, 2], (4.0, 2.0))];
        assert_eq!(cost(stage, say).await, Bill::from(expected));

        let answer = async || {
            front.bot.say(&json!(1), "Hello").await.expect(200);
        };
        answer().await;
        let expected = [row("bot-event", [0, 2, 1], (0.0, 3.0)), row("deliver-channel", [1, 1, 2], (2.0, 2.0))];
        assert_eq!(cost(stage, answer).await, Bill::from(expected));
    });
}
