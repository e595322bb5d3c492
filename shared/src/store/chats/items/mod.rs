//! The items of the Chats table.

mod content;
mod delivery;
mod entry;
mod head;
mod visitor;

pub(in crate::store) use delivery::{AttemptItem, FailureItem};
pub(in crate::store) use entry::EntryItem;
pub(in crate::store) use head::{AuthorItem, DepartmentItem, HeadItem, PreviewItem};
pub(in crate::store) use visitor::{NumberItem, VisitorItem};

use crate::error::Error;

fn unknown(what: &'static str) -> impl Fn() -> Error {
    move || Error::internal(("unknown stored value", what))
}
