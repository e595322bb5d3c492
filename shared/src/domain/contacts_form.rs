//! The form in which a widget asks visitors for their contact data and for what else the account wants to know.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContactsForm {
    pub when: ContactsFormTime,
    pub fields: Vec<ContactField>,
    /// The fields that must be filled in. They are part of `fields`.
    pub required: Vec<ContactField>,
    pub custom_fields: Vec<CustomField>,
}

impl Default for ContactsForm {
    fn default() -> Self {
        let fields = vec![ContactField::Name, ContactField::Email, ContactField::Phone];
        Self { when: ContactsFormTime::Never, fields, required: Vec::new(), custom_fields: Vec::new() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactsFormTime {
    Never,
    BeforeFirstMessage,
    AfterFirstMessage,
}

impl ContactsFormTime {
    /// The name of this value in the APIs and in stored items.
    pub fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::BeforeFirstMessage => "before_first_message",
            Self::AfterFirstMessage => "after_first_message",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        let all = [Self::Never, Self::BeforeFirstMessage, Self::AfterFirstMessage];
        all.into_iter().find(|when| when.name() == name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactField {
    Name,
    Email,
    Phone,
}

impl ContactField {
    /// The name of this value in the APIs and in stored items.
    pub fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Email => "email",
            Self::Phone => "phone",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        [Self::Name, Self::Email, Self::Phone].into_iter().find(|field| field.name() == name)
    }
}

/// A question of the account. The visitor's answer is shown to agents and webhooks as a line of custom data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomField {
    pub key: String,
    pub label: String,
    pub kind: CustomFieldKind,
    pub is_required: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CustomFieldKind {
    Text,
    /// The visitor chooses one of the options.
    Select {
        options: Vec<String>,
    },
    /// The visitor agrees by ticking a box. The link leads to the text that the visitor agrees to.
    Consent {
        link: Option<String>,
    },
}

impl CustomFieldKind {
    /// The name of this value in the APIs and in stored items.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Select { .. } => "select",
            Self::Consent { .. } => "consent",
        }
    }

    /// Returns the kind with this name. `options` and `link` are used by the kinds that have them.
    pub fn from_parts(name: &str, options: Vec<String>, link: Option<String>) -> Option<Self> {
        match name {
            "text" => Some(Self::Text),
            "select" => Some(Self::Select { options }),
            "consent" => Some(Self::Consent { link }),
            _ => None,
        }
    }

    /// Returns the options of a select field. Other kinds have none.
    pub fn options(&self) -> &[String] {
        match self {
            Self::Select { options } => options,
            Self::Text | Self::Consent { .. } => &[],
        }
    }

    /// Returns the link of a consent field. Other kinds have none.
    pub fn link(&self) -> Option<&str> {
        match self {
            Self::Consent { link } => link.as_deref(),
            Self::Text | Self::Select { .. } => None,
        }
    }
}
