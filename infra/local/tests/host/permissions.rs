//! Tests of roles: a function may do only what the template allows.

use local::{Error, Host, Permission};
use serde_json::json;

use crate::probe_host::{ProbeHost, link_binaries, start_with_template_change};

/// Returns the permissions that the probe function has not used.
fn unused(host: &Host) -> Vec<String> {
    let unused = host.unused_permissions().into_iter().filter(|(function, _)| function == "probe");
    unused.map(|(function, Permission { action, resource })| format!("{function} {action} {resource}")).collect()
}

#[tokio::test]
async fn allowed_operations_are_recorded_as_used() {
    let host = ProbeHost::start().await;
    let put = "probe dynamodb:PutItem arn:aws:dynamodb:us-east-1:000000000000:table/Items";
    let query = "probe dynamodb:Query arn:aws:dynamodb:us-east-1:000000000000:table/Items/index/listing";
    let send = "probe sqs:SendMessage arn:aws:sqs:us-east-1:000000000000:Jobs";
    assert_eq!(unused(&host), [put, query, send]);
    host.invoke("probe", json!({"do": "query", "index": "listing"})).await.unwrap();
    assert_eq!(unused(&host), [put, send]);
    host.invoke("probe", json!({"do": "tables"})).await.unwrap();
    host.invoke("probe", json!({"do": "send", "body": "x"})).await.unwrap();
    assert_eq!(unused(&host), [""; 0]);
}

#[tokio::test]
async fn forbidden_operation_gets_the_error_of_aws() {
    for (from, to, payload, refused) in [
        (
            "Resource: !Sub ${Items.Arn}/index/listing",
            "Resource: !GetAtt Items.Arn",
            json!({"do": "query", "index": "listing"}),
            "dynamodb:Query on resource: arn:aws:dynamodb:us-east-1:000000000000:table/Items/index/listing",
        ),
        (
            "Action: sqs:SendMessage",
            "Action: sqs:PurgeQueue",
            json!({"do": "send", "body": "x"}),
            "sqs:SendMessage on resource: arn:aws:sqs:us-east-1:000000000000:Jobs",
        ),
    ] {
        let folder = link_binaries();
        let host = start_with_template_change(folder.path(), from, to).await.unwrap();
        let error = host.invoke("probe", payload).await.unwrap_err().to_string();
        assert!(error.contains("AccessDeniedException"), "{error}");
        let message = "User: arn:aws:sts::000000000000:assumed-role/probe/probe is not authorized to perform: ";
        assert!(error.contains(&format!("{message}{refused}")), "{error}");
    }
}

#[tokio::test]
async fn role_without_consumer_permission_prevents_the_start() {
    for (from, to, function, message) in [
        (
            "sqs:GetQueueAttributes",
            "sqs:PurgeQueue",
            "Worker",
            "sqs:GetQueueAttributes on resource: arn:aws:sqs:us-east-1:000000000000:Jobs",
        ),
        (
            "dynamodb:GetShardIterator",
            "dynamodb:GetItem",
            "Watcher",
            "dynamodb:GetShardIterator on resource: arn:aws:dynamodb:us-east-1:000000000000:table/Watched/stream/",
        ),
    ] {
        let folder = link_binaries();
        let error = start_with_template_change(folder.path(), from, to).await.err().unwrap();
        assert!(matches!(error, Error::MissingPermission { .. }), "{error}");
        let error = error.to_string();
        assert!(error.starts_with(&format!("{function}: User: ")) && error.contains(message), "{error}");
    }
}

/// Returns the variables of a running process of the function.
fn environment_of(host: &Host, function: &str) -> impl Fn(&str) -> String {
    let (_, pid) = host.processes().into_iter().find(|(name, _)| name == function).unwrap();
    let variables = std::fs::read_to_string(format!("/proc/{pid}/environ")).unwrap();
    move |name| variables.split('\0').find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).unwrap().to_owned()
}

#[tokio::test]
async fn tables_and_queues_refuse_programs_without_the_access_key_of_the_function() {
    let host = ProbeHost::start().await;
    for function in ["probe", "worker"] {
        host.start_function(function).await.unwrap();
    }
    let (probe, worker) = (environment_of(&host, "probe"), environment_of(&host, "worker"));
    let tables = (probe("AWS_ENDPOINT_URL_DYNAMODB"), "DynamoDB_20120810.ListTables");
    let queues = (probe("AWS_ENDPOINT_URL_SQS"), "AmazonSQS.ListQueues");
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for (url, target) in [tables, queues] {
        let status = async |url: &str, key: Option<&str>, name: Option<&str>| {
            let request = client.post(url).header("x-amz-target", target).body("{}");
            let credential = |key| format!("AWS4-HMAC-SHA256 Credential={key}/20261125/us-east-1/x/aws4_request");
            let request = key.into_iter().fold(request, |it, key| it.header("authorization", credential(key)));
            let request = name.into_iter().fold(request, |it, name| it.header("host", name));
            request.send().await.unwrap().status().as_u16()
        };
        let (key, other_key) = (probe("AWS_ACCESS_KEY_ID"), worker("AWS_ACCESS_KEY_ID"));
        assert_ne!(status(&url, Some(&key), None).await, 403, "{target}");
        for forged in [None, Some("ASIA0000000000000000"), Some(other_key.as_str())] {
            assert_eq!(status(&url, forged, None).await, 403, "{target} with {forged:?}");
        }
        assert_eq!(status(&url.replace("probe", "nobody"), Some(&key), None).await, 403, "{target}");
        assert_eq!(status(&url, Some(&key), Some("evil.example")).await, 403, "{target} from a rebound name");
    }
    let usage = client.get(format!("{}/_local/usage", host.base_url()));
    assert_eq!(usage.header("host", "evil.example").send().await.unwrap().status(), 403);
    let of_tools = host.tables_url("tests");
    let guessed = format!("{}x/tests", of_tools.strip_suffix("/tests").unwrap());
    for (url, expected) in [(of_tools, 200), (guessed, 403)] {
        let request = client.post(url).header("x-amz-target", "DynamoDB_20120810.Scan");
        let request = request.body(json!({"TableName": "Items"}).to_string());
        assert_eq!(request.send().await.unwrap().status().as_u16(), expected);
    }
}
