//! Tests of the history of a widget's visitor: its pages, and what it leaves out.

use crate::domain::visitors::widget_visitor::{HiddenThrough, HistoryPosition, WidgetVisitor};
use crate::service::file_links::FileLinks;
use crate::service::widget_history::earlier_messages;
use crate::store::tests::*;
use crate::wire::widget::WidgetMessage;

impl Stores {
    async fn visitor_of_tests(&self) -> Visitor {
        self.chats.visitor("CH", "v").await.unwrap().unwrap()
    }

    /// Returns the places of the messages before an entry, and whether there are earlier ones.
    async fn history(&self, visitor: &Visitor, chat_id: u64, seq: u64, now: Timestamp) -> (Vec<(u64, u64)>, bool) {
        let links = FileLinks { directory: &self.directory, base_url: String::new(), now };
        let position = HistoryPosition { chat_id, seq };
        let page = earlier_messages((&self.chats, &links), visitor, position, now).await.unwrap();
        let place = |message: &WidgetMessage| {
            let message = serde_json::json!(message);
            let number = |name: &str| message[name].as_u64().unwrap();
            (number("chat_id"), number("seq"))
        };
        (page.messages.iter().map(place).collect(), page.has_earlier)
    }
}

fn seqs(chat_id: u64, seqs: std::ops::RangeInclusive<u64>) -> Vec<(u64, u64)> {
    seqs.map(|seq| (chat_id, seq)).collect()
}

#[tokio::test]
async fn pages_have_fifty_messages_and_continue_in_earlier_chats() {
    let mut stores = stores().await;
    stores.settings.limits.visitor_messages = 1_000;
    for _ in 0..3 {
        stores.visitor_writes("v", "first chat", NOW).await.unwrap();
    }
    stores.close(1, &bob(), &[], NOW).await.unwrap();
    for _ in 0..120 {
        stores.visitor_writes("v", "second chat", NOW).await.unwrap();
    }
    let visitor = stores.visitor_of_tests().await;
    assert_eq!(stores.history(&visitor, 2, 71, NOW).await, (seqs(2, 21..=70), true));
    let last = [seqs(1, 1..=3), seqs(2, 1..=20)].concat();
    assert_eq!(stores.history(&visitor, 2, 21, NOW).await, (last, false));
    assert_eq!(stores.history(&visitor, 2, 51, NOW).await, (seqs(2, 1..=50), true), "a page that ends with its chat");
    assert_eq!(stores.history(&visitor, 2, u64::MAX, NOW).await, (seqs(2, 71..=120), true));
    assert_eq!(stores.history(&visitor, 1, 1, NOW).await, (vec![], false));
}

#[tokio::test]
async fn long_runs_of_notifications_do_not_end_the_history() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    for _ in 0..120 {
        stores.add_note(1, NOW).await.unwrap();
    }
    stores.agent_writes(1, "hello", NOW).await.unwrap();
    let visitor = stores.visitor_of_tests().await;
    assert_eq!(stores.history(&visitor, 1, 122, NOW).await, (vec![(1, 1)], false));
}

#[tokio::test]
async fn hidden_expired_and_foreign_messages_are_left_out() {
    let mut stores = stores().await;
    stores.settings.retention_days = Some(10);
    stores.visitor_writes("w", "foreign", NOW).await.unwrap();
    stores.visitor_writes("v", "closed", NOW).await.unwrap();
    stores.close(2, &bob(), &[], NOW).await.unwrap();
    for day in 0..4 {
        stores.visitor_writes("v", "open", seconds_later(day * 4 * DAY)).await.unwrap();
    }
    let visitor = stores.visitor_of_tests().await;
    let everything = [seqs(2, 1..=1), seqs(3, 1..=4)].concat();
    assert_eq!(stores.history(&visitor, 3, 5, NOW).await, (everything, false));
    assert_eq!(stores.history(&visitor, 3, 5, seconds_later(12 * DAY)).await, (seqs(3, 2..=4), false), "expired");
    assert_eq!(stores.history(&visitor, 1, 5, NOW).await, (vec![], false), "another visitor's chat");
    for (hidden, expected) in [((3, 2), seqs(3, 3..=4)), ((2, 1), seqs(3, 1..=4)), ((9, 1), vec![])] {
        let hidden_through = HiddenThrough { chat_id: hidden.0, seq: hidden.1 };
        let widget = Some(Box::new(WidgetVisitor { hidden_through, ..WidgetVisitor::default() }));
        let visitor = Visitor { widget, ..visitor.clone() };
        assert_eq!(stores.history(&visitor, 3, 5, NOW).await, (expected, false), "hidden through {hidden:?}");
    }
}
