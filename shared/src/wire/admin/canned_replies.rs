//! The /agent/canned-replies endpoints: bodies and operations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::contract::{Failure, Operation, Security};
use crate::domain::accounts::canned_reply::{
    self, LastAction, MAX_CANNED_REPLIES, MAX_CANNED_TEXT_CHARS, MAX_SHORTCUT_CHARS, ReplyActions,
};
use crate::domain::chats::chat_change::MAX_TAGS_PER_CHAT;
use crate::domain::chats::transfer_request::TransferRequest;
use crate::wire::agent::{TransferTo, numbers};
use crate::wire::fields::values::{Change, List, NotNull, Optional, SequentialNumber, Text, True};

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
                "409 if another canned reply has the same shortcut, or if the account already has 250 canned replies. \
                 A reply with actions is a macro: after an agent has sent it, the console carries them out with the \
                 rights of this agent.",
            )
            .secured_by(Security::Admin)
            .body::<NewCannedReply>()
            .answers::<CannedReply>(201, "The canned reply.")
            .fails(&[Failure::Conflict]),
        Operation::patch("/agent/canned-replies/{id}", "changeCannedReply", "An admin changes a canned reply")
            .describe("Absent fields stay unchanged; actions are replaced as a whole. 409 if another canned reply has the same shortcut.")
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
    actions: Option<NewReplyActions>,
}

impl NewCannedReply {
    pub fn into_reply(self, id: String) -> canned_reply::CannedReply {
        let Self { shortcut: CannedReplyShortcut(shortcut), text: CannedReplyText(text), actions } = self;
        let actions = actions.map(|NewReplyActions(actions)| actions).unwrap_or_default();
        canned_reply::CannedReply { id, shortcut, text, actions }
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
pub struct CannedReplyChanges {
    #[serde(default)]
    shortcut: NotNull<CannedReplyShortcut>,
    #[serde(default)]
    text: NotNull<CannedReplyText>,
    /// Null removes all actions.
    #[serde(default)]
    actions: Change<NewReplyActions>,
}

impl CannedReplyChanges {
    /// Returns the new actions, unless they stay unchanged.
    pub fn new_actions(&self) -> Option<&ReplyActions> {
        match &self.actions {
            Change::Set(NewReplyActions(actions)) => Some(actions),
            Change::Unchanged | Change::Cleared => None,
        }
    }

    /// Returns the changed reply.
    pub fn applied_to(self, reply: canned_reply::CannedReply) -> canned_reply::CannedReply {
        let Self { shortcut, text, actions } = self;
        let canned_reply::CannedReply { id, shortcut: shortcut_before, text: text_before, actions: actions_before } =
            reply;
        let actions = actions.map(|NewReplyActions(actions)| actions);
        canned_reply::CannedReply {
            id,
            shortcut: shortcut.0.map_or(shortcut_before, |CannedReplyShortcut(shortcut)| shortcut),
            text: text.0.map_or(text_before, |CannedReplyText(text)| text),
            actions: actions.applied_or_reset(actions_before, ReplyActions::default()),
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

/// What the console does after an agent has sent the reply. A chat cannot be both transferred and closed.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(try_from = "ActionFields")]
#[schemars(with = "ActionFields")]
struct NewReplyActions(ReplyActions);

/// What the console does after an agent has sent the reply. A chat cannot be both transferred and closed.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "NewReplyActions", extend("not" = {
    "required": ["transfer_to", "close"],
    "properties": { "transfer_to": { "type": "object" }, "close": { "const": true } },
}))]
struct ActionFields {
    /// The numbers of tags to put on the chat.
    #[serde(default)]
    add_tags: NotNull<List<SequentialNumber, MAX_TAGS_PER_CHAT>>,
    transfer_to: Option<TransferTo>,
    /// Whether the chat is closed.
    #[serde(default)]
    close: bool,
}

impl TryFrom<ActionFields> for NewReplyActions {
    type Error = &'static str;

    fn try_from(ActionFields { add_tags, transfer_to, close }: ActionFields) -> Result<Self, Self::Error> {
        let transfer = transfer_to.map(|transfer| transfer.checked()).transpose();
        let last = match (transfer.map_err(|_| "must name one recipient in transfer_to")?, close) {
            (Some(_), true) => return Err("cannot contain both transfer_to and close"),
            (Some(request), false) => Some(LastAction::Transfer(request)),
            (None, true) => Some(LastAction::Close),
            (None, false) => None,
        };
        Ok(Self(ReplyActions { add_tags: numbers(add_tags), last }))
    }
}

/// What the console does after an agent has sent the reply.
#[derive(Serialize, JsonSchema)]
struct Actions {
    add_tags: Vec<SequentialNumber>,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    transfer_to: Optional<TransferRecipient>,
    close: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum TransferRecipient {
    Agent { agent_id: SequentialNumber },
    Department { department_id: SequentialNumber },
    Bot { bot_id: String },
}

impl From<TransferRequest> for TransferRecipient {
    fn from(request: TransferRequest) -> Self {
        match request {
            TransferRequest::Agent(agent_id) => Self::Agent { agent_id: SequentialNumber(agent_id) },
            TransferRequest::Department(id) => Self::Department { department_id: SequentialNumber(id) },
            TransferRequest::Bot(bot_id) => Self::Bot { bot_id },
        }
    }
}

impl Actions {
    /// `None` if there are no actions.
    fn new(actions: ReplyActions) -> Option<Self> {
        let ReplyActions { add_tags, last } = actions;
        if add_tags.is_empty() && last.is_none() {
            return None;
        }
        let add_tags = add_tags.into_iter().map(SequentialNumber).collect();
        let (transfer, close) = match last {
            Some(LastAction::Transfer(request)) => (Some(request.into()), false),
            Some(LastAction::Close) => (None, true),
            None => (None, false),
        };
        Some(Self { add_tags, transfer_to: Optional(transfer), close })
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
    /// Absent if the reply has no actions.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    actions: Optional<Actions>,
}

impl CannedReply {
    pub fn new(reply: &canned_reply::CannedReply) -> Self {
        let canned_reply::CannedReply { id, shortcut, text, actions } = reply.clone();
        Self { id, shortcut, text, actions: Optional(Actions::new(actions)) }
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
        let before = reply("Hello {visitor}", ReplyActions::default());
        let changed = read::<CannedReplyChanges>(&json!({ "text": "Bye" })).unwrap().applied_to(before.clone());
        assert_eq!(changed, canned_reply::CannedReply { text: "Bye".into(), ..before });
    }

    fn reply(text: &str, actions: ReplyActions) -> canned_reply::CannedReply {
        canned_reply::CannedReply { id: "r".into(), shortcut: "hi".into(), text: text.into(), actions }
    }

    #[test]
    fn actions_are_read_and_written_as_a_whole() {
        let transfer = |request| Some(LastAction::Transfer(request));
        let table = [
            (json!({ "close": true, "add_tags": [] }), vec![], Some(LastAction::Close)),
            (json!({ "add_tags": [3, 1], "close": false }), vec![3, 1], None),
            (json!({ "transfer_to": { "agent_id": 7 } }), vec![], transfer(TransferRequest::Agent(7))),
            (json!({ "transfer_to": { "department_id": 2 } }), vec![], transfer(TransferRequest::Department(2))),
            (json!({ "transfer_to": { "bot_id": "b" } }), vec![], transfer(TransferRequest::Bot("b".into()))),
        ];
        for (body, add_tags, last) in table {
            let before = reply("Hello", ReplyActions::default());
            let changes: CannedReplyChanges = read(&json!({ "actions": body })).unwrap();
            let after = changes.applied_to(before.clone());
            assert_eq!(after.actions, ReplyActions { add_tags, last });
            let written: CannedReplyChanges = read(&json!(CannedReply::new(&after))).unwrap();
            assert_eq!(written.applied_to(before.clone()), after, "as written");
            let cleared: CannedReplyChanges = read(&json!({ "actions": null })).unwrap();
            assert_eq!(cleared.applied_to(after), before);
        }
    }

    #[test]
    fn invalid_actions_are_rejected() {
        let table = [
            (json!({ "close": true, "transfer_to": { "agent_id": 7 } }), "actions"),
            (json!({ "transfer_to": {} }), "actions"),
            (json!({ "transfer_to": { "agent_id": 7, "department_id": 7 } }), "actions"),
            (json!({ "transfer_to": { "agent_id": 0 } }), "actions.transfer_to.agent_id"),
            (json!({ "add_tags": [0] }), "actions.add_tags"),
            (json!({ "add_tags": (1..=11).collect::<Vec<_>>() }), "actions.add_tags"),
            (json!({ "close": 1 }), "actions.close"),
            (json!([]), "actions"),
        ];
        for (actions, field) in table {
            let body = json!({ "shortcut": "hi", "text": "Hello", "actions": actions });
            let errors = [read::<NewCannedReply>(&body).err(), read::<CannedReplyChanges>(&body).err()];
            assert_eq!(errors.map(|error| error.unwrap().invalid_field().unwrap().to_owned()), [field; 2], "{body}");
        }
    }

    #[test]
    fn full_list_fits_into_one_response() {
        const MAX_LAMBDA_RESPONSE_BYTES: usize = 6 * 1024 * 1024;
        // No accepted character takes more bytes in a response than these, which take four: the emoji in UTF-8, and the
        // quote because it is escaped twice (the body is a JSON string that contains JSON).
        for character in ["\u{1f642}", "\""] {
            let (shortcut, text) = (character.repeat(MAX_SHORTCUT_CHARS), character.repeat(MAX_CANNED_TEXT_CHARS));
            let transfer = LastAction::Transfer(TransferRequest::Bot("x".repeat(100)));
            let actions = ReplyActions { add_tags: vec![u64::from(u32::MAX); MAX_TAGS_PER_CHAT], last: Some(transfer) };
            let reply = canned_reply::CannedReply { id: "x".repeat(16), shortcut, text, actions };
            let body = json!(CannedReplies::new(&vec![reply; MAX_CANNED_REPLIES])).to_string();
            assert!(json!(body).to_string().len() + 1_000 < MAX_LAMBDA_RESPONSE_BYTES);
        }
    }
}
