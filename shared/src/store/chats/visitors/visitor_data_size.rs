//! Counts what an erasure of a visitor would delete.

use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::store::chats::Chats;

/// The maximum number of pages to count. A page has ten chats.
const MAX_CHAT_PAGES: usize = 20;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VisitorDataSize {
    pub chats: u64,
    /// The number of timeline entries in the counted chats. It can be too large, because entry numbers can be skipped.
    pub entries: u64,
    /// False if the visitor has more than 200 chats.
    pub is_complete: bool,
}

impl Chats {
    /// Counts a visitor's chats and their entries. The visitor's item contains the numbers of the last ten chats, and
    /// each chat's header contains those of the ten chats before it, so no index is needed.
    pub async fn visitor_data_size(&self, visitor: &Visitor) -> Result<VisitorDataSize, Error> {
        let (mut size, mut chat_ids) = (VisitorDataSize::default(), visitor.recent_chats.clone());
        for _ in 0..MAX_CHAT_PAGES {
            let chats = self.chats_by_id(&visitor.account_id, &chat_ids).await?;
            size.chats += chats.len() as u64;
            size.entries += chats.iter().map(|chat| chat.seq).sum::<u64>();
            chat_ids = chats.into_iter().next_back().map(|chat| chat.previous_chats).unwrap_or_default();
            if chat_ids.is_empty() {
                return Ok(VisitorDataSize { is_complete: true, ..size });
            }
        }
        Ok(size)
    }
}
