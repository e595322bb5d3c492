//! Tests of the pushes to agents' sockets.

use std::collections::HashMap;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::account_with_webhook::{add_webhook, ok_response_with};
use crate::support::agent_socket::AgentSocket;
use crate::support::api_client::{TestAccount, TestAgent, TestChannel};
use crate::support::test_host::{
    ActiveChat, TestHost, VISITOR_ID, run_on_own_host, run_on_shared_host, run_with_virtual_time,
};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::seconds;

/// An account with an agent, Ann, and a channel whose integrator accepts everything.
struct Team {
    account: TestAccount,
    ann: TestAgent,
    channel: TestChannel,
    receiver: TestReceiver,
}

impl Team {
    async fn create(host: &TestHost) -> Self {
        let receiver = TestReceiver::start(CannedResponse::ok()).await;
        let account = host.create_account().await;
        let (ann, channel) = (account.create_agent("Ann").await, account.create_channel(&receiver.url()).await);
        Self { account, ann, channel, receiver }
    }

    fn admin(&self) -> &TestAgent {
        &self.account.admin
    }
}

async fn row(agent: &TestAgent, chat: u64) -> Value {
    let mut rows = agent.chats("open").await;
    rows.extend(agent.chats("closed").await);
    rows.into_iter().find(|row| row["chat_id"] == chat).unwrap_or_else(|| panic!("chat {chat} is not listed"))
}

fn types(frames: &[Value]) -> Vec<&str> {
    frames.iter().map(|frame| frame["type"].as_str().unwrap()).collect()
}

#[test]
fn visitor_message_is_pushed_with_its_chat() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        let mut sockets = [AgentSocket::open(team.admin()).await, AgentSocket::open(&team.ann).await];
        for (seq, text) in [(1, "Hello"), (2, "Is anybody there?")] {
            team.channel.send_text(VISITOR_ID, text).await;
            for socket in &mut sockets {
                let message = socket.next_of("message").await;
                let entry = team.ann.timeline_entry(1, seq).await;
                let expected = json!({"v": 1, "type": "message", "chat_id": 1, "seq": seq, "message": entry});
                assert_eq!(message, expected);
                let chat = socket.find("row with the message", |frame| frame["seq"] == seq).await;
                let expected =
                    json!({"v": 1, "type": "chat", "chat_id": 1, "seq": seq, "chat": row(&team.ann, 1).await});
                assert_eq!(chat, expected);
            }
        }
    });
}

#[test]
fn agent_message_is_pushed_with_each_state_of_its_delivery() {
    run_on_shared_host(async |host| {
        let receiver = TestReceiver::start(CannedResponse::ok()).await;
        let chat = ActiveChat::create(host, &receiver.url(), json!({})).await;
        let mut socket = AgentSocket::open(&chat.agent).await;
        let seq = chat.send_text("Hello").await;
        let message = socket.next_of("message").await;
        assert_eq!((&message["seq"], &message["message"]["text"]), (&json!(seq), &json!("Hello")));
        let is_delivered = |frame: &Value| frame["message"]["delivery"]["state"] == "delivered";
        let delivered = socket.find("delivery", is_delivered).await;
        assert_eq!(delivered["message"], chat.agent.timeline_entry(chat.number, seq).await);
    });
}

#[test]
fn failure_is_announced_before_it_is_shown() {
    run_with_virtual_time(async |host, time| {
        let receiver = TestReceiver::start(CannedResponse::Json(500, json!({}))).await;
        let chat = ActiveChat::create(host, &receiver.url(), json!({})).await;
        let mut socket = AgentSocket::open(&chat.agent).await;
        let seq = chat.send_text("Hello").await;
        for attempts in 1..=3 {
            let is_next = |frame: &Value| {
                frame["message"]["delivery"]["attempts"].as_array().is_some_and(|all| all.len() == attempts)
            };
            let frame = socket.find("attempt", is_next).await;
            assert_eq!(frame["message"]["delivery"]["state"], "pending", "{frame}");
            if attempts < 3 {
                assert_eq!(frame["result_in_ms"], Value::Null, "another attempt follows");
                time.advance_to_next_message().await;
                continue;
            }
            assert_eq!(frame["result_in_ms"], 3_000);
            time.advance(seconds(3) - Duration::from_millis(1));
            assert_eq!(chat.agent.timeline_entry(chat.number, seq).await["delivery"]["state"], "pending");
            time.advance(Duration::from_millis(1));
            assert_eq!(chat.final_delivery(seq).await["state"], "failed");
        }
    });
}

#[test]
fn chat_accepted_by_somebody_else_is_gone_or_changes() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        let ben = team.account.create_agent("Ben").await;
        let sales = json!({"name": "Sales", "agent_ids": [team.ann.id]});
        let sales = team.admin().client.post("/admin/departments", &sales).await.expect(201)["department_id"].clone();
        team.channel.send_text(VISITOR_ID, "Hello").await;
        let mut admin = AgentSocket::open(team.admin()).await;
        let (mut anns, mut bens) = (AgentSocket::open(&team.ann).await, AgentSocket::open(&ben).await);
        // Everybody receives the channel's chats, so a chat that Ann accepts stays visible.
        team.ann.accept(1).await;
        for socket in [&mut admin, &mut anns, &mut bens] {
            let chat = socket.find("accepted chat", |frame| frame["chat"]["state"] == "active").await;
            assert_eq!(chat["chat"]["agent"]["id"], team.ann.id);
        }
        // Ann is the only member of Sales, so Ben can no longer see the chat.
        team.ann.set_presence("online").await;
        team.ann.client.post("/agent/chats/1/transfer", &json!({"department_id": sales})).await.expect(200);
        let gone = bens.next_of("chat_gone").await;
        assert_eq!(gone["chat_id"], 1);
        for socket in [&mut admin, &mut anns] {
            let chat = socket.find("offered chat", |frame| frame["chat"]["state"] == "waiting").await;
            assert_eq!(chat["chat"]["department"]["id"], sales);
        }
        team.ann.accept(1).await;
        team.ann.close(1).await;
        for socket in [&mut admin, &mut anns, &mut bens] {
            socket.find("closed chat", |frame| frame["chat"]["state"] == "closed").await;
        }
    });
}

#[test]
fn hidden_chats_are_never_pushed() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        let ben = team.account.create_agent("Ben").await;
        let path = format!("/admin/channels/{}", team.channel.id);
        team.admin().client.patch(&path, &json!({"agent_ids": [team.ann.id]})).await.expect(200);
        let (mut anns, mut bens) = (AgentSocket::open(&team.ann).await, AgentSocket::open(&ben).await);
        let mut other = AgentSocket::open(&host.create_account().await.admin).await;
        team.channel.send_text(VISITOR_ID, "Hello").await;
        anns.find("row", |frame| frame["chat"]["state"] == "waiting").await;
        team.ann.accept(1).await;
        team.ann.send_text(1, "Hi").await;
        let typing = json!({"sender": {"id": VISITOR_ID}, "message": {"type": "typein"}});
        team.channel.post(&typing).await.expect(200);
        team.ann.client.patch("/agent/visitors/1", &json!({"name": "Ada"})).await.expect(200);
        team.ann.close(1).await;
        anns.find("closed chat", |frame| frame["chat"]["state"] == "closed").await;
        for socket in [&mut bens, &mut other] {
            let frames = socket.frames_until_pong().await;
            let of_chats: Vec<_> = frames.iter().filter(|frame| !frame["chat_id"].is_null()).collect();
            assert!(of_chats.is_empty(), "{of_chats:?}");
        }
    });
}

#[test]
fn corrected_and_blacklisted_visitor_is_pushed() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        team.channel.send_text(VISITOR_ID, "Hello").await;
        let mut socket = AgentSocket::open(&team.ann).await;
        for (patch, field) in [(json!({"name": "Ada"}), "name"), (json!({"blacklisted": true}), "blacklisted")] {
            team.admin().client.patch("/agent/visitors/1", &patch).await.expect(200);
            let push = socket.next_of("visitor").await;
            assert_eq!((&push["chat_id"], &push["visitor_number"]), (&json!(1), &json!(1)));
            assert_eq!(push["visitor"][field], patch[field]);
            assert_eq!(push["visitor"], team.ann.chat(1).await["visitor"]);
        }
    });
}

#[test]
fn invitation_and_webhook_data_are_pushed() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        let data = json!({"enable_assign": true, "custom_data": [{"title": "Plan", "content": "Gold"}]});
        let webhook = TestReceiver::start(ok_response_with(data)).await;
        add_webhook(&team.account, &webhook, json!({"events": ["chat_accepted"]})).await;
        let mut socket = AgentSocket::open(&team.ann).await;
        let message = |invite: &str| json!({"sender": {"id": VISITOR_ID, "invite": invite}, "message": {"type": "text", "text": "Hi"}});
        team.channel.post(&message("Can we help?")).await.expect(200);
        team.channel.post(&message("Really?")).await.expect(200);
        let is_second = |frame: &Value| frame["visitor"]["invite"] == "Really?";
        let visitor = socket.find("invitation", is_second).await;
        assert_eq!(visitor["visitor"], team.ann.chat(1).await["visitor"]);
        team.ann.accept(1).await;
        let panel = socket.find("panel", |frame| frame["panel"]["enable_assign"] == true).await;
        assert_eq!((&panel["type"], &panel["chat_id"]), (&json!("panel"), &json!(1)));
        assert_eq!(panel["panel"], team.ann.chat(1).await["panel"]);
    });
}

#[test]
fn visitor_typing_is_pushed() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        team.channel.send_text(VISITOR_ID, "Hello").await;
        let mut socket = AgentSocket::open(&team.ann).await;
        for (notice, is_typing) in [("typein", true), ("typeout", false)] {
            let body = json!({"sender": {"id": VISITOR_ID}, "message": {"type": notice}});
            team.channel.post(&body).await.expect(200);
            let expected =
                json!({"v": 1, "type": "typing", "chat_id": 1, "seq": 1, "from": "visitor", "typing": is_typing});
            assert_eq!(socket.next_of("typing").await, expected);
        }
    });
}

#[test]
fn agent_typing_is_pushed_to_colleagues_who_see_the_chat() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        let ben = team.account.create_agent("Ben").await;
        let path = format!("/admin/channels/{}", team.channel.id);
        team.admin().client.patch(&path, &json!({"agent_ids": [team.ann.id]})).await.expect(200);
        team.channel.send_text(VISITOR_ID, "Hello").await;
        team.ann.accept(1).await;
        let mut admin = AgentSocket::open(team.admin()).await;
        let (mut anns, mut bens) = (AgentSocket::open(&team.ann).await, AgentSocket::open(&ben).await);
        for (notice, is_typing) in [("typein", true), ("typeout", false)] {
            anns.send(&json!({"type": "typing", "chat_id": 1, "typing": notice})).await;
            let push = admin.next_of("typing").await;
            assert_eq!((&push["v"], &push["chat_id"], &push["from"]), (&json!(1), &json!(1), &json!("agent")));
            assert_eq!(push["agent"], json!({"id": team.ann.id, "name": "Ann"}));
            assert_eq!(push["typing"], is_typing);
        }
        for socket in [&mut anns, &mut bens] {
            assert!(!types(&socket.frames_until_pong().await).contains(&"typing"), "only colleagues who see the chat");
        }
    });
}

#[test]
fn presence_and_settings_are_pushed_to_everybody() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        let mut sockets = [AgentSocket::open(team.admin()).await, AgentSocket::open(&team.ann).await];
        team.ann.set_presence("online").await;
        for socket in &mut sockets {
            let expected = json!({"v": 1, "type": "presence", "agent_id": team.ann.id, "status": "online"});
            assert_eq!(socket.next_of("presence").await, expected);
        }
        team.ann.set_presence("online").await;
        team.ann.set_presence("away").await;
        for socket in &mut sockets {
            assert_eq!(socket.next_of("presence").await["status"], "away", "the same status again is no change");
        }
        let admin = &team.admin().client;
        let channel = format!("/admin/channels/{}", team.channel.id);
        for (path, body) in [("/admin/settings", json!({"idle_close": 60})), (&channel, json!({"name": "Shop"}))] {
            match path {
                "/admin/settings" => admin.put(path, &body).await.expect(200),
                _ => admin.patch(path, &body).await.expect(200),
            };
            for socket in &mut sockets {
                assert_eq!(socket.next_of("settings").await, json!({"v": 1, "type": "settings"}));
            }
        }
    });
}

#[test]
fn blocked_links_are_replaced_in_pushes() {
    run_with_virtual_time(async |host, time| {
        let team = Team::create(host).await;
        team.admin().client.put("/admin/settings", &json!({"safe_urls": ["example.com"]})).await.expect(200);
        // Functions cache settings for ten seconds.
        time.advance(seconds(10));
        let mut socket = AgentSocket::open(&team.ann).await;
        team.channel.send_text(VISITOR_ID, "See https://evil.example.net/login").await;
        for kind in ["message", "chat"] {
            let frame = socket.next_of(kind).await.to_string();
            assert!(!frame.contains("evil.example.net") && frame.contains("blocked"), "{frame}");
        }
    });
}

/// The test passes a batch directly to `deliver-push`, because the local host's streams usually pass on each change
/// separately.
#[test]
fn batch_with_chats_of_several_channels_is_pushed() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        let second = team.account.create_channel(&team.receiver.url()).await;
        let mut records = Vec::new();
        for (chat, channel) in [(1, &team.channel), (2, &second)] {
            channel.send_text(VISITOR_ID, "Hello").await;
            let key = format!("CHAT#{}#{chat}", team.account.id.as_str().unwrap());
            let request = host.tables().get_item().table_name("Chats").consistent_read(true);
            let request = request.key("pk", AttributeValue::S(key)).key("sk", AttributeValue::S("HEAD".to_owned()));
            let header = request.send().await.unwrap().item.unwrap();
            records.push(json!({"eventName": "INSERT", "dynamodb": {"NewImage": item_json(&header)}}));
        }
        // The socket is opened only now, so that `deliver-push` has not yet read and cached the account's channels.
        let mut socket = AgentSocket::open(&team.ann).await;
        host.local.invoke("deliver-push", json!({"Records": records})).await.unwrap();
        for chat in [1, 2] {
            socket.find("row", |frame| frame["type"] == "chat" && frame["chat_id"] == chat).await;
        }
    });
}

/// Returns an item in the JSON format of DynamoDB Streams records.
fn item_json(item: &HashMap<String, AttributeValue>) -> Value {
    item.iter().map(|(name, value)| (name.clone(), attribute_json(value))).collect()
}

fn attribute_json(value: &AttributeValue) -> Value {
    if let Ok(text) = value.as_s() {
        json!({"S": text})
    } else if let Ok(number) = value.as_n() {
        json!({"N": number})
    } else if let Ok(flag) = value.as_bool() {
        json!({"BOOL": flag})
    } else if let Ok(fields) = value.as_m() {
        json!({"M": item_json(fields)})
    } else {
        assert!(value.is_null(), "{value:?} is not in a header");
        json!({"NULL": true})
    }
}

/// Three of Ann's clients do not read from their connections, as if they had disappeared without closing them.
#[test]
fn slow_and_dead_sockets_delay_nobody() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        team.channel.send_text(VISITOR_ID, "Hello").await;
        team.ann.accept(1).await;
        let slow: Vec<_> = join_all((0..3).map(|_| AgentSocket::open(&team.ann))).await;
        let slow: Vec<_> = slow.into_iter().map(AgentSocket::into_stream).collect();
        let mut socket = AgentSocket::open(&team.ann).await;
        // The messages are long, because the buffers of a connection can hold a few megabytes if nobody reads from it.
        let long = "x".repeat(9_000);
        for n in 0..150 {
            let text = format!("{n} {long}");
            team.ann.send_text(1, &text).await;
            socket.find("message", |frame| frame["type"] == "message" && frame["message"]["text"] == *text).await;
        }
        drop(slow);
    });
}

/// The sockets belong to 40 agents, so that no agent reaches the rate limit on socket tickets.
#[test]
fn one_of_a_thousand_sockets_gets_the_message() {
    run_on_own_host(&[], async |host| {
        const AGENTS: usize = 40;
        const SOCKETS_PER_AGENT: usize = 25;
        let team = Team::create(host).await;
        let path = format!("/admin/channels/{}", team.channel.id);
        team.admin().client.patch(&path, &json!({"agent_ids": [team.ann.id]})).await.expect(200);
        let mut others = Vec::new();
        for n in 0..AGENTS {
            others.push(team.account.create_agent(&format!("Agent {n}")).await);
        }
        let mut sockets = Vec::with_capacity(AGENTS * SOCKETS_PER_AGENT);
        for agent in &others {
            sockets.extend(join_all((0..SOCKETS_PER_AGENT).map(|_| AgentSocket::open(agent))).await);
        }
        let mut anns = AgentSocket::open(&team.ann).await;
        team.channel.send_text(VISITOR_ID, "Hello").await;
        anns.next_of("message").await;
        anns.next_of("chat").await;
        let mut heard = 0;
        for sockets in sockets.chunks_mut(50) {
            let frames = join_all(sockets.iter_mut().map(AgentSocket::frames_until_pong)).await;
            heard += frames.iter().flatten().filter(|frame| !frame["chat_id"].is_null()).count();
        }
        assert_eq!(heard, 0, "frames about a hidden chat");
    });
}

#[test]
fn pushes_are_in_order() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        team.channel.send_text(VISITOR_ID, "Hello").await;
        team.ann.accept(1).await;
        let mut socket = AgentSocket::open(&team.ann).await;
        let texts: Vec<String> = (0..20).map(|n| n.to_string()).collect();
        for text in &texts {
            team.ann.send_text(1, text).await;
        }
        let mut received: Vec<String> = Vec::new();
        while received.len() < texts.len() {
            received.push(socket.next_of("message").await["message"]["text"].as_str().unwrap().to_owned());
        }
        assert_eq!(received, texts);
        assert!(types(&socket.frames_until_pong().await).iter().all(|kind| ["chat", "delivery"].contains(kind)));
        assert!(team.receiver.connections() > 0);
    });
}
