//! Tests for the login, for the endpoints with which agents read their own data, their presence and their colleagues,
//! and for chat lists and timelines.

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
fn signed_in_agent_reads_own_data_and_the_account() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let fields = json!({"phone": "+31 20 123 4567", "photo": "https://cdn.example/ann.png"});
        let ann = account.create_agent_with("Ann", fields).await;
        let expected = json!({
            "agent": {
                "id": ann.id, "name": "Ann", "email": ann.email, "phone": "+31 20 123 4567",
                "photo": "https://cdn.example/ann.png",
            },
            "role": "agent",
            "account": {"account_id": account.id, "name": "Acme"},
            "must_change_password": false,
        });
        assert_eq!(ann.client.get("/agent/me").await.expect(200), expected);
        let admin = account.admin.client.get("/agent/me").await.expect(200);
        assert_eq!((&admin["role"], &admin["agent"]["photo"]), (&json!("admin"), &json!(null)));
        account.admin.client.delete(&format!("/admin/agents/{}", ann.id)).await.expect(200);
        ann.client.get("/agent/me").await.expect_error(401, "unauthorized");
    });
}

#[test]
fn colleagues_are_listed_with_their_status() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let photo = json!({"photo": "https://cdn.example/ann.png"});
        let [ann, ben] = [account.create_agent_with("Ann", photo).await, account.create_agent("Ben").await];
        let sales = json!({"name": "Sales", "agent_ids": [ann.id]});
        account.admin.client.post("/admin/departments", &sales).await.expect(201);
        ann.set_presence("online").await;
        ben.set_presence("away").await;
        let expected = json!({
            "agents": [
                {"id": account.admin.id, "name": "Grace", "photo": null, "status": "offline"},
                {"id": ann.id, "name": "Ann", "photo": "https://cdn.example/ann.png", "status": "online"},
                {"id": ben.id, "name": "Ben", "photo": null, "status": "away"},
            ],
            "departments": [{"id": 1, "name": "Sales"}],
        });
        assert_eq!(ben.client.get("/agent/agents").await.expect(200), expected);
        account.admin.client.delete(&format!("/admin/agents/{}", ann.id)).await.expect(200);
        account.admin.client.delete("/admin/departments/1").await.expect(200);
        ben.client.post("/agent/logout", &json!({})).await.expect(200);
        let listed = account.admin.client.get("/agent/agents").await.expect(200);
        let expected = json!([
            {"id": account.admin.id, "name": "Grace", "photo": null, "status": "offline"},
            {"id": ben.id, "name": "Ben", "photo": null, "status": "offline"},
        ]);
        assert_eq!((&listed["agents"], &listed["departments"]), (&expected, &json!([])));
    });
}

#[test]
fn chat_row_and_details_contain_last_seq_and_waiting_time() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        channel.send_text("a", "Hi").await;
        let fields = async |state: &str| {
            let (row, chat) = (account.admin.chats(state).await.remove(0), account.admin.chat(1).await);
            for field in ["seq", "waiting_since"] {
                assert_eq!(row[field], chat[field], "{field}");
            }
            (number(&row["seq"]), row["waiting_since"].clone(), row["updated_at"].clone())
        };
        let (seq, waiting_since, opened_at) = fields("waiting").await;
        assert_eq!((seq, &waiting_since), (1, &opened_at));
        channel.send_text("a", "Hello?").await;
        let (seq, unchanged, _) = fields("waiting").await;
        assert_eq!((seq, unchanged), (2, waiting_since));
        account.admin.accept(1).await;
        let sent = account.admin.send_text(1, "Hello").await;
        let (seq, waiting_since, _) = fields("active").await;
        assert_eq!((seq, waiting_since), (sent, json!(null)));
        account.admin.close(1).await;
        assert_eq!(fields("closed").await.1, json!(null));
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
