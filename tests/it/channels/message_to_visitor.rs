//! Tests for messages that an admin's program sends to a visitor whom the integrator knows by an id.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::account_with_webhook::{add_webhook, event_names, ok_response, wait_for_event};
use crate::support::api_client::{ApiClient, ApiResponse, TestChannel, number, send};
use crate::support::test_host::{VISITOR_ID, open_accepted_chat, run_on_shared_host, visitor_text};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::WAIT_TIMEOUT;

fn path(channel: &TestChannel, visitor: &str) -> String {
    format!("/admin/channels/{}/visitors/{visitor}/messages", channel.id)
}

async fn say(admin: &ApiClient, channel: &TestChannel, visitor: &str, text: &str) -> ApiResponse {
    admin.post(&path(channel, visitor), &json!({"type": "text", "text": text})).await
}

#[test]
fn message_to_a_new_visitor_opens_a_chat_of_the_caller() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let webhook = TestReceiver::start(ok_response()).await;
        let account = host.create_account().await;
        add_webhook(&account, &webhook, json!({})).await;
        let department = account.create_department("Sales", &[&account.admin]).await;
        let channel = account.create_channel_with(&integrator.url(), json!({"department_ids": [department]})).await;
        let (admin, name) = (&account.admin, "user%40app%3A7%20%C3%A4%2Fb");
        let sent = say(&admin.client, &channel, name, "Your parcel is on its way.").await.expect(201);
        assert_eq!((number(&sent["chat_id"]), number(&sent["seq"])), (1, 1));

        let request = integrator.wait_for_requests(1, WAIT_TIMEOUT).await[0].json();
        assert_eq!(request["recipient"]["id"], "user@app:7 ä/b");
        assert_eq!(request["sender"]["type"], "agent");
        let message = json!({"type": "text", "id": sent["id"], "text": "Your parcel is on its way."});
        assert_eq!(request["message"], message);
        assert_eq!(admin.final_delivery(1, 1).await["state"], "delivered");
        let accepted = wait_for_event(&webhook, "chat_accepted").await;
        assert_eq!((&accepted["visitor"]["external_id"], &accepted["chat_id"]), (&json!("user@app:7 ä/b"), &json!(1)));

        let chat = &admin.chats("active").await[0];
        assert_eq!((&chat["agent"]["id"], &chat["visitor"]["number"]), (&admin.id, &json!(1)));
        assert_eq!(chat["department"]["name"], "Sales");
        channel.send_text("user@app:7 ä/b", "Thank you").await;
        let timeline = admin.timeline(1).await;
        let shown: Vec<_> =
            timeline.iter().filter(|entry| entry["type"] == "text").map(|entry| &entry["text"]).collect();
        assert_eq!(shown, ["Your parcel is on its way.", "Thank you"], "the visitor writes in the same chat");
        admin.close(1).await;
        let finished = wait_for_event(&webhook, "chat_finished").await;
        assert_eq!(finished["chat"]["messages"].as_array().unwrap().len(), 2, "{finished}");
    });
}

#[test]
fn chat_of_a_program_reports_its_owner() {
    run_on_shared_host(async |host| {
        let webhook = TestReceiver::start(ok_response()).await;
        let account = host.create_account().await;
        add_webhook(&account, &webhook, json!({"events": ["chat_opened", "chat_waiting", "chat_joined"]})).await;
        let channel = account.create_channel("https://app.example/hook").await;
        say(&account.admin.client, &channel, "7", "News").await.expect(201);
        wait_for_event(&webhook, "chat_joined").await;
        assert_eq!(event_names(&webhook), ["chat_opened", "chat_joined"]);
    });
}

#[test]
fn message_goes_into_the_open_chat_and_leaves_its_owner() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let account = host.create_account().await;
        let channel = account.create_channel(&integrator.url()).await;
        let (admin, agent) = (&account.admin.client, account.create_agent("Ann").await);
        channel.post(&visitor_text("waiting", "Hi")).await.expect(200);
        let chat = open_accepted_chat(&agent, &channel, VISITOR_ID).await;
        for (visitor, chat, state) in [("waiting", 1, "waiting"), (VISITOR_ID, chat, "active")] {
            let sent = say(admin, &channel, visitor, "News").await.expect(201);
            assert_eq!(number(&sent["chat_id"]), chat, "{state}");
            assert_eq!(account.admin.final_delivery(chat, number(&sent["seq"])).await["state"], "delivered");
            let shown = account.admin.chats(state).await;
            assert_eq!((&shown[0]["chat_id"], &shown[0]["last_message"]["text"]), (&json!(chat), &json!("News")));
        }
        assert_eq!(agent.chat(chat).await["agent"]["id"], agent.id);
        agent.send_text(chat, "The agent can still write.").await;
        agent.close(chat).await;
        let sent = say(admin, &channel, VISITOR_ID, "One more thing").await.expect(201);
        assert_eq!(number(&sent["chat_id"]), chat + 1, "a new chat follows a closed one");
    });
}

#[test]
fn repeated_and_concurrent_messages_open_one_chat() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        let post = async |key: String, text: &str| -> ApiResponse {
            let request = account.admin.client.request(Method::POST, &path(&channel, "7"));
            send(request.header("idempotency-key", key).json(&json!({"type": "text", "text": text}))).await
        };
        let replies = join_all((0..8).map(async |number| post(format!("key {}", number % 4), "News").await)).await;
        let mut ids: Vec<Value> = replies.into_iter().map(|reply| reply.expect(201)["id"].clone()).collect();
        ids.sort_by_key(Value::to_string);
        ids.dedup();
        assert_eq!(ids.len(), 4, "each key is stored once: {ids:?}");
        assert_eq!(account.admin.chats("open").await.len(), 1);
        post("key 0".to_owned(), "Other news").await.expect_error(422, "idempotency_mismatch");
    });
}

#[test]
fn message_to_a_visitor_needs_an_admin_and_an_api_channel() {
    run_on_shared_host(async |host| {
        let (account, other) = (host.create_account().await, host.create_account().await);
        let channel = account.create_channel("https://app.example/hook").await;
        let agent = account.create_agent("Ann").await;
        say(&agent.client, &channel, "7", "Hi").await.expect_error(403, "forbidden");
        say(&other.admin.client, &channel, "7", "Hi").await.expect_error(404, "not_found");
        let admin = &account.admin.client;
        admin.post(&path(&channel, "7"), &json!({"type": "typein"})).await.expect_error(400, "invalid_request");
        let long = admin.post(&path(&channel, &"x".repeat(256)), &json!({"type": "text", "text": "Hi"})).await;
        assert_eq!(long.expect_error(400, "invalid_request")["error"]["field"], "external_id");
        let widget = account.create_widget(json!({})).await;
        let to_widget = format!("/admin/channels/{}/visitors/7/messages", widget.id);
        admin.post(&to_widget, &json!({"type": "text", "text": "Hi"})).await.expect_error(409, "conflict");

        channel.send_text("7", "Hi").await;
        admin.patch("/agent/visitors/1", &json!({"blacklisted": true})).await.expect(200);
        say(admin, &channel, "7", "Hi").await.expect_error(409, "conflict");
        assert_eq!(account.admin.chats("open").await.len(), 1);
    });
}
