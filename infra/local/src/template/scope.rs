//! Resolves names in a template: parameters, pseudo parameters, resources and their attributes.
//!
//! A resource's name is its logical id; the name of a FIFO queue also ends in `.fifo`. Values that AWS would generate
//! (ARNs, URLs) have local values: a queue's URL points to the local queue, and an API's endpoint points to the
//! gateway.

use std::collections::{BTreeMap, BTreeSet};

use super::error::{Error, ErrorKind, ValuePath};
use super::parameters;
use super::yaml::{Node, section_entries};
use crate::aws::arn::{AWS_ACCOUNT_ID, REGION, function_arn, role_arn, table_arn, table_stream_arn};
use crate::s3::bucket_arn;
use crate::sqs::Queues;

#[derive(Debug, Clone)]
pub struct Addresses {
    /// The value of `GetAtt Api.ApiEndpoint`.
    pub gateway: String,
    /// The prefix of all queue URLs.
    pub queues: String,
}

impl Addresses {
    /// Returns the value of `GetAtt SocketApi.ApiEndpoint`. The gateway accepts WebSockets on the same port.
    fn web_sockets(&self) -> String {
        self.gateway.replacen("http", "ws", 1)
    }
}

pub(super) struct Scope {
    parameters: BTreeMap<String, Node>,
    pub(super) conditions: BTreeMap<String, Node>,
    /// The type of each declared resource, by logical id.
    resource_types: BTreeMap<String, String>,
    fifo_queues: BTreeSet<String>,
    tables_with_stream: BTreeSet<String>,
    addresses: Addresses,
}

impl Scope {
    pub fn new(template: &Node, overrides: &BTreeMap<String, String>, addresses: Addresses) -> Result<Self, Error> {
        let mut scope = Self {
            parameters: parameters::values(template, overrides, &addresses.gateway)?,
            conditions: section_entries(template, "Conditions").cloned().collect(),
            resource_types: BTreeMap::new(),
            fifo_queues: BTreeSet::new(),
            tables_with_stream: BTreeSet::new(),
            addresses,
        };
        scope.declare_resources(template)?;
        Ok(scope)
    }

    /// Resources whose condition is false are omitted, so references to them are errors.
    fn declare_resources(&mut self, template: &Node) -> Result<(), Error> {
        for (logical_id, resource) in section_entries(template, "Resources") {
            if !self.is_condition_true(logical_id, resource)? {
                continue;
            }
            let resource_type = resource.get("Type").map(Node::as_text).unwrap_or_default();
            self.resource_types.insert(logical_id.clone(), resource_type.to_owned());
            let property = |name| resource.get("Properties").and_then(|properties| properties.get(name));
            if property("FifoQueue").is_some_and(|is_fifo| is_fifo.as_text() == "true") {
                self.fifo_queues.insert(logical_id.clone());
            }
            if property("StreamSpecification").is_some() {
                self.tables_with_stream.insert(logical_id.clone());
            }
        }
        Ok(())
    }

    fn is_condition_true(&self, logical_id: &str, resource: &Node) -> Result<bool, Error> {
        let Some(condition) = resource.get("Condition") else {
            return Ok(true);
        };
        let path = ValuePath::default().child(logical_id).child("Condition");
        self.evaluate_condition(condition.as_text(), condition.line, &path, &[])
    }

    /// Returns whether the template declares the resource and the resource's condition is true.
    pub fn is_declared(&self, logical_id: &str) -> bool {
        self.resource_types.contains_key(logical_id)
    }

    pub fn is_queue(&self, logical_id: &str) -> bool {
        self.resource_types.get(logical_id).is_some_and(|resource_type| resource_type == "AWS::SQS::Queue")
    }

    pub fn has_stream(&self, logical_id: &str) -> bool {
        self.tables_with_stream.contains(logical_id)
    }

    /// Returns the name of a queue: its logical id. As on AWS, the name of a FIFO queue also ends in `.fifo`.
    pub fn queue_name(&self, logical_id: &str) -> String {
        if self.fifo_queues.contains(logical_id) { format!("{logical_id}.fifo") } else { logical_id.to_owned() }
    }

    /// Returns the value of `Ref` for a name, or `None` for `AWS::NoValue`.
    pub fn resolve_ref(&self, name: &str, line: usize, path: &ValuePath) -> Result<Option<Node>, Error> {
        if name == "AWS::NoValue" {
            return Ok(None);
        }
        if let Some(value) = self.parameters.get(name) {
            return Ok(Some(value.clone()));
        }
        let text = match name {
            "AWS::Region" => REGION,
            "AWS::AccountId" => AWS_ACCOUNT_ID,
            "AWS::Partition" => "aws",
            "AWS::URLSuffix" => "amazonaws.com",
            "AWS::StackName" => "local",
            "AWS::StackId" => "arn:aws:cloudformation:us-east-1:000000000000:stack/local/local",
            _ => return self.resource_ref(name, line, path).map(Some),
        };
        Ok(Some(Node::scalar(line, text)))
    }

    fn resource_ref(&self, logical_id: &str, line: usize, path: &ValuePath) -> Result<Node, Error> {
        let text = match self.resource_type(logical_id, line, path)? {
            "AWS::SQS::Queue" => Queues::url(&self.addresses.queues, &self.queue_name(logical_id)),
            _ => logical_id.to_owned(),
        };
        Ok(Node::scalar(line, text))
    }

    fn resource_type(&self, logical_id: &str, line: usize, path: &ValuePath) -> Result<&str, Error> {
        let unknown = || path.error(line, ErrorKind::UnknownResource(logical_id.to_owned()));
        self.resource_types.get(logical_id).map(String::as_str).ok_or_else(unknown)
    }

    /// Returns the value of `GetAtt` for a reference of the form `Resource.Attribute`. The value of an attribute that
    /// the host does not emulate is a made-up text.
    pub fn resolve_attribute(&self, reference: &str, line: usize, path: &ValuePath) -> Result<String, Error> {
        let (logical_id, attribute) = reference.split_once('.').unwrap_or((reference, ""));
        let resource_type = self.resource_type(logical_id, line, path)?;
        Ok(match (resource_type, attribute) {
            ("AWS::SQS::Queue", "Arn") => Queues::arn(&self.queue_name(logical_id)),
            ("AWS::SQS::Queue", "QueueName") => self.queue_name(logical_id),
            ("AWS::SQS::Queue", "QueueUrl") => Queues::url(&self.addresses.queues, &self.queue_name(logical_id)),
            ("AWS::DynamoDB::Table", "Arn") => table_arn(logical_id),
            ("AWS::DynamoDB::Table", "StreamArn") if self.has_stream(logical_id) => table_stream_arn(logical_id),
            ("AWS::DynamoDB::Table", "StreamArn") => {
                return Err(path.error(line, ErrorKind::TableWithoutStream(logical_id.to_owned())));
            }
            ("AWS::S3::Bucket", "Arn") => bucket_arn(logical_id),
            ("AWS::IAM::Role", "Arn") => role_arn(logical_id),
            ("AWS::Serverless::Function", "Arn") => function_arn(logical_id),
            ("AWS::Serverless::HttpApi", "ApiEndpoint") => self.addresses.gateway.clone(),
            ("AWS::Serverless::WebSocketApi", "ApiEndpoint") => self.addresses.web_sockets(),
            ("AWS::Serverless::WebSocketApi", "ApiId") => logical_id.to_owned(),
            (_, "Arn") => format!("arn:aws:local:{REGION}:{AWS_ACCOUNT_ID}:{logical_id}"),
            (_, attribute) => format!("{logical_id}.{attribute}"),
        })
    }
}
