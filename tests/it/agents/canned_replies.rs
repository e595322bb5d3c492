//! Tests for canned replies: every agent can read them, and admins can change them.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::account_resources::{add_canned_reply, add_department, connect_bot};
use crate::support::api_client::TestAgent;
use crate::support::test_host::run_on_shared_host;

const PATH: &str = "/agent/canned-replies";

/// Returns the shortcut and the text of each canned reply.
async fn listed(agent: &TestAgent) -> Vec<(String, String)> {
    let body = agent.client.get(PATH).await.expect(200);
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    let replies = body["canned_replies"].as_array().expect("canned_replies").iter();
    replies.map(|reply| (text(&reply["shortcut"]), text(&reply["text"]))).collect()
}

fn pairs<const N: usize>(replies: [(&str, &str); N]) -> Vec<(String, String)> {
    replies.map(|(shortcut, text)| (shortcut.to_owned(), text.to_owned())).to_vec()
}

#[test]
fn canned_reply_is_created_listed_changed_and_deleted() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let (admin, ann) = (&account.admin, account.create_agent("Ann").await);
        assert_eq!(listed(&ann).await, pairs([]));
        let refund = json!({"shortcut": "Refund", "text": "Dear {visitor},\nyour refund is on its way.\n{agent}"});
        let created = admin.client.post(PATH, &refund).await.expect(201);
        assert_eq!((&created["shortcut"], &created["text"]), (&refund["shortcut"], &refund["text"]));
        add_canned_reply(admin, "bye").await;
        let text = refund["text"].as_str().unwrap();
        assert_eq!(listed(&ann).await, pairs([("bye", "Hello {visitor}"), ("Refund", text)]), "sorted by shortcut");

        let path = format!("{PATH}/{}", created["id"].as_str().unwrap());
        let changed = admin.client.patch(&path, &json!({"text": "Soon."})).await.expect(200);
        assert_eq!(changed, json!({"id": created["id"], "shortcut": "Refund", "text": "Soon."}));
        assert_eq!(admin.client.patch(&path, &json!({})).await.expect(200), changed);
        let renamed = admin.client.patch(&path, &json!({"shortcut": "money"})).await.expect(200);
        assert_eq!(renamed, json!({"id": created["id"], "shortcut": "money", "text": "Soon."}));
        assert_eq!(listed(admin).await, pairs([("bye", "Hello {visitor}"), ("money", "Soon.")]));

        let deleted = admin.client.delete(&path).await.expect(200);
        assert_eq!(deleted, json!({"id": created["id"], "deleted": true}));
        assert_eq!(listed(&ann).await, pairs([("bye", "Hello {visitor}")]));
        admin.client.delete(&path).await.expect_error(404, "not_found");
        admin.client.patch(&path, &json!({"text": "x"})).await.expect_error(404, "not_found");
    });
}

#[test]
fn macro_has_actions_until_they_are_removed() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let admin = &account.admin.client;
        let tags = json!([{"name": "VIP", "color": "red"}, {"name": "Refund", "color": "blue"}]);
        admin.put("/admin/settings", &json!({"tags": tags})).await.expect(200);
        let department: u64 = add_department(&account.admin).await.parse().unwrap();
        let transfer = json!({"add_tags": [2, 1], "transfer_to": {"department_id": department}});
        let body = json!({"shortcut": "refund", "text": "Done.", "actions": transfer});
        let created = admin.post(PATH, &body).await.expect(201);
        let stored = json!({"add_tags": [2, 1], "transfer_to": {"department_id": department}, "close": false});
        assert_eq!(created["actions"], stored);
        let path = format!("{PATH}/{}", created["id"].as_str().unwrap());
        assert_eq!(admin.patch(&path, &json!({"text": "Sent."})).await.expect(200)["actions"], stored);
        admin.patch(&path, &json!({"actions": {"close": true}})).await.expect(200);
        let listed = async || admin.get(PATH).await.expect(200)["canned_replies"][0].clone();
        assert_eq!(listed().await["actions"], json!({"add_tags": [], "close": true}));
        admin.patch(&path, &json!({"actions": null})).await.expect(200);
        assert_eq!(listed().await.get("actions"), None);
    });
}

#[test]
fn macro_with_unknown_tag_or_recipient_is_rejected() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let (admin, stranger_bot) = (&account.admin.client, connect_bot(host, &host.create_account().await).await);
        let path = format!("{PATH}/{}", add_canned_reply(&account.admin, "hi").await);
        for (actions, field) in [
            (json!({"add_tags": [1]}), "actions.add_tags[0]"),
            (json!({"transfer_to": {"agent_id": 99}}), "actions.transfer_to.agent_id"),
            (json!({"transfer_to": {"department_id": 99}}), "actions.transfer_to.department_id"),
            (json!({"transfer_to": {"bot_id": stranger_bot}}), "actions.transfer_to.bot_id"),
            (json!({"transfer_to": {"agent_id": 1}, "close": true}), "actions"),
        ] {
            let body = json!({"shortcut": "new", "text": "x", "actions": actions});
            for reply in [admin.post(PATH, &body).await, admin.patch(&path, &json!({"actions": actions})).await] {
                assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], field, "{actions}");
            }
        }
        assert_eq!(listed(&account.admin).await, pairs([("hi", "Hello {visitor}")]));
    });
}

#[test]
fn shortcut_is_unique_regardless_of_case() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let admin = &account.admin.client;
        let reply = async |shortcut: &str| admin.post(PATH, &json!({"shortcut": shortcut, "text": "x"})).await;
        let replies = join_all(["hi", "HI", "Hi", "hI"].map(reply)).await;
        let mut statuses: Vec<u16> = replies.iter().map(|reply| reply.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 409, 409, 409]);
        let first = replies.iter().find(|reply| reply.status == 201).unwrap().json();
        let path = format!("{PATH}/{}", first["id"].as_str().unwrap());
        let second = format!("{PATH}/{}", add_canned_reply(&account.admin, "bye").await);
        admin.patch(&second, &json!({"shortcut": "HI"})).await.expect_error(409, "conflict");
        admin.patch(&path, &json!({"shortcut": "hI"})).await.expect(200);
        admin.patch(&path, &json!({"shortcut": "hello"})).await.expect(200);
        admin.patch(&second, &json!({"shortcut": "HI"})).await.expect(200);
        admin.delete(&path).await.expect(200);
        reply("hello").await.expect(201);
        let other_account = host.create_account().await;
        add_canned_reply(&other_account.admin, "hello").await;
    });
}

#[test]
fn invalid_canned_reply_is_rejected() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let admin = &account.admin.client;
        let path = format!("{PATH}/{}", add_canned_reply(&account.admin, "hi").await);
        let long = "é".repeat(5_000);
        for (field, value) in [
            ("shortcut", json!("")),
            ("shortcut", json!("two words")),
            ("shortcut", json!("x".repeat(41))),
            ("shortcut", json!(5)),
            ("shortcut", json!(null)),
            ("text", json!("")),
            ("text", json!(format!("{long}é"))),
            ("text", json!("\u{1b}[31m")),
            ("text", json!(["x"])),
            ("text", json!(null)),
        ] {
            let mut body = json!({"shortcut": "new", "text": "x"});
            body[field] = value.clone();
            for reply in [admin.post(PATH, &body).await, admin.patch(&path, &json!({field: value})).await] {
                let refused = reply.expect_error(400, "invalid_request");
                assert_eq!(refused["error"]["field"], field, "{body}");
            }
        }
        admin.post(PATH, &json!({"shortcut": "new"})).await.expect_error(400, "invalid_request");
        assert_eq!(listed(&account.admin).await, pairs([("hi", "Hello {visitor}")]));
        admin.post(PATH, &json!({"shortcut": "x".repeat(40), "text": long, "more": 1})).await.expect(201);
    });
}

#[test]
fn only_admins_change_canned_replies() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let ann = account.create_agent("Ann").await.client;
        let path = format!("{PATH}/{}", add_canned_reply(&account.admin, "hi").await);
        let body = json!({"shortcut": "mine", "text": "x"});
        let stranger = host.create_account().await.admin;
        for (client, status, code) in [(&ann, 403, "forbidden"), (&stranger.client, 404, "not_found")] {
            client.patch(&path, &body).await.expect_error(status, code);
            client.delete(&path).await.expect_error(status, code);
        }
        ann.post(PATH, &body).await.expect_error(403, "forbidden");
        assert_eq!(listed(&account.admin).await, pairs([("hi", "Hello {visitor}")]));
        assert_eq!(listed(&stranger).await, pairs([]));
    });
}
