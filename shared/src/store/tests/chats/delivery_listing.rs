//! Tests of the delivery log: searches, pages, replays, and the number of attempts that an entry stores.

use crate::chats::upkeep::requeue_overdue_delivery::OverdueResult;
use crate::domain::deliveries::delivery_search_and_replay::{DeliveryCursor, DeliveryFilter, SortOrder};
use crate::store::chats::delivery::delivery_listing::{DeliveryPage, DeliveryQuery};
use crate::store::tests::*;

fn query(filter: &DeliveryFilter) -> DeliveryQuery<'_> {
    DeliveryQuery {
        account_id: "acc",
        filter,
        order: SortOrder::NewestFirst,
        after: None,
        limit: 100,
        now: seconds_later(1_000),
    }
}

fn positions(page: &DeliveryPage) -> Vec<(u64, u64)> {
    page.rows.iter().map(|(chat, entry)| (chat.chat_id, entry.seq)).collect()
}

impl Stores {
    /// Opens a chat, which Bob accepts. Returns the chat's number.
    async fn open_accepted_chat(&self, visitor: &str, now: Timestamp) -> u64 {
        let (chat_id, _) = self.visitor_writes(visitor, "hi", now).await.unwrap();
        self.accept(chat_id, &bob(), &[], now).await.unwrap();
        chat_id
    }

    /// Stores a message from Bob and records the result of its first attempt. Returns the message's `seq`.
    async fn send_and_record(&self, chat_id: u64, now: Timestamp, update: &DeliveryUpdate) -> u64 {
        let seq = self.agent_writes(chat_id, "secret", now).await.unwrap();
        self.record_first_attempt(chat_id, seq, update).await;
        seq
    }

    async fn record_first_attempt(&self, chat_id: u64, seq: u64, update: &DeliveryUpdate) {
        let entry = self.entry(chat_id, seq).await;
        let attempt = Attempt { at: entry.at, status: Some(500), duration_ms: 7, error: None, answer: None };
        assert!(
            self.chats.record_attempt(&entry, entry.delivery.as_ref().unwrap(), &attempt, (update, &[])).await.unwrap()
        );
    }

    async fn send_and_fail(&self, chat_id: u64, now: Timestamp) -> u64 {
        self.send_and_record(chat_id, now, &failed_update(now)).await
    }

    async fn delivery_state(&self, chat_id: u64, seq: u64) -> DeliveryState {
        self.entry(chat_id, seq).await.delivery.unwrap().state
    }

    /// Follows the cursors from the first to the last page. Returns the chat number and the `seq` of each row
    /// on each page. `by_index` selects `Chats::failures` in place of `Chats::deliveries`.
    async fn all_pages(&self, mut query: DeliveryQuery<'_>, by_index: bool) -> Vec<Vec<(u64, u64)>> {
        let mut pages = Vec::new();
        loop {
            let page =
                if by_index { self.chats.failures(query).await } else { self.chats.deliveries(query).await }.unwrap();
            pages.push(positions(&page));
            let Some(next) = page.next else { return pages };
            query.after = Some(DeliveryCursor::parse(&next.to_text()).unwrap());
        }
    }
}

fn failed_update(result_visible_at: Timestamp) -> DeliveryUpdate {
    DeliveryUpdate::failed(Failure { code: Some(5), message: "no".into(), hidden: false }, result_visible_at)
}

#[tokio::test]
async fn failures_are_listed_until_they_are_replayed() {
    let stores = stores().await;
    let (one, two) = (stores.open_accepted_chat("one", NOW).await, stores.open_accepted_chat("two", NOW).await);
    let (first, second) =
        (stores.send_and_fail(one, seconds_later(1)).await, stores.send_and_fail(two, seconds_later(2)).await);
    let third = stores.send_and_fail(one, seconds_later(3)).await;
    stores.send_and_record(one, seconds_later(4), &DeliveryUpdate::Delivered).await;
    stores.agent_writes(one, "pending", seconds_later(5)).await.unwrap();
    let filter = DeliveryFilter::all(DeliveryState::Failed);
    let found = stores.chats.failures(query(&filter)).await.unwrap();
    assert_eq!((positions(&found), found.next), (vec![(one, third), (two, second), (one, first)], None));
    let oldest = DeliveryQuery { order: SortOrder::OldestFirst, ..query(&filter) };
    assert_eq!(positions(&stores.chats.failures(oldest).await.unwrap()), [(one, first), (two, second), (one, third)]);

    stores.chats.replay_delivery("acc", two, second, ReplayScope::AllFailed, seconds_later(60)).await.unwrap();
    assert_eq!(positions(&stores.chats.failures(query(&filter)).await.unwrap()), [(one, third), (one, first)]);
    let overdue = stores.overdue_deliveries(two, seconds_later(70)).await;
    assert_eq!(overdue.len(), 1, "it is due again");
    stores.record_first_attempt(two, second, &failed_update(seconds_later(69))).await;
    let failures = stores.chats.failures(query(&filter)).await.unwrap();
    assert_eq!(positions(&failures), [(one, third), (two, second), (one, first)], "sorted by the time of the message");
    assert_eq!(failures.rows[1].1.delivery.as_ref().unwrap().attempts.len(), 2);
}

#[tokio::test]
async fn failed_delivery_is_never_overdue() {
    let stores = stores().await;
    let chat = stores.open_accepted_chat("v", NOW).await;
    let failed = stores.send_and_fail(chat, NOW).await;
    let dropped = stores.agent_writes(chat, "dropped", NOW).await.unwrap();
    let entry = stores.entry(chat, dropped).await;
    assert!(stores.chats.finish_delivery(&entry, DeliveryState::Superseded).await.unwrap());
    for partition in 0..DUE_PARTITIONS {
        assert!(stores.overdue_deliveries(partition, seconds_later(100_000)).await.is_empty());
    }
    let found = stores.chats.failures(query(&DeliveryFilter::all(DeliveryState::Failed))).await.unwrap();
    assert_eq!(positions(&found), [(chat, failed)]);
}

#[tokio::test]
async fn verdict_wins_over_a_concurrent_sweep() {
    let stores = stores().await;
    let chat = stores.open_accepted_chat("v", NOW).await;
    let seq = stores.agent_writes(chat, "slow", NOW).await.unwrap();
    let overdue = stores.overdue_deliveries(chat, seconds_later(30)).await;
    stores.record_first_attempt(chat, seq, &failed_update(seconds_later(30))).await;
    assert!(matches!(
        requeue_overdue_delivery(&stores.chats, &stores.directory, &overdue[0], seconds_later(31)).await.unwrap(),
        OverdueResult::NotNeeded
    ));
    assert_eq!(stores.delivery_state(chat, seq).await, DeliveryState::Failed);
}

#[tokio::test]
async fn delivery_failed_by_the_sweep_is_listed() {
    let stores = stores().await;
    let seq = stores.chat_with_pending_message().await;
    for run in 1..=61 {
        for overdue in stores.overdue_deliveries(1, seconds_later(run * 60)).await {
            requeue_overdue_delivery(&stores.chats, &stores.directory, &overdue, seconds_later(run * 60))
                .await
                .unwrap();
        }
    }
    let filter = DeliveryFilter::all(DeliveryState::Failed);
    let later = DeliveryQuery { now: seconds_later(100_000), ..query(&filter) };
    assert_eq!(positions(&stores.chats.failures(later).await.unwrap()), [(1, seq)]);
    assert!(stores.overdue_deliveries(1, seconds_later(100_000)).await.is_empty());
}

#[tokio::test]
async fn failure_is_hidden_until_its_verdict() {
    let stores = stores().await;
    let chat = stores.open_accepted_chat("v", NOW).await;
    let seq = stores.send_and_record(chat, NOW, &failed_update(seconds_later(9))).await;
    let found = async |state| {
        let filter = DeliveryFilter::all(state);
        let early = DeliveryQuery { now: seconds_later(8), ..query(&filter) };
        let by_index = positions(&stores.chats.failures(early).await.unwrap());
        (by_index, positions(&stores.chats.deliveries(early).await.unwrap()))
    };
    assert_eq!(found(DeliveryState::Failed).await, (vec![], vec![]));
    assert_eq!(found(DeliveryState::Pending).await.1, [(chat, seq)]);
}

#[tokio::test]
async fn failures_with_equal_times_are_paged_completely() {
    let stores = stores().await;
    let (one, two) = (stores.open_accepted_chat("one", NOW).await, stores.open_accepted_chat("two", NOW).await);
    let mut expected = Vec::new();
    for n in 0..30 {
        // Three failures occur at the same time, so the time alone does not determine their order.
        expected.push((one, stores.send_and_fail(one, seconds_later(n)).await));
        expected.push((two, stores.send_and_fail(two, seconds_later(n)).await));
        expected.push((one, stores.send_and_fail(one, seconds_later(n)).await));
    }
    expected.sort_unstable();
    let filter = DeliveryFilter::all(DeliveryState::Failed);
    for (order, limit) in [(SortOrder::NewestFirst, 7), (SortOrder::OldestFirst, 60), (SortOrder::NewestFirst, 100)] {
        let pages = stores.all_pages(DeliveryQuery { order, limit, ..query(&filter) }, true).await;
        assert!(pages.iter().rev().skip(1).all(|page| page.len() == limit), "{pages:?}");
        let mut all = pages.concat();
        all.sort_unstable();
        assert_eq!(all, expected, "{order:?} {limit}");
    }
    let five_seconds =
        DeliveryFilter { from: seconds_later(20), to: seconds_later(24), ..DeliveryFilter::all(DeliveryState::Failed) };
    assert_eq!(stores.all_pages(DeliveryQuery { limit: 4, ..query(&five_seconds) }, true).await.concat().len(), 15);
}

#[tokio::test]
async fn search_without_matches_stops_after_500_failures() {
    let stores = stores().await;
    let chat = stores.open_accepted_chat("v", NOW).await;
    for n in 0..501 {
        stores.send_and_fail(chat, seconds_later(n)).await;
    }
    let of_bots = DeliveryFilter { target: Some(Target::Bot), ..DeliveryFilter::all(DeliveryState::Failed) };
    let pages = stores.all_pages(query(&of_bots), true).await;
    assert_eq!(pages, [[], []], "each page reads at most 500 failures");
}

#[tokio::test]
async fn next_page_skips_a_failure_that_was_replayed() {
    let stores = stores().await;
    let chat = stores.open_accepted_chat("v", NOW).await;
    let (first, second) =
        (stores.send_and_fail(chat, seconds_later(1)).await, stores.send_and_fail(chat, seconds_later(2)).await);
    let filter = DeliveryFilter::all(DeliveryState::Failed);
    let page = stores.chats.failures(DeliveryQuery { limit: 1, ..query(&filter) }).await.unwrap();
    assert_eq!(positions(&page), [(chat, second)]);
    stores.chats.replay_delivery("acc", chat, second, ReplayScope::AllFailed, seconds_later(60)).await.unwrap();
    let rest = stores.chats.failures(DeliveryQuery { after: page.next, ..query(&filter) }).await.unwrap();
    assert_eq!((positions(&rest), rest.next), (vec![(chat, first)], None));
}

#[tokio::test]
async fn other_deliveries_are_listed_chat_by_chat() {
    let stores = stores().await;
    let mut expected = Vec::new();
    for (n, visitor) in ["one", "two", "three"].into_iter().enumerate() {
        let chat = stores.open_accepted_chat(visitor, seconds_later(n as u64 * 100)).await;
        for second in 0..3 {
            expected.push((
                chat,
                stores.send_and_record(chat, seconds_later(n as u64 * 100 + second), &DeliveryUpdate::Delivered).await,
            ));
        }
        stores.send_and_fail(chat, seconds_later(n as u64 * 100 + 5)).await;
    }
    expected.reverse();
    let filter = DeliveryFilter::all(DeliveryState::Delivered);
    for limit in [1, 2, 4, 100] {
        let pages = stores.all_pages(DeliveryQuery { limit, ..query(&filter) }, false).await;
        assert_eq!(pages.concat(), expected, "newest first, {limit} per page");
    }
    let second_chat = DeliveryFilter { from: seconds_later(101), to: seconds_later(102), ..filter.clone() };
    assert_eq!(stores.all_pages(query(&second_chat), false).await, [&expected[3..5]]);
    let other_channel = DeliveryFilter { channel_id: Some("OTHER".into()), ..filter.clone() };
    assert_eq!(stores.all_pages(query(&other_channel), false).await, [[]]);

    let chat = stores.chat_header(2).await;
    let failed = DeliveryFilter::all(DeliveryState::Failed);
    let of_chat = async |query| positions(&stores.chats.chat_deliveries(&chat, query).await.unwrap());
    assert_eq!(of_chat(query(&filter)).await, expected[3..6]);
    let oldest = DeliveryQuery { order: SortOrder::OldestFirst, ..query(&filter) };
    assert_eq!(of_chat(oldest).await, [expected[5], expected[4], expected[3]]);
    let after = Some(DeliveryCursor { at: None, chat_id: 2, seq: expected[5].1 });
    assert_eq!(of_chat(DeliveryQuery { after, ..oldest }).await, [expected[4], expected[3]]);
    assert_eq!(of_chat(query(&failed)).await.len(), 1);
}

#[tokio::test]
async fn search_stops_after_50_timelines() {
    let stores = stores().await;
    let mut last = 0;
    for n in 0..120 {
        last = stores.open_accepted_chat(&format!("visitor {n}"), NOW).await;
    }
    let seq = stores.send_and_record(1, seconds_later(1), &DeliveryUpdate::Delivered).await;
    let filter = DeliveryFilter::all(DeliveryState::Delivered);
    let pages = stores.all_pages(query(&filter), false).await;
    assert_eq!((last, pages), (120, vec![vec![], vec![], vec![(1, seq)]]), "each page reads at most 50 timelines");
}

#[tokio::test]
async fn cursor_is_valid_only_for_its_search_and_account() {
    let stores = stores().await;
    let chat = stores.open_accepted_chat("v", NOW).await;
    let seq = stores.send_and_fail(chat, seconds_later(5)).await;
    let filter =
        DeliveryFilter { from: seconds_later(1), to: seconds_later(9), ..DeliveryFilter::all(DeliveryState::Failed) };
    let cursor = |at| Some(DeliveryCursor { at, chat_id: chat, seq });
    for wrong in [cursor(None), cursor(Some(seconds_later(10))), cursor(Some(seconds_later(0)))] {
        let refused = stores.chats.failures(DeliveryQuery { after: wrong, ..query(&filter) }).await.unwrap_err();
        assert_eq!(refused.invalid_field(), Some("cursor"), "{wrong:?}");
    }
    let timed = DeliveryQuery { after: cursor(Some(seconds_later(5))), ..query(&filter) };
    assert_eq!(stores.chats.deliveries(timed).await.unwrap_err().invalid_field(), Some("cursor"));
    let header = stores.chat_header(chat).await;
    let other_chat = Some(DeliveryCursor { at: None, chat_id: chat + 1, seq });
    let refused = stores.chats.chat_deliveries(&header, DeliveryQuery { after: other_chat, ..query(&filter) }).await;
    assert_eq!(refused.unwrap_err().invalid_field(), Some("cursor"));
    let invented = Some(DeliveryCursor { at: Some(seconds_later(9)), chat_id: u64::MAX, seq: u64::MAX });
    let found = stores.chats.failures(DeliveryQuery { after: invented, ..query(&filter) }).await.unwrap();
    assert_eq!(positions(&found), [(chat, seq)]);
    let invented = Some(DeliveryCursor { at: None, chat_id: u64::MAX, seq: u64::MAX });
    for order in [SortOrder::NewestFirst, SortOrder::OldestFirst] {
        stores.chats.deliveries(DeliveryQuery { after: invented, order, ..query(&filter) }).await.unwrap();
    }
    let other_account = DeliveryQuery { account_id: "other", ..query(&filter) };
    for after in [None, cursor(Some(seconds_later(9)))] {
        assert!(stores.chats.failures(DeliveryQuery { after, ..other_account }).await.unwrap().rows.is_empty());
    }
    assert!(stores.chats.deliveries(other_account).await.unwrap().rows.is_empty());
}

#[tokio::test]
async fn replay_is_refused_for_deliveries_that_cannot_restart() {
    let stores = stores().await;
    let chat = stores.open_accepted_chat("v", NOW).await;
    let (failed, delivered) =
        (stores.send_and_fail(chat, NOW).await, stores.send_and_record(chat, NOW, &DeliveryUpdate::Delivered).await);
    let replay = async |seq, scope, now| stores.chats.replay_delivery("acc", chat, seq, scope, now).await;
    for kind in [ReplayScope::MessageToVisitor, ReplayScope::AllFailed] {
        assert!(matches!(replay(delivered, kind, seconds_later(1)).await, Err(Error::Conflict(_))), "{kind:?}");
    }
    assert!(
        matches!(replay(1, ReplayScope::Single, seconds_later(1)).await, Err(Error::Conflict(_))),
        "a visitor's message without a bot has no receiver"
    );
    assert!(matches!(replay(99, ReplayScope::Single, seconds_later(1)).await, Err(Error::NotFound)));
    for (seq, kind) in [(delivered, ReplayScope::Single), (failed, ReplayScope::AllFailed)] {
        let restarted = replay(seq, kind, seconds_later(2)).await.unwrap();
        let delivery = restarted.delivery.as_ref().unwrap();
        assert_eq!((delivery.state, delivery.round, delivery.attempts.len()), (DeliveryState::Pending, 2, 1));
        assert!(
            matches!(replay(seq, ReplayScope::Single, seconds_later(3)).await, Err(Error::Conflict(_))),
            "it is pending"
        );
    }
}

#[tokio::test]
async fn entry_stores_a_limited_number_of_attempts() {
    let stores = stores().await;
    let chat = stores.open_accepted_chat("v", NOW).await;
    let seq = stores.agent_writes(chat, "secret", NOW).await.unwrap();
    let answer = "\u{1d11e}".repeat(16_000);
    for n in 1..=150 {
        let entry = stores.entry(chat, seq).await;
        let attempt = Attempt {
            at: seconds_later(n),
            status: Some(500),
            duration_ms: 7,
            error: Some(answer.clone()),
            answer: None,
        };
        let failed =
            DeliveryUpdate::failed(Failure { code: None, message: answer.clone(), hidden: false }, seconds_later(n));
        assert!(
            stores
                .chats
                .record_attempt(&entry, entry.delivery.as_ref().unwrap(), &attempt, (&failed, &[]))
                .await
                .unwrap()
        );
        stores.chats.replay_delivery("acc", chat, seq, ReplayScope::Single, seconds_later(n)).await.unwrap();
    }
    let delivery = stores.entry(chat, seq).await.delivery.unwrap();
    let times: Vec<_> = delivery.attempts.iter().map(|attempt| attempt.at).collect();
    assert_eq!(times, [1, 145, 146, 147, 148, 149, 150].map(seconds_later));
    assert_eq!((delivery.attempts_left_out, delivery.round), (143, 151));
}

#[tokio::test]
async fn concurrent_replays_restart_a_delivery_once() {
    let stores = stores().await;
    let chat = stores.open_accepted_chat("v", NOW).await;
    let seq = stores.send_and_fail(chat, NOW).await;
    let replays =
        (1..=8).map(|n| stores.chats.replay_delivery("acc", chat, seq, ReplayScope::AllFailed, seconds_later(n)));
    let restarted = join_all(replays).await.into_iter().filter(Result::is_ok).count();
    let delivery = stores.entry(chat, seq).await.delivery.unwrap();
    assert_eq!((restarted, delivery.round), (1, 2));
}
