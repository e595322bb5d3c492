use crate::store::tests::*;

#[tokio::test]
async fn no_entry_follows_the_largest_seq() {
    let stores = stores().await;
    stores.chat_with_pending_message().await;
    for after in [9_999_999_998, 9_999_999_999, 10_000_000_000, u64::MAX] {
        assert_eq!(stores.chats.timeline("acc", 1, after, 10).await.unwrap(), [], "{after}");
        let (entries, chat) = stores.chats.timeline_and_chat("acc", 1, after, 10).await.unwrap();
        assert_eq!((entries, chat.map(|chat| chat.chat_id)), (vec![], Some(1)), "{after}");
    }
}

#[tokio::test]
async fn timeline_page_includes_the_header() {
    let stores = stores().await;
    stores.chat_with_pending_message().await;
    stores.agent_writes(1, "again", NOW).await.unwrap();
    let header = stores.chats.chat("acc", 1).await.unwrap();
    for (after, limit, expected) in [(0, 10, vec![1, 2, 3]), (0, 3, vec![1, 2, 3]), (0, 2, vec![1, 2]), (3, 1, vec![])]
    {
        let (entries, chat) = stores.chats.timeline_and_chat("acc", 1, after, limit).await.unwrap();
        let seqs: Vec<u64> = entries.iter().map(|entry| entry.seq).collect();
        assert_eq!((seqs, chat), (expected, header.clone()), "{limit} after {after}");
    }
    assert_eq!(stores.chats.timeline_and_chat("acc", 2, 0, 10).await.unwrap(), (vec![], None));
}

#[tokio::test]
async fn timeline_of_several_megabytes_is_read_completely() {
    let stores = stores().await;
    let long = "ä".repeat(10_000);
    stores.chat_with_pending_message().await;
    for n in 0..120 {
        stores.agent_writes(1, &format!("{n} {long}"), NOW).await.unwrap();
    }
    assert!(stores.chats.timeline("acc", 1, 0, 1_000).await.unwrap().len() < 122, "a query page holds a megabyte");
    let whole = stores.chats.whole_timeline("acc", 1, 1_000).await.unwrap();
    assert_eq!(whole.iter().map(|entry| entry.seq).collect::<Vec<_>>(), (1..=122).collect::<Vec<u64>>());
    assert_eq!(stores.chats.whole_timeline("acc", 1, 100).await.unwrap().len(), 100);
}

#[tokio::test]
async fn timeline_is_read_with_all_fields_from_any_seq() {
    let stores = stores().await;
    let (channel, profile) = (channel(), VisitorProfile::default());
    let media = Media {
        file: Some("https://x.example/f".into()),
        file_size: Some(u64::MAX / 2),
        latitude: Some(-12.345_678),
        ..Media::default()
    };
    let message = MediaMessage { media_type: MediaType::Photo, text: Some("look".into()), media, uploaded: None };
    let content = Content::Media(Box::new(message));
    let incoming = visitor_text(&stores, &channel, &content, &profile, NOW);
    receive_visitor_text(&stores.chats, &incoming).await.unwrap();
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    stores.agent_writes(1, "nice", NOW).await.unwrap();
    let timeline = stores.chats.timeline("acc", 1, 0, 10).await.unwrap();
    assert_eq!(timeline[0].content, content);
    assert_eq!(timeline[1].delivery.as_ref().unwrap().state, DeliveryState::Pending);
    assert_eq!(stores.chats.timeline("acc", 1, 1, 10).await.unwrap(), timeline[1..]);
    assert_eq!(stores.chats.timeline("acc", 1, 2, 10).await.unwrap(), []);
}
