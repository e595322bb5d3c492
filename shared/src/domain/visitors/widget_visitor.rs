//! What a widget knows about a visitor in addition to the contact data. Most of it comes from the browser, which can
//! forge it.

use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_side_panel::CustomData;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WidgetVisitor {
    pub session: BrowserSession,
    pub utm: Utm,
    pub page_title: Option<String>,
    pub analytics: Option<Analytics>,
    /// The visitor's id in the account's systems, which is sent to webhooks.
    pub user_token: Option<String>,
    /// Data that a script on the page shows to the agents.
    pub custom_data: Vec<CustomData>,
    /// The visitor's answers to the custom fields of the contacts form, as agents see them.
    pub answers: Vec<CustomData>,
    pub hidden_through: HiddenThrough,
}

/// The visitor's browser when it last started the widget (specification, table C1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrowserSession {
    pub ip_addr: String,
    pub user_agent: String,
    /// The page from which the visitor came to the site.
    pub referrer: Option<String>,
    /// The visitor's first language as a tag such as `pt-BR`. `None` if the browser says nothing.
    pub language: Option<String>,
    pub geoip: GeoIp,
}

/// The location of the visitor's IP address. Unknown values are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeoIp {
    pub region_code: String,
    pub country: String,
    pub country_code: String,
    pub region: String,
    pub city: String,
    pub latitude: String,
    pub longitude: String,
}

/// The `utm_` parameters with which the visitor came to the site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Utm {
    pub source: Option<String>,
    pub campaign: Option<String>,
    pub content: Option<String>,
    pub medium: Option<String>,
    pub term: Option<String>,
}

impl Utm {
    /// The names of the parameters without the prefix `utm_`.
    pub const NAMES: [&'static str; 5] = ["source", "campaign", "content", "medium", "term"];

    pub fn values_mut(&mut self) -> [&mut Option<String>; 5] {
        let Self { source, campaign, content, medium, term } = self;
        [source, campaign, content, medium, term]
    }

    /// Returns the parameters that are set, with their names without the prefix `utm_`.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Self { source, campaign, content, medium, term } = self;
        let values = [source, campaign, content, medium, term];
        Self::NAMES.into_iter().zip(values).filter_map(|(name, value)| Some((name, value.as_deref()?)))
    }
}

/// The client ids in the cookies of Google Analytics and Yandex Metrica.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analytics {
    pub ga: Option<String>,
    pub ym: Option<String>,
}

/// The last entry of the history that the visitor has cleared. This entry and the earlier entries of its chat are
/// hidden, and so are all earlier chats. Both numbers are zero if the visitor has cleared nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HiddenThrough {
    pub chat_id: u64,
    pub seq: u64,
}

impl HiddenThrough {
    /// Returns the number of the last hidden entry of a chat, which is zero if no entry is hidden. Returns `None` if
    /// the whole chat is hidden.
    pub fn last_hidden_seq(self, chat_id: u64) -> Option<u64> {
        match chat_id.cmp(&self.chat_id) {
            std::cmp::Ordering::Less => None,
            std::cmp::Ordering::Equal => Some(self.seq),
            std::cmp::Ordering::Greater => Some(0),
        }
    }

    /// Returns the visitor's chat before this one, unless there is none or the visitor has hidden it.
    pub fn visible_chat_before(self, chat: &Chat) -> Option<u64> {
        chat.previous_chats.first().copied().filter(|chat_id| self.last_hidden_seq(*chat_id).is_some())
    }
}

/// An entry before which a history is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryPosition {
    pub chat_id: u64,
    pub seq: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub url: String,
    pub title: Option<String>,
}
