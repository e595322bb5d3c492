use crate::store::tests::*;

#[tokio::test]
async fn channel_opens_no_more_chats_than_its_limit() {
    let mut stores = stores().await;
    stores.settings.limits.channel_chats = 5;
    let visitors: Vec<String> = (0..20).map(|n| format!("v{n}")).collect();
    let results = join_all(visitors.iter().map(|visitor| stores.visitor_writes(visitor, "hi", seconds_later(3)))).await;
    let (opened, refused): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!((opened.len(), refused.len()), (5, 15));
    for refusal in refused {
        let wait = Duration::from_secs(7);
        assert!(matches!(refusal, Err(Error::TooManyChats(retry_after)) if retry_after == wait), "{refusal:?}");
    }
    let visitor = stores.chat_header(1).await.external_id;
    stores.visitor_writes(&visitor, "in an open chat", seconds_later(4)).await.unwrap();
    assert_eq!(
        stores.visitor_writes("late", "hi", seconds_later(10)).await.unwrap(),
        (6, 1),
        "a refused chat uses no number"
    );
}

#[tokio::test]
async fn full_window_is_refused_without_a_write() {
    let mut stores = stores().await;
    stores.settings.limits.channel_chats = 1;
    stores.visitor_writes("a", "hi", NOW).await.unwrap();
    stores.visitor_writes("b", "hi", NOW).await.unwrap_err();
    // The counter in the table is deleted, so only the process's cache can reject the chat.
    let key = [("pk", "OPENED_CHATS#CH".to_owned()), ("sk", (NOW.seconds() / 10).to_string())];
    let key = key.map(|(name, value)| (name.to_owned(), s(value))).into();
    let removed = stores.client.delete_item().table_name("chats").set_key(Some(key));
    let removed = removed.return_values(aws_sdk_dynamodb::types::ReturnValue::AllOld).send().await.unwrap();
    assert_eq!(removed.attributes.unwrap()["count"], n(1));
    assert!(matches!(stores.visitor_writes("c", "hi", NOW).await, Err(Error::TooManyChats(_))));
    stores.visitor_writes("c", "hi", seconds_later(10)).await.unwrap();
}

#[tokio::test]
async fn one_network_leaves_chats_to_the_others() {
    let mut stores = stores().await;
    stores.settings.limits.channel_chats = 100;
    let (channel, content, profile) = (channel(), Content::text("hi"), VisitorProfile::default());
    let open = async |network: &str, visitor: &str| {
        let message = visitor_text(&stores, &channel, &content, &profile, NOW);
        let incoming = VisitorText {
            from: FromVisitor { network: Some(network), external_id: visitor, ..message.from },
            ..message
        };
        receive_visitor_text(&stores.chats, &incoming).await.map(|_| ())
    };
    for visitor in 0..10 {
        open("0001aa", &format!("a{visitor}")).await.unwrap();
    }
    for _ in 0..2 {
        assert!(matches!(open("0001aa", "one too many").await, Err(Error::TooManyChats(_))));
    }
    open("0002bb", "b").await.unwrap();
    open("0001aa", "a0").await.unwrap();
}
