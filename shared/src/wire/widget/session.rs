//! The start of the widget in a browser, and the ticket of its socket.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::contract::Operation;
use crate::domain::accounts::agent::Agent;
use crate::domain::accounts::department::Department;
use crate::wire::admin::widget_settings::PublicWidgetSettings;
use crate::wire::admin::widget_triggers::TriggerRule;
use crate::wire::agent::{ChatDepartment, SocketTicket};
use crate::wire::fields::json_fields::MAX_URL_CHARS;
use crate::wire::fields::urls::WebUrl;
use crate::wire::fields::values::{
    Change, Optional, OptionalText, ProtocolVersion, SequentialNumber, Truncated, UnixSeconds,
};
use crate::wire::widget::fields::{MAX_TOKEN_CHARS, MAX_USER_TOKEN_CHARS};
use crate::wire::widget::{
    BrowserPage, MAX_MESSAGES, SAMPLE_TOKEN, VisitorToken, WidgetCall, WidgetChat, WidgetMessage, WidgetVisitor,
};

/// The maximum number of agents whose names and pictures a visitor sees before a chat.
pub const MAX_SHOWN_AGENTS: usize = 5;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::post("/widget/{widget_id}/session", "startWidgetSession", "Starts the widget in a browser")
            .describe(
                "Called when the widget starts and when it comes back after a pause. Nothing is stored unless the \
                 browser has a token or `identify` is true.",
            )
            .body::<SessionRequest>()
            .example(
                "page",
                "A browser without a token shows a page",
                json!({
                    "page": { "url": "https://shop.example/", "title": "Shop" }, "referrer": "https://search.example/",
                }),
            )
            .example(
                "identify",
                "The visitor acts for the first time",
                json!({ "identify": true, "page": { "url": "https://shop.example/", "title": "Shop" } }),
            )
            .example(
                "again",
                "A known visitor comes back",
                json!({
                    "token": SAMPLE_TOKEN, "after": 5, "page": { "url": "https://shop.example/cart", "title": "Cart" },
                }),
            )
            .answers::<WidgetSession>(
                200,
                "The widget, and the visitor if the browser has a token or identify is true.",
            )
            .answer_example("page", Some("Without a visitor"), sample_session(&json!({})))
            .answer_example("identify", Some("A new visitor, whose token the browser keeps"), sample_new_visitor())
            .answer_example("again", Some("A known visitor with a chat"), sample_known_visitor()),
        Operation::post(
            "/widget/{widget_id}/socket-ticket",
            "createWidgetSocketTicket",
            "Returns a ticket that opens a WebSocket",
        )
        .describe(
            "The widget connects to `url` with the query parameter `ticket`. Pushes about new messages, the chat's \
             state and the agent's typing then arrive as JSON (docs/sockets.md).",
        )
        .body::<WidgetTicketRequest>()
        .example("visitor", "", json!({ "token": SAMPLE_TOKEN }))
        .answers::<SocketTicket>(201, "A ticket that can be used once, within 60 seconds.")
        .answer_example(
            "ticket",
            None,
            json!({ "ticket": SAMPLE_TOKEN, "url": "wss://sockets.example.com/socket", "expires_in": 60 }),
        ),
    ]
}

/// Returns the response for a browser without a visitor, with these fields replaced.
fn sample_session(fields: &Value) -> Value {
    let mut session = json!({
        "v": 1,
        "widget": {
            "color": "#00464a", "color2": null, "theme": "system", "position": "right",
            "launcher": { "hidden": false, "offset_x": 20, "offset_y": 20, "z_index": 2_147_483_000 },
            "title": "Shop", "greeting": null, "avatar": null, "language": "auto", "texts": {},
            "contacts_form": {
                "when": "never", "fields": ["name", "email", "phone"], "required": [], "custom_fields": [],
            },
            "rating": true, "sound": true, "typing_preview": true, "reply_time": null,
        },
        "rules": [],
        "mode": "online",
        "bot": false,
        "bot_disclosure": false,
        "departments": [],
        "agents": [{ "name": "Grace Hopper", "photo": null, "department_ids": [] }],
        "visitor": null,
        "chat": null,
        "messages": [],
        "call": null,
        "has_earlier": false,
        "callback": false,
        "callback_available": false,
        "files": true,
    });
    for (name, value) in fields.as_object().into_iter().flatten() {
        if let Some(field) = session.get_mut(name) {
            *field = value.clone();
        }
    }
    session
}

fn sample_new_visitor() -> Value {
    sample_session(&json!({
        "visitor": {
            "number": 4, "token": SAMPLE_TOKEN, "custom_data": [],
            "contact_info": { "client_name": null, "email": null, "phone": null, "description": null },
        },
    }))
}

fn sample_known_visitor() -> Value {
    sample_session(&json!({
        "visitor": {
            "number": 4, "custom_data": [],
            "contact_info": {
                "client_name": "Ada Lovelace", "email": "ada@example.com", "phone": null, "description": null,
            },
        },
        "chat": {
            "chat_id": 17, "state": "active", "last_seq": 7, "rated": false, "rate": null,
            "agent": { "name": "Grace Hopper", "photo": null, "joined_at": 1_793_003_104_000_u64 },
        },
        "messages": [{
            "seq": 6, "chat_id": 17, "at": 1_795_645_694_515_u64, "from": "agent", "type": "text",
            "text": "Yes, within five days.",
        }],
    }))
}

#[derive(Deserialize, JsonSchema)]
pub struct SessionRequest {
    #[serde(default)]
    pub token: OptionalText<MAX_TOKEN_CHARS>,
    /// Whether a browser without a token becomes a visitor.
    pub identify: Option<bool>,
    /// The seq of the last message that the widget has.
    pub after: Option<u64>,
    pub page: Option<BrowserPage>,
    #[serde(default)]
    pub referrer: Truncated<MAX_URL_CHARS>,
    /// The user of the customer's site. If the token's visitor belongs to another user, or the value is null and the
    /// visitor belongs to one, the session is that of a new visitor, whose token is returned. Otherwise the value is
    /// only stored for a visitor who is created.
    #[serde(default)]
    user_token: Change<OptionalText<MAX_USER_TOKEN_CHARS>>,
}

impl SessionRequest {
    /// Returns the user whom the page names: `None` if it says nothing, and `Some(None)` if it names no user any more.
    pub fn user_token(&self) -> Option<Option<String>> {
        self.user_token.clone().map(|OptionalText(token)| token).flatten().into_option()
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct WidgetTicketRequest {
    pub token: VisitorToken,
}

#[derive(Serialize, JsonSchema)]
pub struct WidgetSession<'a> {
    pub v: ProtocolVersion,
    pub widget: PublicWidgetSettings,
    pub rules: StoredRules<'a>,
    /// Whether agents are online within the business hours.
    pub mode: WidgetMode,
    /// When the business hours begin. Absent within them, if there are none, or if they do not begin within a year.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    pub opens_at: Optional<UnixSeconds>,
    /// Whether new chats start with a bot, so that messages are also taken while no agent is online.
    pub bot: bool,
    /// Whether the widget tells the visitor that a bot answers, while it does.
    pub bot_disclosure: bool,
    pub departments: Vec<ChatDepartment>,
    /// Some of the agents who are online.
    #[schemars(length(max = MAX_SHOWN_AGENTS))]
    pub agents: Vec<WidgetAgent>,
    /// Null if the browser has no visitor.
    pub visitor: Option<WidgetVisitor>,
    pub chat: Option<WidgetChat>,
    /// The position of the waiting chat among those that wait for the same agents. Absent if the chat does not wait, or if
    /// the account has no assignment.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    pub queue_position: Optional<SequentialNumber>,
    /// The last messages of the visitor's current or last chat.
    #[schemars(length(max = MAX_MESSAGES))]
    pub messages: Vec<WidgetMessage>,
    /// The call in progress. Null if there is none among the newest entries.
    pub call: Option<WidgetCall>,
    /// Whether there may be further messages between after and the first of messages. Without after, also true if the
    /// visitor has earlier chats. The endpoint history returns them.
    pub has_earlier: bool,
    /// Whether visitors can ask for callbacks, at least at certain times.
    pub callback: bool,
    /// Whether the visitor can ask for a callback now, as the endpoint callback says.
    pub callback_available: bool,
    /// Whether the visitor can send files.
    pub files: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct StoredRules<'a>(#[schemars(with = "Vec<TriggerRule>")] pub &'a Value);

/// Whether agents are online.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WidgetMode {
    Online,
    Offline,
}

impl WidgetMode {
    pub fn new(is_online: bool) -> Self {
        if is_online { Self::Online } else { Self::Offline }
    }
}

/// An agent who is online.
#[derive(Clone, Serialize, JsonSchema)]
pub struct WidgetAgent {
    name: String,
    photo: Option<WebUrl>,
    /// The departments of the widget to which the agent belongs.
    department_ids: Vec<SequentialNumber>,
}

impl WidgetAgent {
    /// `departments` are those of the widget.
    pub fn list(agents: &[Agent], departments: &[Department]) -> Vec<Self> {
        let shown = |agent: &Agent| {
            let departments = departments.iter().filter(|department| department.agent_ids.contains(&agent.agent_id));
            Self {
                name: agent.name.clone(),
                photo: agent.photo.clone().map(WebUrl),
                department_ids: departments.map(|department| SequentialNumber(department.department_id)).collect(),
            }
        };
        agents.iter().map(shown).collect()
    }
}
