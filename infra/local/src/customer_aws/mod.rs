//! Emulates the AWS accounts of customers, to which webhooks can send events: roles that the service assumes, queues and
//! event buses. Every queue and every bus exists. A role exists when its trust policy is set. What arrives is kept, so
//! that a developer or a test can read it:
//!
//! - `POST /_local/customer-aws/roles` with `role_arn` and `external_id` sets the trust policy of a role. With
//!   `is_silent`, requests to assume the role get no response
//! - `GET /_local/customer-aws/received` lists the last messages and events
//!
//! A host with a data folder also writes the roles and everything that arrives to the file `customer-aws.jsonl`, and
//! reads it when it starts again.
//!
//! # Layout
//! - `assume_role.rs`: `AssumeRole` of STS
//! - `journal.rs`: the file with the roles and with what has arrived
//! - `put_events.rs`: `PutEvents` of EventBridge
//! - `queue_message.rs`: `SendMessage` of SQS, for requests that are signed with the credentials of a role

mod assume_role;
mod journal;
mod put_events;
mod queue_message;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::journal::{Journal, Line};
use crate::aws::access_keys::{AccessKeys, access_key_id};
use crate::clock::Clock;
use crate::faults::{Faults, Rejection};

/// The number of messages and events that are kept.
const MAX_RECEIVED: usize = 1_000;
/// The default duration of a session on AWS.
const SESSION_MS: u64 = 60 * 60 * 1_000;

/// Clones share the accounts.
#[derive(Clone)]
pub(crate) struct CustomerAws {
    access_keys: AccessKeys,
    clock: Clock,
    faults: Faults,
    accounts: Arc<Mutex<Accounts>>,
}

#[derive(Default)]
struct Accounts {
    roles: BTreeMap<String, TrustPolicy>,
    /// The sessions by their access key id.
    sessions: BTreeMap<String, Session>,
    received: VecDeque<Value>,
    journal: Journal,
}

#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub role_arn: String,
    expires_at_ms: u64,
}

#[derive(Clone, Deserialize, Serialize)]
struct TrustPolicy {
    role_arn: String,
    external_id: String,
    #[serde(default)]
    is_silent: bool,
}

impl CustomerAws {
    /// `journal` is the path of the file that keeps the accounts. Without it, they are only kept in memory.
    pub fn open(access_keys: AccessKeys, clock: Clock, faults: Faults, journal: Option<&Path>) -> io::Result<Self> {
        let (journal, lines) = journal.map(Journal::open).transpose()?.unwrap_or_default();
        let mut accounts = Accounts { journal, ..Accounts::default() };
        lines.into_iter().for_each(|line| accounts.apply(line));
        Ok(Self { access_keys, clock, faults, accounts: Arc::new(Mutex::new(accounts)) })
    }

    /// Returns the endpoints of STS and EventBridge for functions.
    pub fn private_router(&self) -> Router {
        assume_role::router().merge(put_events::router()).with_state(self.clone())
    }

    /// Returns the paths with which a developer sets up roles and reads what has arrived.
    pub fn local_router(&self) -> Router {
        Router::new()
            .route("/_local/customer-aws/roles", post(set_trust_policy))
            .route("/_local/customer-aws/received", get(async |State(aws): State<Self>| Json(aws.received())))
            .with_state(self.clone())
    }

    /// Returns the session whose credentials signed a request, unless it has ended.
    pub fn session(&self, headers: &HeaderMap) -> Option<Session> {
        let session = self.lock().sessions.get(access_key_id(headers)?).cloned()?;
        (self.clock.now_ms() < session.expires_at_ms).then_some(session)
    }

    /// Handles a request of a function, unless the fault plan prevents it.
    pub async fn with_faults(
        &self,
        reject: fn(Rejection) -> Response,
        handle: impl Future<Output = Response>,
    ) -> Response {
        match self.faults.of_customer_request() {
            Some(fault) => fault.apply(reject, handle).await,
            None => handle.await,
        }
    }

    fn received(&self) -> Value {
        json!({ "received": self.lock().received })
    }

    fn record(&self, received: Value) {
        self.lock().write(Line::Received { at_ms: self.clock.now_ms(), received });
    }

    fn lock(&self) -> MutexGuard<'_, Accounts> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Accounts {
    fn write(&mut self, line: Line) {
        self.journal.append(&line);
        self.apply(line);
    }

    fn apply(&mut self, line: Line) {
        match line {
            Line::Role(policy) => {
                self.roles.insert(policy.role_arn.clone(), policy);
            }
            Line::Received { received, .. } => {
                self.received.push_back(received);
                if self.received.len() > MAX_RECEIVED {
                    self.received.pop_front();
                }
            }
        }
    }
}

async fn set_trust_policy(State(aws): State<CustomerAws>, Json(policy): Json<TrustPolicy>) -> Json<Value> {
    let role_arn = policy.role_arn.clone();
    aws.lock().write(Line::Role(policy));
    Json(json!({ "role_arn": role_arn }))
}
