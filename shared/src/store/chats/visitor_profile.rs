//! What others than the visitor learn of a visitor: agents, bots, the customer's systems.

use crate::domain::chat::Chat;
use crate::domain::content::cut;
use crate::domain::entry::Entry;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::{Field, Visitor};
use crate::domain::webhook::Webhook;
use crate::error::Error;
use crate::store::chats::transitions::{EventContext, create};
use crate::store::chats::visitor_messages::{NAME_CHARACTERS, visitor_change};
use crate::store::chats::{Chats, chat, head_key};
use crate::store::table::{EXISTS, ItemUpdate, Refused, Write, n, s};

impl Chats {
    /// Stores what has changed of a visitor, and tells nobody. A write; two with the name, which the chat's header has too.
    pub async fn save_visitor(&self, visitor: &Visitor) -> Result<(), Error> {
        self.save_and_tell(visitor, &[], Timestamp(0)).await.map(|_| ())
    }

    /// Stores what has changed of a visitor together with what the webhooks are to be told of it, which is returned to be
    /// queued. First the header, for the numbers of the events; a death before the transaction that follows leaves the
    /// visitor as they were, so that the same request again tells. Nothing when nothing has changed, else a write or two,
    /// and one a webhook.
    pub async fn save_and_tell(
        &self,
        visitor: &Visitor,
        webhooks: &[Webhook],
        now: Timestamp,
    ) -> Result<Vec<Entry>, Error> {
        if visitor.changes.fields.is_empty() {
            return Ok(Vec::new());
        }
        let nobody = EventContext { webhooks, agent_id: None, now };
        let count = if visitor.changes.are_news { nobody.listeners() } else { 0 };
        let notifications = match self.note_visitor(visitor, count).await? {
            Some(mut head) => {
                let context = EventContext { agent_id: head.state.agent().map(|agent| agent.agent_id), ..nobody };
                let happened = context.updated(&head, visitor);
                head.seq = head.seq.saturating_sub(happened.len() as u64);
                context.entries(&mut head, happened)?
            }
            None => Vec::new(),
        };
        let Some(change) = visitor_change(visitor)? else { return Ok(notifications) };
        if notifications.is_empty() {
            self.table.update(change).await?;
        } else {
            let writes = notifications.iter().map(create).chain([Ok(Write::Composed(change))]);
            self.table.transact(writes.collect::<Result<_, _>>()?).await?;
        }
        Ok(notifications)
    }

    /// Gives the header of the open chat the visitor's name and takes that many numbers if an agent has the chat, which
    /// is returned then. At most a write, two for a chat that no agent has.
    async fn note_visitor(&self, visitor: &Visitor, count: usize) -> Result<Option<Chat>, Error> {
        let Some(chat_id) = visitor.open_chat else { return Ok(None) };
        let key = head_key(&visitor.account_id, chat_id);
        let name = (":name", s(cut(visitor.profile.display_name(), NAME_CHARACTERS)));
        if count > 0 {
            let change = ItemUpdate {
                key: key.clone(),
                update: "SET #visitor_name = :name, #seq = #seq + :count",
                condition: "#state = :active",
                values: vec![name.clone(), (":count", n(count)), (":active", s("active"))],
            };
            match self.table.update(change).await {
                Ok(item) => return chat(item).map(Some),
                Err(Refused::Condition { .. }) => {}
                Err(refused) => return Err(refused.into()),
            }
        }
        if visitor.changes.fields.contains(&Field::Name) {
            let (update, condition) = ("SET #visitor_name = :name", EXISTS);
            self.table.update(ItemUpdate { key, update, condition, values: vec![name] }).await?;
        }
        Ok(None)
    }
}
