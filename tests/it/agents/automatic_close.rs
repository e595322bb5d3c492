//! A test for automatically closing idle chats. It waits for a minute. The test program sorts the tests by name, so
//! this one usually starts early, and many other tests run meanwhile.

use std::time::Instant;

use serde_json::json;

use crate::support::account_with_webhook::{add_webhook, event_names, ok_response};
use crate::support::bot_fixture::BotFixture;
use crate::support::test_host::{VISITOR_ID, run_on_shared_host};
use crate::support::test_receiver::TestReceiver;
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

#[test]
fn idle_chat_is_closed_with_all_notifications() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        fixture.account.admin.client.put("/admin/settings", &json!({"idle_close": 1})).await.expect(200);
        let webhook_receiver = TestReceiver::start(ok_response()).await;
        add_webhook(&fixture.account, &webhook_receiver, json!({})).await;
        fixture.send_visitor_text(VISITOR_ID, "Is anybody there?").await;
        fixture.agent.accept(1).await;
        let start = Instant::now();
        wait_for("the chat is closed", seconds(100), async || {
            host.local.run_schedule("schedule-close-idle-chats").await.expect("the schedule runs");
            let state = fixture.chat_state(1).await;
            if state == "closed" { Ok(()) } else { Err(state) }
        })
        .await;
        assert!(start.elapsed() >= seconds(58), "closed after {:?}", start.elapsed());
        assert_eq!(fixture.wait_for_event("CHAT_CLOSED").await["chat_id"], "1");
        wait_for("chat_finished", WAIT_TIMEOUT, async || {
            let names = event_names(&webhook_receiver);
            if names.last().is_some_and(|name| name == "chat_finished") { Ok(()) } else { Err(names) }
        })
        .await;
        assert_eq!(fixture.agent.chat(1).await["agent"]["id"], fixture.agent.id);
    });
}
