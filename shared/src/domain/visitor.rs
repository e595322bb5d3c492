//! Visitors: who writes, and what is known about them.

/// What a visitor shows the agent (A1). Each field is kept until a message brings another value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the specification's own")]
pub struct Profile {
    pub name: Option<String>,
    pub phone: Option<String>,
    pub email: Option<String>,
    pub photo: Option<String>,
    pub url: Option<String>,
    pub invite: Option<String>,
}

impl Profile {
    /// What is known after a message brought `newer`; a field that it lacks stays as it was.
    pub fn merged(&self, newer: &Self) -> Self {
        let Self { name, phone, email, photo, url, invite } = self;
        let pick = |new: &Option<String>, old: &Option<String>| new.clone().or_else(|| old.clone());
        Self {
            name: pick(&newer.name, name),
            phone: pick(&newer.phone, phone),
            email: pick(&newer.email, email),
            photo: pick(&newer.photo, photo),
            url: pick(&newer.url, url),
            invite: pick(&newer.invite, invite),
        }
    }

    /// The name shown to agents.
    pub fn display_name(&self) -> &str {
        self.name.as_deref().filter(|name| !name.is_empty()).unwrap_or("Anonymous")
    }
}

/// A visitor of one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visitor {
    /// The account the channel belongs to.
    pub account_id: String,
    /// The channel they write through.
    pub channel_id: String,
    /// `sender.id`: the identifier in the integrator's system, returned unchanged as `recipient.id`.
    pub external_id: String,
    /// Sequential in the account, from 1.
    pub number: u64,
    /// What they show.
    pub profile: Profile,
    /// Their chat that is not closed.
    pub open_chat: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_updates_what_it_brings_and_keeps_the_rest() {
        let old = Profile { name: Some("Ann".into()), phone: Some("1".into()), ..Profile::default() };
        let new = Profile { name: Some("Anna".into()), email: Some("a@b.c".into()), ..Profile::default() };
        let merged = old.merged(&new);
        assert_eq!(merged.name.as_deref(), Some("Anna"));
        assert_eq!(merged.phone.as_deref(), Some("1"));
        assert_eq!(merged.email.as_deref(), Some("a@b.c"));
    }

    #[test]
    fn a_visitor_without_a_name_is_anonymous() {
        assert_eq!(Profile::default().display_name(), "Anonymous");
        assert_eq!(Profile { name: Some(String::new()), ..Profile::default() }.display_name(), "Anonymous");
    }
}
