//! Tests of when chats, entries and visitors expire, and of how a changed retention period is applied: by idle checks
//! to open chats, and by retention passes to closed chats.

use crate::chats::upkeep::apply_retention::apply_retention;
use crate::domain::deliveries::delivery_search_and_replay::ReplayScope;
use crate::store::chats::expiry::retention_passes::RetentionPass;
use crate::store::tests::*;

#[tokio::test]
async fn closed_chat_expires_after_the_retention() {
    let settings =
        AccountSettings { retention_days: Some(30), webhooks: vec![webhook("w")], ..AccountSettings::default() };
    let stores = Stores::with_settings(settings).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let accepted = stores.accept(1, &bob(), &stores.settings.webhooks, seconds_later(10)).await.unwrap();
    stores.agent_writes(1, "hello", seconds_later(20)).await.unwrap();
    let change = PanelUpdate { enable_assign: Some(true), ..PanelUpdate::default() };
    stores.chats.update_panel(&accepted.chat, &change).await.unwrap();
    let open = stores.expiries().await;
    let unlimited = open.iter().filter(|(.., expires_at)| expires_at.is_none()).count();
    assert_eq!(unlimited, 4, "header, panel, visitor and number do not expire while the chat is open: {open:?}");
    stores.close(1, &bob(), &stores.settings.webhooks, seconds_later(DAY)).await.unwrap();
    let expiries = stores.expiries().await;
    assert_eq!(expiries.len(), 8, "{expiries:?}");
    let in_30_days = |seconds: u64| Some(seconds_later(seconds + 30 * DAY).seconds());
    for (pk, sk, expires_at) in expiries {
        let expected = match (pk.as_str(), sk.as_str()) {
            (_, "0000000001") => in_30_days(0),
            (_, "0000000002") => in_30_days(10),
            (_, "0000000003") => in_30_days(20),
            _ => in_30_days(DAY),
        };
        assert_eq!(expires_at, expected, "{pk} {sk}");
    }
    let chat = stores.chat_header(1).await;
    assert!(!chat.is_expired(seconds_later(31 * DAY - 1)) && chat.is_expired(seconds_later(31 * DAY)));
    let message = stores.entry(1, 3).await;
    assert!(!message.is_expired(seconds_later(30 * DAY + 19)) && message.is_expired(seconds_later(30 * DAY + 20)));
    stores.visitor_writes("v", "again", seconds_later(2 * DAY)).await.unwrap();
    assert_eq!(stores.visitor_expiries().await, [None; 2], "a visitor with an open chat does not expire");
    assert!(stores.chats.visitor_by_number("acc", 1, seconds_later(2 * DAY)).await.unwrap().is_some());
}

#[tokio::test]
async fn nothing_expires_without_a_retention() {
    let stores = stores().await;
    stores.chat_with_pending_message().await;
    stores.close(1, &bob(), &[], seconds_later(1)).await.unwrap();
    assert!(stores.expiries().await.iter().all(|(_, _, expires_at)| expires_at.is_none()));
}

#[tokio::test]
async fn changed_retention_applies_to_entries_of_open_chats() {
    let mut stores = Stores::with_settings(AccountSettings { idle_close: None, ..AccountSettings::default() }).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.settings.retention_days = Some(30);
    stores.run_idle_checks(seconds_later(60 * MINUTE + 1)).await;
    stores.visitor_writes("v", "more", seconds_later(61 * MINUTE)).await.unwrap();
    let entry_expiries = async |stores: &Stores| {
        let entries = stores.chats.timeline("acc", 1, 0, 10).await.unwrap();
        entries.iter().map(|entry| entry.retain_until.map(Timestamp::seconds)).collect::<Vec<_>>()
    };
    let in_30_days = |seconds: u64| Some(seconds_later(seconds + 30 * DAY).seconds());
    assert_eq!(entry_expiries(&stores).await, [in_30_days(0), in_30_days(61 * MINUTE)]);
    stores.settings.retention_days = None;
    stores.run_idle_checks(seconds_later(121 * MINUTE)).await;
    assert_eq!(entry_expiries(&stores).await, [None, None]);
}

/// The number of seconds between a change to the retention period and the pass over closed chats. In this time, idle
/// checks apply the change to the open chats.
const PASS_DELAY: u64 = 70 * MINUTE;

impl Stores {
    /// Changes the account's retention period and runs the pass that applies it to closed chats.
    async fn change_retention(&mut self, retention_days: Option<u32>, now: u64) {
        self.settings.retention_days = retention_days;
        self.chats.plan_retention_pass("acc", seconds_later(now)).await.unwrap();
        assert_eq!(self.due_passes(now + PASS_DELAY - 1).await.len(), 0, "open chats come first");
        assert_eq!(self.apply_retention(&|| true, now + PASS_DELAY + 1).await, 0);
    }

    /// Returns the passes that are due if all idle checks before `now` have been made.
    async fn due_passes(&self, now: u64) -> Vec<RetentionPass> {
        self.chats.due_account_work(seconds_later(now), seconds_later(now)).await.unwrap().passes
    }

    /// Continues all due passes, as the scheduled function does. Returns how many of them are still incomplete.
    async fn apply_retention(&self, has_time: &(dyn Fn() -> bool + Sync), now: u64) -> usize {
        for pass in self.due_passes(now).await {
            apply_retention(&self.chats, &pass, self.settings.retention_days, has_time, seconds_later(now))
                .await
                .unwrap();
        }
        self.due_passes(now + 1).await.len()
    }
}

#[tokio::test]
async fn changed_retention_applies_to_closed_chats() {
    for before in [None, Some(90), Some(10)] {
        let mut stores =
            Stores::with_settings(AccountSettings { retention_days: before, ..AccountSettings::default() }).await;
        for day in 0..3 {
            stores.closed_chat("v", day * DAY).await;
        }
        let chat = stores.chat_header(1).await;
        let change = PanelUpdate { enable_assign: Some(true), ..PanelUpdate::default() };
        stores.chats.update_panel(&chat, &change).await.unwrap();
        for (change, days) in [Some(30), Some(20), None, Some(40)].into_iter().enumerate() {
            stores.change_retention(days, (3 + change as u64) * DAY).await;
            let until = |day: u64| days.map(|days| seconds_later((day + u64::from(days)) * DAY).seconds());
            for (pk, sk, expires_at) in stores.expiries().await {
                let day = ["CHAT#acc#1", "CHAT#acc#2"].iter().position(|chat| pk == *chat).unwrap_or(2);
                assert_eq!(expires_at, until(day as u64), "{before:?} to {days:?}: {pk} {sk}");
            }
        }
    }
}

#[tokio::test]
async fn retention_pass_waits_only_for_older_idle_checks() {
    let stores = stores().await;
    stores.chats.plan_retention_pass("acc", NOW).await.unwrap();
    for (checked, expected) in [(PASS_DELAY - 1, 0), (PASS_DELAY, 1), (DAY, 1)] {
        let passes = stores.chats.due_account_work(seconds_later(checked), seconds_later(DAY)).await.unwrap().passes;
        assert_eq!(passes.len(), expected, "checked up to {checked}");
    }
}

#[tokio::test]
async fn visitor_with_an_open_chat_does_not_expire() {
    let mut stores = Stores::with_settings(AccountSettings { idle_close: None, ..AccountSettings::default() }).await;
    stores.closed_chat("v", 0).await;
    stores.visitor_writes("v", "again", seconds_later(DAY)).await.unwrap();
    stores.change_retention(Some(30), 2 * DAY).await;
    assert_eq!(stores.visitor_expiries().await, [None; 2]);
    stores.run_idle_checks(seconds_later(2 * DAY + PASS_DELAY)).await;
    stores.accept(2, &bob(), &[], seconds_later(3 * DAY)).await.unwrap();
    stores.close(2, &bob(), &[], seconds_later(3 * DAY)).await.unwrap();
    assert_eq!(stores.visitor_expiries().await, [Some(seconds_later(33 * DAY).seconds()); 2]);
}

#[tokio::test]
async fn interrupted_pass_resumes_and_a_newer_one_replaces_it() {
    let mut stores = stores().await;
    for n in 0..25 {
        stores.closed_chat(&format!("v{n}"), n).await;
    }
    stores.settings.retention_days = Some(30);
    stores.chats.plan_retention_pass("acc", NOW).await.unwrap();
    let old_passes = stores.due_passes(PASS_DELAY + 1).await;
    let count_expiring =
        async |stores: &Stores| stores.expiries().await.iter().filter(|(.., expires_at)| expires_at.is_some()).count();
    let (items_per_chat, mut now) = (4, PASS_DELAY + 1);
    for chats in [10, 20] {
        let has_time = budget_of_checks(1);
        assert_eq!(stores.apply_retention(&has_time, now).await, 1);
        assert_eq!(count_expiring(&stores).await, chats * items_per_chat, "header, entry, visitor and number");
        now += 1;
    }
    stores.chats.plan_retention_pass("acc", seconds_later(now)).await.unwrap();
    stores.settings.retention_days = None;
    apply_retention(&stores.chats, &old_passes[0], None, &|| true, seconds_later(now)).await.unwrap();
    assert_eq!(stores.apply_retention(&|| true, now + PASS_DELAY + 1).await, 0);
    assert_eq!(count_expiring(&stores).await, 0);
}

#[tokio::test]
async fn visitor_who_returns_during_a_pass_expires_later() {
    let mut stores = stores().await;
    stores.closed_chat("v", 0).await;
    for n in 0..12 {
        stores.closed_chat(&format!("other{n}"), 1).await;
    }
    stores.settings.retention_days = Some(30);
    stores.chats.plan_retention_pass("acc", NOW).await.unwrap();
    let has_time = budget_of_checks(1);
    assert_eq!(stores.apply_retention(&has_time, DAY).await, 1, "the other visitors come first");
    stores.closed_chat("v", 4 * DAY).await;
    assert_eq!(stores.apply_retention(&|| true, 5 * DAY).await, 0);
    let number = stores.expiries().await.into_iter().find(|(pk, ..)| pk == "VISITOR_NUMBER#acc#1").unwrap();
    assert_eq!(number.2, Some(seconds_later(34 * DAY).seconds()));
}

#[tokio::test]
async fn longer_retention_does_not_restore_expired_chats() {
    let mut stores =
        Stores::with_settings(AccountSettings { retention_days: Some(1), ..AccountSettings::default() }).await;
    stores.closed_chat("v", 0).await;
    stores.change_retention(None, 2 * DAY).await;
    let expiries = stores.expiries().await;
    let first_expiry = Some(seconds_later(DAY).seconds());
    assert!(expiries.iter().all(|(.., expires_at)| *expires_at == first_expiry), "{expiries:?}");
}

#[tokio::test]
async fn expired_visitor_returns_as_a_new_visitor() {
    let stores = Stores::with_settings(AccountSettings { retention_days: Some(1), ..AccountSettings::default() }).await;
    stores.visitor_writes_with("v", &profile_named("Ada"), "hi", None, NOW).await.unwrap();
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    stores.close(1, &bob(), &[], NOW).await.unwrap();
    assert!(stores.chats.visitor_by_number("acc", 1, seconds_later(DAY - 1)).await.unwrap().is_some());
    assert!(stores.chats.visitor_by_number("acc", 1, seconds_later(DAY)).await.unwrap().is_none());
    stores.visitor_writes("v", "again", seconds_later(DAY)).await.unwrap();
    let visitor = stores.visitor("v").await;
    assert_eq!((visitor.profile, visitor.sources.name, visitor.chats), (VisitorProfile::default(), None, 1));
}

#[tokio::test]
async fn expired_message_cannot_be_sent_again() {
    let stores = Stores::with_settings(AccountSettings { retention_days: Some(1), ..AccountSettings::default() }).await;
    let seq = stores.chat_with_pending_message().await;
    let entry = stores.entry(1, seq).await;
    let delivery = entry.delivery.as_ref().unwrap();
    let attempt = Attempt { at: NOW, status: Some(200), duration_ms: 1, error: None, answer: None };
    stores.chats.record_attempt(&entry, delivery, &attempt, (&DeliveryUpdate::Delivered, &[])).await.unwrap();
    let late = stores.chats.replay_delivery("acc", 1, seq, ReplayScope::Single, seconds_later(DAY)).await;
    assert!(matches!(late, Err(Error::Conflict(_))), "{late:?}");
    stores.chats.replay_delivery("acc", 1, seq, ReplayScope::Single, seconds_later(DAY - 1)).await.unwrap();
}

#[tokio::test]
async fn visitor_expires_with_the_longest_retained_chat() {
    let until = |day: u64| Some(seconds_later(day * DAY).seconds());
    // Each row describes chats that are closed on consecutive days. A pair consists of the retention period (in days)
    // at the time of closing and the resulting expiry time of the visitor. `None` means no expiry.
    let table: [&[(Option<u32>, Option<u64>)]; 5] = [
        &[(Some(30), until(30)), (Some(30), until(31)), (Some(30), until(32))],
        &[(None, None), (Some(30), None), (Some(30), None)],
        &[(Some(90), until(90)), (Some(30), until(90)), (None, None)],
        &[(Some(30), until(30)), (Some(90), until(91)), (Some(10), until(91)), (Some(100), until(103))],
        &[(Some(30), until(30)), (None, None), (Some(90), None)],
    ];
    for chats in table {
        let mut stores = Stores::with_settings(AccountSettings::default()).await;
        for (day, (retention_days, expires_at)) in chats.iter().enumerate() {
            stores.settings.retention_days = *retention_days;
            stores.closed_chat("v", day as u64 * DAY).await;
            assert_eq!(stores.visitor_expiries().await, [*expires_at; 2], "{chats:?} {day}");
        }
    }
}
