//! Tests for the sockets of widgets' visitors, and for the pushes to agents when visitors are typing.

use serde_json::{Value, json};

use crate::support::agent_socket::AgentSocket;
use crate::support::test_host::run_on_shared_host;
use crate::support::wait::WAIT_TIMEOUT;

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
        assert_eq!((&chat["chat"]["state"], &chat["chat"]["agent"]["name"]), (&json!("active"), &json!("Ann")));
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
fn invalid_frames_and_tickets_of_visitors_are_rejected() {
    run_on_shared_host(async |host| {
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
