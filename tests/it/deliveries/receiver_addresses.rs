//! Tests which receiver URLs the service calls: never a URL with a private IP address, and plain http URLs only if the
//! stack allows them.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::api_client::{TestAccount, TestChannel, number};
use crate::support::test_host::{TestHost, run_on_own_host};
use crate::support::test_receiver::{CannedResponse, TestReceiver};

/// Private, reserved and multicast IP addresses, in several notations that URLs allow.
const PRIVATE_LITERALS: [&str; 40] = [
    "127.0.0.1",
    "127.1",
    "127.255.255.254",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "%31%32%37.0.0.1",
    "１２７.0.0.1",
    "0.0.0.0",
    "0",
    "10.0.0.1",
    "10.255.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "100.64.0.1",
    "192.0.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[fd00::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[2001:db8::1]",
];

const PRIVATE_NAMES: [&str; 3] = ["localhost", "LOCALHOST", "localhost."];

#[test]
fn private_addresses_are_never_called() {
    run_on_own_host(&[("AllowedPrivateTargets", "")], async |host| {
        let receiver = TestReceiver::start(CannedResponse::ok()).await;
        let account = host.create_account().await;
        let mut accepted = Vec::new();
        for hostname in PRIVATE_LITERALS.into_iter().chain(PRIVATE_NAMES) {
            let url = format!("http://{hostname}:{}/hook", receiver.port());
            let body = json!({"kind": "api", "name": hostname, "integrator_url": url});
            let reply = account.admin.client.post("/admin/channels", &body).await;
            if reply.status == 400 {
                assert_eq!(reply.json()["error"]["field"], "integrator_url", "{hostname}");
                continue;
            }
            assert!(PRIVATE_NAMES.contains(&hostname), "{hostname} was accepted: {reply:?}");
            accepted.push((hostname, channel_from(host, &reply.expect(201))));
        }
        join_all(accepted.iter().map(|(hostname, channel)| assert_delivery_fails(&account, hostname, channel))).await;
        assert_eq!(receiver.connections(), 0);
    });
}

fn channel_from(host: &TestHost, created: &Value) -> TestChannel {
    let field = |name: &str| created[name].as_str().unwrap().to_owned();
    TestChannel {
        client: host.anonymous.clone(),
        id: field("channel_id"),
        endpoint: field("endpoint"),
        signing_secret: field("signing_secret"),
    }
}

async fn assert_delivery_fails(account: &TestAccount, hostname: &str, channel: &TestChannel) {
    channel.send_text(hostname, "Hello").await;
    let chats = account.admin.chats("waiting").await;
    let chat = chats.iter().find(|chat| chat["channel"]["channel_id"] == channel.id).expect("a waiting chat");
    let chat = number(&chat["chat_id"]);
    account.admin.accept(chat).await;
    let seq = account.admin.send_text(chat, "Anybody there?").await;
    let delivery = account.admin.final_delivery(chat, seq).await;
    assert_eq!(delivery["state"], "failed", "{hostname}");
}

#[test]
fn channel_cannot_be_changed_to_a_private_address() {
    run_on_own_host(&[("AllowedPrivateTargets", "")], async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        let change = json!({"integrator_url": "https://169.254.169.254/latest"});
        let reply = account.admin.client.patch(&format!("/admin/channels/{}", channel.id), &change).await;
        assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], "integrator_url");
    });
}

#[test]
fn plain_http_is_rejected_unless_the_stack_allows_it() {
    run_on_own_host(&[("AllowHttpTargets", "false")], async |host| {
        let account = host.create_account().await;
        for url in ["http://app.example/hook", "ftp://app.example", "file:///etc/passwd", "https://", "app", ""] {
            let body = json!({"kind": "api", "name": "App", "integrator_url": url});
            let reply = account.admin.client.post("/admin/channels", &body).await;
            assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], "integrator_url", "{url}");
        }
        account.create_channel("https://app.example/hook").await;
        let settings = account.admin.client.get("/admin/settings").await.expect(200);
        assert_eq!(settings["allows_http_receivers"], false, "the console then asks for https");
    });
}
