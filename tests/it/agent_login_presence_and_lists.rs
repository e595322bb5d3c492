//! Tests for the endpoints that give agents access to their own data: login, presence, and chat lists.

use serde_json::{Value, json};

use crate::support::api_client::{PASSWORD, number};
use crate::support::test_host::run_on_shared_host;

#[test]
fn login_returns_the_agent() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let body = json!({"email": account.admin.email, "password": PASSWORD});
        let session = host.anonymous.post("/agent/login", &body).await.expect(200);
        let expected = json!({"id": account.admin.id, "name": "Grace", "role": "admin", "account_id": account.id});
        assert_eq!(session["agent"], expected);
        let second = host.anonymous.post("/agent/login", &body).await.expect(200);
        assert_ne!(session["token"], second["token"]);
    });
}

#[test]
fn presence_stays_until_it_is_changed() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let status = async || account.admin.client.get("/agent/presence").await.expect(200)["status"].clone();
        assert_eq!(status().await, "offline");
        for expected in ["online", "away", "offline"] {
            account.admin.set_presence(expected).await;
            assert_eq!(status().await, expected);
        }
    });
}

#[test]
fn chats_are_listed_by_state_and_timeline_after_a_seq() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        for visitor in ["a", "b", "c"] {
            channel.send_text(visitor, "Hi").await;
        }
        account.admin.accept(2).await;
        account.admin.close(3).await;
        let listed = async |state: &str| {
            let mut numbers: Vec<_> =
                account.admin.chats(state).await.iter().map(|chat| chat["chat_id"].as_u64().unwrap()).collect();
            numbers.sort_unstable();
            numbers
        };
        assert_eq!(listed("waiting").await, [1]);
        assert_eq!(listed("active").await, [2]);
        assert_eq!(listed("closed").await, [3]);
        assert_eq!(listed("open").await, [1, 2]);
        assert!(listed("bot").await.is_empty());

        let page = async |query: &str| {
            let body = account.admin.client.get(&format!("/agent/chats?limit=1{query}")).await.expect(200);
            (number(&body["chats"][0]["chat_id"]), body["next"].clone())
        };
        assert_eq!(page("").await, (2, json!(2)));
        assert_eq!(page("&before=2").await, (1, json!(null)));

        for n in 1..=3 {
            channel.send_text("a", &format!("message {n}")).await;
        }
        let all = account.admin.timeline(1).await;
        let seqs: Vec<u64> = all.iter().map(|entry| entry["seq"].as_u64().unwrap()).collect();
        assert!(seqs.is_sorted(), "{seqs:?}");
        let rest = account.admin.timeline_after(1, seqs[1]).await;
        assert_eq!(rest.iter().map(|entry| entry["text"].clone()).collect::<Vec<Value>>(), ["message 2", "message 3"]);
    });
}
