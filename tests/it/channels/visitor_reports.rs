//! Tests for what an integrator reports about a visitor: the rating of a chat, and receipts of messages.

use serde_json::{Value, json};

use crate::support::account_with_webhook::{WebhookFixture, add_webhook, event_names, ok_response, wait_for_event};
use crate::support::agent_socket::AgentSocket;
use crate::support::api_client::{ApiResponse, TestChannel};
use crate::support::test_host::{
    ActiveChat, VISITOR_ID, open_accepted_chat, run_on_shared_host, run_with_virtual_time,
};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::seconds;

async fn report(channel: &TestChannel, kind: &str, body: &Value) -> ApiResponse {
    channel.client.post(&format!("{}/{kind}", channel.endpoint), body).await
}

fn receipt(visitor: &str, message: &Value, kind: &str) -> Value {
    json!({"sender": {"id": visitor}, "message_id": message, "type": kind})
}

#[test]
fn rating_through_the_channel_is_in_chat_finished_and_later() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let (channel, agent) = (&fixture.channel, &fixture.agent);
        let rate = async |body: Value| report(channel, "rating", &body).await;
        rate(json!({"sender": {"id": 7}, "rate": "positive"})).await.expect_error(404, "not_found");
        channel.post(&json!({"sender": {"id": 7}, "message": {"type": "text", "text": "Hi"}})).await.expect(200);
        agent.accept(1).await;
        rate(json!({"sender": {"id": "7"}, "rate": "negative"})).await.expect(200);
        agent.close(1).await;
        assert_eq!(wait_for_event(&fixture.webhook_receiver, "chat_finished").await["chat"]["rate"], "negative");
        for _ in 0..2 {
            let rated = rate(json!({"sender": {"id": 7}, "chat_id": 1, "rate": "positive"})).await;
            assert_eq!(rated.expect(200), json!({"result": "ok"}), "a repetition changes nothing");
        }
        assert_eq!(wait_for_event(&fixture.webhook_receiver, "chat_updated").await["chat"]["rate"], "positive");

        channel.send_text("another", "Hi").await;
        rate(json!({"sender": {"id": "another"}, "chat_id": 1, "rate": null})).await.expect_error(404, "not_found");
        let other = fixture.account.create_channel("https://app.example/hook").await;
        let foreign = json!({"sender": {"id": 7}, "chat_id": 1, "rate": null});
        report(&other, "rating", &foreign).await.expect_error(404, "not_found");
        let wrong = channel.endpoint.replace("/channel/", "/channel/x");
        channel.client.post(&format!("{wrong}/rating"), &foreign).await.expect_error(404, "not_found");
        for (field, body) in [
            ("rate", json!({"sender": {"id": 7}})),
            ("rate", json!({"sender": {"id": 7}, "rate": "good"})),
            ("sender.id", json!({"sender": {}, "rate": null})),
            ("sender", json!({"rate": null})),
            ("chat_id", json!({"sender": {"id": 7}, "chat_id": "x", "rate": null})),
        ] {
            assert_eq!(rate(body).await.expect_error(400, "invalid_request")["error"]["field"], field);
        }
    });
}

#[test]
fn agents_see_when_a_message_was_delivered_and_read() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let active = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let (agent, channel) = (&active.agent, &active.channel);
        let seq = active.send_text("Your parcel is on its way.").await;
        active.final_delivery(seq).await;
        let message = integrator.requests()[0].json()["message"]["id"].clone();
        assert!(agent.timeline_entry(active.number, seq).await["receipt"].is_null());

        let mut socket = AgentSocket::open(agent).await;
        let send = async |body: Value| report(channel, "receipts", &body).await;
        assert_eq!(send(receipt(VISITOR_ID, &message, "delivered")).await.expect(200), json!({"result": "ok"}));
        let pushed = socket.find("the receipt", |frame| frame["message"]["receipt"].is_object()).await;
        let delivered_at = pushed["message"]["receipt"]["delivered_at"].clone();
        assert!(delivered_at.is_u64() && pushed["message"]["receipt"]["read_at"].is_null(), "{pushed}");
        for kind in ["read", "read", "delivered"] {
            send(receipt(VISITOR_ID, &message, kind)).await.expect(200);
        }
        let entry = agent.timeline_entry(active.number, seq).await;
        assert_eq!(entry["receipt"]["delivered_at"], delivered_at, "the first time stays");
        assert!(entry["receipt"]["read_at"].is_u64(), "{entry}");
        assert_eq!(entry["delivery"]["state"], "delivered", "{entry}");

        let own = agent.timeline_entry(active.number, 1).await["id"].clone();
        let unknown = json!("01a214d2-d7b1-7000-8000-04000000ab59");
        for (visitor, message) in
            [("another", &message), (VISITOR_ID, &own), (VISITOR_ID, &unknown), (VISITOR_ID, &json!("x"))]
        {
            send(receipt(visitor, message, "read")).await.expect_error(404, "not_found");
        }
        let other = active.account.create_channel("https://app.example/hook").await;
        report(&other, "receipts", &receipt(VISITOR_ID, &message, "read")).await.expect_error(404, "not_found");
        let invalid = send(receipt(VISITOR_ID, &message, "seen")).await.expect_error(400, "invalid_request");
        assert_eq!(invalid["error"]["field"], "type");
    });
}

#[test]
fn chat_finished_waits_for_the_rating() {
    run_with_virtual_time(async |host, time| {
        let both = json!(["chat_finished", "chat_updated"]);
        // The last webhook gets no chat_finished that could contain the rating.
        let webhooks = [(0, both.clone()), (300, both), (300, json!(["chat_updated"]))];
        let account = host.create_account().await;
        let agent = account.create_agent("Ann").await;
        let channel = account.create_channel("https://app.example/hook").await;
        let mut receivers = Vec::new();
        for (seconds, events) in webhooks {
            let receiver = TestReceiver::start(ok_response()).await;
            add_webhook(&account, &receiver, json!({"events": events, "rating_wait_seconds": seconds})).await;
            receivers.push(receiver);
        }
        let chat = open_accepted_chat(&agent, &channel, VISITOR_ID).await;
        agent.close(chat).await;
        time.wait_until_idle().await;
        time.advance(seconds(120));
        let rating = json!({"sender": {"id": VISITOR_ID}, "rate": "positive"});
        report(&channel, "rating", &rating).await.expect(200);
        time.run_until_queues_are_empty().await;
        let names: Vec<_> = receivers.iter().map(event_names).collect();
        assert_eq!(names, [vec!["chat_finished", "chat_updated"], vec!["chat_finished"], vec!["chat_updated"]]);
        let rates: Vec<_> = receivers[..2].iter().map(|it| it.requests()[0].json()["chat"]["rate"].clone()).collect();
        assert_eq!(rates, [Value::Null, json!("positive")]);
        let waited = receivers[1].requests()[0].json();
        assert_eq!(waited["event_name"], "chat_finished");
    });
}
