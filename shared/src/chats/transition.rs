//! Chat state transitions. Each transition is one conditional write to the header. If a concurrent write to the chat
//! wins the race, the chat is read again and the transition is retried. A transition may notify the bot and the
//! webhooks. Each notification is a timeline entry that is written in the same transaction as the header.

use crate::chats::notifications::NotificationContext;
use crate::domain::account_settings::AccountSettings;
use crate::domain::agent::AgentSnapshot;
use crate::domain::bot::BotNotification;
use crate::domain::chat::{BotHandover, Chat};
use crate::domain::chat_state::{ChatEvent, ChatState};
use crate::domain::message_content::Content;
use crate::domain::report::Counter;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::domain::webhook::{Webhook, WebhookEventDetails};
use crate::domain::webhook_event::WebhookEvent;
use crate::error::Error;
use crate::store::chats::chat_listing::MAX_HEADERS_PER_READ;
use crate::store::chats::due_index::{closed_chat_values, set_closed_chat};
use crate::store::chats::items::{AgentSnapshotItem, BotHandoverItem, ChatDepartmentItem};
use crate::store::chats::report_counters::count_write;
use crate::store::chats::visitor_expiry::{VisitorExpiry, chat_expiry, visitor_writes_on_close};
use crate::store::chats::{CHAT_ID_UPPER_BOUND, Chats, entry_write, header_key, listing_key};
use crate::store::table::{ItemUpdate, Write, WriteError, n, s};
use crate::store::to_attribute;
use crate::store::write_races::WriteRaces;

#[derive(Debug)]
pub struct Transition {
    pub chat: Chat,
    /// The stored notifications, which the caller must queue.
    pub notifications: Vec<TimelineEntry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandoverResult {
    HandedOver,
    /// The chat was not handed over, because the bot sent a message or an invitation in time.
    BotResponded,
    /// The chat was not handed over, because the bot no longer owned it or it no longer existed.
    NotWithBot,
}

struct TransitionEffects {
    state: ChatState,
    notice: Option<BotNotification>,
    event: Option<WebhookEvent>,
    /// The agent who makes the transition. Stored as `caused_by` in the notification entries.
    agent: Option<AgentSnapshot>,
    /// Whether the transition counts as the bot's reaction to earlier entries.
    is_bot_event: bool,
}

impl TransitionEffects {
    fn silent(state: ChatState) -> Self {
        Self { state, notice: None, event: None, agent: None, is_bot_event: false }
    }
}

impl Chats {
    /// Makes the agent the owner of the chat. Fails if another agent has the chat, if it is closed, or if the offer to
    /// a department has changed since `chat` was read. Does nothing if the agent already has the chat.
    pub async fn accept(
        &self,
        chat: Chat,
        agent: &AgentSnapshot,
        webhooks: &[Webhook],
        now: Timestamp,
    ) -> Result<Transition, Error> {
        let context = NotificationContext { webhooks, agent_id: Some(agent.agent_id), now };
        let without_photo = agent.without_photo();
        let offer = chat.state.offered_department();
        let effects_of = |before: &Chat| {
            let state = before.state.after_event(ChatEvent::Accept(&without_photo, offer))?;
            let notice = before.bot_id.is_some().then_some(BotNotification::AgentJoined);
            let (event, agent) = (Some(WebhookEvent::ChatAccepted), Some(without_photo.clone()));
            Ok(TransitionEffects { state, notice, event, agent, is_bot_event: false })
        };
        self.transition(chat, context, &effects_of).await
    }

    /// Closes a chat that this agent or no agent owns. Fails if another agent owns the chat, or if the offer to a
    /// department has changed since `chat` was read. Also removes the reference to the open chat from the visitor's
    /// item, and counts the chat for the reports. Does nothing if the chat is already closed, unless another agent had
    /// it: then fails.
    pub async fn close(
        &self,
        chat: Chat,
        agent: &AgentSnapshot,
        webhooks: &[Webhook],
        now: Timestamp,
    ) -> Result<Transition, Error> {
        let context = NotificationContext { webhooks, agent_id: Some(agent.agent_id), now };
        let offer = chat.state.offered_department();
        let effects_of = |before: &Chat| {
            let state = before.state.after_event(ChatEvent::Close(agent, offer))?;
            let notice = before.bot_id.is_some().then_some(BotNotification::ChatClosed);
            let (event, agent) = (Some(WebhookEvent::ChatFinished), Some(agent.without_photo()));
            Ok(TransitionEffects { state, notice, event, agent, is_bot_event: false })
        };
        self.transition(chat, context, &effects_of).await
    }

    /// Closes an idle chat. Returns `None` if the chat is no longer idle, is already closed or no longer exists.
    pub async fn close_idle(
        &self,
        chat: &Chat,
        settings: &AccountSettings,
        now: Timestamp,
    ) -> Result<Option<Transition>, Error> {
        let agent_id = chat.state.agent().map(|agent| agent.agent_id);
        let context = NotificationContext { webhooks: &settings.webhooks, agent_id, now };
        let effects_of = |before: &Chat| {
            if !settings.is_idle(before.updated_at, now) {
                return Err(Error::Conflict("the chat is not idle"));
            }
            let state = before.state.after_event(ChatEvent::Idle)?;
            let notice = before.bot_id.is_some().then_some(BotNotification::ChatClosed);
            // Do not report the end of a chat that no agent has accepted, because webhooks do not know about such a
            // chat.
            let event = (!before.participants.is_empty()).then_some(WebhookEvent::ChatFinished);
            Ok(TransitionEffects { state, notice, event, agent: None, is_bot_event: false })
        };
        match self.transition(chat.clone(), context, &effects_of).await {
            Ok(transition) => Ok(Some(transition)),
            Err(Error::Conflict(_) | Error::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Processes the bot's INVITE_AGENT event: hands the chat over to the agents, or notifies the bot that no agent is
    /// online.
    pub async fn invite_agent(
        &self,
        account_id: &str,
        chat_id: u64,
        is_agent_online: bool,
        now: Timestamp,
    ) -> Result<Transition, Error> {
        let context = NotificationContext { webhooks: &[], agent_id: None, now };
        let effects_of = |before: &Chat| {
            let state = before.state.after_event(ChatEvent::BotInvites { is_agent_online })?;
            let notice = (!is_agent_online).then_some(BotNotification::AgentUnavailable);
            Ok(TransitionEffects { state, notice, event: None, agent: None, is_bot_event: true })
        };
        self.read_and_transition(account_id, chat_id, context, &effects_of).await
    }

    /// Hands a chat over to the agents because its bot failed. Does nothing if the bot no longer owns the chat, or has
    /// sent a message or an invitation after `unanswered_since`. If the bot sends an event concurrently, the write
    /// fails, and the chat is read again.
    pub async fn hand_over_to_agents(
        &self,
        account_id: &str,
        chat_id: u64,
        unanswered_since: Timestamp,
        now: Timestamp,
    ) -> Result<HandoverResult, Error> {
        let context = NotificationContext { webhooks: &[], agent_id: None, now };
        let effects_of = |before: &Chat| {
            if before.has_bot_event_after(unanswered_since) {
                return Err(Error::Conflict("the bot has responded"));
            }
            let state = before.state.after_event(ChatEvent::BotFails)?;
            Ok(TransitionEffects::silent(state))
        };
        match self.read_and_transition(account_id, chat_id, context, &effects_of).await {
            Ok(_) => Ok(HandoverResult::HandedOver),
            Err(Error::Conflict(_)) => Ok(HandoverResult::BotResponded),
            Err(Error::Forbidden(_) | Error::NotFound) => Ok(HandoverResult::NotWithBot),
            Err(error) => Err(error),
        }
    }

    /// Moves all of a deleted agent's active chats back to the waiting state. Reads all of the account's active chats.
    /// The `listing` index is updated with a delay, so the search is repeated until it finds none of the agent's chats.
    pub async fn release_chats_of_agent(&self, account_id: &str, agent_id: u64, now: Timestamp) -> Result<(), Error> {
        while self.release_listed_chats(account_id, agent_id, now).await? {}
        Ok(())
    }

    /// Returns whether the index listed any of the agent's chats.
    async fn release_listed_chats(&self, account_id: &str, agent_id: u64, now: Timestamp) -> Result<bool, Error> {
        let context = NotificationContext { webhooks: &[], agent_id: None, now };
        let effects_of = |before: &Chat| {
            let state = before.state.after_event(ChatEvent::AgentDeleted(agent_id))?;
            Ok(TransitionEffects::silent(state))
        };
        let (mut has_any, mut next) = (false, Some(CHAT_ID_UPPER_BOUND));
        while let Some(before_chat_id) = next {
            let page = self.listing(account_id, &["active"], Some(before_chat_id)).next(MAX_HEADERS_PER_READ).await?;
            next = page.next;
            let is_owned = |chat: &Chat| chat.state.agent().is_some_and(|agent| agent.agent_id == agent_id);
            for chat in page.chats.into_iter().filter(is_owned) {
                has_any = true;
                match self.read_and_transition(account_id, chat.chat_id, context, &effects_of).await {
                    // A conflict or a missing chat means that another request has transferred, closed or erased the
                    // chat.
                    Ok(_) | Err(Error::Conflict(_) | Error::NotFound) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(has_any)
    }

    async fn read_and_transition(
        &self,
        account_id: &str,
        chat_id: u64,
        context: NotificationContext<'_>,
        effects_of: &(dyn Fn(&Chat) -> Result<TransitionEffects, Error> + Sync),
    ) -> Result<Transition, Error> {
        let chat = self.chat(account_id, chat_id).await?.ok_or(Error::NotFound)?;
        self.transition(chat, context, effects_of).await
    }

    /// Computes the effects of a transition with `effects_of` and writes them. If a concurrent write to the chat wins
    /// the race, the chat is read again and the effects are computed again. Nothing is written if the state stays the
    /// same, except when the bot is notified that no agent is online.
    async fn transition(
        &self,
        chat: Chat,
        context: NotificationContext<'_>,
        effects_of: &(dyn Fn(&Chat) -> Result<TransitionEffects, Error> + Sync),
    ) -> Result<Transition, Error> {
        let mut before = chat;
        let mut races = WriteRaces::new("transition");
        loop {
            let effects = effects_of(&before)?;
            if effects.state == before.state && effects.notice != Some(BotNotification::AgentUnavailable) {
                return Ok(Transition { chat: before, notifications: Vec::new() });
            }
            let written = self.commit(&before, effects, &context).await;
            if let Some(result) = races.final_result(written) {
                return result;
            }
            before = self.chat(&before.account_id, before.chat_id).await?.ok_or(Error::NotFound)?;
        }
    }

    /// Writes a transition. The first attempt assumes that the visitor expires together with this chat. If the write
    /// fails because a chat that was closed earlier expires later, the second attempt uses that chat's expiry.
    async fn commit(
        &self,
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
        let usual = VisitorExpiry::of_closed_chat(&after);
        let later = match self.write_transition(before, &after, &notifications, &usual).await {
            Err(WriteError::ConditionFailed { item, .. }) => {
                item.as_ref().and_then(|item| VisitorExpiry::later_than(item, &after))
            }
            written => return written.map(|()| Transition { chat: after, notifications }),
        };
        let Some(later) = later else { return Err(WriteError::Contended) };
        self.write_transition(before, &after, &notifications, &later).await?;
        Ok(Transition { chat: after, notifications })
    }

    async fn write_transition(
        &self,
        before: &Chat,
        after: &Chat,
        notifications: &[TimelineEntry],
        expiry: &VisitorExpiry,
    ) -> Result<(), WriteError> {
        let header = transition_update(before, after)?;
        let mut others = notifications.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?;
        if after.state.is_closed() {
            others.extend(visitor_writes_on_close(after, expiry));
            others.push(count_write(after, &Counter::of_closing(before, after)));
        }
        if others.is_empty() {
            self.table.update(header).await?;
            return Ok(());
        }
        others.push(Write::Update(header));
        self.table.transact(others).await
    }
}

const UPDATE_OPEN_CHAT: &str = "SET #state = :state, #version = :version, #agent = :agent, #offered_to = :offer, \
     #department = :department, #participants = :participants, #listing = :listing, #updated_at = :now, #seq = :seq, \
     #bot_event_at = :bot_event_at, #handover = :handover, #waiting_since = :waiting_since, \
     #agent_joined_at = :agent_joined_at REMOVE #typing_started_at, #typing_text";

/// Like [`UPDATE_OPEN_CHAT`], but also moves the chat in the `due` index from the idle checks to the closed chats, and
/// sets its expiry.
const UPDATE_CLOSED_CHAT: &str = concat!(
    "SET #state = :state, #version = :version, #agent = :agent, #offered_to = :offer, #department = :department, \
     #participants = :participants, #listing = :listing, #updated_at = :now, #seq = :seq, \
     #bot_event_at = :bot_event_at, #handover = :handover, #waiting_since = :waiting_since, \
     #agent_joined_at = :agent_joined_at, #expires_at = :expires_at, ",
    set_closed_chat!(),
    " REMOVE #typing_started_at, #typing_text"
);

/// Returns the header update for a transition. Its condition fails if the chat has had any other transition or entry
/// since `before` was read. Comparing only the state and the agent would not be enough, because a chat can return to
/// the same agent.
pub(crate) fn transition_update(before: &Chat, after: &Chat) -> Result<ItemUpdate, Error> {
    let mut values = vec![
        (":state", s(after.state.name())),
        (":agent", to_attribute(&after.state.agent().map(AgentSnapshotItem::from))?),
        (":offer", to_attribute(&after.state.offered_department())?),
        (":department", to_attribute(&after.department.as_ref().map(ChatDepartmentItem::from))?),
        (":participants", to_attribute(&after.participants)?),
        (":listing", s(listing_key(&after.account_id, after.state.name()))),
        (":now", n(after.updated_at.0)),
        (":seq", n(after.seq)),
        (":bot_event_at", to_attribute(&after.bot_event_at.map(|at| at.0))?),
        (":handover", to_attribute(&after.handover.map(BotHandoverItem::from))?),
        (":waiting_since", to_attribute(&after.waiting_since.map(|at| at.0))?),
        (":agent_joined_at", to_attribute(&after.agent_joined_at.map(|at| at.0))?),
        (":version", n(after.version)),
        (":old_version", n(before.version)),
        (":old_seq", n(before.seq)),
    ];
    let update = if after.state.is_closed() {
        values.push((":expires_at", chat_expiry(after)));
        values.extend(closed_chat_values(&after.account_id, after.updated_at));
        UPDATE_CLOSED_CHAT
    } else {
        UPDATE_OPEN_CHAT
    };
    let key = header_key(&before.account_id, before.chat_id);
    Ok(ItemUpdate { key, update, condition: "#version = :old_version AND #seq = :old_seq", values })
}
