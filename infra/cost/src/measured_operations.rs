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
    FirstAnswer,
    Receipt,
    ChannelRating,
    MessageToVisitor,
    MessageToNewVisitor,
    MessageToFetch,
    Fetch,
    Acknowledge,
    Typing,
    ChatList,
    ShortChatList,
    Changes,
    Search,
    VisitorChats,
    MessagePoll,
    FailedAttempt,
    DeliveryAfterRetry,
    FinalFailure,
    Replay,
    DeliveryLog,
    DeliveryRequest,
    FailedCount,
    DeliveryCounts,
    BotActivity,
    Report,
    Export,
    AuditLog,
    TransferToAgent,
    TransferToDepartment,
    Close,
    AcceptWithWebhook,
    CorrectionWithWebhook,
    CloseWithWebhook,
    AcceptWithQueue,
    AcceptWithEventBus,
    AcceptWithFetchedWebhook,
    FetchEvent,
    AcknowledgeEvent,
    FirstMessageToBot,
    MessageToBot,
    BotAnswerCheck,
    BotMessage,
    WidgetStart,
    NewWidgetVisitor,
    WidgetMessage,
    WidgetAnswer,
    Callback,
    Push,
    PushToAgent,
    IdleMinute,
}

/// How long the service waits for the bot's answer. The value is small, because a scenario waits until the service
/// checks for the answer.
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
            Self::FirstAnswer => "agent's first message in a chat",
            Self::Receipt => "integrator's receipt of a message",
            Self::ChannelRating => "integrator's rating of a chat",
            Self::MessageToVisitor => "program's message to a visitor, open chat",
            Self::MessageToNewVisitor => "the same to a new visitor (opens a chat)",
            Self::MessageToFetch => "agent's message that the integrator fetches",
            Self::Fetch => "integrator fetches it",
            Self::Acknowledge => "integrator acknowledges it, nothing follows",
            Self::Typing => "agent's typing notice",
            Self::ChatList => "agent's list of ten open chats",
            Self::ShortChatList => "the same, limited to two",
            Self::Changes => "agent's request for changes, ten open chats",
            Self::Search => "agent's search by name, ten chats",
            Self::VisitorChats => "agent's list of a visitor's chats",
            Self::MessagePoll => "agent's poll for new messages of a chat",
            Self::FailedAttempt => "each failed attempt",
            Self::DeliveryAfterRetry => "the successful attempt after it",
            Self::FinalFailure => "an attempt rejected for good (one more write if it is the third)",
            Self::Replay => "admin replays a delivery: the request",
            Self::DeliveryLog => "admin's delivery log with two failures",
            Self::DeliveryRequest => "admin's view of a delivery with its request",
            Self::FailedCount => "admin's count of failed deliveries",
            Self::DeliveryCounts => "the same, and the pending ones",
            Self::BotActivity => "admin's activity of a bot, two chats",
            Self::Report => "admin's report of 30 days",
            Self::Export => "admin's export of two closed chats",
            Self::AuditLog => "admin's view of the audit log",
            Self::TransferToAgent => "agent transfers a chat to an agent",
            Self::TransferToDepartment => "the same to a department",
            Self::Close => "agent closes a chat",
            Self::AcceptWithWebhook => "agent accepts a chat, one webhook",
            Self::CorrectionWithWebhook => "agent corrects a visitor, one webhook",
            Self::CloseWithWebhook => "agent closes a chat, one webhook",
            Self::AcceptWithQueue => "agent accepts a chat, one webhook with an SQS queue",
            Self::AcceptWithEventBus => "the same with an EventBridge event bus",
            Self::AcceptWithFetchedWebhook => "the same with a program that fetches the event",
            Self::FetchEvent => "program fetches it",
            Self::AcknowledgeEvent => "program acknowledges it, nothing follows",
            Self::FirstMessageToBot => "visitor's first message, to a bot",
            Self::MessageToBot => "visitor's message to a bot",
            Self::BotAnswerCheck => "the check for the bot's answer",
            Self::BotMessage => "bot's message (every tenth: one more write)",
            Self::WidgetStart => "widget starts on a page (every tenth: one more write)",
            Self::NewWidgetVisitor => "the same, and the browser becomes a visitor",
            Self::WidgetMessage => "visitor's message through the widget, open chat",
            Self::WidgetAnswer => "agent's message to a visitor of a widget",
            Self::Callback => "callback, from the request to its end",
            Self::Push => "push of a message, nobody listens",
            Self::PushToAgent => "the same with one listening agent",
            Self::IdleMinute => "a minute without traffic",
        }
    }
}

/// Runs all scenarios and returns the usage of each. `host` must be newly started and otherwise idle.
pub async fn measure_all_scenarios(host: &Host, operator_key: &str) -> Result<ScenarioUsage, Error> {
    let driver = Driver::open(host, operator_key).await?;
    let mut usage = ScenarioUsage::new();
    run_visitor_scenarios(&driver, &mut usage).await?;
    run_department_scenarios(&driver, &mut usage).await?;
    run_agent_scenarios(&driver, &mut usage).await?;
    run_integrator_scenarios(&driver, &mut usage).await?;
    run_pull_scenarios(&driver, &mut usage).await?;
    run_retry_scenarios(&driver, &mut usage).await?;
    run_failure_scenarios(&driver, &mut usage).await?;
    run_transfer_scenarios(&driver, &mut usage).await?;
    run_webhook_scenarios(&driver, &mut usage).await?;
    run_aws_target_scenarios(&driver, &mut usage).await?;
    run_fetched_webhook_scenarios(&driver, &mut usage).await?;
    run_bot_scenarios(&driver, &mut usage).await?;
    run_widget_scenarios(&driver, &mut usage).await?;
    run_call_scenario(&driver, &mut usage).await?;
    run_push_scenarios(&driver, &mut usage).await?;
    usage.insert(Scenario::IdleMinute, measure_idle_minute(host).await?);
    Ok(usage)
}

/// The first chat of a new account. `agent` is the account's admin, who has accepted the chat. `channel` is the path of
/// the channel's endpoint for visitors' messages.
struct AcceptedChat {
    agent: LoggedInAgent,
    channel: String,
}

impl AcceptedChat {
    async fn open(driver: &Driver<'_>, account: &str, url: Option<&str>) -> Result<Self, Error> {
        let agent = driver.create_account(account).await?;
        let (_, channel) = driver.create_channel(&agent, url, json!([])).await?;
        driver.send_visitor_message(&channel, "ada").await?;
        driver.accept(&agent, 1).await?;
        Ok(Self { agent, channel })
    }
}

async fn run_visitor_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let chat = AcceptedChat::open(driver, "visitors", Some(&driver.receiver.url())).await?;
    let message = async || driver.send_visitor_message(&chat.channel, "ada").await;
    message().await?;
    usage.insert(Scenario::VisitorMessage, driver.measure(message).await?);
    let rename = async |name: &str| driver.send_message_from(&chat.channel, json!({"id": "ada", "name": name})).await;
    rename("Ada").await?;
    usage.insert(Scenario::RenamedVisitor, driver.measure(async || rename("Augusta").await).await?);
    Ok(())
}

/// Runs the scenarios of visitors, agents and admins in a channel with a department. Because the roster is cached, they
/// cost the same in a channel without departments.
async fn run_department_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let admin = driver.create_account("departments").await?;
    driver.post("/admin/departments", &admin, json!({"name": "Sales", "agent_ids": [admin.id]})).await?;
    let (_, channel) = driver.create_channel(&admin, Some(&driver.receiver.url()), json!([1])).await?;
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
    for (scenario, path) in [
        (Scenario::Report, "/admin/reports"),
        (Scenario::Export, "/admin/chats/export?from=0"),
        (Scenario::AuditLog, "/admin/audit"),
    ] {
        get_as(driver, &admin, path).await?;
        usage.insert(scenario, driver.measure(async || get_as(driver, &admin, path).await).await?);
    }
    Ok(())
}

async fn run_agent_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let chat = AcceptedChat::open(driver, "agents", Some(&driver.receiver.url())).await?;
    let send = async || driver.send_agent_message(&chat.agent, 1).await;
    send().await?;
    usage.insert(Scenario::AgentMessage, driver.measure(send).await?);
    driver.send_visitor_message(&chat.channel, "visitor 2").await?;
    driver.accept(&chat.agent, 2).await?;
    let first_answer = async || driver.send_agent_message(&chat.agent, 2).await;
    usage.insert(Scenario::FirstAnswer, driver.measure(first_answer).await?);
    let typing = async || driver.chat_action(&chat.agent, 1, "typing", json!({})).await;
    typing().await?;
    usage.insert(Scenario::Typing, driver.measure(typing).await?);
    let ann = driver.create_agent(&chat.agent, "ann@agents.example").await?;
    for n in 3..=10 {
        driver.send_visitor_message(&chat.channel, &format!("visitor {n}")).await?;
    }
    let list = async |limit: u32| get_as(driver, &ann, &format!("/agent/chats?limit={limit}")).await;
    list(100).await?;
    usage.insert(Scenario::ChatList, driver.measure(async || list(100).await).await?);
    usage.insert(Scenario::ShortChatList, driver.measure(async || list(2).await).await?);
    let start: Value = driver.api.get("/agent/changes", &ann.token).await?;
    let changes = format!("/agent/changes?cursor={}", text(&start, "cursor")?);
    for (scenario, path) in [
        (Scenario::Changes, changes.as_str()),
        (Scenario::Search, "/agent/search?q=hello"),
        (Scenario::VisitorChats, "/agent/visitors/1/chats"),
    ] {
        get_as(driver, &ann, path).await?;
        usage.insert(scenario, driver.measure(async || get_as(driver, &ann, path).await).await?);
    }
    let poll = async || get_as(driver, &ann, "/agent/chats/1/messages?after=1000").await;
    poll().await?;
    usage.insert(Scenario::MessagePoll, driver.measure(poll).await?);
    Ok(())
}

async fn run_pull_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let chat = AcceptedChat::open(driver, "pulls", None).await?;
    let send = async || driver.send_agent_message(&chat.agent, 1).await;
    let feed = Feed { driver, path: format!("{}/events", chat.channel) };
    send().await?;
    feed.empty().await?;
    usage.insert(Scenario::MessageToFetch, driver.measure(send).await?);
    feed.measure([Scenario::Fetch, Scenario::Acknowledge], usage).await
}

/// The address at which a program fetches what waits for it.
struct Feed<'a> {
    driver: &'a Driver<'a>,
    path: String,
}

impl Feed<'_> {
    async fn fetch(&self, after: Option<&str>) -> Result<Value, Error> {
        let query = after.map(|cursor| format!("?after={cursor}")).unwrap_or_default();
        Ok(self.driver.api.get(&format!("{}{query}", self.path), "").await?)
    }

    /// Acknowledges what waits.
    async fn empty(&self) -> Result<(), Error> {
        self.driver.wait_until_empty().await?;
        let cursor = text(&self.fetch(None).await?, "cursor")?;
        self.fetch(Some(&cursor)).await.map(|_| ())
    }

    /// Measures how what waits is fetched and acknowledged.
    async fn measure(&self, [fetch, acknowledge]: [Scenario; 2], usage: &mut ScenarioUsage) -> Result<(), Error> {
        let mut cursor = String::new();
        let first = async || {
            cursor = text(&self.fetch(None).await?, "cursor")?;
            Ok(())
        };
        usage.insert(fetch, self.driver.measure(first).await?);
        let second = async || self.fetch(Some(&cursor)).await.map(|_| ());
        usage.insert(acknowledge, self.driver.measure(second).await?);
        Ok(())
    }
}

/// Runs the scenarios of what an integrator's programs report and send besides the visitors' messages. The first report
/// of each kind caches the channel.
async fn run_integrator_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let chat = AcceptedChat::open(driver, "integrators", Some(&driver.receiver.url())).await?;
    let sent = driver.post("/agent/chats/1/messages", &chat.agent, json!({"type": "text", "text": "Hello"})).await?;
    let message_id = text(&sent, "id")?;
    let report = async |kind: &str, fields: Value| {
        let mut body = json!({"sender": {"id": "ada"}});
        body.as_object_mut().into_iter().for_each(|body| body.extend(fields.as_object().cloned().unwrap_or_default()));
        driver.api.post::<Value>(&format!("{}/{kind}", chat.channel), None, &body).await?;
        Ok::<(), Error>(())
    };
    let receipt = async |kind: &str| report("receipts", json!({"message_id": message_id, "type": kind})).await;
    receipt("delivered").await?;
    usage.insert(Scenario::Receipt, driver.measure(async || receipt("read").await).await?);
    let rating = async |rate: &str| report("rating", json!({"rate": rate})).await;
    rating("positive").await?;
    usage.insert(Scenario::ChannelRating, driver.measure(async || rating("negative").await).await?);
    let channel_id = chat.channel.rsplit('/').next().unwrap_or_default();
    let say = async |visitor: &str| {
        let path = format!("/admin/channels/{channel_id}/visitors/{visitor}/messages");
        driver.post(&path, &chat.agent, json!({"type": "text", "text": "Hello"})).await?;
        Ok::<(), Error>(())
    };
    say("ada").await?;
    usage.insert(Scenario::MessageToVisitor, driver.measure(async || say("ada").await).await?);
    usage.insert(Scenario::MessageToNewVisitor, driver.measure(async || say("new").await).await?);
    Ok(())
}

async fn get_as(driver: &Driver<'_>, agent: &LoggedInAgent, path: &str) -> Result<(), Error> {
    driver.api.get::<Value>(path, &agent.token).await?;
    Ok(())
}

/// Runs the scenarios of a delivery whose first attempt fails. Uses a new channel, so that the channel has only just
/// been cached. Cache entries last ten seconds and must not expire before the retry, which happens after three seconds.
async fn run_retry_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let chat = AcceptedChat::open(driver, "retries", Some(&driver.receiver.url())).await?;
    let send = async || driver.send_agent_message(&chat.agent, 1).await;
    send().await?;
    driver.start_measuring().await?;
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

fn only_deliveries(mut usage: UsageByFunction) -> UsageByFunction {
    usage.retain(|_, usage| usage.deliveries > 0.0);
    usage
}

fn difference(all: &UsageByFunction, first: &UsageByFunction) -> UsageByFunction {
    let difference = |(function, usage): (&String, &Usage)| {
        (function.clone(), *usage - first.get(function).copied().unwrap_or_default())
    };
    all.iter().map(difference).collect()
}

async fn run_failure_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let chat = AcceptedChat::open(driver, "failures", Some(&driver.receiver.rejecting_url())).await?;
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
    let list = async || get_as(driver, &chat.agent, "/admin/deliveries").await;
    list().await?;
    usage.insert(Scenario::DeliveryLog, driver.measure(list).await?);
    let show = async || get_as(driver, &chat.agent, "/admin/deliveries/1/2").await;
    show().await?;
    usage.insert(Scenario::DeliveryRequest, driver.measure(show).await?);
    let count_failed = async || get_as(driver, &chat.agent, "/admin/deliveries/counts?state=failed").await;
    count_failed().await?;
    usage.insert(Scenario::FailedCount, driver.measure(count_failed).await?);
    let count = async || get_as(driver, &chat.agent, "/admin/deliveries/counts").await;
    usage.insert(Scenario::DeliveryCounts, driver.measure(count).await?);
    Ok(())
}

async fn run_transfer_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let chat = AcceptedChat::open(driver, "transfers", Some(&driver.receiver.url())).await?;
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
    let (_, channel) = driver.create_channel(&admin, Some(&driver.receiver.url()), json!([])).await?;
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

/// Runs the scenarios of webhooks with a queue or an event bus of the customer. The service assumes the role for the
/// first chat of each.
async fn run_aws_target_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let (queue, bus) = ("https://sqs.eu-central-1.amazonaws.com/123456789012/chats", "event-bus/chats");
    let bus = format!("arn:aws:events:eu-central-1:123456789012:{bus}");
    for (scenario, target, url) in
        [(Scenario::AcceptWithQueue, "sqs", queue), (Scenario::AcceptWithEventBus, "eventbridge", &bus)]
    {
        let admin = driver.create_account(target).await?;
        let role_arn = format!("arn:aws:iam::123456789012:role/{target}");
        let settings: Value = driver.api.get("/admin/settings", &admin.token).await?;
        let policy = json!({"role_arn": role_arn, "external_id": text(&settings, "aws_external_id")?});
        driver.api.post::<Value>("/_local/customer-aws/roles", None, &policy).await?;
        let webhook = json!({"target": target, "url": url, "role_arn": role_arn});
        driver.post("/admin/settings/webhooks", &admin, webhook).await?;
        let second = accept_first_of_two_chats(driver, &admin).await?;
        usage.insert(scenario, driver.measure(async || driver.accept(&admin, second).await).await?);
    }
    Ok(())
}

async fn run_fetched_webhook_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let admin = driver.create_account("fetched").await?;
    let webhook = driver.post("/admin/settings/webhooks", &admin, json!({"target": "pull"})).await?;
    let url = text(&webhook, "pull_url")?;
    let feed = Feed { driver, path: url.strip_prefix(driver.api.base_url()).unwrap_or(&url).to_owned() };
    let second = accept_first_of_two_chats(driver, &admin).await?;
    feed.empty().await?;
    let accept = async || driver.accept(&admin, second).await;
    usage.insert(Scenario::AcceptWithFetchedWebhook, driver.measure(accept).await?);
    feed.measure([Scenario::FetchEvent, Scenario::AcknowledgeEvent], usage).await
}

/// Opens two chats, lets the agent accept one, and returns the number of the other.
async fn accept_first_of_two_chats(driver: &Driver<'_>, admin: &LoggedInAgent) -> Result<u64, Error> {
    let (_, channel) = driver.create_channel(admin, Some(&driver.receiver.url()), json!([])).await?;
    driver.send_visitor_message(&channel, "ada").await?;
    driver.accept(admin, 1).await?;
    driver.send_visitor_message(&channel, "new").await?;
    Ok(2)
}

async fn run_widget_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let admin = driver.create_account("widgets").await?;
    let widget = driver.create_widget(&admin).await?;
    let start = async |identify: bool| driver.call_widget(&widget, "session", json!({"identify": identify})).await;
    start(false).await?;
    usage.insert(Scenario::WidgetStart, driver.measure(async || start(false).await.map(|_| ())).await?);
    let session = start(true).await?;
    usage.insert(Scenario::NewWidgetVisitor, driver.measure(async || start(true).await.map(|_| ())).await?);
    let token = text(session.get("visitor").unwrap_or(&Value::Null), "token")?;
    let message = async |id: &str| {
        let message = json!({"type": "text", "text": "Hello"});
        driver.call_widget(&widget, "message", json!({"token": token, "message_id": id, "message": message})).await
    };
    message("1").await?;
    message("2").await?;
    usage.insert(Scenario::WidgetMessage, driver.measure(async || message("3").await.map(|_| ())).await?);
    driver.accept(&admin, 1).await?;
    let answer = async || driver.send_agent_message(&admin, 1).await;
    answer().await?;
    usage.insert(Scenario::WidgetAnswer, driver.measure(answer).await?);
    Ok(())
}

/// Runs a callback in an open chat of an account without webhooks: the visitor's request, the order to the gateway,
/// three reports from the gateway, and the check of the call's time limit.
async fn run_call_scenario(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let admin = driver.create_account("calls").await?;
    let widget = driver.create_widget(&admin).await?;
    driver.api.patch("/admin/agents/1", &admin.token, &json!({"phone": "+31611111111"})).await?;
    driver.api.put("/agent/presence", &admin.token, &json!({"status": "online"})).await?;
    driver.api.put("/admin/settings", &admin.token, &json!({"callback": {"enabled": true}})).await?;
    let telephony = json!({
        "provider": "http", "url": driver.receiver.url(), "signing_secret": SECRET, "number": "+31201234567",
        "ring_seconds": 1,
    });
    let telephony = driver.api.patch("/admin/telephony", &admin.token, &telephony).await?;
    let calls = text(&telephony, "incoming_url")?;
    let me: Value = driver.api.get("/agent/me", &admin.token).await?;
    let account = text(me.get("account").unwrap_or(&Value::Null), "account_id")?;
    let top_up = json!({"minutes": 60, "reference": "1"});
    let path = format!("/operator/accounts/{account}/call-balance");
    driver.api.post::<Value>(&path, Some(driver.operator_key), &top_up).await?;
    let session = driver.call_widget(&widget, "session", json!({"identify": true})).await?;
    let token = text(session.get("visitor").unwrap_or(&Value::Null), "token")?;
    let call_back = async |id: &str| {
        let request = json!({"token": token, "message_id": id, "phone": "+31622222222"});
        let started = driver.call_widget(&widget, "call", request).await?;
        let seq = started.get("seq").and_then(Value::as_u64).ok_or(Error::MissingField("seq"))?;
        driver.wait_until_only_delayed().await?;
        let path = format!("/agent/chats/1/messages?after={}&limit=1", seq - 1);
        let timeline: Value = driver.api.get(&path, &admin.token).await?;
        let call_id = text(timeline.pointer("/messages/0").unwrap_or(&Value::Null), "id")?;
        for status in ["agent_connected", "client_connected", "end"] {
            let report = json!({"call_id": call_id, "status": status, "duration": 5});
            driver.api.post_signed(&format!("{calls}/{call_id}"), SECRET, &report).await?;
        }
        Ok::<_, Error>(())
    };
    call_back("1").await?;
    let mut counted = driver.measure(async || call_back("2").await).await?;
    counted.retain(|function, _| function != "agent-list-messages");
    usage.insert(Scenario::Callback, counted);
    Ok(())
}

async fn run_bot_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let admin = driver.create_account("bots").await?;
    let (channel_id, channel) = driver.create_channel(&admin, Some(&driver.receiver.url()), json!([])).await?;
    let provider = json!({"name": "Bots & Co", "endpoint": driver.receiver.url()});
    let provider: Value = driver.api.post("/operator/providers", Some(driver.operator_key), &provider).await?;
    let provider = text(&provider, "provider_id")?;
    let bot = json!({
        "provider_id": provider, "token": "counted-by-the-cost-program", "name": "Robin", "channel_ids": [channel_id],
        "answer_within": BOT_ANSWER_LIMIT_SECONDS,
    });
    let created = driver.post("/admin/bots", &admin, bot).await?;
    let activity_path = format!("/admin/bots/{}/activity", text(&created, "bot_id")?);

    let text_message = json!({"type": "TEXT", "text": "Hello", "timestamp": 1_700_000_000});
    let answer = async |chat: u64| {
        let event = json!({"event": "BOT_MESSAGE", "id": "any", "chat_id": chat, "message": text_message});
        driver
            .api
            .post::<Value>(&format!("/bot/webhooks/{provider}/counted-by-the-cost-program"), None, &event)
            .await?;
        Ok(())
    };
    // While an agent is online, the process remembers for ten seconds that somebody is.
    driver.api.put("/agent/presence", &admin.token, &json!({"status": "online"})).await?;
    driver.send_visitor_message(&channel, "ada").await?;
    driver.wait_until_only_delayed().await?;
    answer(1).await?;
    // Returns a message's usage until the bot has received it. The bot's answer and the check for it are not included.
    let message = async |visitor: &str, chat: u64| {
        driver.start_measuring().await?;
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
    let activity = async || get_as(driver, &admin, &activity_path).await;
    activity().await?;
    usage.insert(Scenario::BotActivity, driver.measure(activity).await?);
    Ok(())
}

async fn run_push_scenarios(driver: &Driver<'_>, usage: &mut ScenarioUsage) -> Result<(), Error> {
    let chat = AcceptedChat::open(driver, "pushes", Some(&driver.receiver.url())).await?;
    let message = async || driver.send_visitor_message(&chat.channel, "ada").await;
    message().await?;
    usage.insert(Scenario::Push, driver.measure_push(message).await?);
    let mut socket = driver.open_socket(&chat.agent).await?;
    message().await?;
    driver.read_until_chat(&mut socket).await?;
    let pushed_message = async || {
        message().await?;
        driver.read_until_chat(&mut socket).await
    };
    usage.insert(Scenario::PushToAgent, driver.measure_push(pushed_message).await?);
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
    host.separate_round_trips(true);
    for function in host.scheduled_functions() {
        host.run_schedule(function).await?;
    }
    host.separate_round_trips(false);
    let mut usage = function_usage::usage_by_function(host.usage())?;
    usage.retain(|function, _| function_usage::is_scheduled(function));
    usage.values_mut().for_each(|usage| *usage = *usage * (1.0 / usage.invocations));
    Ok(usage)
}
