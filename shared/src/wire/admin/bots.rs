//! Request and response bodies of the /admin/bots endpoints.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::domain::bot::{Bot, DEFAULT_BOT_ANSWER_TIMEOUT, MAX_BOT_ANSWER_TIMEOUT_SECONDS};
use crate::domain::bot_activity::BotActivity;
use crate::error::Error;
use crate::wire::admin::MAX_NAME_CHARS;
use crate::wire::json_fields::Fields;
use crate::wire::json_object::with_fields;

/// The maximum number of channels that a bot can have. If an admin replaces all of them, the change must fit into one
/// DynamoDB transaction, which can contain at most 100 items.
const MAX_BOT_CHANNELS: usize = 49;
/// The minimum length of a new token. Whoever knows a token can write in the bot's chats.
const MIN_BOT_TOKEN_CHARS: usize = 20;

pub struct NewBot {
    /// The provider cannot be changed later.
    pub provider_id: String,
    /// The token that the provider issued for this bot, or `None` if the service shall create one. It cannot be changed
    /// later.
    pub token: Option<String>,
    /// The name that visitors see.
    pub name: String,
    /// The ids of the channels where new chats start with this bot.
    pub channel_ids: Vec<String>,
    /// How long the bot has to react to a message. `None` means that there is no time limit.
    pub answer_within: Option<Duration>,
}

/// Parses the body of POST /admin/bots.
pub fn parse_new_bot(body: &Value) -> Result<NewBot, Error> {
    let fields = Fields::of(body)?;
    Ok(NewBot {
        provider_id: fields.required_text("provider_id", MAX_NAME_CHARS)?,
        token: parse_token(fields)?,
        name: fields.text("name", MAX_NAME_CHARS)?.unwrap_or_else(|| "Bot".to_owned()),
        channel_ids: parse_channel_ids(fields)?.unwrap_or_default(),
        answer_within: parse_answer_within(fields, Some(DEFAULT_BOT_ANSWER_TIMEOUT))?,
    })
}

fn parse_token(fields: Fields<'_>) -> Result<Option<String>, Error> {
    let Some(token) = fields.text_or_blank("token", MAX_NAME_CHARS)? else { return Ok(None) };
    if token.chars().count() < MIN_BOT_TOKEN_CHARS {
        let expected = format_args!("must have at least {MIN_BOT_TOKEN_CHARS} characters; leave it out to get one");
        return Err(fields.invalid("token", expected));
    }
    if token.chars().all(|letter| letter == '.' || letter.is_whitespace()) {
        return Err(fields.invalid("token", "must be more than dots and blanks"));
    }
    fields.reject_control_chars("token", &token)?;
    Ok(Some(token))
}

/// Parses the body of PATCH /admin/bots/{bot_id} and returns the changed bot. The provider and the token cannot be
/// changed.
pub fn apply_bot_patch(body: &Value, bot: &Bot) -> Result<Bot, Error> {
    let fields = Fields::of(body)?;
    for fixed in ["provider_id", "token"] {
        if fields.has(fixed) {
            return Err(fields.invalid(fixed, "cannot be changed; connect another bot"));
        }
    }
    let mut changed = bot.clone();
    if fields.has("name") {
        changed.name = fields.required_text("name", MAX_NAME_CHARS)?;
    }
    changed.answer_within = parse_answer_within(fields, bot.answer_within)?;
    changed.channel_ids = parse_channel_ids(fields)?.unwrap_or(changed.channel_ids);
    Ok(changed)
}

fn parse_channel_ids(fields: Fields<'_>) -> Result<Option<Vec<String>>, Error> {
    let Some(value) = fields.value("channel_ids") else { return Ok(None) };
    let list = value.as_array().filter(|list| list.len() <= MAX_BOT_CHANNELS);
    let ids: Option<BTreeSet<String>> = list.and_then(|list| list.iter().map(channel_id).collect());
    let invalid =
        || fields.invalid("channel_ids", format_args!("must be a list of at most {MAX_BOT_CHANNELS} channel ids"));
    ids.map(|ids| Some(ids.into_iter().collect())).ok_or_else(invalid)
}

fn channel_id(value: &Value) -> Option<String> {
    value.as_str().filter(|id| id.len() <= MAX_NAME_CHARS).map(str::to_owned)
}

/// Parses the time limit for the bot's reaction. Null means that there is no limit. If the field is absent, returns
/// `default`.
fn parse_answer_within(fields: Fields<'_>, default: Option<Duration>) -> Result<Option<Duration>, Error> {
    if !fields.has("answer_within") {
        return Ok(default);
    }
    let Some(value) = fields.value("answer_within") else { return Ok(None) };
    let seconds = value.as_u64().filter(|seconds| (1..=MAX_BOT_ANSWER_TIMEOUT_SECONDS).contains(seconds));
    let expected = format_args!("must be 1 to {MAX_BOT_ANSWER_TIMEOUT_SECONDS} seconds, or null");
    let seconds = seconds.ok_or_else(|| fields.invalid("answer_within", expected))?;
    Ok(Some(Duration::from_secs(seconds)))
}

/// Returns a bot without its token and its signing secret.
pub fn bot_json(bot: &Bot) -> Value {
    let Bot { bot_id, account_id: _, provider_id, token: _, name, channel_ids, answer_within, .. } = bot;
    json!({
        "bot_id": bot_id, "provider_id": provider_id, "name": name, "channel_ids": channel_ids,
        "answer_within": answer_within.map(|limit| limit.as_secs()), "created_at": bot.created_at.seconds(),
    })
}

/// Returns a new bot with its signing secret and, if the service created the token, with the token. No later response
/// contains them.
pub fn created_bot_json(bot: &Bot, is_token_created: bool) -> Value {
    let created = with_fields(bot_json(bot), [("signing_secret", json!(bot.signing_secrets.current()))]);
    if is_token_created { with_fields(created, [("token", json!(bot.token))]) } else { created }
}

pub fn bot_activity_json(activity: &BotActivity) -> Value {
    let BotActivity { since, events, answered, failed, slowest_ms, handed_over, fallbacks, is_complete } = activity;
    json!({
        "since": since.seconds(), "events": events, "answered": answered, "failed": failed, "slowest_ms": slowest_ms,
        "handed_over": handed_over, "fallbacks": fallbacks, "is_complete": is_complete,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::domain::signing_secret::SigningSecrets;
    use crate::domain::timestamp::Timestamp;

    #[test]
    fn default_answer_limit_is_two_minutes() {
        let limit = |seconds| Some(Duration::from_secs(seconds));
        let table =
            [(json!({}), limit(120), limit(7)), (json!(null), None, None), (json!(900), limit(900), limit(900))];
        for (value, made, changed) in table {
            let mut body = json!({"provider_id": "P"});
            let mut change = json!({});
            if !value.is_object() {
                body["answer_within"] = value.clone();
                change["answer_within"] = value.clone();
            }
            let settings = parse_new_bot(&body).unwrap();
            assert_eq!(settings.answer_within, made, "{value}");
            let NewBot { provider_id, token, name, channel_ids, .. } = settings;
            let (bot_id, account_id, signing_secrets) = (String::new(), String::new(), SigningSecrets::default());
            let (answer_within, created_at) = (limit(7), Timestamp(0));
            let bot = Bot {
                bot_id,
                account_id,
                provider_id,
                token: token.unwrap_or_default(),
                name,
                channel_ids,
                answer_within,
                signing_secrets,
                created_at,
            };
            assert_eq!(apply_bot_patch(&change, &bot).unwrap().answer_within, changed, "{value}");
        }
    }

    #[test]
    fn new_token_has_twenty_characters_or_is_left_to_the_service() {
        let token = |token: Value| parse_new_bot(&json!({ "provider_id": "p", "token": token })).map(|bot| bot.token);
        assert_eq!(token(json!(null)).unwrap(), None);
        assert_eq!(token(json!("a token of the bot 1")).unwrap().unwrap(), "a token of the bot 1");
        for weak in ["", "7", "nineteen characters", "....................", "  . .             . "] {
            assert_eq!(token(json!(weak)).unwrap_err().invalid_field(), Some("token"), "{weak}");
        }
    }
}
