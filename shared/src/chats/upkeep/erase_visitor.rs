//! Erases a visitor on request (GDPR): the visitor, the visitor's chats with their timelines, files and panels, the
//! reference to the visitor's last call, and the visitor number.

use std::time::Duration;

use futures_util::future::{BoxFuture, try_join_all};

use crate::domain::chats::chat_state::ChatState;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::chats::expiry::erasure::{ErasureProgress, VisitorKey};

/// An upper limit for the duration of a request. An erasure is recorded with the latest time at which its request can
/// end, so that the recorded time is not earlier than the erasure itself.
const MAX_REQUEST_DURATION: Duration = Duration::from_secs(30);

/// What one request has erased. Earlier requests of the same erasure are not included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErasureReport {
    pub chats: u64,
    /// The number of deleted timeline entries and panels.
    pub entries: u64,
    /// The number of deleted files and previews.
    pub files: u64,
    /// False if the time ran out. To continue the erasure, call the function again for the same visitor number.
    pub is_complete: bool,
}

/// A function that returns false when the time budget of the request is used up.
type HasTime<'a> = &'a (dyn Fn() -> bool + Sync);

/// A function that deletes a file of the account from the bucket.
type DeleteFile<'a> = &'a (dyn Fn(String) -> BoxFuture<'a, Result<(), Error>> + Sync);

struct Erasure<'a> {
    chats: &'a Chats,
    delete_file: DeleteFile<'a>,
    account_id: &'a str,
    number: u64,
    /// The latest time at which the request can end; see [`MAX_REQUEST_DURATION`].
    erased_at: Timestamp,
    has_time: HasTime<'a>,
    erased: ErasureReport,
    /// Whether the visitor's item no longer has to be deleted, because it has been deleted or now belongs to another
    /// visitor.
    is_visitor_handled: bool,
}

/// Erases a visitor in an order that allows an interrupted erasure to be resumed. The visitor's item is deleted first,
/// so that a new message creates a new visitor with another number. The chats follow, and the visitor number is deleted
/// last.
///
/// Fails with [`Error::NotFound`] if there is no data for the visitor number.
pub async fn erase_visitor<'a>(
    (chats, delete_file): (&'a Chats, DeleteFile<'a>),
    (account_id, number): (&'a str, u64),
    now: Timestamp,
    has_time: HasTime<'a>,
) -> Result<ErasureReport, Error> {
    let visitor_key = chats.visitor_key_of_number(account_id, number).await?;
    let progress = chats.erasure_progress(account_id, number).await?;
    let visitor_exists = visitor_key.is_some() || progress.is_some();
    let mut progress = progress.unwrap_or_default();
    let (erased_at, erased) = (now.plus(MAX_REQUEST_DURATION), ErasureReport::default());
    let is_visitor_handled = visitor_key.is_some();
    let mut erasure =
        Erasure { chats, delete_file, account_id, number, erased_at, has_time, erased, is_visitor_handled };
    if let Some(key) = visitor_key
        && !erasure.erase_visitor_item(key).await?
    {
        return Ok(erasure.erased);
    }
    if !erasure.erase_listed_chats(&mut progress).await? {
        chats.save_erasure_progress(account_id, number, progress).await?;
        return Ok(erasure.erased);
    }
    if !visitor_exists && erasure.erased.chats == 0 {
        return Err(Error::NotFound);
    }
    chats.finish_erasure(account_id, number).await?;
    Ok(ErasureReport { is_complete: true, ..erasure.erased })
}

impl Erasure<'_> {
    /// Erases the visitor's item, the reference to the last call, and the visitor's open chat. The open chat is erased
    /// here because the `listing` index is updated with a delay and may not contain the chat yet. Returns false if the
    /// time ran out.
    async fn erase_visitor_item(&mut self, key: VisitorKey) -> Result<bool, Error> {
        self.is_visitor_handled = true;
        let Some(visitor) = self.chats.delete_visitor(key, self.number).await? else { return Ok(true) };
        self.chats.forget_last_call(&visitor.channel_id, &visitor.external_id).await?;
        match visitor.open_chat {
            Some(open_chat) => Box::pin(self.erase_chat(open_chat)).await,
            None => Ok(true),
        }
    }

    /// Erases the visitor's chats that the `listing` index contains, starting at `progress`. If the time runs out,
    /// returns false, and `progress` then tells where to continue.
    async fn erase_listed_chats(&mut self, progress: &mut ErasureProgress) -> Result<bool, Error> {
        while let Some(state) = ChatState::NAMES.get(progress.state_index) {
            let visitor = (self.account_id, self.number);
            let page = self.chats.listed_chats_of_visitor(visitor, state, progress.chat_id).await?;
            for chat_id in page.chat_ids {
                if !self.erase_chat(chat_id).await? {
                    return Ok(false);
                }
                progress.chat_id = chat_id;
            }
            *progress = match page.next {
                Some(chat_id) => ErasureProgress { chat_id, ..*progress },
                None => ErasureProgress { state_index: progress.state_index + 1, chat_id: 0 },
            };
            if page.next.is_some() && !(self.has_time)() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Erases a chat. First, the chat is closed and marked, so that nothing is added to it. Then its items are deleted,
    /// and the erasure is recorded in the `due` index, where `GET /agent/changes` finds it. The header is deleted last,
    /// because an interrupted erasure finds the other items through the header. Returns false if the time ran out.
    async fn erase_chat(&mut self, chat_id: u64) -> Result<bool, Error> {
        let closed = self.chats.close_for_erasure(self.account_id, chat_id, self.erased_at).await?;
        // If there is no chat, it has already been erased, but the `listing` index still contains it.
        let Some(closed) = closed else { return Ok(true) };
        self.chats.free_slot_of_erased_chat(&closed).await?;
        if !self.is_visitor_handled && !self.erase_visitor_item(VisitorKey::of_chat(&closed)).await? {
            return Ok(false);
        }
        loop {
            if !(self.has_time)() {
                return Ok(false);
            }
            let entries = self.chats.entries_to_erase(self.account_id, chat_id).await?;
            // Before the entries: an interrupted erasure finds the files through them.
            let file_ids = entries.file_ids();
            self.erased.files += file_ids.len() as u64;
            try_join_all(file_ids.into_iter().map(self.delete_file)).await?;
            match self.chats.delete_entries(self.account_id, &entries).await? {
                Some(deleted) => self.erased.entries += deleted,
                None => break,
            }
        }
        self.chats.record_erased_chat(self.account_id, chat_id, self.erased_at).await?;
        // If this is the visitor's open chat, `erase_visitor_item` has already deleted the header and counted the chat.
        if self.chats.delete_header(self.account_id, chat_id).await? {
            self.erased.chats += 1;
        }
        Ok(true)
    }
}
