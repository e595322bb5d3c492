//! The /admin/bots endpoints: bodies and operations.

use std::collections::BTreeSet;
use std::time::Duration;

use schemars::{JsonSchema, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use crate::contract::{Failure, Operation};
use crate::domain::bots::bot_settings::{
    BotSettings, MAX_AGENT_WAIT_SECONDS, MAX_BOT_ANSWER_TIMEOUT_SECONDS, MIN_AGENT_WAIT_SECONDS, VisitorData,
};
use crate::domain::bots::turn::TurnSettings;
use crate::domain::bots::{bot, bot_activity};
use crate::domain::named::Named;
use crate::error::Error;
use crate::wire::admin::MAX_NAME_CHARS;
use crate::wire::admin::receiver_test::ReceiverTest;
use crate::wire::admin::signing_secret::{RotatedSigningSecret, SecretRotation, SigningSecret};
use crate::wire::bots::bot_sample::BotTest;
use crate::wire::fields::values::{
    AnyText, Change, Fixed, List, Name, NotNull, OptionalText, Text, True, UnixSeconds, Whole, inline_schema,
};

/// The minimum length of a new token. Whoever knows a token can write in the bot's chats.
const MIN_BOT_TOKEN_CHARS: usize = 20;
/// The maximum number of channels that a bot can have. If an admin replaces all of them, the change must fit into one
/// DynamoDB transaction, which can contain at most 100 items.
const MAX_BOT_CHANNELS: usize = 49;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/admin/bots", "bots", "Lists the bots of the account")
            .describe("Tokens and secrets are not included.")
            .answers::<Bots>(
                200,
                "The bots. They are read from an index, so a change may take some seconds to appear.",
            ),
        Operation::post("/admin/bots", "connectBot", "Connects a bot to channels")
            .describe(
                "The provider is registered by the operator. The token is chosen by the provider, or created by the \
                 service if the body has none. The signing secret, and a created token, are shown only in this \
                 response.",
            )
            .body::<NewBot>()
            .answers::<CreatedBot>(
                201,
                "The bot with its signing secret and, if the service created it, its token. Both are shown only once.",
            )
            .fails(&[Failure::Conflict]),
        Operation::get("/admin/bots/{bot_id}", "bot", "Reads a bot")
            .describe("The token and the secret are not included.")
            .answers::<Bot>(200, "The bot."),
        Operation::patch("/admin/bots/{bot_id}", "changeBot", "Changes a bot, except its provider and token")
            .describe("Absent fields stay unchanged. To change the provider or the token, connect another bot.")
            .body::<BotChanges>()
            .answers::<Bot>(200, "The bot.")
            .fails(&[Failure::Conflict]),
        Operation::delete("/admin/bots/{bot_id}", "disconnectBot", "Disconnects a bot")
            .describe("Chats that are with the bot wait for the agents.")
            .answers::<DeletedBot>(200, "Deleted."),
        Operation::post(
            "/admin/bots/{bot_id}/rotate",
            "rotateBotSigningSecret",
            "Creates a new signing secret for a bot. Up to four old secrets stay valid for a limited time",
        )
        .describe(
            "Each old secret signs requests until it expires. If keep_old_seconds is 0, all old secrets expire at \
             once. 409 for one of two concurrent rotations.",
        )
        .optional_body::<SecretRotation>()
        .answers::<RotatedSigningSecret>(200, RotatedSigningSecret::DESCRIPTION)
        .fails(&[Failure::Conflict]),
        Operation::post(
            "/admin/bots/{bot_id}/test",
            "testBot",
            "Sends one signed sample event to the bot and returns the request and the response",
        )
        .describe(
            "The event is about a chat that does not exist, so any event that the bot sends about this chat is \
             rejected. Nothing is stored. `clause` chooses what is tested: a wrong signature, for example, which the \
             bot must refuse. `kept` is the result.",
        )
        .optional_body::<BotTest>()
        .answers::<ReceiverTest>(200, "The request and its result.")
        .fails(&[Failure::TooManyRequests]),
        Operation::get("/admin/bots/{bot_id}/activity", "botActivity", "Shows the activity of a bot in the last hour")
            .describe(
                "Counted from the timelines when it is requested. `is_complete` is false if there was too much to \
                 count.",
            )
            .answers::<BotActivity>(200, "The numbers of the last hour."),
    ]
}

#[derive(JsonSchema)]
pub struct NewBot {
    #[serde(flatten)]
    pub origin: BotOrigin,
    #[serde(flatten)]
    fields: ChangeableBotFields,
}

#[derive(Deserialize, JsonSchema)]
pub struct BotOrigin {
    /// The provider cannot be changed later.
    pub provider_id: Text<MAX_NAME_CHARS>,
    /// The provider's token, which is the last path segment of the addresses in both directions. It must not contain
    /// control characters. If it is absent, the service creates one, which the response shows.
    pub token: Option<BotToken>,
    /// The name that visitors see.
    #[serde(default)]
    #[schemars(extend("default" = bot::DEFAULT_BOT_NAME))]
    pub name: OptionalText<MAX_NAME_CHARS>,
}

impl NewBot {
    pub fn channel_ids(&self) -> Vec<String> {
        self.fields.channel_ids(Vec::new())
    }

    /// Fails if the longest turn is shorter than the quiet time.
    pub fn settings(&self) -> Result<BotSettings, Error> {
        self.fields.settings(BotSettings::default())
    }
}

#[derive(JsonSchema)]
pub struct BotChanges {
    #[serde(flatten)]
    identity: ChangedBotIdentity,
    #[serde(flatten)]
    fields: ChangeableBotFields,
}

#[derive(Deserialize, JsonSchema)]
struct ChangedBotIdentity {
    #[serde(default)]
    name: NotNull<Text<MAX_NAME_CHARS>>,
    /// To change the provider, connect another bot.
    #[serde(default, rename = "provider_id")]
    _provider_id: Fixed,
    /// To change the token, connect another bot.
    #[serde(default, rename = "token")]
    _token: Fixed,
}

impl BotChanges {
    /// Returns the changed bot. Fails if the longest turn is shorter than the quiet time.
    pub fn applied_to(self, bot: &bot::Bot) -> Result<bot::Bot, Error> {
        let mut changed = bot.clone();
        changed.name = self.identity.name.0.map_or(changed.name, |Text(name)| name);
        changed.channel_ids = self.fields.channel_ids(changed.channel_ids);
        changed.settings = self.fields.settings(changed.settings)?;
        Ok(changed)
    }
}

impl<'de> Deserialize<'de> for NewBot {
    fn deserialize<D: Deserializer<'de>>(body: D) -> Result<Self, D::Error> {
        let (origin, fields) = Deserialize::deserialize(body)?;
        Ok(Self { origin, fields })
    }
}

impl<'de> Deserialize<'de> for BotChanges {
    fn deserialize<D: Deserializer<'de>>(body: D) -> Result<Self, D::Error> {
        let (identity, fields) = Deserialize::deserialize(body)?;
        Ok(Self { identity, fields })
    }
}

#[derive(Deserialize, JsonSchema)]
struct ChangeableBotFields {
    channel_ids: Option<BotChannelIds>,
    #[serde(default)]
    answer_within: Change<BotResponseTimeout>,
    #[serde(default)]
    agent_wait_seconds: Change<AgentWait>,
    #[serde(default)]
    quiet_ms: Change<QuietTime>,
    #[serde(default)]
    quiet_max_ms: Change<LongestTurn>,
    visitor_data: Option<AllowedVisitorData>,
    human_words: Option<HumanWords>,
    disclosure: Option<Disclosure>,
    standby: Option<Standby>,
}

impl ChangeableBotFields {
    fn channel_ids(&self, before: Vec<String>) -> Vec<String> {
        self.channel_ids.clone().map_or(before, BotChannelIds::into_unique)
    }

    /// Fails if the longest turn is shorter than the quiet time.
    fn settings(&self, before: BotSettings) -> Result<BotSettings, Error> {
        Ok(BotSettings {
            answer_within: self.answer_within.map(BotResponseTimeout::duration).applied_to(before.answer_within),
            agent_wait: self.agent_wait_seconds.map(AgentWait::duration).applied_to(before.agent_wait),
            turns: changed_turns(before.turns, self.quiet_ms, self.quiet_max_ms)?,
            visitor_data: self.visitor_data.clone().map_or(before.visitor_data, AllowedVisitorData::into_unique),
            human_words: self.human_words.map_or(before.human_words, |HumanWords(is_on)| is_on),
            disclosure: self.disclosure.map_or(before.disclosure, |Disclosure(is_on)| is_on),
            standby: self.standby.map_or(before.standby, |Standby(is_on)| is_on),
        })
    }
}

/// The token that a provider issued for a bot.
#[derive(Deserialize)]
#[serde(try_from = "AnyText<MAX_NAME_CHARS>")]
pub struct BotToken(pub String);

impl TryFrom<AnyText<MAX_NAME_CHARS>> for BotToken {
    type Error = String;

    fn try_from(AnyText(token): AnyText<MAX_NAME_CHARS>) -> Result<Self, String> {
        if token.chars().count() < MIN_BOT_TOKEN_CHARS {
            return Err(format!("must have at least {MIN_BOT_TOKEN_CHARS} characters; leave it out to get one"));
        }
        if token.chars().all(|letter| letter == '.' || letter.is_whitespace()) {
            return Err("must be more than dots and blanks".to_owned());
        }
        if token.chars().any(char::is_control) {
            return Err("must not contain control characters".to_owned());
        }
        Ok(Self(token))
    }
}

inline_schema!(
    BotToken,
    "BotToken",
    json_schema!({
        "type": "string", "minLength": MIN_BOT_TOKEN_CHARS, "maxLength": MAX_NAME_CHARS, "pattern": "[^.\\s]",
    })
);

/// The channels on which the bot answers first.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct BotChannelIds(List<AnyText<MAX_NAME_CHARS>, MAX_BOT_CHANNELS>);

impl BotChannelIds {
    fn into_unique(self) -> Vec<String> {
        let ids: BTreeSet<String> = self.0.0.into_iter().map(|AnyText(id)| id).collect();
        ids.into_iter().collect()
    }
}

/// The number of seconds after accepting a visitor's message within which the bot must answer; otherwise, the agents
/// get the chat. 120 by default; null for no limit.
#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct BotResponseTimeout(Whole<1, MAX_BOT_ANSWER_TIMEOUT_SECONDS>);

impl BotResponseTimeout {
    fn duration(self) -> Duration {
        Duration::from_secs(self.0.0)
    }
}

/// The number of seconds that a chat waits for an agent after the bot's INVITE_AGENT. If no agent accepts it in time,
/// it returns to the bot, which gets AGENT_UNAVAILABLE. Null, the default: the chat stays with the agents.
#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct AgentWait(Whole<MIN_AGENT_WAIT_SECONDS, MAX_AGENT_WAIT_SECONDS>);

impl AgentWait {
    fn duration(self) -> Duration {
        Duration::from_secs(self.0.0)
    }
}

/// For how many milliseconds the visitor must be quiet before the bot gets what the visitor has written, as one
/// CLIENT_MESSAGE. 0, the default, sends each message at once. A visitor who is typing is not quiet. Queues wait for
/// whole seconds, so the time is rounded.
#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct QuietTime(Whole<0, { TurnSettings::MAX_QUIET_MS }>);

/// After how many milliseconds at most the bot gets a message even if the visitor goes on writing. 15000 by default;
/// at least quiet_ms.
#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct LongestTurn(Whole<{ *TurnSettings::MAX_MS.start() }, { *TurnSettings::MAX_MS.end() }>);

/// What the bot is told about the visitor in `sender`, besides name and page address: personal data that the account
/// gives to the provider. Empty by default.
#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct AllowedVisitorData(List<Name<VisitorData>, { VisitorData::ALL.len() }>);

impl AllowedVisitorData {
    fn into_unique(self) -> Vec<VisitorData> {
        let List(names) = self.0;
        let names: Vec<VisitorData> = names.into_iter().map(|Name(data)| data).collect();
        VisitorData::ALL.iter().copied().filter(|data| names.contains(data)).collect()
    }
}

/// Whether a visitor who asks for a person, in one of eight languages, gets the agents at once if one of them is
/// online. False by default: the bot decides.
#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct HumanWords(bool);

/// Whether widgets tell the visitor that a bot answers. True by default. The audit log shows who has switched it off.
#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Disclosure(bool);

/// Whether the bot reads along while an agent has its chat (STANDBY_MESSAGE), and may suggest answers to the agent
/// (DRAFT). False by default.
#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Standby(bool);

fn changed_turns(
    turns: TurnSettings,
    quiet_ms: Change<QuietTime>,
    max_ms: Change<LongestTurn>,
) -> Result<TurnSettings, Error> {
    let quiet = quiet_ms.map(|QuietTime(ms)| Duration::from_millis(ms.0)).applied_to(Some(turns.quiet));
    let max = max_ms.map(|LongestTurn(ms)| Duration::from_millis(ms.0)).applied_to(Some(turns.max));
    let TurnSettings { quiet: default_quiet, max: default_max } = TurnSettings::NONE;
    let turns = TurnSettings { quiet: quiet.unwrap_or(default_quiet), max: max.unwrap_or(default_max) };
    if turns.max < turns.quiet { Err(Error::field("quiet_max_ms", "must be at least quiet_ms")) } else { Ok(turns) }
}

#[derive(Serialize, JsonSchema)]
pub struct Bots {
    bots: Vec<Bot>,
}

impl Bots {
    pub fn new(bots: &[bot::Bot]) -> Self {
        Self { bots: bots.iter().map(Bot::new).collect() }
    }
}

/// A bot without its token and its signing secret.
#[derive(Serialize, JsonSchema)]
pub struct Bot {
    bot_id: String,
    provider_id: String,
    name: String,
    channel_ids: Vec<String>,
    answer_within: Option<BotResponseTimeout>,
    agent_wait_seconds: Option<AgentWait>,
    quiet_ms: QuietTime,
    quiet_max_ms: LongestTurn,
    visitor_data: AllowedVisitorData,
    human_words: HumanWords,
    disclosure: Disclosure,
    standby: Standby,
    created_at: UnixSeconds,
}

impl Bot {
    pub fn new(bot: &bot::Bot) -> Self {
        let bot::Bot { bot_id, provider_id, name, channel_ids, settings, created_at, .. } = bot.clone();
        let BotSettings { answer_within, agent_wait, turns, visitor_data, human_words, disclosure, standby } = settings;
        let [quiet_ms, quiet_max_ms] = turns.milliseconds();
        Self {
            bot_id,
            provider_id,
            name,
            channel_ids,
            answer_within: answer_within.map(|limit| BotResponseTimeout(Whole(limit.as_secs()))),
            agent_wait_seconds: agent_wait.map(|limit| AgentWait(Whole(limit.as_secs()))),
            quiet_ms: QuietTime(Whole(quiet_ms)),
            quiet_max_ms: LongestTurn(Whole(quiet_max_ms)),
            visitor_data: AllowedVisitorData(List(visitor_data.into_iter().map(Name).collect())),
            human_words: HumanWords(human_words),
            disclosure: Disclosure(disclosure),
            standby: Standby(standby),
            created_at: created_at.into(),
        }
    }
}

/// A new bot. No later response contains its signing secret and its token.
#[derive(Serialize, JsonSchema)]
pub struct CreatedBot {
    #[serde(flatten)]
    bot: Bot,
    signing_secret: SigningSecret,
    /// The token that the service created. Only the response that creates the bot contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

impl CreatedBot {
    pub fn new(bot: &bot::Bot, is_token_created: bool) -> Self {
        let signing_secret = SigningSecret::new(bot.signing_secrets.current().unwrap_or_default());
        Self { bot: Bot::new(bot), signing_secret, token: is_token_created.then(|| bot.token.clone()) }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct DeletedBot {
    pub bot_id: String,
    pub deleted: True,
}

#[derive(Serialize, JsonSchema)]
pub struct BotActivity {
    since: UnixSeconds,
    /// Events that were sent to the bot.
    events: u64,
    /// Events that the bot accepted, by its response or by an event of its own.
    answered: u64,
    /// Events that the bot did not accept in any attempt.
    failed: u64,
    /// The duration of the slowest attempt that got a response, in milliseconds.
    slowest_ms: Option<u64>,
    /// Messages of the bot that answered a visitor.
    answers: u64,
    /// Half of the answers came within this time after the visitor's last message, in milliseconds. Null without
    /// answers.
    median_answer_ms: Option<u64>,
    /// The time of the slowest answer, in milliseconds.
    slowest_answer_ms: Option<u64>,
    /// Answers that were refused with `superseded`, because the visitor had written since, in the chats that changed in
    /// the last hour.
    superseded_answers: u64,
    /// Chats that went to the agents by the bot's INVITE_AGENT, or because the visitor asked for a person
    /// (human_words).
    handed_over: u64,
    /// Chats that were given to the agents because the bot failed or did not answer in time.
    fallbacks: u64,
    /// False if the account had too many chats to examine all of them. The numbers then cover only the newest chats.
    is_complete: bool,
}

impl From<bot_activity::BotActivity> for BotActivity {
    fn from(activity: bot_activity::BotActivity) -> Self {
        let (median_answer_ms, slowest_answer_ms) =
            (activity.median_answer_ms(), activity.answer_ms.iter().max().copied());
        let bot_activity::BotActivity {
            since,
            events,
            answered,
            failed,
            slowest_ms,
            answer_ms,
            superseded,
            handed_over,
            fallbacks,
            is_complete,
        } = activity;
        Self {
            since: since.into(),
            events,
            answered,
            failed,
            slowest_ms,
            answers: answer_ms.len() as u64,
            median_answer_ms,
            slowest_answer_ms,
            superseded_answers: superseded,
            handed_over,
            fallbacks,
            is_complete,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::channels::signing_secret::SigningSecrets;
    use crate::domain::timestamp::Timestamp;
    use crate::wire::fields::reader::read;

    #[test]
    fn default_answer_limit_is_two_minutes() {
        let limit = |seconds| Some(Duration::from_secs(seconds));
        let bot = bot::Bot {
            bot_id: String::new(),
            account_id: String::new(),
            provider_id: "P".to_owned(),
            token: String::new(),
            name: "Bot".to_owned(),
            channel_ids: Vec::new(),
            settings: BotSettings { answer_within: limit(7), ..BotSettings::default() },
            signing_secrets: SigningSecrets::default(),
            created_at: Timestamp(0),
        };
        let table = [
            (json!({}), limit(120), limit(7)),
            (json!({ "answer_within": null }), None, None),
            (json!({ "answer_within": 900 }), limit(900), limit(900)),
        ];
        for (mut body, made, changed) in table {
            let changes: BotChanges = read(&body).unwrap();
            assert_eq!(changes.applied_to(&bot).unwrap().settings.answer_within, changed, "{body}");
            body["provider_id"] = json!("P");
            assert_eq!(read::<NewBot>(&body).unwrap().settings().unwrap().answer_within, made, "{body}");
        }
    }

    #[test]
    fn visitor_data_is_a_set_of_known_names() {
        let data = |data: Value| {
            read::<NewBot>(&json!({ "provider_id": "p", "visitor_data": data }))
                .map(|bot| bot.settings().unwrap().visitor_data)
        };
        assert_eq!(data(json!(null)).unwrap(), []);
        let twice = data(json!(["contacts", "external_id", "contacts"])).unwrap();
        assert_eq!(twice, [VisitorData::ExternalId, VisitorData::Contacts]);
        assert_eq!(data(json!(["shoe_size"])).unwrap_err().invalid_field(), Some("visitor_data"));
    }

    #[test]
    fn new_token_has_twenty_characters_or_is_left_to_the_service() {
        let token = |token: Value| {
            read::<NewBot>(&json!({ "provider_id": "p", "token": token }))
                .map(|bot| bot.origin.token.map(|token| token.0))
        };
        assert_eq!(token(json!(null)).unwrap(), None);
        assert_eq!(token(json!("a token of the bot 1")).unwrap().unwrap(), "a token of the bot 1");
        for weak in ["", "7", "nineteen characters", "....................", "  . .             . "] {
            assert_eq!(token(json!(weak)).unwrap_err().invalid_field(), Some("token"), "{weak}");
        }
    }
}
