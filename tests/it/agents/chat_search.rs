//! Tests of `GET /agent/search`.

use reqwest::Url;
use serde_json::{Value, json};

use crate::support::api_client::{ApiResponse, TestAgent, TestChannel, chat_numbers};
use crate::support::chat_copies::copy_chat;
use crate::support::test_host::run_on_shared_host;

async fn search_page(agent: &TestAgent, text: &str, cursor: Option<&str>) -> ApiResponse {
    let parameters = [("q", text)].into_iter().chain(cursor.map(|cursor| ("cursor", cursor)));
    let url = Url::parse_with_params("http://any.example/agent/search", parameters).unwrap();
    agent.client.get(&format!("{}?{}", url.path(), url.query().unwrap())).await
}

/// Returns the numbers of the chats on all pages.
async fn search(agent: &TestAgent, text: &str) -> Vec<u64> {
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let page = search_page(agent, text, cursor.as_deref()).await.expect(200);
        found.extend(chat_numbers(&page));
        let Some(next) = page["next"].as_str() else { return found };
        cursor = Some(next.to_owned());
    }
}

async fn send_as(channel: &TestChannel, sender: Value, text: &str) {
    channel.post(&json!({"sender": sender, "message": {"type": "text", "text": text}})).await.expect(200);
}

#[test]
fn chats_are_found_by_numbers_contacts_names_and_words() {
    run_on_shared_host(async |host| {
        let (account, other_account) = (host.create_account().await, host.create_account().await);
        let channel = account.create_channel("https://app.example/hook").await;
        let admin = &account.admin;
        let jose = json!({"id": 1, "name": "José Álvarez", "email": "Jose@Example.com", "phone": "+49 151 2345"});
        send_as(&channel, jose, "Where is my parcel?").await;
        send_as(&channel, json!({"id": "user-2", "name": "Ada"}), "My invoice is wrong").await;
        for (text, expected) in [
            ("jose", vec![1]),
            ("ALVAREZ josé", vec![1]),
            ("parcel where", vec![1]),
            ("invoice jose", vec![]),
            ("jose@example", vec![1]),
            ("(+49) 151-23", vec![1]),
            ("2", vec![2]),
            ("#1", vec![1]),
            ("user-2", vec![2]),
            ("user-", vec![]),
            ("nobody", vec![]),
        ] {
            assert_eq!(search(admin, text).await, expected, "{text}");
            assert_eq!(search(&other_account.admin, text).await, [0; 0], "{text} in another account");
        }
        let row = search_page(admin, "ada", None).await.expect(200)["chats"][0].clone();
        assert_eq!(row, admin.chats("waiting").await[0], "the same row as in the list");

        let contacts = json!({"email": "ada@new.example", "phone": "030 999"});
        admin.client.patch("/agent/visitors/2", &contacts).await.expect(200);
        assert_eq!([search(admin, "ada@new").await, search(admin, "030999").await], [[2], [2]]);
        admin.accept(2).await;
        admin.close(2).await;
        assert_eq!(search(admin, "ada@new").await, [2]);
        let path = |channel: &str, id: &str| format!("/admin/visitors?channel_id={channel}&external_id={id}");
        let known = path(&channel.id, "user-2");
        let shown = admin.client.get(&known).await.expect(200);
        assert_eq!((&shown["visitor"]["number"], &shown["chats_count"]), (&json!(2), &json!(1)));
        other_account.admin.client.get(&known).await.expect_error(404, "not_found");
        for unknown in [path(&channel.id, "user-3"), path("none", "user-2")] {
            admin.client.get(&unknown).await.expect_error(404, "not_found");
        }
        let refused = admin.client.get(&path(&channel.id, "")).await.expect_error(400, "invalid_request");
        assert_eq!(refused["error"]["field"], "external_id");
        admin.client.delete("/admin/visitors/2").await.expect(200);
        admin.client.get(&known).await.expect_error(404, "not_found");
        for text in ["ada@new", "030999", "ada", "#2"] {
            assert_eq!(search(admin, text).await, [0; 0], "{text}");
        }
    });
}

#[test]
fn hidden_chats_are_not_found() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let [ann, ben] = [account.create_agent("Ann").await, account.create_agent("Ben").await];
        let channel = account.create_channel_with("https://app.example/hook", json!({"agent_ids": [ann.id]})).await;
        let ada = json!({"id": 1, "name": "Ada", "email": "ada@example.com", "phone": "020 7946"});
        send_as(&channel, ada, "Where is my parcel?").await;
        for text in ["ada", "ada@example.com", "0207946", "1", "parcel"] {
            assert_eq!([search(&ann, text).await, search(&account.admin, text).await], [[1], [1]], "{text}");
            assert_eq!(search(&ben, text).await, [0; 0], "{text}");
        }
    });
}

#[test]
fn chats_of_several_channels_are_found() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let ann = account.create_agent("Ann").await;
        for settings in [json!({}), json!({"agent_ids": [ann.id]})] {
            let channel = account.create_channel_with("https://app.example/hook", settings).await;
            send_as(&channel, json!({"id": 1, "name": "Ada"}), "Hello").await;
        }
        assert_eq!(search(&ann, "ada").await, [2, 1]);
    });
}

#[test]
fn invalid_searches_are_rejected() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let reject = async |reply: ApiResponse, field: &str| {
            assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], field);
        };
        reject(account.admin.client.get("/agent/search").await, "q").await;
        for text in ["", "  ", &"x".repeat(201)] {
            reject(search_page(&account.admin, text, None).await, "q").await;
        }
        for cursor in ["", "x", "5-", "-5", "1.5"] {
            reject(search_page(&account.admin, "ada", Some(cursor)).await, "cursor").await;
        }
        assert_eq!(search(&account.admin, &"ä".repeat(200)).await, [0; 0]);
    });
}

#[test]
fn search_is_complete_after_its_last_page() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        send_as(&channel, json!({"id": 1, "name": "Ada", "email": "ada@example.com"}), "Hello").await;
        copy_chat(host, &account.id, 2..652).await;
        let first = search_page(&account.admin, "ada", None).await.expect(200);
        assert_eq!(chat_numbers(&first)[..2], [1, 651], "the visitor's last chat, then the newest chats");
        assert!(first["next"].is_string());
        let mut all = search(&account.admin, "ada").await;
        all.sort_unstable();
        assert_eq!(all, (1..652).collect::<Vec<_>>());
        let first = search_page(&account.admin, "nobody", None).await.expect(200);
        assert_eq!((&first["chats"], first["next"].is_string()), (&json!([]), true), "only a part was examined");
        assert_eq!(search(&account.admin, "nobody").await, [0; 0]);
    });
}
