//! A test for automatically closing idle chats.

use serde_json::json;

use crate::support::account_with_webhook::{add_webhook, event_names, ok_response};
use crate::support::bot_fixture::BotFixture;
use crate::support::test_host::{VISITOR_ID, run_with_virtual_time};
use crate::support::test_receiver::TestReceiver;
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

#[test]
fn idle_chat_is_closed_with_all_notifications() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        fixture.account.admin.client.put("/admin/settings", &json!({"idle_close": 1})).await.expect(200);
        let webhook_receiver = TestReceiver::start(ok_response()).await;
        add_webhook(&fixture.account, &webhook_receiver, json!({})).await;
        fixture.send_visitor_text(VISITOR_ID, "Is anybody there?").await;
        fixture.agent.accept(1).await;
        for (passed, state) in [(seconds(59), "active"), (seconds(2), "closed")] {
            time.advance(passed);
            host.local.run_schedule("schedule-close-idle-chats").await.expect("the schedule runs");
            assert_eq!(fixture.chat_state(1).await, state);
        }
        assert_eq!(fixture.wait_for_event("CHAT_CLOSED").await["chat_id"], "1");
        wait_for("chat_finished", WAIT_TIMEOUT, async || {
            let names = event_names(&webhook_receiver);
            if names.last().is_some_and(|name| name == "chat_finished") { Ok(()) } else { Err(names) }
        })
        .await;
        assert_eq!(fixture.agent.chat(1).await["agent"]["id"], fixture.agent.id);
    });
}
