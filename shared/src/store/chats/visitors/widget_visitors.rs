//! Visitors of a widget. A visitor is identified by a token, whose hash is the visitor's `external_id`. The key of the
//! visitor's item contains this id and the channel's id. Therefore, one read authenticates the visitor, and a token is
//! valid only for the widget that issued it. This file also reads the end of a chat's timeline for the widget.

use crate::domain::chats::chat::Chat;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::sha256;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::store::chats::{
    Chats, HEADER_SORT_KEY, MAX_SEQ, chat_from_item, chat_pk, entry_from_item, entry_sort_key, timeline_query,
};
use crate::store::table::{Query, s};

pub fn visitor_id_of_token(token: &str) -> String {
    sha256::hex_digest(token)
}

impl Chats {
    /// Returns the visitor whom a token identifies.
    ///
    /// # Errors
    /// Fails with `InvalidVisitorToken` if the widget has no such visitor, or if the visitor has expired.
    pub async fn widget_visitor(&self, channel_id: &str, token: &str, now: Timestamp) -> Result<Visitor, Error> {
        let visitor = self.visitor(channel_id, &visitor_id_of_token(token)).await?;
        visitor.filter(|visitor| !visitor.is_expired(now)).ok_or(Error::InvalidVisitorToken)
    }

    /// Reads the chat's header and at most `limit` of its last entries with numbers above `after`, oldest first. The
    /// header sorts directly after the last entry, so one query reads both.
    pub async fn last_entries_and_chat(
        &self,
        account_id: &str,
        chat_id: u64,
        after: u64,
        limit: i32,
    ) -> Result<(Vec<TimelineEntry>, Option<Chat>), Error> {
        let query = Query {
            index: None,
            condition: "#pk = :chat AND #sk BETWEEN :first AND :head",
            values: vec![
                (":chat", s(chat_pk(account_id, chat_id))),
                (":first", s(entry_sort_key(after.saturating_add(1)))),
                (":head", s(HEADER_SORT_KEY)),
            ],
            limit: limit.saturating_add(1),
            descending: true,
        };
        let max_items = usize::try_from(query.limit).map_err(Error::internal)?;
        let mut items = self.table.query_all(query, max_items).await?;
        items.reverse();
        let header = items.pop_if(|item| item.get("sk") == Some(&s(HEADER_SORT_KEY)));
        let entries = items.into_iter().map(entry_from_item).collect::<Result<_, _>>()?;
        Ok((entries, header.map(chat_from_item).transpose()?))
    }

    /// Reads at most `limit` of the last entries with numbers above `after` and below `before`, oldest first.
    pub async fn last_entries_before(
        &self,
        (account_id, chat_id): (&str, u64),
        (after, before): (u64, u64),
        limit: i32,
    ) -> Result<Vec<TimelineEntry>, Error> {
        let seqs = after.saturating_add(1)..=before.saturating_sub(1).min(MAX_SEQ);
        let Some(query) = timeline_query(account_id, chat_id, seqs, limit) else { return Ok(Vec::new()) };
        let max_items = usize::try_from(limit).map_err(Error::internal)?;
        let items = self.table.query_all(Query { descending: true, ..query }, max_items).await?;
        items.into_iter().rev().map(entry_from_item).collect()
    }
}
