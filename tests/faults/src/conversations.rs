//! The conversations of a round: visitors write, agents compete for chats, answer, transfer and close them. In the calm
//! phase, agents send messages whose order is checked.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use local::faults::Generator;
use local::random_and_digest::random_hex;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::account::{Account, Agent, Channel};
use crate::client::ApiClient;
use crate::records::{Action, Record, Records};

const CONCURRENT_CONVERSATIONS: usize = 16;
const PAUSE_BETWEEN_REPETITIONS: Duration = Duration::from_millis(150);

pub struct Request {
    pub action: Action,
    pub chat: Option<u64>,
    pub agent: Option<u64>,
    pub to: Option<u64>,
    pub text: Option<String>,
    pub path: String,
    pub body: Value,
}

/// Sends a request and records its result. With `max_repetitions`, the request has an idempotency key and is repeated
/// while its result is unknown. Returns the body of the last response, or `None` if the request was not acknowledged.
pub async fn send(
    client: &ApiClient,
    records: &Records,
    request: Request,
    max_repetitions: Option<u32>,
) -> Option<Value> {
    let key = max_repetitions.map(|_| random_hex::<8>().unwrap());
    let started_ms = records.now_ms();
    let mut repetitions = 0;
    let response = loop {
        let response = client.post(&request.path, &request.body, key.as_deref()).await;
        let is_known = response.as_ref().is_some_and(|response| response.status < 500);
        if is_known || repetitions == max_repetitions.unwrap_or_default() {
            break response;
        }
        repetitions += 1;
        sleep(PAUSE_BETWEEN_REPETITIONS).await;
    };
    let Request { action, chat, agent, to, text, .. } = request;
    let record = Record {
        action,
        started_ms,
        ended_ms: records.now_ms(),
        chat,
        agent,
        to,
        text,
        status: response.as_ref().map(|response| response.status),
        seq: response.as_ref().and_then(|response| response.body["seq"].as_u64()),
        is_repeated: repetitions > 0,
    };
    let is_acknowledged = record.is_acknowledged();
    records.add(record);
    response.filter(|_| is_acknowledged).map(|response| response.body)
}

pub struct Conversations {
    pub account: Arc<Account>,
    pub anonymous: ApiClient,
    pub records: Records,
    pub generator: Generator,
}

impl Conversations {
    /// Starts conversations until the deadline, and finishes those that are in progress at the deadline.
    pub async fn run_until(&self, deadline: Instant) {
        join_all((0..CONCURRENT_CONVERSATIONS).map(async |worker| {
            for number in 0.. {
                if Instant::now() >= deadline {
                    break;
                }
                let name = format!("visitor-{worker}-{number}");
                self.run_conversation(&name, self.generator.part(&name)).await;
            }
        }))
        .await;
    }

    async fn run_conversation(&self, name: &str, mut random: Generator) {
        let channel = pick(&mut random, &self.account.channels).clone();
        for n in 0..1 + random.below(4) {
            self.visitor_writes(&channel, name, &format!("{name} writes {n}"), &mut random).await;
        }
        if channel.facts.has_bot {
            self.talk_to_bot(&channel, name, &mut random).await;
        }
        let Some(chat) = self.find_chat(name).await else { return };
        // Leave some chats waiting: no agent accepts them.
        if random.is_chosen(100) {
            return;
        }
        let Some(mut owner) = self.compete_for(chat, &mut random).await else { return };
        for turn in 0..1 + random.below(3) {
            owner = self.run_turn(owner, chat, &channel, &format!("{name}, turn {turn}"), &mut random).await;
        }
        if random.is_chosen(600) {
            self.close(&owner, chat, &channel, name, &mut random).await;
        }
    }

    /// Sends a few messages from the owner. Meanwhile, the visitor may write, the owner may transfer the chat or write
    /// a note, or another agent may try to write. Returns the chat's owner at the end of the turn. If the result of a
    /// transfer is unknown, this is the former owner.
    async fn run_turn(&self, owner: Agent, chat: u64, channel: &Channel, name: &str, random: &mut Generator) -> Agent {
        let (messages, other) = (1 + random.below(4), self.other_agent(&owner, random));
        let (mut random_writes, mut random_else) = (random.part("messages"), random.part("something else"));
        let write = async {
            for n in 0..messages {
                self.agent_writes(&owner, chat, &format!("agent {} to {name}: {n}", owner.id), &mut random_writes)
                    .await;
            }
        };
        let (meanwhile, visitor) = (random.below(10), name.split(',').next().unwrap_or_default());
        let something_else = async {
            let random = &mut random_else;
            match meanwhile {
                0..3 => self.visitor_writes(channel, visitor, &format!("{name}: visitor replies"), random).await,
                3 | 4 => return self.transfer(&owner, &other, chat, name, random).await,
                5 => self.write_note(&owner, chat, &format!("note on {name}")).await,
                // An agent who does not have the chat must not be able to write in it.
                6 => self.agent_writes(&other, chat, &format!("intruder {} to {name}", other.id), random).await,
                _ => {}
            }
            false
        };
        let ((), is_transferred) = tokio::join!(write, something_else);
        if is_transferred { other } else { owner }
    }

    async fn talk_to_bot(&self, channel: &Channel, name: &str, random: &mut Generator) {
        for n in 0..1 + random.below(3) {
            sleep(Duration::from_millis(200 + random.below(800))).await;
            self.visitor_writes(channel, name, &format!("{name} asks {n}"), random).await;
        }
        sleep(Duration::from_millis(random.below(2_000))).await;
    }

    async fn visitor_writes(&self, channel: &Channel, visitor: &str, text: &str, random: &mut Generator) {
        let message = json!({"type": "text", "text": text});
        let request = Request {
            action: Action::VisitorMessage,
            chat: None,
            agent: None,
            to: None,
            text: Some(text.to_owned()),
            path: channel.endpoint.clone(),
            body: json!({"sender": {"id": visitor, "name": visitor}, "message": message}),
        };
        send(&self.anonymous, &self.records, request, repetitions(random)).await;
    }

    async fn agent_writes(&self, agent: &Agent, chat: u64, text: &str, random: &mut Generator) {
        let request = Request {
            action: Action::AgentMessage,
            chat: Some(chat),
            agent: Some(agent.id),
            to: None,
            text: Some(text.to_owned()),
            path: format!("/agent/chats/{chat}/messages"),
            body: json!({"type": "text", "text": text}),
        };
        send(&agent.client, &self.records, request, repetitions(random)).await;
    }

    async fn write_note(&self, agent: &Agent, chat: u64, text: &str) {
        let request = Request {
            action: Action::Note,
            chat: Some(chat),
            agent: Some(agent.id),
            to: None,
            text: Some(text.to_owned()),
            path: format!("/agent/chats/{chat}/notes"),
            body: json!({"text": text}),
        };
        send(&agent.client, &self.records, request, Some(3)).await;
    }

    /// Lets two agents accept the chat at the same time, up to three times. Returns the agent whose request succeeded,
    /// or `None` if no request succeeded.
    async fn compete_for(&self, chat: u64, random: &mut Generator) -> Option<Agent> {
        let first = pick(random, &self.account.agents).clone();
        let second = self.other_agent(&first, random);
        for _ in 0..3 {
            let agents = [&first, &second];
            let accepted = join_all(agents.map(async |agent| self.act(agent, chat, Action::Accept, None).await)).await;
            let winner = agents.into_iter().zip(accepted).find(|(_, accepted)| accepted.is_some());
            if let Some((winner, _)) = winner {
                return Some(winner.clone());
            }
        }
        None
    }

    /// Transfers the chat to another agent and then tries to write as the former owner. Returns whether the transfer
    /// succeeded.
    async fn transfer(&self, owner: &Agent, to: &Agent, chat: u64, name: &str, random: &mut Generator) -> bool {
        let is_transferred = self.act(owner, chat, Action::Transfer, Some(to.id)).await.is_some();
        if is_transferred {
            self.agent_writes(owner, chat, &format!("former owner {} to {name}", owner.id), random).await;
        }
        is_transferred
    }

    /// Closes the chat, in some cases while the visitor writes or a concurrent request transfers or closes the chat.
    /// The visitor may write again afterwards.
    async fn close(&self, owner: &Agent, chat: u64, channel: &Channel, visitor: &str, random: &mut Generator) {
        let (meanwhile, other) = (random.below(10), self.other_agent(owner, random));
        let mut random_meanwhile = random.part("meanwhile");
        let something_else = async {
            match meanwhile {
                0 | 1 => {
                    let text = format!("{visitor} interrupts");
                    self.visitor_writes(channel, visitor, &text, &mut random_meanwhile).await;
                }
                2 => drop(self.act(owner, chat, Action::Transfer, Some(other.id)).await),
                3 => drop(self.act(owner, chat, Action::Close, None).await),
                _ => {}
            }
        };
        let close = async {
            for _ in 0..3 {
                if self.act(owner, chat, Action::Close, None).await.is_some() {
                    return;
                }
            }
        };
        tokio::join!(close, something_else);
        if random.is_chosen(300) {
            self.rate(channel, visitor, chat).await;
        }
        if random.is_chosen(200) {
            self.visitor_writes(channel, visitor, &format!("{visitor} returns"), random).await;
        }
    }

    /// Sends the agent's request to accept, transfer or close the chat. Returns the response's body if it succeeded.
    async fn act(&self, agent: &Agent, chat: u64, action: Action, to: Option<u64>) -> Option<Value> {
        let (name, body) = match action {
            Action::Transfer => ("transfer", json!({"agent_id": to})),
            Action::Close => ("close", json!({})),
            _ => ("accept", json!({})),
        };
        let path = format!("/agent/chats/{chat}/{name}");
        let request = Request { action, chat: Some(chat), agent: Some(agent.id), to, text: None, path, body };
        send(&agent.client, &self.records, request, None).await
    }

    /// Sends the visitor's rating of the chat, which nobody rates a second time.
    async fn rate(&self, channel: &Channel, visitor: &str, chat: u64) {
        let request = Request {
            action: Action::Rate,
            chat: Some(chat),
            agent: None,
            to: None,
            text: None,
            path: format!("{}/rating", channel.endpoint),
            body: json!({"sender": {"id": visitor}, "chat_id": chat, "rate": "positive"}),
        };
        send(&self.anonymous, &self.records, request, Some(4)).await;
    }

    fn other_agent(&self, agent: &Agent, random: &mut Generator) -> Agent {
        let others: Vec<&Agent> = self.account.agents.iter().filter(|other| other.id != agent.id).collect();
        (*pick(random, &others)).clone()
    }

    /// Returns the number of the visitor's open chat, or `None` if five requests do not find it.
    async fn find_chat(&self, visitor: &str) -> Option<u64> {
        for _ in 0..5 {
            let listed = self.account.admin.client.get("/agent/chats?state=open&limit=100").await;
            let chats = listed.and_then(|listed| listed.body["chats"].as_array().cloned()).unwrap_or_default();
            let found = chats.iter().find(|chat| chat["visitor"]["name"] == visitor);
            if let Some(found) = found {
                return found["chat_id"].as_u64();
            }
            sleep(PAUSE_BETWEEN_REPETITIONS).await;
        }
        None
    }

    /// Has the agents of up to `CHATS` active chats write messages, one after the other in each chat. The messages of
    /// each chat must arrive in order.
    pub async fn send_in_order(&self, chats: &[Value]) {
        const CHATS: usize = 12;
        const MESSAGES: usize = 5;
        let owned = chats.iter().filter_map(|chat| {
            let agent = self.account.agent(chat["agent"]["id"].as_u64()?)?;
            (chat["state"] == "active").then_some((agent, chat["chat_id"].as_u64()?))
        });
        join_all(owned.take(CHATS).map(async |(agent, chat)| {
            for n in 0..MESSAGES {
                let text = format!("calm {n} in {chat}");
                self.agent_writes(agent, chat, &text, &mut self.generator.part(&text)).await;
            }
        }))
        .await;
    }
}

/// Chooses at random whether a request has an idempotency key, as most requests do. Returns the maximum number of
/// repetitions while the request's result is unknown, or `None` for a request without a key, which is sent only once.
fn repetitions(random: &mut Generator) -> Option<u32> {
    random.is_chosen(700).then_some(4)
}

fn pick<'a, T>(random: &mut Generator, all: &'a [T]) -> &'a T {
    &all[usize::try_from(random.below(all.len() as u64)).unwrap()]
}
