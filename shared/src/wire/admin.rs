//! The bodies of the admins' and the operator's endpoints (docs/openapi.json).

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use super::fields::Fields;
use crate::delivery::guard::Guard;
use crate::domain::account::{Agent, Role};
use crate::domain::bot::{Bot, Provider};
use crate::domain::channel::{Channel, ChannelSettings, Validation};
use crate::domain::content::Shows;
use crate::domain::department::Department;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;

/// Characters of a name.
const NAME: usize = 255;
/// Characters of an e-mail address or a password.
const SHORT: usize = 254;
/// Entries of a list.
const LIST: usize = 1_000;
/// Channels of one bot: a transaction takes a hundred items.
const BOT_CHANNELS: usize = 49;
/// Longest overlap of an old and a new address, in seconds: 30 days.
const LONGEST_OVERLAP: u64 = 30 * 24 * 60 * 60;
/// The overlap when nothing is said: a day.
const USUAL_OVERLAP: u64 = 24 * 60 * 60;

/// A person to add: what an agent has, and a password.
pub struct NewAgent {
    /// Shown to visitors.
    pub name: String,
    /// Lower case.
    pub email: String,
    /// In clear, to be hashed.
    pub password: String,
    /// For the webhooks.
    pub phone: Option<String>,
    /// Avatar address.
    pub photo: Option<String>,
    /// Agent when nothing is said.
    pub role: Role,
}

impl NewAgent {
    /// The agent they become; the password is left behind.
    pub fn into_agent(self, account_id: String, agent_id: u64, now: Timestamp) -> Agent {
        let Self { name, email, password: _, phone, photo, role } = self;
        Agent { account_id, agent_id, name, email, phone, photo, role, created_at: now }
    }
}

/// Reads POST /operator/accounts: the account's name and its first admin.
pub fn new_account(body: &Value) -> Result<(String, NewAgent), Error> {
    let body = Fields::of(body)?;
    let admin = new_agent_fields(body.object("admin")?)?;
    Ok((body.required_text("name", NAME)?, NewAgent { role: Role::Admin, ..admin }))
}

/// Reads POST /admin/agents.
pub fn new_agent(body: &Value) -> Result<NewAgent, Error> {
    new_agent_fields(Fields::of(body)?)
}

fn new_agent_fields(fields: Fields<'_>) -> Result<NewAgent, Error> {
    Ok(NewAgent {
        name: fields.required_text("name", NAME)?,
        email: email(fields)?.ok_or_else(|| fields.refuse("email", "is required"))?,
        password: password(fields)?.ok_or_else(|| fields.refuse("password", "is required"))?,
        phone: fields.text("phone", NAME)?,
        photo: fields.url("photo")?,
        role: role(fields)?.unwrap_or(Role::Agent),
    })
}

/// Reads PATCH /admin/agents/{id}: the agent as it becomes, and a new password if one is given. A field that
/// is null is cleared where it may be empty. Last, whether their sessions must end: whenever a password or a role is
/// named, so that a request that died half-way can be repeated.
pub fn changed_agent(body: &Value, agent: &Agent) -> Result<(Agent, Option<String>, bool), Error> {
    let fields = Fields::of(body)?;
    let mut changed = agent.clone();
    if fields.has("name") {
        changed.name = fields.required_text("name", NAME)?;
    }
    if fields.has("phone") {
        changed.phone = fields.text("phone", NAME)?;
    }
    if fields.has("photo") {
        changed.photo = fields.url("photo")?;
    }
    changed.email = email(fields)?.unwrap_or(changed.email);
    changed.role = role(fields)?.unwrap_or(changed.role);
    let password = password(fields)?;
    let ends_sessions = password.is_some() || fields.has("role");
    Ok((changed, password, ends_sessions))
}

fn email(fields: Fields<'_>) -> Result<Option<String>, Error> {
    let Some(email) = fields.text("email", SHORT)? else {
        return Ok(None);
    };
    let email = email.trim().to_lowercase();
    let is_address = email.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
    let is_address = is_address && !email.chars().any(|letter| letter.is_whitespace() || letter.is_control());
    if is_address { Ok(Some(email)) } else { Err(fields.refuse("email", "must be an e-mail address")) }
}

fn password(fields: Fields<'_>) -> Result<Option<String>, Error> {
    let Some(password) = fields.text("password", SHORT)? else {
        return Ok(None);
    };
    let shortest = crate::password::SHORTEST;
    if password.chars().count() < shortest {
        return Err(fields.refuse("password", format_args!("must have at least {shortest} characters")));
    }
    Ok(Some(password))
}

fn role(fields: Fields<'_>) -> Result<Option<Role>, Error> {
    fields.one_of("role", "agent, admin", Role::parse)
}

/// An agent as admins see it.
pub fn agent(agent: &Agent) -> Value {
    let Agent { account_id: _, agent_id, name, email, phone, photo, role, created_at } = agent;
    json!({
        "agent_id": agent_id, "name": name, "email": email, "phone": phone, "photo": photo,
        "role": role.name(), "created_at": created_at.seconds(),
    })
}

/// Reads POST /admin/channels.
pub fn new_channel(body: &Value, guard: &Guard) -> Result<ChannelSettings, Error> {
    let fields = Fields::of(body)?;
    fields.one_of("kind", "api", |kind| (kind == "api").then_some(()))?;
    let settings = ChannelSettings {
        name: fields.required_text("name", NAME)?,
        integrator_url: fields.required_url("integrator_url")?,
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
        if fields.has("integrator_url") { fields.required_url("integrator_url")? } else { integrator_url };
    check_target(fields, "integrator_url", &integrator_url, guard)?;
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

pub(super) fn check_target(fields: Fields<'_>, name: &str, url: &str, guard: &Guard) -> Result<(), Error> {
    let url = Url::parse(url).map_err(|_| fields.refuse(name, "must be a URL"))?;
    guard.check(&url).map_err(|forbidden| fields.refuse(name, forbidden))
}

/// Ids, each once.
fn ids(fields: Fields<'_>, name: &str) -> Result<Option<Vec<u64>>, Error> {
    let Some(numbers) = fields.integers(name, LIST)? else {
        return Ok(None);
    };
    let ids: Option<Vec<u64>> = numbers.into_iter().map(|id| u64::try_from(id).ok().filter(|id| *id > 0)).collect();
    let mut ids = ids.ok_or_else(|| fields.refuse(name, "must be a list of ids"))?;
    let mut seen = BTreeSet::new();
    ids.retain(|id| seen.insert(*id));
    Ok(Some(ids))
}

/// Reads POST /admin/departments, or PATCH on one that is there: the department as it becomes. A new one has no name
/// yet.
pub fn department(body: &Value, mut department: Department) -> Result<Department, Error> {
    let fields = Fields::of(body)?;
    if fields.has("name") || department.name.is_empty() {
        department.name = fields.required_text("name", NAME)?;
    }
    department.agent_ids = ids(fields, "agent_ids")?.unwrap_or(department.agent_ids);
    Ok(department)
}

/// A department as admins see it.
pub fn shown_department(department: &Department) -> Value {
    let Department { department_id, name, agent_ids } = department;
    json!({ "department_id": department_id, "name": name, "agent_ids": agent_ids })
}

/// What an admin says about a bot.
pub struct BotSettings {
    /// The provider; fixed once connected.
    pub provider_id: String,
    /// The provider's token; fixed once connected.
    pub token: String,
    /// The name visitors see.
    pub name: String,
    /// The channels it stands in front of.
    pub channel_ids: Vec<String>,
    /// How long it may take for an answer.
    pub answer_within: Option<Duration>,
}

/// Reads POST /admin/bots.
pub fn new_bot(body: &Value) -> Result<BotSettings, Error> {
    let fields = Fields::of(body)?;
    Ok(BotSettings {
        provider_id: fields.required_text("provider_id", NAME)?,
        token: token(fields)?,
        name: fields.text("name", NAME)?.filter(|name| !name.is_empty()).unwrap_or_else(|| "Bot".to_owned()),
        channel_ids: channel_ids(fields)?.unwrap_or_default(),
        answer_within: answer_within(fields)?,
    })
}

/// A token is the last segment of addresses, where `.` and `..` mean something else.
fn token(fields: Fields<'_>) -> Result<String, Error> {
    let token = fields.required_text("token", NAME)?;
    if token == "." || token == ".." {
        return Err(fields.refuse("token", "must be more than dots"));
    }
    Ok(token)
}

/// Reads PATCH /admin/bots/{id}: the bot as it becomes. Provider and token stay: another token is another bot.
pub fn changed_bot(body: &Value, bot: &Bot) -> Result<Bot, Error> {
    let fields = Fields::of(body)?;
    for fixed in ["provider_id", "token"] {
        if fields.has(fixed) {
            return Err(fields.refuse(fixed, "cannot be changed; connect another bot"));
        }
    }
    let mut changed = bot.clone();
    if fields.has("name") {
        changed.name = fields.required_text("name", NAME)?;
    }
    if fields.has("answer_within") {
        changed.answer_within = answer_within(fields)?;
    }
    changed.channel_ids = channel_ids(fields)?.unwrap_or(changed.channel_ids);
    Ok(changed)
}

fn channel_ids(fields: Fields<'_>) -> Result<Option<Vec<String>>, Error> {
    let Some(value) = fields.value("channel_ids") else { return Ok(None) };
    let list = value.as_array().filter(|list| list.len() <= BOT_CHANNELS);
    let ids: Option<BTreeSet<String>> = list.and_then(|list| list.iter().map(channel_id).collect());
    let refuse = || fields.refuse("channel_ids", format_args!("must be a list of at most {BOT_CHANNELS} channel ids"));
    ids.map(|ids| Some(ids.into_iter().collect())).ok_or_else(refuse)
}

fn channel_id(value: &Value) -> Option<String> {
    value.as_str().filter(|id| id.len() <= NAME).map(str::to_owned)
}

/// Seconds that an SQS delay can carry.
fn answer_within(fields: Fields<'_>) -> Result<Option<Duration>, Error> {
    let Some(value) = fields.value("answer_within") else { return Ok(None) };
    let seconds = value.as_u64().filter(|seconds| (1..=900).contains(seconds));
    let seconds = seconds.ok_or_else(|| fields.refuse("answer_within", "must be 1 to 900 seconds, or null"))?;
    Ok(Some(Duration::from_secs(seconds)))
}

/// A bot as admins see it: nothing secret.
pub fn bot(bot: &Bot) -> Value {
    let Bot { bot_id, account_id: _, provider_id, token: _, name, channel_ids, answer_within, .. } = bot;
    json!({
        "bot_id": bot_id, "provider_id": provider_id, "name": name, "channel_ids": channel_ids,
        "answer_within": answer_within.map(|limit| limit.as_secs()), "created_at": bot.created_at.seconds(),
    })
}

/// A bot that was just connected: with what is shown once.
pub fn created_bot(bot: &Bot) -> Value {
    with(self::bot(bot), [("signing_secret", json!(bot.signing_secret))])
}

/// A provider as it is to be: POST /operator/providers, and PATCH on one that is there.
pub fn provider(body: &Value, mut provider: Provider, guard: &Guard) -> Result<Provider, Error> {
    let fields = Fields::of(body)?;
    if fields.has("name") || provider.name.is_empty() {
        provider.name = fields.required_text("name", NAME)?;
    }
    if fields.has("endpoint") || provider.endpoint.is_empty() {
        provider.endpoint = fields.required_url("endpoint")?;
    }
    check_target(fields, "endpoint", &provider.endpoint, guard)?;
    if fields.has("authorization") {
        let secret = fields.text("authorization", NAME)?.filter(|secret| !secret.is_empty());
        provider.authorization_hash = secret.map(|secret| crate::secret::hex_hash(&secret));
    }
    Ok(provider)
}

/// A provider as the operator sees it.
pub fn shown_provider(provider: &Provider) -> Value {
    let Provider { provider_id, name, endpoint, authorization_hash, created_at } = provider;
    json!({
        "provider_id": provider_id, "name": name, "endpoint": endpoint,
        "has_authorization": authorization_hash.is_some(), "created_at": created_at.seconds(),
    })
}

/// Reads POST /admin/channels/{id}/rotate: for how many seconds the old address is still answered.
pub fn overlap(body: &Value) -> Result<u64, Error> {
    let fields = Fields::of(body)?;
    let Some(value) = fields.value("keep_old_seconds") else {
        return Ok(USUAL_OVERLAP);
    };
    let seconds = value.as_u64().filter(|seconds| *seconds <= LONGEST_OVERLAP);
    seconds.ok_or_else(|| {
        fields.refuse("keep_old_seconds", format_args!("must be a whole number from 0 to {LONGEST_OVERLAP}"))
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

pub(super) fn with<const N: usize>(mut object: Value, more: [(&str, Value); N]) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.extend(more.map(|(name, value)| (name.to_owned(), value)));
    }
    object
}
