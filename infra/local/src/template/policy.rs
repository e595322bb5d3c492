//! Reads a function's permissions from its own `Policies`, or from the `AWS::IAM::Role` to which its `Role` refers.

use std::collections::BTreeMap;

use super::error::{Error, ErrorKind};
use super::evaluated_value::EvaluatedValue;
use super::queue_mapping::QueueMapping;
use super::stream_mapping::StreamMapping;
use crate::aws::arn::table_stream_arn;
use crate::aws::iam::Permission;
use crate::sqs::Queues;

/// The SQS actions that Lambda performs with the function's role to consume a queue.
const QUEUE_CONSUMER_ACTIONS: [&str; 3] = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"];

/// The DynamoDB actions that Lambda performs with the function's role to read a stream.
const STREAM_CONSUMER_ACTIONS: [&str; 4] =
    ["dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:DescribeStream", "dynamodb:ListStreams"];

/// The only places where a policy may contain a wildcard, at the end of a resource: the id of a WebSocket connection,
/// the role of a customer, whose trust policy decides, and the files in the three folders of a bucket.
const WILDCARDS: [&str; 5] = ["/@connections/*", ":iam::*:role/*", "/pending/*", "/files/*", "/mail/*"];

/// The permissions of each `AWS::IAM::Role`, by the role's ARN.
pub(super) type PermissionsByRole = BTreeMap<String, Vec<Permission>>;

pub(super) fn role_permissions(properties: &EvaluatedValue<'_>) -> Result<Vec<Permission>, Error> {
    let mut permissions = Vec::new();
    for policy in policies(properties)? {
        permissions.extend(document_permissions(&policy.require("PolicyDocument")?)?);
    }
    Ok(permissions)
}

/// Returns the function's permissions: those of its `Role`, if it has one. Otherwise, SAM creates a role that has the
/// function's policies and may also consume the function's queues and streams.
pub(super) fn function_permissions(
    properties: &EvaluatedValue<'_>,
    roles: &PermissionsByRole,
    queues: &[QueueMapping],
    streams: &[StreamMapping],
) -> Result<Vec<Permission>, Error> {
    if let Some(role) = properties.get("Role")? {
        let arn = role.text()?;
        return roles.get(&arn).cloned().ok_or_else(|| role.error(ErrorKind::UnknownRole(arn)));
    }
    let mut permissions = event_source_permissions(queues, streams);
    for policy in policies(properties)? {
        permissions.extend(document_permissions(&policy)?);
    }
    Ok(permissions)
}

pub(crate) fn event_source_permissions(queues: &[QueueMapping], streams: &[StreamMapping]) -> Vec<Permission> {
    let queues = queues.iter().map(|QueueMapping { queue, .. }| Queues::arn(queue));
    let streams = streams.iter().map(|StreamMapping { table, .. }| table_stream_arn(table));
    let queues = queues.flat_map(|arn| permissions_on(arn, &QUEUE_CONSUMER_ACTIONS));
    queues.chain(streams.flat_map(|arn| permissions_on(arn, &STREAM_CONSUMER_ACTIONS))).collect()
}

fn permissions_on(resource: String, actions: &'static [&str]) -> impl Iterator<Item = Permission> {
    actions.iter().map(move |action| Permission { action: (*action).to_owned(), resource: resource.clone() })
}

fn policies<'s>(properties: &EvaluatedValue<'s>) -> Result<Vec<EvaluatedValue<'s>>, Error> {
    properties.get("Policies")?.map_or(Ok(Vec::new()), |policies| policies.items())
}

fn document_permissions(document: &EvaluatedValue<'_>) -> Result<Vec<Permission>, Error> {
    let mut permissions = Vec::new();
    for statement in document.require("Statement")?.items()? {
        permissions.extend(statement_permissions(&statement)?);
    }
    Ok(permissions)
}

/// Returns one permission for each combination of the statement's actions and resources. Conditions, wildcards (except
/// those of [`WILDCARDS`]) and `Deny` are rejected, because the local host does not implement them.
fn statement_permissions(statement: &EvaluatedValue<'_>) -> Result<Vec<Permission>, Error> {
    for (key, value) in statement.entries()? {
        if !["Sid", "Effect", "Action", "Resource"].contains(&key.as_str()) {
            return Err(value.unexpected_value("nothing but Sid, Effect, Action and Resource"));
        }
    }
    let effect = statement.require("Effect")?;
    if effect.text()? != "Allow" {
        return Err(effect.unexpected_value("Allow"));
    }
    let actions = names_without_wildcards(&statement.require("Action")?, &[])?;
    let resources = names_without_wildcards(&statement.require("Resource")?, &WILDCARDS)?;
    let actions_on = |resource: &String| {
        let resource = resource.clone();
        actions.iter().map(move |action| Permission { action: action.clone(), resource: resource.clone() })
    };
    Ok(resources.iter().flat_map(actions_on).collect())
}

/// Returns the actions or resources of a statement. Wildcards are rejected, except in one of the `allowed_suffixes` at
/// the end of an item.
fn names_without_wildcards(value: &EvaluatedValue<'_>, allowed_suffixes: &[&str]) -> Result<Vec<String>, Error> {
    let names = value.texts()?;
    let has_wildcard = |name: &String| {
        let allowed = allowed_suffixes.iter().find_map(|suffix| name.strip_suffix(suffix));
        allowed.unwrap_or(name).contains(['*', '?'])
    };
    if names.iter().any(has_wildcard) {
        return Err(value.unexpected_value("names without wildcards"));
    }
    Ok(names)
}
