use crate::chats::visitor::rate_chat::rate_chat;
use crate::chats::visitor::set_visitor_typing::set_visitor_typing;
use crate::domain::chats::chat::Rating;
use crate::store::tests::*;

#[tokio::test]
async fn typing_mark_ends_with_the_next_message() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let header = || stores.chat_header(1);
    set_visitor_typing(&stores.chats, "CH", "v", Some((NOW, None))).await.unwrap();
    assert!(header().await.is_visitor_typing(seconds_later(1)));
    stores.visitor_writes("v", "done", NOW).await.unwrap();
    assert!(!header().await.is_visitor_typing(seconds_later(1)), "a message ends typing");
    set_visitor_typing(&stores.chats, "CH", "unknown", Some((NOW, None))).await.unwrap();
    assert_eq!(stores.chats.visitor("CH", "unknown").await.unwrap(), None, "a typing notice creates no visitor");
}

#[tokio::test]
async fn chat_can_be_rated_after_the_close() {
    let stores = stores().await;
    stores.chat_with_pending_message().await;
    rate_chat(&stores.chats, stores.chat_header(1).await, Some(Rating::Positive), &[], NOW).await.unwrap();
    stores.close(1, &bob(), &[], seconds_later(1)).await.unwrap();
    assert_eq!(stores.chat_header(1).await.rating, Some(Rating::Positive));
    rate_chat(&stores.chats, stores.chat_header(1).await, Some(Rating::Negative), &[], NOW).await.unwrap();
    assert_eq!(stores.chat_header(1).await.rating, Some(Rating::Negative));
    let erased = Chat { chat_id: 9, ..stores.chat_header(1).await };
    assert!(matches!(rate_chat(&stores.chats, erased, Some(Rating::Positive), &[], NOW).await, Err(Error::NotFound)));
}
