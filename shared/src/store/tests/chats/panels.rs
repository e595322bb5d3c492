//! Tests of the panel, which stores data from webhook responses.

use crate::domain::chats::chat_side_panel::CrmCardAssignment;
use crate::store::tests::*;

#[tokio::test]
async fn concurrent_webhook_responses_both_fill_the_panel() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let chat = stores.chat_header(1).await;
    let line = CustomData { title: None, content: "Gold".into(), link: None, key: None };
    let link = || Some("https://crm.example/7".to_owned());
    let page = || Some(("https://shop.example/ada".to_owned(), Some("Ada".to_owned())));
    let changes = [
        PanelUpdate { custom_data: Some(vec![line.clone()]), page: Some(page()), ..PanelUpdate::default() },
        PanelUpdate { crm_link: Some(link()), enable_assign: Some(true), ..PanelUpdate::default() },
    ];
    join_all(changes.iter().map(async |change| stores.chats.update_panel(&chat, change).await.unwrap())).await;
    let both =
        Panel { custom_data: vec![line], enable_assign: true, crm_link: link(), page: page(), ..Panel::default() };
    assert_eq!(stores.chats.panel("acc", 1).await.unwrap(), both);

    let removal = PanelUpdate {
        custom_data: Some(vec![]),
        enable_assign: None,
        crm_link: Some(None),
        page: Some(None),
        draft: None,
    };
    stores.chats.update_panel(&chat, &removal).await.unwrap();
    let remaining = Panel { enable_assign: true, ..Panel::default() };
    assert_eq!(stores.chats.panel("acc", 1).await.unwrap(), remaining, "empty fields of a response are removed");
}

#[tokio::test]
async fn panel_of_an_erased_chat_is_not_stored() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let chat = stores.chat_header(1).await;
    let update = PanelUpdate { enable_assign: Some(true), ..PanelUpdate::default() };
    let interrupted = erase_visitor((&stores.chats, &no_files), ("acc", 1), NOW, &|| false).await.unwrap();
    assert!(!interrupted.is_complete, "the header still exists");
    stores.chats.update_panel(&chat, &update).await.unwrap();
    assert_eq!(stores.chats.panel("acc", 1).await.unwrap(), Panel::default());

    erase_visitor((&stores.chats, &no_files), ("acc", 1), NOW, &|| true).await.unwrap();
    stores.chats.update_panel(&chat, &update).await.unwrap();
    stores.chats.record_assignment(&chat, &CrmCardAssignment::Pending).await.unwrap();
    assert_eq!(stores.expiries().await, []);
}

#[tokio::test]
async fn panel_written_after_closing_expires_with_the_chat() {
    let settings = AccountSettings { retention_days: Some(30), ..AccountSettings::default() };
    let stores = Stores::with_settings(settings).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let accepted = stores.accept(1, &bob(), &[], NOW).await.unwrap();
    stores.close(1, &bob(), &[], seconds_later(60)).await.unwrap();
    let update = PanelUpdate { enable_assign: Some(true), ..PanelUpdate::default() };
    stores.chats.update_panel(&accepted.chat, &update).await.unwrap();
    let expiries = stores.expiries().await;
    let expiry_of = |sk: &str| expiries.iter().find(|item| item.1 == sk).and_then(|item| item.2);
    assert_eq!(expiry_of("PANEL"), Some(seconds_later(60 + 30 * DAY).seconds()), "{expiries:?}");
    assert_eq!(expiry_of("PANEL"), expiry_of("HEAD"));
}
