//! Emulates the AWS accounts of customers, to which webhooks can send events: roles that the service assumes, queues and
//! event buses. Every queue and every bus exists. A role exists when its trust policy is set. What arrives is kept in
//! memory, so that a developer or a test can read it:
//!
//! - `POST /_local/customer-aws/roles` with `role_arn` and `external_id` sets the trust policy of a role. With
//!   `is_silent`, requests to assume the role get no response
//! - `GET /_local/customer-aws/received` lists the last messages and events
//!
//! # Layout
//! - `assume_role.rs`: `AssumeRole` of STS
//! - `put_events.rs`: `PutEvents` of EventBridge
//! - `queue_message.rs`: `SendMessage` of SQS, for requests that are signed with the credentials of a role

mod assume_role;
mod put_events;
mod queue_message;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::aws::access_keys::{AccessKeys, access_key_id};
use crate::clock::Clock;

/// The number of messages and events that are kept.
const MAX_RECEIVED: usize = 1_000;
/// The default duration of a session on AWS.
const SESSION_MS: u64 = 60 * 60 * 1_000;

/// Clones share the accounts.
#[derive(Clone)]
pub(crate) struct CustomerAws {
    access_keys: AccessKeys,
    clock: Clock,
    accounts: Arc<Mutex<Accounts>>,
}

#[derive(Default)]
struct Accounts {
    roles: BTreeMap<String, TrustPolicy>,
    /// The sessions by their access key id.
    sessions: BTreeMap<String, Session>,
    received: VecDeque<Value>,
}

#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub role_arn: String,
    expires_at_ms: u64,
}

#[derive(Clone, Deserialize)]
struct TrustPolicy {
    role_arn: String,
    external_id: String,
    #[serde(default)]
    is_silent: bool,
}

impl CustomerAws {
    pub fn new(access_keys: AccessKeys, clock: Clock) -> Self {
        Self { access_keys, clock, accounts: Arc::default() }
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

    fn received(&self) -> Value {
        json!({ "received": self.lock().received })
    }

    fn record(&self, received: Value) {
        let mut accounts = self.lock();
        accounts.received.push_back(received);
        if accounts.received.len() > MAX_RECEIVED {
            accounts.received.pop_front();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Accounts> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn set_trust_policy(State(aws): State<CustomerAws>, Json(policy): Json<TrustPolicy>) {
    aws.lock().roles.insert(policy.role_arn.clone(), policy);
}
