//! Safe URL (specification, Authentication: phishing protection): links to other domains than the account's own are
//! blocked and not shown to agents.

use url::Url;

use super::chat::Chat;
use super::content::{Content, Media, Rich};
use super::entry::Entry;
use super::panel::{Assignment, CustomData, Panel};
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
        let host = url.host_str().filter(|_| is_bare)?.trim_end_matches('.');
        let is_name =
            host.split('.').all(|label| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-'));
        is_name.then(|| host.to_owned())
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
        text.split_inclusive(ends_a_word).map(|word| self.word(word)).collect()
    }

    /// A word with what ended it.
    fn word(&self, word: &str) -> String {
        let (before, link) = word.split_at(link_begins(word).unwrap_or(word.len()));
        let bare = link.trim_end_matches(|c| ends_a_word(c) || ".,;:!?".contains(c));
        let after = link.get(bare.len()..).unwrap_or_default();
        let shown = if bare.is_empty() || self.allows(bare) { bare } else { BLOCKED };
        format!("{before}{shown}{after}")
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
        let Media {
            file,
            thumb,
            emoji,
            file_size: _,
            file_name,
            duration: _,
            width: _,
            height: _,
            performer,
            title,
            latitude: _,
            longitude: _,
        } = media;
        for text in [text, emoji, file_name, performer, title] {
            *text = self.optional(text.take());
        }
        *file = file.take().map(|file| if self.allows(&file) { file } else { BLOCKED.to_owned() });
        *thumb = self.link(thumb.take());
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
        visitor.external_id = self.text(&visitor.external_id);
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
            assignment: assignment.map(|assignment| match assignment {
                Assignment::Failed(message) => Assignment::Failed(self.text(&message)),
                Assignment::Pending | Assignment::Done => assignment,
            }),
        }
    }
}

/// The name of an agent as the writer of something.
const AGENT: &str = "agent";

fn ends_a_word(c: char) -> bool {
    c.is_whitespace() || "<>()[]{}\"'`|\\^*".contains(c)
}

/// Where in a word a link begins that somebody may follow: with a scheme, as `//host.name`, or as a bare name of a host.
/// Rather a word too many than a link: libraries that look for links pass over hosts with other than ASCII endings, over
/// numbers, and over names that no registry would sell.
fn link_begins(word: &str) -> Option<usize> {
    if let Some(slashes) = word.find("//") {
        let before = word.get(..slashes).unwrap_or_default();
        let scheme = before.strip_suffix(':').map(|before| before.trim_end_matches(is_of_scheme).len());
        let is_host = word.get(slashes..).is_some_and(|rest| rest.contains(['.', '[', '%']));
        return scheme.or(is_host.then_some(slashes));
    }
    let name_begins = word.find(|c: char| c.is_alphanumeric())?;
    let link = word.get(name_begins..).unwrap_or_default();
    let name = link.split(['/', '?', '#', ':', '@']).next().unwrap_or_default();
    let rest = link.get(name.len()..).unwrap_or_default();
    // What is before an @ belongs to an address for mail.
    let is_link = !rest.starts_with('@') && is_host_name(name, rest);
    is_link.then_some(name_begins)
}

fn is_of_scheme(c: char) -> bool {
    c.is_ascii_alphanumeric() || "+.-".contains(c)
}

/// Endings that are no top-level domains: `report.pdf` is a file.
const FILE_ENDINGS: [&str; 16] = [
    "csv", "doc", "docx", "gif", "jpeg", "jpg", "json", "mp3", "mp4", "pdf", "png", "ppt", "txt", "wav", "xls", "xlsx",
];

/// Whether something like `shop.example` names a host, with what follows it: `e.g.` and `1.5` do not.
fn is_host_name(name: &str, rest: &str) -> bool {
    let is_bare = rest.chars().all(|c| !c.is_alphanumeric());
    let name = name.trim_end_matches(|c: char| !c.is_alphanumeric());
    let Some((_, ending)) = name.rsplit_once(['.', '\u{3002}']) else { return false };
    let is_file = is_bare && FILE_ENDINGS.contains(&ending.to_ascii_lowercase().as_str());
    let is_address = !is_bare && name.parse::<std::net::Ipv4Addr>().is_ok();
    let is_domain = ending.chars().count() > 1 && ending.chars().any(char::is_alphabetic);
    (is_domain && !is_file) || is_address
}

/// The host of a link, also of one without a scheme.
fn host(link: &str) -> Option<String> {
    let scheme = link.split_once("://").map_or("", |(scheme, _)| scheme);
    let url = match link {
        _ if !scheme.is_empty() && scheme.chars().all(is_of_scheme) => Url::parse(link),
        _ if link.starts_with("//") => Url::parse(&format!("http:{link}")),
        _ => Url::parse(&format!("http://{link}")),
    };
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
            ("https://evil.рф/login, www.evil.рф!", "[link blocked], [link blocked]!"),
            ("https://evil.中国/ и https://пример.рф/a", "[link blocked] и https://пример.рф/a"),
            ("https://good.example@evil.рф/", "[link blocked]"),
            ("[click](//evil.example/x)", "[click]([link blocked])"),
            ("http://[2001:db8::1]/login", "[link blocked][2001:db8::1]/login"),
            ("http://3232235777/login http://localhost", "[link blocked] [link blocked]"),
            ("https://a-.evil.com/x https://-evil.com/", "[link blocked] [link blocked]"),
            ("evil.com?a.pdf evil.com:80?x.doc evil.com#y.txt", "[link blocked] [link blocked] [link blocked]"),
            ("see:http://evil.com", "see:[link blocked]"),
            ("good.example/login?next=https://good.example/", "good.example/login?next=https://good.example/"),
            ("\u{2014}evil.com", "\u{2014}[link blocked]"),
            ("1.2.3.4/abc but 1.2.3.4 and 10.50", "[link blocked] but 1.2.3.4 and 10.50"),
            ("and/or, either//or, // and ... stay", "and/or, either//or, // and ... stay"),
            ("**evil.com** `good.example`", "**[link blocked]** `good.example`"),
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
            ("*.shop.example", None),
            (".", None),
            ("a..example", None),
        ];
        for (text, expected) in table {
            assert_eq!(SafeUrls::domain(text).as_deref(), expected, "{text}");
        }
    }
}
