//! Agents' open sockets, and the tickets that open the sockets of agents and visitors. A browser cannot send an
//! `Authorization` header with the request that opens a socket, so a ticket in the URL replaces the token. Only a hash
//! of the ticket is stored.
//!
//! A socket has two items. One is in the partition of its account, so that one query returns all sockets of the
//! account; [`subscriptions`](crate::store::connections::subscriptions) replaces it once the client has subscribed. The
//! other has the connection id in its key, because the events of a socket name only this id. The agent's presence
//! contains the connection id too.

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::try_join;
use serde::{Deserialize, Serialize};

use crate::domain::accounts::agent::Role;
use crate::domain::socket::{
    AgentSocket, ChatList, MAX_SOCKETS_PER_AGENT, SOCKET_TICKET_LIFETIME, Socket, Subscription,
};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::random_ids_and_secrets::random_token;
use crate::store::connections::sessions::{Session, SessionAccess};
use crate::store::connections::subscriptions::{is_marker, subscribers_partition};
use crate::store::connections::visitor_sockets::{is_visitor_item, visitor_socket_from_item};
use crate::store::connections::{Connections, MAX_ITEMS_PER_QUERY, socket_key, ticket_key};
use crate::store::table::{ITEM_EXISTS, Item, ItemUpdate, Key, Query, WriteResult, key_taken, n, s};
use crate::store::{from_item, to_item};

#[derive(Serialize, Deserialize)]
struct TicketItem {
    pk: String,
    sk: String,
    account_id: String,
    agent_id: u64,
    is_admin: bool,
    session_id: String,
    /// When the session ends, as Unix time in seconds. `None` in a ticket that an earlier version of the service
    /// stored.
    #[serde(default)]
    session_ends_at: Option<u64>,
    /// When the ticket expires, as Unix time in seconds.
    expires_at: u64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct SocketItem {
    pk: String,
    sk: String,
    account_id: String,
    agent_id: u64,
    is_admin: bool,
    session_id: String,
    connection_id: String,
    /// When the socket was opened, as Unix time in milliseconds.
    #[serde(default)]
    opened_at: u64,
    /// When the item expires, as Unix time in seconds.
    expires_at: u64,
    /// The names of the lists that the client shows. `None` if the client has not subscribed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lists: Option<Vec<String>>,
    /// The chat that the client shows. It can be outdated in the items of a subscription, but not in the item that is
    /// keyed by connection id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open_chat: Option<u64>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct SocketState {
    pub socket: Socket,
    /// Whether a push was dropped although the socket is open. This flag is stored only in the item that is keyed by
    /// connection id.
    pub has_missed_push: bool,
}

pub(in crate::store) fn account_sockets_partition(account_id: &str) -> String {
    format!("SOCKETS#{account_id}")
}

pub(super) fn account_socket_key(socket: &AgentSocket) -> Key {
    Key::new(account_sockets_partition(&socket.account_id), &*socket.connection_id)
}

impl SocketItem {
    pub(super) fn new(key: Key, socket: &AgentSocket) -> Self {
        let AgentSocket { account_id, connection_id, agent_id, is_admin, session_id, opened_at, expires_at, .. } =
            socket.clone();
        let subscription = socket.subscription.as_ref();
        Self {
            pk: key.pk,
            sk: key.sk,
            account_id,
            agent_id,
            is_admin,
            session_id,
            connection_id,
            opened_at: opened_at.0,
            expires_at: expires_at.seconds(),
            lists: subscription.map(|shown| shown.lists.iter().map(|list| list.name().to_owned()).collect()),
            open_chat: subscription.and_then(|shown| shown.open_chat),
        }
    }

    fn into_socket(self) -> AgentSocket {
        let Self { account_id, agent_id, is_admin, session_id, connection_id, opened_at, expires_at, .. } = self;
        let (opened_at, expires_at) = (Timestamp(opened_at), Timestamp::from_seconds(expires_at));
        let open_chat = self.open_chat;
        let lists = |names: Vec<String>| names.iter().filter_map(|name| ChatList::parse(name)).collect();
        let subscription = self.lists.map(|names| Subscription { lists: lists(names), open_chat });
        AgentSocket { account_id, connection_id, agent_id, is_admin, session_id, opened_at, expires_at, subscription }
    }
}

impl Connections {
    /// Creates a ticket with which the session's agent can open one socket.
    pub async fn create_socket_ticket(&self, session: &Session, now: Timestamp) -> Result<String, Error> {
        let ticket = random_token()?;
        let key = ticket_key(&ticket);
        let item = TicketItem {
            pk: key.pk,
            sk: key.sk,
            account_id: session.account_id.clone(),
            agent_id: session.agent.agent_id,
            is_admin: session.role == Role::Admin,
            session_id: session.id.clone(),
            session_ends_at: Some(session.ends_at.seconds()),
            expires_at: now.plus(SOCKET_TICKET_LIFETIME).seconds(),
        };
        self.table.put(to_item(&item)?, true).await.on_condition_failed(key_taken())?;
        Ok(ticket)
    }

    /// Opens a socket with a ticket, which cannot be used again. Returns `None` if the ticket is unknown, used or
    /// expired, if its session has ended, or if its agent or visitor already has the maximum number of sockets.
    ///
    /// The session is read after the socket has been stored. If the session ends concurrently, either this function
    /// notices it, or `deliver-push` finds the socket and closes it.
    pub async fn open_socket(
        &self,
        ticket: &str,
        connection_id: &str,
        now: Timestamp,
    ) -> Result<Option<Socket>, Error> {
        let is_valid = ("#expires_at > :now", vec![(":now", n(now.seconds()))]);
        let Some(item) = self.table.delete_if(ticket_key(ticket), is_valid.0, is_valid.1).await? else {
            return Ok(None);
        };
        if is_visitor_item(&item) {
            let socket = self.open_visitor_socket(item, connection_id, now).await?;
            return Ok(socket.map(Socket::Visitor));
        }
        let TicketItem { account_id, agent_id, is_admin, session_id, session_ends_at, .. } = from_item(item)?;
        let (connection_id, opened_at) = (connection_id.to_owned(), now);
        let expires_at = AgentSocket::expiry(now, session_ends_at.map(Timestamp::from_seconds));
        let subscription = None;
        let socket = AgentSocket {
            account_id,
            connection_id,
            agent_id,
            is_admin,
            session_id,
            opened_at,
            expires_at,
            subscription,
        };
        self.put_socket(&socket).await?;
        let is_one_too_many = self.add_socket_to_presence(&socket, now).await? > MAX_SOCKETS_PER_AGENT;
        if is_one_too_many || self.session_of_socket(&socket, now).await?.is_none() {
            self.remove_agent_socket(&socket, now).await?;
            return Ok(None);
        }
        Ok(Some(Socket::Agent(socket)))
    }

    async fn put_socket(&self, socket: &AgentSocket) -> Result<(), Error> {
        let item = |key| to_item(&SocketItem::new(key, socket));
        let by_account = self.table.put(item(account_socket_key(socket))?, false);
        let by_connection = self.table.put(item(socket_key(&socket.connection_id))?, false);
        try_join(by_account, by_connection).await.unconditional()?;
        Ok(())
    }

    /// Returns the socket even if its item has expired, because the gateway has just reported an event of the socket.
    pub async fn socket(&self, connection_id: &str) -> Result<Option<Socket>, Error> {
        Ok(self.socket_state(connection_id).await?.map(|state| state.socket))
    }

    /// Like [`socket`](Self::socket), but also returns whether the socket has missed a push.
    pub async fn socket_state(&self, connection_id: &str) -> Result<Option<SocketState>, Error> {
        let Some(item) = self.table.get(socket_key(connection_id)).await? else { return Ok(None) };
        let has_missed_push = item.contains_key("missed_push");
        let socket = if is_visitor_item(&item) {
            Socket::Visitor(visitor_socket_from_item(item)?)
        } else {
            Socket::Agent(from_item::<SocketItem>(item)?.into_socket())
        };
        Ok(Some(SocketState { socket, has_missed_push }))
    }

    /// Records that the socket has missed a push. Does nothing if the socket's item has been removed.
    pub(crate) async fn record_missed_push(&self, connection_id: &str) -> Result<(), Error> {
        let update = ItemUpdate {
            key: socket_key(connection_id),
            update: "SET #missed_push = :true",
            condition: ITEM_EXISTS,
            values: vec![(":true", AttributeValue::Bool(true))],
        };
        self.table.update(update).await.condition().map(|_| ())
    }

    /// Returns the session with which the socket was opened, or `None` if the session has ended or no longer permits
    /// everything.
    pub async fn session_of_socket(&self, socket: &AgentSocket, now: Timestamp) -> Result<Option<Session>, Error> {
        let session = self.session_by_id(&socket.account_id, socket.agent_id, &socket.session_id, now).await?;
        Ok(session.filter(|session| session.access == SessionAccess::Full))
    }

    /// Removes a socket that was closed. A repeated call does nothing.
    pub async fn remove_socket(&self, socket: &Socket, now: Timestamp) -> Result<(), Error> {
        match socket {
            Socket::Agent(socket) => self.remove_agent_socket(socket, now).await,
            Socket::Visitor(socket) => self.remove_visitor_socket(socket).await,
        }
    }

    /// Removes an agent's socket that was closed. The item keyed by connection id is deleted last, so that an
    /// interrupted removal can be retried.
    pub async fn remove_agent_socket(&self, socket: &AgentSocket, now: Timestamp) -> Result<(), Error> {
        let presence = self.remove_socket_from_presence(socket, now);
        try_join(presence, self.delete_listening_items(socket)).await?;
        self.table.delete(socket_key(&socket.connection_id)).await.map(|_| ())
    }

    /// Returns the open sockets of a session, including those that have just been opened.
    pub(crate) async fn session_sockets(
        &self,
        account_id: &str,
        session_id: &str,
        now: Timestamp,
    ) -> Result<Vec<AgentSocket>, Error> {
        let sockets = self.table.query_all(partition_query(account_sockets_partition(account_id)), usize::MAX);
        let subscribers = self.table.query_all(partition_query(subscribers_partition(account_id)), usize::MAX);
        let (mut items, subscribers) = try_join(sockets, subscribers).await?;
        items.retain(|item| !is_marker(item));
        items.extend(subscribers);
        let mut sockets = open_sockets(items, now)?;
        sockets.retain(|socket| socket.session_id == session_id);
        Ok(sockets)
    }
}

/// Returns a query for all items of a partition.
pub(super) fn partition_query(partition: String) -> Query {
    Query {
        index: None,
        condition: "#pk = :partition",
        values: vec![(":partition", s(partition))],
        limit: MAX_ITEMS_PER_QUERY,
        descending: false,
    }
}

pub(super) fn open_sockets(items: Vec<Item>, now: Timestamp) -> Result<Vec<AgentSocket>, Error> {
    let items: Vec<SocketItem> = items.into_iter().map(from_item).collect::<Result<_, _>>()?;
    Ok(items.into_iter().filter(|item| item.expires_at > now.seconds()).map(SocketItem::into_socket).collect())
}
