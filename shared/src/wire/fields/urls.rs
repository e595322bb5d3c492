//! The types of fields that contain URLs.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use crate::domain::deliveries::ssrf_guard::SsrfGuard;
use crate::domain::text::link_detection;
use crate::error::Error;
use crate::wire::fields::values::AnyText;

pub(crate) const MAX_URL_CHARS: usize = 4_096;
pub(crate) const HTTP_PATTERN: &str = "^[Hh][Tt][Tt][Pp][Ss]?://";
const NOT_HTTP: &str = "must be an http:// or https:// URL";
/// Replaces a placeholder such as `{channel_id}` while a URL is normalized, because the URL parser percent-encodes
/// braces and rejects them in a host name.
const PLACEHOLDER_SUBSTITUTE: &str = "placeholder-stands-here";

/// An http or https URL.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "AnyText<MAX_URL_CHARS>")]
#[schemars(inline, with = "AnyText<MAX_URL_CHARS>", extend("format" = "uri", "pattern" = HTTP_PATTERN))]
pub struct WebUrl(pub String);

impl TryFrom<AnyText<MAX_URL_CHARS>> for WebUrl {
    type Error = &'static str;

    fn try_from(AnyText(text): AnyText<MAX_URL_CHARS>) -> Result<Self, Self::Error> {
        if text.trim().is_empty() {
            return Err("is required");
        }
        if link_detection::is_web_url(&text) { Ok(Self(text)) } else { Err(NOT_HTTP) }
    }
}

/// An optional http or https URL. A blank text counts as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Option<AnyText<MAX_URL_CHARS>>")]
pub struct WebUrlOrBlank(pub Option<String>);

impl TryFrom<Option<AnyText<MAX_URL_CHARS>>> for WebUrlOrBlank {
    type Error = &'static str;

    fn try_from(text: Option<AnyText<MAX_URL_CHARS>>) -> Result<Self, Self::Error> {
        let text = text.filter(|AnyText(text)| !text.trim().is_empty());
        Ok(Self(text.map(WebUrl::try_from).transpose()?.map(|WebUrl(url)| url)))
    }
}

impl JsonSchema for WebUrlOrBlank {
    fn schema_name() -> Cow<'static, str> {
        "WebUrlOrBlank".into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let url: Value = schemas.subschema_for::<WebUrl>().into();
        json_schema!({
            "description": "A blank value counts as absent.",
            "anyOf": [url, { "type": "string", "maxLength": MAX_URL_CHARS, "pattern": "^\\s*$" }, { "type": "null" }],
        })
    }
}

/// An address that the service calls. It must not contain a user name or control characters. It must use https and must
/// not lead to a private host, unless the stack allows http or that host. It is stored and shown in the normalised form
/// in which it is called, without a fragment.
// The SSRF guard has not checked it yet.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "WebUrl")]
#[schemars(with = "AnyText<MAX_URL_CHARS>", extend("format" = "uri", "pattern" = HTTP_PATTERN))]
pub struct ReceiverUrl {
    url: Url,
    placeholder: Option<String>,
}

impl ReceiverUrl {
    /// Normalizes a URL that may contain a placeholder, which is preserved.
    pub(crate) fn with_placeholder(text: &str, placeholder: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("is required".to_owned());
        }
        let url = normalized(&text.replace(placeholder, PLACEHOLDER_SUBSTITUTE))?;
        Ok(Self { url, placeholder: Some(placeholder.to_owned()) })
    }

    /// Whether the host name contains the placeholder.
    pub(crate) fn has_placeholder_in_host(&self) -> bool {
        self.placeholder.is_some() && self.url.host_str().is_some_and(|host| host.contains(PLACEHOLDER_SUBSTITUTE))
    }

    /// Returns the URL if the SSRF guard allows it. Otherwise, the error contains the path of the `field`.
    pub fn checked(&self, field: &str, guard: &SsrfGuard) -> Result<String, Error> {
        guard.check(&self.url).map_err(|forbidden| Error::field(field, forbidden))?;
        Ok(match &self.placeholder {
            Some(placeholder) => self.url.as_str().replace(PLACEHOLDER_SUBSTITUTE, placeholder),
            None => self.url.as_str().to_owned(),
        })
    }
}

impl TryFrom<WebUrl> for ReceiverUrl {
    type Error = String;

    fn try_from(WebUrl(text): WebUrl) -> Result<Self, String> {
        Ok(Self { url: normalized(&text)?, placeholder: None })
    }
}

/// An optional address that the service calls. A blank text counts as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "WebUrlOrBlank")]
#[schemars(with = "WebUrlOrBlank", inline)]
pub struct ReceiverUrlOrBlank(pub Option<ReceiverUrl>);

impl TryFrom<WebUrlOrBlank> for ReceiverUrlOrBlank {
    type Error = String;

    fn try_from(WebUrlOrBlank(text): WebUrlOrBlank) -> Result<Self, String> {
        Ok(Self(text.map(|text| ReceiverUrl::try_from(WebUrl(text))).transpose()?))
    }
}

fn normalized(text: &str) -> Result<Url, String> {
    if text.chars().any(char::is_control) {
        return Err("must not contain control characters".to_owned());
    }
    let url = Url::parse(text).ok().filter(|_| link_detection::is_web_url(text));
    let mut url = url.ok_or(NOT_HTTP)?;
    url.set_fragment(None);
    if url.as_str().chars().count() > MAX_URL_CHARS {
        return Err(format!("must have at most {MAX_URL_CHARS} characters when normalized"));
    }
    Ok(url)
}
