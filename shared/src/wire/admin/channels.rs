//! Request and response bodies of the /admin/channels endpoints.

use serde_json::{Value, json};

use crate::domain::channel::{
    ApiSettings, CHANNEL_ID_PLACEHOLDER, Channel, ChannelKind, ChannelSettings, KindSettings, RefusalCount,
    ValidationMode,
};
use crate::domain::message_content::RichSupport;
use crate::domain::ssrf_guard::SsrfGuard;
use crate::domain::timestamp::Timestamp;
use crate::domain::widget::WidgetSettings;
use crate::error::Error;
use crate::wire::admin::{MAX_LIST_ITEMS, MAX_NAME_CHARS, parse_ids, required_outbound_url};
use crate::wire::json_fields::{Fields, MAX_URL_CHARS};
use crate::wire::json_object::with_fields;
use crate::wire::widget_settings::{apply_widget_settings, widget_settings_json};

/// The text that replaces the channel id placeholder while a URL is normalized. This is necessary because the URL
/// parser percent-encodes braces and rejects them in a host name.
const PLACEHOLDER_SUBSTITUTE: &str = "channel-id-stands-here";

/// Parses `kind` in the body of POST /admin/channels. The default is an API channel.
pub fn parse_channel_kind(body: &Value) -> Result<ChannelKind, Error> {
    Ok(Fields::of(body)?.enumerated("kind", "api, widget", ChannelKind::parse)?.unwrap_or_default())
}

/// Parses the body of POST /admin/channels for an API channel.
pub fn parse_new_api_channel(body: &Value, guard: &SsrfGuard) -> Result<ChannelSettings, Error> {
    let fields = Fields::of(body)?;
    let name = fields.required_text("name", MAX_NAME_CHARS)?;
    let api = ApiSettings {
        integrator_url: parse_integrator_url(fields, guard)?,
        append_channel_id: true,
        chunked: false,
        validation: ValidationMode::Strict,
        hidden_error_codes: Vec::new(),
        rich_support: RichSupport::default(),
    };
    apply_settings_fields(fields, new_channel(name, KindSettings::Api(api)), guard)
}

/// Parses the body of POST /admin/channels for a widget. `default_title` is used if the body contains no title.
pub fn parse_new_widget(body: &Value, default_title: String, guard: &SsrfGuard) -> Result<ChannelSettings, Error> {
    let fields = Fields::of(body)?;
    let name = fields.required_text("name", MAX_NAME_CHARS)?;
    let widget = KindSettings::Widget(Box::new(WidgetSettings::with_title(default_title)));
    apply_settings_fields(fields, new_channel(name, widget), guard)
}

fn new_channel(name: String, specific: KindSettings) -> ChannelSettings {
    ChannelSettings { name, enabled: true, agent_ids: Vec::new(), department_ids: Vec::new(), specific }
}

/// Parses the body of PATCH /admin/channels/{channel_id} and returns the channel's settings after the change.
pub fn apply_channel_patch(body: &Value, channel: &Channel, guard: &SsrfGuard) -> Result<ChannelSettings, Error> {
    apply_settings_fields(Fields::of(body)?, channel.settings.clone(), guard)
}

fn apply_settings_fields(
    fields: Fields<'_>,
    current: ChannelSettings,
    guard: &SsrfGuard,
) -> Result<ChannelSettings, Error> {
    let ChannelSettings { name, enabled, agent_ids, department_ids, specific } = current;
    Ok(ChannelSettings {
        name: if fields.has("name") { fields.required_text("name", MAX_NAME_CHARS)? } else { name },
        enabled: fields.boolean("enabled")?.unwrap_or(enabled),
        agent_ids: parse_ids(fields, "agent_ids")?.unwrap_or(agent_ids),
        department_ids: parse_ids(fields, "department_ids")?.unwrap_or(department_ids),
        specific: match specific {
            KindSettings::Api(api) => KindSettings::Api(apply_api_fields(fields, api, guard)?),
            KindSettings::Widget(widget) => KindSettings::Widget(Box::new(apply_widget_settings(fields, *widget)?)),
        },
    })
}

fn apply_api_fields(fields: Fields<'_>, current: ApiSettings, guard: &SsrfGuard) -> Result<ApiSettings, Error> {
    let ApiSettings { integrator_url, append_channel_id, chunked, validation, hidden_error_codes, rich_support } =
        current;
    let integrator_url =
        if fields.has("integrator_url") { parse_integrator_url(fields, guard)? } else { integrator_url };
    Ok(ApiSettings {
        integrator_url,
        append_channel_id: fields.boolean("append_channel_id")?.unwrap_or(append_channel_id),
        chunked: fields.boolean("chunked")?.unwrap_or(chunked),
        validation: fields.enumerated("validation", "strict, lenient", ValidationMode::parse)?.unwrap_or(validation),
        hidden_error_codes: fields.integers("hidden_error_codes", MAX_LIST_ITEMS)?.unwrap_or(hidden_error_codes),
        rich_support: RichSupport {
            markdown: fields.boolean("shows_markdown")?.unwrap_or(rich_support.markdown),
            buttons: fields.boolean("shows_buttons")?.unwrap_or(rich_support.buttons),
        },
    })
}

/// Parses and normalizes `integrator_url`. A channel id placeholder in the URL is preserved. Before each request to the
/// integrator, the URL is checked again with the channel id in place of the placeholder.
fn parse_integrator_url(fields: Fields<'_>, guard: &SsrfGuard) -> Result<String, Error> {
    let text = fields.required_text("integrator_url", MAX_URL_CHARS)?;
    if !text.contains(CHANNEL_ID_PLACEHOLDER) {
        return required_outbound_url(fields, "integrator_url", guard);
    }
    let url = fields.normalize_url("integrator_url", &text.replace(CHANNEL_ID_PLACEHOLDER, PLACEHOLDER_SUBSTITUTE))?;
    guard.check(&url).map_err(|forbidden| fields.invalid("integrator_url", forbidden))?;
    Ok(url.as_str().replace(PLACEHOLDER_SUBSTITUTE, CHANNEL_ID_PLACEHOLDER))
}

/// Returns a channel without its secrets. `base_url` is the URL of the service; a widget's snippet contains it.
pub fn channel_json(channel: &Channel, base_url: &str) -> Value {
    let Channel { channel_id, account_id: _, settings, bot_id, secrets: _, signing_secrets: _, created_at } = channel;
    let ChannelSettings { name, enabled, agent_ids, department_ids, specific } = settings;
    let common = json!({
        "channel_id": channel_id, "kind": settings.kind().name(), "name": name, "enabled": enabled,
        "agent_ids": agent_ids, "department_ids": department_ids, "bot_id": bot_id, "created_at": created_at.seconds(),
    });
    match specific {
        KindSettings::Api(api) => with_fields(common, api_fields(api)),
        KindSettings::Widget(widget) => {
            let snippet = format!("<script async src=\"{base_url}/widget/{channel_id}\"></script>");
            let widget = ("widget", widget_settings_json(widget));
            with_fields(common, [("widget_id", json!(channel_id)), widget, ("snippet", json!(snippet))])
        }
    }
}

fn api_fields(api: &ApiSettings) -> [(&'static str, Value); 7] {
    let ApiSettings { integrator_url, append_channel_id, chunked, validation, hidden_error_codes, rich_support } = api;
    [
        ("integrator_url", json!(integrator_url)),
        ("append_channel_id", json!(append_channel_id)),
        ("chunked", json!(chunked)),
        ("validation", json!(validation.name())),
        ("hidden_error_codes", json!(hidden_error_codes)),
        ("shows_markdown", json!(rich_support.markdown)),
        ("shows_buttons", json!(rich_support.buttons)),
    ]
}

/// Returns a channel with the number of messages that it rejected today and yesterday, listed by day and reason. For an
/// API channel, also returns the times until which its old endpoint URLs are valid.
pub fn channel_details_json(channel: &Channel, base_url: &str, refused: &[RefusalCount], now: Timestamp) -> Value {
    let refused: Vec<Value> = refused.iter().map(refusals_json).collect();
    let details = with_fields(channel_json(channel, base_url), [("refused", json!(refused))]);
    match channel.settings.kind() {
        ChannelKind::Api => with_fields(details, [("old_endpoints", json!(old_endpoints(channel, now)))]),
        ChannelKind::Widget => details,
    }
}

fn old_endpoints(channel: &Channel, now: Timestamp) -> Vec<Value> {
    let ends = channel.secrets.iter().filter_map(|secret| secret.valid_until.filter(|until| now < *until));
    ends.map(|until| json!({ "valid_until": until.seconds() })).collect()
}

fn refusals_json(refusals: &RefusalCount) -> Value {
    let RefusalCount { day, reason, count, last_at } = refusals;
    json!({ "day": day.seconds(), "reason": reason, "count": count, "last_at": last_at.seconds() })
}

/// Returns a new API channel with its endpoint URL and its signing secret. No later response contains these two values.
pub fn created_api_channel_json(channel: &Channel, base_url: &str, endpoint: &str) -> Value {
    let secret = json!(channel.signing_secrets.current());
    with_fields(channel_json(channel, base_url), [("endpoint", json!(endpoint)), ("signing_secret", secret)])
}
