//! Tests for the sample events for `sam local invoke`. The `tests/events` folder contains one for every function. Those
//! of functions with an HTTP route are generated from template.yaml and docs/openapi.json. These tests send each
//! function its event through the Runtime API, first unchanged and then with a valid credential.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use local::cargo_build::workspace_root;
use serde_json::{Value, json};

use crate::project::sam_template::{
    DEFAULT_ROUTE, TEMPLATE, all_required_variables, events, functions, program_name, resource_of_arn, socket_routes,
};
use crate::support::api_client::{TestAccount, TestChannel};
use crate::support::sample_values::{body, operation, required_parameters};
use crate::support::test_host::{TestHost, run_on_own_host, run_without_host};
use crate::support::widget_client::TestWidget;

/// The name, without its extension, of the one file in `tests/events` that is not an event. It is passed to
/// `--env-vars` instead.
const VARIABLES_FILE: &str = "env";

/// The methods of routes, in the order in which one is chosen for the sample event of a function with several.
const METHODS: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];

/// Returns the expected result of a function without an HTTP route when its event causes no work.
fn result_without_work(program: &str) -> Value {
    match program {
        "schedule-close-idle-chats" => json!({"closed": 0}),
        "schedule-requeue-deliveries" => json!({"requeued": 0}),
        "receive-email" => Value::Null,
        "deliver-push" | "file-delete-expired" => json!({"changes": 1}),
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
        let of_rule = receives_emails(name).then(|| EMAILS.to_owned());
        let sources: Vec<_> = events(properties).map(event_source).chain(socket_routes).chain(of_rule).collect();
        let event = &samples[program_name(properties)];
        assert!(sources.contains(&sample_source(event)), "{name}: {} is none of {sources:?}", sample_source(event));
    }
}

/// The prefix of event sources that are routes of the WebSocket API.
const SOCKET_API: &str = "SocketApi";

/// The source of events that the receipt rule of SES sends.
const EMAILS: &str = "SES";

/// Whether the receipt rule invokes the function.
fn receives_emails(name: &str) -> bool {
    let actions = TEMPLATE["Resources"]["MailRule"]["Properties"]["Rule"]["Actions"].as_array().unwrap();
    let mut functions =
        actions.iter().map(|action| &action["LambdaAction"]["FunctionArn"]).filter(|arn| arn.is_object());
    functions.any(|arn| resource_of_arn(arn) == name)
}

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
    if event["Records"][0]["eventSource"] == "aws:ses" {
        return EMAILS.to_owned();
    }
    let Some(arn) = event["Records"][0]["eventSourceARN"].as_str() else { return "Schedule".to_owned() };
    match arn.split_once(":table/dev-") {
        Some((_, table)) => table.split('/').next().unwrap().to_owned(),
        None => arn.rsplit(':').next().unwrap().trim_end_matches(".fifo").to_owned(),
    }
}

#[test]
fn sam_local_variables_match_the_functions() {
    run_without_host(async {
        let variables =
            event_files()[VARIABLES_FILE]["Parameters"].as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
        // `sam local` can set only variables that the template declares; tests/it/project/sam_template.rs checks that
        // the template declares all required variables.
        assert_eq!(variables, all_required_variables().await);
    });
}

/// Returns the text of the sample event of a function with an HTTP route.
fn http_event(properties: &Value) -> Option<String> {
    let routes: Vec<_> = events(properties).filter(|event| event["Type"] == "HttpApi").collect();
    let route = routes.into_iter().map(|event| &event["Properties"]).min_by_key(|route| preference(route))?;
    let (method, template) = match (route["Method"].as_str(), route["Path"].as_str()) {
        (Some("ANY"), Some(path)) => (METHODS.into_iter().find(|method| operation(method, path).is_some())?, path),
        (Some(method), Some(path)) => (method, path),
        _ => ("GET", "/unknown"),
    };
    let none = Value::Null;
    let operation = operation(method, template).unwrap_or(&none);
    let path_parameters = required_parameters(template, operation, "path");
    let path = path_parameters
        .iter()
        .fold(template.to_owned(), |path, (name, value)| path.replace(&format!("{{{name}}}"), value));
    let query = required_parameters(template, operation, "query");
    let raw_query: Vec<_> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let body = body(operation);
    let key = event_source(&json!({"Type": "HttpApi", "Properties": route}));
    let mut headers = json!({
        "accept": "*/*",
        "host": "api.example.com",
        "user-agent": "sample",
        "x-forwarded-for": "192.0.2.1",
        "x-forwarded-port": "443",
        "x-forwarded-proto": "https",
    });
    if has_bearer(operation) {
        headers["authorization"] = json!("Bearer sample-token");
    }
    if body.is_some() {
        headers["content-type"] = json!("application/json");
    }
    let mut event = json!({
        "version": "2.0",
        "routeKey": key,
        "rawPath": path,
        "rawQueryString": raw_query.join("&"),
        "headers": headers,
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "sample",
            "domainName": "api.example.com",
            "domainPrefix": "api",
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.1",
                "userAgent": "sample",
            },
            "requestId": "00000000-0000-4000-8000-000000000001",
            "routeKey": key,
            "stage": "$default",
            "time": "21/Nov/2026:05:00:00 +0000",
            "timeEpoch": 1_795_237_200_000_u64,
        },
        "isBase64Encoded": false,
    });
    let map = |pairs: Vec<(String, String)>| pairs.into_iter().map(|(name, value)| (name, json!(value))).collect();
    for (field, pairs) in [("pathParameters", path_parameters), ("queryStringParameters", query)] {
        if !pairs.is_empty() {
            event[field] = Value::Object(map(pairs));
        }
    }
    if let Some(body) = body {
        event["body"] = json!(body.to_string());
    }
    Some(serde_json::to_string_pretty(&event).unwrap() + "\n")
}

/// Returns the order in which a function's routes are chosen for its sample event: a GET route without parameters if
/// possible.
fn preference(route: &Value) -> (usize, usize, std::cmp::Reverse<usize>) {
    let (method, path) = (text(&route["Method"]), text(&route["Path"]));
    let order = METHODS.iter().position(|known| *known == method).unwrap_or_default();
    (order, path.matches('{').count(), std::cmp::Reverse(path.len()))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn has_bearer(operation: &Value) -> bool {
    let schemes = operation["security"].as_array().into_iter().flatten().filter_map(Value::as_object);
    schemes.flat_map(|scheme| scheme.keys()).any(|name| ["admin", "agent", "operator"].contains(&&**name))
}

/// `UPDATE_SAMPLE_EVENTS=1 cargo test --test it sample_events_are_current` writes the files.
#[test]
fn sample_events_are_current() {
    for (_, properties) in functions() {
        let Some(event) = http_event(properties) else { continue };
        let file = workspace_root().join(format!("tests/events/{}.json", program_name(properties)));
        if std::env::var_os("UPDATE_SAMPLE_EVENTS").is_some() {
            std::fs::write(&file, event).unwrap();
            continue;
        }
        let current = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(current == event, "{} is not current: set UPDATE_SAMPLE_EVENTS=1", file.display());
    }
}

#[test]
fn every_function_handles_its_sample_event() {
    run_on_own_host(&[], async |host| {
        let samples = samples();
        let is_http = |event: &Value| event["rawPath"].is_string();
        for (name, event) in samples.iter().filter(|(_, event)| !is_http(event)) {
            assert_eq!(host.local.invoke(name, event.clone()).await.unwrap(), result_without_work(name), "{name}");
        }
        // Logout is last because it ends the session that the other functions use.
        let mut http: Vec<_> = samples.iter().filter(|(_, event)| is_http(event)).collect();
        http.sort_by_key(|(name, _)| *name == "agent-logout");
        for (name, event) in &http {
            let status = respond(host, name, event).await;
            // Logout succeeds with any token, even an invalid one.
            let is_refused = status == 401 || *name == "agent-logout";
            assert!(event["headers"]["authorization"].is_null() || is_refused, "{name}: {status}");
        }
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example.com/hook").await;
        let widget = account.create_widget(json!({})).await;
        for (name, event) in http {
            let event = with_valid_credential(host, &account, (&channel, &widget), event.clone());
            let status = respond(host, name, &event).await;
            let has_credential = event["headers"]["authorization"].is_string();
            assert!(!has_credential || status != 401, "{name}: {status}");
            // These samples name a visitor's chat and a message that the account does not have.
            let is_of_chat = ["channel-rate-chat", "channel-receive-receipt"].contains(&&**name);
            let expected = if is_of_chat { 404 } else { 200 };
            assert!(event["pathParameters"]["secret"].is_null() || status == expected, "{name}: {status}");
        }
    });
}

/// Sends a function its event. Returns the status of the response, which must be documented and no server error.
async fn respond(host: &TestHost, name: &str, event: &Value) -> u64 {
    let response = host.local.invoke(name, event.clone()).await.unwrap();
    let status = response["statusCode"].as_u64().unwrap();
    let path = event["routeKey"].as_str().unwrap().split(' ').nth(1);
    let operation = path.and_then(|path| operation(text(&event["requestContext"]["http"]["method"]), path));
    let is_documented = operation.map_or(status == 404, |one| one["responses"][status.to_string()].is_object());
    assert!(is_documented && status < 500, "{name}: {response}");
    let kind = response["headers"]["content-type"].as_str().unwrap();
    if !kind.starts_with("application/json") {
        assert!(kind.starts_with("text/") && status < 400, "{name}: {response}");
        return status;
    }
    let body: Value = serde_json::from_str(response["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["error"]["code"].is_string(), status >= 400, "{name}: {body}");
    status
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
