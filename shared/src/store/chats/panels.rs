//! The panel of a chat: an item beside its header, which it would make too large.

use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Deserialize, Serialize};

use crate::domain::chat::Chat;
use crate::domain::content::cut;
use crate::domain::panel::{Assignment, CustomData, Panel, PanelChange};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::secret::hex_hash;
use crate::store::chats::{Chats, panel_key};
use crate::store::table::{ItemUpdate, Write, s};
use crate::store::{from_item, to_attribute};

/// Hexadecimal digits of an invitation's hash.
const INVITE_HASH_DIGITS: usize = 16;

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
struct PanelItem {
    custom_data: Vec<CustomDataItem>,
    enable_assign: bool,
    crm_link: Option<String>,
    page_url: Option<String>,
    page_title: Option<String>,
    assignment: Option<String>,
    assignment_error: Option<String>,
    invite: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct CustomDataItem {
    title: Option<String>,
    content: String,
    link: Option<String>,
    key: Option<String>,
}

/// When the panel of a chat that is over is forgotten; null while the chat is open, whose end says it.
fn expiry(chat: &Chat, now: Timestamp) -> Result<AttributeValue, Error> {
    to_attribute(&chat.keep_until(now).filter(|_| chat.state.is_closed()).map(Timestamp::seconds))
}

/// Stores an invitation. The panel has room for it; the header, which each message writes, has its hash.
pub(in crate::store) fn invite_write(chat: &Chat, invite: &str) -> Write {
    Write::ItemUpdate(ItemUpdate {
        key: panel_key(&chat.account_id, chat.chat_id),
        update: "SET #invite = :invite",
        condition: "",
        values: vec![(":invite", s(invite))],
    })
}

/// What a header has of an invitation: enough to tell a repeated one from another.
pub(in crate::store) fn invite_hash(invite: &str) -> String {
    cut(&hex_hash(invite), INVITE_HASH_DIGITS)
}

impl Chats {
    /// The panel of a chat. One read.
    pub async fn panel(&self, account_id: &str, chat_id: u64) -> Result<Panel, Error> {
        let item = self.table.get(panel_key(account_id, chat_id)).await?.unwrap_or_default();
        from_item::<PanelItem>(item).map(Panel::from)
    }

    /// Stores what an answer says of the panel, and leaves alone what it does not mention: another webhook may answer at
    /// the same time. One write.
    pub async fn fill_panel(&self, chat: &Chat, change: &PanelChange, now: Timestamp) -> Result<(), Error> {
        let PanelChange { custom_data, enable_assign, crm_link, page } = change;
        let mut mentioned = vec![(":expires_at", expiry(chat, now)?)];
        if let Some(custom_data) = custom_data {
            let custom_data: Vec<CustomDataItem> = custom_data.iter().map(CustomDataItem::from).collect();
            mentioned.push((":custom_data", to_attribute(&custom_data)?));
        }
        if let Some(enable_assign) = enable_assign {
            mentioned.push((":enable_assign", to_attribute(enable_assign)?));
        }
        if let Some(crm_link) = crm_link {
            mentioned.push((":crm_link", to_attribute(crm_link)?));
        }
        if let Some(page) = page {
            let (url, title) = page.as_ref().map_or((None, None), |(url, title)| (Some(url), title.as_ref()));
            mentioned.extend([(":page_url", to_attribute(&url)?), (":page_title", to_attribute(&title)?)]);
        }
        let change = ItemUpdate::setting(panel_key(&chat.account_id, chat.chat_id), mentioned, "");
        Ok(self.table.update(change).await.map(|_| ())?)
    }

    /// Notes how far the binding to a CRM card is. Where several webhooks are told of it, it is done when one of them has
    /// done it, and a failure of another does not undo that. One write.
    pub async fn note_assignment(&self, chat: &Chat, assignment: &Assignment, now: Timestamp) -> Result<(), Error> {
        let (state, error) = match assignment {
            Assignment::Pending => ("pending", None),
            Assignment::Done => ("done", None),
            Assignment::Failed(error) => ("failed", Some(error)),
        };
        let is_failed = error.is_some();
        let mut values =
            vec![(":assignment", s(state)), (":error", to_attribute(&error)?), (":expires_at", expiry(chat, now)?)];
        values.extend(is_failed.then(|| (":done", s("done"))));
        let change = ItemUpdate {
            key: panel_key(&chat.account_id, chat.chat_id),
            update: "SET #assignment = :assignment, #assignment_error = :error, #expires_at = :expires_at",
            condition: if is_failed { "#assignment <> :done" } else { "" },
            values,
        };
        self.table.update_if(change).await
    }
}

impl From<PanelItem> for Panel {
    fn from(item: PanelItem) -> Self {
        let PanelItem {
            custom_data,
            enable_assign,
            crm_link,
            page_url,
            page_title,
            assignment,
            assignment_error,
            invite,
        } = item;
        let assignment = match assignment.as_deref() {
            Some("pending") => Some(Assignment::Pending),
            Some("done") => Some(Assignment::Done),
            Some(_) => Some(Assignment::Failed(assignment_error.unwrap_or_default())),
            None => None,
        };
        Self {
            custom_data: custom_data.into_iter().map(CustomData::from).collect(),
            enable_assign,
            crm_link,
            page: page_url.map(|url| (url, page_title)),
            assignment,
            invite,
        }
    }
}

impl From<&CustomData> for CustomDataItem {
    fn from(data: &CustomData) -> Self {
        let CustomData { title, content, link, key } = data.clone();
        Self { title, content, link, key }
    }
}

impl From<CustomDataItem> for CustomData {
    fn from(item: CustomDataItem) -> Self {
        let CustomDataItem { title, content, link, key } = item;
        Self { title, content, link, key }
    }
}
