//! Channels.

use serde_json::{Value, json};

use crate::domain::channel::{Channel, ChannelSettings, PLACEHOLDER, Refusals, Validation};
use crate::domain::content::Shows;
use crate::domain::target_guard::Guard;
use crate::error::Error;
use crate::wire::admin::{MAX_LIST_ITEMS, MAX_NAME_CHARS, ids, required_target, with};
use crate::wire::fields::{Fields, MAX_URL_CHARS};

/// Stands for the placeholder while an address is normalised: the URL parser would encode braces, and take none in a host.
const STAND_IN: &str = "channel-id-stands-here";

/// Reads POST /admin/channels.
pub fn new_channel(body: &Value, guard: &Guard) -> Result<ChannelSettings, Error> {
    let fields = Fields::of(body)?;
    fields.one_of("kind", "api", |kind| (kind == "api").then_some(()))?;
    let settings = ChannelSettings {
        name: fields.required_text("name", MAX_NAME_CHARS)?,
        integrator_url: integrator_url(fields, guard)?,
        append_channel_id: true,
        enabled: true,
        chunked: false,
        agent_ids: Vec::new(),
        department_ids: Vec::new(),
        validation: Validation::Strict,
        hidden_error_codes: Vec::new(),
        shows: Shows::default(),
    };
    changed_settings(fields, settings, guard)
}

/// Reads PATCH /admin/channels/{id}: the settings as they become.
pub fn changed_channel(body: &Value, channel: &Channel, guard: &Guard) -> Result<ChannelSettings, Error> {
    changed_settings(Fields::of(body)?, channel.settings.clone(), guard)
}

fn changed_settings(fields: Fields<'_>, current: ChannelSettings, guard: &Guard) -> Result<ChannelSettings, Error> {
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
        shows,
    } = current;
    let integrator_url =
        if fields.has("integrator_url") { self::integrator_url(fields, guard)? } else { integrator_url };
    Ok(ChannelSettings {
        name: if fields.has("name") { fields.required_text("name", MAX_NAME_CHARS)? } else { name },
        integrator_url,
        append_channel_id: fields.flag("append_channel_id")?.unwrap_or(append_channel_id),
        enabled: fields.flag("enabled")?.unwrap_or(enabled),
        chunked: fields.flag("chunked")?.unwrap_or(chunked),
        agent_ids: ids(fields, "agent_ids")?.unwrap_or(agent_ids),
        department_ids: ids(fields, "department_ids")?.unwrap_or(department_ids),
        validation: fields.one_of("validation", "strict, lenient", Validation::parse)?.unwrap_or(validation),
        hidden_error_codes: fields.integers("hidden_error_codes", MAX_LIST_ITEMS)?.unwrap_or(hidden_error_codes),
        shows: Shows {
            markdown: fields.flag("shows_markdown")?.unwrap_or(shows.markdown),
            buttons: fields.flag("shows_buttons")?.unwrap_or(shows.buttons),
        },
    })
}

/// Reads `integrator_url`, as it is called but for the placeholder. The address that it becomes is checked again at each call.
fn integrator_url(fields: Fields<'_>, guard: &Guard) -> Result<String, Error> {
    let text = fields.required_text("integrator_url", MAX_URL_CHARS)?;
    if !text.contains(PLACEHOLDER) {
        return required_target(fields, "integrator_url", guard);
    }
    let url = fields.normalised("integrator_url", &text.replace(PLACEHOLDER, STAND_IN))?;
    guard.check(&url).map_err(|forbidden| fields.refuse("integrator_url", forbidden))?;
    Ok(url.as_str().replace(STAND_IN, PLACEHOLDER))
}

/// A channel as admins see it: nothing secret.
pub fn channel(channel: &Channel) -> Value {
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
        shows,
    } = settings;
    json!({
        "channel_id": channel_id, "kind": "api", "name": name, "enabled": enabled,
        "integrator_url": integrator_url, "append_channel_id": append_channel_id, "chunked": chunked,
        "agent_ids": agent_ids, "department_ids": department_ids, "validation": validation.name(),
        "hidden_error_codes": hidden_error_codes, "shows_markdown": shows.markdown, "shows_buttons": shows.buttons, "bot_id": bot_id,
        "created_at": created_at.seconds(),
    })
}

/// A channel with the messages that it refused today and yesterday.
pub fn channel_with_refusals(channel: &Channel, refused: &[Refusals]) -> Value {
    let refused: Vec<Value> = refused.iter().map(self::refused).collect();
    with(self::channel(channel), [("refused", json!(refused))])
}

fn refused(refusals: &Refusals) -> Value {
    let Refusals { day, reason, count, last_at } = refusals;
    json!({ "day": day.seconds(), "reason": reason, "count": count, "last_at": last_at.seconds() })
}

/// A channel that was just made: with what is shown once.
pub fn created_channel(channel: &Channel, endpoint: &str) -> Value {
    let secret = json!(channel.signing_secret);
    with(self::channel(channel), [("endpoint", json!(endpoint)), ("signing_secret", secret)])
}
