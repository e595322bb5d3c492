//! The WebSockets of signed-in agents and of widgets' visitors. Changes to chats are pushed through them, and to agents
//! also changes to the settings and to other agents' presence.

use std::time::Duration;

use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_visibility::Viewer;
use crate::domain::named::named;
use crate::domain::timestamp::Timestamp;

pub const SOCKET_TICKET_LIFETIME: Duration = Duration::from_secs(60);

/// The maximum number of open sockets for each visitor. A widget needs one for all tabs of a browser.
pub const MAX_SOCKETS_PER_VISITOR: usize = 20;

/// The maximum number of open sockets for each agent. A console needs one for each of its tabs.
pub const MAX_SOCKETS_PER_AGENT: usize = 50;

/// How long after $connect API Gateway may still report that the connection is unknown, because the handshake is in
/// progress.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum time after $connect during which a socket counts as open. API Gateway closes every socket after two
/// hours, but does not guarantee that it reports the close.
const SOCKET_LIFETIME: Duration = Duration::from_secs((2 * 60 + 10) * 60);

named! {
    /// A list of open chats that a client can show. Its name is the state of its chats.
    pub enum ChatList {
        Bot = "bot",
        Waiting = "waiting",
        Active = "active",
    }
}

/// What the client of an agent's socket shows. Its socket gets only the pushes about this.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subscription {
    /// The lists whose rows the client shows.
    pub lists: Vec<ChatList>,
    /// The chat whose messages the client shows.
    pub open_chat: Option<u64>,
}

impl Subscription {
    /// Whether one of the lists contains the chat.
    pub fn lists(&self, chat: &Chat) -> bool {
        self.lists.iter().any(|list| list.name() == chat.state.name())
    }
}

/// An open socket of an agent's client, or one that is being opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSocket {
    pub account_id: String,
    pub connection_id: String,
    pub agent_id: u64,
    pub is_admin: bool,
    /// The session with which the agent opened the socket. The socket is closed when the session ends, and a new role
    /// or password ends the session, so `is_admin` never changes.
    pub session_id: String,
    /// The time of $connect.
    pub opened_at: Timestamp,
    /// The time from which the socket counts as closed, even if its close was not reported.
    pub expires_at: Timestamp,
    /// `None` if the socket gets every push.
    pub subscription: Option<Subscription>,
}

/// An open socket of a widget's visitor, or one that is being opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisitorSocket {
    pub account_id: String,
    pub channel_id: String,
    pub external_id: String,
    pub connection_id: String,
    /// The time of $connect.
    pub opened_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Socket {
    Agent(AgentSocket),
    Visitor(VisitorSocket),
}

impl Socket {
    pub fn connection_id(&self) -> &str {
        match self {
            Self::Agent(socket) => &socket.connection_id,
            Self::Visitor(socket) => &socket.connection_id,
        }
    }

    fn opened_at(&self) -> Timestamp {
        match self {
            Self::Agent(socket) => socket.opened_at,
            Self::Visitor(socket) => socket.opened_at,
        }
    }

    /// Whether the handshake may still be in progress. A push that fails because of the handshake is dropped, and the
    /// socket is kept: its client reads the current data over HTTP once the socket is open.
    pub fn may_be_opening(&self, now: Timestamp) -> bool {
        now.since(self.opened_at()) < HANDSHAKE_TIMEOUT
    }
}

impl VisitorSocket {
    /// Returns the time from which the socket counts as closed, even if its close was not reported.
    pub fn expires_at(&self) -> Timestamp {
        self.opened_at.plus(SOCKET_LIFETIME)
    }
}

impl AgentSocket {
    pub fn viewer(&self) -> Viewer {
        Viewer { agent_id: self.agent_id, is_admin: self.is_admin }
    }

    /// Returns when a socket expires that is opened now. It gets no pushes after the end of its session.
    pub fn expiry(opened_at: Timestamp, session_ends_at: Option<Timestamp>) -> Timestamp {
        let latest = opened_at.plus(SOCKET_LIFETIME);
        session_ends_at.map_or(latest, |end| latest.min(end))
    }
}
