//! A retention that an account changes. Open chats get it when somebody looks whether they rest (see `idle`). Then a pass
//! over all chats that have ended gives it to these; an item in the index of what is due says how far the pass is.

use std::time::Duration;

use futures_util::future::try_join_all;
use serde::Deserialize;

use super::chats::{Chats, entry_key, head_key, panel_key, visitor_key};
use super::table::{Change, Key, Refused, Write, n, s};
use super::transitions::{Kept, expiry, number_end};
use super::{RACES, from_item, to_attribute};
use crate::domain::chat::Chat;
use crate::domain::timestamp::Timestamp;
use crate::error::{Context, Error};

/// A pass begins when every open chat has been looked at, which takes an hour, and so misses none that ends meanwhile.
const OPEN_CHATS_FIRST: Duration = Duration::from_secs(70 * 60);
/// Ended chats that are seen to at once.
const AT_ONCE: usize = 10;
/// Passes that are found at once.
const PASSES: i32 = 100;
/// The partition of the index of what is due that holds them.
const DUE: &str = "retention";
/// Above every chat's number.
const NEWEST: u64 = u32::MAX as u64;

/// A pass over the ended chats of an account, newest first.
#[derive(Deserialize, Clone, Debug)]
pub struct Pass {
    /// Whose chats.
    pub account_id: String,
    /// When the retention was changed, in milliseconds: tells this pass from the one before.
    began: u64,
    /// Chats from this number on have been seen to.
    before: u64,
}

fn key(account_id: &str) -> Key {
    Key::new(format!("RETENTION#{account_id}"), "RETENTION")
}

impl Chats {
    /// Plans a pass over the account's ended chats; one that is under way ends. One write.
    pub async fn plan_retention(&self, account_id: &str, now: Timestamp) -> Result<(), Error> {
        let change = Change {
            key: key(account_id),
            update: "SET #account_id = :account, #began = :now, #before = :newest, #due = :due, #due_at = :due_at",
            condition: "",
            values: vec![
                (":account", s(account_id)),
                (":now", n(now.0)),
                (":newest", n(NEWEST)),
                (":due", s(DUE)),
                (":due_at", n(now.after(OPEN_CHATS_FIRST).0)),
            ],
        };
        Ok(self.table.update(change).await.map(|_| ())?)
    }

    /// The passes that are to go on. One query, and a read for each.
    pub async fn passes(&self, now: Timestamp) -> Result<Vec<Pass>, Error> {
        let mut passes = Vec::new();
        for found in self.due_before(DUE.to_owned(), now, PASSES).await? {
            passes.extend(self.table.get(found.key).await?.map(from_item::<Pass>).transpose()?);
        }
        Ok(passes)
    }

    /// Goes on with a pass as long as there is time: every ended chat, with all that belongs to it, is kept for that many
    /// days from now on. A chat that has the retention already costs a write, any other one for each of its items more.
    pub async fn keep_ended(
        &self,
        pass: &Pass,
        keep_days: Option<u32>,
        has_time: &(dyn Fn() -> bool + Sync),
        now: Timestamp,
    ) -> Result<(), Error> {
        let mut before = pass.before;
        loop {
            let page = self.list_page(&pass.account_id, "closed", before).await?;
            for chats in page.chats.chunks(AT_ONCE) {
                if !has_time() {
                    return self.interrupt(pass, before, now).await;
                }
                try_join_all(chats.iter().map(|chat| self.keep_chat(chat, keep_days, pass))).await?;
                before = chats.iter().map(|chat| chat.chat_id).min().unwrap_or(before);
            }
            let Some(next) = page.next else { return self.finish(pass).await };
            before = next;
        }
    }

    async fn interrupt(&self, pass: &Pass, before: u64, now: Timestamp) -> Result<(), Error> {
        let change = Change {
            key: key(&pass.account_id),
            update: "SET #before = :before, #due_at = :now",
            condition: "#began = :began",
            values: vec![(":before", n(before)), (":now", n(now.0)), (":began", n(pass.began))],
        };
        self.if_there(change).await
    }

    async fn finish(&self, pass: &Pass) -> Result<(), Error> {
        let values = vec![(":began", n(pass.began))];
        self.table.delete_if(key(&pass.account_id), "#began = :began", values).await.map(|_| ())
    }

    /// The header comes last of what is the chat's own: who finds the retention there need not look at the rest.
    async fn keep_chat(&self, chat: &Chat, keep_days: Option<u32>, pass: &Pass) -> Result<(), Error> {
        let kept = Chat { keep_days, ..chat.clone() };
        if chat.keep_days != keep_days {
            self.keep_entries(&kept).await?;
            let panel = Change {
                key: panel_key(&chat.account_id, chat.chat_id),
                update: "SET #expires_at = :expires_at",
                condition: "attribute_exists(#pk)",
                values: vec![(":expires_at", expiry(&kept)?)],
            };
            let head = Change {
                key: head_key(&chat.account_id, chat.chat_id),
                update: "SET #keep_days = :keep_days, #expires_at = :expires_at",
                condition: "attribute_exists(#pk)",
                values: vec![(":keep_days", to_attribute(&keep_days)?), (":expires_at", expiry(&kept)?)],
            };
            self.if_there(panel).await?;
            self.if_there(head).await?;
        }
        self.keep_visitor(&kept, pass).await
    }

    /// Gives every entry the end that the chat's retention says.
    pub(super) async fn keep_entries(&self, chat: &Chat) -> Result<(), Error> {
        for entry in self.whole_timeline(&chat.account_id, chat.chat_id, usize::MAX).await? {
            let keep_until = chat.keep_until(entry.at).map(Timestamp::seconds);
            if keep_until == entry.keep_until.map(Timestamp::seconds) {
                continue;
            }
            let key = entry_key(&chat.account_id, chat.chat_id, entry.seq);
            let (update, values) = match keep_until {
                Some(until) => ("SET #expires_at = :expires_at", vec![(":expires_at", n(until))]),
                None => ("REMOVE #expires_at", vec![]),
            };
            self.if_there(Change { key, update, condition: "attribute_exists(#pk)", values }).await?;
        }
        Ok(())
    }

    /// A visitor is kept as long as the ended chat of theirs that is kept longest. The first of a pass forgets what the old
    /// retention said, the others only lengthen it. While a chat is open this is remembered for its end.
    async fn keep_visitor(&self, ended: &Chat, pass: &Pass) -> Result<(), Error> {
        let kept = Kept::by(ended);
        let change = |update, condition| Change {
            key: visitor_key(&ended.channel_id, &ended.external_id),
            update,
            condition,
            values: vec![
                (":kept_until", kept.until().clone()),
                (":pass", n(pass.began)),
                (":number", n(ended.visitor_number)),
            ],
        };
        for _ in 0..RACES {
            let writes = vec![Write::Change(change(KEEP_GONE, IF_GONE)), number_end(ended, &kept)];
            match self.table.transact(writes).await {
                Err(Refused::Condition { item: Some(item), .. }) if item.contains_key("open_chat") => {}
                Ok(()) | Err(Refused::Condition { .. }) => return Ok(()),
                Err(refused) => return Err(refused.into()),
            }
            match self.table.update(change(KEEP_OPEN, IF_OPEN)).await {
                Err(Refused::Condition { item: Some(item), .. }) if !item.contains_key("open_chat") => {}
                Ok(_) | Err(Refused::Condition { .. }) => return Ok(()),
                Err(refused) => return Err(refused.into()),
            }
        }
        Err(Error::Unavailable(Context::new("the retention of a visitor lost every race")))
    }

    /// Changes what is still as it was.
    async fn if_there(&self, change: Change) -> Result<(), Error> {
        match self.table.update(change).await {
            Ok(_) | Err(Refused::Condition { .. }) => Ok(()),
            Err(refused) => Err(refused.into()),
        }
    }
}

/// Where the visitor of that number is still, and this pass has not found a chat of theirs that is kept longer.
macro_rules! and_is_longest {
    ($own:literal) => {
        concat!(
            $own,
            " AND #number = :number",
            " AND (attribute_not_exists(#kept_by) OR #kept_by <> :pass OR #kept_until < :kept_until)"
        )
    };
}

const IF_GONE: &str = and_is_longest!("attribute_not_exists(#open_chat)");
const IF_OPEN: &str = and_is_longest!("attribute_exists(#open_chat)");

const KEEP_GONE: &str = "SET #expires_at = :kept_until, #kept_until = :kept_until, #kept_by = :pass";
const KEEP_OPEN: &str = "SET #kept_until = :kept_until, #kept_by = :pass";
