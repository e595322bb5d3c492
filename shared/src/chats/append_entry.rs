//! Stores messages from visitors. An offline message is one that a visitor leaves in the widget's offline form. If the
//! channel has a bot, every new chat goes to the bot first, also one that an offline message or a callback opens. Only
//! a visitor who calls by phone goes to the agents at once.
//!
//! For a message in an open chat, the visitor is read and the header is written concurrently if the process remembers
//! the chat (`recent_open_chats.rs`).

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::{join, try_join};
use serde::Deserialize;

use crate::chats::calls::CallSlot;
use crate::chats::notifications::{NotificationContent, NotificationContext};
use crate::domain::account_settings::AccountSettings;
use crate::domain::bot::BotNotification;
use crate::domain::channel::{Channel, ChannelKind};
use crate::domain::chat::{Chat, MessagePreview, Sender};
use crate::domain::chat_side_panel::CustomData;
use crate::domain::chat_state::ChatState;
use crate::domain::delivery::{Delivery, Target};
use crate::domain::department::ChatDepartment;
use crate::domain::idempotency_key::{IdempotencyKey, MessageReceipt};
use crate::domain::message_content::{Content, truncate_chars};
use crate::domain::phone_call::{Call, CallKind, CallStatus};
use crate::domain::report::Counter;
use crate::domain::telephony::CallbackCaps;
use crate::domain::time_zone::Day;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::{
    OverriddenIntegratorValues, ProfileSource, ProfileSources, Visitor, VisitorChanges, VisitorProfile,
};
use crate::domain::webhook::WebhookEventDetails;
use crate::domain::webhook_event::WebhookEvent;
use crate::domain::widget_visitor::Page;
use crate::error::Error;
use crate::store::chats::items::{EntryItem, HeaderItem, MessagePreviewItem};
use crate::store::chats::panels::{invite_hash, invite_write};
use crate::store::chats::report_counters::count_write;
use crate::store::chats::visitor_message_rate::{MessageCount, first_message_count};
use crate::store::chats::visitor_updates::{
    visitor_number_retain_write, visitor_number_write, visitor_update, visitor_write,
};
use crate::store::chats::{Chats, chat_from_item, counters_key, entry_write, header_key};
use crate::store::table::{ItemUpdate, Write, WriteError, n, s};
use crate::store::write_races::WriteRaces;
use crate::store::{from_item, to_attribute, to_item};

/// The maximum length, in characters, of the visitor's name and the channel's name in a chat's header.
pub(crate) const MAX_VISITOR_NAME_CHARS: usize = 60;

pub struct IncomingMessage<'a> {
    pub channel: &'a Channel,
    /// The department of the chat that the message opens. Has no effect if a chat is already open.
    pub department: Option<&'a ChatDepartment>,
    /// The visitor's id in the channel: the value of `sender.id` as text, the hash of the token of a widget's visitor,
    /// or the phone number of an unknown caller.
    pub external_id: &'a str,
    /// Whether the JSON value of `sender.id` was a number. `None` for an incoming call, which has no `sender.id`. The
    /// value then comes from the visitor's last chat.
    pub has_numeric_id: Option<bool>,
    /// The value of `sender.invite`.
    pub invite: Option<&'a str>,
    pub profile: &'a VisitorProfile,
    pub source: ProfileSource,
    /// The answers to the custom fields of a widget's contacts form. `None` leaves the visitor's answers unchanged.
    pub answers: Option<&'a [CustomData]>,
    pub page: Option<&'a Page>,
    pub is_offline: bool,
    /// The limits on callbacks, if the message is one.
    pub callback_caps: Option<CallbackCaps>,
    /// The hash of the [client network](crate::domain::login_limit::client_network) that a widget's message comes from.
    /// `None` for a message that is not sent by a browser.
    pub network: Option<&'a str>,
    pub content: &'a Content,
    pub settings: &'a AccountSettings,
    pub key: Option<&'a IdempotencyKey>,
    pub now: Timestamp,
}

pub struct StoreMessageResult {
    pub receipt: MessageReceipt,
    /// The stored entry, or `None` if an earlier request with the same idempotency key stored it.
    pub entry: Option<TimelineEntry>,
    /// The stored chat_updated, offline_message and call_event events and, if the bot has the chat of a callback, its
    /// notification. The caller must queue them.
    pub notifications: Vec<TimelineEntry>,
}

pub(crate) struct HeaderUpdate<'a> {
    pub account_id: &'a str,
    pub chat_id: u64,
    /// The chat must be in one of these states.
    pub states: [&'static str; 3],
    /// `None` if the visitor has not been read yet. The update then keeps the name, and fails if the visitor must be
    /// read first.
    pub visitor_name: Option<&'a str>,
    /// The message's invitation if it differs from the chat's last invitation; otherwise `None`.
    pub new_invite: Option<&'a str>,
    /// How many entry numbers the update assigns.
    pub entry_count: u64,
}

#[derive(Deserialize)]
pub(crate) struct LastAssignedNumbers {
    #[serde(default)]
    pub visitors: u64,
    #[serde(default)]
    pub chats: u64,
}

impl Chats {
    /// Stores a visitor's message in the visitor's open chat, or opens a chat with it. Returns `None` and stores
    /// nothing if the visitor is blacklisted.
    ///
    /// # Errors
    /// Fails with `InvalidVisitorToken` if the channel is a widget and the visitor does not exist or has expired, and
    /// with a conflict if the visitor asks for a callback while a call of the visitor or the number is in progress, the
    /// balance is used up or a limit on callbacks is reached. Also fails if a rate limit is
    /// exceeded, or if an earlier request with the same idempotency key had a different body.
    pub async fn store_visitor_message(
        &self,
        incoming: &IncomingMessage<'_>,
    ) -> Result<Option<StoreMessageResult>, Error> {
        let mut must_notify_webhooks = false;
        let mut races = WriteRaces::new("visitor message");
        loop {
            let visitor = self.visitor(&incoming.channel.channel_id, incoming.external_id);
            let reads = try_join(self.earlier_receipt(incoming.key), visitor);
            let (reads, early_header) = join(reads, self.advance_recent_header(incoming)).await;
            let (receipt, visitor) = reads?;
            if let Some(receipt) = receipt {
                return Ok(Some(StoreMessageResult { receipt, entry: None, notifications: Vec::new() }));
            }
            if visitor.as_ref().is_some_and(|visitor| visitor.blacklisted) {
                return Ok(None);
            }
            let open_chat = visitor.as_ref().and_then(|visitor| visitor.open_chat);
            let early_header = early_header?.filter(|header| open_chat == Some(header.chat_id));
            let written = match visitor {
                Some(visitor) if open_chat.is_some() => {
                    self.append_to_open_chat(incoming, visitor, early_header, &mut must_notify_webhooks).await
                }
                visitor if incoming.is_from_unknown_browser(visitor.as_ref()) => {
                    return Err(Error::InvalidVisitorToken);
                }
                visitor => self.open_chat(incoming, visitor.map(|it| it.reset_if_expired(incoming.now))).await,
            };
            if let Some(result) = races.final_result(written) {
                if let Ok(stored) = &result {
                    self.recent_open_chats.remember(incoming, stored.receipt.chat_id);
                }
                return result.map(Some);
            }
        }
    }

    /// Adds a message to the visitor's open chat. `early_header` is the chat's header if it was written while the
    /// visitor was read. Sets `must_notify_webhooks` if webhooks must be notified of changed visitor data. The flag
    /// stays set for a retry, which may find the new data already stored.
    async fn append_to_open_chat(
        &self,
        incoming: &IncomingMessage<'_>,
        mut visitor: Visitor,
        early_header: Option<Chat>,
        must_notify_webhooks: &mut bool,
    ) -> Result<StoreMessageResult, WriteError> {
        let account_id = &incoming.channel.account_id;
        let chat_id = visitor.open_chat.unwrap_or_default();
        incoming.update_visitor(&mut visitor);
        *must_notify_webhooks |= visitor.changes.must_notify_webhooks;
        visitor.changes.must_notify_webhooks = *must_notify_webhooks;
        let chat = if incoming.depends_on_header(&visitor) {
            let chat = self.chat(account_id, chat_id).await?;
            // If the chat is missing, the visitor is being erased. If it is closed, another request has closed it. In
            // both cases, the visitor must be read again.
            Some(chat.filter(|chat| !chat.state.is_closed()).ok_or(WriteError::Contended)?)
        } else {
            None
        };
        let call_slot = self.call_slot(incoming).await?;

        let agent_id = chat.as_ref().and_then(|chat| chat.state.agent()).map(|agent| agent.agent_id);
        let context = NotificationContext { webhooks: &incoming.settings.webhooks, agent_id, now: incoming.now };
        let mut notifications =
            chat.as_ref().map(|chat| context.chat_updated_notifications(chat, &visitor)).unwrap_or_default();
        notifications.extend(chat.iter().flat_map(|chat| incoming.notifications(&context, &chat.state)));

        let notification_count = notifications.len() as u64;
        let last_invite = chat.as_ref().and_then(|chat| chat.invite_hash.as_deref());
        let new_invite = incoming.invite.filter(|invite| last_invite != Some(&*invite_hash(invite)));
        let visitor_name = visitor.profile.display_name();
        let mut header = match early_header.filter(|_| chat.is_none()) {
            Some(header) => {
                self.correct_visitor_name(&header, visitor_name, incoming.now).await?;
                header
            }
            None => {
                let states = chat.as_ref().map_or(ChatState::OPEN_NAMES, |chat| [chat.state.name(); 3]);
                let (visitor_name, entry_count) = (Some(visitor_name), 1 + notification_count);
                let update = HeaderUpdate { account_id, chat_id, states, visitor_name, new_invite, entry_count };
                self.advance_header(incoming, &update).await?
            }
        };
        header.seq = header.seq.saturating_sub(notification_count);
        let mut visitor_update = visitor_update(&visitor)?;
        if notifications.is_empty()
            && let Some(update) = visitor_update.take()
        {
            self.table.update(update).await?;
        }
        let entry = incoming.entry(&header)?;
        let notifications = context.create_entries(&mut header, notifications)?;

        let mut others = notifications.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?;
        others.extend(visitor_update.map(Write::DynamicUpdate));
        others.extend(new_invite.map(|invite| invite_write(&header, invite)));
        let counters = incoming.finished_call_counters();
        if !counters.is_empty() {
            others.push(count_write(&header, &counters));
        }
        others.extend(call_slot.iter().flat_map(|slot| slot.writes(entry.chat_id, entry.seq, incoming.now)));
        self.store_entry_with(&entry, incoming.key, others).await?;
        Ok(StoreMessageResult { receipt: MessageReceipt::of(&entry), entry: Some(entry), notifications })
    }

    /// Assigns the next entry numbers of an open chat, counts the message and returns the new header. The write
    /// succeeds only if the chat has one of the expected states and the visitor may send one more message.
    pub(crate) async fn advance_header(
        &self,
        incoming: &IncomingMessage<'_>,
        update: &HeaderUpdate<'_>,
    ) -> Result<Chat, WriteError> {
        let limit = incoming.settings.limits.visitor_messages;
        match self.table.update(incoming.header_update(update, MessageCount::Increment)?).await {
            Err(WriteError::ConditionFailed { item: Some(header), index }) => {
                let lost_race = || WriteError::ConditionFailed { item: None, index };
                if !update.states.contains(&chat_from_item(header.clone())?.state.name()) {
                    return Err(lost_race());
                }
                let count = MessageCount::after_failure(&header, limit, incoming.now)?.ok_or_else(lost_race)?;
                Ok(chat_from_item(self.table.update(incoming.header_update(update, count)?).await?)?)
            }
            updated => Ok(chat_from_item(updated?)?),
        }
    }

    /// Opens a chat with a visitor's message. First assigns the chat number and, if needed, the visitor number. Then
    /// stores all items in one transaction.
    async fn open_chat(
        &self,
        incoming: &IncomingMessage<'_>,
        existing: Option<Visitor>,
    ) -> Result<StoreMessageResult, WriteError> {
        let is_new = existing.is_none();
        let call_slot = self.call_slot(incoming).await?;
        let has_numeric_id = self.has_numeric_id(incoming, existing.as_ref()).await?;
        let counters = self.allocate_numbers(incoming, is_new).await?;
        let mut visitor =
            existing.unwrap_or_else(|| new_visitor(incoming.channel, incoming.external_id, counters.visitors));
        incoming.update_visitor(&mut visitor);
        visitor.chats += 1;
        visitor.open_chat = Some(counters.chats);
        let previous_chat = visitor.last_chat;
        let previous_chats = visitor.start_chat(counters.chats);
        let mut header = Chat { previous_chats, has_numeric_id, ..incoming.new_header(&visitor, counters.chats) };
        let next_idle_check = incoming.settings.next_idle_check(incoming.now, incoming.now);
        let entry = incoming.entry(&header)?;
        let context = NotificationContext { webhooks: &incoming.settings.webhooks, agent_id: None, now: incoming.now };
        let notifications = incoming.notifications(&context, &header.state);
        let notifications = context.create_entries(&mut header, notifications)?;
        let mut header_item = to_item(&HeaderItem::new(&header, next_idle_check))?;
        header_item.extend([first_message_count(incoming.now)]);
        let mut writes = vec![
            visitor_write(&visitor, is_new, previous_chat)?,
            Write::Create(header_item),
            Write::Create(to_item(&EntryItem::from(&entry))?),
            count_write(&header, &[vec![Counter::OpenedChats], incoming.finished_call_counters()].concat()),
        ];
        writes.extend(notifications.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?);
        writes.extend(incoming.invite.map(|invite| invite_write(&header, invite)));
        if is_new {
            writes.push(visitor_number_write(&visitor)?);
        } else if visitor.retain_until.is_some() {
            writes.push(visitor_number_retain_write(&visitor));
        }
        if let Some(key) = incoming.key {
            writes.push(key.receipt_write(&entry)?);
        }
        writes.extend(call_slot.iter().flat_map(|slot| slot.writes(entry.chat_id, entry.seq, incoming.now)));
        self.table.transact(writes).await?;
        Ok(StoreMessageResult { receipt: MessageReceipt::of(&entry), entry: Some(entry), notifications })
    }

    /// Returns whether the visitor's id was a JSON number in the message or, if the message has no id, in the visitor's
    /// last chat.
    async fn has_numeric_id(&self, incoming: &IncomingMessage<'_>, visitor: Option<&Visitor>) -> Result<bool, Error> {
        let last_chat = visitor.and_then(|visitor| visitor.last_chat);
        Ok(match (incoming.has_numeric_id, last_chat) {
            (Some(has_numeric_id), _) => has_numeric_id,
            (None, Some(chat_id)) => {
                let chat = self.chat(&incoming.channel.account_id, chat_id).await?;
                chat.is_some_and(|chat| chat.has_numeric_id)
            }
            (None, None) => false,
        })
    }

    /// Returns the stored items that the message's call replaces. Returns `None` if
    /// the message is not a call, if the call has already failed, or if a call comes in while another one is in
    /// progress. Fails with a conflict if the visitor asks for a callback that is not possible now.
    async fn call_slot(&self, incoming: &IncomingMessage<'_>) -> Result<Option<CallSlot>, Error> {
        let IncomingMessage { channel, external_id, callback_caps, now, .. } = incoming;
        let Some(call) = incoming.call().filter(|call| !call.status.is_final()) else { return Ok(None) };
        let visitor = (channel.channel_id.as_str(), *external_id);
        match self.free_call_slot(&channel.account_id, visitor, call, *callback_caps, *now).await {
            Err(Error::Conflict(_)) if call.kind == CallKind::Incoming => Ok(None),
            slot => slot.map(Some),
        }
    }

    /// Assigns the next chat number and, for a new visitor, the next visitor number. Fails if the channel has reached
    /// its limit on new chats.
    async fn allocate_numbers(
        &self,
        incoming: &IncomingMessage<'_>,
        is_new_visitor: bool,
    ) -> Result<LastAssignedNumbers, WriteError> {
        let IncomingMessage { channel, network, settings, now, .. } = incoming;
        self.count_opened_chat(&channel.channel_id, *network, settings.limits.channel_chats, *now).await?;
        let update = ItemUpdate {
            key: counters_key(&channel.account_id),
            update: "ADD #chats :one, #visitors :visitors",
            condition: "",
            values: vec![(":one", n(1)), (":visitors", n(u8::from(is_new_visitor)))],
        };
        Ok(from_item(self.table.update(update).await?)?)
    }
}

pub(crate) fn new_visitor(channel: &Channel, external_id: &str, number: u64) -> Visitor {
    Visitor {
        account_id: channel.account_id.clone(),
        channel_id: channel.channel_id.clone(),
        external_id: external_id.to_owned(),
        number,
        profile: VisitorProfile::default(),
        sources: ProfileSources::default(),
        integrator_values: OverriddenIntegratorValues::default(),
        chats: 0,
        widget: None,
        blacklisted: false,
        open_chat: None,
        last_chat: None,
        recent_chats: Vec::new(),
        retain_until: None,
        changes: VisitorChanges::default(),
    }
}

impl IncomingMessage<'_> {
    fn call(&self) -> Option<&Call> {
        self.content.call()
    }

    /// Returns the counters of a call that is stored as failed because no agent is available. Other messages have no
    /// counters.
    fn finished_call_counters(&self) -> Vec<Counter> {
        self.call().map(Counter::of_finished_call).unwrap_or_default()
    }

    /// Whether the message comes from a browser without a valid token. A widget's visitor must exist before the first
    /// message, unless the visitor is an unknown caller.
    fn is_from_unknown_browser(&self, visitor: Option<&Visitor>) -> bool {
        let is_known = visitor.is_some_and(|visitor| !visitor.is_expired(self.now))
            || self.call().is_some_and(|call| call.kind == CallKind::Incoming);
        self.channel.settings.kind() == ChannelKind::Widget && !is_known
    }

    fn update_visitor(&self, visitor: &mut Visitor) {
        visitor.merge_profile(self.profile, self.source);
        if let Some(answers) = self.answers {
            visitor.set_answers(answers.to_vec());
        }
        if let Some(page) = self.page {
            visitor.set_page(page.clone());
        }
    }

    /// Whether storing the message requires data of the chat's header, which must then be read first.
    fn depends_on_header(&self, visitor: &Visitor) -> bool {
        let may_notify_webhooks = visitor.changes.must_notify_webhooks && !self.settings.webhooks.is_empty();
        may_notify_webhooks || self.needs_header()
    }

    /// The same for a message that does not change the visitor.
    pub(crate) fn needs_header(&self) -> bool {
        self.is_offline || self.invite.is_some() || self.call().is_some()
    }

    fn header_update(&self, update: &HeaderUpdate<'_>, count: MessageCount) -> Result<ItemUpdate<String>, Error> {
        let HeaderUpdate { account_id, chat_id, states: [state_1, state_2, state_3], .. } = *update;
        let HeaderUpdate { visitor_name, new_invite, entry_count, .. } = update;
        let preview = MessagePreview::of(self.content, &Sender::Visitor, self.now);
        let mut assignments = String::from("#seq = #seq + :count, #updated_at = :now, #last_message = :preview");
        let mut values = vec![
            (":now", n(self.now.0)),
            (":preview", to_attribute(&MessagePreviewItem::from(&preview))?),
            (":count", n(entry_count)),
            (":state_1", s(state_1)),
            (":state_2", s(state_2)),
            (":state_3", s(state_3)),
            (":is_visitor_read", AttributeValue::Bool(visitor_name.is_some())),
        ];
        if let Some(name) = visitor_name {
            assignments.push_str(", #visitor_name = :name");
            values.push((":name", s(truncate_chars(name, MAX_VISITOR_NAME_CHARS))));
        }
        if let Some(has_numeric_id) = self.has_numeric_id {
            assignments.push_str(", #has_numeric_id = :has_numeric_id");
            values.push((":has_numeric_id", AttributeValue::Bool(has_numeric_id)));
        }
        if let Some(invite) = new_invite {
            assignments.push_str(", #invite_hash = :invite_hash");
            values.push((":invite_hash", s(invite_hash(invite))));
        }
        let counted = count.expression(self.settings.limits.visitor_messages, self.now);
        values.extend(counted.values);
        let update = format!(
            "SET {assignments}{} REMOVE #typing_started_at, #typing_text, #repeated_to_bot{}",
            counted.assignments, counted.removed
        );
        Ok(ItemUpdate { key: header_key(account_id, chat_id), update, condition: counted.condition, values })
    }

    /// Returns the notifications of an offline message or of the start of a call. For a call that is stored as failed,
    /// also returns the notifications of the failure. If a bot has the chat of a callback, also notifies the bot,
    /// because the call itself is delivered to the telephony provider. Returns nothing for other messages.
    fn notifications(&self, context: &NotificationContext<'_>, state: &ChatState) -> Vec<NotificationContent> {
        if let Some(call) = self.call() {
            let agent_id = call.agent.as_ref().map(|called| called.agent.agent_id);
            let later = [&call.status].into_iter().filter(|status| status.is_final());
            let context = NotificationContext { agent_id, ..*context };
            let mut contents = context.call_notifications(call, [&CallStatus::Start].into_iter().chain(later));
            if *state == ChatState::Bot && call.kind == CallKind::Callback {
                let (notification, phone) = (BotNotification::CallbackRequested, Some(call.phone.clone()));
                contents.push((Content::BotNotification { notification, phone }, None));
            }
            return contents;
        }
        if !self.is_offline {
            return Vec::new();
        }
        context.webhook_notifications(WebhookEvent::OfflineMessage, WebhookEventDetails::default())
    }

    /// Returns the bot that owns a chat opened by the message. Incoming calls go to the agents instead, because the
    /// visitor is on the phone.
    fn first_bot(&self) -> Option<&String> {
        let is_on_the_phone = self.call().is_some_and(|call| call.kind != CallKind::Callback);
        self.channel.bot_id.as_ref().filter(|_| !is_on_the_phone)
    }

    /// Creates the message's entry, numbered `header.seq`. While a bot owns the chat, the entry is delivered to the
    /// bot. A call is delivered to the telephony provider, unless it has already failed.
    fn entry(&self, header: &Chat) -> Result<TimelineEntry, Error> {
        let target = match self.call() {
            Some(call) => (!call.status.is_final()).then_some(Target::Call),
            None => (header.state == ChatState::Bot).then_some(Target::Bot),
        };
        Ok(TimelineEntry {
            account_id: header.account_id.clone(),
            chat_id: header.chat_id,
            seq: header.seq,
            id: crate::runtime::random_ids_and_secrets::new_message_id(header.chat_id, header.seq, self.now)?,
            from: Sender::Visitor,
            content: self.content.clone(),
            at: self.now,
            caused_by: None,
            webhook_dispatch: None,
            retain_until: header.retain_until(self.now),
            delivery: target.map(|target| Delivery::new(target, self.now)),
        })
    }

    fn new_header(&self, visitor: &Visitor, chat_id: u64) -> Chat {
        let state = ChatState::initial(self.first_bot().is_some());
        Chat {
            account_id: visitor.account_id.clone(),
            chat_id,
            version: 1,
            channel_id: visitor.channel_id.clone(),
            channel_kind: self.channel.settings.kind(),
            channel_name: truncate_chars(&self.channel.settings.name, MAX_VISITOR_NAME_CHARS),
            external_id: visitor.external_id.clone(),
            has_numeric_id: self.has_numeric_id.unwrap_or_default(),
            invite_hash: self.invite.map(invite_hash),
            visitor_number: visitor.number,
            visitor_name: truncate_chars(visitor.profile.display_name(), MAX_VISITOR_NAME_CHARS),
            department: self.department.cloned(),
            participants: Vec::new(),
            bot_id: self.first_bot().cloned(),
            bot_event_at: None,
            repeated_to_bot: None,
            handover: None,
            seq: 1,
            opened_at: self.now,
            opened_on: Day::of(self.now, &self.settings.time_zone),
            first_answer_at: None,
            agent_joined_at: None,
            updated_at: self.now,
            other_change_at: None,
            last_message: Some(MessagePreview::of(self.content, &Sender::Visitor, self.now)),
            waiting_since: state.is_waiting().then_some(self.now),
            state,
            typing_started_at: None,
            typing_text: None,
            failing_until: BTreeMap::new(),
            undelivered: Vec::new(),
            rating: None,
            retention_days: self.settings.retention_days,
            previous_chats: Vec::new(),
        }
    }
}
