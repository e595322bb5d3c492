//! Messages that a visitor leaves while nobody is there. Each is a chat of its own that is closed from the beginning:
//! agents find it in the archive, and the ledger, the retention and the erasure hold for it as for any other.

use crate::domain::chat::Chat;
use crate::domain::chat_state::State;
use crate::domain::entry::Entry;
use crate::domain::visitor::{Source, Visitor};
use crate::domain::webhook::{Details, WebhookEvent};
use crate::error::{Context, Error};
use crate::store::chats::items::{HeadItem, VisitorItem};
use crate::store::chats::transitions::{EventContext, Kept, create, number_end};
use crate::store::chats::visitor_messages::{Incoming, changed, number_write};
use crate::store::chats::{Chats, visitor_key};
use crate::store::table::{ItemUpdate, Refused, Write, n};
use crate::store::{MAX_RACE_ATTEMPTS, to_item};

impl Chats {
    /// Stores an offline message and returns what the webhooks are to be told, to be queued. A read, two counters and one
    /// transaction. Nothing for a visitor who is blacklisted.
    pub async fn offline_message(&self, incoming: &Incoming<'_>) -> Result<Vec<Entry>, Error> {
        for _ in 0..MAX_RACE_ATTEMPTS {
            let known = self.visitor(&incoming.channel.channel_id, incoming.external_id).await?;
            if known.as_ref().is_some_and(|visitor| visitor.blacklisted) {
                return Ok(Vec::new());
            }
            match self.leave(incoming, known.map(|visitor| visitor.again(incoming.now))).await {
                Ok(notifications) => return Ok(notifications),
                Err(Refused::Error(error)) => return Err(error),
                Err(Refused::Condition { .. } | Refused::Contended) => {}
            }
        }
        Err(Error::Unavailable(Context::new("offline message lost every race")))
    }

    async fn leave(&self, incoming: &Incoming<'_>, known: Option<Visitor>) -> Result<Vec<Entry>, Refused> {
        let is_new = known.is_none();
        let counters = self.take_numbers(incoming, is_new).await?;
        let mut visitor = known.unwrap_or_else(|| incoming.stranger(counters.visitors));
        visitor.learn(incoming.profile, Source::Visitor);
        visitor.last_chat = Some(counters.chats);
        let mut head = Chat { state: State::Closed(None), bot_id: None, ..incoming.head(&visitor, counters.chats) };
        let said = incoming.entry(&head)?;
        let context = EventContext { webhooks: &incoming.settings.webhooks, agent_id: None, now: incoming.now };
        let happened = context.occurrences(WebhookEvent::OfflineMessage, Details::default());
        let notifications = context.entries(&mut head, happened)?;
        let entries = [&said].into_iter().chain(&notifications).map(create).collect::<Result<Vec<_>, _>>();
        let entries = entries?;
        match self.store(&head, &visitor, is_new, entries.clone(), &Kept::by(&head)).await {
            // As at the end of any chat.
            Err(Refused::Condition { item: Some(item), index }) => match Kept::longer(&item, &head) {
                Some(kept) => self.store(&head, &visitor, is_new, entries, &kept).await?,
                None => return Err(Refused::Condition { item: Some(item), index }),
            },
            stored => stored?,
        }
        Ok(notifications)
    }

    async fn store(
        &self,
        head: &Chat,
        visitor: &Visitor,
        is_new: bool,
        entries: Vec<Write>,
        kept: &Kept,
    ) -> Result<(), Refused> {
        let mut writes = writes(head, visitor, is_new, kept)?;
        writes.extend(entries);
        self.table.transact(writes).await
    }
}

fn writes(head: &Chat, visitor: &Visitor, is_new: bool, kept: &Kept) -> Result<Vec<Write>, Error> {
    let header = Write::Create(to_item(&HeadItem::new(head, head.updated_at))?);
    if is_new {
        let stranger = Visitor { keep_until: head.keep_until(head.updated_at), ..visitor.clone() };
        let mut item = to_item(&VisitorItem::from(&stranger))?;
        item.insert("kept_until".to_owned(), kept.until().clone());
        item.insert("last_end".to_owned(), n(head.updated_at.0));
        return Ok(vec![header, Write::Create(item), number_write(&stranger)?]);
    }
    let (mut sets, mut values) = changed(visitor)?;
    sets.extend(["#last_chat = :chat", "#kept_until = :kept_until", "#last_end = :last_end"]);
    let kept_until = kept.until().clone();
    values.extend([(":chat", n(head.chat_id)), (":kept_until", kept_until), (":last_end", n(head.updated_at.0))]);
    // While a chat is open the visitor has no end, but this is remembered for it.
    let is_open = visitor.open_chat.is_some();
    if !is_open {
        sets.push("#expires_at = :kept_until");
    }
    let condition = match (kept, is_open) {
        (Kept::Longer(_), true) => "attribute_exists(#open_chat) AND #kept_until = :kept_until",
        (Kept::Longer(_), false) => "attribute_not_exists(#open_chat) AND #kept_until = :kept_until",
        (Kept::ThisChat(_), true) if kept.is_for_ever() => "attribute_exists(#open_chat)",
        (Kept::ThisChat(_), false) if kept.is_for_ever() => {
            "attribute_exists(#pk) AND attribute_not_exists(#open_chat)"
        }
        (Kept::ThisChat(_), true) => {
            "attribute_exists(#open_chat) AND (attribute_not_exists(#kept_until) OR #kept_until <= :kept_until)"
        }
        (Kept::ThisChat(_), false) => {
            "attribute_exists(#pk) AND attribute_not_exists(#open_chat) \
              AND (attribute_not_exists(#kept_until) OR #kept_until <= :kept_until)"
        }
    };
    let learned = Write::Composed(ItemUpdate {
        key: visitor_key(&visitor.channel_id, &visitor.external_id),
        update: format!("SET {}", sets.join(", ")),
        condition,
        values,
    });
    let has_end = !kept.is_for_ever() || visitor.keep_until.is_some();
    let number = (has_end && !is_open).then(|| number_end(head, kept));
    Ok([header, learned].into_iter().chain(number).collect())
}
