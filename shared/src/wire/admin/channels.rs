//! Channels.

use serde_json::{Value, json};

use super::{LIST, NAME, ids, required_target, with};
use crate::delivery::guard::Guard;
use crate::domain::channel::{Channel, ChannelSettings, Validation};
use crate::domain::content::Shows;
use crate::error::Error;
use crate::wire::fields::Fields;

/// Reads POST /admin/channels.
pub fn new_channel(body: &Value, guard: &Guard) -> Result<ChannelSettings, Error> {
    let fields = Fields::of(body)?;
    fields.one_of("kind", "api", |kind| (kind == "api").then_some(()))?;
    let settings = ChannelSettings {
        name: fields.required_text("name", NAME)?,
        integrator_url: required_target(fields, "integrator_url", guard)?,
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
        chunked,
        agent_ids,
        department_ids,
        validation,
        hidden_error_codes,
        shows,
    } = current;
    let integrator_url =
        if fields.has("integrator_url") { required_target(fields, "integrator_url", guard)? } else { integrator_url };
    Ok(ChannelSettings {
        name: if fields.has("name") { fields.required_text("name", NAME)? } else { name },
        integrator_url,
        chunked: fields.flag("chunked")?.unwrap_or(chunked),
        agent_ids: ids(fields, "agent_ids")?.unwrap_or(agent_ids),
        department_ids: ids(fields, "department_ids")?.unwrap_or(department_ids),
        validation: fields.one_of("validation", "strict, lenient", Validation::parse)?.unwrap_or(validation),
        hidden_error_codes: fields.integers("hidden_error_codes", LIST)?.unwrap_or(hidden_error_codes),
        shows: Shows {
            markdown: fields.flag("shows_markdown")?.unwrap_or(shows.markdown),
            buttons: fields.flag("shows_buttons")?.unwrap_or(shows.buttons),
        },
    })
}

/// A channel as admins see it: nothing secret.
pub fn channel(channel: &Channel) -> Value {
    let Channel { channel_id, account_id: _, settings, bot_id, secrets: _, signing_secret: _, created_at } = channel;
    let ChannelSettings {
        name,
        integrator_url,
        chunked,
        agent_ids,
        department_ids,
        validation,
        hidden_error_codes,
        shows,
    } = settings;
    json!({
        "channel_id": channel_id, "kind": "api", "name": name, "integrator_url": integrator_url, "chunked": chunked,
        "agent_ids": agent_ids, "department_ids": department_ids, "validation": validation.name(),
        "hidden_error_codes": hidden_error_codes, "shows_markdown": shows.markdown, "shows_buttons": shows.buttons, "bot_id": bot_id,
        "created_at": created_at.seconds(),
    })
}

/// A channel that was just made: with what is shown once.
pub fn created_channel(channel: &Channel, endpoint: &str) -> Value {
    let secret = json!(channel.signing_secret);
    with(self::channel(channel), [("endpoint", json!(endpoint)), ("signing_secret", secret)])
}
