//! Tests for the list of a visitor's chats: its order, its pages and the chats that are left out.

use crate::store::tests::*;

impl Stores {
    /// Returns the chat numbers of one page of a visitor's chats, and the cursor of the next page.
    async fn visitor_chat_ids(
        &self,
        session: &Session,
        number: u64,
        after: Option<u64>,
    ) -> Result<(Vec<u64>, Option<u64>), Error> {
        let access = ChatAccess { directory: &self.directory, chats: &self.chats, session, now: seconds_later(1_000) };
        access.visitor_chats(number, after).await.map(|page| page_ids(&page))
    }
}

#[tokio::test]
async fn chats_of_a_visitor_are_listed_newest_first() {
    let stores = stores().await;
    let admin = agent_session(1, Role::Admin);
    for n in 1..=11 {
        stores.closed_chat("v", n).await;
        stores.closed_chat("w", n).await;
    }
    stores.closed_chat("v", 12).await;
    let (open, _) = stores.visitor_writes("v", "again", seconds_later(13)).await.unwrap();
    assert_eq!(open, 24);
    let first: Vec<u64> = [24, 23, 21, 19, 17, 15, 13, 11, 9, 7].into();
    assert_eq!(stores.visitor_chat_ids(&admin, 1, None).await.unwrap(), (first, Some(7)));
    assert_eq!(stores.visitor_chat_ids(&admin, 1, Some(7)).await.unwrap(), (vec![5, 3, 1], None));
    assert_eq!(stores.visitor_chat_ids(&admin, 1, Some(999)).await.unwrap(), (vec![], None), "a deleted chat");
    let foreign = stores.visitor_chat_ids(&admin, 1, Some(6)).await;
    assert_eq!(foreign.unwrap_err().invalid_field(), Some("cursor"));
    assert!(matches!(stores.visitor_chat_ids(&admin, 9, None).await, Err(Error::NotFound)));
    let erased = erase_visitor((&stores.chats, &no_files), ("acc", 1), seconds_later(14), &|| true).await.unwrap();
    assert_eq!(erased.chats, 13);
    assert!(matches!(stores.visitor_chat_ids(&admin, 1, None).await, Err(Error::NotFound)));
}

#[tokio::test]
async fn chats_of_other_agents_are_left_out() {
    let stores = stores().await;
    let outsider_session = stores.session_outside_audience().await;
    for (agent_id, second) in [(1, 1), (2, 2), (1, 3)] {
        let (chat_id, _) = stores.visitor_writes("v", "hi", seconds_later(second)).await.unwrap();
        stores.accept(chat_id, &agent_snapshot(agent_id), &[], seconds_later(second)).await.unwrap();
        stores.close(chat_id, &agent_snapshot(agent_id), &[], seconds_later(second)).await.unwrap();
    }
    assert_eq!(stores.visitor_chat_ids(&outsider_session, 1, None).await.unwrap(), (vec![3, 1], None));
    let ann_session = agent_session(2, Role::Agent);
    assert_eq!(stores.visitor_chat_ids(&ann_session, 1, None).await.unwrap(), (vec![3, 2, 1], None));
    stores.visitor_writes("v", "for Ann only", seconds_later(4)).await.unwrap();
    assert!(matches!(stores.visitor_chat_ids(&outsider_session, 1, None).await, Err(Error::Forbidden(_))));
}

#[tokio::test]
async fn concurrent_chats_are_all_recorded() {
    let stores = stores().await;
    let admin = agent_session(1, Role::Admin);
    stores.closed_chat("v", 0).await;
    let written = join_all((0..3).map(|_| stores.visitor_writes("v", "hi", seconds_later(1)))).await;
    assert!(written.iter().all(Result::is_ok), "one chat gets all messages");
    assert_eq!(stores.visitor_chat_ids(&admin, 1, None).await.unwrap().0.len(), 2);
}

#[tokio::test]
async fn expired_chats_are_left_out() {
    let mut stores =
        Stores::with_settings(AccountSettings { retention_days: Some(1), ..AccountSettings::default() }).await;
    let admin = agent_session(1, Role::Admin);
    stores.closed_chat("v", 0).await;
    stores.settings.retention_days = None;
    stores.closed_chat("v", 100).await;
    let access =
        ChatAccess { directory: &stores.directory, chats: &stores.chats, session: &admin, now: seconds_later(2 * DAY) };
    assert_eq!(page_ids(&access.visitor_chats(1, None).await.unwrap()), (vec![2], None));
}

#[tokio::test]
async fn visitor_without_stored_chats_continues_with_the_last_one() {
    let stores = stores().await;
    stores.closed_chat("v", 0).await;
    stores.closed_chat("v", 1).await;
    let visitor = stores.chat_items().await.into_iter().find(|item| item.contains_key("recent_chats")).unwrap();
    let key = |name: &str| visitor[name].clone();
    let update = stores.client.update_item().table_name("chats").key("pk", key("pk")).key("sk", key("sk"));
    update.update_expression("REMOVE recent_chats").send().await.unwrap();
    stores.closed_chat("v", 2).await;
    assert_eq!(stores.visitor("v").await.recent_chats, [3, 2]);
    assert_eq!(stores.chat_header(3).await.previous_chats, [2]);
}
