//! Tests of attempts, replays, overdue deliveries, and the mark of a receiver that is failing.

use crate::chats::upkeep::requeue_overdue_delivery::OverdueResult;
use crate::store::chats::delivery::deliveries::undelivered_write;
use crate::store::chats::entry_key;
use crate::store::table::{ITEM_EXISTS, ItemUpdate};
use crate::store::tests::*;

#[tokio::test]
async fn attempt_is_recorded_once_if_its_task_is_repeated() {
    let stores = stores().await;
    let seq = stores.chat_with_pending_message().await;
    let (entry, _) = stores.chats.entry_and_chat("acc", 1, seq).await.unwrap().unwrap();
    let delivery = entry.delivery.clone().unwrap();
    let attempt = Attempt { at: NOW, status: Some(500), duration_ms: 7, error: Some("HTTP 500".into()), answer: None };
    let retry = DeliveryUpdate::RetryAfter(Duration::from_secs(3));
    assert!(stores.chats.record_attempt(&entry, &delivery, &attempt, (&retry, &[])).await.unwrap());
    assert!(
        stores.chats.record_attempt(&entry, &delivery, &attempt, (&retry, &[])).await.unwrap(),
        "the same attempt, repeated"
    );
    let other = Attempt { duration_ms: 8, ..attempt.clone() };
    assert!(
        !stores.chats.record_attempt(&entry, &delivery, &other, (&retry, &[])).await.unwrap(),
        "a concurrent attempt"
    );
    let stored = stores.entry(1, seq).await.delivery.unwrap();
    assert_eq!((stored.attempts_made, stored.attempts), (1, vec![attempt]));
}

#[tokio::test]
async fn replay_of_a_failed_delivery_keeps_earlier_attempts() {
    let stores = stores().await;
    let seq = stores.chat_with_pending_message().await;
    assert!(
        matches!(
            stores.chats.replay_delivery("acc", 1, seq, ReplayScope::MessageToVisitor, seconds_later(1)).await,
            Err(Error::Conflict(_))
        ),
        "still pending"
    );
    assert!(matches!(
        stores.chats.replay_delivery("acc", 1, 99, ReplayScope::MessageToVisitor, seconds_later(1)).await,
        Err(Error::NotFound)
    ));
    let (entry, _) = stores.chats.entry_and_chat("acc", 1, seq).await.unwrap().unwrap();
    let attempt = Attempt { at: NOW, status: None, duration_ms: 3_000, error: Some("x".into()), answer: None };
    let failure = Failure { code: Some(5), message: "no".into(), hidden: false };
    let failed = DeliveryUpdate::failed(failure.clone(), seconds_later(9));
    let delivery = entry.delivery.clone().unwrap();
    assert!(stores.chats.record_attempt(&entry, &delivery, &attempt, (&failed, &[])).await.unwrap());
    let stored = stores.entry(1, seq).await.delivery.unwrap();
    assert_eq!((stored.state, stored.failure), (DeliveryState::Failed, Some(failure)));
    assert!(
        matches!(
            stores.chats.replay_delivery("acc", 1, seq, ReplayScope::MessageToVisitor, seconds_later(8)).await,
            Err(Error::Conflict(_))
        ),
        "the verdict is not shown yet"
    );
    let restarted = stores
        .chats
        .replay_delivery("acc", 1, seq, ReplayScope::MessageToVisitor, seconds_later(20))
        .await
        .unwrap()
        .delivery
        .unwrap();
    assert_eq!(
        (restarted.state, restarted.round, restarted.attempts_made, restarted.round_started_at),
        (DeliveryState::Pending, 2, 0, seconds_later(20))
    );
    assert_eq!((restarted.failure, restarted.attempts.len()), (None, 1));
}

#[tokio::test]
async fn chat_names_its_undelivered_messages_until_a_replay_delivers_them() {
    let stores = stores().await;
    let first = stores.chat_with_pending_message().await;
    let second = stores.agent_writes(1, "are you there?", seconds_later(1)).await.unwrap();
    let attempt = async |seq, at, update: &DeliveryUpdate| {
        let (entry, _) = stores.chats.entry_and_chat("acc", 1, seq).await.unwrap().unwrap();
        let delivery = entry.delivery.clone().unwrap();
        let attempt = Attempt { at, status: Some(503), duration_ms: 7, error: None, answer: None };
        for _ in 0..2 {
            assert!(stores.chats.record_attempt(&entry, &delivery, &attempt, (update, &[])).await.unwrap());
        }
    };
    let failure = Failure { code: None, message: "no".into(), hidden: false };
    let failed = DeliveryUpdate::failed(failure, seconds_later(9));
    let undelivered = async || stores.chat_header(1).await.undelivered;
    attempt(first, seconds_later(2), &failed).await;
    attempt(second, seconds_later(2), &failed).await;
    assert_eq!(undelivered().await, [first, second], "each failure counts once, even if its record is repeated");
    assert_eq!(stores.chat_header(1).await.changed_at(), seconds_later(9), "lists of changes contain the chat");
    stores.chats.replay_delivery("acc", 1, first, ReplayScope::AllFailed, seconds_later(20)).await.unwrap();
    assert_eq!(undelivered().await, [first, second], "a replay that has not succeeded changes nothing");
    stores.close(1, &bob(), &[], seconds_later(21)).await.unwrap();
    attempt(first, seconds_later(22), &DeliveryUpdate::Delivered).await;
    assert_eq!(undelivered().await, [second]);
    stores.chats.replay_delivery("acc", 1, second, ReplayScope::AllFailed, seconds_later(40)).await.unwrap();
    attempt(second, seconds_later(41), &DeliveryUpdate::Delivered).await;
    assert!(undelivered().await.is_empty());
}

/// A chat that is closed between the read of its header and the write of a delivery's result.
#[tokio::test]
async fn result_in_a_closing_chat_is_listed_as_closed() {
    let text = |text: &str| AttributeValue::S(text.to_owned());
    for is_failure in [true, false] {
        let stores = stores().await;
        let seq = stores.chat_with_pending_message().await;
        let read_before = stores.chats.chat("acc", 1).await.unwrap();
        stores.close(1, &bob(), &[], seconds_later(5)).await.unwrap();
        let state = if is_failure { DeliveryState::Failed } else { DeliveryState::Delivered };
        let update = ItemUpdate {
            key: entry_key("acc", 1, seq),
            update: "SET #delivery.#state = :state",
            condition: ITEM_EXISTS,
            values: vec![(":state", s(state.name()))],
        };
        let at = seconds_later(60);
        let writes = |chat: &Chat| vec![undelivered_write(chat, seq, is_failure, at)];
        stores.chats.update_delivery_and_chat(update, read_before, &writes).await.unwrap();

        assert_eq!(stores.entry(1, seq).await.delivery.unwrap().state, state);
        let chat = stores.chat_header(1).await;
        assert!(chat.state.is_closed());
        assert_eq!((chat.undelivered.len(), chat.changed_at()), (usize::from(is_failure), at));
        let header = stores.client.get_item().table_name("chats").key("pk", text("CHAT#acc#1")).key("sk", text("HEAD"));
        let header = header.send().await.unwrap().item.unwrap();
        assert_eq!(header["due_at"], n(at.0), "lists of changes find a closed chat by this time");
    }
}

#[tokio::test]
async fn overdue_delivery_is_requeued_once() {
    let stores = stores().await;
    let seq = stores.chat_with_pending_message().await;
    assert!(stores.overdue_deliveries(1, seconds_later(9)).await.is_empty());
    let found = stores.overdue_deliveries(1, seconds_later(30)).await;
    assert_eq!(found.len(), 1);
    let OverdueResult::Requeued(requeued) =
        requeue_overdue_delivery(&stores.chats, &stores.directory, &found[0], seconds_later(30)).await.unwrap()
    else {
        panic!("not requeued")
    };
    let delivery = requeued.delivery.unwrap();
    assert_eq!(
        (requeued.seq, delivery.round, delivery.round_started_at),
        (seq, 1, seconds_later(30)),
        "without an attempt it stays in its round"
    );
    let repeated =
        requeue_overdue_delivery(&stores.chats, &stores.directory, &found[0], seconds_later(30)).await.unwrap();
    assert!(matches!(repeated, OverdueResult::NotNeeded), "a concurrent sweep won");
    assert!(stores.overdue_deliveries(1, seconds_later(30)).await.is_empty());
}

#[tokio::test]
async fn delivery_fails_after_too_many_sweeps() {
    let stores = stores().await;
    let seq = stores.chat_with_pending_message().await;
    let mut failed = Vec::new();
    for run in 1..=70 {
        for overdue in stores.overdue_deliveries(1, seconds_later(run * 60)).await {
            if let OverdueResult::Failed { entry, handover, .. } =
                requeue_overdue_delivery(&stores.chats, &stores.directory, &overdue, seconds_later(run * 60))
                    .await
                    .unwrap()
            {
                failed.push((entry.seq, handover.is_some()));
            }
        }
    }
    assert_eq!(failed, [(seq, false)], "reported once");
    let delivery = stores.entry(1, seq).await.delivery.unwrap();
    assert_eq!((delivery.state, delivery.requeues), (DeliveryState::Failed, 60));
}

#[tokio::test]
async fn completed_delivery_is_not_overdue() {
    let stores = stores().await;
    let seq = stores.chat_with_pending_message().await;
    let (entry, _) = stores.chats.entry_and_chat("acc", 1, seq).await.unwrap().unwrap();
    let attempt = Attempt { at: NOW, status: Some(200), duration_ms: 7, error: None, answer: None };
    let delivery = entry.delivery.clone().unwrap();
    assert!(stores.chats.record_attempt(&entry, &delivery, &attempt, (&DeliveryUpdate::Delivered, &[])).await.unwrap());
    assert!(stores.overdue_deliveries(1, seconds_later(1_000)).await.is_empty());
}

#[tokio::test]
async fn failing_mark_expires_and_is_cleared() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let header = || stores.chat_header(1);
    let entry = stores.chats.entry("acc", 1, 1).await.unwrap().unwrap();
    stores.chats.mark_failing(&entry, &header().await, Target::Channel, NOW).await.unwrap();
    assert!(
        header().await.is_failing(Target::Channel, seconds_later(1))
            && !header().await.is_failing(Target::Channel, seconds_later(9))
    );
    assert!(!header().await.is_failing(Target::Bot, NOW), "each receiver has its own mark");
    stores.chats.mark_healthy(&header().await, Target::Channel).await.unwrap();
    assert!(!header().await.is_failing(Target::Channel, NOW));
}
