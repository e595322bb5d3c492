//! Agents' presence: the status that an agent has set, and the time of the agent's last request.

use serde::{Deserialize, Serialize};

use crate::domain::agent_presence::{AgentStatus, Presence};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::connections::{Connections, MAX_ITEMS_PER_QUERY, SESSION_IDLE_TIMEOUT};
use crate::store::table::{Item, Key, Query, s};
use crate::store::{from_item, to_item};

#[derive(Serialize, Deserialize)]
struct PresenceItem {
    pk: String,
    sk: String,
    agent_id: u64,
    status: String,
    last_request_at: u64,
    /// When the presence expires, as Unix time in seconds.
    #[serde(default)]
    expires_at: u64,
}

pub(super) fn presence_key(account_id: &str, agent_id: u64) -> Key {
    Key::new(format!("PRESENCE#{account_id}"), format!("{agent_id:010}"))
}

impl Connections {
    /// Stores an agent's presence, including the status that the agent has set. Costs one write.
    pub async fn set_presence(&self, account_id: &str, presence: Presence) -> Result<(), Error> {
        let Presence { agent_id, status, last_request_at } = presence;
        let key = presence_key(account_id, agent_id);
        let expires_at = last_request_at.plus(SESSION_IDLE_TIMEOUT).seconds();
        let (status, last_request_at) = (status.name().to_owned(), last_request_at.0);
        let item = PresenceItem { pk: key.pk, sk: key.sk, agent_id, status, last_request_at, expires_at };
        Ok(self.table.put(to_item(&item)?, false).await?)
    }

    /// Reads an agent's presence. Costs one read.
    pub async fn presence(&self, account_id: &str, agent_id: u64) -> Result<Option<Presence>, Error> {
        self.table.get(presence_key(account_id, agent_id)).await?.map(presence_from_item).transpose()
    }

    /// Deletes an agent's presence. Costs one write.
    pub async fn delete_presence(&self, account_id: &str, agent_id: u64) -> Result<(), Error> {
        self.table.delete(presence_key(account_id, agent_id)).await.map(|_| ())
    }

    /// Reads the presence of all agents in an account. Costs one query for each megabyte.
    pub async fn presences(&self, account_id: &str) -> Result<Vec<Presence>, Error> {
        let query = Query {
            index: None,
            condition: "#pk = :account",
            values: vec![(":account", s(format!("PRESENCE#{account_id}")))],
            limit: MAX_ITEMS_PER_QUERY,
            descending: false,
        };
        self.table.query_all(query, usize::MAX).await?.into_iter().map(presence_from_item).collect()
    }
}

fn presence_from_item(item: Item) -> Result<Presence, Error> {
    let PresenceItem { pk: _, sk: _, agent_id, status, last_request_at, expires_at: _ } = from_item(item)?;
    let status = AgentStatus::parse(&status).ok_or_else(|| Error::internal("status"))?;
    Ok(Presence { agent_id, status, last_request_at: Timestamp(last_request_at) })
}
