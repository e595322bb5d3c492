//! The paths that are counted, each played through the public API. Every path is taken once before it is counted, so
//! that the processes run and remember the channel.

use std::collections::BTreeMap;

use local::Host;
use serde_json::{Value, json};

use crate::counts::{self, Bill, Counts};
use crate::stage::{Error, Person, Stage, text};

/// Something that happens, in the order of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Path {
    /// A visitor writes in an open chat.
    VisitorMessage,
    /// The same with a new name.
    RenamedVisitor,
    /// A visitor writes for the first time.
    FirstMessage,
    /// An integrator asks whether somebody is there.
    Status,
    /// An agent takes a chat.
    Accept,
    /// An agent writes.
    AgentMessage,
    /// An agent types.
    Typing,
    /// An agent polls the open chats.
    List,
    /// An agent polls the newest two of them.
    ShortList,
    /// An agent polls a chat in which nothing was written.
    Poll,
    /// A try that fails and comes again.
    FailedTry,
    /// The delivery after it.
    LateDelivery,
    /// A try that fails for good.
    Rejection,
    /// An admin sends that again.
    Replay,
    /// An admin looks at two failed deliveries.
    Ledger,
    /// An agent hands a chat to another one.
    TransferToAgent,
    /// An agent hands a chat to a department.
    TransferToDepartment,
    /// An agent closes a chat.
    Close,
    /// An agent takes a chat and a webhook is told.
    AcceptTold,
    /// An agent corrects a visitor and a webhook is told.
    CorrectionTold,
    /// An agent closes a chat and a webhook is told.
    CloseTold,
    /// A visitor writes for the first time, and a bot is told.
    FirstToBot,
    /// A visitor writes to a bot.
    ToBot,
    /// The end of the time that a bot has for its answer, which it has given.
    AnswerDue,
    /// A bot answers.
    FromBot,
    /// A minute in which nothing happens.
    Idle,
}

/// Long enough for the answers of the bot, short enough to wait for the check.
const BOT_ANSWERS_WITHIN_SECONDS: u64 = 4;

/// What each path used, by function.
pub type Tally = BTreeMap<Path, Bill>;

impl Path {
    /// Its name in the table.
    pub fn label(self) -> &'static str {
        match self {
            Self::VisitorMessage => "visitor's message, open chat",
            Self::RenamedVisitor => "the same, with a new name, phone, ...",
            Self::FirstMessage => "visitor's first message (opens a chat)",
            Self::Status => "status",
            Self::Accept => "agent accepts a chat",
            Self::AgentMessage => "agent's message",
            Self::Typing => "agent's typing notice",
            Self::List => "agent's list of ten open chats",
            Self::ShortList => "the same, limited to two",
            Self::Poll => "agent's poll for new messages of a chat",
            Self::FailedTry => "each try that fails",
            Self::LateDelivery => "the delivery that succeeds after it",
            Self::Rejection => "the try that fails for good (a third one: and a write)",
            Self::Replay => "sending it again: the request",
            Self::Ledger => "the ledger, with two failed deliveries",
            Self::TransferToAgent => "agent transfers a chat to an agent",
            Self::TransferToDepartment => "the same to a department",
            Self::Close => "agent closes a chat",
            Self::AcceptTold => "agent accepts a chat, one webhook",
            Self::CorrectionTold => "agent corrects a visitor, one webhook",
            Self::CloseTold => "agent closes a chat, one webhook",
            Self::FirstToBot => "visitor's first message, to a bot",
            Self::ToBot => "visitor's message to a bot",
            Self::AnswerDue => "the check that the bot has answered it",
            Self::FromBot => "bot's message (and a count, each tenth time)",
            Self::Idle => "a minute in which nothing happens",
        }
    }
}

/// Plays and counts every path. Nothing else may happen on the host meanwhile, nor may this have been played on it.
///
/// # Errors
/// The service does not do what the paths expect.
pub async fn count(host: &Host, operator_key: &str) -> Result<Tally, Error> {
    let stage = Stage::open(host, operator_key).await?;
    let mut tally = Tally::new();
    visitors(&stage, &mut tally).await?;
    departments(&stage, &mut tally).await?;
    agents(&stage, &mut tally).await?;
    retries(&stage, &mut tally).await?;
    failures(&stage, &mut tally).await?;
    transfers(&stage, &mut tally).await?;
    webhooks(&stage, &mut tally).await?;
    bots(&stage, &mut tally).await?;
    tally.insert(Path::Idle, idle(host).await?);
    Ok(tally)
}

/// An account with a channel and one chat that its admin has accepted.
struct Talk {
    agent: Person,
    channel: String,
}

impl Talk {
    async fn open(stage: &Stage<'_>, account: &str, url: &str) -> Result<Self, Error> {
        let agent = stage.account(account).await?;
        let (_, channel) = stage.channel(&agent, url, json!([])).await?;
        stage.say(&channel, "ada").await?;
        stage.accept(&agent, 1).await?;
        Ok(Self { agent, channel })
    }
}

async fn visitors(stage: &Stage<'_>, tally: &mut Tally) -> Result<(), Error> {
    let talk = Talk::open(stage, "visitors", &stage.receiver.url()).await?;
    let say = async || stage.say(&talk.channel, "ada").await;
    say().await?;
    tally.insert(Path::VisitorMessage, stage.cost(say).await?);
    let rename = async |name: &str| stage.say_as(&talk.channel, json!({"id": "ada", "name": name})).await;
    rename("Ada").await?;
    tally.insert(Path::RenamedVisitor, stage.cost(async || rename("Augusta").await).await?);
    Ok(())
}

/// What a channel without departments costs the same.
async fn departments(stage: &Stage<'_>, tally: &mut Tally) -> Result<(), Error> {
    let admin = stage.account("departments").await?;
    stage.post("/admin/departments", &admin, json!({"name": "Sales", "agent_ids": [admin.id]})).await?;
    let (_, channel) = stage.channel(&admin, &stage.receiver.url(), json!([1])).await?;
    stage.say(&channel, "ada").await?;
    stage.accept(&admin, 1).await?;
    let ask = async || {
        stage.api.get::<Value>(&format!("{channel}/status"), "").await?;
        Ok(())
    };
    ask().await?;
    tally.insert(Path::Status, stage.cost(ask).await?);
    tally.insert(Path::FirstMessage, stage.cost(async || stage.say(&channel, "new").await).await?);
    tally.insert(Path::Accept, stage.cost(async || stage.accept(&admin, 2).await).await?);
    let close = async |chat| stage.act(&admin, chat, "close", json!({})).await;
    close(1).await?;
    tally.insert(Path::Close, stage.cost(async || close(2).await).await?);
    Ok(())
}

async fn agents(stage: &Stage<'_>, tally: &mut Tally) -> Result<(), Error> {
    let talk = Talk::open(stage, "agents", &stage.receiver.url()).await?;
    let write = async || stage.write(&talk.agent, 1).await;
    write().await?;
    tally.insert(Path::AgentMessage, stage.cost(write).await?);
    let typing = async || stage.act(&talk.agent, 1, "typing", json!({})).await;
    typing().await?;
    tally.insert(Path::Typing, stage.cost(typing).await?);
    let ann = stage.agent(&talk.agent, "ann@agents.example").await?;
    for n in 2..=10 {
        stage.say(&talk.channel, &format!("visitor {n}")).await?;
    }
    let list = async |limit: u32| look(stage, &ann, &format!("/agent/chats?limit={limit}")).await;
    list(100).await?;
    tally.insert(Path::List, stage.cost(async || list(100).await).await?);
    tally.insert(Path::ShortList, stage.cost(async || list(2).await).await?);
    let poll = async || look(stage, &ann, "/agent/chats/1/messages?after=1000").await;
    poll().await?;
    tally.insert(Path::Poll, stage.cost(poll).await?);
    Ok(())
}

async fn look(stage: &Stage<'_>, agent: &Person, path: &str) -> Result<(), Error> {
    stage.api.get::<Value>(path, &agent.token).await?;
    Ok(())
}

/// In a chat of its own: the second try comes three seconds later, and a process remembers a channel for ten.
async fn retries(stage: &Stage<'_>, tally: &mut Tally) -> Result<(), Error> {
    let talk = Talk::open(stage, "retries", &stage.receiver.url()).await?;
    let write = async || stage.write(&talk.agent, 1).await;
    write().await?;
    stage.start_counting().await?;
    stage.receiver.fail_once();
    write().await?;
    stage.quiet().await?;
    let failed = deliveries(stage.bill()?);
    stage.stable_prefix().await?;
    let both = deliveries(stage.bill()?);
    tally.insert(Path::LateDelivery, rest(&both, &failed));
    tally.insert(Path::FailedTry, failed);
    Ok(())
}

/// Without what the request used.
fn deliveries(mut bill: Bill) -> Bill {
    bill.retain(|_, counts| counts.deliveries > 0.0);
    bill
}

/// What was used after `first`.
fn rest(both: &Bill, first: &Bill) -> Bill {
    let rest = |(function, counts): (&String, &Counts)| {
        (function.clone(), *counts - first.get(function).copied().unwrap_or_default())
    };
    both.iter().map(rest).collect()
}

async fn failures(stage: &Stage<'_>, tally: &mut Tally) -> Result<(), Error> {
    let talk = Talk::open(stage, "failures", &stage.receiver.rejecting_url()).await?;
    let write = async || stage.write(&talk.agent, 1).await;
    write().await?;
    tally.insert(Path::Rejection, deliveries(stage.cost(write).await?));
    let again = json!({"chat_id": 1, "seq": 2});
    let replay = async || {
        stage.post("/admin/deliveries/replay", &talk.agent, again.clone()).await?;
        Ok(())
    };
    replay().await?;
    let mut bill = stage.cost(replay).await?;
    bill.retain(|_, counts| counts.deliveries == 0.0);
    tally.insert(Path::Replay, bill);
    let list = async || {
        stage.api.get::<Value>("/admin/deliveries", &talk.agent.token).await?;
        Ok(())
    };
    tally.insert(Path::Ledger, stage.cost(list).await?);
    Ok(())
}

async fn transfers(stage: &Stage<'_>, tally: &mut Tally) -> Result<(), Error> {
    let talk = Talk::open(stage, "transfers", &stage.receiver.url()).await?;
    let admin = &talk.agent;
    let ann = stage.agent(admin, "ann@transfers.example").await?;
    let ben = stage.agent(admin, "ben@transfers.example").await?;
    stage.post("/admin/departments", admin, json!({"name": "Sales", "agent_ids": [ben.id]})).await?;
    for agent in [&ann, &ben] {
        stage.api.put("/agent/presence", &agent.token, &json!({"status": "online"})).await?;
    }
    let transfer = async |to: Value| stage.act(admin, 1, "transfer", to).await;
    transfer(json!({"agent_id": ann.id})).await?;
    let to_ben = async || transfer(json!({"agent_id": ben.id})).await;
    tally.insert(Path::TransferToAgent, stage.cost(to_ben).await?);
    let to_sales = async || transfer(json!({"department_id": 1})).await;
    tally.insert(Path::TransferToDepartment, stage.cost(to_sales).await?);
    Ok(())
}

async fn webhooks(stage: &Stage<'_>, tally: &mut Tally) -> Result<(), Error> {
    let admin = stage.account("webhooks").await?;
    let (_, channel) = stage.channel(&admin, &stage.receiver.url(), json!([])).await?;
    stage.post("/admin/settings/webhooks", &admin, json!({"url": stage.receiver.url()})).await?;
    stage.say(&channel, "ada").await?;
    stage.accept(&admin, 1).await?;
    stage.say(&channel, "new").await?;
    tally.insert(Path::AcceptTold, stage.cost(async || stage.accept(&admin, 2).await).await?);
    let correct = async |name: &str| {
        stage.api.patch("/agent/visitors/1", &admin.token, &json!({"name": name})).await?;
        Ok(())
    };
    correct("Ada").await?;
    tally.insert(Path::CorrectionTold, stage.cost(async || correct("Augusta").await).await?);
    let close = async |chat| stage.act(&admin, chat, "close", json!({})).await;
    close(1).await?;
    tally.insert(Path::CloseTold, stage.cost(async || close(2).await).await?);
    Ok(())
}

async fn bots(stage: &Stage<'_>, tally: &mut Tally) -> Result<(), Error> {
    let admin = stage.account("bots").await?;
    let (channel_id, channel) = stage.channel(&admin, &stage.receiver.url(), json!([])).await?;
    let provider = json!({"name": "Bots & Co", "endpoint": stage.receiver.url()});
    let provider: Value = stage.api.post("/operator/providers", Some(stage.operator_key), &provider).await?;
    let provider = text(&provider, "provider_id")?;
    let bot = json!({
        "provider_id": provider, "token": "counted", "name": "Robin", "channel_ids": [channel_id],
        "answer_within": BOT_ANSWERS_WITHIN_SECONDS,
    });
    stage.post("/admin/bots", &admin, bot).await?;

    let message = json!({"type": "TEXT", "text": "Hello", "timestamp": 1_700_000_000});
    let answer = async |chat: u64| {
        let event = json!({"event": "BOT_MESSAGE", "id": "any", "chat_id": chat, "message": message});
        stage.api.post::<Value>(&format!("/bot/webhooks/{provider}/counted"), None, &event).await?;
        Ok(())
    };
    stage.say(&channel, "ada").await?;
    stage.quiet().await?;
    answer(1).await?;
    // What a message costs until the bot has it, without what its answer costs, and without the check afterwards.
    let asked = async |visitor: &str, chat: u64| {
        stage.start_counting().await?;
        stage.say(&channel, visitor).await?;
        stage.quiet().await?;
        let bill = stage.bill()?;
        answer(chat).await?;
        stage.quiet().await?;
        Ok::<_, Error>(bill)
    };
    tally.insert(Path::ToBot, asked("ada", 1).await?);
    let answered = stage.bill()?;
    stage.stable_prefix().await?;
    tally.insert(Path::AnswerDue, deliveries_to("deliver-bot", rest(&stage.bill()?, &answered)));
    tally.insert(Path::FirstToBot, asked("new", 2).await?);
    // Waiting for the check of the last message outlived the caches of the functions; this fills them again.
    stage.stable_prefix().await?;
    answer(1).await?;
    tally.insert(Path::FromBot, stage.cost(async || answer(1).await).await?);
    Ok(())
}

fn deliveries_to(function: &str, mut bill: Bill) -> Bill {
    bill.retain(|name, _| name == function);
    bill
}

/// One run of each clock; the clocks themselves may come in between.
async fn idle(host: &Host) -> Result<Bill, Error> {
    for clock in host.scheduled() {
        host.run_schedule(clock).await?;
    }
    host.reset_usage();
    for clock in host.scheduled() {
        host.run_schedule(clock).await?;
    }
    let mut bill = counts::bill(host.usage())?;
    bill.retain(|function, _| counts::is_scheduled(function));
    bill.values_mut().for_each(|counts| *counts = *counts * (1.0 / counts.invocations));
    Ok(bill)
}
