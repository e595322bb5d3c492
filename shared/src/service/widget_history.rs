//! The messages before those that a widget already shows. They continue with the visitor's earlier chats.

use crate::domain::chats::chat::Chat;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::domain::visitors::widget_visitor::{HiddenThrough, HistoryPosition};
use crate::error::Error;
use crate::service::file_links::FileLinks;
use crate::service::widget::MAX_ENTRIES_READ;
use crate::store::chats::Chats;
use crate::wire::widget::{MAX_MESSAGES, WidgetHistory, WidgetMessage};

/// The maximum number of queries for a page. Chats without messages and long runs of notes and notifications take
/// queries that add no message to the page.
const MAX_QUERIES_PER_PAGE: usize = 8;

/// Where a history continues, from newer to older entries.
enum Rest {
    /// With the entries of this chat below this number.
    OfChat(Box<Chat>, u64),
    EarlierChat(u64),
}

struct History<'a> {
    chats: &'a Chats,
    account_id: &'a str,
    hidden: HiddenThrough,
    now: Timestamp,
}

/// Returns the last messages before `position`, oldest first. There are none if the chat does not belong to the visitor
/// or has expired, or if the visitor has hidden it.
pub async fn earlier_messages(
    (chats, links): (&Chats, &FileLinks<'_>),
    visitor: &Visitor,
    position: HistoryPosition,
    now: Timestamp,
) -> Result<WidgetHistory, Error> {
    let hidden = visitor.widget.as_deref().map(|widget| widget.hidden_through).unwrap_or_default();
    let history = History { chats, account_id: &visitor.account_id, hidden, now };
    let chat = chats.chat(&visitor.account_id, position.chat_id).await?;
    let is_own = |chat: &Chat| chat.visitor_number == visitor.number && !chat.is_expired(now);
    let mut rest = chat.filter(is_own).map(|chat| Rest::OfChat(Box::new(chat), position.seq));
    let mut newest_first = Vec::new();
    for _ in 0..MAX_QUERIES_PER_PAGE {
        if newest_first.len() >= MAX_MESSAGES {
            break;
        }
        let Some(next) = rest.take() else { break };
        let (mut entries, following) = history.read(next).await?;
        links.renew(&mut entries).await?;
        newest_first.extend(entries.iter().rev().filter(|entry| !entry.is_expired(now)).filter_map(WidgetMessage::new));
        rest = following;
    }
    // Without a message, the client has no position from which it could continue.
    let has_earlier = !newest_first.is_empty() && (rest.is_some() || newest_first.len() > MAX_MESSAGES);
    newest_first.truncate(MAX_MESSAGES);
    newest_first.reverse();
    Ok(WidgetHistory { messages: newest_first, has_earlier })
}

impl History<'_> {
    /// Reads the next entries, which are returned oldest first, and where the history continues.
    async fn read(&self, rest: Rest) -> Result<(Vec<TimelineEntry>, Option<Rest>), Error> {
        let chat_id = match &rest {
            Rest::OfChat(chat, _) => chat.chat_id,
            Rest::EarlierChat(chat_id) => *chat_id,
        };
        let Some(after) = self.hidden.last_hidden_seq(chat_id) else { return Ok((Vec::new(), None)) };
        let (entries, chat) = match rest {
            Rest::OfChat(chat, before) => {
                let place = (self.account_id, chat_id);
                let entries = self.chats.last_entries_before(place, (after, before), MAX_ENTRIES_READ).await?;
                (entries, chat)
            }
            Rest::EarlierChat(chat_id) => {
                let read = self.chats.last_entries_and_chat(self.account_id, chat_id, after, MAX_ENTRIES_READ);
                let (entries, chat) = read.await?;
                let Some(chat) = chat.filter(|chat| !chat.is_expired(self.now)) else { return Ok((Vec::new(), None)) };
                (entries, Box::new(chat))
            }
        };
        let is_full = entries.len() >= usize::try_from(MAX_ENTRIES_READ).map_err(Error::internal)?;
        let rest = match entries.first().filter(|_| is_full) {
            Some(first) => Some(Rest::OfChat(chat, first.seq)),
            None => self.hidden.visible_chat_before(&chat).map(Rest::EarlierChat),
        };
        Ok((entries, rest))
    }
}
