//! The operator opens accounts; admins manage channels and agents.

use futures_util::future::{join, join_all};
use serde_json::{Value, json};

use crate::client::{PASSWORD, merged, number};
use crate::harness::{on_stage, open_chat};
use crate::receiver::{Answer, Receiver};
use crate::wait::{PATIENCE, seconds, wait_for};

#[test]
fn a_channel_is_created_listed_read_changed_and_deleted() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let admin = &account.admin.call;
        let settings = json!({
            "kind": "api", "name": "Shop", "integrator_url": "https://shop.example/hook", "chunked": true,
            "enabled": false, "append_channel_id": false,
            "agent_ids": [account.admin.id], "department_ids": [], "validation": "lenient", "hidden_error_codes": [1, -2],
        });
        let made = admin.post("/admin/channels", &settings).await.expect(201);
        let id = made["channel_id"].as_str().unwrap();
        let path = format!("/admin/channels/{id}");
        let endpoint = made["endpoint"].as_str().unwrap();
        assert!(endpoint.starts_with(&format!("{}/channel/", stage.host.base_url())), "{endpoint}");
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
            assert!(!shown.to_string().contains(secret), "the address is shown once: {shown}");
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
fn a_changed_integrator_url_is_used_within_ten_seconds() {
    on_stage(async |stage| {
        let (old, new) = (Receiver::start(Answer::ok()).await, Receiver::start(Answer::ok()).await);
        let talk = crate::harness::Conversation::open(stage, &old.url(), json!({})).await;
        talk.write("to the old").await;
        old.received(1, PATIENCE).await;
        let path = format!("/admin/channels/{}", talk.channel.id);
        talk.account.admin.call.patch(&path, &json!({"integrator_url": new.url()})).await.expect(200);
        wait_for("a message at the new address", seconds(13), async || {
            let seq = talk.write("to the new").await;
            talk.verdict(seq).await;
            if new.requests().is_empty() { Err(old.requests().len()) } else { Ok(()) }
        })
        .await;
    });
}

#[test]
fn an_agent_is_created_listed_read_changed_and_deleted() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let admin = &account.admin.call;
        let fields = json!({"phone": "+31 20 123", "photo": "https://cdn.example/ann.png"});
        let ann = account.agent_with("Ann", fields.clone()).await;
        let path = format!("/admin/agents/{}", ann.id);

        let read = admin.get(&path).await.expect(200);
        let expected = merged(json!({"agent_id": ann.id, "name": "Ann", "email": ann.email, "role": "agent"}), fields);
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(&read[field], value, "{field}");
        }
        let listed = admin.get("/admin/agents").await.expect(200);
        assert_eq!(listed["agents"].as_array().unwrap().len(), 2, "with the admin: {listed}");
        for shown in [&read, &listed] {
            assert!(!shown.to_string().to_lowercase().contains("password"), "{shown}");
        }

        admin.patch(&path, &json!({"name": "Anna", "password": "another long password"})).await.expect(200);
        assert_eq!(admin.get(&path).await.expect(200)["name"], "Anna");
        let log_in = async |password: &str| {
            stage.anyone.post("/agent/login", &json!({"email": ann.email, "password": password})).await.status
        };
        assert_eq!(log_in(PASSWORD).await, 401);
        assert_eq!(log_in("another long password").await, 200);

        admin.delete(&path).await.expect(200);
        admin.get(&path).await.expect_error(404, "not_found");
        assert_eq!(log_in("another long password").await, 401);
        ann.call.get("/agent/chats").await.expect_error(401, "unauthorized");
        account.agent_with("Ann again", json!({"email": ann.email})).await;
    });
}

#[test]
fn a_changed_password_ends_also_the_sessions_that_begin_meanwhile() {
    on_stage(async |stage| {
        let account = stage.account().await;
        for round in 0..4 {
            // A new agent each time: the failed logins of one would soon reach the limit of an e-mail.
            let ann = account.agent("Ann").await;
            let path = format!("/admin/agents/{}", ann.id);
            let new = format!("{PASSWORD} {round}");
            let credentials = json!({"email": ann.email, "password": PASSWORD});
            let logins = join_all((0..6).map(|_| stage.anyone.post("/agent/login", &credentials)));
            let change = json!({"password": new});
            let (logins, changed) = join(logins, account.admin.call.patch(&path, &change)).await;
            changed.expect(200);
            for login in logins {
                // It came in time and its session has ended, met the change, or came too late.
                assert!([200, 401, 503].contains(&login.status), "{login:?}");
                if login.status != 200 {
                    continue;
                }
                let session = stage.anyone.with(login.json()["token"].as_str().unwrap());
                session.get("/agent/chats").await.expect_error(401, "unauthorized");
            }
            let credentials = json!({"email": ann.email, "password": new});
            stage.anyone.post("/agent/login", &credentials).await.expect(200);
        }
    });
}

#[test]
fn the_chats_of_a_deleted_agent_wait_for_another() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let (ann, ben) = (account.agent("Ann").await, account.agent("Ben").await);
        let channel = account.channel("https://app.example/hook").await;
        for (visitor, agent) in [("a", &ann), ("b", &ann), ("c", &ben)] {
            open_chat(agent, &channel, visitor).await;
        }
        ann.close(2).await;
        account.admin.call.delete(&format!("/admin/agents/{}", ann.id)).await.expect(200);
        let states = async |chat: u64| ben.chat(chat).await["state"].clone();
        assert_eq!([states(1).await, states(2).await, states(3).await], ["waiting", "closed", "active"]);
        ben.accept(1).await;
    });
}

#[test]
fn login_tells_who_logged_in() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let body = json!({"email": account.admin.email, "password": PASSWORD});
        let session = stage.anyone.post("/agent/login", &body).await.expect(200);
        let expected = json!({"id": account.admin.id, "name": "Grace", "role": "admin", "account_id": account.id});
        assert_eq!(session["agent"], expected);
        let again = stage.anyone.post("/agent/login", &body).await.expect(200);
        assert_ne!(session["token"], again["token"]);
    });
}

#[test]
fn an_e_mail_address_belongs_to_one_agent_of_one_account() {
    on_stage(async |stage| {
        let (account, other) = (stage.account().await, stage.account().await);
        let ann = account.agent("Ann").await;
        for email in [ann.email.clone(), ann.email.to_uppercase()] {
            let body = json!({"name": "Ben", "email": email, "password": PASSWORD, "role": "agent"});
            for admin in [&account.admin, &other.admin] {
                admin.call.post("/admin/agents", &body).await.expect_error(409, "conflict");
            }
        }
    });
}

#[test]
fn an_account_with_a_taken_e_mail_address_is_not_opened() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let admin = json!({"name": "Eve", "email": account.admin.email, "password": PASSWORD});
        let body = json!({"name": "Evil", "admin": admin});
        stage.operator.post("/operator/accounts", &body).await.expect_error(409, "conflict");
        account.admin.call.get("/admin/agents").await.expect(200);
    });
}

#[test]
fn an_agent_keeps_presence_until_saying_otherwise() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let status = async || account.admin.call.get("/agent/presence").await.expect(200)["status"].clone();
        assert_eq!(status().await, "offline");
        for said in ["online", "away", "offline"] {
            account.admin.presence(said).await;
            assert_eq!(status().await, said);
        }
    });
}

#[test]
fn chats_are_listed_by_state_and_the_timeline_from_a_place_on() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        for visitor in ["a", "b", "c"] {
            channel.say(visitor, "Hi").await;
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
            let body = account.admin.call.get(&format!("/agent/chats?limit=1{query}")).await.expect(200);
            (number(&body["chats"][0]["chat_id"]), body["next"].clone())
        };
        assert_eq!(page("").await, (2, json!(2)));
        assert_eq!(page("&before=2").await, (1, json!(null)));

        for n in 1..=3 {
            channel.say("a", &format!("message {n}")).await;
        }
        let all = account.admin.messages(1).await;
        let seqs: Vec<u64> = all.iter().map(|entry| entry["seq"].as_u64().unwrap()).collect();
        assert!(seqs.is_sorted(), "{seqs:?}");
        let rest = account.admin.messages_after(1, seqs[1]).await;
        assert_eq!(rest.iter().map(|entry| entry["text"].clone()).collect::<Vec<Value>>(), ["message 2", "message 3"]);
    });
}
