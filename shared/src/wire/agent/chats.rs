//! Chats as agents see them: the rows of lists, and a chat with its visitor and its panel.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::chats::answer_timer;
use crate::domain::chats::bot_draft::BotDraft;
use crate::domain::chats::bot_handover::HandoverDetails;
use crate::domain::chats::chat::{self, MAX_UNDELIVERED, MessagePreview, Rating};
use crate::domain::chats::chat_assignment;
use crate::domain::chats::chat_change::MAX_TAGS_PER_CHAT;
use crate::domain::chats::chat_side_panel::{self, CrmCardAssignment, CustomData};
use crate::domain::chats::chat_state;
use crate::domain::chats::mention::{self, MAX_MENTIONED_AGENTS};
use crate::domain::chats::planned_message::{self, MAX_PLANNED_PER_CHAT};
use crate::domain::text::link_filter::LinkFilter;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::{self, VisitorProfile};
use crate::wire::agent::handover::{Handover, HandoverRow};
use crate::wire::agent::timeline::EntrySender;
use crate::wire::agent::visitors::VisitorFieldSources;
use crate::wire::agent::{ChatAgent, ChatDepartment};
use crate::wire::channels::message_content::MessageType;
use crate::wire::fields::urls::WebUrl;
use crate::wire::fields::values::{Name, Optional, SequentialNumber, UnixSeconds};
use crate::wire::webhooks::webhook_event::WebhookBrowserSession;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChatState {
    Bot,
    Waiting,
    Active,
    Closed,
}

impl From<&chat_state::ChatState> for ChatState {
    fn from(state: &chat_state::ChatState) -> Self {
        match state {
            chat_state::ChatState::Bot => Self::Bot,
            chat_state::ChatState::Waiting | chat_state::ChatState::Offered(_) => Self::Waiting,
            chat_state::ChatState::Active(_) => Self::Active,
            chat_state::ChatState::Closed(_) => Self::Closed,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChatChannel {
    channel_id: String,
    /// The channel's name when the chat was opened.
    name: String,
}

impl From<&chat::Chat> for ChatChannel {
    fn from(chat: &chat::Chat) -> Self {
        Self { channel_id: chat.channel_id.clone(), name: chat.channel_name.clone() }
    }
}

/// The seq of the last entry of the timeline. An entry with this seq may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct LastSeq(#[schemars(range(min = 1))] pub u64);

/// A chat in a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChatRow {
    chat_id: SequentialNumber,
    state: ChatState,
    visitor: ChatRowVisitor,
    channel: ChatChannel,
    /// The agent who has the chat, or had it when it was closed.
    agent: Option<ChatAgent>,
    /// The department of the chat.
    department: Option<ChatDepartment>,
    last_message: Option<LastMessage>,
    /// How many messages of agents could not be delivered to the visitor and have not been delivered by a replay
    /// since. At most 100 are counted. A failure is counted as soon as no attempt remains, up to three seconds before
    /// the message's delivery shows it.
    #[schemars(range(max = MAX_UNDELIVERED))]
    failed_messages: usize,
    updated_at: UnixSeconds,
    seq: LastSeq,
    /// When the visitor started waiting for an agent, in Unix seconds. Null unless the state is waiting.
    waiting_since: Option<UnixSeconds>,
    /// How the bot handed over the chat. Null unless a bot had it before the agents.
    handover: Option<HandoverRow>,
    /// The numbers of the account's tags that agents have put on the chat. Absent if there are none. A tag may have been
    /// deleted since.
    #[schemars(length(max = MAX_TAGS_PER_CHAT))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tag_ids: Vec<SequentialNumber>,
    /// The time until which the agent has put the chat aside; it may have passed. Absent if the chat is not put aside,
    /// or if the visitor has written since.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    snoozed_until: Optional<UnixSeconds>,
    /// The agents whom private notes mention. Absent if there are none.
    #[schemars(length(max = MAX_MENTIONED_AGENTS))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mentions: Vec<Mention>,
    /// The agent who must accept the waiting chat first. Absent if there is none.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    offer: Optional<AgentOffer>,
    /// The time limit of the answer that agents owe the visitor. Absent if there is none.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    answer_due: Optional<AnswerDue>,
    /// When an agent last edited or deleted a message of the chat. A client that does not know of this change reads the
    /// timeline again. Absent if there was none.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    messages_changed_at: Optional<UnixSeconds>,
    /// The number of messages that agents have planned to send later. Absent if there are none.
    #[schemars(range(min = 1, max = MAX_PLANNED_PER_CHAT))]
    #[serde(skip_serializing_if = "Optional::is_absent")]
    planned: Optional<u32>,
}

/// An agent whom a private note mentions, and the seq of the last such note.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Mention {
    agent_id: SequentialNumber,
    seq: SequentialNumber,
}

impl From<mention::Mention> for Mention {
    fn from(mention::Mention { agent_id, seq }: mention::Mention) -> Self {
        Self { agent_id: SequentialNumber(agent_id), seq: SequentialNumber(seq) }
    }
}

/// The time limit of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AnswerDue {
    at: UnixSeconds,
    /// From when on the answer is due soon.
    soon_at: UnixSeconds,
    /// Whether it is the first answer in the chat.
    first: bool,
}

impl From<answer_timer::AnswerDue> for AnswerDue {
    fn from(answer_timer::AnswerDue { at, soon_at, is_first, .. }: answer_timer::AnswerDue) -> Self {
        Self { at: at.into(), soon_at: soon_at.into(), first: is_first }
    }
}

/// The offer of a waiting chat to one agent. Until it ends, nobody else can accept the chat.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AgentOffer {
    agent_id: SequentialNumber,
    until: UnixSeconds,
}

impl From<chat_assignment::AgentOffer> for AgentOffer {
    fn from(chat_assignment::AgentOffer { agent_id, until }: chat_assignment::AgentOffer) -> Self {
        Self { agent_id: SequentialNumber(agent_id), until: until.into() }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChatRowVisitor {
    number: SequentialNumber,
    name: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LastMessage {
    from: EntrySender,
    /// The agent who wrote the message. Null if no agent wrote it, and for messages from before this field was
    /// introduced.
    agent_id: Option<SequentialNumber>,
    r#type: MessageType,
    /// The first characters of the text.
    text: String,
    timestamp: UnixSeconds,
}

impl From<MessagePreview> for LastMessage {
    fn from(MessagePreview { from, agent_id, kind, text, at }: MessagePreview) -> Self {
        Self {
            from: EntrySender(from.into()),
            agent_id: agent_id.map(SequentialNumber),
            r#type: MessageType(kind.into()),
            text,
            timestamp: at.into(),
        }
    }
}

impl ChatRow {
    /// Links that Safe URL (the link filter) blocks are replaced. The preview of an expired message is left out.
    pub fn new(chat: chat::Chat, safe_urls: &LinkFilter, now: Timestamp) -> Self {
        let chat = safe_urls.filter_chat(chat.without_expired_preview(now));
        Self {
            chat_id: SequentialNumber(chat.chat_id),
            state: (&chat.state).into(),
            visitor: ChatRowVisitor { number: SequentialNumber(chat.visitor_number), name: chat.visitor_name.clone() },
            channel: (&chat).into(),
            agent: chat.state.agent().cloned().map(ChatAgent::from),
            failed_messages: chat.undelivered.len(),
            updated_at: chat.updated_at.into(),
            seq: LastSeq(chat.seq),
            waiting_since: chat.waiting_since.map(UnixSeconds::from),
            snoozed_until: Optional(chat.snoozed_until().map(UnixSeconds::from)),
            offer: Optional(chat.assignment.offer.map(AgentOffer::from)),
            answer_due: Optional(chat.owed_answer().map(AnswerDue::from)),
            messages_changed_at: Optional(chat.messages_changed_at.map(UnixSeconds::from)),
            planned: Optional(Some(chat.planned).filter(|count| *count > 0)),
            tag_ids: chat.tag_ids.iter().copied().map(SequentialNumber).collect(),
            mentions: chat.mentions.iter().copied().map(Mention::from).collect(),
            last_message: chat.last_message.map(LastMessage::from),
            department: chat.department.map(ChatDepartment::from),
            handover: chat.handover.map(HandoverRow::from),
        }
    }

    pub fn list(chats: Vec<chat::Chat>, safe_urls: &LinkFilter, now: Timestamp) -> Vec<Self> {
        chats.into_iter().map(|chat| Self::new(chat, safe_urls, now)).collect()
    }
}

/// A chat with its visitor and its panel.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Chat {
    chat_id: SequentialNumber,
    state: ChatState,
    channel: ChatChannel,
    /// The agent who has the chat, or had it when it was closed.
    agent: Option<ChatAgent>,
    /// The department of the chat.
    department: Option<ChatDepartment>,
    opened_at: UnixSeconds,
    updated_at: UnixSeconds,
    seq: LastSeq,
    /// When the visitor started waiting for an agent, in Unix seconds. Null unless the state is waiting.
    waiting_since: Option<UnixSeconds>,
    /// How the bot handed over the chat. Null unless a bot had it before the agents.
    handover: Option<Handover>,
    visitor_typing: bool,
    rate: Option<Name<Rating>>,
    /// The numbers of the account's tags that agents have put on the chat. Absent if there are none. A tag may have been
    /// deleted since.
    #[schemars(length(max = MAX_TAGS_PER_CHAT))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tag_ids: Vec<SequentialNumber>,
    /// The time until which the agent has put the chat aside; it may have passed. Absent if the chat is not put aside,
    /// or if the visitor has written since.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    snoozed_until: Optional<UnixSeconds>,
    /// The agent who must accept the waiting chat first. Absent if there is none.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    offer: Optional<AgentOffer>,
    /// The time limit of the answer that agents owe the visitor. Absent if there is none.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    answer_due: Optional<AnswerDue>,
    /// The messages that agents have planned to send later, in the order of their times. Absent if there are none.
    #[schemars(length(max = MAX_PLANNED_PER_CHAT))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    planned: Vec<PlannedMessage>,
    visitor: ChatVisitor,
    panel: AgentPanel,
    #[serde(flatten)]
    browser: Option<ChatBrowser>,
}

/// A message that an agent has planned to send later.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlannedMessage {
    #[schemars(length(min = 1))]
    planned_id: String,
    /// The author.
    agent: ChatAgent,
    text: String,
    /// When the message is sent, to the minute.
    send_at: UnixSeconds,
}

impl PlannedMessage {
    /// Links that Safe URL (the link filter) blocks are replaced.
    pub fn new(planned: planned_message::PlannedMessage, safe_urls: &LinkFilter) -> Self {
        let planned_message::PlannedMessage { planned_id, agent, text, send_at, .. } = planned;
        let text = safe_urls.filter_text(&text);
        Self { planned_id, agent: agent.into(), text, send_at: send_at.into() }
    }
}

/// The fields that only chats of a widget have.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChatBrowser {
    /// The visitor's browser. Like page and referrer, it is present only in chats of a widget.
    session: WebhookBrowserSession,
    page: BrowserPageOrNull,
    referrer: ReferrerOrNull,
}

/// The page that the visitor of a widget views. Null if it is not known.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct BrowserPageOrNull(Option<ChatPage>);

/// The page from which the visitor of a widget came. Null if it is not known.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct ReferrerOrNull(Option<String>);

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChatPage {
    url: WebUrl,
    title: Option<String>,
}

impl Chat {
    /// `handover` is what the bot told the agents. Links that Safe URL (the link filter) blocks are replaced or left
    /// out.
    pub fn new(
        (chat, handover): (&chat::Chat, Option<&HandoverDetails>),
        visitor: visitor::Visitor,
        panel: chat_side_panel::Panel,
        safe_urls: &LinkFilter,
        now: Timestamp,
    ) -> Self {
        let browser = visitor.widget.is_some();
        let (panel, visitor) = (safe_urls.filter_panel(panel), safe_urls.filter_visitor(visitor));
        Self {
            chat_id: SequentialNumber(chat.chat_id),
            state: (&chat.state).into(),
            channel: chat.into(),
            agent: chat.state.agent().cloned().map(ChatAgent::from),
            department: chat.department.clone().map(ChatDepartment::from),
            opened_at: chat.opened_at.into(),
            updated_at: chat.updated_at.into(),
            seq: LastSeq(chat.seq),
            waiting_since: chat.waiting_since.map(UnixSeconds::from),
            handover: chat.handover.as_ref().map(|it| Handover::new(it, handover, safe_urls)),
            visitor_typing: chat.is_visitor_typing(now),
            rate: chat.rating.map(Name),
            tag_ids: chat.tag_ids.iter().copied().map(SequentialNumber).collect(),
            snoozed_until: Optional(chat.snoozed_until().map(UnixSeconds::from)),
            offer: Optional(chat.assignment.offer.map(AgentOffer::from)),
            answer_due: Optional(chat.owed_answer().map(AnswerDue::from)),
            planned: Vec::new(),
            visitor: ChatVisitor::of_filtered(&visitor, panel.invite.clone()),
            browser: browser.then(|| ChatBrowser::of_filtered(&visitor)),
            panel: AgentPanel::of_filtered(panel, Some(&visitor)),
        }
    }

    #[must_use]
    pub fn with_planned(mut self, planned: Vec<planned_message::PlannedMessage>, safe_urls: &LinkFilter) -> Self {
        self.planned = planned.into_iter().map(|planned| PlannedMessage::new(planned, safe_urls)).collect();
        self
    }
}

impl ChatBrowser {
    fn of_filtered(visitor: &visitor::Visitor) -> Self {
        let widget = visitor.widget.as_deref();
        let title = widget.and_then(|widget| widget.page_title.clone());
        let page = visitor.profile.page().map(|url| ChatPage { url: WebUrl(url.to_owned()), title });
        Self {
            session: WebhookBrowserSession::from(visitor),
            page: BrowserPageOrNull(page),
            referrer: ReferrerOrNull(widget.and_then(|widget| widget.session.referrer.clone())),
        }
    }
}

/// The visitor of a chat.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChatVisitor {
    number: SequentialNumber,
    /// sender.id
    id: String,
    /// Anonymous if unknown.
    name: String,
    phone: Option<String>,
    email: Option<String>,
    photo: Option<WebUrl>,
    url: Option<WebUrl>,
    /// sender.url, if it is not an http or https address. It is shown as text, not as a link.
    url_text: Option<String>,
    /// The invitation that the visitor sent with this chat.
    invite: Option<String>,
    description: Option<String>,
    blacklisted: bool,
    /// The number of chats that the visitor has opened.
    chats_count: u64,
    sources: VisitorFieldSources,
    /// The numbers of the other visitors who are the same person. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    merged_with: Vec<SequentialNumber>,
}

impl ChatVisitor {
    /// `panel` contains the invitation. Links that Safe URL (the link filter) blocks are replaced or left out.
    pub(crate) fn new(visitor: visitor::Visitor, panel: chat_side_panel::Panel, safe_urls: &LinkFilter) -> Self {
        Self::of_filtered(&safe_urls.filter_visitor(visitor), safe_urls.filter_panel(panel).invite)
    }

    fn of_filtered(visitor: &visitor::Visitor, invite: Option<String>) -> Self {
        let VisitorProfile { name: _, phone, email, photo, url: _, description } = visitor.profile.clone();
        Self {
            number: SequentialNumber(visitor.number),
            id: visitor.external_id.clone(),
            name: visitor.profile.display_name().to_owned(),
            phone,
            email,
            photo: photo.map(WebUrl),
            url: visitor.profile.page().map(|url| WebUrl(url.to_owned())),
            url_text: visitor.profile.url_text().map(str::to_owned),
            invite,
            description,
            blacklisted: visitor.blacklisted,
            chats_count: visitor.chats,
            sources: visitor.sources.into(),
            merged_with: visitor.merged_with.iter().copied().map(SequentialNumber).collect(),
        }
    }
}

/// Data from the customer's systems for the agent.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AgentPanel {
    custom_data: Vec<PanelLine>,
    /// Whether the agent may bind the visitor to a CRM card.
    enable_assign: bool,
    crm_link: Option<WebUrl>,
    page: Option<ChatPage>,
    assignment: Option<PanelAssignment>,
    /// The answer that the bot suggests to the agent. Absent if there is none.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    draft: Optional<SuggestedAnswer>,
}

/// An answer that a bot on standby suggests. It may be out of date if the visitor has written after the entry with the
/// number after_seq, and is no longer needed if an agent has.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SuggestedAnswer {
    /// The name of the bot.
    bot: String,
    text: String,
    after_seq: u64,
    /// Unix time in milliseconds.
    at: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PanelLine {
    title: Option<String>,
    /// Text. Tags are removed from webhook data; tags in other data are shown as text.
    content: String,
    link: Option<WebUrl>,
    key: Option<String>,
    /// script: set on the visitor's page; visitor: an answer to a custom field of the contacts form; crm: returned by
    /// a webhook.
    source: PanelSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum PanelSource {
    Script,
    Visitor,
    Crm,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PanelAssignment {
    state: AssignmentState,
    /// The error text, if the assignment failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum AssignmentState {
    Pending,
    Done,
    Failed,
}

impl AgentPanel {
    /// Links that Safe URL (the link filter) blocks are replaced or left out.
    pub fn new(panel: chat_side_panel::Panel, visitor: Option<visitor::Visitor>, safe_urls: &LinkFilter) -> Self {
        let visitor = visitor.map(|visitor| safe_urls.filter_visitor(visitor));
        Self::of_filtered(safe_urls.filter_panel(panel), visitor.as_ref())
    }

    /// Contains what a script on the visitor's page has set, what the visitor has answered in the contacts form, and
    /// what webhooks have returned.
    fn of_filtered(panel: chat_side_panel::Panel, visitor: Option<&visitor::Visitor>) -> Self {
        let chat_side_panel::Panel { custom_data, enable_assign, crm_link, page, assignment, invite: _, draft } = panel;
        let widget = visitor.and_then(|visitor| visitor.widget.as_deref()).cloned().unwrap_or_default();
        let lines = [
            (widget.custom_data, PanelSource::Script),
            (widget.answers, PanelSource::Visitor),
            (custom_data, PanelSource::Crm),
        ];
        let lines = lines.into_iter().flat_map(|(lines, source)| {
            lines.into_iter().map(move |CustomData { title, content, link, key }| PanelLine {
                title,
                content,
                link: link.map(WebUrl),
                key,
                source,
            })
        });
        Self {
            custom_data: lines.collect(),
            enable_assign,
            crm_link: crm_link.map(WebUrl),
            page: page.map(|(url, title)| ChatPage { url: WebUrl(url), title }),
            assignment: assignment.map(PanelAssignment::from),
            draft: Optional(draft.map(SuggestedAnswer::from)),
        }
    }
}

impl From<BotDraft> for SuggestedAnswer {
    fn from(BotDraft { bot_name, text, after_seq, at }: BotDraft) -> Self {
        Self { bot: bot_name, text, after_seq, at: at.0 }
    }
}

impl From<CrmCardAssignment> for PanelAssignment {
    fn from(assignment: CrmCardAssignment) -> Self {
        match assignment {
            CrmCardAssignment::Pending => Self { state: AssignmentState::Pending, message: None },
            CrmCardAssignment::Done => Self { state: AssignmentState::Done, message: None },
            CrmCardAssignment::Failed(message) => Self { state: AssignmentState::Failed, message: Some(message) },
        }
    }
}
