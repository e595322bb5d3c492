//! Tests for the visitor data that agents see and change, for the sources of this data, and for the blacklist.

use serde_json::{Value, json};

use crate::support::api_client::{TestAccount, TestChannel};
use crate::support::test_host::{TestHost, VISITOR_ID, run_on_shared_host, visitor_text};

const VISITOR_PATH: &str = "/agent/visitors/1";

/// Creates an account and a channel in which visitor 1 has sent a message.
async fn account_with_visitor(host: &TestHost) -> (TestAccount, TestChannel) {
    let account = host.create_account().await;
    let channel = account.create_channel("https://app.example/hook").await;
    channel.send_text(VISITOR_ID, "Hello").await;
    (account, channel)
}

#[test]
fn agent_changes_are_shown_with_their_source() {
    run_on_shared_host(async |host| {
        let (account, _) = account_with_visitor(host).await;
        let fields = json!({"name": "Ada", "email": "a@b.c", "phone": "020", "description": "Likes numbers"});
        let changed = account.admin.client.patch(VISITOR_PATH, &fields).await.expect(200);
        let shown = account.admin.chat(1).await["visitor"].clone();
        let agent = "agent";
        for visitor in [&changed, &shown] {
            for (field, value) in fields.as_object().unwrap() {
                assert_eq!(&visitor[field], value, "{field}");
            }
            let sources = json!({"name": agent, "email": agent, "phone": agent, "description": agent});
            assert_eq!(visitor["sources"], sources);
        }
        assert_eq!(account.admin.chats("waiting").await[0]["visitor"]["name"], "Ada");
    });
}

#[test]
fn last_writer_of_a_field_is_its_source() {
    run_on_shared_host(async |host| {
        let (account, channel) = account_with_visitor(host).await;
        account.admin.client.patch(VISITOR_PATH, &json!({"name": "Ada", "phone": "020"})).await.expect(200);
        let mut body = visitor_text(VISITOR_ID, "Call me Augusta");
        body["sender"]["name"] = json!("Augusta");
        channel.post(&body).await.expect(200);
        let visitor = account.admin.chat(1).await["visitor"].clone();
        assert_eq!((&visitor["name"], &visitor["phone"]), (&json!("Augusta"), &json!("020")));
        assert_eq!(visitor["sources"], json!({"name": "integrator", "phone": "agent"}));
    });
}

#[test]
fn agent_change_stays_until_the_integrator_sends_a_new_value() {
    run_on_shared_host(async |host| {
        let (account, channel) = account_with_visitor(host).await;
        let send_name = async |name: &str| {
            let mut body = visitor_text(VISITOR_ID, "Hi");
            body["sender"]["name"] = json!(name);
            channel.post(&body).await.expect(200);
            account.admin.chat(1).await["visitor"]["name"].clone()
        };
        assert_eq!(send_name("Ada").await, "Ada");
        account.admin.client.patch(VISITOR_PATH, &json!({"name": "Ada Lovelace"})).await.expect(200);
        assert_eq!(send_name("Ada").await, "Ada Lovelace", "a repeated value is not new");
        assert_eq!(account.admin.chats("waiting").await[0]["visitor"]["name"], "Ada Lovelace");
        assert_eq!(send_name("Augusta").await, "Augusta");
    });
}

#[test]
fn messages_of_a_blacklisted_visitor_are_ignored() {
    run_on_shared_host(async |host| {
        let (account, channel) = account_with_visitor(host).await;
        let changed = account.admin.client.patch(VISITOR_PATH, &json!({"blacklisted": true})).await.expect(200);
        assert_eq!(changed["blacklisted"], true);
        let before = (account.admin.chat(1).await, account.admin.timeline(1).await);
        let mut renamed = visitor_text(VISITOR_ID, "Buy now");
        renamed["sender"]["name"] = json!("Mallory");
        let typing = json!({"sender": {"id": VISITOR_ID}, "message": {"type": "typein"}});
        for body in [visitor_text(VISITOR_ID, "Buy"), renamed, typing] {
            assert_eq!(channel.post(&body).await.expect(200), json!({"result": "ok"}));
        }
        assert_eq!((account.admin.chat(1).await, account.admin.timeline(1).await), before);
        channel.send_text("another visitor", "Hello").await;
        assert_eq!(account.admin.chats("waiting").await.len(), 2, "messages of others are stored");
    });
}

#[test]
fn blacklisted_visitor_opens_no_chat() {
    run_on_shared_host(async |host| {
        let (account, channel) = account_with_visitor(host).await;
        account.admin.accept(1).await;
        account.admin.close(1).await;
        account.admin.client.patch(VISITOR_PATH, &json!({"blacklisted": true})).await.expect(200);
        channel.send_text(VISITOR_ID, "Me again").await;
        assert!(account.admin.chats("open").await.is_empty());
    });
}

#[test]
fn messages_are_stored_after_the_blacklist_is_lifted() {
    run_on_shared_host(async |host| {
        let (account, channel) = account_with_visitor(host).await;
        account.admin.client.patch(VISITOR_PATH, &json!({"blacklisted": true})).await.expect(200);
        channel.send_text(VISITOR_ID, "ignored").await;
        let changed = account.admin.client.patch(VISITOR_PATH, &json!({"blacklisted": false})).await.expect(200);
        assert_eq!(changed["blacklisted"], false);
        channel.send_text(VISITOR_ID, "stored").await;
        let texts: Vec<Value> = account.admin.timeline(1).await.iter().map(|entry| entry["text"].clone()).collect();
        assert_eq!(texts, ["Hello", "stored"]);
    });
}

#[test]
fn error_names_every_invalid_field_and_nothing_is_stored() {
    run_on_shared_host(async |host| {
        let (account, _) = account_with_visitor(host).await;
        let before = account.admin.chat(1).await;
        let invalid_texts = [json!(5), json!(true), json!([]), json!({}), json!("x".repeat(20_000))];
        let fields = ["name", "email", "phone", "description"];
        let texts = fields.iter().flat_map(|field| invalid_texts.iter().map(move |value| (*field, value.clone())));
        let flags = [json!("yes"), json!(1), json!([])].map(|value| ("blacklisted", value));
        let emails = ["ada", "@", "ada@", "ada @b.c"].map(|email| ("email", json!(email)));
        for (field, value) in texts.chain(flags).chain(emails) {
            let body = json!({"name": "Stored?", field: value});
            let error = account.admin.client.patch(VISITOR_PATH, &body).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], field, "{error}");
        }
        account.admin.client.patch(VISITOR_PATH, &json!([])).await.expect_error(400, "invalid_request");
        assert_eq!(account.admin.chat(1).await, before);
    });
}

#[test]
fn email_address_is_stored_without_blanks_and_can_be_cleared() {
    run_on_shared_host(async |host| {
        let (account, _) = account_with_visitor(host).await;
        for (email, stored) in [(" ada@b.c ", "ada@b.c"), ("", "")] {
            let changed = account.admin.client.patch(VISITOR_PATH, &json!({"email": email})).await.expect(200);
            assert_eq!(changed["email"].as_str().unwrap_or_default(), stored);
        }
    });
}

#[test]
fn null_clears_a_field_and_an_absent_field_stays() {
    run_on_shared_host(async |host| {
        let (account, channel) = account_with_visitor(host).await;
        let fields = ["name", "email", "phone", "description"];
        let values = json!({"name": "Ada", "email": "a@b.c", "phone": "020", "description": "Likes numbers"});
        for field in fields {
            account.admin.client.patch(VISITOR_PATH, &values).await.expect(200);
            let mut expected = values.clone();
            expected[field] = json!(if field == "name" { "Anonymous" } else { "" });
            account.admin.client.patch(VISITOR_PATH, &json!({field: null})).await.expect(200);
            let shown = account.admin.chat(1).await["visitor"].clone();
            for other in fields {
                assert_eq!(
                    shown[other].as_str().unwrap_or_default(),
                    expected[other],
                    "{other} after clearing {field}"
                );
            }
        }
        channel.send_text(VISITOR_ID, "Still me").await;
        assert_eq!(account.admin.chat(1).await["visitor"]["sources"]["description"], "agent", "cleared by the agent");
    });
}

#[test]
fn visitor_of_another_account_is_not_found() {
    run_on_shared_host(async |host| {
        let (account, _) = account_with_visitor(host).await;
        let other_admin = host.create_account().await.admin.client;
        other_admin.patch(VISITOR_PATH, &json!({"name": "Mine"})).await.expect_error(404, "not_found");
        for path in ["/agent/visitors/2", "/agent/visitors/0", "/agent/visitors/x"] {
            let reply = account.admin.client.patch(path, &json!({"name": "Ada"})).await;
            reply.expect_error(404, "not_found");
        }
        assert_eq!(account.admin.chat(1).await["visitor"]["name"], "Anonymous");
    });
}
