//! Tests for the webhook event offline_message in a chat of an API channel, and for the visitor's rating in
//! chat_finished and chat_updated. Only widgets have an endpoint for offline messages, so the first test stores the
//! message by calling the `shared` crate. The real function then delivers the event.

use serde_json::{Value, json};
use shared::chats::visitor::receive_offline_form::{OfflineForm, receive_offline_form};
use shared::chats::visitor::visitor_entry::FromVisitor;
use shared::domain::accounts::department::ChatDepartment;
use shared::domain::chats::timeline_entry::TimelineEntry;
use shared::domain::visitors::visitor::VisitorProfile;
use shared::runtime::clock;
use shared::store::chats::Chats;
use shared::store::directory::Directory;
use shared::store::table::Table;
use shared::wire::queue_task::Task;

use crate::support::account_with_webhook::{WebhookFixture, final_webhook_delivery, wait_for_event};
use crate::support::api_client::number;
use crate::support::test_host::{TestHost, run_on_shared_host};
use crate::support::wait::WAIT_TIMEOUT;

/// Returns the `shared` crate's stores, which read and write the host's tables directly.
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
        let from = FromVisitor {
            channel: &channel,
            department: Some(&department),
            bot_id: None,
            external_id: "browser-1",
            network: None,
            settings: &settings,
            key: None,
            now: clock::now(),
        };
        let form = OfflineForm { from, text: "Please write to me", contacts: &profile, answers: None };
        let stored = receive_offline_form(&chats, &form).await.unwrap().unwrap();
        deliver(host, &stored.notifications[0]).await;
        let mut body = fixture.webhook_receiver.requests().pop().unwrap().json();
        let id = body.as_object_mut().unwrap().remove("offline_message_id").unwrap();
        assert!(id.as_str().is_some_and(|id| !id.is_empty()), "{id}");
        let geoip = json!({
            "region_code": "", "country": "", "country_code": "", "region": "", "city": "", "latitude": "",
            "longitude": "", "organization": "",
        });
        let utm_json = json!({"source": "", "campaign": "", "content": "", "medium": "", "term": ""});
        let expected = json!({
            "event_name": "offline_message",
            "chat_id": null,
            "widget_id": fixture.channel.id,
            "visitor": {
                "name": "Ada", "email": "ada@example.com", "phone": "+31 6 1", "number": "1", "description": "Gold",
                "social": {}, "chats_count": 1, "external_id": "browser-1",
            },
            "message": "Please write to me",
            "session": {"geoip": geoip, "utm": "", "utm_json": utm_json, "ip_addr": "", "user_agent": ""},
            "page": {"url": "https://shop.example/", "title": ""},
            "analytics": null,
            "user_token": null,
        });
        assert_eq!(body, expected);
        let waiting = &fixture.agent.chats("waiting").await[0];
        assert_eq!(waiting["last_message"]["text"], "Please write to me");
        let chat = fixture.agent.chat(number(&waiting["chat_id"])).await;
        assert_eq!(chat["visitor"]["sources"]["email"], "visitor");
    });
}

#[test]
fn chat_finished_contains_the_rating_and_chat_updated_a_later_one() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let widget = fixture.account.create_widget(json!({})).await;
        let visitor = widget.visitor().await;
        let chat_id = number(&visitor.say("Hello").await["chat_id"]);
        fixture.agent.accept(chat_id).await;
        let rate = async |rate: Value| {
            visitor.call("rating", json!({"chat_id": chat_id, "rate": rate})).await.expect(200);
            assert_eq!(visitor.session().await["chat"]["rate"], rate);
        };
        rate(json!("positive")).await;
        fixture.agent.close(chat_id).await;
        let finished = wait_for_event(&fixture.webhook_receiver, "chat_finished").await;
        assert_eq!(finished["chat"]["rate"], "positive");

        for (count, changed) in [(1, json!("negative")), (2, Value::Null)] {
            for _ in 0..2 {
                rate(changed.clone()).await;
            }
            let events = fixture.webhook_receiver.wait_for_requests(2 + count, WAIT_TIMEOUT).await;
            let event = events.last().unwrap().json();
            assert_eq!((&event["event_name"], &event["chat"]), (&json!("chat_updated"), &json!({"rate": changed})));
            assert_eq!((&event["agent"]["name"], &event["chat_id"]), (&json!("Ann"), &json!(chat_id)));
        }
        assert_eq!(fixture.agent.chat(chat_id).await["rate"], Value::Null);
        final_webhook_delivery(&fixture.agent, chat_id, "chat_updated").await;
    });
}
