//! Tests of how chats are listed, and of which listed chats an agent can see.

use crate::store::chats::{header_key, listing_key};
use crate::store::table::ItemUpdate;
use crate::store::tests::*;

#[tokio::test]
async fn states_are_merged_by_chat_number() {
    let stores = stores().await;
    for n in 1..=7 {
        stores.visitor_writes(&format!("v{n}"), "hi", NOW).await.unwrap();
    }
    for chat_id in [2, 4, 5] {
        stores.accept(chat_id, &bob(), &[], NOW).await.unwrap();
    }
    stores.close(4, &bob(), &[], NOW).await.unwrap();
    let table = [
        (None, 2, (vec![7, 6], Some(6))),
        (Some(6), 2, (vec![5, 3], Some(3))),
        (Some(3), 2, (vec![2, 1], None)),
        (None, 6, (vec![7, 6, 5, 3, 2, 1], None)),
        (Some(1), 5, (vec![], None)),
        (Some(u64::MAX), 1, (vec![7], Some(7))),
    ];
    for (before, count, expected) in table {
        assert_eq!(stores.listed_chat_ids(OPEN_STATES, before, count).await, expected, "{count} before {before:?}");
    }
    let mut listing = stores.chats.listing("acc", OPEN_STATES, None);
    for expected in [(vec![7, 6, 5], Some(5)), (vec![3], Some(3)), (vec![2, 1], None), (vec![], None)] {
        let count = expected.0.len();
        assert_eq!(page_ids(&listing.next(count.max(1)).await.unwrap()), expected);
    }
}

#[tokio::test]
async fn page_is_filled_past_chats_of_other_agents() {
    let stores = stores().await;
    let outsider_session = stores.session_outside_audience().await;
    for n in 1..=40 {
        let (chat_id, _) = stores.visitor_writes(&format!("v{n}"), "hi", NOW).await.unwrap();
        if chat_id % 5 == 0 {
            stores.accept(chat_id, &outsider_session.agent, &[], NOW).await.unwrap();
        }
    }
    assert_eq!(stores.visible_chat_ids(&outsider_session, None, 3).await, (vec![40, 35, 30], Some(30)));
    assert_eq!(stores.visible_chat_ids(&outsider_session, Some(30), 5).await.0, [25, 20, 15, 10, 5]);
    assert_eq!(stores.visible_chat_ids(&outsider_session, Some(5), 5).await, (vec![], None));
    let all: Vec<u64> = (1..=40).rev().collect();
    for session in [agent_session(2, Role::Agent), agent_session(1, Role::Admin)] {
        assert_eq!(stores.visible_chat_ids(&session, None, 100).await, (all.clone(), None), "{session:?}");
    }
}

#[tokio::test]
async fn list_with_many_hidden_chats_returns_a_cursor() {
    let stores = stores().await;
    let outsider_session = stores.session_outside_audience().await;
    stores.chat_with_pending_message().await;
    stores.visitor_writes("w", "hi", NOW).await.unwrap();
    stores.accept(2, &outsider_session.agent, &[], NOW).await.unwrap();
    stores.insert_chats_of_another_agent(3..1_053).await;
    assert_eq!(stores.visible_chat_ids(&outsider_session, None, 100).await, (vec![], Some(53)));
    assert_eq!(stores.visible_chat_ids(&outsider_session, Some(53), 100).await, (vec![2, 1], None));
}

#[tokio::test]
async fn channel_newer_than_the_cached_roster_is_not_for_all() {
    let stores = stores().await;
    let outsider_session = stores.session_outside_audience().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    assert_eq!(stores.visible_chat_ids(&outsider_session, None, 10).await.0, [0; 0], "the roster is cached");
    let agent_3 = agent(3, "3@example.com");
    stores.uncached_directory().create_agent(&agent_3, &test_password_hash(), Authority::Operator).await.unwrap();
    let mut newer = channel();
    newer.channel_id = "NEW".into();
    (newer.settings.agent_ids, newer.settings.department_ids) = (vec![3], vec![]);
    stores.directory.table.put(to_item(&ChannelItem::from(&newer)).unwrap(), true).await.unwrap();
    let (profile, content) = (VisitorProfile::default(), Content::text("hi"));
    let text = visitor_text(&stores, &newer, &content, &profile, NOW);
    let incoming = VisitorText { from: FromVisitor { external_id: "w", ..text.from }, ..text };
    receive_visitor_text(&stores.chats, &incoming).await.unwrap();
    assert_eq!(stores.visible_chat_ids(&outsider_session, None, 10).await.0, [0; 0]);
    assert_eq!(stores.visible_chat_ids(&agent_session(3, Role::Agent), None, 10).await.0, [2]);
}

#[tokio::test]
async fn chat_that_the_index_lists_in_an_earlier_state_is_left_out() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    stores.close(1, &bob(), &[], NOW).await.unwrap();
    let late_index = ItemUpdate {
        key: header_key("acc", 1),
        update: "SET #listing = :listing",
        condition: "",
        values: vec![(":listing", s(listing_key("acc", "waiting")))],
    };
    stores.chats.table.update(late_index).await.unwrap();
    assert_eq!(stores.listed_chat_ids(OPEN_STATES, None, 10).await, (vec![], None));
}
