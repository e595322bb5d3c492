//! Evaluates CloudFormation's intrinsic functions: `Ref`, `GetAtt`, `Sub`, `Join` and `If`.

use super::error::{Error, ErrorKind, ValuePath};
use super::scope::Scope;
use super::yaml::{Node, Value};

/// The result of an evaluation. `None` stands for `AWS::NoValue`.
type EvaluationResult = Result<Option<Node>, Error>;

impl Scope {
    /// Evaluates a node if it is an intrinsic function. Other nodes, and nodes within the result, are returned
    /// unevaluated.
    pub fn evaluate(&self, node: &Node, path: &ValuePath) -> EvaluationResult {
        let Some((function, argument)) = as_intrinsic(node) else {
            return Ok(Some(node.clone()));
        };
        let line = node.line;
        match function {
            "Ref" => self.resolve_ref(&self.evaluate_text(&argument, path)?, line, path),
            "GetAtt" => {
                let text = self.resolve_attribute(&self.attribute_reference(&argument, path)?, line, path)?;
                Ok(Some(Node::scalar(line, text)))
            }
            "Sub" => Ok(Some(Node::scalar(line, self.evaluate_sub(&argument, path)?))),
            "Join" => Ok(Some(Node::scalar(line, self.evaluate_join(&argument, path)?))),
            "If" => self.evaluate_if(&argument, path),
            other => Err(path.error(line, ErrorKind::UnsupportedIntrinsic(other.to_owned()))),
        }
    }

    pub fn evaluate_text(&self, node: &Node, path: &ValuePath) -> Result<String, Error> {
        match self.evaluate(node, path)? {
            Some(Node { value: Value::Scalar(text), .. }) => Ok(text),
            Some(other) => Err(path.unexpected_value("text", &other)),
            None => Err(path.unexpected_value("text", &Node::scalar(node.line, "AWS::NoValue"))),
        }
    }

    /// Returns the argument of `GetAtt`, which is `A.B` or `[A, B]`, in the form `A.B`.
    fn attribute_reference(&self, argument: &Node, path: &ValuePath) -> Result<String, Error> {
        match &argument.value {
            Value::List(parts) => {
                let parts: Result<Vec<_>, _> = parts.iter().map(|part| self.evaluate_text(part, path)).collect();
                Ok(parts?.join("."))
            }
            Value::Scalar(reference) => Ok(reference.clone()),
            Value::Map(_) => Err(path.unexpected_value("Resource.Attribute", argument)),
        }
    }

    /// The argument is either a string, or a list that contains a string and a mapping of variables.
    fn evaluate_sub(&self, argument: &Node, path: &ValuePath) -> Result<String, Error> {
        let (text, variables) = match &argument.value {
            Value::List(parts) => match parts.as_slice() {
                [text, variables] => (text, Some(variables)),
                _ => return Err(path.unexpected_value("a text and a mapping", argument)),
            },
            Value::Scalar(_) | Value::Map(_) => (argument, None),
        };
        let text = self.evaluate_text(text, path)?;
        let mut remaining = text.as_str();
        let mut result = String::new();
        while let Some((before, name, after)) = split_at_variable(remaining) {
            result.push_str(before);
            result.push_str(&self.evaluate_variable(name, variables, argument.line, path)?);
            remaining = after;
        }
        result.push_str(remaining);
        Ok(result)
    }

    fn evaluate_variable(
        &self,
        name: &str,
        variables: Option<&Node>,
        line: usize,
        path: &ValuePath,
    ) -> Result<String, Error> {
        if let Some(literal) = name.strip_prefix('!') {
            return Ok(format!("${{{literal}}}"));
        }
        if let Some(value) = variables.and_then(|variables| variables.get(name)) {
            return self.evaluate_text(value, path);
        }
        if name.contains('.') {
            return self.resolve_attribute(name, line, path);
        }
        match self.resolve_ref(name, line, path)? {
            Some(node) => self.evaluate_text(&node, path),
            None => Ok(String::new()),
        }
    }

    fn evaluate_join(&self, argument: &Node, path: &ValuePath) -> Result<String, Error> {
        let [separator, list] = argument.items() else {
            return Err(path.unexpected_value("a separator and a list", argument));
        };
        let separator = self.evaluate_text(separator, path)?;
        let items = match self.evaluate(list, path)? {
            Some(Node { value: Value::List(items), .. }) => items,
            _ => return Err(path.unexpected_value("a list", list)),
        };
        let texts: Result<Vec<_>, _> = items.iter().map(|item| self.evaluate_text(item, path)).collect();
        Ok(texts?.join(&separator))
    }

    fn evaluate_if(&self, argument: &Node, path: &ValuePath) -> EvaluationResult {
        let [condition, if_true, if_false] = argument.items() else {
            return Err(path.unexpected_value("a condition and two values", argument));
        };
        let is_true = self.evaluate_condition(condition.as_text(), argument.line, path, &[])?;
        self.evaluate(if is_true { if_true } else { if_false }, path)
    }
}

/// Returns the name and the argument of an intrinsic function in its short form (a tag) or its long form (a mapping
/// with one key). Returns `None` for any other node.
pub(super) fn as_intrinsic(node: &Node) -> Option<(&str, Node)> {
    if let Some(tag) = &node.tag {
        let argument = Node { tag: None, ..node.clone() };
        return Some((tag, argument));
    }
    let [(key, argument)] = node.entries() else {
        return None;
    };
    let function = match key.as_str() {
        "Ref" | "Condition" => key,
        _ => key.strip_prefix("Fn::")?,
    };
    Some((function, argument.clone()))
}

/// Splits a text at the first `${name}` into the text before it, the name, and the text after it.
fn split_at_variable(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("${")?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}
