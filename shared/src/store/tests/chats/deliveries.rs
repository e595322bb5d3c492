//! What becomes of deliveries.

use crate::store::chats::deliveries::Revived;
use crate::store::tests::*;

#[tokio::test]
async fn a_try_is_recorded_once_however_often_its_task_comes() {
    let stores = stores().await;
    let seq = stores.undelivered().await;
    let (entry, _) = stores.chats.entry_and_chat("acc", 1, seq).await.unwrap().unwrap();
    let delivery = entry.delivery.clone().unwrap();
    let attempt = Attempt { at: NOW, status: Some(500), ms: 7, error: Some("HTTP 500".into()), answer: None };
    let again = DeliveryUpdate::Again(Duration::from_secs(3));
    assert!(stores.chats.record_attempt(&entry, &delivery, &attempt, &again).await.unwrap());
    assert!(stores.chats.record_attempt(&entry, &delivery, &attempt, &again).await.unwrap(), "its own, repeated");
    let others = Attempt { ms: 8, ..attempt.clone() };
    assert!(!stores.chats.record_attempt(&entry, &delivery, &others, &again).await.unwrap(), "somebody else's");
    let stored = stores.chats.entry("acc", 1, seq).await.unwrap().unwrap().delivery.unwrap();
    assert_eq!((stored.attempts_made, stored.attempts), (1, vec![attempt]));
}

#[tokio::test]
async fn a_failed_delivery_can_be_begun_anew_and_keeps_its_ledger() {
    let stores = stores().await;
    let seq = stores.undelivered().await;
    assert!(
        matches!(stores.chats.retry("acc", 1, seq, Retry::Message, at(1)).await, Err(Error::Conflict(_))),
        "still pending"
    );
    assert!(matches!(stores.chats.retry("acc", 1, 99, Retry::Message, at(1)).await, Err(Error::NotFound)));
    let (entry, _) = stores.chats.entry_and_chat("acc", 1, seq).await.unwrap().unwrap();
    let attempt = Attempt { at: NOW, status: None, ms: 3_000, error: Some("x".into()), answer: None };
    let failure = Failure { code: Some(5), message: "no".into(), hidden: false };
    let failed = DeliveryUpdate::Failed(failure.clone(), at(9));
    let delivery = entry.delivery.clone().unwrap();
    assert!(stores.chats.record_attempt(&entry, &delivery, &attempt, &failed).await.unwrap());
    let stored = stores.chats.entry("acc", 1, seq).await.unwrap().unwrap().delivery.unwrap();
    assert_eq!((stored.state, stored.failure), (DeliveryState::Failed, Some(failure)));
    assert!(
        matches!(stores.chats.retry("acc", 1, seq, Retry::Message, at(8)).await, Err(Error::Conflict(_))),
        "not shown yet"
    );
    let anew = stores.chats.retry("acc", 1, seq, Retry::Message, at(20)).await.unwrap().delivery.unwrap();
    assert_eq!((anew.state, anew.round, anew.attempts_made, anew.since), (DeliveryState::Pending, 2, 0, at(20)));
    assert_eq!((anew.failure, anew.attempts.len()), (None, 1));
}

#[tokio::test]
async fn what_is_overdue_is_found_once_and_begun_anew() {
    let stores = stores().await;
    let seq = stores.undelivered().await;
    assert!(stores.overdue(1, at(9)).await.is_empty());
    let found = stores.overdue(1, at(30)).await;
    assert_eq!(found.len(), 1);
    let Revived::Begun(revived) = stores.chats.revive(&found[0], at(30)).await.unwrap() else { panic!("not begun") };
    let delivery = revived.delivery.unwrap();
    assert_eq!((revived.seq, delivery.round, delivery.since), (seq, 1, at(30)), "untried: it keeps its place");
    let again = stores.chats.revive(&found[0], at(30)).await.unwrap();
    assert!(matches!(again, Revived::Not), "somebody was faster");
    assert!(stores.overdue(1, at(30)).await.is_empty());
}

#[tokio::test]
async fn a_delivery_whose_every_consumer_dies_fails_in_the_end() {
    let stores = stores().await;
    let seq = stores.undelivered().await;
    let mut failed = Vec::new();
    for run in 1..=70 {
        for overdue in stores.overdue(1, at(run * 60)).await {
            if let Revived::Failed(entry, is_handed_over) = stores.chats.revive(&overdue, at(run * 60)).await.unwrap() {
                failed.push((entry.seq, is_handed_over));
            }
        }
    }
    assert_eq!(failed, [(seq, false)], "told once");
    let delivery = stores.chats.entry("acc", 1, seq).await.unwrap().unwrap().delivery.unwrap();
    assert_eq!((delivery.state, delivery.revivals), (DeliveryState::Failed, 60));
}

#[tokio::test]
async fn a_done_delivery_is_not_due_any_more() {
    let stores = stores().await;
    let seq = stores.undelivered().await;
    let (entry, _) = stores.chats.entry_and_chat("acc", 1, seq).await.unwrap().unwrap();
    let attempt = Attempt { at: NOW, status: Some(200), ms: 7, error: None, answer: None };
    let delivery = entry.delivery.clone().unwrap();
    assert!(stores.chats.record_attempt(&entry, &delivery, &attempt, &DeliveryUpdate::Delivered).await.unwrap());
    assert!(stores.overdue(1, at(1_000)).await.is_empty());
}

#[tokio::test]
async fn failing_and_typing_marks_come_and_go() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let head = || async { stores.chats.chat("acc", 1).await.unwrap().unwrap() };
    stores.chats.mark_failing(&head().await, Target::Channel, NOW).await.unwrap();
    assert!(head().await.is_failing(Target::Channel, at(1)) && !head().await.is_failing(Target::Channel, at(9)));
    assert!(!head().await.is_failing(Target::Bot, NOW), "each receiver has its own mark");
    stores.chats.mark_healthy(&head().await, Target::Channel).await.unwrap();
    assert!(!head().await.is_failing(Target::Channel, NOW));
    stores.chats.visitor_typing(&channel(), "v", Some(NOW)).await.unwrap();
    assert!(head().await.visitor_is_typing(at(1)));
    stores.visitor_writes("v", "done", NOW).await.unwrap();
    assert!(!head().await.visitor_is_typing(at(1)), "a message ends typing");
    stores.chats.visitor_typing(&channel(), "stranger", Some(NOW)).await.unwrap();
    assert_eq!(stores.chats.visitor("CH", "stranger").await.unwrap(), None, "typing alone opens nothing");
}
