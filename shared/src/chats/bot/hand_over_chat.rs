//! A bot's chat goes to the agents, because the bot invites them or because the bot fails.

use crate::chats::notifications::NotificationContext;
use crate::chats::transition::{BotNotice, Invitation, LastWords, Transition, TransitionEffects, read_and_transition};
use crate::domain::accounts::department::Department;
use crate::domain::bots::bot::{Bot, BotNotification};
use crate::domain::chats::bot_handover::HandoverDetails;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_assignment::SlotClaim;
use crate::domain::chats::chat_state::{ChatEvent, Invited};
use crate::domain::chats::idempotency_key::IdempotencyKey;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::webhook::Webhook;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;

#[derive(Debug, PartialEq)]
pub enum HandoverResult {
    /// The chat was handed over. The caller must queue the notifications.
    HandedOver(Vec<TimelineEntry>),
    /// The chat was not handed over, because the bot sent a message or an invitation in time.
    BotResponded,
    /// The chat was not handed over, because the bot no longer owned it or it no longer existed.
    NotWithBot,
}

/// The bot's INVITE_AGENT event.
pub struct AgentInvitation<'a> {
    pub bot: &'a Bot,
    pub chat_id: u64,
    /// The last words to the visitor.
    pub text: Option<&'a str>,
    pub details: &'a HandoverDetails,
    pub invited: Invited<'a>,
    /// When the business hours begin, for an invitation outside them.
    pub opens_at: Option<Timestamp>,
    /// The department in `invited`.
    pub department: Option<&'a Department>,
    /// The condition under which the chat takes a slot of the invited agent. `None` in an account without a capacity.
    pub claim: Option<SlotClaim>,
    /// Like `BotMessage::reply_to_seq`.
    pub reply_to_seq: Option<u64>,
    pub key: Option<&'a IdempotencyKey>,
}

/// Hands the chat over to the agents whom the bot invites, or notifies the bot that none of them is online. In that
/// case, only the last words are kept. Fails if the bot does not have the chat.
///
/// An agent whom the bot names gets the chat as if the agent had accepted it, so the bot and the webhooks are notified.
pub async fn invite_agent(
    chats: &Chats,
    invitation: &AgentInvitation<'_>,
    webhooks: &[Webhook],
    now: Timestamp,
) -> Result<Transition, Error> {
    let AgentInvitation { bot, chat_id, invited, .. } = *invitation;
    let agent = match invited {
        Invited::Agent(agent) => Some(agent.without_photo()),
        Invited::Nobody | Invited::Audience | Invited::Department(_) => None,
    };
    let context = NotificationContext { webhooks, agent_id: agent.as_ref().map(|agent| agent.agent_id), now };
    let effects_of = |before: &Chat| {
        before.require_bot(&bot.bot_id)?;
        let state = before.state.after_event(ChatEvent::BotInvites(invited))?;
        before.require_answer_to_last(invitation.reply_to_seq)?;
        let (notice, event) = match invited {
            Invited::Nobody => (Some(BotNotification::AgentUnavailable), None),
            Invited::Agent(_) => (Some(BotNotification::AgentJoined), Some(WebhookEvent::ChatAccepted)),
            Invited::Audience | Invited::Department(_) => (None, None),
        };
        Ok(TransitionEffects {
            notice: notice.map(|notice| BotNotice { opens_at: invitation.opens_at, ..BotNotice::from(notice) }),
            event,
            agent: agent.clone(),
            last_words: LastWords::of(bot, invitation.text),
            invitation: (!matches!(invited, Invited::Nobody)).then(|| invitation.to_agents(now)),
            claim: invitation.claim,
            key: invitation.key.cloned(),
            is_bot_event: true,
            ..TransitionEffects::silent(state)
        })
    };
    read_and_transition(chats, (&bot.account_id, chat_id), context, &effects_of).await
}

impl AgentInvitation<'_> {
    fn to_agents(&self, now: Timestamp) -> Invitation {
        Invitation {
            bot_name: self.bot.name.clone(),
            details: self.details.clone(),
            department: self.department.map(Department::snapshot),
            return_at: self.bot.settings.agent_wait.map(|wait| now.plus(wait)),
        }
    }
}

/// Hands a chat over to the agents because its bot failed. Does nothing if the bot no longer owns the chat, or has
/// sent a message or an invitation after `unanswered_since`, or has got the chat back from an agent since. If the bot
/// sends an event concurrently, the write fails, and the chat is read again.
pub async fn hand_over_chat(
    chats: &Chats,
    account_id: &str,
    chat_id: u64,
    unanswered_since: Timestamp,
    context: NotificationContext<'_>,
) -> Result<HandoverResult, Error> {
    let effects_of = |before: &Chat| {
        if before.has_bot_event_after(unanswered_since) {
            return Err(Error::Conflict("the bot has responded"));
        }
        if before.given_to_bot_at.is_some_and(|given_at| unanswered_since < given_at) {
            return Err(Error::Forbidden("the chat was given to a bot since"));
        }
        let state = before.state.after_event(ChatEvent::BotFails)?;
        Ok(TransitionEffects::silent(state))
    };
    HandoverResult::of(read_and_transition(chats, (account_id, chat_id), context, &effects_of).await)
}

/// Hands a chat over to the agents because the visitor has asked for a person, whatever its bot does. Does nothing if
/// the bot no longer owns the chat.
pub async fn hand_over_on_request(
    chats: &Chats,
    account_id: &str,
    chat_id: u64,
    context: NotificationContext<'_>,
) -> Result<HandoverResult, Error> {
    let effects_of = |before: &Chat| {
        let state = before.state.after_event(ChatEvent::BotFails)?;
        Ok(TransitionEffects { is_requested: true, ..TransitionEffects::silent(state) })
    };
    HandoverResult::of(read_and_transition(chats, (account_id, chat_id), context, &effects_of).await)
}

impl HandoverResult {
    fn of(transition: Result<Transition, Error>) -> Result<Self, Error> {
        match transition {
            Ok(transition) => Ok(Self::HandedOver(transition.notifications)),
            Err(Error::Conflict(_)) => Ok(Self::BotResponded),
            Err(Error::Forbidden(_) | Error::NotFound) => Ok(Self::NotWithBot),
            Err(error) => Err(error),
        }
    }
}
