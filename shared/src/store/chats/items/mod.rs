//! Serde types for the items in the Chats table, and their conversions to and from domain types.

mod call;
pub(in crate::store) mod content;
mod delivery;
mod entry;
mod header;
mod visitor;
mod widget_visitor;

pub(crate) use call::CallItem;
pub(crate) use content::ContentItem;
pub(crate) use delivery::{AttemptItem, FailureItem};
pub(crate) use entry::EntryItem;
pub(crate) use header::{
    AgentOfferItem, AgentSnapshotItem, AnswerDueItem, BotHandoverItem, ChatDepartmentItem, FormerBotItem, HeaderItem,
    MentionItem, MessagePreviewItem, SnoozeItem,
};
pub(crate) use visitor::{VisitorItem, VisitorNumberItem};
pub(crate) use widget_visitor::WidgetVisitorItem;

use crate::error::Error;

fn unknown_value(attribute: &'static str) -> impl Fn() -> Error {
    move || Error::internal(("unknown stored value", attribute))
}
