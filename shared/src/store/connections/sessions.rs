//! Agents' sessions. A bearer token has the form `<account>.<agent>.<secret>`. Only a hash of the secret is stored.

use std::time::Duration;

use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};

use crate::domain::agent::{Agent, AgentSnapshot, Role};
use crate::domain::chat_visibility::Viewer;
use crate::domain::sha256;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::random_ids_and_secrets::random_token;
use crate::store::connections::presence::{PRESENCE_TTL, presence_key};
use crate::store::connections::{Connections, MAX_ITEMS_PER_QUERY, SESSION_IDLE_TIMEOUT};
use crate::store::table::{ITEM_EXISTS, ItemUpdate, Key, Query, WriteError, n, s};
use crate::store::{from_item, to_attribute, to_item};

/// How long after login a session ends, even if it is still in use.
const MAX_SESSION_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The minimum interval between two updates of a session's last request time. Storing the time of every request would
/// cost too many writes.
const LAST_REQUEST_WRITE_INTERVAL: Duration = Duration::from_secs(60);
const MAX_CONCURRENT_DELETES: usize = 25;

#[derive(Clone, Debug)]
pub struct Session {
    /// The hash of the session's secret.
    pub id: String,
    pub account_id: String,
    pub agent: AgentSnapshot,
    pub role: Role,
}

impl Session {
    pub(crate) fn viewer(&self) -> Viewer {
        Viewer { agent_id: self.agent.agent_id, is_admin: self.role == Role::Admin }
    }
}

#[derive(Serialize, Deserialize)]
struct SessionItem {
    pk: String,
    sk: String,
    role: String,
    name: String,
    photo: Option<String>,
    /// The time of the last request, as Unix time in milliseconds.
    last_request_at: u64,
    /// When the session expires unless it is used again; never later than `ends_at`. Stored as Unix time in seconds, as
    /// the table's TTL requires.
    expires_at: u64,
    /// When the session ends even if it is still in use, as Unix time in seconds.
    #[serde(default)]
    ends_at: u64,
}

impl SessionItem {
    fn key(&self) -> Key {
        Key::new(&*self.pk, &*self.sk)
    }
}

/// The prefixes of a session's keys. The partition key contains the account and the agent, the sort key the session's
/// id.
pub(in crate::store) const AGENT_PREFIX: &str = "AGENT#";
pub(in crate::store) const SESSION_PREFIX: &str = "SESSION#";

fn session_key(account_id: &str, agent_id: u64, session_id: &str) -> Key {
    Key::new(sessions_partition(account_id, agent_id), format!("{SESSION_PREFIX}{session_id}"))
}

pub(in crate::store) fn sessions_partition(account_id: &str, agent_id: u64) -> String {
    format!("{AGENT_PREFIX}{account_id}#{agent_id}")
}

impl Connections {
    /// Creates a session and returns its bearer token. Costs one write.
    pub async fn create_session(&self, agent: &Agent, now: Timestamp) -> Result<String, Error> {
        let secret = random_token()?;
        let key = session_key(&agent.account_id, agent.agent_id, &sha256::hex_digest(&secret));
        let item = SessionItem {
            pk: key.pk,
            sk: key.sk,
            role: agent.role.name().to_owned(),
            name: agent.name.clone(),
            photo: agent.photo.clone(),
            last_request_at: now.0,
            expires_at: now.plus(SESSION_IDLE_TIMEOUT).seconds(),
            ends_at: now.plus(MAX_SESSION_LIFETIME).seconds(),
        };
        self.table.put(to_item(&item)?, true).await?;
        Ok(format!("{}.{}.{secret}", agent.account_id, agent.agent_id))
    }

    /// Returns the session that a token belongs to, or `None` if there is no such session or it has expired. Costs one
    /// read and, at most once a minute, two writes that store the time of the last request.
    pub async fn session(&self, token: &str, now: Timestamp) -> Result<Option<Session>, Error> {
        let Some((account_id, agent_id, secret)) = parse_token(token) else {
            return Ok(None);
        };
        self.session_by_id(account_id, agent_id, &sha256::hex_digest(secret), now).await
    }

    /// Like [`session`](Self::session), but takes the session's id instead of its token.
    pub(super) async fn session_by_id(
        &self,
        account_id: &str,
        agent_id: u64,
        session_id: &str,
        now: Timestamp,
    ) -> Result<Option<Session>, Error> {
        let key = session_key(account_id, agent_id, session_id);
        let Some(item) = self.table.get(key.clone()).await? else {
            return Ok(None);
        };
        let SessionItem { pk: _, sk: _, role, name, photo, last_request_at, expires_at, ends_at } = from_item(item)?;
        if expires_at <= now.seconds() {
            return Ok(None);
        }
        if now.since(Timestamp(last_request_at)) >= LAST_REQUEST_WRITE_INTERVAL {
            let expires_at = now.plus(SESSION_IDLE_TIMEOUT).seconds().min(ends_at);
            self.record_request(key, account_id, agent_id, now, expires_at).await?;
        }
        let role = Role::parse(&role).ok_or_else(|| Error::internal("role"))?;
        let agent = AgentSnapshot { agent_id, name, photo };
        Ok(Some(Session { id: session_id.to_owned(), account_id: account_id.to_owned(), agent, role }))
    }

    /// Stores the time of a request in the session and in the agent's presence.
    async fn record_request(
        &self,
        session_key: Key,
        account_id: &str,
        agent_id: u64,
        now: Timestamp,
        expires_at: u64,
    ) -> Result<(), Error> {
        let update_of = |key, expires_at: u64| ItemUpdate {
            key,
            update: "SET #last_request_at = :now, #expires_at = :expires",
            condition: ITEM_EXISTS,
            values: vec![(":now", n(now.0)), (":expires", n(expires_at))],
        };
        let presence = update_of(presence_key(account_id, agent_id), now.plus(PRESENCE_TTL).seconds());
        for update in [update_of(session_key, expires_at), presence] {
            if let Err(WriteError::Error(error)) = self.table.update(update).await {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Ends the session that a token belongs to. If it was the agent's last session, the agent goes offline. Costs one
    /// write, plus one query if the session existed, plus one more write if it was the last one.
    pub async fn end_session(&self, token: &str, now: Timestamp) -> Result<(), Error> {
        let Some((account_id, agent_id, secret)) = parse_token(token) else { return Ok(()) };
        let key = session_key(account_id, agent_id, &sha256::hex_digest(secret));
        if self.table.delete(key).await?.is_none() {
            return Ok(());
        }
        let others = self.sessions(account_id, agent_id).await?;
        if others.iter().any(|session| session.expires_at > now.seconds()) {
            return Ok(());
        }
        self.end_presence(account_id, agent_id, now).await
    }

    /// Ends all sessions of an agent, for example because the agent was deleted or has a new role. The deletion is
    /// repeated until no session is left, so that sessions that start concurrently are ended too.
    pub async fn end_sessions(&self, account_id: &str, agent_id: u64) -> Result<(), Error> {
        loop {
            let sessions = self.sessions(account_id, agent_id).await?;
            if sessions.is_empty() {
                return Ok(());
            }
            for sessions in sessions.chunks(MAX_CONCURRENT_DELETES) {
                try_join_all(sessions.iter().map(|session| self.table.delete(session.key()))).await?;
            }
        }
    }

    /// Copies the agent's current name and photo to all of the agent's sessions. Costs one query, and one write for
    /// each session.
    pub async fn update_session_profiles(&self, agent: &Agent) -> Result<(), Error> {
        for session in self.sessions(&agent.account_id, agent.agent_id).await? {
            let item_update = ItemUpdate {
                key: session.key(),
                update: "SET #name = :name, #photo = :photo",
                condition: ITEM_EXISTS,
                values: vec![(":name", s(&*agent.name)), (":photo", to_attribute(&agent.photo)?)],
            };
            if let Err(WriteError::Error(error)) = self.table.update(item_update).await {
                return Err(error);
            }
        }
        Ok(())
    }

    async fn sessions(&self, account_id: &str, agent_id: u64) -> Result<Vec<SessionItem>, Error> {
        let pk = sessions_partition(account_id, agent_id);
        let query = Query {
            index: None,
            condition: "#pk = :agent AND begins_with(#sk, :sessions)",
            values: vec![(":agent", s(&*pk)), (":sessions", s(SESSION_PREFIX))],
            limit: MAX_ITEMS_PER_QUERY,
            descending: false,
        };
        self.table.query_all(query, usize::MAX).await?.into_iter().map(from_item).collect()
    }
}

/// Returns the account id in a token, or `None` if the token is malformed. Does not check whether the token is valid.
pub(crate) fn account_of_token(token: &str) -> Option<&str> {
    parse_token(token).map(|(account_id, _, _)| account_id)
}

/// Returns the account id, the agent id and the secret, or `None` if the token is malformed.
fn parse_token(token: &str) -> Option<(&str, u64, &str)> {
    let (account_id, rest) = token.split_once('.')?;
    let (agent_id, secret) = rest.split_once('.')?;
    let is_well_formed = !account_id.is_empty() && account_id.bytes().all(|letter| letter.is_ascii_alphanumeric());
    is_well_formed.then_some((account_id, agent_id.parse().ok()?, secret))
}
