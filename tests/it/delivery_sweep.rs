//! The sweep over deliveries that should be over: what it cannot handle stops nobody.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};

use crate::harness::{Conversation, Stage, on_own_stage};
use crate::receiver::{Answer, Receiver};
use crate::wait::{PATIENCE, wait_for};

fn text(value: &str) -> AttributeValue {
    AttributeValue::S(value.to_owned())
}

impl Stage {
    /// What functions logged as JSON and `is_it`, once it is there.
    async fn logged(&self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        wait_for(what, PATIENCE, async || {
            let log = self.log.lock().unwrap();
            let mut lines = log.iter().filter_map(|line| serde_json::from_str(&line.line).ok());
            lines.find(|line| is_it(line)).ok_or("not logged")
        })
        .await
    }
}

#[test]
fn an_unreadable_entry_is_reported_and_does_not_stop_the_sweep() {
    on_own_stage(&[], async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let seq = talk.write("Good day").await;
        assert_eq!(talk.verdict(seq).await["state"], "delivered");

        // As a process leaves it that dies before its first attempt; and, older, one of a release that is not known here.
        let (tables, pk) = (stage.tables(), format!("CHAT#{}#{}", talk.account.id.as_str().unwrap(), talk.chat));
        let (lost, unreadable) = (format!("{seq:010}"), "0000000900");
        let entry = tables.get_item().table_name("Chats").key("pk", text(&pk)).key("sk", text(&lost));
        let mut item = entry.send().await.unwrap().item.unwrap();
        let AttributeValue::M(delivery) = item.get_mut("delivery").unwrap() else { panic!("no map") };
        delivery.insert("tries".to_owned(), AttributeValue::N("0".to_owned()));
        // A round of its own: the queue takes the task of the first one for a duplicate for five minutes.
        delivery.insert("round".to_owned(), AttributeValue::N("2".to_owned()));
        for (sk, state, due_at) in [(unreadable, "unheard of", "1"), (&*lost, "pending", "2")] {
            let AttributeValue::M(delivery) = item.get_mut("delivery").unwrap() else { panic!("no map") };
            delivery.insert("progress".to_owned(), text(state));
            item.insert("sk".to_owned(), text(sk));
            item.insert("due".to_owned(), text(&talk.chat.to_string()));
            item.insert("due_at".to_owned(), AttributeValue::N(due_at.to_owned()));
            tables.put_item().table_name("Chats").set_item(Some(item.clone())).send().await.unwrap();
        }

        assert!(stage.host.run_schedule("schedule-sweep").await.is_err(), "which sets off an alarm");
        integrator.received(2, PATIENCE).await;
        let key = format!("{pk} {unreadable}");
        stage.logged("the entry's key", |line| line["item"] == key).await;
        stage.logged("its age", |line| line["Backlog"] == "deliveries" && line["BacklogAge"].is_u64()).await;
    });
}
