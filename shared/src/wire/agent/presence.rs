//! The endpoints of the presence of agents: their own, that of their colleagues, and the ticket of a socket.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::{Failure, Operation};
use crate::domain::accounts::agent::Agent;
use crate::domain::accounts::agent_presence::{AgentStatus, Presence};
use crate::domain::accounts::department::{Department, MAX_DEPARTMENTS_PER_ACCOUNT};
use crate::domain::accounts::inbox_settings::InboxSettings;
use crate::domain::bots::bot::Bot;
use crate::domain::socket::SOCKET_TICKET_LIFETIME;
use crate::domain::timestamp::Timestamp;
use crate::wire::admin::inbox_settings::{SavedView, Tag};
use crate::wire::agent::ChatDepartment;
use crate::wire::fields::urls::WebUrl;
use crate::wire::fields::values::{Name, NotNull, Optional, SequentialNumber};

const PRESENCE: &str = "The agent's presence; online says whether the agent counts as online now.";

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/agent/presence", "agentPresence", "Reads the agent's presence")
            .describe(
                "`status` is what the agent has set, or offline if the agent has not sent a request for ten minutes or \
                 has lost the last socket more than 90 seconds ago.",
            )
            .answers::<AgentPresence>(200, PRESENCE),
        Operation::put("/agent/presence", "setAgentPresence", "Changes the agent's presence")
            .describe(
                "An agent stays online while they keep sending requests. When an agent's last socket has been closed \
                 for 90 seconds, the agent is offline, unless they have opened another socket or set the status again.",
            )
            .body::<NewAgentPresence>()
            .answers::<AgentPresence>(200, PRESENCE),
        Operation::post("/agent/socket-ticket", "createSocketTicket", "Returns a ticket that opens a WebSocket")
            .describe(
                "The client connects to `url` with the query parameter `ticket`. Pushes about changes then arrive as \
                 JSON (docs/sockets.md). An agent gets at most 30 tickets in ten seconds.",
            )
            .answers::<SocketTicket>(201, "A ticket that can be used once, within 60 seconds.")
            .fails(&[Failure::TooManyRequests]),
        Operation::get("/agent/agents", "colleagues", "Lists all agents with their status, and all departments")
            .query::<ColleaguesQuery>()
            .describe(
                "These are the possible recipients of a transfer. The status is offline if the agent has not sent a \
                 request in the last ten minutes, or has had no socket for 90 seconds.",
            )
            .answers::<Colleagues>(200, "The agents and departments."),
    ]
}

#[derive(Deserialize, JsonSchema)]
pub struct NewAgentPresence {
    pub status: Name<AgentStatus>,
}

#[derive(Serialize, JsonSchema)]
pub struct AgentPresence {
    status: Name<AgentStatus>,
    online: bool,
}

impl AgentPresence {
    /// `status` is the status that the agent has set. `online` is true only if this status is online and the agent's
    /// client is still active (see [`Presence::current_status`]).
    pub fn new(presence: &Presence, now: Timestamp) -> Self {
        Self { status: Name(presence.status), online: presence.is_online(now) }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct SocketTicket {
    #[schemars(length(equal = 43))]
    ticket: String,
    #[schemars(extend("format" = "uri", "pattern" = "^wss?://"))]
    url: String,
    /// Seconds.
    #[schemars(extend("const" = SOCKET_TICKET_LIFETIME.as_secs()))]
    expires_in: u64,
}

impl SocketTicket {
    pub fn new(ticket: String, url: &str) -> Self {
        Self { ticket, url: url.to_owned(), expires_in: SOCKET_TICKET_LIFETIME.as_secs() }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct ColleaguesQuery {
    /// bots: the response also contains the bots, to which a chat can be given. inbox: it also contains the tags and
    /// the saved views of the account.
    #[serde(default)]
    pub include: NotNull<Included>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Included {
    Bots,
    Inbox,
}

#[derive(Serialize, JsonSchema)]
pub struct Colleagues {
    agents: Vec<Colleague>,
    #[schemars(length(max = MAX_DEPARTMENTS_PER_ACCOUNT))]
    departments: Vec<ChatDepartment>,
    /// Only if the request asks for them. They are read from an index, so a change may take some seconds to appear.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    bots: Optional<Vec<ColleagueBot>>,
    /// The tags of chats. Only if the request asks for the inbox.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    tags: Optional<Vec<Tag>>,
    /// The saved views, which all agents share. Only if the request asks for the inbox.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    views: Optional<Vec<SavedView>>,
}

#[derive(Serialize, JsonSchema)]
pub struct ColleagueBot {
    bot_id: String,
    name: String,
}

#[derive(Serialize, JsonSchema)]
pub struct Colleague {
    id: SequentialNumber,
    name: String,
    photo: Option<WebUrl>,
    status: Name<AgentStatus>,
}

impl Colleagues {
    /// Agents without a stored presence are shown as offline.
    pub fn new(agents: Vec<Agent>, departments: &[Department], presences: &[Presence], now: Timestamp) -> Self {
        let status = |agent_id: u64| {
            let presence = presences.iter().find(|presence| presence.agent_id == agent_id);
            Name(presence.map_or(AgentStatus::Offline, |presence| presence.current_status(now)))
        };
        let colleague = |Agent { agent_id, name, photo, .. }| Colleague {
            id: SequentialNumber(agent_id),
            name,
            photo: photo.map(WebUrl),
            status: status(agent_id),
        };
        Self {
            agents: agents.into_iter().map(colleague).collect(),
            departments: departments.iter().map(|department| department.snapshot().into()).collect(),
            bots: Optional(None),
            tags: Optional(None),
            views: Optional(None),
        }
    }

    pub fn with_bots(self, bots: Vec<Bot>) -> Self {
        let bots = bots.into_iter().map(|Bot { bot_id, name, .. }| ColleagueBot { bot_id, name });
        Self { bots: Optional(Some(bots.collect())), ..self }
    }

    pub fn with_inbox(self, inbox: &InboxSettings) -> Self {
        let (tags, views) = (inbox.tags.iter().map(Tag::from), inbox.views.iter().map(SavedView::from));
        Self { tags: Optional(Some(tags.collect())), views: Optional(Some(views.collect())), ..self }
    }
}
