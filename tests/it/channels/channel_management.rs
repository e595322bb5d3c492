//! Tests for the admin API for channels: creating, listing, changing and deleting API channels, and when a changed
//! integrator URL takes effect.

use serde_json::json;

use crate::support::api_client::merged;
use crate::support::test_host::{ActiveChat, run_on_shared_host, run_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, seconds};

#[test]
fn channel_is_created_listed_read_changed_and_deleted() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let admin = &account.admin.client;
        let settings = json!({
            "kind": "api", "name": "Shop", "integrator_url": "https://shop.example/hook", "chunked": true,
            "enabled": false, "append_channel_id": false,
            "agent_ids": [account.admin.id], "department_ids": [], "validation": "lenient", "hidden_error_codes": [1, -2],
        });
        let created = admin.post("/admin/channels", &settings).await.expect(201);
        let id = created["channel_id"].as_str().unwrap();
        let path = format!("/admin/channels/{id}");
        let endpoint = created["endpoint"].as_str().unwrap();
        assert!(endpoint.starts_with(&format!("{}/channel/", host.local.base_url())), "{endpoint}");
        assert!(endpoint.ends_with(&format!("/{id}")), "{endpoint}");

        let read = admin.get(&path).await.expect(200);
        for (field, value) in settings.as_object().unwrap() {
            assert_eq!(&read[field], value, "{field}");
        }
        let listed = admin.get("/admin/channels").await.expect(200);
        assert_eq!(listed["channels"].as_array().unwrap().len(), 1);
        assert_eq!(listed["channels"][0]["channel_id"], id);
        let secret = endpoint.split('/').rev().nth(1).unwrap();
        for shown in [&read, &listed] {
            assert!(!shown.to_string().contains(secret), "the secret is returned only on creation: {shown}");
        }

        let changed =
            admin.patch(&path, &json!({"name": "Store", "chunked": false, "enabled": true})).await.expect(200);
        assert_eq!((&changed["name"], &changed["chunked"]), (&json!("Store"), &json!(false)));
        let read = admin.get(&path).await.expect(200);
        let expected = merged(settings.clone(), json!({"name": "Store", "chunked": false, "enabled": true}));
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(&read[field], value, "{field}");
        }

        admin.delete(&path).await.expect(200);
        admin.get(&path).await.expect_error(404, "not_found");
        admin.delete(&path).await.expect_error(404, "not_found");
        assert_eq!(admin.get("/admin/channels").await.expect(200), json!({"channels": []}));
    });
}

#[test]
fn changed_integrator_url_is_used_within_ten_seconds() {
    run_with_virtual_time(async |host, time| {
        let (old, new) =
            (TestReceiver::start(CannedResponse::ok()).await, TestReceiver::start(CannedResponse::ok()).await);
        let active_chat = ActiveChat::create(host, &old.url(), json!({})).await;
        active_chat.send_text("to the old address").await;
        old.wait_for_requests(1, WAIT_TIMEOUT).await;
        let path = format!("/admin/channels/{}", active_chat.channel.id);
        active_chat.account.admin.client.patch(&path, &json!({"integrator_url": new.url()})).await.expect(200);
        time.advance(seconds(10));
        active_chat.send_text("to the new address").await;
        new.wait_for_requests(1, WAIT_TIMEOUT).await;
    });
}
