use crate::store::table::Key;
use crate::store::tests::*;

#[tokio::test]
async fn erasure_removes_one_visitor_and_nobody_else() {
    let stores = stores().await;
    stores.chat_with_pending_message().await;
    stores.close(1, &bob(), &[], seconds_later(1)).await.unwrap();
    stores.visitor_writes("v", "another chat", seconds_later(2)).await.unwrap();
    for n in 0..30 {
        stores.visitor_writes("v", "more", seconds_later(2 + 10 * n)).await.unwrap();
    }
    stores.visitor_writes("other", "I stay", seconds_later(3)).await.unwrap();
    let interrupted = erase_visitor((&stores.chats, &no_files), ("acc", 1), NOW, &|| false).await.unwrap();
    assert_eq!((interrupted.chats, interrupted.is_complete), (0, false));
    let erased = erase_visitor((&stores.chats, &no_files), ("acc", 1), NOW, &|| true).await.unwrap();
    assert_eq!((erased.chats, erased.entries, erased.is_complete), (2, 33, true));
    let remaining = stores.expiries().await;
    assert_eq!(remaining.len(), 4, "visitor, number, header and entry of the other one: {remaining:?}");
    assert!(matches!(erase_visitor((&stores.chats, &no_files), ("acc", 1), NOW, &|| true).await, Err(Error::NotFound)));
    assert_eq!(stores.visitor_writes("v", "hello", seconds_later(400)).await.unwrap(), (4, 1), "as a new visitor");
    assert_eq!(stores.chat_header(4).await.visitor_number, 3);
}

#[tokio::test]
async fn erasure_interrupted_at_any_step_can_be_completed() {
    for max_steps in 0..12 {
        let stores = stores().await;
        stores.chat_with_pending_message().await;
        for n in 0..60 {
            stores.agent_writes(1, "more", seconds_later(n)).await.unwrap();
        }
        stores.close(1, &bob(), &[], seconds_later(61)).await.unwrap();
        stores.visitor_writes("v", "another chat", seconds_later(62)).await.unwrap();
        let has_time = budget_of_checks(max_steps);
        let first = erase_visitor((&stores.chats, &no_files), ("acc", 1), NOW, &has_time).await.unwrap();
        if first.is_complete {
            assert!(max_steps > 4, "{max_steps}");
            assert_eq!(stores.expiries().await, []);
            continue;
        }
        assert!(stores.agent_writes(2, "still there?", seconds_later(63)).await.is_err());
        let rest = erase_visitor((&stores.chats, &no_files), ("acc", 1), NOW, &|| true).await.unwrap();
        assert!(rest.is_complete);
        assert_eq!((first.chats + rest.chats, first.entries + rest.entries), (2, 63), "{max_steps}");
        assert_eq!(stores.expiries().await, [], "{max_steps}");
    }
}

#[tokio::test]
async fn visitor_without_a_number_can_be_erased() {
    let stores = stores().await;
    stores.chat_with_pending_message().await;
    stores.close(1, &bob(), &[], seconds_later(1)).await.unwrap();
    stores.visitor_writes("v", "another chat", seconds_later(2)).await.unwrap();
    stores.chats.table.delete(Key::new("VISITOR_NUMBER#acc#1", "VISITOR")).await.unwrap();
    let erased = erase_visitor((&stores.chats, &no_files), ("acc", 1), NOW, &|| true).await.unwrap();
    assert_eq!((erased.chats, erased.entries, erased.is_complete), (2, 3, true));
    assert_eq!(stores.expiries().await, []);
    assert!(matches!(erase_visitor((&stores.chats, &no_files), ("acc", 1), NOW, &|| true).await, Err(Error::NotFound)));
}

#[tokio::test]
async fn visitor_who_returns_during_the_erasure_is_not_erased() {
    let stores = stores().await;
    stores.chat_with_pending_message().await;
    stores.close(1, &bob(), &[], seconds_later(1)).await.unwrap();
    assert!(!erase_visitor((&stores.chats, &no_files), ("acc", 1), NOW, &|| false).await.unwrap().is_complete);
    stores.visitor_writes("v", "as a new visitor", seconds_later(2)).await.unwrap();
    let rest = erase_visitor((&stores.chats, &no_files), ("acc", 1), NOW, &|| true).await.unwrap();
    assert_eq!((rest.chats, rest.is_complete), (1, true));
    let visitor = stores.visitor("v").await;
    assert_eq!((visitor.number, visitor.open_chat), (2, Some(2)));
    assert_eq!(stores.chat_header(2).await.state, ChatState::Waiting);
}

#[tokio::test]
async fn interrupted_erasure_resumes_where_it_stopped() {
    let stores = stores().await;
    stores.visitor_writes("other", "hi", NOW).await.unwrap();
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.insert_chats_of_another_agent(3..2_103).await;
    stores.accept(2, &bob(), &[], NOW).await.unwrap();
    stores.close(2, &bob(), &[], seconds_later(1)).await.unwrap();
    let mut calls = 0;
    loop {
        calls += 1;
        assert!(calls < 10, "it restarts each time");
        let has_time = budget_of_checks(2);
        if erase_visitor((&stores.chats, &no_files), ("acc", 2), NOW, &has_time).await.unwrap().is_complete {
            break;
        }
    }
    assert!(stores.chats.chat("acc", 2).await.unwrap().is_none());
}
