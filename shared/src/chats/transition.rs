//! Transitions of a chat's state. Each transition is one conditional write to the header. If a concurrent write to the
//! chat wins the race, the chat is read again and the transition is retried. A transition may notify the bot and the
//! webhooks. Each notification is a timeline entry that is written in the same transaction as the header.

use crate::chats::new_entry::new_entry;
use crate::chats::notifications::NotificationContext;
use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::accounts::department::ChatDepartment;
use crate::domain::bots::bot::{Bot, BotNotification, CloseReason};
use crate::domain::chats::bot_handover::{BotHandover, HandoverDetails};
use crate::domain::chats::chat::{Chat, MessagePreview, Sender};
use crate::domain::chats::chat_assignment::SlotClaim;
use crate::domain::chats::chat_state::{ChatEvent, ChatState, TransitionError};
use crate::domain::chats::idempotency_key::IdempotencyKey;
use crate::domain::chats::message_content::Content;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::webhook::WebhookEventDetails;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::table::WriteError;
use crate::store::write_races::WriteRaces;

#[derive(Debug)]
pub struct Transition {
    pub chat: Chat,
    /// The stored notifications and messages, which the caller must queue.
    pub notifications: Vec<TimelineEntry>,
}

pub(super) struct TransitionEffects {
    pub state: ChatState,
    pub notice: Option<BotNotice>,
    pub event: Option<WebhookEvent>,
    /// The agent who makes the transition. Stored as `caused_by` in the notification entries.
    pub agent: Option<AgentSnapshot>,
    /// The last words of the bot that makes the transition. They are stored before the notifications.
    pub last_words: Option<LastWords>,
    /// What the bot tells the agents whom it invites. `None` if the transition is not an invitation that reached one.
    pub invitation: Option<Invitation>,
    /// The bot that gets the chat.
    pub new_bot: Option<String>,
    /// The condition under which the chat takes a slot of its new agent. `None` if the account has no capacity.
    pub claim: Option<SlotClaim>,
    /// The key of the request. If the transition stores an entry, it also stores the receipt of the first one.
    pub key: Option<IdempotencyKey>,
    /// Whether the transition counts as the bot's reaction to earlier entries.
    pub is_bot_event: bool,
    /// Whether the bot loses the chat because the visitor has asked for a person.
    pub is_requested: bool,
}

/// A notification for the chat's bot.
pub(super) struct BotNotice {
    pub notification: BotNotification,
    /// The text of [`Content::BotNotification`].
    pub text: Option<String>,
    pub closed_by: Option<CloseReason>,
    pub opens_at: Option<Timestamp>,
}

/// A message to the visitor.
pub(super) struct LastWords {
    bot_name: String,
    text: String,
}

#[derive(Default)]
pub(super) struct Invitation {
    pub bot_name: String,
    pub details: HandoverDetails,
    /// The department that is invited, if the bot chose one.
    pub department: Option<ChatDepartment>,
    pub return_at: Option<Timestamp>,
}

impl From<BotNotification> for BotNotice {
    fn from(notification: BotNotification) -> Self {
        Self { notification, text: None, closed_by: None, opens_at: None }
    }
}

impl BotNotice {
    pub(super) fn chat_closed(by: CloseReason) -> Self {
        Self { closed_by: Some(by), ..BotNotification::ChatClosed.into() }
    }

    /// Whether the notification is sent even if the chat's state stays the same.
    fn reports_more_than_the_state(&self) -> bool {
        matches!(self.notification, BotNotification::AgentUnavailable | BotNotification::ChatReturned)
    }

    fn into_content(self) -> Content {
        let Self { notification, text, closed_by, opens_at } = self;
        Content::BotNotification { notification, text, closed_by, opens_at }
    }
}

/// Computes the effects of a transition from the chat before it.
pub(super) type EffectsOf<'a> = &'a (dyn Fn(&Chat) -> Result<TransitionEffects, Error> + Sync);

impl TransitionEffects {
    /// A transition that nobody is notified of.
    pub(super) fn silent(state: ChatState) -> Self {
        Self {
            state,
            notice: None,
            event: None,
            agent: None,
            last_words: None,
            invitation: None,
            new_bot: None,
            claim: None,
            key: None,
            is_bot_event: false,
            is_requested: false,
        }
    }

    /// A transition that an agent makes. A chat that has a bot notifies it.
    pub(super) fn of_agent(
        before: &Chat,
        made: ChatEvent<'_>,
        agent: &AgentSnapshot,
        (notice, event): (BotNotice, WebhookEvent),
    ) -> Result<Self, TransitionError> {
        Ok(Self {
            notice: before.bot_id.is_some().then_some(notice),
            event: Some(event),
            agent: Some(agent.without_photo()),
            ..Self::silent(before.state.after_event(made)?)
        })
    }
}

/// Reads a chat and makes a transition like [`transition`].
pub(super) async fn read_and_transition(
    chats: &Chats,
    (account_id, chat_id): (&str, u64),
    context: NotificationContext<'_>,
    effects_of: EffectsOf<'_>,
) -> Result<Transition, Error> {
    let chat = chats.chat(account_id, chat_id).await?.ok_or(Error::NotFound)?;
    transition(chats, chat, context, effects_of).await
}

/// Computes the effects of a transition with `effects_of` and writes them. If a concurrent write to the chat wins the
/// race, the chat is read again and the effects are computed again. Nothing is written if the state stays the same,
/// except when the bot is notified that no agent is online, or that it gets the chat of another bot.
pub(super) async fn transition(
    chats: &Chats,
    chat: Chat,
    context: NotificationContext<'_>,
    effects_of: EffectsOf<'_>,
) -> Result<Transition, Error> {
    let mut before = chat;
    let mut races = WriteRaces::new("transition");
    loop {
        let effects = effects_of(&before)?;
        let has_news = effects.notice.as_ref().is_some_and(BotNotice::reports_more_than_the_state);
        if effects.state == before.state && !has_news {
            return Ok(Transition { chat: before, notifications: Vec::new() });
        }
        let written = commit(chats, &before, effects, &context).await;
        if let Some(result) = races.final_result(written) {
            return result;
        }
        before = chats.chat(&before.account_id, before.chat_id).await?.ok_or(Error::NotFound)?;
    }
}

async fn commit(
    chats: &Chats,
    before: &Chat,
    effects: TransitionEffects,
    context: &NotificationContext<'_>,
) -> Result<Transition, WriteError> {
    let TransitionEffects {
        state,
        notice,
        event,
        agent,
        last_words,
        invitation,
        new_bot,
        claim,
        key,
        is_bot_event,
        is_requested,
    } = effects;
    let notices = notice.map(|notice| (notice.into_content(), None));
    let events =
        event.into_iter().flat_map(|event| context.webhook_notifications(event, WebhookEventDetails::default()));
    let mut contents: Vec<_> = notices.into_iter().chain(events).collect();
    let mut after = before.after_transition(state, context.now);
    // The agent who closes a waiting chat counts as a participant too.
    if let Some(agent_id) = context.agent_id {
        after.add_participant(agent_id);
    }
    if let Some(bot_id) = new_bot {
        after.set_bot(&bot_id, context.now);
    }
    let mut entries: Vec<_> = last_words.map(|words| words.add_to(&mut after)).transpose()?.into_iter().collect();
    let by_bot = NotificationContext { agent_id: None, ..*context };
    let words: Vec<_> =
        entries.iter().flat_map(|entry| by_bot.message_notifications(WebhookEvent::Message, entry.seq)).collect();
    contents.splice(0..0, words);
    if let Some(invitation) = invitation {
        entries.extend(invitation.add_to(&mut after)?);
    } else if before.state == ChatState::Bot && after.state.is_waiting() {
        let at = after.updated_at;
        after.handover = Some(if is_requested { BotHandover::requested(at) } else { BotHandover::fallback(at) });
    }
    contents.extend(context.ownership_notifications(Some(before), &after));
    let mut notifications = context.create_entries(&mut after, contents)?;
    notifications.iter_mut().for_each(|entry| entry.caused_by.clone_from(&agent));
    entries.append(&mut notifications);
    if is_bot_event {
        after.bot_event_at = Some(after.updated_at);
    }
    after.claim_slot(claim.as_ref());
    chats.write_transition(before, &after, (&entries, key.as_ref()), claim.as_ref()).await?;
    Ok(Transition { chat: after, notifications: entries })
}

impl LastWords {
    pub(super) fn of(bot: &Bot, text: Option<&str>) -> Option<Self> {
        text.map(|text| Self { bot_name: bot.name.clone(), text: text.to_owned() })
    }

    /// Makes this the last message of the chat and returns its entry.
    fn add_to(self, chat: &mut Chat) -> Result<TimelineEntry, Error> {
        let (from, content, now) = (Sender::Bot(self.bot_name), Content::text(self.text), chat.updated_at);
        chat.seq += 1;
        chat.last_message = Some(MessagePreview::of(&content, &from, now));
        let delivery = chat.delivery_to_visitor(now);
        Ok(TimelineEntry { delivery, ..new_entry(chat, from, content, now)? })
    }
}

impl Invitation {
    /// Stores the handover in the chat and returns the entry with the details, if the bot sent any.
    fn add_to(self, chat: &mut Chat) -> Result<Option<TimelineEntry>, Error> {
        let Self { bot_name, details, department, return_at } = self;
        let now = chat.updated_at;
        let has_details = !details.is_empty();
        chat.seq += u64::from(has_details);
        let invited = BotHandover::invitation(&details, has_details.then_some(chat.seq), now);
        // Only a chat that waits for an agent returns to the bot.
        chat.handover = Some(BotHandover { return_at: return_at.filter(|_| chat.state.is_waiting()), ..invited });
        chat.department = department.or(chat.department.take());
        if !has_details {
            return Ok(None);
        }
        new_entry(chat, Sender::Bot(bot_name), Content::Handover(Box::new(details)), now).map(Some)
    }
}
