//! What an operator sees: one id on a message's whole way, and metrics that are right and tell of nobody.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::client::number;
use crate::harness::{Conversation, Stage, VISITOR, alone_on_own_stage, on_own_stage, visitor_text};
use crate::hook::Hooked;
use crate::provider::Front;
use crate::receiver::{Answer, Receiver};
use crate::wait::{PATIENCE, seconds, wait_for};

/// The lines that functions wrote as JSON, with the function's name.
fn lines(stage: &Stage) -> Vec<(String, Value)> {
    let log = stage.log.lock().unwrap();
    let parsed = log.iter().map(|line| (line.function.clone(), serde_json::from_str(&line.line)));
    parsed.map(|(function, line)| (function, line.unwrap())).collect()
}

/// The metrics that were written, once there are so many of this name.
async fn metrics(stage: &Stage, name: &str, count: usize) -> Vec<Value> {
    wait_for(&format!("{count} of {name}"), PATIENCE, async || {
        let lines = lines(stage).into_iter().map(|(_, line)| line);
        let found: Vec<Value> = lines.filter(|line| !line["_aws"].is_null() && !line[name].is_null()).collect();
        if found.len() == count { Ok(found) } else { Err(found) }
    })
    .await
}

/// Checks every metric line for its form: what CloudWatch is told to read is there, nothing else is, and no dimension
/// has a value that belongs to somebody.
fn check_forms(stage: &Stage) {
    let known: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("Stack", &["local"][..]),
        ("Target", &["channel", "bot", "webhook"][..]),
        ("Outcome", &["delivered", "rejected", "failed", "again"][..]),
        ("Backlog", &["deliveries", "idle_checks"]),
        ("Route", &["ANY /channel/{secret}/{channel_id}", "ANY /bot/webhooks/{provider_id}/{token}"][..]),
    ]);
    for (_, line) in lines(stage).into_iter().filter(|(_, line)| !line["_aws"].is_null()) {
        let mut fields = BTreeSet::from(["_aws".to_owned(), "level".to_owned()]);
        for directive in line["_aws"]["CloudWatchMetrics"].as_array().unwrap() {
            assert_eq!(directive["Namespace"], "Switchboard");
            let dimensions = directive["Dimensions"][0].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
            for name in dimensions {
                assert!(known[name].contains(&line[name].as_str().unwrap()), "{name} in {line}");
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

/// Target, outcome, and the age in whole seconds.
fn notifications(line: &Value) -> (String, String, Option<u64>) {
    assert_eq!(line["Deliveries"], 1);
    let text = |name: &str| line[name].as_str().unwrap().to_owned();
    (text("Target"), text("Outcome"), line["DeliveryAge"].as_u64().map(|ms| ms / 1_000))
}

#[test]
fn every_try_is_counted_with_its_outcome_and_every_verdict_with_its_age() {
    alone_on_own_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        for (answer, state) in
            [(Answer::ok(), "delivered"), (Answer::error(7, "no"), "failed"), (Answer::Json(500, json!({})), "failed")]
        {
            integrator.answer(answer);
            let seq = talk.write("text-of-the-agent").await;
            assert_eq!(talk.verdict(seq).await["state"], state);
        }
        let counted = metrics(stage, "Deliveries", 5).await;
        let notifications: Vec<_> = counted.iter().map(notifications).collect();
        let expected = [("delivered", true), ("rejected", true), ("again", false), ("again", false), ("failed", true)];
        assert_eq!(
            notifications.iter().map(|(_, outcome, age)| (outcome.as_str(), age.is_some())).collect::<Vec<_>>(),
            expected
        );
        assert!(notifications.iter().all(|(target, ..)| target == "channel"), "{notifications:?}");
        assert!(notifications[0].2 < Some(3) && notifications[1].2 < Some(3), "{notifications:?}");
        assert!(
            (Some(9)..Some(11)).contains(&notifications[4].2),
            "the verdict is shown after nine seconds: {notifications:?}"
        );
        check_forms(stage);
    });
}

#[test]
fn a_bot_that_is_lost_and_a_rate_that_is_exceeded_are_counted() {
    on_own_stage(&[], async |stage| {
        let front = Front::open(stage).await;
        front.provider.answer(Answer::Json(500, json!({})));
        front.channel.say(VISITOR, "Anybody?").await;
        front.waits(1, seconds(15)).await;
        assert_eq!(metrics(stage, "BotFallbacks", 1).await[0]["BotFallbacks"], 1);
        let notifications: Vec<_> = metrics(stage, "Deliveries", 3).await.iter().map(notifications).collect();
        let outcomes: Vec<_> =
            notifications.iter().map(|(target, outcome, _)| (target.as_str(), outcome.as_str())).collect();
        assert_eq!(outcomes, [("bot", "again"), ("bot", "again"), ("bot", "failed")]);

        let mut refused = 0;
        while refused < 2 {
            let reply = front.channel.post(&visitor_text(VISITOR, "Hello?")).await;
            refused += usize::from(reply.status == 429);
        }
        let limited = metrics(stage, "RateLimited", 2).await;
        assert!(limited.iter().all(|line| line["Route"] == "ANY /channel/{secret}/{channel_id}"), "{limited:?}");
        check_forms(stage);
    });
}

/// The lines of a function that have this value in a field, once there are so many.
async fn lines_with(stage: &Stage, function: &str, field: &str, value: &Value, count: usize) -> Vec<Value> {
    wait_for(&format!("{count} lines of {function} with {value}"), PATIENCE, async || {
        let of_function = lines(stage).into_iter().filter(|(of, _)| of == function).map(|(_, line)| line);
        let (found, others): (Vec<_>, Vec<_>) = of_function.partition(|line| line.pointer(field) == Some(value));
        if found.len() == count { Ok(found) } else { Err((found, others)) }
    })
    .await
}

/// The id of a receiver's request, in which all of them agree.
fn webhook_id(receiver: &Receiver) -> Value {
    let ids: BTreeSet<_> =
        receiver.requests().iter().map(|request| request.header("webhook-id").unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 1);
    json!(ids.first().unwrap())
}

#[test]
fn one_id_leads_from_an_agents_request_through_every_try_to_the_integrator() {
    on_own_stage(&[], async |stage| {
        let integrator = Receiver::start_with([Answer::Json(500, json!({})), Answer::ok()]).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let path = format!("/agent/chats/{}/messages", talk.chat);
        let reply = talk.agent.call.post(&path, &json!({"type": "text", "text": "Hello?"})).await;
        let gateway_id = reply.headers["apigw-requestid"].to_str().unwrap().to_owned();
        let sent = reply.expect(201);
        assert_eq!(talk.verdict(number(&sent["seq"])).await["state"], "delivered");

        let id = &sent["id"];
        assert_eq!(webhook_id(&integrator), *id);
        assert_eq!(integrator.requests()[0].json()["message"]["id"], *id);
        let asked = &lines_with(stage, "agent-message", "/message_id", id, 1).await[0];
        assert_eq!((&asked["message"], &asked["gateway_id"]), (&json!("answered"), &json!(gateway_id)));
        assert!(asked["request_id"].is_string(), "{asked}");
        let tries = lines_with(stage, "deliver-channel", "/message_id", id, 2).await;
        let tries: Vec<_> = tries.iter().map(|line| (&line["attempt"], &line["status"], &line["result"])).collect();
        assert_eq!(tries, [(&json!(0), &json!(500), &json!("again")), (&json!(1), &json!(200), &json!("delivered"))]);
    });
}

#[test]
fn one_id_leads_from_a_visitors_request_to_the_bot_and_from_its_answer_to_the_integrator() {
    on_own_stage(&[], async |stage| {
        let front = Front::open(stage).await;
        let asked = front.ask(VISITOR, "Hello?").await;
        assert_eq!(webhook_id(&front.provider), asked["id"]);
        lines_with(stage, "channel-message", "/message_id", &asked["id"], 1).await;
        lines_with(stage, "deliver-bot", "/message_id", &asked["id"], 1).await;

        front.bot.say(&asked["chat_id"], "Good day").await.expect(200);
        front.integrator.received(1, PATIENCE).await;
        let answer = webhook_id(&front.integrator);
        lines_with(stage, "bot-event", "/message_id", &answer, 1).await;
        lines_with(stage, "deliver-channel", "/message_id", &answer, 1).await;
    });
}

#[test]
fn what_the_integrator_calls_a_message_is_in_the_log_and_leads_to_its_id() {
    on_own_stage(&[], async |stage| {
        let talk = Conversation::open(stage, "https://app.example/hook", json!({})).await;
        let mut body = visitor_text(VISITOR, "Where is it?");
        body["message"]["id"] = json!("order-7");
        talk.channel.post(&body).await.expect(200);
        let answered = &lines_with(stage, "channel-message", "/their_id", &json!("order-7"), 1).await[0];
        assert_eq!(answered["message_id"], talk.agent.messages(talk.chat).await.last().unwrap()["id"]);
    });
}

#[test]
fn an_event_of_a_webhook_is_found_by_the_request_that_caused_it() {
    on_own_stage(&[], async |stage| {
        let hooked = Hooked::open(stage).await;
        hooked.accepted().await;
        let id = webhook_id(&hooked.crm);
        let queued = &lines_with(stage, "agent-accept", "/message_id", &id, 1).await[0];
        assert_eq!(queued["message"], "queued");
        let request = &queued["span"]["request_id"];
        let answered = &lines_with(stage, "agent-accept", "/request_id", request, 1).await[0];
        assert_eq!(answered["route"], "POST /agent/chats/{chat_id}/accept");
        lines_with(stage, "deliver-webhook", "/message_id", &id, 1).await;
    });
}
