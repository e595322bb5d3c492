//! Tests of the panel, which stores data from webhook responses.

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
    join_all(changes.iter().map(async |change| stores.chats.update_panel(&chat, change, NOW).await.unwrap())).await;
    let both =
        Panel { custom_data: vec![line], enable_assign: true, crm_link: link(), page: page(), ..Panel::default() };
    assert_eq!(stores.chats.panel("acc", 1).await.unwrap(), both);

    let removal =
        PanelUpdate { custom_data: Some(vec![]), enable_assign: None, crm_link: Some(None), page: Some(None) };
    stores.chats.update_panel(&chat, &removal, NOW).await.unwrap();
    let remaining = Panel { enable_assign: true, ..Panel::default() };
    assert_eq!(stores.chats.panel("acc", 1).await.unwrap(), remaining, "empty fields of a response are removed");
}
