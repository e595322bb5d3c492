//! Tests for the trace context (W3C Trace Context): what a request causes continues its trace, in the headers of every
//! attempt, in the logs, and in the spans that are exported.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::account_with_webhook::{add_webhook, ok_response, wait_for_event};
use crate::support::api_client::{ApiClient, send};
use crate::support::bot_fixture::BotFixture;
use crate::support::call_fixture::CallFixture;
use crate::support::test_host::{
    ActiveChat, TestHost, VISITOR_ID, run_on_own_host, run_on_own_host_with_collector, run_on_shared_host,
    run_with_virtual_time, visitor_text,
};
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

const TRACE_ID: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN_ID: &str = "b7ad6b7169203331";
const TRACESTATE: &str = "shop=checkout-7,other=1";

fn traceparent() -> String {
    format!("00-{TRACE_ID}-{SPAN_ID}-01")
}

async fn post_traced(client: &ApiClient, target: &str, traceparent: &str, body: &Value) {
    let request = client.request(Method::POST, target).json(body);
    let response = send(request.header("traceparent", traceparent).header("tracestate", TRACESTATE)).await;
    assert!(matches!(response.status, 200 | 201), "{response:?}");
}

/// Returns the trace id, the span id and the flags that the request contains.
#[track_caller]
fn context(request: &ReceivedRequest) -> (String, String, String) {
    let sent = request.header("traceparent").unwrap();
    let [version, trace_id, span_id, flags] = sent.split('-').collect::<Vec<_>>().try_into().unwrap();
    let is_hex = |id: &str| id.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    assert!(version == "00" && trace_id.len() == 32 && span_id.len() == 16 && flags.len() == 2, "{sent}");
    assert!(is_hex(trace_id) && is_hex(span_id) && is_hex(flags), "{sent}");
    (trace_id.to_owned(), span_id.to_owned(), flags.to_owned())
}

/// Checks that the requests belong to the trace of the tests, and that each is a span of its own.
#[track_caller]
fn assert_continued(requests: &[ReceivedRequest]) {
    let mut span_ids = BTreeSet::from([SPAN_ID.to_owned()]);
    for request in requests {
        let (trace_id, span_id, flags) = context(request);
        assert_eq!((&*trace_id, &*flags, request.header("tracestate")), (TRACE_ID, "01", Some(TRACESTATE)));
        assert!(span_ids.insert(span_id.clone()), "the span {span_id} is repeated");
    }
}

fn log_lines(host: &TestHost) -> Vec<(String, Value)> {
    let log = host.log.lock().unwrap();
    log.iter().map(|line| (line.function.clone(), serde_json::from_str(&line.line).unwrap())).collect()
}

#[test]
fn each_attempt_is_a_span_of_the_requests_trace() {
    run_with_virtual_time(async |host, time| {
        let failure = CannedResponse::Json(500, json!({}));
        let integrator = TestReceiver::start_sequence([failure.clone(), failure, CannedResponse::ok()]).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let path = format!("/agent/chats/{}/messages", active_chat.number);
        post_traced(&active_chat.agent.client, &path, &traceparent(), &json!({"type": "text", "text": "Hi"})).await;
        time.run_until_queues_are_empty().await;
        let requests = integrator.requests();
        assert_eq!(requests.len(), 3);
        assert_continued(&requests);

        let lines = log_lines(host);
        for function in ["agent-send-message", "deliver-channel"] {
            let lines: Vec<_> = lines.iter().filter(|(name, _)| name == function).map(|(_, line)| line).collect();
            let of_trace = |line: &Value| line["trace_id"] == TRACE_ID || line["span"]["trace_id"] == TRACE_ID;
            let events: Vec<_> = lines.iter().filter(|line| line["_aws"].is_null()).collect();
            assert!(!events.is_empty() && events.iter().all(|line| of_trace(line)), "{function}: {lines:#?}");
        }
        assert!(lines.iter().all(|(_, line)| !line.to_string().contains("checkout-7")), "the log contains tracestate");
    });
}

#[test]
fn invalid_trace_context_starts_a_new_trace() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let path = format!("/agent/chats/{}/messages", active_chat.number);
        let agent = &active_chat.agent.client;
        let mut trace_ids = BTreeSet::new();
        let too_long = format!("{}-00", traceparent());
        for (index, invalid) in ["00-7", &*too_long, &traceparent().to_uppercase()].into_iter().enumerate() {
            post_traced(agent, &path, invalid, &json!({"type": "text", "text": "Hi"})).await;
            let requests = integrator.wait_for_requests(index + 1, WAIT_TIMEOUT).await;
            let (trace_id, _, flags) = context(&requests[index]);
            assert_eq!((&*flags, requests[index].header("tracestate")), ("02", None), "random and not sampled");
            assert!(trace_id != TRACE_ID && trace_ids.insert(trace_id));
        }
        active_chat.send_text("without headers").await;
        let requests = integrator.wait_for_requests(4, WAIT_TIMEOUT).await;
        assert!(trace_ids.insert(context(&requests[3]).0));
    });
}

#[test]
fn one_trace_goes_from_the_visitor_through_the_bot() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let webhook = TestReceiver::start(ok_response()).await;
        add_webhook(&fixture.account, &webhook, json!({"events": ["chat_opened", "chat_finished"]})).await;
        let channel = &fixture.channel;
        post_traced(&channel.client, &channel.endpoint, &traceparent(), &visitor_text(VISITOR_ID, "Hello")).await;
        let event = fixture.wait_for_event("CLIENT_MESSAGE").await;
        wait_for_event(&webhook, "chat_opened").await;
        let requests = [fixture.provider.requests(), webhook.requests()].concat();
        assert_continued(&requests);

        // The bot answers as a service does that continues the trace, with a span of its own.
        let answer = json!({
            "event": "BOT_MESSAGE", "id": "1", "chat_id": event["chat_id"], "message": {"type": "TEXT", "text": "Hi!"},
        });
        let of_bot = format!("00-{TRACE_ID}-00f067aa0ba902b7-01");
        post_traced(&fixture.bot.client, &fixture.bot.webhook_path(), &of_bot, &answer).await;
        let answers = fixture.integrator.wait_for_requests(1, WAIT_TIMEOUT).await;
        assert_continued(&[requests, answers].concat());
    });
}

#[test]
fn call_order_continues_the_trace() {
    run_on_shared_host(async |host| {
        let fixture = CallFixture::create(host).await;
        fixture.ordered_callback().await;
        let (trace_id, ..) = context(&fixture.provider.requests()[0]);
        let events = fixture.webhook_receiver.wait_for_requests(1, WAIT_TIMEOUT).await;
        assert_eq!(context(&events[0]).0, trace_id);
    });
}

#[test]
fn spans_are_exported_without_text() {
    run_on_own_host_with_collector(async |host, collector| {
        let account = host.create_account().await;
        let webhook = TestReceiver::start(ok_response()).await;
        add_webhook(&account, &webhook, json!({"events": ["chat_opened"]})).await;
        let channel = account.create_channel("https://app.example/hook").await;
        let text = "text-of-the-visitor";
        post_traced(&channel.client, &channel.endpoint, &traceparent(), &visitor_text(VISITOR_ID, text)).await;
        wait_for_event(&webhook, "chat_opened").await;
        let (_, span_id, _) = context(&webhook.requests()[0]);
        let exports = wait_for("the span of the attempt", WAIT_TIMEOUT, async || {
            let exports = collector.requests();
            let is_exported = exports.iter().any(|export| contains(export, &bytes(&span_id)));
            if is_exported { Ok(exports) } else { Err(exports.len()) }
        })
        .await;
        assert!(exports.iter().all(|export| export.path == "/v1/traces"));
        let of_trace: Vec<_> = exports.iter().filter(|export| contains(export, &bytes(TRACE_ID))).collect();
        for part in ["ANY /channel/{secret}", "process ", "switchboard.task"] {
            assert!(of_trace.iter().any(|export| contains(export, part.as_bytes())), "no {part}");
        }
        let secret = channel.endpoint.split('/').rev().nth(1).unwrap();
        for hidden in [text, VISITOR_ID, secret, &webhook.url()] {
            assert!(!exports.iter().any(|export| contains(export, hidden.as_bytes())), "{hidden} is exported");
        }
    });
}

fn contains(export: &ReceivedRequest, part: &[u8]) -> bool {
    export.body.windows(part.len()).any(|window| window == part)
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn missing_collector_fails_no_request() {
    // Nothing listens on this port.
    run_on_own_host(&[("OtlpEndpoint", "http://127.0.0.1:1")], async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let seq = active_chat.send_text("Hello").await;
        assert_eq!(active_chat.final_delivery(seq).await["state"], "delivered");
        let (_, _, flags) = context(&integrator.requests()[0]);
        assert_eq!(flags, "03", "random and sampled");
        // A process reads the result of an export at the next one.
        wait_for("a line about the collector", WAIT_TIMEOUT, async || {
            active_chat.send_text("Hello again").await;
            let lines = log_lines(host);
            if lines.iter().any(|(_, line)| line["message"] == "spans not exported") {
                Ok(())
            } else {
                Err(lines.len())
            }
        })
        .await;
    });
}
