//! Visitors: who writes, what is known about them, and who said so.

use super::timestamp::Timestamp;

/// Who said something about a visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Source {
    /// Typed by the visitor into a form of the widget.
    Visitor,
    /// Set by a script of the page.
    Script,
    Integrator,
    Bot,
    Crm,
    Agent,
}

impl Source {
    /// The wire and storage name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Visitor => "visitor",
            Self::Script => "script",
            Self::Integrator => "integrator",
            Self::Bot => "bot",
            Self::Crm => "crm",
            Self::Agent => "agent",
        }
    }

    /// The source of that name.
    pub fn parse(name: &str) -> Option<Self> {
        let all = [Self::Visitor, Self::Script, Self::Integrator, Self::Bot, Self::Crm, Self::Agent];
        all.into_iter().find(|source| source.name() == name)
    }
}

/// What is known of a visitor (A1, C1). Each field is kept until somebody brings another value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the specification's own")]
pub struct Profile {
    pub name: Option<String>,
    pub phone: Option<String>,
    pub email: Option<String>,
    pub photo: Option<String>,
    pub url: Option<String>,
    pub invite: Option<String>,
    pub description: Option<String>,
}

/// Who said what an agent relies on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields of Profile")]
pub struct Sources {
    pub name: Option<Source>,
    pub phone: Option<Source>,
    pub email: Option<Source>,
    pub description: Option<Source>,
}

impl Profile {
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
    /// What is known of them.
    pub profile: Profile,
    /// Who said it.
    pub sources: Sources,
    /// Chats they have opened.
    pub chats: u64,
    /// Whether their messages are dropped.
    pub blacklisted: bool,
    /// Their chat that is not closed.
    pub open_chat: Option<u64>,
    /// When they are forgotten, unless they open another chat; none: never.
    pub keep_until: Option<Timestamp>,
}

impl Visitor {
    /// Whether the account has forgotten them; the table deletes late.
    pub fn is_forgotten(&self, now: Timestamp) -> bool {
        self.open_chat.is_none() && self.keep_until.is_some_and(|until| until <= now)
    }

    /// The visitor who comes again: as a stranger where the account has forgotten them.
    pub fn again(self, now: Timestamp) -> Self {
        if !self.is_forgotten(now) {
            return self;
        }
        Self { profile: Profile::default(), sources: Sources::default(), chats: 0, ..self }
    }

    /// Takes over what `newer` brings; a field that it lacks stays as it was. Whether anything changed.
    pub fn learn(&mut self, newer: &Profile, source: Source) -> bool {
        let Profile { name, phone, email, photo, url, invite, description } = newer;
        let before = self.profile.clone();
        let (known, from) = (&mut self.profile, &mut self.sources);
        take(&mut known.name, name, Some((&mut from.name, source)));
        take(&mut known.phone, phone, Some((&mut from.phone, source)));
        take(&mut known.email, email, Some((&mut from.email, source)));
        take(&mut known.description, description, Some((&mut from.description, source)));
        take(&mut known.photo, photo, None);
        take(&mut known.url, url, None);
        take(&mut known.invite, invite, None);
        self.profile != before
    }
}

/// A value that is the same as before keeps its source.
fn take(known: &mut Option<String>, new: &Option<String>, source: Option<(&mut Option<Source>, Source)>) {
    if new.is_none() || known == new {
        return;
    }
    known.clone_from(new);
    if let Some((of, source)) = source {
        *of = Some(source);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visitor() -> Visitor {
        Visitor {
            account_id: "a".into(),
            channel_id: "c".into(),
            external_id: "v".into(),
            number: 1,
            profile: Profile::default(),
            sources: Sources::default(),
            chats: 1,
            blacklisted: false,
            open_chat: None,
            keep_until: None,
        }
    }

    #[test]
    fn what_is_learned_replaces_and_keeps_its_source() {
        let mut visitor = visitor();
        let ann = Profile { name: Some("Ann".into()), phone: Some("1".into()), ..Profile::default() };
        assert!(visitor.learn(&ann, Source::Integrator));
        let crm = Profile { name: Some("Anna".into()), phone: Some("1".into()), ..Profile::default() };
        assert!(visitor.learn(&crm, Source::Crm));
        assert!(!visitor.learn(&crm, Source::Agent), "nothing new");
        assert_eq!(visitor.profile, crm);
        assert_eq!((visitor.sources.name, visitor.sources.phone), (Some(Source::Crm), Some(Source::Integrator)));
    }

    #[test]
    fn a_visitor_without_a_name_is_anonymous() {
        assert_eq!(Profile::default().display_name(), "Anonymous");
        assert_eq!(Profile { name: Some(String::new()), ..Profile::default() }.display_name(), "Anonymous");
    }
}
