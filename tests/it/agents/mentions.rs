//! Tests of mentions: agents whom a private note names are told of it.

use serde_json::{Value, json};

use crate::support::agent_socket::AgentSocket;
use crate::support::api_client::{ApiResponse, TestAgent, number};
use crate::support::test_host::{ActiveChat, run_on_shared_host};

const INTEGRATOR_URL: &str = "https://app.example/hook";

async fn add_note(agent: &TestAgent, chat: u64, mentions: Value) -> ApiResponse {
    let body = json!({"text": "@Ben, can you help?", "mentions": mentions});
    agent.client.post(&format!("/agent/chats/{chat}/notes"), &body).await
}

#[test]
fn note_reaches_the_mentioned_agent_wherever_the_agent_is() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, INTEGRATOR_URL, json!({})).await;
        let ben = chat.account.create_agent("Ben").await;
        let mut socket = AgentSocket::open(&ben).await;
        socket.send(&json!({"type": "subscribe", "lists": ["waiting"], "open": null})).await;
        socket.next_of("subscribed").await;
        let stored = add_note(&chat.agent, chat.number, json!([ben.id])).await.expect(201);
        let pushed = socket.find("note", |frame| frame["type"] == "message" && frame["seq"] == stored["seq"]).await;
        assert_eq!(pushed["message"]["mentions"], json!([ben.id]));
        assert_eq!(ben.timeline(chat.number).await.pop().unwrap(), pushed["message"]);
    });
}

#[test]
fn chats_are_filtered_by_mentions_of_the_agent() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, INTEGRATOR_URL, json!({})).await;
        let (ann, ben) = (chat.account.create_agent("Ann").await, chat.account.create_agent("Ben").await);
        let seq = add_note(&chat.agent, chat.number, json!([ben.id])).await.expect(201)["seq"].clone();
        let listed = async |agent: &TestAgent, mentioned: bool| {
            let path = format!("/agent/chats?state=open&mentioned={mentioned}");
            agent.client.get(&path).await.expect(200)["chats"].as_array().expect("chats").clone()
        };
        let rows = listed(&ben, true).await;
        assert_eq!((rows.len(), number(&rows[0]["chat_id"])), (1, chat.number));
        assert_eq!(rows[0]["mentions"], json!([{"agent_id": ben.id, "seq": seq}]));
        assert_eq!((listed(&ann, true).await.len(), listed(&ann, false).await.len()), (0, 1));
        assert_eq!(listed(&ben, false).await.len(), 0);
    });
}

#[test]
fn only_agents_who_see_the_chat_are_mentioned() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let (ann, ben) = (account.create_agent("Ann").await, account.create_agent("Ben").await);
        let channel = account.create_channel_with(INTEGRATOR_URL, json!({"agent_ids": [ann.id]})).await;
        channel.send_text("v", "Hello").await;
        for (mentions, field) in [
            (json!([ben.id]), "mentions[0]"),
            (json!([ann.id, 99]), "mentions[1]"),
            (json!([0]), "mentions"),
            (json!((1..=11).collect::<Vec<_>>()), "mentions"),
            (json!("Ann"), "mentions"),
        ] {
            let error = add_note(&account.admin, 1, mentions.clone()).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], field, "{mentions}");
        }
        add_note(&ann, 1, json!([account.admin.id])).await.expect(201);
        add_note(&account.admin, 1, json!([ann.id])).await.expect(201);
    });
}
