//! The bot that has a chat closes it.

use crate::chats::notifications::NotificationContext;
use crate::chats::transition::{BotNotice, LastWords, Transition, TransitionEffects, read_and_transition};
use crate::domain::bots::bot::{Bot, CloseReason};
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::ChatEvent;
use crate::domain::chats::idempotency_key::IdempotencyKey;
use crate::domain::deliveries::webhook::Webhook;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;

/// The bot's CLOSE_CHAT event.
pub struct BotClosing<'a> {
    pub bot: &'a Bot,
    pub chat_id: u64,
    /// The last words to the visitor.
    pub text: Option<&'a str>,
    pub key: Option<&'a IdempotencyKey>,
}

/// Closes the chat. Webhooks get chat_finished only if an agent has taken part, as when an idle chat is closed. Fails
/// if the bot does not have the chat.
pub async fn close_chat_by_bot(
    chats: &Chats,
    closing: &BotClosing<'_>,
    webhooks: &[Webhook],
    now: Timestamp,
) -> Result<Transition, Error> {
    let BotClosing { bot, chat_id, text, key } = *closing;
    let context = NotificationContext { webhooks, agent_id: None, now };
    let effects_of = |before: &Chat| {
        before.require_bot(&bot.bot_id)?;
        Ok(TransitionEffects {
            notice: Some(BotNotice::chat_closed(CloseReason::Bot)),
            event: (!before.participants.is_empty()).then_some(WebhookEvent::ChatFinished),
            last_words: LastWords::of(bot, text),
            key: key.cloned(),
            is_bot_event: true,
            ..TransitionEffects::silent(before.state.after_event(ChatEvent::BotCloses)?)
        })
    };
    read_and_transition(chats, (&bot.account_id, chat_id), context, &effects_of).await
}
