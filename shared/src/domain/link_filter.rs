//! Safe URL (specification, Authentication: phishing protection): links to other domains than the account's own are
//! blocked and not shown to agents.

use url::Url;

use crate::domain::chat::Chat;
use crate::domain::content::{Content, Media, Rich};
use crate::domain::entry::Entry;
use crate::domain::link;
use crate::domain::panel::{Assignment, CustomData, Panel};
use crate::domain::visitor::{Profile, Visitor};

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
        self.0.is_empty() || link::host(link).is_some_and(|host| self.0.iter().any(|domain| is_below(&host, domain)))
    }

    /// A text without the links that may not be shown.
    pub fn text(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let mut shown = String::with_capacity(text.len());
        for run in text.split_inclusive(char::is_whitespace) {
            let mut rest = run;
            for word in run.split_inclusive(ends_a_word) {
                shown.push_str(&self.word(word, rest));
                rest = rest.get(word.len()..).unwrap_or_default();
            }
        }
        shown
    }

    /// A word with what ended it. `run` is the word with everything that follows it up to a space: some readers take an
    /// address to there.
    fn word(&self, word: &str, run: &str) -> String {
        let bare = without_end(word);
        let after = word.get(bare.len()..).unwrap_or_default();
        let leads_astray = |text: &str, at: usize| !self.allows(without_end(text.get(at..).unwrap_or_default()));
        if let Some(at) = link::begins(bare) {
            let is_user = run.get(at..).is_some_and(link::has_user);
            if leads_astray(bare, at) || (is_user && leads_astray(run, at)) {
                return format!("{}{BLOCKED}{after}", bare.get(..at).unwrap_or_default());
            }
        }
        // Who writes a link so that it is not seen as one is not trusted with the rest of the word.
        let is_disguised = |reading: &String| link::begins(reading).is_some_and(|at| leads_astray(reading, at));
        if link::readings(bare).iter().any(is_disguised) { format!("{BLOCKED}{after}") } else { word.to_owned() }
    }

    fn link(&self, link: Option<String>) -> Option<String> {
        link.filter(|link| self.allows(link))
    }

    /// Where a visitor is: a link or a text.
    fn page(&self, url: Option<String>) -> Option<String> {
        if url.as_deref().is_some_and(link::is_web) { self.link(url) } else { self.optional(url) }
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

    /// An entry as agents may see it: what another agent wrote stays as it is, but not what a receiver said to it.
    pub fn entry(&self, mut entry: Entry) -> Entry {
        if entry.from.name() != AGENT {
            self.clean(&mut entry.content);
        }
        if let Some(delivery) = &mut entry.delivery {
            for error in delivery.failure.iter_mut().map(|failure| &mut failure.message) {
                *error = self.text(error);
            }
            for attempt in &mut delivery.attempts {
                attempt.error = self.optional(attempt.error.take());
                attempt.answer = self.optional(attempt.answer.take());
            }
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
        if let Some(Rich { content, title, buttons, force_reply: _, not_shown: _ }) = rich.as_deref_mut() {
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
        let Profile { name, phone, email, photo, url, description } = visitor.profile;
        visitor.profile = Profile {
            name: self.optional(name),
            phone: self.optional(phone),
            email: self.optional(email),
            photo: self.link(photo),
            url: self.page(url),
            description: self.optional(description),
        };
        visitor
    }

    /// A panel as agents may see it.
    pub fn panel(&self, panel: Panel) -> Panel {
        let Panel { custom_data, enable_assign, crm_link, page, assignment, invite } = panel;
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
            invite: self.optional(invite),
        }
    }
}

/// The name of an agent as the writer of something.
const AGENT: &str = "agent";

fn ends_a_word(c: char) -> bool {
    c.is_whitespace() || "<>()[]{}\"'`|^*".contains(c)
}

/// Without the punctuation behind it.
fn without_end(word: &str) -> &str {
    word.trim_end_matches(|c| ends_a_word(c) || ".,;:!?".contains(c))
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
            ("https:/good.example/x", true),
            ("https:/evil.example/x", false),
            ("https:\\\\evil.example", false),
            ("https://good.example\t.evil.example/", false),
            ("https://good.example%2eevil.example/", false),
            ("ｇｏｏｄ．ｅｘａｍｐｌｅ", true),
            ("https://evil.example,x.good.example/", false),
            ("javascript://good.example/%0aalert(1)", false),
            ("evil.example://good.example/", false),
            ("evil.example@good.example/", false),
            ("data:text/html,good.example", false),
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
            ("me@good.example, to=john.smith+x@evil.com.", "me@good.example, to=john.smith+x@evil.com."),
            ("你好。请问，はい／いいえ。", "你好。请问，はい／いいえ。"),
            (r"C:\Users\me.doc 10:30, 1.50/kg", r"C:\Users\me.doc 10:30, 1.50/kg"),
            ("report.pdf,invoice.doc data: 7", "report.pdf,invoice.doc data: 7"),
            ("good.example/a,b?c=evil.com", "good.example/a,b?c=evil.com"),
        ];
        for (text, expected) in table {
            assert_eq!(safe().text(text), expected);
            assert_eq!(SafeUrls::default().text(text), text);
        }
    }

    #[test]
    fn a_link_cannot_hide_in_a_word() {
        // One word each: nothing of the host may be left.
        let table = [
            // Behind or before other addresses.
            "evil.com//login",
            "evil.com/x//good.example",
            "evil.com/login,https://good.example/",
            "good.example,evil.com/login",
            "evil.com,x.good.example/login",
            "https://evil.com;x.good.example/",
            "evil.com;x.1/login",
            "x/evil.com/login",
            "see:evil.com/login",
            "report.pdf,evil.com",
            "evil.com.https://good.example/",
            "a.evil.com://good.example/",
            // Slashes as browsers forgive them.
            "https:/evil.com/login",
            "https:evil.com/login",
            "https:///evil.com/login",
            "hTTps:/\\evil.com",
            r"https:\\evil.com",
            r"\\evil.com\x",
            r"/\evil.com",
            "https//evil.com",
            // A name and a password.
            "x@evil.com/login",
            "x@evil.com?login",
            "x@evil.com#login",
            "x@evil.com:80",
            "user:secret@evil.com/login",
            "evil.com:x@good.example/",
            "https://good.example:80@evil.com/",
            "https://good.example'x@evil.com/",
            "https://good.example%2f@evil.com/",
            "@evil.com",
            // Other ways to write the same.
            "EVIL.COM/LOGIN",
            "evil.com./login",
            "evil.com:8080",
            "evil.com.",
            "evil%2ecom/login",
            "evil%2Ecom%2Flogin",
            "https://evil%2ecom",
            "ｅｖｉｌ．ｃｏｍ／login",
            "evil。com",
            "evil｡com/login",
            "evil\u{2024}com",
            "https:／／evil.com",
            "xn--e1afmkfd.com/login",
            // Characters that are not seen.
            "ev\u{200b}il.c\u{200d}om",
            "evil\u{ad}.com",
            "evil.\u{2060}com",
            "\u{feff}evil.com",
            "good.example\u{200b}.evil.com",
            // What Markdown and HTML unwrap.
            r"https:\/\/evil\.com/login",
            r"evil\.com",
            "evil&period;com",
            "https&colon;&sol;&sol;evil&#46;com",
            "https&#x3a;//evil&#X2E;com",
            // No host at all.
            "javascript:alert",
            "JavaScript:alert",
            "javascript&colon;alert",
            "javascript://good.example/%0aalert",
            "vbscript:x",
            "data:text/html;base64,PHNjcmlwdD4=",
            "file:///etc/passwd",
            "blob:https://good.example/x",
        ];
        for word in table {
            let shown = safe().text(word);
            assert!(shown.contains(BLOCKED), "{word} is shown as {shown}");
            for part in ["evil", "com", "login", "alert", "PHN", "etc", "vil."] {
                assert!(!shown.to_lowercase().contains(part), "{word} is shown as {shown}");
            }
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

    #[test]
    fn a_page_is_shown_as_a_link_or_as_a_text() {
        let table = [
            ("https://good.example/cart", Some("https://good.example/cart")),
            ("https://evil.example/cart", None),
            ("Checkout", Some("Checkout")),
            ("see evil.com/login", Some("see [link blocked]")),
            ("javascript:alert", Some(BLOCKED)),
        ];
        for (url, expected) in table {
            assert_eq!(safe().page(Some(url.to_owned())).as_deref(), expected, "{url}");
            assert_eq!(SafeUrls::default().page(Some(url.to_owned())).as_deref(), Some(url));
        }
    }
}
