//! Tests of rehearsals: faults in the first attempts of a channel's messages.

use serde_json::json;

use crate::support::test_host::{ActiveChat, run_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver};

/// Every fault is among so many messages, with a probability of more than 99.9 %.
const MESSAGES: usize = 40;

#[test]
fn every_message_is_delivered_after_its_fault() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let chat = ActiveChat::create(host, &integrator.url(), json!({"rehearsal_percent": 100})).await;
        let secret = &chat.channel.signing_secret;
        let mut seqs = Vec::new();
        for n in 0..MESSAGES {
            seqs.push(chat.send_text(&n.to_string()).await);
            time.run_until_queues_are_empty().await;
        }
        let mut faults = std::collections::BTreeSet::new();
        for (n, seq) in seqs.into_iter().enumerate() {
            let delivery = chat.agent.timeline_entry(chat.number, seq).await["delivery"].clone();
            assert_eq!(delivery["state"], "delivered", "{delivery}");
            let requests = integrator.requests();
            let requests: Vec<&ReceivedRequest> =
                requests.iter().filter(|request| request.text() == n.to_string()).collect();
            let last = requests.last().unwrap();
            assert!(last.is_signed_with(secret), "the last attempt has no fault");
            let error = delivery["attempts"][0]["error"].as_str().unwrap_or("another encoding").to_owned();
            let expected = match &*error {
                "rehearsal: this attempt was not made" => requests.len() == 1,
                "rehearsal: accepted, and sent again" => requests.len() == 2 && requests[0].is_signed_with(secret),
                "rehearsal: a wrong signature was accepted" => {
                    requests.len() == 2 && !requests[0].is_signed_with(secret)
                }
                "another encoding" => requests.len() == 1 && last.header("transfer-encoding") == Some("chunked"),
                _ => false,
            };
            assert!(expected, "{error}: {} requests", requests.len());
            faults.insert(error);
        }
        assert_eq!(faults.len(), 4, "{faults:?}");
    });
}

#[test]
fn percentage_is_validated() {
    run_with_virtual_time(async |host, _| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        let path = format!("/admin/channels/{}", channel.id);
        for percent in [json!(101), json!(-1), json!("5")] {
            let changed = account.admin.client.patch(&path, &json!({"rehearsal_percent": percent})).await;
            let error = changed.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], "rehearsal_percent", "{percent}");
        }
        let changed = account.admin.client.patch(&path, &json!({"rehearsal_percent": 5})).await.expect(200);
        assert_eq!(changed["rehearsal_percent"], 5);
    });
}
