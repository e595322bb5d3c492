//! Tests of phone calls: how they start, how reports change them, how their deliveries are retried, and how the caller
//! is found by the phone number. Also tests the account's balance and telephony settings.

use std::collections::BTreeMap;

use crate::chats::call::call_visitor::{AgentCall, call_visitor};
use crate::chats::call::receive_call::{Callback, ReceivedCall, receive_callback, receive_incoming_call};
use crate::chats::call::report_call::{ChangedCall, ReportedCall, report_call};
use crate::chats::upkeep::requeue_overdue_delivery::OverdueResult;
use crate::domain::calls::phone_call::{Call, CallAgent, CallCharge, CallKind, CallLimits, CallReport, CallStatus};
use crate::domain::calls::telephony::{
    CallbackCaps, DEFAULT_CALLBACK_CAPS, ProviderSettings, Telephony, TelephonyEditor,
};
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::report::{Bucket, CallTotals};
use crate::store::chats::calls::call_slot::{BALANCE_USED_UP, CALL_IN_PROGRESS, NUMBER_IN_CALL};
use crate::store::tests::*;

const PHONE: &str = "+31612345678";
const OWN_NUMBER: &str = "+31201234567";

pub(crate) fn call(kind: CallKind) -> Call {
    Call {
        kind,
        phone: PHONE.into(),
        agent: Some(CallAgent { agent: bob(), phone: "+31201234567".into() }),
        status: CallStatus::Start,
        status_at: NOW,
        started_at: NOW,
        charge: if kind == CallKind::Incoming { CallCharge::Free } else { CallCharge::Reserved(10) },
        talk_time: None,
        provider_call_id: None,
        is_acknowledged: false,
        limits: CallLimits { ring: Duration::from_secs(30), talk: Duration::from_secs(600) },
        base_url: "https://s.example".into(),
        revision: 0,
    }
}

impl Stores {
    /// Stores a call with visitor `v`. The channel has a bot, except for a callback, whose chat would start with the
    /// bot. Returns the call's entry and its notifications.
    pub(crate) async fn start_call(&self, kind: CallKind) -> Result<(TimelineEntry, Vec<TimelineEntry>), Error> {
        self.chats.top_up_call_balance("acc", 1_000, "start_call", NOW).await?;
        self.start_call_with("v", call(kind), None, NOW).await
    }

    async fn start_call_with(
        &self,
        external_id: &str,
        call: Call,
        callback_caps: Option<CallbackCaps>,
        now: Timestamp,
    ) -> Result<(TimelineEntry, Vec<TimelineEntry>), Error> {
        let bot_id = (call.kind != CallKind::Callback).then(|| "B".into());
        let channel = Channel { bot_id, ..channel() };
        let from = FromVisitor { external_id, ..from_visitor(self, &channel, now) };
        let stored = match call.kind {
            CallKind::Callback => {
                let no_caps = CallbackCaps { per_number: u32::MAX, per_day: u32::MAX };
                let caps = callback_caps.unwrap_or(no_caps);
                receive_callback(&self.chats, &Callback { from, call: &call, caps, page: None }).await?
            }
            CallKind::Incoming | CallKind::Outgoing => {
                let number = Some(call.phone.as_str());
                receive_incoming_call(&self.chats, &ReceivedCall { from, call: &call, number }).await?
            }
        };
        let stored = stored.unwrap();
        Ok((stored.entry.unwrap(), stored.notifications))
    }

    async fn balance(&self) -> i64 {
        self.chats.call_balance("acc").await.unwrap().minutes
    }

    /// Applies a report to a call in chat 1.
    pub(crate) async fn report_call(&self, seq: u64, report: &CallReport, now: Timestamp) -> Option<ChangedCall> {
        let (account_id, call_id, provider_call_id) = ("acc", None, Some("CA1"));
        let reported = ReportedCall { account_id, chat_id: 1, seq, call_id, report, provider_call_id };
        report_call(&self.chats, &reported, &self.settings.webhooks, now).await.unwrap()
    }
}

/// Returns a callback that may take this number of minutes, which it reserves.
fn paid_callback(minutes: u64) -> Call {
    let limits = CallLimits { ring: Duration::from_secs(30), talk: Duration::from_secs(minutes * MINUTE) };
    Call { limits, charge: CallCharge::Reserved(minutes), ..call(CallKind::Callback) }
}

fn ended(talk_seconds: u64) -> CallReport {
    let record_url = Some("https://x.example/1.mp3".to_owned());
    CallReport::Ended { talk_time: Some(Duration::from_secs(talk_seconds)), record_url }
}

fn statuses(notifications: &[TimelineEntry]) -> Vec<(u64, &'static str)> {
    let status = |entry: &TimelineEntry| entry.webhook_dispatch.as_ref().unwrap().call.as_ref().unwrap().status.name();
    notifications.iter().map(|entry| (entry.seq, status(entry))).collect()
}

#[tokio::test]
async fn callback_opens_a_chat_for_the_agents_and_is_delivered() {
    let stores = Stores::with_settings(settings_with_idle_close(10)).await;
    let (entry, notifications) = stores.start_call(CallKind::Callback).await.unwrap();
    assert_eq!(stores.entry(1, 1).await, entry);
    assert_eq!(entry.content, Content::Call(Box::new(call(CallKind::Callback))));
    assert_eq!(entry.delivery, Some(Delivery::new(Target::Call, NOW)));
    assert_eq!(statuses(&notifications), [(2, "start")]);
    assert_eq!(notifications[0].content, Content::Webhook(WebhookEvent::CallEvent));
    assert_eq!(notifications[0].webhook_dispatch.as_ref().unwrap().agent_id, Some(1));
    let chat = stores.chat_header(1).await;
    assert_eq!((chat.state, chat.bot_id, chat.seq), (ChatState::Waiting, None, 2));
    assert_eq!(chat.last_message.unwrap().text, PHONE);
    assert_eq!(stores.visitor("v").await.profile.phone.as_deref(), Some(PHONE));
}

#[tokio::test]
async fn incoming_call_keeps_the_type_of_the_visitor_id() {
    let stores = stores().await;
    let (channel, profile, content) = (channel(), VisitorProfile::default(), Content::text("hi"));
    let call = call(CallKind::Incoming);
    let calls = async || {
        let received = ReceivedCall { from: from_visitor(&stores, &channel, NOW), call: &call, number: None };
        receive_incoming_call(&stores.chats, &received).await.unwrap().unwrap();
    };
    let text = visitor_text(&stores, &channel, &content, &profile, NOW);
    receive_visitor_text(&stores.chats, &VisitorText { has_numeric_id: true, ..text }).await.unwrap().unwrap();
    calls().await;
    assert!(stores.chat_header(1).await.has_numeric_id, "the call is in the open chat");
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    stores.close(1, &bob(), &[], seconds_later(1)).await.unwrap();
    calls().await;
    assert!(stores.chat_header(2).await.has_numeric_id, "the call opens a chat");
}

#[tokio::test]
async fn report_stores_the_call_its_events_and_the_charge() {
    let stores = Stores::with_settings(settings_with_idle_close(10)).await;
    assert_eq!(stores.chats.top_up_call_balance("acc", 10, "r", NOW).await.unwrap(), 10);
    stores.start_call_with("v", paid_callback(10), None, NOW).await.unwrap();
    assert_eq!(stores.balance().await, 0, "ten minutes are reserved");
    let accepted = stores.report_call(1, &CallReport::Accepted, seconds_later(1)).await.unwrap();
    assert!(accepted.notifications.is_empty() && stores.entry(1, 1).await == accepted.entry);
    let connected = stores.report_call(1, &CallReport::ClientConnected, seconds_later(2)).await.unwrap();
    assert_eq!(statuses(&connected.notifications), [(3, "agent_connected"), (4, "client_connected")]);
    assert!(stores.report_call(1, &CallReport::AgentConnected, seconds_later(3)).await.is_none(), "a late report");
    let finished = stores.report_call(1, &ended(61), seconds_later(70)).await.unwrap();
    assert_eq!(statuses(&finished.notifications), [(5, "end")]);
    let stored = stores.entry(1, 1).await;
    assert_eq!(stored, finished.entry);
    let call = stored.content.call().unwrap();
    assert_eq!(
        (call.status.record_url(), call.talk_time),
        (Some("https://x.example/1.mp3"), Some(Duration::from_secs(61)))
    );
    assert!(stores.report_call(1, &ended(61), seconds_later(71)).await.is_none(), "a repeated report");
    assert_eq!(stores.balance().await, 8, "two started minutes");
    let chat = stores.chat_header(1).await;
    assert_eq!((chat.seq, chat.updated_at), (5, seconds_later(70)));
}

#[tokio::test]
async fn finished_call_is_counted_once() {
    let stores = Stores::with_settings(settings_with_idle_close(10)).await;
    for (kind, report) in [(CallKind::Callback, ended(61)), (CallKind::Outgoing, CallReport::Failed("busy".into()))] {
        let seq = stores.start_call(kind).await.unwrap().0.seq;
        stores.report_call(seq, &CallReport::ClientConnected, seconds_later(2)).await.unwrap();
        stores.report_call(seq, &report, seconds_later(70)).await.unwrap();
        assert!(stores.report_call(seq, &report, seconds_later(71)).await.is_none(), "a repeated report");
    }
    let totals = stores.totals().await;
    let expected = [
        (CallKind::Callback, CallTotals { answered: 1, failed: 0 }),
        (CallKind::Outgoing, CallTotals { answered: 0, failed: 1 }),
    ];
    assert_eq!(totals.calls, BTreeMap::from(expected));
    assert_eq!(totals.talk_time.buckets().collect::<Vec<_>>(), [(Bucket::of(Duration::from_secs(61)), 1)]);
}

#[tokio::test]
async fn talk_that_is_reported_after_the_time_limit_is_charged_once() {
    let stores = Stores::with_settings(settings_with_idle_close(10)).await;
    stores.chats.top_up_call_balance("acc", 20, "r", NOW).await.unwrap();
    stores.start_call_with("v", paid_callback(20), None, NOW).await.unwrap();
    stores.report_call(1, &CallReport::AgentConnected, seconds_later(2)).await.unwrap();
    let timed_out = CallReport::TimedOut { ordered_at: None };
    let failed = stores.report_call(1, &timed_out, seconds_later(42)).await.unwrap();
    assert_eq!(statuses(&failed.notifications), [(4, "error")]);
    assert_eq!(stores.balance().await, 20, "the reserved minutes are given back");
    let ended_late = stores.report_call(1, &ended(1_200), seconds_later(1_300)).await.unwrap();
    assert_eq!(statuses(&ended_late.notifications), [(5, "end")]);
    assert!(stores.report_call(1, &ended(1_200), seconds_later(1_301)).await.is_none(), "a repeated report");
    assert_eq!(stores.entry(1, 1).await, ended_late.entry);
    assert_eq!(stores.balance().await, 0);
    let totals = stores.totals().await;
    assert_eq!(totals.calls, BTreeMap::from([(CallKind::Callback, CallTotals { answered: 1, failed: 0 })]));
}

#[tokio::test]
async fn call_can_end_after_its_chat_but_not_after_an_erasure() {
    let stores = Stores::with_settings(settings_with_idle_close(10)).await;
    stores.start_call(CallKind::Outgoing).await.unwrap();
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    stores.close(1, &bob(), &[], seconds_later(1)).await.unwrap();
    let failed = CallReport::Failed("busy".into());
    let finished = stores.report_call(1, &failed, seconds_later(2)).await.unwrap();
    assert_eq!(statuses(&finished.notifications), [(3, "error")]);
    assert!(erase_visitor((&stores.chats, &no_files), ("acc", 1), NOW, &|| true).await.unwrap().is_complete);
    let reported =
        ReportedCall { account_id: "acc", chat_id: 1, seq: 1, call_id: None, report: &failed, provider_call_id: None };
    assert!(matches!(report_call(&stores.chats, &reported, &[], NOW).await, Err(Error::NotFound)));
    let left = stores.chat_items().await.into_iter().map(|item| item["pk"].as_s().unwrap().clone());
    assert!(left.into_iter().all(|pk| !pk.starts_with("VISITOR")), "nothing of the visitor is left");
}

#[tokio::test]
async fn visitor_has_one_call_at_a_time() {
    let stores = stores().await;
    let results = join_all((0..4).map(|_| stores.start_call(CallKind::Callback))).await;
    let is_started = |result: &&Result<_, Error>| result.is_ok();
    assert_eq!(results.iter().filter(is_started).count(), 1);
    let is_conflict = |result: &Result<_, Error>| matches!(result, Err(Error::Conflict(CALL_IN_PROGRESS)));
    assert_eq!(results.iter().filter(|result| is_conflict(result)).count(), 3);
    let visitor = stores.visitor("v").await;
    assert!(stores.chats.has_call_in_progress(&visitor, NOW).await.unwrap());
    let next_day = seconds_later(DAY);
    assert!(!stores.chats.has_call_in_progress(&visitor, next_day).await.unwrap(), "no call takes a day");
    let fail = async |seq| stores.report_call(seq, &CallReport::Failed("busy".into()), NOW).await.unwrap();
    let is_in_progress = async || stores.chats.has_call_in_progress(&visitor, NOW).await.unwrap();
    fail(stores.start_call(CallKind::Incoming).await.unwrap().0.seq).await;
    assert!(is_in_progress().await, "the callback is still in progress");
    fail(results.into_iter().find_map(Result::ok).unwrap().0.seq).await;
    assert!(!is_in_progress().await);
    let incoming = stores.start_call(CallKind::Incoming).await.unwrap().0.seq;
    assert!(is_in_progress().await, "the visitor's own call is in progress");
    fail(incoming).await;
    assert!(!is_in_progress().await);
    stores.start_call(CallKind::Callback).await.unwrap();
}

#[tokio::test]
async fn number_has_one_call_at_a_time() {
    let stores = stores().await;
    stores.chats.top_up_call_balance("acc", 100, "r", NOW).await.unwrap();
    let start = async |visitor: &str| stores.start_call_with(visitor, call(CallKind::Callback), None, NOW).await;
    let results = join_all(["a", "b", "c", "d"].map(&start)).await;
    let is_conflict = |result: &Result<_, Error>| matches!(result, Err(Error::Conflict(NUMBER_IN_CALL)));
    assert_eq!(results.iter().filter(|result| is_conflict(result)).count(), 3);
    let entry = results.into_iter().find_map(Result::ok).unwrap().0;
    let (report, provider_call_id) = (&CallReport::Failed("busy".into()), None);
    let TimelineEntry { chat_id, seq, .. } = entry;
    let reported = ReportedCall { account_id: "acc", chat_id, seq, call_id: None, report, provider_call_id };
    report_call(&stores.chats, &reported, &[], NOW).await.unwrap().unwrap();
    start("e").await.unwrap();
}

#[tokio::test]
async fn concurrent_calls_reserve_no_more_than_the_balance() {
    let stores = stores().await;
    stores.chats.top_up_call_balance("acc", 1, "r", NOW).await.unwrap();
    let start = async |index: usize| {
        let call = Call { phone: format!("+3161234567{index}"), ..paid_callback(1) };
        stores.start_call_with(&format!("v{index}"), call, None, NOW).await
    };
    let results = join_all((0..8).map(start)).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    let is_used_up = |result: &&Result<_, Error>| matches!(result, Err(Error::Conflict(BALANCE_USED_UP)));
    assert_eq!(results.iter().filter(is_used_up).count(), 7);
    assert_eq!(stores.balance().await, 0);
}

#[tokio::test]
async fn callbacks_are_limited_for_each_number_and_day() {
    let stores = Stores::with_settings(settings_with_idle_close(10)).await;
    stores.chats.top_up_call_balance("acc", 100, "r", NOW).await.unwrap();
    let caps = Some(CallbackCaps { per_number: 2, per_day: 3 });
    let start = async |phone: &str, now: Timestamp| {
        let call = Call { phone: phone.into(), ..call(CallKind::Callback) };
        let started = stores.start_call_with("v", call, caps, now).await;
        if let Ok((entry, _)) = &started {
            stores.report_call(entry.seq, &CallReport::Failed("busy".into()), now).await.unwrap();
        }
        started.map(|_| ())
    };
    let is_refused = |started: Result<(), Error>| matches!(started, Err(Error::Conflict(_)));
    let other = "+31612345679";
    start(PHONE, NOW).await.unwrap();
    start(PHONE, NOW).await.unwrap();
    assert!(is_refused(start(PHONE, NOW).await), "the number was called twice");
    start(other, NOW).await.unwrap();
    assert!(is_refused(start(other, NOW).await), "the account has started three callbacks");
    start(other, seconds_later(DAY)).await.unwrap();
    start(PHONE, seconds_later(DAY)).await.unwrap();
}

#[tokio::test]
async fn late_talk_takes_no_more_than_the_balance() {
    let stores = Stores::with_settings(settings_with_idle_close(10)).await;
    stores.chats.top_up_call_balance("acc", 10, "r", NOW).await.unwrap();
    let late = stores.start_call_with("v", paid_callback(10), None, NOW).await.unwrap().0.seq;
    stores.report_call(late, &CallReport::TimedOut { ordered_at: None }, seconds_later(80)).await.unwrap();
    stores.start_call_with("v", paid_callback(8), None, NOW).await.unwrap();
    let ended = stores.report_call(late, &ended(600), seconds_later(700)).await.unwrap();
    assert_eq!(ended.entry.content.call().unwrap().charge, CallCharge::Charged(2));
    assert_eq!(stores.balance().await, 0);
}

#[tokio::test]
async fn erasure_gives_back_the_reserved_minutes() {
    let stores = stores().await;
    stores.chats.top_up_call_balance("acc", 10, "r", NOW).await.unwrap();
    stores.start_call_with("v", paid_callback(10), None, NOW).await.unwrap();
    assert!(erase_visitor((&stores.chats, &no_files), ("acc", 1), NOW, &|| true).await.unwrap().is_complete);
    assert_eq!(stores.balance().await, 10);
}

#[tokio::test]
async fn erasure_charges_the_reserved_minutes_of_an_answered_call() {
    let stores = stores().await;
    stores.chats.top_up_call_balance("acc", 10, "r", NOW).await.unwrap();
    stores.start_call_with("v", paid_callback(10), None, NOW).await.unwrap();
    stores.report_call(1, &CallReport::AgentConnected, seconds_later(2)).await.unwrap();
    assert!(erase_visitor((&stores.chats, &no_files), ("acc", 1), NOW, &|| true).await.unwrap().is_complete);
    assert_eq!(stores.balance().await, 0);
}

#[tokio::test]
async fn only_the_agent_who_has_the_chat_can_call() {
    let stores = stores().await;
    stores.chats.top_up_call_balance("acc", 10, "r", NOW).await.unwrap();
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let webhooks = [webhook("w"), webhook("w2")];
    let start = async |agent: &AgentSnapshot, key: Option<&IdempotencyKey>| {
        let chat = stores.chat_header(1).await;
        let call = call(CallKind::Outgoing);
        call_visitor(&stores.chats, &AgentCall { chat: &chat, agent, call, webhooks: &webhooks, key, now: NOW }).await
    };
    assert!(matches!(start(&bob(), None).await, Err(Error::Conflict(_))), "nobody has the chat");
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    assert!(matches!(start(&agent_snapshot(2), None).await, Err(Error::Conflict(_))), "another agent");
    let key = IdempotencyKey::new("scope".into(), b"k", "{}");
    let stored = start(&bob(), Some(&key)).await.unwrap();
    let entry = stored.entry.unwrap();
    assert_eq!(
        (&entry.from, entry.delivery.as_ref().map(|delivery| delivery.target)),
        (&Sender::Agent(bob()), Some(Target::Call))
    );
    assert_eq!(stores.entry(1, entry.seq).await, entry);
    assert_eq!(statuses(&stored.notifications), [(entry.seq + 1, "start"), (entry.seq + 2, "start")]);
    let repeated = start(&bob(), Some(&key)).await.unwrap();
    assert_eq!((repeated.receipt.seq, repeated.entry), (entry.seq, None));
    assert!(matches!(start(&bob(), None).await, Err(Error::Conflict(CALL_IN_PROGRESS))));
}

#[tokio::test]
async fn top_up_with_the_same_reference_counts_once() {
    let stores = stores().await;
    assert_eq!(stores.balance().await, 0);
    for (minutes, reference, balance) in [(60, "one", 60), (60, "one", 60), (5, "two", 65)] {
        assert_eq!(stores.chats.top_up_call_balance("acc", minutes, reference, NOW).await.unwrap(), balance);
    }
    let changed = stores.chats.top_up_call_balance("acc", 61, "one", NOW).await;
    assert!(matches!(changed, Err(Error::IdempotencyMismatch)));
    assert_eq!(stores.balance().await, 65);
    assert_eq!(stores.chats.call_balance("other").await.unwrap().minutes, 0);
}

#[tokio::test]
async fn caller_is_found_by_either_format_of_the_number() {
    let stores = stores().await;
    let phone = |phone: &str| VisitorProfile { phone: Some(phone.into()), ..VisitorProfile::default() };
    for (visitor, number) in [("a", "06-1234 5678"), ("b", "+31 6 12345678"), ("c", "0612345679")] {
        stores.visitor_writes_with(visitor, &phone(number), "hi", None, NOW).await.unwrap();
    }
    let found = async |number: &str| {
        let visitors = stores.chats.visitors_by_phone("acc", number, OWN_NUMBER, NOW).await.unwrap();
        visitors.into_iter().map(|visitor| visitor.external_id).collect::<Vec<_>>()
    };
    assert_eq!(found("+31612345679").await, ["c"]);
    assert_eq!(found("+31612345678").await, ["b", "a"], "the most recent chat is first");
    assert!(found("+31612345670").await.is_empty());
    assert!(found("+33612345678").await.is_empty(), "the same national number in another country");
    assert!(stores.chats.visitors_by_phone("other", PHONE, OWN_NUMBER, NOW).await.unwrap().is_empty());
}

#[tokio::test]
async fn call_is_requeued_until_an_attempt_ends_it() {
    let stores = stores().await;
    stores.start_call(CallKind::Callback).await.unwrap();
    let mut now = NOW;
    for _ in 0..70 {
        now = now.plus(Duration::from_secs(MINUTE));
        let overdue = stores.overdue_deliveries(1, now).await;
        let result = requeue_overdue_delivery(&stores.chats, &stores.directory, &overdue[0], now).await.unwrap();
        assert!(matches!(result, OverdueResult::Requeued(_)));
    }
}

#[tokio::test]
async fn failed_call_is_not_replayed() {
    let stores = stores().await;
    let (entry, _) = stores.start_call(CallKind::Callback).await.unwrap();
    let delivery = entry.delivery.clone().unwrap();
    let failure = Failure { code: None, message: "HTTP 500".into(), hidden: false };
    let attempt = Attempt { at: NOW, status: Some(500), duration_ms: 1, error: None, answer: None };
    let update = DeliveryUpdate::failed(failure, NOW);
    assert!(stores.chats.record_attempt(&entry, &delivery, &attempt, (&update, &[])).await.unwrap());
    for scope in [ReplayScope::AllFailed, ReplayScope::Single, ReplayScope::MessageToVisitor] {
        let replayed = stores.chats.replay_delivery("acc", 1, 1, scope, seconds_later(10)).await;
        assert!(matches!(replayed, Err(Error::Conflict(_))), "{scope:?}");
    }
}

#[tokio::test]
async fn telephony_settings_round_trip() {
    let stores = stores().await;
    assert_eq!(stores.directory.telephony("acc").await.unwrap(), None);
    let limits = CallLimits { ring: Duration::from_secs(5), talk: Duration::from_secs(60) };
    let http = ProviderSettings::Http { url: "https://g.example".into(), signing_secret: "whsec_x".into() };
    let twilio = ProviderSettings::Twilio {
        api_url: "https://api.example".into(),
        account_sid: "AC1".into(),
        auth_token: "t".into(),
    };
    for (provider, channel_id) in [(http, Some("CH".to_owned())), (twilio, None)] {
        let telephony = Telephony {
            provider,
            number: PHONE.into(),
            channel_id,
            is_recorded: true,
            limits,
            countries: vec!["BE".into(), "NL".into()],
            callback_caps: CallbackCaps { per_number: 1, per_day: 2 },
            is_locked: true,
        };
        stores.directory.edit_telephony("acc", |_| Ok(telephony.clone())).await.unwrap();
        assert_eq!(stores.directory.telephony("acc").await.unwrap().as_ref(), Some(&telephony));
        let cached = stores.uncached_directory().cached_telephony("acc").await.unwrap();
        assert_eq!(cached.as_deref(), Some(&telephony));
    }
    let locked = stores.directory.delete_telephony("acc", TelephonyEditor::Admin).await;
    assert!(matches!(locked, Err(Error::Forbidden(_))), "only the operator deletes locked settings");
    stores.directory.delete_telephony("acc", TelephonyEditor::Operator).await.unwrap();
    stores.directory.delete_telephony("acc", TelephonyEditor::Admin).await.unwrap();
    assert_eq!(stores.directory.telephony("acc").await.unwrap(), None);
}

#[tokio::test]
async fn concurrent_changes_of_the_telephony_settings_are_preserved() {
    let stores = stores().await;
    let limits = CallLimits { ring: Duration::from_secs(5), talk: Duration::from_secs(60) };
    let provider = ProviderSettings::Http { url: "https://g.example".into(), signing_secret: "whsec_x".into() };
    let telephony = Telephony {
        provider,
        number: PHONE.into(),
        channel_id: None,
        is_recorded: false,
        limits,
        countries: Vec::new(),
        callback_caps: DEFAULT_CALLBACK_CAPS,
        is_locked: false,
    };
    stores.directory.edit_telephony("acc", |_| Ok(telephony.clone())).await.unwrap();
    let rotated = ProviderSettings::Http { url: "https://g.example".into(), signing_secret: "whsec_y".into() };
    let rotate = |before: Option<Telephony>| Ok(Telephony { provider: rotated.clone(), ..before.unwrap() });
    let record = |before: Option<Telephony>| Ok(Telephony { is_recorded: true, ..before.unwrap() });
    let shorten = |before: Option<Telephony>| {
        Ok(Telephony { limits: CallLimits { ring: Duration::from_secs(1), ..limits }, ..before.unwrap() })
    };
    let (rotated_result, recorded, shortened) = tokio::join!(
        stores.directory.edit_telephony("acc", rotate),
        stores.directory.edit_telephony("acc", record),
        stores.directory.edit_telephony("acc", shorten),
    );
    assert!(rotated_result.is_ok() && recorded.is_ok() && shortened.is_ok());
    let stored = stores.directory.telephony("acc").await.unwrap().unwrap();
    assert_eq!((stored.provider, stored.is_recorded, stored.limits.ring.as_secs()), (rotated, true, 1));
}
