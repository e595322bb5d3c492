//! Determines the values of the template's parameters. If the caller does not override a parameter, its value is the
//! default.

use std::collections::BTreeMap;

use super::error::{Error, ErrorKind, ValuePath};
use super::yaml::{Node, Value, section_entries};

/// The parameter for the base URL of a stack's endpoints. Its local default is the address of the gateway.
const BASE_URL_PARAMETER: &str = "PublicBaseUrl";

/// Returns the values of the parameters by name. Fails if an override is for an undeclared parameter, a parameter has
/// no value, or a value is not allowed.
pub(super) fn values(
    template: &Node,
    overrides: &BTreeMap<String, String>,
    gateway: &str,
) -> Result<BTreeMap<String, Node>, Error> {
    let declared: BTreeMap<_, _> = section_entries(template, "Parameters").cloned().collect();
    if let Some(unknown) = overrides.keys().find(|name| !declared.contains_key(*name)) {
        return Err(parameter_error(unknown, 1, ErrorKind::UnknownParameter));
    }
    let value = |(name, declaration): (&String, &Node)| {
        let local_default = (name == BASE_URL_PARAMETER).then(|| gateway.to_owned());
        let value = value(name, declaration, overrides.get(name).or(local_default.as_ref()))?;
        Ok((name.clone(), value))
    };
    declared.iter().map(value).collect()
}

fn value(name: &str, declaration: &Node, override_value: Option<&String>) -> Result<Node, Error> {
    let line = declaration.line;
    let text = match (override_value, attribute(declaration, "Default")) {
        (Some(value), _) => value.clone(),
        (None, Some(default)) => default.to_owned(),
        (None, None) => return Err(parameter_error(name, line, ErrorKind::ParameterWithoutValue)),
    };
    if !is_allowed(declaration, &text) {
        return Err(parameter_error(name, line, ErrorKind::DisallowedValue(text)));
    }
    let parameter_type = attribute(declaration, "Type").unwrap_or_default();
    if parameter_type == "CommaDelimitedList" || parameter_type.starts_with("List<") {
        return Ok(comma_delimited_list(line, &text));
    }
    Ok(Node::scalar(line, text))
}

fn is_allowed(declaration: &Node, text: &str) -> bool {
    let allowed = declaration.get("AllowedValues").map(Node::items).unwrap_or_default();
    allowed.is_empty() || allowed.iter().any(|value| value.as_text() == text)
}

fn comma_delimited_list(line: usize, text: &str) -> Node {
    let items = text.split(',').map(|item| Node::scalar(line, item.trim()));
    Node { line, tag: None, value: Value::List(items.collect()) }
}

fn attribute<'t>(declaration: &'t Node, key: &str) -> Option<&'t str> {
    declaration.get(key).map(Node::as_text)
}

fn parameter_error(name: &str, line: usize, kind: ErrorKind) -> Error {
    ValuePath::default().child(name).error(line, kind)
}
