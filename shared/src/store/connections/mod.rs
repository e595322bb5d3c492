//! The Connections table: sessions and presence, gone when they expire.

pub mod bot_rate;
pub mod breakers;
pub mod login_attempts;

use std::time::Duration;

use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};

use crate::domain::account::{Agent, Author, Role};
use crate::domain::presence::{Presence, Status};
use crate::domain::timestamp::Timestamp;
use crate::domain::visibility::Viewer;
use crate::error::Error;
use crate::runtime::dependencies::{Dependency, Platform};
use crate::store::connections::bot_rate::BotRates;
use crate::store::table::{EXISTS, ItemUpdate, Key, Query, Refused, Table, n, s};
use crate::store::{from_item, to_item};

/// A session ends this long after its last use.
const SESSION_IDLE_TIMEOUT: Duration = Duration::from_secs(12 * 60 * 60);
/// A session ends this long after the login, however much it is used.
const MAX_SESSION_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// A use is written down at most this often, so that it costs little.
const LAST_SEEN_INTERVAL: Duration = Duration::from_secs(60);
/// Presences and sessions that one query reads.
const MAX_ITEMS_PER_QUERY: i32 = 1_000;
/// Sessions that are ended at once.
const MAX_CONCURRENT_DELETES: usize = 25;

/// The Connections table.
#[derive(Clone)]
pub struct Connections {
    pub(in crate::store) table: Table,
    pub(in crate::store) bot_rates: BotRates,
}

/// Who is calling: an agent who signed in.
#[derive(Clone, Debug)]
pub struct Session {
    /// The agent's account.
    pub account_id: String,
    /// The agent, as visitors see them.
    pub agent: Author,
    /// What they may do.
    pub role: Role,
}

impl Session {
    /// The agent as somebody who looks at chats.
    pub fn viewer(&self) -> Viewer {
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
    /// Milliseconds.
    seen_at: u64,
    /// Seconds, as DynamoDB's TTL wants it; never after `ends_at`.
    expires_at: u64,
    /// Seconds: the end of the longest lifetime.
    #[serde(default)]
    ends_at: u64,
}

#[derive(Serialize, Deserialize)]
struct PresenceItem {
    pk: String,
    sk: String,
    agent_id: u64,
    status: String,
    seen_at: u64,
    /// Seconds: with the sessions.
    #[serde(default)]
    expires_at: u64,
}

impl SessionItem {
    fn key(&self) -> Key {
        Key::new(&*self.pk, &*self.sk)
    }
}

impl Dependency for Connections {
    fn open(platform: &mut Platform) -> Self {
        Self::new(Table::open(platform, "CONNECTIONS_TABLE"))
    }
}

fn session_key(account_id: &str, agent_id: u64, secret: &str) -> Key {
    Key::new(sessions_of(account_id, agent_id), format!("SESSION#{}", crate::runtime::secret::hex_hash(secret)))
}

fn sessions_of(account_id: &str, agent_id: u64) -> String {
    format!("AGENT#{account_id}#{agent_id}")
}

fn presence_key(account_id: &str, agent_id: u64) -> Key {
    Key::new(format!("PRESENCE#{account_id}"), format!("{agent_id:010}"))
}

impl Connections {
    /// The connections in that table.
    pub fn new(table: Table) -> Self {
        Self { table, bot_rates: BotRates::default() }
    }

    /// Begins a session and returns its bearer token: `<account>.<agent>.<secret>`. The secret is stored as a
    /// hash. One write.
    pub async fn begin_session(&self, agent: &Agent, now: Timestamp) -> Result<String, Error> {
        let secret = crate::runtime::secret::token()?;
        let key = session_key(&agent.account_id, agent.agent_id, &secret);
        let item = SessionItem {
            pk: key.pk,
            sk: key.sk,
            role: agent.role.name().to_owned(),
            name: agent.name.clone(),
            photo: agent.photo.clone(),
            seen_at: now.0,
            expires_at: now.after(SESSION_IDLE_TIMEOUT).seconds(),
            ends_at: now.after(MAX_SESSION_LIFETIME).seconds(),
        };
        self.table.put(to_item(&item)?, true).await?;
        Ok(format!("{}.{}.{secret}", agent.account_id, agent.agent_id))
    }

    /// The session of a token, if it lives. One read; once a minute also two writes, that it was used.
    pub async fn session(&self, token: &str, now: Timestamp) -> Result<Option<Session>, Error> {
        let Some((account_id, agent_id, secret)) = parts(token) else {
            return Ok(None);
        };
        let key = session_key(account_id, agent_id, secret);
        let Some(item) = self.table.get(key.clone()).await? else {
            return Ok(None);
        };
        let SessionItem { pk: _, sk: _, role, name, photo, seen_at, expires_at, ends_at } = from_item(item)?;
        if expires_at <= now.seconds() {
            return Ok(None);
        }
        if now.since(Timestamp(seen_at)) >= LAST_SEEN_INTERVAL {
            let expires_at = now.after(SESSION_IDLE_TIMEOUT).seconds().min(ends_at);
            self.seen(key, account_id, agent_id, now, expires_at).await?;
        }
        let role = Role::parse(&role).ok_or_else(|| Error::internal("role"))?;
        let agent = Author { agent_id, name, photo };
        Ok(Some(Session { account_id: account_id.to_owned(), agent, role }))
    }

    async fn seen(
        &self,
        session: Key,
        account_id: &str,
        agent_id: u64,
        now: Timestamp,
        expires_at: u64,
    ) -> Result<(), Error> {
        let extend = ItemUpdate {
            key: session,
            update: "SET #seen_at = :now, #expires_at = :expires",
            condition: EXISTS,
            values: vec![(":now", n(now.0)), (":expires", n(expires_at))],
        };
        let present = ItemUpdate { key: presence_key(account_id, agent_id), ..extend.clone() };
        for change in [extend, present] {
            if let Err(Refused::Error(error)) = self.table.update(change).await {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Ends the session of a token. An agent without another one is not online any more. One write; when there was such a
    /// session, a query more, and a write more when it was the last.
    pub async fn end_session(&self, token: &str, now: Timestamp) -> Result<(), Error> {
        let Some((account_id, agent_id, secret)) = parts(token) else { return Ok(()) };
        if self.table.delete(session_key(account_id, agent_id, secret)).await?.is_none() {
            return Ok(());
        }
        let others = self.sessions(account_id, agent_id).await?;
        if others.iter().any(|session| session.expires_at > now.seconds()) {
            return Ok(());
        }
        self.forget_presence(account_id, agent_id).await
    }

    /// Ends every session of an agent, for one who is gone or has other rights, also those that begin meanwhile.
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

    /// Gives every session of an agent their present name and photo.
    pub async fn rename_sessions(&self, agent: &Agent) -> Result<(), Error> {
        for session in self.sessions(&agent.account_id, agent.agent_id).await? {
            let change = ItemUpdate {
                key: session.key(),
                update: "SET #name = :name, #photo = :photo",
                condition: EXISTS,
                values: vec![(":name", s(&*agent.name)), (":photo", crate::store::to_attribute(&agent.photo)?)],
            };
            if let Err(Refused::Error(error)) = self.table.update(change).await {
                return Err(error);
            }
        }
        Ok(())
    }

    async fn sessions(&self, account_id: &str, agent_id: u64) -> Result<Vec<SessionItem>, Error> {
        let pk = sessions_of(account_id, agent_id);
        let query = Query {
            index: None,
            condition: "#pk = :agent AND begins_with(#sk, :sessions)",
            values: vec![(":agent", s(&*pk)), (":sessions", s("SESSION#"))],
            limit: MAX_ITEMS_PER_QUERY,
            descending: false,
        };
        self.table.query_all(query, usize::MAX).await?.into_iter().map(from_item).collect()
    }

    /// Stores what an agent says about themselves. One write.
    pub async fn set_presence(&self, account_id: &str, presence: Presence) -> Result<(), Error> {
        let Presence { agent_id, status, seen_at } = presence;
        let key = presence_key(account_id, agent_id);
        let expires_at = seen_at.after(SESSION_IDLE_TIMEOUT).seconds();
        let (status, seen_at) = (status.name().to_owned(), seen_at.0);
        let item = PresenceItem { pk: key.pk, sk: key.sk, agent_id, status, seen_at, expires_at };
        Ok(self.table.put(to_item(&item)?, false).await?)
    }

    /// An agent's presence. One read.
    pub async fn presence(&self, account_id: &str, agent_id: u64) -> Result<Option<Presence>, Error> {
        self.table.get(presence_key(account_id, agent_id)).await?.map(presence).transpose()
    }

    /// Forgets an agent who is gone.
    pub async fn forget_presence(&self, account_id: &str, agent_id: u64) -> Result<(), Error> {
        self.table.delete(presence_key(account_id, agent_id)).await.map(|_| ())
    }

    /// Everybody's presence. A query for each megabyte.
    pub async fn presences(&self, account_id: &str) -> Result<Vec<Presence>, Error> {
        let query = Query {
            index: None,
            condition: "#pk = :account",
            values: vec![(":account", s(format!("PRESENCE#{account_id}")))],
            limit: MAX_ITEMS_PER_QUERY,
            descending: false,
        };
        self.table.query_all(query, usize::MAX).await?.into_iter().map(presence).collect()
    }
}

fn presence(item: crate::store::table::Item) -> Result<Presence, Error> {
    let PresenceItem { pk: _, sk: _, agent_id, status, seen_at, expires_at: _ } = from_item(item)?;
    let status = Status::parse(&status).ok_or_else(|| Error::internal("status"))?;
    Ok(Presence { agent_id, status, seen_at: Timestamp(seen_at) })
}

/// The parts of a token that is well-formed.
fn parts(token: &str) -> Option<(&str, u64, &str)> {
    let (account_id, rest) = token.split_once('.')?;
    let (agent_id, secret) = rest.split_once('.')?;
    let plain = !account_id.is_empty() && account_id.bytes().all(|letter| letter.is_ascii_alphanumeric());
    plain.then_some((account_id, agent_id.parse().ok()?, secret))
}
