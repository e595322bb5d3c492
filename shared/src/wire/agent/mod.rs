//! The /agent endpoints: bodies and operations.

mod chat_endpoints;
mod chats;
mod handover;
mod presence;
mod sessions;
mod timeline;
mod visitors;
mod web_push;

pub(in crate::wire) use chat_endpoints::numbers;
pub use chat_endpoints::{
    AgentCallRequest, AgentTyping, AssignedChat, CancelledMessage, ChangesQuery, ChatChanges, ChatList, ChatListQuery,
    ChatSearchQuery, ChatTransfer, ChatUpdate, ClosedChat, EditedMessage, FoundChats, MessageStored, NewNote,
    NewPlannedMessage, NoteStored, QueuedTypingNotice, Timeline, TimelineQuery, TransferTo, VisitorChats,
    VisitorChatsQuery, checked_planned_id, parse_agent_message,
};
pub use chats::{AgentPanel, Chat, ChatChannel, ChatRow, ChatState, ChatVisitor, LastSeq, PlannedMessage};
pub use presence::{AgentPresence, Colleagues, ColleaguesQuery, Included, NewAgentPresence, SocketTicket};
pub use sessions::{
    AgentSessions, ChangedPassword, CurrentAgent, EndedSession, EndedSessions, LoggedOut, LoginRequest, LoginResponse,
    PasswordChange,
};
pub use timeline::{CallStatus, Delivery, PhoneNumber, TimelineEntry};
pub use visitors::{Visitor, VisitorChanges};
pub use web_push::{NewWebPushSubscription, UnsubscribedWebPush, WebPush};

use schemars::JsonSchema;
use serde::Serialize;

use crate::contract::Operation;
use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::accounts::department;
use crate::wire::fields::values::SequentialNumber;

/// The maximum length of a name, a phone number, an e-mail address or a password.
const MAX_AGENT_FIELD_CHARS: usize = 254;
/// Long enough that the rules for passwords report a password that is too long.
const MAX_TEXT_FIELD_CHARS: usize = 10_000;

/// Returns the operations of the /agent endpoints.
pub(super) fn operations() -> Vec<Operation> {
    let areas = [
        sessions::operations(),
        presence::operations(),
        web_push::operations(),
        chat_endpoints::operations(),
        visitors::operations(),
    ];
    areas.into_iter().flatten().collect()
}

/// An agent, as chats, messages and audit entries name them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChatAgent {
    id: SequentialNumber,
    name: String,
}

impl From<AgentSnapshot> for ChatAgent {
    fn from(AgentSnapshot { agent_id, name, photo: _ }: AgentSnapshot) -> Self {
        Self { id: SequentialNumber(agent_id), name }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChatDepartment {
    id: SequentialNumber,
    name: String,
}

impl From<department::ChatDepartment> for ChatDepartment {
    fn from(department::ChatDepartment { department_id, name }: department::ChatDepartment) -> Self {
        Self { id: SequentialNumber(department_id), name }
    }
}
