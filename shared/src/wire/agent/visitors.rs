//! PATCH /agent/visitors/{number}, and visitors as agents see them.

use schemars::{JsonSchema, json_schema};
use serde::{Deserialize, Serialize};

use crate::contract::{Failure, Operation};
use crate::domain::text::email_address;
use crate::domain::text::link_filter::LinkFilter;
use crate::domain::visitors::merged_visitors::MergeChange;
use crate::domain::visitors::visitor::{self, ProfileSource, ProfileSources, VisitorProfile};
use crate::error::Error;
use crate::wire::agent::MAX_AGENT_FIELD_CHARS;
use crate::wire::fields::values::{AnyText, Change, Name, Optional, SequentialNumber, inline_schema};

const MAX_DESCRIPTION_CHARS: usize = 10_000;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/agent/visitors/{number}", "agentVisitor", "Shows a visitor")
            .describe(
                "What is not known of the visitor is completed by those with whom the visitor is merged. Allowed for \
                 agents who can see the visitor's open chat or, if no chat is open, the last one; other agents get 403.",
            )
            .answers::<Visitor>(200, "The visitor."),
        Operation::patch(
            "/agent/visitors/{number}",
            "changeVisitor",
            "Corrects the visitor's data, or blacklists the visitor",
        )
        .describe(
            "Messages from a blacklisted visitor get 200 and are dropped. A correction stays until the integrator \
             sends a value that differs from the integrator's previous one. Allowed for agents who can see the \
             visitor's open chat or, if no chat is open, the last one; other agents get 403.\n\n\
             `merge_with` merges two visitors who are the same person, both of whom the agent must see. Agents then see \
             what is not known of one in the profile of the other, and all chats in one list; whoever blacklists one \
             blacklists all. Each visitor keeps its own number, profile and chats, and widgets, bots, webhooks and \
             e-mails get nothing of another one. 409 if the person would have more than ten visitors. `separate` \
             undoes the merge for the visitor.",
        )
        .body::<VisitorChanges>()
        .answers::<Visitor>(200, "The visitor.")
        .fails(&[Failure::Conflict]),
    ]
}

/// An absent field stays unchanged, and null or an empty text clears it.
#[derive(Deserialize, JsonSchema)]
pub struct VisitorChanges {
    #[serde(default)]
    name: Change<AnyText<MAX_AGENT_FIELD_CHARS>>,
    #[serde(default)]
    email: Change<EmailOrBlank>,
    #[serde(default)]
    phone: Change<AnyText<MAX_AGENT_FIELD_CHARS>>,
    #[serde(default)]
    description: Change<AnyText<MAX_DESCRIPTION_CHARS>>,
    /// Null counts as absent.
    pub blacklisted: Option<bool>,
    /// The number of another visitor who is the same person. Null counts as absent.
    merge_with: Option<SequentialNumber>,
    /// True separates the visitor from those with whom they are merged. Null counts as absent.
    separate: Option<bool>,
}

impl VisitorChanges {
    /// Returns whether the visitor is merged or separated.
    pub fn merge_change(&self) -> Result<Option<MergeChange>, Error> {
        match (self.merge_with, self.separate.unwrap_or(false)) {
            (None, false) => Ok(None),
            (None, true) => Ok(Some(MergeChange::Separate)),
            (Some(SequentialNumber(number)), false) => Ok(Some(MergeChange::With(number))),
            (Some(_), true) => Err(Error::field("separate", "must not be combined with merge_with")),
        }
    }

    /// Returns the corrected values. An empty text stands for a value that is cleared.
    pub fn into_profile(self) -> VisitorProfile {
        let Self { name, email, phone, description, .. } = self;
        VisitorProfile {
            name: corrected(name.map(|AnyText(name)| name)),
            email: corrected(email.map(|EmailOrBlank(email)| email)),
            phone: corrected(phone.map(|AnyText(phone)| phone)),
            description: corrected(description.map(|AnyText(description)| description)),
            ..VisitorProfile::default()
        }
    }
}

fn corrected(change: Change<String>) -> Option<String> {
    change.into_option().map(Option::unwrap_or_default)
}

/// An e-mail address, or an empty string to clear it.
#[derive(Deserialize)]
#[serde(try_from = "AnyText<MAX_AGENT_FIELD_CHARS>")]
struct EmailOrBlank(String);

impl TryFrom<AnyText<MAX_AGENT_FIELD_CHARS>> for EmailOrBlank {
    type Error = &'static str;

    fn try_from(AnyText(text): AnyText<MAX_AGENT_FIELD_CHARS>) -> Result<Self, Self::Error> {
        if text.trim().is_empty() {
            return Ok(Self(text));
        }
        email_address::parse(&text).map(|email| Self(email.to_owned())).ok_or("must be an e-mail address")
    }
}

inline_schema!(
    EmailOrBlank,
    "EmailOrBlank",
    json_schema!({
        "description": "An e-mail address, or an empty string to clear it.",
        "anyOf": [
            { "type": "string", "format": "email", "minLength": 3, "maxLength": MAX_AGENT_FIELD_CHARS },
            { "type": "string", "pattern": "^ *$", "maxLength": MAX_AGENT_FIELD_CHARS },
        ],
    })
);

#[derive(Serialize, JsonSchema)]
pub struct Visitor {
    number: SequentialNumber,
    /// sender.id
    id: String,
    name: String,
    phone: Option<String>,
    email: Option<String>,
    description: Option<String>,
    blacklisted: bool,
    sources: VisitorFieldSources,
    /// The numbers of the other visitors who are the same person. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    merged_with: Vec<SequentialNumber>,
    /// The visitor's open or most recent chat. Absent if there is none.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    last_chat_id: Optional<SequentialNumber>,
}

impl Visitor {
    /// Links that Safe URL (the link filter) blocks are replaced or left out.
    pub fn new(visitor: visitor::Visitor, safe_urls: &LinkFilter) -> Self {
        let visitor = safe_urls.filter_visitor(visitor);
        let last_chat = visitor.open_chat.or(visitor.last_chat);
        let name = visitor.profile.display_name().to_owned();
        let VisitorProfile { name: _, phone, email, description, photo: _, url: _ } = visitor.profile;
        Self {
            number: SequentialNumber(visitor.number),
            id: visitor.external_id,
            name,
            phone,
            email,
            description,
            blacklisted: visitor.blacklisted,
            sources: visitor.sources.into(),
            merged_with: visitor.merged_with.into_iter().map(SequentialNumber).collect(),
            last_chat_id: Optional(last_chat.map(SequentialNumber)),
        }
    }
}

/// The source of each field of the visitor's data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct VisitorFieldSources {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Name<ProfileSource>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<Name<ProfileSource>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<Name<ProfileSource>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Name<ProfileSource>>,
}

impl From<ProfileSources> for VisitorFieldSources {
    fn from(ProfileSources { name, phone, email, description }: ProfileSources) -> Self {
        Self {
            name: name.map(Name),
            phone: phone.map(Name),
            email: email.map(Name),
            description: description.map(Name),
        }
    }
}
