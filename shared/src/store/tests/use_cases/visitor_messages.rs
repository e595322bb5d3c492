use crate::store::tests::*;

#[tokio::test]
async fn chat_and_visitor_numbers_are_sequential_in_an_account() {
    let stores = stores().await;
    assert_eq!(stores.visitor_writes("a", "1", NOW).await.unwrap(), (1, 1));
    assert_eq!(stores.visitor_writes("a", "2", NOW).await.unwrap(), (1, 2));
    assert_eq!(stores.visitor_writes("b", "1", NOW).await.unwrap(), (2, 1));
    let header = stores.chat_header(2).await;
    assert_eq!(
        (header.state, header.visitor_number, header.visitor_name.as_str()),
        (ChatState::Waiting, 2, "Anonymous")
    );
}

#[tokio::test]
async fn concurrent_messages_of_a_visitor_open_one_chat() {
    let stores = stores().await;
    let texts: Vec<String> = (0..5).map(|n| n.to_string()).collect();
    let results = join_all(texts.iter().map(|text| stores.visitor_writes("v", text, NOW))).await;
    let written: Vec<(u64, u64)> = results.into_iter().map(Result::unwrap).collect();
    let chat_id = written[0].0;
    assert!(written.iter().all(|(chat, _)| *chat == chat_id), "{written:?}");
    let timeline = stores.chats.timeline("acc", chat_id, 0, 100).await.unwrap();
    let mut stored: Vec<&str> = timeline.iter().filter_map(|entry| entry.content.own_text()).collect();
    stored.sort_unstable();
    assert_eq!(stored, texts);
}

#[tokio::test]
async fn message_over_the_rate_limit_is_not_stored() {
    let stores = stores().await;
    for n in 0..30 {
        stores.visitor_writes("v", &n.to_string(), NOW).await.unwrap();
    }
    let refused = stores.visitor_writes("v", "more", seconds_later(4)).await;
    assert!(matches!(refused, Err(Error::RateLimited(wait)) if wait == Duration::from_secs(6)), "{refused:?}");
    assert_eq!(stores.chats.timeline("acc", 1, 0, 100).await.unwrap().len(), 30);
    stores.visitor_writes("v", "later", seconds_later(10)).await.unwrap();
}

#[tokio::test]
async fn count_of_an_earlier_window_does_not_limit_messages() {
    let stores = stores().await;
    // The counts of rate windows that are 320 seconds apart are stored in the same attribute.
    for (round, start) in [0, 320, 640, 640 + 310, 2 * 640].into_iter().enumerate() {
        for n in 0..30 {
            stores.visitor_writes("v", &format!("{round} {n}"), seconds_later(start)).await.unwrap();
        }
        let refused = stores.visitor_writes("v", "more", seconds_later(start)).await;
        assert!(matches!(refused, Err(Error::RateLimited(_))), "{start}: {refused:?}");
    }
    assert_eq!(stores.chats.timeline("acc", 1, 0, 200).await.unwrap().len(), 150);
}

#[tokio::test]
async fn concurrent_messages_do_not_exceed_the_rate_limit() {
    let stores = stores().await;
    stores.visitor_writes("v", "first", NOW).await.unwrap();
    let texts: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    for start in [0, 320] {
        let results = join_all(texts.iter().map(|text| stores.visitor_writes("v", text, seconds_later(start)))).await;
        let stored = results.iter().filter(|result| result.is_ok()).count();
        let refused = results.iter().filter(|result| matches!(result, Err(Error::RateLimited(_)))).count();
        assert_eq!((stored, refused), if start == 0 { (29, 11) } else { (30, 10) }, "{results:?}");
    }
}

#[tokio::test]
async fn message_after_the_close_opens_a_new_chat() {
    let stores = stores().await;
    let ann = profile_named("Ann");
    stores.visitor_writes_with("v", &ann, "hi", None, NOW).await.unwrap();
    stores.close(1, &bob(), &[], NOW).await.unwrap();
    assert_eq!(stores.visitor_writes("v", "again", NOW).await.unwrap(), (2, 1));
    let header = stores.chat_header(2).await;
    assert_eq!((header.visitor_number, header.visitor_name.as_str()), (1, "Ann"), "the same visitor");
    assert_eq!(stores.listed_chat_ids(OPEN_STATES, None, 10).await, (vec![2], None));
    assert_eq!(stores.listed_chat_ids(&["closed"], None, 10).await, (vec![1], None));
}
