//! Phone calls: whether a call can be started, which agent takes part in it, and what a provider reports.

use std::sync::Arc;
use std::time::Duration;

use crate::chats::call::receive_call::{ReceivedCall, receive_incoming_call};
use crate::chats::call::report_call::{ReportedCall, report_call};
use crate::chats::visitor::visitor_entry::{FromVisitor, StoredEntry};
use crate::delivery::telephony::{self, AcceptedIncomingCall, TelephonyProvider};
use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::accounts::agent::{Agent, AgentSnapshot};
use crate::domain::calls::phone_call::{Call, CallAgent, CallCharge, CallFailure, CallKind, CallLimits, CallStatus};
use crate::domain::calls::phone_number;
use crate::domain::calls::telephony::{IncomingCall, Telephony, report_url};
use crate::domain::channels::callback_availability::CallbackAvailability;
use crate::domain::channels::channel::Channel;
use crate::domain::chats::idempotency_key::IdempotencyKey;
use crate::domain::chats::message_id;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::runtime::http::{Request, Response};
use crate::runtime::outbox::Outbox;
use crate::runtime::public_base_url::PublicBaseUrl;
use crate::store::chats::Chats;
use crate::store::chats::calls::call_slot::BALANCE_USED_UP;
use crate::store::connections::Connections;
use crate::store::directory::Directory;

/// The maximum number of online agents that are read to find one with a phone number.
const MAX_AGENTS_READ: usize = 20;
const MINUTE: Duration = Duration::from_secs(60);

pub struct CallService<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub connections: &'a Connections,
    pub now: Timestamp,
}

pub struct CallPlan {
    pub settings: Arc<AccountSettings>,
    pub telephony: Arc<Telephony>,
    pub agent: CallAgent,
    limits: CallLimits,
}

impl CallPlan {
    /// Returns a new call with the agent and the limits of this plan. The URL for the provider's reports starts with
    /// `base_url`, the public base URL of the service.
    pub fn call(&self, kind: CallKind, phone: String, base_url: String, now: Timestamp) -> Call {
        let minutes = self.limits.talk.as_secs().div_ceil(MINUTE.as_secs());
        let call = new_call((kind, phone), Some(self.agent.clone()), self.limits, base_url, now);
        Call { charge: CallCharge::Reserved(minutes), ..call }
    }
}

fn new_call(
    (kind, phone): (CallKind, String),
    agent: Option<CallAgent>,
    limits: CallLimits,
    base_url: String,
    now: Timestamp,
) -> Call {
    Call {
        kind,
        phone,
        agent,
        status: CallStatus::Start,
        status_at: now,
        started_at: now,
        charge: CallCharge::Free,
        talk_time: None,
        provider_call_id: None,
        is_acknowledged: false,
        limits,
        base_url,
        revision: 0,
    }
}

impl CallService<'_> {
    /// Whether the visitor can ask for a callback now.
    pub async fn callback_availability(
        &self,
        channel: &Channel,
        visitor: Option<&Visitor>,
    ) -> Result<CallbackAvailability, Error> {
        if let Err(availability) = self.plan_callback(channel, visitor).await? {
            return Ok(availability);
        }
        let is_in_progress = match visitor {
            Some(visitor) => self.chats.has_call_in_progress(visitor, self.now).await?,
            None => false,
        };
        Ok(if is_in_progress { CallbackAvailability::Unavailable } else { CallbackAvailability::Available })
    }

    /// Returns the plan for a callback, or the reason why callbacks are not available. Whether a call of the visitor or
    /// the number is in progress, and how often the number was called today, is checked when the call is stored.
    pub async fn plan_callback(
        &self,
        channel: &Channel,
        visitor: Option<&Visitor>,
    ) -> Result<Result<CallPlan, CallbackAvailability>, Error> {
        let settings = self.directory.cached_settings(&channel.account_id).await?;
        let telephony = self.directory.cached_telephony(&channel.account_id).await?;
        let Some(telephony) = telephony.filter(|_| settings.callback.enabled) else {
            return Ok(Err(CallbackAvailability::Disabled));
        };
        let is_blacklisted = visitor.is_some_and(|visitor| visitor.blacklisted);
        if is_blacklisted || !self.is_within_callback_hours(channel, &settings).await? {
            return Ok(Err(CallbackAvailability::Unavailable));
        }
        let balance = self.chats.call_balance(&channel.account_id).await?;
        let is_limit_reached = balance.callbacks_today(self.now) >= telephony.callback_caps.per_day;
        let Some(limits) = limits(balance.minutes, &telephony).filter(|_| !is_limit_reached) else {
            return Ok(Err(CallbackAvailability::Unavailable));
        };
        let agent = self.agent_to_call(channel, visitor, &telephony).await?;
        Ok(match agent {
            Some(agent) => Ok(CallPlan { settings, telephony, agent, limits }),
            None => Err(CallbackAvailability::Unavailable),
        })
    }

    /// An account without callback hours takes callbacks in the business hours.
    async fn is_within_callback_hours(&self, channel: &Channel, settings: &AccountSettings) -> Result<bool, Error> {
        if settings.callback.are_unrestricted() {
            return self.directory.is_open(channel, None, self.now).await;
        }
        Ok(settings.callback.include(self.now, &settings.time_zone))
    }

    /// Returns the plan for an agent's call to a visitor.
    ///
    /// # Errors
    /// Fails with a conflict if the call cannot be made.
    pub async fn plan_outgoing(&self, account_id: &str, agent_id: u64) -> Result<CallPlan, Error> {
        let settings = self.directory.cached_settings(account_id).await?;
        let telephony = self.directory.cached_telephony(account_id).await?;
        let telephony = telephony.ok_or(Error::Conflict("the account has no telephony provider"))?;
        let balance = self.chats.call_balance(account_id).await?;
        let limits = limits(balance.minutes, &telephony).ok_or(Error::Conflict(BALANCE_USED_UP))?;
        let agent = self.directory.agent_of_account(account_id, agent_id).await?;
        let agent = with_phone(agent, &telephony).ok_or(Error::Conflict("your profile has no valid phone number"))?;
        Ok(CallPlan { settings, telephony, agent, limits })
    }

    /// Returns the number of a request in E.164 format.
    ///
    /// # Errors
    /// Fails with `Invalid` if the account does not call this number (see [`Telephony::callable_number`]).
    pub async fn number_to_call(&self, account_id: &str, plan: &CallPlan, text: &str) -> Result<String, Error> {
        let roster = self.directory.cached_roster(account_id).await?;
        let number = plan.telephony.callable_number(text, roster.agent_phones());
        number.map_err(|refusal| Error::field("phone", refusal.text()))
    }

    /// Chooses the agent for a call from the agents who receive the channel's chats, are online and have a valid phone
    /// number. The agent who has the visitor's open chat comes first; otherwise, the choice is arbitrary. Returns
    /// `None` if none of the first 20 of these online agents has a valid number.
    async fn agent_to_call(
        &self,
        channel: &Channel,
        visitor: Option<&Visitor>,
        telephony: &Telephony,
    ) -> Result<Option<CallAgent>, Error> {
        let audience = self.directory.audience(channel).await?;
        let presences = self.connections.presences(&channel.account_id).await?;
        let online = presences.iter().filter(|agent| agent.is_online(self.now)).map(|agent| agent.agent_id);
        let mut agents: Vec<u64> = online.filter(|agent_id| audience.includes(*agent_id)).collect();
        if agents.is_empty() {
            return Ok(None);
        }
        let first = usize::try_from(self.now.0).unwrap_or_default() % agents.len();
        agents.rotate_left(first);
        let owner = self.owner_of_open_chat(&channel.account_id, visitor).await?;
        agents.sort_by_key(|agent_id| Some(*agent_id) != owner);
        agents.truncate(MAX_AGENTS_READ);
        let agents = self.directory.agents_by_id(&channel.account_id, &agents).await?;
        Ok(agents.into_iter().find_map(|agent| with_phone(agent, telephony)))
    }

    async fn owner_of_open_chat(&self, account_id: &str, visitor: Option<&Visitor>) -> Result<Option<u64>, Error> {
        let Some(chat_id) = visitor.and_then(|visitor| visitor.open_chat) else { return Ok(None) };
        let chat = self.chats.chat(account_id, chat_id).await?;
        Ok(chat.and_then(|chat| chat.state.agent().map(|agent| agent.agent_id)))
    }

    /// Handles the report of an incoming call. An unknown caller becomes a visitor. The call is stored in the visitor's
    /// open chat, or opens one. Returns the response, which tells the provider whom to call. A repeated report of the
    /// same call stores nothing.
    ///
    /// # Errors
    /// Fails with `NotFound` if the account has no telephony provider, and with `InvalidSignature` unless the provider
    /// has sent the request.
    pub async fn receive_incoming(
        &self,
        (request, public_url): (&Request, &PublicBaseUrl),
        account_id: &str,
        outbox: &Outbox,
    ) -> Result<Response, Error> {
        let url = public_url.url_of_request(request);
        let parse = |provider: &dyn TelephonyProvider| provider.parse_incoming(request, &url);
        let (telephony, incoming) = parse_signed(self.directory, account_id, &parse).await?;
        let provider = telephony::adapter(&telephony.provider);
        if self.directory.cached_settings(account_id).await?.suspended_at.is_some() {
            tracing::info!(account_id, "incoming call rejected: the account is suspended");
            return Ok(provider.incoming_response(None));
        }
        let base_url = public_url.of_request(request);
        let entry = self.store_incoming(account_id, &telephony, &incoming, base_url, outbox).await?;
        let call = entry.as_ref().and_then(|entry| Some((entry, entry.content.call()?)));
        Ok(match call {
            Some((entry, call)) => {
                let report_url = report_url(&call.base_url, account_id, &entry.id);
                let (telephony, call_id) = (&*telephony, entry.id.as_str());
                let accepted = AcceptedIncomingCall { telephony, call_id, call, report_url: &report_url };
                provider.incoming_response(Some(&accepted)).with_logged_message_id(call_id)
            }
            None => provider.incoming_response(None),
        })
    }

    /// Stores an incoming call. Returns `None` if the call is rejected: the visitor is blacklisted, or there is no
    /// channel for the caller.
    async fn store_incoming(
        &self,
        account_id: &str,
        telephony: &Telephony,
        incoming: &IncomingCall,
        base_url: String,
        outbox: &Outbox,
    ) -> Result<Option<TimelineEntry>, Error> {
        let IncomingCall { provider_call_id, phone } = incoming;
        let key_scope = format!("{account_id}#incoming-call");
        let key = IdempotencyKey::new(key_scope, provider_call_id.as_bytes(), phone.as_deref().unwrap_or_default());
        if let Some(receipt) = self.chats.earlier_receipt(Some(&key)).await? {
            return self.chats.entry(account_id, receipt.chat_id, receipt.seq).await;
        }
        let Some(caller) = self.find_caller(account_id, telephony, incoming).await? else {
            tracing::info!(account_id, "incoming call rejected: no enabled channel for the caller");
            return Ok(None);
        };
        let Caller { channel, visitor, external_id, number } = caller;
        let agent = self.agent_to_call(&channel, visitor.as_ref(), telephony).await?;
        let status = if agent.is_some() { CallStatus::Start } else { CallStatus::Error(CallFailure::NoAgentAvailable) };
        let shown_number = number.clone().or_else(|| phone.clone()).unwrap_or_default();
        let call = Call {
            status,
            provider_call_id: Some(provider_call_id.clone()),
            is_acknowledged: true,
            ..new_call((CallKind::Incoming, shown_number), agent, telephony.limits, base_url, self.now)
        };
        let settings = self.directory.cached_settings(account_id).await?;
        let department = self.directory.default_department(&channel).await?;
        let from = FromVisitor {
            channel: &channel,
            department: department.as_ref(),
            bot_id: None,
            external_id: &external_id,
            network: None,
            settings: &settings,
            key: Some(&key),
            now: self.now,
        };
        let received = ReceivedCall { from, call: &call, number: number.as_deref() };
        let entry = self.queue_call(account_id, receive_incoming_call(self.chats, &received).await, outbox).await?;
        if entry.is_none() {
            tracing::info!(
                account_id,
                channel_id = channel.channel_id,
                "incoming call rejected: the visitor is blacklisted"
            );
        }
        Ok(entry)
    }

    /// Queues a stored call of a visitor and its notifications. If an earlier request with the same idempotency key has
    /// already stored the call, returns the stored call. Returns `None` if nothing was stored, because the visitor is
    /// blacklisted.
    pub async fn queue_call(
        &self,
        account_id: &str,
        stored: Result<Option<StoredEntry>, Error>,
        outbox: &Outbox,
    ) -> Result<Option<TimelineEntry>, Error> {
        let Some(StoredEntry { receipt, entry, notifications }) = stored? else { return Ok(None) };
        // The start event is queued before the call. Otherwise, if the provider rejected the call immediately, webhooks
        // could receive the start event after the error event.
        outbox.enqueue(&notifications).await;
        outbox.enqueue(entry.as_slice()).await;
        match entry {
            Some(entry) => Ok(Some(entry)),
            None => self.chats.entry(account_id, receipt.chat_id, receipt.seq).await,
        }
    }

    /// Finds the visitor who is calling. Visitors of channels that are disabled or deleted are left out. An unknown
    /// caller becomes a new visitor of the channel in the telephony settings. Returns `None` if that channel is missing
    /// or disabled.
    async fn find_caller(
        &self,
        account_id: &str,
        telephony: &Telephony,
        incoming: &IncomingCall,
    ) -> Result<Option<Caller>, Error> {
        let phone = incoming.phone.as_deref();
        let number = phone.and_then(|phone| phone_number::to_e164(phone, Some(&telephony.number)));
        let known = match &number {
            Some(number) => self.chats.visitors_by_phone(account_id, number, &telephony.number, self.now).await?,
            None => Vec::new(),
        };
        for visitor in known {
            if let Some(channel) = self.enabled_channel(&visitor.channel_id).await? {
                let external_id = visitor.external_id.clone();
                return Ok(Some(Caller { channel, visitor: Some(visitor), external_id, number }));
            }
        }
        let Some(channel_id) = &telephony.channel_id else { return Ok(None) };
        let Some(channel) = self.enabled_channel(channel_id).await? else { return Ok(None) };
        // Each call without a valid number has its own visitor, because the text that a provider sends for a hidden
        // number identifies nobody.
        let external_id = number.clone().unwrap_or_else(|| format!("call:{}", incoming.provider_call_id));
        Ok(Some(Caller { channel, visitor: None, external_id, number }))
    }

    async fn enabled_channel(&self, channel_id: &str) -> Result<Option<Arc<Channel>>, Error> {
        let channel = self.directory.cached_channel(channel_id).await?;
        Ok(channel.filter(|channel| channel.settings.enabled))
    }
}

struct Caller {
    channel: Arc<Channel>,
    /// `None` for an unknown caller.
    visitor: Option<Visitor>,
    external_id: String,
    /// The number in E.164 format. `None` if it is hidden or not valid.
    number: Option<String>,
}

pub struct CallReports<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub now: Timestamp,
}

impl CallReports<'_> {
    /// Handles a provider's report about a call. A late or repeated report changes nothing and gets the same response.
    ///
    /// # Errors
    /// Fails with `NotFound` if the account has no such call or no telephony provider, and with `InvalidSignature`
    /// unless the provider has sent the request.
    pub async fn receive(
        &self,
        (request, public_url): (&Request, &PublicBaseUrl),
        account_id: &str,
        call_id: &str,
        outbox: &Outbox,
    ) -> Result<Response, Error> {
        let url = public_url.url_of_request(request);
        let parse = |provider: &dyn TelephonyProvider| provider.parse_report(request, &url, call_id);
        let (telephony, received) = parse_signed(self.directory, account_id, &parse).await?;
        let provider = telephony::adapter(&telephony.provider);
        let (chat_id, seq) = message_id::chat_and_seq(call_id).ok_or(Error::NotFound)?;
        let reported = ReportedCall {
            account_id,
            chat_id,
            seq,
            call_id: Some(call_id),
            report: &received.report,
            provider_call_id: received.provider_call_id.as_deref(),
        };
        let settings = self.directory.cached_settings(account_id).await?;
        if let Some(changed) = report_call(self.chats, &reported, &settings.webhooks, self.now).await? {
            outbox.enqueue(&changed.notifications).await;
        }
        Ok(provider.report_response().with_logged_message_id(call_id))
    }
}

/// Parses a request of the account's telephony provider. If the cached settings do not accept it, they are read again,
/// because the account may have a new provider or secret.
async fn parse_signed<T>(
    directory: &Directory,
    account_id: &str,
    parse: &(dyn Fn(&dyn TelephonyProvider) -> Result<T, Error> + Sync),
) -> Result<(Arc<Telephony>, T), Error> {
    let parse_with = |telephony: Option<Arc<Telephony>>| {
        let telephony = telephony.ok_or(Error::NotFound)?;
        let parsed = parse(&*telephony::adapter(&telephony.provider))?;
        Ok((telephony, parsed))
    };
    match parse_with(directory.cached_telephony(account_id).await?) {
        Err(refused @ (Error::NotFound | Error::InvalidSignature)) => {
            let current = directory.reread_telephony(account_id).await?.ok_or(refused)?;
            parse_with(Some(current))
        }
        parsed => parsed,
    }
}

/// Returns the time limits of a call. The talk time is also limited to the balance. Returns `None` if the balance is
/// used up.
fn limits(balance_minutes: i64, telephony: &Telephony) -> Option<CallLimits> {
    let minutes = u32::try_from(balance_minutes.max(0)).unwrap_or(u32::MAX);
    let talk = telephony.limits.talk.min(MINUTE.saturating_mul(minutes));
    (minutes > 0).then_some(CallLimits { talk, ..telephony.limits })
}

/// Returns the agent with the phone number from the agent's profile, or `None` if the profile has no number that may be
/// called.
fn with_phone(agent: Agent, telephony: &Telephony) -> Option<CallAgent> {
    let phone = telephony.agent_number(agent.phone.as_deref()?)?;
    Some(CallAgent { agent: AgentSnapshot::from(agent).without_photo(), phone })
}
