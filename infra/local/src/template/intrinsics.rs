//! The intrinsic functions whose values this machine knows.

use super::error::{Error, Place, Problem};
use super::scope::Scope;
use super::yaml::{Node, Value};

/// The value of an intrinsic function: a node, or nothing (`AWS::NoValue`).
type Resolved = Result<Option<Node>, Error>;

impl Scope {
    /// Evaluates the intrinsic function at the top of a node; what is below stays as it is.
    pub fn resolve(&self, node: &Node, place: &Place) -> Resolved {
        let Some((function, argument)) = intrinsic(node) else {
            return Ok(Some(node.clone()));
        };
        let line = node.line;
        match function {
            "Ref" => self.reference(&self.text(&argument, place)?, line, place),
            "GetAtt" => {
                let text = self.attribute(&self.path(&argument, place)?, line, place)?;
                Ok(Some(Node::scalar(line, text)))
            }
            "Sub" => Ok(Some(Node::scalar(line, self.substitute(&argument, place)?))),
            "Join" => Ok(Some(Node::scalar(line, self.join(&argument, place)?))),
            "If" => self.choose(&argument, place),
            other => Err(place.error(line, Problem::UnknownIntrinsic(other.to_owned()))),
        }
    }

    /// The text of a node, after evaluation.
    pub fn text(&self, node: &Node, place: &Place) -> Result<String, Error> {
        match self.resolve(node, place)? {
            Some(Node { value: Value::Scalar(text), .. }) => Ok(text),
            Some(other) => Err(place.expected("text", &other)),
            None => Err(place.expected("text", &Node::scalar(node.line, "AWS::NoValue"))),
        }
    }

    /// `GetAtt` takes `A.B` or `[A, B]`.
    fn path(&self, argument: &Node, place: &Place) -> Result<String, Error> {
        match &argument.value {
            Value::List(parts) => {
                let parts: Result<Vec<_>, _> = parts.iter().map(|p| self.text(p, place)).collect();
                Ok(parts?.join("."))
            }
            Value::Scalar(path) => Ok(path.clone()),
            Value::Map(_) => Err(place.expected("Resource.Attribute", argument)),
        }
    }

    /// `Sub` takes a text, or a text and a mapping of more names.
    fn substitute(&self, argument: &Node, place: &Place) -> Result<String, Error> {
        let (text, names) = match &argument.value {
            Value::List(parts) => match parts.as_slice() {
                [text, names] => (text, Some(names)),
                _ => return Err(place.expected("a text and a mapping", argument)),
            },
            Value::Scalar(_) | Value::Map(_) => (argument, None),
        };
        let text = self.text(text, place)?;
        let mut rest = text.as_str();
        let mut result = String::new();
        while let Some((before, name, after)) = next_variable(rest) {
            result.push_str(before);
            result.push_str(&self.variable(name, names, argument.line, place)?);
            rest = after;
        }
        result.push_str(rest);
        Ok(result)
    }

    fn variable(&self, name: &str, names: Option<&Node>, line: usize, place: &Place) -> Result<String, Error> {
        if let Some(literal) = name.strip_prefix('!') {
            return Ok(format!("${{{literal}}}"));
        }
        if let Some(value) = names.and_then(|names| names.get(name)) {
            return self.text(value, place);
        }
        if name.contains('.') {
            return self.attribute(name, line, place);
        }
        match self.reference(name, line, place)? {
            Some(node) => self.text(&node, place),
            None => Ok(String::new()),
        }
    }

    fn join(&self, argument: &Node, place: &Place) -> Result<String, Error> {
        let [separator, list] = argument.items() else {
            return Err(place.expected("a separator and a list", argument));
        };
        let separator = self.text(separator, place)?;
        let items = match self.resolve(list, place)? {
            Some(Node { value: Value::List(items), .. }) => items,
            _ => return Err(place.expected("a list", list)),
        };
        let texts: Result<Vec<_>, _> = items.iter().map(|item| self.text(item, place)).collect();
        Ok(texts?.join(&separator))
    }

    fn choose(&self, argument: &Node, place: &Place) -> Resolved {
        let [condition, yes, no] = argument.items() else {
            return Err(place.expected("a condition and two values", argument));
        };
        let chosen = self.named_condition(condition.as_text(), argument.line, place, &[])?;
        self.resolve(if chosen { yes } else { no }, place)
    }
}

/// The function's name and argument, in the short form (a tag) or the long one (a mapping of one key).
pub(super) fn intrinsic(node: &Node) -> Option<(&str, Node)> {
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

/// Splits at the first `${name}`.
fn next_variable(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("${")?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}
