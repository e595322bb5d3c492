//! Compares the store with a model of docs/design.md (Chat ownership): random commands, one at a time and concurrently,
//! must have the same results and leave the chats in the same states as in the model. The model shares no code with
//! `domain/chat_state.rs`.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{RngSeed, TestRunner};

use crate::chats::assignment::assign_chat::assign_chat;
use crate::chats::bot::close_chat::{BotClosing, close_chat_by_bot};
use crate::chats::bot::hand_over_chat::{AgentInvitation, HandoverResult, invite_agent};
use crate::chats::bot::receive_bot_message::{BotMessage, receive_bot_message};
use crate::chats::bot::return_chat::{give_chat_to_bot, return_unaccepted_chat};
use crate::chats::notifications::NotificationContext;
use crate::domain::chats::chat_assignment::SlotClaim;
use crate::domain::deliveries::webhook::Webhook;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::named::Named;
use crate::store::tests::*;

const AGENTS: [u64; 4] = [1, 2, 3, 4];
const ADMIN: u64 = 4;
/// The number of sequences of steps that the usual test run tries.
const QUICK_CASES: u32 = 24;

/// An action on the visitor's newest chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    VisitorWrites,
    BotWrites(usize),
    BotInvites(usize, Invitee),
    /// The bot that has the chat fails.
    BotFails,
    BotCloses(usize),
    /// The time limit for accepting the chat ends, if there is one.
    AgentWaitEnds,
    GiveToBot {
        by: u64,
        bot: usize,
    },
    Accept(u64),
    /// The chat is assigned to the agent automatically.
    Assign(u64),
    AgentWrites(u64),
    TransferToAgent {
        by: u64,
        to: u64,
    },
    TransferToDepartment {
        by: u64,
    },
    Close(u64),
    DeleteAgent(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Invitee {
    Nobody,
    Audience,
    Department,
    Agent(u64),
}

/// The commands of `Concurrently` are sent at the same time. `Idle` is a separate step, because whether a chat is idle
/// depends on when the other commands were sent.
#[derive(Clone, Debug)]
enum Step {
    Concurrently(Vec<Command>),
    Idle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// One of the two bots. Chats begin with the first one.
    Bot(usize),
    /// Waiting for an agent.
    Nobody(Wait),
    Agent(u64),
    /// The field is the agent who had the chat when it was closed.
    Closed(Option<u64>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wait {
    /// Whether the chat is offered to a department.
    is_offered: bool,
    /// The bot to which the chat returns unless an agent accepts it in time.
    return_to: Option<usize>,
}

const UNLIMITED: Wait = Wait { is_offered: false, return_to: None };

#[derive(Clone, Debug, PartialEq, Eq)]
struct Model {
    has_bot: bool,
    /// The owner of each chat of the visitor, in the order in which the chats were opened.
    chats: Vec<Owner>,
    /// The webhook events of each chat: one for each arrow of the table and for each message.
    events: Vec<Vec<&'static str>>,
}

impl Model {
    /// Applies a command about the chat at this position, if there is one. Returns whether the command succeeds.
    fn apply(&mut self, command: Command, chat: Option<usize>) -> bool {
        if command == Command::VisitorWrites {
            if self.chats.last().is_none_or(|owner| matches!(owner, Owner::Closed(_))) {
                self.chats.push(if self.has_bot { Owner::Bot(0) } else { Owner::Nobody(UNLIMITED) });
                self.events.push(if self.has_bot { vec!["chat_opened"] } else { vec!["chat_opened", "chat_waiting"] });
            }
            self.events.last_mut().expect("each chat has events").push("message");
            return true;
        }
        let Some(before) = chat.and_then(|chat| self.chats.get_mut(chat)) else {
            return matches!(command, Command::DeleteAgent(_));
        };
        let after = match (command, *before) {
            (Command::BotWrites(bot), Owner::Bot(owner)) if bot == owner => Some(Owner::Bot(owner)),
            (Command::BotInvites(bot, invitee), Owner::Bot(owner)) if bot == owner => Some(match invitee {
                Invitee::Nobody => Owner::Bot(owner),
                Invitee::Audience => Owner::Nobody(Wait { is_offered: false, return_to: Some(owner) }),
                Invitee::Department => Owner::Nobody(Wait { is_offered: true, return_to: Some(owner) }),
                Invitee::Agent(agent) => Owner::Agent(agent),
            }),
            (Command::BotFails, Owner::Bot(_)) => Some(Owner::Nobody(UNLIMITED)),
            (Command::BotCloses(bot), Owner::Bot(owner)) if bot == owner => Some(Owner::Closed(None)),
            (Command::AgentWaitEnds, Owner::Nobody(Wait { return_to: Some(bot), .. })) => Some(Owner::Bot(bot)),
            (Command::GiveToBot { bot, .. }, Owner::Bot(owner)) => (bot != owner).then_some(Owner::Bot(bot)),
            (Command::GiveToBot { bot, .. }, Owner::Nobody(_)) => Some(Owner::Bot(bot)),
            (Command::GiveToBot { by, bot }, Owner::Agent(owner)) if by == owner || by == ADMIN => {
                Some(Owner::Bot(bot))
            }
            (Command::Accept(agent), Owner::Bot(_) | Owner::Nobody(_)) => Some(Owner::Agent(agent)),
            (Command::Assign(agent), Owner::Nobody(_)) => Some(Owner::Agent(agent)),
            (Command::Accept(agent) | Command::AgentWrites(agent), Owner::Agent(owner)) if agent == owner => {
                Some(Owner::Agent(owner))
            }
            (Command::TransferToAgent { by, to }, Owner::Agent(owner)) if by == owner || by == ADMIN => {
                (to != owner).then_some(Owner::Agent(to))
            }
            (Command::TransferToDepartment { by }, Owner::Agent(owner)) if by == owner || by == ADMIN => {
                Some(Owner::Nobody(Wait { is_offered: true, return_to: None }))
            }
            (Command::Close(_), Owner::Bot(_) | Owner::Nobody(_)) => Some(Owner::Closed(None)),
            (Command::Close(agent), Owner::Agent(owner)) if agent == owner => Some(Owner::Closed(Some(owner))),
            (Command::Close(agent), Owner::Closed(last)) if last.is_none_or(|last| last == agent) => {
                Some(Owner::Closed(last))
            }
            (Command::DeleteAgent(agent), Owner::Agent(owner)) if agent == owner => Some(Owner::Nobody(UNLIMITED)),
            (Command::DeleteAgent(_), owner) => Some(owner),
            _ => None,
        };
        if let Some(after) = after {
            let events = chat.and_then(|chat| self.events.get_mut(chat)).expect("each chat has events");
            events.extend(events_of(command, *before, after));
            *before = after;
        }
        after.is_some()
    }

    fn close_idle(&mut self) {
        for (owner, events) in self.chats.iter_mut().zip(&mut self.events) {
            if !matches!(owner, Owner::Closed(_)) {
                events.push("chat_ended");
            }
            *owner = match *owner {
                Owner::Agent(agent) => Owner::Closed(Some(agent)),
                Owner::Closed(last) => Owner::Closed(last),
                Owner::Bot(_) | Owner::Nobody(_) => Owner::Closed(None),
            };
        }
    }

    /// Finds an order in which the commands have the given results and lead to the `actual` owners, and returns the
    /// model after these commands. Returns `None` if there is no such order.
    fn after_concurrent(&self, commands: &[(Command, Outcome)], chat: Option<usize>, actual: &Actual) -> Option<Self> {
        if commands.is_empty() {
            return (self.chats == actual.owners && self.events == actual.events).then(|| self.clone());
        }
        (0..commands.len()).find_map(|first| {
            let mut others = commands.to_vec();
            let (command, outcome) = others.remove(first);
            let mut after = self.clone();
            match outcome {
                // The command has changed nothing, because the offer had changed since the request read the chat.
                Outcome::OfferChanged => {}
                Outcome::Success | Outcome::Refusal => {
                    if after.apply(command, chat) != (outcome == Outcome::Success) {
                        return None;
                    }
                }
            }
            after.after_concurrent(&others, chat, actual)
        })
    }
}

/// Returns the events of a command that has given the chat from one owner to another.
fn events_of(command: Command, before: Owner, after: Owner) -> &'static [&'static str] {
    match (command, before) {
        (Command::BotInvites(_, Invitee::Audience | Invitee::Department) | Command::BotFails, _) => {
            &["bot_handed_over", "chat_waiting"]
        }
        (Command::BotInvites(_, Invitee::Agent(_)), _) => &["bot_handed_over", "chat_joined"],
        (Command::AgentWaitEnds | Command::GiveToBot { .. }, _) => &["chat_transferred"],
        (Command::Accept(_), Owner::Bot(_) | Owner::Nobody(_)) | (Command::Assign(_), _) => &["chat_joined"],
        (Command::TransferToAgent { .. }, _) => &["chat_transferred", "chat_joined"],
        (Command::TransferToDepartment { .. }, _) => &["chat_transferred", "chat_waiting"],
        (Command::DeleteAgent(_), Owner::Agent(_)) if before != after => &["chat_waiting"],
        (Command::BotWrites(_) | Command::AgentWrites(_), _) => &["message"],
        // The bot writes when it closes the chat.
        (Command::BotCloses(_), _) => &["message", "chat_ended"],
        (Command::Close(_), Owner::Bot(_) | Owner::Nobody(_) | Owner::Agent(_)) => &["chat_ended"],
        _ => &[],
    }
}

/// What the store contains: the owner and the events of each chat.
#[derive(Debug)]
struct Actual {
    owners: Vec<Owner>,
    events: Vec<Vec<&'static str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Success,
    Refusal,
    OfferChanged,
}

fn outcome_of<T>(result: Result<T, Error>) -> Outcome {
    match result {
        Ok(_) => Outcome::Success,
        Err(Error::Conflict("the chat has just been offered to others")) => Outcome::OfferChanged,
        Err(Error::Conflict(_) | Error::Forbidden(_) | Error::NotFound) => Outcome::Refusal,
        Err(error) => panic!("{error:?}"),
    }
}

fn one_of_two_bots(number: usize) -> Bot {
    match number {
        0 => bot(&[]),
        _ => Bot { bot_id: "other".into(), ..bot(&[]) },
    }
}

/// The store under test, with the texts of the messages that it has acknowledged.
struct Subject {
    stores: Stores,
    has_bot: bool,
    now: Timestamp,
    acknowledged: Vec<String>,
}

impl Subject {
    async fn new(has_bot: bool) -> Self {
        let mut settings = settings_with_idle_close(10);
        let events = WebhookEvent::ALL.iter().copied().filter(|event| event.must_be_named()).collect();
        settings.webhooks.push(Webhook { events, ..webhook("events") });
        let stores = Stores::with_settings(settings).await;
        Self { stores, has_bot, now: NOW, acknowledged: Vec::new() }
    }

    async fn run(&self, command: Command, chat_id: u64, text: &str) -> Outcome {
        let (stores, chats, now) = (&self.stores, &self.stores.chats, self.now);
        match command {
            Command::VisitorWrites => outcome_of(self.visitor_writes(text).await),
            Command::BotWrites(bot) => {
                let (bot, content) = (&one_of_two_bots(bot), &Content::text(text));
                let message = BotMessage {
                    bot,
                    chat_id,
                    content,
                    reply_to_seq: None,
                    is_displayable: true,
                    webhooks: self.webhooks(),
                    now,
                };
                outcome_of(receive_bot_message(chats, &message, None).await)
            }
            Command::BotInvites(bot, invitee) => self.bot_invites(chat_id, bot, invitee).await,
            Command::BotCloses(bot) => {
                let closing = BotClosing { bot: &one_of_two_bots(bot), chat_id, text: Some(text), key: None };
                outcome_of(close_chat_by_bot(chats, &closing, self.webhooks(), now).await)
            }
            Command::AgentWaitEnds => {
                match return_unaccepted_chat(chats, "acc", chat_id, self.context()).await.unwrap() {
                    Some(_) => Outcome::Success,
                    None => Outcome::Refusal,
                }
            }
            Command::GiveToBot { by, bot } => {
                let Some(chat) = chats.chat("acc", chat_id).await.unwrap() else { return Outcome::Refusal };
                let agent = agent_snapshot(by);
                let by = TransferRequester { agent: &agent, is_admin: by == ADMIN };
                outcome_of(give_chat_to_bot(chats, chat, by, &one_of_two_bots(bot), self.context()).await)
            }
            Command::BotFails => match hand_over_chat(chats, "acc", chat_id, now, self.context()).await.unwrap() {
                HandoverResult::HandedOver(_) => Outcome::Success,
                HandoverResult::BotResponded | HandoverResult::NotWithBot => Outcome::Refusal,
            },
            Command::Accept(agent) => {
                outcome_of(stores.accept(chat_id, &agent_snapshot(agent), self.webhooks(), now).await)
            }
            Command::Assign(agent) => {
                let Some(chat) = chats.chat("acc", chat_id).await.unwrap() else { return Outcome::Refusal };
                let to = (&agent_snapshot(agent), SlotClaim::within(u32::MAX));
                outcome_of(assign_chat(chats, chat, to, self.webhooks(), now).await)
            }
            Command::AgentWrites(agent) => {
                let (agent, content) = (agent_snapshot(agent), Content::text(text));
                let message = AgentMessage {
                    account_id: "acc",
                    chat_id,
                    agent: &agent,
                    content,
                    draft: None,
                    webhooks: self.webhooks(),
                    key: None,
                    now,
                };
                outcome_of(send_agent_message(chats, &message).await)
            }
            Command::TransferToAgent { by, to } => {
                self.transfer(chat_id, by, TransferTarget::Agent(agent_snapshot(to))).await
            }
            Command::TransferToDepartment { by } => {
                self.transfer(chat_id, by, TransferTarget::Department(sales())).await
            }
            Command::Close(agent) => {
                outcome_of(stores.close(chat_id, &agent_snapshot(agent), self.webhooks(), now).await)
            }
            Command::DeleteAgent(agent) => {
                outcome_of(release_chats_of_agent(chats, "acc", agent, self.webhooks(), now).await)
            }
        }
    }

    fn webhooks(&self) -> &[Webhook] {
        &self.stores.settings.webhooks
    }

    fn context(&self) -> NotificationContext<'_> {
        NotificationContext { webhooks: self.webhooks(), agent_id: None, now: self.now }
    }

    /// The bot's time limit for accepting the chat is so short that it is over at once.
    async fn bot_invites(&self, chat_id: u64, bot: usize, invitee: Invitee) -> Outcome {
        let bot = bot_with_agent_wait(Duration::ZERO, one_of_two_bots(bot));
        let details = HandoverDetails { summary: Some("for the agents".into()), ..HandoverDetails::default() };
        let agent = agent_snapshot(if let Invitee::Agent(agent) = invitee { agent } else { 0 });
        let invited = match invitee {
            Invitee::Nobody => Invited::Nobody,
            Invitee::Audience => Invited::Audience,
            Invitee::Department => Invited::Department(sales().department_id),
            Invitee::Agent(_) => Invited::Agent(&agent),
        };
        let invitation = AgentInvitation {
            bot: &bot,
            chat_id,
            text: None,
            details: &details,
            invited,
            opens_at: None,
            department: None,
            claim: None,
            reply_to_seq: None,
            key: None,
        };
        outcome_of(invite_agent(&self.stores.chats, &invitation, self.webhooks(), self.now).await)
    }

    async fn visitor_writes(&self, text: &str) -> Result<(), Error> {
        let channel = Channel { bot_id: self.has_bot.then(|| "B".into()), ..channel() };
        let (content, profile) = (Content::text(text), VisitorProfile::default());
        let incoming = visitor_text(&self.stores, &channel, &content, &profile, self.now);
        receive_visitor_text(&self.stores.chats, &incoming).await.map(drop)
    }

    async fn transfer(&self, chat_id: u64, by: u64, to: TransferTarget) -> Outcome {
        let Some(chat) = self.stores.chats.chat("acc", chat_id).await.unwrap() else { return Outcome::Refusal };
        let agent = agent_snapshot(by);
        let by = TransferRequester { agent: &agent, is_admin: by == ADMIN };
        outcome_of(transfer_chat(&self.stores.chats, chat, by, transfer_to(&to), self.context()).await)
    }

    /// Returns the numbers of all chats. A number may be missing, because it is skipped if two concurrent messages of
    /// the visitor try to open a chat.
    async fn chat_ids(&self) -> Vec<u64> {
        let heads = self.stores.chat_items().await.into_iter().filter(|item| item["sk"] == s("HEAD"));
        let number = |item: Item| item["chat_id"].as_n().unwrap().parse().unwrap();
        let mut chat_ids: Vec<u64> = heads.map(number).collect();
        chat_ids.sort_unstable();
        chat_ids
    }

    async fn actual(&self) -> Actual {
        let mut events = Vec::new();
        for chat_id in self.chat_ids().await {
            let timeline = self.stores.chats.whole_timeline("acc", chat_id, 10_000).await.unwrap();
            let dispatches = timeline.iter().filter_map(|entry| entry.webhook_dispatch.as_ref());
            let named = dispatches.filter(|dispatch| dispatch.webhook_id == "events");
            events.push(named.map(|dispatch| dispatch.event.name()).collect());
        }
        Actual { owners: self.owners().await, events }
    }

    async fn owners(&self) -> Vec<Owner> {
        let mut owners = Vec::new();
        for chat_id in self.chat_ids().await {
            let chat = self.stores.chat_header(chat_id).await;
            let bot = usize::from(chat.bot_id == Some(one_of_two_bots(1).bot_id));
            let return_to = chat.is_agent_wait_over(self.now).then_some(bot);
            owners.push(match chat.state {
                ChatState::Bot => Owner::Bot(bot),
                ChatState::Waiting => Owner::Nobody(Wait { is_offered: false, return_to }),
                ChatState::Offered(_) => Owner::Nobody(Wait { is_offered: true, return_to }),
                ChatState::Active(agent) => Owner::Agent(agent.agent_id),
                ChatState::Closed(agent) => Owner::Closed(agent.map(|agent| agent.agent_id)),
            });
        }
        owners
    }

    async fn stored_texts(&self) -> Vec<String> {
        let mut texts = Vec::new();
        for item in self.stores.chat_items().await {
            if let Some(AttributeValue::S(text)) =
                item.get("content").and_then(|content| content.as_m().ok()?.get("text"))
            {
                texts.push(text.clone());
            }
        }
        texts
    }
}

/// Runs the steps in the store and in the model, and compares them after each step.
async fn compare(has_bot: bool, steps: &[Step]) {
    let mut subject = Subject::new(has_bot).await;
    let mut model = Model { has_bot, chats: Vec::new(), events: Vec::new() };
    for (number, step) in steps.iter().enumerate() {
        subject.now = subject.now.plus(Duration::from_secs(1));
        match step {
            Step::Idle => {
                subject.now = subject.now.plus(Duration::from_secs(11 * MINUTE));
                subject.stores.run_idle_checks(subject.now).await;
                model.close_idle();
                let actual = subject.actual().await;
                assert_eq!((&actual.owners, &actual.events), (&model.chats, &model.events), "{steps:?}");
            }
            Step::Concurrently(commands) => {
                // If there is no chat yet, the requests name a chat number that does not exist.
                let chat_id = subject.chat_ids().await.last().copied().unwrap_or_default();
                let newest = model.chats.len().checked_sub(1);
                let text = |index: usize| format!("text {number}.{index}");
                let runs = commands.iter().enumerate();
                let runs = runs.map(|(index, command)| {
                    let (subject, text) = (&subject, text(index));
                    async move { subject.run(*command, chat_id, &text).await }
                });
                let outcomes = join_all(runs).await;
                let results: Vec<_> = commands.iter().copied().zip(outcomes).collect();
                let actual = subject.actual().await;
                let explained = model.after_concurrent(&results, newest, &actual);
                model = explained.unwrap_or_else(|| panic!("{model:?}, {results:?} led to {actual:?}; all: {steps:?}"));
                let is_message = |command: Command| {
                    matches!(
                        command,
                        Command::VisitorWrites
                            | Command::BotWrites(_)
                            | Command::BotCloses(_)
                            | Command::AgentWrites(_)
                    )
                };
                for (index, (command, outcome)) in results.into_iter().enumerate() {
                    if is_message(command) && outcome == Outcome::Success {
                        subject.acknowledged.push(text(index));
                    }
                }
            }
        }
    }
    let stored = subject.stored_texts().await;
    for text in &subject.acknowledged {
        let copies = stored.iter().filter(|stored| *stored == text).count();
        assert_eq!(copies, 1, "{text}: {steps:?}");
    }
}

fn any_agent() -> impl Strategy<Value = u64> {
    select(AGENTS.to_vec())
}

fn any_invitee() -> impl Strategy<Value = Invitee> {
    prop_oneof![
        Just(Invitee::Nobody),
        Just(Invitee::Audience),
        Just(Invitee::Department),
        any_agent().prop_map(Invitee::Agent),
    ]
}

fn any_command() -> impl Strategy<Value = Command> {
    prop_oneof![
        3 => Just(Command::VisitorWrites),
        2 => (0..2_usize).prop_map(Command::BotWrites),
        3 => (0..2_usize, any_invitee()).prop_map(|(bot, invitee)| Command::BotInvites(bot, invitee)),
        1 => Just(Command::BotFails),
        1 => (0..2_usize).prop_map(Command::BotCloses),
        1 => Just(Command::AgentWaitEnds),
        3 => (any_agent(), 0..2_usize).prop_map(|(by, bot)| Command::GiveToBot { by, bot }),
        4 => any_agent().prop_map(Command::Accept),
        2 => any_agent().prop_map(Command::Assign),
        3 => any_agent().prop_map(Command::AgentWrites),
        3 => (any_agent(), any_agent()).prop_map(|(by, to)| Command::TransferToAgent { by, to }),
        1 => any_agent().prop_map(|by| Command::TransferToDepartment { by }),
        2 => any_agent().prop_map(Command::Close),
        1 => any_agent().prop_map(Command::DeleteAgent),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => proptest::collection::vec(any_command(), 1..=3).prop_map(Step::Concurrently),
        1 => Just(Step::Idle),
    ]
}

fn compare_random_steps(config: ProptestConfig) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let steps = (any::<bool>(), proptest::collection::vec(any_step(), 1..25));
    TestRunner::new(config)
        .run(&steps, |(has_bot, steps)| {
            runtime.block_on(compare(has_bot, &steps));
            Ok(())
        })
        .unwrap();
}

#[test]
fn random_commands_have_the_results_of_the_model() {
    // The steps are the same in each run, so that a new failure is caused by the change that is being tested.
    compare_random_steps(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::with_cases(QUICK_CASES) });
}

/// The environment variable `PROPTEST_CASES` sets the number of sequences of steps.
#[test]
#[ignore = "takes minutes; docs/faults.md explains how to run it"]
fn many_random_commands_have_the_results_of_the_model() {
    compare_random_steps(ProptestConfig::default());
}
