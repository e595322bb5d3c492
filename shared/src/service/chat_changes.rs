//! Finds the chats that have changed since an agent's console last asked.
//! [`chat_changes`](crate::domain::chats::chat_changes) explains how a console follows the changes.

use std::collections::BTreeMap;

use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_changes::{ChangesCursor, PassPosition};
use crate::domain::chats::chat_state::ChatState;
use crate::error::Error;
use crate::service::chat_access::ChatAccess;
use crate::store::chats::listing::chat_listing::MAX_HEADERS_PER_READ;

/// A page ends after the batch with which at least this number of headers have been read for it.
const MAX_HEADERS_PER_REQUEST: usize = 500;
/// A page ends after the batch with which it contains at least this number of chats.
const MIN_CHATS_PER_FULL_PAGE: usize = 100;

pub struct ChangesPage {
    /// The changed chats that the agent can see.
    pub chats: Vec<Chat>,
    /// The numbers of the changed chats that the agent cannot see, or that no longer exist.
    pub gone: Vec<u64>,
    pub cursor: ChangesCursor,
    /// Whether this page ends the pass, so that `cursor` starts a new one. The console then knows all changes that were
    /// visible when this pass began.
    pub is_complete: bool,
}

/// Collects the chats of a page. In `chats`, `None` means that the agent cannot see the chat or that it no longer
/// exists. If a chat is found twice, the later result replaces the earlier one.
struct FoundChats<'a> {
    access: &'a ChatAccess<'a>,
    chats: BTreeMap<u64, Option<Chat>>,
    headers_read: usize,
}

/// Reads a page of the changes after the cursor.
///
/// The headers must be read, because messages do not change any index. A page reads fewer than 600 headers. For an
/// agent without the admin role, a page also reads the channels of the changed chats and the roster, which are cached.
pub async fn read_page(access: &ChatAccess<'_>, cursor: ChangesCursor) -> Result<ChangesPage, Error> {
    let (account_id, since) = (&access.session.account_id, cursor.changed_since());
    let pass = cursor.pass_at(access.now);
    let mut found = FoundChats { access, chats: BTreeMap::new(), headers_read: 0 };
    let mut next = Some(pass.position);
    if let PassPosition::OpenChats(before) = pass.position {
        let mut listing = access.chats.listing(account_id, &ChatState::OPEN_NAMES, before);
        while let Some(PassPosition::OpenChats(_)) = next
            && !found.is_full()
        {
            let page = listing.next_unfiltered(MAX_HEADERS_PER_READ).await?;
            next = Some(page.next.map_or(PassPosition::ClosedChats(None), |id| PassPosition::OpenChats(Some(id))));
            found.headers_read += page.chats.len();
            found.add(page.chats.into_iter().filter(|chat| chat.changed_at() >= since).collect()).await?;
        }
    }
    while let Some(PassPosition::ClosedChats(after)) = next
        && !found.is_full()
    {
        let page = access.chats.closed_chats(account_id, since, after).await?;
        next = page.next.map(|last| PassPosition::ClosedChats(Some(last)));
        found.headers_read += page.closed.len();
        found.add(page.closed).await?;
        found.chats.extend(page.erased.into_iter().map(|chat_id| (chat_id, None)));
    }
    let (mut chats, mut gone) = (Vec::new(), Vec::new());
    for (chat_id, chat) in found.chats {
        match chat {
            Some(chat) => chats.push(chat),
            None => gone.push(chat_id),
        }
    }
    Ok(ChangesPage { chats, gone, cursor: cursor.after_page(&pass, next), is_complete: next.is_none() })
}

impl FoundChats<'_> {
    fn is_full(&self) -> bool {
        self.chats.len() >= MIN_CHATS_PER_FULL_PAGE || self.headers_read >= MAX_HEADERS_PER_REQUEST
    }

    async fn add(&mut self, changed: Vec<Chat>) -> Result<(), Error> {
        self.chats.extend(changed.iter().map(|chat| (chat.chat_id, None)));
        let visible = self.access.visible_chats(changed).await?;
        self.chats.extend(visible.into_iter().map(|chat| (chat.chat_id, Some(chat))));
        Ok(())
    }
}
