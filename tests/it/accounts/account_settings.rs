//! Tests for the account settings: allowed link domains, limits, rules, the callback, automatic closing of idle chats,
//! the retention period, and the time zone.

use serde_json::{Value, json};

use crate::support::account_with_webhook::{add_webhook, final_webhook_delivery, ok_response_with};
use crate::support::api_client::{ApiClient, merged};
use crate::support::bot_fixture::BotFixture;
use crate::support::test_host::{
    ActiveChat, MAIL_DOMAIN, VISITOR_ID, open_accepted_chat, run_on_shared_host, run_with_virtual_time, visitor_text,
};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::seconds;

const SETTINGS_PATH: &str = "/admin/settings";

async fn put_settings(admin: &ApiClient, settings: Value) -> Value {
    admin.put(SETTINGS_PATH, &settings).await.expect(200)
}

#[test]
fn fields_are_set_individually_and_returned_together() {
    run_on_shared_host(async |host| {
        let (account, other) = (host.create_account().await, host.create_account().await);
        let admin = &account.admin.client;
        let defaults = json!({
            "webhook_url": null, "webhooks": [], "safe_urls": [], "rules": [],
            "callback": {"enabled": false, "days": [1, 2, 3, 4, 5, 6, 7], "from": "00:00", "to": "24:00", "utc_offset": 0},
            "limits": {"visitor_messages": 30, "bot_requests": 300, "channel_chats": 300}, "idle_close": 1_440,
            "retention_days": null, "time_zone": "UTC", "business_hours": null, "allows_http_receivers": true,
            "aws_external_id": account.id, "assignment": null, "answer_times": null, "files": default_files(),
            "email": null, "email_domain": MAIL_DOMAIN,
        });
        assert_eq!(admin.get(SETTINGS_PATH).await.expect(200), defaults);
        let rules = json!([{
            "name": "Hello", "enabled": true, "type": "all",
            "conditions": [{"condition": "time_on_page", "comparator": "greater", "value": "10"}],
            "commands": [{"command": "proactive", "params": {"message": "Can I help?"}}],
        }]);
        let changes = [
            json!({"safe_urls": ["shop.example", "pay.example"]}),
            json!({"rules": rules}),
            json!({"callback": {"enabled": true, "days": [1, 2], "from": "09:00", "to": "17:30", "utc_offset": 60}}),
            json!({"limits": {"visitor_messages": 10, "bot_requests": 20}}),
            json!({"idle_close": 30, "retention_days": 365, "time_zone": "Europe/Berlin"}),
            json!({"limits": {"bot_requests": 30, "channel_chats": 40}}),
            json!({"callback": {"to": "18:00", "days": [5]}}),
            json!({"files": {"max_size_bytes": 1_000, "types": ["image/png"]}}),
            json!({"files": {"enabled": false, "link_days": 1}}),
        ];
        let mut expected = defaults.clone();
        for change in changes {
            for (name, value) in change.as_object().unwrap() {
                expected[name] =
                    if value.is_object() { merged(expected[name].clone(), value.clone()) } else { value.clone() };
            }
            assert_eq!(put_settings(admin, change).await, expected);
        }
        assert_eq!(admin.get(SETTINGS_PATH).await.expect(200), expected);
        let nulls = json!({
            "safe_urls": null, "rules": null, "callback": null, "limits": null, "idle_close": null,
            "retention_days": null, "time_zone": null, "business_hours": null,
            "assignment": null, "answer_times": null, "files": null, "email": null,
        });
        assert_eq!(put_settings(admin, nulls).await, merged(defaults.clone(), json!({"idle_close": null})));
        let others = merged(defaults, json!({"aws_external_id": other.id}));
        assert_eq!(other.admin.client.get(SETTINGS_PATH).await.expect(200), others);
        let agent = account.create_agent("Bob").await;
        agent.client.put(SETTINGS_PATH, &json!({"idle_close": 1})).await.expect_error(403, "forbidden");
    });
}

/// The files that an account can upload at first.
fn default_files() -> Value {
    let office = |kind: &str| format!("application/vnd.openxmlformats-officedocument.{kind}");
    let documents =
        [office("wordprocessingml.document"), office("spreadsheetml.sheet"), office("presentationml.presentation")];
    let types = [
        "image/png",
        "image/jpeg",
        "image/gif",
        "image/webp",
        "audio/mpeg",
        "audio/mp4",
        "audio/ogg",
        "audio/wav",
        "audio/webm",
        "video/mp4",
        "video/webm",
        "video/quicktime",
        "application/pdf",
        "text/plain",
        "text/csv",
        "application/zip",
    ];
    let types: Vec<&str> = types.into_iter().chain(documents.iter().map(String::as_str)).collect();
    json!({"enabled": true, "max_size_bytes": 20 * 1024 * 1024, "types": types, "link_days": 30})
}

#[test]
fn error_names_the_invalid_setting_and_nothing_changes() {
    run_on_shared_host(async |host| {
        let admin = host.create_account().await.admin.client;
        let before = admin.get(SETTINGS_PATH).await.expect(200);
        let table = [
            ("safe_urls", json!({"safe_urls": ["https://shop.example/"]})),
            ("rules[0].type", json!({"rules": [{"name": "a", "enabled": true, "type": "any"}]})),
            ("callback.days", json!({"callback": {"days": [8]}})),
            ("limits.visitor_messages", json!({"limits": {"visitor_messages": 0}})),
            ("limits.channel_chats", json!({"limits": {"channel_chats": 10_001}})),
            ("idle_close", json!({"idle_close": "soon"})),
            ("retention_days", json!({"retention_days": 0.5})),
            ("time_zone", json!({"time_zone": "Europe/Nowhere"})),
        ];
        for (field, wrong) in table {
            let body = merged(json!({"idle_close": 5, "safe_urls": ["a.example"]}), wrong);
            let error = admin.put(SETTINGS_PATH, &body).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], field, "{body}");
        }
        admin.put(SETTINGS_PATH, &json!([])).await.expect_error(400, "invalid_request");
        assert_eq!(admin.get(SETTINGS_PATH).await.expect(200), before);
    });
}

#[test]
fn links_to_unsafe_domains_are_hidden_from_agents() {
    run_with_virtual_time(async |host, time| {
        let account = host.create_account().await;
        put_settings(&account.admin.client, json!({"safe_urls": ["good.example"]})).await;
        let webhook_receiver = TestReceiver::start(ok_response_with(json!({
            "custom_data": [
                {"content": "https://evil.example/a", "link": "https://evil.example/b"},
                {"content": "fine", "link": "https://crm.good.example/c"},
            ],
            "crm_link": "https://evil.example/card",
        })))
        .await;
        add_webhook(&account, &webhook_receiver, json!({})).await;
        let (agent, channel) = (&account.admin, account.create_channel("https://app.example/hook").await);
        let message = json!({
            "sender": {"id": VISITOR_ID, "name": "www.evil.example", "url": "https://evil.example/", "photo": "https://good.example/p.png"},
            "message": {"type": "text", "text": "see https://evil.example/x or https://good.example/y"},
        });
        channel.post(&message).await.expect(200);
        let file = json!({"type": "document", "file": "https://evil.example/f", "file_name": "f.pdf", "file_size": 1});
        channel.post(&json!({"sender": {"id": VISITOR_ID}, "message": file})).await.expect(200);
        let shown = "see [link blocked] or https://good.example/y";
        let row = &agent.chats("waiting").await[0];
        assert_eq!(
            (&row["visitor"]["name"], &row["last_message"]["text"]),
            (&json!("[link blocked]"), &json!("f.pdf"))
        );
        let accepted = agent.client.post("/agent/chats/1/accept", &json!({})).await.expect(200);
        assert_eq!(accepted["visitor"]["name"], "[link blocked]");
        let timeline = agent.timeline(1).await;
        assert_eq!((&timeline[0]["text"], &timeline[1]["file"]), (&json!(shown), &json!("[link blocked]")));
        agent.send_text(1, "go to https://evil.example/mine").await;
        assert_eq!(agent.timeline(1).await.last().unwrap()["text"], "go to https://evil.example/mine");
        final_webhook_delivery(agent, 1, "chat_accepted").await;
        let chat = agent.chat(1).await;
        assert_eq!(
            (&chat["visitor"]["url"], &chat["visitor"]["photo"]),
            (&Value::Null, &json!("https://good.example/p.png"))
        );
        assert_eq!(chat["panel"]["custom_data"][0]["content"], "[link blocked]");
        assert_eq!(chat["panel"]["custom_data"][0]["link"], Value::Null);
        assert_eq!(chat["panel"]["custom_data"][1]["link"], "https://crm.good.example/c");
        assert_eq!(chat["panel"]["crm_link"], Value::Null);
        agent.client.post("/agent/chats/1/assign", &json!({})).await.expect_error(409, "conflict");
        let sales = json!({"name": "Sales", "agent_ids": [agent.id]});
        let department =
            account.admin.client.post("/admin/departments", &sales).await.expect(201)["department_id"].clone();
        agent.set_presence("online").await;
        let to = json!({"department_id": department});
        let transferred = agent.client.post("/agent/chats/1/transfer", &to).await.expect(200);
        assert_eq!(transferred["visitor"]["name"], "[link blocked]");

        // The link filter does not change the stored text. The original text is therefore shown again once the setting
        // has been cleared and the functions' cached settings have expired.
        put_settings(&account.admin.client, json!({"safe_urls": []})).await;
        time.advance(seconds(10));
        assert_eq!(agent.timeline(1).await[0]["text"], "see https://evil.example/x or https://good.example/y");
    });
}

#[test]
fn links_in_receiver_error_messages_are_hidden() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::error(7, "see https://evil.example/x")).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        put_settings(&active_chat.agent.client, json!({"safe_urls": ["good.example"]})).await;
        let seq = active_chat.agent.send_text(active_chat.number, "Hello").await;
        let shown = active_chat.final_delivery(seq).await;
        assert_eq!(shown["error"], json!({"code": 7, "message": "see [link blocked]"}));
        assert_eq!(shown["attempts"][0]["error"], "see [link blocked]");
    });
}

#[test]
fn account_limits_apply_to_its_visitors_and_bots() {
    run_with_virtual_time(async |host, _| {
        let fixture = BotFixture::create(host).await;
        put_settings(&fixture.account.admin.client, json!({"limits": {"visitor_messages": 2, "bot_requests": 3}}))
            .await;
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "one").await["chat_id"].clone();
        let mut replies = Vec::new();
        for _ in 0..4 {
            replies.push(fixture.channel.post(&visitor_text(VISITOR_ID, "more")).await);
        }
        let (accepted, refused): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 200);
        assert_eq!(accepted.len(), 1);
        for reply in refused {
            assert!(reply.headers.contains_key("retry-after"), "{reply:?}");
            reply.expect_error(429, "rate_limited");
        }
        fixture.channel.send_text("another visitor", "one").await;
        let mut replies = Vec::new();
        for _ in 0..7 {
            replies.push(fixture.bot.send_text(&chat_id, "hello").await);
        }
        let (accepted, refused): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 200);
        assert!((3..=6).contains(&accepted.len()), "{}", accepted.len());
        assert!(refused.iter().all(|reply| reply.status == 429 && reply.headers.contains_key("retry-after")));
    });
}

#[test]
fn limits_do_not_apply_to_other_accounts() {
    run_on_shared_host(async |host| {
        let (strict, unlimited) = (host.create_account().await, host.create_account().await);
        put_settings(&strict.admin.client, json!({"limits": {"visitor_messages": 1}})).await;
        let channel = unlimited.create_channel("https://app.example/hook").await;
        open_accepted_chat(&unlimited.admin, &channel, VISITOR_ID).await;
        channel.send_text(VISITOR_ID, "again").await;
    });
}
