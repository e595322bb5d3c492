//! The Connections table: agents' sessions and presence, the sockets of agents and visitors, request counts, failed
//! logins, circuit breakers (the shared state of receivers that hang), and the browsers that get notifications. Every
//! item expires.

pub mod circuit_breakers;
pub mod emails;
mod local_rate_windows;
pub mod login_attempts;
pub mod presence;
pub mod request_rate_limit;
pub mod sessions;
pub mod sockets;
pub mod subscriptions;
pub mod visitor_sockets;
pub mod web_push;

use std::sync::Arc;
use std::time::Duration;

use crate::domain::accounts::agent_presence::Presence;
use crate::domain::sha256;
use crate::runtime::dependencies::{Dependency, StartupContext};
use crate::store::cache::Cache;
use crate::store::connections::local_rate_windows::LocalRateWindows;
use crate::store::table::{Key, Table};

/// How long a session lasts after its last request.
const SESSION_IDLE_TIMEOUT: Duration = Duration::from_secs(12 * 60 * 60);
const MAX_ITEMS_PER_QUERY: i32 = 1_000;

#[derive(Clone)]
pub struct Connections {
    pub(in crate::store) table: Table,
    local_rate_windows: LocalRateWindows,
    presences: Arc<Cache<Vec<Presence>>>,
}

impl Dependency for Connections {
    fn open(startup: &mut StartupContext) -> Self {
        Self::new(Table::open(startup, "CONNECTIONS_TABLE"))
    }
}

impl Connections {
    pub fn new(table: Table) -> Self {
        Self { table, local_rate_windows: LocalRateWindows::default(), presences: Arc::default() }
    }
}

fn ticket_key(ticket: &str) -> Key {
    Key::new(format!("SOCKET_TICKET#{}", sha256::hex_digest(ticket)), "TICKET")
}

fn socket_key(connection_id: &str) -> Key {
    Key::new(format!("SOCKET#{connection_id}"), "SOCKET")
}
