//! Who listens to an account's changes. A socket gets every push until its client says what it shows, with a
//! `subscribe` frame. From then on, its item in the partition of its account is replaced by one in each of these
//! partitions, so that a push reads only those whom it concerns, however many agents are connected:
//!
//! - all subscribers of the account, for what the lists show,
//! - the subscribers of an agent, for the agent's own chats,
//! - the subscribers of a chat, who show its messages.
//!
//! The *marker* in the partition of the account shows that there are subscribers, and when the lists were pushed to
//! them. It comes with the query for the other sockets, so it costs no read of its own. A second marker shows that
//! browsers get notifications; see [`web_push`](crate::store::connections::web_push).
//!
//! A client waits for the response before it subscribes again, so two subscriptions of a socket never overlap.

use std::time::Duration;

use futures_util::future::{try_join, try_join_all};
use serde::{Deserialize, Serialize};

use crate::domain::list_change::{ListChange, ListChanges};
use crate::domain::socket::{AgentSocket, Subscription};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::connections::sockets::{
    SocketItem, account_socket_key, account_sockets_partition, open_sockets, partition_query,
};
use crate::store::connections::{Connections, socket_key};
use crate::store::table::{ITEM_EXISTS, Item, ItemUpdate, Key, WriteResult, n};
use crate::store::{from_item, to_attribute, to_item};

/// The minimum time between two pushes of an account's lists.
pub(crate) const LIST_PUSH_INTERVAL: Duration = Duration::from_secs(1);
/// How long an item with changes is kept. The stream has passed it on long before.
const CHANGES_TTL: Duration = Duration::from_secs(60 * 60);
/// Sorts after every connection id, as all markers do.
const MARKER_SORT_KEY: &str = "~";
const MARKER_PREFIX: char = '~';
/// The sort key of the marker that shows that browsers get notifications.
pub(super) const WEB_PUSH_MARKER_SORT_KEY: &str = "~WEB_PUSH";
pub(in crate::store) const CHANGES_PREFIX: &str = "CHANGED_CHATS#";

/// The agents' sockets that may get a push.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Listeners {
    /// The sockets that get every push.
    pub sockets: Vec<AgentSocket>,
    /// When the lists were last pushed to subscribers. `None` if the account has no subscribers.
    pub lists_pushed_at: Option<Timestamp>,
    /// Whether browsers may get notifications.
    pub has_web_push: bool,
}

#[derive(Deserialize)]
struct MarkerItem {
    sk: String,
    #[serde(default)]
    lists_pushed_at: u64,
    /// When the last subscriber's socket or session expires, as Unix time in seconds.
    expires_at: u64,
}

#[derive(Serialize, Deserialize)]
struct ChangedChat {
    chat_id: u64,
    is_row_changed: bool,
    visitor_messages: Vec<u64>,
}

#[derive(Deserialize)]
struct ChangesItem {
    changes: Vec<ChangedChat>,
}

impl Listeners {
    pub fn is_empty(&self) -> bool {
        self.sockets.is_empty() && self.lists_pushed_at.is_none()
    }
}

fn marker_key(account_id: &str) -> Key {
    Key::new(account_sockets_partition(account_id), MARKER_SORT_KEY)
}

pub(super) fn is_marker(item: &Item) -> bool {
    item.get("sk").and_then(|sk| sk.as_s().ok()).is_some_and(|sk| sk.starts_with(MARKER_PREFIX))
}

pub(in crate::store) fn subscribers_partition(account_id: &str) -> String {
    format!("SUBSCRIBERS#{account_id}")
}

pub(in crate::store) fn agent_subscribers_partition(account_id: &str, agent_id: u64) -> String {
    format!("AGENT_SUBSCRIBERS#{account_id}#{agent_id}")
}

pub(in crate::store) fn chat_subscribers_partition(account_id: &str, chat_id: u64) -> String {
    format!("CHAT_SUBSCRIBERS#{account_id}#{chat_id}")
}

pub(in crate::store) fn changed_chats_partition(account_id: &str) -> String {
    format!("{CHANGES_PREFIX}{account_id}")
}

/// Returns the partitions that contain a subscriber.
fn partitions(socket: &AgentSocket, subscription: &Subscription) -> Vec<String> {
    let AgentSocket { account_id, agent_id, .. } = socket;
    let chat = subscription.open_chat.map(|chat_id| chat_subscribers_partition(account_id, chat_id));
    let own = [subscribers_partition(account_id), agent_subscribers_partition(account_id, *agent_id)];
    own.into_iter().chain(chat).collect()
}

impl Connections {
    /// Changes what the client of a socket shows. When this returns, the socket gets all pushes about it.
    pub async fn subscribe(&self, socket: &AgentSocket, shown: Subscription) -> Result<(), Error> {
        let after = AgentSocket { subscription: Some(shown.clone()), ..socket.clone() };
        let before = socket.subscription.as_ref().map(|before| partitions(socket, before)).unwrap_or_default();
        let is_outdated = |partition: &String| {
            let has_other_lists = socket.subscription.as_ref().is_some_and(|before| before.lists != shown.lists);
            !before.contains(partition) || (has_other_lists && *partition == subscribers_partition(&socket.account_id))
        };
        let (now_in, item) = (partitions(socket, &shown), |key| to_item(&SocketItem::new(key, &after)));
        let items = now_in.iter().filter(|partition| is_outdated(partition));
        let items: Vec<Item> =
            items.map(|partition| item(Key::new(&**partition, &*socket.connection_id))).collect::<Result<_, _>>()?;
        let puts = try_join_all(items.into_iter().map(async |item| self.table.put(item, false).await.unconditional()));
        try_join(puts, self.mark_subscribed(socket)).await?;
        if !self.store_subscription(&socket.connection_id, &shown).await? {
            // The socket has been closed in the meantime.
            return self.delete_listening_items(&after).await;
        }
        match &socket.subscription {
            None => self.table.delete(account_socket_key(socket)).await.map(|_| ()),
            Some(_) => {
                let left = before.into_iter().filter(|partition| !now_in.contains(partition));
                let keys = left.map(|partition| Key::new(partition, &*socket.connection_id));
                try_join_all(keys.map(|key| self.table.delete(key))).await.map(|_| ())
            }
        }
    }

    /// Stores the subscription in the item that is keyed by connection id. Returns whether the socket is still open.
    async fn store_subscription(&self, connection_id: &str, shown: &Subscription) -> Result<bool, Error> {
        let names: Vec<_> = shown.lists.iter().map(|list| list.name()).collect();
        let update = ItemUpdate {
            key: socket_key(connection_id),
            update: "SET #lists = :lists, #open_chat = :open_chat",
            condition: ITEM_EXISTS,
            values: vec![(":lists", to_attribute(&names)?), (":open_chat", to_attribute(&shown.open_chat)?)],
        };
        Ok(self.table.update(update).await.condition()?.is_ok())
    }

    /// Records that the account has a subscriber until the socket expires.
    async fn mark_subscribed(&self, socket: &AgentSocket) -> Result<(), Error> {
        if socket.subscription.is_some() {
            return Ok(());
        }
        let update = ItemUpdate {
            key: marker_key(&socket.account_id),
            update: "SET #expires_at = :expires",
            condition: "attribute_not_exists(#expires_at) OR #expires_at < :expires",
            values: vec![(":expires", n(socket.expires_at.seconds()))],
        };
        self.table.update_if(update).await
    }

    /// Deletes the items through which pushes find a socket.
    pub(super) async fn delete_listening_items(&self, socket: &AgentSocket) -> Result<(), Error> {
        let Some(subscription) = &socket.subscription else {
            return self.table.delete(account_socket_key(socket)).await.map(|_| ());
        };
        let keys = partitions(socket, subscription).into_iter();
        let keys = keys.map(|partition| Key::new(partition, &*socket.connection_id));
        try_join_all(keys.map(|key| self.table.delete(key))).await.map(|_| ())
    }

    /// Returns the sockets of the account's agents that get every push, and whether there are subscribers. This read
    /// and those below are eventually consistent, so a socket that has just been opened may be missing.
    pub(crate) async fn listeners(&self, account_id: &str, now: Timestamp) -> Result<Listeners, Error> {
        let query = partition_query(account_sockets_partition(account_id));
        let (markers, items) =
            self.table.query_all_eventually(query).await?.into_iter().partition::<Vec<_>, _>(is_marker);
        let markers: Vec<MarkerItem> = markers.into_iter().map(from_item).collect::<Result<_, _>>()?;
        let marker = |sk: &str| markers.iter().find(|marker| marker.sk == sk && marker.expires_at > now.seconds());
        let lists_pushed_at = marker(MARKER_SORT_KEY).map(|marker| Timestamp(marker.lists_pushed_at));
        let has_web_push = marker(WEB_PUSH_MARKER_SORT_KEY).is_some();
        Ok(Listeners { sockets: open_sockets(items, now)?, lists_pushed_at, has_web_push })
    }

    /// Returns the account's subscribers.
    pub(crate) async fn subscribers(&self, account_id: &str, now: Timestamp) -> Result<Vec<AgentSocket>, Error> {
        self.sockets_in(subscribers_partition(account_id), now).await
    }

    pub(crate) async fn agent_subscribers(
        &self,
        account_id: &str,
        agent_id: u64,
        now: Timestamp,
    ) -> Result<Vec<AgentSocket>, Error> {
        self.sockets_in(agent_subscribers_partition(account_id, agent_id), now).await
    }

    pub(crate) async fn chat_subscribers(
        &self,
        account_id: &str,
        chat_id: u64,
        now: Timestamp,
    ) -> Result<Vec<AgentSocket>, Error> {
        self.sockets_in(chat_subscribers_partition(account_id, chat_id), now).await
    }

    async fn sockets_in(&self, partition: String, now: Timestamp) -> Result<Vec<AgentSocket>, Error> {
        open_sockets(self.table.query_all_eventually(partition_query(partition)).await?, now)
    }

    /// Records that the lists are pushed now, unless they were in the last [`LIST_PUSH_INTERVAL`]. Returns whether it
    /// has recorded this.
    pub(crate) async fn claim_list_push(&self, account_id: &str, now: Timestamp) -> Result<bool, Error> {
        let update = ItemUpdate {
            key: marker_key(account_id),
            update: "SET #lists_pushed_at = :now",
            condition: "attribute_exists(#pk) AND (attribute_not_exists(#lists_pushed_at) OR #lists_pushed_at <= :due)",
            values: vec![(":now", n(now.0)), (":due", n(now.minus(LIST_PUSH_INTERVAL).0))],
        };
        Ok(self.table.update(update).await.condition()?.is_ok())
    }

    /// Records that the lists are pushed now.
    pub(crate) async fn record_list_push(&self, account_id: &str, now: Timestamp) -> Result<(), Error> {
        let update = ItemUpdate {
            key: marker_key(account_id),
            update: "SET #lists_pushed_at = :now",
            condition: ITEM_EXISTS,
            values: vec![(":now", n(now.0))],
        };
        self.table.update_if(update).await
    }

    /// Stores changes for the next push of the lists. The stream of the table collects them for a second and passes
    /// them on together, so only the latest ones are kept.
    pub(crate) async fn put_list_changes(
        &self,
        account_id: &str,
        changes: &ListChanges,
        now: Timestamp,
    ) -> Result<(), Error> {
        let changes: Vec<ChangedChat> =
            changes.0.iter().map(|(chat_id, change)| ChangedChat::new(*chat_id, change)).collect();
        let update = ItemUpdate {
            key: Key::new(changed_chats_partition(account_id), "CHANGED_CHATS"),
            update: "SET #changes = :changes, #changed_at = :now, #expires_at = :expires",
            condition: "",
            values: vec![
                (":changes", to_attribute(&changes)?),
                (":now", n(now.0)),
                (":expires", n(now.plus(CHANGES_TTL).seconds())),
            ],
        };
        self.table.update(update).await.unconditional().map(|_| ())
    }
}

impl ChangedChat {
    fn new(chat_id: u64, change: &ListChange) -> Self {
        let visitor_messages = change.visitor_messages.iter().copied().collect();
        Self { chat_id, is_row_changed: change.is_row_changed, visitor_messages }
    }
}

pub(in crate::store) fn list_changes_from_item(item: Item) -> Result<ListChanges, Error> {
    let ChangesItem { changes } = from_item(item)?;
    let mut list_changes = ListChanges::default();
    for ChangedChat { chat_id, is_row_changed, visitor_messages } in changes {
        let visitor_messages = visitor_messages.into_iter().collect();
        list_changes.add(chat_id, ListChange { is_row_changed, visitor_messages });
    }
    Ok(list_changes)
}
