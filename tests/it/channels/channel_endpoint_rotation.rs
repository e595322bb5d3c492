//! Tests for rotating the secret in a channel's endpoint URL, for the expiry of previous URLs, and for the URL of a
//! deleted channel.

use std::collections::BTreeSet;

use cost::usage_by_function;
use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use crate::support::api_client::{TestAccount, TestChannel};
use crate::support::test_host::{TestHost, run_on_shared_host, run_with_virtual_time, visitor_text};
use crate::support::wait::seconds;

const FUNCTION: &str = "channel-receive-message";
/// Enough requests at the same time for several processes.
const CONCURRENT_REQUESTS: usize = 16;

/// Sends a message of each of several visitors at the same time, and returns the statuses.
async fn statuses_at(channel: &TestChannel, endpoint: &str) -> BTreeSet<u16> {
    let send = async |visitor: usize| channel.client.post(endpoint, &visitor_text(&visitor.to_string(), "Hi")).await;
    join_all((0..CONCURRENT_REQUESTS).map(send)).await.into_iter().map(|reply| reply.status).collect()
}

fn processes(host: &TestHost) -> BTreeSet<u32> {
    let running = host.local.processes().into_iter();
    running.filter(|(function, _)| function == FUNCTION).map(|(_, process)| process).collect()
}

async fn rotate(account: &TestAccount, channel: &TestChannel, body: Value) -> String {
    let path = format!("/admin/channels/{}/rotate", channel.id);
    account.admin.client.post(&path, &body).await.expect(200)["endpoint"].as_str().unwrap().to_owned()
}

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
fn new_endpoint_works_in_processes_that_know_the_old_one() {
    run_with_virtual_time(async |host, _| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        statuses_at(&channel, &channel.endpoint).await;
        let before = processes(host);
        assert!(before.len() > 1, "{before:?}");
        // The time stands still, so nothing that a process has read becomes too old.
        for _ in 0..3 {
            assert_eq!(statuses_at(&channel, &channel.endpoint).await, [200].into());
            let new = rotate(&account, &channel, json!({})).await;
            assert_eq!(statuses_at(&channel, &new).await, [200].into());
        }
        assert!(before.is_subset(&processes(host)), "no process was replaced");
    });
}

#[test]
fn wrong_secrets_cost_five_reads_a_second_in_a_process() {
    const WRONG_SECRETS: usize = 1_000;
    run_with_virtual_time(async |host, time| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        channel.send_text("v", "so that the channel is cached").await;
        time.wait_until_idle().await;
        host.local.reset_usage();
        let (client, id) = (&channel.client, &channel.id);
        let guess = async |number: usize| {
            client.post(&format!("/channel/guess-{number}/{id}"), &visitor_text("v", "Hi")).await.status
        };
        let statuses: BTreeSet<u16> = stream::iter(0..WRONG_SECRETS).map(guess).buffer_unordered(4).collect().await;
        assert_eq!(statuses, [404].into());
        let usage = usage_by_function(host.local.usage()).unwrap()[FUNCTION];
        // A process that starts reads once, and then the channel.
        let most = u32::try_from(processes(host).len() * (5 + 2)).unwrap();
        assert!(usage.reads <= f64::from(most) && most < 100, "{} reads, at most {most}", usage.reads);
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
