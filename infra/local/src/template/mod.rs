//! Reads `template.yaml`, the only definition of functions, routes, queues and tables.
//!
//! Resources that run locally, and roles, are validated. The first error in them is reported with its line number. Of
//! all other resources (alarms, dashboards, log groups), only the type and the condition are read.
//!
//! # Layout
//! - `yaml.rs`, `error.rs`: the template as a tree that keeps line numbers, and errors with a line number and path
//! - `scope.rs`, `parameters.rs`, `intrinsics.rs`, `conditions.rs`: evaluate names, parameters, intrinsic functions and
//!   conditions
//! - `evaluated_value.rs`: typed access to evaluated values
//! - `bucket.rs`, `function.rs`, `queue.rs`, `table.rs`, `web_socket_api.rs`: the resources that run locally
//! - `event_sources.rs`, `queue_mapping.rs`, `stream_mapping.rs`: the events that invoke a function
//! - `policy.rs`: the functions' permissions
//! - `globals.rs`: the properties that all functions share

mod bucket;
mod conditions;
mod error;
mod evaluated_value;
mod event_sources;
mod function;
mod globals;
mod intrinsics;
mod parameters;
mod policy;
mod queue;
mod queue_mapping;
mod scope;
mod stream_mapping;
mod table;
#[cfg(test)]
mod tests;
mod web_socket_api;
mod yaml;

use std::collections::BTreeMap;

use self::evaluated_value::EvaluatedValue;
use self::policy::PermissionsByRole;
use self::scope::Scope;
use crate::aws::arn::role_arn;
use crate::s3::BucketDefinition;
use crate::sqs::QueueDefinition;

pub use self::error::{Error, ErrorKind, ValuePath};
pub use self::event_sources::{Route, Schedule};
pub use self::function::{Function, Logging};
pub(crate) use self::policy::event_source_permissions;
pub use self::queue_mapping::QueueMapping;
pub use self::scope::Addresses;
pub use self::stream_mapping::StreamMapping;
pub use self::table::{IndexDefinition, TableDefinition};
pub use self::web_socket_api::{SocketRoute, WebSocketApi};

/// The resources of a template that run locally, each list in template order.
#[derive(Debug, Default)]
pub struct Template {
    pub functions: Vec<Function>,
    pub tables: Vec<TableDefinition>,
    pub queues: Vec<QueueDefinition>,
    pub buckets: Vec<BucketDefinition>,
    pub web_socket_api: Option<WebSocketApi>,
}

impl Template {
    /// Reads a template from its YAML text. `parameters` replace the default values of the template's parameters. Fails
    /// with the first error in the template.
    pub fn read(text: &str, parameters: &BTreeMap<String, String>, addresses: Addresses) -> Result<Self, Error> {
        let root = yaml::parse(text)?;
        let scope = Scope::new(&root, parameters, addresses)?;
        let declared = yaml::section_entries(&root, "Resources").filter(|(name, _)| scope.is_declared(name));
        let resources = declared.map(|(name, resource)| {
            let resource = globals::with_globals(&root, resource);
            (name.as_str(), EvaluatedValue::resource(&scope, name, resource))
        });
        let resources: Vec<_> = resources.collect();
        let roles = read_roles(&resources)?;
        let mut template = Self::default();
        for (name, resource) in &resources {
            template.add_resource(name, resource, &roles)?;
        }
        template.web_socket_api = read_web_socket_api(&resources, &template.functions)?;
        template.check_duplicates()?;
        Ok(template)
    }

    fn add_resource(
        &mut self,
        name: &str,
        resource: &EvaluatedValue<'_>,
        roles: &PermissionsByRole,
    ) -> Result<(), Error> {
        let properties = resource.get_or_empty("Properties")?;
        match resource.require("Type")?.text()?.as_str() {
            "AWS::Serverless::Function" => self.functions.push(function::read(name, &properties, roles)?),
            "AWS::SQS::Queue" => self.queues.push(queue::read(name, &properties)?),
            "AWS::S3::Bucket" => self.buckets.push(bucket::read(name, &properties)?),
            "AWS::DynamoDB::Table" => self.tables.push(table::read(name, &properties)?),
            _ => {}
        }
        Ok(())
    }

    /// Rejects a route that is defined twice, and a binary that belongs to more than one function.
    fn check_duplicates(&self) -> Result<(), Error> {
        let mut binaries = BTreeMap::new();
        let mut routes = BTreeMap::new();
        for function in &self.functions {
            if let Some(owner) = binaries.insert(&function.name, &function.logical_id) {
                return Err(function.duplicate_binary_error(owner));
            }
            for route in &function.routes {
                if let Some(owner) = routes.insert(route.pattern(), &function.logical_id) {
                    return Err(route.duplicate_route_error(&function.logical_id, owner));
                }
            }
        }
        Ok(())
    }
}

/// Returns the template's WebSocket API, or `None` if it has none. Its routes refer to functions, so it is read after
/// the functions.
fn read_web_socket_api(
    resources: &[(&str, EvaluatedValue<'_>)],
    functions: &[Function],
) -> Result<Option<WebSocketApi>, Error> {
    let mut api = None;
    for (name, resource) in resources {
        let resource_type = resource.require("Type")?;
        if resource_type.text()? != "AWS::Serverless::WebSocketApi" {
            continue;
        }
        if api.is_some() {
            return Err(resource_type.error(ErrorKind::SecondWebSocketApi));
        }
        api = Some(web_socket_api::read(name, &resource.get_or_empty("Properties")?, functions)?);
    }
    Ok(api)
}

fn read_roles(resources: &[(&str, EvaluatedValue<'_>)]) -> Result<PermissionsByRole, Error> {
    let mut roles = PermissionsByRole::new();
    for (name, resource) in resources {
        if resource.require("Type")?.text()? == "AWS::IAM::Role" {
            roles.insert(role_arn(name), policy::role_permissions(&resource.get_or_empty("Properties")?)?);
        }
    }
    Ok(roles)
}
