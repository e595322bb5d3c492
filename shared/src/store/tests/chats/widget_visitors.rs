//! Tests of the visitors of widgets, which exist before their first chat, and of the read of a chat's last entries,
//! which a widget shows.

use crate::chats::visitor::create_widget_visitor::create_widget_visitor;
use crate::domain::visitors::widget_visitor::{HiddenThrough, Page, WidgetVisitor};
use crate::store::chats::visitors::widget_visitors::visitor_id_of_token;
use crate::store::tests::*;

fn widget() -> Channel {
    Channel { settings: widget_settings(), ..channel() }
}

impl Stores {
    async fn create_widget_visitor(&self, token: &str) -> Visitor {
        let page = Page { url: "https://shop.example/".into(), title: Some("Shop".into()) };
        let (widget, data) = (widget(), WidgetVisitor::default());
        create_widget_visitor(&self.chats, &widget, token, data, Some(page), &self.settings, NOW).await.unwrap()
    }

    async fn widget_visitor_writes(&self, token: &str, now: Timestamp) -> Result<u64, Error> {
        let (widget, content, profile) = (widget(), Content::text("hi"), VisitorProfile::default());
        let external_id = &visitor_id_of_token(token);
        let text = visitor_text(self, &widget, &content, &profile, now);
        let incoming = VisitorText { from: FromVisitor { external_id, ..text.from }, ..text };
        receive_visitor_text(&self.chats, &incoming).await.map(|stored| stored.unwrap().receipt.chat_id)
    }
}

#[tokio::test]
async fn taken_token_of_a_new_visitor_is_an_internal_error() {
    let stores = stores().await;
    stores.create_widget_visitor("token").await;
    let (widget, data) = (widget(), WidgetVisitor::default());
    let created = create_widget_visitor(&stores.chats, &widget, "token", data, None, &stores.settings, NOW).await;
    assert!(matches!(created, Err(Error::Internal(_))), "{created:?}");
}

#[tokio::test]
async fn visitor_of_a_widget_exists_before_the_first_chat() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let created = stores.create_widget_visitor("token").await;
    assert_eq!((created.number, created.chats, created.open_chat), (2, 0, None));
    let read = stores.chats.widget_visitor("CH", "token", NOW).await.unwrap();
    assert_eq!(Visitor { changes: created.changes.clone(), ..read }, created);
    assert_eq!(stores.chats.visitor_by_number("acc", 2, NOW).await.unwrap().unwrap().external_id, created.external_id);
    assert_eq!(stores.widget_visitor_writes("token", NOW).await.unwrap(), 2);
    let visitor = stores.chats.widget_visitor("CH", "token", seconds_later(1_000 * DAY)).await.unwrap();
    assert_eq!((visitor.number, visitor.open_chat, visitor.retain_until), (2, Some(2), None));
    assert_eq!(visitor.widget.unwrap().page_title.as_deref(), Some("Shop"));
    assert_eq!(stores.chat_header(2).await.channel_kind, ChannelKind::Widget);
}

#[tokio::test]
async fn token_of_another_widget_or_an_expired_visitor_is_invalid() {
    let mut stores = stores().await;
    stores.settings.retention_days = Some(10);
    stores.create_widget_visitor("token").await;
    for (channel_id, token, now) in
        [("CH", "other", NOW), ("other", "token", NOW), ("CH", "token", seconds_later(10 * DAY))]
    {
        let found = stores.chats.widget_visitor(channel_id, token, now).await;
        assert!(matches!(found, Err(Error::InvalidVisitorToken)), "{channel_id} {token} {now:?}");
    }
    for (token, now) in [("other", NOW), ("token", seconds_later(10 * DAY))] {
        let written = stores.widget_visitor_writes(token, now).await;
        assert!(matches!(written, Err(Error::InvalidVisitorToken)), "{token} {now:?}");
    }
    assert!(stores.chats.chat("acc", 1).await.unwrap().is_none(), "nothing was stored");
}

#[tokio::test]
async fn concurrent_changes_to_a_widget_visitor_are_preserved() {
    let stores = stores().await;
    let visitor = stores.create_widget_visitor("token").await;
    let [mut one, mut two, mut three] =
        [(); 3].map(|()| Visitor { changes: VisitorChanges::default(), ..visitor.clone() });
    one.set_user_token(Some("customer-7".into()));
    two.set_custom_data(vec![CustomData { title: None, content: "Gold".into(), link: None, key: None }]);
    three.set_hidden_through(HiddenThrough { chat_id: 3, seq: 4 });
    for visitor in [&one, &two, &three] {
        update_visitor(&stores.chats, visitor, NOW).await.unwrap();
    }
    let widget = stores.chats.widget_visitor("CH", "token", NOW).await.unwrap().widget.unwrap();
    assert_eq!((widget.user_token.as_deref(), widget.custom_data.len()), (Some("customer-7"), 1));
    assert_eq!(widget.hidden_through, HiddenThrough { chat_id: 3, seq: 4 });
}

#[tokio::test]
async fn last_entries_are_read_with_their_chat() {
    let stores = stores().await;
    for _ in 0..5 {
        stores.visitor_writes("v", "hi", NOW).await.unwrap();
    }
    for (after, limit, expected) in
        [(0, 100, vec![1, 2, 3, 4, 5]), (0, 2, vec![4, 5]), (3, 100, vec![4, 5]), (9, 2, vec![])]
    {
        let (entries, chat) = stores.chats.last_entries_and_chat("acc", 1, after, limit).await.unwrap();
        assert_eq!(entries.iter().map(|entry| entry.seq).collect::<Vec<_>>(), expected, "{after} {limit}");
        assert_eq!(chat.map(|chat| chat.seq), Some(5));
    }
}
