//! The trigger rules of the widget (specification, part D, `setRules`). The widget itself executes the rules. Unknown
//! conditions and commands are accepted, because a newer version of the widget could support them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::wire::fields::values::{AnyValue, List};

const MAX_RULES: usize = 50;
/// The maximum number of conditions in a rule. The same limit applies to its commands.
const MAX_RULE_PARTS: usize = 20;
/// The maximum total size of all rules as JSON.
const MAX_RULES_BYTES: usize = 32 * 1024;

/// The trigger rules of the widget, at most 32768 bytes.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct TriggerRules(List<TriggerRule, MAX_RULES>);

/// All conditions must hold. Unknown conditions and commands are stored unchanged; for known ones (`time_on_page`,
/// `page_url`, proactive, ...), comparator, value and params are validated.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct TriggerRule {
    name: String,
    enabled: bool,
    r#type: TriggerRuleType,
    conditions: List<TriggerCondition, MAX_RULE_PARTS>,
    commands: List<TriggerCommand, MAX_RULE_PARTS>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum TriggerRuleType {
    All,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
struct TriggerCondition {
    condition: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparator: Option<AnyValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<AnyValue>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
struct TriggerCommand {
    command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<AnyValue>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

impl TriggerRules {
    /// Returns the rules in their stored form. Fails if they are too large, or if a known condition or command is
    /// invalid.
    pub fn checked(&self) -> Result<Value, Error> {
        let Self(List(rules)) = self;
        for (index, rule) in rules.iter().enumerate() {
            rule.check(&format!("rules[{index}]"))?;
        }
        let rules = json!(rules);
        if rules.to_string().len() > MAX_RULES_BYTES {
            return Err(Error::field("rules", format_args!("must have at most {MAX_RULES_BYTES} bytes")));
        }
        Ok(rules)
    }
}

impl TriggerRule {
    fn check(&self, path: &str) -> Result<(), Error> {
        for (index, condition) in self.conditions.0.iter().enumerate() {
            condition.check(&format!("{path}.conditions[{index}]"))?;
        }
        for (index, command) in self.commands.0.iter().enumerate() {
            command.check(&format!("{path}.commands[{index}]"))?;
        }
        Ok(())
    }
}

impl TriggerCondition {
    fn check(&self, path: &str) -> Result<(), Error> {
        let (comparators, is_valid, expected): (&[&str], fn(&Value) -> bool, _) = match &*self.condition {
            "online" => (&[], Value::is_boolean, "must be true or false"),
            "page_url" => (&["contain", "not_contain"], Value::is_string, "must be a string"),
            "time_on_page"
            | "time_on_site"
            | "time_after_close"
            | "time_after_invitation"
            | "time_after_first_message" => (&["greater", "greater_equal"], is_seconds, "must be a number of seconds"),
            _ => return Ok(()),
        };
        let comparator = self.comparator.as_ref().and_then(|AnyValue(comparator)| comparator.as_str());
        if !comparators.is_empty() && !comparator.is_some_and(|comparator| comparators.contains(&comparator)) {
            let names = comparators.join(", ");
            return Err(Error::field(format!("{path}.comparator"), format_args!("must be one of {names}")));
        }
        let has_valid_value = self.value.as_ref().is_some_and(|AnyValue(value)| is_valid(value));
        if has_valid_value { Ok(()) } else { Err(Error::field(format!("{path}.value"), expected)) }
    }
}

impl TriggerCommand {
    fn check(&self, path: &str) -> Result<(), Error> {
        let required_params: &[&str] = match &*self.command {
            "proactive" | "system_message" => &["message"],
            "open_offline" => &["title", "message"],
            "show_callform" => &["title"],
            _ => return Ok(()),
        };
        let AnyValue(params) = self.params.clone().unwrap_or(AnyValue(Value::Null));
        for required in required_params {
            let invalid = |expected| Error::field(format!("{path}.params.{required}"), expected);
            let text = params.get(required).and_then(Value::as_str).ok_or_else(|| invalid("must be a string"))?;
            // The command shows nothing but this text.
            if *required_params == ["message"] && text.trim().is_empty() {
                return Err(invalid("must not be empty"));
            }
        }
        Ok(())
    }
}

fn is_seconds(value: &Value) -> bool {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    number.is_some_and(|seconds: f64| seconds.is_finite() && seconds >= 0.0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::wire::fields::reader::read;

    #[derive(Deserialize)]
    struct Body {
        rules: TriggerRules,
    }

    fn checked(rules: &Value) -> Result<Value, Error> {
        read::<Body>(&json!({ "rules": rules }))?.rules.checked()
    }

    fn rules_with(conditions: &Value, commands: &Value) -> Value {
        json!([{ "name": "one", "enabled": true, "type": "all", "conditions": conditions, "commands": commands }])
    }

    #[test]
    fn known_and_unknown_conditions_and_commands_are_accepted() {
        let conditions = json!([
            { "condition": "online", "value": true },
            { "condition": "time_on_page", "comparator": "greater", "value": 10 },
            { "condition": "time_after_close", "comparator": "greater_equal", "value": "2.5" },
            { "condition": "page_url", "comparator": "not_contain", "value": "/cart" },
            { "condition": "moon", "value": "full" },
        ]);
        let commands = json!([
            { "command": "proactive", "params": { "message": "Hello" } },
            { "command": "open_offline", "params": { "title": "a", "message": "b" } },
            { "command": "system_message", "params": { "message": "c" } },
            { "command": "show_callform", "params": { "once_aday": true, "title": "d" } },
            { "command": "sing" },
        ]);
        let rules = rules_with(&conditions, &commands);
        assert_eq!(checked(&rules).unwrap(), rules);
        assert_eq!(checked(&json!([])).unwrap(), json!([]));
    }

    #[test]
    fn error_names_the_invalid_part() {
        let none = json!([]);
        let condition = |condition: Value| rules_with(&json!([condition]), &none);
        let command = |command: Value| rules_with(&none, &json!([command]));
        let table = [
            ("rules", json!("x")),
            ("rules", Value::Array(vec![rules_with(&none, &none)[0].clone(); 51])),
            ("rules[0].name", json!([{}])),
            ("rules[0].enabled", json!([{ "name": "a" }])),
            ("rules[0].type", json!([{ "name": "a", "enabled": true, "type": "any" }])),
            ("rules[0].conditions", json!([{ "name": "a", "enabled": true, "type": "all" }])),
            ("rules[0].conditions[0] must be an object", condition(json!(7))),
            ("rules[0].conditions[0].condition", condition(json!({ "condition": 7 }))),
            ("rules[0].conditions[0].value", condition(json!({ "condition": "online", "value": "yes" }))),
            ("rules[0].conditions[0].comparator", condition(json!({ "condition": "page_url", "value": "a" }))),
            (
                "rules[0].conditions[0].value",
                condition(json!({ "condition": "time_on_site", "comparator": "greater", "value": "soon" })),
            ),
            ("rules[0].commands[0].command", command(json!({}))),
            ("rules[0].commands[0].params.message", command(json!({ "command": "proactive" }))),
            (
                "rules[0].commands[0].params.message must not be empty",
                command(json!({ "command": "proactive", "params": { "message": " " } })),
            ),
        ];
        for (field, rules) in table {
            let error = checked(&rules).unwrap_err().to_string();
            assert!(error.starts_with(field), "{rules}: {error}");
        }
    }
}
