//! Tests for the sample events for `sam local invoke`. The `tests/events` folder contains one for every function. These
//! tests send each function its event through the Runtime API, first unchanged and then with a valid credential.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use local::cargo_build::workspace_root;
use serde_json::{Value, json};

use crate::sam_template::{
    DEFAULT_ROUTE, all_required_variables, events, functions, program_name, resource_of_arn, socket_routes,
};
use crate::support::api_client::{TestAccount, TestChannel};
use crate::support::test_host::{TestHost, run_on_own_host, run_parallel};
use crate::support::widget_client::TestWidget;

/// The name, without its extension, of the one file in `tests/events` that is not an event. It is passed to
/// `--env-vars` instead.
const VARIABLES_FILE: &str = "env";

/// The name of every HTTP function, and the statuses of its responses to two requests: the unchanged sample event, and
/// the event with a valid credential. Some of the latter are 404 or 401, because the chats, visitors, bots, logins and
/// visitors' tokens in the sample events do not exist.
const HTTP_STATUSES: [(&str, u16, u16); 84] = [
    ("admin-agents", 401, 200),
    ("admin-agent", 401, 404),
    ("admin-audit", 401, 200),
    ("admin-bots", 401, 200),
    ("admin-bot", 401, 404),
    ("admin-rotate-bot-secret", 401, 404),
    ("admin-test-bot", 401, 404),
    ("admin-show-bot-activity", 401, 404),
    ("admin-list-providers", 401, 200),
    ("admin-channels", 401, 201),
    ("admin-channel", 401, 404),
    ("admin-rotate-channel-address", 401, 404),
    ("admin-rotate-channel-secret", 401, 404),
    ("admin-test-channel", 401, 404),
    ("admin-export-chats", 401, 200),
    ("admin-export-chats-csv", 401, 200),
    ("admin-list-deliveries", 401, 200),
    ("admin-count-deliveries", 401, 200),
    ("admin-show-delivery", 401, 404),
    ("admin-replay-deliveries", 401, 404),
    ("admin-departments", 401, 201),
    ("admin-department", 401, 404),
    ("admin-reports", 401, 200),
    ("admin-settings", 401, 200),
    ("admin-add-webhook", 401, 201),
    ("admin-webhook", 401, 404),
    ("admin-rotate-webhook-secret", 401, 404),
    ("admin-test-webhook", 401, 404),
    ("admin-telephony", 401, 200),
    ("admin-find-visitor", 401, 404),
    ("admin-visitor", 401, 404),
    ("agent-accept-chat", 401, 404),
    ("agent-list-agents", 401, 200),
    ("agent-assign-crm-card", 401, 404),
    ("agent-call-visitor", 401, 404),
    ("agent-canned-replies", 401, 201),
    ("agent-canned-reply", 401, 404),
    ("agent-list-changes", 401, 200),
    ("agent-show-chat", 401, 404),
    ("agent-list-chats", 401, 200),
    ("agent-close-chat", 401, 404),
    ("agent-login", 401, 401),
    ("agent-show-current-agent", 401, 200),
    ("agent-send-message", 401, 404),
    ("agent-list-messages", 401, 404),
    ("agent-add-note", 401, 404),
    ("agent-presence", 401, 200),
    ("agent-retry-message", 401, 404),
    ("agent-search-chats", 401, 200),
    ("agent-create-socket-ticket", 401, 201),
    ("agent-transfer-chat", 401, 404),
    ("agent-send-typing-notice", 401, 404),
    ("agent-update-visitor", 401, 404),
    ("agent-list-visitor-chats", 401, 404),
    ("api-unmatched-route", 404, 404),
    ("api-openapi", 200, 200),
    ("api-reference", 200, 200),
    ("bot-receive-event", 404, 404),
    ("call-receive-incoming", 404, 404),
    ("call-receive-status", 404, 404),
    ("channel-receive-message", 404, 200),
    ("channel-show-status", 404, 200),
    ("console-page", 200, 200),
    ("widget-script", 200, 200),
    ("agent-change-password", 401, 400),
    ("agent-sessions", 401, 200),
    ("agent-end-session", 401, 404),
    ("operator-account", 401, 404),
    ("operator-accounts", 401, 201),
    ("operator-add-or-restore-admin", 401, 404),
    ("operator-call-balance", 401, 404),
    ("operator-providers", 401, 201),
    ("operator-provider", 401, 404),
    ("operator-telephony", 401, 404),
    ("widget-start-call", 404, 401),
    ("widget-check-callback", 404, 401),
    ("widget-list-history", 404, 401),
    ("widget-receive-message", 404, 401),
    ("widget-receive-offline-message", 404, 401),
    ("widget-rate-chat", 404, 401),
    ("widget-start-session", 404, 200),
    ("widget-create-socket-ticket", 404, 401),
    ("widget-update-visitor", 404, 401),
    // Logout is last because it ends the session that the other functions use.
    ("agent-logout", 200, 200),
];

/// Returns the expected result of a function without an HTTP route when its event causes no work.
fn result_without_work(program: &str) -> Value {
    match program {
        "schedule-close-idle-chats" => json!({"closed": 0}),
        "schedule-requeue-deliveries" => json!({"requeued": 0}),
        "deliver-push" => json!({"changes": 1}),
        "socket-connect" => json!({"statusCode": 401}),
        "socket-disconnect" | "socket-receive-message" => json!({"statusCode": 200}),
        _ => json!({"batchItemFailures": []}),
    }
}

/// Returns the contents of the files in `tests/events`, keyed by file name without extension.
fn event_files() -> BTreeMap<String, Value> {
    let paths = std::fs::read_dir(workspace_root().join("tests/events")).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap())
    };
    paths.map(read).collect()
}

pub fn samples() -> BTreeMap<String, Value> {
    event_files().into_iter().filter(|(name, _)| name != VARIABLES_FILE).collect()
}

#[test]
fn every_function_has_a_sample_event_of_a_real_source() {
    let samples = samples();
    let programs: BTreeSet<_> = functions().map(|(_, properties)| program_name(properties)).collect();
    assert_eq!(samples.keys().map(String::as_str).collect::<BTreeSet<_>>(), programs);
    for (name, properties) in functions() {
        let socket_routes = socket_routes().into_iter().filter(|(_, function)| *function == name);
        let socket_routes = socket_routes.map(|(route, _)| format!("{SOCKET_API} {route}"));
        let sources: Vec<_> = events(properties).map(event_source).chain(socket_routes).collect();
        let event = &samples[program_name(properties)];
        assert!(sources.contains(&sample_source(event)), "{name}: {} is none of {sources:?}", sample_source(event));
    }
}

/// The prefix of event sources that are routes of the WebSocket API.
const SOCKET_API: &str = "SocketApi";

/// Returns the source of an event in the template: its route, the logical id of its queue or table, or `Schedule`.
fn event_source(event: &Value) -> String {
    let properties = &event["Properties"];
    match event["Type"].as_str().unwrap() {
        "HttpApi" => match (properties["Method"].as_str(), properties["Path"].as_str()) {
            (Some(method), Some(path)) => format!("{method} {path}"),
            _ => DEFAULT_ROUTE.to_owned(),
        },
        "SQS" => resource_of_arn(&properties["Queue"]).to_owned(),
        "DynamoDB" => properties["Stream"]["!GetAtt"].as_str().unwrap().trim_end_matches(".StreamArn").to_owned(),
        other => other.to_owned(),
    }
}

/// Returns the source of a sample event: its route, the name of its queue or table, or `Schedule`.
fn sample_source(event: &Value) -> String {
    if let Some(route) = event["requestContext"]["routeKey"].as_str() {
        let is_socket = event["requestContext"]["connectionId"].is_string();
        return if is_socket { format!("{SOCKET_API} {route}") } else { route.to_owned() };
    }
    let Some(arn) = event["Records"][0]["eventSourceARN"].as_str() else { return "Schedule".to_owned() };
    match arn.split_once(":table/dev-") {
        Some((_, table)) => table.split('/').next().unwrap().to_owned(),
        None => arn.rsplit(':').next().unwrap().trim_end_matches(".fifo").to_owned(),
    }
}

#[test]
fn sam_local_variables_match_the_functions() {
    run_parallel(async {
        let variables =
            event_files()[VARIABLES_FILE]["Parameters"].as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
        // `sam local` can set only variables that the template declares; tests/it/sam_template.rs checks that the
        // template declares all required variables.
        assert_eq!(variables, all_required_variables().await);
    });
}

#[test]
fn every_function_handles_its_sample_event() {
    run_on_own_host(&[], async |host| {
        let samples = samples();
        let http_functions: BTreeSet<_> = HTTP_STATUSES.iter().map(|(name, ..)| *name).collect();
        for (name, event) in &samples {
            if !http_functions.contains(name.as_str()) {
                assert_eq!(host.local.invoke(name, event.clone()).await.unwrap(), result_without_work(name), "{name}");
            }
        }
        for (name, status, _) in HTTP_STATUSES {
            assert_response(host, name, &samples[name], status).await;
        }
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example.com/hook").await;
        let widget = account.create_widget(json!({})).await;
        for (name, _, status) in HTTP_STATUSES {
            let event = with_valid_credential(host, &account, (&channel, &widget), samples[name].clone());
            assert_response(host, name, &event, status).await;
        }
    });
}

async fn assert_response(host: &TestHost, name: &str, event: &Value, status: u16) {
    let response = host.local.invoke(name, event.clone()).await.unwrap();
    assert_eq!(response["statusCode"], status, "{name}: {response}");
    let kind = response["headers"]["content-type"].as_str().unwrap();
    if !kind.starts_with("application/json") {
        return assert!(kind.starts_with("text/") && status < 400, "{name}: {response}");
    }
    let body: Value = serde_json::from_str(response["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["error"]["code"].is_string(), status >= 400, "{name}: {body}");
}

/// Returns the event with its sample credential replaced by one that is valid on this host.
fn with_valid_credential(
    host: &TestHost,
    account: &TestAccount,
    (channel, widget): (&TestChannel, &TestWidget),
    mut event: Value,
) -> Value {
    if event["headers"]["authorization"].is_string() {
        let is_operator_route = event["rawPath"].as_str().unwrap().starts_with("/operator/");
        let client = if is_operator_route { &host.operator } else { &account.admin.client };
        event["headers"]["authorization"] = json!(format!("Bearer {}", client.token()));
    }
    if event["pathParameters"]["secret"].is_string() {
        let secret = channel.endpoint.rsplit('/').nth(1).unwrap();
        event["pathParameters"] = json!({"secret": secret, "channel_id": channel.id});
    }
    if event["pathParameters"]["widget_id"].is_string() {
        event["pathParameters"] = json!({"widget_id": widget.id});
    }
    event
}
