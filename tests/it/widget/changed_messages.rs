//! Tests for messages to visitors of a widget that agents edit or delete.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::api_client::{ApiResponse, TestAgent, number};
use crate::support::test_host::{ActiveChat, run_on_shared_host};
use crate::support::upload::{TestFile, open};

impl TestAgent {
    async fn edit_message(&self, chat: u64, seq: u64, text: &str) -> ApiResponse {
        self.client.patch(&format!("/agent/chats/{chat}/messages/{seq}"), &json!({"text": text})).await
    }

    async fn delete_message(&self, chat: u64, seq: u64) -> ApiResponse {
        self.client.delete(&format!("/agent/chats/{chat}/messages/{seq}")).await
    }
}

#[test]
fn visitor_sees_the_edited_text_at_once() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let ann = account.create_agent("Ann").await;
        let visitor = account.create_widget(json!({})).await.visitor().await;
        visitor.say("Hello").await;
        ann.accept(1).await;
        let seq = ann.send_text(1, "Helo").await;
        let mut socket = visitor.open_socket().await;
        let edited = ann.edit_message(1, seq, "Hello!").await.expect(200);
        assert_eq!((&edited["text"], &edited["seq"]), (&json!("Hello!"), &json!(seq)));
        assert!(edited["edited_at"].is_u64(), "{edited}");
        assert_eq!(ann.timeline_entry(1, seq).await, edited);
        let pushed = socket.find("the edited message", |frame| frame["message"]["text"] == "Hello!").await;
        assert_eq!((&pushed["type"], &pushed["seq"]), (&json!("message"), &json!(seq)));
        let session = visitor.session().await;
        assert_eq!(session["messages"].as_array().unwrap().last().unwrap(), &pushed["message"]);
        assert_eq!(session["chat"]["messages_changed_at"], pushed["message"]["edited_at"]);
        assert_eq!(ann.chats("active").await[0]["last_message"]["text"], "Hello!");
        ann.edit_message(1, seq, "").await.expect_error(400, "invalid_request");
    });
}

#[test]
fn deleted_text_is_nowhere() {
    const SECRET: &str = "not-for-this-visitor";
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let ann = account.create_agent("Ann").await;
        let visitor = account.create_widget(json!({})).await.visitor().await;
        visitor.say("Hello").await;
        ann.accept(1).await;
        let seq = ann.send_text(1, SECRET).await;
        let mut socket = visitor.open_socket().await;
        let deleted = ann.delete_message(1, seq).await.expect(200);
        assert_eq!((&deleted["type"], &deleted["text"]), (&json!("deleted"), &Value::Null));
        assert_eq!(ann.delete_message(1, seq).await.expect(200), deleted, "a repeated request");
        ann.edit_message(1, seq, "again").await.expect_error(409, "conflict");
        let pushed = socket.find("the deletion", |frame| frame["message"]["type"] == "deleted").await;
        assert_eq!((number(&pushed["seq"]), &pushed["message"]["text"]), (seq, &Value::Null));
        let csv = account.admin.client.get("/admin/chats/export.csv?chat_id=1").await;
        for shown in [
            visitor.session().await.to_string(),
            json!(ann.timeline(1).await).to_string(),
            json!(ann.chats("active").await).to_string(),
            account.admin.client.get("/admin/chats/export?chat_id=1").await.expect(200).to_string(),
            csv.text.clone(),
        ] {
            assert!(!shown.contains(SECRET), "{shown}");
            assert!(shown.contains("deleted"), "{shown}");
        }
        let found = ann.client.get(&format!("/agent/search?q={SECRET}")).await.expect(200);
        assert_eq!(found["chats"], json!([]));
    });
}

#[test]
fn file_of_a_deleted_message_is_deleted() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let visitor = account.create_widget(json!({})).await.visitor().await;
        visitor.say("Hello").await;
        account.admin.accept(1).await;
        let file_id = account.admin.upload(1, &TestFile::png()).await;
        let seq = account.admin.send_message(1, &json!({"type": "photo", "file_id": file_id})).await;
        let link = account.admin.timeline_entry(1, seq).await["file"].as_str().unwrap().to_owned();
        assert_eq!(open(&link).await.status, StatusCode::OK);
        account.admin.edit_message(1, seq, "text").await.expect_error(409, "conflict");
        let deleted = account.admin.delete_message(1, seq).await.expect(200);
        assert_eq!((&deleted["file"], &deleted["file_name"]), (&Value::Null, &Value::Null));
        assert_eq!(host.objects("files", &account.id), [""; 0]);
        assert_ne!(open(&link).await.status, StatusCode::OK);
    });
}

#[test]
fn only_the_author_edits_and_an_admin_may_delete() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let (ann, bob) = (account.create_agent("Ann").await, account.create_agent("Bob").await);
        let visitor = account.create_widget(json!({})).await.visitor().await;
        visitor.say("Hello").await;
        ann.accept(1).await;
        let seq = ann.send_text(1, "Hi").await;
        bob.edit_message(1, seq, "x").await.expect_error(403, "forbidden");
        bob.delete_message(1, seq).await.expect_error(403, "forbidden");
        account.admin.edit_message(1, seq, "x").await.expect_error(403, "forbidden");
        ann.delete_message(1, 1).await.expect_error(403, "forbidden");
        ann.edit_message(1, 999, "x").await.expect_error(404, "not_found");
        account.admin.delete_message(1, seq).await.expect(200);
        let late = ann.send_text(1, "Bye").await;
        ann.close(1).await;
        ann.delete_message(1, late).await.expect_error(409, "conflict");
    });
}

#[test]
fn message_of_an_api_channel_cannot_be_changed() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let seq = chat.agent.send_text(chat.number, "Hi").await;
        chat.agent.edit_message(chat.number, seq, "x").await.expect_error(409, "conflict");
        chat.agent.delete_message(chat.number, seq).await.expect_error(409, "conflict");
        assert_eq!(chat.agent.timeline_entry(chat.number, seq).await["text"], "Hi");
    });
}
