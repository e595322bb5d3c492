//! Tests for the accounts and bot providers that the operator lists, suspends and deletes.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};

use crate::support::account_with_webhook::{add_webhook, ok_response};
use crate::support::agent_socket::AgentSocket;
use crate::support::api_client::{ApiResponse, TestAgent};
use crate::support::bot_fixture::{BotFixture, register_provider};
use crate::support::test_host::{ActiveChat, TestHost, VISITOR_ID, run_on_shared_host, run_with_virtual_time};
use crate::support::test_receiver::TestReceiver;
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

const TABLES: [&str; 3] = ["Directory", "Chats", "Connections"];

fn path_of(account: &Value) -> String {
    format!("/operator/accounts/{}", account.as_str().unwrap())
}

#[test]
fn operator_finds_accounts_by_page_and_by_e_mail_address() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let found = host.operator.get(&format!("/operator/accounts?email={}", account.admin.email)).await.expect(200);
        assert_eq!(
            (&found["accounts"][0]["account_id"], &found["accounts"][0]["state"]),
            (&account.id, &json!("active"))
        );
        let unknown = host.operator.get("/operator/accounts?email=nobody@nowhere.example").await.expect(200);
        assert_eq!(unknown["accounts"], json!([]));
        let other = host.create_account().await;
        wait_for("both accounts in the list", WAIT_TIMEOUT, async || {
            let (mut ids, mut query) = (Vec::new(), "?limit=1".to_owned());
            loop {
                let page = host.operator.get(&format!("/operator/accounts{query}")).await.expect(200);
                ids.extend(page["accounts"].as_array().unwrap().iter().map(|account| account["account_id"].clone()));
                let Some(next) = page["next"].as_str() else { break };
                query = format!("?limit=1&cursor={next}");
            }
            if ids.contains(&account.id) && ids.contains(&other.id) { Ok(()) } else { Err(ids) }
        })
        .await;
        let shown = host.operator.get(&path_of(&account.id)).await.expect(200);
        assert_eq!((&shown["admins"][0]["email"], &shown["deletion"]), (&json!(account.admin.email), &Value::Null));
        host.operator.get("/operator/accounts/unknown").await.expect_error(404, "not_found");
        host.anonymous.get("/operator/accounts").await.expect_error(401, "unauthorized");
        let limit = host.operator.get("/operator/accounts?limit=0").await.expect_error(400, "invalid_request");
        assert_eq!(limit["error"]["field"], "limit");
    });
}

#[test]
fn suspended_account_is_closed_to_everybody_and_loses_nothing() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "Hello").await["chat_id"].clone();
        let widget = fixture.account.create_widget(json!({})).await;
        let (agent, path) = (&fixture.agent, path_of(&fixture.account.id));
        let mut socket = AgentSocket::open(agent).await;
        // The audit log is sorted by time.
        time.advance(seconds(1));
        let shown = host.operator.patch(&path, &json!({"suspended": true})).await.expect(200);
        assert_eq!(shown["state"], "suspended");

        agent.client.get("/agent/me").await.expect_error(403, "account_suspended");
        agent.client.get("/agent/chats").await.expect_error(403, "account_suspended");
        socket.wait_until_closed(WAIT_TIMEOUT).await;
        let credentials = json!({"email": agent.email, "password": crate::support::api_client::PASSWORD});
        host.anonymous.post("/agent/login", &credentials).await.expect_error(403, "account_suspended");
        // Channels, widgets and bots read settings that may be ten seconds old.
        let message = json!({"sender": {"id": VISITOR_ID}, "message": {"type": "text", "text": "Anybody?"}});
        time.advance(seconds(10));
        let replies = [
            fixture.channel.post(&message).await,
            fixture.bot.send_text(&chat_id, "Yes").await,
            widget.call("session", &json!({})).await,
        ];
        // The code of the Bot API is another one (specification, B-1), but its message is the same.
        let is_refused = |reply: &ApiResponse| reply.status == 403 && reply.text.contains("account is suspended");
        assert!(replies.iter().all(is_refused), "{replies:?}");

        let resumed = host.operator.patch(&path, &json!({"suspended": false})).await.expect(200);
        assert_eq!((&resumed["state"], &resumed["suspended_at"]), (&json!("active"), &Value::Null));
        let texts: Vec<Value> = agent.timeline(1).await.into_iter().map(|entry| entry["text"].clone()).collect();
        assert!(texts.contains(&json!("Hello")), "the session and the chat are still there: {texts:?}");
        time.advance(seconds(10));
        fixture.channel.post(&message).await.expect(200);
        let audit = fixture.account.admin.client.get("/admin/audit?kind=account").await.expect(200);
        let actions: Vec<_> = audit["entries"].as_array().unwrap().iter().map(|entry| &entry["action"]).collect();
        assert_eq!(actions, ["resumed", "suspended", "created"]);
    });
}

/// Makes the deletion of the account due, and runs the scheduled function.
async fn continue_deletion(host: &TestHost, account: &Value) {
    let key = |name: &str| AttributeValue::S(name.to_owned());
    let pk = key(&format!("DELETION#{}", account.as_str().unwrap()));
    let change = host.tables().update_item().table_name("Chats").key("pk", pk).key("sk", key("DELETION"));
    let change = change.update_expression("SET due_at = :past").condition_expression("attribute_exists(pk)");
    let change = change.expression_attribute_values(":past", AttributeValue::N("1".to_owned()));
    // The item is gone after the last run.
    if change.send().await.is_ok() {
        host.local.run_schedule("schedule-close-idle-chats").await.expect("the schedule runs");
    }
}

/// Returns the items of all tables that contain one of the texts.
async fn items_with(host: &TestHost, texts: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for table in TABLES {
        let request = host.tables().scan().table_name(table).consistent_read(true).into_paginator().items().send();
        let items: Vec<HashMap<String, AttributeValue>> = request.try_collect().await.unwrap();
        let items = items.iter().map(|item| format!("{table} {item:?}"));
        found.extend(items.filter(|item| texts.iter().any(|text| item.contains(text))));
    }
    found
}

#[test]
fn nothing_of_a_deleted_account_is_left_in_any_table() {
    run_on_shared_host(async |host| {
        let kept = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let fixture = BotFixture::create(host).await;
        let (account, admin) = (&fixture.account, &fixture.account.admin);
        let receiver = TestReceiver::start(ok_response()).await;
        let webhook = add_webhook(account, &receiver, json!({})).await;
        let widget = account.create_widget(json!({})).await;
        // A visitor without a chat, an idempotency receipt, a note, a department, a reply and a blacklisted visitor.
        widget.call("session", &json!({"identify": true})).await.expect(200);
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "Hello").await["chat_id"].clone();
        fixture.bot.send_text(&chat_id, "Hello, human").await.expect(200);
        fixture.agent.accept(1).await;
        fixture.agent.send_text(1, "Hi").await;
        fixture.agent.client.post("/agent/chats/1/notes", &json!({"text": "Private"})).await.expect(201);
        fixture.agent.client.patch("/agent/visitors/1", &json!({"email": "visitor@gone.example"})).await.expect(200);
        admin.client.post("/admin/departments", &json!({"name": "Sales", "agent_ids": []})).await.expect(201);
        admin.client.post("/agent/canned-replies", &json!({"shortcut": "hi", "text": "Hello"})).await.expect(201);
        admin.client.put("/admin/settings", &json!({"retention_days": 30})).await.expect(200);
        fixture.agent.close(1).await;

        let path = path_of(&account.id);
        let ordered = host.operator.delete(&path).await.expect(202);
        assert_eq!((&ordered["state"], &ordered["deletion"]["phase"]), (&json!("deleting"), &json!("directory")));
        fixture.agent.client.get("/agent/me").await.expect_error(403, "account_suspended");
        host.operator.patch(&path, &json!({"suspended": false})).await.expect_error(409, "conflict");
        host.operator.delete(&path).await.expect(202);
        wait_for("the end of the deletion", WAIT_TIMEOUT, async || {
            continue_deletion(host, &account.id).await;
            let reply = host.operator.get(&path).await;
            if reply.status == 404 { Ok(()) } else { Err(reply) }
        })
        .await;

        let id = account.id.as_str().unwrap();
        let webhook_id = webhook["webhook_id"].as_str().unwrap();
        let (email, agent_email) = (admin.email.as_str(), fixture.agent.email.as_str());
        let (channel_id, bot_id) = (fixture.channel.id.as_str(), fixture.bot.bot_id.as_str());
        let texts =
            [id, channel_id, widget.id.as_str(), bot_id, webhook_id, email, agent_email, "visitor@gone.example"];
        assert_eq!(items_with(host, &texts).await, Vec::<String>::new());
        assert!(!items_with(host, &[kept.account.id.as_str().unwrap()]).await.is_empty());
        assert_eq!(kept.agent.chat(1).await["state"], "active", "another account is untouched");
        TestAgent::log_in(&host.anonymous, kept.agent.id.clone(), &kept.agent.email).await;
    });
}

#[test]
fn provider_is_deleted_only_when_no_bot_uses_it() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let used = format!("/operator/providers/{}", fixture.bot.provider_id);
        host.operator.delete(&used).await.expect_error(409, "conflict");
        host.operator.get(&used).await.expect(200);
        let unused = register_provider(&host.operator, "https://bots.example", json!({})).await;
        wait_for("the provider in the list", WAIT_TIMEOUT, async || {
            let listed = host.operator.get("/operator/providers").await.expect(200);
            let is_listed = listed["providers"].as_array().unwrap().iter().any(|it| it["provider_id"] == *unused);
            if is_listed { Ok(()) } else { Err(listed) }
        })
        .await;
        host.operator.delete(&format!("/operator/providers/{unused}")).await.expect(200);
        host.operator.get(&format!("/operator/providers/{unused}")).await.expect_error(404, "not_found");
        // A bot can still be connected to the provider that was not deleted.
        let body = json!({"provider_id": fixture.bot.provider_id});
        let bot = fixture.agent.client.post("/admin/bots", &body).await.expect(201);
        assert!(bot["token"].as_str().unwrap().len() >= 20, "the service has created a token");
        let again =
            fixture.agent.client.get(&format!("/admin/bots/{}", bot["bot_id"].as_str().unwrap())).await.expect(200);
        assert_eq!(again["token"], Value::Null, "it is shown once");
    });
}

#[test]
fn provider_that_is_being_deleted_cannot_be_changed() {
    run_on_shared_host(async |host| {
        let provider_id = register_provider(&host.operator, "https://bots.example", json!({})).await;
        let path = format!("/operator/providers/{provider_id}");
        // A process that dies during the deletion leaves this mark.
        let key = |name: &str| AttributeValue::S(name.to_owned());
        let pk = key(&format!("PROVIDER#{provider_id}"));
        let mark = host.tables().update_item().table_name("Directory").key("pk", pk).key("sk", key("PROVIDER"));
        let mark = mark.update_expression("SET retiring = :true");
        mark.expression_attribute_values(":true", AttributeValue::Bool(true)).send().await.unwrap();
        host.operator.patch(&path, &json!({"name": "New"})).await.expect_error(404, "not_found");
        host.operator.delete(&path).await.expect(200);
        host.operator.patch(&path, &json!({"name": "New"})).await.expect_error(404, "not_found");
        host.operator.get(&path).await.expect_error(404, "not_found");
    });
}
