//! Tests for rotating the signing secrets of channels and bots, for the audit log of rotations, and for the list of a
//! channel's old endpoints.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::api_client::{ApiClient, number};
use crate::support::bot_fixture::BotFixture;
use crate::support::test_host::{ActiveChat, TestHost, run_on_shared_host, run_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::seconds;

async fn rotate(admin: &ApiClient, path: &str, body: &Value) -> String {
    let rotated = admin.post(path, body).await.expect(200);
    assert!(number(&rotated["old_signing_secret_valid_until"]) > 0);
    rotated["signing_secret"].as_str().unwrap().to_owned()
}

/// A receiver, and the paths that rotate its signing secret and send a sample request to it.
struct Rotated {
    admin: ApiClient,
    receiver: TestReceiver,
    rotate: String,
    test: String,
    first_secret: String,
}

async fn receivers(host: &TestHost) -> [Rotated; 2] {
    let fixture = BotFixture::create(host).await;
    let (channel, bot) = (&fixture.channel, &fixture.bot);
    [
        Rotated {
            admin: fixture.agent.client.clone(),
            rotate: format!("/admin/channels/{}/signing-secret/rotate", channel.id),
            test: format!("/admin/channels/{}/test", channel.id),
            first_secret: channel.signing_secret.clone(),
            receiver: fixture.integrator,
        },
        Rotated {
            admin: fixture.agent.client.clone(),
            rotate: format!("/admin/bots/{}/rotate", bot.bot_id),
            test: format!("/admin/bots/{}/test", bot.bot_id),
            first_secret: bot.signing_secret.clone(),
            receiver: fixture.provider,
        },
    ]
}

#[test]
fn requests_are_signed_with_new_and_kept_secrets() {
    run_on_shared_host(async |host| {
        for Rotated { admin, receiver, rotate: path, test, first_secret } in receivers(host).await {
            let signed_with = async |secrets: &[&str]| {
                admin.post(&test, &json!({})).await.expect(200);
                let request = receiver.requests().pop().unwrap();
                secrets.iter().map(|secret| request.is_signed_with(secret)).collect::<Vec<_>>()
            };
            let second = rotate(&admin, &path, &json!({})).await;
            assert!(second.starts_with("whsec_") && second != first_secret);
            assert_eq!(signed_with(&[&first_secret, &second]).await, [true, true], "{path}");
            let third = rotate(&admin, &path, &json!({"keep_old_seconds": 60})).await;
            assert_eq!(signed_with(&[&first_secret, &second, &third]).await, [true, true, true], "{path}");
            let last = rotate(&admin, &path, &json!({"keep_old_seconds": 0})).await;
            let expected = [false, false, false, true];
            assert_eq!(signed_with(&[&first_secret, &second, &third, &last]).await, expected, "{path}");

            for wrong in [json!(-1), json!("1"), json!(2_592_001)] {
                let refused = admin.post(&path, &json!({"keep_old_seconds": wrong})).await;
                assert_eq!(refused.expect_error(400, "invalid_request")["error"]["field"], "keep_old_seconds");
            }
        }
    });
}

#[test]
fn deliveries_use_a_rotated_secret_within_ten_seconds() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let first = active_chat.send_text("before").await;
        active_chat.final_delivery(first).await;
        let path = format!("/admin/channels/{}/signing-secret/rotate", active_chat.channel.id);
        let secret = rotate(&active_chat.agent.client, &path, &json!({})).await;
        time.advance(seconds(10));
        let seq = active_chat.send_text("after").await;
        active_chat.final_delivery(seq).await;
        let request = integrator.requests().pop().unwrap();
        assert!(request.is_signed_with(&active_chat.channel.signing_secret), "the old secret is still valid");
        assert!(request.is_signed_with(&secret), "{:?}", request.headers);
    });
}

#[test]
fn receiver_that_knows_only_the_new_secret_gets_the_message() {
    run_on_shared_host(async |host| {
        join_all(["strict", "lenient"].map(async |validation| {
            let integrator = TestReceiver::start(CannedResponse::ok()).await;
            let active_chat = ActiveChat::create(host, &integrator.url(), json!({"validation": validation})).await;
            let first = active_chat.send_text("so that the channel is cached").await;
            active_chat.final_delivery(first).await;
            let path = format!("/admin/channels/{}/signing-secret/rotate", active_chat.channel.id);
            let secret = rotate(&active_chat.agent.client, &path, &json!({"keep_old_seconds": 0})).await;
            integrator.respond_by(move |request| {
                let is_signed = request.is_signed_with(&secret);
                async move {
                    if is_signed {
                        CannedResponse::ok()
                    } else {
                        CannedResponse::Json(401, json!({"error": "signature"}))
                    }
                }
            });
            let second = active_chat.send_text("signed with the old secret").await;
            let delivery = active_chat.final_delivery(second).await;
            assert_eq!(delivery["state"], "delivered", "{validation}: {delivery}");
        }))
        .await;
    });
}

#[test]
fn one_of_concurrent_secret_rotations_wins() {
    run_on_shared_host(async |host| {
        for Rotated { admin, receiver, rotate: path, test, .. } in receivers(host).await {
            let replies = join_all((0..4).map(async |_| admin.post(&path, &json!({})).await)).await;
            let mut stored = Vec::new();
            for reply in replies {
                if reply.status == 200 {
                    stored.push(reply.expect(200)["signing_secret"].as_str().unwrap().to_owned());
                } else {
                    reply.expect_error(409, "conflict");
                }
            }
            assert!(!stored.is_empty());
            admin.post(&test, &json!({})).await.expect(200);
            let request = receiver.requests().pop().unwrap();
            assert!(stored.iter().all(|secret| request.is_signed_with(secret)), "every confirmed secret signs");
        }
    });
}

#[test]
fn rotations_appear_in_the_audit_log() {
    run_on_shared_host(async |host| {
        let [channel, bot] = receivers(host).await;
        for Rotated { admin, rotate: path, .. } in [&channel, &bot] {
            rotate(admin, path, &json!({})).await;
        }
        let endpoint = channel.rotate.replace("/signing-secret", "");
        channel.admin.post(&endpoint, &json!({})).await.expect(200);
        let page = channel.admin.get("/admin/audit?limit=3").await.expect(200);
        let rows: Vec<Value> = page["entries"].as_array().unwrap().clone();
        let rows: Vec<_> = rows.iter().map(|row| (&row["action"], &row["kind"], &row["fields"])).collect();
        let rotated = json!("rotated");
        let (secret, endpoint) = (json!(["signing_secret"]), json!(["endpoint"]));
        let expected = [
            (&rotated, &json!("channel"), &endpoint),
            (&rotated, &json!("bot"), &secret),
            (&rotated, &json!("channel"), &secret),
        ];
        assert_eq!(rows, expected);
        assert!(!page.to_string().contains("whsec_"), "{page}");
    });
}

#[test]
fn old_endpoints_of_a_channel_are_listed_until_they_expire() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        let (admin, path) = (&account.admin.client, format!("/admin/channels/{}", channel.id));
        let listed = async || admin.get(&path).await.expect(200)["old_endpoints"].clone();
        assert_eq!(listed().await, json!([]));
        let mut ends = Vec::new();
        for keep in [3_600, 60] {
            let rotated = admin.post(&format!("{path}/rotate"), &json!({"keep_old_seconds": keep})).await.expect(200);
            ends.push(json!({"valid_until": rotated["old_endpoint_valid_until"]}));
            assert_eq!(listed().await, json!(ends));
        }
        admin.post(&format!("{path}/rotate"), &json!({"keep_old_seconds": 0})).await.expect(200);
        assert_eq!(listed().await, json!([]));
    });
}
