//! Visitors: who writes, what is known about them, and who said so.

use crate::domain::link::is_web;
use crate::domain::timestamp::Timestamp;

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

/// What the integrator said last of what somebody else has corrected since: their saying it again undoes no
/// correction. As long as nobody has, it is what is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields of Sources")]
pub struct Said {
    pub name: Option<String>,
    pub phone: Option<String>,
    pub email: Option<String>,
    pub description: Option<String>,
}

/// What changes by itself, whatever others write of the same visitor meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields of Profile and of Visitor")]
pub enum Field {
    Name,
    Phone,
    Email,
    Description,
    Photo,
    Url,
    Blacklisted,
}

/// What has changed since a visitor was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// What is to be stored.
    pub fields: Vec<Field>,
    /// Whether webhooks are told: of what agents rely on, and of a blacklisting.
    pub are_news: bool,
}

impl Changes {
    fn note(&mut self, field: Field) {
        if !self.fields.contains(&field) {
            self.fields.push(field);
        }
    }
}

impl Profile {
    /// The page where the visitor is, if it is a link.
    pub fn page(&self) -> Option<&str> {
        self.url.as_deref().filter(|url| is_web(url))
    }

    /// What the integrator says in place of a page, such as the name of a screen: a text, no link.
    pub fn url_text(&self) -> Option<&str> {
        self.url.as_deref().filter(|url| !is_web(url))
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
    /// `sender.id` as text: the identifier in the integrator's system.
    pub external_id: String,
    /// Sequential in the account, from 1.
    pub number: u64,
    /// What is known of them.
    pub profile: Profile,
    /// Who said it.
    pub sources: Sources,
    /// What the integrator said before somebody corrected it.
    pub said: Said,
    /// Chats they have opened.
    pub chats: u64,
    /// Whether their messages are dropped.
    pub blacklisted: bool,
    /// Their chat that is not closed.
    pub open_chat: Option<u64>,
    /// The chat that they opened last.
    pub last_chat: Option<u64>,
    /// When they are forgotten, unless they open another chat; none: never.
    pub keep_until: Option<Timestamp>,
    /// What has changed since they were read.
    pub changes: Changes,
}

impl Visitor {
    /// Whether the account has forgotten them; the table deletes late.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.open_chat.is_none() && self.keep_until.is_some_and(|until| until <= now)
    }

    /// The visitor who comes again: as a stranger where the account has forgotten them.
    pub fn again(self, now: Timestamp) -> Self {
        if !self.is_expired(now) {
            return self;
        }
        use Field::{Description, Email, Name, Phone, Photo, Url};
        let fields = vec![Name, Phone, Email, Description, Photo, Url];
        let changes = Changes { fields, are_news: false };
        let (profile, sources, said) = (Profile::default(), Sources::default(), Said::default());
        Self { profile, sources, said, changes, chats: 0, ..self }
    }

    /// Takes over what `newer` brings; a field that it lacks stays as it was, and what the integrator has said before
    /// is nothing new. Whether there is anything to store.
    pub fn learn(&mut self, newer: &Profile, source: Source) -> bool {
        let Profile { name, phone, email, photo, url, description } = newer;
        let (known, from, said) = (&mut self.profile, &mut self.sources, &mut self.said);
        let facts = [
            (Field::Name, name, &mut known.name, &mut from.name, &mut said.name),
            (Field::Phone, phone, &mut known.phone, &mut from.phone, &mut said.phone),
            (Field::Email, email, &mut known.email, &mut from.email, &mut said.email),
            (Field::Description, description, &mut known.description, &mut from.description, &mut said.description),
        ];
        for (field, new, known, from, said) in facts {
            let Some(new) = new else { continue };
            match take(new, source, known, from, said) {
                Taken::Nothing => {}
                Taken::Said => self.changes.note(field),
                Taken::Known => {
                    self.changes.note(field);
                    self.changes.are_news = true;
                }
            }
        }
        let circumstances = [(Field::Photo, photo, &mut self.profile.photo), (Field::Url, url, &mut self.profile.url)];
        for (field, new, known) in circumstances {
            if new.is_some() && known != new {
                known.clone_from(new);
                self.changes.note(field);
            }
        }
        !self.changes.fields.is_empty()
    }

    /// Has their messages dropped, or heard again.
    pub fn blacklist(&mut self, blacklisted: bool) {
        if self.blacklisted != blacklisted {
            self.blacklisted = blacklisted;
            self.changes.note(Field::Blacklisted);
            self.changes.are_news = true;
        }
    }
}

/// What became of something that was said.
enum Taken {
    /// It is nothing new.
    Nothing,
    /// It is known already, but who says it is to be remembered.
    Said,
    /// It is known from now on.
    Known,
}

/// A value that is the same as before keeps its source.
fn take(
    new: &str,
    source: Source,
    known: &mut Option<String>,
    from: &mut Option<Source>,
    said: &mut Option<String>,
) -> Taken {
    let is_integrator = source == Source::Integrator;
    let was_integrator = *from == Some(Source::Integrator);
    let said_last = if was_integrator { &*known } else { &*said };
    if is_integrator && said_last.as_deref() == Some(new) {
        return Taken::Nothing;
    }
    if known.as_deref() == Some(new) {
        if !is_integrator {
            return Taken::Nothing;
        }
        *said = Some(new.to_owned());
        return Taken::Said;
    }
    let before = known.replace(new.to_owned());
    match (is_integrator, was_integrator) {
        (true, _) => *said = None,
        (false, true) => *said = before,
        (false, false) => {}
    }
    *from = Some(source);
    Taken::Known
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
            said: Said::default(),
            chats: 1,
            blacklisted: false,
            open_chat: None,
            last_chat: None,
            keep_until: None,
            changes: Changes::default(),
        }
    }

    fn named(name: &str) -> Profile {
        Profile { name: Some(name.into()), ..Profile::default() }
    }

    impl Visitor {
        /// What is learned now: the name afterwards, whether it is stored, whether webhooks are told.
        fn hears(&mut self, name: &str, source: Source) -> (Option<&str>, bool, bool) {
            self.changes = Changes::default();
            let is_stored = self.learn(&named(name), source);
            (self.profile.name.as_deref(), is_stored, self.changes.are_news)
        }
    }

    #[test]
    fn a_correction_stays_until_the_integrator_says_something_new() {
        let mut visitor = visitor();
        let table = [
            ("Ann", Source::Integrator, ("Ann", true, true)),
            ("Ann", Source::Integrator, ("Ann", false, false)),
            ("Anna", Source::Agent, ("Anna", true, true)),
            ("Ann", Source::Integrator, ("Anna", false, false)),
            ("Annie", Source::Crm, ("Annie", true, true)),
            ("Ann", Source::Integrator, ("Annie", false, false)),
            ("Annabel", Source::Integrator, ("Annabel", true, true)),
            ("Annabel", Source::Integrator, ("Annabel", false, false)),
            ("Ann", Source::Integrator, ("Ann", true, true)),
        ];
        for (step, (name, source, (known, is_stored, is_told))) in table.into_iter().enumerate() {
            assert_eq!(visitor.hears(name, source), (Some(known), is_stored, is_told), "step {step}");
        }
    }

    #[test]
    fn what_the_integrator_repeats_after_the_agent_is_remembered_as_said() {
        let mut visitor = visitor();
        visitor.hears("Ann", Source::Integrator);
        visitor.hears("Anna", Source::Agent);
        assert_eq!(visitor.hears("Anna", Source::Integrator), (Some("Anna"), true, false));
        assert_eq!(visitor.sources.name, Some(Source::Agent), "who said it first");
        visitor.hears("Annie", Source::Agent);
        assert_eq!(visitor.hears("Anna", Source::Integrator), (Some("Annie"), false, false));
    }

    #[test]
    fn where_a_visitor_is_and_how_they_look_is_stored_and_no_news() {
        let mut visitor = visitor();
        let page = |page: &str| Profile { url: Some(page.into()), photo: Some("p".into()), ..Profile::default() };
        assert!(visitor.learn(&page("1"), Source::Integrator));
        assert_eq!(visitor.changes, Changes { fields: vec![Field::Photo, Field::Url], are_news: false });
        visitor.changes = Changes::default();
        assert!(visitor.learn(&page("2"), Source::Integrator));
        assert_eq!(visitor.changes, Changes { fields: vec![Field::Url], are_news: false });
    }

    #[test]
    fn a_visitor_who_is_forgotten_is_stored_anew_as_a_whole() {
        let mut visitor = visitor();
        visitor.learn(&named("Ann"), Source::Integrator);
        let mut again = Visitor { keep_until: Some(Timestamp(1)), ..visitor }.again(Timestamp(2));
        assert_eq!((&again.profile, again.changes.fields.len()), (&Profile::default(), 6));
        assert!(again.learn(&named("Ann"), Source::Integrator), "nothing was said before");
        assert_eq!(again.changes.fields.len(), 6, "each once");
    }

    #[test]
    fn what_is_learned_replaces_and_keeps_its_source() {
        let mut visitor = visitor();
        let ann = Profile { name: Some("Ann".into()), phone: Some("1".into()), ..Profile::default() };
        assert!(visitor.learn(&ann, Source::Integrator));
        let crm = Profile { name: Some("Anna".into()), phone: Some("1".into()), ..Profile::default() };
        assert!(visitor.learn(&crm, Source::Crm));
        visitor.changes = Changes::default();
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
