//! Tests of the answers that a visitor gets by e-mail, and of the replies.

use serde_json::{Value, json};

use crate::emails::fixture::{Fixture, reply_address};
use crate::support::account_with_webhook::{add_webhook, event_names};
use crate::support::bot_fixture::{TestBot, register_provider};
use crate::support::test_host::{TestHost, run_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::virtual_time::VirtualTime;
use crate::support::wait::seconds;

/// The time that a visitor is away before an answer is sent.
const AWAY_SECONDS: u64 = 5 * 60;

async fn fixture<'h>(host: &'h TestHost, time: &VirtualTime<'_>) -> Fixture<'h> {
    Fixture::create(host, time, json!({"sender_name": "Shop", "answers_to_visitor": true}), json!({})).await
}

/// An agent has answered a visitor who has left. Returns the e-mail.
async fn answered(fixture: &Fixture<'_>, time: &VirtualTime<'_>) -> Value {
    fixture.open_accepted_chat().await;
    time.advance(seconds(1));
    fixture.agent.send_text(1, "It arrives tomorrow").await;
    let emails = fixture.emails_to(time, &fixture.address).await;
    let [email] = emails.as_slice() else { panic!("{emails:?}") };
    email.clone()
}

#[test]
fn missed_messages_are_in_one_email() {
    run_with_virtual_time(async |host, time| {
        let fixture = fixture(host, time).await;
        fixture.open_accepted_chat().await;
        time.advance(seconds(1));
        fixture.agent.send_text(1, "First answer").await;
        time.wait_until_idle().await;
        time.advance(seconds(AWAY_SECONDS / 2));
        fixture.agent.send_text(1, "Second answer").await;
        let emails = fixture.emails_to(time, &fixture.address).await;
        let [email] = emails.as_slice() else { panic!("{emails:?}") };
        let text = email["text"].as_str().unwrap();
        assert!(text.contains("First answer") && text.contains("Second answer"), "{text}");
        assert!(!text.contains("Where is my order?"), "{text}");
        fixture.agent.send_text(1, "Third answer").await;
        let emails = fixture.emails_to(time, &fixture.address).await;
        let text = emails[1]["text"].as_str().unwrap();
        assert!(text.contains("Third answer") && !text.contains("Second answer"), "{text}");
    });
}

#[test]
fn visitor_who_is_there_gets_no_email() {
    run_with_virtual_time(async |host, time| {
        let fixture = fixture(host, time).await;
        fixture.open_accepted_chat().await;
        let socket = fixture.visitor.open_socket().await;
        fixture.agent.send_text(1, "Just before it is closed").await;
        time.wait_until_idle().await;
        time.advance(seconds(1));
        drop(socket);
        assert_eq!(fixture.emails_to(time, &fixture.address).await, Vec::<Value>::new(), "the widget has shown it");
        time.advance(seconds(1));
        fixture.agent.send_text(1, "Before the visitor returns").await;
        time.wait_until_idle().await;
        time.advance(seconds(1));
        fixture.visitor.session().await;
        assert_eq!(fixture.emails_to(time, &fixture.address).await, Vec::<Value>::new(), "the widget has read it");
        let _socket = fixture.visitor.open_socket().await;
        fixture.agent.send_text(1, "While the widget is connected").await;
        assert_eq!(fixture.emails_to(time, &fixture.address).await, Vec::<Value>::new());
    });
}

#[test]
fn reply_becomes_a_message_of_the_visitor_once() {
    run_with_virtual_time(async |host, time| {
        let fixture = fixture(host, time).await;
        let webhook = TestReceiver::start(CannedResponse::ok()).await;
        add_webhook(&fixture.account, &webhook, json!({"events": ["message"]})).await;
        let email = answered(&fixture, time).await;
        let text = "Thank you\r\n\r\nOn Sat, Nov 22, 2025 at 9:35 AM Shop wrote:\r\n> It arrives tomorrow\r\n";
        let id = json!({"message_id": "one@example.com"});
        time.advance(seconds(11));
        for _ in 0..2 {
            fixture.deliver(&reply_address(&email), text, id.clone()).await;
            time.run_until_queues_are_empty().await;
        }
        assert_eq!(fixture.visitor_texts(1).await, ["Where is my order?", "Thank you"]);
        assert!(event_names(&webhook).iter().any(|name| name == "message"), "{:?}", event_names(&webhook));
        let repeated = json!({"Records": [{"ses": {"mail": {"messageId": "deleted"}, "receipt": {
            "recipients": [reply_address(&email)], "spfVerdict": {"status": "PASS"},
        }}}]});
        assert_eq!(host.local.invoke("receive-email", repeated).await.unwrap(), Value::Null);
        assert_eq!(fixture.visitor_texts(1).await.len(), 2, "the e-mail was deleted");
    });
}

#[test]
fn reply_to_a_closed_chat_opens_a_chat_with_the_bot() {
    run_with_virtual_time(async |host, time| {
        let provider = TestReceiver::start(CannedResponse::ok()).await;
        let email = json!({"sender_name": "Shop", "answers_to_visitor": true});
        let account_fixture = Fixture::create(host, time, email, json!({})).await;
        let department = json!({"name": "Sales", "agent_ids": [account_fixture.agent.id]});
        let department = account_fixture.agent.client.post("/admin/departments", &department).await.expect(201);
        let departments = json!({"department_ids": [department["department_id"]]});
        let path = format!("/admin/channels/{}", account_fixture.widget.id);
        account_fixture.agent.client.patch(&path, &departments).await.expect(200);
        let email = answered(&account_fixture, time).await;
        account_fixture.agent.close(1).await;
        let provider_id = register_provider(&host.operator, &provider.url(), json!({})).await;
        TestBot::connect(
            &account_fixture.account,
            &provider_id,
            &[],
            json!({"channel_ids": [account_fixture.widget.id]}),
        )
        .await;
        time.wait_until_idle().await;
        time.advance(seconds(11));
        account_fixture.deliver(&reply_address(&email), "One more question", json!({})).await;
        time.run_until_queues_are_empty().await;
        assert_eq!(account_fixture.visitor_texts(2).await, ["One more question"]);
        assert!(provider.texts().iter().any(|text| text.contains("One more question")), "{:?}", provider.texts());
    });
}

#[test]
fn forged_reply_is_refused() {
    run_with_virtual_time(async |host, time| {
        let fixture = fixture(host, time).await;
        let address = reply_address(&answered(&fixture, time).await);
        let forged = address.replace("reply+", "reply+a");
        fixture.deliver(&forged, "forged address", json!({})).await;
        fixture.deliver("chat@mail.localhost", "no reply address", json!({})).await;
        fixture.deliver(&address, "forged sender", json!({"from": "eve@example.com"})).await;
        fixture.deliver(&address, "failed checks", json!({"verdicts": {"spf": "FAIL", "dkim": "GRAY"}})).await;
        fixture.deliver(&address, "failed policy", json!({"verdicts": {"dmarc": "FAIL"}})).await;
        let automatic = format!(
            "From: <{}>\r\nMessage-ID: <a@b.example>\r\nAuto-Submitted: auto-replied\r\n\r\nI am away",
            fixture.address
        );
        fixture.deliver(&address, "", json!({"raw": automatic})).await;
        time.run_until_queues_are_empty().await;
        assert_eq!(fixture.visitor_texts(1).await, ["Where is my order?"]);
        time.advance(seconds(91 * 24 * 60 * 60));
        fixture.deliver(&address, "too late", json!({})).await;
        let stored = host.local.objects().keys("Files", "mail/").unwrap();
        assert_eq!(stored, [], "refused e-mails are deleted, too");
    });
}

#[test]
fn local_page_shows_emails_and_replies_as_the_recipient() {
    run_with_virtual_time(async |host, time| {
        let fixture = fixture(host, time).await;
        let email = answered(&fixture, time).await;
        let page = |path: &str| format!("{}/mail{path}", host.local.base_url());
        let get = async |path: &str| reqwest::get(page(path)).await.unwrap().text().await.unwrap();
        assert!(get("").await.contains("New message from Shop"));
        let shown = get(&format!("/{}", email["id"].as_str().unwrap())).await;
        assert!(shown.contains("It arrives tomorrow") && shown.contains("<iframe title=\"HTML\" sandbox"), "{shown}");
        let form = page(&format!("/{}/reply", email["id"].as_str().unwrap()));
        let reply = reqwest::Client::new().post(form).body("text=Thank+you%0D%0Avery+much").send().await.unwrap();
        assert_eq!(reply.status(), 200, "after a redirect");
        time.wait_until_idle().await;
        assert_eq!(fixture.visitor_texts(1).await, ["Where is my order?", "Thank you\nvery much"]);
    });
}
