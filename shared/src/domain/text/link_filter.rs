//! The link filter, which protects agents against phishing. The specification calls it Safe URL (section
//! Authentication). It replaces or removes links to domains that the account does not allow in the texts of visitors,
//! bots and receivers that agents see. The messages of agents and the data of phone calls are not filtered.

use url::Url;

use crate::domain::chats::bot_draft::BotDraft;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_side_panel::{CrmCardAssignment, CustomData, Panel};
use crate::domain::chats::media::{Media, MediaField, MediaMessage};
use crate::domain::chats::message_content::{Content, RichFormat, RichMessage};
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::text::link_detection;
use crate::domain::visitors::visitor::{Visitor, VisitorProfile};

pub const BLOCKED_LINK_TEXT: &str = "[link blocked]";

/// The allowed domains. Their subdomains are also allowed. An empty list allows every link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkFilter(pub Vec<String>);

impl LinkFilter {
    /// Returns a domain in its stored form: in lower case, with international names encoded as Punycode. Returns `None`
    /// if the text is not a bare domain, for example because it contains a scheme, a port or a path.
    pub fn normalize_domain(text: &str) -> Option<String> {
        let url = Url::parse(&format!("http://{}", text.trim())).ok()?;
        let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let is_bare = is_bare && url.username().is_empty() && url.port().is_none() && !text.contains(['/', '@', ':']);
        let host = url.host_str().filter(|_| is_bare)?.trim_end_matches('.');
        let is_name =
            host.split('.').all(|label| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-'));
        is_name.then(|| host.to_owned())
    }

    pub fn allows(&self, link: &str) -> bool {
        self.0.is_empty()
            || link_detection::link_host(link)
                .is_some_and(|host| self.0.iter().any(|domain| is_domain_or_subdomain(&host, domain)))
    }

    pub fn filter_text(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let mut filtered = String::with_capacity(text.len());
        for run in text.split_inclusive(char::is_whitespace) {
            let mut rest = run;
            for word in run.split_inclusive(is_word_delimiter) {
                filtered.push_str(&self.filter_word(word, rest));
                rest = rest.get(word.len()..).unwrap_or_default();
            }
        }
        filtered
    }

    /// Replaces a blocked link in a word. The word can include a trailing delimiter. `run` is the word together with
    /// all text up to the next whitespace, because some clients treat all of this text as part of the link.
    fn filter_word(&self, word: &str, run: &str) -> String {
        let without_punctuation = trim_trailing_punctuation(word);
        let after = word.get(without_punctuation.len()..).unwrap_or_default();
        let is_blocked =
            |text: &str, at: usize| !self.allows(trim_trailing_punctuation(text.get(at..).unwrap_or_default()));
        if let Some(at) = link_detection::find_link(without_punctuation) {
            let has_user_name = run.get(at..).is_some_and(link_detection::has_user_name);
            if is_blocked(without_punctuation, at) || (has_user_name && is_blocked(run, at)) {
                return format!("{}{BLOCKED_LINK_TEXT}{after}", without_punctuation.get(..at).unwrap_or_default());
            }
        }
        // If the word contains a disguised link, the whole word is replaced.
        let is_blocked_reading =
            |reading: &String| link_detection::find_link(reading).is_some_and(|at| is_blocked(reading, at));
        if link_detection::alternative_readings(without_punctuation).iter().any(is_blocked_reading) {
            format!("{BLOCKED_LINK_TEXT}{after}")
        } else {
            word.to_owned()
        }
    }

    fn filter_link(&self, link: Option<String>) -> Option<String> {
        link.filter(|link| self.allows(link))
    }

    /// Filters a value that is either a URL or free text, such as the page that a visitor is viewing.
    fn filter_page(&self, url: Option<String>) -> Option<String> {
        if url.as_deref().is_some_and(link_detection::is_web_url) {
            self.filter_link(url)
        } else {
            self.filter_optional_text(url)
        }
    }

    fn filter_optional_text(&self, text: Option<String>) -> Option<String> {
        text.map(|text| self.filter_text(&text))
    }

    pub fn filter_chat(&self, mut chat: Chat) -> Chat {
        chat.visitor_name = self.filter_text(&chat.visitor_name);
        if let Some(last) = chat.last_message.as_mut().filter(|last| last.from != AGENT) {
            last.text = self.filter_text(&last.text);
        }
        if let Some(handover) = &mut chat.handover {
            handover.summary_start = self.filter_optional_text(handover.summary_start.take());
        }
        chat
    }

    /// Filters an entry: the texts that its receiver returned and, unless an agent wrote the entry, its content.
    pub fn filter_entry(&self, mut entry: TimelineEntry) -> TimelineEntry {
        if entry.from.name() != AGENT {
            self.filter_content(&mut entry.content);
        }
        if let Some(delivery) = &mut entry.delivery {
            for error in delivery.failure.iter_mut().map(|failure| &mut failure.message) {
                *error = self.filter_text(error);
            }
            for attempt in &mut delivery.attempts {
                attempt.error = self.filter_optional_text(attempt.error.take());
                attempt.answer = self.filter_optional_text(attempt.answer.take());
            }
        }
        entry
    }

    fn filter_content(&self, content: &mut Content) {
        match content {
            Content::Text { text, force_reply: _, button_id: _ } => *text = self.filter_text(text),
            Content::Media(message) => {
                let MediaMessage { media_type: _, text, media, uploaded } = &mut **message;
                *text = self.filter_optional_text(text.take());
                // The links to uploaded files are the service's own.
                let (own_file, own_thumb) = match uploaded {
                    Some(_) => (media.file.take(), media.thumb.take()),
                    None => (None, None),
                };
                let replace = |file: String| if self.allows(&file) { file } else { BLOCKED_LINK_TEXT.to_owned() };
                let file = media.file.take().map(replace);
                self.filter_media(media);
                media.file = own_file.or(file);
                media.thumb = own_thumb.or_else(|| media.thumb.take());
            }
            Content::Rich(RichMessage { format, text, force_reply: _, not_displayable: _ }) => {
                *text = self.filter_optional_text(text.take());
                match format {
                    RichFormat::Markdown(content) => *content = self.filter_text(content),
                    RichFormat::Buttons { title, buttons } => {
                        *title = self.filter_optional_text(title.take());
                        for button in buttons {
                            button.text = self.filter_text(&button.text);
                        }
                    }
                }
            }
            // The strings in the data are filtered when the JSON is parsed.
            Content::Handover(details) => details.summary = self.filter_optional_text(details.summary.take()),
            Content::Note { .. }
            | Content::Call(_)
            | Content::Deleted(_)
            | Content::BotNotification { .. }
            | Content::Webhook(_) => {}
        }
    }

    fn filter_media(&self, media: &mut Media) {
        for (_, field) in media.fields_mut() {
            match field {
                MediaField::Url(url) => *url = self.filter_link(url.take()),
                MediaField::Text(text) => *text = self.filter_optional_text(text.take()),
                MediaField::Count(_) | MediaField::Latitude(_) | MediaField::Longitude(_) => {}
            }
        }
    }

    pub fn filter_visitor(&self, mut visitor: Visitor) -> Visitor {
        visitor.external_id = self.filter_text(&visitor.external_id);
        let VisitorProfile { name, phone, email, photo, url, description } = visitor.profile;
        visitor.profile = VisitorProfile {
            name: self.filter_optional_text(name),
            phone: self.filter_optional_text(phone),
            email: self.filter_optional_text(email),
            photo: self.filter_link(photo),
            url: self.filter_page(url),
            description: self.filter_optional_text(description),
        };
        if let Some(widget) = visitor.widget.as_deref_mut() {
            widget.page_title = self.filter_optional_text(widget.page_title.take());
            widget.session.referrer = self.filter_page(widget.session.referrer.take());
            widget.session.user_agent = self.filter_text(&widget.session.user_agent);
            for lines in [&mut widget.custom_data, &mut widget.answers] {
                *lines = std::mem::take(lines).into_iter().map(|line| self.filter_custom_data(line)).collect();
            }
            for text in widget.utm.values_mut() {
                *text = self.filter_optional_text(text.take());
            }
        }
        visitor
    }

    fn filter_custom_data(&self, CustomData { title, content, link, key }: CustomData) -> CustomData {
        CustomData {
            title: self.filter_optional_text(title),
            content: self.filter_text(&content),
            link: self.filter_link(link),
            key: self.filter_optional_text(key),
        }
    }

    pub fn filter_panel(&self, panel: Panel) -> Panel {
        let Panel { custom_data, enable_assign, crm_link, page, assignment, invite, draft } = panel;
        Panel {
            custom_data: custom_data.into_iter().map(|line| self.filter_custom_data(line)).collect(),
            enable_assign,
            crm_link: self.filter_link(crm_link),
            page: page.filter(|(url, _)| self.allows(url)).map(|(url, title)| (url, self.filter_optional_text(title))),
            assignment: assignment.map(|assignment| match assignment {
                CrmCardAssignment::Failed(message) => CrmCardAssignment::Failed(self.filter_text(&message)),
                CrmCardAssignment::Pending | CrmCardAssignment::Done => assignment,
            }),
            invite: self.filter_optional_text(invite),
            draft: draft.map(|draft| BotDraft { text: self.filter_text(&draft.text), ..draft }),
        }
    }
}

/// The [`Sender::name`](crate::domain::chats::chat::Sender::name) of an agent.
const AGENT: &str = "agent";

fn is_word_delimiter(c: char) -> bool {
    c.is_whitespace() || "<>()[]{}\"'`|^*".contains(c)
}

fn trim_trailing_punctuation(word: &str) -> &str {
    word.trim_end_matches(|c| is_word_delimiter(c) || ".,;:!?".contains(c))
}

fn is_domain_or_subdomain(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter() -> LinkFilter {
        LinkFilter(vec!["good.example".to_owned(), "xn--e1afmkfd.xn--p1ai".to_owned()])
    }

    #[test]
    fn links_to_domain_and_subdomains_are_allowed() {
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
            assert_eq!(filter().allows(link), allowed, "{link}");
            assert!(LinkFilter::default().allows(link), "no domains: {link}");
        }
    }

    #[test]
    fn blocked_links_in_text_are_replaced() {
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
            assert_eq!(filter().filter_text(text), expected);
            assert_eq!(LinkFilter::default().filter_text(text), text);
        }
    }

    #[test]
    fn disguised_links_are_blocked() {
        // After filtering, none of these words may still contain any part of the blocked link.
        let table = [
            // The link is before or after another link.
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
            // Slashes are missing, repeated or reversed.
            "https:/evil.com/login",
            "https:evil.com/login",
            "https:///evil.com/login",
            "hTTps:/\\evil.com",
            r"https:\\evil.com",
            r"\\evil.com\x",
            r"/\evil.com",
            "https//evil.com",
            // The link contains a user name or a password.
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
            // The host is spelled differently.
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
            // The link contains invisible characters.
            "ev\u{200b}il.c\u{200d}om",
            "evil\u{ad}.com",
            "evil.\u{2060}com",
            "\u{feff}evil.com",
            "good.example\u{200b}.evil.com",
            // The link is escaped as in Markdown or HTML.
            r"https:\/\/evil\.com/login",
            r"evil\.com",
            "evil&period;com",
            "https&colon;&sol;&sol;evil&#46;com",
            "https&#x3a;//evil&#X2E;com",
            // The URL has no host.
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
            let filtered = filter().filter_text(word);
            assert!(filtered.contains(BLOCKED_LINK_TEXT), "{word} becomes {filtered}");
            for part in ["evil", "com", "login", "alert", "PHN", "etc", "vil."] {
                assert!(!filtered.to_lowercase().contains(part), "{word} becomes {filtered}");
            }
        }
    }

    #[test]
    fn only_bare_domains_are_accepted() {
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
            assert_eq!(LinkFilter::normalize_domain(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn visitor_page_is_filtered_as_url_or_text() {
        let table = [
            ("https://good.example/cart", Some("https://good.example/cart")),
            ("https://evil.example/cart", None),
            ("Checkout", Some("Checkout")),
            ("see evil.com/login", Some("see [link blocked]")),
            ("javascript:alert", Some(BLOCKED_LINK_TEXT)),
        ];
        for (url, expected) in table {
            assert_eq!(filter().filter_page(Some(url.to_owned())).as_deref(), expected, "{url}");
            assert_eq!(LinkFilter::default().filter_page(Some(url.to_owned())).as_deref(), Some(url));
        }
    }
}
