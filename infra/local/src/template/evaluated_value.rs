//! A walk through the properties of one resource: evaluates what it passes, knows where it is.

use std::ops::RangeInclusive;

use super::error::{Error, Place, Problem};
use super::scope::Scope;
use super::yaml::{Node, Value};

/// A value of the template, evaluated, and its place.
pub(super) struct Cursor<'s> {
    scope: &'s Scope,
    place: Place,
    node: Node,
}

impl<'s> Cursor<'s> {
    pub fn new(scope: &'s Scope, name: &str, node: Node) -> Self {
        let place = Place::default().inner(name);
        Self { scope, place, node }
    }

    pub fn scope(&self) -> &'s Scope {
        self.scope
    }

    /// The property, or `None` when it is absent or `AWS::NoValue`.
    pub fn get(&self, key: &str) -> Result<Option<Self>, Error> {
        match &self.node.value {
            Value::Map(_) => {}
            Value::Scalar(_) | Value::List(_) => return Err(self.expected("a mapping")),
        }
        match self.node.get(key) {
            Some(node) => self.step(key, node),
            None => Ok(None),
        }
    }

    pub fn require(&self, key: &'static str) -> Result<Self, Error> {
        self.get(key)?.ok_or_else(|| self.error(Problem::Missing(key)))
    }

    /// The property, or an empty mapping.
    pub fn section(&self, key: &str) -> Result<Self, Error> {
        let empty = || Self {
            scope: self.scope,
            place: self.place.inner(key),
            node: Node { line: self.node.line, tag: None, value: Value::Map(Vec::new()) },
        };
        Ok(self.get(key)?.unwrap_or_else(empty))
    }

    pub fn entries(&self) -> Result<Vec<(String, Self)>, Error> {
        let Value::Map(entries) = &self.node.value else {
            return Err(self.expected("a mapping"));
        };
        let step = |(key, node): &(String, Node)| {
            let cursor = self.step(key, node).transpose()?;
            Some(cursor.map(|cursor| (key.clone(), cursor)))
        };
        entries.iter().filter_map(step).collect()
    }

    pub fn items(&self) -> Result<Vec<Self>, Error> {
        let Value::List(items) = &self.node.value else {
            return Err(self.expected("a list"));
        };
        let step = |(index, node): (usize, &Node)| self.step(&index.to_string(), node).transpose();
        items.iter().enumerate().filter_map(step).collect()
    }

    pub fn text(&self) -> Result<String, Error> {
        match &self.node.value {
            Value::Scalar(text) => Ok(text.clone()),
            Value::List(_) | Value::Map(_) => Err(self.expected("text")),
        }
    }

    /// A text, or a list of texts.
    pub fn texts(&self) -> Result<Vec<String>, Error> {
        match &self.node.value {
            Value::List(_) => self.items()?.iter().map(Self::text).collect(),
            Value::Scalar(_) | Value::Map(_) => Ok(vec![self.text()?]),
        }
    }

    /// CloudFormation takes numbers as text too; parameters are always text.
    pub fn number(&self, allowed: RangeInclusive<u32>) -> Result<u32, Error> {
        let number = self.text()?.parse().ok().filter(|number| allowed.contains(number));
        let range = || format!("a whole number from {} to {}", allowed.start(), allowed.end());
        number.ok_or_else(|| self.expected(&range()))
    }

    pub fn flag(&self) -> Result<bool, Error> {
        match self.text()?.as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.expected("true or false")),
        }
    }

    pub fn number_or(&self, key: &str, allowed: RangeInclusive<u32>, default: u32) -> Result<u32, Error> {
        self.get(key)?.map_or(Ok(default), |cursor| cursor.number(allowed))
    }

    pub fn flag_or(&self, key: &str, default: bool) -> Result<bool, Error> {
        self.get(key)?.map_or(Ok(default), |cursor| cursor.flag())
    }

    pub fn line(&self) -> usize {
        self.node.line
    }

    pub fn expected(&self, what: &str) -> Error {
        self.place.expected(what, &self.node)
    }

    pub fn error(&self, problem: Problem) -> Error {
        self.place.error(self.node.line, problem)
    }

    fn step(&self, key: &str, node: &Node) -> Result<Option<Self>, Error> {
        // "Properties" says nothing to a reader: DeliverChannel.Timeout is clear.
        let place = if key == "Properties" { self.place.clone() } else { self.place.inner(key) };
        let Some(node) = self.scope.resolve(node, &place)? else {
            return Ok(None);
        };
        let scope = self.scope;
        Ok(Some(Self { scope, place, node }))
    }
}
