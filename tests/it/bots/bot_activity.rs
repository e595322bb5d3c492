//! Tests for the endpoint that returns a bot's activity in the last hour, and for the list of providers.

use serde_json::{Value, json};

use crate::support::api_client::number;
use crate::support::bot_fixture::{BotFixture, chat_number, register_provider, unique_name};
use crate::support::test_host::{run_on_shared_host, run_with_virtual_time};
use crate::support::test_receiver::CannedResponse;
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

async fn activity(fixture: &BotFixture) -> Value {
    let path = format!("/admin/bots/{}/activity", fixture.bot.bot_id);
    let mut shown = fixture.agent.client.get(&path).await.expect(200);
    let fields = shown.as_object_mut().unwrap();
    fields.remove("since");
    shown
}

#[test]
fn activity_counts_answers_failures_and_handovers() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        let nothing = json!({
            "events": 0, "answered": 0, "failed": 0, "slowest_ms": null, "answers": 0,
            "median_answer_ms": null, "slowest_answer_ms": null, "superseded_answers": 0, "handed_over": 0, "fallbacks": 0,
            "is_complete": true,
        });
        assert_eq!(activity(&fixture).await, nothing);

        // The first chat stays with the bot, the second is handed over by the bot, and the third is handed over because
        // the bot fails.
        fixture.send_visitor_text("stays", "one").await;
        fixture.agent.set_presence("online").await;
        let invited = chat_number(&fixture.send_visitor_text("invites", "two").await);
        fixture.bot.invite_agent(&json!(invited)).await.expect(200);
        fixture.wait_until_waiting(invited, WAIT_TIMEOUT).await;
        for (chat, text) in [(1, "one"), (invited, "two")] {
            assert_eq!(fixture.final_bot_delivery(chat, text).await["state"], "delivered");
        }
        fixture.provider.respond_with(CannedResponse::CloseConnection);
        fixture.channel.send_text("fails", "three").await;
        time.run_until_failure_is_shown().await;
        fixture.wait_until_waiting(3, WAIT_TIMEOUT).await;
        fixture.final_bot_delivery(3, "three").await;
        // Close one chat, because the activity reads open and closed chats from different indexes.
        fixture.provider.respond_with(CannedResponse::ok());
        fixture.agent.accept(invited).await;
        fixture.agent.close(invited).await;

        // Two messages were accepted and one failed; the closed chat caused AGENT_JOINED and CHAT_CLOSED.
        let expected = [("events", 5), ("answered", 4), ("failed", 1), ("handed_over", 1), ("fallbacks", 1)];
        let shown = wait_for("the activity", WAIT_TIMEOUT, async || {
            let shown = activity(&fixture).await;
            if expected.iter().all(|(name, count)| shown[name] == *count) { Ok(shown) } else { Err(shown) }
        })
        .await;
        assert!(number(&shown["slowest_ms"]) < 3_000, "{shown}");
        assert_eq!(shown["is_complete"], true);

        let other = host.create_account().await.admin.client;
        let path = format!("/admin/bots/{}", fixture.bot.bot_id);
        other.get(&format!("{path}/activity")).await.expect_error(404, "not_found");
        for end in ["test", "rotate"] {
            other.post(&format!("{path}/{end}"), &json!({})).await.expect_error(404, "not_found");
        }
    });
}

#[test]
fn admins_can_choose_among_all_providers() {
    run_on_shared_host(async |host| {
        let admin = host.create_account().await.admin.client;
        let (first, second) = (unique_name("A"), unique_name("B"));
        let endpoint = "https://bots.example/hook?key=hidden";
        let second_id = register_provider(&host.operator, endpoint, json!({"name": second})).await;
        let first_id = register_provider(&host.operator, endpoint, json!({"name": first})).await;
        // The providers are listed from an index that is updated with a delay.
        let listed = wait_for("both providers", WAIT_TIMEOUT, async || {
            let shown = admin.get("/admin/providers").await.expect(200);
            let providers = shown["providers"].as_array().unwrap().clone();
            let is_ours = |provider: &Value| [&first_id, &second_id].iter().any(|id| provider["provider_id"] == **id);
            let ours: Vec<Value> = providers.into_iter().filter(is_ours).collect();
            if ours.len() == 2 { Ok(ours) } else { Err(shown) }
        })
        .await;
        let expected =
            [json!({"provider_id": first_id, "name": first}), json!({"provider_id": second_id, "name": second})];
        assert_eq!(listed, expected, "sorted by name, without the endpoint");
    });
}
