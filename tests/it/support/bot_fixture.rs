//! A bot as tests play it: the provider's server, what the provider says to the service, and a channel it
//! stands in front of.

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Account, Agent, Caller, Channel, Reply, merged, number};
use crate::harness::Stage;
use crate::receiver::{Answer, Receiver, Request};
use crate::wait::{PATIENCE, wait_for};

/// The name that visitors see.
pub const NAME: &str = "Robin";

/// A connection to a provider, from the provider's side.
#[derive(Clone)]
pub struct Bot {
    pub call: Caller,
    pub bot_id: String,
    pub provider_id: String,
    pub token: String,
    pub signing_secret: String,
}

impl Bot {
    /// Connected to the channels by the account's admin, with these settings besides the required ones. It may be silent for
    /// ever, unless they say otherwise: no test ends while the task of a limit waits.
    pub async fn connect(account: &Account, provider_id: &str, channels: &[&Channel], more: Value) -> Self {
        let token = unique("token");
        let channel_ids: Vec<_> = channels.iter().map(|channel| &channel.id).collect();
        let fields = json!({
            "provider_id": provider_id, "token": token, "channel_ids": channel_ids, "name": NAME, "answer_within": null,
        });
        let made = account.admin.call.post("/admin/bots", &merged(fields, more)).await.expect(201);
        let field = |name: &str| made[name].as_str().unwrap_or_else(|| panic!("{name}: {made}")).to_owned();
        let (bot_id, signing_secret) = (field("bot_id"), field("signing_secret"));
        let call = account.admin.call.anonymous();
        Self { call, bot_id, provider_id: provider_id.to_owned(), token, signing_secret }
    }

    /// The path of B-1.
    pub fn webhook(&self) -> String {
        format!("/bot/webhooks/{}/{}", self.provider_id, self.token)
    }

    pub async fn post(&self, event: &Value) -> Reply {
        self.call.post(&self.webhook(), event).await
    }

    pub async fn message(&self, chat_id: &Value, message: Value) -> Reply {
        self.post(&json!({"event": "BOT_MESSAGE", "id": "any", "chat_id": chat_id, "message": message})).await
    }

    pub async fn say(&self, chat_id: &Value, text: &str) -> Reply {
        self.message(chat_id, json!({"type": "TEXT", "text": text, "timestamp": 1_700_000_000})).await
    }

    pub async fn invite_agent(&self, chat_id: &Value) -> Reply {
        self.post(&json!({"event": "INVITE_AGENT", "id": "any", "chat_id": chat_id})).await
    }
}

/// Names and tokens that nobody else has.
pub fn unique(what: &str) -> String {
    format!("{what}-{}", local::home::random_hex::<8>().unwrap())
}

/// Registers a provider whose server is at `endpoint`; returns its id.
pub async fn register(operator: &Caller, endpoint: &str, more: Value) -> String {
    let fields = merged(json!({"name": "Bots & Co", "endpoint": endpoint}), more);
    let made = operator.post("/operator/providers", &fields).await.expect(201);
    made["provider_id"].as_str().expect("a provider_id").to_owned()
}

/// A bot in front of a channel, in an account of its own.
pub struct Front {
    pub account: Account,
    pub agent: Agent,
    pub integrator: Receiver,
    pub provider: Receiver,
    pub channel: Channel,
    pub bot: Bot,
}

impl Front {
    /// Both servers answer as they should.
    pub async fn open(stage: &Stage) -> Self {
        Self::open_with(stage, json!({}), json!({})).await
    }

    /// With these settings of the channel and of the bot.
    pub async fn open_with(stage: &Stage, channel: Value, bot: Value) -> Self {
        let (integrator, provider) = (Receiver::start(Answer::ok()).await, Receiver::start(Answer::ok()).await);
        let account = stage.account().await;
        let channel = account.channel_with(&integrator.url(), channel).await;
        let provider_id = register(&stage.operator, &provider.url(), json!({})).await;
        let bot = Bot::connect(&account, &provider_id, &[&channel], bot).await;
        Self { agent: account.admin.clone(), account, integrator, provider, channel, bot }
    }

    /// The visitor writes; returns the CLIENT_MESSAGE that says so, once the provider has it.
    pub async fn ask(&self, visitor: &str, text: &str) -> Value {
        self.channel.say(visitor, text).await;
        self.told_when(&format!("the provider hears {text:?}"), |event| event["message"]["text"] == text).await
    }

    /// The requests of an event's kind so far, in the order of their arrival.
    pub fn tries(&self, event: &str) -> Vec<Request> {
        self.provider.requests().into_iter().filter(|request| request.json()["event"] == event).collect()
    }

    /// The first event of this kind, once the provider has it.
    pub async fn notifications(&self, event: &str) -> Value {
        self.told_when(event, |notifications| notifications["event"] == event).await
    }

    async fn told_when(&self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        wait_for(what, PATIENCE, async || {
            let notifications: Vec<Value> = self.provider.requests().iter().map(Request::json).collect();
            notifications.iter().find(|event| is_it(event)).cloned().ok_or(notifications)
        })
        .await
    }

    /// The entry in which the visitor said this.
    pub async fn entry(&self, chat: u64, text: &str) -> Value {
        let timeline = self.agent.messages(chat).await;
        timeline.into_iter().find(|entry| entry["text"] == text).unwrap_or_else(|| panic!("nobody said {text}"))
    }

    /// What became of the visitor's message on its way to the bot, once that is known.
    pub async fn bot_verdict(&self, chat: u64, text: &str) -> Value {
        wait_for("a verdict about the bot", PATIENCE, async || {
            let delivery = self.entry(chat, text).await["bot_delivery"].clone();
            if delivery["state"] == "pending" { Err(delivery) } else { Ok(delivery) }
        })
        .await
    }

    pub async fn state(&self, chat: u64) -> Value {
        self.agent.chat(chat).await["state"].clone()
    }

    /// Returns once an agent sees the chat among those that wait.
    pub async fn waits(&self, chat: u64, within: Duration) {
        wait_for("the chat waits for an agent", within, async || {
            let waiting = self.agent.chats("waiting").await;
            let is_there = waiting.iter().any(|row| number(&row["chat_id"]) == chat);
            if is_there { Ok(()) } else { Err((waiting, self.state(chat).await)) }
        })
        .await;
    }
}

/// The number of the chat that an event of ours names.
#[track_caller]
pub fn chat_of(event: &Value) -> u64 {
    let chat_id = event["chat_id"].as_str().unwrap_or_else(|| panic!("chat_id is no text: {event}"));
    chat_id.parse().unwrap_or_else(|_| panic!("chat_id is no number of a chat: {event}"))
}
