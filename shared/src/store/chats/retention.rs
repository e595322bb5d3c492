//! A retention that an account changes. Open chats get it when somebody looks whether they rest (see `idle`). Then a pass
//! over all chats that have ended gives it to these; an item in the index of what is due says how far the pass is.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::try_join_all;
use serde::Deserialize;

use crate::domain::chat::Chat;
use crate::domain::timestamp::Timestamp;
use crate::error::{Context, Error};
use crate::store::chats::listing::MAX_HEADERS_PER_READ;
use crate::store::chats::transitions::{Kept, expiry, number_end};
use crate::store::chats::{ABOVE_ALL, Chats, entry_key, head_key, panel_key, visitor_key};
use crate::store::table::{EXISTS, ItemUpdate, Key, Refused, Write, n, s};
use crate::store::{MAX_RACE_ATTEMPTS, from_item, to_attribute};

/// A pass begins when every open chat has been looked at, which takes an hour, so that what ends from then on ends by the
/// new retention.
const OPEN_CHAT_GRACE: Duration = Duration::from_secs(70 * 60);
/// Ended chats that are seen to at once.
const MAX_CONCURRENT_WRITES: usize = 10;
/// Passes that are found at once.
const MAX_PASSES_PER_RUN: i32 = 100;
/// The partition of the index of what is due that holds them.
const DUE: &str = "retention";

/// A pass over the ended chats of an account, newest first.
#[derive(Deserialize, Clone, Debug)]
pub struct Pass {
    /// Whose chats.
    pub account_id: String,
    /// When the retention was changed, in milliseconds: tells this pass from the one before.
    began: u64,
    /// Chats from this number on have been seen to.
    before: u64,
    due_at: u64,
}

/// What a pass needs to know of a visitor.
#[derive(Deserialize)]
struct Seen {
    number: u64,
    #[serde(default)]
    open_chat: Option<u64>,
    #[serde(default)]
    expires_at: Option<u64>,
    #[serde(default)]
    last_end: Option<u64>,
}

fn key(account_id: &str) -> Key {
    Key::new(format!("RETENTION#{account_id}"), "RETENTION")
}

impl Chats {
    /// Plans a pass over the account's ended chats; one that is under way ends. One write.
    pub async fn plan_retention(&self, account_id: &str, now: Timestamp) -> Result<(), Error> {
        let change = ItemUpdate {
            key: key(account_id),
            update: "SET #account_id = :account, #began = :now, #before = :above_all, #due = :due, #due_at = :due_at",
            condition: "",
            values: vec![
                (":account", s(account_id)),
                (":now", n(now.0)),
                (":above_all", n(ABOVE_ALL)),
                (":due", s(DUE)),
                (":due_at", n(now.after(OPEN_CHAT_GRACE).0)),
            ],
        };
        Ok(self.table.update(change).await.map(|_| ())?)
    }

    /// The passes that are to go on, when every open chat has been checked that was to be checked before `checked`. One query,
    /// and a read for each.
    pub async fn passes(&self, checked: Timestamp, now: Timestamp) -> Result<Vec<Pass>, Error> {
        let mut passes = Vec::new();
        for found in self.due_before(DUE.to_owned(), now, None, MAX_PASSES_PER_RUN).await?.items {
            passes.extend(self.table.get(found.key).await?.map(from_item::<Pass>).transpose()?);
        }
        // The index lags, and a new plan is not due yet.
        passes.retain(|pass| pass.due_at < now.0 && Timestamp(pass.began).after(OPEN_CHAT_GRACE) <= checked);
        Ok(passes)
    }

    /// Goes on with a pass as long as there is time: every ended chat, with all that belongs to it, is kept for that many
    /// days from now on. A query and two writes a chat, a write for each of its entries whose end changes, and for its
    /// visitor a read and a transaction.
    pub async fn keep_ended(
        &self,
        pass: &Pass,
        keep_days: Option<u32>,
        has_time: &(dyn Fn() -> bool + Sync),
        now: Timestamp,
    ) -> Result<(), Error> {
        let mut before = pass.before;
        loop {
            let page = self.listing(&pass.account_id, &["closed"], Some(before)).next(MAX_HEADERS_PER_READ).await?;
            for chats in page.chats.chunks(MAX_CONCURRENT_WRITES) {
                if !has_time() {
                    return self.note(pass, before, now).await;
                }
                if let Err(error) = self.keep_chats(chats, keep_days, now).await {
                    self.note(pass, before, now).await?;
                    return Err(error);
                }
                before = chats.last().map_or(before, |chat| chat.chat_id);
            }
            let Some(next) = page.next else { return self.finish(pass).await };
            before = next;
            self.note(pass, before, now).await?;
        }
    }

    /// Notes how far a pass is. The others come first then.
    async fn note(&self, pass: &Pass, before: u64, now: Timestamp) -> Result<(), Error> {
        let change = ItemUpdate {
            key: key(&pass.account_id),
            update: "SET #before = :before, #due_at = :now",
            condition: "#began = :began",
            values: vec![(":before", n(before)), (":now", n(now.0)), (":began", n(pass.began))],
        };
        self.table.update_if(change).await
    }

    async fn finish(&self, pass: &Pass) -> Result<(), Error> {
        let values = vec![(":began", n(pass.began))];
        self.table.delete_if(key(&pass.account_id), "#began = :began", values).await.map(|_| ())
    }

    /// What is forgotten already stays so. Each visitor once, lest their chats get in each other's way.
    async fn keep_chats(&self, chats: &[Chat], keep_days: Option<u32>, now: Timestamp) -> Result<(), Error> {
        let living = chats.iter().filter(|chat| !chat.is_expired(now));
        let kept: Vec<_> = living.map(|chat| Chat { keep_days, ..chat.clone() }).collect();
        try_join_all(kept.iter().map(|chat| self.keep_chat(chat, now))).await?;
        let mut last_ends: BTreeMap<u64, &Chat> = BTreeMap::new();
        for chat in &kept {
            let last = last_ends.entry(chat.visitor_number).or_insert(chat);
            if chat.updated_at > last.updated_at {
                *last = chat;
            }
        }
        try_join_all(last_ends.into_values().map(|chat| self.keep_visitor(chat, now))).await.map(|_| ())
    }

    async fn keep_chat(&self, chat: &Chat, now: Timestamp) -> Result<(), Error> {
        self.keep_entries(chat, now).await?;
        let panel = ItemUpdate {
            key: panel_key(&chat.account_id, chat.chat_id),
            update: "SET #expires_at = :expires_at",
            condition: EXISTS,
            values: vec![(":expires_at", expiry(chat))],
        };
        let head = ItemUpdate {
            key: head_key(&chat.account_id, chat.chat_id),
            update: "SET #keep_days = :keep_days, #expires_at = :expires_at",
            condition: EXISTS,
            values: vec![(":keep_days", to_attribute(&chat.keep_days)?), (":expires_at", expiry(chat))],
        };
        self.table.update_if(panel).await?;
        self.table.update_if(head).await
    }

    /// Gives every entry the end that the chat's retention says.
    pub(in crate::store) async fn keep_entries(&self, chat: &Chat, now: Timestamp) -> Result<(), Error> {
        for entry in self.whole_timeline(&chat.account_id, chat.chat_id, usize::MAX).await? {
            let keep_until = chat.keep_until(entry.at).map(Timestamp::seconds);
            if keep_until == entry.keep_until.map(Timestamp::seconds) || entry.is_expired(now) {
                continue;
            }
            let key = entry_key(&chat.account_id, chat.chat_id, entry.seq);
            let (update, values) = match keep_until {
                Some(until) => ("SET #expires_at = :expires_at", vec![(":expires_at", n(until))]),
                None => ("REMOVE #expires_at", vec![]),
            };
            self.table.update_if(ItemUpdate { key, update, condition: EXISTS, values }).await?;
        }
        Ok(())
    }

    /// A visitor is kept as long as the ended chat of theirs that is kept longest: by the new retention, the last one.
    async fn keep_visitor(&self, ended: &Chat, now: Timestamp) -> Result<(), Error> {
        let key = visitor_key(&ended.channel_id, &ended.external_id);
        for _ in 0..MAX_RACE_ATTEMPTS {
            let Some(item) = self.table.get(key.clone()).await? else { return Ok(()) };
            let seen: Seen = from_item(item)?;
            let is_expired = seen.open_chat.is_none() && seen.expires_at.is_some_and(|end| end <= now.seconds());
            if seen.number != ended.visitor_number || is_expired {
                return Ok(());
            }
            let last_end = seen.last_end.map_or(ended.updated_at, |last| ended.updated_at.max(Timestamp(last)));
            let last = Chat { updated_at: last_end, ..ended.clone() };
            match self.table.transact(kept_visitor(&seen, &last)).await {
                Ok(()) => return Ok(()),
                Err(Refused::Error(error)) => return Err(error),
                Err(Refused::Condition { .. } | Refused::Contended) => {}
            }
        }
        Err(Error::Unavailable(Context::new("the retention of a visitor lost every race")))
    }
}

/// The end of a visitor and of their number, as long as no chat of theirs begins or ends meanwhile. While one is open it is
/// only remembered.
fn kept_visitor(seen: &Seen, last: &Chat) -> Vec<Write> {
    let kept = Kept::by(last);
    let mut values =
        vec![(":kept_until", kept.until().clone()), (":last_end", n(last.updated_at.0)), (":number", n(seen.number))];
    values.extend(seen.last_end.map(|last_end| (":seen", n(last_end))));
    let is_open = seen.open_chat.is_some();
    let condition = match (is_open, seen.last_end.is_some()) {
        (true, true) => "#number = :number AND attribute_exists(#open_chat) AND #last_end = :seen",
        (true, false) => "#number = :number AND attribute_exists(#open_chat) AND attribute_not_exists(#last_end)",
        (false, true) => "#number = :number AND attribute_not_exists(#open_chat) AND #last_end = :seen",
        (false, false) => "#number = :number AND attribute_not_exists(#open_chat) AND attribute_not_exists(#last_end)",
    };
    let update = if is_open {
        "SET #kept_until = :kept_until, #last_end = :last_end"
    } else {
        "SET #expires_at = :kept_until, #kept_until = :kept_until, #last_end = :last_end"
    };
    let visitor = ItemUpdate { key: visitor_key(&last.channel_id, &last.external_id), update, condition, values };
    let number = (!is_open).then(|| number_end(last, &kept));
    [Write::ItemUpdate(visitor)].into_iter().chain(number).collect()
}
