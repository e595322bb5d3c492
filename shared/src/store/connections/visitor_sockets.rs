//! The open sockets of widget visitors. Like an agent's socket, a visitor's socket has two items: one in the partition
//! of its visitor, and one with the connection id in its key. The sockets of visitors are stored apart from those of
//! agents, so that the cost of finding the agents' sockets does not depend on the number of visitors.

use futures_util::future::try_join;
use serde::{Deserialize, Serialize};

use crate::domain::rate_limit::MAX_VISITOR_FRAMES_PER_WINDOW;
use crate::domain::socket::{MAX_SOCKETS_PER_VISITOR, SOCKET_TICKET_LIFETIME, VisitorSocket};
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::runtime::random_ids_and_secrets::random_token;
use crate::store::connections::{Connections, MAX_ITEMS_PER_QUERY, socket_key, ticket_key};
use crate::store::table::{Item, Key, Query, WriteResult, key_taken, s};
use crate::store::{from_item, to_item};

/// A ticket or a socket of a visitor. In a ticket, `connection_id` is empty.
#[derive(Serialize, Deserialize)]
struct VisitorSocketItem {
    pk: String,
    sk: String,
    account_id: String,
    channel_id: String,
    external_id: String,
    #[serde(default)]
    connection_id: String,
    /// When the socket was opened or the ticket was created, as Unix time in milliseconds.
    #[serde(default)]
    opened_at: u64,
    /// When the item expires, as Unix time in seconds.
    expires_at: u64,
}

fn visitor_sockets_partition(channel_id: &str, external_id: &str) -> String {
    format!("VISITOR_SOCKETS#{channel_id}#{external_id}")
}

impl VisitorSocketItem {
    fn new(key: Key, socket: &VisitorSocket, expires_at: Timestamp) -> Self {
        let VisitorSocket { account_id, channel_id, external_id, connection_id, opened_at } = socket.clone();
        Self {
            pk: key.pk,
            sk: key.sk,
            account_id,
            channel_id,
            external_id,
            connection_id,
            opened_at: opened_at.0,
            expires_at: expires_at.seconds(),
        }
    }
}

/// Whether a ticket item or a socket item belongs to a visitor.
pub(super) fn is_visitor_item(item: &Item) -> bool {
    item.contains_key("external_id")
}

pub(super) fn visitor_socket_from_item(item: Item) -> Result<VisitorSocket, Error> {
    let VisitorSocketItem { account_id, channel_id, external_id, connection_id, opened_at, .. } = from_item(item)?;
    Ok(VisitorSocket { account_id, channel_id, external_id, connection_id, opened_at: Timestamp(opened_at) })
}

impl Connections {
    /// Creates a ticket with which the visitor can open one socket.
    pub async fn create_visitor_socket_ticket(&self, visitor: &Visitor, now: Timestamp) -> Result<String, Error> {
        let ticket = random_token()?;
        let holder = VisitorSocket {
            account_id: visitor.account_id.clone(),
            channel_id: visitor.channel_id.clone(),
            external_id: visitor.external_id.clone(),
            connection_id: String::new(),
            opened_at: now,
        };
        let item = VisitorSocketItem::new(ticket_key(&ticket), &holder, now.plus(SOCKET_TICKET_LIFETIME));
        self.table.put(to_item(&item)?, true).await.on_condition_failed(key_taken())?;
        Ok(ticket)
    }

    /// Stores the socket that a visitor's ticket opens. Returns `None` if the visitor already has the maximum number of
    /// sockets. Concurrent requests can exceed the maximum.
    pub(super) async fn open_visitor_socket(
        &self,
        ticket: Item,
        connection_id: &str,
        now: Timestamp,
    ) -> Result<Option<VisitorSocket>, Error> {
        let holder = visitor_socket_from_item(ticket)?;
        if self.visitor_sockets(&holder.channel_id, &holder.external_id, now).await?.len() >= MAX_SOCKETS_PER_VISITOR {
            return Ok(None);
        }
        let socket = VisitorSocket { connection_id: connection_id.to_owned(), opened_at: now, ..holder };
        let item = |key| to_item(&VisitorSocketItem::new(key, &socket, socket.expires_at()));
        let by_visitor = self.table.put(item(visitor_socket_key(&socket))?, false);
        let by_connection = self.table.put(item(socket_key(connection_id))?, false);
        try_join(by_visitor, by_connection).await.unconditional()?;
        Ok(Some(socket))
    }

    pub(super) async fn remove_visitor_socket(&self, socket: &VisitorSocket) -> Result<(), Error> {
        self.table.delete(visitor_socket_key(socket)).await?;
        self.table.delete(socket_key(&socket.connection_id)).await.map(|_| ())
    }

    /// Returns a visitor's open sockets. The read is eventually consistent, so a socket that has just been opened may
    /// be missing.
    pub(crate) async fn visitor_sockets(
        &self,
        channel_id: &str,
        external_id: &str,
        now: Timestamp,
    ) -> Result<Vec<VisitorSocket>, Error> {
        let query = Query {
            index: None,
            condition: "#pk = :sockets",
            values: vec![(":sockets", s(visitor_sockets_partition(channel_id, external_id)))],
            limit: MAX_ITEMS_PER_QUERY,
            descending: false,
        };
        let items = self.table.query_all_eventually(query).await?;
        let sockets = items.into_iter().map(visitor_socket_from_item).collect::<Result<Vec<_>, _>>()?;
        Ok(sockets.into_iter().filter(|socket| socket.expires_at() > now).collect())
    }

    /// Deletes the items of an erased visitor's open sockets, so that they get no more pushes.
    pub async fn forget_visitor_sockets(&self, visitor: &Visitor, now: Timestamp) -> Result<(), Error> {
        for socket in self.visitor_sockets(&visitor.channel_id, &visitor.external_id, now).await? {
            self.remove_visitor_socket(&socket).await?;
        }
        Ok(())
    }

    /// Counts a frame from one of the visitor's sockets; the sockets share one limit. Errors are as in
    /// [`count_bot_request`](Self::count_bot_request).
    pub async fn count_visitor_frame(&self, socket: &VisitorSocket, now: Timestamp) -> Result<(), Error> {
        let caller = format!("VISITOR_FRAMES#{}#{}", socket.channel_id, socket.external_id);
        self.count_request(&caller, MAX_VISITOR_FRAMES_PER_WINDOW, now).await
    }
}

fn visitor_socket_key(socket: &VisitorSocket) -> Key {
    Key::new(visitor_sockets_partition(&socket.channel_id, &socket.external_id), &*socket.connection_id)
}
