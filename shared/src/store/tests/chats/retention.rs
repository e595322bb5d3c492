//! How long things are kept: chats that rest, retention, erasure, offline messages.

use crate::domain::bot::BotNotice;
use crate::domain::call::{Call, CallKind, CallStatus};
use crate::domain::chat::Rating;
use crate::domain::delivery_log::Retry;
use crate::domain::webhook::{Details, WebhookEvent};
use crate::store::chats::retention::Pass;
use crate::store::chats::transitions::EventContext;
use crate::store::table::Key;
use crate::store::tests::*;

const MINUTE: u64 = 60;
const DAY: u64 = 24 * 60 * MINUTE;

impl Stores {
    async fn that(settings: Settings) -> Self {
        Self { settings, ..stores().await }
    }

    /// Looks at what is to be looked at, as the schedule does; the chats that were closed, with what is told of it.
    async fn look(&self, now: Timestamp) -> Vec<(u64, Vec<Kind>)> {
        let mut closed = Vec::new();
        for partition in 0..DUE_PARTITIONS {
            let page = self.chats.overdue(Backlog::IdleChecks, partition, now, None, 100).await.unwrap();
            for found in page.items {
                let Some(chat) = self.chats.due_for_idle_check(&found).await.unwrap() else { continue };
                if !self.settings.is_idle(chat.updated_at, now) {
                    self.chats.reschedule_idle_check(&found, &chat, &self.settings, now).await.unwrap();
                } else if let Some(end) = self.chats.close_idle(&chat, &self.settings, now).await.unwrap() {
                    closed.push((end.chat.chat_id, end.notifications.iter().map(|entry| entry.content.kind).collect()));
                }
            }
        }
        closed
    }

    /// `pk`, `sk` and `expires_at` of every item that is not a counter.
    async fn lives(&self) -> Vec<(String, String, Option<u64>)> {
        let text = |item: &Item, name: &str| item[name].as_s().unwrap().clone();
        let number = |item: &Item| item.get("expires_at").and_then(|value| value.as_n().ok()?.parse().ok());
        let items = self.items().await;
        let kept = items.iter().map(|item| (text(item, "pk"), text(item, "sk"), number(item)));
        kept.filter(|(pk, ..)| !["COUNTERS#", "OPENED_CHATS#"].iter().any(|it| pk.starts_with(it))).collect()
    }
}

fn closing_after(minutes: u64) -> Settings {
    Settings {
        idle_close: Some(Duration::from_secs(minutes * MINUTE)),
        webhooks: vec![webhook("w")],
        ..Settings::default()
    }
}

#[tokio::test]
async fn a_chat_is_closed_when_nothing_was_said_for_the_limit() {
    let stores = Stores::that(closing_after(10)).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.accept(1, &bob(), &[], at(MINUTE)).await.unwrap();
    stores.visitor_writes("other", "hi", at(MINUTE)).await.unwrap();
    stores.agent_writes(1, "hello", at(5 * MINUTE)).await.unwrap();
    assert_eq!(stores.look(at(9 * MINUTE)).await, []);
    assert_eq!(stores.look(at(10 * MINUTE + 1)).await, [], "something was said since");
    let finished = vec![Kind::Webhook(WebhookEvent::ChatFinished)];
    assert_eq!(stores.look(at(11 * MINUTE + 1)).await, [(2, vec![])], "nobody had it");
    assert_eq!(stores.look(at(15 * MINUTE + 1)).await, [(1, finished)]);
    let chat = stores.chats.chat("acc", 1).await.unwrap().unwrap();
    assert_eq!(chat.state, State::Closed(Some(bob())));
    assert_eq!(stores.visitor_writes("v", "again", at(16 * MINUTE)).await.unwrap(), (3, 1));
    assert_eq!(stores.look(at(26 * MINUTE - 1)).await, [], "the others are not looked at any more");
}

#[tokio::test]
async fn a_bot_is_told_of_the_end_of_a_chat_that_rested() {
    let stores = Stores::that(closing_after(10)).await;
    let channel = Channel { bot_id: Some("B".into()), ..channel() };
    let incoming = Incoming {
        channel: &channel,
        department: None,
        external_id: "v",
        has_numeric_id: false,
        invite: None,
        profile: &Profile::default(),
        content: &Content::text("hi"),
        settings: &stores.settings,
        key: None,
        now: NOW,
    };
    stores.chats.visitor_message(&incoming).await.unwrap();
    let notifications = vec![Kind::BotNotice(BotNotice::ChatClosed)];
    assert_eq!(stores.look(at(10 * MINUTE + 1)).await, [(1, notifications)]);
}

#[tokio::test]
async fn a_shorter_limit_holds_for_open_chats_within_an_hour() {
    let mut stores = Stores::that(Settings { idle_close: None, ..Settings::default() }).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    assert_eq!(stores.look(at(60 * MINUTE + 1)).await, [], "without a limit");
    stores.settings = closing_after(5);
    assert_eq!(stores.look(at(119 * MINUTE)).await, []);
    assert_eq!(stores.look(at(121 * MINUTE)).await.len(), 1);
}

#[tokio::test]
async fn a_chat_that_goes_on_while_it_is_looked_at_stays_open() {
    let stores = Stores::that(closing_after(10)).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let seen = stores.chats.chat("acc", 1).await.unwrap().unwrap();
    let now = at(10 * MINUTE + 1);
    stores.visitor_writes("v", "wait", now).await.unwrap();
    assert!(stores.chats.close_idle(&seen, &stores.settings, now).await.unwrap().is_none());
    assert_eq!(stores.chats.chat("acc", 1).await.unwrap().unwrap().state, State::Waiting);
}

#[tokio::test]
async fn everything_of_an_ended_chat_is_forgotten_when_the_account_says_so() {
    let keeping = Settings { retention_days: Some(30), webhooks: vec![webhook("w")], ..Settings::default() };
    let stores = Stores::that(keeping).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let accepted = stores.accept(1, &bob(), &stores.settings.webhooks, at(10)).await.unwrap();
    stores.agent_writes(1, "hello", at(20)).await.unwrap();
    let change = PanelChange { enable_assign: Some(true), ..PanelChange::default() };
    stores.chats.fill_panel(&accepted.chat, &change, at(30)).await.unwrap();
    let open = stores.lives().await;
    let endless = open.iter().filter(|life| life.2.is_none()).count();
    assert_eq!(endless, 4, "the header, the panel, the visitor and the number stay while the chat is open: {open:?}");
    stores.close(1, &bob(), &stores.settings.webhooks, at(DAY)).await.unwrap();
    let lives = stores.lives().await;
    assert_eq!(lives.len(), 8, "{lives:?}");
    let until = |seconds: u64| Some(at(seconds + 30 * DAY).seconds());
    for (pk, sk, expires_at) in lives {
        let expected = match (pk.as_str(), sk.as_str()) {
            (_, "0000000001") => until(0),
            (_, "0000000002") => until(10),
            (_, "0000000003") => until(20),
            _ => until(DAY),
        };
        assert_eq!(expires_at, expected, "{pk} {sk}");
    }
    let chat = stores.chats.chat("acc", 1).await.unwrap().unwrap();
    assert!(!chat.is_expired(at(31 * DAY - 1)) && chat.is_expired(at(31 * DAY)));
    let message = stores.chats.entry("acc", 1, 3).await.unwrap().unwrap();
    assert!(!message.is_expired(at(30 * DAY + 19)) && message.is_expired(at(30 * DAY + 20)));
    stores.visitor_writes("v", "again", at(2 * DAY)).await.unwrap();
    let kept = stores.lives().await.into_iter().filter(|(pk, _, life)| pk.starts_with("VISITOR") && life.is_none());
    assert_eq!(kept.count(), 2, "who is there again is not forgotten");
    assert!(stores.chats.visitor_by_number("acc", 1, at(2 * DAY)).await.unwrap().is_some());
}

#[tokio::test]
async fn without_a_retention_nothing_is_forgotten() {
    let stores = stores().await;
    stores.undelivered().await;
    stores.close(1, &bob(), &[], at(1)).await.unwrap();
    assert!(stores.lives().await.iter().all(|(_, _, expires_at)| expires_at.is_none()));
}

#[tokio::test]
async fn an_erased_visitor_leaves_nothing_and_the_others_stay() {
    let stores = stores().await;
    stores.undelivered().await;
    stores.close(1, &bob(), &[], at(1)).await.unwrap();
    stores.visitor_writes("v", "another chat", at(2)).await.unwrap();
    for n in 0..30 {
        stores.visitor_writes("v", "more", at(2 + 10 * n)).await.unwrap();
    }
    stores.visitor_writes("other", "I stay", at(3)).await.unwrap();
    let cut_short = stores.chats.erase_visitor("acc", 1, &|| false).await.unwrap();
    assert_eq!((cut_short.chats, cut_short.is_complete), (0, false));
    let erased = stores.chats.erase_visitor("acc", 1, &|| true).await.unwrap();
    assert_eq!((erased.chats, erased.entries, erased.is_complete), (2, 33, true));
    let left = stores.lives().await;
    assert_eq!(left.len(), 4, "one visitor with number, header and entry: {left:?}");
    assert!(matches!(stores.chats.erase_visitor("acc", 1, &|| true).await, Err(Error::NotFound)));
    assert_eq!(stores.visitor_writes("v", "hello", at(400)).await.unwrap(), (4, 1), "as a stranger");
    assert_eq!(stores.chats.chat("acc", 4).await.unwrap().unwrap().visitor_number, 3);
}

#[tokio::test]
async fn an_erasure_that_is_cut_short_anywhere_can_be_finished() {
    for cut in 0..12 {
        let stores = stores().await;
        stores.undelivered().await;
        for n in 0..60 {
            stores.agent_writes(1, "more", at(n)).await.unwrap();
        }
        stores.close(1, &bob(), &[], at(61)).await.unwrap();
        stores.visitor_writes("v", "another chat", at(62)).await.unwrap();
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let has_time = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < cut;
        let first = stores.chats.erase_visitor("acc", 1, &has_time).await.unwrap();
        if first.is_complete {
            assert!(cut > 4, "{cut}");
            assert_eq!(stores.lives().await, []);
            continue;
        }
        assert!(stores.agent_writes(2, "still there?", at(63)).await.is_err());
        let rest = stores.chats.erase_visitor("acc", 1, &|| true).await.unwrap();
        assert!(rest.is_complete);
        assert_eq!((first.chats + rest.chats, first.entries + rest.entries), (2, 63), "{cut}");
        assert_eq!(stores.lives().await, [], "{cut}");
    }
}

#[tokio::test]
async fn a_new_retention_reaches_what_was_written_before_in_open_chats() {
    let mut stores = Stores::that(Settings { idle_close: None, ..Settings::default() }).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.settings.retention_days = Some(30);
    stores.look(at(60 * MINUTE + 1)).await;
    stores.visitor_writes("v", "more", at(61 * MINUTE)).await.unwrap();
    let ends = async |stores: &Stores| {
        let entries = stores.chats.timeline("acc", 1, 0, 10).await.unwrap();
        entries.iter().map(|entry| entry.keep_until.map(Timestamp::seconds)).collect::<Vec<_>>()
    };
    let until = |seconds: u64| Some(at(seconds + 30 * DAY).seconds());
    assert_eq!(ends(&stores).await, [until(0), until(61 * MINUTE)]);
    stores.settings.retention_days = None;
    stores.look(at(121 * MINUTE)).await;
    assert_eq!(ends(&stores).await, [None, None]);
}

/// When a planned pass over ended chats begins.
const PASS: u64 = 70 * MINUTE;

impl Stores {
    /// The account changes its retention, and its ended chats get it.
    async fn change_retention(&mut self, keep_days: Option<u32>, now: u64) {
        self.settings.retention_days = keep_days;
        self.chats.plan_retention("acc", at(now)).await.unwrap();
        assert_eq!(self.passes(now + PASS - 1).await.len(), 0, "the open ones come first");
        assert_eq!(self.keep_ended(&|| true, now + PASS + 1).await, 0);
    }

    /// The passes that are to go on when every open chat has been checked in time.
    async fn passes(&self, now: u64) -> Vec<Pass> {
        self.chats.passes(at(now), at(now)).await.unwrap()
    }

    /// Goes on with passes, as the schedule does; how many are left.
    async fn keep_ended(&self, has_time: &(dyn Fn() -> bool + Sync), now: u64) -> usize {
        for pass in self.passes(now).await {
            self.chats.keep_ended(&pass, self.settings.retention_days, has_time, at(now)).await.unwrap();
        }
        self.passes(now + 1).await.len()
    }

    /// A chat that begins and ends then.
    async fn ended_chat(&self, visitor: &str, now: u64) {
        let (chat_id, _) = self.visitor_writes(visitor, "hi", at(now)).await.unwrap();
        self.accept(chat_id, &bob(), &[], at(now)).await.unwrap();
        self.close(chat_id, &bob(), &[], at(now)).await.unwrap();
    }
}

#[tokio::test]
async fn a_changed_retention_reaches_chats_that_ended_before() {
    for before in [None, Some(90), Some(10)] {
        let mut stores = Stores::that(Settings { retention_days: before, ..Settings::default() }).await;
        for day in 0..3 {
            stores.ended_chat("v", day * DAY).await;
        }
        let chat = stores.chats.chat("acc", 1).await.unwrap().unwrap();
        let change = PanelChange { enable_assign: Some(true), ..PanelChange::default() };
        stores.chats.fill_panel(&chat, &change, NOW).await.unwrap();
        for (change, days) in [Some(30), Some(20), None, Some(40)].into_iter().enumerate() {
            stores.change_retention(days, (3 + change as u64) * DAY).await;
            let until = |day: u64| days.map(|days| at((day + u64::from(days)) * DAY).seconds());
            for (pk, sk, life) in stores.lives().await {
                let day = ["CHAT#acc#1", "CHAT#acc#2"].iter().position(|chat| pk == *chat).unwrap_or(2);
                assert_eq!(life, until(day as u64), "{before:?} to {days:?}: {pk} {sk}");
            }
        }
    }
}

#[tokio::test]
async fn a_pass_goes_on_while_younger_checks_of_open_chats_are_late() {
    let stores = stores().await;
    stores.chats.plan_retention("acc", NOW).await.unwrap();
    for (checked, expected) in [(PASS - 1, 0), (PASS, 1), (DAY, 1)] {
        let passes = stores.chats.passes(at(checked), at(DAY)).await.unwrap();
        assert_eq!(passes.len(), expected, "checked up to {checked}");
    }
}

#[tokio::test]
async fn who_has_an_open_chat_is_kept_whatever_the_retention_becomes() {
    let mut stores = Stores::that(Settings { idle_close: None, ..Settings::default() }).await;
    stores.ended_chat("v", 0).await;
    stores.visitor_writes("v", "again", at(DAY)).await.unwrap();
    stores.change_retention(Some(30), 2 * DAY).await;
    assert_eq!(visitor_and_number(&stores).await, [None; 2]);
    stores.look(at(2 * DAY + PASS)).await;
    stores.accept(2, &bob(), &[], at(3 * DAY)).await.unwrap();
    stores.close(2, &bob(), &[], at(3 * DAY)).await.unwrap();
    assert_eq!(visitor_and_number(&stores).await, [Some(at(33 * DAY).seconds()); 2]);
}

#[tokio::test]
async fn a_pass_that_is_cut_short_goes_on_where_it_was_and_a_new_one_ends_it() {
    let mut stores = stores().await;
    for n in 0..25 {
        stores.ended_chat(&format!("v{n}"), n).await;
    }
    stores.settings.retention_days = Some(30);
    stores.chats.plan_retention("acc", NOW).await.unwrap();
    let old = stores.passes(PASS + 1).await;
    let ends = async |stores: &Stores| stores.lives().await.iter().filter(|(.., life)| life.is_some()).count();
    let (each, mut now) = (4, PASS + 1);
    for chats in [10, 20] {
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let has_time = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 1;
        assert_eq!(stores.keep_ended(&has_time, now).await, 1);
        assert_eq!(ends(&stores).await, chats * each, "a header, an entry, a visitor and a number");
        now += 1;
    }
    stores.chats.plan_retention("acc", at(now)).await.unwrap();
    stores.settings.retention_days = None;
    stores.chats.keep_ended(&old[0], None, &|| true, at(now)).await.unwrap();
    assert_eq!(stores.keep_ended(&|| true, now + PASS + 1).await, 0);
    assert_eq!(ends(&stores).await, 0);
}

#[tokio::test]
async fn who_comes_again_behind_a_pass_is_kept_from_then_on() {
    for offline in [false, true] {
        let mut stores = stores().await;
        stores.ended_chat("v", 0).await;
        for n in 0..12 {
            stores.ended_chat(&format!("other{n}"), 1).await;
        }
        stores.settings.retention_days = Some(30);
        stores.chats.plan_retention("acc", NOW).await.unwrap();
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let has_time = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 1;
        assert_eq!(stores.keep_ended(&has_time, DAY).await, 1, "the others first");
        if offline {
            let (channel, content, profile) = (channel(), Content::text("Call me"), Profile::default());
            stores.chats.offline_message(&left(&stores, &channel, &content, &profile, at(4 * DAY))).await.unwrap();
        } else {
            stores.ended_chat("v", 4 * DAY).await;
        }
        assert_eq!(stores.keep_ended(&|| true, 5 * DAY).await, 0);
        let first = stores.lives().await.into_iter().find(|(pk, ..)| pk == "VISITOR_NUMBER#acc#1").unwrap();
        assert_eq!(first.2, Some(at(34 * DAY).seconds()), "offline: {offline}");
    }
}

#[tokio::test]
async fn what_is_forgotten_does_not_come_back_by_a_longer_retention() {
    let mut stores = Stores::that(Settings { retention_days: Some(1), ..Settings::default() }).await;
    stores.ended_chat("v", 0).await;
    stores.change_retention(None, 2 * DAY).await;
    let lives = stores.lives().await;
    assert!(lives.iter().all(|(.., life)| *life == Some(at(DAY).seconds())), "{lives:?}");
}

#[tokio::test]
async fn who_was_forgotten_comes_again_as_a_stranger() {
    let stores = Stores::that(Settings { retention_days: Some(1), ..Settings::default() }).await;
    stores.visitor_says("v", &named("Ada"), "hi", None, NOW).await.unwrap();
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    stores.close(1, &bob(), &[], NOW).await.unwrap();
    assert!(stores.chats.visitor_by_number("acc", 1, at(DAY - 1)).await.unwrap().is_some());
    assert!(stores.chats.visitor_by_number("acc", 1, at(DAY)).await.unwrap().is_none());
    stores.visitor_writes("v", "again", at(DAY)).await.unwrap();
    let visitor = stores.chats.visitor("CH", "v").await.unwrap().unwrap();
    assert_eq!((visitor.profile, visitor.sources.name, visitor.chats), (Profile::default(), None, 1));
}

#[tokio::test]
async fn an_offline_message_keeps_its_visitor_as_long_as_itself() {
    let stores = Stores::that(Settings { retention_days: Some(30), ..Settings::default() }).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.close(1, &bob(), &[], NOW).await.unwrap();
    let incoming = Incoming {
        channel: &channel(),
        department: None,
        external_id: "v",
        has_numeric_id: false,
        invite: None,
        profile: &Profile::default(),
        content: &Content::text("Call me"),
        settings: &stores.settings,
        key: None,
        now: at(29 * DAY),
    };
    stores.chats.offline_message(&incoming).await.unwrap();
    let until = Some(at(59 * DAY).seconds());
    let visitors = stores.lives().await.into_iter().filter(|(pk, ..)| pk.starts_with("VISITOR"));
    assert_eq!(visitors.map(|life| life.2).collect::<Vec<_>>(), [until, until]);
    stores.visitor_writes("v", "now I am here", at(30 * DAY)).await.unwrap();
    stores.chats.offline_message(&Incoming { now: at(31 * DAY), ..incoming }).await.unwrap();
    let visitor = stores.chats.visitor("CH", "v").await.unwrap().unwrap();
    assert_eq!(visitor.keep_until, None, "while a chat is open");
}

#[tokio::test]
async fn what_is_forgotten_is_not_sent_again() {
    let stores = Stores::that(Settings { retention_days: Some(1), ..Settings::default() }).await;
    let seq = stores.undelivered().await;
    let entry = stores.chats.entry("acc", 1, seq).await.unwrap().unwrap();
    let delivery = entry.delivery.as_ref().unwrap();
    let attempt = Attempt { at: NOW, status: Some(200), ms: 1, error: None, answer: None };
    stores.chats.record_attempt(&entry, delivery, &attempt, &DeliveryUpdate::Delivered).await.unwrap();
    let late = stores.chats.retry("acc", 1, seq, Retry::One, at(DAY)).await;
    assert!(matches!(late, Err(Error::Conflict(_))), "{late:?}");
    stores.chats.retry("acc", 1, seq, Retry::One, at(DAY - 1)).await.unwrap();
}

#[tokio::test]
async fn an_offline_message_is_a_closed_chat_that_the_webhooks_are_told_of() {
    let stores = Stores::that(closing_after(10)).await;
    let (channel, content) = (channel(), Content::text("Call me"));
    let profile = named("Ada");
    let incoming = Incoming {
        channel: &channel,
        department: None,
        external_id: "v",
        has_numeric_id: false,
        invite: None,
        profile: &profile,
        content: &content,
        settings: &stores.settings,
        key: None,
        now: NOW,
    };
    for (chat_id, chats) in [(1, 0), (2, 0)] {
        let notifications = stores.chats.offline_message(&incoming).await.unwrap();
        assert_eq!(notifications.len(), 1);
        assert_eq!((notifications[0].chat_id, notifications[0].seq), (chat_id, 2));
        assert_eq!(notifications[0].content.kind, Kind::Webhook(WebhookEvent::OfflineMessage));
        let chat = stores.chats.chat("acc", chat_id).await.unwrap().unwrap();
        assert_eq!(chat.state, State::Closed(None));
        let visitor = stores.chats.visitor("CH", "v").await.unwrap().unwrap();
        assert_eq!((visitor.number, visitor.chats, visitor.open_chat), (1, chats, None));
        assert_eq!(visitor.sources.name, Some(Source::Visitor));
    }
    assert_eq!(stores.look(at(DAY)).await, []);
    let mut visitor = stores.chats.visitor("CH", "v").await.unwrap().unwrap();
    visitor.blacklist(true);
    stores.chats.save_visitor(&visitor).await.unwrap();
    assert_eq!(stores.chats.offline_message(&incoming).await.unwrap(), []);
}

#[tokio::test]
async fn a_call_is_told_of_also_after_the_chat_and_comes_back_with_every_field() {
    let stores = stores().await;
    stores.undelivered().await;
    stores.close(1, &bob(), &[], at(1)).await.unwrap();
    let chat = stores.chats.chat("acc", 1).await.unwrap().unwrap();
    let webhooks = [webhook("w")];
    let context = EventContext { webhooks: &webhooks, agent_id: Some(1), now: at(2) };
    let url = Some("https://x.example/1.mp3".to_owned());
    for status in [CallStatus::Start, CallStatus::End(url), CallStatus::Error("busy".into())] {
        let call = Call { kind: CallKind::Callback, phone: "+31".into(), status };
        let details = Details { call: Some(&call), ..Details::default() };
        let entries = stores.chats.notify_webhooks(&chat, WebhookEvent::CallEvent, details, &context).await.unwrap();
        let stored = stores.chats.entry("acc", 1, entries[0].seq).await.unwrap().unwrap();
        assert_eq!(stored, entries[0]);
        assert_eq!(stored.occurrence.unwrap().call, Some(call));
    }
    let updated =
        stores.chats.notify_webhooks(&chat, WebhookEvent::ChatUpdated, Details::default(), &context).await.unwrap();
    assert_eq!(updated, [], "a closed chat is not updated");
}

#[tokio::test]
async fn a_rating_is_kept_also_after_the_end() {
    let stores = stores().await;
    stores.undelivered().await;
    stores.chats.rate("acc", 1, Rating::Positive).await.unwrap();
    stores.close(1, &bob(), &[], at(1)).await.unwrap();
    assert_eq!(stores.chats.chat("acc", 1).await.unwrap().unwrap().rating, Some(Rating::Positive));
    stores.chats.rate("acc", 1, Rating::Negative).await.unwrap();
    assert_eq!(stores.chats.chat("acc", 1).await.unwrap().unwrap().rating, Some(Rating::Negative));
    assert!(matches!(stores.chats.rate("acc", 9, Rating::Positive).await, Err(Error::NotFound)));
}

/// When the visitor and the number are forgotten, in this order.
async fn visitor_and_number(stores: &Stores) -> [Option<u64>; 2] {
    let lives = stores.lives().await;
    let life = |kind: &str| lives.iter().find(|(pk, ..)| pk.starts_with(kind)).expect("it is there").2;
    [life("VISITOR#"), life("VISITOR_NUMBER#")]
}

#[tokio::test]
async fn a_visitor_is_kept_as_long_as_the_chat_that_is_kept_longest() {
    let until = |day: u64| Some(at(day * DAY).seconds());
    // The retention of each chat, which ends on the day of its place, and until when the visitor is kept after it.
    let table: [&[(Option<u32>, Option<u64>)]; 5] = [
        &[(Some(30), until(30)), (Some(30), until(31)), (Some(30), until(32))],
        &[(None, None), (Some(30), None), (Some(30), None)],
        &[(Some(90), until(90)), (Some(30), until(90)), (None, None)],
        &[(Some(30), until(30)), (Some(90), until(91)), (Some(10), until(91)), (Some(100), until(103))],
        &[(Some(30), until(30)), (None, None), (Some(90), None)],
    ];
    for chats in table {
        for offline in [false, true] {
            let mut stores = Stores::that(Settings::default()).await;
            for (place, (keep_days, kept)) in chats.iter().enumerate() {
                let (chat_id, now) = (place as u64 + 1, at(place as u64 * DAY));
                stores.settings.retention_days = *keep_days;
                if offline && place > 0 {
                    let (channel, content, profile) = (channel(), Content::text("Call me"), Profile::default());
                    stores.chats.offline_message(&left(&stores, &channel, &content, &profile, now)).await.unwrap();
                } else {
                    stores.visitor_writes("v", "hi", now).await.unwrap();
                    stores.accept(chat_id, &bob(), &[], now).await.unwrap();
                    stores.close(chat_id, &bob(), &[], now).await.unwrap();
                }
                assert_eq!(visitor_and_number(&stores).await, [*kept; 2], "{chats:?} {place} offline: {offline}");
            }
        }
    }
}

fn left<'a>(
    stores: &'a Stores,
    channel: &'a Channel,
    content: &'a Content,
    profile: &'a Profile,
    now: Timestamp,
) -> Incoming<'a> {
    let settings = &stores.settings;
    Incoming {
        channel,
        department: None,
        external_id: "v",
        has_numeric_id: false,
        invite: None,
        profile,
        content,
        settings,
        key: None,
        now,
    }
}

#[tokio::test]
async fn an_offline_message_beside_an_open_chat_is_kept_longest() {
    for (days, kept) in
        [(Some(90), Some(at(90 * DAY).seconds())), (None, None), (Some(1), Some(at(31 * DAY).seconds()))]
    {
        let mut stores = Stores::that(Settings { retention_days: Some(30), ..Settings::default() }).await;
        stores.visitor_writes("v", "hi", NOW).await.unwrap();
        stores.accept(1, &bob(), &[], NOW).await.unwrap();
        stores.close(1, &bob(), &[], NOW).await.unwrap();
        stores.visitor_writes("v", "hi again", NOW).await.unwrap();
        stores.settings.retention_days = days;
        let (channel, content, profile) = (channel(), Content::text("Call me"), Profile::default());
        stores.chats.offline_message(&left(&stores, &channel, &content, &profile, NOW)).await.unwrap();
        stores.accept(2, &bob(), &[], NOW).await.unwrap();
        stores.close(2, &bob(), &[], at(DAY)).await.unwrap();
        assert_eq!(visitor_and_number(&stores).await, [kept; 2], "{days:?}");
    }
}

#[tokio::test]
async fn a_visitor_without_a_number_can_be_erased() {
    let stores = stores().await;
    stores.undelivered().await;
    stores.close(1, &bob(), &[], at(1)).await.unwrap();
    stores.visitor_writes("v", "another chat", at(2)).await.unwrap();
    stores.chats.table.delete(Key::new("VISITOR_NUMBER#acc#1", "VISITOR")).await.unwrap();
    let erased = stores.chats.erase_visitor("acc", 1, &|| true).await.unwrap();
    assert_eq!((erased.chats, erased.entries, erased.is_complete), (2, 3, true));
    assert_eq!(stores.lives().await, []);
    assert!(matches!(stores.chats.erase_visitor("acc", 1, &|| true).await, Err(Error::NotFound)));
}

#[tokio::test]
async fn who_comes_again_while_they_are_erased_stays() {
    let stores = stores().await;
    stores.undelivered().await;
    stores.close(1, &bob(), &[], at(1)).await.unwrap();
    assert!(!stores.chats.erase_visitor("acc", 1, &|| false).await.unwrap().is_complete);
    stores.visitor_writes("v", "as a stranger", at(2)).await.unwrap();
    let rest = stores.chats.erase_visitor("acc", 1, &|| true).await.unwrap();
    assert_eq!((rest.chats, rest.is_complete), (1, true));
    let visitor = stores.chats.visitor("CH", "v").await.unwrap().unwrap();
    assert_eq!((visitor.number, visitor.open_chat), (2, Some(2)));
    assert_eq!(stores.chats.chat("acc", 2).await.unwrap().unwrap().state, State::Waiting);
}

#[tokio::test]
async fn an_erasure_goes_on_where_it_was_cut_short() {
    let mut stores = Stores::that(Settings::default()).await;
    stores.settings.limits.channel_chats = 10_000;
    let (channel, content, profile) = (channel(), Content::text("Call me"), Profile::default());
    let other = Incoming { external_id: "other", ..left(&stores, &channel, &content, &profile, NOW) };
    for _ in 0..2_100 {
        stores.chats.offline_message(&other).await.unwrap();
    }
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.accept(2_101, &bob(), &[], NOW).await.unwrap();
    stores.close(2_101, &bob(), &[], at(1)).await.unwrap();
    let mut calls = 0;
    loop {
        calls += 1;
        assert!(calls < 10, "it begins anew each time");
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let has_time = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 2;
        if stores.chats.erase_visitor("acc", 2, &has_time).await.unwrap().is_complete {
            break;
        }
    }
    assert!(stores.chats.chat("acc", 2_101).await.unwrap().is_none());
}
