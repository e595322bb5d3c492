use serde_json::Value;

use crate::domain::deliveries::webhook::WebhookDispatch;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::store::chats::listing::transcript::TranscriptLimits;
use crate::store::tests::*;
use crate::wire::webhooks::webhook_event::WebhookPayload;

/// Creates a chat with one message from the visitor, followed by these texts from an agent.
async fn chat_with_agent_texts(texts: &[String]) -> Stores {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    for text in texts {
        stores.agent_writes(1, text, NOW).await.unwrap();
    }
    stores
}

async fn last_seqs(stores: &Stores, limits: TranscriptLimits) -> Vec<u64> {
    let last = stores.chats.last_entries("acc", 1, limits).await.unwrap();
    last.iter().map(|entry| entry.seq).collect()
}

#[tokio::test]
async fn last_entries_are_the_ones_that_fit_from_the_end() {
    // Together, the texts are too large for one query page, which contains at most one megabyte.
    let stores = chat_with_agent_texts(&vec!["x".repeat(300_000); 6]).await;
    let all = TranscriptLimits { max_entries: 100, max_bytes: 100, entry_bytes: |_| 1 };
    assert_eq!(last_seqs(&stores, all).await, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(last_seqs(&stores, TranscriptLimits { max_entries: 3, ..all }).await, [5, 6, 7]);
    assert_eq!(last_seqs(&stores, TranscriptLimits { max_bytes: 2, ..all }).await, [6, 7]);
    assert_eq!(last_seqs(&stores, TranscriptLimits { max_bytes: 7, ..all }).await, [1, 2, 3, 4, 5, 6, 7]);
    let small_beginning = TranscriptLimits { entry_bytes: |entry| if entry.seq < 5 { 0 } else { 60 }, ..all };
    assert_eq!(last_seqs(&stores, small_beginning).await, [7], "no entry in the middle is omitted");
}

async fn chat_finished_body(stores: &Stores, timeline: &[TimelineEntry]) -> Value {
    let chat = stores.chat_header(1).await;
    let visitor = stores.visitor("v").await;
    let event = WebhookEvent::ChatFinished;
    let webhook_dispatch = WebhookDispatch {
        event,
        webhook_id: "w".into(),
        agent_id: None,
        assign_to: None,
        call: None,
        reports_rating: false,
        message_seq: None,
        status: None,
    };
    WebhookPayload {
        entry: (7, NOW),
        webhook_dispatch: &webhook_dispatch,
        chat: &chat,
        visitor: &visitor,
        agents: &[],
        timeline,
        invite: None,
    }
    .body()
}

#[tokio::test]
async fn chat_finished_omits_the_beginning_of_a_long_transcript() {
    let texts: Vec<String> = (0..6).map(|n| n.to_string().repeat(300_000)).collect();
    let stores = chat_with_agent_texts(&texts).await;
    let timeline = stores.chats.whole_timeline("acc", 1, 100).await.unwrap();
    let body = chat_finished_body(&stores, &timeline).await;
    let messages = body["chat"]["messages"].as_array().unwrap();
    let sent: Vec<&str> = messages.iter().map(|message| message["message"].as_str().unwrap()).collect();
    assert_eq!(sent, texts[3..], "three of these fit into a megabyte");
    assert_eq!(body["chat"]["beginning_missing"], true);
    let [plain, html] = ["plain_messages", "html_messages"].map(|name| body[name].as_str().unwrap());
    assert!(plain.starts_with("(The beginning of the chat is left out.)\nBob: 333"), "{}", &plain[..80]);
    assert!(html.starts_with("<p><i>The beginning of the chat is left out.</i></p>\n<p><b>Bob:</b> 333"));
    for transcript in [plain, html] {
        assert!(!transcript.contains("hi") && !transcript.contains("222") && transcript.contains("555"));
    }
}

#[tokio::test]
async fn chat_finished_reports_a_missing_beginning() {
    let stores = chat_with_agent_texts(&["hello".into()]).await;
    let timeline = stores.chats.whole_timeline("acc", 1, 100).await.unwrap();
    for (entries, missing) in [(timeline.as_slice(), false), (&timeline[1..], true), (&[], true)] {
        let body = chat_finished_body(&stores, entries).await;
        assert_eq!(body["chat"]["beginning_missing"], missing);
        assert_eq!(body["plain_messages"].as_str().unwrap().contains("left out"), missing);
    }
}
