//! Tests for rotating the secret in a channel's endpoint URL, for the expiry of previous URLs, and for the URL of a
//! deleted channel.

use serde_json::json;

use crate::support::api_client::TestChannel;
use crate::support::test_host::{run_on_shared_host, run_with_virtual_time, visitor_text};
use crate::support::wait::seconds;

async fn assert_status(channel: &TestChannel, endpoint: &str, status: u16) {
    let reply = channel.client.post(endpoint, &visitor_text("v", "Hi")).await;
    assert_eq!(reply.status, status, "{endpoint}: {}", reply.text);
}

#[test]
fn new_endpoint_works_at_once_and_the_old_one_for_a_day() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        channel.send_text("v", "so that the channel is cached").await;
        channel.status().await.expect(200);
        let rotate = format!("/admin/channels/{}/rotate", channel.id);
        let rotated = account.admin.client.post(&rotate, &json!({})).await.expect(200);
        let new = rotated["endpoint"].as_str().unwrap();
        assert_ne!(new, channel.endpoint);
        assert!(!rotated["old_endpoint_valid_until"].is_null(), "{rotated}");
        channel.client.get(&format!("{new}/status")).await.expect(200);
        channel.client.post(new, &visitor_text("v", "Hi")).await.expect(200);
        channel.client.post(&channel.endpoint, &visitor_text("v", "Hi")).await.expect(200);
        channel.client.post(&format!("{new}x"), &visitor_text("v", "Hi")).await.expect_error(404, "not_found");
    });
}

#[test]
fn second_rotation_keeps_both_old_endpoints() {
    run_with_virtual_time(async |host, time| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        let rotate = format!("/admin/channels/{}/rotate", channel.id);
        let mut endpoints = vec![channel.endpoint.clone()];
        for _ in 0..2 {
            let rotated = account.admin.client.post(&rotate, &json!({})).await.expect(200);
            endpoints.push(rotated["endpoint"].as_str().unwrap().to_owned());
        }
        for endpoint in &endpoints {
            assert_status(&channel, endpoint, 200).await;
        }
        let rotated = account.admin.client.post(&rotate, &json!({"keep_old_seconds": 0})).await.expect(200);
        time.advance(seconds(10));
        for endpoint in &endpoints {
            assert_status(&channel, endpoint, 404).await;
        }
        assert_status(&channel, rotated["endpoint"].as_str().unwrap(), 200).await;
    });
}

#[test]
fn rotation_can_end_the_old_endpoint_now_or_later() {
    run_with_virtual_time(async |host, time| {
        let account = host.create_account().await;
        for keep_seconds in [0, 2] {
            let channel = account.create_channel("https://app.example/hook").await;
            channel.send_text("v", "so that the channel is cached").await;
            let rotate = format!("/admin/channels/{}/rotate", channel.id);
            let rotated =
                account.admin.client.post(&rotate, &json!({"keep_old_seconds": keep_seconds})).await.expect(200);
            time.advance(seconds(10));
            assert_status(&channel, &channel.endpoint, 404).await;
            assert_status(&channel, rotated["endpoint"].as_str().unwrap(), 200).await;
        }
    });
}

#[test]
fn deleted_channel_is_not_found() {
    run_with_virtual_time(async |host, time| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        channel.send_text("v", "so that the channel is cached").await;
        let path = format!("/admin/channels/{}", channel.id);
        account.admin.client.delete(&path).await.expect(200);
        account.admin.client.get(&path).await.expect_error(404, "not_found");
        time.advance(seconds(10));
        assert_status(&channel, &channel.endpoint, 404).await;
        channel.status().await.expect_error(404, "not_found");
    });
}
