//! The items of the Chats table.

use serde::{Deserialize, Serialize};

use crate::domain::account::Author;
use crate::domain::call::{Call, CallKind, CallStatus};
use crate::domain::chat::{Chat, Failing, From as Writer, Preview, Rating};
use crate::domain::content::{Button, Content, Kind, Media, Rich};
use crate::domain::delivery::{Attempt, Delivery, Failure, Progress, Target};
use crate::domain::department::ChatDepartment;
use crate::domain::entry::Entry;
use crate::domain::ownership::State;
use crate::domain::rate::Window;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::{Changes, Profile, Said, Source, Sources, Visitor};
use crate::domain::webhook::{Occurrence, WebhookEvent};
use crate::error::Error;

use super::chats::{entry_key, head_key, listing, visitor_key};

#[derive(Serialize, Deserialize)]
pub(super) struct HeadItem {
    pk: String,
    sk: String,
    /// Key of the index that lists chats, see [`listing`].
    listing: String,
    account_id: String,
    chat_id: u64,
    state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<AuthorItem>,
    /// The department to which alone a waiting chat is offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offered_to: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    department: Option<DepartmentItem>,
    channel_id: String,
    channel_name: String,
    external_id: String,
    visitor_number: u64,
    visitor_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bot_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bot_seq: Option<u64>,
    seq: u64,
    opened_at: u64,
    updated_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_message: Option<PreviewItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    typing_since: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    channel_failing_until: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bot_failing_until: Option<u64>,
    rate_since: u64,
    rate_count: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rating: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    keep_days: Option<u32>,
    /// Key of the index of what is due, while the chat is open: when to look whether it rests too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due_at: Option<u64>,
    /// For the table's own deletion, when the chat is closed: seconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct AuthorItem {
    agent_id: u64,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    photo: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct DepartmentItem {
    id: u64,
    name: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct PreviewItem {
    from: String,
    kind: String,
    text: String,
    at: u64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct VisitorItem {
    pk: String,
    sk: String,
    account_id: String,
    channel_id: String,
    external_id: String,
    number: u64,
    profile: ProfileItem,
    #[serde(default)]
    sources: SourcesItem,
    /// What the integrator said before somebody corrected it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    said_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    said_phone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    said_email: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    said_description: Option<String>,
    #[serde(default)]
    chats: u64,
    #[serde(default)]
    blacklisted: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open_chat: Option<u64>,
    /// For the table's own deletion, while no chat is open: seconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub(super) struct SourcesItem {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

/// Leads from a visitor's number to the visitor.
#[derive(Serialize, Deserialize)]
pub(super) struct NumberItem {
    pub pk: String,
    pub sk: String,
    pub visitor_pk: String,
    pub visitor_sk: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub(super) struct ProfileItem {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    photo: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invite: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct EntryItem {
    pk: String,
    sk: String,
    account_id: String,
    chat_id: u64,
    seq: u64,
    id: String,
    from: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<AuthorItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bot: Option<String>,
    content: ContentItem,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    occurrence: Option<OccurrenceItem>,
    at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delivery: Option<DeliveryItem>,
    /// Key of the index of what is still to be delivered or has failed, with [`due_at`](Self::due_at): sparse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due_at: Option<u64>,
    /// For the table's own deletion: seconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct OccurrenceItem {
    event: String,
    webhook_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_id: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    assign_to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<CallItem>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct CallItem {
    kind: String,
    phone: String,
    status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record_url: Option<String>,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub(super) struct ContentItem {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thumb: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    emoji: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    performer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latitude: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    longitude: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rich: Option<Box<RichItem>>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct RichItem {
    content: Option<String>,
    title: Option<String>,
    buttons: Vec<ButtonItem>,
    force_reply: bool,
}

#[derive(Serialize, Deserialize)]
pub(super) struct ButtonItem {
    text: String,
    id: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct DeliveryItem {
    target: String,
    progress: String,
    round: u32,
    #[serde(default)]
    revivals: u32,
    since: u64,
    tries: u32,
    attempts: Vec<AttemptItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<FailureItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verdict_at: Option<u64>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct AttemptItem {
    at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct FailureItem {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<i64>,
    message: String,
    hidden: bool,
}

fn unknown(what: &'static str) -> impl Fn() -> Error {
    move || Error::internal(("unknown stored value", what))
}

impl HeadItem {
    /// The header of a chat that begins. While it is open, somebody looks then whether it rests too long.
    pub(super) fn new(chat: &Chat, next_look: Timestamp) -> Self {
        let is_open = !chat.state.is_closed();
        let forgotten = chat.keep_until(chat.updated_at).filter(|_| !is_open);
        let Chat {
            account_id,
            chat_id,
            state,
            channel_id,
            channel_name,
            external_id,
            visitor_number,
            visitor_name,
            department,
            bot_id,
            bot_seq,
            seq,
            opened_at,
            updated_at,
            last_message,
            typing_since,
            failing,
            rate,
            rating,
            keep_days,
        } = chat.clone();
        let key = head_key(&account_id, chat_id);
        Self {
            pk: key.pk,
            sk: key.sk,
            listing: listing(&account_id, state.name()),
            account_id,
            chat_id,
            agent: state.agent().map(AuthorItem::from),
            offered_to: state.offer(),
            department: department.as_ref().map(DepartmentItem::from),
            state: state.name().to_owned(),
            channel_id,
            channel_name,
            external_id,
            visitor_number,
            visitor_name,
            bot_id,
            bot_seq,
            seq,
            opened_at: opened_at.0,
            updated_at: updated_at.0,
            last_message: last_message.as_ref().map(PreviewItem::from),
            typing_since: typing_since.map(|at| at.0),
            channel_failing_until: failing.channel.map(|at| at.0),
            bot_failing_until: failing.bot.map(|at| at.0),
            rate_since: rate.since.0,
            rate_count: rate.count,
            rating: rating.map(|rating| rating.name().to_owned()),
            keep_days,
            due: is_open.then(|| super::idle::shard(chat_id)),
            due_at: is_open.then_some(next_look.0),
            expires_at: forgotten.map(Timestamp::seconds),
        }
    }
}

impl TryFrom<HeadItem> for Chat {
    type Error = Error;

    fn try_from(item: HeadItem) -> Result<Self, Error> {
        let agent = item.agent.map(Author::from);
        let state = match (item.state.as_str(), agent, item.offered_to) {
            ("bot", _, _) => State::Bot,
            ("waiting", _, None) => State::Waiting,
            ("waiting", _, Some(department_id)) => State::Offered(department_id),
            ("active", Some(agent), _) => State::Active(agent),
            ("closed", agent, _) => State::Closed(agent),
            _ => return Err(unknown("state")()),
        };
        Ok(Self {
            account_id: item.account_id,
            chat_id: item.chat_id,
            state,
            channel_id: item.channel_id,
            channel_name: item.channel_name,
            external_id: item.external_id,
            visitor_number: item.visitor_number,
            visitor_name: item.visitor_name,
            department: item.department.map(ChatDepartment::from),
            bot_id: item.bot_id,
            bot_seq: item.bot_seq,
            seq: item.seq,
            opened_at: Timestamp(item.opened_at),
            updated_at: Timestamp(item.updated_at),
            last_message: item.last_message.map(Preview::from),
            typing_since: item.typing_since.map(Timestamp),
            failing: Failing {
                channel: item.channel_failing_until.map(Timestamp),
                bot: item.bot_failing_until.map(Timestamp),
            },
            rate: Window { since: Timestamp(item.rate_since), count: item.rate_count },
            rating: item.rating.as_deref().and_then(Rating::parse),
            keep_days: item.keep_days,
        })
    }
}

impl From<&Author> for AuthorItem {
    fn from(author: &Author) -> Self {
        let Author { agent_id, name, photo } = author.clone();
        Self { agent_id, name, photo }
    }
}

impl From<AuthorItem> for Author {
    fn from(item: AuthorItem) -> Self {
        let AuthorItem { agent_id, name, photo } = item;
        Self { agent_id, name, photo }
    }
}

impl From<&ChatDepartment> for DepartmentItem {
    fn from(department: &ChatDepartment) -> Self {
        let ChatDepartment { department_id: id, name } = department.clone();
        Self { id, name }
    }
}

impl From<DepartmentItem> for ChatDepartment {
    fn from(item: DepartmentItem) -> Self {
        let DepartmentItem { id: department_id, name } = item;
        Self { department_id, name }
    }
}

impl From<&Preview> for PreviewItem {
    fn from(preview: &Preview) -> Self {
        let Preview { from, kind, text, at } = preview.clone();
        Self { from, kind, text, at: at.0 }
    }
}

impl From<PreviewItem> for Preview {
    fn from(item: PreviewItem) -> Self {
        let PreviewItem { from, kind, text, at } = item;
        Self { from, kind, text, at: Timestamp(at) }
    }
}

impl From<&Visitor> for VisitorItem {
    fn from(visitor: &Visitor) -> Self {
        let Visitor {
            account_id,
            channel_id,
            external_id,
            number,
            profile,
            sources,
            said: Said { name: said_name, phone: said_phone, email: said_email, description: said_description },
            chats,
            blacklisted,
            open_chat,
            keep_until,
            changes: _,
        } = visitor.clone();
        let key = visitor_key(&channel_id, &external_id);
        Self {
            pk: key.pk,
            sk: key.sk,
            account_id,
            channel_id,
            external_id,
            number,
            profile: ProfileItem::from(&profile),
            sources: SourcesItem::from(sources),
            said_name,
            said_phone,
            said_email,
            said_description,
            chats,
            blacklisted,
            open_chat,
            expires_at: keep_until.map(Timestamp::seconds),
        }
    }
}

impl From<VisitorItem> for Visitor {
    fn from(item: VisitorItem) -> Self {
        Self {
            account_id: item.account_id,
            channel_id: item.channel_id,
            external_id: item.external_id,
            number: item.number,
            profile: item.profile.into(),
            sources: item.sources.into(),
            said: Said {
                name: item.said_name,
                phone: item.said_phone,
                email: item.said_email,
                description: item.said_description,
            },
            chats: item.chats,
            blacklisted: item.blacklisted,
            open_chat: item.open_chat,
            keep_until: item.expires_at.map(Timestamp::from_seconds),
            changes: Changes::default(),
        }
    }
}

impl From<Sources> for SourcesItem {
    fn from(sources: Sources) -> Self {
        let Sources { name, phone, email, description } = sources;
        let store = |source: Option<Source>| source.map(|source| source.name().to_owned());
        Self { name: store(name), phone: store(phone), email: store(email), description: store(description) }
    }
}

impl From<SourcesItem> for Sources {
    fn from(item: SourcesItem) -> Self {
        let SourcesItem { name, phone, email, description } = item;
        let read = |source: Option<String>| source.as_deref().and_then(Source::parse);
        Self { name: read(name), phone: read(phone), email: read(email), description: read(description) }
    }
}

impl From<Occurrence> for OccurrenceItem {
    fn from(occurrence: Occurrence) -> Self {
        let Occurrence { event, webhook_id, agent_id, assign_to, call } = occurrence;
        Self { event: event.name().to_owned(), webhook_id, agent_id, assign_to, call: call.map(CallItem::from) }
    }
}

impl TryFrom<OccurrenceItem> for Occurrence {
    type Error = Error;

    fn try_from(item: OccurrenceItem) -> Result<Self, Error> {
        let OccurrenceItem { event, webhook_id, agent_id, assign_to, call } = item;
        let event = WebhookEvent::parse(&event).ok_or_else(unknown("event"))?;
        Ok(Self { event, webhook_id, agent_id, assign_to, call: call.map(Call::try_from).transpose()? })
    }
}

impl From<Call> for CallItem {
    fn from(call: Call) -> Self {
        let Call { kind, phone, status } = call;
        Self {
            kind: kind.name().to_owned(),
            phone,
            status: status.name().to_owned(),
            reason: status.reason().map(str::to_owned),
            record_url: status.record_url().map(str::to_owned),
        }
    }
}

impl TryFrom<CallItem> for Call {
    type Error = Error;

    fn try_from(item: CallItem) -> Result<Self, Error> {
        let CallItem { kind, phone, status, reason, record_url } = item;
        let kind = CallKind::parse(&kind).ok_or_else(unknown("call"))?;
        let status = CallStatus::parse(&status, reason, record_url).ok_or_else(unknown("call"))?;
        Ok(Self { kind, phone, status })
    }
}

impl From<&Profile> for ProfileItem {
    fn from(profile: &Profile) -> Self {
        let Profile { name, phone, email, photo, url, invite, description } = profile.clone();
        Self { name, phone, email, photo, url, invite, description }
    }
}

impl From<ProfileItem> for Profile {
    fn from(item: ProfileItem) -> Self {
        let ProfileItem { name, phone, email, photo, url, invite, description } = item;
        Self { name, phone, email, photo, url, invite, description }
    }
}

impl From<&Entry> for EntryItem {
    fn from(entry: &Entry) -> Self {
        let Entry { account_id, chat_id, seq, id, from, content, at, occurrence, keep_until, delivery } = entry.clone();
        let key = entry_key(&account_id, chat_id, seq);
        let (agent, bot) = match &from {
            Writer::Agent(author) => (Some(AuthorItem::from(author)), None),
            Writer::Bot(name) => (None, Some(name.clone())),
            Writer::Visitor | Writer::System => (None, None),
        };
        let pending = delivery.as_ref().filter(|delivery| delivery.progress == Progress::Pending);
        Self {
            pk: key.pk,
            sk: key.sk,
            due: pending.map(|_| super::deliveries::shard(chat_id)),
            due_at: pending.map(|delivery| super::deliveries::due_at(delivery.since).0),
            expires_at: keep_until.map(Timestamp::seconds),
            account_id,
            chat_id,
            seq,
            id,
            from: from.name().to_owned(),
            agent,
            bot,
            content: ContentItem::from(&content),
            occurrence: occurrence.map(OccurrenceItem::from),
            at: at.0,
            delivery: delivery.as_ref().map(DeliveryItem::from),
        }
    }
}

impl TryFrom<EntryItem> for Entry {
    type Error = Error;

    fn try_from(item: EntryItem) -> Result<Self, Error> {
        let from = match (item.from.as_str(), item.agent, item.bot) {
            ("visitor", _, _) => Writer::Visitor,
            ("agent", Some(agent), _) => Writer::Agent(agent.into()),
            ("bot", _, Some(name)) => Writer::Bot(name),
            ("system", _, _) => Writer::System,
            _ => return Err(unknown("from")()),
        };
        Ok(Self {
            account_id: item.account_id,
            chat_id: item.chat_id,
            seq: item.seq,
            id: item.id,
            from,
            content: item.content.try_into()?,
            at: Timestamp(item.at),
            occurrence: item.occurrence.map(Occurrence::try_from).transpose()?,
            keep_until: item.expires_at.map(Timestamp::from_seconds),
            delivery: item.delivery.map(Delivery::try_from).transpose()?,
        })
    }
}

impl From<&Content> for ContentItem {
    fn from(content: &Content) -> Self {
        let Content { kind, text, media, rich } = content.clone();
        let Media {
            file,
            thumb,
            emoji,
            file_size,
            file_name,
            duration,
            width,
            height,
            performer,
            title,
            latitude,
            longitude,
        } = media;
        Self {
            kind: kind.name().to_owned(),
            text,
            file,
            thumb,
            emoji,
            file_size,
            file_name,
            duration,
            width,
            height,
            performer,
            title,
            latitude,
            longitude,
            rich: rich.map(|rich| Box::new(RichItem::from(*rich))),
        }
    }
}

impl From<Rich> for RichItem {
    fn from(rich: Rich) -> Self {
        let Rich { content, title, buttons, force_reply } = rich;
        let buttons = buttons.into_iter().map(|Button { text, id }| ButtonItem { text, id }).collect();
        Self { content, title, buttons, force_reply }
    }
}

impl From<RichItem> for Rich {
    fn from(item: RichItem) -> Self {
        let RichItem { content, title, buttons, force_reply } = item;
        let buttons = buttons.into_iter().map(|ButtonItem { text, id }| Button { text, id }).collect();
        Self { content, title, buttons, force_reply }
    }
}

impl TryFrom<ContentItem> for Content {
    type Error = Error;

    fn try_from(item: ContentItem) -> Result<Self, Error> {
        Ok(Self {
            kind: Kind::parse(&item.kind).ok_or_else(unknown("kind"))?,
            text: item.text,
            media: Media {
                file: item.file,
                thumb: item.thumb,
                emoji: item.emoji,
                file_size: item.file_size,
                file_name: item.file_name,
                duration: item.duration,
                width: item.width,
                height: item.height,
                performer: item.performer,
                title: item.title,
                latitude: item.latitude,
                longitude: item.longitude,
            },
            rich: item.rich.map(|rich| Box::new(Rich::from(*rich))),
        })
    }
}

impl From<&Delivery> for DeliveryItem {
    fn from(delivery: &Delivery) -> Self {
        let Delivery { target, progress, round, revivals, since, tries, attempts, failure, verdict_at } =
            delivery.clone();
        Self {
            target: target.name().to_owned(),
            progress: progress.name().to_owned(),
            round,
            revivals,
            since: since.0,
            tries,
            attempts: attempts.iter().map(AttemptItem::from).collect(),
            failure: failure.as_ref().map(FailureItem::from),
            verdict_at: verdict_at.map(|at| at.0),
        }
    }
}

impl TryFrom<DeliveryItem> for Delivery {
    type Error = Error;

    fn try_from(item: DeliveryItem) -> Result<Self, Error> {
        Ok(Self {
            target: Target::parse(&item.target).ok_or_else(unknown("target"))?,
            progress: Progress::parse(&item.progress).ok_or_else(unknown("progress"))?,
            round: item.round,
            revivals: item.revivals,
            since: Timestamp(item.since),
            tries: item.tries,
            attempts: item.attempts.into_iter().map(Attempt::from).collect(),
            failure: item.failure.map(Failure::from),
            verdict_at: item.verdict_at.map(Timestamp),
        })
    }
}

impl From<&Attempt> for AttemptItem {
    fn from(attempt: &Attempt) -> Self {
        let Attempt { at, status, ms, error } = attempt.clone();
        Self { at: at.0, status, ms, error }
    }
}

impl From<AttemptItem> for Attempt {
    fn from(item: AttemptItem) -> Self {
        let AttemptItem { at, status, ms, error } = item;
        Self { at: Timestamp(at), status, ms, error }
    }
}

impl From<&Failure> for FailureItem {
    fn from(failure: &Failure) -> Self {
        let Failure { code, message, hidden } = failure.clone();
        Self { code, message, hidden }
    }
}

impl From<FailureItem> for Failure {
    fn from(item: FailureItem) -> Self {
        let FailureItem { code, message, hidden } = item;
        Self { code, message, hidden }
    }
}
