//! Fields that several requests of the widget contain.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::domain::visitors::widget_visitor::Page;
use crate::wire::fields::json_fields::MAX_URL_CHARS;
use crate::wire::fields::values::{OptionalText, Text, Truncated};

pub(super) const MAX_TOKEN_CHARS: usize = 100;
const MAX_MESSAGE_ID_CHARS: usize = 64;
pub(super) const MAX_USER_TOKEN_CHARS: usize = 2_048;
/// The maximum length of a name, an e-mail address, a phone number, or the title or key of custom data.
pub(super) const MAX_CONTACT_CHARS: usize = 255;
/// The length to which a page title, a UTM parameter or a web analytics id is truncated.
pub(super) const MAX_TRACKING_CHARS: usize = 255;

/// The token that session has returned.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct VisitorToken(Text<MAX_TOKEN_CHARS>);

impl VisitorToken {
    pub fn as_str(&self) -> &str {
        &self.0.0
    }
}

/// Identifies the message. A repeated request with the same id stores nothing.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct WidgetMessageId(Text<MAX_MESSAGE_ID_CHARS>);

impl WidgetMessageId {
    pub fn as_str(&self) -> &str {
        &self.0.0
    }
}

/// The page that the visitor is viewing.
#[derive(Deserialize, JsonSchema)]
pub struct BrowserPage {
    #[serde(default)]
    url: OptionalText<MAX_URL_CHARS>,
    #[serde(default)]
    title: Truncated<MAX_TRACKING_CHARS>,
}

impl BrowserPage {
    /// Returns the page, or `None` if it has no address.
    pub fn into_page(self) -> Option<Page> {
        let Self { url: OptionalText(url), title: Truncated(title) } = self;
        url.map(|url| Page { url, title })
    }
}
