//! The events whose endpoints come with calls and the widget: call_event, offline_message, and the rating of
//! chat_finished. They are stored through the library that those endpoints will call; everything after that is real.

use serde_json::{Value, json};
use shared::domain::call::Call;
use shared::domain::call::CallKind;
use shared::domain::call::CallStatus;
use shared::domain::chat::Rating;
use shared::domain::content::Content;
use shared::domain::department::ChatDepartment;
use shared::domain::entry::Entry;
use shared::domain::visitor::Profile;
use shared::domain::webhook::Details;
use shared::domain::webhook::WebhookEvent;
use shared::runtime::clock;
use shared::store::chats::Chats;
use shared::store::chats::transitions::EventContext;
use shared::store::chats::visitor_messages::Incoming;
use shared::store::directory::Directory;
use shared::store::table::Table;
use shared::wire::task::Task;

use crate::client::number;
use crate::harness::{Stage, on_stage};
use crate::hook::{Hooked, fine, notifications, recorded};
use crate::receiver::Answer;

/// The tables, as a function opens them.
fn tables(stage: &Stage) -> (Chats, Directory) {
    let client = stage.tables();
    (Chats::new(Table::new(client.clone(), "Chats")), Directory::new(Table::new(client, "Directory")))
}

/// Hands an entry to the function that delivers it, as its queue does.
async fn deliver(stage: &Stage, entry: &Entry) {
    let task = Task::new_entry(&entry.account_id, entry.chat_id, entry.seq);
    let record = json!({"messageId": entry.id, "body": serde_json::to_string(&task).unwrap(), "attributes": {}});
    let answer = stage.host.invoke("deliver-webhook", json!({"Records": [record]})).await.unwrap();
    assert_eq!(answer, json!({"batchItemFailures": []}));
}

#[test]
fn call_event_tells_of_a_call_and_any_200_is_success() {
    on_stage(async |stage| {
        let hooked = Hooked::open_with(stage, [fine(), Answer::Text(200, "text/html", "thanks".to_owned())]).await;
        let chat_id = hooked.accepted().await;
        let (chats, directory) = tables(stage);
        let account_id = hooked.account.id.as_str().unwrap();
        let chat = chats.chat(account_id, chat_id).await.unwrap().unwrap();
        let settings = directory.settings(account_id).await.unwrap();
        let agent_id = hooked.agent.id.as_u64();
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
        let accepted = notifications(&hooked.crm, "chat_accepted").await;
        for (status, expected) in table {
            let call = Call { kind: CallKind::Callback, phone: "+31 6 1".to_owned(), status };
            let to = EventContext { webhooks: &settings.webhooks, agent_id, now: clock::now() };
            let details = Details { call: Some(&call), ..Details::default() };
            let entries = chats.notify_webhooks(&chat, WebhookEvent::CallEvent, details, &to).await.unwrap();
            deliver(stage, &entries[0]).await;
            let body = hooked.crm.requests().pop().unwrap().json();
            let mut expected_call = json!({"type": "callback", "phone": "+31 6 1"});
            expected_call.as_object_mut().unwrap().extend(expected.as_object().unwrap().clone());
            let mut expected = accepted.clone();
            expected.as_object_mut().unwrap().remove("user_token");
            expected["event_name"] = json!("call_event");
            expected["call"] = expected_call;
            assert_eq!(body, expected);
            assert_eq!(recorded(&hooked.agent, chat_id, "call_event").await["state"], "delivered");
        }
    });
}

#[test]
fn offline_message_tells_what_was_left_and_by_whom() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        let (chats, directory) = tables(stage);
        let account_id = hooked.account.id.as_str().unwrap();
        let settings = directory.settings(account_id).await.unwrap();
        let channel = directory.channel_of(account_id, &hooked.channel.id).await.unwrap();
        let profile = Profile {
            name: Some("Ada".to_owned()),
            email: Some("ada@example.com".to_owned()),
            phone: Some("+31 6 1".to_owned()),
            description: Some("Gold".to_owned()),
            url: Some("https://shop.example/".to_owned()),
            ..Profile::default()
        };
        let department = ChatDepartment { department_id: 1, name: "Sales".to_owned() };
        let incoming = Incoming {
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
        let entries = chats.offline_message(&incoming).await.unwrap();
        deliver(stage, &entries[0]).await;
        let mut body = hooked.crm.requests().pop().unwrap().json();
        let id = body.as_object_mut().unwrap().remove("offline_message_id").unwrap();
        assert!(id.as_str().is_some_and(|id| !id.is_empty()), "{id}");
        let geoip = json!({
            "region_code": "", "country": "", "country_code": "", "region": "", "city": "", "latitude": "",
            "longitude": "", "organization": "",
        });
        let expected = json!({
            "event_name": "offline_message",
            "widget_id": hooked.channel.id,
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
        let archived = &hooked.agent.chats("closed").await[0];
        assert_eq!(archived["last_message"]["text"], "Please write to me");
        let chat = hooked.agent.chat(number(&archived["chat_id"])).await;
        assert_eq!(chat["visitor"]["sources"]["email"], "visitor");
    });
}

#[test]
fn chat_finished_carries_the_rating() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        let chat_id = hooked.accepted().await;
        assert_eq!(hooked.agent.chat(chat_id).await["rate"], Value::Null);
        let (chats, _) = tables(stage);
        chats.rate(hooked.account.id.as_str().unwrap(), chat_id, Rating::Negative).await.unwrap();
        hooked.agent.close(chat_id).await;
        assert_eq!(notifications(&hooked.crm, "chat_finished").await["chat"]["rate"], "negative");
        assert_eq!(hooked.agent.chat(chat_id).await["rate"], "negative");
    });
}
