//! The /admin/visitors endpoints, which show and erase what is stored of a visitor.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::{Failure, Operation};
use crate::error::Error;
use crate::wire::agent::Visitor;
use crate::wire::fields::values::SequentialNumber;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::get(
            "/admin/visitors",
            "visitorByExternalId",
            "Finds a visitor of an API channel by the integrator's id",
        )
        .describe("Returns the same as for the visitor's number, with which the visitor can be erased.")
        .query::<VisitorQuery>()
        .answers::<VisitorData>(200, "The visitor.")
        .fails(&[Failure::NotFound]),
        Operation::get("/admin/visitors/{number}", "visitor", "Shows a visitor and how much an erasure would delete")
            .describe("`entries` can be too large, because numbers of entries can be skipped.")
            .answers::<VisitorData>(200, "The visitor."),
        Operation::delete("/admin/visitors/{number}", "eraseVisitor", "Erases a visitor with all their chats")
            .describe(
                "Deletes every chat, message, uploaded file, panel and delivery of the visitor. Repeat the request until \
                 `complete` is true. The visitors with whom an agent has merged the visitor are not erased: repeat the \
                 request for each number in `merged_with`.",
            )
            .answers::<ErasedVisitor>(
                200,
                "What this request removed. If complete is false, there was not enough time: repeat the request to \
                 continue.",
            ),
    ]
}

#[derive(Deserialize, JsonSchema)]
pub struct VisitorQuery {
    /// The API channel.
    #[schemars(length(min = 1))]
    channel_id: String,
    /// The id that the integrator sends as sender.id; a number in its decimal form.
    #[schemars(length(min = 1))]
    external_id: String,
}

impl VisitorQuery {
    /// Returns the channel and the integrator's id.
    pub fn checked(self) -> Result<(String, String), Error> {
        let Self { channel_id, external_id } = self;
        for (name, value) in [("channel_id", &channel_id), ("external_id", &external_id)] {
            if value.is_empty() {
                return Err(Error::field(name, "is required"));
            }
        }
        Ok((channel_id, external_id))
    }
}

#[derive(Serialize, JsonSchema)]
pub struct VisitorData {
    pub visitor: Visitor,
    /// The number of the visitor's chats.
    pub chats_count: u64,
    /// The number of timeline entries in these chats. It can be slightly too large.
    pub entries: u64,
    /// False if the visitor has more chats than were counted.
    pub is_complete: bool,
}

#[derive(Serialize, JsonSchema)]
pub struct ErasedVisitor {
    pub number: SequentialNumber,
    pub removed: RemovedItems,
    pub complete: bool,
}

#[derive(Serialize, JsonSchema)]
pub struct RemovedItems {
    pub chats: u64,
    /// Timeline entries and panels.
    pub entries: u64,
    /// Uploaded files and their previews.
    pub files: u64,
}
