//! A chat's panel: data from webhooks that is shown to the agent beside the chat. The panel has its own item, because
//! every message writes the header, which must therefore stay small.

use serde::{Deserialize, Serialize};

use crate::domain::chats::bot_draft::BotDraft;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_side_panel::{CrmCardAssignment, CustomData, Panel, PanelUpdate};
use crate::domain::chats::message_content::truncate_chars;
use crate::domain::report::Counter;
use crate::domain::sha256;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::expiry::erasure::ERASING;
use crate::store::chats::expiry::visitor_expiry::chat_expiry;
use crate::store::chats::report_counters::count_write;
use crate::store::chats::{Chats, chat_from_item, header_key, panel_key};
use crate::store::table::{ExpressionValues, ITEM_EXISTS, Item, ItemUpdate, Write, s};
use crate::store::write_races::WriteRaces;
use crate::store::{from_item, to_attribute};

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
    draft: Option<BotDraftItem>,
}

#[derive(Serialize, Deserialize)]
struct BotDraftItem {
    bot_name: String,
    text: String,
    after_seq: u64,
    at: u64,
}

#[derive(Serialize, Deserialize)]
struct CustomDataItem {
    title: Option<String>,
    content: String,
    link: Option<String>,
    key: Option<String>,
}

/// Returns the write that stores an invitation (the value of `sender.invite` in a visitor's message) in the panel. The
/// header contains only its hash.
pub(crate) fn invite_write(chat: &Chat, invite: &str) -> Write {
    Write::Update(ItemUpdate {
        key: panel_key(&chat.account_id, chat.chat_id),
        update: "SET #invite = :invite",
        condition: "",
        values: vec![(":invite", s(invite))],
    })
}

/// Returns the hash of an invitation. The header stores this hash, so that a repeated invitation is recognized without
/// reading the panel.
pub(crate) fn invite_hash(invite: &str) -> String {
    truncate_chars(&sha256::hex_digest(invite), INVITE_HASH_DIGITS)
}

impl Chats {
    /// Returns an empty panel if none is stored.
    pub async fn panel(&self, account_id: &str, chat_id: u64) -> Result<Panel, Error> {
        let item = self.table.get(panel_key(account_id, chat_id)).await?.unwrap_or_default();
        panel_from_item(item)
    }

    /// Stores the panel fields that a webhook's response contains, or the draft of a bot, which is counted. Other
    /// fields are preserved, because another webhook may set them concurrently. Nothing is stored if the chat has been
    /// erased since `chat` was read. The transaction also checks the chat, because closing or erasing a chat would miss
    /// a panel that is created at the same time: the panel would never expire.
    ///
    /// If the chat is closed or erased at the same time, the read and the transaction are repeated.
    pub async fn update_panel(&self, chat: &Chat, update: &PanelUpdate) -> Result<(), Error> {
        let header_key = header_key(&chat.account_id, chat.chat_id);
        let mut races = WriteRaces::new("panel");
        loop {
            let header = self.table.get(header_key.clone()).await?;
            let Some(header) = header.filter(|header| !header.contains_key(ERASING)) else { return Ok(()) };
            let chat = chat_from_item(header)?;
            let mut values = update_values(update)?;
            if chat.state.is_closed() {
                values.push((":expires_at", chat_expiry(&chat)));
            }
            let state = vec![(":state", s(chat.state.name()))];
            let mut writes = vec![
                Write::Check(header_key.clone(), "#state = :state AND attribute_not_exists(#erasing)", state),
                Write::DynamicUpdate(ItemUpdate::set_attributes(panel_key(&chat.account_id, chat.chat_id), values, "")),
            ];
            writes.extend(update.draft.is_some().then(|| count_write(&chat, &[Counter::Drafts])));
            if let Some(result) = races.final_result(self.table.transact(writes).await) {
                return result;
            }
        }
    }

    /// Stores the state of the chat's CRM card assignment. A failure does not replace the confirmation of another
    /// webhook. Nothing is stored if the panel, which contains the card, has been erased or has expired.
    pub async fn record_assignment(&self, chat: &Chat, assignment: &CrmCardAssignment) -> Result<(), Error> {
        let (state, error) = match assignment {
            CrmCardAssignment::Pending => ("pending", None),
            CrmCardAssignment::Done => ("done", None),
            CrmCardAssignment::Failed(error) => ("failed", Some(error)),
        };
        let is_failed = error.is_some();
        let mut values = vec![(":assignment", s(state)), (":error", to_attribute(&error)?)];
        values.extend(is_failed.then(|| (":done", s("done"))));
        let update = ItemUpdate {
            key: panel_key(&chat.account_id, chat.chat_id),
            update: "SET #assignment = :assignment, #assignment_error = :error",
            condition: if is_failed { "attribute_exists(#pk) AND #assignment <> :done" } else { ITEM_EXISTS },
            values,
        };
        self.table.update_if(update).await
    }
}

/// Returns the values of the panel fields that a webhook's response contains.
fn update_values(update: &PanelUpdate) -> Result<ExpressionValues, Error> {
    let PanelUpdate { custom_data, enable_assign, crm_link, page, draft } = update;
    let mut values = Vec::new();
    if let Some(custom_data) = custom_data {
        let custom_data: Vec<CustomDataItem> = custom_data.iter().map(CustomDataItem::from).collect();
        values.push((":custom_data", to_attribute(&custom_data)?));
    }
    if let Some(enable_assign) = enable_assign {
        values.push((":enable_assign", to_attribute(enable_assign)?));
    }
    if let Some(crm_link) = crm_link {
        values.push((":crm_link", to_attribute(crm_link)?));
    }
    if let Some(page) = page {
        let (url, title) = page.as_ref().map_or((None, None), |(url, title)| (Some(url), title.as_ref()));
        values.extend([(":page_url", to_attribute(&url)?), (":page_title", to_attribute(&title)?)]);
    }
    if let Some(draft) = draft {
        values.push((":draft", to_attribute(&BotDraftItem::from(draft.clone()))?));
    }
    Ok(values)
}

pub(crate) fn panel_from_item(item: Item) -> Result<Panel, Error> {
    from_item::<PanelItem>(item).map(Panel::from)
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
            draft,
        } = item;
        let assignment = match assignment.as_deref() {
            Some("pending") => Some(CrmCardAssignment::Pending),
            Some("done") => Some(CrmCardAssignment::Done),
            Some(_) => Some(CrmCardAssignment::Failed(assignment_error.unwrap_or_default())),
            None => None,
        };
        Self {
            custom_data: custom_data.into_iter().map(CustomData::from).collect(),
            enable_assign,
            crm_link,
            page: page_url.map(|url| (url, page_title)),
            assignment,
            invite,
            draft: draft.map(BotDraft::from),
        }
    }
}

impl From<BotDraft> for BotDraftItem {
    fn from(BotDraft { bot_name, text, after_seq, at }: BotDraft) -> Self {
        Self { bot_name, text, after_seq, at: at.0 }
    }
}

impl From<BotDraftItem> for BotDraft {
    fn from(BotDraftItem { bot_name, text, after_seq, at }: BotDraftItem) -> Self {
        Self { bot_name, text, after_seq, at: Timestamp(at) }
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
