//! What the names of a template mean on this machine.
//!
//! Resources are called by their logical ids; what AWS would invent (ARNs, addresses) is made up so that it
//! is stable and works: a queue's URL leads to the local queue, an API's endpoint to the gateway.

use std::collections::BTreeMap;

use super::error::{Error, Place, Problem};
use super::yaml::{Node, entries};
use crate::identity::{ACCOUNT, REGION, function_arn, role_arn, table_arn};
use crate::sqs::Queues;

/// Where things of this host can be reached.
#[derive(Debug, Clone)]
pub struct Addresses {
    /// The gateway: `GetAtt Api.ApiEndpoint`.
    pub gateway: String,
    /// What queue URLs begin with.
    pub queues: String,
}

/// The names a template declares, with their local values.
pub(super) struct Scope {
    parameters: BTreeMap<String, Node>,
    pub(super) conditions: BTreeMap<String, Node>,
    kinds: BTreeMap<String, String>,
    fifo: Vec<String>,
    addresses: Addresses,
}

impl Scope {
    pub fn new(template: &Node, overrides: &BTreeMap<String, String>, addresses: Addresses) -> Result<Self, Error> {
        let mut scope = Self {
            parameters: super::parameters::values(template, overrides)?,
            conditions: entries(template, "Conditions").cloned().collect(),
            kinds: BTreeMap::new(),
            fifo: Vec::new(),
            addresses,
        };
        scope.declare(template)?;
        Ok(scope)
    }

    /// Resources whose condition does not hold are not declared: nothing may refer to them.
    fn declare(&mut self, template: &Node) -> Result<(), Error> {
        for (name, resource) in entries(template, "Resources") {
            if !self.exists(name, resource)? {
                continue;
            }
            let kind = resource.get("Type").map(Node::as_text).unwrap_or_default();
            self.kinds.insert(name.clone(), kind.to_owned());
            let fifo = resource.get("Properties").and_then(|properties| properties.get("FifoQueue"));
            if fifo.is_some_and(|fifo| fifo.as_text() == "true") {
                self.fifo.push(name.clone());
            }
        }
        Ok(())
    }

    fn exists(&self, name: &str, resource: &Node) -> Result<bool, Error> {
        let Some(condition) = resource.get("Condition") else {
            return Ok(true);
        };
        let place = Place::default().inner(name).inner("Condition");
        self.named_condition(condition.as_text(), condition.line, &place, &[])
    }

    /// Whether the resource is part of the stack.
    pub fn is_declared(&self, resource: &str) -> bool {
        self.kinds.contains_key(resource)
    }

    pub fn is_queue(&self, logical_id: &str) -> bool {
        self.kinds.get(logical_id).is_some_and(|kind| kind == "AWS::SQS::Queue")
    }

    /// The local name of a queue. AWS ends a generated name in `.fifo` as well.
    pub fn queue_name(&self, logical_id: &str) -> String {
        if self.fifo.iter().any(|fifo| fifo == logical_id) {
            format!("{logical_id}.fifo")
        } else {
            logical_id.to_owned()
        }
    }

    /// `Ref`: a node, or nothing for `AWS::NoValue`.
    pub fn reference(&self, name: &str, line: usize, place: &Place) -> Result<Option<Node>, Error> {
        if name == "AWS::NoValue" {
            return Ok(None);
        }
        if let Some(value) = self.parameters.get(name) {
            return Ok(Some(value.clone()));
        }
        let text = match name {
            "AWS::Region" => REGION,
            "AWS::AccountId" => ACCOUNT,
            "AWS::Partition" => "aws",
            "AWS::URLSuffix" => "amazonaws.com",
            "AWS::StackName" => "local",
            "AWS::StackId" => "arn:aws:cloudformation:us-east-1:000000000000:stack/local/local",
            _ => return self.resource(name, line, place).map(Some),
        };
        Ok(Some(Node::scalar(line, text)))
    }

    fn resource(&self, name: &str, line: usize, place: &Place) -> Result<Node, Error> {
        let text = match self.kind(name, line, place)? {
            "AWS::SQS::Queue" => Queues::url(&self.addresses.queues, &self.queue_name(name)),
            _ => name.to_owned(),
        };
        Ok(Node::scalar(line, text))
    }

    fn kind(&self, name: &str, line: usize, place: &Place) -> Result<&str, Error> {
        let unresolved = || place.error(line, Problem::Unresolved(name.to_owned()));
        self.kinds.get(name).map(String::as_str).ok_or_else(unresolved)
    }

    /// `GetAtt`; `path` is `Resource.Attribute`.
    pub fn attribute(&self, path: &str, line: usize, place: &Place) -> Result<String, Error> {
        let (name, attribute) = path.split_once('.').unwrap_or((path, ""));
        let kind = self.kind(name, line, place)?;
        Ok(match (kind, attribute) {
            ("AWS::SQS::Queue", "Arn") => Queues::arn(&self.queue_name(name)),
            ("AWS::SQS::Queue", "QueueName") => self.queue_name(name),
            ("AWS::SQS::Queue", "QueueUrl") => Queues::url(&self.addresses.queues, &self.queue_name(name)),
            ("AWS::DynamoDB::Table", "Arn") => table_arn(name),
            ("AWS::IAM::Role", "Arn") => role_arn(name),
            ("AWS::Serverless::Function", "Arn") => function_arn(name),
            ("AWS::Serverless::HttpApi", "ApiEndpoint") => self.addresses.gateway.clone(),
            (_, "Arn") => format!("arn:aws:local:{REGION}:{ACCOUNT}:{name}"),
            (_, attribute) => format!("{name}.{attribute}"),
        })
    }
}
