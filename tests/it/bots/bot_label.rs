//! Everything that shows messages says which of them a bot has written.

use serde_json::{Value, json};

use crate::support::account_with_webhook::{add_webhook, ok_response, wait_for_event};
use crate::support::bot_fixture::{BotFixture, TestBot, register_provider};
use crate::support::test_host::{VISITOR_ID, run_on_shared_host};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::WAIT_TIMEOUT;

const TEXTS: [&str; 2] = ["I am a bot", "I am a person"];

/// Returns who has written [`TEXTS`], by the field `sender` of the messages, whose text is in the field `text`.
fn writers(messages: &Value, text: &str, sender: &str) -> Vec<String> {
    let messages = messages.as_array().expect("messages");
    let writer = |wanted: &&str| {
        let message = messages.iter().find(|message| message[text] == **wanted);
        message.unwrap_or_else(|| panic!("{wanted}: {messages:?}"))[sender].as_str().unwrap_or("nobody").to_owned()
    };
    TEXTS.iter().map(writer).collect()
}

#[test]
fn every_surface_says_what_a_bot_has_written() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let webhook = TestReceiver::start(ok_response()).await;
        add_webhook(&fixture.account, &webhook, json!({})).await;
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "Hello").await["chat_id"].clone();
        fixture.bot.send_text(&chat_id, TEXTS[0]).await.expect(200);
        fixture.integrator.wait_for_requests(1, WAIT_TIMEOUT).await;
        fixture.agent.accept(1).await;
        fixture.agent.send_text(1, TEXTS[1]).await;
        let sent = fixture.integrator.wait_for_requests(2, WAIT_TIMEOUT).await;
        let types: Vec<Value> = sent.iter().map(|request| request.json()["sender"]["type"].clone()).collect();
        assert_eq!(types, ["bot", "agent"], "the integrator's server");
        fixture.agent.close(1).await;

        let finished = wait_for_event(&webhook, "chat_finished").await;
        assert_eq!(writers(&finished["chat"]["messages"], "message", "sender_type"), ["bot", "agent"], "webhooks");
        let timeline = json!(fixture.agent.timeline(1).await);
        assert_eq!(writers(&timeline, "text", "from"), ["bot", "agent"], "the console");
        let admin = &fixture.account.admin.client;
        let exported = admin.get("/admin/chats/export?chat_id=1").await.expect(200);
        assert_eq!(writers(&exported["chats"][0]["messages"], "text", "from"), ["bot", "agent"], "the export");
        let csv = admin.get("/admin/chats/export.csv?chat_id=1").await.text;
        for (text, from) in TEXTS.iter().zip(["bot", "agent"]) {
            let line = csv.lines().find(|line| line.contains(text)).expect("a line");
            assert!(line.split(',').any(|cell| cell.trim_matches('"') == from), "CSV: {line}");
        }
    });
}

#[test]
fn widget_knows_what_a_bot_has_written() {
    run_on_shared_host(async |host| {
        let provider = TestReceiver::start(CannedResponse::ok()).await;
        let account = host.create_account().await;
        let widget = account.create_widget(json!({})).await;
        let provider_id = register_provider(&host.operator, &provider.url(), json!({})).await;
        let bot = TestBot::connect(&account, &provider_id, &[], json!({"channel_ids": [widget.id]})).await;
        let visitor = widget.visitor().await;
        let chat_id = json!(visitor.say("Hello").await["chat_id"]);
        bot.send_text(&chat_id, TEXTS[0]).await.expect(200);
        account.admin.accept(1).await;
        account.admin.send_text(1, TEXTS[1]).await;
        assert_eq!(writers(&visitor.session().await["messages"], "text", "from"), ["bot", "agent"]);
    });
}
