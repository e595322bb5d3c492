//! A visitor stops the answer that a bot is writing.

use crate::error::Error;
use crate::store::chats::Chats;

/// Stores that the visitor wants no more of the answer to his last message. The bot learns it from the response to its
/// next MESSAGE_CHUNK. Does nothing if the visitor is unknown, has no open chat, or no bot has it.
pub async fn stop_answer(chats: &Chats, channel_id: &str, external_id: &str) -> Result<(), Error> {
    let visitor = chats.visitor(channel_id, external_id).await?;
    let open_chat = visitor.and_then(|visitor| Some((visitor.open_chat?, visitor.account_id)));
    let Some((chat_id, account_id)) = open_chat else { return Ok(()) };
    chats.stop_answer(&account_id, chat_id).await
}
