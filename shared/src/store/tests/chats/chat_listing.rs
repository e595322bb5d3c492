//! Lists of chats, and what an agent sees of them.

use crate::service::chat_access::ChatAccess;
use crate::store::chats::listing::Listed;
use crate::store::connections::Session;
use crate::store::directory::items::ChannelItem;
use crate::store::tests::*;
use crate::store::to_item;

fn ids(listed: &Listed) -> (Vec<u64>, Option<u64>) {
    (listed.chats.iter().map(|chat| chat.chat_id).collect(), listed.next)
}

pub(in crate::store) fn session(agent_id: u64, role: Role) -> Session {
    let agent = Author { agent_id, name: format!("Agent {agent_id}"), photo: None };
    Session { account_id: "acc".into(), agent, role }
}

impl Stores {
    /// The numbers of a page of chats, whoever sees them.
    pub(in crate::store) async fn listed(
        &self,
        states: &[&'static str],
        before: Option<u64>,
        count: usize,
    ) -> (Vec<u64>, Option<u64>) {
        ids(&self.chats.listing("acc", states, before).next(count).await.unwrap())
    }

    /// The numbers of a page of the open chats that an agent sees.
    async fn seen(&self, session: &Session, before: Option<u64>, limit: usize) -> (Vec<u64>, Option<u64>) {
        let access = ChatAccess { directory: &self.directory, chats: &self.chats, session, now: NOW };
        ids(&access.list(OPEN, before, limit).await.unwrap())
    }

    /// Stores the channel of all visitors, for these agents.
    pub(in crate::store) async fn channel_for(&self, agent_ids: &[u64]) {
        let mut channel = channel();
        (channel.settings.agent_ids, channel.settings.department_ids) = (agent_ids.to_vec(), vec![]);
        self.directory.table.put(to_item(&ChannelItem::from(&channel)).unwrap(), true).await.unwrap();
    }

    /// Bob, who is agent 1 and no admin, and agent 2, for whom the channel is.
    async fn staffed_for_agent_2(&self) -> Session {
        for agent_id in [1, 2] {
            let agent = agent(agent_id, &format!("{agent_id}@example.com"));
            self.directory.create_agent(&agent, "hash", Authority::Operator).await.unwrap();
        }
        self.channel_for(&[2]).await;
        session(1, Role::Agent)
    }
}

#[tokio::test]
async fn states_are_merged_by_number_page_by_page() {
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
        assert_eq!(stores.listed(OPEN, before, count).await, expected, "{count} before {before:?}");
    }
    let mut listing = stores.chats.listing("acc", OPEN, None);
    for expected in [(vec![7, 6, 5], Some(5)), (vec![3], Some(3)), (vec![2, 1], None), (vec![], None)] {
        let count = expected.0.len();
        assert_eq!(ids(&listing.next(count.max(1)).await.unwrap()), expected);
    }
}

#[tokio::test]
async fn a_list_is_filled_past_chats_of_other_agents() {
    let stores = stores().await;
    let bob = stores.staffed_for_agent_2().await;
    for n in 1..=40 {
        let (chat_id, _) = stores.visitor_writes(&format!("v{n}"), "hi", NOW).await.unwrap();
        if chat_id % 5 == 0 {
            stores.accept(chat_id, &bob.agent, &[], NOW).await.unwrap();
        }
    }
    assert_eq!(stores.seen(&bob, None, 3).await, (vec![40, 35, 30], Some(30)));
    assert_eq!(stores.seen(&bob, Some(30), 5).await.0, [25, 20, 15, 10, 5]);
    assert_eq!(stores.seen(&bob, Some(5), 5).await, (vec![], None));
    let all: Vec<u64> = (1..=40).rev().collect();
    for session in [session(2, Role::Agent), session(1, Role::Admin)] {
        assert_eq!(stores.seen(&session, None, 100).await, (all.clone(), None), "{session:?}");
    }
}

#[tokio::test]
async fn a_list_that_passed_many_hidden_chats_says_where_to_go_on() {
    let stores = stores().await;
    let bob = stores.staffed_for_agent_2().await;
    stores.undelivered().await;
    stores.visitor_writes("w", "hi", NOW).await.unwrap();
    stores.accept(2, &bob.agent, &[], NOW).await.unwrap();
    stores.others_have_chats(3..1_053).await;
    assert_eq!(stores.seen(&bob, None, 100).await, (vec![], Some(53)));
    assert_eq!(stores.seen(&bob, Some(53), 100).await, (vec![2, 1], None));
}

#[tokio::test]
async fn channel_newer_than_the_cached_roster_is_not_for_all() {
    let stores = stores().await;
    let bob = stores.staffed_for_agent_2().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    assert_eq!(stores.seen(&bob, None, 10).await.0, [0; 0], "the roster is cached");
    let agent_3 = agent(3, "3@example.com");
    let elsewhere = Directory::new(stores.directory.table.clone());
    elsewhere.create_agent(&agent_3, "hash", Authority::Operator).await.unwrap();
    let mut younger = channel();
    younger.channel_id = "NEW".into();
    (younger.settings.agent_ids, younger.settings.department_ids) = (vec![3], vec![]);
    stores.directory.table.put(to_item(&ChannelItem::from(&younger)).unwrap(), true).await.unwrap();
    let (profile, content, now) = (Profile::default(), Content::text("hi"), NOW);
    let incoming = Incoming {
        channel: &younger,
        department: None,
        external_id: "w",
        has_numeric_id: false,
        invite: None,
        profile: &profile,
        content: &content,
        settings: &stores.settings,
        key: None,
        now,
    };
    stores.chats.visitor_message(&incoming).await.unwrap();
    assert_eq!(stores.seen(&bob, None, 10).await.0, [0; 0]);
    assert_eq!(stores.seen(&session(3, Role::Agent), None, 10).await.0, [2]);
}
