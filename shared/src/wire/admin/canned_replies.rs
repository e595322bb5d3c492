//! The /agent/canned-replies endpoints: bodies and operations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::{Failure, Operation, Security};
use crate::domain::accounts::canned_reply::{self, MAX_CANNED_REPLIES, MAX_CANNED_TEXT_CHARS, MAX_SHORTCUT_CHARS};
use crate::wire::fields::values::{NotNull, Text, True};

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::get(
            "/agent/canned-replies",
            "cannedReplies",
            "Lists the canned replies of the account, sorted by shortcut",
        )
        .describe("All of them, because there are at most 250.")
        .answers::<CannedReplies>(200, "The canned replies."),
        Operation::post("/agent/canned-replies", "createCannedReply", "An admin creates a canned reply")
            .describe(
                "409 if another canned reply has the same shortcut, or if the account already has 250 canned replies.",
            )
            .secured_by(Security::Admin)
            .body::<NewCannedReply>()
            .answers::<CannedReply>(201, "The canned reply.")
            .fails(&[Failure::Conflict]),
        Operation::patch("/agent/canned-replies/{id}", "changeCannedReply", "An admin changes a canned reply")
            .describe("Absent fields stay unchanged. 409 if another canned reply has the same shortcut.")
            .secured_by(Security::Admin)
            .body::<CannedReplyChanges>()
            .answers::<CannedReply>(200, "The canned reply.")
            .fails(&[Failure::Conflict]),
        Operation::delete("/agent/canned-replies/{id}", "deleteCannedReply", "An admin deletes a canned reply")
            .secured_by(Security::Admin)
            .describe("404 if it does not exist any more.")
            .answers::<DeletedCannedReply>(200, "Deleted."),
    ]
}

#[derive(Deserialize, JsonSchema)]
pub struct NewCannedReply {
    shortcut: CannedReplyShortcut,
    text: CannedReplyText,
}

impl NewCannedReply {
    pub fn into_reply(self, id: String) -> canned_reply::CannedReply {
        let Self { shortcut: CannedReplyShortcut(shortcut), text: CannedReplyText(text) } = self;
        canned_reply::CannedReply { id, shortcut, text }
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
pub struct CannedReplyChanges {
    #[serde(default)]
    shortcut: NotNull<CannedReplyShortcut>,
    #[serde(default)]
    text: NotNull<CannedReplyText>,
}

impl CannedReplyChanges {
    /// Returns the changed reply.
    pub fn applied_to(self, reply: canned_reply::CannedReply) -> canned_reply::CannedReply {
        let Self { shortcut, text } = self;
        let canned_reply::CannedReply { id, shortcut: shortcut_before, text: text_before } = reply;
        canned_reply::CannedReply {
            id,
            shortcut: shortcut.0.map_or(shortcut_before, |CannedReplyShortcut(shortcut)| shortcut),
            text: text.0.map_or(text_before, |CannedReplyText(text)| text),
        }
    }
}

/// The word, without spaces, that agents type to insert the text. It is unique in the account, regardless of case.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(try_from = "Text<MAX_SHORTCUT_CHARS>")]
#[schemars(with = "Text<MAX_SHORTCUT_CHARS>", extend("pattern" = r"^[^\s\u0000-\u001f\u007f-\u009f]*$"))]
struct CannedReplyShortcut(String);

impl TryFrom<Text<MAX_SHORTCUT_CHARS>> for CannedReplyShortcut {
    type Error = &'static str;

    fn try_from(Text(shortcut): Text<MAX_SHORTCUT_CHARS>) -> Result<Self, Self::Error> {
        if shortcut.chars().any(|character| character.is_whitespace() || character.is_control()) {
            return Err("must not contain spaces or control characters");
        }
        Ok(Self(shortcut))
    }
}

/// The client replaces {visitor} and {agent} with names.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(try_from = "Text<MAX_CANNED_TEXT_CHARS>")]
#[schemars(
    with = "Text<MAX_CANNED_TEXT_CHARS>",
    extend("pattern" = r"^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]*$")
)]
struct CannedReplyText(String);

impl TryFrom<Text<MAX_CANNED_TEXT_CHARS>> for CannedReplyText {
    type Error = &'static str;

    fn try_from(Text(text): Text<MAX_CANNED_TEXT_CHARS>) -> Result<Self, Self::Error> {
        if text.chars().any(|character| character.is_control() && !matches!(character, '\n' | '\r' | '\t')) {
            return Err("must not contain control characters except line breaks and tabs");
        }
        Ok(Self(text))
    }
}

#[derive(Serialize, JsonSchema)]
pub struct CannedReplies {
    #[schemars(length(max = MAX_CANNED_REPLIES))]
    canned_replies: Vec<CannedReply>,
}

impl CannedReplies {
    pub fn new(replies: &[canned_reply::CannedReply]) -> Self {
        Self { canned_replies: replies.iter().map(CannedReply::new).collect() }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct CannedReply {
    id: String,
    shortcut: String,
    text: String,
}

impl CannedReply {
    pub fn new(reply: &canned_reply::CannedReply) -> Self {
        let canned_reply::CannedReply { id, shortcut, text } = reply.clone();
        Self { id, shortcut, text }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct DeletedCannedReply {
    pub id: String,
    pub deleted: True,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;
    use crate::error::Error;
    use crate::wire::fields::reader::read;

    #[test]
    fn new_reply_requires_both_fields_and_a_patch_none() {
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
        let field = |error: Option<Error>| error.map(|error| error.invalid_field().unwrap().to_owned());
        for (body, new, patched) in table {
            assert_eq!(field(read::<NewCannedReply>(&body).err()).as_deref(), new, "{body}");
            assert_eq!(field(read::<CannedReplyChanges>(&body).err()).as_deref(), patched, "{body}");
        }
        let before =
            canned_reply::CannedReply { id: "r".into(), shortcut: "hi".into(), text: "Hello {visitor}".into() };
        let changed = read::<CannedReplyChanges>(&json!({ "text": "Bye" })).unwrap().applied_to(before.clone());
        assert_eq!(changed, canned_reply::CannedReply { text: "Bye".into(), ..before });
    }

    #[test]
    fn full_list_fits_into_one_response() {
        const MAX_LAMBDA_RESPONSE_BYTES: usize = 6 * 1024 * 1024;
        // No accepted character takes more bytes in a response than these, which take four: the emoji in UTF-8, and the
        // quote because it is escaped twice (the body is a JSON string that contains JSON).
        for character in ["\u{1f642}", "\""] {
            let (shortcut, text) = (character.repeat(MAX_SHORTCUT_CHARS), character.repeat(MAX_CANNED_TEXT_CHARS));
            let reply = canned_reply::CannedReply { id: "x".repeat(16), shortcut, text };
            let body = json!(CannedReplies::new(&vec![reply; MAX_CANNED_REPLIES])).to_string();
            assert!(json!(body).to_string().len() + 1_000 < MAX_LAMBDA_RESPONSE_BYTES);
        }
    }
}
