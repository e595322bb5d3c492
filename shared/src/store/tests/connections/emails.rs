//! Tests of the claims of e-mails, and of when visitors were last connected.

use crate::store::connections::emails::EmailKey;
use crate::store::tests::*;

const ANSWER: EmailKey<'static> = EmailKey { account_id: "acc", chat_id: 1, name: "answer" };

async fn connections() -> Connections {
    Connections::new(Table::new(stores().await.client, "connections"))
}

#[tokio::test]
async fn one_process_sends_an_email_once() {
    let connections = connections().await;
    let claim = async |seq, second| connections.claim_email(&ANSWER, seq, seconds_later(second)).await;
    assert!(claim(5, 0).await.unwrap());
    assert!(matches!(claim(5, 1).await, Err(Error::Unavailable(_))), "another process sends it");
    assert!(claim(5, 31).await.unwrap(), "the other process has died");
    connections.finish_email(&ANSWER, 5).await.unwrap();
    assert_eq!(connections.sent_through(&ANSWER).await.unwrap(), 5);
    assert!(!claim(5, 32).await.unwrap() && !claim(4, 32).await.unwrap(), "it was sent");
    assert!(claim(6, 32).await.unwrap(), "a later message");
    connections.release_email(&ANSWER).await.unwrap();
    assert!(claim(7, 33).await.unwrap(), "the first attempt has failed");
    let other = EmailKey { name: "transcript", ..ANSWER };
    assert_eq!(connections.sent_through(&other).await.unwrap(), 0);
    assert!(connections.claim_email(&other, 1, seconds_later(33)).await.unwrap());
}

#[tokio::test]
async fn last_connection_of_a_visitor_is_known() {
    let connections = connections().await;
    let seen_at = async |visitor| connections.visitor_seen_at("widget", visitor).await.unwrap();
    assert_eq!(seen_at("ada").await, Timestamp(0));
    for second in [1, 7] {
        connections.record_visitor_seen("widget", "ada", seconds_later(second)).await.unwrap();
    }
    assert_eq!((seen_at("ada").await, seen_at("bob").await), (seconds_later(7), Timestamp(0)));
}
