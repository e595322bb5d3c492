//! Tests of agents' sockets: tickets, frames from the client, the end of a socket, and its effect on the presence.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::project::sample_events::samples;
use crate::support::account_resources::AccountResources;
use crate::support::agent_socket::{AgentSocket, socket_url};
use crate::support::api_client::{PASSWORD, TestAccount, TestAgent};
use crate::support::test_host::{ActiveChat, TestHost, run_on_own_host, run_on_shared_host, run_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

/// How long a session's sockets may stay open after the session has ended.
const MAX_TIME_TO_CLOSE: std::time::Duration = seconds(10);

#[test]
fn ticket_opens_one_socket() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let url = socket_url(&account.admin.client).await;
        let mut socket = AgentSocket::connect(&url).await.expect("a new ticket");
        assert_eq!(AgentSocket::connect(&url).await.err(), Some(401), "a used ticket");
        let (url, _) = url.split_once('?').unwrap();
        for query in ["", "?ticket=", "?ticket=guessed", "?token=x"] {
            assert_eq!(AgentSocket::connect(&format!("{url}{query}")).await.err(), Some(401), "{query}");
        }
        assert_eq!(socket.frames_until_pong().await, Vec::<Value>::new());
    });
}

#[test]
fn ticket_ends_with_its_session() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let url = socket_url(&account.admin.client).await;
        account.admin.client.post("/agent/logout", &json!({})).await.expect(200);
        assert_eq!(AgentSocket::connect(&url).await.err(), Some(401));
        account.admin.client.post("/agent/socket-ticket", &json!({})).await.expect_error(401, "unauthorized");
    });
}

#[test]
fn tickets_are_limited_for_each_agent() {
    run_with_virtual_time(async |host, _| {
        let account = host.create_account().await;
        let ann = account.create_agent("Ann").await;
        // The requests are sent one after the other. Concurrent requests would use several processes, each of which may
        // let a few more requests through.
        let mut refused = 0;
        for _ in 0..80 {
            let response = account.admin.client.post("/agent/socket-ticket", &Value::Null).await;
            refused += u32::from(response.status == 429);
        }
        assert!(refused > 0, "more than 30 tickets in ten seconds");
        socket_url(&ann.client).await;
    });
}

#[test]
fn invalid_frames_get_errors_and_change_nothing() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let mut socket = AgentSocket::open(&account.admin).await;
        for (frame, code, field) in [
            ("", "invalid_request", Value::Null),
            ("ping", "invalid_request", Value::Null),
            ("[]", "invalid_request", Value::Null),
            (r#"{"type":"unsubscribe"}"#, "invalid_request", json!("type")),
            (r#"{"type":"typing","typing":"typein"}"#, "invalid_request", json!("chat_id")),
            (r#"{"type":"typing","chat_id":1,"typing":"on"}"#, "invalid_request", json!("typing")),
            (r#"{"type":"typing","chat_id":1,"typing":"typein"}"#, "not_found", Value::Null),
        ] {
            socket.send_text(frame).await;
            let error = socket.next().await;
            assert_eq!((&error["v"], &error["type"]), (&json!(1), &json!("error")), "{frame}: {error}");
            assert_eq!((&error["code"], &error["field"]), (&json!(code), &field), "{frame}: {error}");
            assert!(error["message"].is_string(), "{error}");
        }
        assert_eq!(socket.frames_until_pong().await, Vec::<Value>::new());
    });
}

#[test]
fn failure_of_the_service_is_reported_in_one_frame() {
    run_on_own_host(&[], async |host| {
        let chat = ActiveChat::create(host, "https://app.example.com/hook", json!({})).await;
        let mut socket = AgentSocket::open(&chat.agent).await;
        host.local.set_sqs_outage(true);
        socket.send(&json!({"type": "typing", "chat_id": chat.number, "typing": "typein"})).await;
        let mut frames = socket.frames_until_pong().await;
        frames.retain(|frame| frame["message"].is_string());
        let [frame] = frames.as_slice() else { panic!("{frames:?}") };
        assert_eq!((&frame["message"], &frame["v"]), (&json!("Internal server error"), &Value::Null));
        assert!(frame["connectionId"].is_string() && frame["requestId"].is_string(), "{frame}");
        host.local.set_sqs_outage(false);
    });
}

#[test]
fn typing_frame_is_delivered_like_the_endpoint() {
    run_on_shared_host(async |host| {
        let receiver = TestReceiver::start(CannedResponse::ok()).await;
        let chat = ActiveChat::create(host, &receiver.url(), json!({})).await;
        let mut socket = AgentSocket::open(&chat.agent).await;
        for typing in ["typein", "typeout"] {
            socket.send(&json!({"type": "typing", "chat_id": chat.number, "typing": typing})).await;
            wait_for("the typing notice", WAIT_TIMEOUT, async || {
                let bodies: Vec<Value> = receiver.requests().iter().map(ReceivedRequest::json).collect();
                if bodies.iter().any(|body| body["message"]["type"] == typing) { Ok(()) } else { Err(bodies) }
            })
            .await;
        }
        let other_account = ActiveChat::create(host, &receiver.url(), json!({})).await;
        let mut other = AgentSocket::open(&other_account.agent).await;
        other.send(&json!({"type": "typing", "chat_id": 99, "typing": "typein"})).await;
        assert_eq!(other.next_of("error").await["code"], "not_found");
    });
}

#[test]
fn typing_in_a_chat_of_somebody_else_is_rejected() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let (ann, channel) =
            (account.create_agent("Ann").await, account.create_channel("https://app.example.com/hook").await);
        channel.send_text("v", "Hello").await;
        let mut socket = AgentSocket::open(&ann).await;
        socket.send(&json!({"type": "typing", "chat_id": 1, "typing": "typein"})).await;
        assert_eq!(socket.next_of("error").await["code"], "conflict");
    });
}

/// Ending a session closes its sockets immediately, so this test stores a socket without a session.
#[test]
fn frame_of_an_ended_session_removes_its_socket() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let connection_id = format!("{}=", local::random_and_digest::random_hex::<8>().unwrap());
        let key = socket_key(&connection_id);
        let mut item = key.clone();
        for (name, value) in [
            ("account_id", AttributeValue::S(account.id.as_str().unwrap().to_owned())),
            ("agent_id", AttributeValue::N(account.admin.id.to_string())),
            ("is_admin", AttributeValue::Bool(true)),
            ("session_id", AttributeValue::S("ended".to_owned())),
            ("connection_id", AttributeValue::S(connection_id.clone())),
            ("expires_at", AttributeValue::N("9999999999".to_owned())),
        ] {
            item.insert(name.to_owned(), value);
        }
        let put = host.tables().put_item().table_name("Connections").set_item(Some(item));
        put.send().await.unwrap();
        let mut event = samples()["socket-receive-message"].clone();
        event["requestContext"]["connectionId"] = json!(connection_id);
        let response = host.local.invoke("socket-receive-message", event).await.unwrap();
        assert_eq!(response, json!({"statusCode": 200}));
        let read = host.tables().get_item().table_name("Connections").set_key(Some(key)).consistent_read(true);
        assert_eq!(read.send().await.unwrap().item, None);
    });
}

/// The service sets `missed_push` only if the gateway rejects a push, so this test sets the attribute in the table
/// itself.
#[test]
fn socket_that_has_missed_a_push_is_closed_at_its_next_ping() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let mut socket = AgentSocket::open(&account.admin).await;
        let partition = format!("SOCKETS#{}", account.id.as_str().unwrap());
        let query = host.tables().query().table_name("Connections").key_condition_expression("pk = :sockets");
        let query = query.expression_attribute_values(":sockets", AttributeValue::S(partition.clone()));
        let stored = query.clone().send().await.unwrap().items.unwrap();
        let [stored] = stored.as_slice() else { panic!("{stored:?}") };
        let key = socket_key(stored["sk"].as_s().unwrap());
        let update = host.tables().update_item().table_name("Connections").set_key(Some(key.clone()));
        let update = update.update_expression("SET missed_push = :true");
        update.expression_attribute_values(":true", AttributeValue::Bool(true)).send().await.unwrap();
        socket.send(&json!({"type": "ping"})).await;
        socket.wait_until_closed(WAIT_TIMEOUT).await;
        let read = host.tables().get_item().table_name("Connections").set_key(Some(key)).consistent_read(true);
        assert_eq!(read.send().await.unwrap().item, None);
        assert_eq!(query.consistent_read(true).send().await.unwrap().count, 0);
    });
}

fn socket_key(connection_id: &str) -> Item {
    HashMap::from([
        ("pk".to_owned(), AttributeValue::S(format!("SOCKET#{connection_id}"))),
        ("sk".to_owned(), AttributeValue::S("SOCKET".to_owned())),
    ])
}

enum SessionEnd {
    Logout,
    NewPassword,
    NewRole,
    Deletion,
}

impl SessionEnd {
    async fn apply(&self, resources: &AccountResources, agent: &TestAgent) {
        let admin = &resources.account.admin.client;
        let path = format!("/admin/agents/{}", agent.id);
        match self {
            Self::Logout => drop(agent.client.post("/agent/logout", &json!({})).await.expect(200)),
            Self::NewPassword => {
                let password = format!("{PASSWORD}!");
                drop(admin.patch(&path, &json!({"password": password})).await.expect(200));
            }
            Self::NewRole => drop(admin.patch(&path, &json!({"role": "admin"})).await.expect(200)),
            Self::Deletion => drop(admin.delete(&path).await.expect(200)),
        }
    }
}

#[test]
fn sockets_are_closed_when_their_session_ends() {
    run_on_shared_host(async |host| {
        let resources = AccountResources::create(host).await;
        let ends = [SessionEnd::Logout, SessionEnd::NewPassword, SessionEnd::NewRole, SessionEnd::Deletion];
        join_all(ends.iter().map(async |end| {
            let agent = resources.account.create_agent("Ann").await;
            let mut sockets = [AgentSocket::open(&agent).await, AgentSocket::open(&agent).await];
            end.apply(&resources, &agent).await;
            for socket in &mut sockets {
                socket.wait_until_closed(MAX_TIME_TO_CLOSE).await;
            }
            agent.client.post("/agent/socket-ticket", &json!({})).await.expect_error(401, "unauthorized");
        }))
        .await;
        let mut admin = AgentSocket::open(&resources.account.admin).await;
        assert!(admin.frames_until_pong().await.iter().all(|frame| frame["type"] != "error"), "others stay open");
    });
}

#[test]
fn other_session_of_the_agent_keeps_its_socket() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let ann = account.create_agent("Ann").await;
        let second = TestAgent::log_in(&account.admin.client, ann.id.clone(), &ann.email).await;
        let (mut closed, mut open) = (AgentSocket::open(&ann).await, AgentSocket::open(&second).await);
        ann.client.post("/agent/logout", &json!({})).await.expect(200);
        closed.wait_until_closed(MAX_TIME_TO_CLOSE).await;
        open.frames_until_pong().await;
    });
}

#[test]
fn presence_survives_a_short_loss_of_the_socket() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example.com/hook").await;
        let socket = AgentSocket::open(&account.admin).await;
        let presence = account.admin.client.get("/agent/presence").await.expect(200);
        assert_eq!(presence, json!({"status": "offline", "online": false}), "a socket alone is no presence");
        account.admin.set_presence("online").await;
        socket.close().await;
        assert_eq!(channel.status().await.expect(200), 1, "the agent is online for another 90 seconds");
        AgentSocket::open(&account.admin).await.close().await;
        let presence = account.admin.client.get("/agent/presence").await.expect(200);
        assert_eq!(presence, json!({"status": "online", "online": true}));
    });
}

/// The loss of a socket is stored immediately, which starts the time limit of 90 seconds. The limit itself is tested in
/// `shared/src/domain/accounts/agent_presence.rs`; here, the stored time is moved into the past.
#[test]
fn agent_is_offline_90_seconds_after_the_last_socket() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example.com/hook").await;
        let sockets = [AgentSocket::open(&account.admin).await, AgentSocket::open(&account.admin).await];
        account.admin.set_presence("online").await;
        for socket in sockets {
            socket.close().await;
        }
        let lost_at = wait_for("the loss of both sockets", WAIT_TIMEOUT, async || {
            let item = presence_item(host, &account).await;
            let lost_at = item.get("socket_lost_at").and_then(|at| at.as_n().ok()?.parse::<u64>().ok());
            lost_at.filter(|_| !item.contains_key("sockets")).ok_or(item)
        })
        .await;
        assert_eq!(channel.status().await.expect(200), 1);
        set_socket_lost_at(host, &account, lost_at - 90_000).await;
        assert_eq!(channel.status().await.expect(200), 0);
        assert_eq!(account.admin.client.get("/agent/presence").await.expect(200)["online"], false);
        let socket = AgentSocket::open(&account.admin).await;
        assert_eq!(channel.status().await.expect(200), 1, "the agent is back");
        socket.close().await;
    });
}

type Item = HashMap<String, AttributeValue>;

fn presence_key(account: &TestAccount) -> Item {
    let text = |text: String| AttributeValue::S(text);
    let account_id = account.id.as_str().unwrap();
    let agent_id = account.admin.id.as_u64().unwrap();
    HashMap::from([
        ("pk".to_owned(), text(format!("PRESENCE#{account_id}"))),
        ("sk".to_owned(), text(format!("{agent_id:010}"))),
    ])
}

async fn presence_item(host: &TestHost, account: &TestAccount) -> Item {
    let request = host.tables().get_item().table_name("Connections").consistent_read(true);
    request.set_key(Some(presence_key(account))).send().await.unwrap().item.unwrap()
}

async fn set_socket_lost_at(host: &TestHost, account: &TestAccount, lost_at: u64) {
    let request = host.tables().update_item().table_name("Connections").set_key(Some(presence_key(account)));
    let request = request.update_expression("SET socket_lost_at = :at");
    request.expression_attribute_values(":at", AttributeValue::N(lost_at.to_string())).send().await.unwrap();
}
