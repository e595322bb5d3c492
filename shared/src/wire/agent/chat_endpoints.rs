//! The endpoints of an agent's chats: operations, requests, and the responses that are not rows of a list.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::contract::{Failure, Operation};
use crate::domain::accounts::inbox_settings::MAX_TAGS;
use crate::domain::chats::bot_draft::DraftUse;
use crate::domain::chats::chat_change::{ChatChange, MAX_SNOOZE, MAX_SNOOZE_DAYS, MAX_TAGS_PER_CHAT, SnoozeChange};
use crate::domain::chats::chat_changes::ChangesCursor;
use crate::domain::chats::chat_filter::ChatFilter;
use crate::domain::chats::chat_search::{MAX_SEARCH_CHARS, SearchCursor, SearchQuery};
use crate::domain::chats::chat_state;
use crate::domain::chats::mention::MAX_MENTIONS_PER_NOTE;
use crate::domain::chats::message_content::{Content, TypingNotice};
use crate::domain::chats::planned_message::{MAX_PLAN, MAX_PLAN_DAYS};
use crate::domain::chats::transfer_request::TransferRequest;
use crate::domain::named::Named;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::agent::{Chat, ChatRow, MAX_AGENT_FIELD_CHARS, PlannedMessage, TimelineEntry};
use crate::wire::channels::channel_api::UploadableMessage;
use crate::wire::channels::message_content::{FileSource, ParsedMessage, parse_message_object};
use crate::wire::fields::json_fields::Fields;
use crate::wire::fields::query_parameters::CURSOR_RULE;
use crate::wire::fields::urls::WebUrl;
use crate::wire::fields::values::{
    AnyText, Change, List, MAX_INTEGER, Name, NextCursor, NotNull, OptionalText, SequentialNumber, Text, True, Whole,
};

/// The maximum length of an agent's message or note. A longer text is rejected rather than truncated, because the agent
/// would not notice the truncation.
const MAX_AGENT_TEXT_CHARS: usize = 10_000;
const MAX_DRAFT_USE_CHARS: usize = 20;
const MAX_PLANNED_ID_CHARS: usize = 64;
const STORED: &str = "Stored and queued.";

pub(super) fn operations() -> Vec<Operation> {
    [lists(), transitions(), messages()].into_iter().flatten().collect()
}

fn lists() -> Vec<Operation> {
    vec![
        Operation::get("/agent/chats", "agentChats", "Lists the chats that the agent can see, newest first")
            .describe(
                "Includes the chats that the agent has, or had when they were closed; chats offered to the agent; and \
                 chats that other agents accepted or closed, if the agent receives the chats of the channel or is a \
                 member of the last department of the chat. An admin sees every chat. All other endpoints return 403 \
                 for a chat that is not in this list. A page may have fewer chats than the limit, or none: while next \
                 is not null, repeat the request with next as before. The filters can be combined. With a filter, a \
                 page is what remains of the next 100 chats.",
            )
            .query::<ChatListQuery>()
            .answers::<ChatList>(200, "The chats."),
        Operation::get("/agent/chats/{chat_id}", "agentChat", "Reads a chat, its visitor and its panel")
            .describe(
                "`panel` contains the data from webhooks and from the visitor's page. The timeline is read separately.",
            )
            .answers::<Chat>(200, "The chat."),
        Operation::patch("/agent/chats/{chat_id}", "changeChat", "Changes the tags of a chat, or puts it aside")
            .describe(
                "Every agent who can see the chat can change its tags, even when it is closed. Only the agent who has \
                 the chat can put it aside: it is snoozed until the time, until the visitor writes, or until somebody \
                 else gets it. A snoozed chat is not closed as idle. A repeated request has no further effect. The \
                 agent to whom the chat is offered can decline the offer. 409 if the chat would have more than ten \
                 tags, if the agent does not have it, or if it is not offered to the agent.",
            )
            .body::<ChatUpdate>()
            .answers::<ChatRow>(200, "The chat.")
            .fails(&[Failure::Conflict]),
        Operation::get("/agent/changes", "agentChanges", "Lists the chats that have changed since a cursor")
            .describe(
                "A console keeps its lists current as follows: it sends a request without parameters to get a cursor, \
                 reads its lists, and then requests the changes after the cursor, each time with the cursor of the \
                 previous response, until complete is true. Each change is returned at least once; a row can be \
                 returned again even though it has not changed. Chats that become visible or hidden because a \
                 channel, a department or an agent has changed are not returned, because the chats themselves have \
                 not changed.",
            )
            .query::<ChangesQuery>()
            .answers::<ChatChanges>(200, "The changed chats.")
            .fails(&[Failure::CursorExpired]),
        Operation::get("/agent/search", "agentSearch", "Searches the chats that the agent can see")
            .describe(
                "Finds chats whose number or visitor number is q; chats of visitors whose e-mail address or phone \
                 number begins with q (at least three characters or digits); chats of the visitor whom the integrator \
                 of an API channel knows by the id q, unless q consists of letters only; and chats in which each word \
                 of q begins a word of the visitor's name or of the part of the last message that ChatRow contains. \
                 Upper and lower case and accents make no difference. The first page begins with the best matches: \
                 the chat with this number, and the last chat of each visitor with this number, e-mail address or \
                 phone number. At most 25 visitors are found by e-mail address and 25 by phone number. The other \
                 results follow, newest first. Each page examines a limited number of chats, so it may have few \
                 results or none: while next is not null, repeat the request with next as cursor. No chat is returned \
                 twice.",
            )
            .query::<ChatSearchQuery>()
            .answers::<FoundChats>(200, "The chats."),
        Operation::get("/agent/visitors/{number}/chats", "visitorChats", "Lists a visitor's chats, newest first")
            .describe(
                "Contains open and closed chats. Chats that the agent cannot see are left out, so a page may have \
                 fewer chats or none: while next is not null, repeat the request with next as cursor. Allowed for \
                 agents who can see the visitor's open chat or, if no chat is open, the last one; other agents get \
                 403.",
            )
            .query::<VisitorChatsQuery>()
            .answers::<VisitorChats>(200, "The chats."),
    ]
}

fn transitions() -> Vec<Operation> {
    vec![
        Operation::post(
            "/agent/chats/{chat_id}/accept",
            "acceptChat",
            "The agent accepts the chat, even if a bot has it",
        )
        .describe(
            "A repeated request has no further effect. 409 if another agent has the chat or must accept it first, or if \
             the agent has as many chats as the capacity allows. The bot gets AGENT_JOINED, and webhooks get \
             chat_accepted.",
        )
        .answers::<ChatRow>(200, "The agent has the chat.")
        .fails(&[Failure::Conflict]),
        Operation::post(
            "/agent/chats/{chat_id}/close",
            "closeChat",
            "Closes the agent's chat, or one that no agent has",
        )
        .describe("A repeated request returns the same response and sends no second notification.")
        .answers::<ClosedChat>(200, "The chat is closed.")
        .fails(&[Failure::Conflict]),
        Operation::post(
            "/agent/chats/{chat_id}/assign",
            "assignChat",
            "Binds the visitor to the CRM card that the response to chat_accepted contained",
        )
        .describe("The response to chat_assigned appears in the panel.")
        .answers::<AssignedChat>(200, "The event chat_assigned is queued.")
        .fails(&[Failure::Conflict]),
        Operation::post(
            "/agent/chats/{chat_id}/transfer",
            "transferChat",
            "Transfers the chat to another agent, to a department or to a bot",
        )
        .describe(
            "Allowed for the agent who has the chat, and for admins. A recipient must be online, and an agent must have \
             fewer chats than the capacity allows. A bot gets CHAT_RETURNED; agents who can see a chat that waits or is \
             with a bot can give it to a bot too.",
        )
        .body::<ChatTransfer>()
        .answers::<ChatRow>(200, "The chat.")
        .fails(&[Failure::Conflict]),
    ]
}

fn messages() -> Vec<Operation> {
    vec![
        Operation::post("/agent/chats/{chat_id}/typing", "agentTyping", "The agent starts or stops typing")
            .describe(
                "The notice is not stored: it is sent to the visitor's front end once and never repeated.",
            )
            .optional_body::<AgentTyping>()
            .answers::<QueuedTypingNotice>(200, "The notice is queued.")
            .fails(&[Failure::Conflict, Failure::TooManyRequests]),
        Operation::get(
            "/agent/chats/{chat_id}/messages",
            "agentMessages",
            "Lists the timeline, oldest first, with the state of every delivery",
        )
        .describe(
            "A client that polls with its last seq as after never skips an entry: a page ends before a seq whose \
             entry is still being written, which takes ten seconds at most. Gaps in the sequence can be permanent.",
        )
        .query::<TimelineQuery>()
        .answers::<Timeline>(200, "The entries."),
        Operation::post(
            "/agent/chats/{chat_id}/messages",
            "agentMessage",
            "The agent sends a message to the visitor",
        )
        .describe(
            "The message is stored and queued before the response. Its delivery appears in the timeline. Repeat a \
             request that got no response with the same Idempotency-Key.",
        )
        .body::<AgentMessage>()
        .idempotent()
        .answers::<MessageStored>(201, STORED)
        .fails(&[Failure::Conflict, Failure::TooManyRequests]),
        Operation::put(
            "/agent/chats/{chat_id}/planned/{planned_id}",
            "planMessage",
            "The agent plans a text that is sent to the visitor later",
        )
        .describe(
            "The client chooses the id, so a request that got no response can be repeated. The text is kept with the chat, \
             and sent in the name of the agent within a minute after its time, also if the chat was transferred by then. \
             If the chat is closed by then, it is not sent, and a private note tells the agent. 409 if another agent has \
             the chat, or if it has ten planned messages.",
        )
        .body::<NewPlannedMessage>()
        .answers::<PlannedMessage>(200, "The message is planned.")
        .fails(&[Failure::Conflict, Failure::IdempotencyKeyReused, Failure::TooManyRequests]),
        Operation::post(
            "/agent/chats/{chat_id}/planned/{planned_id}",
            "sendPlannedMessage",
            "Sends a planned message now",
        )
        .describe(
            "Allowed for its author, for the agent who has the chat, and for admins. 409 if the chat is closed, or if \
             the message is being sent.",
        )
        .answers::<MessageStored>(201, STORED)
        .fails(&[Failure::Conflict]),
        Operation::delete(
            "/agent/chats/{chat_id}/planned/{planned_id}",
            "cancelPlannedMessage",
            "Cancels a planned message",
        )
        .describe(
            "Allowed for its author, for the agent who has the chat, and for admins. 404 if the message was sent or \
             cancelled, 409 if it is being sent.",
        )
        .answers::<CancelledMessage>(200, "The message will not be sent.")
        .fails(&[Failure::Conflict]),
        Operation::patch(
            "/agent/chats/{chat_id}/messages/{seq}",
            "editMessage",
            "The agent replaces the text of a message that the agent has sent",
        )
        .describe(
            "Only in chats of a widget, while the chat is open, and within 24 hours. The widget shows the new text, and \
             later events and exports contain it. The earlier text is not kept. 403 unless the agent wrote the \
             message; 409 if it cannot be edited.",
        )
        .body::<EditedMessage>()
        .answers::<TimelineEntry>(200, "The message.")
        .fails(&[Failure::Conflict]),
        Operation::delete(
            "/agent/chats/{chat_id}/messages/{seq}",
            "deleteMessage",
            "Deletes a message that an agent has sent",
        )
        .describe(
            "Its author or an admin can delete it, only in chats of a widget, while the chat is open, and within 24 \
             hours. Its text and its files are deleted for good; the entry stays in its place with the type deleted. A \
             repeated request has no further effect. 409 if the message cannot be deleted.",
        )
        .answers::<TimelineEntry>(200, "What is left of the message.")
        .fails(&[Failure::Conflict]),
        Operation::post("/agent/chats/{chat_id}/notes", "addNote", "The agent adds a private note to the chat")
            .describe(
                "The note becomes an entry of type note, which only agents see: it is not delivered and is not part of \
                 any event. Every agent who can see the chat can add a note, even when the chat is closed. The agents \
                 whom it mentions are told of it.",
            )
            .body::<NewNote>()
            .idempotent()
            .answers::<NoteStored>(201, "Stored."),
        Operation::post(
            "/agent/chats/{chat_id}/call",
            "callVisitor",
            "The agent who has the chat calls the visitor",
        )
        .describe(
            "The agent's phone rings first. 409: the agent does not have the chat, the visitor has a call in progress \
             or no phone number, the agent's profile has no valid phone number, the account has no telephony provider, \
             or its balance is used up.",
        )
        .optional_body::<AgentCallRequest>()
        .idempotent()
        .answers::<MessageStored>(201, STORED)
        .fails(&[Failure::Conflict]),
        Operation::post(
            "/agent/chats/{chat_id}/messages/{seq}/retry",
            "retryMessage",
            "Sends a failed message again",
        )
        .describe("Three new attempts, with the same `webhook-id`. 409 unless the delivery has failed.")
        .answers::<MessageStored>(202, STORED)
        .fails(&[Failure::Conflict]),
    ]
}

#[derive(Deserialize, JsonSchema)]
pub struct ChatListQuery {
    /// open selects every state except closed.
    #[serde(default)]
    #[schemars(extend("default" = "open"))]
    state: NotNull<ListedState>,
    /// Returns chats with a smaller chat_id.
    #[serde(default)]
    pub before: NotNull<u64>,
    /// The page size, 1 to 100; a number outside this range is replaced by the nearest limit.
    #[serde(default)]
    #[schemars(extend("default" = 100))]
    pub limit: NotNull<u64>,
    /// Selects chats with this tag.
    #[serde(default)]
    tag_id: NotNull<SequentialNumber>,
    /// Selects chats of this channel.
    #[serde(default)]
    #[schemars(regex(pattern = "^[A-Za-z0-9]{1,64}$"))]
    channel_id: NotNull<String>,
    /// Selects chats whose last department has this number.
    #[serde(default)]
    department_id: NotNull<SequentialNumber>,
    /// Selects chats in which the visitor wrote last or, if false, the others.
    #[serde(default)]
    unanswered: NotNull<bool>,
    /// Selects the chats in which the answer of an agent is due soon or overdue, or the others.
    #[serde(default)]
    answer_due: NotNull<bool>,
    /// Selects chats that are put aside now or, if false, the others.
    #[serde(default)]
    snoozed: NotNull<bool>,
    /// Selects chats in which a private note mentions the agent or, if false, the others.
    #[serde(default)]
    mentioned: NotNull<bool>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum ListedState {
    Open,
    Bot,
    Waiting,
    Active,
    Closed,
}

impl ChatListQuery {
    /// Returns the names of the states that are listed.
    pub fn states(&self) -> &'static [&'static str] {
        match self.state.0.unwrap_or(ListedState::Open) {
            ListedState::Open => &chat_state::ChatState::OPEN_NAMES,
            ListedState::Bot => &["bot"],
            ListedState::Waiting => &["waiting"],
            ListedState::Active => &["active"],
            ListedState::Closed => &["closed"],
        }
    }

    pub fn filter(&self) -> ChatFilter {
        let number = |field: &NotNull<SequentialNumber>| field.0.map(|SequentialNumber(number)| number);
        ChatFilter {
            tag_id: number(&self.tag_id),
            channel_id: self.channel_id.0.clone(),
            department_id: number(&self.department_id),
            unanswered: self.unanswered.0,
            answer_due: self.answer_due.0,
            snoozed: self.snoozed.0,
            mentioned: self.mentioned.0,
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct ChatList {
    #[schemars(length(max = 100))]
    pub chats: Vec<ChatRow>,
    /// The value of before for the next page; null on the last page.
    pub next: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
pub struct ChangesQuery {
    /// The cursor of the previous response. It is valid for 24 hours.
    #[serde(default)]
    #[schemars(regex(pattern = "^[0-9]+(-[0-9]+-[oce](-[0-9]+)*)?$"))]
    cursor: NotNull<String>,
}

impl ChangesQuery {
    /// Fails with `CursorExpired` if the cursor is too old.
    pub fn cursor(&self, now: Timestamp) -> Result<Option<ChangesCursor>, Error> {
        self.cursor.0.as_deref().map(|text| parse_changes_cursor(text, now)).transpose()
    }
}

fn parse_changes_cursor(text: &str, now: Timestamp) -> Result<ChangesCursor, Error> {
    let cursor = ChangesCursor::parse(text, now).ok_or_else(|| Error::field("cursor", CURSOR_RULE))?;
    if cursor.is_expired(now) { Err(Error::CursorExpired) } else { Ok(cursor) }
}

#[derive(Serialize, JsonSchema)]
pub struct ChatChanges {
    /// The cursor for the next request.
    pub cursor: String,
    /// The changed chats that the agent can see.
    #[schemars(length(max = 200))]
    pub chats: Vec<ChatRow>,
    /// The numbers of changed chats that the agent cannot see, and of erased chats.
    #[schemars(length(max = 200))]
    pub gone: Vec<SequentialNumber>,
    /// Whether the response contains all changes up to now. If not, repeat the request with the new cursor.
    pub complete: bool,
}

#[derive(Deserialize, JsonSchema)]
pub struct ChatSearchQuery {
    /// The search text. Leading and trailing blanks are ignored.
    #[schemars(length(min = 1, max = MAX_SEARCH_CHARS), regex(pattern = "\\S"))]
    q: String,
    /// The value of next from the previous page.
    #[serde(default)]
    #[schemars(regex(pattern = "^[0-9]+(-[0-9]+)*$"))]
    cursor: NotNull<String>,
}

impl ChatSearchQuery {
    pub fn checked(&self) -> Result<(SearchQuery, Option<SearchCursor>), Error> {
        let invalid = || Error::field("q", format_args!("must have 1 to {MAX_SEARCH_CHARS} characters"));
        let query = SearchQuery::parse(&self.q).ok_or_else(invalid)?;
        Ok((query, self.cursor.0.as_deref().map(parse_search_cursor).transpose()?))
    }
}

fn parse_search_cursor(text: &str) -> Result<SearchCursor, Error> {
    SearchCursor::parse(text).ok_or_else(|| Error::field("cursor", CURSOR_RULE))
}

#[derive(Serialize, JsonSchema)]
pub struct FoundChats {
    /// The chats found.
    #[schemars(length(max = 200))]
    pub chats: Vec<ChatRow>,
    pub next: NextCursor,
}

#[derive(Deserialize, JsonSchema)]
pub struct VisitorChatsQuery {
    /// The value of next from the previous page.
    #[serde(default)]
    #[schemars(with = "NotNull<String>", regex(pattern = "^[0-9]+$"))]
    pub cursor: NotNull<u64>,
}

#[derive(Serialize, JsonSchema)]
pub struct VisitorChats {
    /// The visitor's chats.
    #[schemars(length(max = 10))]
    pub chats: Vec<ChatRow>,
    pub next: NextCursor,
}

/// Absent fields change nothing.
#[derive(Clone, Deserialize, JsonSchema)]
pub struct ChatUpdate {
    /// The numbers of tags to put on the chat. Tags that it has are ignored.
    #[serde(default)]
    add_tags: NotNull<List<SequentialNumber, MAX_TAGS_PER_CHAT>>,
    /// The numbers of tags to remove. Tags that the chat does not have are ignored.
    #[serde(default)]
    remove_tags: NotNull<List<SequentialNumber, MAX_TAGS>>,
    /// Unix seconds: a time within the next 90 days until which the chat is put aside. Null ends the snooze.
    #[serde(default)]
    snoozed_until: Change<Whole<1, MAX_INTEGER>>,
    /// True if the agent does not want the chat that is offered to the agent. It is then offered to the next one.
    #[serde(default)]
    decline_offer: bool,
}

impl ChatUpdate {
    /// Fails if a snooze would be over at once, or would be too long.
    pub fn checked(self, now: Timestamp) -> Result<ChatChange, Error> {
        let Self { add_tags, remove_tags, snoozed_until, decline_offer } = self;
        let snooze = match snoozed_until {
            Change::Unchanged => SnoozeChange::Unchanged,
            Change::Cleared => SnoozeChange::End,
            Change::Set(Whole(seconds)) => SnoozeChange::Until(checked_snooze(seconds, now)?),
        };
        let (added_tags, removed_tags) = (numbers(add_tags), numbers(remove_tags));
        Ok(ChatChange { added_tags, removed_tags, snooze, declines_offer: decline_offer })
    }
}

fn checked_snooze(seconds: u64, now: Timestamp) -> Result<Timestamp, Error> {
    let until = Timestamp(seconds.saturating_mul(1_000));
    let is_valid = now < until && until <= now.plus(MAX_SNOOZE);
    let invalid =
        || Error::field("snoozed_until", format_args!("must be a time within the next {MAX_SNOOZE_DAYS} days"));
    is_valid.then_some(until).ok_or_else(invalid)
}

pub(in crate::wire) fn numbers<const MAX: usize>(list: NotNull<List<SequentialNumber, MAX>>) -> Vec<u64> {
    list.0.into_iter().flat_map(|List(numbers)| numbers).map(|SequentialNumber(number)| number).collect()
}

#[derive(Serialize, JsonSchema)]
pub struct ClosedChat {
    chat_id: SequentialNumber,
    #[schemars(extend("const" = "closed"))]
    state: &'static str,
}

impl ClosedChat {
    pub fn new(chat_id: u64) -> Self {
        Self { chat_id: SequentialNumber(chat_id), state: "closed" }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct AssignedChat {
    pub chat_id: SequentialNumber,
    pub assign_to: WebUrl,
}

/// To whom a chat is given, and what the colleagues must know.
#[derive(Deserialize)]
pub struct ChatTransfer {
    agent_id: Option<SequentialNumber>,
    department_id: Option<SequentialNumber>,
    bot_id: Option<AnyText<MAX_BOT_ID_CHARS>>,
    note: Option<Text<MAX_AGENT_TEXT_CHARS>>,
}

/// To whom a chat is given. Exactly one of the three fields is required.
#[derive(Clone, Deserialize)]
pub struct TransferTo {
    agent_id: Option<SequentialNumber>,
    department_id: Option<SequentialNumber>,
    bot_id: Option<AnyText<MAX_BOT_ID_CHARS>>,
}

const MAX_BOT_ID_CHARS: usize = 100;

impl ChatTransfer {
    /// Returns the recipient and the private note.
    pub fn checked(self) -> Result<(TransferRequest, Option<String>), Error> {
        let Self { agent_id, department_id, bot_id, note } = self;
        let request = TransferTo { agent_id, department_id, bot_id }.checked()?;
        if note.is_some() && matches!(request, TransferRequest::Bot(_)) {
            return Err(Error::field("note", "cannot be given to a bot"));
        }
        Ok((request, note.map(|Text(note)| note)))
    }
}

impl TransferTo {
    pub fn checked(&self) -> Result<TransferRequest, Error> {
        match (self.agent_id, self.department_id, &self.bot_id) {
            (Some(SequentialNumber(agent_id)), None, None) => Ok(TransferRequest::Agent(agent_id)),
            (None, Some(SequentialNumber(department_id)), None) => Ok(TransferRequest::Department(department_id)),
            (None, None, Some(AnyText(bot_id))) => Ok(TransferRequest::Bot(bot_id.clone())),
            (None, None, None) => Err(Error::field("agent_id", "or department_id or bot_id is required")),
            (Some(_), Some(_), _) => Err(Error::field("department_id", "cannot be combined with agent_id")),
            (_, _, Some(_)) => Err(Error::field("bot_id", "cannot be combined with agent_id or department_id")),
        }
    }
}

impl JsonSchema for ChatTransfer {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ChatTransfer".into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let note = serde_json::json!({
            "type": ["string", "null"],
            "minLength": 1,
            "maxLength": MAX_AGENT_TEXT_CHARS,
            "description": "A private note, which is stored in the same step before the transfer.",
        });
        transfer_schema(schemas, Some(&note))
    }
}

impl JsonSchema for TransferTo {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TransferTo".into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        transfer_schema(schemas, None)
    }
}

/// The recipients of a transfer. Those who can read it can get a note.
fn transfer_schema(schemas: &mut SchemaGenerator, note: Option<&Value>) -> Schema {
    let number: Value = schemas.subschema_for::<SequentialNumber>().into();
    let bot_id = serde_json::json!({ "type": "string", "minLength": 1, "maxLength": MAX_BOT_ID_CHARS });
    let recipient = |name: &str, id: Value, note: Option<&Value>| {
        let mut properties = serde_json::Map::from_iter([(name.to_owned(), id)]);
        properties.extend(note.map(|note| ("note".to_owned(), note.clone())));
        serde_json::json!({ "type": "object", "required": [name], "properties": properties })
    };
    json_schema!({
        "description": "Exactly one of agent_id, department_id and bot_id is required.",
        "oneOf": [
            recipient("agent_id", number.clone(), note),
            recipient("department_id", number, note),
            recipient("bot_id", bot_id, None),
        ],
    })
}

#[derive(Deserialize, JsonSchema)]
pub struct AgentTyping {
    #[schemars(extend("default" = TypingNotice::Start.name()))]
    r#type: Option<Name<TypingNotice>>,
}

impl AgentTyping {
    pub fn notice(&self) -> TypingNotice {
        self.r#type.map_or(TypingNotice::Start, |Name(notice)| notice)
    }
}

#[derive(Serialize, JsonSchema)]
pub struct QueuedTypingNotice {
    pub chat_id: SequentialNumber,
    pub r#type: Name<TypingNotice>,
}

#[derive(Deserialize, JsonSchema)]
pub struct TimelineQuery {
    /// Returns entries with a larger seq.
    #[serde(default)]
    #[schemars(extend("default" = 0))]
    pub after: NotNull<u64>,
    /// The page size, 1 to 500; a number outside this range is replaced by the nearest limit.
    #[serde(default)]
    #[schemars(extend("default" = 500))]
    pub limit: NotNull<u64>,
}

#[derive(Serialize, JsonSchema)]
pub struct Timeline {
    #[schemars(length(max = 500))]
    pub messages: Vec<TimelineEntry>,
}

/// The body is a `message` object (specification, table A3), which [`parse_agent_message`] reads.
pub struct AgentMessage;

impl JsonSchema for AgentMessage {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AgentMessage".into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let mut schema = UploadableMessage::json_schema(schemas);
        // Generators read the fields beside oneOf as fields of each alternative.
        if let Some(alternatives) = schema.remove("anyOf") {
            schema.insert("oneOf".into(), alternatives);
        }
        schema.insert(
            "description".into(),
            format!("An agent's text may have at most {MAX_AGENT_TEXT_CHARS} characters.").into(),
        );
        schema.insert("type".into(), "object".into());
        let text = json_schema!({ "type": ["string", "null"], "maxLength": MAX_AGENT_TEXT_CHARS });
        let draft = json_schema!({
            "type": ["string", "null"],
            "enum": [DraftUse::Taken.name(), DraftUse::Edited.name(), null],
            "description": "Whether the message is a bot's draft, or was made of one. Counted in the reports.",
        });
        let properties = serde_json::json!({ "text": text, "draft": draft });
        schema.insert("properties".into(), properties);
        schema
    }
}

/// Returns the message, and what it has made of a bot's draft.
pub fn parse_agent_message(body: &Value) -> Result<(Content, Option<DraftUse>), Error> {
    let body = Fields::of(body)?;
    let ParsedMessage::Content(mut content) = parse_message_object(body, usize::MAX, FileSource::AddressOrUpload)?
    else {
        return Err(body.invalid("type", "of a typing notice is sent to .../typing"));
    };
    // Only visitors press buttons.
    if let Content::Text { button_id, .. } = &mut *content {
        *button_id = None;
    }
    let text_chars = content.own_text().map_or(0, |text| text.chars().count());
    if text_chars > MAX_AGENT_TEXT_CHARS {
        return Err(body.invalid("text", format_args!("must have at most {MAX_AGENT_TEXT_CHARS} characters")));
    }
    let draft = body.text("draft", MAX_DRAFT_USE_CHARS)?;
    let used = draft.as_deref().map(|name| DraftUse::parse(name).ok_or_else(|| invalid_draft_use(body))).transpose()?;
    Ok((*content, used))
}

fn invalid_draft_use(body: Fields<'_>) -> Error {
    body.invalid("draft", format_args!("must be one of {}", DraftUse::names().join(", ")))
}

#[derive(Serialize, JsonSchema)]
pub struct MessageStored {
    seq: SequentialNumber,
    /// Sent to the receiver as message.id.
    #[schemars(extend("format" = "uuid"))]
    id: String,
}

impl MessageStored {
    pub fn new(seq: u64, id: &str) -> Self {
        Self { seq: SequentialNumber(seq), id: id.to_owned() }
    }
}

/// The new text of a message.
#[derive(Deserialize, JsonSchema)]
pub struct EditedMessage {
    text: Text<MAX_AGENT_TEXT_CHARS>,
}

impl EditedMessage {
    pub fn into_text(self) -> String {
        let Self { text: Text(text) } = self;
        text
    }
}

/// A text that is sent later.
#[derive(Deserialize, JsonSchema)]
pub struct NewPlannedMessage {
    text: Text<MAX_AGENT_TEXT_CHARS>,
    /// Unix seconds: a time within the next 30 days.
    send_at: Whole<1, MAX_INTEGER>,
}

impl NewPlannedMessage {
    /// Returns the text and its time. `now` is `None` for a repeated request, which may come after the message was sent.
    pub fn checked(self, now: Option<Timestamp>) -> Result<(String, Timestamp), Error> {
        let Self { text: Text(text), send_at: Whole(seconds) } = self;
        let send_at = Timestamp(seconds.saturating_mul(1_000));
        if now.is_some_and(|now| send_at <= now || send_at > now.plus(MAX_PLAN)) {
            return Err(Error::field("send_at", format_args!("must be a time within the next {MAX_PLAN_DAYS} days")));
        }
        Ok((text, send_at))
    }
}

/// Checks the id that the client has chosen for a planned message.
pub fn checked_planned_id(id: String) -> Result<String, Error> {
    let is_safe = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_safe && (1..=MAX_PLANNED_ID_CHARS).contains(&id.len()) {
        return Ok(id);
    }
    let expected = format_args!("must have 1 to {MAX_PLANNED_ID_CHARS} letters, digits, hyphens or underscores");
    Err(Error::field("planned_id", expected))
}

#[derive(Serialize, JsonSchema)]
pub struct CancelledMessage {
    pub planned_id: String,
    pub cancelled: True,
}

#[derive(Deserialize, JsonSchema)]
pub struct NewNote {
    text: Text<MAX_AGENT_TEXT_CHARS>,
    /// The agents whom the note mentions, who must see the chat.
    #[serde(default)]
    mentions: NotNull<List<SequentialNumber, MAX_MENTIONS_PER_NOTE>>,
}

impl NewNote {
    /// Returns the text, and the agents whom the note mentions.
    pub fn into_parts(self) -> (String, Vec<u64>) {
        let Self { text: Text(text), mentions } = self;
        (text, numbers(mentions))
    }
}

#[derive(Serialize, JsonSchema)]
pub struct NoteStored {
    pub seq: SequentialNumber,
    #[schemars(extend("format" = "uuid"))]
    pub id: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct AgentCallRequest {
    /// The number to call instead of the visitor's.
    #[serde(default)]
    pub phone: OptionalText<MAX_AGENT_FIELD_CHARS>,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;
    use crate::wire::fields::reader::read;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    #[test]
    fn text_is_planned_for_at_most_thirty_days() {
        let send_at = |seconds: Value, now: Option<Timestamp>| {
            read::<NewPlannedMessage>(&json!({ "text": "hi", "send_at": seconds }))?.checked(now).map(|(_, at)| at)
        };
        assert_eq!(send_at(json!(1_700_000_060), Some(NOW)).unwrap(), Timestamp(1_700_000_060_000));
        let latest = NOW.plus(MAX_PLAN).seconds();
        assert!(send_at(json!(latest), Some(NOW)).is_ok());
        assert!(send_at(json!(1), None).is_ok(), "a repeated request");
        for seconds in [json!(1_700_000_000), json!(latest + 1), json!("tomorrow"), json!(null)] {
            let error = send_at(seconds.clone(), Some(NOW)).unwrap_err();
            assert_eq!(error.invalid_field(), Some("send_at"), "{seconds}");
        }
    }

    #[test]
    fn id_of_a_planned_message_is_safe_in_a_path() {
        for id in ["a", "9f2c-_X", &"x".repeat(MAX_PLANNED_ID_CHARS)] {
            assert_eq!(checked_planned_id(id.to_owned()).unwrap(), id);
        }
        for id in ["", "a b", "a/b", "ä", &"x".repeat(MAX_PLANNED_ID_CHARS + 1)] {
            assert_eq!(checked_planned_id(id.to_owned()).unwrap_err().invalid_field(), Some("planned_id"), "{id}");
        }
    }
}
