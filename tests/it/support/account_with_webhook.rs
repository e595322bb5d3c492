//! An account with a webhook, and functions for the server that receives the webhook's events.

use serde_json::{Value, json};

use crate::support::api_client::{TestAccount, TestAgent, TestChannel, merged};
use crate::support::test_host::{TestHost, VISITOR_ID, open_accepted_chat};
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

pub const WEBHOOKS_PATH: &str = "/admin/settings/webhooks";

/// Returns a response with which a webhook accepts an event (specification, part C).
pub fn ok_response() -> CannedResponse {
    ok_response_with(json!({}))
}

pub fn ok_response_with(fields: Value) -> CannedResponse {
    CannedResponse::Json(200, merged(json!({"result": "OK"}), fields))
}

/// Adds a webhook that sends its events to the receiver. Returns the API response, which contains the signing secret.
pub async fn add_webhook(account: &TestAccount, receiver: &TestReceiver, extra_fields: Value) -> Value {
    let body = merged(json!({"url": receiver.url()}), extra_fields);
    account.admin.client.post(WEBHOOKS_PATH, &body).await.expect(201)
}

pub fn event_names(receiver: &TestReceiver) -> Vec<String> {
    let name = |request: ReceivedRequest| request.json()["event_name"].as_str().expect("an event_name").to_owned();
    receiver.requests().into_iter().map(name).collect()
}

/// Waits for the first event named `event`, and returns it.
pub async fn wait_for_event(receiver: &TestReceiver, event: &str) -> Value {
    wait_for(event, WAIT_TIMEOUT, async || {
        let bodies: Vec<Value> = receiver.requests().iter().map(ReceivedRequest::json).collect();
        bodies.iter().find(|body| body["event_name"] == event).cloned().ok_or(bodies)
    })
    .await
}

/// Waits until the newest delivery of `event` is no longer `pending`, and returns it.
pub async fn final_webhook_delivery(agent: &TestAgent, chat: u64, event: &str) -> Value {
    wait_for("the end of a webhook delivery", WAIT_TIMEOUT, async || {
        let timeline = agent.timeline(chat).await;
        let delivery = timeline.iter().rfind(|entry| entry["type"] == event).map(|entry| &entry["webhook_delivery"]);
        match delivery {
            Some(delivery) if delivery["state"] != "pending" => Ok(delivery.clone()),
            _ => Err(timeline),
        }
    })
    .await
}

/// An account with one webhook that receives every event.
pub struct WebhookFixture {
    pub account: TestAccount,
    pub agent: TestAgent,
    pub webhook_receiver: TestReceiver,
    pub channel: TestChannel,
    /// The admin API's response to the creation of the webhook.
    pub webhook: Value,
}

impl WebhookFixture {
    /// Creates an account whose webhook always responds with [`ok_response`].
    pub async fn create(host: &TestHost) -> Self {
        Self::create_with(host, [ok_response()]).await
    }

    /// Creates an account whose webhook sends these responses in order and then repeats the last one.
    pub async fn create_with(host: &TestHost, responses: impl IntoIterator<Item = CannedResponse>) -> Self {
        let webhook_receiver = TestReceiver::start_sequence(responses).await;
        let account = host.create_account().await;
        let agent = account.create_agent_with("Ann", json!({"phone": "+31 20 123 4567"})).await;
        let channel = account.create_channel("https://app.example/hook").await;
        let webhook = add_webhook(&account, &webhook_receiver, json!({})).await;
        Self { account, agent, webhook_receiver, channel, webhook }
    }

    /// Opens a chat, accepts it as the agent, and waits until the delivery of `chat_accepted` has ended.
    pub async fn open_accepted_chat(&self) -> u64 {
        let chat = open_accepted_chat(&self.agent, &self.channel, VISITOR_ID).await;
        final_webhook_delivery(&self.agent, chat, "chat_accepted").await;
        chat
    }

    pub async fn panel(&self, chat: u64) -> Value {
        self.agent.chat(chat).await["panel"].clone()
    }

    pub async fn visitor(&self, chat: u64) -> Value {
        self.agent.chat(chat).await["visitor"].clone()
    }

    /// Changes fields of the account's first visitor, acting as the agent.
    pub async fn update_visitor(&self, fields: Value) -> Value {
        self.agent.client.patch("/agent/visitors/1", &fields).await.expect(200)
    }

    pub fn webhook_path(&self, suffix: &str) -> String {
        format!("{WEBHOOKS_PATH}/{}{suffix}", self.webhook["webhook_id"].as_str().expect("a webhook_id"))
    }
}
