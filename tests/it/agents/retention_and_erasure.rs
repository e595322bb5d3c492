//! Tests for the retention period of messages and chats, and for erasing visitors.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};

use crate::support::account_with_webhook::{
    WebhookFixture, add_webhook, final_webhook_delivery, ok_response, ok_response_with, wait_for_event,
};
use crate::support::api_client::{ApiResponse, TestAgent, number};
use crate::support::bot_fixture::BotFixture;
use crate::support::test_host::{
    ActiveChat, TestHost, VISITOR_ID, open_accepted_chat, run_on_shared_host, run_with_virtual_time,
};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

/// Returns the sort key of each of the account's chat and visitor items in the Chats table, and whether the item has an
/// expiry time.
async fn items_with_expiry(host: &TestHost, account: &Value, channel: &str) -> Vec<(String, bool)> {
    let request = host.tables().scan().table_name("Chats").consistent_read(true).into_paginator().items().send();
    let items: Vec<_> = request.try_collect().await.unwrap();
    let text = |item: &HashMap<String, AttributeValue>, name: &str| item[name].as_s().unwrap().clone();
    let account = account.as_str().unwrap();
    let account_items = items.iter().filter(|item| {
        let pk = text(item, "pk");
        let is_chat_or_visitor = ["CHAT#", "VISITOR"].iter().any(|kind| pk.starts_with(kind));
        is_chat_or_visitor && (pk.contains(account) || pk.contains(channel))
    });
    account_items.map(|item| (text(item, "sk"), item.get("expires_at").is_some_and(AttributeValue::is_n))).collect()
}

#[test]
fn every_item_of_a_closed_chat_gets_an_expiry() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        fixture.account.admin.client.put("/admin/settings", &json!({"retention_days": 1})).await.expect(200);
        let webhook_receiver =
            TestReceiver::start(ok_response_with(json!({"custom_data": [{"content": "Gold"}]}))).await;
        add_webhook(&fixture.account, &webhook_receiver, json!({})).await;
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "Hello").await["chat_id"].clone();
        fixture.bot.send_text(&chat_id, "Hello, human").await.expect(200);
        fixture.agent.accept(1).await;
        final_webhook_delivery(&fixture.agent, 1, "chat_accepted").await;
        let seq = fixture.agent.send_text(1, "Now it is me").await;
        fixture.agent.final_delivery(1, seq).await;
        fixture.agent.close(1).await;
        final_webhook_delivery(&fixture.agent, 1, "chat_finished").await;
        fixture.wait_for_event("CHAT_CLOSED").await;
        let items = items_with_expiry(host, &fixture.account.id, &fixture.channel.id).await;
        let without_expiry: Vec<_> = items.iter().filter(|(_, expires)| !expires).collect();
        assert!(without_expiry.is_empty(), "{items:?}");
        // The items are the header, the panel, the visitor, the visitor number, three messages, two bot notifications
        // and two webhook events.
        assert_eq!(items.len(), 11, "{items:?}");
    });
}

/// Makes the retention pass due immediately. This pass applies a changed retention period to closed chats, and would
/// otherwise start only after all open chats have been checked.
async fn make_retention_change_due(host: &TestHost, pk: String) {
    let (pk, sk) = (AttributeValue::S(pk), AttributeValue::S("RETENTION".to_owned()));
    let change = host.tables().update_item().table_name("Chats").key("pk", pk).key("sk", sk);
    let change =
        change.update_expression("SET due_at = :past, started_at = :past").condition_expression("attribute_exists(pk)");
    change.expression_attribute_values(":past", AttributeValue::N("1".to_owned())).send().await.unwrap();
}

/// Makes the idle check due for the account's only open chat, and runs the scheduled function.
async fn run_idle_check(host: &TestHost, account: &Value) {
    let tables = host.tables();
    let pk = AttributeValue::S(format!("CHAT#{}#1", account.as_str().unwrap()));
    let sk = AttributeValue::S("HEAD".to_owned());
    let change = tables.update_item().table_name("Chats").key("pk", pk).key("sk", sk);
    let change = change.update_expression("SET due_at = :now").condition_expression("attribute_exists(due_at)");
    change.expression_attribute_values(":now", AttributeValue::N("1".to_owned())).send().await.unwrap();
    host.local.run_schedule("schedule-close-idle-chats").await.expect("the schedule runs");
}

#[test]
fn changed_retention_applies_to_messages_of_an_open_chat() {
    run_on_shared_host(async |host| {
        let active_chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        active_chat.channel.send_text(VISITOR_ID, "And another thing").await;
        let message_expiries = async || {
            let items = items_with_expiry(host, &active_chat.account.id, &active_chat.channel.id).await;
            let messages = items.into_iter().filter(|(sk, _)| sk.parse::<u64>().is_ok());
            messages.map(|(_, expires)| expires).collect::<Vec<_>>()
        };
        assert_eq!(message_expiries().await, [false, false]);
        for (days, expires) in [(json!(1), true), (Value::Null, false)] {
            active_chat.agent.client.put("/admin/settings", &json!({"retention_days": days})).await.expect(200);
            wait_for("the new expiry of the entries", WAIT_TIMEOUT, async || {
                run_idle_check(host, &active_chat.account.id).await;
                let expiries = message_expiries().await;
                if expiries == [expires, expires] { Ok(()) } else { Err(expiries) }
            })
            .await;
        }
        assert_eq!(active_chat.agent.chat(1).await["state"], "active");
    });
}

#[test]
fn changed_retention_applies_to_closed_chats() {
    run_on_shared_host(async |host| {
        let active_chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        active_chat.agent.close(1).await;
        let read_items = async || items_with_expiry(host, &active_chat.account.id, &active_chat.channel.id).await;
        // The items are the header, the visitor, the visitor number and a message.
        assert_eq!(read_items().await.len(), 4);
        for (days, expires) in [(json!(1), true), (Value::Null, false)] {
            active_chat.agent.client.put("/admin/settings", &json!({"retention_days": days})).await.expect(200);
            let account = active_chat.account.id.as_str().unwrap();
            make_retention_change_due(host, format!("RETENTION#{account}")).await;
            wait_for("the new expiry of all items", WAIT_TIMEOUT, async || {
                host.local.run_schedule("schedule-close-idle-chats").await.expect("the schedule runs");
                let items = read_items().await;
                if items.iter().all(|(_, has_expiry)| *has_expiry == expires) { Ok(()) } else { Err(items) }
            })
            .await;
        }
    });
}

async fn erase_visitor(agent: &TestAgent, number: &Value) -> ApiResponse {
    agent.client.delete(&format!("/admin/visitors/{number}")).await
}

#[test]
fn erasure_deletes_all_chats_of_one_visitor_only() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let seq = active_chat.send_text("Hello").await;
        active_chat.final_delivery(seq).await;
        active_chat.agent.close(active_chat.number).await;
        let second = open_accepted_chat(&active_chat.agent, &active_chat.channel, VISITOR_ID).await;
        let others = open_accepted_chat(&active_chat.agent, &active_chat.channel, "another visitor").await;
        let visitor = active_chat.agent.chat(second).await["visitor"]["number"].clone();

        let (other_account, bob) = (host.create_account().await, active_chat.account.create_agent("Bob").await);
        erase_visitor(&other_account.admin, &visitor).await.expect_error(404, "not_found");
        erase_visitor(&bob, &visitor).await.expect_error(403, "forbidden");
        active_chat.agent.client.delete("/admin/visitors/none").await.expect_error(404, "not_found");
        assert_eq!(active_chat.agent.chat(second).await["state"], "active");

        let path = format!("/admin/visitors/{visitor}");
        other_account.admin.client.get(&path).await.expect_error(404, "not_found");
        bob.client.get(&path).await.expect_error(403, "forbidden");
        let shown = active_chat.agent.client.get(&path).await.expect(200);
        let sizes = (&shown["chats_count"], &shown["entries"], &shown["is_complete"]);
        assert_eq!(sizes, (&json!(2), &json!(3), &json!(true)), "{shown}");
        assert_eq!((&shown["visitor"]["number"], &shown["visitor"]["id"]), (&visitor, &json!(VISITOR_ID)));

        let erased = erase_visitor(&active_chat.agent, &visitor).await.expect(200);
        let expected = json!({"number": visitor, "removed": {"chats": 2, "entries": 3, "files": 0}, "complete": true});
        assert_eq!(erased, expected);
        for chat in [active_chat.number, second] {
            active_chat.agent.client.get(&format!("/agent/chats/{chat}")).await.expect_error(404, "not_found");
            active_chat.agent.client.get(&format!("/agent/chats/{chat}/messages")).await.expect_error(404, "not_found");
        }
        for state in ["open", "closed"] {
            let numbers: Vec<u64> =
                active_chat.agent.chats(state).await.iter().map(|chat| number(&chat["chat_id"])).collect();
            assert_eq!(numbers, if state == "open" { vec![others] } else { vec![] });
        }
        active_chat.agent.client.get(&path).await.expect_error(404, "not_found");
        erase_visitor(&active_chat.agent, &visitor).await.expect_error(404, "not_found");
        let new_chat = open_accepted_chat(&active_chat.agent, &active_chat.channel, VISITOR_ID).await;
        let new_visitor = active_chat.agent.chat(new_chat).await["visitor"].clone();
        assert_eq!(
            (new_visitor["number"].as_u64(), new_visitor["chats_count"].as_u64()),
            (Some(3), Some(1)),
            "a new visitor: {new_visitor}"
        );
    });
}

#[test]
fn webhook_response_after_an_erasure_is_not_stored() {
    run_with_virtual_time(async |host, time| {
        let fixture = WebhookFixture::create(host).await;
        let data = json!({"custom_data": [{"content": "Gold"}], "contact_info": {"name": "Ada"}});
        let release = fixture.webhook_receiver.respond_on_release(ok_response_with(data));
        open_accepted_chat(&fixture.agent, &fixture.channel, VISITOR_ID).await;
        wait_for_event(&fixture.webhook_receiver, "chat_accepted").await;
        fixture.webhook_receiver.respond_with(ok_response());
        erase_visitor(&fixture.account.admin, &json!(1)).await.expect(200);
        let returned = open_accepted_chat(&fixture.agent, &fixture.channel, VISITOR_ID).await;
        release.send(()).unwrap();
        time.run_until_queues_are_empty().await;

        let items = items_with_expiry(host, &fixture.account.id, &fixture.channel.id).await;
        assert!(items.iter().all(|(sort_key, _)| sort_key != "PANEL"), "{items:?}");
        assert_ne!(fixture.visitor(returned).await["name"], "Ada", "the returned visitor is another one");
    });
}
