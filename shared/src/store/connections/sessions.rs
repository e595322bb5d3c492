//! Agents' sessions. A bearer token has the form `<account>.<agent>.<secret>`. Only a hash of the secret is stored.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};

use crate::domain::accounts::agent::{Agent, AgentSnapshot, Role, SessionSummary};
use crate::domain::chats::chat_visibility::Viewer;
use crate::domain::sha256;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::random_ids_and_secrets::random_token;
use crate::store::connections::presence::{PRESENCE_TTL, presence_key};
use crate::store::connections::{Connections, MAX_ITEMS_PER_QUERY, SESSION_IDLE_TIMEOUT};
use crate::store::table::{ITEM_EXISTS, Item, ItemUpdate, Key, Query, WriteError, WriteResult, key_taken, n, s};
use crate::store::{from_item, to_attribute, to_item};

/// How long after login a session ends, even if it is still in use.
const MAX_SESSION_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The minimum interval between two updates of a session's last request time. Storing the time of every request would
/// cost too many writes.
const LAST_REQUEST_WRITE_INTERVAL: Duration = Duration::from_secs(60);
const MAX_CONCURRENT_WRITES: usize = 25;
const SHORT_ID_CHARS: usize = 16;

#[derive(Clone, Debug)]
pub struct Session {
    /// The hash of the session's secret.
    pub id: String,
    pub account_id: String,
    pub agent: AgentSnapshot,
    pub role: Role,
    pub access: SessionAccess,
    /// When the session ends even if it is still in use.
    pub ends_at: Timestamp,
}

impl Session {
    pub(crate) fn viewer(&self) -> Viewer {
        Viewer { agent_id: self.agent.agent_id, is_admin: self.role == Role::Admin }
    }
}

/// What a session permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionAccess {
    Full,
    /// The agent must replace the password first.
    PasswordChange,
    /// The operator has suspended the account.
    Suspended,
}

/// What is known of the request that started a session.
#[derive(Clone, Debug, Default)]
pub struct SessionOrigin {
    /// The client's IP address, as reported by the API gateway.
    pub source_address: String,
    pub user_agent: Option<String>,
    /// Whether the agent signed in with a password that must be replaced.
    pub must_change_password: bool,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    created_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source_address: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_agent: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    must_change_password: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    suspended: bool,
}

impl SessionItem {
    fn key(&self) -> Key {
        Key::new(&*self.pk, &*self.sk)
    }

    fn id(&self) -> &str {
        self.sk.strip_prefix(SESSION_PREFIX).unwrap_or_default()
    }

    fn access(&self) -> SessionAccess {
        match (self.suspended, self.must_change_password) {
            (true, _) => SessionAccess::Suspended,
            (false, true) => SessionAccess::PasswordChange,
            (false, false) => SessionAccess::Full,
        }
    }

    fn summary(&self) -> SessionSummary {
        SessionSummary {
            short_id: short_id(self.id()),
            created_at: self.created_at.map(Timestamp),
            last_request_at: Timestamp(self.last_request_at),
            source_address: self.source_address.clone(),
            user_agent: self.user_agent.clone(),
        }
    }
}

pub(in crate::store) fn is_suspended_session(item: &Item) -> bool {
    item.contains_key("suspended")
}

/// Returns the part of a session's id that the API shows. The id is a hash, so its beginning reveals nothing about the
/// token.
pub fn short_id(session_id: &str) -> String {
    session_id.chars().take(SHORT_ID_CHARS).collect()
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
    /// Creates a session and returns its bearer token.
    pub async fn create_session(&self, agent: &Agent, origin: &SessionOrigin, now: Timestamp) -> Result<String, Error> {
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
            created_at: Some(now.0),
            source_address: Some(origin.source_address.clone()),
            user_agent: origin.user_agent.clone(),
            must_change_password: origin.must_change_password,
            suspended: false,
        };
        self.table.put(to_item(&item)?, true).await.on_condition_failed(key_taken())?;
        Ok(format!("{}.{}.{secret}", agent.account_id, agent.agent_id))
    }

    /// Returns the session that a token belongs to, or `None` if there is no such session or it has expired.
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
        let item: SessionItem = from_item(item)?;
        let access = item.access();
        let SessionItem { role, name, photo, last_request_at, expires_at, ends_at, .. } = item;
        if expires_at <= now.seconds() {
            return Ok(None);
        }
        let is_in_use = access != SessionAccess::Suspended;
        if is_in_use && now.since(Timestamp(last_request_at)) >= LAST_REQUEST_WRITE_INTERVAL {
            let expires_at = now.plus(SESSION_IDLE_TIMEOUT).seconds().min(ends_at);
            self.record_request(key, account_id, agent_id, now, expires_at).await?;
        }
        let role = Role::parse(&role).ok_or_else(|| Error::internal("role"))?;
        let agent = AgentSnapshot { agent_id, name, photo };
        let (id, account_id, ends_at) =
            (session_id.to_owned(), account_id.to_owned(), Timestamp::from_seconds(ends_at));
        Ok(Some(Session { id, account_id, agent, role, access, ends_at }))
    }

    /// Whether a session is in use and permits everything. Unlike [`session`](Self::session), this does not count as a
    /// request of the agent.
    pub(crate) async fn is_session_open(
        &self,
        account_id: &str,
        agent_id: u64,
        session_id: &str,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let item = self.table.get(session_key(account_id, agent_id, session_id)).await?;
        let item: Option<SessionItem> = item.map(from_item).transpose()?;
        Ok(item.is_some_and(|item| item.access() == SessionAccess::Full && item.expires_at > now.seconds()))
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

    /// Ends the session that a token belongs to. If it was the agent's last session, the agent goes offline.
    pub async fn end_session(&self, token: &str, now: Timestamp) -> Result<(), Error> {
        let Some((account_id, agent_id, secret)) = parse_token(token) else { return Ok(()) };
        self.end_session_by_id(account_id, agent_id, &sha256::hex_digest(secret), now).await
    }

    async fn end_session_by_id(
        &self,
        account_id: &str,
        agent_id: u64,
        session_id: &str,
        now: Timestamp,
    ) -> Result<(), Error> {
        if self.table.delete(session_key(account_id, agent_id, session_id)).await?.is_none() {
            return Ok(());
        }
        let others = self.sessions(account_id, agent_id).await?;
        if others.iter().any(|session| session.expires_at > now.seconds()) {
            return Ok(());
        }
        self.end_presence(account_id, agent_id, now).await
    }

    /// Returns the agent's sessions that have not expired, the one used last first.
    pub async fn agent_sessions(
        &self,
        account_id: &str,
        agent_id: u64,
        now: Timestamp,
    ) -> Result<Vec<SessionSummary>, Error> {
        let mut sessions = self.sessions(account_id, agent_id).await?;
        sessions.retain(|session| session.expires_at > now.seconds());
        sessions.sort_by_key(|session| std::cmp::Reverse(session.last_request_at));
        Ok(sessions.iter().map(SessionItem::summary).collect())
    }

    /// Ends the agent's session with this short id. Returns whether there was such a session.
    pub async fn revoke_session(
        &self,
        account_id: &str,
        agent_id: u64,
        wanted: &str,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let sessions = self.sessions(account_id, agent_id).await?;
        let Some(session) = sessions.iter().find(|session| short_id(session.id()) == wanted) else { return Ok(false) };
        self.end_session_by_id(account_id, agent_id, session.id(), now).await?;
        Ok(true)
    }

    /// Ends the agent's sessions except the given one, and returns how many.
    pub async fn end_other_sessions(&self, kept: &Session) -> Result<usize, Error> {
        let mut others = self.sessions(&kept.account_id, kept.agent.agent_id).await?;
        others.retain(|session| session.id() != kept.id);
        for sessions in others.chunks(MAX_CONCURRENT_WRITES) {
            try_join_all(sessions.iter().map(|session| self.table.delete(session.key()))).await?;
        }
        Ok(others.len())
    }

    /// Gives a session full access after its agent has replaced the password.
    pub async fn lift_password_change(&self, session: &Session) -> Result<(), Error> {
        let update = ItemUpdate {
            key: session_key(&session.account_id, session.agent.agent_id, &session.id),
            update: "REMOVE #must_change_password",
            condition: ITEM_EXISTS,
            values: Vec::new(),
        };
        self.table.update_if(update).await
    }

    /// Marks all sessions of an agent as suspended, or removes the marks.
    pub async fn set_sessions_suspended(
        &self,
        account_id: &str,
        agent_id: u64,
        is_suspended: bool,
    ) -> Result<(), Error> {
        let (update, values) = if is_suspended {
            ("SET #suspended = :true", vec![(":true", AttributeValue::Bool(true))])
        } else {
            ("REMOVE #suspended", Vec::new())
        };
        let update_of = |session: &SessionItem| ItemUpdate {
            key: session.key(),
            update,
            condition: ITEM_EXISTS,
            values: values.clone(),
        };
        for sessions in self.sessions(account_id, agent_id).await?.chunks(MAX_CONCURRENT_WRITES) {
            try_join_all(sessions.iter().map(|session| self.table.update_if(update_of(session)))).await?;
        }
        Ok(())
    }

    /// Ends all sessions of an agent, for example because the agent was deleted or has a new role. The deletion is
    /// repeated until no session is left, so that sessions that start concurrently are ended too.
    pub async fn end_sessions(&self, account_id: &str, agent_id: u64) -> Result<(), Error> {
        loop {
            let sessions = self.sessions(account_id, agent_id).await?;
            if sessions.is_empty() {
                return Ok(());
            }
            for sessions in sessions.chunks(MAX_CONCURRENT_WRITES) {
                try_join_all(sessions.iter().map(|session| self.table.delete(session.key()))).await?;
            }
        }
    }

    /// Copies the agent's current name and photo to all of the agent's sessions.
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
