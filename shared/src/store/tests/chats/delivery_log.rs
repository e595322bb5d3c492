//! The ledger of deliveries, and what is begun anew from it.

use crate::domain::delivery_log::{Order, Place, Wanted};
use crate::store::chats::deliveries::Revived;
use crate::store::chats::delivery_log::{Page, Search};
use crate::store::tests::*;

fn search(wanted: &Wanted) -> Search<'_> {
    Search { account_id: "acc", wanted, order: Order::NewestFirst, after: None, limit: 100, now: at(1_000) }
}

fn places(page: &Page) -> Vec<(u64, u64)> {
    page.rows.iter().map(|(chat, entry)| (chat.chat_id, entry.seq)).collect()
}

impl Stores {
    /// A visitor opens a chat and Bob takes it; its number.
    async fn opened(&self, visitor: &str, now: Timestamp) -> u64 {
        let (chat_id, _) = self.visitor_writes(visitor, "hi", now).await.unwrap();
        self.accept(chat_id, &bob(), &[], now).await.unwrap();
        chat_id
    }

    /// Bob writes, and that is tried once with this end; the number of the entry.
    async fn tried(&self, chat_id: u64, now: Timestamp, end: &DeliveryUpdate) -> u64 {
        let seq = self.agent_writes(chat_id, "secret", now).await.unwrap();
        self.try_ends(chat_id, seq, end).await;
        seq
    }

    async fn try_ends(&self, chat_id: u64, seq: u64, end: &DeliveryUpdate) {
        let entry = self.chats.entry("acc", chat_id, seq).await.unwrap().unwrap();
        let attempt = Attempt { at: entry.at, status: Some(500), ms: 7, error: None, answer: None };
        assert!(self.chats.record_attempt(&entry, entry.delivery.as_ref().unwrap(), &attempt, end).await.unwrap());
    }

    async fn fails(&self, chat_id: u64, now: Timestamp) -> u64 {
        self.tried(chat_id, now, &failed_at(now)).await
    }

    async fn delivery_state(&self, chat_id: u64, seq: u64) -> DeliveryState {
        self.chats.entry("acc", chat_id, seq).await.unwrap().unwrap().delivery.unwrap().state
    }

    /// Every page of a question, one behind the other.
    async fn pages(&self, mut search: Search<'_>, by_index: bool) -> Vec<Vec<(u64, u64)>> {
        let mut pages = Vec::new();
        loop {
            let page =
                if by_index { self.chats.failures(search).await } else { self.chats.deliveries(search).await }.unwrap();
            pages.push(places(&page));
            let Some(next) = page.next else { return pages };
            search.after = Some(Place::parse(&next.to_text()).unwrap());
        }
    }
}

fn failed_at(verdict_at: Timestamp) -> DeliveryUpdate {
    DeliveryUpdate::Failed(Failure { code: Some(5), message: "no".into(), hidden: false }, verdict_at)
}

#[tokio::test]
async fn failures_are_found_newest_first_and_leave_when_they_are_begun_anew() {
    let stores = stores().await;
    let (one, two) = (stores.opened("one", NOW).await, stores.opened("two", NOW).await);
    let (first, second) = (stores.fails(one, at(1)).await, stores.fails(two, at(2)).await);
    let third = stores.fails(one, at(3)).await;
    stores.tried(one, at(4), &DeliveryUpdate::Delivered).await;
    stores.agent_writes(one, "pending", at(5)).await.unwrap();
    let wanted = Wanted::all(DeliveryState::Failed);
    let found = stores.chats.failures(search(&wanted)).await.unwrap();
    assert_eq!((places(&found), found.next), (vec![(one, third), (two, second), (one, first)], None));
    let oldest = Search { order: Order::OldestFirst, ..search(&wanted) };
    assert_eq!(places(&stores.chats.failures(oldest).await.unwrap()), [(one, first), (two, second), (one, third)]);

    stores.chats.retry("acc", two, second, Retry::Failed, at(60)).await.unwrap();
    assert_eq!(places(&stores.chats.failures(search(&wanted)).await.unwrap()), [(one, third), (one, first)]);
    let overdue = stores.overdue(two, at(70)).await;
    assert_eq!(overdue.len(), 1, "it is due again");
    stores.try_ends(two, second, &failed_at(at(69))).await;
    let again = stores.chats.failures(search(&wanted)).await.unwrap();
    assert_eq!(places(&again), [(one, third), (two, second), (one, first)], "at the time it was made");
    assert_eq!(again.rows[1].1.delivery.as_ref().unwrap().attempts.len(), 2);
}

#[tokio::test]
async fn no_failure_is_ever_overdue() {
    let stores = stores().await;
    let chat = stores.opened("v", NOW).await;
    let failed = stores.fails(chat, NOW).await;
    let dropped = stores.agent_writes(chat, "dropped", NOW).await.unwrap();
    let entry = stores.chats.entry("acc", chat, dropped).await.unwrap().unwrap();
    assert!(stores.chats.finish_delivery(&entry, DeliveryState::Superseded).await.unwrap());
    for partition in 0..DUE_PARTITIONS {
        assert!(stores.overdue(partition, at(100_000)).await.is_empty());
    }
    let found = stores.chats.failures(search(&Wanted::all(DeliveryState::Failed))).await.unwrap();
    assert_eq!(places(&found), [(chat, failed)]);
}

#[tokio::test]
async fn a_verdict_beats_the_sweep_that_found_the_delivery_before_it() {
    let stores = stores().await;
    let chat = stores.opened("v", NOW).await;
    let seq = stores.agent_writes(chat, "slow", NOW).await.unwrap();
    let overdue = stores.overdue(chat, at(30)).await;
    stores.try_ends(chat, seq, &failed_at(at(30))).await;
    assert!(matches!(stores.chats.revive(&overdue[0], at(31)).await.unwrap(), Revived::Not));
    assert_eq!(stores.delivery_state(chat, seq).await, DeliveryState::Failed);
}

#[tokio::test]
async fn what_the_sweep_gave_up_is_among_the_failures() {
    let stores = stores().await;
    let seq = stores.undelivered().await;
    for run in 1..=61 {
        for overdue in stores.overdue(1, at(run * 60)).await {
            stores.chats.revive(&overdue, at(run * 60)).await.unwrap();
        }
    }
    let wanted = Wanted::all(DeliveryState::Failed);
    let now = Search { now: at(100_000), ..search(&wanted) };
    assert_eq!(places(&stores.chats.failures(now).await.unwrap()), [(1, seq)]);
    assert!(stores.overdue(1, at(100_000)).await.is_empty());
}

#[tokio::test]
async fn a_failure_is_not_shown_before_its_verdict() {
    let stores = stores().await;
    let chat = stores.opened("v", NOW).await;
    let seq = stores.tried(chat, NOW, &failed_at(at(9))).await;
    let found = async |state| {
        let wanted = Wanted::all(state);
        let early = Search { now: at(8), ..search(&wanted) };
        let by_index = places(&stores.chats.failures(early).await.unwrap());
        (by_index, places(&stores.chats.deliveries(early).await.unwrap()))
    };
    assert_eq!(found(DeliveryState::Failed).await, (vec![], vec![]));
    assert_eq!(found(DeliveryState::Pending).await.1, [(chat, seq)]);
}

#[tokio::test]
async fn failures_come_page_by_page_also_those_of_one_moment() {
    let stores = stores().await;
    let (one, two) = (stores.opened("one", NOW).await, stores.opened("two", NOW).await);
    let mut made = Vec::new();
    for n in 0..30 {
        // Three of one moment each.
        made.push((one, stores.fails(one, at(n)).await));
        made.push((two, stores.fails(two, at(n)).await));
        made.push((one, stores.fails(one, at(n)).await));
    }
    made.sort_unstable();
    let wanted = Wanted::all(DeliveryState::Failed);
    for (order, limit) in [(Order::NewestFirst, 7), (Order::OldestFirst, 60), (Order::NewestFirst, 100)] {
        let pages = stores.pages(Search { order, limit, ..search(&wanted) }, true).await;
        assert!(pages.iter().rev().skip(1).all(|page| page.len() == limit), "{pages:?}");
        let mut all = pages.concat();
        all.sort_unstable();
        assert_eq!(all, made, "{order:?} {limit}");
    }
    let five_seconds = Wanted { from: at(20), to: at(24), ..Wanted::all(DeliveryState::Failed) };
    assert_eq!(stores.pages(Search { limit: 4, ..search(&five_seconds) }, true).await.concat().len(), 15);
}

#[tokio::test]
async fn a_search_that_finds_nothing_among_many_failures_is_cut_into_requests() {
    let stores = stores().await;
    let chat = stores.opened("v", NOW).await;
    for n in 0..501 {
        stores.fails(chat, at(n)).await;
    }
    let of_bots = Wanted { target: Some(Target::Bot), ..Wanted::all(DeliveryState::Failed) };
    let pages = stores.pages(search(&of_bots), true).await;
    assert_eq!(pages, [[], []], "five hundred at once");
}

#[tokio::test]
async fn a_page_goes_on_behind_a_failure_that_was_begun_anew_meanwhile() {
    let stores = stores().await;
    let chat = stores.opened("v", NOW).await;
    let (first, second) = (stores.fails(chat, at(1)).await, stores.fails(chat, at(2)).await);
    let wanted = Wanted::all(DeliveryState::Failed);
    let page = stores.chats.failures(Search { limit: 1, ..search(&wanted) }).await.unwrap();
    assert_eq!(places(&page), [(chat, second)]);
    stores.chats.retry("acc", chat, second, Retry::Failed, at(60)).await.unwrap();
    let rest = stores.chats.failures(Search { after: page.next, ..search(&wanted) }).await.unwrap();
    assert_eq!((places(&rest), rest.next), (vec![(chat, first)], None));
}

#[tokio::test]
async fn other_deliveries_are_found_chat_by_chat() {
    let stores = stores().await;
    let mut made = Vec::new();
    for (n, visitor) in ["one", "two", "three"].into_iter().enumerate() {
        let chat = stores.opened(visitor, at(n as u64 * 100)).await;
        for second in 0..3 {
            made.push((chat, stores.tried(chat, at(n as u64 * 100 + second), &DeliveryUpdate::Delivered).await));
        }
        stores.fails(chat, at(n as u64 * 100 + 5)).await;
    }
    made.reverse();
    let wanted = Wanted::all(DeliveryState::Delivered);
    for limit in [1, 2, 4, 100] {
        let pages = stores.pages(Search { limit, ..search(&wanted) }, false).await;
        assert_eq!(pages.concat(), made, "newest first, {limit} at once");
    }
    let second_chat = Wanted { from: at(101), to: at(102), ..wanted.clone() };
    assert_eq!(stores.pages(search(&second_chat), false).await, [&made[3..5]]);
    let other_channel = Wanted { channel_id: Some("OTHER".into()), ..wanted.clone() };
    assert_eq!(stores.pages(search(&other_channel), false).await, [[]]);

    let chat = stores.chats.chat("acc", 2).await.unwrap().unwrap();
    let failed = Wanted::all(DeliveryState::Failed);
    let of_chat = async |search| places(&stores.chats.chat_deliveries(&chat, search).await.unwrap());
    assert_eq!(of_chat(search(&wanted)).await, made[3..6]);
    let oldest = Search { order: Order::OldestFirst, ..search(&wanted) };
    assert_eq!(of_chat(oldest).await, [made[5], made[4], made[3]]);
    let behind = Some(Place { at: None, chat_id: 2, seq: made[5].1 });
    assert_eq!(of_chat(Search { after: behind, ..oldest }).await, [made[4], made[3]]);
    assert_eq!(of_chat(search(&failed)).await.len(), 1);
}

#[tokio::test]
async fn a_long_walk_is_cut_into_requests() {
    let stores = stores().await;
    let mut last = 0;
    for n in 0..120 {
        last = stores.opened(&format!("visitor {n}"), NOW).await;
    }
    let seq = stores.tried(1, at(1), &DeliveryUpdate::Delivered).await;
    let wanted = Wanted::all(DeliveryState::Delivered);
    let pages = stores.pages(search(&wanted), false).await;
    assert_eq!((last, pages), (120, vec![vec![], vec![], vec![(1, seq)]]), "fifty timelines at once");
}

#[tokio::test]
async fn a_cursor_leads_nowhere_but_in_its_own_question_and_account() {
    let stores = stores().await;
    let chat = stores.opened("v", NOW).await;
    let seq = stores.fails(chat, at(5)).await;
    let wanted = Wanted { from: at(1), to: at(9), ..Wanted::all(DeliveryState::Failed) };
    let place = |at| Some(Place { at, chat_id: chat, seq });
    for wrong in [place(None), place(Some(at(10))), place(Some(at(0)))] {
        let refused = stores.chats.failures(Search { after: wrong, ..search(&wanted) }).await.unwrap_err();
        assert_eq!(refused.wrong_field(), Some("cursor"), "{wrong:?}");
    }
    let timed = Search { after: place(Some(at(5))), ..search(&wanted) };
    assert_eq!(stores.chats.deliveries(timed).await.unwrap_err().wrong_field(), Some("cursor"));
    let head = stores.chats.chat("acc", chat).await.unwrap().unwrap();
    let elsewhere = Some(Place { at: None, chat_id: chat + 1, seq });
    let refused = stores.chats.chat_deliveries(&head, Search { after: elsewhere, ..search(&wanted) }).await;
    assert_eq!(refused.unwrap_err().wrong_field(), Some("cursor"));
    let invented = Some(Place { at: Some(at(9)), chat_id: u64::MAX, seq: u64::MAX });
    let found = stores.chats.failures(Search { after: invented, ..search(&wanted) }).await.unwrap();
    assert_eq!(places(&found), [(chat, seq)]);
    let invented = Some(Place { at: None, chat_id: u64::MAX, seq: u64::MAX });
    for order in [Order::NewestFirst, Order::OldestFirst] {
        stores.chats.deliveries(Search { after: invented, order, ..search(&wanted) }).await.unwrap();
    }
    let stranger = Search { account_id: "stranger", ..search(&wanted) };
    for after in [None, place(Some(at(9)))] {
        assert!(stores.chats.failures(Search { after, ..stranger }).await.unwrap().rows.is_empty());
    }
    assert!(stores.chats.deliveries(stranger).await.unwrap().rows.is_empty());
}

#[tokio::test]
async fn who_may_begin_what_anew() {
    let stores = stores().await;
    let chat = stores.opened("v", NOW).await;
    let (failed, delivered) =
        (stores.fails(chat, NOW).await, stores.tried(chat, NOW, &DeliveryUpdate::Delivered).await);
    let retry = async |seq, retry, now| stores.chats.retry("acc", chat, seq, retry, now).await;
    for kind in [Retry::Message, Retry::Failed] {
        assert!(matches!(retry(delivered, kind, at(1)).await, Err(Error::Conflict(_))), "{kind:?}");
    }
    assert!(matches!(retry(1, Retry::One, at(1)).await, Err(Error::Conflict(_))), "it goes to nobody's server");
    assert!(matches!(retry(99, Retry::One, at(1)).await, Err(Error::NotFound)));
    for (seq, kind) in [(delivered, Retry::One), (failed, Retry::Failed)] {
        let anew = retry(seq, kind, at(2)).await.unwrap();
        let delivery = anew.delivery.as_ref().unwrap();
        assert_eq!((delivery.state, delivery.round, delivery.attempts.len()), (DeliveryState::Pending, 2, 1));
        assert!(matches!(retry(seq, Retry::One, at(3)).await, Err(Error::Conflict(_))), "it is under way");
    }
}

#[tokio::test]
async fn an_entry_stays_small_however_often_it_is_sent_again() {
    let stores = stores().await;
    let chat = stores.opened("v", NOW).await;
    let seq = stores.agent_writes(chat, "secret", NOW).await.unwrap();
    let answer = "\u{1d11e}".repeat(16_000);
    for n in 1..=150 {
        let entry = stores.chats.entry("acc", chat, seq).await.unwrap().unwrap();
        let attempt = Attempt { at: at(n), status: Some(500), ms: 7, error: Some(answer.clone()), answer: None };
        let failed = DeliveryUpdate::Failed(Failure { code: None, message: answer.clone(), hidden: false }, at(n));
        assert!(
            stores.chats.record_attempt(&entry, entry.delivery.as_ref().unwrap(), &attempt, &failed).await.unwrap()
        );
        stores.chats.retry("acc", chat, seq, Retry::One, at(n)).await.unwrap();
    }
    let delivery = stores.chats.entry("acc", chat, seq).await.unwrap().unwrap().delivery.unwrap();
    let kept: Vec<_> = delivery.attempts.iter().map(|attempt| attempt.at).collect();
    assert_eq!(kept, [1, 145, 146, 147, 148, 149, 150].map(at));
    assert_eq!((delivery.attempts_left_out, delivery.round), (143, 151));
}

#[tokio::test]
async fn of_many_who_begin_a_delivery_anew_one_does() {
    let stores = stores().await;
    let chat = stores.opened("v", NOW).await;
    let seq = stores.fails(chat, NOW).await;
    let attempts_made = (1..=8).map(|n| stores.chats.retry("acc", chat, seq, Retry::Failed, at(n)));
    let done = join_all(attempts_made).await.into_iter().filter(Result::is_ok).count();
    let delivery = stores.chats.entry("acc", chat, seq).await.unwrap().unwrap().delivery.unwrap();
    assert_eq!((done, delivery.round), (1, 2));
}
