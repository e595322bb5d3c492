//! `Globals.Function`: what SAM merges into every function.

use super::yaml::{Node, Value};

/// The resource with the globals of its type in it.
pub(super) fn applied(template: &Node, resource: &Node) -> Node {
    let kind = resource.get("Type").map(|node| &node.value);
    let is_function = kind == Some(&Value::Scalar("AWS::Serverless::Function".to_owned()));
    let globals = template.get("Globals").and_then(|globals| globals.get("Function"));
    match globals {
        Some(globals) if is_function => with_properties(resource, globals),
        _ => resource.clone(),
    }
}

fn with_properties(resource: &Node, globals: &Node) -> Node {
    let wrapped =
        Node { line: globals.line, tag: None, value: Value::Map(vec![("Properties".to_owned(), globals.clone())]) };
    merge(&wrapped, resource)
}

/// As SAM merges: mappings key by key, lists one after the other, anything else as the function says.
fn merge(global: &Node, own: &Node) -> Node {
    if global.tag.is_some() || own.tag.is_some() {
        return own.clone();
    }
    let value = match (&global.value, &own.value) {
        (Value::Map(global), Value::Map(own)) => Value::Map(merge_maps(global, own)),
        (Value::List(global), Value::List(own)) => Value::List([global.as_slice(), own].concat()),
        _ => own.value.clone(),
    };
    Node { value, ..own.clone() }
}

fn merge_maps(global: &[(String, Node)], own: &[(String, Node)]) -> Vec<(String, Node)> {
    let find = |entries: &[(String, Node)], key: &str| {
        let entry = entries.iter().find(|(name, _)| name == key);
        entry.map(|(_, node)| node.clone())
    };
    let only_global = global.iter().filter(|(key, _)| find(own, key).is_none()).cloned();
    let own = own.iter().map(|(key, node)| match find(global, key) {
        Some(global) => (key.clone(), merge(&global, node)),
        None => (key.clone(), node.clone()),
    });
    only_global.chain(own).collect()
}
