//! The e-mails about a chat: its transcript, and the answers of agents to a visitor who has left the page.

use std::fmt::Write as _;

use crate::domain::chats::chat::{Chat, Rating, Sender};
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::email::email_settings::EmailSettings;
use crate::domain::email::mailbox::Mailbox;
use crate::domain::email::outgoing::{OutgoingEmail, subject};
use crate::domain::email::quoted_text::REPLY_MARKER;
use crate::domain::time_zone::TimeZone;
use crate::domain::visitors::visitor::{Visitor, VisitorProfile};

/// What all e-mails about a chat have in common.
#[derive(Clone, Copy)]
pub struct ChatEmails<'a> {
    pub settings: &'a EmailSettings,
    /// The time zone of the account.
    pub zone: &'a TimeZone,
    pub chat: &'a Chat,
    pub visitor: &'a Visitor,
}

/// A message as it is shown in an e-mail.
struct ShownMessage {
    author: String,
    /// With the time zone of the account.
    at: String,
    /// The text, the name of a file and its link, or the coordinates of a place, one in a line.
    text: String,
}

impl ChatEmails<'_> {
    /// Returns the transcript for an address of the account, with the visitor's contact data.
    pub fn transcript_for_account(&self, to: &Mailbox, entries: &[TimelineEntry]) -> OutgoingEmail {
        let Chat { chat_id, channel_name, .. } = self.chat;
        let name = self.visitor.profile.display_name();
        let mut body = Body::default();
        body.facts(&self.facts());
        body.messages(&self.messages(entries));
        self.email(to, &format!("Chat {chat_id} with {name} ({channel_name})"), body)
    }

    /// Returns the transcript for the visitor, without data that agents or the account's systems have added.
    pub fn transcript_for_visitor(&self, to: &Mailbox, entries: &[TimelineEntry]) -> OutgoingEmail {
        let mut body = Body::default();
        body.messages(&self.messages(entries));
        self.email(to, &format!("Your chat with {}", self.settings.sender_name), body)
    }

    /// Returns an e-mail with messages of agents. The visitor can reply to `reply_to`.
    pub fn answer(&self, to: &Mailbox, reply_to: Mailbox, entries: &[TimelineEntry]) -> OutgoingEmail {
        let mut body = Body::default();
        body.paragraph(REPLY_MARKER);
        body.messages(&self.messages(entries));
        let subject = format!("New message from {}", self.settings.sender_name);
        OutgoingEmail { reply_to: Some(reply_to), ..self.email(to, &subject, body) }
    }

    fn email(&self, to: &Mailbox, subject_text: &str, mut body: Body) -> OutgoingEmail {
        body.paragraph(&self.settings.sender_name);
        OutgoingEmail {
            sender_name: self.settings.sender_name.clone(),
            to: to.clone(),
            reply_to: None,
            subject: subject(subject_text),
            text: body.text,
            html: format!(
                "<!doctype html><html><head><meta charset=\"utf-8\"></head><body>{}</body></html>",
                body.html
            ),
            thread: format!("chat-{}.{}", self.chat.chat_id, self.chat.account_id),
        }
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let VisitorProfile { name, email, phone, description, .. } = &self.visitor.profile;
        let known = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
        let facts = [
            ("Name", known(name)),
            ("E-mail", known(email)),
            ("Phone", known(phone)),
            ("Description", known(description)),
            ("Page", self.visitor.profile.page().map(str::to_owned)),
            ("Channel", Some(self.chat.channel_name.clone())),
            ("Opened", Some(self.zone.local_time(self.chat.opened_at))),
            ("Closed", self.chat.closed_at.map(|at| self.zone.local_time(at))),
            ("Rating", self.chat.rating.map(|rating: Rating| rating.name().to_owned())),
        ];
        facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// Returns the messages that the visitor sees.
    fn messages(&self, entries: &[TimelineEntry]) -> Vec<ShownMessage> {
        let shown = |entry: &TimelineEntry| {
            let author = match &entry.from {
                Sender::Visitor => self.visitor.profile.display_name().to_owned(),
                Sender::Agent(agent) => agent.name.clone(),
                Sender::Bot(name) => name.clone(),
                Sender::System => return None,
            };
            let text = shown_text(entry);
            entry.content.is_visible_to_visitor().then(|| ShownMessage {
                author,
                at: self.zone.local_time(entry.at),
                text,
            })
        };
        entries.iter().filter_map(shown).collect()
    }
}

fn shown_text(entry: &TimelineEntry) -> String {
    let file_name = entry.content.media().and_then(|media| media.file_name.clone());
    let lines = [file_name.map(|name| format!("[{name}]")), Some(entry.content.to_plain_text())];
    lines.into_iter().flatten().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Both alternatives of an e-mail. All text is escaped in the HTML.
#[derive(Default)]
struct Body {
    text: String,
    html: String,
}

impl Body {
    fn paragraph(&mut self, text: &str) {
        self.push(format_args!("{text}\n\n"), format_args!("<p>{}</p>", escaped(text)));
    }

    fn facts(&mut self, facts: &[(&str, String)]) {
        for (name, value) in facts {
            self.push(format_args!("{name}: {value}\n"), format_args!("<div>{name}: {}</div>", escaped(value)));
        }
        self.push(format_args!("\n"), format_args!("<hr>"));
    }

    fn messages(&mut self, messages: &[ShownMessage]) {
        for ShownMessage { author, at, text } in messages {
            self.push(
                format_args!("{author}, {at}:\n{text}\n\n"),
                format_args!("<p><b>{}</b> <small>{at}</small><br>{}</p>", escaped(author), escaped(text)),
            );
        }
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>, html: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(text);
        let _ = self.html.write_fmt(html);
    }
}

fn escaped(text: &str) -> String {
    html_escape::encode_quoted_attribute(text).replace('\n', "<br>")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::domain::chats::message_content::Content;
    use crate::domain::timestamp::Timestamp;
    use crate::wire::sample_data;

    const AT: Timestamp = Timestamp(1_763_800_500_000);

    fn settings() -> EmailSettings {
        EmailSettings {
            sender_name: "Shop <Ltd>".into(),
            transcript_to: Vec::new(),
            transcript_to_visitor: true,
            answers_to_visitor: true,
            away: crate::domain::email::email_settings::DEFAULT_AWAY,
        }
    }

    fn with_emails<T>(profile: VisitorProfile, test: impl FnOnce(ChatEmails<'_>, &Mailbox) -> T) -> T {
        let zone = TimeZone::parse("Europe/Berlin").unwrap();
        let visitor = Visitor { profile, ..sample_data::visitor() };
        let to = Mailbox::parse("ada@example.com").unwrap();
        test(ChatEmails { settings: &settings(), zone: &zone, chat: &sample_data::chat(AT), visitor: &visitor }, &to)
    }

    fn message(text: &str) -> TimelineEntry {
        TimelineEntry { content: Content::text(text), ..sample_data::agent_message("m", AT) }
    }

    #[test]
    fn transcript_has_contact_data_and_local_times() {
        let profile = VisitorProfile {
            name: Some("Ada".into()),
            phone: Some("+3120".into()),
            email: Some(String::new()),
            ..VisitorProfile::default()
        };
        let email = with_emails(profile, |emails, to| emails.transcript_for_account(to, &[message("Hello")]));
        assert!(email.subject.contains("with Ada"), "{}", email.subject);
        assert!(email.text.starts_with("Name: Ada\nPhone: +3120\n"), "{}", email.text);
        assert!(email.text.contains(", 2025-11-22 09:35:\nHello\n"), "{}", email.text);
        assert_eq!(email.reply_to, None);
    }

    #[test]
    fn visitor_gets_no_data_that_agents_have_added() {
        let profile = VisitorProfile { description: Some("difficult".into()), ..VisitorProfile::default() };
        let note = TimelineEntry { content: Content::note("secret"), ..message("") };
        let entries = [message("Hello"), note];
        let email = with_emails(profile, |emails, to| emails.transcript_for_visitor(to, &entries));
        for hidden in ["difficult", "secret"] {
            assert!(!email.text.contains(hidden) && !email.html.contains(hidden), "{hidden}");
        }
    }

    #[test]
    fn text_is_escaped_in_html_and_cannot_add_headers() {
        let profile = VisitorProfile { name: Some("<b>\r\nBcc: eve@example.com".into()), ..VisitorProfile::default() };
        let entries = [message("<script>alert(1)</script>\n\"&\"")];
        let email = with_emails(profile, |emails, to| emails.transcript_for_account(to, &entries));
        assert!(!email.subject.contains(['\r', '\n']), "{}", email.subject);
        assert!(!email.html.contains("<script") && !email.html.contains("<b>\r"), "{}", email.html);
        assert!(email.html.contains("&lt;script&gt;"), "{}", email.html);
        assert!(email.text.contains("<script>alert(1)</script>"), "the text is not changed");
    }

    #[test]
    fn answer_asks_for_a_reply_above_the_marker() {
        let reply_to = Mailbox::parse("reply+x@mail.example.com").unwrap();
        let entries = [message("One"), message("Two")];
        let email = with_emails(VisitorProfile::default(), |emails, to| emails.answer(to, reply_to.clone(), &entries));
        assert!(email.text.starts_with(REPLY_MARKER), "{}", email.text);
        assert!(email.text.find("One") < email.text.find("Two"));
        assert_eq!((email.reply_to, &*email.subject), (Some(reply_to), "New message from Shop <Ltd>"));
    }
}
