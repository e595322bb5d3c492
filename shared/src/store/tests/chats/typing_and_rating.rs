use crate::domain::chat::Rating;
use crate::store::tests::*;

#[tokio::test]
async fn typing_mark_ends_with_the_next_message() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let header = || stores.chat_header(1);
    stores.chats.set_visitor_typing("CH", "v", Some((NOW, None))).await.unwrap();
    assert!(header().await.is_visitor_typing(seconds_later(1)));
    stores.visitor_writes("v", "done", NOW).await.unwrap();
    assert!(!header().await.is_visitor_typing(seconds_later(1)), "a message ends typing");
    stores.chats.set_visitor_typing("CH", "unknown", Some((NOW, None))).await.unwrap();
    assert_eq!(stores.chats.visitor("CH", "unknown").await.unwrap(), None, "a typing notice creates no visitor");
}

#[tokio::test]
async fn chat_can_be_rated_after_the_close() {
    let stores = stores().await;
    stores.chat_with_pending_message().await;
    stores.chats.store_rating(stores.chat_header(1).await, Some(Rating::Positive), &[], NOW).await.unwrap();
    stores.close(1, &bob(), &[], seconds_later(1)).await.unwrap();
    assert_eq!(stores.chat_header(1).await.rating, Some(Rating::Positive));
    stores.chats.store_rating(stores.chat_header(1).await, Some(Rating::Negative), &[], NOW).await.unwrap();
    assert_eq!(stores.chat_header(1).await.rating, Some(Rating::Negative));
    let erased = Chat { chat_id: 9, ..stores.chat_header(1).await };
    assert!(matches!(stores.chats.store_rating(erased, Some(Rating::Positive), &[], NOW).await, Err(Error::NotFound)));
}
