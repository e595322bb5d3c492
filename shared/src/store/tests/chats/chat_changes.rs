//! Tests of how a console follows changes to an account's chats.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::chats::agent::add_note::{NewNote, add_note};
use crate::domain::calls::phone_call::{CallKind, CallReport};
use crate::domain::chats::chat_changes::{ChangesCursor, MAX_WRITE_DELAY};
use crate::service::chat_changes::{self, ChangesPage};
use crate::store::tests::*;

struct Follower<'a> {
    stores: &'a Stores,
    session: Session,
    cursor: ChangesCursor,
    /// The state of each chat that the console shows.
    rows: BTreeMap<u64, &'static str>,
}

impl<'a> Follower<'a> {
    fn new(stores: &'a Stores, session: Session, now: Timestamp) -> Self {
        Self { stores, session, cursor: ChangesCursor::starting_at(now), rows: BTreeMap::new() }
    }

    async fn next_page(&mut self, now: Timestamp) -> ChangesPage {
        let Stores { directory, chats, .. } = self.stores;
        let access = ChatAccess { directory, chats, session: &self.session, now };
        let cursor = ChangesCursor::parse(&self.cursor.to_text(), now).unwrap();
        let page = chat_changes::read_page(&access, cursor).await.unwrap();
        self.cursor = page.cursor;
        for chat in &page.chats {
            self.rows.insert(chat.chat_id, chat.state.name());
        }
        for chat_id in &page.gone {
            self.rows.remove(chat_id);
        }
        page
    }

    /// Reads pages until the pass is complete. Returns the numbers of the changed chats and of those that are gone.
    async fn follow(&mut self, now: Timestamp) -> (Vec<u64>, Vec<u64>) {
        let (mut changed, mut gone) = (Vec::new(), Vec::new());
        loop {
            let page = self.next_page(now).await;
            changed.extend(page.chats.iter().map(|chat| chat.chat_id));
            gone.extend(page.gone);
            if page.is_complete {
                return (changed, gone);
            }
        }
    }
}

fn admin_session() -> Session {
    agent_session(1, Role::Admin)
}

/// Makes a change at `second`. Returns whether a console that completed its last pass 39 seconds earlier finds the
/// change. All other changes must be more than a minute older.
async fn is_found_at(stores: &Stores, second: u64, change: impl AsyncFnOnce(Timestamp)) -> bool {
    let mut console = Follower::new(stores, admin_session(), seconds_later(second - 40));
    assert_eq!(console.follow(seconds_later(second - 39)).await, (vec![], vec![]), "nothing has changed");
    change(seconds_later(second)).await;
    console.follow(seconds_later(second)).await == (vec![1], vec![])
}

async fn is_found(stores: &Stores, change: impl AsyncFnOnce(Timestamp)) -> bool {
    is_found_at(stores, 100, change).await
}

#[tokio::test]
async fn every_change_of_a_row_is_found() {
    let stores = &stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    assert!(is_found(stores, async |now| assert!(stores.visitor_writes("v", "more", now).await.is_ok())).await);

    let stores = &Stores::with_settings(settings_with_idle_close(1)).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    assert!(is_found(stores, async |now| assert_eq!(stores.run_idle_checks(now).await.len(), 1)).await);

    let accepted = async || {
        let stores = crate::store::tests::stores().await;
        stores.visitor_writes("v", "hi", NOW).await.unwrap();
        stores.accept(1, &bob(), &[], NOW).await.unwrap();
        stores
    };
    let stores = &accepted().await;
    assert!(is_found(stores, async |now| assert!(stores.agent_writes(1, "hello", now).await.is_ok())).await);
    let stores = &accepted().await;
    assert!(is_found(stores, async |now| assert!(stores.close(1, &bob(), &[], now).await.is_ok())).await);
    for webhooks in [vec![], vec![webhook("w")]] {
        let stores = &accepted().await;
        let rename = async |now| {
            let mut visitor = stores.visitor("v").await;
            visitor.merge_profile(&profile_named("Ada"), ProfileSource::Agent);
            update_visitor_and_notify(&stores.chats, &visitor, &notifying(&webhooks, now)).await.unwrap();
        };
        assert!(is_found(stores, rename).await);
    }
    for is_closed in [false, true] {
        let stores = &accepted().await;
        let call_seq = stores.start_call(CallKind::Callback).await.unwrap().0.seq;
        if is_closed {
            stores.close(1, &bob(), &[], NOW).await.unwrap();
        }
        let call = async |now| drop(stores.report_call(call_seq, &CallReport::AgentConnected, now).await.unwrap());
        assert!(is_found(stores, call).await, "closed: {is_closed}");
        let note = async |now| {
            let (chat, agent) = (stores.chat_header(1).await, bob());
            add_note(&stores.chats, chat, &NewNote { agent: &agent, text: "hm", mentions: &[], key: None, now })
                .await
                .unwrap();
        };
        assert!(is_found_at(stores, 200, note).await, "closed: {is_closed}");
    }
}

#[tokio::test]
async fn change_that_is_stored_late_is_found() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let mut console = Follower::new(&stores, admin_session(), seconds_later(60));
    console.follow(seconds_later(100)).await;
    stores.visitor_writes("v", "on its way for long", seconds_later(100).minus(MAX_WRITE_DELAY)).await.unwrap();
    assert_eq!(console.follow(seconds_later(101)).await, (vec![1], vec![]));
}

#[tokio::test]
async fn hidden_and_erased_chats_are_gone() {
    let stores = stores().await;
    let outsider_session = stores.session_outside_audience().await;
    let mut bobs_console = Follower::new(&stores, outsider_session.clone(), NOW);
    let mut admins_console = Follower::new(&stores, admin_session(), NOW);
    for visitor in ["v", "w", "x"] {
        stores.visitor_writes(visitor, "hi", NOW).await.unwrap();
    }
    stores.accept(1, &outsider_session.agent, &[], NOW).await.unwrap();
    stores.close(3, &agent_snapshot(2), &[], NOW).await.unwrap();
    assert_eq!(bobs_console.follow(seconds_later(1)).await, (vec![1], vec![2, 3]));
    assert_eq!(admins_console.follow(seconds_later(1)).await, (vec![1, 2, 3], vec![]));
    admins_console.follow(seconds_later(60)).await;
    for number in [1, 3] {
        assert!(
            erase_visitor((&stores.chats, &no_files), ("acc", number), seconds_later(60), &|| true)
                .await
                .unwrap()
                .is_complete
        );
    }
    assert_eq!(admins_console.follow(seconds_later(90)).await, (vec![], vec![1, 3]));
    assert_eq!(admins_console.rows, BTreeMap::from([(2, "waiting")]));
    admins_console.follow(seconds_later(120)).await;
    assert_eq!(admins_console.follow(seconds_later(121)).await, (vec![], vec![]));
}

#[tokio::test]
async fn many_changes_are_paged() {
    let mut stores = stores().await;
    stores.settings.limits.channel_chats = 10_000;
    let mut console = Follower::new(&stores, admin_session(), NOW);
    for n in 0..250 {
        stores.visitor_writes(&format!("v{n}"), "hi", NOW).await.unwrap();
    }
    let page = console.next_page(seconds_later(60)).await;
    assert_eq!((page.chats.len(), page.is_complete), (100, false));
    // Chat 1 is closed before the pass reads it, so the pass must find it among the closed chats.
    stores.close(1, &bob(), &[], seconds_later(61)).await.unwrap();
    let (rest, gone) = console.follow(seconds_later(62)).await;
    assert_eq!((rest.len(), gone.len(), console.rows.len()), (150, 0, 250));
    assert_eq!((console.rows[&1], console.rows[&2]), ("closed", "waiting"));
    assert_eq!(console.cursor, ChangesCursor::starting_at(seconds_later(60)), "the start of the pass");
    for chat_id in 1..=220 {
        let closed = stores.close(chat_id, &bob(), &[], seconds_later(70)).await;
        assert!(closed.is_ok(), "{chat_id}");
    }
    let mut pages = 0;
    loop {
        pages += 1;
        let page = console.next_page(seconds_later(80)).await;
        assert!(page.chats.len() <= 200);
        if page.is_complete {
            break;
        }
    }
    assert_eq!(pages, 3);
    let closed: BTreeSet<u64> =
        console.rows.iter().filter(|(_, state)| **state == "closed").map(|row| *row.0).collect();
    assert_eq!(closed, (1..=220).collect());
}

#[tokio::test]
async fn unchanged_chats_are_read_but_not_returned() {
    let stores = stores().await;
    stores.chat_with_pending_message().await;
    stores.insert_chats_of_another_agent(2..1_203).await;
    let mut console = Follower::new(&stores, admin_session(), seconds_later(60));
    for is_last in [false, false, true] {
        let page = console.next_page(seconds_later(61)).await;
        assert_eq!((page.chats.len(), page.gone.len(), page.is_complete), (0, 0, is_last));
    }
}

#[tokio::test]
async fn follower_of_concurrent_writers_ends_with_the_list() {
    let mut stores = stores().await;
    stores.settings.limits.channel_chats = 10_000;
    stores.settings.limits.visitor_messages = 10_000;
    let stores = &stores;
    let mut console = Follower::new(stores, admin_session(), NOW);
    // The clock advances with every write, so that all writes together take longer than the maximum delay of a write.
    let milliseconds = AtomicU64::new(0);
    let now = || NOW.plus(Duration::from_millis(milliseconds.load(Ordering::Relaxed)));
    let next_now = || NOW.plus(Duration::from_millis(milliseconds.fetch_add(250, Ordering::Relaxed)));
    let writer = async |visitor: String| {
        for n in 0..8 {
            let (chat_id, _) = stores.visitor_writes(&visitor, "hi", next_now()).await.unwrap();
            stores.accept(chat_id, &bob(), &[], next_now()).await.unwrap();
            stores.agent_writes(chat_id, "hello", next_now()).await.unwrap();
            if n % 3 != 2 {
                stores.close(chat_id, &bob(), &[], next_now()).await.unwrap();
            }
        }
    };
    let is_writing = AtomicBool::new(true);
    let writers = async {
        join_all((0..10).map(|n| writer(format!("v{n}")))).await;
        is_writing.store(false, Ordering::Relaxed);
    };
    let reader = async {
        while is_writing.load(Ordering::Relaxed) {
            console.follow(now()).await;
        }
        console.follow(now()).await;
        console.rows
    };
    let ((), rows) = futures_util::join!(writers, reader);
    assert!(now().since(NOW) > MAX_WRITE_DELAY * 2);
    let mut expected = BTreeMap::new();
    for state in ChatState::NAMES {
        expected.extend(stores.listed_chat_ids(&[state], None, 100).await.0.into_iter().map(|id| (id, state)));
    }
    assert!(expected.len() > 50, "{}", expected.len());
    assert_eq!(rows, expected);
}
