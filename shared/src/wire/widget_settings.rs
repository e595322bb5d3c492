//! Parses admins' changes to a widget's settings, and returns the settings as JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::domain::link_filter::LinkFilter;
use crate::domain::widget::{
    AllowedSites, FormerService, ReplyTime, WIDGET_LANGUAGES, WidgetLauncher, WidgetPosition, WidgetSettings,
    WidgetTheme,
};
use crate::error::Error;
use crate::wire::contacts_form::{apply_contacts_form, contacts_form_json};
use crate::wire::json_fields::Fields;

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
const MAX_OFFSET_PX: u32 = 400;
/// The highest z-index that browsers support.
const MAX_Z_INDEX: u32 = 2_147_483_647;

/// Applies the `widget` object in the body of POST or PATCH /admin/channels. Absent fields stay unchanged. Null removes
/// `color2`, `greeting`, `avatar`, `reply_time` or `moved_from`, and leaves other fields unchanged.
pub(super) fn apply_widget_settings(body: Fields<'_>, mut settings: WidgetSettings) -> Result<WidgetSettings, Error> {
    let Some(fields) = body.optional_object("widget", "widget")? else { return Ok(settings) };
    apply_look(fields, &mut settings)?;
    settings.texts = parse_texts(fields)?.unwrap_or(settings.texts);
    let sites = fields.list("allowed_sites", MAX_SITES, "hosts such as shop.example or *.shop.example", parse_site)?;
    settings.allowed_sites = sites.map_or(settings.allowed_sites, AllowedSites);
    settings.contacts_form = apply_contacts_form(fields, settings.contacts_form)?;
    settings.rating = fields.boolean("rating")?.unwrap_or(settings.rating);
    settings.sound = fields.boolean("sound")?.unwrap_or(settings.sound);
    settings.typing_preview = fields.boolean("typing_preview")?.unwrap_or(settings.typing_preview);
    if fields.has("reply_time") {
        settings.reply_time = fields.enumerated("reply_time", "minutes, hours, day", ReplyTime::parse)?;
    }
    if fields.has("moved_from") {
        settings.moved_from = fields.enumerated("moved_from", "jivo", FormerService::parse)?;
    }
    Ok(settings)
}

fn apply_look(fields: Fields<'_>, settings: &mut WidgetSettings) -> Result<(), Error> {
    if let Some(color) = parse_color(fields, "color")? {
        settings.color = color;
    }
    if fields.has("color2") {
        settings.color2 = parse_color(fields, "color2")?;
    }
    let theme = fields.enumerated("theme", "system, light, dark", WidgetTheme::parse)?;
    settings.theme = theme.unwrap_or(settings.theme);
    let position = fields.enumerated("position", "left, right", WidgetPosition::parse)?;
    settings.position = position.unwrap_or(settings.position);
    settings.launcher = apply_launcher(fields, settings.launcher.clone())?;
    if let Some(title) = fields.text("title", MAX_TITLE_CHARS)? {
        settings.title = title;
    }
    if fields.has("greeting") {
        settings.greeting = fields.text("greeting", MAX_GREETING_CHARS)?;
    }
    if fields.has("avatar") {
        settings.avatar = fields.url("avatar")?;
    }
    if let Some(language) = fields.enumerated("language", &WIDGET_LANGUAGES.join(", "), parse_language)? {
        settings.language = language;
    }
    Ok(())
}

fn parse_color(fields: Fields<'_>, name: &str) -> Result<Option<String>, Error> {
    fields.enumerated(name, "the colours #000000 to #ffffff", |text| {
        let digits = text.strip_prefix('#')?;
        let is_color = digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_color.then(|| text.to_ascii_lowercase())
    })
}

fn parse_language(name: &str) -> Option<String> {
    WIDGET_LANGUAGES.contains(&name).then(|| name.to_owned())
}

fn parse_texts(fields: Fields<'_>) -> Result<Option<BTreeMap<String, String>>, Error> {
    let Some(value) = fields.value("texts") else { return Ok(None) };
    let object = value.as_object().filter(|object| object.len() <= MAX_TEXTS);
    let text = |(key, text): (&String, &Value)| {
        let text = text.as_str().filter(|text| text.chars().count() <= MAX_TEXT_CHARS)?;
        let is_key = !key.is_empty() && key.chars().count() <= MAX_TEXT_KEY_CHARS;
        is_key.then(|| (key.clone(), text.to_owned()))
    };
    let texts = object.and_then(|object| object.iter().map(text).collect());
    let invalid = || {
        let expected =
            format_args!("must be an object of at most {MAX_TEXTS} texts of at most {MAX_TEXT_CHARS} characters");
        fields.invalid("texts", expected)
    };
    texts.map(Some).ok_or_else(invalid)
}

/// Returns a site in its stored form (see [`AllowedSites`]), or `None` if it is invalid.
fn parse_site(text: &str) -> Option<String> {
    let text = text.trim();
    if text.len() > MAX_SITE_BYTES {
        return None;
    }
    match text.strip_prefix("*.") {
        Some(domain) => Some(format!("*.{}", LinkFilter::normalize_domain(domain)?)),
        None => LinkFilter::normalize_domain(text),
    }
}

fn apply_launcher(fields: Fields<'_>, mut launcher: WidgetLauncher) -> Result<WidgetLauncher, Error> {
    let Some(fields) = fields.optional_object("launcher", "widget.launcher")? else { return Ok(launcher) };
    launcher.hidden = fields.boolean("hidden")?.unwrap_or(launcher.hidden);
    launcher.offset_x = fields.integer_in("offset_x", 0..=MAX_OFFSET_PX)?.unwrap_or(launcher.offset_x);
    launcher.offset_y = fields.integer_in("offset_y", 0..=MAX_OFFSET_PX)?.unwrap_or(launcher.offset_y);
    launcher.z_index = fields.integer_in("z_index", 1..=MAX_Z_INDEX)?.unwrap_or(launcher.z_index);
    Ok(launcher)
}

pub(super) fn widget_settings_json(settings: &WidgetSettings) -> Value {
    let WidgetSettings {
        color,
        color2,
        theme,
        position,
        launcher: WidgetLauncher { hidden, offset_x, offset_y, z_index },
        title,
        greeting,
        avatar,
        language,
        texts,
        allowed_sites,
        contacts_form,
        rating,
        sound,
        typing_preview,
        reply_time,
        moved_from,
    } = settings;
    json!({
        "color": color, "color2": color2, "theme": theme.name(), "position": position.name(),
        "launcher": { "hidden": hidden, "offset_x": offset_x, "offset_y": offset_y, "z_index": z_index },
        "title": title, "greeting": greeting, "avatar": avatar, "language": language, "texts": texts,
        "allowed_sites": allowed_sites.0, "contacts_form": contacts_form_json(contacts_form), "rating": rating,
        "sound": sound, "typing_preview": typing_preview, "reply_time": reply_time.map(ReplyTime::name),
        "moved_from": moved_from.map(FormerService::name),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn apply(widget: &Value) -> Result<WidgetSettings, Error> {
        let body = json!({ "widget": widget });
        apply_widget_settings(Fields::of(&body)?, WidgetSettings::with_title("Acme".into()))
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
        assert_eq!(widget_settings_json(&apply(&settings).unwrap()), settings);
    }

    #[test]
    fn absent_fields_are_preserved_and_optional_ones_cleared() {
        let values = json!({ "color2": "#ABCDEF", "greeting": "Hi", "allowed_sites": ["B\u{fc}cher.example"] });
        let with_values = apply(&values).unwrap();
        assert_eq!(with_values.color2.as_deref(), Some("#abcdef"));
        assert_eq!(with_values.allowed_sites.0, ["xn--bcher-kva.example"]);
        let change = |widget: Value| {
            let body = json!({ "widget": widget });
            apply_widget_settings(Fields::of(&body).unwrap(), with_values.clone()).unwrap()
        };
        assert_eq!(change(json!({})), with_values);
        let cleared = change(json!({ "color2": null, "greeting": null, "title": null }));
        assert_eq!((cleared.color2, cleared.greeting, &*cleared.title), (None, None, "Acme"));
        let moved = change(json!({ "launcher": { "offset_y": 90 }, "theme": null, "reply_time": null }));
        assert_eq!(moved.launcher, WidgetLauncher { offset_y: 90, ..WidgetLauncher::default() });
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
