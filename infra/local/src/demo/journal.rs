//! The journal: the last requests to the demo integrator, bot, webhook and gateway, and their replies. The demo site
//! shows it. The journal is kept in memory. It does not contain the URLs and headers of the requests, which contain
//! tokens and signatures.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{RawQuery, State};
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::local_caller::LocalCaller;

const MAX_ENTRIES: usize = 50;
/// The text that replaces the token with which a site identifies its user.
const HIDDEN: &str = "(hidden)";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Receiver {
    Integrator,
    Bot,
    Webhook,
    Gateway,
}

/// Clones share the entries.
#[derive(Debug, Clone, Default)]
pub struct Journal(Arc<Mutex<Entries>>);

#[derive(Debug, Default)]
struct Entries {
    latest: VecDeque<Entry>,
    last_number: u64,
}

#[derive(Debug, Clone, Serialize)]
struct Entry {
    /// Entries are numbered from 1 in each run of the host.
    number: u64,
    /// The Unix time in milliseconds.
    at: i128,
    receiver: Receiver,
    request: Value,
    /// The bodies of the receiver's replies: its response, or the events that the bot posts.
    replies: Vec<Value>,
}

impl Journal {
    /// Adds an entry. The request's `user_token` is hidden.
    pub fn record(&self, receiver: Receiver, request: &Value, replies: Vec<Value>) {
        let at = OffsetDateTime::now_utc().unix_timestamp_nanos() / 1_000_000;
        let request = without_user_token(request.clone());
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.last_number += 1;
        let number = entries.last_number;
        entries.latest.push_back(Entry { number, at, receiver, request, replies });
        if entries.latest.len() > MAX_ENTRIES {
            entries.latest.pop_front();
        }
    }

    pub fn router(self) -> Router {
        Router::new().route("/_local/journal", get(list)).with_state(self)
    }

    /// Returns the entries whose number is greater than `after`, from the oldest to the newest.
    fn entries_after(&self, after: u64) -> Vec<Entry> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.latest.iter().filter(|entry| entry.number > after).cloned().collect()
    }
}

fn without_user_token(mut request: Value) -> Value {
    if let Some(token) = request.get_mut("user_token").filter(|token| token.is_string()) {
        *token = json!(HIDDEN);
    }
    request
}

/// `GET /_local/journal?after=NUMBER`: returns the entries after this number, by default all entries.
async fn list(_: LocalCaller, State(journal): State<Journal>, RawQuery(query): RawQuery) -> Json<Value> {
    let after = query.as_deref().and_then(|query| query.strip_prefix("after=")?.parse().ok());
    Json(json!({"entries": journal.entries_after(after.unwrap_or(0))}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journal_keeps_the_last_entries_without_user_tokens() {
        let journal = Journal::default();
        for chat_id in 0..=MAX_ENTRIES {
            let request = json!({"chat_id": chat_id, "user_token": "secret"});
            journal.record(Receiver::Webhook, &request, vec![json!({"result": "ok"})]);
        }
        let entries = journal.entries_after(0);
        assert_eq!(entries.len(), MAX_ENTRIES);
        assert_eq!(entries[0].request, json!({"chat_id": 1, "user_token": HIDDEN}));
        assert_eq!(journal.entries_after(50).iter().map(|entry| entry.number).collect::<Vec<_>>(), [51]);
        assert_eq!(without_user_token(json!({"user_token": null})), json!({"user_token": null}));
    }
}
