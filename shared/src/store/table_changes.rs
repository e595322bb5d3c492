//! Converts the items in a stream record to domain values.

use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::accounts::agent_presence::Presence;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_side_panel::Panel;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::list_change::ListChanges;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::runtime::table_stream::ItemChange;
use crate::store::chats::items::content::file_ids;
use crate::store::chats::listing::panels::panel_from_item;
use crate::store::chats::status_watches::ACCOUNT_EVENTS;
use crate::store::chats::{
    CHAT_PREFIX, HEADER_SORT_KEY, PANEL_SORT_KEY, VISITOR_PREFIX, chat_from_item, entry_from_item, visitor_from_item,
};
use crate::store::connections::presence::{PRESENCE_PREFIX, presence_from_item};
use crate::store::connections::sessions::{AGENT_PREFIX, SESSION_PREFIX, is_suspended_session};
use crate::store::connections::subscriptions::{CHANGES_PREFIX, list_changes_from_item};
use crate::store::directory::keys::{ACCOUNT_PREFIX, CHANNEL_PREFIX, SETTINGS_SORT_KEY};
use crate::store::directory::settings::settings_from_item;
use crate::store::table::Item;

/// A change in an account that may have to be pushed to sockets.
#[derive(Debug, PartialEq)]
pub enum TableChange {
    Chat {
        chat_id: u64,
        change: ChatItemChange,
    },
    Presence {
        before: Option<Box<Presence>>,
        after: Option<Box<Presence>>,
    },
    SessionEnded {
        session_id: String,
    },
    /// The lists that agents' clients show have changed.
    Lists(ListChanges),
    /// An item of the account in the Directory table has changed: its settings, an agent, a department, a channel or a
    /// canned reply, for example. Items of bots are not reported.
    Directory {
        /// Whether the settings have an assignment and had none before.
        begins_assignment: bool,
    },
}

#[derive(Debug, PartialEq)]
pub enum ChatItemChange {
    Header {
        before: Option<Box<Chat>>,
        after: Option<Box<Chat>>,
    },
    /// `before` is `None` if the entry is new.
    Entry {
        before: Option<Box<TimelineEntry>>,
        after: Box<TimelineEntry>,
    },
    Panel {
        before: Box<Panel>,
        after: Box<Panel>,
    },
    /// The change is reported for the visitor's open chat or, if none is open, for the visitor's last chat.
    Visitor {
        before: Option<Box<Visitor>>,
        after: Box<Visitor>,
    },
}

/// The value of an item before and after a change. Either is `None` if the item did not exist at that time.
type BeforeAndAfter<T> = (Option<Box<T>>, Option<Box<T>>);

/// The changes of a batch with the ids of their accounts.
pub struct ParsedChanges(pub(crate) Vec<(String, TableChange)>);

impl ParsedChanges {
    /// A change that cannot be read is only logged.
    pub fn of(changes: Vec<ItemChange>) -> Self {
        let parse = |change| match parse_change(change) {
            Ok(change) => change,
            Err(error) => {
                tracing::error!(context = error.context(), "change cannot be read");
                None
            }
        };
        Self(changes.into_iter().filter_map(parse).collect())
    }

    /// Returns the headers that exist after a change, each with its account and with the header before the change.
    pub(crate) fn changed_headers(&self) -> impl Iterator<Item = (&str, Option<&Chat>, &Chat)> {
        self.0.iter().filter_map(|(account_id, change)| match change {
            TableChange::Chat { change: ChatItemChange::Header { before, after: Some(after) }, .. } => {
                Some((account_id.as_str(), before.as_deref(), &**after))
            }
            TableChange::Chat { .. }
            | TableChange::Presence { .. }
            | TableChange::SessionEnded { .. }
            | TableChange::Lists(_)
            | TableChange::Directory { .. } => None,
        })
    }
}

/// Returns the account and the ids of the uploaded files of an entry that was deleted or has expired.
pub fn deleted_files(change: &ItemChange) -> Option<(String, Vec<String>)> {
    let item = change.before.as_ref().filter(|_| change.after.is_none())?;
    let pk = text(item, "pk");
    let (account_id, _) = pk.strip_prefix(CHAT_PREFIX)?.rsplit_once('#')?;
    Some((account_id.to_owned(), file_ids(item)))
}

/// Returns the id of the account and the change, or `None` if the change is not pushed.
pub(crate) fn parse_change(change: ItemChange) -> Result<Option<(String, TableChange)>, Error> {
    let Some(item) = change.after.as_ref().or(change.before.as_ref()) else { return Ok(None) };
    let (pk, sk) = (text(item, "pk"), text(item, "sk"));
    if let Some(chat) = pk.strip_prefix(CHAT_PREFIX) {
        let (account_id, chat_id) = chat.rsplit_once('#').ok_or_else(|| Error::internal("key of a chat"))?;
        let chat_id = chat_id.parse().map_err(Error::internal)?;
        if chat_id == ACCOUNT_EVENTS {
            return Ok(None);
        }
        let change = parse_chat_item_change(&sk, change)?;
        return Ok(change.map(|change| (account_id.to_owned(), TableChange::Chat { chat_id, change })));
    }
    if pk.starts_with(VISITOR_PREFIX) {
        return parse_visitor_change(change);
    }
    if let Some(account_id) = pk.strip_prefix(CHANGES_PREFIX) {
        let changes = change.after.map(list_changes_from_item).transpose()?;
        return Ok(changes.map(|changes| (account_id.to_owned(), TableChange::Lists(changes))));
    }
    if let Some(account_id) = pk.strip_prefix(PRESENCE_PREFIX) {
        let (before, after) = convert(change, presence_from_item)?;
        return Ok(Some((account_id.to_owned(), TableChange::Presence { before, after })));
    }
    if let (Some(agent), Some(session_id)) = (pk.strip_prefix(AGENT_PREFIX), sk.strip_prefix(SESSION_PREFIX)) {
        // A session of a suspended account remains, but its sockets are closed.
        if change.after.as_ref().is_some_and(|session| !is_suspended_session(session)) {
            return Ok(None);
        }
        let (account_id, _) = agent.split_once('#').ok_or_else(|| Error::internal("key of a session"))?;
        let session_id = session_id.to_owned();
        return Ok(Some((account_id.to_owned(), TableChange::SessionEnded { session_id })));
    }
    let Some(account_id) = account_of_directory_item(&pk, item) else { return Ok(None) };
    let begins_assignment = sk == SETTINGS_SORT_KEY && begins_assignment(change)?;
    Ok(Some((account_id, TableChange::Directory { begins_assignment })))
}

fn begins_assignment(change: ItemChange) -> Result<bool, Error> {
    let (before, after) = convert(change, settings_from_item)?;
    let has_assignment = |settings: Option<Box<AccountSettings>>| settings.is_some_and(|it| it.assignment.is_some());
    Ok(has_assignment(after) && !has_assignment(before))
}

fn parse_chat_item_change(sk: &str, change: ItemChange) -> Result<Option<ChatItemChange>, Error> {
    if sk == HEADER_SORT_KEY {
        let (before, after) = convert(change, chat_from_item)?;
        return Ok(Some(ChatItemChange::Header { before, after }));
    }
    if sk == PANEL_SORT_KEY {
        let (before, after) = convert(change, panel_from_item)?;
        return Ok(after.map(|after| ChatItemChange::Panel { before: before.unwrap_or_default(), after }));
    }
    if !sk.bytes().all(|letter| letter.is_ascii_digit()) {
        return Ok(None);
    }
    let (before, after) = convert(change, entry_from_item)?;
    Ok(after.map(|after| ChatItemChange::Entry { before, after }))
}

fn parse_visitor_change(change: ItemChange) -> Result<Option<(String, TableChange)>, Error> {
    let (before, Some(after)) = convert(change, visitor_from_item)? else { return Ok(None) };
    let Some(chat_id) = after.open_chat.or(after.last_chat) else { return Ok(None) };
    let account_id = after.account_id.clone();
    Ok(Some((account_id, TableChange::Chat { chat_id, change: ChatItemChange::Visitor { before, after } })))
}

/// Returns the account of an item in the Directory table. The account is part of the key or, for a channel, an
/// attribute of the item. Returns `None` for other items.
fn account_of_directory_item(pk: &str, item: &Item) -> Option<String> {
    match pk.strip_prefix(ACCOUNT_PREFIX) {
        Some(account_id) => Some(account_id.to_owned()),
        None if pk.starts_with(CHANNEL_PREFIX) => Some(text(item, "account_id")),
        None => None,
    }
}

fn convert<T>(change: ItemChange, from_item: fn(Item) -> Result<T, Error>) -> Result<BeforeAndAfter<T>, Error> {
    let convert = |item: Option<Item>| item.map(|item| from_item(item).map(Box::new)).transpose();
    Ok((convert(change.before)?, convert(change.after)?))
}

fn text(item: &Item, name: &str) -> String {
    item.get(name).and_then(|value| value.as_s().ok()).cloned().unwrap_or_default()
}
