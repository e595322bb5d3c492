//! The end of a long chat, and what chat_finished makes of it.

use crate::domain::chat::Chat;
use crate::domain::webhook::{WebhookDispatch, WebhookEvent};
use crate::store::chats::transcript::Limits;
use crate::store::tests::*;
use crate::wire::webhook::Story;
use serde_json::Value;

/// A chat with these texts of an agent behind the visitor's hi.
async fn chat_of(texts: &[String]) -> Stores {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    for text in texts {
        stores.agent_writes(1, text, NOW).await.unwrap();
    }
    stores
}

async fn last(stores: &Stores, limits: Limits) -> Vec<u64> {
    let last = stores.chats.last_entries("acc", 1, limits).await.unwrap();
    last.iter().map(|entry| entry.seq).collect()
}

#[tokio::test]
async fn the_last_entries_are_those_that_fit_from_the_end() {
    // More than a page of a megabyte.
    let stores = chat_of(&vec!["x".repeat(300_000); 6]).await;
    let all = Limits { entries: 100, weight: 100, weigh: |_| 1 };
    assert_eq!(last(&stores, all).await, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(last(&stores, Limits { entries: 3, ..all }).await, [5, 6, 7]);
    assert_eq!(last(&stores, Limits { weight: 2, ..all }).await, [6, 7]);
    assert_eq!(last(&stores, Limits { weight: 7, ..all }).await, [1, 2, 3, 4, 5, 6, 7]);
    let beginning_is_light = Limits { weigh: |entry| if entry.seq < 5 { 0 } else { 60 }, ..all };
    assert_eq!(last(&stores, beginning_is_light).await, [7], "nothing is left out in the middle");
}

async fn notifications(stores: &Stores, timeline: &[Entry]) -> Value {
    let chat: Chat = stores.chats.chat("acc", 1).await.unwrap().unwrap();
    let visitor = stores.chats.visitor("CH", "v").await.unwrap().unwrap();
    let event = WebhookEvent::ChatFinished;
    let occurrence = WebhookDispatch { event, webhook_id: "w".into(), agent_id: None, assign_to: None, call: None };
    Story { occurrence: &occurrence, chat: &chat, visitor: &visitor, agents: &[], timeline, invite: None }.body()
}

#[tokio::test]
async fn chat_finished_leaves_out_the_beginning_of_what_is_too_long_and_says_so() {
    let texts: Vec<String> = (0..6).map(|n| n.to_string().repeat(300_000)).collect();
    let stores = chat_of(&texts).await;
    let timeline = stores.chats.whole_timeline("acc", 1, 100).await.unwrap();
    let body = notifications(&stores, &timeline).await;
    let messages = body["chat"]["messages"].as_array().unwrap();
    let said: Vec<&str> = messages.iter().map(|message| message["message"].as_str().unwrap()).collect();
    assert_eq!(said, texts[3..], "three of these are less than a megabyte");
    assert_eq!(body["chat"]["beginning_missing"], true);
    let [plain, html] = ["plain_messages", "html_messages"].map(|name| body[name].as_str().unwrap());
    assert!(plain.starts_with("(The beginning of the chat is left out.)\nBob: 333"), "{}", &plain[..80]);
    assert!(html.starts_with("<p><i>The beginning of the chat is left out.</i></p>\n<p><b>Bob:</b> 333"));
    for log in [plain, html] {
        assert!(!log.contains("hi") && !log.contains("222") && log.contains("555"));
    }
}

#[tokio::test]
async fn chat_finished_says_whether_it_begins_with_the_beginning() {
    let stores = chat_of(&["hello".into()]).await;
    let timeline = stores.chats.whole_timeline("acc", 1, 100).await.unwrap();
    for (known, missing) in [(timeline.as_slice(), false), (&timeline[1..], true), (&[], true)] {
        let body = notifications(&stores, known).await;
        assert_eq!(body["chat"]["beginning_missing"], missing);
        assert_eq!(body["plain_messages"].as_str().unwrap().contains("left out"), missing);
    }
}
