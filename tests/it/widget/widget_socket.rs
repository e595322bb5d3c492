//! Tests for the sockets of widgets' visitors, and for the pushes to agents when visitors are typing.

use serde_json::{Value, json};

use crate::support::agent_socket::AgentSocket;
use crate::support::api_client::number;
use crate::support::test_host::{run_on_shared_host, run_with_virtual_time};
use crate::support::wait::{WAIT_TIMEOUT, seconds};

#[test]
fn visitor_is_pushed_messages_state_and_typing() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let ann = account.create_agent("Ann").await;
        let widget = account.create_widget(json!({})).await;
        let (visitor, other) = (widget.visitor().await, widget.visitor().await);
        let (mut socket, mut other_socket) = (visitor.open_socket().await, other.open_socket().await);
        visitor.say("Hello").await;
        let chat = socket.next_of("chat").await;
        assert_eq!((&chat["chat_id"], &chat["chat"]["state"]), (&json!(1), &json!("waiting")));
        ann.accept(1).await;
        let chat = socket.next_of("chat").await;
        assert_eq!(chat["chat"]["state"], "active");
        assert_eq!(chat["chat"]["agent"], visitor.session().await["chat"]["agent"], "a push has the session's format");
        ann.send_typing(1, "typein").await;
        let seq = visitor.session().await["chat"]["last_seq"].clone();
        let typing = json!({"v": 1, "type": "typing", "chat_id": 1, "seq": seq, "from": "agent", "typing": true});
        assert_eq!(socket.next_of("typing").await, typing);
        ann.client.post("/agent/chats/1/notes", &json!({"text": "Private"})).await.expect(201);
        let seq = ann.send_text(1, "How can I help?").await;
        let message = socket.next_of("message").await;
        assert_eq!((&message["seq"], &message["message"]["text"]), (&json!(seq), &json!("How can I help?")));
        let stored = visitor.session().await["messages"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(message["message"], stored, "a push has the format of the session, and the note was not pushed");
        ann.close(1).await;
        assert_eq!(socket.next_of("chat").await["chat"]["state"], "closed");
        other_socket.send(&json!({"type": "ping"})).await;
        assert_eq!(other_socket.next().await, json!({"v": 1, "type": "pong"}), "the other visitor gets nothing");

        account.admin.client.delete("/admin/visitors/1").await.expect(200);
        socket.send(&json!({"type": "ping"})).await;
        socket.wait_until_closed(WAIT_TIMEOUT).await;
    });
}

#[test]
fn agents_see_what_the_visitor_is_typing() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let widget = account.create_widget(json!({})).await;
        let visitor = widget.visitor().await;
        visitor.say("Hello").await;
        let mut agent_socket = AgentSocket::open(&account.admin).await;
        let mut socket = visitor.open_socket().await;
        for (frame, typing, text) in [
            (json!({"type": "typing", "typing": "typein", "text": "My ord"}), true, json!("My ord")),
            (json!({"type": "typing", "typing": "typein", "text": "My order <b>"}), true, json!("My order <b>")),
            (json!({"type": "typing", "typing": "typeout"}), false, Value::Null),
        ] {
            socket.send(&frame).await;
            let pushed = agent_socket.next_of("typing").await;
            assert_eq!(
                (&pushed["from"], &pushed["typing"], &pushed["text"]),
                (&json!("visitor"), &json!(typing), &text)
            );
        }
    });
}

#[test]
fn text_that_is_being_typed_is_dropped_without_the_preview() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let visitor = account.create_widget(json!({"typing_preview": false})).await.visitor().await;
        visitor.say("Hello").await;
        let mut agent_socket = AgentSocket::open(&account.admin).await;
        visitor.open_socket().await.send(&json!({"type": "typing", "typing": "typein", "text": "My ord"})).await;
        let pushed = agent_socket.next_of("typing").await;
        assert_eq!((&pushed["typing"], &pushed["text"]), (&json!(true), &Value::Null));
    });
}

#[test]
fn agent_of_a_chat_has_a_photo_and_a_time_of_joining() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let photo = "https://cdn.example/ann.png";
        let ann = account.create_agent_with("Ann", json!({"photo": photo})).await;
        let bob = account.create_agent("Bob").await;
        let visitor = account.create_widget(json!({})).await.visitor().await;
        let mut socket = visitor.open_socket().await;
        let agent = async || visitor.session().await["chat"]["agent"].clone();
        let before = number(&visitor.say("Hello").await["message"]["at"]);
        assert_eq!(agent().await, Value::Null);
        ann.accept(1).await;
        let joined = agent().await;
        assert_eq!((&joined["name"], &joined["photo"]), (&json!("Ann"), &json!(photo)));
        let joined_at = number(&joined["joined_at"]);
        ann.send_text(1, "Hi").await;
        let answered = number(&visitor.session().await["messages"][1]["at"]);
        assert!((before..=answered).contains(&joined_at), "{before} {joined_at} {answered}");
        assert_eq!(agent().await, joined, "a message changes nothing");
        let pushed = socket.find("the agent", |frame| frame["chat"]["state"] == "active").await;
        assert_eq!(pushed["chat"]["agent"], joined);

        bob.set_presence("online").await;
        ann.client.post("/agent/chats/1/transfer", &json!({"agent_id": bob.id})).await.expect(200);
        let next = agent().await;
        assert_eq!((&next["name"], &next["photo"]), (&json!("Bob"), &Value::Null));
        assert!(number(&next["joined_at"]) >= answered, "{next} {answered}");
        bob.close(1).await;
        assert_eq!(agent().await["joined_at"], next["joined_at"], "the end of the chat changes nothing");
    });
}

#[test]
fn visitor_is_told_that_the_agent_has_seen_a_message() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let (ann, bob) = (account.create_agent("Ann").await, account.create_agent("Bob").await);
        let visitor = account.create_widget(json!({})).await.visitor().await;
        let mut socket = visitor.open_socket().await;
        visitor.say("Hello").await;
        ann.accept(1).await;
        let last_seq = visitor.session().await["chat"]["last_seq"].clone();
        let seen = |seq: u64| json!({"type": "seen", "chat_id": 1, "seq": seq});
        let mut bob_socket = AgentSocket::open(&bob).await;
        bob_socket.send(&seen(1)).await;
        assert_eq!(bob_socket.next_of("error").await["code"], "conflict", "another agent has the chat");
        let mut ann_socket = AgentSocket::open(&ann).await;
        ann_socket.send(&seen(1)).await;
        assert_eq!(socket.next_of("seen").await, json!({"v": 1, "type": "seen", "chat_id": 1, "seq": 1}));
        ann_socket.send(&seen(99)).await;
        assert_eq!(socket.next_of("seen").await["seq"], last_seq, "no later message exists");
        ann.close(1).await;
        ann_socket.send(&seen(1)).await;
        assert_eq!(ann_socket.next_of("error").await["code"], "conflict", "the chat is closed");
    });
}

#[test]
fn visitors_with_an_open_chat_are_told_the_mode() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let photo = json!({"photo": "https://cdn.example/ann.png"});
        let ann = account.create_agent_with("Ann", photo.clone()).await;
        let bob = account.create_agent("Bob").await;
        let (all, of_bob) = (
            account.create_widget(json!({})).await,
            account.create_widget_with(json!({}), json!({"agent_ids": [bob.id]})).await,
        );
        let (visitor, of_bob, without_chat) = (all.visitor().await, of_bob.visitor().await, all.visitor().await);
        visitor.say("Hello").await;
        of_bob.say("Hello").await;
        let mut socket = visitor.open_socket().await;
        let mut socket_of_bob = of_bob.open_socket().await;
        let mut socket_without_chat = without_chat.open_socket().await;

        ann.set_presence("online").await;
        let online = socket.next_of("mode").await;
        let agents = json!([{"name": "Ann", "photo": photo["photo"], "department_ids": []}]);
        assert_eq!(online, json!({"v": 1, "type": "mode", "mode": "online", "agents": agents}));
        assert_eq!(online["agents"], visitor.session().await["agents"], "a push has the session's format");
        ann.set_presence("offline").await;
        assert_eq!(socket.next_of("mode").await, json!({"v": 1, "type": "mode", "mode": "offline", "agents": []}));
        bob.set_presence("online").await;
        assert_eq!(socket_of_bob.next_of("mode").await["mode"], "online", "Ann does not belong to the widget");
        assert_eq!(socket.next_of("mode").await["mode"], "online");
        bob.set_presence("away").await;
        assert_eq!(socket.next_of("mode").await["mode"], "offline");
        assert_eq!(socket_of_bob.next_of("mode").await["mode"], "offline");
        let others = socket_without_chat.frames_until_pong().await;
        assert!(others.iter().all(|frame| frame["type"] != "mode"), "{others:?}");
    });
}

#[test]
fn visitor_of_a_suspended_account_cannot_send_typing_notices() {
    run_with_virtual_time(async |host, time| {
        let account = host.create_account().await;
        let visitor = account.create_widget(json!({})).await.visitor().await;
        visitor.say("Hello").await;
        let mut socket = visitor.open_socket().await;
        let path = format!("/operator/accounts/{}", account.id.as_str().unwrap());
        host.operator.patch(&path, &json!({"suspended": true})).await.expect(200);
        // The function reads settings that may be ten seconds old. It would answer an accepted notice with nothing.
        time.advance(seconds(10));
        socket.send(&json!({"type": "typing", "typing": "typein", "text": "My ord"})).await;
        let refused = socket.next_of("error").await;
        assert_eq!(refused["code"], "account_suspended");
    });
}

#[test]
fn invalid_frames_and_tickets_of_visitors_are_rejected() {
    run_with_virtual_time(async |host, _| {
        let account = host.create_account().await;
        let visitor = account.create_widget(json!({})).await.visitor().await;
        let ticket = visitor.call("socket-ticket", json!({})).await.expect(201);
        let url = ticket["url"].as_str().unwrap();
        let first = format!("{url}?ticket={}", ticket["ticket"].as_str().unwrap());
        let mut socket = AgentSocket::connect(&first).await.unwrap();
        assert_eq!(AgentSocket::connect(&first).await.unwrap_err(), 401, "a ticket is used once");
        for (frame, field) in [
            (json!({"type": "typing", "typing": "loud"}), "typing"),
            (json!({"type": "typing", "typing": "typein", "text": 7}), "text"),
            (json!({"type": "message", "text": "Hi"}), "type"),
        ] {
            socket.send(&frame).await;
            let error = socket.next().await;
            assert_eq!((&error["type"], &error["field"]), (&json!("error"), &json!(field)), "{error}");
        }
        for _ in 0..60 {
            socket.send(&json!({"type": "ping"})).await;
        }
        let limited = socket.find("a rate limit", |frame| frame["code"] == "rate_limited").await;
        assert_eq!(limited["type"], "error");
    });
}
