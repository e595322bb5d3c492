//! Tests of what agents use to keep an inbox in order: tags, filters of the list, and snoozes.

use serde_json::{Value, json};

use crate::support::api_client::{ApiResponse, TestAccount, TestAgent, chat_numbers, number};
use crate::support::test_host::{
    ActiveChat, VISITOR_ID, open_accepted_chat, run_on_shared_host, run_with_virtual_time,
};
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

const INTEGRATOR_URL: &str = "https://app.example/hook";

impl TestAgent {
    async fn change_chat(&self, chat: u64, changes: Value) -> ApiResponse {
        self.client.patch(&format!("/agent/chats/{chat}"), &changes).await
    }

    /// Returns the numbers of the listed chats. `filter` is a part of the query.
    async fn filtered(&self, filter: &str) -> Vec<u64> {
        let list = self.client.get(&format!("/agent/chats?state=open&{filter}")).await.expect(200);
        chat_numbers(&list)
    }
}

impl TestAccount {
    async fn put_settings(&self, settings: Value) -> ApiResponse {
        self.admin.client.put("/admin/settings", &settings).await
    }

    /// Creates two tags with the numbers 1 and 2.
    async fn create_tags(&self) {
        let tags = json!([{"name": "VIP", "color": "red"}, {"name": "Refund", "color": "blue"}]);
        self.put_settings(json!({"tags": tags})).await.expect(200);
    }
}

fn unix_seconds_later(minutes: u64) -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time after 1970");
    now.as_secs() + minutes * 60
}

#[test]
fn admin_defines_tags_and_views_that_agents_read() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        account.create_tags().await;
        let view = json!({"name": "VIPs", "list": "mine", "tag_id": 1, "unread": false, "unanswered": true});
        account.put_settings(json!({"views": [view]})).await.expect(200);
        let ann = account.create_agent("Ann").await;
        let roster = ann.client.get("/agent/agents?include=inbox").await.expect(200);
        let tags = json!([
            {"tag_id": 1, "name": "VIP", "color": "red"}, {"tag_id": 2, "name": "Refund", "color": "blue"},
        ]);
        assert_eq!((&roster["tags"], &roster["views"]), (&tags, &json!([view])));
        let invalid = [
            (json!([{"name": "VIP", "color": "red"}, {"name": "vip", "color": "red"}]), "tags[1].name"),
            (json!([{"tag_id": 7, "name": "VIP", "color": "red"}]), "tags[0].tag_id"),
            (json!([{"name": "VIP", "color": "gold"}]), "tags[0].color"),
        ];
        for (tags, field) in invalid {
            let error = account.put_settings(json!({"tags": tags})).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], field);
        }
    });
}

#[test]
fn agent_tags_a_chat_and_filters_by_the_tag() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, INTEGRATOR_URL, json!({})).await;
        chat.account.create_tags().await;
        let other = open_accepted_chat(&chat.agent, &chat.channel, "other").await;
        let row = chat.agent.change_chat(chat.number, json!({"add_tags": [2, 1]})).await.expect(200);
        assert_eq!(row["tag_ids"], json!([2, 1]));
        assert_eq!(chat.agent.filtered("tag_id=2").await, [chat.number]);
        assert_eq!(chat.agent.filtered("tag_id=2&unanswered=false").await, [0; 0]);
        assert_eq!(chat.agent.filtered(&format!("channel_id={}", chat.channel.id)).await, [other, chat.number]);
        let row = chat.agent.change_chat(chat.number, json!({"remove_tags": [2]})).await.expect(200);
        assert_eq!(row["tag_ids"], json!([1]));
        assert_eq!(chat.agent.chat(chat.number).await["tag_ids"], json!([1]));
    });
}

#[test]
fn chat_is_changed_only_by_agents_who_see_it() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, INTEGRATOR_URL, json!({})).await;
        let stranger = host.create_account().await.admin;
        stranger.change_chat(chat.number, json!({})).await.expect_error(404, "not_found");
        let unknown = chat.agent.change_chat(chat.number, json!({"add_tags": [9]})).await;
        assert_eq!(unknown.expect_error(400, "invalid_request")["error"]["field"], "add_tags[0]");
        let ann = chat.account.create_agent("Ann").await;
        let until = json!({"snoozed_until": unix_seconds_later(60)});
        ann.change_chat(chat.number, until).await.expect_error(409, "conflict");
        let past = json!({"snoozed_until": 1_000});
        let past = chat.agent.change_chat(chat.number, past).await.expect_error(400, "invalid_request");
        assert_eq!(past["error"]["field"], "snoozed_until");
    });
}

#[test]
fn closed_chats_are_reported_and_exported_with_tags() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, INTEGRATOR_URL, json!({})).await;
        chat.account.create_tags().await;
        chat.agent.change_chat(chat.number, json!({"add_tags": [1]})).await.expect(200);
        chat.agent.close(chat.number).await;
        chat.agent.change_chat(chat.number, json!({"add_tags": [2], "remove_tags": [1]})).await.expect(200);
        wait_for("the report", WAIT_TIMEOUT, async || {
            let report = chat.agent.client.get("/admin/reports?days=1").await.expect(200);
            let expected = json!([{"tag_id": 2, "name": "Refund", "chats": 1}]);
            if report["tags"] == expected { Ok(()) } else { Err(report["tags"].clone()) }
        })
        .await;
        let export = format!("/admin/chats/export?chat_id={}", chat.number);
        let exported = chat.agent.client.get(&export).await.expect(200);
        assert_eq!(exported["chats"][0]["tags"], json!(["Refund"]));
        let csv = chat.agent.client.get(&format!("/admin/chats/export.csv?chat_id={}", chat.number)).await;
        assert!(csv.text.contains(",\"Refund\"\r\n"), "{}", csv.text);
    });
}

#[test]
fn snoozed_chat_comes_back_when_the_visitor_writes() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, INTEGRATOR_URL, json!({})).await;
        let until = unix_seconds_later(60);
        let row = chat.agent.change_chat(chat.number, json!({"snoozed_until": until})).await.expect(200);
        assert_eq!(row["snoozed_until"], json!(until));
        assert_eq!(chat.agent.filtered("snoozed=true").await, [chat.number]);
        chat.channel.send_text(VISITOR_ID, "Any news?").await;
        assert_eq!(chat.agent.filtered("snoozed=true").await, [0; 0]);
        assert_eq!(chat.agent.filtered("snoozed=false&unanswered=true").await, [chat.number]);
        assert_eq!(chat.agent.chat(chat.number).await.get("snoozed_until"), None);
    });
}

#[test]
fn snoozed_chat_is_closed_as_idle_after_the_snooze() {
    run_with_virtual_time(async |host, time| {
        let account = host.create_account().await;
        account.put_settings(json!({"idle_close": 1})).await.expect(200);
        let (agent, channel) = (account.admin.clone(), account.create_channel(INTEGRATOR_URL).await);
        let chat = open_accepted_chat(&agent, &channel, VISITOR_ID).await;
        let opened_at = number(&agent.chat(chat).await["opened_at"]);
        agent.change_chat(chat, json!({"snoozed_until": opened_at + 300})).await.expect(200);
        for (passed, state) in [(seconds(120), "active"), (seconds(170), "active"), (seconds(80), "closed")] {
            time.advance(passed);
            host.local.run_schedule("schedule-close-idle-chats").await.expect("the schedule runs");
            assert_eq!(agent.chat(chat).await["state"], state);
        }
    });
}
