//! Validates the trigger rules of the widget (specification, part D, `setRules`). The widget itself executes the rules.
//! Unknown conditions and commands are accepted, because a newer version of the widget could support them.

use serde_json::{Value, json};

use crate::error::Error;

const MAX_RULES: usize = 50;
/// The maximum number of conditions in a rule. The same limit applies to its commands.
const MAX_RULE_PARTS: usize = 20;
/// The maximum total size of all rules as JSON.
const MAX_RULES_BYTES: usize = 32 * 1024;

/// Returns the rules if they are valid. `None` counts as an empty list.
pub fn validated_rules(value: Option<&Value>) -> Result<Value, Error> {
    let Some(value) = value else { return Ok(json!([])) };
    for (index, rule) in list(value, "rules", MAX_RULES)?.iter().enumerate() {
        validate_rule(rule, &format!("rules[{index}]"))?;
    }
    if value.to_string().len() > MAX_RULES_BYTES {
        return Err(Error::field("rules", format_args!("must have at most {MAX_RULES_BYTES} bytes")));
    }
    Ok(value.clone())
}

fn validate_rule(rule: &Value, path: &str) -> Result<(), Error> {
    text(rule, path, "name")?;
    if !rule.get("enabled").is_some_and(Value::is_boolean) {
        return Err(Error::field(format!("{path}.enabled"), "must be true or false"));
    }
    if rule.get("type").and_then(Value::as_str) != Some("all") {
        return Err(Error::field(format!("{path}.type"), "must be all"));
    }
    for (part, validate) in
        [("conditions", validate_condition as fn(&Value, &str) -> Result<(), Error>), ("commands", validate_command)]
    {
        let path = format!("{path}.{part}");
        for (index, item) in list(rule.get(part).unwrap_or(&Value::Null), &path, MAX_RULE_PARTS)?.iter().enumerate() {
            validate(item, &format!("{path}[{index}]"))?;
        }
    }
    Ok(())
}

fn validate_condition(condition: &Value, path: &str) -> Result<(), Error> {
    let name = text(condition, path, "condition")?;
    let (comparators, is_valid, expected): (&[&str], fn(&Value) -> bool, _) = match name {
        "online" => (&[], Value::is_boolean, "must be true or false"),
        "page_url" => (&["contain", "not_contain"], Value::is_string, "must be a string"),
        "time_on_page" | "time_on_site" | "time_after_close" | "time_after_invitation" | "time_after_first_message" => {
            (&["greater", "greater_equal"], is_seconds, "must be a number of seconds")
        }
        _ => return Ok(()),
    };
    let comparator = condition.get("comparator").and_then(Value::as_str);
    if !comparators.is_empty() && !comparator.is_some_and(|comparator| comparators.contains(&comparator)) {
        let names = comparators.join(", ");
        return Err(Error::field(format!("{path}.comparator"), format_args!("must be one of {names}")));
    }
    let has_valid_value = condition.get("value").is_some_and(is_valid);
    if has_valid_value { Ok(()) } else { Err(Error::field(format!("{path}.value"), expected)) }
}

fn validate_command(command: &Value, path: &str) -> Result<(), Error> {
    let name = text(command, path, "command")?;
    let required_params: &[&str] = match name {
        "proactive" | "system_message" => &["message"],
        "open_offline" => &["title", "message"],
        "show_callform" => &["title"],
        _ => return Ok(()),
    };
    let params = command.get("params").unwrap_or(&Value::Null);
    let params_path = format!("{path}.params");
    for required in required_params {
        let value = text(params, &params_path, required)?;
        // The command shows nothing but this text.
        if *required_params == ["message"] && value.trim().is_empty() {
            return Err(Error::field(format!("{params_path}.{required}"), "must not be empty"));
        }
    }
    Ok(())
}

fn is_seconds(value: &Value) -> bool {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    number.is_some_and(|seconds: f64| seconds.is_finite() && seconds >= 0.0)
}

fn list<'a>(value: &'a Value, path: &str, max_items: usize) -> Result<&'a [Value], Error> {
    let list = value.as_array().filter(|list| list.len() <= max_items);
    list.map(Vec::as_slice)
        .ok_or_else(|| Error::field(path, format_args!("must be a list of at most {max_items} items")))
}

fn text<'a>(object: &'a Value, path: &str, name: &str) -> Result<&'a str, Error> {
    let text = object.get(name).and_then(Value::as_str);
    text.ok_or_else(|| Error::field(format!("{path}.{name}"), "must be a string"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

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
        assert_eq!(validated_rules(Some(&rules)).unwrap(), rules);
        assert_eq!(validated_rules(None).unwrap(), json!([]));
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
            ("rules[0].conditions[0].condition", condition(json!(7))),
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
            let error = validated_rules(Some(&rules)).unwrap_err().to_string();
            assert!(error.starts_with(field), "{rules}: {error}");
        }
    }
}
