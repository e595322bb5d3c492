//! Emulates API Gateway's WebSocket API: accepts WebSockets, invokes the functions of the routes, and lets functions
//! send messages to open connections.
//!
//! # Layout
//! - `handshake.rs`: accepts a WebSocket if the `$connect` function agrees
//! - `connection.rs`: serves an open connection until `$disconnect`
//! - `close_reason.rs`: why a connection ends
//! - `events.rs`: builds the events for the functions
//! - `routes.rs`: invokes the functions of the routes
//! - `open_connections.rs`: finds open connections by id, and queues the messages for each connection
//! - `management_api.rs`: the `@connections` endpoint for functions

mod close_reason;
mod connection;
mod events;
mod handshake;
mod management_api;
mod open_connections;
mod routes;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::routing::any;
use tokio::sync::watch;

use self::open_connections::OpenConnections;
use crate::aws::access_keys::AccessKeys;
use crate::aws::iam::Roles;
use crate::clock::Clock;
use crate::lambda::Functions;
use crate::template::WebSocketApi;
use crate::usage::UsageMeter;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketTimeouts {
    /// How long a connection can be without a message in either direction and without a ping from the client.
    pub idle: Duration,
    pub lifetime: Duration,
}

impl Default for SocketTimeouts {
    /// Returns the timeouts of API Gateway, which cannot be changed on AWS.
    fn default() -> Self {
        Self { idle: Duration::from_secs(10 * 60), lifetime: Duration::from_secs(2 * 60 * 60) }
    }
}

/// Dropping this value closes all connections.
pub(crate) struct WebSockets {
    api: Arc<SocketApi>,
    /// Becomes true when all connections must close. The router and each connection hold a receiver until they end, and
    /// [`close_all`](Self::close_all) waits until there is no receiver left.
    stop: watch::Sender<bool>,
}

struct SocketApi {
    definition: WebSocketApi,
    connections: OpenConnections,
    functions: Functions,
    access_keys: AccessKeys,
    roles: Roles,
    meter: UsageMeter,
    clock: Clock,
    timeouts: Mutex<SocketTimeouts>,
}

#[derive(Clone)]
struct HandlerState {
    api: Arc<SocketApi>,
    stop: watch::Receiver<bool>,
}

impl WebSockets {
    pub fn new(
        definition: WebSocketApi,
        functions: Functions,
        access_keys: AccessKeys,
        roles: Roles,
        meter: UsageMeter,
        clock: Clock,
    ) -> Self {
        let (connections, timeouts) = (OpenConnections::default(), Mutex::default());
        let api = SocketApi { definition, connections, functions, access_keys, roles, meter, clock, timeouts };
        Self { api: Arc::new(api), stop: watch::Sender::new(false) }
    }

    pub fn router(&self) -> Router {
        let stage = &self.api.definition.stage;
        Router::new()
            .route(&format!("/{stage}"), any(handshake::handle))
            .route(&format!("/{stage}/@connections/{{id}}"), any(management_api::handle))
            .with_state(HandlerState { api: Arc::clone(&self.api), stop: self.stop.subscribe() })
    }

    /// Sets the timeouts of the connections that are opened from now on.
    pub fn set_timeouts(&self, timeouts: SocketTimeouts) {
        *self.api.timeouts.lock().unwrap_or_else(PoisonError::into_inner) = timeouts;
    }

    /// Closes all connections and waits until the `$disconnect` function has been invoked for each of them.
    pub async fn close_all(&self) {
        self.stop.send_replace(true);
        self.stop.closed().await;
    }
}

impl SocketApi {
    fn timeouts(&self) -> SocketTimeouts {
        *self.timeouts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
