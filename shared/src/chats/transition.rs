//! Transitions of a chat's state. Each transition is one conditional write to the header. If a concurrent write to the
//! chat wins the race, the chat is read again and the transition is retried. A transition may notify the bot and the
//! webhooks. Each notification is a timeline entry that is written in the same transaction as the header.

use crate::chats::notifications::NotificationContext;
use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::bots::bot::BotNotification;
use crate::domain::chats::chat::{BotHandover, Chat};
use crate::domain::chats::chat_state::{ChatEvent, ChatState, TransitionError};
use crate::domain::chats::message_content::Content;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::webhook::WebhookEventDetails;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::table::WriteError;
use crate::store::write_races::WriteRaces;

#[derive(Debug)]
pub struct Transition {
    pub chat: Chat,
    /// The stored notifications, which the caller must queue.
    pub notifications: Vec<TimelineEntry>,
}

pub(super) struct TransitionEffects {
    pub state: ChatState,
    pub notice: Option<BotNotification>,
    pub event: Option<WebhookEvent>,
    /// The agent who makes the transition. Stored as `caused_by` in the notification entries.
    pub agent: Option<AgentSnapshot>,
    /// Whether the transition counts as the bot's reaction to earlier entries.
    pub is_bot_event: bool,
}

/// Computes the effects of a transition from the chat before it.
pub(super) type EffectsOf<'a> = &'a (dyn Fn(&Chat) -> Result<TransitionEffects, Error> + Sync);

impl TransitionEffects {
    /// A transition that nobody is notified of.
    pub(super) fn silent(state: ChatState) -> Self {
        Self { state, notice: None, event: None, agent: None, is_bot_event: false }
    }

    /// A transition that an agent makes. A chat that has a bot notifies it.
    pub(super) fn of_agent(
        before: &Chat,
        made: ChatEvent<'_>,
        agent: &AgentSnapshot,
        (notice, event): (BotNotification, WebhookEvent),
    ) -> Result<Self, TransitionError> {
        Ok(Self {
            state: before.state.after_event(made)?,
            notice: before.bot_id.is_some().then_some(notice),
            event: Some(event),
            agent: Some(agent.without_photo()),
            is_bot_event: false,
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
/// except when the bot is notified that no agent is online.
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
        if effects.state == before.state && effects.notice != Some(BotNotification::AgentUnavailable) {
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
    let TransitionEffects { state, notice, event, agent, is_bot_event } = effects;
    let notices = notice.map(|notification| (Content::BotNotification { notification, phone: None }, None));
    let events =
        event.into_iter().flat_map(|event| context.webhook_notifications(event, WebhookEventDetails::default()));
    let contents: Vec<_> = notices.into_iter().chain(events).collect();
    let mut after = before.after_transition(state, context.now);
    // The agent who closes a waiting chat counts as a participant too.
    if let Some(agent_id) = context.agent_id {
        after.add_participant(agent_id);
    }
    let mut notifications = context.create_entries(&mut after, contents)?;
    notifications.iter_mut().for_each(|entry| entry.caused_by.clone_from(&agent));
    if is_bot_event {
        after.bot_event_at = Some(after.updated_at);
    }
    if before.state == ChatState::Bot && after.state.is_waiting() {
        after.handover = Some(BotHandover { at: after.updated_at, is_fallback: !is_bot_event });
    }
    chats.write_transition(before, &after, &notifications).await?;
    Ok(Transition { chat: after, notifications })
}
