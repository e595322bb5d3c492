//! Tests for the status of a channel with its details, and for its ETag.

use std::time::{SystemTime, UNIX_EPOCH};

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::api_client::{ApiResponse, TestChannel, number, send};
use crate::support::built_files::header;
use crate::support::test_host::{run_on_shared_host, run_with_virtual_time};
use crate::support::wait::seconds;

async fn detail(channel: &TestChannel) -> Value {
    channel.client.get(&format!("{}/status?detail=true", channel.endpoint)).await.expect(200)
}

#[test]
fn detail_says_why_nobody_is_there_and_when_hours_begin() {
    run_with_virtual_time(async |host, time| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        let without_hours = |reason: &str| json!({"online": false, "reason": reason, "opens_at": null});
        assert_eq!(detail(&channel).await, without_hours("no_agent_online"));

        // The clock of the host may be some hours ahead of the clock of the system.
        let hour = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 3_600;
        let (from, to) = ((hour + 12) % 24, (hour + 13) % 24);
        let hours = json!({"enabled": true, "from": format!("{from:02}:00"), "to": format!("{to:02}:00")});
        let settings = &account.admin.client;
        settings.put("/admin/settings", &json!({"callback": hours})).await.expect(200);
        time.advance(seconds(10));
        let closed = detail(&channel).await;
        assert_eq!((&closed["online"], &closed["reason"]), (&json!(false), &json!("outside_hours")));
        assert_eq!(number(&closed["opens_at"]) % 86_400, from * 3_600, "{closed}");

        account.admin.set_presence("online").await;
        assert_eq!(detail(&channel).await, json!({"online": true, "reason": "agents_online", "opens_at": null}));
        let path = format!("/admin/channels/{}", channel.id);
        account.admin.client.patch(&path, &json!({"enabled": false})).await.expect(200);
        time.advance(seconds(10));
        assert_eq!(detail(&channel).await, without_hours("channel_disabled"));
        let path = format!("/operator/accounts/{}", account.id.as_str().unwrap());
        host.operator.patch(&path, &json!({"suspended": true})).await.expect(200);
        time.advance(seconds(10));
        assert_eq!(detail(&channel).await, without_hours("account_suspended"));
        assert_eq!(channel.status().await.expect(200), 0);
    });
}

#[test]
fn unchanged_status_gets_304() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        let get = async |query: &str, tag: &str| -> ApiResponse {
            let url = format!("{}/status{query}", channel.endpoint);
            send(channel.client.request(Method::GET, &url).header("if-none-match", tag)).await
        };
        for (query, closed) in [("", json!(0)), ("?detail=false", json!(0)), ("?detail=true", Value::Null)] {
            let first = get(query, "\"another\"").await;
            let tag = header(&first.headers, "etag").unwrap();
            assert_eq!(header(&first.headers, "cache-control"), Some("private, no-cache"));
            assert!(closed.is_null() || first.json() == closed, "{first:?}");
            let unchanged = get(query, tag).await;
            assert_eq!((unchanged.status, unchanged.text.as_str()), (304, ""), "{query}");
            account.admin.set_presence("online").await;
            assert_eq!(get(query, tag).await.status, 200, "{query}: the status has changed");
            account.admin.set_presence("offline").await;
        }
        let invalid = get("?detail=perhaps", "").await.expect_error(400, "invalid_request");
        assert_eq!(invalid["error"]["field"], "detail");
    });
}
