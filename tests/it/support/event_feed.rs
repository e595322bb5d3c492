//! Fetches what waits for a receiver without an address, as its program does.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::api_client::{ApiClient, ApiResponse, TestChannel};
use crate::support::test_receiver::ReceivedRequest;
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

pub struct EventFeed {
    client: ApiClient,
    url: String,
}

impl EventFeed {
    /// The feed of a webhook, from the response that shows its address.
    pub fn of_webhook(client: &ApiClient, shown: &Value) -> Self {
        let url = shown["pull_url"].as_str().unwrap_or_else(|| panic!("no address: {shown}")).to_owned();
        Self { client: client.clone(), url }
    }

    pub fn of_channel(channel: &TestChannel) -> Self {
        Self { client: channel.client.clone(), url: format!("{}/events", channel.endpoint) }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub async fn fetch(&self, query: &str) -> ApiResponse {
        self.client.get(&format!("{}?{query}", self.url)).await
    }

    /// Acknowledges a page, and returns the next one.
    pub async fn fetch_after(&self, page: &Value) -> Value {
        let cursor = page["cursor"].as_str().unwrap_or_else(|| panic!("no cursor: {page}"));
        self.fetch(&format!("after={cursor}")).await.expect(200)
    }

    /// Fetches until `count` events are there, because they are stored before their delivery is prepared.
    pub async fn fetch_all(&self, count: usize) -> Value {
        wait_for("the events", WAIT_TIMEOUT, async || {
            let page = self.fetch("").await.expect(200);
            if page["events"].as_array().unwrap().len() == count { Ok(page) } else { Err(page) }
        })
        .await
    }
}

/// Returns the events of a page as the requests that would be posted.
pub fn requests(page: &Value) -> Vec<ReceivedRequest> {
    let request = |event: &Value| ReceivedRequest {
        at: Instant::now(),
        took: Duration::ZERO,
        method: "POST".to_owned(),
        path: String::new(),
        headers: serde_json::from_value(event["headers"].clone()).unwrap(),
        body: event["body"].as_str().unwrap().as_bytes().to_vec(),
    };
    page["events"].as_array().unwrap().iter().map(request).collect()
}

/// Returns the value of a field of each event's body.
pub fn fields(page: &Value, pointer: &str) -> Vec<String> {
    let field = |request: ReceivedRequest| request.json().pointer(pointer).unwrap().as_str().unwrap().to_owned();
    requests(page).into_iter().map(field).collect()
}
