//! The scenarios whose usage is counted. They run through the public API. Similar requests are made before counting
//! starts, so that the function processes are running and have cached the channel.

use std::collections::BTreeMap;

use local::Host;
use serde_json::{Value, json};

use crate::driver::{Driver, Error, LoggedInAgent, text};
use crate::function_usage::{self, Usage, UsageByFunction};

/// The scenarios, in the order in which the table lists them. [`Scenario::label`] describes each one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scenario {
    VisitorMessage,
    RenamedVisitor,
    FirstMessage,
    StatusRequest,
    Accept,
    AgentMessage,
    Typing,
    ChatList,
    ShortChatList,
    MessagePoll,
    FailedAttempt,
    DeliveryAfterRetry,
    FinalFailure,
    Replay,
    DeliveryLog,
    TransferToAgent,
    TransferToDepartment,
    Close,
    AcceptWithWebhook,
    CorrectionWithWebhook,
    CloseWithWebhook,
    FirstMessageToBot,
    MessageToBot,
    BotAnswerCheck,
    BotMessage,
    IdleMinute,
}

/// How long the bot has to answer. This is long enough for the bot to answer in time, and short enough for a scenario
/// to wait until the limit expires and the service checks for an answer.
const BOT_ANSWER_LIMIT_SECONDS: u64 = 4;

pub type ScenarioUsage = BTreeMap<Scenario, UsageByFunction>;

impl Scenario {
    pub fn label(self) -> &'static str {
        match self {
            Self::VisitorMessage => "visitor's message, open chat",
            Self::RenamedVisitor => "the same, with a new name, phone, ...",
            Self::FirstMessage => "visitor's first message (opens a chat)",
            Self::StatusRequest => "integrator's status request",
            Self::Accept => "agent accepts a chat",
            Self::AgentMessage => "agent's message",
            Self::Typing => "agent's typing notice",
            Self::ChatList => "agent's list of ten open chats",
            Self::ShortChatList => "the same, limited to two",
            Self::MessagePoll => "agent's poll for new messages of a chat",
            Self::FailedAttempt => "each failed attempt",
            Self::DeliveryAfterRetry => "the successful attempt after it",
            Self::FinalFailure => "an attempt rejected for good (one more write if it is the third)",
            Self::Replay => "admin replays a delivery: the request",
            Self::DeliveryLog => "admin's delivery log with two failures",
            Self::TransferToAgent => "agent transfers a chat to an agent",
            Self::TransferToDepartment => "the same to a department",
            Self::Close => "agent closes a chat",
            Self::AcceptWithWebhook => "agent accepts a chat, one webhook",
            Self::CorrectionWithWebhook => "agent corrects a visitor, one webhook",
            Self::CloseWithWebhook => "agent closes a chat, one webhook",
            Self::FirstMessageToBot => "visitor's first message, to a bot",
            Self::MessageToBot => "visitor's message to a bot",
            Self::BotAnswerCheck => "the check for the bot's answer",
            Self::BotMessage => "bot's message (every tenth: one more write)",
            Self::IdleMinute => "a minute without traffic",
        }
    }
}

/// Runs every scenario and returns the usage of each. The host must be newly started and otherwise idle.
///
/// # Errors
/// The service rejected a request, or a queue did not become empty in time.
pub async fn measure_all_scenarios(host: &Host, operator_key: &str) -> Result<ScenarioUsage, Error> {
    let driver = Driver::open(host, operator_key).await?;
    let mut usage = ScenarioUsage::new();
    run_visitor_scenarios(&driver, &mut usage).await?;
    run_department_scenarios(&driver, &mut usage).await?;
    run_agent_scenarios(&driver, &mut usage).await?;
    run_retry_scenarios(&driver, &mut usage).await?;
    run_failure_scenarios(&driver, &mut usage).await?;
    run_transfer_scenarios(&driver, &mut usage).await?;
    run_webhook_scenarios(&driver, &mut usage).await?;
    run_bot_scenarios(&driver, &mut usage).await?;
    usage.insert(Scenario::IdleMinute, measure_idle_minute(host).await?);
    Ok(usage)
}

/// An account with a channel and one chat that its admin has accepted.
struct AcceptedChat {
    agent: LoggedInAgent,
    channel: String,
}

impl AcceptedChat {
    async fn open(driver: &Driver<'_>, account: &str, url: &str) -> Result<Self, Error> {
        let agent = driver.create_account(account).await?;
        let (_, channel) = driver.create_channel(&agent, url, json!([])).await?;
        driver.send_visitor_message(&channel, "ada").await?;
        driver.accept(&agent, 1).await?;
        Ok(Self { agent, channel })
    }
}

async fn run_visitor_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let chat = AcceptedChat::open(driver, "visitors", &driver.receiver.url()).await?;
    let message = async || driver.send_visitor_message(&chat.channel, "ada").await;
    message().await?;
    usage.insert(Scenario::VisitorMessage, driver.measure(message).await?);
    let rename = async |name: &str| driver.send_message_from(&chat.channel, json!({"id": "ada", "name": name})).await;
    rename("Ada").await?;
    usage.insert(Scenario::RenamedVisitor, driver.measure(async || rename("Augusta").await).await?);
    Ok(())
}

/// Runs scenarios in a channel with a department. These scenarios cost the same in a channel without departments.
async fn run_department_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let admin = driver.create_account("departments").await?;
    driver.post("/admin/departments", &admin, json!({"name": "Sales", "agent_ids": [admin.id]})).await?;
    let (_, channel) = driver.create_channel(&admin, &driver.receiver.url(), json!([1])).await?;
    driver.send_visitor_message(&channel, "ada").await?;
    driver.accept(&admin, 1).await?;
    let status = async || {
        driver.api.get::<Value>(&format!("{channel}/status"), "").await?;
        Ok(())
    };
    status().await?;
    usage.insert(Scenario::StatusRequest, driver.measure(status).await?);
    usage.insert(
        Scenario::FirstMessage,
        driver.measure(async || driver.send_visitor_message(&channel, "new").await).await?,
    );
    usage.insert(Scenario::Accept, driver.measure(async || driver.accept(&admin, 2).await).await?);
    let close = async |chat| driver.chat_action(&admin, chat, "close", json!({})).await;
    close(1).await?;
    usage.insert(Scenario::Close, driver.measure(async || close(2).await).await?);
    Ok(())
}

async fn run_agent_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let chat = AcceptedChat::open(driver, "agents", &driver.receiver.url()).await?;
    let send = async || driver.send_agent_message(&chat.agent, 1).await;
    send().await?;
    usage.insert(Scenario::AgentMessage, driver.measure(send).await?);
    let typing = async || driver.chat_action(&chat.agent, 1, "typing", json!({})).await;
    typing().await?;
    usage.insert(Scenario::Typing, driver.measure(typing).await?);
    let ann = driver.create_agent(&chat.agent, "ann@agents.example").await?;
    for n in 2..=10 {
        driver.send_visitor_message(&chat.channel, &format!("visitor {n}")).await?;
    }
    let list = async |limit: u32| get_as(driver, &ann, &format!("/agent/chats?limit={limit}")).await;
    list(100).await?;
    usage.insert(Scenario::ChatList, driver.measure(async || list(100).await).await?);
    usage.insert(Scenario::ShortChatList, driver.measure(async || list(2).await).await?);
    let poll = async || get_as(driver, &ann, "/agent/chats/1/messages?after=1000").await;
    poll().await?;
    usage.insert(Scenario::MessagePoll, driver.measure(poll).await?);
    Ok(())
}

async fn get_as(driver: &Driver<'_>, agent: &LoggedInAgent, path: &str) -> Result<(), Error> {
    driver.api.get::<Value>(path, &agent.token).await?;
    Ok(())
}

/// Runs the scenarios in which a delivery is retried. They use a separate account and channel, so that the channel has
/// only just been cached. Cache entries last ten seconds and must not expire before the retry, which happens after
/// three seconds.
async fn run_retry_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let chat = AcceptedChat::open(driver, "retries", &driver.receiver.url()).await?;
    let send = async || driver.send_agent_message(&chat.agent, 1).await;
    send().await?;
    driver.reset_usage().await?;
    driver.receiver.fail_once();
    send().await?;
    driver.wait_until_only_delayed().await?;
    let failed_attempt = only_deliveries(driver.usage()?);
    driver.wait_until_empty().await?;
    let both_attempts = only_deliveries(driver.usage()?);
    usage.insert(Scenario::DeliveryAfterRetry, difference(&both_attempts, &failed_attempt));
    usage.insert(Scenario::FailedAttempt, failed_attempt);
    Ok(())
}

/// Keeps only the usage of the delivery functions and drops that of the functions that handle the request.
fn only_deliveries(mut usage: UsageByFunction) -> UsageByFunction {
    usage.retain(|_, usage| usage.deliveries > 0.0);
    usage
}

/// Returns each function's usage after `first` was measured. `all` includes the usage in `first`.
fn difference(all: &UsageByFunction, first: &UsageByFunction) -> UsageByFunction {
    let difference = |(function, usage): (&String, &Usage)| {
        (function.clone(), *usage - first.get(function).copied().unwrap_or_default())
    };
    all.iter().map(difference).collect()
}

async fn run_failure_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let chat = AcceptedChat::open(driver, "failures", &driver.receiver.rejecting_url()).await?;
    let send = async || driver.send_agent_message(&chat.agent, 1).await;
    send().await?;
    usage.insert(Scenario::FinalFailure, only_deliveries(driver.measure(send).await?));
    let delivery = json!({"chat_id": 1, "seq": 2});
    let replay = async || {
        driver.post("/admin/deliveries/replay", &chat.agent, delivery.clone()).await?;
        Ok(())
    };
    replay().await?;
    let mut request = driver.measure(replay).await?;
    request.retain(|_, usage| usage.deliveries == 0.0);
    usage.insert(Scenario::Replay, request);
    let list = async || {
        driver.api.get::<Value>("/admin/deliveries", &chat.agent.token).await?;
        Ok(())
    };
    usage.insert(Scenario::DeliveryLog, driver.measure(list).await?);
    Ok(())
}

async fn run_transfer_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let chat = AcceptedChat::open(driver, "transfers", &driver.receiver.url()).await?;
    let admin = &chat.agent;
    let ann = driver.create_agent(admin, "ann@transfers.example").await?;
    let ben = driver.create_agent(admin, "ben@transfers.example").await?;
    driver.post("/admin/departments", admin, json!({"name": "Sales", "agent_ids": [ben.id]})).await?;
    for agent in [&ann, &ben] {
        driver.api.put("/agent/presence", &agent.token, &json!({"status": "online"})).await?;
    }
    let transfer = async |to: Value| driver.chat_action(admin, 1, "transfer", to).await;
    transfer(json!({"agent_id": ann.id})).await?;
    let to_ben = async || transfer(json!({"agent_id": ben.id})).await;
    usage.insert(Scenario::TransferToAgent, driver.measure(to_ben).await?);
    let to_sales = async || transfer(json!({"department_id": 1})).await;
    usage.insert(Scenario::TransferToDepartment, driver.measure(to_sales).await?);
    Ok(())
}

async fn run_webhook_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let admin = driver.create_account("webhooks").await?;
    let (_, channel) = driver.create_channel(&admin, &driver.receiver.url(), json!([])).await?;
    driver.post("/admin/settings/webhooks", &admin, json!({"url": driver.receiver.url()})).await?;
    driver.send_visitor_message(&channel, "ada").await?;
    driver.accept(&admin, 1).await?;
    driver.send_visitor_message(&channel, "new").await?;
    usage.insert(Scenario::AcceptWithWebhook, driver.measure(async || driver.accept(&admin, 2).await).await?);
    let correct = async |name: &str| {
        driver.api.patch("/agent/visitors/1", &admin.token, &json!({"name": name})).await?;
        Ok(())
    };
    correct("Ada").await?;
    usage.insert(Scenario::CorrectionWithWebhook, driver.measure(async || correct("Augusta").await).await?);
    let close = async |chat| driver.chat_action(&admin, chat, "close", json!({})).await;
    close(1).await?;
    usage.insert(Scenario::CloseWithWebhook, driver.measure(async || close(2).await).await?);
    Ok(())
}

async fn run_bot_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let admin = driver.create_account("bots").await?;
    let (channel_id, channel) = driver.create_channel(&admin, &driver.receiver.url(), json!([])).await?;
    let provider = json!({"name": "Bots & Co", "endpoint": driver.receiver.url()});
    let provider: Value = driver.api.post("/operator/providers", Some(driver.operator_key), &provider).await?;
    let provider = text(&provider, "provider_id")?;
    let bot = json!({
        "provider_id": provider, "token": "counted", "name": "Robin", "channel_ids": [channel_id],
        "answer_within": BOT_ANSWER_LIMIT_SECONDS,
    });
    driver.post("/admin/bots", &admin, bot).await?;

    let text_message = json!({"type": "TEXT", "text": "Hello", "timestamp": 1_700_000_000});
    let answer = async |chat: u64| {
        let event = json!({"event": "BOT_MESSAGE", "id": "any", "chat_id": chat, "message": text_message});
        driver.api.post::<Value>(&format!("/bot/webhooks/{provider}/counted"), None, &event).await?;
        Ok(())
    };
    driver.send_visitor_message(&channel, "ada").await?;
    driver.wait_until_only_delayed().await?;
    answer(1).await?;
    // Returns a message's usage up to the point where the bot has received it. The bot's answer and the check for it
    // are not included.
    let message = async |visitor: &str, chat: u64| {
        driver.reset_usage().await?;
        driver.send_visitor_message(&channel, visitor).await?;
        driver.wait_until_only_delayed().await?;
        let usage = driver.usage()?;
        answer(chat).await?;
        driver.wait_until_only_delayed().await?;
        Ok::<_, Error>(usage)
    };
    usage.insert(Scenario::MessageToBot, message("ada", 1).await?);
    let before_check = driver.usage()?;
    driver.wait_until_empty().await?;
    usage.insert(Scenario::BotAnswerCheck, only_function("deliver-bot", difference(&driver.usage()?, &before_check)));
    usage.insert(Scenario::FirstMessageToBot, message("new", 2).await?);
    // The functions' caches expired while the scenario waited for the check. This answer from the bot refills them.
    driver.wait_until_empty().await?;
    answer(1).await?;
    usage.insert(Scenario::BotMessage, driver.measure(async || answer(1).await).await?);
    Ok(())
}

fn only_function(function: &str, mut usage: UsageByFunction) -> UsageByFunction {
    usage.retain(|name, _| name == function);
    usage
}

/// Measures one run of each scheduled function. The host's own schedules may start additional runs in the meantime, so
/// the result is the average of all runs.
async fn measure_idle_minute(host: &Host) -> Result<UsageByFunction, Error> {
    for function in host.scheduled_functions() {
        host.run_schedule(function).await?;
    }
    host.reset_usage();
    for function in host.scheduled_functions() {
        host.run_schedule(function).await?;
    }
    let mut usage = function_usage::usage_by_function(host.usage())?;
    usage.retain(|function, _| function_usage::is_scheduled(function));
    usage.values_mut().for_each(|usage| *usage = *usage * (1.0 / usage.invocations));
    Ok(usage)
}
