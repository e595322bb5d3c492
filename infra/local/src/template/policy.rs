//! What a function's role allows: the `Policies` of the function, or those of the `AWS::IAM::Role` that it names.

use std::collections::BTreeMap;

use super::cursor::Cursor;
use super::error::{Error, Problem};
use super::events::QueueMapping;
use crate::permission::Permission;
use crate::sqs::Queues;

/// What Lambda does, in the name of a function, with a queue that feeds it.
const TO_CONSUME: [&str; 3] = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"];

/// What the roles of the template allow, by ARN.
pub(super) type Roles = BTreeMap<String, Vec<Permission>>;

/// `AWS::IAM::Role`.
pub(super) fn of_role(properties: &Cursor<'_>) -> Result<Vec<Permission>, Error> {
    let mut allowed = Vec::new();
    for policy in items(properties)? {
        allowed.extend(document(&policy.require("PolicyDocument")?)?);
    }
    Ok(allowed)
}

/// `AWS::Serverless::Function`. SAM makes the role of a function that names none, and lets it consume its queues.
pub(super) fn of_function(
    properties: &Cursor<'_>,
    queues: &[QueueMapping],
    roles: &Roles,
) -> Result<Vec<Permission>, Error> {
    if let Some(role) = properties.get("Role")? {
        let arn = role.text()?;
        return roles.get(&arn).cloned().ok_or_else(|| role.error(Problem::NotARole(arn)));
    }
    let mut allowed: Vec<_> = queues.iter().flat_map(to_consume).collect();
    for policy in items(properties)? {
        allowed.extend(document(&policy)?);
    }
    Ok(allowed)
}

/// What the role of a function that consumes the queue must allow.
pub(crate) fn to_consume(mapping: &QueueMapping) -> Vec<Permission> {
    let resource = Queues::arn(&mapping.queue);
    TO_CONSUME.map(|action| Permission { action: action.to_owned(), resource: resource.clone() }).into()
}

fn items<'s>(properties: &Cursor<'s>) -> Result<Vec<Cursor<'s>>, Error> {
    properties.get("Policies")?.map_or(Ok(Vec::new()), |policies| policies.items())
}

fn document(policy: &Cursor<'_>) -> Result<Vec<Permission>, Error> {
    let mut allowed = Vec::new();
    for statement in policy.require("Statement")?.items()? {
        allowed.extend(self::statement(&statement)?);
    }
    Ok(allowed)
}

/// Every action on every resource. What would need IAM's own rules is refused: this host plays those of the template.
fn statement(statement: &Cursor<'_>) -> Result<Vec<Permission>, Error> {
    for (key, value) in statement.entries()? {
        if !["Sid", "Effect", "Action", "Resource"].contains(&key.as_str()) {
            return Err(value.expected("nothing but Sid, Effect, Action and Resource"));
        }
    }
    let effect = statement.require("Effect")?;
    if effect.text()? != "Allow" {
        return Err(effect.expected("Allow"));
    }
    let actions = names(&statement.require("Action")?)?;
    let resources = names(&statement.require("Resource")?)?;
    let on = |resource: &String| {
        let resource = resource.clone();
        actions.iter().map(move |action| Permission { action: action.clone(), resource: resource.clone() })
    };
    Ok(resources.iter().flat_map(on).collect())
}

/// One or several, each in full.
fn names(value: &Cursor<'_>) -> Result<Vec<String>, Error> {
    let names = value.texts()?;
    if names.iter().any(|name| name.contains(['*', '?'])) {
        return Err(value.expected("names without wildcards"));
    }
    Ok(names)
}
