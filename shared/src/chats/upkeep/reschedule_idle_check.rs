//! Schedules the next idle check of a chat that is not idle.

use crate::chats::upkeep::apply_retention::update_entries_expiry;
use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::chats::chat::Chat;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::chats::delivery::due_index::OverdueItem;

/// Schedules the next idle check, and applies the account's current retention period to the whole chat, including
/// earlier entries. If an entry is added in the meantime, the timeline is read twice.
pub async fn reschedule_idle_check(
    chats: &Chats,
    due_item: &OverdueItem,
    chat: &Chat,
    settings: &AccountSettings,
    now: Timestamp,
) -> Result<(), Error> {
    let retention_days = settings.retention_days;
    let has_changed = chat.retention_days != retention_days;
    if has_changed {
        update_entries_expiry(chats, &Chat { retention_days, ..chat.clone() }, now).await?;
    }
    let timer = chat.timer_due_at().filter(|due_at| *due_at > now);
    let next = settings.next_idle_check(chat.idle_since(), now);
    let next = timer.map_or(next, |due_at| due_at.min(next));
    match chats.set_next_idle_check(due_item, next, retention_days).await? {
        // If entries have been added, update the entries again: a concurrent write may have used the old retention
        // period.
        Some(after) if has_changed && after.seq != chat.seq => update_entries_expiry(chats, &after, now).await,
        _ => Ok(()),
    }
}
