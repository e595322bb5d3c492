//! Computes the activity of a bot in the last hour. The numbers are read from the timelines when an admin asks for
//! them, because a counter would cost one more write for every event.

use std::time::Duration;

use futures_util::future::try_join_all;

use crate::domain::bots::bot::Bot;
use crate::domain::bots::bot_activity::BotActivity;
use crate::domain::chats::chat::Chat;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::chats::listing::chat_listing::MAX_HEADERS_PER_READ;
use crate::store::chats::listing::transcript::TranscriptLimits;

const PERIOD: Duration = Duration::from_secs(60 * 60);
/// The maximum number of pages to read from each of two lists: the account's open chats and its closed chats. A page
/// has at most 100 chats.
const MAX_CHAT_PAGES: usize = 5;
const MAX_TIMELINES: usize = 200;
const MAX_CONCURRENT_TIMELINES: usize = 20;
/// How many of the newest entries are read from each timeline.
const MAX_ENTRIES_PER_CHAT: usize = 100;

/// Returns the activity of a bot. Reads the account's open chats, and the chats that were closed in the last hour, in
/// at most five pages of up to 100 chats for each of the two lists.
pub async fn bot_activity(chats: &Chats, bot: &Bot, now: Timestamp) -> Result<BotActivity, Error> {
    let mut activity = BotActivity::new(now.minus(PERIOD));
    let open = open_chats(chats, &bot.account_id, &mut activity).await?;
    let closed = closed_chats(chats, &bot.account_id, &mut activity, now).await?;
    let is_recent = |chat: &Chat| chat.bot_id.as_ref() == Some(&bot.bot_id) && chat.updated_at >= activity.since;
    let mut recent: Vec<Chat> = open.into_iter().chain(closed).filter(is_recent).collect();
    recent.sort_by_key(|chat| std::cmp::Reverse(chat.chat_id));
    recent.dedup_by_key(|chat| chat.chat_id);
    activity.is_complete &= recent.len() <= MAX_TIMELINES;
    recent.truncate(MAX_TIMELINES);
    for chunk in recent.chunks(MAX_CONCURRENT_TIMELINES) {
        let timelines = chunk.iter().map(|chat| {
            let limits =
                TranscriptLimits { max_entries: MAX_ENTRIES_PER_CHAT, max_bytes: usize::MAX, entry_bytes: |_| 0 };
            chats.last_entries(&chat.account_id, chat.chat_id, limits)
        });
        for (chat, entries) in chunk.iter().zip(try_join_all(timelines).await?) {
            activity.add_chat(chat);
            activity.add_answers(&entries, |entry| chat.bot_of_entry(entry.seq) == Some(bot.bot_id.as_str()));
            entries.iter().for_each(|entry| activity.add_entry(entry, now));
            let has_older = entries.len() == MAX_ENTRIES_PER_CHAT;
            activity.is_complete &= !has_older || entries.first().is_none_or(|entry| entry.at < activity.since);
        }
    }
    Ok(activity)
}

async fn open_chats(chats: &Chats, account_id: &str, activity: &mut BotActivity) -> Result<Vec<Chat>, Error> {
    let mut listing = chats.listing(account_id, &["bot", "waiting", "active"], None);
    let mut found = Vec::new();
    for _ in 0..MAX_CHAT_PAGES {
        let page = listing.next(MAX_HEADERS_PER_READ).await?;
        found.extend(page.chats);
        if page.next.is_none() {
            return Ok(found);
        }
    }
    activity.is_complete = false;
    Ok(found)
}

async fn closed_chats(
    chats: &Chats,
    account_id: &str,
    activity: &mut BotActivity,
    now: Timestamp,
) -> Result<Vec<Chat>, Error> {
    let (mut found, mut after) = (Vec::new(), None);
    for _ in 0..MAX_CHAT_PAGES {
        let page = chats.closed_chats_between(account_id, (activity.since, now), after).await?;
        found.extend(page.chats.into_iter().map(|(_, chat)| chat));
        after = page.next;
        if after.is_none() {
            return Ok(found);
        }
    }
    activity.is_complete = false;
    Ok(found)
}
