//! The settings of a widget: its look, its texts, the sites on which it may be embedded, and its contacts form.

use crate::domain::named::named;
use std::collections::BTreeMap;

use url::Url;

use crate::domain::channels::contacts_form::ContactsForm;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WidgetSettings {
    /// The main colour, such as `#00464a`.
    pub color: String,
    /// The second colour. `None` means that the widget derives it from the main colour.
    pub color2: Option<String>,
    pub theme: WidgetTheme,
    pub position: WidgetPosition,
    pub launcher: WidgetLauncher,
    pub title: String,
    /// The text above the conversation. `None` means that the widget shows none.
    pub greeting: Option<String>,
    /// The URL of the picture in the chat window's title bar.
    pub avatar: Option<String>,
    pub language: WidgetLanguage,
    /// Texts that replace the widget's standard texts. The keys are the widget's names for the texts.
    pub texts: BTreeMap<String, String>,
    pub allowed_sites: AllowedSites,
    pub contacts_form: ContactsForm,
    pub rating: bool,
    /// Whether a sound is played when a message arrives while the page is hidden.
    pub sound: bool,
    /// Whether agents see what the visitor is typing before it is sent. If not, they see only that the visitor is
    /// typing.
    pub typing_preview: bool,
    /// How fast agents usually answer. `None` means that the widget promises nothing.
    pub reply_time: Option<ReplyTime>,
    /// The service whose widget the pages were written for, so that their code works unchanged.
    pub moved_from: Option<FormerService>,
}

impl WidgetSettings {
    /// Returns the default settings, with this title.
    pub fn with_title(title: String) -> Self {
        Self {
            color: "#00464a".to_owned(),
            color2: None,
            theme: WidgetTheme::System,
            position: WidgetPosition::Right,
            launcher: WidgetLauncher::default(),
            title,
            greeting: None,
            avatar: None,
            language: WidgetLanguage::Auto,
            texts: BTreeMap::new(),
            allowed_sites: AllowedSites::default(),
            contacts_form: ContactsForm::default(),
            rating: true,
            sound: true,
            typing_preview: true,
            reply_time: None,
            moved_from: None,
        }
    }
}

/// The button that opens the chat window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WidgetLauncher {
    /// Whether the button is not shown, because the page has its own.
    pub hidden: bool,
    /// The distance from the side of the page, in CSS pixels.
    pub offset_x: u32,
    /// The distance from the bottom of the page, in CSS pixels.
    pub offset_y: u32,
    pub z_index: u32,
}

impl Default for WidgetLauncher {
    fn default() -> Self {
        Self { hidden: false, offset_x: 20, offset_y: 20, z_index: 2_147_483_000 }
    }
}

named! {
    pub enum WidgetPosition {
        Left = "left",
        Right = "right",
    }
}

named! {
    /// The languages in which a widget can be shown. `Auto` stands for the language of the visitor's browser.
    pub enum WidgetLanguage {
        Auto = "auto",
        English = "en",
        German = "de",
        Spanish = "es",
        French = "fr",
        Portuguese = "pt",
        Russian = "ru",
        Chinese = "zh",
        Arabic = "ar",
        Italian = "it",
        Dutch = "nl",
        Polish = "pl",
        Turkish = "tr",
        Ukrainian = "uk",
        Japanese = "ja",
        Hebrew = "he",
    }
}

named! {
    /// Which colours the window has. `System` stands for the setting of the visitor's device.
    pub enum WidgetTheme {
        System = "system",
        Light = "light",
        Dark = "dark",
    }
}

named! {
    /// The time in which agents usually answer.
    pub enum ReplyTime {
        Minutes = "minutes",
        Hours = "hours",
        Day = "day",
    }
}

named! {
    /// A chat service whose customers can move to this one.
    pub enum FormerService {
        Jivo = "jivo",
    }
}

/// The sites on which a widget may be embedded. A site is a host name, or `*.` and a host name for all its subdomains.
/// An empty list allows every site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedSites(pub Vec<String>);

impl AllowedSites {
    /// Whether the widget may be embedded in a page with this `Origin` header. If sites are listed, the scheme must be
    /// `http` or `https`. The port is not compared.
    pub fn allow(&self, origin: &str) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let url = Url::parse(origin).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        // A text that the URL parser has to repair, for example `https://shop.example\\@evil.example`, is no origin.
        let url = url.filter(|url| url.origin().ascii_serialization().eq_ignore_ascii_case(origin));
        let Some(host) = url.as_ref().and_then(Url::host_str).map(|host| host.trim_end_matches('.')) else {
            return false;
        };
        self.0.iter().any(|site| match site.strip_prefix("*.") {
            Some(domain) => host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')),
            None => host == site,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_are_compared_by_host() {
        let sites = AllowedSites(vec!["shop.example".into(), "*.acme.example".into()]);
        let table = [
            ("https://shop.example", true),
            ("http://SHOP.example:8080", true),
            ("https://shop.example.", true),
            ("https://www.shop.example", false),
            ("https://shop.example.evil.example", false),
            ("https://evilshop.example", false),
            ("https://shop.example@evil.example", false),
            ("https://shop.example\\@evil.example", false),
            ("https://shop.example/", false),
            (" https://shop.example", false),
            ("https://www.acme.example", true),
            ("https://a.b.acme.example", true),
            ("https://acme.example", false),
            ("https://evilacme.example", false),
            ("ftp://shop.example", false),
            ("shop.example", false),
            ("null", false),
            ("", false),
        ];
        for (origin, expected) in table {
            assert_eq!(sites.allow(origin), expected, "{origin}");
            assert!(AllowedSites::default().allow(origin), "an empty list allows every site");
        }
    }
}
