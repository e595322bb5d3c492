//! The end of a timeline, as much of it as somebody can carry.

use crate::domain::entry::Entry;
use crate::error::Error;
use crate::store::chats::{Chats, chat_pk, entry};
use crate::store::table::{Query, s};

/// Entries read at once, and how often: an entry may be large for the tries that it remembers.
const PAGE_ITEMS: i32 = 1_000;
const MAX_TRANSCRIPT_PAGES: usize = 20;

/// What may be read of a timeline.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Entries.
    pub entries: usize,
    /// What they may weigh together, as `weigh` says.
    pub weight: usize,
    /// What an entry weighs.
    pub weigh: fn(&Entry) -> usize,
}

impl Chats {
    /// The last entries of a chat within the limits, oldest first. Read from the end, so that what does not count is not read:
    /// a query for each megabyte.
    pub async fn last_entries(&self, account_id: &str, chat_id: u64, limits: Limits) -> Result<Vec<Entry>, Error> {
        let query = Query {
            index: None,
            condition: "#pk = :chat AND #sk BETWEEN :first AND :last",
            values: vec![
                (":chat", s(chat_pk(account_id, chat_id))),
                (":first", s("0000000001")),
                (":last", s("9999999999")),
            ],
            limit: PAGE_ITEMS,
            descending: true,
        };
        let (mut last, mut weight, mut after) = (Vec::new(), 0, None);
        'pages: for _ in 0..MAX_TRANSCRIPT_PAGES {
            let page = self.table.page(query.clone(), "", after).await?;
            for item in page.items {
                let entry = entry(item)?;
                weight += (limits.weigh)(&entry);
                if weight > limits.weight || last.len() >= limits.entries {
                    break 'pages;
                }
                last.push(entry);
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        last.reverse();
        Ok(last)
    }
}
