//! Merges `Globals.Function` into every function, as SAM does.

use super::yaml::{Node, Value};

/// Merges the globals into a function. Any other resource is returned unchanged.
pub(super) fn with_globals(template: &Node, resource: &Node) -> Node {
    let resource_type = resource.get("Type").map(|node| &node.value);
    let is_function = resource_type == Some(&Value::Scalar("AWS::Serverless::Function".to_owned()));
    let globals = template.get("Globals").and_then(|globals| globals.get("Function"));
    match globals {
        Some(globals) if is_function => merge_properties(globals, resource),
        _ => resource.clone(),
    }
}

fn merge_properties(globals: &Node, resource: &Node) -> Node {
    let properties = Value::Map(vec![("Properties".to_owned(), globals.clone())]);
    merge(&Node { line: globals.line, tag: None, value: properties }, resource)
}

/// Merges two values by SAM's rules: mappings are merged by key, lists are concatenated, and any other value in the
/// function replaces the global one.
fn merge(global: &Node, local: &Node) -> Node {
    if global.tag.is_some() || local.tag.is_some() {
        return local.clone();
    }
    let value = match (&global.value, &local.value) {
        (Value::Map(global), Value::Map(local)) => Value::Map(merge_maps(global, local)),
        (Value::List(global), Value::List(local)) => Value::List([global.as_slice(), local].concat()),
        _ => local.value.clone(),
    };
    Node { value, ..local.clone() }
}

fn merge_maps(global: &[(String, Node)], local: &[(String, Node)]) -> Vec<(String, Node)> {
    let find = |entries: &[(String, Node)], key: &str| {
        let entry = entries.iter().find(|(name, _)| name == key);
        entry.map(|(_, node)| node.clone())
    };
    let global_only = global.iter().filter(|(key, _)| find(local, key).is_none()).cloned();
    let merged = local.iter().map(|(key, node)| match find(global, key) {
        Some(global) => (key.clone(), merge(&global, node)),
        None => (key.clone(), node.clone()),
    });
    global_only.chain(merged).collect()
}
