//! Applies a changed retention period to existing chats. Open chats get the new period at their next idle check (the
//! scheduled search for open chats without recent activity). Closed chats get it from a retention pass, which reads all
//! of the account's closed chats, newest first.

use std::collections::BTreeMap;

use futures_util::future::try_join_all;

use crate::domain::chats::chat::Chat;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::chats::expiry::retention_passes::RetentionPass;
use crate::store::chats::listing::chat_listing::MAX_HEADERS_PER_READ;

const MAX_CONCURRENT_CHAT_UPDATES: usize = 10;

/// Continues a pass while `has_time` returns true. For every closed chat that has not expired, the pass sets the expiry
/// of the chat and of its entries, panel and visitor according to `retention_days`.
pub async fn apply_retention(
    chats: &Chats,
    pass: &RetentionPass,
    retention_days: Option<u32>,
    has_time: &(dyn Fn() -> bool + Sync),
    now: Timestamp,
) -> Result<(), Error> {
    let mut before_chat_id = pass.before_chat_id;
    loop {
        let page =
            chats.listing(&pass.account_id, &["closed"], Some(before_chat_id)).next(MAX_HEADERS_PER_READ).await?;
        for closed in page.chats.chunks(MAX_CONCURRENT_CHAT_UPDATES) {
            if !has_time() {
                return chats.save_progress(pass, before_chat_id, now).await;
            }
            if let Err(error) = update_expiries(chats, closed, retention_days, now).await {
                chats.save_progress(pass, before_chat_id, now).await?;
                return Err(error);
            }
            before_chat_id = closed.last().map_or(before_chat_id, |chat| chat.chat_id);
        }
        let Some(next) = page.next else { return chats.finish_pass(pass).await };
        before_chat_id = next;
        chats.save_progress(pass, before_chat_id, now).await?;
    }
}

/// Updates the expiry of closed chats and their visitors. Expired chats stay expired. Each visitor is updated only
/// once, because concurrent updates of one item would conflict.
async fn update_expiries(
    chats: &Chats,
    closed: &[Chat],
    retention_days: Option<u32>,
    now: Timestamp,
) -> Result<(), Error> {
    let retained = closed.iter().filter(|chat| !chat.is_expired(now));
    let retained: Vec<_> = retained.map(|chat| Chat { retention_days, ..chat.clone() }).collect();
    try_join_all(retained.iter().map(|chat| update_chat_expiry(chats, chat, now))).await?;
    let mut last_closed_chats: BTreeMap<u64, &Chat> = BTreeMap::new();
    for chat in &retained {
        let last = last_closed_chats.entry(chat.visitor_number).or_insert(chat);
        if chat.updated_at > last.updated_at {
            *last = chat;
        }
    }
    try_join_all(last_closed_chats.into_values().map(|chat| chats.update_visitor_expiry(chat, now))).await.map(|_| ())
}

async fn update_chat_expiry(chats: &Chats, chat: &Chat, now: Timestamp) -> Result<(), Error> {
    update_entries_expiry(chats, chat, now).await?;
    chats.set_chat_expiry(chat).await
}

/// Sets the expiry of every entry according to the chat's retention period. Expired entries stay expired.
pub(crate) async fn update_entries_expiry(chats: &Chats, chat: &Chat, now: Timestamp) -> Result<(), Error> {
    for entry in chats.whole_timeline(&chat.account_id, chat.chat_id, usize::MAX).await? {
        let retain_until = chat.retain_until(entry.at).map(Timestamp::seconds);
        if retain_until != entry.retain_until.map(Timestamp::seconds) && !entry.is_expired(now) {
            chats.set_entry_expiry(&entry, retain_until).await?;
        }
    }
    Ok(())
}
