//! SQS refuses what functions send: what is stored is answered, and the sweep delivers it when SQS works again.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};

use crate::client::number;
use crate::harness::{Stage, VISITOR, on_own_stage, open_chat};
use crate::hook::{add, fine, names};
use crate::provider::Front;
use crate::receiver::{Answer, Receiver};
use crate::wait::{PATIENCE, wait_for};

impl Stage {
    /// Makes every pending delivery overdue, so that the next sweep takes it up.
    async fn make_deliveries_overdue(&self) {
        let tables = self.tables();
        let pending = tables.scan().table_name("Chats").filter_expression("delivery.progress = :pending");
        let pending = pending.expression_attribute_values(":pending", AttributeValue::S("pending".into()));
        for item in pending.send().await.unwrap().items.unwrap() {
            let overdue = tables.update_item().table_name("Chats");
            let overdue = overdue.key("pk", item["pk"].clone()).key("sk", item["sk"].clone());
            let overdue = overdue.update_expression("SET due_at = :zero");
            overdue.expression_attribute_values(":zero", AttributeValue::N("0".into())).send().await.unwrap();
        }
    }
}

/// The states of a timeline's deliveries that have not succeeded.
fn undelivered(timeline: &[Value]) -> Vec<Value> {
    let kinds = ["delivery", "bot_delivery", "webhook_delivery"];
    let states = timeline.iter().flat_map(|entry| kinds.map(|kind| entry[kind]["state"].clone()));
    states.filter(|state| !state.is_null() && state != "delivered").collect()
}

#[test]
fn stored_work_is_answered_while_sqs_refuses_it() {
    on_own_stage(&[], async |stage| {
        let front = Front::open(stage).await;
        let (account, admin) = (&front.account, &front.agent);
        let crm = Receiver::start(fine()).await;
        add(account, &crm, json!({})).await;
        let broken = Receiver::start_with([Answer::error(7, "not now"), Answer::ok()]).await;
        let plain = account.channel(&broken.url()).await;
        let [with_bot, written] = [1, 2];
        front.ask(VISITOR, "Hello").await;
        assert_eq!(open_chat(admin, &plain, "written to").await, written);
        let failed = admin.write(written, "fails once").await;
        assert_eq!(admin.verdict(written, failed).await["state"], "failed");
        let to_close = open_chat(admin, &plain, "closed").await;
        plain.say("accepted", "Hello").await;
        let to_accept = to_close + 1;
        let to_hand_over = crate::provider::chat_of(&front.ask("handed over", "Agent!").await);

        stage.nothing_is_left().await;
        assert_eq!(names(&crm), ["chat_accepted", "chat_accepted"]);
        stage.host.refuse_sends(true);
        let bot = |chat: u64| json!(chat.to_string());
        let path = |chat: u64, action: &str| format!("/agent/chats/{chat}/{action}");
        let said = json!({"type": "text", "text": "from the agent"});
        let (write, accept, close) = (path(written, "messages"), path(to_accept, "accept"), path(to_close, "close"));
        let retry = path(written, &format!("messages/{failed}/retry"));
        let (nothing, name) = (json!({}), json!({"name": "Ada"}));
        let visitor = format!("/agent/visitors/{}", admin.chat(written).await["visitor"]["number"]);
        let (with_bot_id, to_hand_over_id) = (bot(with_bot), bot(to_hand_over));
        let replies = futures_util::join!(
            async {
                front.channel.say(VISITOR, "from the visitor").await;
                front.bot.say(&with_bot_id, "from the bot").await.expect(200)
            },
            async { front.bot.invite_agent(&to_hand_over_id).await.expect(200) },
            async { admin.call.post(&write, &said).await.expect(201) },
            async { admin.call.post(&retry, &nothing).await.expect(202) },
            async { admin.call.post(&accept, &nothing).await.expect(200) },
            async { admin.call.post(&close, &nothing).await.expect(200) },
            async { admin.call.patch(&visitor, &name).await.expect(200) },
        );
        assert_eq!(number(&replies.2["seq"]), failed + 1);
        assert_eq!(broken.texts(), ["fails once"], "nothing was queued");
        assert_eq!((front.integrator.texts().len(), crm.requests().len()), (0, 2));

        stage.host.refuse_sends(false);
        let chats = [with_bot, to_hand_over, written, to_accept, to_close];
        wait_for("everything is delivered", PATIENCE, async || {
            stage.make_deliveries_overdue().await;
            stage.host.run_schedule("schedule-sweep").await.expect("the sweep runs");
            stage.nothing_is_left().await;
            let mut open = Vec::new();
            for chat in chats {
                open.extend(undelivered(&admin.messages(chat).await));
            }
            if open.is_empty() { Ok(()) } else { Err(open) }
        })
        .await;
        assert_eq!(front.integrator.texts(), ["from the bot"]);
        let mut texts = broken.texts();
        texts.sort_unstable();
        assert_eq!(texts, ["fails once", "fails once", "from the agent"]);
        let mut notifications = names(&crm);
        notifications.sort_unstable();
        assert_eq!(notifications, ["chat_accepted", "chat_accepted", "chat_accepted", "chat_finished", "chat_updated"]);
        let events: Vec<Value> =
            front.provider.requests().iter().map(|request| request.json()["event"].clone()).collect();
        let of_kind = |kind: &str| events.iter().filter(|event| *event == kind).count();
        assert_eq!((of_kind("CLIENT_MESSAGE"), of_kind("AGENT_UNAVAILABLE")), (3, 1), "{events:?}");
    });
}
