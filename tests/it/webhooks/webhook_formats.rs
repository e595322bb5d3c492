//! Tests for the formats of webhook bodies: the specification's JSON and CloudEvents.

use serde_json::{Value, json};

use crate::support::account_with_webhook::{
    WEBHOOKS_PATH, WebhookFixture, add_webhook, final_webhook_delivery, ok_response_with,
};
use crate::support::test_host::run_on_shared_host;
use crate::support::test_receiver::TestReceiver;
use crate::support::wait::WAIT_TIMEOUT;

const CLOUD_EVENTS_TYPE: &str = "application/cloudevents+json; charset=utf-8";

#[test]
fn cloud_event_contains_the_body_of_the_specification() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let answer = ok_response_with(json!({"custom_data": [{"title": "Order", "content": "No. 4711"}]}));
        let receiver = TestReceiver::start(answer).await;
        let added = add_webhook(&fixture.account, &receiver, json!({"format": "cloudevents"})).await;
        let chat = fixture.open_accepted_chat().await;
        let wrapped = receiver.wait_for_requests(1, WAIT_TIMEOUT).await.remove(0);
        assert!(wrapped.is_signed_with(added["signing_secret"].as_str().expect("a secret")));
        assert_eq!(wrapped.header("content-type"), Some(CLOUD_EVENTS_TYPE));
        let plain = fixture.webhook_receiver.wait_for_requests(1, WAIT_TIMEOUT).await.remove(0);
        let mut event = wrapped.json();
        assert_eq!(event["data"].take(), plain.json());
        let body = String::from_utf8(wrapped.body.clone()).unwrap();
        assert!(body.contains(std::str::from_utf8(&plain.body).unwrap()), "the body is unchanged: {body}");
        assert!(event["time"].take().as_str().is_some_and(|time| time.starts_with("20") && time.ends_with('Z')));
        let expected = json!({
            "specversion": "1.0",
            "id": wrapped.header("webhook-id"),
            "source": format!("urn:switchboard:channel:{}", plain.json()["widget_id"].as_str().unwrap()),
            "type": "switchboard.chat_accepted",
            "subject": chat.to_string(),
            "datacontenttype": "application/json",
            "time": null,
            "data": null,
        });
        assert_eq!(event, expected);
        fixture.agent.close(chat).await;
        final_webhook_delivery(&fixture.agent, chat, "chat_finished").await;
        assert_eq!(fixture.panel(chat).await["custom_data"][0]["title"], "Order", "the response is processed");
    });
}

#[test]
fn format_is_changed_by_webhook() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let admin = &fixture.account.admin.client;
        assert_eq!(fixture.webhook["format"], "json");
        let test = async |format: &str| {
            let changed = admin.patch(&fixture.webhook_path(""), &json!({"format": format})).await.expect(200);
            assert_eq!(changed["format"], format);
            let sent =
                admin.post(&fixture.webhook_path("/test"), &json!({"event": "offline_message"})).await.expect(200);
            serde_json::from_str::<Value>(sent["request"]["body"].as_str().expect("a body")).unwrap()
        };
        let wrapped = test("cloudevents").await;
        assert_eq!((&wrapped["type"], wrapped.get("subject")), (&json!("switchboard.offline_message"), None));
        let plain = test("json").await;
        assert_eq!((&plain["event_name"], plain.get("specversion")), (&json!("offline_message"), None));
        for format in [json!("xml"), json!(7), json!([])] {
            let refused = admin.patch(&fixture.webhook_path(""), &json!({"format": format})).await;
            assert_eq!(refused.expect_error(400, "invalid_request")["error"]["field"], "format");
            let body = json!({"url": "https://crm.example", "format": format});
            let refused = admin.post(WEBHOOKS_PATH, &body).await;
            assert_eq!(refused.expect_error(400, "invalid_request")["error"]["field"], "format");
        }
    });
}
