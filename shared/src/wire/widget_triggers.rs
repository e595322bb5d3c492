//! The trigger rules of the widget (specification, part D, `setRules`). The widget interprets them; here is checked that it
//! can. Conditions and commands that are not known are kept: newer widgets may know them.

use serde_json::{Value, json};

use crate::error::Error;

/// Rules of an account.
const MAX_RULES: usize = 50;
/// Conditions or commands of a rule.
const MAX_RULE_PARTS: usize = 20;
/// Bytes of all the rules as JSON.
const MAX_RULES_BYTES: usize = 32 * 1024;

/// Reads a list of rules; none for null.
pub fn read(value: Option<&Value>) -> Result<Value, Error> {
    let Some(value) = value else { return Ok(json!([])) };
    for (index, rule) in list(value, "rules", MAX_RULES)?.iter().enumerate() {
        self::rule(rule, &format!("rules[{index}]"))?;
    }
    if value.to_string().len() > MAX_RULES_BYTES {
        return Err(Error::field("rules", format_args!("must have at most {MAX_RULES_BYTES} bytes")));
    }
    Ok(value.clone())
}

fn rule(rule: &Value, at: &str) -> Result<(), Error> {
    text(rule, at, "name")?;
    if !rule.get("enabled").is_some_and(Value::is_boolean) {
        return Err(Error::field(format!("{at}.enabled"), "must be true or false"));
    }
    if rule.get("type").and_then(Value::as_str) != Some("all") {
        return Err(Error::field(format!("{at}.type"), "must be all"));
    }
    for (part, check) in [("conditions", condition as fn(&Value, &str) -> Result<(), Error>), ("commands", command)] {
        let at = format!("{at}.{part}");
        for (index, one) in list(rule.get(part).unwrap_or(&Value::Null), &at, MAX_RULE_PARTS)?.iter().enumerate() {
            check(one, &format!("{at}[{index}]"))?;
        }
    }
    Ok(())
}

fn condition(condition: &Value, at: &str) -> Result<(), Error> {
    let name = text(condition, at, "condition")?;
    let (comparators, is_fit, expected): (&[&str], fn(&Value) -> bool, _) = match name {
        "online" => (&[], Value::is_boolean, "must be true or false"),
        "page_url" => (&["contain", "not_contain"], Value::is_string, "must be a string"),
        "time_on_page" | "time_on_site" | "time_after_close" | "time_after_invitation" | "time_after_first_message" => {
            (&["greater", "greater_equal"], is_seconds, "must be a number of seconds")
        }
        _ => return Ok(()),
    };
    let comparator = condition.get("comparator").and_then(Value::as_str);
    if !comparators.is_empty() && !comparator.is_some_and(|comparator| comparators.contains(&comparator)) {
        let known = comparators.join(", ");
        return Err(Error::field(format!("{at}.comparator"), format_args!("must be one of {known}")));
    }
    let fits = condition.get("value").is_some_and(is_fit);
    if fits { Ok(()) } else { Err(Error::field(format!("{at}.value"), expected)) }
}

fn command(command: &Value, at: &str) -> Result<(), Error> {
    let name = text(command, at, "command")?;
    let texts: &[&str] = match name {
        "proactive" | "system_message" => &["message"],
        "open_offline" => &["title", "message"],
        "show_callform" => &["title"],
        _ => return Ok(()),
    };
    let params = command.get("params").unwrap_or(&Value::Null);
    for name in texts {
        text(params, &format!("{at}.params"), name)?;
    }
    Ok(())
}

fn is_seconds(value: &Value) -> bool {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    number.is_some_and(|seconds: f64| seconds.is_finite() && seconds >= 0.0)
}

fn list<'a>(value: &'a Value, at: &str, most: usize) -> Result<&'a [Value], Error> {
    let list = value.as_array().filter(|list| list.len() <= most);
    list.map(Vec::as_slice).ok_or_else(|| Error::field(at, format_args!("must be a list of at most {most} items")))
}

fn text<'a>(object: &'a Value, at: &str, name: &str) -> Result<&'a str, Error> {
    let text = object.get(name).and_then(Value::as_str);
    text.ok_or_else(|| Error::field(format!("{at}.{name}"), "must be a string"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn with(conditions: &Value, commands: &Value) -> Value {
        json!([{ "name": "one", "enabled": true, "type": "all", "conditions": conditions, "commands": commands }])
    }

    #[test]
    fn every_known_condition_and_command_is_read_and_unknown_ones_are_kept() {
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
        let rules = with(&conditions, &commands);
        assert_eq!(read(Some(&rules)).unwrap(), rules);
        assert_eq!(read(None).unwrap(), json!([]));
    }

    #[test]
    fn every_wrong_part_is_named() {
        let none = json!([]);
        let condition = |condition: Value| with(&json!([condition]), &none);
        let command = |command: Value| with(&none, &json!([command]));
        let table = [
            ("rules", json!("x")),
            ("rules", Value::Array(vec![with(&none, &none)[0].clone(); 51])),
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
        ];
        for (field, rules) in table {
            let error = read(Some(&rules)).unwrap_err().to_string();
            assert!(error.starts_with(field), "{rules}: {error}");
        }
    }
}
