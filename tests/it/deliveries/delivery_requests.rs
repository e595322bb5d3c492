//! Tests for the endpoint that shows a delivery with its request, and for the counts of deliveries.

use serde_json::{Value, json};

use crate::support::account_with_webhook::{WebhookFixture, final_webhook_delivery};
use crate::support::api_client::{ApiClient, TestAgent, number};
use crate::support::bot_fixture::{BotFixture, chat_number};
use crate::support::shown_request::assert_shown_request;
use crate::support::test_host::{ActiveChat, VISITOR_ID, run_on_shared_host, run_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

const COUNTS_PATH: &str = "/admin/deliveries/counts";

async fn show(admin: &ApiClient, chat: u64, seq: &Value) -> Value {
    admin.get(&format!("/admin/deliveries/{chat}/{seq}")).await.expect(200)
}

/// Returns the delivery's row in the delivery log, which does not contain the request.
async fn listed(admin: &TestAgent, chat: u64, seq: &Value) -> Value {
    let state = show(&admin.client, chat, seq).await["state"].as_str().unwrap().to_owned();
    let page = admin.client.get(&format!("/admin/deliveries?state={state}&chat_id={chat}")).await.expect(200);
    let rows = page["deliveries"].as_array().unwrap();
    rows.iter().find(|row| row["seq"] == *seq).expect("the delivery is listed").clone()
}

#[test]
fn message_to_an_integrator_is_shown_as_sent() {
    run_on_shared_host(async |host| {
        let overload = CannedResponse::Text(503, "text/plain", "upstream connect error".to_owned());
        let responses = [overload, CannedResponse::ok()];
        let integrator = TestReceiver::start_sequence(responses).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({"chunked": true})).await;
        let seq = active_chat.send_text("Hello?").await;
        active_chat.final_delivery(seq).await;
        let mut shown = show(&active_chat.agent.client, active_chat.number, &json!(seq)).await;
        assert_shown_request(&shown["request"], &integrator.requests()[1]);
        assert_eq!(shown["request"]["url"], format!("{}/{}", integrator.url(), active_chat.channel.id));
        assert_eq!(shown["request_error"], Value::Null);
        assert!(!shown.to_string().contains(&active_chat.channel.signing_secret), "{shown}");
        let attempts = &shown["attempts"];
        assert_eq!(attempts[0]["error"], "HTTP 503", "{attempts}");
        assert_eq!((&attempts[0]["answer"], attempts[1].get("answer")), (&json!("upstream connect error"), None));
        let entry = active_chat.agent.timeline_entry(active_chat.number, seq).await;
        assert_eq!(entry["delivery"]["attempts"][0].get("answer"), None, "agents see only the reason");

        let fields = shown.as_object_mut().unwrap();
        fields.retain(|name, _| !name.starts_with("request"));
        assert_eq!(shown, listed(&active_chat.agent, active_chat.number, &json!(seq)).await);

        active_chat.agent.client.delete(&format!("/admin/channels/{}", active_chat.channel.id)).await.expect(200);
        let shown = wait_for("the expiry of the cached channel", WAIT_TIMEOUT, async || {
            let shown = show(&active_chat.agent.client, active_chat.number, &json!(seq)).await;
            if shown["request"].is_null() { Ok(shown) } else { Err(shown) }
        })
        .await;
        assert_eq!(shown["request_error"], "the channel was deleted");
    });
}

#[test]
fn events_for_bots_and_webhooks_are_shown_as_sent() {
    run_on_shared_host(async |host| {
        let bot = BotFixture::create_with(host, json!({"agent_ids": [1]}), json!({})).await;
        let chat = chat_number(&bot.send_visitor_text(VISITOR_ID, "Hello").await);
        bot.final_bot_delivery(chat, "Hello").await;
        let seq = bot.entry_with_text(chat, "Hello").await["seq"].clone();
        let shown = show(&bot.agent.client, chat, &seq).await;
        assert_shown_request(&shown["request"], &bot.provider.requests()[0]);
        assert_eq!(shown["request"]["url"], format!("{}/***", bot.provider.url()));
        assert!(!shown.to_string().contains(&bot.bot.token), "{shown}");

        let webhook = WebhookFixture::create(host).await;
        let chat = webhook.open_accepted_chat().await;
        webhook.agent.close(chat).await;
        final_webhook_delivery(&webhook.agent, chat, "chat_finished").await;
        let admin = &webhook.account.admin;
        let timeline = admin.timeline(chat).await;
        for (event, position) in [("chat_accepted", 0), ("chat_finished", 1)] {
            let entry = timeline.iter().find(|entry| entry["type"] == event).unwrap();
            let shown = show(&admin.client, chat, &entry["seq"]).await;
            assert_shown_request(&shown["request"], &webhook.webhook_receiver.requests()[position]);
            assert_eq!(shown["webhook_id"], webhook.webhook["webhook_id"]);
        }
        let path = webhook.webhook_path("");
        admin.client.delete(&path).await.expect(200);
        let entry = timeline.iter().find(|entry| entry["type"] == "chat_finished").unwrap();
        wait_for("the expiry of the cached settings", WAIT_TIMEOUT, async || {
            let shown = show(&admin.client, chat, &entry["seq"]).await;
            if shown["request_error"] == "the webhook was removed" { Ok(()) } else { Err(shown) }
        })
        .await;
    });
}

#[test]
fn only_deliveries_of_the_account_are_shown() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let seq = active_chat.send_text("Hello").await;
        active_chat.final_delivery(seq).await;
        let admin = &active_chat.agent.client;
        let path = |chat: &str, seq: &str| format!("/admin/deliveries/{chat}/{seq}");
        let chat = active_chat.number.to_string();
        for (chat, seq) in [(&*chat, "1"), (&*chat, "99"), ("99", "1"), ("x", "1"), (&*chat, "x")] {
            admin.get(&path(chat, seq)).await.expect_error(404, "not_found");
        }
        let other = host.create_account().await.admin.client;
        other.get(&path(&chat, &seq.to_string())).await.expect_error(404, "not_found");
        let agent = active_chat.account.create_agent("Ann").await;
        agent.client.get(&path(&chat, &seq.to_string())).await.expect_error(403, "forbidden");
        agent.client.get(COUNTS_PATH).await.expect_error(403, "forbidden");
    });
}

#[test]
fn failed_and_pending_deliveries_are_counted() {
    run_with_virtual_time(async |host, _| {
        let integrator = TestReceiver::start(CannedResponse::error(7, "blocked")).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let (admin, other) = (&active_chat.agent.client, host.create_account().await.admin.client);
        let count = |count: u64| json!({"count": count, "has_more": false});
        let counts =
            async |client: &ApiClient, query: &str| client.get(&format!("{COUNTS_PATH}{query}")).await.expect(200);
        for text in ["one", "two"] {
            let seq = active_chat.send_text(text).await;
            active_chat.final_delivery(seq).await;
        }
        let release = integrator.respond_on_release(CannedResponse::ok());
        let pending = active_chat.send_text("three").await;
        integrator.wait_for_requests(3, WAIT_TIMEOUT).await;
        // The index of pending deliveries is updated with a delay.
        wait_for("the counts", WAIT_TIMEOUT, async || {
            let all = counts(admin, "").await;
            if all == json!({"failed": count(2), "pending": count(1)}) { Ok(()) } else { Err(all) }
        })
        .await;
        assert_eq!(counts(admin, "?state=failed").await, json!({"failed": count(2), "pending": null}));
        assert_eq!(counts(&other, "").await, json!({"failed": count(0), "pending": count(0)}));
        let rows = admin.get("/admin/deliveries").await.expect(200);
        let newest = number(&rows["deliveries"][0]["since"]);
        let later = counts(admin, &format!("?state=failed&from={}", newest + 1)).await;
        assert_eq!(later["failed"], count(0));
        assert_eq!(counts(admin, &format!("?to={newest}")).await["failed"], count(2));
        release.send(()).unwrap();
        active_chat.final_delivery(pending).await;
        wait_for("no pending delivery", WAIT_TIMEOUT, async || {
            let left = counts(admin, "?state=pending").await;
            if left == json!({"failed": null, "pending": count(0)}) { Ok(()) } else { Err(left) }
        })
        .await;

        for (field, query) in [("state", "state=delivered"), ("from", "from=x"), ("to", "from=2&to=1")] {
            let refused = admin.get(&format!("{COUNTS_PATH}?{query}")).await;
            assert_eq!(refused.expect_error(400, "invalid_request")["error"]["field"], field, "{query}");
        }
    });
}
