//! Agents' presence: the status that an agent has set, the time of the agent's last request, and the agent's open
//! sockets.

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::Deserialize;

use crate::domain::accounts::agent_presence::{AgentStatus, Presence, SocketPresence};
use crate::domain::socket::AgentSocket;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::connections::{Connections, MAX_ITEMS_PER_QUERY};
use crate::store::from_item;
use crate::store::table::{ITEM_EXISTS, Item, ItemUpdate, Key, Query, WriteResult, n, s};

/// How long a presence is kept after the agent's last request, so that admins see when the agent was last active.
pub(super) const PRESENCE_TTL: Duration = Duration::from_secs(90 * 24 * 60 * 60);

#[derive(Deserialize)]
struct PresenceItem {
    agent_id: u64,
    status: String,
    last_request_at: u64,
    /// The agent's open sockets, as [`socket_element`] describes them. DynamoDB removes the attribute when the set
    /// becomes empty.
    #[serde(default)]
    sockets: Vec<String>,
    /// The time at which a socket was last reported as closed. It is relevant only if no other socket is open.
    #[serde(default)]
    socket_lost_at: Option<u64>,
}

/// The partition key of an account's presence items is this prefix followed by the account id.
pub(in crate::store) const PRESENCE_PREFIX: &str = "PRESENCE#";

pub(in crate::store) fn presence_key(account_id: &str, agent_id: u64) -> Key {
    Key::new(format!("{PRESENCE_PREFIX}{account_id}"), format!("{agent_id:010}"))
}

impl Connections {
    /// Sets an agent's status and returns the agent's new presence.
    pub async fn set_presence(
        &self,
        account_id: &str,
        agent_id: u64,
        status: AgentStatus,
        now: Timestamp,
    ) -> Result<Presence, Error> {
        let mut update = presence_update(
            account_id,
            agent_id,
            now,
            "SET #agent_id = :agent_id, #status = :status, #last_request_at = :now, #expires_at = :expires \
             REMOVE #socket_lost_at",
        );
        update.values.push((":status", s(status.name())));
        presence_from_item(self.update_presence(update, now).await?)
    }

    /// Adds a new socket to the agent's presence. An agent who has never set a status is offline.
    pub(super) async fn add_socket_to_presence(&self, socket: &AgentSocket, now: Timestamp) -> Result<usize, Error> {
        let mut update = presence_update(
            &socket.account_id,
            socket.agent_id,
            now,
            "SET #agent_id = :agent_id, #status = if_not_exists(#status, :offline), #last_request_at = :now, \
             #expires_at = :expires REMOVE #socket_lost_at ADD #sockets :sockets",
        );
        update.values.push((":offline", s(AgentStatus::Offline.name())));
        update.values.push((":sockets", AttributeValue::Ss(vec![socket_element(socket)])));
        let item = self.update_presence(update, now).await?;
        Ok(item.get("sockets").and_then(|sockets| sockets.as_ss().ok()).map_or(0, Vec::len))
    }

    /// Updates a presence, and then removes the expired sockets, whose closing was never reported.
    async fn update_presence(&self, update: ItemUpdate, now: Timestamp) -> Result<Item, Error> {
        let key = update.key.clone();
        let item = self.table.update(update).await.unconditional()?;
        let expired = expired_socket_elements(&item, now);
        if expired.is_empty() {
            return Ok(item);
        }
        let values = vec![(":expired", AttributeValue::Ss(expired))];
        let removal = ItemUpdate { key, update: "DELETE #sockets :expired", condition: ITEM_EXISTS, values };
        // The condition fails if the agent and their presence have been deleted in the meantime.
        Ok(self.table.update(removal).await.condition()?.unwrap_or(item))
    }

    /// Removes a closed socket from the agent's presence. Does nothing if the socket has already been removed.
    pub(super) async fn remove_socket_from_presence(&self, socket: &AgentSocket, now: Timestamp) -> Result<(), Error> {
        let element = socket_element(socket);
        let update = ItemUpdate {
            key: presence_key(&socket.account_id, socket.agent_id),
            update: "SET #socket_lost_at = :now DELETE #sockets :closed",
            condition: "contains(#sockets, :element)",
            values: vec![
                (":now", n(now.0)),
                (":closed", AttributeValue::Ss(vec![element.clone()])),
                (":element", s(element)),
            ],
        };
        self.table.update_if(update).await
    }

    pub async fn presence(&self, account_id: &str, agent_id: u64) -> Result<Option<Presence>, Error> {
        self.table.get(presence_key(account_id, agent_id)).await?.map(presence_from_item).transpose()
    }

    /// Records that an agent has signed out: the agent is offline and has no sockets. Does nothing if the agent has no
    /// presence.
    pub(super) async fn end_presence(&self, account_id: &str, agent_id: u64, now: Timestamp) -> Result<(), Error> {
        let update = ItemUpdate {
            key: presence_key(account_id, agent_id),
            update: "SET #status = :offline, #last_request_at = :now REMOVE #sockets, #socket_lost_at",
            condition: ITEM_EXISTS,
            values: vec![(":offline", s(AgentStatus::Offline.name())), (":now", n(now.0))],
        };
        self.table.update_if(update).await
    }

    pub async fn delete_presence(&self, account_id: &str, agent_id: u64) -> Result<(), Error> {
        self.table.delete(presence_key(account_id, agent_id)).await.map(|_| ())
    }

    /// Returns the presences of the account's agents.
    pub async fn presences(&self, account_id: &str) -> Result<Vec<Presence>, Error> {
        let query = Query {
            index: None,
            condition: "#pk = :account",
            values: vec![(":account", s(format!("{PRESENCE_PREFIX}{account_id}")))],
            limit: MAX_ITEMS_PER_QUERY,
            descending: false,
        };
        self.table.query_all(query, usize::MAX).await?.into_iter().map(presence_from_item).collect()
    }

    /// Returns the presences of the account's agents, which may be up to 10 seconds old. Requests that anybody can make
    /// without limit use them.
    pub async fn cached_presences(&self, account_id: &str) -> Result<Arc<Vec<Presence>>, Error> {
        if let Some(cached) = self.presences.get(account_id) {
            return Ok(cached.unwrap_or_default());
        }
        self.read_into_cache(account_id).await
    }

    /// Returns whether the presences of the account's agents meet a condition, such as that an agent is online. A
    /// positive answer may be up to 10 seconds old, so that a busy account does not read its presences for each
    /// message. A negative one is checked again, but a process reads an account at most five times a second.
    pub(crate) async fn presences_recently_met(
        &self,
        account_id: &str,
        condition: impl Fn(&[Presence]) -> bool,
    ) -> Result<bool, Error> {
        if let Some(cached) = self.presences.get(account_id) {
            let is_met = condition(&cached.unwrap_or_default());
            if is_met || !self.presences.allows_reread(account_id) {
                return Ok(is_met);
            }
        }
        Ok(condition(&self.read_into_cache(account_id).await?))
    }

    async fn read_into_cache(&self, account_id: &str) -> Result<Arc<Vec<Presence>>, Error> {
        let presences = self.presences(account_id).await?;
        Ok(self.presences.put(account_id, Some(presences)).unwrap_or_default())
    }
}

/// Returns the element that represents a socket in the set of open sockets: the time at which the socket expires, as
/// Unix time in seconds, and its connection id. Because the element contains the time, a socket expires without a write
/// even if its closing is not reported.
fn socket_element(socket: &AgentSocket) -> String {
    format!("{}#{}", socket.expires_at.seconds(), socket.connection_id)
}

fn socket_element_expiry(element: &str) -> Option<Timestamp> {
    let (expires_at, _) = element.split_once('#')?;
    expires_at.parse().ok().map(Timestamp::from_seconds)
}

fn expired_socket_elements(item: &Item, now: Timestamp) -> Vec<String> {
    let elements = item.get("sockets").and_then(|sockets| sockets.as_ss().ok()).into_iter().flatten();
    elements.filter(|socket| socket_element_expiry(socket).is_none_or(|at| at <= now)).cloned().collect()
}

/// Returns an update of an agent's presence with the expression `update`. The update creates the presence if there is
/// none. Its values contain `:agent_id`, `:now` and `:expires`; the caller adds any other values.
fn presence_update(account_id: &str, agent_id: u64, now: Timestamp, update: &'static str) -> ItemUpdate {
    let expires_at = now.plus(PRESENCE_TTL).seconds();
    let values = vec![(":agent_id", n(agent_id)), (":now", n(now.0)), (":expires", n(expires_at))];
    ItemUpdate { key: presence_key(account_id, agent_id), update, condition: "", values }
}

pub(in crate::store) fn presence_from_item(item: Item) -> Result<Presence, Error> {
    let PresenceItem { agent_id, status, last_request_at, sockets, socket_lost_at } = from_item(item)?;
    let status = AgentStatus::parse(&status).ok_or_else(|| Error::internal("status"))?;
    let open_until = sockets.iter().filter_map(|socket| socket_element_expiry(socket)).max();
    let socket = match (open_until, socket_lost_at.map(Timestamp)) {
        (Some(until), Some(lost_at)) if lost_at > until => SocketPresence::LostAt(lost_at),
        (Some(until), _) => SocketPresence::OpenUntil(until),
        (None, Some(lost_at)) => SocketPresence::LostAt(lost_at),
        (None, None) => SocketPresence::Unused,
    };
    Ok(Presence { agent_id, status, last_request_at: Timestamp(last_request_at), socket })
}
