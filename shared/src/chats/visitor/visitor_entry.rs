//! An entry that a visitor adds to a chat, before it is stored: a message, an offline form or a call. What storing it
//! involves follows from its kind.

use crate::chats::new_entry::new_entry;
use crate::chats::notifications::{NotificationContent, NotificationContext};
use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::accounts::department::ChatDepartment;
use crate::domain::bots::bot::BotNotification;
use crate::domain::calls::phone_call::{Call, CallStatus};
use crate::domain::calls::telephony::CallbackCaps;
use crate::domain::channels::channel::{Channel, ChannelKind};
use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::chat_side_panel::CustomData;
use crate::domain::chats::chat_state::ChatState;
use crate::domain::chats::idempotency_key::{IdempotencyKey, MessageReceipt};
use crate::domain::chats::message_content::Content;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Delivery, Target};
use crate::domain::deliveries::webhook::WebhookEventDetails;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::report::Counter;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::{ProfileSource, Visitor, VisitorProfile};
use crate::domain::visitors::widget_visitor::Page;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::chats::calls::call_slot::CallSlot;

/// Who writes, where, and under which settings.
#[derive(Clone, Copy)]
pub struct FromVisitor<'a> {
    pub channel: &'a Channel,
    /// The department of the chat that the entry opens. Has no effect if a chat is already open.
    pub department: Option<&'a ChatDepartment>,
    /// The bot that answers first in the chat that the entry opens, unless it is an incoming call.
    pub bot_id: Option<&'a str>,
    /// The visitor's id in the channel: the value of `sender.id` as text, the hash of the token of a widget's visitor,
    /// or the phone number of an unknown caller.
    pub external_id: &'a str,
    /// The hash of the [client network](crate::domain::accounts::login_limit::client_network) of the visitor's browser.
    /// `None` if the entry is not sent by a browser.
    pub network: Option<&'a str>,
    pub settings: &'a AccountSettings,
    pub key: Option<&'a IdempotencyKey>,
    pub now: Timestamp,
}

pub struct StoredEntry {
    pub receipt: MessageReceipt,
    /// The stored entry, or `None` if an earlier request with the same idempotency key stored it.
    pub entry: Option<TimelineEntry>,
    /// The stored events for webhooks and, if the bot has the chat of a callback, its notification. The caller must
    /// queue them.
    pub notifications: Vec<TimelineEntry>,
}

impl StoredEntry {
    /// The result of a request whose idempotency key an earlier request has used.
    pub(crate) fn repeated(receipt: MessageReceipt) -> Self {
        Self { receipt, entry: None, notifications: Vec::new() }
    }
}

/// What the entry tells about the visitor.
pub(crate) struct VisitorData<'a> {
    pub profile: &'a VisitorProfile,
    pub source: ProfileSource,
    /// The answers to the custom fields of a widget's contacts form. `None` leaves the visitor's answers unchanged.
    pub answers: Option<&'a [CustomData]>,
    pub page: Option<&'a Page>,
}

pub(crate) enum EntryKind<'a> {
    Message {
        /// The value of `sender.invite`.
        invite: Option<&'a str>,
    },
    OfflineForm,
    Callback {
        call: &'a Call,
        caps: CallbackCaps,
    },
    IncomingCall {
        call: &'a Call,
    },
}

pub(crate) struct VisitorEntry<'a> {
    pub from: FromVisitor<'a>,
    pub content: &'a Content,
    pub visitor: VisitorData<'a>,
    /// Whether the JSON value of `sender.id` was a number. `None` for an incoming call, which has no `sender.id`. The
    /// value then comes from the visitor's last chat.
    pub has_numeric_id: Option<bool>,
    pub kind: EntryKind<'a>,
}

impl<'a> VisitorEntry<'a> {
    pub(crate) fn context(&self, agent_id: Option<u64>) -> NotificationContext<'a> {
        NotificationContext { webhooks: &self.from.settings.webhooks, agent_id, now: self.from.now }
    }

    pub(crate) fn invite(&self) -> Option<&'a str> {
        match self.kind {
            EntryKind::Message { invite } => invite,
            EntryKind::OfflineForm | EntryKind::Callback { .. } | EntryKind::IncomingCall { .. } => None,
        }
    }

    pub(crate) fn is_message(&self) -> bool {
        self.call().is_none()
    }

    /// Whether the event `message` reports the entry. Other events report calls and offline forms.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.kind, EntryKind::Message { .. })
    }

    fn call(&self) -> Option<&'a Call> {
        match self.kind {
            EntryKind::Message { .. } | EntryKind::OfflineForm => None,
            EntryKind::Callback { call, .. } | EntryKind::IncomingCall { call } => Some(call),
        }
    }

    /// Whether the entry may create its visitor. A widget's visitor must exist before, because the widget's token
    /// identifies the visitor; only an unknown caller has none.
    pub(crate) fn may_create_visitor(&self) -> bool {
        match self.kind {
            EntryKind::Message { .. } | EntryKind::OfflineForm | EntryKind::Callback { .. } => {
                self.from.channel.settings.kind() != ChannelKind::Widget
            }
            EntryKind::IncomingCall { .. } => true,
        }
    }

    pub(crate) fn update_visitor(&self, visitor: &mut Visitor) {
        visitor.merge_profile(self.visitor.profile, self.visitor.source);
        if let Some(answers) = self.visitor.answers {
            visitor.set_answers(answers.to_vec());
        }
        if let Some(page) = self.visitor.page {
            visitor.set_page(page.clone());
        }
    }

    /// Whether storing the entry requires data of the chat's header, which must then be read first.
    pub(crate) fn depends_on_header(&self, visitor: &Visitor) -> bool {
        let may_notify_webhooks = visitor.changes.must_notify_webhooks && !self.from.settings.webhooks.is_empty();
        may_notify_webhooks
            || match self.kind {
                EntryKind::Message { invite } => invite.is_some(),
                EntryKind::OfflineForm | EntryKind::Callback { .. } | EntryKind::IncomingCall { .. } => true,
            }
    }

    /// Returns the bot that gets a chat that the entry opens. An incoming call goes to the agents instead, because the
    /// visitor is on the phone.
    pub(crate) fn first_bot(&self) -> Option<&'a str> {
        match self.kind {
            EntryKind::Message { .. } | EntryKind::OfflineForm | EntryKind::Callback { .. } => self.from.bot_id,
            EntryKind::IncomingCall { .. } => None,
        }
    }

    /// Returns the stored items that the call replaces. Returns `None` if the entry is not a call, if the call has
    /// already failed, or if a call comes in while another one is in progress. Fails with a conflict if a callback is
    /// not possible now.
    pub(crate) async fn call_slot(&self, chats: &Chats) -> Result<Option<CallSlot>, Error> {
        let FromVisitor { channel, external_id, now, .. } = self.from;
        let visitor = (channel.channel_id.as_str(), external_id);
        match self.kind {
            EntryKind::Message { .. } | EntryKind::OfflineForm => Ok(None),
            EntryKind::Callback { call, .. } | EntryKind::IncomingCall { call } if call.status.is_final() => Ok(None),
            EntryKind::Callback { call, caps } => {
                chats.free_call_slot(&channel.account_id, visitor, call, Some(caps), now).await.map(Some)
            }
            EntryKind::IncomingCall { call } => {
                match chats.free_call_slot(&channel.account_id, visitor, call, None, now).await {
                    Err(Error::Conflict(_)) => Ok(None),
                    slot => slot.map(Some),
                }
            }
        }
    }

    /// Returns the counters of a call that is stored as failed because no agent is available. Other entries have none.
    pub(crate) fn finished_call_counters(&self) -> Vec<Counter> {
        self.call().map(Counter::of_finished_call).unwrap_or_default()
    }

    /// Returns the notifications of an offline form or of the start of a call. For a call that is stored as failed,
    /// also returns the notifications of the failure. If a bot has the chat of a callback, also notifies the bot,
    /// because the call itself is delivered to the telephony provider.
    pub(crate) fn notifications(&self, agent_id: Option<u64>, state: &ChatState) -> Vec<NotificationContent> {
        match self.kind {
            EntryKind::Message { .. } => Vec::new(),
            EntryKind::OfflineForm => {
                let context = self.context(agent_id);
                context.webhook_notifications(WebhookEvent::OfflineMessage, WebhookEventDetails::default())
            }
            EntryKind::Callback { call, .. } => {
                let mut contents = self.start_of_call(call);
                if *state == ChatState::Bot {
                    let (notification, text) = (BotNotification::CallbackRequested, Some(call.phone.clone()));
                    contents
                        .push((Content::BotNotification { notification, text, closed_by: None, opens_at: None }, None));
                }
                contents
            }
            EntryKind::IncomingCall { call } => self.start_of_call(call),
        }
    }

    fn start_of_call(&self, call: &Call) -> Vec<NotificationContent> {
        let context = self.context(call.agent.as_ref().map(|called| called.agent.agent_id));
        let failed = [&call.status].into_iter().filter(|status| status.is_final());
        context.call_notifications(call, [&CallStatus::Start].into_iter().chain(failed))
    }

    /// Creates the timeline entry, numbered `header.seq`. While a bot has the chat, messages and forms are delivered to
    /// the bot. A call is delivered to the telephony provider, unless it has already failed.
    pub(crate) fn timeline_entry(&self, header: &Chat) -> Result<TimelineEntry, Error> {
        let target = match self.call() {
            Some(call) => (!call.status.is_final()).then_some(Target::Call),
            None => (header.state == ChatState::Bot).then_some(Target::Bot),
        };
        let delivery = target.map(|target| Delivery::new(target, self.from.now));
        let entry = new_entry(header, Sender::Visitor, self.content.clone(), self.from.now)?;
        Ok(TimelineEntry { delivery, ..entry })
    }
}
