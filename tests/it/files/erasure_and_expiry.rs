//! Tests of what deletes files: the erasure of a visitor, the expiry of messages, the deletion of an account, and a day
//! without a message.

use aws_sdk_dynamodb::types::{AttributeValue, ReturnValue};
use reqwest::StatusCode;
use serde_json::json;

use crate::support::api_client::{TestAgent, number};
use crate::support::test_host::{ActiveChat, run_on_shared_host, run_with_virtual_time};
use crate::support::upload::{TestFile, open};
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

#[test]
fn erasure_leaves_no_file() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let mut links = Vec::new();
        for _ in 0..3 {
            let file_id = chat.agent.upload(1, &TestFile::png()).await;
            let seq = chat.agent.send_message(1, &json!({"type": "photo", "file_id": file_id})).await;
            links.push(chat.agent.timeline_entry(1, seq).await["file"].as_str().unwrap().to_owned());
        }
        assert_eq!(host.objects("files", &chat.account.id).len(), 3);
        let visitor = number(&chat.agent.chat(1).await["visitor"]["number"]);
        let erased = chat.agent.client.delete(&format!("/admin/visitors/{visitor}")).await.expect(200);
        assert_eq!((&erased["removed"]["files"], &erased["complete"]), (&json!(3), &json!(true)));
        assert!(host.objects("files", &chat.account.id).is_empty());
        for link in links {
            assert_ne!(open(&link).await.status, StatusCode::OK);
        }
    });
}

#[test]
fn file_is_deleted_with_its_message() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let file_id = chat.agent.upload(1, &TestFile::png()).await;
        let seq = chat.agent.send_message(1, &json!({"type": "photo", "file_id": file_id})).await;
        // What the expiry of the message does.
        let account = chat.account.id.as_str().unwrap();
        let key = |text: String| AttributeValue::S(text);
        let (pk, sk) = (key(format!("CHAT#{account}#1")), key(format!("{seq:010}")));
        let deleted = host.tables().delete_item().table_name("Chats").key("pk", pk).key("sk", sk);
        let deleted = deleted.return_values(ReturnValue::AllOld).send().await.unwrap();
        assert!(deleted.attributes().is_some(), "the message has another key");
        wait_for("the deletion of the file", WAIT_TIMEOUT, async || {
            let files = host.objects("files", &chat.account.id);
            if files.is_empty() { Ok(()) } else { Err(files) }
        })
        .await;
    });
}

#[test]
fn file_without_a_message_is_deleted_after_a_day() {
    run_with_virtual_time(async |host, time| {
        let chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        chat.agent.upload(1, &TestFile::png()).await;
        assert_eq!(host.objects("pending", &chat.account.id).len(), 1);
        time.advance(seconds(25 * 60 * 60));
        assert!(host.objects("pending", &chat.account.id).is_empty());
    });
}

#[test]
fn ended_link_is_renewed_for_the_console_and_for_nobody_else() {
    run_with_virtual_time(async |host, time| {
        let chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let client = &chat.agent.client;
        let settings = json!({"files": {"link_days": 1}, "idle_close": null});
        client.put("/admin/settings", &settings).await.expect(200);
        let file_id = chat.agent.upload(1, &TestFile::png()).await;
        let seq = chat.agent.send_message(1, &json!({"type": "photo", "file_id": file_id})).await;
        let sent = chat.agent.timeline_entry(1, seq).await["file"].as_str().unwrap().to_owned();
        assert_eq!(open(&sent).await.status, StatusCode::OK);
        time.advance(seconds(49 * 60 * 60));
        assert_eq!(open(&sent).await.status, StatusCode::NOT_FOUND);
        let agent = TestAgent::log_in(&client.without_token(), chat.agent.id.clone(), &chat.agent.email).await;
        let renewed = agent.timeline_entry(1, seq).await["file"].as_str().unwrap().to_owned();
        assert_ne!(renewed, sent);
        assert_eq!(open(&renewed).await.status, StatusCode::OK);
    });
}
