//! Reads `template.yaml`, the only list of functions, routes, queues and tables there is.
//!
//! What runs locally is read closely, and a mistake in it is one line with its place. Everything else
//! (alarms, dashboards, log groups) means nothing on one machine and is passed over.
//!
//! # Layout
//! - `function.rs`, `events.rs`, `queue.rs`, `table.rs`: the resources that run here
//! - `policy.rs`: what the functions may do
//! - `globals.rs`: what all functions have in common
//! - `scope.rs`, `parameters.rs`, `intrinsics.rs`, `conditions.rs`: what names and functions mean here
//! - `cursor.rs`, `yaml.rs`, `error.rs`: walking the text without losing the place

mod conditions;
mod cursor;
mod error;
mod events;
mod function;
mod globals;
mod intrinsics;
mod parameters;
mod policy;
mod queue;
mod scope;
mod table;
#[cfg(test)]
mod tests;
mod yaml;

use std::collections::BTreeMap;

use self::cursor::Cursor;
use self::policy::Roles;
use self::scope::Scope;
use crate::identity::role_arn;
use crate::sqs::QueueDefinition;

pub use self::error::{Error, Place, Problem};
pub use self::events::{QueueMapping, Route, Schedule};
pub use self::function::{Function, Logging};
pub(crate) use self::policy::to_consume;
pub use self::scope::Addresses;
pub use self::table::{Index, Table};

/// What the template declares and this machine can run.
#[derive(Debug, Default)]
pub struct Template {
    /// In the order of the template.
    pub functions: Vec<Function>,
    /// In the order of the template.
    pub tables: Vec<Table>,
    /// In the order of the template.
    pub queues: Vec<QueueDefinition>,
}

impl Template {
    /// Reads the text of a template; `parameters` overrides the defaults.
    ///
    /// # Errors
    /// The first mistake in what runs locally.
    pub fn read(text: &str, parameters: &BTreeMap<String, String>, addresses: Addresses) -> Result<Self, Error> {
        let root = yaml::parse(text)?;
        let scope = Scope::new(&root, parameters, addresses)?;
        let declared = yaml::entries(&root, "Resources").filter(|(name, _)| scope.is_declared(name));
        let resources = declared.map(|(name, resource)| {
            let resource = globals::applied(&root, resource);
            (name.as_str(), Cursor::new(&scope, name, resource))
        });
        let resources: Vec<_> = resources.collect();
        let roles = roles(&resources)?;
        let mut template = Self::default();
        for (name, resource) in &resources {
            template.resource(name, resource, &roles)?;
        }
        template.check()?;
        Ok(template)
    }

    fn resource(&mut self, name: &str, resource: &Cursor<'_>, roles: &Roles) -> Result<(), Error> {
        let properties = resource.section("Properties")?;
        match resource.require("Type")?.text()?.as_str() {
            "AWS::Serverless::Function" => self.functions.push(function::read(name, &properties, roles)?),
            "AWS::SQS::Queue" => self.queues.push(queue::read(name, &properties)?),
            "AWS::DynamoDB::Table" => self.tables.push(table::read(name, &properties)?),
            _ => {}
        }
        Ok(())
    }

    /// What only the whole shows: every route and every binary belongs to one function.
    fn check(&self) -> Result<(), Error> {
        let mut binaries = BTreeMap::new();
        let mut routes = BTreeMap::new();
        for function in &self.functions {
            if let Some(owner) = binaries.insert(&function.name, &function.logical_id) {
                return Err(function.duplicate_binary(owner));
            }
            for route in &function.routes {
                if let Some(owner) = routes.insert(route.shape(), &function.logical_id) {
                    return Err(route.duplicate(&function.logical_id, owner));
                }
            }
        }
        Ok(())
    }
}

fn roles(resources: &[(&str, Cursor<'_>)]) -> Result<Roles, Error> {
    let mut roles = Roles::new();
    for (name, resource) in resources {
        if resource.require("Type")?.text()? == "AWS::IAM::Role" {
            roles.insert(role_arn(name), policy::of_role(&resource.section("Properties")?)?);
        }
    }
    Ok(roles)
}
