//! Tests for logs and metrics: all log lines about a message have the same id, the metrics are correct, and there are
//! no secrets or personal data.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::account_with_webhook::WebhookFixture;
use crate::support::api_client::{PASSWORD, number};
use crate::support::bot_fixture::BotFixture;
use crate::support::test_host::{
    ActiveChat, TestHost, VISITOR_ID, open_accepted_chat, run_on_own_host, run_on_own_host_with_virtual_time,
    run_on_shared_host, visitor_text,
};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

/// Returns every log line together with the name of the function that wrote it. Panics if a line is not JSON.
fn json_lines(host: &TestHost) -> Vec<(String, Value)> {
    let log = host.log.lock().unwrap();
    let parsed = log.iter().map(|line| (line.function.clone(), serde_json::from_str(&line.line)));
    parsed.map(|(function, line)| (function, line.unwrap())).collect()
}

/// Waits until exactly `count` log lines contain the metric `name`, and returns these lines.
async fn wait_for_metrics(host: &TestHost, name: &str, count: usize) -> Vec<Value> {
    wait_for(&format!("{count} of {name}"), WAIT_TIMEOUT, async || {
        let lines = json_lines(host).into_iter().map(|(_, line)| line);
        let matching: Vec<Value> = lines.filter(|line| !line["_aws"].is_null() && !line[name].is_null()).collect();
        if matching.len() == count { Ok(matching) } else { Err(matching) }
    })
    .await
}

/// Checks that every line with metrics has exactly the declared metrics and dimensions, and that no dimension contains
/// an id or personal data.
fn assert_metric_format(host: &TestHost) {
    let allowed_values: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("Stack", &["local"][..]),
        ("Target", &["channel", "bot", "webhook"][..]),
        ("Outcome", &["delivered", "rejected", "failed", "retry"][..]),
        ("Backlog", &["deliveries", "idle_checks"]),
        ("Route", &["ANY /channel/{secret}/{channel_id}", "ANY /bot/webhooks/{provider_id}/{token}"][..]),
    ]);
    for (_, line) in json_lines(host).into_iter().filter(|(_, line)| !line["_aws"].is_null()) {
        let mut fields = BTreeSet::from(["_aws".to_owned(), "level".to_owned()]);
        for directive in line["_aws"]["CloudWatchMetrics"].as_array().unwrap() {
            assert_eq!(directive["Namespace"], "Switchboard");
            let dimensions = directive["Dimensions"][0].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
            for name in dimensions {
                assert!(allowed_values[name].contains(&line[name].as_str().unwrap()), "{name} in {line}");
                fields.insert(name.to_owned());
            }
            for metric in directive["Metrics"].as_array().unwrap() {
                let name = metric["Name"].as_str().unwrap();
                assert!(line[name].is_u64() && metric["Unit"].is_string(), "{name} in {line}");
                fields.insert(name.to_owned());
            }
        }
        assert!(number(&line["_aws"]["Timestamp"]) > 1_700_000_000_000, "{line}");
        assert_eq!(line.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>(), fields, "{line}");
    }
}

/// Returns the target, outcome and age in whole seconds from a line with delivery metrics. The age is `None` if the
/// line does not contain one.
fn delivery_metric(line: &Value) -> (String, String, Option<u64>) {
    assert_eq!(line["Deliveries"], 1);
    let text = |name: &str| line[name].as_str().unwrap().to_owned();
    (text("Target"), text("Outcome"), line["DeliveryAge"].as_u64().map(|ms| ms / 1_000))
}

#[test]
fn every_attempt_is_counted_with_outcome_and_final_age() {
    // A host of its own: on a used one, deliveries that an earlier test left pending would be counted, too.
    run_on_own_host_with_virtual_time(&[], async |host, time| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        for (response, state) in [
            (CannedResponse::ok(), "delivered"),
            (CannedResponse::error(7, "no"), "failed"),
            (CannedResponse::Json(500, json!({})), "failed"),
        ] {
            integrator.respond_with(response);
            let seq = active_chat.send_text("text-of-the-agent").await;
            time.run_until_failure_is_shown().await;
            assert_eq!(active_chat.final_delivery(seq).await["state"], state);
        }
        let lines = wait_for_metrics(host, "Deliveries", 5).await;
        let counted: Vec<_> = lines.iter().map(delivery_metric).collect();
        let expected = [("delivered", true), ("rejected", true), ("retry", false), ("retry", false), ("failed", true)];
        assert_eq!(
            counted.iter().map(|(_, outcome, age)| (outcome.as_str(), age.is_some())).collect::<Vec<_>>(),
            expected
        );
        assert!(counted.iter().all(|(target, ..)| target == "channel"), "{counted:?}");
        let ages: Vec<_> = counted.iter().filter_map(|(.., age)| *age).collect();
        assert_eq!(ages, [0, 0, 9], "the failure is recorded after nine seconds");
        assert_metric_format(host);
    });
}

#[test]
fn bot_fallbacks_and_rate_limits_are_counted() {
    // A host of its own: on a used one, deliveries that an earlier test left pending would be counted, too.
    run_on_own_host_with_virtual_time(&[], async |host, time| {
        let fixture = BotFixture::create(host).await;
        fixture.provider.respond_with(CannedResponse::Json(500, json!({})));
        fixture.channel.send_text(VISITOR_ID, "Anybody?").await;
        time.run_until_queues_are_empty().await;
        fixture.wait_until_waiting(1, WAIT_TIMEOUT).await;
        assert_eq!(wait_for_metrics(host, "BotFallbacks", 1).await[0]["BotFallbacks"], 1);
        let counted: Vec<_> = wait_for_metrics(host, "Deliveries", 3).await.iter().map(delivery_metric).collect();
        let outcomes: Vec<_> = counted.iter().map(|(target, outcome, _)| (target.as_str(), outcome.as_str())).collect();
        assert_eq!(outcomes, [("bot", "retry"), ("bot", "retry"), ("bot", "failed")]);

        let mut refused = 0;
        while refused < 2 {
            let reply = fixture.channel.post(&visitor_text(VISITOR_ID, "Hello?")).await;
            refused += usize::from(reply.status == 429);
        }
        let limited = wait_for_metrics(host, "RateLimited", 2).await;
        assert!(limited.iter().all(|line| line["Route"] == "ANY /channel/{secret}/{channel_id}"), "{limited:?}");
        assert_metric_format(host);
    });
}

/// Waits until exactly `count` log lines of `function` have this value at `field`, a JSON pointer. Returns these lines.
async fn wait_for_lines(host: &TestHost, function: &str, field: &str, value: &Value, count: usize) -> Vec<Value> {
    wait_for(&format!("{count} lines of {function} with {value}"), WAIT_TIMEOUT, async || {
        let function_lines = json_lines(host).into_iter().filter(|(name, _)| name == function).map(|(_, line)| line);
        let (matching, others): (Vec<_>, Vec<_>) = function_lines.partition(|line| line.pointer(field) == Some(value));
        if matching.len() == count { Ok(matching) } else { Err((matching, others)) }
    })
    .await
}

/// Checks that all requests to the receiver have the same `webhook-id`, and returns it.
fn common_webhook_id(receiver: &TestReceiver) -> Value {
    let ids: BTreeSet<_> =
        receiver.requests().iter().map(|request| request.header("webhook-id").unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 1);
    json!(ids.first().unwrap())
}

#[test]
fn one_id_links_agent_request_attempts_and_integrator() {
    run_on_own_host(&[], async |host| {
        let integrator =
            TestReceiver::start_sequence([CannedResponse::Json(500, json!({})), CannedResponse::ok()]).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let path = format!("/agent/chats/{}/messages", active_chat.number);
        let reply = active_chat.agent.client.post(&path, &json!({"type": "text", "text": "Hello?"})).await;
        let gateway_id = reply.headers["apigw-requestid"].to_str().unwrap().to_owned();
        let sent = reply.expect(201);
        assert_eq!(active_chat.final_delivery(number(&sent["seq"])).await["state"], "delivered");

        let id = &sent["id"];
        assert_eq!(common_webhook_id(&integrator), *id);
        assert_eq!(integrator.requests()[0].json()["message"]["id"], *id);
        let line = &wait_for_lines(host, "agent-send-message", "/message_id", id, 1).await[0];
        assert_eq!((&line["message"], &line["gateway_id"]), (&json!("request answered"), &json!(gateway_id)));
        assert!(line["request_id"].is_string(), "{line}");
        let attempts = wait_for_lines(host, "deliver-channel", "/message_id", id, 2).await;
        let attempts: Vec<_> =
            attempts.iter().map(|line| (&line["attempt"], &line["status"], &line["result"])).collect();
        assert_eq!(
            attempts,
            [(&json!(0), &json!(500), &json!("retry")), (&json!(1), &json!(200), &json!("delivered"))]
        );
    });
}

#[test]
fn ids_link_visitor_requests_and_bot_messages_to_deliveries() {
    run_on_own_host(&[], async |host| {
        let fixture = BotFixture::create(host).await;
        let client_message = fixture.send_visitor_text(VISITOR_ID, "Hello?").await;
        assert_eq!(common_webhook_id(&fixture.provider), client_message["id"]);
        wait_for_lines(host, "channel-receive-message", "/message_id", &client_message["id"], 1).await;
        wait_for_lines(host, "deliver-bot", "/message_id", &client_message["id"], 1).await;

        fixture.bot.send_text(&client_message["chat_id"], "Good day").await.expect(200);
        fixture.integrator.wait_for_requests(1, WAIT_TIMEOUT).await;
        let bot_message_id = common_webhook_id(&fixture.integrator);
        let line = &wait_for_lines(host, "bot-receive-event", "/message_id", &bot_message_id, 1).await[0];
        assert_eq!(line["caller_message_id"], "any", "the provider's own id of the event");
        wait_for_lines(host, "deliver-channel", "/message_id", &bot_message_id, 1).await;
    });
}

#[test]
fn log_maps_the_integrator_message_id_to_ours() {
    run_on_own_host(&[], async |host| {
        let active_chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let mut body = visitor_text(VISITOR_ID, "Where is it?");
        body["message"]["id"] = json!("order-7");
        active_chat.channel.post(&body).await.expect(200);
        let line =
            &wait_for_lines(host, "channel-receive-message", "/caller_message_id", &json!("order-7"), 1).await[0];
        assert_eq!(line["message_id"], active_chat.agent.timeline(active_chat.number).await.last().unwrap()["id"]);
    });
}

#[test]
fn webhook_event_is_traceable_to_its_request() {
    run_on_own_host(&[], async |host| {
        let fixture = WebhookFixture::create(host).await;
        fixture.open_accepted_chat().await;
        let id = common_webhook_id(&fixture.webhook_receiver);
        let queued = &wait_for_lines(host, "agent-accept-chat", "/message_id", &id, 1).await[0];
        assert_eq!(queued["message"], "delivery queued");
        let request = &queued["span"]["request_id"];
        let line = &wait_for_lines(host, "agent-accept-chat", "/request_id", request, 1).await[0];
        assert_eq!(line["route"], "POST /agent/chats/{chat_id}/accept");
        wait_for_lines(host, "deliver-webhook", "/message_id", &id, 1).await;
    });
}

#[test]
fn logs_contain_no_secrets_or_personal_data() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::error(7, "error-of-the-integrator")).await;
        let account = host.create_account().await;
        let channel = account.create_channel(&format!("{}?key=secret-of-the-integrator", integrator.url())).await;
        let chat = open_accepted_chat(&account.admin, &channel, "id-of-the-visitor").await;
        let body = json!({
            "sender": {"id": "id-of-the-visitor", "email": "visitor-email@x.example", "name": "Name-of-the-visitor"},
            "message": {"type": "text", "text": "text-of-the-visitor"},
        });
        channel.post(&body).await.expect(200);
        let seq = account.admin.send_text(chat, "text-of-the-agent").await;
        account.admin.final_delivery(chat, seq).await;
        let wrong = json!({"email": account.admin.email, "password": "wrong-password"});
        host.anonymous.post("/agent/login", &wrong).await.expect(401);

        let secret = channel.endpoint.split('/').rev().nth(1).unwrap();
        let secrets = [
            secret,
            account.admin.client.token(),
            host.operator.token(),
            &channel.signing_secret,
            &account.admin.email,
            PASSWORD,
            "wrong-password",
            "secret-of-the-integrator",
            "error-of-the-integrator",
            "id-of-the-visitor",
            "visitor-email@x.example",
            "Name-of-the-visitor",
            "text-of-the-visitor",
            "text-of-the-agent",
        ];
        let log = host.log.lock().unwrap();
        assert!(!log.is_empty());
        for line in log.iter() {
            for secret in secrets {
                assert!(!line.line.contains(secret), "{secret} in a line of {}: {}", line.function, line.line);
            }
        }
    });
}
