//! Tests that the sweep (the scheduled search for overdue deliveries) continues after an entry that it cannot read.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};

use crate::support::test_host::{ActiveChat, TestHost, run_on_own_host_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

fn text(value: &str) -> AttributeValue {
    AttributeValue::S(value.to_owned())
}

impl TestHost {
    async fn wait_for_log_line(&self, what: &str, matches: impl Fn(&Value) -> bool) -> Value {
        wait_for(what, WAIT_TIMEOUT, async || {
            let log = self.log.lock().unwrap();
            let mut lines = log.iter().filter_map(|line| serde_json::from_str(&line.line).ok());
            lines.find(|line| matches(line)).ok_or("not logged")
        })
        .await
    }
}

#[test]
fn unreadable_entry_is_reported_and_skipped() {
    run_on_own_host_with_virtual_time(&[], async |host, _| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let seq = active_chat.send_text("Good day").await;
        assert_eq!(active_chat.final_delivery(seq).await["state"], "delivered");

        // Store two overdue entries. One has no attempts, as if the process had been killed before the first attempt.
        // The other was due earlier and has an unknown state, as if a different release had written it.
        let (tables, pk) =
            (host.tables(), format!("CHAT#{}#{}", active_chat.account.id.as_str().unwrap(), active_chat.number));
        let (lost, unreadable) = (format!("{seq:010}"), "0000000900");
        let entry = tables.get_item().table_name("Chats").key("pk", text(&pk)).key("sk", text(&lost));
        let mut item = entry.send().await.unwrap().item.unwrap();
        let AttributeValue::M(delivery) = item.get_mut("delivery").unwrap() else { panic!("delivery is not a map") };
        delivery.insert("attempts_made".to_owned(), AttributeValue::N("0".to_owned()));
        // Start a new round, because the FIFO queue would drop a repeated task of the first round as a duplicate for
        // five minutes.
        delivery.insert("round".to_owned(), AttributeValue::N("2".to_owned()));
        for (sk, state, due_at) in [(unreadable, "unknown state", "1"), (&*lost, "pending", "2")] {
            let AttributeValue::M(delivery) = item.get_mut("delivery").unwrap() else {
                panic!("delivery is not a map")
            };
            delivery.insert("state".to_owned(), text(state));
            item.insert("sk".to_owned(), text(sk));
            item.insert("due".to_owned(), text(&active_chat.number.to_string()));
            item.insert("due_at".to_owned(), AttributeValue::N(due_at.to_owned()));
            tables.put_item().table_name("Chats").set_item(Some(item.clone())).send().await.unwrap();
        }

        assert!(
            host.local.run_schedule("schedule-requeue-deliveries").await.is_err(),
            "the failed run raises an alarm"
        );
        integrator.wait_for_requests(2, WAIT_TIMEOUT).await;
        let key = format!("{pk} {unreadable}");
        host.wait_for_log_line("the entry's key", |line| line["item"] == key).await;
        host.wait_for_log_line("its age", |line| line["Backlog"] == "deliveries" && line["BacklogAge"].is_u64()).await;
    });
}
