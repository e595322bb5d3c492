//! The items of the Chats table.

mod content;
mod delivery;
mod entry;
mod head;
mod visitor;

pub(super) use delivery::{AttemptItem, FailureItem};
pub(super) use entry::EntryItem;
pub(super) use head::{AuthorItem, DepartmentItem, HeadItem, PreviewItem};
pub(super) use visitor::{NumberItem, VisitorItem};

use crate::error::Error;

fn unknown(what: &'static str) -> impl Fn() -> Error {
    move || Error::internal(("unknown stored value", what))
}
