//! The sample events of `tests/events`, one for every function, as `sam local invoke` takes them. Here each goes to its
//! function through the Runtime API: as it is, and with a credential that is known.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use local::builder::workspace;
use serde_json::{Value, json};

use crate::client::{Account, Channel};
use crate::harness::{Stage, on_own_stage};
use crate::template::{DEFAULT_ROUTE, TEMPLATE, functions, program, target};

/// What `--env-vars` is given.
const VARIABLES: &str = "env";

/// The status of every HTTP function: as the sample is, and with a known credential. What the samples name (a chat, a
/// visitor, a bot) does not exist.
const ANSWERS: [(&str, u16, u16); 30] = [
    ("admin-agents", 401, 200),
    ("admin-bots", 401, 200),
    ("admin-channels", 401, 201),
    ("admin-deliveries", 401, 200),
    ("admin-departments", 401, 201),
    ("admin-settings", 401, 200),
    ("admin-visitors", 401, 404),
    ("agent-accept", 401, 404),
    ("agent-assign", 401, 404),
    ("agent-chat", 401, 404),
    ("agent-chats", 401, 200),
    ("agent-close", 401, 404),
    ("agent-login", 401, 401),
    ("agent-message", 401, 404),
    ("agent-messages", 401, 404),
    ("agent-presence", 401, 200),
    ("agent-retry", 401, 404),
    ("agent-transfer", 401, 404),
    ("agent-typing", 401, 404),
    ("agent-visitor", 401, 404),
    ("api-not-found", 404, 404),
    ("api-openapi", 200, 200),
    ("bot-event", 404, 404),
    ("channel-message", 404, 200),
    ("channel-status", 404, 200),
    ("console-page", 200, 200),
    ("operator-accounts", 401, 201),
    ("operator-admins", 401, 404),
    ("operator-providers", 401, 201),
    // Last, because it ends the session of the others.
    ("agent-logout", 200, 200),
];

/// What the others return when there is nothing to do.
fn returned(program: &str) -> Value {
    match program {
        "schedule-idle" => json!({"closed": 0}),
        "schedule-sweep" => json!({"revived": 0}),
        _ => json!({"batchItemFailures": []}),
    }
}

/// A file of `tests/events`, by its name without the extension.
fn files() -> BTreeMap<String, Value> {
    let paths = std::fs::read_dir(workspace().join("tests/events")).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap())
    };
    paths.map(read).collect()
}

pub fn samples() -> BTreeMap<String, Value> {
    files().into_iter().filter(|(name, _)| name != VARIABLES).collect()
}

#[test]
fn every_function_has_a_sample_event_that_one_of_its_sources_could_send() {
    let samples = samples();
    let programs: BTreeSet<_> = functions().map(|(_, properties)| program(properties)).collect();
    assert_eq!(samples.keys().map(String::as_str).collect::<BTreeSet<_>>(), programs);
    for (name, properties) in functions() {
        let sources: Vec<_> = properties["Events"].as_object().unwrap().values().map(source).collect();
        let event = &samples[program(properties)];
        assert!(sources.contains(&sender(event)), "{name}: {} is none of {sources:?}", sender(event));
    }
}

/// What sends the events of a mapping of the template.
fn source(event: &Value) -> String {
    let properties = &event["Properties"];
    match event["Type"].as_str().unwrap() {
        "HttpApi" => match (properties["Method"].as_str(), properties["Path"].as_str()) {
            (Some(method), Some(path)) => format!("{method} {path}"),
            _ => DEFAULT_ROUTE.to_owned(),
        },
        "SQS" => target(&properties["Queue"]).to_owned(),
        other => other.to_owned(),
    }
}

/// What sent a sample.
fn sender(event: &Value) -> String {
    match (&event["routeKey"], &event["Records"][0]["eventSourceARN"]) {
        (Value::String(route), _) => route.clone(),
        (_, Value::String(arn)) => arn.rsplit(':').next().unwrap().trim_end_matches(".fifo").to_owned(),
        _ => "Schedule".to_owned(),
    }
}

#[test]
fn the_variables_for_sam_local_are_those_of_the_functions() {
    let given = files()[VARIABLES]["Parameters"].as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let variables = functions().filter_map(|(_, properties)| properties["Environment"]["Variables"].as_object());
    let needed: BTreeSet<String> = variables.flat_map(|variables| variables.keys().cloned()).collect();
    assert_eq!(given, needed);
    assert!(TEMPLATE["Globals"]["Function"]["Environment"]["Variables"].is_object(), "SAM local knows no others");
}

#[test]
fn every_function_answers_its_sample_event() {
    on_own_stage(&[], async |stage| {
        let samples = samples();
        let asked: BTreeSet<_> = ANSWERS.iter().map(|(name, ..)| *name).collect();
        for (name, event) in &samples {
            if !asked.contains(name.as_str()) {
                assert_eq!(stage.host.invoke(name, event.clone()).await.unwrap(), returned(name), "{name}");
            }
        }
        for (name, status, _) in ANSWERS {
            assert_answer(stage, name, &samples[name], status).await;
        }
        let account = stage.account().await;
        let channel = account.channel("https://app.example.com/hook").await;
        for (name, _, status) in ANSWERS {
            let event = known(stage, &account, &channel, samples[name].clone());
            assert_answer(stage, name, &event, status).await;
        }
    });
}

async fn assert_answer(stage: &Stage, name: &str, event: &Value, status: u16) {
    let answer = stage.host.invoke(name, event.clone()).await.unwrap();
    assert_eq!(answer["statusCode"], status, "{name}: {answer}");
    let kind = answer["headers"]["content-type"].as_str().unwrap();
    if !kind.starts_with("application/json") {
        return assert!(kind.starts_with("text/html") && status < 400, "{name}: {answer}");
    }
    let body: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["error"]["code"].is_string(), status >= 400, "{name}: {body}");
}

/// The event with a credential of this stage in the place of the sample's.
fn known(stage: &Stage, account: &Account, channel: &Channel, mut event: Value) -> Value {
    if event["headers"]["authorization"].is_string() {
        let is_operators = event["rawPath"].as_str().unwrap().starts_with("/operator/");
        let caller = if is_operators { &stage.operator } else { &account.admin.call };
        event["headers"]["authorization"] = json!(format!("Bearer {}", caller.bearer()));
    }
    if event["pathParameters"]["secret"].is_string() {
        let secret = channel.endpoint.rsplit('/').nth(1).unwrap();
        event["pathParameters"] = json!({"secret": secret, "channel_id": channel.id});
    }
    event
}
