//! Safe URL (specification, Authentication: phishing protection): links to other domains than the account's own are
//! blocked and not shown to agents.

use linkify::{LinkFinder, LinkKind};
use url::Url;

use super::chat::Chat;
use super::content::{Content, Rich};
use super::entry::Entry;
use super::panel::{CustomData, Panel};
use super::visitor::{Profile, Visitor};

/// What stands in place of a link.
const BLOCKED: &str = "[link blocked]";

/// The domains that links may lead to, with everything below them. None at all: every link is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SafeUrls(pub Vec<String>);

impl SafeUrls {
    /// A domain as it is stored: lower case, without a scheme, a port or a path, international names in their ASCII
    /// form. None where the text is no domain.
    pub fn domain(text: &str) -> Option<String> {
        let url = Url::parse(&format!("http://{}", text.trim())).ok()?;
        let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let is_bare = is_bare && url.username().is_empty() && url.port().is_none() && !text.contains(['/', '@', ':']);
        url.host_str().filter(|_| is_bare).map(|host| host.trim_end_matches('.').to_owned())
    }

    /// Whether a link may be shown.
    pub fn allows(&self, link: &str) -> bool {
        self.0.is_empty() || host(link).is_some_and(|host| self.0.iter().any(|domain| is_below(&host, domain)))
    }

    /// A text without the links that may not be shown.
    pub fn text(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let mut finder = LinkFinder::new();
        finder.kinds(&[LinkKind::Url]).url_must_have_scheme(false);
        let shown = finder.spans(text).map(|span| match span.kind() {
            Some(LinkKind::Url) if !is_file_name(span.as_str()) && !self.allows(span.as_str()) => BLOCKED,
            _ => span.as_str(),
        });
        shown.collect()
    }

    fn link(&self, link: Option<String>) -> Option<String> {
        link.filter(|link| self.allows(link))
    }

    fn optional(&self, text: Option<String>) -> Option<String> {
        text.map(|text| self.text(&text))
    }

    /// A header as agents may see it.
    pub fn chat(&self, mut chat: Chat) -> Chat {
        chat.visitor_name = self.text(&chat.visitor_name);
        if let Some(last) = chat.last_message.as_mut().filter(|last| last.from != AGENT) {
            last.text = self.text(&last.text);
        }
        chat
    }

    /// An entry as agents may see it: what another agent wrote stays as it is.
    pub fn entry(&self, mut entry: Entry) -> Entry {
        if entry.from.name() != AGENT {
            self.clean(&mut entry.content);
        }
        entry
    }

    fn clean(&self, content: &mut Content) {
        let Content { kind: _, text, media, rich } = content;
        for text in [text, &mut media.performer, &mut media.title, &mut media.file_name] {
            *text = self.optional(text.take());
        }
        media.file = media.file.take().map(|file| if self.allows(&file) { file } else { BLOCKED.to_owned() });
        media.thumb = self.link(media.thumb.take());
        if let Some(Rich { content, title, buttons, force_reply: _ }) = rich.as_deref_mut() {
            for text in [content, title] {
                *text = self.optional(text.take());
            }
            for button in buttons {
                button.text = self.text(&button.text);
            }
        }
    }

    /// A visitor as agents may see them.
    pub fn visitor(&self, mut visitor: Visitor) -> Visitor {
        let Profile { name, phone, email, photo, url, invite, description } = visitor.profile;
        visitor.profile = Profile {
            name: self.optional(name),
            phone: self.optional(phone),
            email: self.optional(email),
            photo: self.link(photo),
            url: self.link(url),
            invite: self.optional(invite),
            description: self.optional(description),
        };
        visitor
    }

    /// A panel as agents may see it.
    pub fn panel(&self, panel: Panel) -> Panel {
        let Panel { custom_data, enable_assign, crm_link, page, assignment } = panel;
        let line = |CustomData { title, content, link, key }| CustomData {
            title: self.optional(title),
            content: self.text(&content),
            link: self.link(link),
            key: self.optional(key),
        };
        Panel {
            custom_data: custom_data.into_iter().map(line).collect(),
            enable_assign,
            crm_link: self.link(crm_link),
            page: page.filter(|(url, _)| self.allows(url)).map(|(url, title)| (url, self.optional(title))),
            assignment,
        }
    }
}

/// The name of an agent as the writer of something.
const AGENT: &str = "agent";

/// Endings that are no top-level domains: `report.pdf` is taken for a link only because it has a dot.
const FILE_ENDINGS: [&str; 16] = [
    "csv", "doc", "docx", "gif", "jpeg", "jpg", "json", "mp3", "mp4", "pdf", "png", "ppt", "txt", "wav", "xls", "xlsx",
];

fn is_file_name(link: &str) -> bool {
    let ending = link.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    !link.contains('/') && ending.is_some_and(|ending| FILE_ENDINGS.contains(&ending.as_str()))
}

/// The host of a link, also of one without a scheme.
fn host(link: &str) -> Option<String> {
    let url = if link.contains("://") { Url::parse(link) } else { Url::parse(&format!("http://{link}")) };
    url.ok()?.host_str().map(|host| host.trim_end_matches('.').to_owned())
}

fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn safe() -> SafeUrls {
        SafeUrls(vec!["good.example".to_owned(), "xn--e1afmkfd.xn--p1ai".to_owned()])
    }

    #[test]
    fn a_link_may_lead_to_a_domain_or_below_it() {
        let table = [
            ("https://good.example", true),
            ("https://good.example/path?to=https://evil.example", true),
            ("HTTPS://SHOP.Good.Example:8443/x", true),
            ("good.example/x", true),
            ("https://good.example./", true),
            ("https://пример.рф/", true),
            ("https://evil.example", false),
            ("https://notgood.example", false),
            ("https://good.example.evil.example", false),
            ("https://good.example@evil.example/", false),
            ("https://evil.example/good.example", false),
            ("javascript:alert(1)", false),
            ("http://1.2.3.4", false),
        ];
        for (link, allowed) in table {
            assert_eq!(safe().allows(link), allowed, "{link}");
            assert!(SafeUrls::default().allows(link), "no domains: {link}");
        }
    }

    #[test]
    fn other_links_are_taken_out_of_a_text() {
        let table = [
            ("no link, e.g. none. v1.2.3", "no link, e.g. none. v1.2.3"),
            (
                "see https://good.example/a and https://evil.example/b.",
                "see https://good.example/a and [link blocked].",
            ),
            ("evil.com/login is mine, me@evil.com too", "[link blocked] is mine, me@evil.com too"),
            ("(HTTP://EVIL.COM)", "([link blocked])"),
            ("in report.PDF, not evil.com/report.pdf", "in report.PDF, not [link blocked]"),
            ("https://good.example@evil.example/", "[link blocked]"),
            ("ünï http://1.2.3.4 ✓", "ünï [link blocked] ✓"),
        ];
        for (text, expected) in table {
            assert_eq!(safe().text(text), expected);
            assert_eq!(SafeUrls::default().text(text), text);
        }
    }

    #[test]
    fn a_domain_is_a_bare_name() {
        let table = [
            ("Good.Example", Some("good.example")),
            (" good.example ", Some("good.example")),
            ("пример.рф", Some("xn--e1afmkfd.xn--p1ai")),
            ("good.example.", Some("good.example")),
            ("https://good.example", None),
            ("good.example/path", None),
            ("good.example:80", None),
            ("a@b", None),
            ("", None),
            ("two words", None),
        ];
        for (text, expected) in table {
            assert_eq!(SafeUrls::domain(text).as_deref(), expected, "{text}");
        }
    }
}
