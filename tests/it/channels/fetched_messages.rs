//! Tests of channels without an address, whose integrators fetch the messages to their visitors.

use std::time::Duration;

use futures_util::future::join;
use serde_json::{Value, json};

use crate::support::account_with_webhook::{add_webhook, event_names, ok_response};
use crate::support::api_client::{ApiResponse, TestChannel};
use crate::support::event_feed::{EventFeed, fields, requests};
use crate::support::test_host::{ActiveChat, TestHost, open_accepted_chat, run_on_shared_host, run_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::seconds;

const DAY: Duration = seconds(24 * 60 * 60);

async fn chat_to_fetch(host: &TestHost) -> ActiveChat {
    ActiveChat::create(host, "", json!({"integrator_url": null, "pull": true})).await
}

async fn fetch(channel: &TestChannel, query: &str) -> ApiResponse {
    EventFeed::of_channel(channel).fetch(query).await
}

fn texts(page: &Value) -> Vec<String> {
    fields(page, "/message/text")
}

async fn state(chat: &ActiveChat, seq: u64) -> Value {
    chat.agent.timeline_entry(chat.number, seq).await["delivery"]["state"].clone()
}

#[test]
fn messages_are_fetched_in_order_and_acknowledged() {
    run_on_shared_host(async |host| {
        let chat = chat_to_fetch(host).await;
        let mut seqs = Vec::new();
        for text in ["one", "two", "three"] {
            seqs.push(chat.send_text(text).await);
        }
        let page = EventFeed::of_channel(&chat.channel).fetch_all(3).await;
        assert_eq!(texts(&page), ["one", "two", "three"]);
        let body = requests(&page)[0].json();
        assert_eq!((&body["sender"]["type"], &body["message"]["type"]), (&json!("agent"), &json!("text")));
        assert!(body["recipient"]["id"].is_string(), "{body}");
        let secret = &chat.channel.signing_secret;
        assert!(requests(&page).iter().all(|request| request.is_signed_with(secret)), "{page}");
        let waiting = chat.agent.timeline_entry(chat.number, seqs[0]).await["delivery"].clone();
        assert_eq!((&waiting["state"], waiting["fetch_until"].is_u64()), (&json!("pending"), true), "{waiting}");

        let again = fetch(&chat.channel, "limit=2").await.expect(200);
        assert_eq!(texts(&again), ["one", "two"], "what is not acknowledged is returned again");
        let id = |page: &Value| page["events"][0]["headers"]["webhook-id"].clone();
        assert_eq!(id(&again), id(&page));
        let rest = fetch(&chat.channel, &format!("after={}", again["cursor"].as_str().unwrap())).await.expect(200);
        assert_eq!(texts(&rest), ["three"]);
        assert_eq!(state(&chat, seqs[1]).await, "delivered");
        assert_eq!(state(&chat, seqs[2]).await, "pending");
        let cursor = format!("after={}", rest["cursor"].as_str().unwrap());
        for _ in 0..2 {
            assert_eq!(fetch(&chat.channel, &cursor).await.expect(200), json!({"events": []}), "a repeated cursor");
        }
        assert_eq!(state(&chat, seqs[2]).await, "delivered");
    });
}

#[test]
fn request_waits_for_the_next_message() {
    run_on_shared_host(async |host| {
        let chat = chat_to_fetch(host).await;
        let (page, _) = join(fetch(&chat.channel, "wait=20"), chat.send_text("Here I am.")).await;
        assert_eq!(texts(&page.expect(200)), ["Here I am."]);
    });
}

#[test]
fn integrator_acknowledges_only_its_own_messages() {
    run_on_shared_host(async |host| {
        let chat = chat_to_fetch(host).await;
        let seq = chat.send_text("Hello").await;
        let cursor = EventFeed::of_channel(&chat.channel).fetch_all(1).await["cursor"].as_str().unwrap().to_owned();
        let other = chat.account.create_channel_with("", json!({"integrator_url": null, "pull": true})).await;
        let page = fetch(&other, &format!("after={cursor}")).await.expect(200);
        assert_eq!(page, json!({"events": []}));
        assert_eq!(state(&chat, seq).await, "pending");
        let wrong = TestChannel { endpoint: format!("{}x", chat.channel.endpoint), ..other };
        fetch(&wrong, "").await.expect_error(404, "not_found");
    });
}

#[test]
fn message_that_nobody_fetches_in_three_days_has_failed() {
    run_with_virtual_time(async |host, time| {
        let chat = chat_to_fetch(host).await;
        let webhook = TestReceiver::start(ok_response()).await;
        add_webhook(&chat.account, &webhook, json!({"events": ["delivery_failed"]})).await;
        chat.account.admin.client.put("/admin/settings", &json!({"idle_close": null})).await.expect(200);
        let seq = chat.send_text("Hello?").await;
        time.run_until_queues_are_empty().await;
        for _ in 0..9 {
            time.wait_until_idle().await;
            time.advance(DAY / 3);
            chat.agent.chat(chat.number).await;
        }
        assert_eq!(state(&chat, seq).await, "failed");
        let again = chat.send_text("Hello again?").await;
        time.run_until_queues_are_empty().await;
        assert_eq!(texts(&fetch(&chat.channel, "").await.expect(200)), ["Hello again?"]);
        let failed = chat.agent.timeline_entry(chat.number, seq).await["delivery"].clone();
        assert_eq!(failed["error"]["message"], "Not delivered: not fetched within three days", "{failed}");
        time.advance(seconds(60));
        host.local.run_schedule("schedule-requeue-deliveries").await.expect("the sweep runs");
        time.run_until_queues_are_empty().await;
        assert_eq!(event_names(&webhook), ["delivery_failed"], "the sweep queues the event");
        for _ in 0..9 {
            time.wait_until_idle().await;
            time.advance(DAY / 3);
            chat.agent.chat(chat.number).await;
        }
        assert_eq!(state(&chat, again).await, "failed");
        let retry = format!("/agent/chats/{}/messages/{again}/retry", chat.number);
        chat.agent.client.post(&retry, &json!({})).await.expect(202);
        time.run_until_queues_are_empty().await;
        assert_eq!(state(&chat, again).await, "pending", "it waits for three more days");
        assert_eq!(texts(&fetch(&chat.channel, "").await.expect(200)), ["Hello again?"]);
    });
}

#[test]
fn channel_changes_between_fetching_and_an_address() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let chat = chat_to_fetch(host).await;
        let path = format!("/admin/channels/{}", chat.channel.id);
        let admin = &chat.account.admin.client;
        let shown = admin.get(&path).await.expect(200);
        assert_eq!((&shown["pull"], &shown["integrator_url"]), (&json!(true), &json!(null)));
        admin.post(&format!("{path}/test"), &json!({})).await.expect_error(409, "conflict");
        chat.send_text("fetched").await;
        time.run_until_queues_are_empty().await;

        let changed = admin.patch(&path, &json!({"integrator_url": integrator.url()})).await.expect(200);
        assert_eq!(changed["pull"], json!(false));
        time.advance(seconds(10));
        chat.send_text("posted").await;
        time.run_until_queues_are_empty().await;
        assert_eq!(integrator.texts(), ["posted"]);
        assert_eq!(texts(&fetch(&chat.channel, "").await.expect(200)), ["fetched"], "it still waits");

        admin.patch(&path, &json!({"pull": true})).await.expect(200);
        time.advance(seconds(10));
        let second = open_accepted_chat(&chat.agent, &chat.channel, "another visitor").await;
        chat.agent.send_text(second, "fetched, too").await;
        time.run_until_queues_are_empty().await;
        assert_eq!(texts(&fetch(&chat.channel, "").await.expect(200)), ["fetched", "fetched, too"]);
        assert_eq!(integrator.texts(), ["posted"]);
    });
}

#[test]
fn what_waits_to_be_fetched_does_not_hold_back_what_is_posted() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let chat = chat_to_fetch(host).await;
        chat.send_text("fetched").await;
        time.run_until_queues_are_empty().await;
        let settings = json!({"integrator_url": integrator.url(), "late_delivery": true, "strict_order": true});
        let path = format!("/admin/channels/{}", chat.channel.id);
        chat.account.admin.client.patch(&path, &settings).await.expect(200);
        time.advance(seconds(10));
        chat.send_text("posted").await;
        time.run_until_queues_are_empty().await;
        assert_eq!(integrator.texts(), ["posted"]);
    });
}

#[test]
fn what_has_failed_does_not_hold_back_what_is_fetched() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start(CannedResponse::Json(503, json!({}))).await;
        let settings = json!({"late_delivery": true, "strict_order": true});
        let chat = ActiveChat::create(host, &integrator.url(), settings).await;
        chat.send_text("failed").await;
        time.run_until_failure_is_shown().await;
        let path = format!("/admin/channels/{}", chat.channel.id);
        chat.account.admin.client.patch(&path, &json!({"pull": true})).await.expect(200);
        time.advance(seconds(10));
        chat.send_text("fetched").await;
        time.run_until_queues_are_empty().await;
        assert_eq!(texts(&fetch(&chat.channel, "").await.expect(200)), ["fetched"]);
    });
}

#[test]
fn invalid_settings_and_queries_name_the_field() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let admin = &account.admin.client;
        let name = json!("App");
        let bodies = [
            (json!({"name": name}), "integrator_url"),
            (json!({"name": name, "pull": false}), "integrator_url"),
            (json!({"name": name, "pull": true, "integrator_url": "https://app.example"}), "pull"),
        ];
        for (body, field) in bodies {
            let error = admin.post("/admin/channels", &body).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], field, "{body}");
        }
        let channel = account.create_channel_with("", json!({"integrator_url": null, "pull": true})).await;
        let path = format!("/admin/channels/{}", channel.id);
        let error = admin.patch(&path, &json!({"pull": false})).await.expect_error(400, "invalid_request");
        assert_eq!(error["error"]["field"], "integrator_url");
        admin.patch(&path, &json!({"name": "Other"})).await.expect(200);
        for (query, field) in [("wait=21", "wait"), ("limit=0", "limit"), ("limit=51", "limit"), ("after=x", "after")] {
            let error = fetch(&channel, query).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], field, "{query}");
        }
    });
}
