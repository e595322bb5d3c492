//! What must agree agrees: the tree, the list of programs, the template, the code's own needs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use local::builder::workspace;
use serde_json::{Value, json};

use crate::harness::{beside, binaries};

/// template.yaml as JSON; a tag becomes an object with one field, `{"!Ref": "Chats"}`.
pub static TEMPLATE: LazyLock<Value> = LazyLock::new(|| {
    let text = std::fs::read_to_string(workspace().join("template.yaml")).unwrap();
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

/// A resource: its logical id and its properties.
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

/// The name of a function's program.
pub fn program(properties: &Value) -> &str {
    let code = properties["CodeUri"].as_str().unwrap();
    code.strip_prefix("target/lambda/").unwrap().trim_end_matches('/')
}

/// The route key of what no other route takes.
pub const DEFAULT_ROUTE: &str = "$default";

/// Every route but the default one: method and path.
pub fn routes() -> Vec<(String, String)> {
    let events = functions().flat_map(|(_, properties)| properties["Events"].as_object().unwrap().values());
    events
        .filter(|event| event["Type"] == "HttpApi")
        .map(|event| &event["Properties"])
        .filter(|route| !route["Path"].is_null())
        .map(|route| (text(&route["Method"]), text(&route["Path"])))
        .collect()
}

/// The programs that are given a table.
pub fn programs_with_tables() -> BTreeSet<String> {
    let has_table = |properties: &Value| {
        let variables = properties["Environment"]["Variables"].as_object();
        variables.is_some_and(|variables| variables.keys().any(|name| name.ends_with("_TABLE")))
    };
    functions().filter(|(_, properties)| has_table(properties)).map(|(_, it)| program(it).to_owned()).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// The programs of the package `functions`: name and source file.
fn bins() -> BTreeMap<String, PathBuf> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(workspace())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|package| package["name"] == "functions").unwrap();
    let targets = package["targets"].as_array().unwrap();
    targets.iter().map(|bin| (text(&bin["name"]), PathBuf::from(text(&bin["src_path"])))).collect()
}

/// The files in the areas' folders.
fn files() -> BTreeSet<PathBuf> {
    let entries = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries(&workspace().join("functions"))
        .filter(|area| area.is_dir())
        .flat_map(|area| entries(&area).collect::<Vec<_>>())
        .filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

#[test]
fn the_tree_the_programs_and_the_template_list_the_same_functions() {
    let bins = bins();
    assert_eq!(files(), bins.values().cloned().collect());
    let deployed: BTreeSet<_> = functions().map(|(_, properties)| program(properties).to_owned()).collect();
    assert_eq!(deployed, bins.keys().cloned().collect());
    for (name, file) in &bins {
        let area = file.parent().unwrap().file_name().unwrap().to_str().unwrap();
        let what = file.file_stem().unwrap().to_str().unwrap().replace('_', "-");
        assert_eq!(name, &format!("{area}-{what}"));
    }
}

#[test]
fn a_function_is_named_after_its_program() {
    for (name, properties) in functions() {
        let words = program(properties).split('-').map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_uppercase() + rest
        });
        assert_eq!(name, words.collect::<String>());
    }
}

#[test]
fn the_template_gives_every_function_the_variables_it_needs_and_no_other() {
    beside(async {
        for (name, properties) in functions() {
            let given = properties["Environment"]["Variables"].as_object();
            let given: BTreeSet<String> = given.into_iter().flat_map(|fields| fields.keys().cloned()).collect();
            assert_eq!(needed(&binaries().await.join(program(properties))), given, "{name}");
        }
    });
}

/// What a function says it misses when it has nothing at all. One that needs nothing of ours misses the runtime.
fn needed(program: &Path) -> BTreeSet<String> {
    const SAYS: &str = "missing environment variables: ";
    let output = Command::new(program).env_clear().stdin(Stdio::null()).output().unwrap();
    assert!(!output.status.success(), "{} runs without an environment", program.display());
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).unwrap();
    if said.contains("Missing AWS_LAMBDA_FUNCTION_NAME") {
        return BTreeSet::new();
    }
    let (_, names) = said.split_once(SAYS).unwrap_or_else(|| panic!("{}: {said}", program.display()));
    let end = names.find(|c: char| !(c.is_ascii_alphanumeric() || "_, ".contains(c))).unwrap_or(names.len());
    names[..end].split(", ").map(str::to_owned).collect()
}

fn timeout(properties: &Value) -> u64 {
    let own = properties["Timeout"].as_u64();
    own.unwrap_or_else(|| TEMPLATE["Globals"]["Function"]["Timeout"].as_u64().unwrap())
}

/// The logical id in `!GetAtt Name.Arn`.
pub fn target(value: &Value) -> &str {
    value["!GetAtt"].as_str().unwrap().strip_suffix(".Arn").unwrap()
}

/// Queues that feed a function, with the function's properties and the mapping.
pub fn consumers() -> Vec<(&'static str, &'static Value, &'static Value)> {
    let mut found = Vec::new();
    for (_, properties) in functions() {
        for event in properties["Events"].as_object().unwrap().values().filter(|event| event["Type"] == "SQS") {
            found.push((target(&event["Properties"]["Queue"]), properties, &event["Properties"]));
        }
    }
    found
}

#[test]
fn a_queue_hides_a_message_for_six_times_its_consumers_time_out() {
    for (queue, properties, _) in consumers() {
        let visibility = &TEMPLATE["Resources"][queue]["Properties"]["VisibilityTimeout"];
        assert_eq!(visibility, 6 * timeout(properties), "{queue}");
    }
}

#[test]
fn a_consumer_reports_every_message_for_itself() {
    for (queue, _, mapping) in consumers() {
        assert_eq!(mapping["FunctionResponseTypes"], json!(["ReportBatchItemFailures"]), "{queue}");
        let fifo = TEMPLATE["Resources"][queue]["Properties"]["FifoQueue"] == true;
        let batch = &mapping["BatchSize"];
        assert_eq!(batch, if fifo { 1 } else { 10 }, "{queue}: a stalled group must hold up nothing else");
        assert_eq!(mapping["MaximumBatchingWindowInSeconds"], Value::Null, "{queue}");
    }
}

#[test]
fn every_consumer_has_a_cap_that_a_deployment_sets() {
    for (queue, _, mapping) in consumers() {
        let fifo = TEMPLATE["Resources"][queue]["Properties"]["FifoQueue"] == true;
        let parameter = if fifo { "FirstAttemptConcurrency" } else { "RetryConcurrency" };
        assert_eq!(mapping["ScalingConfig"]["MaximumConcurrency"], json!({"!Ref": parameter}), "{queue}");
    }
    let default = |parameter: &str| TEMPLATE["Parameters"][parameter]["Default"].as_u64().unwrap();
    assert!(
        default("FirstAttemptsPerAccount") * 3 <= default("FirstAttemptConcurrency"),
        "three accounts hang at once"
    );
}

#[test]
fn every_queue_is_consumed_or_keeps_dead_letters_for_14_days() {
    let consumed: BTreeSet<_> = consumers().into_iter().map(|(queue, ..)| queue).collect();
    for (name, queue) in resources("AWS::SQS::Queue") {
        if consumed.contains(name) {
            let letters = target(&queue["RedrivePolicy"]["deadLetterTargetArn"]);
            assert!(!consumed.contains(letters), "{name}");
            let letters = &TEMPLATE["Resources"][letters]["Properties"];
            assert_eq!(letters["FifoQueue"], queue["FifoQueue"], "{name}");
            assert_eq!(letters["MessageRetentionPeriod"], 14 * 24 * 60 * 60, "{name}");
        } else {
            assert_eq!(queue["RedrivePolicy"], Value::Null, "{name} is neither consumed nor a dead-letter queue");
        }
    }
}

/// Every value under a key of this name, at any depth.
fn values_of<'a>(key: &str, value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get(key));
            fields.values().for_each(|field| values_of(key, field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| values_of(key, item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn no_policy_has_a_wildcard() {
    for key in ["Action", "NotAction", "Resource", "NotResource"] {
        let mut found = Vec::new();
        values_of(key, &TEMPLATE["Resources"], &mut found);
        for value in found {
            assert!(!value.to_string().contains('*'), "{key}: {value}");
        }
    }
    for (name, properties) in functions() {
        let own = properties["Role"].is_object() || properties["Policies"].is_array();
        assert!(own, "{name} has no policy of its own");
    }
}

#[test]
fn a_start_does_not_wait_for_the_jitter_of_the_processor() {
    beside(async {
        let bins = bins();
        let program = std::fs::read(binaries().await.join(bins.keys().next().unwrap())).unwrap();
        let has = |name: &[u8]| program.windows(name.len()).any(|bytes| bytes == name);
        assert!(has(b"aws_lc"), "another TLS stack: then this test and .cargo/config.toml look at the wrong one");
        assert!(!has(b"jent_entropy_collector_alloc"), "aws-lc was built without .cargo/config.toml");
    });
}

#[test]
fn routes_are_unique() {
    let all = routes();
    let unique: BTreeSet<_> = all.iter().collect();
    assert_eq!(unique.len(), all.len());
}
