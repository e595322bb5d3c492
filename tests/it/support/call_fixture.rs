//! An account that makes phone calls: a widget with a visitor, an agent with a phone number, a telephony provider and a
//! webhook.

use std::time::{SystemTime, UNIX_EPOCH};

use reqwest::Method;
use serde_json::{Value, json};
use standardwebhooks::Webhook;

use crate::support::account_with_webhook::{add_webhook, ok_response};
use crate::support::api_client::{ApiResponse, TestAccount, TestAgent, merged, send};
use crate::support::test_host::TestHost;
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, wait_for};
use crate::support::widget_client::{TestVisitor, TestWidget};

pub const TELEPHONY_PATH: &str = "/admin/telephony";
/// The secret that signs the requests to and from the gateway.
pub const GATEWAY_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
pub const ACCOUNT_NUMBER: &str = "+31201234567";
pub const AGENT_PHONE: &str = "+31611111111";
pub const VISITOR_PHONE: &str = "+31622222222";

pub struct CallFixture {
    pub account: TestAccount,
    pub agent: TestAgent,
    pub widget: TestWidget,
    pub visitor: TestVisitor,
    pub provider: TestReceiver,
    pub webhook_receiver: TestReceiver,
    /// The URL to which the provider reports incoming calls.
    pub incoming_url: String,
}

impl CallFixture {
    /// Creates an account with a plain HTTP gateway.
    pub async fn create(host: &TestHost) -> Self {
        Self::create_with(host, json!({})).await
    }

    /// Creates an account with a plain HTTP gateway, and with these additional or changed telephony settings.
    pub async fn create_with(host: &TestHost, telephony: Value) -> Self {
        let provider = TestReceiver::start(CannedResponse::ok()).await;
        let http = json!({"provider": "http", "url": provider.url(), "signing_secret": GATEWAY_SECRET});
        Self::create_with_provider(host, provider, merged(http, telephony)).await
    }

    pub async fn create_with_provider(host: &TestHost, provider: TestReceiver, telephony: Value) -> Self {
        let webhook_receiver = TestReceiver::start(ok_response()).await;
        let account = host.create_account().await;
        let agent = account.create_agent_with("Ann", json!({"phone": "06 11111111"})).await;
        agent.set_presence("online").await;
        add_webhook(&account, &webhook_receiver, json!({"events": ["call_event"]})).await;
        account.admin.client.put("/admin/settings", &json!({"callback": {"enabled": true}})).await.expect(200);
        let widget = account.create_widget(json!({})).await;
        // With a short ringing time, the delayed checks of the time limits leave the queue soon after the test.
        let defaults = json!({"number": ACCOUNT_NUMBER, "channel_id": widget.id, "ring_seconds": 15});
        let settings = account.admin.client.patch(TELEPHONY_PATH, &merged(defaults, telephony)).await.expect(200);
        let incoming_url = settings["incoming_url"].as_str().unwrap().to_owned();
        top_up(host, &account, 60).await;
        let visitor = widget.visitor().await;
        Self { account, agent, widget, visitor, provider, webhook_receiver, incoming_url }
    }

    pub async fn start_callback(&self) -> Value {
        let id = self.webhook_receiver.requests().len().to_string();
        self.visitor.call("call", json!({"message_id": id, "phone": "06-22222222"})).await.expect(200)
    }

    /// Starts a callback and returns the order that the gateway receives.
    pub async fn ordered_callback(&self) -> Value {
        let count = self.provider.requests().len();
        assert_eq!(self.start_callback().await["result"], "ok");
        self.provider.wait_for_requests(count + 1, WAIT_TIMEOUT).await[count].json()
    }

    /// Returns the newest call in the chat's timeline, or null if there is none.
    pub async fn call(&self, chat: u64) -> Value {
        let timeline = self.agent.timeline(chat).await;
        timeline.iter().rfind(|entry| entry["type"] == "call").map(|entry| entry["call"].clone()).unwrap_or_default()
    }

    /// Waits until the webhook has received exactly the events with these statuses, in this order. Returns the `call`
    /// of each event.
    pub async fn wait_for_statuses(&self, expected: &[&str]) -> Vec<Value> {
        wait_for("call events", WAIT_TIMEOUT, async || {
            let calls: Vec<Value> =
                self.webhook_receiver.requests().iter().map(|request| request.json()["call"].clone()).collect();
            let statuses: Vec<&str> = calls.iter().filter_map(|call| call["status"].as_str()).collect();
            if statuses == expected { Ok(calls.clone()) } else { Err(statuses.join(" ")) }
        })
        .await
    }
}

pub async fn top_up(host: &TestHost, account: &TestAccount, minutes: u64) {
    let path = format!("/operator/accounts/{}/call-balance", account.id.as_str().unwrap());
    let body = json!({"minutes": minutes, "reference": format!("payment of {minutes}")});
    host.operator.post(&path, &body).await.expect(200);
}

pub async fn report(host: &TestHost, order: &Value, status: &str, fields: Value) -> ApiResponse {
    let body = merged(json!({"call_id": order["call_id"], "status": status}), fields);
    post_signed(host, order["report_url"].as_str().unwrap(), &body, GATEWAY_SECRET).await
}

pub async fn post_signed(host: &TestHost, url: &str, body: &Value, secret: &str) -> ApiResponse {
    // The functions compare the time of a signature with the clock of the system, also on a host with virtual time.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is right");
    post_signed_at(host, url, body, secret, now.as_secs()).await
}

/// Sends a request that was signed at this Unix time in seconds.
pub async fn post_signed_at(host: &TestHost, url: &str, body: &Value, secret: &str, at: u64) -> ApiResponse {
    let text = body.to_string();
    let signature = Webhook::new(secret).unwrap().sign("report", i64::try_from(at).unwrap(), text.as_bytes()).unwrap();
    let request = host.anonymous.request(Method::POST, url).header("content-type", "application/json");
    let request = request.header("webhook-id", "report").header("webhook-timestamp", at.to_string());
    send(request.header("webhook-signature", signature).body(text)).await
}
