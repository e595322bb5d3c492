//! Request and response bodies of the /agent/canned-replies endpoints.

use serde_json::{Value, json};

use crate::domain::canned_reply::{CannedReply, MAX_CANNED_TEXT_CHARS, MAX_SHORTCUT_CHARS};
use crate::error::Error;
use crate::wire::json_fields::Fields;

/// Parses the body of POST /agent/canned-replies or PATCH /agent/canned-replies/{id} and returns the changed reply. A
/// `reply` without a shortcut is new; in that case the body must contain `shortcut` and `text`.
pub fn apply_canned_reply_patch(body: &Value, mut reply: CannedReply) -> Result<CannedReply, Error> {
    let fields = Fields::of(body)?;
    let is_new = reply.shortcut.is_empty();
    if fields.has("shortcut") || is_new {
        reply.shortcut = parse_shortcut(fields)?;
    }
    if fields.has("text") || is_new {
        reply.text = parse_text(fields)?;
    }
    Ok(reply)
}

fn parse_shortcut(fields: Fields<'_>) -> Result<String, Error> {
    let shortcut = fields.required_text("shortcut", MAX_SHORTCUT_CHARS)?;
    if shortcut.chars().any(|character| character.is_whitespace() || character.is_control()) {
        return Err(fields.invalid("shortcut", "must not contain spaces or control characters"));
    }
    Ok(shortcut)
}

fn parse_text(fields: Fields<'_>) -> Result<String, Error> {
    let text = fields.required_text("text", MAX_CANNED_TEXT_CHARS)?;
    if text.chars().any(|character| character.is_control() && !matches!(character, '\n' | '\r' | '\t')) {
        return Err(fields.invalid("text", "must not contain control characters except line breaks and tabs"));
    }
    Ok(text)
}

pub fn canned_reply_json(reply: &CannedReply) -> Value {
    let CannedReply { id, shortcut, text } = reply;
    json!({ "id": id, "shortcut": shortcut, "text": text })
}

pub fn canned_replies_json(replies: &[CannedReply]) -> Value {
    let replies: Vec<Value> = replies.iter().map(canned_reply_json).collect();
    json!({ "canned_replies": replies })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::domain::canned_reply::MAX_CANNED_REPLIES;

    #[test]
    fn new_reply_requires_both_fields_and_a_patch_none() {
        let reply = CannedReply { id: "r".into(), shortcut: "hi".into(), text: "Hello {visitor}".into() };
        let table = [
            (json!({}), Some("shortcut"), None),
            (json!({ "shortcut": "hi" }), Some("text"), None),
            (json!({ "text": "Hello" }), Some("shortcut"), None),
            (json!({ "shortcut": "hi", "text": "Hello", "more": 1 }), None, None),
            (json!({ "shortcut": null, "text": "Hello" }), Some("shortcut"), Some("shortcut")),
            (json!({ "shortcut": "", "text": "Hello" }), Some("shortcut"), Some("shortcut")),
            (json!({ "shortcut": "hi", "text": "" }), Some("text"), Some("text")),
            (json!({ "shortcut": "hi there", "text": "Hello" }), Some("shortcut"), Some("shortcut")),
            (json!({ "shortcut": "hi\u{a0}", "text": "Hello" }), Some("shortcut"), Some("shortcut")),
            (json!({ "shortcut": "hi\u{1}", "text": "Hello" }), Some("shortcut"), Some("shortcut")),
            (json!({ "shortcut": 5, "text": "Hello" }), Some("shortcut"), Some("shortcut")),
            (json!({ "shortcut": "é".repeat(40), "text": "é".repeat(5_000) }), None, None),
            (json!({ "shortcut": "é".repeat(41), "text": "Hello" }), Some("shortcut"), Some("shortcut")),
            (json!({ "shortcut": "hi", "text": "é".repeat(5_001) }), Some("text"), Some("text")),
            (json!({ "shortcut": "hi", "text": "1\r\n\t2" }), None, None),
            (json!({ "shortcut": "hi", "text": "\u{1b}[31m" }), Some("text"), Some("text")),
        ];
        for (body, new, patched) in table {
            let field = |before: CannedReply| {
                let error = apply_canned_reply_patch(&body, before).err();
                error.map(|error| error.invalid_field().unwrap().to_owned())
            };
            assert_eq!((field(CannedReply::default()).as_deref(), field(reply.clone()).as_deref()), (new, patched));
        }
        let changed = apply_canned_reply_patch(&json!({ "text": "Bye" }), reply.clone()).unwrap();
        assert_eq!(changed, CannedReply { text: "Bye".into(), ..reply });
    }

    #[test]
    fn full_list_fits_into_one_response() {
        const MAX_LAMBDA_RESPONSE_BYTES: usize = 6 * 1024 * 1024;
        // No accepted character takes more bytes in a response than these, which take four: the emoji in UTF-8, and the
        // quote because it is escaped twice (the body is a JSON string that contains JSON).
        for character in ["\u{1f642}", "\""] {
            let (shortcut, text) = (character.repeat(MAX_SHORTCUT_CHARS), character.repeat(MAX_CANNED_TEXT_CHARS));
            let reply = CannedReply { id: "x".repeat(16), shortcut, text };
            let body = canned_replies_json(&vec![reply; MAX_CANNED_REPLIES]).to_string();
            assert!(json!(body).to_string().len() + 1_000 < MAX_LAMBDA_RESPONSE_BYTES);
        }
    }
}
