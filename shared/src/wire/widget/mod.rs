//! The /widget endpoints, which the widget in a visitor's browser calls: bodies and operations.

mod answers;
mod calls;
mod chat;
mod fields;
mod messages;
mod offline_message;
mod session;
mod visitor;

pub use calls::{CallbackRequest, CallbackResult, WidgetCall, WidgetCallRequest, WidgetCallResult};
pub use chat::{RatingRequest, WidgetChat};
pub use fields::{BrowserPage, VisitorToken, WidgetMessageId};
pub use messages::{
    HistoryRequest, MAX_MESSAGES, StoredWidgetMessage, WidgetHistory, WidgetMessage, WidgetMessageRequest,
};
pub use offline_message::{OfflineMessage, OfflineMessageRequest};
pub use session::{
    MAX_SHOWN_AGENTS, SessionRequest, StoredRules, WidgetAgent, WidgetMode, WidgetSession, WidgetTicketRequest,
};
pub use visitor::{UpdatedWidgetVisitor, VisitorUpdate, WidgetVisitor, WidgetVisitorUpdate};

use crate::contract::Operation;

/// The token in the examples of requests.
const SAMPLE_TOKEN: &str = "Qm9hdHMgYW5kIHNoaXBzIGFuZCBzZWFsaW5nIHdheHg";

/// Returns the operations of the /widget endpoints. Those that return scripts are in [`files`](super::files).
pub(super) fn operations() -> Vec<Operation> {
    let areas = [
        session::operations(),
        messages::operations(),
        offline_message::operations(),
        visitor::operations(),
        chat::operations(),
        calls::operations(),
    ];
    areas.into_iter().flatten().collect()
}
