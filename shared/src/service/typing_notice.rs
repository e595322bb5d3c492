//! Sends the notice that an agent or a bot has started or stopped typing.

use crate::domain::channels::channel::ChannelKind;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::ChatEvent;
use crate::domain::chats::message_content::TypingNotice;
use crate::domain::deliveries::delivery::Target;
use crate::error::Error;
use crate::runtime::outbox::Outbox;
use crate::service::chat_access::ChatAccess;
use crate::service::push::PushService;
use crate::wire::push::TypingFrom;
use crate::wire::queue_task::Task;

/// Queues the notice for the integrator of an API channel, or pushes it to the visitor of a widget. The notice is sent
/// once and is not stored. Returns the chat.
///
/// # Errors
/// Fails with the errors of [`ChatAccess::chat`], with `Conflict` if the agent does not have the chat, and with
/// `Unavailable` if the queue rejects the task.
pub async fn send_typing_notice(
    access: &ChatAccess<'_>,
    push: &PushService<'_>,
    outbox: &Outbox,
    chat_id: u64,
    typing: TypingNotice,
) -> Result<Chat, Error> {
    let chat = access.chat(chat_id).await?;
    chat.state.after_event(ChatEvent::AgentWrites(&access.session.agent))?;
    send_typing_notice_to_visitor(push, outbox, &chat, TypingFrom::Agent, typing).await?;
    Ok(chat)
}

/// Sends a notice from the agent or the bot that has the chat.
///
/// # Errors
/// Fails with `Unavailable` if the queue rejects the task.
pub(super) async fn send_typing_notice_to_visitor(
    push: &PushService<'_>,
    outbox: &Outbox,
    chat: &Chat,
    from: TypingFrom,
    typing: TypingNotice,
) -> Result<(), Error> {
    match chat.channel_kind {
        ChannelKind::Api => {
            let task = Task::typing(&chat.account_id, chat.chat_id, typing, push.now);
            outbox.send_in_order(Target::Channel, &task).await
        }
        ChannelKind::Widget => push.push_typing_to_visitor(chat, from, typing == TypingNotice::Start).await,
    }
}
