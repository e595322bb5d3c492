//! Spells JSON as no library does. A server that prints what it has parsed gets another text.

use serde_json::Value;

/// Returns the same JSON with spaces and line breaks, the fields from the last to the first, and every letter escaped.
/// Numbers stay as they are, because many servers read only the usual spelling of an integer.
pub(crate) fn unusual(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().rev().map(|(name, value)| format!("{} :\t{}", escaped(name), unusual(value)));
            format!("{{ {} }}\n", fields.collect::<Vec<_>>().join(" ,\n"))
        }
        Value::Array(items) => format!("[ {} ]", items.iter().map(unusual).collect::<Vec<_>>().join(" , ")),
        Value::String(text) => escaped(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

fn escaped(text: &str) -> String {
    let letters: String = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
    format!("\"{letters}\"")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    #[test]
    fn unusual_spelling_has_the_same_meaning() {
        let value = json!({"b": ["ж😀\"\\\n", 1, 0.5, null, true, [], {}], "a": ""});
        let spelled = unusual(&value);
        assert_eq!(serde_json::from_str::<Value>(&spelled).unwrap(), value);
        assert!(spelled.starts_with("{ \"\\u0062\" :\t[ \"\\u0436\\uD83D\\uDE00"), "{spelled}");
        assert!(spelled.find("\\u0062") < spelled.find("\\u0061"), "{spelled}");
    }
}
