//! A visitor starts or stops typing.

use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;

/// Stores the time at which the visitor started typing and the text typed so far, or removes both if `since` is
/// `None`. Does nothing if the visitor is unknown, is blacklisted or has no open chat.
pub async fn set_visitor_typing(
    chats: &Chats,
    channel_id: &str,
    external_id: &str,
    since: Option<(Timestamp, Option<&str>)>,
) -> Result<(), Error> {
    let visitor = chats.visitor(channel_id, external_id).await?;
    let visitor = visitor.filter(|visitor| !visitor.blacklisted);
    let Some(visitor) = visitor else { return Ok(()) };
    let Some(chat_id) = visitor.open_chat else { return Ok(()) };
    chats.set_typing(&visitor.account_id, chat_id, since).await
}
