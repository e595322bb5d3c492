//! Writes that meet other writes, as they do on AWS: nothing that was answered is lost, and nothing happens twice. What a
//! receiver took may be sent again when the note of it met another write; it has the same id then.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Mutex;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{Agent, Caller, Channel, Reply, number, send};
use crate::harness::{Stage, on_own_stage, visitor_text};
use crate::hook::{add, fine};
use crate::provider::{Bot, Front, unique};
use crate::receiver::{Receiver, Request};
use crate::wait::{seconds, wait_for};

/// A request that meets a conflict may be answered with 503, and be repeated; so often it never takes.
const PATIENCE: usize = 30;

const VISITORS: usize = 4;

/// What was said, and whether that was answered.
#[derive(Default)]
struct Said(Mutex<BTreeMap<String, bool>>);

/// Everybody who takes part.
struct Play {
    front: Front,
    plain: Channel,
    crm: Receiver,
    ann: Agent,
    ben: Agent,
    /// By visitors.
    said: Said,
    /// By agents and bots, who repeat themselves under one key until they are answered.
    written: Said,
}

impl Said {
    fn note(&self, text: &str, answered: bool) {
        self.0.lock().unwrap().insert(text.to_owned(), answered);
    }

    /// What was answered and is not there.
    fn missing(&self, found: &[String]) -> Vec<String> {
        let said = self.0.lock().unwrap();
        let missing = said.iter().filter(|(text, answered)| **answered && !found.contains(text));
        missing.map(|(text, _)| text.clone()).collect()
    }

    /// What was answered is there once; what was not may be there.
    fn check(&self, found: &[String]) {
        for (text, answered) in &*self.0.lock().unwrap() {
            let copies = found.iter().filter(|found| *found == text).count();
            assert!(copies == 1 || (copies == 0 && !answered), "{text}: {copies} copies, answered: {answered}");
        }
    }
}

/// Repeats a request until its answer is not 503.
async fn insist(request: impl AsyncFn() -> Reply) -> Reply {
    for _ in 0..PATIENCE {
        let reply = request().await;
        if reply.status != 503 {
            return reply;
        }
    }
    panic!("never answered")
}

/// A POST that is the same one however often it is repeated.
async fn write(caller: &Caller, path: &str, body: &Value) -> Reply {
    let key = unique("key");
    insist(async || send(caller.request(Method::POST, path).header("idempotency-key", &key).json(body)).await).await
}

impl Play {
    async fn open(stage: &Stage) -> Self {
        let front = Front::open(stage).await;
        let plain = front.account.channel(&front.integrator.url()).await;
        let crm = Receiver::start(fine()).await;
        add(&front.account, &crm, json!({})).await;
        let [ann, ben] = [front.account.agent("Ann").await, front.account.agent("Ben").await];
        ann.presence("online").await;
        ben.presence("online").await;
        Self { front, plain, crm, ann, ben, said: Said::default(), written: Said::default() }
    }

    /// The visitor says something else each time, as nothing tells a repetition from another message.
    async fn say(&self, channel: &Channel, visitor: &str, what: &str) {
        for n in 0..PATIENCE {
            let text = format!("{visitor}: {what} ({n})");
            let body = json!({
                "sender": {"id": visitor, "name": visitor}, "message": visitor_text(visitor, &text)["message"],
            });
            let reply = channel.post(&body).await;
            self.said.note(&text, reply.status == 200);
            if reply.status != 503 {
                assert_eq!(reply.expect(200), json!({"result": "ok"}));
                return;
            }
        }
        panic!("never answered");
    }

    async fn chat_of(&self, visitor: &str) -> u64 {
        let chats = self.front.agent.chats("open").await;
        let chat = chats.iter().find(|chat| chat["visitor"]["name"] == visitor);
        number(&chat.unwrap_or_else(|| panic!("no chat of {visitor}"))["chat_id"])
    }

    /// An agent does this to a chat. A transfer that was done without an answer cannot be done again.
    async fn act(&self, agent: &Agent, chat: u64, action: &str, body: &Value) {
        let path = format!("/agent/chats/{chat}/{action}");
        let first = agent.call.post(&path, body).await;
        let was_in_doubt = first.status == 503;
        let reply = if was_in_doubt { insist(async || agent.call.post(&path, body).await).await } else { first };
        let is_done_before = was_in_doubt && action == "transfer" && reply.status == 409;
        assert!(reply.status == 200 || is_done_before, "{action}: {reply:?}");
    }

    async fn answer(&self, agent: &Agent, chat: u64, text: &str) {
        let path = format!("/agent/chats/{chat}/messages");
        write(&agent.call, &path, &json!({"type": "text", "text": text})).await.expect(201);
        self.written.note(text, true);
    }

    /// Two agents, one after the other.
    async fn converse(&self, visitor: &str) {
        for what in ["one", "two", "three"] {
            self.say(&self.plain, visitor, what).await;
        }
        let chat = self.chat_of(visitor).await;
        self.act(&self.ann, chat, "accept", &json!({})).await;
        for what in ["first", "second", "third"] {
            self.answer(&self.ann, chat, &format!("Ann to {visitor}: {what}")).await;
        }
        self.act(&self.ann, chat, "transfer", &json!({"agent_id": self.ben.id})).await;
        self.say(&self.plain, visitor, "four").await;
        self.answer(&self.ben, chat, &format!("Ben to {visitor}")).await;
        self.act(&self.ben, chat, "close", &json!({})).await;
    }

    /// A bot, and an agent after it.
    async fn converse_with_bot(&self, visitor: &str) {
        self.say(&self.front.channel, visitor, "one").await;
        let chat = self.chat_of(visitor).await;
        let Bot { call, .. } = &self.front.bot;
        let text = format!("Robin to {visitor}");
        let message = json!({"type": "TEXT", "text": text, "timestamp": 1_700_000_000});
        let said = json!({"event": "BOT_MESSAGE", "id": "any", "chat_id": chat.to_string(), "message": message});
        write(call, &self.front.bot.webhook(), &said).await.expect(200);
        self.written.note(&text, true);
        let invites = json!({"event": "INVITE_AGENT", "id": "any", "chat_id": chat.to_string()});
        write(call, &self.front.bot.webhook(), &invites).await.expect(200);
        self.act(&self.ann, chat, "accept", &json!({})).await;
        self.answer(&self.ann, chat, &format!("Ann to {visitor}")).await;
        self.act(&self.ann, chat, "close", &json!({})).await;
    }

    async fn timelines(&self) -> Vec<Value> {
        let mut all = Vec::new();
        for chat in self.front.agent.chats("closed").await {
            all.extend(self.front.agent.messages(number(&chat["chat_id"])).await);
        }
        all
    }

    /// Every entry is there, which may take ten seconds where a number was taken for nothing, and those that had to go
    /// somewhere have arrived.
    async fn delivered(&self, stage: &Stage) -> Vec<Value> {
        wait_for("everything delivered", seconds(110), async || {
            // It is called every minute, and may meet a conflict too.
            let _ = stage.host.run_schedule("schedule-sweep").await;
            let all = self.timelines().await;
            let states = |entry: &Value| {
                ["delivery", "bot_delivery", "webhook_delivery"].map(|kind| entry[kind]["state"].clone())
            };
            let is_open = |entry: &&Value| states(entry).iter().any(|state| *state != "delivered" && !state.is_null());
            let open: Vec<Value> = all.iter().filter(is_open).cloned().collect();
            let texts: Vec<String> = all.iter().filter_map(|entry| entry["text"].as_str().map(str::to_owned)).collect();
            let missing = [self.said.missing(&texts), self.written.missing(&texts)].concat();
            if open.is_empty() && missing.is_empty() { Ok(all) } else { Err((open, missing)) }
        })
        .await
    }
}

/// How often each thing came: by its id, what names it.
fn tries(requests: &[Request], name: impl Fn(&Value) -> String) -> BTreeMap<String, Vec<String>> {
    let mut tries: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for request in requests {
        let id = request.header("webhook-id").unwrap().to_owned();
        tries.entry(id).or_default().push(name(&request.json()));
    }
    tries
}

#[test]
fn whole_conversations_go_on_while_every_third_write_meets_another() {
    on_own_stage(&[], async |stage| {
        let play = Play::open(stage).await;
        stage.host.contend(NonZeroU32::new(3));
        let plain = (0..VISITORS).map(async |n| play.converse(&format!("plain-{n}")).await);
        let bots = (0..VISITORS).map(async |n| play.converse_with_bot(&format!("bot-{n}")).await);
        futures_util::join!(join_all(plain), join_all(bots));
        let all = play.delivered(stage).await;

        let texts = |from: &[&str]| {
            let of = all.iter().filter(|entry| from.iter().any(|from| entry["from"] == *from));
            of.filter_map(|entry| entry["text"].as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        play.said.check(&texts(&["visitor"]));
        play.written.check(&texts(&["agent", "bot"]));

        let text = |body: &Value| body["message"]["text"].as_str().unwrap_or_default().to_owned();
        let received = tries(&play.front.integrator.requests(), text);
        for written in play.written.0.lock().unwrap().keys() {
            let ids = received.values().filter(|texts| texts.contains(written)).count();
            assert_eq!(ids, 1, "{written}");
        }
        let event = |body: &Value| format!("{} {}", body["event_name"], body["chat_id"]);
        let notifications = tries(&play.crm.requests(), event);
        let once = |name: &str| {
            let events: Vec<&String> =
                notifications.values().filter_map(|of| of.first()).filter(|of| of.contains(name)).collect();
            let different: BTreeSet<_> = events.iter().collect();
            assert_eq!((events.len(), different.len()), (2 * VISITORS, 2 * VISITORS), "{name}: {notifications:?}");
        };
        once("chat_accepted");
        once("chat_finished");
    });
}
