//! Tests for the business hours of accounts, departments and channels: how they are set, and what is closed outside
//! them.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::api_client::{ApiClient, TestAccount, TestChannel, number};
use crate::support::bot_fixture::BotFixture;
use crate::support::call_fixture::CallFixture;
use crate::support::test_host::{VISITOR_ID, run_on_shared_host, run_with_virtual_time};
use crate::support::wait::seconds;

const SETTINGS_PATH: &str = "/admin/settings";
/// The functions cache settings, channels and departments this long.
const CACHE_LIFETIME: Duration = seconds(10);

/// Hours of an hour on each day. They begin some minutes after `now`, which is in Unix seconds.
fn daily(now: u64, minutes: u64) -> Value {
    let time = |minute: u64| format!("{:02}:{:02}", minute / 60 % 24, minute % 60);
    let start = now / 60 + minutes;
    let weekly: Vec<Value> =
        (1..=7).map(|day| json!({"day": day, "from": time(start), "to": time(start + 60)})).collect();
    json!({"time_zone": "UTC", "weekly": weekly})
}

/// When the hours of `daily` begin.
fn opening(now: u64, minutes: u64) -> u64 {
    (now / 60 + minutes) * 60
}

/// Returns the time of the host's clock, which can be ahead of the system's, when the channel was created.
async fn created_at(admin: &ApiClient, channel_id: &str) -> u64 {
    number(&admin.get(&format!("/admin/channels/{channel_id}")).await.expect(200)["created_at"])
}

async fn status(channel: &TestChannel) -> Value {
    channel.client.get(&format!("{}/status?detail=true", channel.endpoint)).await.expect(200)
}

async fn set_account_hours(account: &TestAccount, hours: &Value) {
    account.admin.client.put(SETTINGS_PATH, &json!({"business_hours": hours})).await.expect(200);
}

#[test]
fn channel_is_closed_outside_its_hours_with_an_agent() {
    run_with_virtual_time(async |host, time| {
        let account = host.create_account().await;
        let admin = &account.admin.client;
        let channel = account.create_channel("https://app.example/hook").await;
        let path = format!("/admin/channels/{}", channel.id);
        let now = created_at(admin, &channel.id).await;
        let closed = |minutes| json!({"online": false, "reason": "outside_hours", "opens_at": opening(now, minutes)});
        let open = json!({"online": true, "reason": "agents_online", "opens_at": null});
        account.admin.set_presence("online").await;
        assert_eq!(status(&channel).await, open, "without hours");

        set_account_hours(&account, &daily(now, 30)).await;
        time.advance(CACHE_LIFETIME);
        assert_eq!(status(&channel).await, closed(30), "the account's hours");
        assert_eq!(channel.status().await.expect(200), 0);

        let department = json!({"name": "Sales", "agent_ids": [account.admin.id], "business_hours": daily(now, 45)});
        let department = admin.post("/admin/departments", &department).await.expect(201);
        let ids = json!({"department_ids": [department["department_id"]]});
        admin.patch(&path, &ids).await.expect(200);
        time.advance(CACHE_LIFETIME);
        assert_eq!(status(&channel).await, closed(45), "those of its only department");

        admin.patch(&path, &json!({"business_hours": daily(now, 60)})).await.expect(200);
        time.advance(CACHE_LIFETIME);
        assert_eq!(status(&channel).await, closed(60), "its own hours");

        time.advance(seconds(61 * 60));
        account.admin.set_presence("online").await;
        assert_eq!(status(&channel).await, open, "within its own hours");
    });
}

#[test]
fn widget_says_when_the_hours_begin() {
    run_with_virtual_time(async |host, time| {
        let account = host.create_account().await;
        let widget = account.create_widget(json!({})).await;
        let now = created_at(&account.admin.client, &widget.id).await;
        account.admin.set_presence("online").await;
        let visitor = widget.visitor().await;
        let shown = async || {
            let session = visitor.session().await;
            let agents = session["agents"].as_array().unwrap().len();
            (session["mode"].clone(), session["opens_at"].clone(), agents)
        };
        assert_eq!(shown().await, (json!("online"), Value::Null, 1));
        set_account_hours(&account, &daily(now, 30)).await;
        time.advance(CACHE_LIFETIME);
        assert_eq!(shown().await, (json!("offline"), json!(opening(now, 30)), 0));
        time.advance(seconds(31 * 60));
        account.admin.set_presence("online").await;
        assert_eq!(shown().await, (json!("online"), Value::Null, 1));
    });
}

#[test]
fn bot_learns_when_the_hours_begin() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let now = created_at(&fixture.account.admin.client, &fixture.channel.id).await;
        set_account_hours(&fixture.account, &daily(now, 60)).await;
        fixture.agent.set_presence("online").await;
        let event = fixture.send_visitor_text(VISITOR_ID, "A human, please").await;
        assert_eq!(event["agents_online"], false);
        fixture.bot.invite_agent(&event["chat_id"]).await.expect(200);
        let unavailable = fixture.wait_for_event("AGENT_UNAVAILABLE").await;
        assert_eq!(unavailable["opens_at"], opening(now, 60));
        assert_eq!(fixture.chat_state(1).await, "bot");
    });
}

#[test]
fn callbacks_follow_the_business_hours_by_default() {
    run_with_virtual_time(async |host, time| {
        let fixture = CallFixture::create(host).await;
        let admin = &fixture.account.admin.client;
        let now = created_at(admin, &fixture.widget.id).await;
        let is_available = async || fixture.visitor.session().await["callback_available"].clone();
        assert_eq!(is_available().await, true);
        set_account_hours(&fixture.account, &daily(now, 30)).await;
        time.advance(CACHE_LIFETIME);
        assert_eq!(is_available().await, false);
        // Hours that include the present time, but are not the default.
        admin.put(SETTINGS_PATH, &json!({"callback": {"from": "00:00", "to": "00:00"}})).await.expect(200);
        time.advance(CACHE_LIFETIME);
        assert_eq!(is_available().await, true, "the callback hours replace the business hours");
    });
}

#[test]
fn hours_are_set_shown_and_removed() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let admin = &account.admin.client;
        let channel = account.create_channel("https://app.example/hook").await;
        let department = admin.post("/admin/departments", &json!({"name": "Sales"})).await.expect(201);
        let always: Vec<Value> = (1..=7).map(|day| json!({"day": day, "from": "00:00", "to": "24:00"})).collect();
        let hours = json!({
            "time_zone": "Australia/Lord_Howe", "weekly": always,
            "exceptions": [{"name": "Festival", "first_day": "2099-01-01", "last_day": "2099-01-02", "hours": []}],
        });
        let mut shown = hours.clone();
        shown["is_open"] = json!(true);
        shown["changes_at"] = Value::Null;
        let overlap = json!({"time_zone": "UTC", "weekly": [always[0], {"day": 1, "from": "08:00", "to": "09:00"}]});
        let channel_path = format!("/admin/channels/{}", channel.id);
        let department_path = format!("/admin/departments/{}", department["department_id"]);
        for (path, is_put) in [(SETTINGS_PATH, true), (&channel_path, false), (&department_path, false)] {
            let change = async |hours: &Value| {
                let body = json!({ "business_hours": hours });
                if is_put { admin.put(path, &body).await } else { admin.patch(path, &body).await }
            };
            assert_eq!(change(&hours).await.expect(200)["business_hours"], shown, "{path}");
            assert_eq!(admin.get(path).await.expect(200)["business_hours"], shown, "{path}");
            let error = change(&overlap).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], "business_hours.weekly", "{path}");
            assert_eq!(admin.get(path).await.expect(200)["business_hours"], shown, "{path}");
            assert_eq!(change(&Value::Null).await.expect(200)["business_hours"], Value::Null, "{path}");
            assert_eq!(admin.get(path).await.expect(200)["business_hours"], Value::Null, "{path}");
        }
    });
}
