//! Stores the visitor's typing notices and ratings as attributes of the chat's header.

use crate::domain::channel::Channel;
use crate::domain::chat::Rating;
use crate::domain::chat_state::ChatState;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::{Chats, header_key};
use crate::store::table::{ITEM_EXISTS, ItemUpdate, WriteError, n, s};

impl Chats {
    /// Stores the visitor's rating of an open or closed chat. Costs one write.
    pub async fn store_rating(&self, account_id: &str, chat_id: u64, rating: Rating) -> Result<(), Error> {
        let update = ItemUpdate {
            key: header_key(account_id, chat_id),
            update: "SET #rating = :rating",
            condition: ITEM_EXISTS,
            values: vec![(":rating", s(rating.name()))],
        };
        Ok(self.table.update(update).await.map(|_| ())?)
    }

    /// Stores the time at which the visitor started typing, or removes it if `since` is `None`. Does nothing if the
    /// visitor is blacklisted or has no open chat. Costs one read and one write.
    pub async fn set_visitor_typing(
        &self,
        channel: &Channel,
        external_id: &str,
        since: Option<Timestamp>,
    ) -> Result<(), Error> {
        let visitor = self.visitor(&channel.channel_id, external_id).await?;
        let visitor = visitor.filter(|visitor| !visitor.blacklisted);
        let Some(chat_id) = visitor.and_then(|visitor| visitor.open_chat) else { return Ok(()) };
        let mut values = vec![(":closed", s(ChatState::Closed(None).name()))];
        let update = match since {
            Some(since) => {
                values.push((":since", n(since.0)));
                "SET #typing_started_at = :since"
            }
            None => "REMOVE #typing_started_at",
        };
        let key = header_key(&channel.account_id, chat_id);
        let condition = "attribute_exists(#pk) AND #state <> :closed";
        match self.table.update(ItemUpdate { key, update, condition, values }).await {
            Err(WriteError::Error(error)) => Err(error),
            Ok(_) | Err(WriteError::ConditionFailed { .. } | WriteError::Contended) => Ok(()),
        }
    }
}
