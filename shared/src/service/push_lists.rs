//! Pushes the changes of the lists of chats to subscribers, joined to at most one frame a second for each socket, so that
//! the number of frames does not grow with the messages.
//!
//! The first change after a quiet second is pushed at once. Further changes are written to an item of the Connections
//! table, whose stream collects them for a second and then passes all of them on.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::try_join_all;

use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::chat_visibility::Viewer;
use crate::domain::list_change::{ListChange, ListChanges};
use crate::domain::socket::AgentSocket;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::service::chat_access::ChatVisibility;
use crate::service::push::{Frame, PushService};
use crate::store::chats::listing::chat_listing::MAX_HEADERS_PER_READ;
use crate::store::connections::subscriptions::LIST_PUSH_INTERVAL;
use crate::store::table_changes::ChatItemChange;
use crate::wire::push;

/// Returns what the changes of chats change in lists.
pub(super) fn list_changes(by_chat: &BTreeMap<u64, Vec<ChatItemChange>>) -> ListChanges {
    let mut changes = ListChanges::default();
    for (chat_id, of_chat) in by_chat {
        of_chat.iter().filter_map(list_change).for_each(|change| changes.add(*chat_id, change));
    }
    changes
}

fn list_change(change: &ChatItemChange) -> Option<ListChange> {
    let row = |is_row_changed| ListChange { is_row_changed, visitor_messages: BTreeSet::new() };
    match change {
        ChatItemChange::Header { before: Some(before), after: Some(after) } => {
            let is_row_changed = push::is_row_changed(before, after);
            (is_row_changed || push::is_preview_edited(before, after)).then(|| row(is_row_changed))
        }
        ChatItemChange::Header { .. } => Some(row(true)),
        ChatItemChange::Entry { before: None, after } => {
            let is_from_visitor = matches!(after.from, Sender::Visitor);
            Some(ListChange {
                visitor_messages: is_from_visitor.then_some(after.seq).into_iter().collect(),
                ..row(false)
            })
        }
        ChatItemChange::Entry { before: Some(_), .. }
        | ChatItemChange::Panel { .. }
        | ChatItemChange::Visitor { .. } => None,
    }
}

/// What one viewer's lists show of the changes.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Shown {
    rows: BTreeSet<u64>,
    gone: BTreeSet<u64>,
}

impl PushService<'_> {
    /// Pushes changes of lists now, or with the next push of the lists if the last one was less than a second ago.
    pub(super) async fn push_list_changes(
        &self,
        account_id: &str,
        changes: &ListChanges,
        pushed_at: Timestamp,
    ) -> Result<(), Error> {
        let is_due = self.now.since(pushed_at) >= LIST_PUSH_INTERVAL;
        if is_due && self.connections.claim_list_push(account_id, self.now).await? {
            return self.push_lists(account_id, changes).await;
        }
        self.connections.put_list_changes(account_id, changes, self.now).await
    }

    /// Sends each subscriber one frame with the changes that the lists of its client show.
    pub(super) async fn push_lists(&self, account_id: &str, changes: &ListChanges) -> Result<(), Error> {
        let subscribers = self.connections.subscribers(account_id, self.now).await?;
        if subscribers.is_empty() {
            return Ok(());
        }
        let chats = self.current_chats(account_id, changes).await?;
        let viewers: BTreeSet<Viewer> = subscribers.iter().map(AgentSocket::viewer).collect();
        let viewers: Vec<Viewer> = viewers.into_iter().collect();
        let headers: Vec<Chat> = chats.values().cloned().collect();
        let visibility = ChatVisibility::read(self.directory, account_id, &viewers, &headers).await?;
        let safe_urls = &self.directory.cached_settings(account_id).await?.safe_urls;
        let mut frames = BTreeMap::<Shown, Frame>::new();
        let mut with_frames = Vec::new();
        for socket in subscribers {
            let shown = shown(&socket, changes, &chats, &visibility);
            if shown.rows.is_empty() && shown.gone.is_empty() {
                continue;
            }
            let rows = shown.rows.iter().filter_map(|chat_id| chats.get(chat_id)).cloned().collect();
            let frame = || push::changes_frame(rows, &shown.gone, changes, safe_urls, self.now).into();
            let frame = match frames.get(&shown) {
                Some(frame) => Frame::clone(frame),
                None => frame(),
            };
            frames.insert(shown, frame.clone());
            with_frames.push((socket, vec![frame]));
        }
        self.send_to_all(with_frames).await;
        Ok(())
    }

    async fn current_chats(&self, account_id: &str, changes: &ListChanges) -> Result<BTreeMap<u64, Chat>, Error> {
        let ids: Vec<u64> = changes.0.keys().copied().collect();
        let reads = ids.chunks(MAX_HEADERS_PER_READ).map(|ids| self.chats.chats_by_id(account_id, ids));
        let chats = try_join_all(reads).await?.into_iter().flatten().filter(|chat| !chat.is_expired(self.now));
        Ok(chats.map(|chat| (chat.chat_id, chat)).collect())
    }
}

/// Returns which changes a subscriber's lists show. The pushes about the agent's own chats have been sent already.
fn shown(
    socket: &AgentSocket,
    changes: &ListChanges,
    chats: &BTreeMap<u64, Chat>,
    visibility: &ChatVisibility,
) -> Shown {
    let mut shown = Shown { rows: BTreeSet::new(), gone: BTreeSet::new() };
    let subscription = socket.subscription.as_ref();
    for (chat_id, change) in &changes.0 {
        match chats.get(chat_id).filter(|chat| visibility.sees(socket.viewer(), chat)) {
            Some(chat) if chat.state.agent().is_some_and(|agent| agent.agent_id == socket.agent_id) => {}
            Some(chat) => {
                let is_listed = subscription.is_some_and(|subscription| subscription.lists(chat));
                if change.is_row_changed || is_listed {
                    shown.rows.insert(*chat_id);
                }
            }
            None if change.is_row_changed => drop(shown.gone.insert(*chat_id)),
            None => {}
        }
    }
    shown
}
