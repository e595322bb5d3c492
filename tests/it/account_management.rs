//! Accounts, channels and agents, their creation and changes, and an agent's session, presence and chat lists.

use futures_util::future::{join, join_all};
use serde_json::{Value, json};

use crate::support::api_client::{PASSWORD, merged, number};
use crate::support::test_host::{ActiveChat, open_accepted_chat, run_on_shared_host};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

#[test]
fn channel_is_created_listed_read_changed_and_deleted() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let admin = &account.admin.client;
        let settings = json!({
            "kind": "api", "name": "Shop", "integrator_url": "https://shop.example/hook", "chunked": true,
            "enabled": false, "append_channel_id": false,
            "agent_ids": [account.admin.id], "department_ids": [], "validation": "lenient", "hidden_error_codes": [1, -2],
        });
        let created = admin.post("/admin/channels", &settings).await.expect(201);
        let id = created["channel_id"].as_str().unwrap();
        let path = format!("/admin/channels/{id}");
        let endpoint = created["endpoint"].as_str().unwrap();
        assert!(endpoint.starts_with(&format!("{}/channel/", host.local.base_url())), "{endpoint}");
        assert!(endpoint.ends_with(&format!("/{id}")), "{endpoint}");

        let read = admin.get(&path).await.expect(200);
        for (field, value) in settings.as_object().unwrap() {
            assert_eq!(&read[field], value, "{field}");
        }
        let listed = admin.get("/admin/channels").await.expect(200);
        assert_eq!(listed["channels"].as_array().unwrap().len(), 1);
        assert_eq!(listed["channels"][0]["channel_id"], id);
        let secret = endpoint.split('/').rev().nth(1).unwrap();
        for shown in [&read, &listed] {
            assert!(!shown.to_string().contains(secret), "the secret is returned only on creation: {shown}");
        }

        let changed =
            admin.patch(&path, &json!({"name": "Store", "chunked": false, "enabled": true})).await.expect(200);
        assert_eq!((&changed["name"], &changed["chunked"]), (&json!("Store"), &json!(false)));
        let read = admin.get(&path).await.expect(200);
        let expected = merged(settings.clone(), json!({"name": "Store", "chunked": false, "enabled": true}));
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(&read[field], value, "{field}");
        }

        admin.delete(&path).await.expect(200);
        admin.get(&path).await.expect_error(404, "not_found");
        admin.delete(&path).await.expect_error(404, "not_found");
        assert_eq!(admin.get("/admin/channels").await.expect(200), json!({"channels": []}));
    });
}

#[test]
fn changed_integrator_url_is_used_within_ten_seconds() {
    run_on_shared_host(async |host| {
        let (old, new) =
            (TestReceiver::start(CannedResponse::ok()).await, TestReceiver::start(CannedResponse::ok()).await);
        let active_chat = ActiveChat::create(host, &old.url(), json!({})).await;
        active_chat.send_text("to the old address").await;
        old.wait_for_requests(1, WAIT_TIMEOUT).await;
        let path = format!("/admin/channels/{}", active_chat.channel.id);
        active_chat.account.admin.client.patch(&path, &json!({"integrator_url": new.url()})).await.expect(200);
        wait_for("a message at the new address", seconds(13), async || {
            let seq = active_chat.send_text("to the new address").await;
            active_chat.final_delivery(seq).await;
            if new.requests().is_empty() { Err(old.requests().len()) } else { Ok(()) }
        })
        .await;
    });
}

#[test]
fn agent_is_created_listed_read_changed_and_deleted() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let admin = &account.admin.client;
        let fields = json!({"phone": "+31 20 123", "photo": "https://cdn.example/ann.png"});
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
fn password_change_ends_concurrently_created_sessions() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        for round in 0..4 {
            // A new agent in each round, because the failed logins of one agent would reach the limit of its e-mail
            // address.
            let ann = account.create_agent("Ann").await;
            let path = format!("/admin/agents/{}", ann.id);
            let new = format!("{PASSWORD} {round}");
            let credentials = json!({"email": ann.email, "password": PASSWORD});
            let logins = join_all((0..6).map(|_| host.anonymous.post("/agent/login", &credentials)));
            let change = json!({"password": new});
            let (logins, changed) = join(logins, account.admin.client.patch(&path, &change)).await;
            changed.expect(200);
            for login in logins {
                // Before the change (the session has ended), during it (503) or after it (401).
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
