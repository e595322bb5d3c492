//! The values of the template's parameters: what the host gives, or the default.

use std::collections::BTreeMap;

use super::error::{Error, Place, Problem};
use super::yaml::{Node, Value, entries};

pub(super) fn values(template: &Node, overrides: &BTreeMap<String, String>) -> Result<BTreeMap<String, Node>, Error> {
    let declared: BTreeMap<_, _> = entries(template, "Parameters").cloned().collect();
    if let Some(unknown) = overrides.keys().find(|name| !declared.contains_key(*name)) {
        return Err(error(unknown, 1, Problem::UnknownParameter));
    }
    let value = |(name, declaration): (&String, &Node)| {
        let value = value(name, declaration, overrides.get(name))?;
        Ok((name.clone(), value))
    };
    declared.iter().map(value).collect()
}

fn value(name: &str, declaration: &Node, given: Option<&String>) -> Result<Node, Error> {
    let line = declaration.line;
    let text = match (given, scalar(declaration, "Default")) {
        (Some(given), _) => given.clone(),
        (None, Some(default)) => default.to_owned(),
        (None, None) => return Err(error(name, line, Problem::ParameterWithoutValue)),
    };
    if !allows(declaration, &text) {
        return Err(error(name, line, Problem::NotAllowed(text)));
    }
    let kind = scalar(declaration, "Type").unwrap_or_default();
    if kind == "CommaDelimitedList" || kind.starts_with("List<") {
        return Ok(list(line, &text));
    }
    Ok(Node::scalar(line, text))
}

fn allows(declaration: &Node, text: &str) -> bool {
    let allowed = declaration.get("AllowedValues").map(Node::items).unwrap_or_default();
    allowed.is_empty() || allowed.iter().any(|value| value.as_text() == text)
}

fn list(line: usize, text: &str) -> Node {
    let items = text.split(',').map(|item| Node::scalar(line, item.trim()));
    Node { line, tag: None, value: Value::List(items.collect()) }
}

fn scalar<'t>(declaration: &'t Node, key: &str) -> Option<&'t str> {
    declaration.get(key).map(Node::as_text)
}

fn error(name: &str, line: usize, problem: Problem) -> Error {
    Place::default().inner(name).error(line, problem)
}
