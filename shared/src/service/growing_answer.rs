//! The answer that a bot is still writing (MESSAGE_CHUNK). Nothing of it is stored, so a bot that dies leaves no half
//! message. Each piece contains the whole text so far, so a piece may be lost or left out.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use crate::domain::channels::channel::ChannelKind;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::message_content::TypingNotice;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::outbox::Outbox;
use crate::service::push::PushService;
use crate::service::typing_notice::send_typing_notice_to_visitor;
use crate::wire::push::TypingFrom;

/// A process sends a widget at most one piece of an answer in this time.
const MIN_FRAME_INTERVAL: Duration = Duration::from_millis(200);
/// How often the visitor of an API channel, which has no sockets, is told that the bot is typing.
const MIN_NOTICE_INTERVAL: Duration = Duration::from_secs(5);
const MAX_REMEMBERED_CHATS: usize = 1_000;

/// When this process last sent something about the answer in a chat.
static SENT: LazyLock<Mutex<HashMap<(String, u64), Timestamp>>> = LazyLock::new(Mutex::default);

/// Shows the answer to the visitor of a widget, or tells the integrator that the bot is typing.
pub(super) async fn show_growing_answer(
    push: &PushService<'_>,
    outbox: &Outbox,
    chat: &Chat,
    (bot_name, text): (&str, &str),
) -> Result<(), Error> {
    match chat.channel_kind {
        ChannelKind::Widget if is_due(chat, MIN_FRAME_INTERVAL, push.now) => {
            push.push_growing_answer(chat, bot_name, text).await
        }
        ChannelKind::Api if is_due(chat, MIN_NOTICE_INTERVAL, push.now) => {
            send_typing_notice_to_visitor(push, outbox, chat, TypingFrom::Bot, TypingNotice::Start).await
        }
        ChannelKind::Widget | ChannelKind::Api => Ok(()),
    }
}

fn is_due(chat: &Chat, interval: Duration, now: Timestamp) -> bool {
    let mut sent = SENT.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (chat.account_id.clone(), chat.chat_id);
    if sent.get(&key).is_some_and(|at| now.since(*at) < interval) {
        return false;
    }
    if sent.len() >= MAX_REMEMBERED_CHATS {
        sent.clear();
    }
    sent.insert(key, now);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::sample_data;

    #[test]
    fn pieces_of_one_answer_are_joined() {
        let chat = |chat_id| Chat { chat_id, ..sample_data::chat(Timestamp(0)) };
        let due = |chat_id, now| is_due(&chat(chat_id), MIN_FRAME_INTERVAL, Timestamp(now));
        assert_eq!([due(1, 0), due(1, 199), due(2, 199), due(1, 200), due(1, 399)], [true, false, true, true, false]);
    }
}
