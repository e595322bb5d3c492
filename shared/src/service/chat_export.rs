//! Exports chats with their timelines, page by page.

use std::time::{Duration, Instant};

use futures_util::future::try_join_all;

use crate::domain::accounts::audit::{AuditAction, AuditedChange, AuditedKind};
use crate::domain::accounts::inbox_settings::InboxSettings;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_changes::ClosedChat;
use crate::domain::chats::chat_export::{ExportCursor, ExportPage, ExportScope, ExportedChat};
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::http::Request;
use crate::service::audit;
use crate::store::chats::Chats;
use crate::store::connections::sessions::Session;
use crate::store::directory::Directory;
use crate::wire::admin::chat_export::{ChatExportQuery, entry_bytes};

const MAX_PAGE_ENTRIES: usize = 500;
/// The size in bytes at which a page ends. The response of a Lambda function is limited to 6 MB.
const MAX_PAGE_BYTES: usize = 1_000_000;
const ENTRIES_PER_QUERY: i32 = 100;
/// A page of closed chats ends after the batch with which at least this number of chats have been examined for it.
const MAX_EXAMINED_CHATS: usize = 500;
/// The number of chats whose first entries are read concurrently.
const CONCURRENT_CHATS: usize = 8;
/// The time after which a page of closed chats ends. The function has a longer timeout, so it can still respond.
const PAGE_TIME_BUDGET: Duration = Duration::from_secs(4);

/// Returns the page that an admin requests, with the tags of its chats, and whether it is the first page of its export.
/// Records the export in the audit log; the pages of an export have one entry a minute.
pub async fn exported_page(
    directory: &Directory,
    chats: &Chats,
    caller: &Session,
    request: &Request,
    now: Timestamp,
) -> Result<(ExportPage, InboxSettings, bool), Error> {
    let (scope, cursor) = request.query_as::<ChatExportQuery>()?.checked()?;
    let exported = AuditedChange::unnamed(AuditAction::Exported, AuditedKind::Chats, scope.audited_id());
    audit::by_agent(directory, caller, request).record_once_a_minute(&caller.account_id, exported).await?;
    let export = ChatExport { account_id: &caller.account_id, chats, now };
    let page = export.page(&scope, cursor).await?;
    let has_tags = page.chats.iter().any(|exported| !exported.chat.tag_ids.is_empty());
    let inbox = if has_tags {
        directory.cached_settings(&caller.account_id).await?.inbox.clone()
    } else {
        InboxSettings::default()
    };
    Ok((page, inbox, cursor.is_none()))
}

struct ChatExport<'a> {
    account_id: &'a str,
    chats: &'a Chats,
    now: Timestamp,
}

struct PageBudget {
    entries: usize,
    bytes: usize,
}

impl PageBudget {
    fn is_spent(&self) -> bool {
        self.entries == 0 || self.bytes == 0
    }

    fn spend(&mut self, entry: &TimelineEntry) {
        self.entries = self.entries.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(entry_bytes(entry));
    }
}

impl ChatExport<'_> {
    /// Returns the page that starts after the cursor, or the first page if there is no cursor. Expired chats and
    /// entries are left out.
    ///
    /// # Errors
    /// Fails with `NotFound` if the scope is a single chat and this chat does not exist or has expired.
    async fn page(&self, scope: &ExportScope, cursor: Option<ExportCursor>) -> Result<ExportPage, Error> {
        let mut budget = PageBudget { entries: MAX_PAGE_ENTRIES, bytes: MAX_PAGE_BYTES };
        match scope {
            ExportScope::Chat(chat_id) => {
                let chat = self.chat(*chat_id).await?.ok_or(Error::NotFound)?;
                let after_seq = cursor.and_then(|cursor| cursor.after_seq).unwrap_or(0);
                let (entries, rest) = self.entries(&chat, after_seq, None, &mut budget).await?;
                let next = rest.map(|seq| ExportCursor { at: Timestamp(0), chat_id: *chat_id, after_seq: Some(seq) });
                Ok(ExportPage { chats: vec![ExportedChat { chat, entries }], next })
            }
            ExportScope::Closed { from, to, channel_id } => {
                self.closed_chats((*from, *to), channel_id.as_deref(), cursor, &mut budget).await
            }
        }
    }

    async fn closed_chats(
        &self,
        times: (Timestamp, Timestamp),
        channel_id: Option<&str>,
        cursor: Option<ExportCursor>,
        budget: &mut PageBudget,
    ) -> Result<ExportPage, Error> {
        let (mut chats, deadline) = (Vec::new(), Instant::now() + PAGE_TIME_BUDGET);
        if let Some(ExportCursor { at, chat_id, after_seq: Some(after_seq) }) = cursor
            && let Some(chat) = self.chat(chat_id).await?
        {
            let (entries, rest) = self.entries(&chat, after_seq, None, budget).await?;
            chats.push(ExportedChat { chat, entries });
            if rest.is_some() {
                return Ok(ExportPage { chats, next: Some(ExportCursor { at, chat_id, after_seq: rest }) });
            }
        }
        let mut after = cursor.map(|cursor| ClosedChat { at: cursor.at, chat_id: cursor.chat_id, is_erased: false });
        let mut examined = 0;
        loop {
            let page = self.chats.closed_chats_between(self.account_id, times, after).await?;
            examined += page.chats.len();
            let is_exported = |chat: &Chat| {
                !chat.is_expired(self.now) && channel_id.is_none_or(|channel_id| channel_id == chat.channel_id)
            };
            let exported: Vec<_> = page.chats.into_iter().filter(|(_, chat)| is_exported(chat)).collect();
            for group in exported.chunks(CONCURRENT_CHATS) {
                let first_entries = try_join_all(group.iter().map(|(_, chat)| self.next_entries(chat, 0))).await?;
                for ((place, chat), first_entries) in group.iter().zip(first_entries) {
                    let (entries, rest) = self.entries(chat, 0, Some(first_entries), budget).await?;
                    chats.push(ExportedChat { chat: chat.clone(), entries });
                    if rest.is_some() || budget.is_spent() || Instant::now() >= deadline {
                        let next = ExportCursor { at: place.at, chat_id: place.chat_id, after_seq: rest };
                        return Ok(ExportPage { chats, next: Some(next) });
                    }
                }
            }
            let Some(next) = page.next else { return Ok(ExportPage { chats, next: None }) };
            // A cursor cannot refer to an erased chat, so a page never ends with one.
            if examined >= MAX_EXAMINED_CHATS && !next.is_erased {
                let next = ExportCursor { at: next.at, chat_id: next.chat_id, after_seq: None };
                return Ok(ExportPage { chats, next: Some(next) });
            }
            after = Some(next);
        }
    }

    /// Returns `None` if the chat does not exist or has expired.
    async fn chat(&self, chat_id: u64) -> Result<Option<Chat>, Error> {
        let chat = self.chats.chat(self.account_id, chat_id).await?;
        Ok(chat.filter(|chat| !chat.is_expired(self.now)))
    }

    /// Reads the entries of a chat that fit into the page. `first_entries` are the next entries, if they have been read
    /// already. If further entries may follow, also returns the entry number after which they start.
    async fn entries(
        &self,
        chat: &Chat,
        after_seq: u64,
        mut first_entries: Option<Vec<TimelineEntry>>,
        budget: &mut PageBudget,
    ) -> Result<(Vec<TimelineEntry>, Option<u64>), Error> {
        let (mut entries, mut after_seq) = (Vec::new(), after_seq);
        while after_seq < chat.seq {
            if budget.is_spent() {
                return Ok((entries, Some(after_seq)));
            }
            let read = match first_entries.take() {
                Some(first_entries) => first_entries,
                None => self.next_entries(chat, after_seq).await?,
            };
            if read.is_empty() {
                break;
            }
            for entry in read {
                if budget.is_spent() {
                    return Ok((entries, Some(after_seq)));
                }
                after_seq = entry.seq;
                if !entry.is_expired(self.now) {
                    budget.spend(&entry);
                    entries.push(entry);
                }
            }
        }
        Ok((entries, None))
    }

    async fn next_entries(&self, chat: &Chat, after_seq: u64) -> Result<Vec<TimelineEntry>, Error> {
        self.chats.timeline(self.account_id, chat.chat_id, after_seq, ENTRIES_PER_QUERY).await
    }
}
