//! The evidence that is collected after a round. The service's own data is read through its public API.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::account::Account;
use crate::client::ApiClient;
use crate::receiver::{JournalEntry, Kind};
use crate::records::{Record, Records};

#[derive(Default, Serialize, Deserialize)]
pub struct Evidence {
    pub records: Vec<Record>,
    pub journals: Vec<Journal>,
    /// All chats, as `GET /agent/chats` lists them.
    pub chats: Vec<Value>,
    /// The timeline of each chat, keyed by chat number.
    pub timelines: BTreeMap<u64, Vec<Value>>,
    /// The account's channels, keyed by id.
    #[serde(default)]
    pub channels: BTreeMap<String, ChannelFacts>,
    pub report: Value,
    /// The ids of the account's agents, including the admin.
    pub agents: Vec<u64>,
    /// The number of injected faults of each kind, including kills of the host.
    pub faults: BTreeMap<String, u64>,
    /// The number of messages in each queue that is not empty at the end of the round.
    pub queues: BTreeMap<String, u64>,
    /// What was still pending after the recovery timeout, or `None` if everything recovered in time.
    pub recovery_problem: Option<String>,
    /// When the round started, in milliseconds since 1970.
    #[serde(default)]
    pub start_unix_ms: u64,
    /// When the injection of faults ended, in milliseconds since the start of the round.
    pub faults_ended_ms: u64,
    /// When the calm phase started, in milliseconds since the start of the round.
    pub calm_started_ms: u64,
}

#[derive(Serialize, Deserialize)]
pub struct Journal {
    pub receiver: String,
    pub kind: Kind,
    pub requests: Vec<JournalEntry>,
    #[serde(default)]
    pub promises: Promises,
}

impl Journal {
    /// Whether this is the journal of a webhook that gets this event.
    pub fn gets(&self, event: &str) -> bool {
        self.promises.events.iter().any(|name| name == event)
    }
}

/// What the service promises about the deliveries to a receiver, beside what it promises to all.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Promises {
    pub strict_order: bool,
    /// Whether a program fetches the messages and acknowledges them.
    pub is_fetched: bool,
    /// The events that a webhook gets.
    pub events: Vec<String>,
}

impl Promises {
    pub fn of_events<const N: usize>(events: [&str; N]) -> Self {
        Self { events: events.map(str::to_owned).to_vec(), ..Self::default() }
    }
}

/// What is known about a channel.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct ChannelFacts {
    pub has_bot: bool,
    pub is_fetched: bool,
    /// Whether failed messages are delivered late.
    pub is_late: bool,
}

impl Evidence {
    /// `customer_file` is the file with what customers' AWS accounts have received.
    pub async fn collect(account: &Account, records: &Records, customer_file: &Path) -> Self {
        let client = &account.admin.client;
        let chats = Self::read_chats(account).await;
        let mut timelines = BTreeMap::new();
        for chat in &chats {
            let number = chat["chat_id"].as_u64().unwrap();
            timelines.insert(number, read_timeline(client, number).await);
        }
        Self {
            records: records.all(),
            start_unix_ms: records.start_unix_ms(),
            journals: account.journals(customer_file, records),
            channels: account.channels.iter().map(|channel| (channel.id.clone(), channel.facts)).collect(),
            chats,
            timelines,
            report: client.must_get("/admin/reports?days=2").await,
            agents: account.agents.iter().chain([&account.admin]).map(|agent| agent.id).collect(),
            ..Self::default()
        }
    }

    pub async fn read_chats(account: &Account) -> Vec<Value> {
        let mut all = Vec::new();
        for state in ["open", "closed"] {
            let mut before = String::new();
            loop {
                let path = format!("/agent/chats?state={state}&limit=100{before}");
                let page = account.admin.client.must_get(&path).await;
                all.extend(page["chats"].as_array().unwrap().iter().cloned());
                if page["next"].is_null() {
                    break;
                }
                before = format!("&before={}", page["next"]);
            }
        }
        all
    }

    /// Returns the facts about a chat's channel.
    pub fn channel_of(&self, chat: u64) -> Option<ChannelFacts> {
        let row = self.chats.iter().find(|row| row["chat_id"] == chat)?;
        self.channels.get(row["channel"]["channel_id"].as_str()?).copied()
    }

    /// Returns three lines: the load, the injected faults, and the recovery.
    pub fn summary(&self) -> String {
        let acknowledged = self.records.iter().filter(|record| record.is_acknowledged()).count();
        let received: usize = self.journals.iter().map(|journal| journal.requests.len()).sum();
        let entries: usize = self.timelines.values().map(Vec::len).sum();
        let mut text = format!(
            "  {} requests, {acknowledged} acknowledged; {} chats with {entries} entries; {received} requests to receivers\n ",
            self.records.len(),
            self.chats.len()
        );
        for (name, count) in &self.faults {
            let _ = write!(text, " {name}: {count};");
        }
        let _ = write!(text, "\n  recovered in {} s", (self.calm_started_ms - self.faults_ended_ms) / 1_000);
        if !self.queues.is_empty() {
            let _ = write!(text, "; queues at the end: {:?}", self.queues);
        }
        text
    }

    pub fn read(path: &Path) -> Self {
        serde_json::from_slice(&std::fs::read(path).unwrap()).expect("evidence of a round")
    }

    pub fn write(&self, path: &Path) {
        std::fs::write(path, serde_json::to_vec_pretty(self).unwrap()).unwrap();
    }
}

async fn read_timeline(client: &ApiClient, chat: u64) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    loop {
        let after = all.last().map_or(0, |last| last["seq"].as_u64().unwrap());
        let page = client.must_get(&format!("/agent/chats/{chat}/messages?after={after}")).await;
        let page = page["messages"].as_array().unwrap();
        if page.is_empty() {
            return all;
        }
        all.extend(page.iter().cloned());
    }
}

/// Returns the deliveries that are pending, and those that have failed but will be attempted again.
pub async fn unfinished_deliveries(client: &ApiClient) -> Vec<Value> {
    let mut unfinished = deliveries(client, "pending").await;
    let failed = deliveries(client, "failed").await;
    unfinished.extend(failed.into_iter().filter(|delivery| delivery["late_until"].is_u64()));
    unfinished
}

async fn deliveries(client: &ApiClient, state: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = client.must_get(&format!("/admin/deliveries?state={state}&limit=100{cursor}")).await;
        all.extend(page["deliveries"].as_array().unwrap().iter().cloned());
        let Some(next) = page["next"].as_str() else { return all };
        cursor = format!("&cursor={next}");
    }
}
