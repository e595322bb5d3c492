//! Tests for the admin API for agents: creating, changing and deleting agents, how this affects their sessions and
//! chats, the time of their last activity, and the uniqueness of their e-mail addresses.

use futures_util::future::{join, join_all};
use serde_json::json;

use crate::support::api_client::{PASSWORD, merged, number};
use crate::support::test_host::{open_accepted_chat, run_on_shared_host};

#[test]
fn agent_is_created_listed_read_changed_and_deleted() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let admin = &account.admin.client;
        let fields = json!({"phone": "+31 20 123 4567", "photo": "https://cdn.example/ann.png"});
        let ann = account.create_agent_with("Ann", fields.clone()).await;
        let path = format!("/admin/agents/{}", ann.id);

        let read = admin.get(&path).await.expect(200);
        let expected = merged(json!({"agent_id": ann.id, "name": "Ann", "email": ann.email, "role": "agent"}), fields);
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(&read[field], value, "{field}");
        }
        let listed = admin.get("/admin/agents").await.expect(200);
        assert_eq!(listed["agents"].as_array().unwrap().len(), 2, "the agent and the admin: {listed}");
        for shown in [&read, &listed] {
            assert!(!shown.to_string().to_lowercase().contains("password"), "{shown}");
        }

        admin.patch(&path, &json!({"name": "Anna", "password": "another long password"})).await.expect(200);
        assert_eq!(admin.get(&path).await.expect(200)["name"], "Anna");
        let log_in = async |password: &str| {
            host.anonymous.post("/agent/login", &json!({"email": ann.email, "password": password})).await.status
        };
        assert_eq!(log_in(PASSWORD).await, 401);
        assert_eq!(log_in("another long password").await, 200);

        admin.delete(&path).await.expect(200);
        admin.get(&path).await.expect_error(404, "not_found");
        assert_eq!(log_in("another long password").await, 401);
        ann.client.get("/agent/chats").await.expect_error(401, "unauthorized");
        account.create_agent_with("Ann again", json!({"email": ann.email})).await;
    });
}

#[test]
fn admins_see_when_an_agent_was_last_active() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let (admin, ann) = (&account.admin.client, account.create_agent("Ann").await);
        let last_seen_at = async || {
            let read = admin.get(&format!("/admin/agents/{}", ann.id)).await.expect(200)["last_seen_at"].clone();
            let listed = admin.get("/admin/agents").await.expect(200);
            let listed = listed["agents"].as_array().unwrap().iter().find(|agent| agent["agent_id"] == ann.id).cloned();
            assert_eq!(read, listed.expect("the agent is listed")["last_seen_at"]);
            read
        };
        assert_eq!(last_seen_at().await, json!(null), "Ann has not set a status");
        ann.set_presence("online").await;
        let seen_at = number(&last_seen_at().await);
        ann.client.post("/agent/logout", &json!({})).await.expect(200);
        assert!(number(&last_seen_at().await) >= seen_at, "it is kept after a logout");
        admin.delete(&format!("/admin/agents/{}", ann.id)).await.expect(200);
    });
}

#[test]
fn password_change_ends_concurrently_created_sessions() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        for round in 0..4 {
            // Use a new agent in each round. Otherwise, a single agent's failed logins would reach the login limit for
            // that agent's e-mail address.
            let ann = account.create_agent("Ann").await;
            let path = format!("/admin/agents/{}", ann.id);
            let new = format!("{PASSWORD} {round}");
            let credentials = json!({"email": ann.email, "password": PASSWORD});
            let logins = join_all((0..6).map(|_| host.anonymous.post("/agent/login", &credentials)));
            let change = json!({"password": new});
            let (logins, changed) = join(logins, account.admin.client.patch(&path, &change)).await;
            changed.expect(200);
            for login in logins {
                // A login before the password change succeeds, but the change then ends its session. A login gets 503
                // during the change, and 401 after it.
                assert!([200, 401, 503].contains(&login.status), "{login:?}");
                if login.status != 200 {
                    continue;
                }
                let session = host.anonymous.with_token(login.json()["token"].as_str().unwrap());
                session.get("/agent/chats").await.expect_error(401, "unauthorized");
            }
            let credentials = json!({"email": ann.email, "password": new});
            host.anonymous.post("/agent/login", &credentials).await.expect(200);
        }
    });
}

#[test]
fn open_chats_of_a_deleted_agent_return_to_waiting() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let (ann, ben) = (account.create_agent("Ann").await, account.create_agent("Ben").await);
        let channel = account.create_channel("https://app.example/hook").await;
        for (visitor, agent) in [("a", &ann), ("b", &ann), ("c", &ben)] {
            open_accepted_chat(agent, &channel, visitor).await;
        }
        ann.close(2).await;
        account.admin.client.delete(&format!("/admin/agents/{}", ann.id)).await.expect(200);
        let states = async |chat: u64| ben.chat(chat).await["state"].clone();
        assert_eq!([states(1).await, states(2).await, states(3).await], ["waiting", "closed", "active"]);
        ben.accept(1).await;
    });
}

#[test]
fn email_address_is_unique_across_accounts() {
    run_on_shared_host(async |host| {
        let (account, other) = (host.create_account().await, host.create_account().await);
        let ann = account.create_agent("Ann").await;
        for email in [ann.email.clone(), ann.email.to_uppercase()] {
            let body = json!({"name": "Ben", "email": email, "password": PASSWORD, "role": "agent"});
            for admin in [&account.admin, &other.admin] {
                admin.client.post("/admin/agents", &body).await.expect_error(409, "conflict");
            }
        }
    });
}

#[test]
fn account_with_a_used_email_address_is_not_created() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let admin = json!({"name": "Eve", "email": account.admin.email, "password": PASSWORD});
        let body = json!({"name": "Evil", "admin": admin});
        host.operator.post("/operator/accounts", &body).await.expect_error(409, "conflict");
        account.admin.client.get("/admin/agents").await.expect(200);
    });
}
