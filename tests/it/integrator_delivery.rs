//! Agents' messages on their way to the integrator: tries, verdicts, order, framing, signature.

use std::time::{Duration, Instant};

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::domain::timestamp::Timestamp;
use standardwebhooks::Webhook;

use crate::client::{Account, Channel, merged, number};
use crate::harness::{Conversation, Stage, VISITOR, alone_on_stage, on_stage, open_chat, timed_on_stage};
use crate::receiver::{Answer, Receiver, Request, dead_port};
use crate::wait::{PATIENCE, seconds, wait_for};

/// How far from its slot a try may start on an idle machine.
const SLOT: Duration = Duration::from_millis(300);

/// Has a message delivered, so that every function has been started before time is measured.
async fn warm_up(talk: &Conversation) {
    let seq = talk.write("so that every function has been started").await;
    assert_eq!(talk.verdict(seq).await["state"], "delivered");
}

/// The three tries of a message began in their slots, and its failure was shown when the last one had had its time.
#[track_caller]
fn check_slots(tries: &[Duration], shown: Duration) {
    assert!((seconds(9)..=seconds(10)).contains(&shown), "shown after {shown:?}");
    assert_eq!(tries.len(), 3, "{tries:?}");
    for (start, slot) in tries.iter().zip([0, 3, 6]) {
        assert!(start.abs_diff(seconds(slot)) <= SLOT, "{tries:?}");
    }
}

#[test]
fn a_failing_integrator_is_tried_at_0_3_and_6_seconds_and_shown_at_9() {
    timed_on_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        warm_up(&talk).await;

        integrator.answer(Answer::Json(500, json!({})));
        let written = Instant::now();
        let seq = talk.write("Hello?").await;
        let delivery = talk.verdict(seq).await;
        let shown = written.elapsed();

        assert_eq!(delivery["state"], "failed");
        assert!(delivery["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{delivery}");
        let attempts = delivery["attempts"].as_array().unwrap();
        assert!(attempts.iter().all(|attempt| attempt["status"] == 500), "{attempts:#?}");
        let tries: Vec<Duration> = integrator.requests().iter().skip(1).map(|request| request.at - written).collect();
        assert_eq!((tries.len(), attempts.len()), (3, 3), "{tries:?} {attempts:#?}");
        check_slots(&tries, shown);
    });
}

#[test]
fn an_integrator_that_comes_back_between_tries_gets_the_message_once() {
    timed_on_stage(async |stage| {
        let integrator = Receiver::start_with([Answer::Close, Answer::ok()]).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let seq = talk.write("Hello?").await;
        let delivery = talk.verdict(seq).await;
        assert_eq!(delivery["state"], "delivered");
        assert_eq!(delivery["attempts"].as_array().unwrap().len(), 2);
        assert_eq!(delivery["error"], Value::Null);
        let requests = integrator.requests();
        assert_eq!(requests.len(), 2);
        assert_eq!(requests[0].body, requests[1].body);
        let apart = requests[1].at - requests[0].at;
        assert!(apart.abs_diff(seconds(3)) < seconds(1), "{apart:?}");
    });
}

#[test]
fn an_error_of_the_integrator_is_final_and_shown_at_once() {
    timed_on_stage(async |stage| {
        let integrator = Receiver::start(Answer::error(7, "The user has left")).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let written = Instant::now();
        let seq = talk.write("Hello?").await;
        let delivery = talk.verdict(seq).await;
        assert!(written.elapsed() < seconds(2), "{:?}", written.elapsed());
        assert_eq!(delivery["state"], "failed");
        assert_eq!(delivery["error"], json!({"code": 7, "message": "The user has left"}));
        assert_eq!(delivery["attempts"].as_array().unwrap().len(), 1);
        assert_eq!(integrator.requests().len(), 1);
    });
}

#[test]
fn a_hidden_error_code_fails_the_message_without_its_words() {
    on_stage(async |stage| {
        let integrator = Receiver::start_with([Answer::error(7, "secret"), Answer::error(8, "open")]).await;
        let settings = json!({"hidden_error_codes": [7]});
        let talk = Conversation::open(stage, &integrator.url(), settings).await;
        let (hidden, open) = (talk.write("one").await, talk.write("two").await);
        let hidden = talk.verdict(hidden).await;
        assert_eq!(hidden["state"], "failed");
        assert!(!hidden.to_string().contains("secret"), "{hidden}");
        assert_eq!(talk.verdict(open).await["error"]["message"], "open");
    });
}

/// What an integrator that misbehaves does, and whether a try sees a status.
fn misbehaviours(elsewhere: &Receiver) -> Vec<(&'static str, Answer, Option<u16>)> {
    let html = Answer::Text(200, "text/html", "<h1>It works!</h1>".to_owned());
    vec![
        ("hangs", Answer::Hang, None),
        ("drips", Answer::Drip, Some(200)),
        ("closes the connection", Answer::Close, None),
        ("sends 10 MB", Answer::Flood(10_000_000), Some(200)),
        ("redirects", Answer::Redirect(elsewhere.url()), Some(302)),
        ("answers HTML", html, Some(200)),
        ("answers 503 with ok", Answer::Json(503, json!({"result": "ok"})), Some(503)),
        ("answers 201 with ok", Answer::Json(201, json!({"result": "ok"})), Some(201)),
        ("answers another result", Answer::Json(200, json!({"result": "later"})), Some(200)),
        ("answers a list", Answer::Json(200, json!([{"result": "ok"}])), Some(200)),
        ("answers nothing", Answer::Text(200, "application/json", String::new()), Some(200)),
    ]
}

#[test]
fn an_integrator_that_misbehaves_is_bounded_and_every_try_is_recorded() {
    alone_on_stage(async |stage| {
        let elsewhere = Receiver::start(Answer::ok()).await;
        let account = stage.account().await;
        let cases = join_all(misbehaviours(&elsewhere).into_iter().map(async |(name, answer, status)| {
            let integrator = Receiver::start(Answer::ok()).await;
            let channel = account.channel(&integrator.url()).await;
            (name, answer, integrator, channel, status)
        }))
        .await;
        let mut chats = Vec::new();
        for (.., channel, _) in &cases {
            chats.push(open_chat(&account.admin, channel, VISITOR).await);
        }
        // As many at once as below, so that all processes have been started.
        join_all(cases.iter().zip(&chats).map(async |((name, answer, integrator, ..), chat)| {
            let seq = account.admin.write(*chat, "Hello").await;
            assert_eq!(account.admin.verdict(*chat, seq).await["state"], "delivered", "{name}");
            integrator.answer(answer.clone());
        }))
        .await;
        join_all(cases.iter().zip(chats).map(async |((name, _, integrator, _, status), chat)| {
            let written = Instant::now();
            let seq = account.admin.write(chat, "Hello?").await;
            let delivery = account.admin.verdict(chat, seq).await;
            assert!(written.elapsed() < seconds(10), "{name}: {:?}", written.elapsed());
            check_exhausted(name, &delivery, *status);
            assert_eq!(integrator.requests().len(), 1 + 3, "{name}");
        }))
        .await;
        assert_eq!(elsewhere.connections(), 0, "a redirect was followed");
    });
}

/// Failed after three tries, each with its status or the lack of one, its duration and its reason.
fn check_exhausted(name: &str, delivery: &Value, status: Option<u16>) {
    assert_eq!(delivery["state"], "failed", "{name}");
    assert!(delivery["error"]["message"].is_string(), "{name}: {delivery}");
    let attempts = delivery["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 3, "{name}: {attempts:#?}");
    for attempt in attempts {
        assert!(number(&attempt["ms"]) < 3_300, "{name}: {attempt}");
        assert_eq!(attempt["status"].as_u64(), status.map(u64::from), "{name}: {attempt}");
        assert!(attempt["error"].as_str().is_some_and(|text| !text.is_empty()), "{name}: {attempt}");
    }
}

#[test]
fn an_integrator_that_is_not_there_fails_the_message_after_three_tries() {
    timed_on_stage(async |stage| {
        // Nothing arrives where nobody is, so another conversation starts the functions.
        let integrator = Receiver::start(Answer::ok()).await;
        warm_up(&Conversation::open(stage, &integrator.url(), json!({})).await).await;
        let nowhere = format!("http://127.0.0.1:{}/hook", dead_port().await);
        let talk = Conversation::open(stage, &nowhere, json!({})).await;

        let (written, clock) = (Instant::now(), shared::runtime::clock::now());
        let seq = talk.write("Hello?").await;
        let delivery = talk.verdict(seq).await;
        let shown = written.elapsed();

        check_exhausted("dead", &delivery, None);
        // Nobody else has seen the tries: their times are the ledger's own.
        let began = |attempt: &Value| Timestamp(number(&attempt["at"])).since(clock);
        let tries: Vec<Duration> = delivery["attempts"].as_array().unwrap().iter().map(began).collect();
        check_slots(&tries, shown);
    });
}

#[test]
fn an_answer_that_takes_less_than_three_seconds_counts() {
    timed_on_stage(async |stage| {
        let slow = Answer::After(Duration::from_millis(2_300), Box::new(Answer::ok()));
        let integrator = Receiver::start(slow).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let seq = talk.write("Hello?").await;
        let delivery = talk.verdict(seq).await;
        assert_eq!(delivery["state"], "delivered");
        assert_eq!(delivery["attempts"].as_array().unwrap().len(), 1);
        assert_eq!(integrator.requests().len(), 1);
    });
}

#[test]
fn result_ok_is_read_in_any_case() {
    on_stage(async |stage| {
        let answers = ["ok", "OK", "Ok"].map(|result| Answer::Json(200, json!({"result": result, "more": 1})));
        let integrator = Receiver::start_with(answers).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        for text in ["one", "two", "three"] {
            let seq = talk.write(text).await;
            assert_eq!(talk.verdict(seq).await["attempts"].as_array().unwrap().len(), 1);
        }
    });
}

#[test]
fn an_ok_inside_a_json_string_counts_as_one() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::Json(200, json!(r#"{"result":"ok"}"#))).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let seq = talk.write("Hello").await;
        let delivery = talk.verdict(seq).await;
        assert_eq!((&delivery["state"], integrator.requests().len()), (&json!("delivered"), 1), "{delivery}");
    });
}

#[test]
fn an_answer_over_64_kb_is_judged_by_its_beginning() {
    on_stage(async |stage| {
        let padded = |text: &str| Answer::Text(200, "application/json", format!("{text}{}", " ".repeat(100_000)));
        let cases = [
            (json!({"validation": "lenient"}), Answer::Flood(100_000), Value::Null),
            (json!({}), padded(r#"{"result":"ok"}"#), Value::Null),
            (
                json!({}),
                padded(r#"{"error":{"code":7,"message":"blocked"}}"#),
                json!({"code": 7, "message": "blocked"}),
            ),
        ];
        join_all(cases.map(async |(settings, answer, error)| {
            let integrator = Receiver::start(answer).await;
            let talk = Conversation::open(stage, &integrator.url(), settings).await;
            let seq = talk.write("Hello").await;
            let delivery = talk.verdict(seq).await;
            assert_eq!((&delivery["error"], integrator.requests().len()), (&error, 1), "{delivery}");
        }))
        .await;
    });
}

#[test]
fn a_lenient_channel_takes_any_2xx_and_shows_the_text_of_a_4xx() {
    on_stage(async |stage| {
        let answers = [
            Answer::Text(204, "text/plain", String::new()),
            Answer::Text(200, "text/html", "<p>fine</p>".to_owned()),
            Answer::error(3, "no such user"),
            Answer::Text(422, "text/plain", "The user has left".to_owned()),
        ];
        let integrator = Receiver::start_with(answers).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({"validation": "lenient"})).await;
        let mut verdicts = Vec::new();
        for text in ["one", "two", "three", "four"] {
            let seq = talk.write(text).await;
            verdicts.push(talk.verdict(seq).await);
        }
        let states: Vec<_> = verdicts.iter().map(|delivery| delivery["state"].clone()).collect();
        assert_eq!(states, ["delivered", "delivered", "failed", "failed"]);
        assert_eq!(verdicts[2]["error"], json!({"code": 3, "message": "no such user"}));
        let shown = verdicts[3]["error"]["message"].as_str().unwrap();
        assert!(shown.contains("The user has left"), "{shown}");
        assert_eq!(integrator.requests().len(), 4, "none of them is tried twice");
    });
}

/// Leaves an entry of the Chats table this many bytes of the 400 KB that an item may have.
async fn fill_up(stage: &Stage, pk: String, seq: u64, room: usize) {
    let tables = stage.tables();
    let pad = async |bytes: usize| {
        let (pk, sk) = (AttributeValue::S(pk.clone()), AttributeValue::S(format!("{seq:010}")));
        let change = tables.update_item().table_name("Chats").key("pk", pk).key("sk", sk);
        let padding = AttributeValue::S("x".repeat(bytes));
        let change =
            change.update_expression("SET padding = :padding").expression_attribute_values(":padding", padding);
        change.send().await.is_ok()
    };
    let (mut fits, mut too_much) = (0, 400 * 1024);
    assert!(pad(fits).await && !pad(too_much).await);
    while too_much - fits > 1 {
        let middle = usize::midpoint(fits, too_much);
        if pad(middle).await { fits = middle } else { too_much = middle }
    }
    assert!(pad(fits - room).await);
}

#[test]
fn an_attempt_that_cannot_be_recorded_ends_the_delivery() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({"validation": "lenient"})).await;
        let long = Answer::Text(422, "text/plain", "x".repeat(500));
        let release = integrator.answer_when_told(long);
        let seq = talk.write("Hello").await;
        integrator.received(1, PATIENCE).await;
        let pk = format!("CHAT#{}#{}", talk.account.id.as_str().unwrap(), talk.chat);
        fill_up(stage, pk, seq, 300).await;
        release.send_replace(());
        let delivery = talk.verdict(seq).await;
        assert_eq!((&delivery["state"], &delivery["attempts"]), (&json!("failed"), &json!([])), "{delivery}");
        assert_eq!(delivery["attempts_left_out"], 1);
        assert_eq!(delivery["error"]["message"], "Not delivered: the attempt could not be recorded");
        assert_eq!(integrator.requests().len(), 1);
        let failures = talk.agent.call.get("/admin/deliveries").await.expect(200);
        assert_eq!(failures["deliveries"][0]["seq"], seq);
    });
}

#[test]
fn a_task_that_no_function_can_read_is_reported_as_failed() {
    on_stage(async |stage| {
        let typing = json!({"kind": "typing", "account_id": "gone", "chat_id": 1, "type": "typein", "at": 1});
        let record = |id: &str, version: u8| {
            let body = merged(typing.clone(), json!({"v": version}));
            json!({"messageId": id, "body": body.to_string(), "attributes": {}})
        };
        let batch = json!({"Records": [record("next version", 2), record("this version", 1)]});
        let answer = stage.host.invoke("deliver-channel", batch).await.unwrap();
        assert_eq!(answer, json!({"batchItemFailures": [{"itemIdentifier": "next version"}]}));
    });
}

#[test]
fn retry_sends_a_failed_message_again() {
    on_stage(async |stage| {
        let integrator = Receiver::start_with([Answer::error(1, "not now"), Answer::ok()]).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let seq = talk.write("Hello?").await;
        assert_eq!(talk.verdict(seq).await["state"], "failed");

        let retry = format!("/agent/chats/{}/messages/{seq}/retry", talk.chat);
        talk.agent.call.post(&retry, &json!({})).await.expect(202);
        let delivery = talk.verdict(seq).await;
        assert_eq!(delivery["state"], "delivered");
        assert_eq!(delivery["attempts"].as_array().unwrap().len(), 2, "the ledger keeps every try");
        let requests = integrator.requests();
        assert_eq!(requests.len(), 2);
        assert_eq!(requests[0].body, requests[1].body);
        talk.agent.call.post(&retry, &json!({})).await.expect_error(409, "conflict");
    });
}

#[test]
fn two_hundred_messages_arrive_in_the_order_they_were_written() {
    alone_on_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let texts: Vec<String> = (1..=200).map(|n| format!("message {n}")).collect();
        for text in &texts {
            talk.write(text).await;
        }
        integrator.received(200, seconds(60)).await;
        assert_eq!(integrator.texts(), texts);
        wait_for("all shown as delivered", PATIENCE, async || {
            let timeline = talk.agent.messages(talk.chat).await;
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
fn a_hanging_chat_does_not_delay_another_of_the_same_channel() {
    timed_on_stage(async |stage| {
        let integrator = Receiver::start_with([Answer::Hang, Answer::ok()]).await;
        let account = stage.account().await;
        let channel = account.channel(&integrator.url()).await;
        let hanging = open_chat(&account.admin, &channel, "hanging").await;
        let healthy = open_chat(&account.admin, &channel, "healthy").await;
        account.admin.write(hanging, "hangs").await;
        integrator.received(1, seconds(3)).await;
        for n in 2..=6 {
            let written = Instant::now();
            account.admin.write(healthy, "passes").await;
            let arrived = integrator.received(n, seconds(2)).await[n - 1].at;
            assert!(arrived - written < seconds(1), "{:?}", arrived - written);
        }
    });
}

#[test]
fn many_hanging_and_dead_channels_do_not_delay_a_healthy_one() {
    alone_on_stage(async |stage| {
        let (hanging, healthy) = (Receiver::start(Answer::Hang).await, Receiver::start(Answer::ok()).await);
        let dead = format!("http://127.0.0.1:{}", dead_port().await);
        let account = stage.account().await;
        let mut troubled = Vec::new();
        for url in [&hanging.url(), &dead] {
            let channel = account.channel(url).await;
            for visitor in ["a", "b", "c", "d"] {
                troubled.push(open_chat(&account.admin, &channel, visitor).await);
            }
        }
        let channel = account.channel(&healthy.url()).await;
        let chat = open_chat(&account.admin, &channel, VISITOR).await;
        for chat in &troubled {
            account.admin.write(*chat, "stuck").await;
        }
        hanging.received(4, seconds(3)).await;
        for n in 1..=5 {
            let written = Instant::now();
            account.admin.write(chat, "passes").await;
            let arrived = healthy.received(n, seconds(2)).await[n - 1].at;
            assert!(arrived - written < seconds(1), "{:?}", arrived - written);
        }
    });
}

#[test]
fn ten_messages_to_a_hanging_integrator_all_have_a_verdict_within_ten_seconds() {
    alone_on_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        warm_up(&talk).await;
        integrator.answer(Answer::Hang);
        let mut written = Vec::new();
        for n in 1..=10 {
            let at = Instant::now();
            written.push((talk.write(&format!("message {n}")).await, at));
        }
        let first = written[0].1;
        assert!(first.elapsed() < seconds(3), "written in {:?}: the first try is over", first.elapsed());
        let waits = join_all(written.iter().map(async |(seq, at)| {
            let delivery = talk.verdict(*seq).await;
            (delivery, at.elapsed())
        }))
        .await;
        for (delivery, waited) in waits {
            assert_eq!(delivery["state"], "failed");
            assert!(waited < seconds(10), "a verdict after {waited:?}");
            let attempts = delivery["attempts"].as_array().unwrap().len();
            assert!((1..=3).contains(&attempts), "{attempts}");
        }
    });
}

#[test]
fn a_chat_is_in_order_again_after_its_integrator_recovered() {
    timed_on_stage(async |stage| {
        let integrator = Receiver::start(Answer::Json(500, json!({}))).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let lost = talk.write("lost").await;
        assert_eq!(talk.verdict(lost).await["state"], "failed");
        integrator.answer(Answer::ok());
        let first = talk.write("back").await;
        assert_eq!(talk.verdict(first).await["state"], "delivered");

        let before = integrator.requests().len();
        let texts: Vec<String> = (1..=20).map(|n| format!("message {n}")).collect();
        for text in &texts {
            talk.write(text).await;
        }
        integrator.received(before + 20, PATIENCE).await;
        assert_eq!(integrator.texts().split_off(before), texts);
    });
}

async fn one_request(account: &Account, integrator: &Receiver, channel: &Channel) -> Request {
    let chat = open_chat(&account.admin, channel, VISITOR).await;
    account.admin.write(chat, "Hello, café 🎈").await;
    integrator.received(1, PATIENCE).await.remove(0)
}

#[test]
fn the_channel_decides_between_content_length_and_chunks() {
    on_stage(async |stage| {
        let account = stage.account().await;
        for chunked in [false, true] {
            let integrator = Receiver::start(Answer::ok()).await;
            let channel = account.channel_with(&integrator.url(), json!({"chunked": chunked})).await;
            let request = one_request(&account, &integrator, &channel).await;
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
fn an_integrator_url_with_a_query_keeps_it_behind_the_channel_id() {
    on_stage(async |stage| {
        let account = stage.account().await;
        for (suffix, expected) in [("", ""), ("/", ""), ("?key=1&b=%20", "?key=1&b=%20")] {
            let integrator = Receiver::start(Answer::ok()).await;
            let channel = account.channel(&format!("{}{suffix}", integrator.url())).await;
            let request = one_request(&account, &integrator, &channel).await;
            assert_eq!(request.path, format!("/hook/{}{expected}", channel.id));
        }
    });
}

#[test]
fn every_try_is_signed_and_carries_the_same_webhook_id() {
    on_stage(async |stage| {
        let integrator = Receiver::start_with([Answer::Close, Answer::ok()]).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let seq = talk.write("Hello?").await;
        assert_eq!(talk.verdict(seq).await["state"], "delivered");

        let webhook = Webhook::new(&talk.channel.signing_secret).unwrap();
        let requests = integrator.requests();
        let ids: Vec<_> = requests.iter().map(|request| request.header("webhook-id")).collect();
        assert!(ids[0].is_some());
        assert_eq!(ids, [ids[0]; 2]);
        for request in &requests {
            webhook.verify(&request.body, &request.header_map()).expect("the signature is right");
        }
        let mut forged = requests[0].body.clone();
        forged.push(b' ');
        assert!(webhook.verify(&forged, &requests[0].header_map()).is_err());
        let other = talk.account.channel(&integrator.url()).await;
        assert_ne!(other.signing_secret, talk.channel.signing_secret);
    });
}
