//! Stores offline messages, which visitors leave while no agent is online. Each offline message becomes a chat that is
//! closed from the start. It therefore appears in the archive and the delivery log, and is covered by the retention
//! period and by erasure.

use crate::domain::chat::Chat;
use crate::domain::chat_state::ChatState;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::visitor::{ProfileSource, Visitor};
use crate::domain::webhook::WebhookEventDetails;
use crate::domain::webhook_event::WebhookEvent;
use crate::error::Error;
use crate::store::chats::bot_and_webhook_notifications::NotificationContext;
use crate::store::chats::items::{HeaderItem, VisitorItem};
use crate::store::chats::visitor_expiry::{VisitorExpiry, visitor_number_expiry_write};
use crate::store::chats::visitor_messages::IncomingMessage;
use crate::store::chats::visitor_updates::{changed_attributes, visitor_number_write};
use crate::store::chats::{Chats, entry_write, visitor_key};
use crate::store::table::{Write, WriteError, n};
use crate::store::to_item;
use crate::store::write_races::WriteRaces;

impl Chats {
    /// Stores an offline message. Returns the stored webhook notifications, which the caller must queue. Does nothing
    /// if the visitor is blacklisted. Costs one read, two counter updates and one transaction.
    pub async fn store_offline_message(&self, incoming: &IncomingMessage<'_>) -> Result<Vec<TimelineEntry>, Error> {
        let mut races = WriteRaces::new("offline message");
        loop {
            let visitor = self.visitor(&incoming.channel.channel_id, incoming.external_id).await?;
            if visitor.as_ref().is_some_and(|visitor| visitor.blacklisted) {
                return Ok(Vec::new());
            }
            let existing = visitor.map(|visitor| visitor.reset_if_expired(incoming.now));
            let written = self.create_closed_chat(incoming, existing).await;
            if let Some(result) = races.final_result(written) {
                return result;
            }
        }
    }

    async fn create_closed_chat(
        &self,
        incoming: &IncomingMessage<'_>,
        existing: Option<Visitor>,
    ) -> Result<Vec<TimelineEntry>, WriteError> {
        let is_new = existing.is_none();
        let counters = self.allocate_numbers(incoming, is_new).await?;
        let mut visitor = existing.unwrap_or_else(|| incoming.new_visitor(counters.visitors));
        visitor.merge_profile(incoming.profile, ProfileSource::Visitor);
        visitor.last_chat = Some(counters.chats);
        let mut header =
            Chat { state: ChatState::Closed(None), bot_id: None, ..incoming.new_header(&visitor, counters.chats) };
        let message = incoming.entry(&header)?;
        let context = NotificationContext { webhooks: &incoming.settings.webhooks, agent_id: None, now: incoming.now };
        let contents = context.webhook_notifications(WebhookEvent::OfflineMessage, WebhookEventDetails::default());
        let notifications = context.create_entries(&mut header, contents)?;
        let entries = [&message].into_iter().chain(&notifications).map(entry_write).collect::<Result<Vec<_>, _>>()?;
        match self
            .write_closed_chat(&header, &visitor, is_new, entries.clone(), &VisitorExpiry::of_closed_chat(&header))
            .await
        {
            // The visitor has another chat that expires later.
            Err(WriteError::ConditionFailed { item: Some(item), index }) => {
                match VisitorExpiry::later_than(&item, &header) {
                    Some(expiry) => self.write_closed_chat(&header, &visitor, is_new, entries, &expiry).await?,
                    None => return Err(WriteError::ConditionFailed { item: Some(item), index }),
                }
            }
            stored => stored?,
        }
        Ok(notifications)
    }

    async fn write_closed_chat(
        &self,
        header: &Chat,
        visitor: &Visitor,
        is_new: bool,
        entries: Vec<Write>,
        expiry: &VisitorExpiry,
    ) -> Result<(), WriteError> {
        let mut writes = header_and_visitor_writes(header, visitor, is_new, expiry)?;
        writes.extend(entries);
        self.table.transact(writes).await
    }
}

fn header_and_visitor_writes(
    header: &Chat,
    visitor: &Visitor,
    is_new: bool,
    expiry: &VisitorExpiry,
) -> Result<Vec<Write>, Error> {
    let header_write = Write::Create(to_item(&HeaderItem::new(header, header.updated_at))?);
    if is_new {
        let new_visitor = Visitor { retain_until: header.retain_until(header.updated_at), ..visitor.clone() };
        let mut item = to_item(&VisitorItem::from(&new_visitor))?;
        item.insert("retain_until".to_owned(), expiry.attribute().clone());
        item.insert("last_closed_at".to_owned(), n(header.updated_at.0));
        return Ok(vec![header_write, Write::Create(item), visitor_number_write(&new_visitor)?]);
    }
    let mut set = changed_attributes(visitor)?;
    set.add(
        "#last_chat = :chat, #retain_until = :retain_until, #last_closed_at = :last_closed_at",
        [
            (":chat", n(header.chat_id)),
            (":retain_until", expiry.attribute().clone()),
            (":last_closed_at", n(header.updated_at.0)),
        ],
    );
    // A visitor with an open chat does not expire. The new `retain_until` is stored anyway, because it is needed when
    // that chat is closed.
    let is_open = visitor.open_chat.is_some();
    if !is_open {
        set.add("#expires_at = :retain_until", []);
    }
    let condition = match (expiry, is_open) {
        (VisitorExpiry::OfEarlierChat(_), true) => "attribute_exists(#open_chat) AND #retain_until = :retain_until",
        (VisitorExpiry::OfEarlierChat(_), false) => {
            "attribute_not_exists(#open_chat) AND #retain_until = :retain_until"
        }
        (VisitorExpiry::OfThisChat(_), true) if expiry.is_never() => "attribute_exists(#open_chat)",
        (VisitorExpiry::OfThisChat(_), false) if expiry.is_never() => {
            "attribute_exists(#pk) AND attribute_not_exists(#open_chat)"
        }
        (VisitorExpiry::OfThisChat(_), true) => {
            "attribute_exists(#open_chat) AND (attribute_not_exists(#retain_until) OR #retain_until <= :retain_until)"
        }
        (VisitorExpiry::OfThisChat(_), false) => {
            "attribute_exists(#pk) AND attribute_not_exists(#open_chat) \
              AND (attribute_not_exists(#retain_until) OR #retain_until <= :retain_until)"
        }
    };
    let key = visitor_key(&visitor.channel_id, &visitor.external_id);
    let visitor_write = Write::DynamicUpdate(set.into_update(key, condition));
    let changes_expiry = !expiry.is_never() || visitor.retain_until.is_some();
    let number = (changes_expiry && !is_open).then(|| visitor_number_expiry_write(header, expiry));
    Ok([header_write, visitor_write].into_iter().chain(number).collect())
}
