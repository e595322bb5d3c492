//! How long things last: chats that rest are closed, visitors are erased.

use std::collections::HashMap;
use std::time::Instant;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};

use crate::client::{Agent, Reply, number};
use crate::harness::{Conversation, Stage, VISITOR, on_stage, open_chat};
use crate::hook::{add, fine, names, recorded, with_data};
use crate::provider::Front;
use crate::receiver::{Answer, Receiver};
use crate::wait::{PATIENCE, seconds, wait_for};

#[test]
fn a_chat_that_rests_is_closed_with_all_that_a_close_tells() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        front.account.admin.call.put("/admin/settings", &json!({"idle_close": 1})).await.expect(200);
        let crm = Receiver::start(fine()).await;
        add(&front.account, &crm, json!({})).await;
        front.ask(VISITOR, "Is anybody there?").await;
        front.agent.accept(1).await;
        let begun = Instant::now();
        wait_for("the chat is closed", seconds(100), async || {
            stage.host.run_schedule("schedule-idle").await.expect("the look succeeds");
            let state = front.state(1).await;
            if state == "closed" { Ok(()) } else { Err(state) }
        })
        .await;
        assert!(begun.elapsed() >= seconds(58), "closed after {:?}", begun.elapsed());
        assert_eq!(front.notifications("CHAT_CLOSED").await["chat_id"], "1");
        wait_for("chat_finished", PATIENCE, async || {
            let names = names(&crm);
            if names.last().is_some_and(|name| name == "chat_finished") { Ok(()) } else { Err(names) }
        })
        .await;
        assert_eq!(front.agent.chat(1).await["agent"]["id"], front.agent.id);
    });
}

/// The sort keys of the account's items in the Chats table, and whether each will be deleted; counters aside, and what is
/// planned.
async fn lives(stage: &Stage, account: &Value, channel: &str) -> Vec<(String, bool)> {
    let request = stage.tables().scan().table_name("Chats").consistent_read(true).into_paginator().items().send();
    let items: Vec<_> = request.try_collect().await.unwrap();
    let text = |item: &HashMap<String, AttributeValue>, name: &str| item[name].as_s().unwrap().clone();
    let account = account.as_str().unwrap();
    let ours = items.iter().filter(|item| {
        let pk = text(item, "pk");
        let is_kept = ["CHAT#", "VISITOR"].iter().any(|kind| pk.starts_with(kind));
        is_kept && (pk.contains(account) || pk.contains(channel))
    });
    ours.map(|item| (text(item, "sk"), item.get("expires_at").is_some_and(AttributeValue::is_n))).collect()
}

#[test]
fn everything_of_an_ended_chat_has_an_end_when_the_account_says_so() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        front.account.admin.call.put("/admin/settings", &json!({"retention_days": 1})).await.expect(200);
        let crm = Receiver::start(with_data(json!({"custom_data": [{"content": "Gold"}]}))).await;
        add(&front.account, &crm, json!({})).await;
        let chat_id = front.ask(VISITOR, "Hello").await["chat_id"].clone();
        front.bot.say(&chat_id, "Hello, human").await.expect(200);
        front.agent.accept(1).await;
        recorded(&front.agent, 1, "chat_accepted").await;
        let seq = front.agent.write(1, "Now it is me").await;
        front.agent.verdict(1, seq).await;
        front.agent.close(1).await;
        recorded(&front.agent, 1, "chat_finished").await;
        front.notifications("CHAT_CLOSED").await;
        let lives = lives(stage, &front.account.id, &front.channel.id).await;
        let endless: Vec<_> = lives.iter().filter(|(_, ends)| !ends).collect();
        assert!(endless.is_empty(), "{lives:?}");
        // Header, panel, visitor, number; three messages; two notices and two events.
        assert_eq!(lives.len(), 11, "{lives:?}");
    });
}

/// Ages a changed retention, so that its pass over ended chats begins now and not when the open chats have been checked.
async fn begin_pass(stage: &Stage, pk: String) {
    let (pk, sk) = (AttributeValue::S(pk), AttributeValue::S("RETENTION".to_owned()));
    let change = stage.tables().update_item().table_name("Chats").key("pk", pk).key("sk", sk);
    let change =
        change.update_expression("SET due_at = :past, began = :past").condition_expression("attribute_exists(pk)");
    change.expression_attribute_values(":past", AttributeValue::N("1".to_owned())).send().await.unwrap();
}

/// Makes the idle check of the account's only open chat due, and runs the schedule.
async fn look(stage: &Stage, account: &Value) {
    let tables = stage.tables();
    let pk = AttributeValue::S(format!("CHAT#{}#1", account.as_str().unwrap()));
    let sk = AttributeValue::S("HEAD".to_owned());
    let change = tables.update_item().table_name("Chats").key("pk", pk).key("sk", sk);
    let change = change.update_expression("SET due_at = :now").condition_expression("attribute_exists(due_at)");
    change.expression_attribute_values(":now", AttributeValue::N("1".to_owned())).send().await.unwrap();
    stage.host.run_schedule("schedule-idle").await.expect("the look succeeds");
}

#[test]
fn a_changed_retention_reaches_what_was_written_in_an_open_chat() {
    on_stage(async |stage| {
        let talk = Conversation::open(stage, "https://app.example/hook", json!({})).await;
        talk.channel.say(VISITOR, "And another thing").await;
        let of_messages = async || {
            let lives = lives(stage, &talk.account.id, &talk.channel.id).await;
            let messages = lives.into_iter().filter(|(sk, _)| sk.parse::<u64>().is_ok());
            messages.map(|(_, ends)| ends).collect::<Vec<_>>()
        };
        assert_eq!(of_messages().await, [false, false]);
        for (days, ends) in [(json!(1), true), (Value::Null, false)] {
            talk.agent.call.put("/admin/settings", &json!({"retention_days": days})).await.expect(200);
            wait_for("the entries' new end", seconds(15), async || {
                look(stage, &talk.account.id).await;
                let lives = of_messages().await;
                if lives == [ends, ends] { Ok(()) } else { Err(lives) }
            })
            .await;
        }
        assert_eq!(talk.agent.chat(1).await["state"], "active");
    });
}

#[test]
fn a_changed_retention_reaches_chats_that_ended_before() {
    on_stage(async |stage| {
        let talk = Conversation::open(stage, "https://app.example/hook", json!({})).await;
        talk.agent.close(1).await;
        let lives = async || lives(stage, &talk.account.id, &talk.channel.id).await;
        // Header, visitor, number and a message.
        assert_eq!(lives().await.len(), 4);
        for (days, ends) in [(json!(1), true), (Value::Null, false)] {
            talk.agent.call.put("/admin/settings", &json!({"retention_days": days})).await.expect(200);
            let account = talk.account.id.as_str().unwrap();
            begin_pass(stage, format!("RETENTION#{account}")).await;
            wait_for("the new end of everything", seconds(15), async || {
                stage.host.run_schedule("schedule-idle").await.expect("the look succeeds");
                let lives = lives().await;
                if lives.iter().all(|(_, has_end)| *has_end == ends) { Ok(()) } else { Err(lives) }
            })
            .await;
        }
    });
}

async fn erase(of: &Agent, number: &Value) -> Reply {
    of.call.delete(&format!("/admin/visitors/{number}")).await
}

#[test]
fn an_erased_visitor_is_gone_with_every_chat_and_the_others_stay() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let seq = talk.write("Hello").await;
        talk.verdict(seq).await;
        talk.agent.close(talk.chat).await;
        let second = open_chat(&talk.agent, &talk.channel, VISITOR).await;
        let others = open_chat(&talk.agent, &talk.channel, "somebody else").await;
        let visitor = talk.agent.chat(second).await["visitor"]["number"].clone();

        let (stranger, bob) = (stage.account().await, talk.account.agent("Bob").await);
        erase(&stranger.admin, &visitor).await.expect_error(404, "not_found");
        erase(&bob, &visitor).await.expect_error(403, "forbidden");
        talk.agent.call.delete("/admin/visitors/none").await.expect_error(404, "not_found");
        assert_eq!(talk.agent.chat(second).await["state"], "active");

        let erased = erase(&talk.agent, &visitor).await.expect(200);
        let expected = json!({"number": visitor, "removed": {"chats": 2, "entries": 3}, "complete": true});
        assert_eq!(erased, expected);
        for chat in [talk.chat, second] {
            talk.agent.call.get(&format!("/agent/chats/{chat}")).await.expect_error(404, "not_found");
            talk.agent.call.get(&format!("/agent/chats/{chat}/messages")).await.expect_error(404, "not_found");
        }
        for state in ["open", "closed"] {
            let left: Vec<u64> = talk.agent.chats(state).await.iter().map(|chat| number(&chat["chat_id"])).collect();
            assert_eq!(left, if state == "open" { vec![others] } else { vec![] });
        }
        erase(&talk.agent, &visitor).await.expect_error(404, "not_found");
        let new = open_chat(&talk.agent, &talk.channel, VISITOR).await;
        let back = talk.agent.chat(new).await["visitor"].clone();
        assert_eq!((back["number"].as_u64(), back["chats_count"].as_u64()), (Some(3), Some(1)), "a stranger: {back}");
    });
}
