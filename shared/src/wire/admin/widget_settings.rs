//! A widget's settings: how admins change them, and how they are shown.

use std::collections::BTreeMap;

use schemars::{JsonSchema, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::channels::widget::{
    self, AllowedSites, FormerService, ReplyTime, WidgetLanguage, WidgetPosition, WidgetTheme,
};
use crate::domain::text::link_filter::LinkFilter;
use crate::error::Error;
use crate::wire::admin::contacts_form::{ContactsForm, ContactsFormChanges};
use crate::wire::fields::urls::{WebUrl, WebUrlOrBlank};
use crate::wire::fields::values::{Change, List, Name, OptionalText, Whole, inline_schema};

const MAX_TITLE_CHARS: usize = 255;
const MAX_GREETING_CHARS: usize = 1_000;
/// The maximum number of texts that replace the widget's standard texts.
const MAX_TEXTS: usize = 60;
const MAX_TEXT_KEY_CHARS: usize = 64;
const MAX_TEXT_CHARS: usize = 200;
const MAX_SITES: usize = 50;
/// The maximum length of a domain name (RFC 1035).
const MAX_SITE_BYTES: usize = 253;
/// The maximum distance of the launcher from an edge of the page, in CSS pixels.
const MAX_OFFSET_PX: u64 = 400;
/// The highest z-index that browsers support.
const MAX_Z_INDEX: u64 = 2_147_483_647;

/// Absent fields stay unchanged. Null removes `color2`, greeting, avatar, `reply_time` or `moved_from`, and leaves
/// other fields unchanged.
#[derive(Clone, Deserialize, JsonSchema)]
pub struct WidgetSettingsChanges {
    #[schemars(extend("default" = "#00464a"))]
    color: Option<Color>,
    #[serde(default)]
    color2: Change<Color>,
    #[schemars(extend("default" = "system"))]
    theme: Option<Name<WidgetTheme>>,
    #[schemars(extend("default" = "right"))]
    position: Option<Name<WidgetPosition>>,
    /// The button that opens the window.
    launcher: Option<WidgetLauncherChanges>,
    /// The account's name by default.
    #[serde(default)]
    title: OptionalText<MAX_TITLE_CHARS>,
    #[serde(default)]
    greeting: Change<OptionalText<MAX_GREETING_CHARS>>,
    #[serde(default)]
    avatar: Change<WebUrlOrBlank>,
    #[schemars(extend("default" = "auto"))]
    language: Option<Name<WidgetLanguage>>,
    texts: Option<WidgetTexts>,
    allowed_sites: Option<List<Site, MAX_SITES>>,
    contacts_form: Option<ContactsFormChanges>,
    #[schemars(extend("default" = true))]
    rating: Option<bool>,
    #[schemars(extend("default" = true))]
    sound: Option<bool>,
    #[schemars(extend("default" = true))]
    typing_preview: Option<bool>,
    #[serde(default)]
    reply_time: Change<Name<ReplyTime>>,
    #[serde(default)]
    moved_from: Change<Name<FormerService>>,
}

impl WidgetSettingsChanges {
    /// Returns the changed settings.
    pub(crate) fn applied_to(self, before: widget::WidgetSettings) -> Result<widget::WidgetSettings, Error> {
        let sites = |List(sites): List<Site, MAX_SITES>| sites.into_iter().map(|Site(site)| site).collect();
        Ok(widget::WidgetSettings {
            color: self.color.map_or(before.color, |Color(color)| color),
            color2: self.color2.map(|Color(color)| color).applied_to(before.color2),
            theme: self.theme.map_or(before.theme, |Name(theme)| theme),
            position: self.position.map_or(before.position, |Name(position)| position),
            launcher: match self.launcher {
                Some(changes) => changes.applied_to(&before.launcher),
                None => before.launcher,
            },
            title: self.title.0.unwrap_or(before.title),
            greeting: self.greeting.map(|OptionalText(text)| text).flatten().applied_to(before.greeting),
            avatar: self.avatar.map(|WebUrlOrBlank(url)| url).flatten().applied_to(before.avatar),
            language: self.language.map_or(before.language, |Name(language)| language),
            texts: self.texts.map_or(before.texts, |WidgetTexts(texts)| texts),
            allowed_sites: self.allowed_sites.map_or(before.allowed_sites, |list| AllowedSites(sites(list))),
            contacts_form: match self.contacts_form {
                Some(changes) => changes.applied_to(before.contacts_form)?,
                None => before.contacts_form,
            },
            rating: self.rating.unwrap_or(before.rating),
            sound: self.sound.unwrap_or(before.sound),
            typing_preview: self.typing_preview.unwrap_or(before.typing_preview),
            reply_time: self.reply_time.map(|Name(time)| time).applied_to(before.reply_time),
            moved_from: self.moved_from.map(|Name(service)| service).applied_to(before.moved_from),
        })
    }
}

/// A colour in lower case.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", inline, extend("pattern" = "^#[0-9A-Fa-f]{6}$"))]
struct Color(String);

impl TryFrom<String> for Color {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let digits = text.strip_prefix('#').unwrap_or_default();
        let is_color = digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        if is_color { Ok(Self(text.to_ascii_lowercase())) } else { Err("must be a colour from #000000 to #ffffff") }
    }
}

/// Texts that replace standard texts of the widget, by name.
#[derive(Clone, Deserialize)]
#[serde(try_from = "BTreeMap<String, Value>")]
struct WidgetTexts(BTreeMap<String, String>);

impl TryFrom<BTreeMap<String, Value>> for WidgetTexts {
    type Error = String;

    fn try_from(texts: BTreeMap<String, Value>) -> Result<Self, String> {
        let text = |(key, text): (&String, &Value)| {
            let text = text.as_str().filter(|text| text.chars().count() <= MAX_TEXT_CHARS)?;
            let is_key = !key.is_empty() && key.chars().count() <= MAX_TEXT_KEY_CHARS;
            is_key.then(|| (key.clone(), text.to_owned()))
        };
        let valid = if texts.len() <= MAX_TEXTS { texts.iter().map(text).collect() } else { None };
        valid.map(Self).ok_or_else(|| {
            format!("must be an object of at most {MAX_TEXTS} texts of at most {MAX_TEXT_CHARS} characters")
        })
    }
}

inline_schema!(
    WidgetTexts,
    "WidgetTexts",
    json_schema!({
        "type": "object",
        "maxProperties": MAX_TEXTS,
        "propertyNames": { "minLength": 1, "maxLength": MAX_TEXT_KEY_CHARS },
        "additionalProperties": { "type": "string", "maxLength": MAX_TEXT_CHARS },
    })
);

/// A site in its stored form (see [`AllowedSites`]).
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
struct Site(String);

impl TryFrom<String> for Site {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let text = text.trim();
        let (prefix, domain) = text.strip_prefix("*.").map_or(("", text), |domain| ("*.", domain));
        let domain = if text.len() <= MAX_SITE_BYTES { LinkFilter::normalize_domain(domain) } else { None };
        let site = domain.map(|domain| Self(format!("{prefix}{domain}")));
        site.ok_or("must be a host such as shop.example or *.shop.example")
    }
}

inline_schema!(
    Site,
    "Site",
    json_schema!({
        "type": "string",
        "maxLength": MAX_SITE_BYTES,
        "pattern": "^(\\*\\.)?[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*$",
    })
);

/// Absent fields and null leave the launcher unchanged.
#[derive(Clone, Deserialize, JsonSchema)]
struct WidgetLauncherChanges {
    #[schemars(extend("default" = false))]
    hidden: Option<bool>,
    #[schemars(extend("default" = 20))]
    offset_x: Option<Whole<0, MAX_OFFSET_PX>>,
    #[schemars(extend("default" = 20))]
    offset_y: Option<Whole<0, MAX_OFFSET_PX>>,
    #[schemars(extend("default" = 2_147_483_000))]
    z_index: Option<Whole<1, MAX_Z_INDEX>>,
}

impl WidgetLauncherChanges {
    fn applied_to(self, before: &widget::WidgetLauncher) -> widget::WidgetLauncher {
        let Self { hidden, offset_x, offset_y, z_index } = self;
        widget::WidgetLauncher {
            hidden: hidden.unwrap_or(before.hidden),
            offset_x: offset_x.map_or(before.offset_x, Whole::to_u32),
            offset_y: offset_y.map_or(before.offset_y, Whole::to_u32),
            z_index: z_index.map_or(before.z_index, Whole::to_u32),
        }
    }
}

/// The settings as admins see them.
#[derive(Serialize, JsonSchema)]
pub struct WidgetSettings {
    #[serde(flatten)]
    public: PublicWidgetSettings,
    /// The hosts of the pages in which the widget may be embedded, such as shop.example or *.shop.example. An empty
    /// list allows every page.
    #[schemars(length(max = MAX_SITES))]
    allowed_sites: Vec<String>,
    /// The service whose widget the pages were written for.
    moved_from: Option<Name<FormerService>>,
}

/// The settings that the widget needs.
#[derive(Serialize, JsonSchema)]
pub struct PublicWidgetSettings {
    #[schemars(regex(pattern = COLOR_PATTERN))]
    color: String,
    #[schemars(regex(pattern = COLOR_PATTERN))]
    color2: Option<String>,
    theme: Name<WidgetTheme>,
    position: Name<WidgetPosition>,
    launcher: WidgetLauncher,
    title: String,
    greeting: Option<String>,
    avatar: Option<WebUrl>,
    language: Name<WidgetLanguage>,
    /// Texts that replace standard texts of the widget, by name.
    texts: BTreeMap<String, String>,
    contacts_form: ContactsForm,
    rating: bool,
    sound: bool,
    /// Whether agents see the text that the visitor is typing.
    typing_preview: bool,
    /// The time in which agents usually answer.
    reply_time: Option<Name<ReplyTime>>,
}

const COLOR_PATTERN: &str = "^#[0-9a-f]{6}$";

/// The button that opens the window.
#[derive(Serialize, JsonSchema)]
struct WidgetLauncher {
    /// Whether the button is not shown, because the page has its own.
    hidden: bool,
    /// The distance from the side of the page in CSS pixels.
    offset_x: Whole<0, MAX_OFFSET_PX>,
    /// The distance from the bottom of the page in CSS pixels.
    offset_y: Whole<0, MAX_OFFSET_PX>,
    z_index: Whole<1, MAX_Z_INDEX>,
}

impl From<widget::WidgetLauncher> for WidgetLauncher {
    fn from(launcher: widget::WidgetLauncher) -> Self {
        let widget::WidgetLauncher { hidden, offset_x, offset_y, z_index } = launcher;
        Self {
            hidden,
            offset_x: Whole(offset_x.into()),
            offset_y: Whole(offset_y.into()),
            z_index: Whole(z_index.into()),
        }
    }
}

impl From<&widget::WidgetSettings> for WidgetSettings {
    fn from(settings: &widget::WidgetSettings) -> Self {
        let AllowedSites(allowed_sites) = settings.allowed_sites.clone();
        Self { public: settings.into(), allowed_sites, moved_from: settings.moved_from.map(Name) }
    }
}

impl From<&widget::WidgetSettings> for PublicWidgetSettings {
    fn from(settings: &widget::WidgetSettings) -> Self {
        let widget::WidgetSettings {
            color,
            color2,
            theme,
            position,
            launcher,
            title,
            greeting,
            avatar,
            language,
            texts,
            allowed_sites: _,
            contacts_form,
            rating,
            sound,
            typing_preview,
            reply_time,
            moved_from: _,
        } = settings.clone();
        Self {
            color,
            color2,
            theme: Name(theme),
            position: Name(position),
            launcher: launcher.into(),
            title,
            greeting,
            avatar: avatar.map(WebUrl),
            language: Name(language),
            texts,
            contacts_form: (&contacts_form).into(),
            rating,
            sound,
            typing_preview,
            reply_time: reply_time.map(Name),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;
    use crate::wire::fields::reader::read;

    #[derive(Deserialize)]
    struct Body {
        widget: WidgetSettingsChanges,
    }

    fn apply(widget: &Value) -> Result<widget::WidgetSettings, Error> {
        let body: Body = read(&json!({ "widget": widget }))?;
        body.widget.applied_to(widget::WidgetSettings::with_title("Acme".into()))
    }

    #[test]
    fn every_setting_is_applied_and_shown() {
        let settings = json!({
            "color": "#102030", "color2": "#ffffff", "theme": "dark", "position": "left", "title": "Help",
            "launcher": { "hidden": true, "offset_x": 0, "offset_y": 400, "z_index": 1 }, "greeting": "Hello",
            "avatar": "https://x.example/a.png", "language": "he", "texts": { "send": "Go" },
            "allowed_sites": ["shop.example", "*.xn--bcher-kva.example"],
            "contacts_form": {
                "when": "before_first_message", "fields": ["email", "name"], "required": ["email"], "custom_fields": [],
            },
            "rating": false, "sound": false, "typing_preview": false, "reply_time": "hours", "moved_from": "jivo",
        });
        assert_eq!(json!(WidgetSettings::from(&apply(&settings).unwrap())), settings);
    }

    #[test]
    fn absent_fields_are_preserved_and_optional_ones_cleared() {
        let values = json!({ "color2": "#ABCDEF", "greeting": "Hi", "allowed_sites": ["B\u{fc}cher.example"] });
        let with_values = apply(&values).unwrap();
        assert_eq!(with_values.color2.as_deref(), Some("#abcdef"));
        assert_eq!(with_values.allowed_sites.0, ["xn--bcher-kva.example"]);
        let change =
            |widget: Value| read::<WidgetSettingsChanges>(&widget).unwrap().applied_to(with_values.clone()).unwrap();
        assert_eq!(change(json!({})), with_values);
        let cleared = change(json!({ "color2": null, "greeting": null, "title": null }));
        assert_eq!((cleared.color2, cleared.greeting, &*cleared.title), (None, None, "Acme"));
        let moved = change(json!({ "launcher": { "offset_y": 90 }, "theme": null, "reply_time": null }));
        assert_eq!(moved.launcher, widget::WidgetLauncher { offset_y: 90, ..widget::WidgetLauncher::default() });
        assert_eq!((moved.theme, moved.reply_time), (WidgetTheme::System, None));
    }

    #[test]
    fn error_names_the_invalid_setting() {
        let many: serde_json::Map<String, Value> = (0..61).map(|index| (format!("k{index}"), json!("x"))).collect();
        for (field, widget) in [
            ("widget", json!("x")),
            ("widget.color", json!({ "color": "red" })),
            ("widget.color", json!({ "color": "#12345" })),
            ("widget.color2", json!({ "color2": "#12345g" })),
            ("widget.position", json!({ "position": "top" })),
            ("widget.title", json!({ "title": "x".repeat(256) })),
            ("widget.greeting", json!({ "greeting": 7 })),
            ("widget.avatar", json!({ "avatar": "javascript:alert(1)" })),
            ("widget.language", json!({ "language": "xx" })),
            ("widget.texts", json!({ "texts": many })),
            ("widget.texts", json!({ "texts": { "k": "x".repeat(201) } })),
            ("widget.texts", json!({ "texts": { "": "x" } })),
            ("widget.texts", json!({ "texts": { "k": 7 } })),
            ("widget.allowed_sites", json!({ "allowed_sites": vec!["a.example"; 51] })),
            ("widget.allowed_sites", json!({ "allowed_sites": ["https://a.example"] })),
            ("widget.allowed_sites", json!({ "allowed_sites": ["a.*.example"] })),
            ("widget.allowed_sites", json!({ "allowed_sites": ["*"] })),
            ("widget.theme", json!({ "theme": "blue" })),
            ("widget.launcher", json!({ "launcher": true })),
            ("widget.launcher.hidden", json!({ "launcher": { "hidden": 1 } })),
            ("widget.launcher.offset_x", json!({ "launcher": { "offset_x": 401 } })),
            ("widget.launcher.offset_y", json!({ "launcher": { "offset_y": -1 } })),
            ("widget.launcher.offset_y", json!({ "launcher": { "offset_y": 1.5 } })),
            ("widget.launcher.z_index", json!({ "launcher": { "z_index": 0 } })),
            ("widget.launcher.z_index", json!({ "launcher": { "z_index": 2_147_483_648_u32 } })),
            ("widget.typing_preview", json!({ "typing_preview": "no" })),
            ("widget.reply_time", json!({ "reply_time": "week" })),
            ("widget.moved_from", json!({ "moved_from": "intercom" })),
            ("widget.rating", json!({ "rating": "yes" })),
            ("widget.sound", json!({ "sound": 1 })),
        ] {
            assert_eq!(apply(&widget).unwrap_err().invalid_field(), Some(field), "{widget}");
        }
    }
}
