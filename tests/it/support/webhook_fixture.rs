//! A webhook as tests play it: the customer's server, an account that tells it of its chats, and what the account
//! shows of both.

use serde_json::{Value, json};

use crate::client::{Account, Agent, Channel, merged};
use crate::harness::{Stage, VISITOR, open_chat};
use crate::receiver::{Answer, Receiver, Request};
use crate::wait::{PATIENCE, wait_for};

/// Where the account's webhooks are.
pub const WEBHOOKS: &str = "/admin/settings/webhooks";

/// The answer that the specification asks for.
pub fn fine() -> Answer {
    with_data(json!({}))
}

/// OK, with these fields beside it.
pub fn with_data(fields: Value) -> Answer {
    Answer::Json(200, merged(json!({"result": "OK"}), fields))
}

/// Adds a webhook to an account; returns what its admin is shown, the secret included.
pub async fn add(account: &Account, receiver: &Receiver, more: Value) -> Value {
    let body = merged(json!({"url": receiver.url()}), more);
    account.admin.call.post(WEBHOOKS, &body).await.expect(201)
}

/// The names of the events that a webhook was told, in the order of their arrival.
pub fn names(receiver: &Receiver) -> Vec<String> {
    let name = |request: Request| request.json()["event_name"].as_str().expect("an event_name").to_owned();
    receiver.requests().into_iter().map(name).collect()
}

/// The first event of that name, once it has come.
pub async fn notifications(receiver: &Receiver, event: &str) -> Value {
    wait_for(event, PATIENCE, async || {
        let bodies: Vec<Value> = receiver.requests().iter().map(Request::json).collect();
        bodies.iter().find(|body| body["event_name"] == event).cloned().ok_or(bodies)
    })
    .await
}

/// The newest entry of an event, once its delivery has left `pending`.
pub async fn recorded(agent: &Agent, chat: u64, event: &str) -> Value {
    wait_for("a verdict about a webhook", PATIENCE, async || {
        let timeline = agent.messages(chat).await;
        let delivery = timeline.iter().rfind(|entry| entry["type"] == event).map(|entry| &entry["webhook_delivery"]);
        match delivery {
            Some(delivery) if delivery["state"] != "pending" => Ok(delivery.clone()),
            _ => Err(timeline),
        }
    })
    .await
}

/// An account with one webhook, which is told of everything.
pub struct Hooked {
    pub account: Account,
    pub agent: Agent,
    pub crm: Receiver,
    pub channel: Channel,
    /// What the admin was shown of the webhook.
    pub webhook: Value,
}

impl Hooked {
    /// The webhook always answers OK.
    pub async fn open(stage: &Stage) -> Self {
        Self::open_with(stage, [fine()]).await
    }

    /// The webhook answers like this, one after the other.
    pub async fn open_with(stage: &Stage, answers: impl IntoIterator<Item = Answer>) -> Self {
        let crm = Receiver::start_with(answers).await;
        let account = stage.account().await;
        let agent = account.agent_with("Ann", json!({"phone": "+31 20 1"})).await;
        let channel = account.channel("https://app.example/hook").await;
        let webhook = add(&account, &crm, json!({})).await;
        Self { account, agent, crm, channel, webhook }
    }

    /// The visitor writes, the agent accepts, the webhook's verdict about that is known.
    pub async fn accepted(&self) -> u64 {
        let chat = open_chat(&self.agent, &self.channel, VISITOR).await;
        recorded(&self.agent, chat, "chat_accepted").await;
        chat
    }

    pub async fn panel(&self, chat: u64) -> Value {
        self.agent.chat(chat).await["panel"].clone()
    }

    pub async fn visitor(&self, chat: u64) -> Value {
        self.agent.chat(chat).await["visitor"].clone()
    }

    /// The agent changes what is known of the account's first visitor.
    pub async fn correct(&self, fields: Value) -> Value {
        self.agent.call.patch("/agent/visitors/1", &fields).await.expect(200)
    }

    /// The path of something about the webhook.
    pub fn path(&self, of: &str) -> String {
        format!("{WEBHOOKS}/{}{of}", self.webhook["webhook_id"].as_str().expect("a webhook_id"))
    }
}
