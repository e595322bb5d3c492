//! Tests for the webhook events call_event and offline_message, and for the rating in chat_finished. The endpoints that
//! will trigger them do not exist yet, so the tests store the entries by calling the library. All later steps run as in
//! a deployed stack.

use serde_json::{Value, json};
use shared::domain::chat::Rating;
use shared::domain::department::ChatDepartment;
use shared::domain::message_content::Content;
use shared::domain::phone_call::CallKind;
use shared::domain::phone_call::CallStatus;
use shared::domain::phone_call::PhoneCall;
use shared::domain::timeline_entry::TimelineEntry;
use shared::domain::visitor::VisitorProfile;
use shared::domain::webhook::WebhookEventDetails;
use shared::domain::webhook_event::WebhookEvent;
use shared::runtime::clock;
use shared::store::chats::Chats;
use shared::store::chats::bot_and_webhook_notifications::NotificationContext;
use shared::store::chats::visitor_messages::IncomingMessage;
use shared::store::directory::Directory;
use shared::store::table::Table;
use shared::wire::queue_task::Task;

use crate::support::account_with_webhook::{WebhookFixture, final_webhook_delivery, ok_response, wait_for_event};
use crate::support::api_client::number;
use crate::support::test_host::{TestHost, run_on_shared_host};
use crate::support::test_receiver::CannedResponse;

/// Returns library clients that read and write the host's tables directly.
fn stores(host: &TestHost) -> (Chats, Directory) {
    let client = host.tables();
    (Chats::new(Table::new(client.clone(), "Chats")), Directory::new(Table::new(client, "Directory")))
}

/// Invokes the function that delivers an entry, just as its queue would.
async fn deliver(host: &TestHost, entry: &TimelineEntry) {
    let task = Task::first_attempt_of_new_entry(&entry.account_id, entry.chat_id, entry.seq);
    let record = json!({"messageId": entry.id, "body": serde_json::to_string(&task).unwrap(), "attributes": {}});
    let result = host.local.invoke("deliver-webhook", json!({"Records": [record]})).await.unwrap();
    assert_eq!(result, json!({"batchItemFailures": []}));
}

#[test]
fn call_event_contains_the_call_and_accepts_any_200() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create_with(
            host,
            [ok_response(), CannedResponse::Text(200, "text/html", "thanks".to_owned())],
        )
        .await;
        let chat_id = fixture.open_accepted_chat().await;
        let (chats, directory) = stores(host);
        let account_id = fixture.account.id.as_str().unwrap();
        let chat = chats.chat(account_id, chat_id).await.unwrap().unwrap();
        let settings = directory.settings(account_id).await.unwrap();
        let agent_id = fixture.agent.id.as_u64();
        let table = [
            (CallStatus::Start, json!({"status": "start"})),
            (CallStatus::AgentConnected, json!({"status": "agent_connected"})),
            (CallStatus::ClientConnected, json!({"status": "client_connected"})),
            (
                CallStatus::End(Some("https://calls.example/1.mp3".to_owned())),
                json!({"status": "end", "record_url": "https://calls.example/1.mp3"}),
            ),
            (CallStatus::Error("busy".to_owned()), json!({"status": "error", "reason": "busy"})),
        ];
        let accepted = wait_for_event(&fixture.webhook_receiver, "chat_accepted").await;
        for (status, expected) in table {
            let call = PhoneCall { kind: CallKind::Callback, phone: "+31 6 1".to_owned(), status };
            let to = NotificationContext { webhooks: &settings.webhooks, agent_id, now: clock::now() };
            let details = WebhookEventDetails { call: Some(&call), ..WebhookEventDetails::default() };
            let entries = chats.notify_webhooks(&chat, WebhookEvent::CallEvent, details, &to).await.unwrap();
            deliver(host, &entries[0]).await;
            let body = fixture.webhook_receiver.requests().pop().unwrap().json();
            let mut expected_call = json!({"type": "callback", "phone": "+31 6 1"});
            expected_call.as_object_mut().unwrap().extend(expected.as_object().unwrap().clone());
            let mut expected = accepted.clone();
            expected.as_object_mut().unwrap().remove("user_token");
            expected["event_name"] = json!("call_event");
            expected["call"] = expected_call;
            assert_eq!(body, expected);
            assert_eq!(final_webhook_delivery(&fixture.agent, chat_id, "call_event").await["state"], "delivered");
        }
    });
}

#[test]
fn offline_message_contains_text_and_visitor() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let (chats, directory) = stores(host);
        let account_id = fixture.account.id.as_str().unwrap();
        let settings = directory.settings(account_id).await.unwrap();
        let channel = directory.channel_of_account(account_id, &fixture.channel.id).await.unwrap();
        let profile = VisitorProfile {
            name: Some("Ada".to_owned()),
            email: Some("ada@example.com".to_owned()),
            phone: Some("+31 6 1".to_owned()),
            description: Some("Gold".to_owned()),
            url: Some("https://shop.example/".to_owned()),
            ..VisitorProfile::default()
        };
        let department = ChatDepartment { department_id: 1, name: "Sales".to_owned() };
        let incoming = IncomingMessage {
            channel: &channel,
            department: Some(&department),
            external_id: "browser-1",
            has_numeric_id: false,
            invite: None,
            profile: &profile,
            content: &Content::text("Please write to me"),
            settings: &settings,
            key: None,
            now: clock::now(),
        };
        let entries = chats.store_offline_message(&incoming).await.unwrap();
        deliver(host, &entries[0]).await;
        let mut body = fixture.webhook_receiver.requests().pop().unwrap().json();
        let id = body.as_object_mut().unwrap().remove("offline_message_id").unwrap();
        assert!(id.as_str().is_some_and(|id| !id.is_empty()), "{id}");
        let geoip = json!({
            "region_code": "", "country": "", "country_code": "", "region": "", "city": "", "latitude": "",
            "longitude": "", "organization": "",
        });
        let expected = json!({
            "event_name": "offline_message",
            "widget_id": fixture.channel.id,
            "visitor": {
                "name": "Ada", "email": "ada@example.com", "phone": "+31 6 1", "number": "1", "description": "Gold",
                "social": {}, "chats_count": 0,
            },
            "message": "Please write to me",
            "session": {"geoip": geoip, "utm": "", "utm_json": {}, "ip_addr": "", "user_agent": ""},
            "page": {"url": "https://shop.example/"},
            "analytics": null,
            "user_token": null,
        });
        assert_eq!(body, expected);
        let archived = &fixture.agent.chats("closed").await[0];
        assert_eq!(archived["last_message"]["text"], "Please write to me");
        let chat = fixture.agent.chat(number(&archived["chat_id"])).await;
        assert_eq!(chat["visitor"]["sources"]["email"], "visitor");
    });
}

#[test]
fn chat_finished_contains_the_rating() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let chat_id = fixture.open_accepted_chat().await;
        assert_eq!(fixture.agent.chat(chat_id).await["rate"], Value::Null);
        let (chats, _) = stores(host);
        chats.store_rating(fixture.account.id.as_str().unwrap(), chat_id, Rating::Negative).await.unwrap();
        fixture.agent.close(chat_id).await;
        assert_eq!(wait_for_event(&fixture.webhook_receiver, "chat_finished").await["chat"]["rate"], "negative");
        assert_eq!(fixture.agent.chat(chat_id).await["rate"], "negative");
    });
}
