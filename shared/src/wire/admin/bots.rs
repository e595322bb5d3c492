//! Bot connections.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::domain::bot::{Bot, DEFAULT_ANSWER_WITHIN, MAX_ANSWER_WITHIN_SECONDS};
use crate::error::Error;
use crate::wire::admin::{MAX_NAME_CHARS, with};
use crate::wire::fields::Fields;

/// Channels of one bot: a transaction takes a hundred items.
const MAX_BOT_CHANNELS: usize = 49;

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
        provider_id: fields.required_text("provider_id", MAX_NAME_CHARS)?,
        token: token(fields)?,
        name: fields.text("name", MAX_NAME_CHARS)?.unwrap_or_else(|| "Bot".to_owned()),
        channel_ids: channel_ids(fields)?.unwrap_or_default(),
        answer_within: answer_within(fields, Some(DEFAULT_ANSWER_WITHIN))?,
    })
}

/// A token is the last segment of addresses, where `.` and `..` mean something else.
fn token(fields: Fields<'_>) -> Result<String, Error> {
    let token = fields.required_text("token", MAX_NAME_CHARS)?;
    if token == "." || token == ".." {
        return Err(fields.refuse("token", "must be more than dots"));
    }
    fields.refuse_control("token", &token)?;
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
        changed.name = fields.required_text("name", MAX_NAME_CHARS)?;
    }
    changed.answer_within = answer_within(fields, bot.answer_within)?;
    changed.channel_ids = channel_ids(fields)?.unwrap_or(changed.channel_ids);
    Ok(changed)
}

fn channel_ids(fields: Fields<'_>) -> Result<Option<Vec<String>>, Error> {
    let Some(value) = fields.value("channel_ids") else { return Ok(None) };
    let list = value.as_array().filter(|list| list.len() <= MAX_BOT_CHANNELS);
    let ids: Option<BTreeSet<String>> = list.and_then(|list| list.iter().map(channel_id).collect());
    let refuse =
        || fields.refuse("channel_ids", format_args!("must be a list of at most {MAX_BOT_CHANNELS} channel ids"));
    ids.map(|ids| Some(ids.into_iter().collect())).ok_or_else(refuse)
}

fn channel_id(value: &Value) -> Option<String> {
    value.as_str().filter(|id| id.len() <= MAX_NAME_CHARS).map(str::to_owned)
}

/// Null switches the limit off; left out, it is what it was.
fn answer_within(fields: Fields<'_>, unless_set: Option<Duration>) -> Result<Option<Duration>, Error> {
    if !fields.has("answer_within") {
        return Ok(unless_set);
    }
    let Some(value) = fields.value("answer_within") else { return Ok(None) };
    let seconds = value.as_u64().filter(|seconds| (1..=MAX_ANSWER_WITHIN_SECONDS).contains(seconds));
    let expected = format_args!("must be 1 to {MAX_ANSWER_WITHIN_SECONDS} seconds, or null");
    let seconds = seconds.ok_or_else(|| fields.refuse("answer_within", expected))?;
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::domain::timestamp::Timestamp;

    #[test]
    fn bot_answers_within_two_minutes_unless_set() {
        let limit = |seconds| Some(Duration::from_secs(seconds));
        let table =
            [(json!({}), limit(120), limit(7)), (json!(null), None, None), (json!(900), limit(900), limit(900))];
        for (value, made, changed) in table {
            let mut body = json!({"provider_id": "P", "token": "t"});
            let mut change = json!({});
            if !value.is_object() {
                body["answer_within"] = value.clone();
                change["answer_within"] = value.clone();
            }
            let settings = new_bot(&body).unwrap();
            assert_eq!(settings.answer_within, made, "{value}");
            let BotSettings { provider_id, token, name, channel_ids, .. } = settings;
            let (bot_id, account_id, signing_secret) = (String::new(), String::new(), String::new());
            let (answer_within, created_at) = (limit(7), Timestamp(0));
            let bot = Bot {
                bot_id,
                account_id,
                provider_id,
                token,
                name,
                channel_ids,
                answer_within,
                signing_secret,
                created_at,
            };
            assert_eq!(changed_bot(&change, &bot).unwrap().answer_within, changed, "{value}");
        }
    }
}
