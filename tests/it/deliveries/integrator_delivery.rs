//! Tests for delivering agents' messages to the integrator: attempts, outcomes, order, HTTP framing and signatures.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::api_client::{TestAccount, TestChannel, merged};
use crate::support::attempt_schedule::{assert_failed_after_three_attempts, assert_not_early};
use crate::support::test_host::{
    ActiveChat, TestHost, VISITOR_ID, open_accepted_chat, run_on_shared_host, run_with_virtual_time,
};
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver, unused_port};
use crate::support::virtual_time::ATTEMPT_SPACING;
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

#[test]
fn failing_integrator_gets_attempts_at_0_3_and_6_seconds() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start(CannedResponse::Json(500, json!({}))).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;

        let sent_at = Instant::now();
        let seq = active_chat.send_text("Hello?").await;
        time.run_until_queues_are_empty().await;
        // A failed message is shown as such only after the time of the third attempt.
        let pending = active_chat.agent.timeline_entry(active_chat.number, seq).await;
        assert_eq!(pending["delivery"]["state"], "pending", "{pending}");
        time.advance(seconds(3));
        let delivery = active_chat.final_delivery(seq).await;

        assert_eq!(delivery["state"], "failed");
        assert!(delivery["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{delivery}");
        let attempts = delivery["attempts"].as_array().unwrap();
        assert!(attempts.iter().all(|attempt| attempt["status"] == 500), "{attempts:#?}");
        assert_eq!(attempts.len(), 3, "{attempts:#?}");
        let requests = integrator.requests();
        assert_eq!(requests.len(), 3);
        time.assert_every_three_seconds(sent_at, &requests);
    });
}

#[test]
fn integrator_recovering_between_attempts_gets_message_once() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start_sequence([CannedResponse::CloseConnection, CannedResponse::ok()]).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let seq = active_chat.send_text("Hello?").await;
        time.run_until_queues_are_empty().await;
        let delivery = active_chat.final_delivery(seq).await;
        assert_eq!(delivery["state"], "delivered");
        assert_eq!(delivery["attempts"].as_array().unwrap().len(), 2);
        assert_eq!(delivery["error"], Value::Null);
        let requests = integrator.requests();
        assert_eq!(requests.len(), 2);
        assert_eq!(requests[0].body, requests[1].body);
        time.assert_every_three_seconds(requests[0].at, &requests);
    });
}

#[test]
fn integrator_error_is_final_and_shown_immediately() {
    run_with_virtual_time(async |host, _| {
        let integrator = TestReceiver::start(CannedResponse::error(7, "The user has left")).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let seq = active_chat.send_text("Hello?").await;
        // No time passes.
        let delivery = active_chat.final_delivery(seq).await;
        assert_eq!(delivery["state"], "failed");
        assert_eq!(delivery["error"], json!({"code": 7, "message": "The user has left"}));
        assert_eq!(delivery["attempts"].as_array().unwrap().len(), 1);
        assert_eq!(integrator.requests().len(), 1);
    });
}

#[test]
fn hidden_error_code_fails_the_message_without_its_text() {
    run_on_shared_host(async |host| {
        let integrator =
            TestReceiver::start_sequence([CannedResponse::error(7, "secret"), CannedResponse::error(8, "open")]).await;
        let settings = json!({"hidden_error_codes": [7]});
        let active_chat = ActiveChat::create(host, &integrator.url(), settings).await;
        let (hidden, open) = (active_chat.send_text("one").await, active_chat.send_text("two").await);
        let hidden = active_chat.final_delivery(hidden).await;
        assert_eq!(hidden["state"], "failed");
        assert!(!hidden.to_string().contains("secret"), "{hidden}");
        assert_eq!(active_chat.final_delivery(open).await["error"]["message"], "open");
    });
}

type FailingResponse = (&'static str, CannedResponse, Option<u16>);

/// Returns integrator responses that make an attempt time out, each with a name and the HTTP status that the attempt
/// records. The status is `None` if there is no response.
fn endless_responses() -> Vec<FailingResponse> {
    vec![("hangs", CannedResponse::Hang, None), ("drips", CannedResponse::SlowBody, Some(200))]
}

/// Returns other integrator responses that make an attempt fail.
fn failing_responses(redirect_target: &TestReceiver) -> Vec<FailingResponse> {
    let html = CannedResponse::Text(200, "text/html", "<h1>It works!</h1>".to_owned());
    vec![
        ("closes the connection", CannedResponse::CloseConnection, None),
        ("sends 10 MB", CannedResponse::LargeBody(10_000_000), Some(200)),
        ("redirects", CannedResponse::Redirect(redirect_target.url()), Some(302)),
        ("answers HTML", html, Some(200)),
        ("answers 503 with ok", CannedResponse::Json(503, json!({"result": "ok"})), Some(503)),
        ("answers 201 with ok", CannedResponse::Json(201, json!({"result": "ok"})), Some(201)),
        ("answers another result", CannedResponse::Json(200, json!({"result": "later"})), Some(200)),
        ("answers a list", CannedResponse::Json(200, json!([{"result": "ok"}])), Some(200)),
        ("answers nothing", CannedResponse::Text(200, "application/json", String::new()), Some(200)),
    ]
}

/// Sends a message to an integrator for each response, makes time pass by calling `attempts`, and checks that three
/// attempts are recorded.
async fn assert_three_recorded_attempts(
    host: &TestHost,
    responses: Vec<FailingResponse>,
    attempts: impl AsyncFnOnce(&[TestReceiver]),
) {
    let (mut cases, mut integrators) = (Vec::new(), Vec::new());
    for (name, response, status) in responses {
        let integrator = TestReceiver::start(response).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let seq = active_chat.send_text("Hello?").await;
        cases.push((name, status, active_chat, seq));
        integrators.push(integrator);
    }
    attempts(&integrators).await;
    for ((name, status, active_chat, seq), integrator) in cases.into_iter().zip(integrators) {
        assert_failed_after_three_attempts(name, &active_chat.final_delivery(seq).await, status);
        assert_eq!(integrator.requests().len(), 3, "{name}");
    }
}

#[test]
fn misbehaving_integrator_gets_three_recorded_attempts() {
    run_with_virtual_time(async |host, time| {
        let redirect_target = TestReceiver::start(CannedResponse::ok()).await;
        assert_three_recorded_attempts(host, failing_responses(&redirect_target), async |_| {
            time.run_until_failure_is_shown().await;
        })
        .await;
        assert_eq!(redirect_target.connections(), 0, "a redirect was followed");
        assert_three_recorded_attempts(host, endless_responses(), async |integrators| {
            for attempt in 1..=3 {
                for integrator in integrators {
                    integrator.wait_for_requests(attempt, WAIT_TIMEOUT).await;
                }
                time.advance(ATTEMPT_SPACING);
            }
        })
        .await;
    });
}

/// The attempts of this test are made in real time.
#[test]
fn unreachable_integrator_fails_after_three_attempts() {
    run_on_shared_host(async |host| {
        let closed_url = format!("http://127.0.0.1:{}/hook", unused_port().await);
        let active_chat = ActiveChat::create(host, &closed_url, json!({})).await;
        let sent_at = Instant::now();
        let seq = active_chat.send_text("Hello?").await;
        let delivery = active_chat.final_delivery(seq).await;
        assert_failed_after_three_attempts("dead", &delivery, None);
        assert_not_early(&delivery, sent_at.elapsed());
    });
}

#[test]
fn response_within_three_seconds_counts() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let release = integrator.respond_on_release(CannedResponse::ok());
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let seq = active_chat.send_text("Hello?").await;
        integrator.wait_for_requests(1, WAIT_TIMEOUT).await;
        time.advance(ATTEMPT_SPACING - Duration::from_millis(1));
        release.send_replace(());
        let delivery = active_chat.final_delivery(seq).await;
        assert_eq!(delivery["state"], "delivered");
        assert_eq!(delivery["attempts"].as_array().unwrap().len(), 1);
        assert_eq!(integrator.requests().len(), 1);
    });
}

#[test]
fn result_ok_is_case_insensitive() {
    run_on_shared_host(async |host| {
        let responses =
            ["ok", "OK", "Ok"].map(|result| CannedResponse::Json(200, json!({"result": result, "more": 1})));
        let integrator = TestReceiver::start_sequence(responses).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        for text in ["one", "two", "three"] {
            let seq = active_chat.send_text(text).await;
            assert_eq!(active_chat.final_delivery(seq).await["attempts"].as_array().unwrap().len(), 1);
        }
    });
}

#[test]
fn result_ok_inside_a_json_string_counts() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::Json(200, json!(r#"{"result":"ok"}"#))).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let seq = active_chat.send_text("Hello").await;
        let delivery = active_chat.final_delivery(seq).await;
        assert_eq!((&delivery["state"], integrator.requests().len()), (&json!("delivered"), 1), "{delivery}");
    });
}

#[test]
fn response_over_64_kb_is_judged_by_its_beginning() {
    run_on_shared_host(async |host| {
        let padded =
            |text: &str| CannedResponse::Text(200, "application/json", format!("{text}{}", " ".repeat(100_000)));
        let cases = [
            (json!({"validation": "lenient"}), CannedResponse::LargeBody(100_000), Value::Null),
            (json!({}), padded(r#"{"result":"ok"}"#), Value::Null),
            (
                json!({}),
                padded(r#"{"error":{"code":7,"message":"blocked"}}"#),
                json!({"code": 7, "message": "blocked"}),
            ),
        ];
        join_all(cases.map(async |(settings, response, error)| {
            let integrator = TestReceiver::start(response).await;
            let active_chat = ActiveChat::create(host, &integrator.url(), settings).await;
            let seq = active_chat.send_text("Hello").await;
            let delivery = active_chat.final_delivery(seq).await;
            assert_eq!((&delivery["error"], integrator.requests().len()), (&error, 1), "{delivery}");
        }))
        .await;
    });
}

#[test]
fn lenient_channel_accepts_any_2xx_and_shows_4xx_text() {
    run_on_shared_host(async |host| {
        let responses = [
            CannedResponse::Text(204, "text/plain", String::new()),
            CannedResponse::Text(200, "text/html", "<p>fine</p>".to_owned()),
            CannedResponse::error(3, "no such user"),
            CannedResponse::Text(422, "text/plain", "The user has left".to_owned()),
        ];
        let integrator = TestReceiver::start_sequence(responses).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({"validation": "lenient"})).await;
        let mut deliveries = Vec::new();
        for text in ["one", "two", "three", "four"] {
            let seq = active_chat.send_text(text).await;
            deliveries.push(active_chat.final_delivery(seq).await);
        }
        let states: Vec<_> = deliveries.iter().map(|delivery| delivery["state"].clone()).collect();
        assert_eq!(states, ["delivered", "delivered", "failed", "failed"]);
        assert_eq!(deliveries[2]["error"], json!({"code": 3, "message": "no such user"}));
        let shown = deliveries[3]["error"]["message"].as_str().unwrap();
        assert!(shown.contains("The user has left"), "{shown}");
        assert_eq!(integrator.requests().len(), 4, "no delivery has a second attempt");
    });
}

/// Returns the approximate size of a value in a DynamoDB item, in bytes.
fn value_bytes(value: &AttributeValue) -> usize {
    if let Ok(text) = value.as_s() {
        text.len()
    } else if let Ok(number) = value.as_n() {
        number.len() / 2 + 2
    } else if let Ok(map) = value.as_m() {
        3 + map.iter().map(|(name, value)| name.len() + value_bytes(value) + 1).sum::<usize>()
    } else if let Ok(list) = value.as_l() {
        3 + list.iter().map(|value| value_bytes(value) + 1).sum::<usize>()
    } else {
        1
    }
}

/// Pads an entry until only about `free_bytes` are left below DynamoDB's item size limit.
async fn fill_item(host: &TestHost, pk: String, seq: u64, free_bytes: usize) {
    let key = HashMap::from([
        ("pk".to_owned(), AttributeValue::S(pk)),
        ("sk".to_owned(), AttributeValue::S(format!("{seq:010}"))),
    ]);
    let tables = host.tables();
    let read = tables.get_item().table_name("Chats").set_key(Some(key.clone())).consistent_read(true);
    let item = read.send().await.unwrap().item.unwrap();
    let used: usize = item.iter().map(|(name, value)| name.len() + value_bytes(value)).sum();
    let padding = "x".repeat(400 * 1024 - used - "padding".len() - free_bytes);
    let change =
        tables.update_item().table_name("Chats").set_key(Some(key)).update_expression("SET padding = :padding");
    change.expression_attribute_values(":padding", AttributeValue::S(padding)).send().await.unwrap();
}

#[test]
fn unrecordable_attempt_ends_the_delivery() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({"validation": "lenient"})).await;
        let long = CannedResponse::Text(422, "text/plain", "x".repeat(500));
        let release = integrator.respond_on_release(long);
        let seq = active_chat.send_text("Hello").await;
        integrator.wait_for_requests(1, WAIT_TIMEOUT).await;
        let pk = format!("CHAT#{}#{}", active_chat.account.id.as_str().unwrap(), active_chat.number);
        // Leave enough room in the stored entry for the failure alone, but not for an attempt and a failure that
        // contain the integrator's response.
        fill_item(host, pk, seq, 450).await;
        release.send_replace(());
        let delivery = active_chat.final_delivery(seq).await;
        assert_eq!((&delivery["state"], &delivery["attempts"]), (&json!("failed"), &json!([])), "{delivery}");
        assert_eq!(delivery["attempts_left_out"], 1);
        assert_eq!(delivery["error"]["message"], "Not delivered: the attempt could not be recorded");
        assert_eq!(integrator.requests().len(), 1);
        let failures = active_chat.agent.client.get("/admin/deliveries").await.expect(200);
        assert_eq!(failures["deliveries"][0]["seq"], seq);
    });
}

#[test]
fn task_of_an_unknown_version_is_reported_as_failed() {
    run_on_shared_host(async |host| {
        let typing = json!({"kind": "typing", "account_id": "unknown", "chat_id": 1, "type": "typein", "at": 1});
        let record = |id: &str, version: u8| {
            let body = merged(typing.clone(), json!({"v": version}));
            json!({"messageId": id, "body": body.to_string(), "attributes": {}})
        };
        let batch = json!({"Records": [record("next version", 2), record("this version", 1)]});
        let response = host.local.invoke("deliver-channel", batch).await.unwrap();
        assert_eq!(response, json!({"batchItemFailures": [{"itemIdentifier": "next version"}]}));
    });
}

#[test]
fn retry_resends_a_failed_message() {
    run_on_shared_host(async |host| {
        let integrator =
            TestReceiver::start_sequence([CannedResponse::error(1, "not now"), CannedResponse::ok()]).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let seq = active_chat.send_text("Hello?").await;
        assert_eq!(active_chat.final_delivery(seq).await["state"], "failed");

        let retry = format!("/agent/chats/{}/messages/{seq}/retry", active_chat.number);
        active_chat.agent.client.post(&retry, &json!({})).await.expect(202);
        let delivery = active_chat.final_delivery(seq).await;
        assert_eq!(delivery["state"], "delivered");
        assert_eq!(delivery["attempts"].as_array().unwrap().len(), 2, "the delivery log keeps every attempt");
        let requests = integrator.requests();
        assert_eq!(requests.len(), 2);
        assert_eq!(requests[0].body, requests[1].body);
        active_chat.agent.client.post(&retry, &json!({})).await.expect_error(409, "conflict");
    });
}

#[test]
fn messages_of_a_chat_arrive_in_order() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let texts: Vec<String> = (1..=200).map(|n| format!("message {n}")).collect();
        for text in &texts {
            active_chat.send_text(text).await;
        }
        integrator.wait_for_requests(200, seconds(60)).await;
        assert_eq!(integrator.texts(), texts);
        wait_for("all shown as delivered", WAIT_TIMEOUT, async || {
            let timeline = active_chat.agent.timeline(active_chat.number).await;
            let open: Vec<_> = timeline
                .into_iter()
                .filter(|entry| entry["from"] == "agent" && entry["delivery"]["state"] != "delivered")
                .collect();
            if open.is_empty() { Ok(()) } else { Err(open) }
        })
        .await;
    });
}

#[test]
fn hanging_chat_does_not_delay_another_of_the_same_channel() {
    run_with_virtual_time(async |host, _| {
        let integrator = TestReceiver::start_sequence([CannedResponse::Hang, CannedResponse::ok()]).await;
        let account = host.create_account().await;
        let channel = account.create_channel(&integrator.url()).await;
        let hanging = open_accepted_chat(&account.admin, &channel, "hanging").await;
        let healthy = open_accepted_chat(&account.admin, &channel, "healthy").await;
        account.admin.send_text(hanging, "hangs").await;
        integrator.wait_for_requests(1, WAIT_TIMEOUT).await;
        // No time passes.
        for n in 2..=6 {
            account.admin.send_text(healthy, "passes").await;
            integrator.wait_for_requests(n, WAIT_TIMEOUT).await;
        }
    });
}

#[test]
fn failing_channels_do_not_delay_a_healthy_one() {
    run_with_virtual_time(async |host, _| {
        let (hanging, healthy) =
            (TestReceiver::start(CannedResponse::Hang).await, TestReceiver::start(CannedResponse::ok()).await);
        let closed_url = format!("http://127.0.0.1:{}", unused_port().await);
        let account = host.create_account().await;
        let mut failing_chats = Vec::new();
        for url in [&hanging.url(), &closed_url] {
            let channel = account.create_channel(url).await;
            for visitor in ["a", "b", "c", "d"] {
                failing_chats.push(open_accepted_chat(&account.admin, &channel, visitor).await);
            }
        }
        let channel = account.create_channel(&healthy.url()).await;
        let chat = open_accepted_chat(&account.admin, &channel, VISITOR_ID).await;
        for chat in &failing_chats {
            account.admin.send_text(*chat, "stuck").await;
        }
        hanging.wait_for_requests(4, WAIT_TIMEOUT).await;
        // No time passes.
        for n in 1..=5 {
            account.admin.send_text(chat, "passes").await;
            healthy.wait_for_requests(n, WAIT_TIMEOUT).await;
        }
    });
}

#[test]
fn every_message_of_a_burst_has_three_attempts_at_a_hanging_integrator() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start(CannedResponse::Hang).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let mut sent = Vec::new();
        for n in 1..=10 {
            sent.push(active_chat.send_text(&format!("message {n}")).await);
        }
        // The first attempt of the first message delays the other messages. From then on, nothing waits for its turn.
        time.time_out_requests(&integrator, [1, 1 + 10, 1 + 20, 1 + 29]).await;
        for seq in sent {
            let delivery = active_chat.final_delivery(seq).await;
            assert_eq!(delivery["state"], "failed");
            assert_eq!(delivery["attempts"].as_array().unwrap().len(), 3, "{delivery}");
        }
    });
}

#[test]
fn order_is_restored_after_the_integrator_recovers() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start(CannedResponse::Json(500, json!({}))).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let lost = active_chat.send_text("lost").await;
        time.run_until_failure_is_shown().await;
        assert_eq!(active_chat.final_delivery(lost).await["state"], "failed");
        integrator.respond_with(CannedResponse::ok());
        let first = active_chat.send_text("back").await;
        assert_eq!(active_chat.final_delivery(first).await["state"], "delivered");

        let before = integrator.requests().len();
        let texts: Vec<String> = (1..=20).map(|n| format!("message {n}")).collect();
        for text in &texts {
            active_chat.send_text(text).await;
        }
        integrator.wait_for_requests(before + 20, WAIT_TIMEOUT).await;
        assert_eq!(integrator.texts().split_off(before), texts);
    });
}

async fn first_request(account: &TestAccount, integrator: &TestReceiver, channel: &TestChannel) -> ReceivedRequest {
    let chat = open_accepted_chat(&account.admin, channel, VISITOR_ID).await;
    account.admin.send_text(chat, "Hello, café 🎈").await;
    integrator.wait_for_requests(1, WAIT_TIMEOUT).await.remove(0)
}

#[test]
fn channel_setting_selects_content_length_or_chunks() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        for chunked in [false, true] {
            let integrator = TestReceiver::start(CannedResponse::ok()).await;
            let channel = account.create_channel_with(&integrator.url(), json!({"chunked": chunked})).await;
            let request = first_request(&account, &integrator, &channel).await;
            let length = request.body.len().to_string();
            let expected = if chunked { (Some("chunked"), None) } else { (None, Some(&*length)) };
            assert_eq!((request.header("transfer-encoding"), request.header("content-length")), expected);
            assert_eq!(request.text(), "Hello, café 🎈");
            assert_eq!(request.header("content-type"), Some("application/json; charset=utf-8"));
            assert!(request.header("user-agent").is_some_and(|agent| agent.starts_with("Switchboard")));
        }
    });
}

#[test]
fn query_of_the_integrator_url_follows_the_channel_id() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        for (suffix, expected) in [("", ""), ("/", ""), ("?key=1&b=%20", "?key=1&b=%20")] {
            let integrator = TestReceiver::start(CannedResponse::ok()).await;
            let channel = account.create_channel(&format!("{}{suffix}", integrator.url())).await;
            let request = first_request(&account, &integrator, &channel).await;
            assert_eq!(request.path, format!("/hook/{}{expected}", channel.id));
        }
    });
}

#[test]
fn attempts_are_signed_and_share_one_webhook_id() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start_sequence([CannedResponse::CloseConnection, CannedResponse::ok()]).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let seq = active_chat.send_text("Hello?").await;
        time.run_until_queues_are_empty().await;
        assert_eq!(active_chat.final_delivery(seq).await["state"], "delivered");

        let secret = &active_chat.channel.signing_secret;
        let requests = integrator.requests();
        let ids: Vec<_> = requests.iter().map(|request| request.header("webhook-id")).collect();
        assert!(ids[0].is_some());
        assert_eq!(ids, [ids[0]; 2]);
        assert!(requests.iter().all(|request| request.is_signed_with(secret)));
        let mut forged = requests[0].clone();
        forged.body.push(b' ');
        assert!(!forged.is_signed_with(secret));
        let other = active_chat.account.create_channel(&integrator.url()).await;
        assert_ne!(&other.signing_secret, secret);
    });
}
