//! Serde types for the items in the Chats table, and their conversions to and from domain types.

mod call;
mod content;
mod delivery;
mod entry;
mod header;
mod visitor;
mod widget_visitor;

pub(in crate::store) use call::CallItem;
pub(in crate::store) use delivery::{AttemptItem, FailureItem};
pub(in crate::store) use entry::EntryItem;
pub(in crate::store) use header::{
    AgentSnapshotItem, BotHandoverItem, ChatDepartmentItem, HeaderItem, MessagePreviewItem,
};
pub(in crate::store) use visitor::{VisitorItem, VisitorNumberItem};
pub(in crate::store) use widget_visitor::WidgetVisitorItem;

use crate::error::Error;

fn unknown_value(attribute: &'static str) -> impl Fn() -> Error {
    move || Error::internal(("unknown stored value", attribute))
}
