//! Tests of what visitors enter into the contacts form and what the page says about them: contact data that is cleared,
//! answers to custom fields, and the page's address.

use serde_json::{Value, json};

use crate::support::account_with_webhook::{add_webhook, ok_response, wait_for_event};
use crate::support::api_client::TestAccount;
use crate::support::test_host::{TestHost, run_on_shared_host};
use crate::support::test_receiver::TestReceiver;
use crate::support::widget_client::TestVisitor;

/// Creates an account with a widget that has custom fields, and a visitor of the widget.
async fn visitor_of_widget_with_custom_fields(host: &TestHost) -> (TestAccount, TestVisitor) {
    let account = host.create_account().await;
    let custom_fields = json!([
        {"key": "topic", "label": "What is it about?", "type": "select", "options": ["Sales", "Returns"]},
        {"key": "terms", "label": "I agree", "type": "consent", "link": "https://shop.example/terms", "required": true},
    ]);
    let widget = account.create_widget(json!({"contacts_form": {"custom_fields": custom_fields}})).await;
    let visitor = widget.visitor().await;
    (account, visitor)
}

fn answer(title: &str, content: &str, link: Option<&str>, key: &str) -> Value {
    json!({"title": title, "content": content, "link": link, "key": key})
}

fn agreed() -> Value {
    answer("I agree", "yes", Some("https://shop.example/terms"), "terms")
}

async fn panel_lines(account: &TestAccount) -> Vec<(String, String)> {
    let panel = account.admin.chat(1).await["panel"]["custom_data"].clone();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    panel.as_array().unwrap().iter().map(|line| (text(&line["source"]), text(&line["content"]))).collect()
}

fn lines(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(source, content)| ((*source).to_owned(), (*content).to_owned())).collect()
}

#[test]
fn contact_data_can_be_cleared() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let visitor = account.create_widget(json!({})).await.visitor().await;
        let ada = json!({"name": "Ada", "email": "ada@x.example", "phone": "+31 6 1", "description": "Gold"});
        visitor.call("visitor", json!({"contact_info": ada, "source": "script"})).await.expect(200);
        visitor.say("Hello").await;
        let cleared = json!({"name": "", "email": null, "description": " "});
        let reply = visitor.call("visitor", json!({"contact_info": cleared, "source": "visitor"})).await.expect(200);
        let unknown = json!({"client_name": null, "email": null, "phone": "+31 6 1", "description": null});
        assert_eq!(reply["visitor"]["contact_info"], unknown);
        assert_eq!(visitor.session().await["visitor"]["contact_info"], unknown);
        let shown = account.admin.chat(1).await["visitor"].clone();
        let form = "visitor";
        let sources = json!({"name": form, "email": form, "phone": "script", "description": form});
        assert_eq!((&shown["name"], &shown["sources"]), (&json!("Anonymous"), &sources));
        let found = account.admin.client.get("/agent/search?q=ada%40x.example").await.expect(200);
        assert_eq!(found["chats"], json!([]), "a cleared address is not found");
    });
}

#[test]
fn answers_are_shown_after_the_data_of_the_page() {
    run_on_shared_host(async |host| {
        let (account, visitor) = visitor_of_widget_with_custom_fields(host).await;
        visitor.call("visitor", json!({"answers": {"terms": true, "topic": "Sales", "gone": "x"}})).await.expect(200);
        visitor.call("visitor", json!({"custom_data": [{"content": "3 items"}]})).await.expect(200);
        visitor.say("Hello").await;
        let answers = [("visitor", "Sales"), ("visitor", "yes")];
        let expected = lines(&[[("script", "3 items")].as_slice(), answers.as_slice()].concat());
        assert_eq!(panel_lines(&account).await, expected);
        visitor.call("visitor", json!({"custom_data": []})).await.expect(200);
        assert_eq!(panel_lines(&account).await, lines(&answers), "the page replaces only its own data");
        visitor.call("visitor", json!({"contact_info": {"name": "Ada"}, "answers": null})).await.expect(200);
        assert_eq!(panel_lines(&account).await, lines(&answers), "absent answers stay unchanged");
        let offline =
            json!({"message_id": "o", "email": "ada@x.example", "message": "Hi", "answers": {"topic": "Returns"}});
        visitor.call("offline-message", offline).await.expect(200);
        assert_eq!(panel_lines(&account).await, lines(&[("visitor", "Returns")]), "answers replace the earlier ones");
        let session = visitor.session().await;
        assert_eq!(session["visitor"]["custom_data"], json!([]), "the page gets back what it has set");
    });
}

#[test]
fn webhooks_get_the_answers() {
    run_on_shared_host(async |host| {
        let (account, visitor) = visitor_of_widget_with_custom_fields(host).await;
        let receiver = TestReceiver::start(ok_response()).await;
        add_webhook(&account, &receiver, json!({})).await;
        let offline = json!({"message_id": "o", "email": "ada@x.example", "message": "Hi", "answers": {"terms": true}});
        visitor.call("offline-message", offline).await.expect(200);
        let event = wait_for_event(&receiver, "offline_message").await;
        assert_eq!(event["visitor"]["answers"], json!([agreed()]));
        account.admin.accept(1).await;
        wait_for_event(&receiver, "chat_accepted").await;
        visitor.call("visitor", json!({"answers": {"terms": true, "topic": "Sales"}})).await.expect(200);
        let event = wait_for_event(&receiver, "chat_updated").await;
        let topic = answer("What is it about?", "Sales", None, "topic");
        assert_eq!(event["visitor"]["answers"], json!([topic, agreed()]));
    });
}

#[test]
fn long_address_of_a_page_is_rejected() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let visitor = account.create_widget(json!({})).await.visitor().await;
        let page = |length: usize| {
            let start = "https://shop.example/?q=";
            json!({"page": {"url": format!("{start}{}", "x".repeat(length - start.len()))}})
        };
        for endpoint in ["session", "visitor"] {
            visitor.call(endpoint, page(4_096)).await.expect(200);
            let error = visitor.call(endpoint, page(4_097)).await;
            assert_eq!(error.expect_error(400, "invalid_request")["error"]["field"], "page.url");
        }
        visitor.say("Hello").await;
        assert_eq!(account.admin.chat(1).await["page"]["url"], page(4_096)["page"]["url"]);
    });
}
