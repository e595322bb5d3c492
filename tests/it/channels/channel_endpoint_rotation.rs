//! Tests for rotating the secret in a channel's endpoint URL, for the expiry of previous URLs, and for the URL of a
//! deleted channel.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;

use crate::support::api_client::TestChannel;
use crate::support::test_host::{run_on_shared_host, visitor_text};
use crate::support::wait::{seconds, wait_for};

/// How long to wait for a change to take effect. This is longer than the ten seconds for which functions cache a
/// channel.
const CACHE_EXPIRY_TIMEOUT: Duration = seconds(13);

async fn wait_for_status(channel: &TestChannel, endpoint: &str, status: u16) {
    wait_for(&format!("{status} on {endpoint}"), CACHE_EXPIRY_TIMEOUT, async || {
        let reply = channel.client.post(endpoint, &visitor_text("v", "Hi")).await;
        if reply.status == status { Ok(()) } else { Err(reply) }
    })
    .await;
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
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        let rotate = format!("/admin/channels/{}/rotate", channel.id);
        let mut endpoints = vec![channel.endpoint.clone()];
        for _ in 0..2 {
            let rotated = account.admin.client.post(&rotate, &json!({})).await.expect(200);
            endpoints.push(rotated["endpoint"].as_str().unwrap().to_owned());
        }
        for endpoint in &endpoints {
            wait_for_status(&channel, endpoint, 200).await;
        }
        let rotated = account.admin.client.post(&rotate, &json!({"keep_old_seconds": 0})).await.expect(200);
        for endpoint in &endpoints {
            wait_for_status(&channel, endpoint, 404).await;
        }
        wait_for_status(&channel, rotated["endpoint"].as_str().unwrap(), 200).await;
    });
}

#[test]
fn rotation_can_end_the_old_endpoint_now_or_later() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        join_all([0, 2].map(async |keep_seconds| {
            let channel = account.create_channel("https://app.example/hook").await;
            channel.send_text("v", "so that the channel is cached").await;
            let rotate = format!("/admin/channels/{}/rotate", channel.id);
            let rotated =
                account.admin.client.post(&rotate, &json!({"keep_old_seconds": keep_seconds})).await.expect(200);
            wait_for_status(&channel, &channel.endpoint, 404).await;
            wait_for_status(&channel, rotated["endpoint"].as_str().unwrap(), 200).await;
        }))
        .await;
    });
}

#[test]
fn deleted_channel_is_not_found() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        channel.send_text("v", "so that the channel is cached").await;
        let path = format!("/admin/channels/{}", channel.id);
        account.admin.client.delete(&path).await.expect(200);
        account.admin.client.get(&path).await.expect_error(404, "not_found");
        wait_for_status(&channel, &channel.endpoint, 404).await;
        wait_for("404 from the status endpoint", CACHE_EXPIRY_TIMEOUT, async || {
            let reply = channel.status().await;
            if reply.status == 404 { Ok(()) } else { Err(reply) }
        })
        .await;
    });
}
