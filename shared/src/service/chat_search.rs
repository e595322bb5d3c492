//! Searches the chats that an agent can see. [`chat_search`](crate::domain::chats::chat_search) explains what a search
//! text matches.
//!
//! The first page begins with the best matches: the chat with the searched number, and the last chats of the visitors
//! with this number, e-mail address or phone number. Then all chats are examined, newest first. Each page examines at
//! most 500 of them, so a search is complete only when its last page has been read.

use std::collections::HashSet;

use crate::domain::channels::channel::ChannelKind;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_search::{SearchCursor, SearchQuery};
use crate::domain::chats::chat_state::ChatState;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::service::chat_access::ChatAccess;
use crate::store::chats::listing::chat_listing::{ChatPage, MAX_HEADERS_PER_READ};

const MAX_HEADERS_PER_PAGE: usize = 500;
/// A page ends after the batch of headers with which it contains at least this number of chats.
const MIN_CHATS_PER_FULL_PAGE: usize = 50;
/// The maximum number of channels in which an integrator's id is looked up. It is the size of a batch of reads.
const MAX_SEARCHED_CHANNELS: usize = 100;

pub struct SearchPage {
    pub chats: Vec<Chat>,
    /// `None` if this is the last page.
    pub next: Option<SearchCursor>,
}

/// Reads a page of the results. `cursor` is the `next` value of the previous page.
///
/// The first page also reads the best matches and, if the text is a number, the visitor with this number. For an agent
/// without the admin role, a page also reads the channels of the found chats and the roster, which are cached.
pub async fn read_page(
    access: &ChatAccess<'_>,
    query: &SearchQuery,
    cursor: Option<SearchCursor>,
) -> Result<SearchPage, Error> {
    let account_id = &access.session.account_id;
    let mut visitors = access.chats.visitors_by_contact(account_id, query, access.now).await?;
    visitors.extend(visitors_by_external_id(access, query).await?);
    let numbers = visitors.iter().flat_map(|visitor| visitor.merged_with.iter().copied().chain([visitor.number]));
    let numbers: HashSet<u64> = numbers.chain(query.number).collect();
    let (mut found, before, mut shown) = match cursor {
        Some(SearchCursor { before, shown }) => (Vec::new(), Some(before), shown),
        None => {
            let best = best_matches(access, query, visitors).await?;
            let shown = best.iter().map(|chat| chat.chat_id).collect();
            (best, None, shown)
        }
    };
    if !query.has_words() && numbers.is_empty() {
        return Ok(SearchPage { chats: found, next: None });
    }
    let mut listing = access.chats.listing(account_id, &ChatState::NAMES, before);
    let mut headers_read = 0;
    loop {
        let ChatPage { chats, next } = listing.next(MAX_HEADERS_PER_READ).await?;
        headers_read += MAX_HEADERS_PER_READ;
        let now = access.now;
        let chats = chats.into_iter().map(|chat| chat.without_expired_preview(now));
        let is_found = |chat: &Chat| numbers.contains(&chat.visitor_number) || query.matches_words(chat);
        let matching = chats.filter(|chat| is_found(chat) && !shown.contains(&chat.chat_id)).collect();
        found.extend(access.visible_chats(matching).await?);
        let Some(before) = next else { return Ok(SearchPage { chats: found, next: None }) };
        if found.len() >= MIN_CHATS_PER_FULL_PAGE || headers_read >= MAX_HEADERS_PER_PAGE {
            shown.retain(|chat_id| *chat_id < before);
            return Ok(SearchPage { chats: found, next: Some(SearchCursor { before, shown }) });
        }
    }
}

/// Reads the visitors whom the integrators of the account's API channels know by the id in the query.
async fn visitors_by_external_id(access: &ChatAccess<'_>, query: &SearchQuery) -> Result<Vec<Visitor>, Error> {
    let Some(external_id) = &query.external_id else { return Ok(Vec::new()) };
    let channels = access.directory.channels(&access.session.account_id).await?;
    let of_integrators = channels.iter().filter(|channel| channel.settings.kind() == ChannelKind::Api);
    let channel_ids: Vec<&str> =
        of_integrators.map(|channel| channel.channel_id.as_str()).take(MAX_SEARCHED_CHANNELS).collect();
    access.chats.visitors_by_external_id(&channel_ids, external_id, access.now).await
}

/// Reads the chat with the number in the query, and the last chats of the visitors who match the query's number or
/// contact data.
async fn best_matches(
    access: &ChatAccess<'_>,
    query: &SearchQuery,
    visitors: Vec<Visitor>,
) -> Result<Vec<Chat>, Error> {
    let account_id = &access.session.account_id;
    let by_number = match query.number {
        Some(number) => access.chats.visitor_by_number(account_id, number, access.now).await?,
        None => None,
    };
    let mut chat_ids: Vec<u64> = Vec::new();
    let last_chats =
        by_number.into_iter().chain(visitors).filter_map(|visitor| visitor.open_chat.or(visitor.last_chat));
    for chat_id in query.number.into_iter().chain(last_chats) {
        if !chat_ids.contains(&chat_id) {
            chat_ids.push(chat_id);
        }
    }
    access.visible_chats(access.chats.chats_by_id(account_id, &chat_ids).await?).await
}
