//! A template value after evaluation, with typed access to its properties. Each value has its path in the template, so
//! that every error contains the path.

use std::ops::RangeInclusive;

use super::error::{Error, ErrorKind, ValuePath};
use super::scope::Scope;
use super::yaml::{Node, Value};

pub(super) struct EvaluatedValue<'s> {
    scope: &'s Scope,
    path: ValuePath,
    node: Node,
}

impl<'s> EvaluatedValue<'s> {
    pub fn resource(scope: &'s Scope, logical_id: &str, node: Node) -> Self {
        let path = ValuePath::default().child(logical_id);
        Self { scope, path, node }
    }

    pub fn scope(&self) -> &'s Scope {
        self.scope
    }

    /// Returns the property, or `None` if it is absent or evaluates to `AWS::NoValue`.
    pub fn get(&self, key: &str) -> Result<Option<Self>, Error> {
        match &self.node.value {
            Value::Map(_) => {}
            Value::Scalar(_) | Value::List(_) => return Err(self.unexpected_value("a mapping")),
        }
        match self.node.get(key) {
            Some(node) => self.evaluate_child(key, node),
            None => Ok(None),
        }
    }

    pub fn require(&self, key: &'static str) -> Result<Self, Error> {
        self.get(key)?.ok_or_else(|| self.error(ErrorKind::MissingProperty(key)))
    }

    pub fn get_or_empty(&self, key: &str) -> Result<Self, Error> {
        let empty = || Self {
            scope: self.scope,
            path: self.path.child(key),
            node: Node { line: self.node.line, tag: None, value: Value::Map(Vec::new()) },
        };
        Ok(self.get(key)?.unwrap_or_else(empty))
    }

    /// Returns the properties of a mapping, without those that evaluate to `AWS::NoValue`.
    pub fn entries(&self) -> Result<Vec<(String, Self)>, Error> {
        let Value::Map(entries) = &self.node.value else {
            return Err(self.unexpected_value("a mapping"));
        };
        let evaluate = |(key, node): &(String, Node)| {
            let value = self.evaluate_child(key, node).transpose()?;
            Some(value.map(|value| (key.clone(), value)))
        };
        entries.iter().filter_map(evaluate).collect()
    }

    /// Returns the items of a list, without those that evaluate to `AWS::NoValue`.
    pub fn items(&self) -> Result<Vec<Self>, Error> {
        let Value::List(items) = &self.node.value else {
            return Err(self.unexpected_value("a list"));
        };
        let evaluate = |(index, node): (usize, &Node)| self.evaluate_child(&index.to_string(), node).transpose();
        items.iter().enumerate().filter_map(evaluate).collect()
    }

    pub fn text(&self) -> Result<String, Error> {
        match &self.node.value {
            Value::Scalar(text) => Ok(text.clone()),
            Value::List(_) | Value::Map(_) => Err(self.unexpected_value("text")),
        }
    }

    /// Returns the texts of a list. A single string counts as a list with one item.
    pub fn texts(&self) -> Result<Vec<String>, Error> {
        match &self.node.value {
            Value::List(_) => self.items()?.iter().map(Self::text).collect(),
            Value::Scalar(_) | Value::Map(_) => Ok(vec![self.text()?]),
        }
    }

    /// Returns a whole number in the allowed range. Like CloudFormation, accepts a number in quotes, because parameter
    /// values are always text.
    pub fn number(&self, allowed: RangeInclusive<u32>) -> Result<u32, Error> {
        let number = self.text()?.parse().ok().filter(|number| allowed.contains(number));
        let expected = || format!("a whole number from {} to {}", allowed.start(), allowed.end());
        number.ok_or_else(|| self.unexpected_value(&expected()))
    }

    pub fn boolean(&self) -> Result<bool, Error> {
        match self.text()?.as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.unexpected_value("true or false")),
        }
    }

    pub fn number_or(&self, key: &str, allowed: RangeInclusive<u32>, default: u32) -> Result<u32, Error> {
        self.get(key)?.map_or(Ok(default), |value| value.number(allowed))
    }

    pub fn boolean_or(&self, key: &str, default: bool) -> Result<bool, Error> {
        self.get(key)?.map_or(Ok(default), |value| value.boolean())
    }

    pub fn line(&self) -> usize {
        self.node.line
    }

    pub fn unexpected_value(&self, expected: &str) -> Error {
        self.path.unexpected_value(expected, &self.node)
    }

    pub fn error(&self, kind: ErrorKind) -> Error {
        self.path.error(self.node.line, kind)
    }

    fn evaluate_child(&self, key: &str, node: &Node) -> Result<Option<Self>, Error> {
        // Paths omit "Properties", because a path such as DeliverChannel.Timeout is shorter and still unambiguous.
        let path = if key == "Properties" { self.path.clone() } else { self.path.child(key) };
        let Some(node) = self.scope.evaluate(node, &path)? else {
            return Ok(None);
        };
        let scope = self.scope;
        Ok(Some(Self { scope, path, node }))
    }
}
