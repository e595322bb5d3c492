//! Lambda's filter patterns, which select the records of a stream that a function receives.
//!
//! A pattern has the structure of a record. Each of its leaves is a list of rules, at least one of which must match the
//! record's value: `{"dynamodb": {"Keys": {"pk": {"S": [{"prefix": "CHAT#"}]}}}}`. A pattern with a rule that the local
//! host does not support is rejected. `numeric` is not supported, because a table's numbers are strings in a record.

use std::slice;

use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterPattern(Node);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    /// Every field must match.
    Fields(Vec<(String, Node)>),
    /// At least one of the rules must match the value.
    Rules(Vec<Rule>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Rule {
    Exists(bool),
    Is(ValueTest),
    /// Matches a value for which none of the tests succeeds.
    AnythingBut(Vec<ValueTest>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ValueTest {
    Equals(Value),
    Prefix(String),
    Suffix(String),
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum FilterPatternError {
    #[error("the filter pattern is not JSON: {0}")]
    Json(String),
    #[error("the local host does not support the filter pattern {0}")]
    Unsupported(String),
}

impl FilterPattern {
    pub fn parse(text: &str) -> Result<Self, FilterPatternError> {
        let pattern: Value = serde_json::from_str(text).map_err(|error| FilterPatternError::Json(error.to_string()))?;
        let fields = pattern.as_object().ok_or_else(|| unsupported(&pattern))?;
        parse_fields(fields).map(Self)
    }

    pub(crate) fn matches(&self, record: &Value) -> bool {
        self.0.matches(Some(record))
    }
}

impl Node {
    fn matches(&self, value: Option<&Value>) -> bool {
        match self {
            Self::Fields(fields) => {
                fields.iter().all(|(name, node)| node.matches(value.and_then(|value| value.get(name))))
            }
            Self::Rules(rules) => {
                // Rules apply to leaves only. For an object, they behave as if the value were absent.
                let leaf = value.filter(|value| !value.is_object());
                rules.iter().any(|rule| rule.matches(leaf))
            }
        }
    }
}

impl Rule {
    fn matches(&self, value: Option<&Value>) -> bool {
        match self {
            Self::Exists(is_expected) => value.is_some() == *is_expected,
            Self::Is(test) => elements(value).iter().any(|value| test.succeeds(value)),
            Self::AnythingBut(tests) => {
                elements(value).iter().any(|value| !tests.iter().any(|test| test.succeeds(value)))
            }
        }
    }
}

impl ValueTest {
    fn succeeds(&self, value: &Value) -> bool {
        match self {
            Self::Equals(expected) => value == expected,
            Self::Prefix(prefix) => value.as_str().is_some_and(|text| text.starts_with(prefix)),
            Self::Suffix(suffix) => value.as_str().is_some_and(|text| text.ends_with(suffix)),
        }
    }
}

/// Returns the values of which at least one must match: the elements of an array, or else the value itself.
fn elements(value: Option<&Value>) -> &[Value] {
    match value {
        Some(Value::Array(elements)) => elements,
        Some(value) => slice::from_ref(value),
        None => &[],
    }
}

fn parse_fields(fields: &Map<String, Value>) -> Result<Node, FilterPatternError> {
    let field = |(name, value): (&String, &Value)| {
        // A name with a dollar sign is an operator, such as `$or`.
        if name.starts_with('$') {
            return Err(FilterPatternError::Unsupported(name.clone()));
        }
        let node = match value.as_object() {
            Some(fields) => parse_fields(fields)?,
            None => Node::Rules(parse_rules(value)?),
        };
        Ok((name.clone(), node))
    };
    fields.iter().map(field).collect::<Result<_, _>>().map(Node::Fields)
}

fn parse_rules(list: &Value) -> Result<Vec<Rule>, FilterPatternError> {
    let rules = list.as_array().filter(|rules| !rules.is_empty());
    rules.ok_or_else(|| unsupported(list))?.iter().map(parse_rule).collect()
}

fn parse_rule(rule: &Value) -> Result<Rule, FilterPatternError> {
    let parsed = match rule.as_object() {
        Some(operator) => parse_operator(operator),
        None => (!rule.is_array()).then(|| Rule::Is(ValueTest::Equals(rule.clone()))),
    };
    parsed.ok_or_else(|| unsupported(rule))
}

/// Parses a rule such as `{"prefix": "CHAT#"}`. Returns `None` if the local host does not support it.
fn parse_operator(rule: &Map<String, Value>) -> Option<Rule> {
    let (name, operand) = single_entry(rule)?;
    match name {
        "exists" => operand.as_bool().map(Rule::Exists),
        "anything-but" => parse_excluded_values(operand).map(Rule::AnythingBut),
        _ => parse_text_test(name, operand).map(Rule::Is),
    }
}

fn parse_excluded_values(operand: &Value) -> Option<Vec<ValueTest>> {
    if let Some(rule) = operand.as_object() {
        let (name, operand) = single_entry(rule).filter(|(name, _)| *name == "prefix")?;
        return parse_text_test(name, operand).map(|test| vec![test]);
    }
    let values = operand.as_array().map_or(slice::from_ref(operand), Vec::as_slice);
    let are_exact = !values.is_empty() && values.iter().all(|value| value.is_string() || value.is_number());
    are_exact.then(|| values.iter().cloned().map(ValueTest::Equals).collect())
}

fn single_entry(object: &Map<String, Value>) -> Option<(&str, &Value)> {
    let mut entries = object.iter();
    let (name, value) = entries.next()?;
    entries.next().is_none().then_some((name, value))
}

fn parse_text_test(name: &str, operand: &Value) -> Option<ValueTest> {
    let text = operand.as_str()?.to_owned();
    match name {
        "prefix" => Some(ValueTest::Prefix(text)),
        "suffix" => Some(ValueTest::Suffix(text)),
        _ => None,
    }
}

fn unsupported(pattern: &Value) -> FilterPatternError {
    FilterPatternError::Unsupported(pattern.to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pattern_selects_records() {
        let record = json!({
            "eventName": "REMOVE",
            "dynamodb": {
                "Keys": {"pk": {"S": "CHAT#1"}, "sk": {"S": "HEAD"}},
                "OldImage": {"state": {"S": "active"}, "tags": {"SS": ["a", "b"]}, "closed": {"NULL": true}},
            },
        });
        for (pattern, is_match) in [
            (json!({}), true),
            (json!({"eventName": ["REMOVE"]}), true),
            (json!({"eventName": ["INSERT", "MODIFY"]}), false),
            (json!({"dynamodb": {"Keys": {"pk": {"S": [{"prefix": "CHAT#"}]}}}}), true),
            (json!({"dynamodb": {"Keys": {"pk": {"S": [{"prefix": "VISITOR#"}, {"prefix": "CHAT#"}]}}}}), true),
            (json!({"dynamodb": {"Keys": {"pk": {"S": [{"prefix": "CHAT#"}]}, "sk": {"S": ["PANEL"]}}}}), false),
            (json!({"dynamodb": {"Keys": {"pk": {"N": [{"prefix": "CHAT#"}]}}}}), false),
            (json!({"dynamodb": {"Keys": {"sk": {"S": [{"suffix": "AD"}]}}}}), true),
            (json!({"dynamodb": {"Keys": {"sk": {"S": [{"suffix": "HE"}]}}}}), false),
            (json!({"dynamodb": {"OldImage": {"state": {"S": [{"exists": true}]}}}}), true),
            (json!({"dynamodb": {"NewImage": {"state": {"S": [{"exists": true}]}}}}), false),
            (json!({"dynamodb": {"NewImage": {"state": {"S": [{"exists": false}]}}}}), true),
            // As on AWS, `exists` ignores objects.
            (json!({"dynamodb": {"OldImage": [{"exists": true}]}}), false),
            (json!({"dynamodb": {"OldImage": {"state": {"S": [{"anything-but": "active"}]}}}}), false),
            (json!({"dynamodb": {"OldImage": {"state": {"S": [{"anything-but": ["bot", "waiting"]}]}}}}), true),
            (json!({"dynamodb": {"OldImage": {"state": {"S": [{"anything-but": {"prefix": "act"}}]}}}}), false),
            (json!({"dynamodb": {"OldImage": {"missing": {"S": [{"anything-but": "active"}]}}}}), false),
            (json!({"dynamodb": {"OldImage": {"tags": {"SS": ["b"]}}}}), true),
            (json!({"dynamodb": {"OldImage": {"tags": {"SS": ["c"]}}}}), false),
            (json!({"dynamodb": {"OldImage": {"closed": {"NULL": [true]}}}}), true),
        ] {
            let parsed = FilterPattern::parse(&pattern.to_string()).unwrap();
            assert_eq!(parsed.matches(&record), is_match, "{pattern}");
        }
    }

    #[test]
    fn unsupported_pattern_is_rejected() {
        for (pattern, unsupported) in [
            (r#"["a"]"#, r#"["a"]"#),
            (r#"{"a": "b"}"#, r#""b""#),
            (r#"{"a": []}"#, "[]"),
            (r#"{"a": [["b"]]}"#, r#"["b"]"#),
            (r#"{"a": [{}]}"#, "{}"),
            (r#"{"a": [{"prefix": 1}]}"#, r#"{"prefix":1}"#),
            (r#"{"a": [{"wildcard": "*"}]}"#, r#"{"wildcard":"*"}"#),
            (r#"{"a": [{"numeric": [">", 1]}]}"#, r#"{"numeric":[">",1]}"#),
            (r#"{"a": [{"prefix": "x", "suffix": "y"}]}"#, r#"{"prefix":"x","suffix":"y"}"#),
            (r#"{"a": [{"anything-but": {"suffix": "x"}}]}"#, r#"{"anything-but":{"suffix":"x"}}"#),
            (r#"{"$or": [{"a": ["b"]}]}"#, "$or"),
        ] {
            let expected = FilterPatternError::Unsupported(unsupported.to_owned());
            assert_eq!(FilterPattern::parse(pattern), Err(expected), "{pattern}");
        }
        assert!(matches!(FilterPattern::parse("{"), Err(FilterPatternError::Json(_))));
    }
}
