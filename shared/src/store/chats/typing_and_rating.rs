//! Stores whether the visitor is typing, and the visitor's rating, as attributes of the chat's header.

use crate::domain::chat::{Chat, Rating};
use crate::domain::chat_state::ChatState;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::report_counters::count_rating_write;
use crate::store::chats::{Chats, header_key};
use crate::store::table::{ItemUpdate, Write, WriteError, n, s};
use crate::store::to_attribute;
use crate::store::write_races::WriteRaces;

impl Chats {
    /// Stores and counts the visitor's rating of an open or closed chat; `None` removes the rating. Chat lists do not
    /// show ratings, so the chat does not count as changed. Costs one transaction, or nothing if the chat already has
    /// this rating. Each retry after a concurrent rating also costs one read.
    pub async fn store_rating(&self, mut chat: Chat, rating: Option<Rating>) -> Result<(), Error> {
        let mut races = WriteRaces::new("rating");
        while chat.rating != rating {
            let header = rating_update(&chat, rating)?;
            let writes = vec![Write::Update(header), count_rating_write(&chat, chat.rating, rating)];
            if let Some(result) = races.final_result(self.table.transact(writes).await) {
                return result;
            }
            chat = self.chat(&chat.account_id, chat.chat_id).await?.ok_or(Error::NotFound)?;
        }
        Ok(())
    }

    /// Stores the time at which the visitor started typing and the text typed so far, or removes both if `since` is
    /// `None`. Does nothing if the visitor is unknown, is blacklisted or has no open chat. Costs one read and at most
    /// one write.
    pub async fn set_visitor_typing(
        &self,
        channel_id: &str,
        external_id: &str,
        since: Option<(Timestamp, Option<&str>)>,
    ) -> Result<(), Error> {
        let visitor = self.visitor(channel_id, external_id).await?;
        let visitor = visitor.filter(|visitor| !visitor.blacklisted);
        let Some(visitor) = visitor else { return Ok(()) };
        let Some(chat_id) = visitor.open_chat else { return Ok(()) };
        let mut values = vec![(":closed", s(ChatState::Closed(None).name()))];
        let update = match since {
            Some((since, None)) => {
                values.push((":since", n(since.0)));
                "SET #typing_started_at = :since REMOVE #typing_text"
            }
            Some((since, Some(text))) => {
                values.extend([(":since", n(since.0)), (":text", s(text))]);
                "SET #typing_started_at = :since, #typing_text = :text"
            }
            None => "REMOVE #typing_started_at, #typing_text",
        };
        let key = header_key(&visitor.account_id, chat_id);
        let condition = "attribute_exists(#pk) AND #state <> :closed";
        match self.table.update(ItemUpdate { key, update, condition, values }).await {
            Err(WriteError::Error(error)) => Err(error),
            Ok(_) | Err(WriteError::ConditionFailed { .. } | WriteError::Contended) => Ok(()),
        }
    }
}

/// Returns the header update that stores a rating. Its condition fails if the rating has changed since `chat` was read.
fn rating_update(chat: &Chat, rating: Option<Rating>) -> Result<ItemUpdate, Error> {
    let condition = match chat.rating {
        Some(_) => "#rating = :before",
        None => "attribute_exists(#pk) AND (attribute_not_exists(#rating) OR #rating = :before)",
    };
    let attribute = |rating: Option<Rating>| to_attribute(&rating.map(Rating::name));
    Ok(ItemUpdate {
        key: header_key(&chat.account_id, chat.chat_id),
        update: "SET #rating = :after",
        condition,
        values: vec![(":before", attribute(chat.rating)?), (":after", attribute(rating)?)],
    })
}
