//! Tests of channel requests that repeat an idempotency key.

use serde_json::json;

use crate::store::tests::*;

#[tokio::test]
async fn repeated_key_stores_nothing_and_gets_the_first_answer() {
    let stores = stores().await;
    let key = IdempotencyKey::new("CH".into(), b"k1", json!({}));
    let first = stores.visitor_writes_with("v", &VisitorProfile::default(), "hi", Some(&key), NOW).await.unwrap();
    for _ in 0..2 {
        let repeated =
            stores.visitor_writes_with("v", &VisitorProfile::default(), "hi", Some(&key), NOW).await.unwrap();
        assert_eq!(repeated, first);
    }
    let other = IdempotencyKey::new("CH".into(), b"k2", json!({}));
    let second = stores.visitor_writes_with("v", &VisitorProfile::default(), "ho", Some(&other), NOW).await.unwrap();
    assert_ne!(second, first);
    assert_eq!(stores.chats.timeline("acc", 1, 0, 100).await.unwrap().len(), 2);
    let late = stores
        .visitor_writes_with("v", &VisitorProfile::default(), "hi", Some(&key), seconds_later(2 * 86_400))
        .await
        .unwrap();
    assert_eq!(late, first, "expired, but not deleted yet");
}

#[tokio::test]
async fn key_with_another_body_is_refused() {
    let stores = stores().await;
    let send = async |text: &str| {
        let key = IdempotencyKey::new("CH".into(), "ключ".as_bytes(), json!({ "text": text }));
        stores.visitor_writes_with("v", &VisitorProfile::default(), text, Some(&key), NOW).await
    };
    let first = send("hi").await.unwrap();
    assert!(matches!(send("ho").await, Err(Error::IdempotencyMismatch)));
    assert_eq!(send("hi").await.unwrap(), first);
    assert_eq!(stores.chats.timeline("acc", 1, 0, 100).await.unwrap().len(), 1);
}

#[tokio::test]
async fn concurrent_bodies_with_one_key_store_one_of_them() {
    let stores = stores().await;
    let send = async |text: &str| {
        let key = IdempotencyKey::new("CH".into(), b"k", json!({ "text": text }));
        stores.visitor_writes_with("v", &VisitorProfile::default(), text, Some(&key), NOW).await
    };
    let results = join_all(["1", "2", "1", "2", "1", "2"].map(send)).await;
    let stored = stores.chats.timeline("acc", 1, 0, 100).await.unwrap();
    assert_eq!(stored.len(), 1);
    let winner = stored[0].content.own_text().unwrap();
    for (text, result) in ["1", "2", "1", "2", "1", "2"].iter().zip(results) {
        match result {
            Ok(answer) => assert_eq!((*text, answer), (winner, (1, stored[0].seq))),
            Err(error) => assert!(*text != winner && matches!(error, Error::IdempotencyMismatch), "{error}"),
        }
    }
}
