//! Tests of sockets whose clients have said what they show.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::agent_socket::AgentSocket;
use crate::support::api_client::{TestAccount, TestAgent, TestChannel};
use crate::support::test_host::{TestHost, VISITOR_ID, run_on_shared_host};

const INTEGRATOR_URL: &str = "https://app.example/hook";

struct Team {
    account: TestAccount,
    ann: TestAgent,
    ben: TestAgent,
    channel: TestChannel,
}

impl Team {
    async fn create(host: &TestHost) -> Self {
        let account = host.create_account().await;
        let (ann, ben) = (account.create_agent("Ann").await, account.create_agent("Ben").await);
        let channel = account.create_channel(INTEGRATOR_URL).await;
        Self { account, ann, ben, channel }
    }
}

/// Opens a socket of a client that shows these lists and this chat.
async fn open(agent: &TestAgent, lists: &[&str], open: Option<u64>) -> AgentSocket {
    let mut socket = AgentSocket::open(agent).await;
    subscribe(&mut socket, lists, open).await;
    socket
}

async fn subscribe(socket: &mut AgentSocket, lists: &[&str], open: Option<u64>) {
    socket.send(&json!({"type": "subscribe", "lists": lists, "open": open})).await;
    let expected = json!({"v": 1, "type": "subscribed", "lists": lists, "open": open});
    assert_eq!(socket.next_of("subscribed").await, expected);
}

fn has_row(frame: &Value, chat: u64, field: &str, value: &Value) -> bool {
    frame["type"] == "changes"
        && frame["chats"]
            .as_array()
            .is_some_and(|rows| rows.iter().any(|row| row["chat_id"] == chat && row.pointer(field) == Some(value)))
}

#[test]
fn subscriber_gets_the_new_text_of_an_edited_message() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        let message = |fields: Value| json!({"sender": {"id": VISITOR_ID}, "message": fields});
        let sent = team.channel.post(&message(json!({"type": "text", "text": "Helo"}))).await.expect(200);
        let mut socket = open(&team.ann, &["waiting"], None).await;
        let edit = message(json!({"type": "text", "edits": sent["id"], "text": "Hello"}));
        team.channel.post(&edit).await.expect(200);
        socket.find("row", |frame| has_row(frame, 1, "/last_message/text", &json!("Hello"))).await;
    });
}

#[test]
fn agents_who_show_a_chat_know_of_each_other() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        team.channel.send_text(VISITOR_ID, "Hello").await;
        let mut ann = open(&team.ann, &["waiting"], Some(1)).await;
        let mut ben = open(&team.ben, &["waiting"], Some(1)).await;
        let both = json!({"v": 1, "type": "viewers", "chat_id": 1, "agent_ids": [team.ann.id, team.ben.id]});
        let viewers = async |socket: &mut AgentSocket| socket.find("viewers", |frame| frame["type"] == "viewers").await;
        assert_eq!(viewers(&mut ann).await, both);
        let only_ann = json!({"v": 1, "type": "viewers", "chat_id": 1, "agent_ids": [team.ann.id]});
        subscribe(&mut ben, &["waiting"], None).await;
        assert_eq!(viewers(&mut ann).await, only_ann, "Ben shows no chat");
        let ben = open(&team.ben, &["waiting"], Some(1)).await;
        assert_eq!(viewers(&mut ann).await, both);
        ben.close().await;
        assert_eq!(viewers(&mut ann).await, only_ann, "Ben has gone");
    });
}

#[test]
fn agent_who_may_not_see_a_chat_is_no_viewer() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let (ann, ben) = (account.create_agent("Ann").await, account.create_agent("Ben").await);
        let channel = account.create_channel_with(INTEGRATOR_URL, json!({"agent_ids": [ann.id]})).await;
        channel.send_text(VISITOR_ID, "Hello").await;
        let mut socket = open(&ann, &["waiting"], Some(1)).await;
        let _stranger = open(&ben, &["waiting"], Some(1)).await;
        let _admin = open(&account.admin, &["waiting"], Some(1)).await;
        let mut ids = [account.admin.id.clone(), ann.id.clone()];
        ids.sort_by_key(Value::as_u64);
        socket.find("viewers", |frame| frame["type"] == "viewers" && frame["agent_ids"] == json!(ids)).await;
    });
}

#[test]
fn subscriber_gets_own_and_open_chats_at_once() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        for visitor in ["own", "open", "other"] {
            team.channel.send_text(visitor, "Hello").await;
        }
        team.ann.accept(1).await;
        let mut socket = open(&team.ann, &["waiting"], Some(2)).await;
        for (visitor, chat) in [("own", 1), ("open", 2)] {
            team.channel.send_text(visitor, "Is anybody there?").await;
            let message = socket.find("message", |frame| frame["chat_id"] == chat && frame["type"] == "message").await;
            assert_eq!(message["message"], team.ann.timeline(chat).await.pop().unwrap());
            socket.find("row", |frame| frame["chat_id"] == chat && frame["type"] == "chat").await;
        }
        subscribe(&mut socket, &["waiting"], None).await;
        team.channel.send_text("open", "Hello?").await;
        team.channel.send_text("own", "The last one").await;
        let is_last = |frame: &Value| frame["message"]["text"] == "The last one";
        loop {
            let frame = socket.next().await;
            if is_last(&frame) {
                break;
            }
            assert_ne!(frame["chat_id"], 2, "the chat is not open any more: {frame}");
        }
    });
}

#[test]
fn other_chats_reach_a_subscriber_as_rows() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        let mut waiting = open(&team.ann, &["waiting"], None).await;
        let mut nothing = open(&team.ann, &[], None).await;
        team.channel.send_text(VISITOR_ID, "Hello").await;
        for socket in [&mut waiting, &mut nothing] {
            let changes = socket.next_of("changes").await;
            assert_eq!(changes["chats"], json!(team.ann.chats("open").await), "every list counts a new chat");
            assert_eq!(changes["gone"], json!([]));
        }
        team.channel.send_text(VISITOR_ID, "Is anybody there?").await;
        let text = json!("Is anybody there?");
        let changes = waiting.find("second message", |frame| has_row(frame, 1, "/last_message/text", &text)).await;
        let positions = changes["visitor_messages"].as_array().unwrap();
        assert!(positions.contains(&json!({"chat_id": 1, "seq": 2})), "{changes}");
        team.ben.accept(1).await;
        let is_accepted = |frame: &Value| has_row(frame, 1, "/agent/id", &team.ben.id);
        waiting.find("accepted chat", is_accepted).await;
        loop {
            let frame = nothing.next().await;
            if is_accepted(&frame) {
                break;
            }
            assert!(!has_row(&frame, 1, "/last_message/text", &text), "no list shows the message: {frame}");
        }
    });
}

#[test]
fn subscriber_learns_that_a_chat_is_gone() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        let sales = team.account.create_department("Sales", &[&team.ben]).await;
        team.channel.send_text(VISITOR_ID, "Hello").await;
        team.ben.accept(1).await;
        let mut socket = open(&team.ann, &["waiting", "active"], None).await;
        team.ben.set_presence("online").await;
        team.ben.client.post("/agent/chats/1/transfer", &json!({"department_id": sales})).await.expect(200);
        let is_gone = |frame: &Value| frame["gone"] == json!([1]);
        let changes = socket.find("chat that is gone", is_gone).await;
        assert_eq!(changes["chats"], json!([]));
    });
}

#[test]
fn given_chat_is_pushed_to_both_agents_at_once() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        team.channel.send_text(VISITOR_ID, "Hello").await;
        team.ann.accept(1).await;
        let (mut anns, mut bens) = (open(&team.ann, &[], None).await, open(&team.ben, &[], None).await);
        team.ben.set_presence("online").await;
        team.ann.client.post("/agent/chats/1/transfer", &json!({"agent_id": team.ben.id})).await.expect(200);
        for socket in [&mut anns, &mut bens] {
            let chat = socket.find("given chat", |frame| frame["chat"]["agent"]["id"] == team.ben.id).await;
            assert_eq!(chat["type"], "chat");
        }
    });
}

#[test]
fn presence_and_settings_reach_subscribers() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        let mut socket = open(&team.ann, &[], None).await;
        team.ben.set_presence("online").await;
        assert_eq!(socket.next_of("presence").await["agent_id"], team.ben.id);
        team.account.admin.client.put("/admin/settings", &json!({"idle_close": 60})).await.expect(200);
        socket.next_of("settings").await;
    });
}

#[test]
fn colleague_typing_reaches_those_who_show_the_chat() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        team.channel.send_text(VISITOR_ID, "Hello").await;
        team.ann.accept(1).await;
        let (mut showing, mut other) =
            (open(&team.ben, &["active"], Some(1)).await, open(&team.ben, &["active"], None).await);
        let mut anns = open(&team.ann, &[], Some(1)).await;
        anns.send(&json!({"type": "typing", "chat_id": 1, "typing": "typein"})).await;
        assert_eq!(showing.next_of("typing").await["agent"]["id"], team.ann.id);
        assert!(other.frames_until_pong().await.iter().all(|frame| frame["type"] != "typing"));
    });
}

#[test]
fn invalid_subscription_is_rejected() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let mut socket = AgentSocket::open(&account.admin).await;
        let rejected =
            [(json!({"lists": ["closed"]}), "lists"), (json!({}), "lists"), (json!({"lists": [], "open": 0}), "open")];
        for (fields, field) in rejected {
            let mut frame = fields;
            frame["type"] = json!("subscribe");
            socket.send(&frame).await;
            assert_eq!(socket.next_of("error").await["field"], field, "{frame}");
        }
    });
}

/// Thirty agents show their lists. One of them has the chat in which the messages are written.
#[test]
fn frames_of_a_message_do_not_grow_with_the_agents() {
    const AGENTS: usize = 30;
    const MESSAGES: u64 = 25;
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        team.channel.send_text(VISITOR_ID, "Hello").await;
        team.ann.accept(1).await;
        let mut sockets = Vec::new();
        for n in 0..AGENTS {
            let agent = team.account.create_agent(&format!("Agent {n}")).await;
            sockets.push(open(&agent, &["waiting", "bot", "active"], None).await);
        }
        let mut anns = open(&team.ann, &["waiting"], Some(1)).await;
        let start = Instant::now();
        for n in 1..=MESSAGES {
            team.channel.send_text(VISITOR_ID, &format!("Message {n}")).await;
        }
        let last = json!(format!("Message {MESSAGES}"));
        let is_last = |frame: &Value| has_row(frame, 1, "/last_message/text", &last);
        let received = join_all(sockets.iter_mut().map(async |socket| {
            let mut frames = 0;
            while !is_last(&socket.next_of("changes").await) {
                frames += 1;
            }
            frames + 1
        }))
        .await;
        let seconds = start.elapsed().as_secs();
        assert!(received.iter().all(|frames| *frames <= seconds + 2), "{received:?} in {seconds} s");
        let own = anns.frames_until_pong().await;
        let of_chat = own.iter().filter(|frame| frame["chat_id"] == 1).count() as u64;
        assert!((MESSAGES..=2 * MESSAGES).contains(&of_chat), "a message and a row each: {of_chat}");
    });
}

/// The first change is pushed at once, and the others at the end of the second.
#[test]
fn every_row_of_a_busy_list_arrives() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        let mut socket = open(&team.ann, &["waiting"], None).await;
        for n in 1..=10 {
            let text = json!(format!("Message {n}"));
            team.channel.send_text(VISITOR_ID, text.as_str().unwrap()).await;
            let sent_at = Instant::now();
            socket.find("row", |frame| has_row(frame, 1, "/last_message/text", &text)).await;
            assert!(sent_at.elapsed() < Duration::from_secs(10), "{n}");
        }
    });
}
