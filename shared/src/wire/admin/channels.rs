//! Request and response bodies of the /admin/channels endpoints.

use serde_json::{Value, json};

use crate::domain::channel::{CHANNEL_ID_PLACEHOLDER, Channel, ChannelSettings, RefusalCount, ValidationMode};
use crate::domain::message_content::RichSupport;
use crate::domain::ssrf_guard::SsrfGuard;
use crate::error::Error;
use crate::wire::admin::{MAX_LIST_ITEMS, MAX_NAME_CHARS, parse_ids, required_outbound_url};
use crate::wire::json_fields::{Fields, MAX_URL_CHARS};
use crate::wire::json_object::with_fields;

/// The text that replaces the channel id placeholder while a URL is normalized. This is necessary because the URL
/// parser percent-encodes braces and rejects them in a host name.
const PLACEHOLDER_SUBSTITUTE: &str = "channel-id-stands-here";

/// Parses the body of POST /admin/channels.
pub fn parse_new_channel(body: &Value, guard: &SsrfGuard) -> Result<ChannelSettings, Error> {
    let fields = Fields::of(body)?;
    fields.enumerated("kind", "api", |kind| (kind == "api").then_some(()))?;
    let settings = ChannelSettings {
        name: fields.required_text("name", MAX_NAME_CHARS)?,
        integrator_url: parse_integrator_url(fields, guard)?,
        append_channel_id: true,
        enabled: true,
        chunked: false,
        agent_ids: Vec::new(),
        department_ids: Vec::new(),
        validation: ValidationMode::Strict,
        hidden_error_codes: Vec::new(),
        rich_support: RichSupport::default(),
    };
    apply_settings_fields(fields, settings, guard)
}

/// Parses the body of PATCH /admin/channels/{channel_id} and returns the changed settings.
pub fn apply_channel_patch(body: &Value, channel: &Channel, guard: &SsrfGuard) -> Result<ChannelSettings, Error> {
    apply_settings_fields(Fields::of(body)?, channel.settings.clone(), guard)
}

fn apply_settings_fields(
    fields: Fields<'_>,
    current: ChannelSettings,
    guard: &SsrfGuard,
) -> Result<ChannelSettings, Error> {
    let ChannelSettings {
        name,
        integrator_url,
        append_channel_id,
        enabled,
        chunked,
        agent_ids,
        department_ids,
        validation,
        hidden_error_codes,
        rich_support,
    } = current;
    let integrator_url =
        if fields.has("integrator_url") { parse_integrator_url(fields, guard)? } else { integrator_url };
    Ok(ChannelSettings {
        name: if fields.has("name") { fields.required_text("name", MAX_NAME_CHARS)? } else { name },
        integrator_url,
        append_channel_id: fields.boolean("append_channel_id")?.unwrap_or(append_channel_id),
        enabled: fields.boolean("enabled")?.unwrap_or(enabled),
        chunked: fields.boolean("chunked")?.unwrap_or(chunked),
        agent_ids: parse_ids(fields, "agent_ids")?.unwrap_or(agent_ids),
        department_ids: parse_ids(fields, "department_ids")?.unwrap_or(department_ids),
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

/// Returns a channel without its secrets.
pub fn channel_json(channel: &Channel) -> Value {
    let Channel { channel_id, account_id: _, settings, bot_id, secrets: _, signing_secret: _, created_at } = channel;
    let ChannelSettings {
        name,
        integrator_url,
        append_channel_id,
        enabled,
        chunked,
        agent_ids,
        department_ids,
        validation,
        hidden_error_codes,
        rich_support,
    } = settings;
    json!({
        "channel_id": channel_id, "kind": "api", "name": name, "enabled": enabled,
        "integrator_url": integrator_url, "append_channel_id": append_channel_id, "chunked": chunked,
        "agent_ids": agent_ids, "department_ids": department_ids, "validation": validation.name(),
        "hidden_error_codes": hidden_error_codes, "shows_markdown": rich_support.markdown, "shows_buttons": rich_support.buttons, "bot_id": bot_id,
        "created_at": created_at.seconds(),
    })
}

/// Returns a channel with the number of messages that it rejected today and yesterday, listed by day and reason.
pub fn channel_with_refusals_json(channel: &Channel, refused: &[RefusalCount]) -> Value {
    let refused: Vec<Value> = refused.iter().map(refusals_json).collect();
    with_fields(channel_json(channel), [("refused", json!(refused))])
}

fn refusals_json(refusals: &RefusalCount) -> Value {
    let RefusalCount { day, reason, count, last_at } = refusals;
    json!({ "day": day.seconds(), "reason": reason, "count": count, "last_at": last_at.seconds() })
}

/// Returns a new channel with its endpoint URL and its signing secret. No later response contains these two values.
pub fn created_channel_json(channel: &Channel, endpoint: &str) -> Value {
    let secret = json!(channel.signing_secret);
    with_fields(channel_json(channel), [("endpoint", json!(endpoint)), ("signing_secret", secret)])
}
