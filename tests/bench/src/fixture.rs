//! A local host with the built functions, and an account with open chats.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Router;
use cost::{Driver, LoggedInAgent};
use local::{Host, HostStorage, LogSink, Options, cargo_build, random_and_digest};
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::error::Error;

/// The maximum number of messages that the service accepts from one visitor in ten seconds. This is the highest value
/// that the setting allows.
const MAX_VISITOR_MESSAGES: u32 = 1_000;

/// A local host that stores its data in memory, and the operator's key.
pub(crate) struct BenchHost {
    pub host: Host,
    pub operator_key: String,
}

impl BenchHost {
    /// Starts a host on which every request to the tables and queues takes `store_latency` longer.
    pub async fn start(arguments: &Arguments, store_latency: Duration) -> Result<Self, Error> {
        Self::start_with_log(arguments, store_latency, LogSink::WarningsOnly).await
    }

    pub async fn start_with_log(arguments: &Arguments, store_latency: Duration, log: LogSink) -> Result<Self, Error> {
        let operator_key = random_and_digest::random_hex::<32>()?;
        let parameters = [
            ("OperatorKeySha256", random_and_digest::sha256_hex(&operator_key)),
            ("AllowHttpTargets", "true".to_owned()),
            ("AllowedPrivateTargets", "127.0.0.0/8".to_owned()),
        ];
        let host = Host::start(Options {
            port: 0,
            storage: HostStorage::Memory,
            template: cargo_build::workspace_root().join("template.yaml"),
            parameters: BTreeMap::from(parameters.map(|(name, value)| (name.to_owned(), value))),
            binaries: arguments.functions.clone(),
            store_latency,
            extra_routes: Router::new(),
            log,
        });
        Ok(Self { host: host.await?, operator_key })
    }

    pub async fn driver(&self) -> Result<Driver<'_>, Error> {
        Ok(Driver::open(&self.host, &self.operator_key).await?)
    }
}

/// A channel with chats that the account's admin has accepted. The chats are numbered from 1, and the id of each chat's
/// visitor is `visitor-` followed by the chat's number.
pub(crate) struct OpenChats {
    pub admin: LoggedInAgent,
    pub channel_id: String,
    pub channel_path: String,
    pub count: u64,
}

impl OpenChats {
    /// Creates an account with this name and a channel whose messages go to `integrator_url`, then opens and accepts
    /// `count` chats.
    pub async fn create(driver: &Driver<'_>, account: &str, integrator_url: &str, count: u64) -> Result<Self, Error> {
        let admin = driver.create_account(account).await?;
        let limits = json!({"limits": {"visitor_messages": MAX_VISITOR_MESSAGES, "channel_chats": 1_000}});
        driver.api.put("/admin/settings", &admin.token, &limits).await?;
        let (channel_id, channel_path) = driver.create_channel(&admin, Some(integrator_url), json!([])).await?;
        let chats = Self { admin, channel_id, channel_path, count };
        for chat in 1..=count {
            driver.send_visitor_message(&chats.channel_path, &visitor(chat)).await?;
            driver.accept(&chats.admin, chat).await?;
        }
        Ok(chats)
    }

    /// Returns the chat that gets the n-th message if the messages go to all chats in turn.
    pub fn nth(&self, message: u64) -> u64 {
        message % self.count + 1
    }

    /// Returns the event with which API Gateway invokes `channel-receive-message` for a visitor's text.
    pub fn visitor_event(&self, chat: u64, text: &str) -> String {
        let secret = self.channel_path.split('/').rev().nth(1).unwrap_or_default();
        let (path, route) = (&self.channel_path, "ANY /channel/{secret}/{channel_id}");
        json!({
            "version": "2.0",
            "routeKey": route,
            "rawPath": path,
            "rawQueryString": "",
            "headers": {"content-type": "application/json", "host": "api.example", "x-forwarded-proto": "https"},
            "requestContext": {
                "accountId": "000000000000",
                "apiId": "bench",
                "domainName": "api.example",
                "domainPrefix": "bench",
                "http": {"method": "POST", "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1", "userAgent": ""},
                "requestId": "bench",
                "routeKey": route,
                "stage": "$default",
                "time": "01/Jan/2026:00:00:00 +0000",
                "timeEpoch": 1_767_225_600_000_u64,
            },
            "pathParameters": {"secret": secret, "channel_id": self.channel_id},
            "body": visitor_message(chat, text).to_string(),
            "isBase64Encoded": false,
        })
        .to_string()
    }
}

fn visitor(chat: u64) -> String {
    format!("visitor-{chat}")
}

pub(crate) fn visitor_message(chat: u64, text: &str) -> Value {
    json!({"sender": {"id": visitor(chat)}, "message": {"type": "text", "text": text}})
}
