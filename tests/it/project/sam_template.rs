//! Tests that template.yaml matches the source tree, the list of programs, and what the code needs, and that its
//! queues, policies and event sources are configured as intended. Also contains functions that read the template.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use local::cargo_build::workspace_root;
use serde_json::{Value, json};

use crate::support::sample_values::operation;
use crate::support::test_host::{binaries, run_without_host};

/// template.yaml as JSON. A YAML tag becomes an object with one field, for example `{"!Ref": "Chats"}`.
pub static TEMPLATE: LazyLock<Value> = LazyLock::new(|| {
    let text = std::fs::read_to_string(workspace_root().join("template.yaml")).unwrap();
    let yaml: serde_yaml_ng::Value = serde_yaml_ng::from_str(&text).unwrap();
    from_yaml(&yaml)
});

fn from_yaml(yaml: &serde_yaml_ng::Value) -> Value {
    use serde_yaml_ng::Value as Yaml;
    match yaml {
        Yaml::Sequence(items) => items.iter().map(from_yaml).collect(),
        Yaml::Mapping(fields) => {
            fields.iter().map(|(key, value)| (key.as_str().unwrap().to_owned(), from_yaml(value))).collect()
        }
        Yaml::Tagged(tagged) => json!({ tagged.tag.to_string(): from_yaml(&tagged.value) }),
        Yaml::Null | Yaml::Bool(_) | Yaml::Number(_) | Yaml::String(_) => serde_json::to_value(yaml).unwrap(),
    }
}

/// A resource's logical id and properties.
pub type Resource = (&'static str, &'static Value);

pub fn resources(kind: &str) -> impl Iterator<Item = Resource> {
    let all = TEMPLATE["Resources"].as_object().unwrap();
    all.iter()
        .filter(move |(_, resource)| resource["Type"] == kind)
        .map(|(name, resource)| (name.as_str(), &resource["Properties"]))
}

pub fn functions() -> impl Iterator<Item = Resource> {
    resources("AWS::Serverless::Function")
}

/// Returns the events that invoke a function. The functions of the WebSocket API have none, because the API refers to
/// them instead.
pub fn events(properties: &Value) -> impl Iterator<Item = &Value> {
    properties["Events"].as_object().into_iter().flat_map(|events| events.values())
}

/// Returns the routes of the WebSocket API: the key of each route and the logical id of its function.
pub fn socket_routes() -> Vec<(&'static str, &'static str)> {
    let (_, api) = resources("AWS::Serverless::WebSocketApi").next().unwrap();
    let routes = api["Routes"].as_object().unwrap().iter();
    routes.map(|(key, route)| (key.as_str(), resource_of_arn(&route["FunctionArn"]))).collect()
}

pub fn program_name(properties: &Value) -> &str {
    let code = properties["CodeUri"].as_str().unwrap();
    code.strip_prefix("target/lambda/").unwrap().trim_end_matches('/')
}

/// The key of the default route, which receives the requests that match no other route.
pub const DEFAULT_ROUTE: &str = "$default";

/// Returns the method and path of every route of the HTTP API except [`DEFAULT_ROUTE`].
pub fn routes() -> Vec<(String, String)> {
    functions()
        .flat_map(|(_, properties)| events(properties))
        .filter(|event| event["Type"] == "HttpApi")
        .map(|event| &event["Properties"])
        .filter(|route| !route["Path"].is_null())
        .map(|route| (text(&route["Method"]), text(&route["Path"])))
        .collect()
}

/// Like [`routes`], with the documented methods of a route `ANY` instead of `ANY`. HEAD is not documented.
pub fn documented_routes() -> Vec<(String, String)> {
    let documented = |path: &str| {
        let methods = ["GET", "POST", "PUT", "PATCH", "DELETE"].into_iter();
        methods.filter(|method| operation(method, path).is_some()).map(str::to_owned).collect()
    };
    let expand = |(method, path): (String, String)| {
        let methods: Vec<_> = if method == "ANY" { documented(&path) } else { vec![method] };
        methods.into_iter().map(move |method| (method, path.clone()))
    };
    routes().into_iter().flat_map(expand).collect()
}

/// Returns the names of the programs that need the name of a table.
pub async fn programs_with_tables() -> BTreeSet<String> {
    let binaries = binaries().await;
    let has_table = |name: &&str| required_variables(&binaries.join(name)).iter().any(|name| name.ends_with("_TABLE"));
    functions().map(|(_, properties)| program_name(properties)).filter(has_table).map(str::to_owned).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Returns the name and source file of every program in the `functions` package.
fn programs() -> BTreeMap<String, PathBuf> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(workspace_root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|package| package["name"] == "functions").unwrap();
    let targets = package["targets"].as_array().unwrap();
    // The build script is also a target.
    let bins = targets.iter().filter(|target| target["kind"] == json!(["bin"]));
    bins.map(|bin| (text(&bin["name"]), PathBuf::from(text(&bin["src_path"])))).collect()
}

/// Returns the Rust files in the direct subfolders of `functions`.
fn source_files() -> BTreeSet<PathBuf> {
    let entries = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries(&workspace_root().join("functions"))
        .filter(|area| area.is_dir())
        .flat_map(|area| entries(&area).collect::<Vec<_>>())
        .filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

#[test]
fn source_tree_and_template_list_the_same_functions() {
    let programs = programs();
    assert_eq!(source_files(), programs.values().cloned().collect());
    let deployed: BTreeSet<_> = functions().map(|(_, properties)| program_name(properties).to_owned()).collect();
    assert_eq!(deployed, programs.keys().cloned().collect());
    for (name, file) in &programs {
        let area = file.parent().unwrap().file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with(&format!("{area}-")), "{name} is in {}", file.display());
    }
}

#[test]
fn functions_are_named_after_their_programs() {
    for (name, properties) in functions() {
        let words = program_name(properties).split('-').map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_uppercase() + rest
        });
        assert_eq!(name, words.collect::<String>());
    }
}

/// Variables that the template sets for all functions, although no function requires them.
const OPTIONAL_VARIABLES: [&str; 5] =
    ["FIRST_ATTEMPTS_PER_ACCOUNT", "MAIL_DOMAIN", "ORIGIN_SECRETS", "OTEL_EXPORTER_OTLP_ENDPOINT", "STACK_NAME"];

/// Returns the names of the variables in a function's properties, or in the global properties of all functions.
fn declared_variables(properties: &Value) -> BTreeSet<String> {
    let variables = properties["Environment"]["Variables"].as_object();
    variables.into_iter().flat_map(|fields| fields.keys().cloned()).collect()
}

pub async fn all_required_variables() -> BTreeSet<String> {
    let binaries = binaries().await;
    functions().flat_map(|(_, properties)| required_variables(&binaries.join(program_name(properties)))).collect()
}

#[test]
fn template_declares_exactly_the_variables_that_functions_need() {
    run_without_host(async {
        let common = declared_variables(&TEMPLATE["Globals"]["Function"]);
        let mut all_required = BTreeSet::new();
        for (name, properties) in functions() {
            let required = required_variables(&binaries().await.join(program_name(properties)));
            let own: BTreeSet<_> = required.difference(&common).cloned().collect();
            assert_eq!(own, declared_variables(properties), "{name}");
            all_required.extend(required);
        }
        let unused: Vec<_> = common.difference(&all_required).collect();
        assert_eq!(unused, OPTIONAL_VARIABLES);
    });
}

/// Returns the environment variables that a function reports as missing when it starts without any. If only variables
/// set by the Lambda runtime are missing, the function itself needs none, so the result is empty.
fn required_variables(program: &Path) -> BTreeSet<String> {
    const PREFIX: &str = "missing environment variables: ";
    let output = Command::new(program).env_clear().stdin(Stdio::null()).output().unwrap();
    assert!(!output.status.success(), "{} runs without an environment", program.display());
    let output = [output.stdout, output.stderr].concat();
    let output = String::from_utf8(output).unwrap();
    if output.contains("Missing AWS_LAMBDA_FUNCTION_NAME") {
        return BTreeSet::new();
    }
    let (_, names) = output.split_once(PREFIX).unwrap_or_else(|| panic!("{}: {output}", program.display()));
    let end = names.find(|c: char| !(c.is_ascii_alphanumeric() || "_, ".contains(c))).unwrap_or(names.len());
    names[..end].split(", ").map(str::to_owned).collect()
}

fn timeout_seconds(properties: &Value) -> u64 {
    let timeout = properties["Timeout"].as_u64();
    timeout.unwrap_or_else(|| TEMPLATE["Globals"]["Function"]["Timeout"].as_u64().unwrap())
}

/// Returns `Name`, the resource's logical id, from a value of the form `!GetAtt Name.Arn`.
pub fn resource_of_arn(value: &Value) -> &str {
    value["!GetAtt"].as_str().unwrap().strip_suffix(".Arn").unwrap()
}

/// Whether the receipt rule invokes the function.
pub fn receives_emails(name: &str) -> bool {
    let actions = TEMPLATE["Resources"]["MailRule"]["Properties"]["Rule"]["Actions"].as_array().unwrap();
    let mut functions =
        actions.iter().map(|action| &action["LambdaAction"]["FunctionArn"]).filter(|arn| arn.is_object());
    functions.any(|arn| resource_of_arn(arn) == name)
}

/// Returns every queue that has a consumer: the queue's logical id, the consuming function's properties, and the
/// properties of the event source mapping.
pub fn consumers() -> Vec<(&'static str, &'static Value, &'static Value)> {
    let mut found = Vec::new();
    for (_, properties) in functions() {
        for event in events(properties).filter(|event| event["Type"] == "SQS") {
            found.push((resource_of_arn(&event["Properties"]["Queue"]), properties, &event["Properties"]));
        }
    }
    found
}

#[test]
fn queue_visibility_is_six_times_the_consumer_timeout() {
    for (queue, properties, _) in consumers() {
        let visibility = &TEMPLATE["Resources"][queue]["Properties"]["VisibilityTimeout"];
        assert_eq!(visibility, 6 * timeout_seconds(properties), "{queue}");
    }
}

#[test]
fn consumers_report_failures_per_message() {
    for (queue, _, mapping) in consumers() {
        assert_eq!(mapping["FunctionResponseTypes"], json!(["ReportBatchItemFailures"]), "{queue}");
        let fifo = TEMPLATE["Resources"][queue]["Properties"]["FifoQueue"] == true;
        let batch = &mapping["BatchSize"];
        assert_eq!(batch, if fifo { 1 } else { 10 }, "{queue}: a stalled message group must not delay other messages");
        assert_eq!(mapping["MaximumBatchingWindowInSeconds"], Value::Null, "{queue}");
    }
}

#[test]
fn consumer_concurrency_is_a_deployment_parameter() {
    for (queue, _, mapping) in consumers() {
        let fifo = TEMPLATE["Resources"][queue]["Properties"]["FifoQueue"] == true;
        let is_in_customers_account = ["Sqs", "EventBridge"].iter().any(|kind| queue.starts_with(kind));
        let parameter = match fifo {
            _ if is_in_customers_account => "AwsTargetConcurrency",
            // One process at a time assigns the chats of an account, so many are never needed.
            _ if queue.starts_with("Assignment") => "RetryConcurrency",
            true => "FirstAttemptConcurrency",
            false => "RetryConcurrency",
        };
        assert_eq!(mapping["ScalingConfig"]["MaximumConcurrency"], json!({"!Ref": parameter}), "{queue}");
    }
    let default = |parameter: &str| TEMPLATE["Parameters"][parameter]["Default"].as_u64().unwrap();
    assert!(
        default("FirstAttemptsPerAccount") * 3 <= default("FirstAttemptConcurrency"),
        "three hanging accounts leave no capacity"
    );
    // The queues of all kinds of receiver share the concurrency of an AWS account with all other functions.
    let outbound = 4 * (default("FirstAttemptConcurrency") + default("RetryConcurrency"));
    let outbound = outbound + 4 * default("AwsTargetConcurrency");
    assert!(outbound <= 700, "{outbound} of usually 1,000 concurrent invocations are for deliveries");
}

#[test]
fn both_apis_limit_the_requests_of_all_callers_together() {
    for (kind, parameter) in [
        ("AWS::Serverless::HttpApi", "ApiRequestsPerSecond"),
        ("AWS::Serverless::WebSocketApi", "SocketFramesPerSecond"),
    ] {
        let (_, api) = resources(kind).next().unwrap();
        for limit in ["ThrottlingRateLimit", "ThrottlingBurstLimit"] {
            assert_eq!(api["DefaultRouteSettings"][limit], json!({"!Ref": parameter}));
        }
    }
    let (_, api) = resources("AWS::Serverless::HttpApi").next().unwrap();
    let routes: BTreeSet<_> = routes().into_iter().map(|(method, path)| format!("{method} {path}")).collect();
    for route in api["RouteSettings"].as_object().unwrap().keys() {
        assert!(routes.contains(route), "{route} is limited but not routed");
    }
}

#[test]
fn queues_are_consumed_or_keep_dead_letters_for_14_days() {
    let consumed: BTreeSet<_> = consumers().into_iter().map(|(queue, ..)| queue).collect();
    for (name, queue) in resources("AWS::SQS::Queue") {
        if consumed.contains(name) {
            let dead_letter_queue = resource_of_arn(&queue["RedrivePolicy"]["deadLetterTargetArn"]);
            assert!(!consumed.contains(dead_letter_queue), "{name}");
            let dead_letter_queue = &TEMPLATE["Resources"][dead_letter_queue]["Properties"];
            assert_eq!(dead_letter_queue["FifoQueue"], queue["FifoQueue"], "{name}");
            assert_eq!(dead_letter_queue["MessageRetentionPeriod"], 14 * 24 * 60 * 60, "{name}");
        } else {
            assert_eq!(queue["RedrivePolicy"], Value::Null, "{name} is neither consumed nor a dead-letter queue");
        }
    }
}

/// Collects every value stored under `key`, at any depth.
fn collect_values<'a>(key: &str, value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get(key));
            fields.values().for_each(|field| collect_values(key, field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_values(key, item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn policies_have_no_wildcards() {
    for key in ["Action", "NotAction", "Resource", "NotResource"] {
        let mut found = Vec::new();
        collect_values(key, &TEMPLATE["Resources"], &mut found);
        for value in found {
            // The wildcard after `@connections/` is allowed, because a function can send to every socket of the stack,
            // and socket ids cannot be known in advance.
            // The roles of customers cannot be known in advance either; their trust policies decide.
            let text = value.to_string().replace("/@connections/*\"", "").replace(":iam::*:role/*\"", "");
            // The names of files cannot be known in advance. The bucket's own policy denies, and lets SES
            // store e-mails.
            let text = text
                .replace("${Files.Arn}/pending/*", "")
                .replace("${Files.Arn}/files/*", "")
                .replace("${Files.Arn}/mail/*", "");
            let text = text.replace("${Files.Arn}/*", "").replace("\"s3:*\"", "");
            assert!(!text.contains('*'), "{key}: {value}");
        }
    }
    for (name, properties) in functions() {
        let has_policy = properties["Role"].is_object() || properties["Policies"].is_array();
        assert!(has_policy, "{name} has no policy of its own");
    }
}

#[test]
fn binaries_are_built_without_jitter_entropy() {
    run_without_host(async {
        let programs = programs();
        let program = std::fs::read(binaries().await.join(programs.keys().next().unwrap())).unwrap();
        let has = |name: &[u8]| program.windows(name.len()).any(|bytes| bytes == name);
        assert!(has(b"aws_lc"), "the TLS library has changed: adapt this test and .cargo/config.toml");
        assert!(!has(b"jent_entropy_collector_alloc"), "aws-lc was built without the settings of .cargo/config.toml");
    });
}

#[test]
fn socket_api_has_a_function_for_each_event() {
    let expected =
        [("$connect", "SocketConnect"), ("$default", "SocketReceiveMessage"), ("$disconnect", "SocketDisconnect")];
    assert_eq!(socket_routes().into_iter().collect::<BTreeSet<_>>(), BTreeSet::from(expected));
    for (name, properties) in functions() {
        let is_in_socket_api = socket_routes().iter().any(|(_, function)| *function == name);
        let has_no_events = events(properties).next().is_none();
        assert_eq!(has_no_events, is_in_socket_api || receives_emails(name), "{name}");
    }
}

/// A batch that waits for more changes would delay every push, and old pushes are useless. Only the changes of lists
/// are gathered, for a second.
#[test]
fn changes_are_pushed_at_once_or_dropped() {
    let (_, push) = functions().find(|(name, _)| *name == "DeliverPush").unwrap();
    let mut tables = BTreeSet::new();
    for event in events(push) {
        let properties = &event["Properties"];
        assert_eq!(event["Type"], "DynamoDB");
        assert_eq!(properties["StartingPosition"], "LATEST");
        let is_for_lists = properties["FilterCriteria"].to_string().contains("CHANGED_CHATS#");
        let window = if is_for_lists { json!(1) } else { Value::Null };
        assert_eq!(properties["MaximumBatchingWindowInSeconds"], window);
        assert_eq!(properties["MaximumRecordAgeInSeconds"], 60);
        assert!(!properties["FilterCriteria"]["Filters"].as_array().unwrap().is_empty());
        for filter in properties["FilterCriteria"]["Filters"].as_array().unwrap() {
            let pattern: Value = serde_json::from_str(filter["Pattern"].as_str().unwrap()).unwrap();
            assert!(pattern["dynamodb"]["Keys"]["pk"]["S"].is_array(), "{pattern}");
        }
        tables.insert(properties["Stream"]["!GetAtt"].as_str().unwrap().strip_suffix(".StreamArn").unwrap());
    }
    assert_eq!(tables, resources("AWS::DynamoDB::Table").map(|(name, _)| name).collect());
}

/// CloudFront caches errors for ten seconds unless the template says otherwise, and these are all it accepts here.
#[test]
fn distribution_caches_no_errors() {
    let (_, distribution) = resources("AWS::CloudFront::Distribution").next().unwrap();
    let responses = distribution["DistributionConfig"]["CustomErrorResponses"].as_array().unwrap();
    let uncached = responses.iter().filter(|response| response["ErrorCachingMinTTL"] == 0);
    let codes: Vec<_> = uncached.map(|response| response["ErrorCode"].as_u64().unwrap()).collect();
    assert_eq!(codes, [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504]);
    let with_pages = responses.iter().filter(|response| response.as_object().unwrap().len() != 2);
    assert_eq!(with_pages.count(), 0, "the service's own errors reach the viewer");
}

#[test]
fn routes_are_unique() {
    let all = routes();
    let unique: BTreeSet<_> = all.iter().collect();
    assert_eq!(unique.len(), all.len());
}
