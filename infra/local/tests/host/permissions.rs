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
