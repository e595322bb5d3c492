//! An account whose channel has a bot, and the bot's provider: its server and its calls to the Bot API.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::api_client::{ApiClient, ApiResponse, TestAccount, TestAgent, TestChannel, merged, number};
use crate::support::test_host::TestHost;
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

pub const BOT_NAME: &str = "Robin";

/// A bot as seen by its provider. The bot connects the provider to an account.
#[derive(Clone)]
pub struct TestBot {
    pub client: ApiClient,
    pub bot_id: String,
    pub provider_id: String,
    pub token: String,
    pub signing_secret: String,
}

impl TestBot {
    /// Connects a bot to the channels. `extra_fields` contains additional or changed settings. By default, the bot has
    /// no answer time limit, because the task that enforces the limit would remain in its queue and delay the end of
    /// the test run.
    pub async fn connect(
        account: &TestAccount,
        provider_id: &str,
        channels: &[&TestChannel],
        extra_fields: Value,
    ) -> Self {
        let token = unique_name("token");
        let channel_ids: Vec<_> = channels.iter().map(|channel| &channel.id).collect();
        let fields = json!({
            "provider_id": provider_id, "token": token, "channel_ids": channel_ids, "name": BOT_NAME, "answer_within": null,
        });
        let created = account.admin.client.post("/admin/bots", &merged(fields, extra_fields)).await.expect(201);
        let field = |name: &str| created[name].as_str().unwrap_or_else(|| panic!("{name}: {created}")).to_owned();
        let (bot_id, signing_secret) = (field("bot_id"), field("signing_secret"));
        let client = account.admin.client.without_token();
        Self { client, bot_id, provider_id: provider_id.to_owned(), token, signing_secret }
    }

    /// Returns the path to which the provider posts events (specification, B-1).
    pub fn webhook_path(&self) -> String {
        format!("/bot/webhooks/{}/{}", self.provider_id, self.token)
    }

    pub async fn post(&self, event: &Value) -> ApiResponse {
        self.client.post(&self.webhook_path(), event).await
    }

    pub async fn send_message(&self, chat_id: &Value, message: Value) -> ApiResponse {
        self.post(&json!({"event": "BOT_MESSAGE", "id": "any", "chat_id": chat_id, "message": message})).await
    }

    pub async fn send_text(&self, chat_id: &Value, text: &str) -> ApiResponse {
        self.send_message(chat_id, json!({"type": "TEXT", "text": text, "timestamp": 1_700_000_000})).await
    }

    pub async fn invite_agent(&self, chat_id: &Value) -> ApiResponse {
        self.post(&json!({"event": "INVITE_AGENT", "id": "any", "chat_id": chat_id})).await
    }
}

pub fn unique_name(prefix: &str) -> String {
    format!("{prefix}-{}", local::random_and_digest::random_hex::<8>().unwrap())
}

/// Registers a bot provider and returns its id.
pub async fn register_provider(operator: &ApiClient, endpoint: &str, extra_fields: Value) -> String {
    let fields = merged(json!({"name": "Bots & Co", "endpoint": endpoint}), extra_fields);
    let created = operator.post("/operator/providers", &fields).await.expect(201);
    created["provider_id"].as_str().expect("a provider_id").to_owned()
}

/// A new account whose only channel has a bot.
pub struct BotFixture {
    pub account: TestAccount,
    pub agent: TestAgent,
    pub integrator: TestReceiver,
    pub provider: TestReceiver,
    pub channel: TestChannel,
    pub bot: TestBot,
}

impl BotFixture {
    /// Creates an account whose integrator and provider accept every request.
    pub async fn create(host: &TestHost) -> Self {
        Self::create_with(host, json!({}), json!({})).await
    }

    /// Like [`create`](Self::create), with additional settings for the channel and the bot.
    pub async fn create_with(host: &TestHost, channel: Value, bot: Value) -> Self {
        let (integrator, provider) =
            (TestReceiver::start(CannedResponse::ok()).await, TestReceiver::start(CannedResponse::ok()).await);
        let account = host.create_account().await;
        let channel = account.create_channel_with(&integrator.url(), channel).await;
        let provider_id = register_provider(&host.operator, &provider.url(), json!({})).await;
        let bot = TestBot::connect(&account, &provider_id, &[&channel], bot).await;
        Self { agent: account.admin.clone(), account, integrator, provider, channel, bot }
    }

    /// Sends a text message from a visitor, waits until the provider has received the CLIENT_MESSAGE event, and returns
    /// the event.
    pub async fn send_visitor_text(&self, visitor: &str, text: &str) -> Value {
        self.channel.send_text(visitor, text).await;
        self.wait_for_event_where(&format!("CLIENT_MESSAGE with {text:?}"), |event| event["message"]["text"] == text)
            .await
    }

    /// Returns the requests with this event that the provider has received so far, in order of arrival.
    pub fn attempts(&self, event: &str) -> Vec<ReceivedRequest> {
        self.provider.requests().into_iter().filter(|request| request.json()["event"] == event).collect()
    }

    /// Waits for the first event named `event`, and returns it.
    pub async fn wait_for_event(&self, event: &str) -> Value {
        self.wait_for_event_where(event, |body| body["event"] == event).await
    }

    async fn wait_for_event_where(&self, what: &str, matches: impl Fn(&Value) -> bool) -> Value {
        wait_for(what, WAIT_TIMEOUT, async || {
            let events: Vec<Value> = self.provider.requests().iter().map(ReceivedRequest::json).collect();
            events.iter().find(|event| matches(event)).cloned().ok_or(events)
        })
        .await
    }

    pub async fn entry_with_text(&self, chat: u64, text: &str) -> Value {
        let timeline = self.agent.timeline(chat).await;
        timeline
            .into_iter()
            .find(|entry| entry["text"] == text)
            .unwrap_or_else(|| panic!("no entry with the text {text}"))
    }

    /// Waits until the delivery of this visitor message to the bot is no longer `pending`, and returns the delivery.
    pub async fn final_bot_delivery(&self, chat: u64, text: &str) -> Value {
        wait_for("the end of a delivery to the bot", WAIT_TIMEOUT, async || {
            let delivery = self.entry_with_text(chat, text).await["bot_delivery"].clone();
            if delivery["state"] == "pending" { Err(delivery) } else { Ok(delivery) }
        })
        .await
    }

    pub async fn chat_state(&self, chat: u64) -> Value {
        self.agent.chat(chat).await["state"].clone()
    }

    pub async fn wait_until_waiting(&self, chat: u64, within: Duration) {
        wait_for("the chat waits for an agent", within, async || {
            let waiting = self.agent.chats("waiting").await;
            let is_listed = waiting.iter().any(|row| number(&row["chat_id"]) == chat);
            if is_listed { Ok(()) } else { Err((waiting, self.chat_state(chat).await)) }
        })
        .await;
    }
}

#[track_caller]
pub fn chat_number(event: &Value) -> u64 {
    let chat_id = event["chat_id"].as_str().unwrap_or_else(|| panic!("chat_id is not a string: {event}"));
    chat_id.parse().unwrap_or_else(|_| panic!("chat_id is not a chat number: {event}"))
}
