//! Automatic assignment: gives the waiting chats of an account to its agents, in the order of the queue, as long as an
//! eligible agent who is online has a free slot (docs/design.md, Assignment).
//!
//! The slots and the chats are read once in a round. Each write is conditional on what was read, so two processes that
//! assign chats of the same account never decide from the same state: the slower one starts another round.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures_util::future::try_join4;

use crate::chats::assignment::assign_chat::assign_chat;
use crate::chats::assignment::count_chat::{count_all_chats, count_chat};
use crate::chats::assignment::offer_chat::{end_offer, offer_chat};
use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::accounts::agent::{Agent, AgentSnapshot};
use crate::domain::accounts::agent_presence::Presence;
use crate::domain::accounts::assignment::{Assignment, AssignmentRule};
use crate::domain::accounts::department::Roster;
use crate::domain::channels::channel::Channel;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_assignment::{AgentOffer, AgentSlots, Candidate, SlotClaim, choose_agent, sort_queue};
use crate::domain::chats::chat_visibility::Viewer;
use crate::domain::timestamp::Timestamp;
use crate::error::{Error, ErrorContext};
use crate::runtime::clock;
use crate::runtime::outbox::Outbox;
use crate::store::chats::Chats;
use crate::store::connections::Connections;
use crate::store::directory::Directory;
use crate::wire::queue_task::{AssignmentTask, Task};

/// How often an assignment starts again because somebody else has changed a chat or a slot in between. The queue
/// repeats the task afterwards.
const MAX_ROUNDS: usize = 8;

pub struct ChatAssigner<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub connections: &'a Connections,
    pub outbox: &'a Outbox,
}

/// What an assignment knows of the account.
struct Round {
    /// The chat whose change or timer caused the assignment.
    cause: Option<u64>,
    agents: HashMap<u64, Agent>,
    roster: Roster,
    presences: Vec<Presence>,
    slots: HashMap<u64, AgentSlots>,
    queue: Vec<Chat>,
    /// The agents who see a waiting chat, by its channel and the department to which it is offered.
    audiences: HashMap<(String, Option<u64>), BTreeSet<u64>>,
    /// The chats that are still waiting, by the agents for whom they wait.
    lines: BTreeMap<BTreeSet<u64>, Vec<u64>>,
}

/// Somebody else has changed a chat or a slot since it was read.
struct LostRace;

impl ChatAssigner<'_> {
    /// Assigns the waiting chats of the task's account. Does nothing in an account without an assignment.
    ///
    /// # Errors
    /// Fails if a table or a queue is unavailable. The task can be repeated.
    pub async fn run(&self, task: &AssignmentTask) -> Result<(), Error> {
        let account_id = &task.account_id;
        let settings = self.directory.fresh_settings(account_id).await?;
        let Some(assignment) = settings.assignment.filter(|_| settings.suspended_at.is_none()) else { return Ok(()) };
        self.count_chats(task).await?;
        for _ in 0..MAX_ROUNDS {
            let round = self.read_round(account_id, task.chat_id).await?;
            if let Ok(lines) = self.assign_queue(round, &settings, assignment).await? {
                return self.chats.store_queue(account_id, &lines).await;
            }
        }
        Err(Error::Unavailable(ErrorContext::new("assignment lost every race")))
    }

    /// Lets chats take slots that agents got without one: all active chats if the assignment has just begun, and
    /// otherwise the task's chat.
    async fn count_chats(&self, task: &AssignmentTask) -> Result<(), Error> {
        match task.chat_id {
            _ if task.recount => count_all_chats(self.chats, &task.account_id).await,
            Some(chat_id) => match self.chats.chat(&task.account_id, chat_id).await? {
                Some(chat) => count_chat(self.chats, &chat).await,
                None => Ok(()),
            },
            None => Ok(()),
        }
    }

    async fn read_round(&self, account_id: &str, chat_id: Option<u64>) -> Result<Round, Error> {
        let ((agents, departments), presences, slots, mut queue) = try_join4(
            self.directory.agents_and_departments(account_id),
            self.connections.presences(account_id),
            self.chats.agent_slots(account_id),
            self.chats.queued_chats(account_id, chat_id),
        )
        .await?;
        sort_queue(&mut queue);
        let roster = Roster::new(agents.iter().map(|agent| agent.agent_id).collect(), departments);
        let agents = agents.into_iter().map(|agent| (agent.agent_id, agent)).collect();
        let (audiences, lines) = (HashMap::new(), BTreeMap::new());
        Ok(Round { cause: chat_id, agents, roster, presences, slots, queue, audiences, lines })
    }

    /// Returns the chats that are still waiting, as [`Chats::store_queue`] stores them.
    async fn assign_queue(
        &self,
        mut round: Round,
        settings: &AccountSettings,
        assignment: Assignment,
    ) -> Result<Result<Vec<Vec<u64>>, LostRace>, Error> {
        for chat in std::mem::take(&mut round.queue) {
            let (now, chat_id) = (clock::now(), chat.chat_id);
            let channel = self.directory.cached_channel(&chat.channel_id).await?;
            let audience = round.audience(&chat, channel.as_deref());
            let is_waiting = match self.assign_next(&mut round, chat, (settings, assignment, &audience), now).await {
                Ok(is_waiting) => is_waiting,
                Err(Error::Conflict(_) | Error::Forbidden(_) | Error::NotFound) => return Ok(Err(LostRace)),
                Err(error) => return Err(error),
            };
            if is_waiting {
                round.lines.entry(audience).or_default().push(chat_id);
            }
        }
        Ok(Ok(round.lines.into_values().collect()))
    }

    /// Ends the chat's last offer, if its time is over, and gives the chat to the next agent, if there is one with a
    /// free slot. Returns whether the chat is still waiting.
    async fn assign_next(
        &self,
        round: &mut Round,
        chat: Chat,
        (settings, assignment, audience): (&AccountSettings, Assignment, &BTreeSet<u64>),
        now: Timestamp,
    ) -> Result<bool, Error> {
        if chat.assignment.current_offer(now).is_some() {
            return Ok(true);
        }
        let chat = match chat.assignment.offer {
            Some(offer) => {
                let chat = end_offer(self.chats, &chat, now).await?;
                round.free_slot(offer.agent_id);
                chat
            }
            None => chat,
        };
        let rule = round.rule_of(&chat, assignment);
        let candidates = round.candidates(audience, assignment, now);
        let offerable_to = chat.assignment.offerable_to(&candidates, now);
        if offerable_to.is_empty() && round.cause == Some(chat.chat_id) {
            self.begin_next_round_later(&chat, now).await?;
        }
        let Some(chosen) = choose_agent(rule.mode, &offerable_to) else { return Ok(true) };
        let Some(agent) = round.agents.get(&chosen.agent_id).cloned() else { return Ok(true) };
        let turn = round.next_turn();
        let claim = SlotClaim::assigned(chosen.slots, turn);
        match rule.offer {
            None => self.assign(chat, (&agent.into(), claim), settings, now).await?,
            Some(offer) => {
                let offer = AgentOffer { agent_id: agent.agent_id, until: now.plus(offer) };
                self.offer(&chat, (offer, claim), now).await?;
            }
        }
        round.take_slot(chosen.agent_id, turn);
        Ok(rule.offer.is_some())
    }

    async fn assign(
        &self,
        chat: Chat,
        to: (&AgentSnapshot, SlotClaim),
        settings: &AccountSettings,
        now: Timestamp,
    ) -> Result<(), Error> {
        let assigned = assign_chat(self.chats, chat, to, &settings.webhooks, now).await?;
        self.outbox.enqueue(&assigned.notifications).await;
        Ok(())
    }

    /// Offers a chat, and queues the task that ends the offer. If the task is lost, the chat's idle check queues
    /// another one.
    async fn offer(&self, chat: &Chat, (offer, claim): (AgentOffer, SlotClaim), now: Timestamp) -> Result<(), Error> {
        offer_chat(self.chats, chat, (offer, claim), now).await?;
        let task = Task::assignment(&chat.account_id, Some(chat.chat_id), offer.until);
        self.outbox.send_assignment_later(&task, offer.until.since(now)).await
    }

    /// Queues the task that offers the chat again to the agents who have let it pass.
    async fn begin_next_round_later(&self, chat: &Chat, now: Timestamp) -> Result<(), Error> {
        let next_round_at = chat.assignment.next_round_at().filter(|at| *at > now);
        let Some(next_round_at) = next_round_at else { return Ok(()) };
        let task = Task::assignment(&chat.account_id, Some(chat.chat_id), next_round_at);
        self.outbox.send_assignment_later(&task, next_round_at.since(now)).await
    }
}

impl Round {
    /// The department of a chat decides how it is assigned.
    fn rule_of(&self, chat: &Chat, assignment: Assignment) -> AssignmentRule {
        let department = chat.department.as_ref().and_then(|chosen| self.roster.department(chosen.department_id));
        department.and_then(|department| department.assignment).unwrap_or(assignment.rule)
    }

    /// Returns the eligible agents: those who see the waiting chat, without admins who see all chats.
    fn audience(&mut self, chat: &Chat, channel: Option<&Channel>) -> BTreeSet<u64> {
        let (agents, roster, settings) = (&self.agents, &self.roster, channel.map(|channel| &channel.settings));
        let sees = |agent_id: &u64| Viewer { agent_id: *agent_id, is_admin: false }.sees(chat, roster, settings);
        let key = (chat.channel_id.clone(), chat.state.offered_department());
        self.audiences.entry(key).or_insert_with(|| agents.keys().copied().filter(sees).collect()).clone()
    }

    /// Returns the agents of an audience who are online and have a free slot.
    fn candidates(&self, audience: &BTreeSet<u64>, assignment: Assignment, now: Timestamp) -> Vec<Candidate> {
        let online = self.presences.iter().filter(|presence| presence.is_online(now));
        let eligible = online.filter(|presence| audience.contains(&presence.agent_id));
        let agents = eligible.filter_map(|presence| self.agents.get(&presence.agent_id));
        let candidates = agents.map(|agent| Candidate {
            agent_id: agent.agent_id,
            slots: self.slots.get(&agent.agent_id).copied().unwrap_or_default(),
            capacity: assignment.capacity_of(agent.capacity),
        });
        candidates.filter(Candidate::has_free_slot).collect()
    }

    fn next_turn(&self) -> u64 {
        self.slots.values().map(|slots| slots.turn).max().unwrap_or_default() + 1
    }

    fn take_slot(&mut self, agent_id: u64, turn: u64) {
        let slots = self.slots.entry(agent_id).or_default();
        *slots = AgentSlots { held: slots.held + 1, turn };
    }

    fn free_slot(&mut self, agent_id: u64) {
        let slots = self.slots.entry(agent_id).or_default();
        slots.held = slots.held.saturating_sub(1);
    }
}

/// Returns the condition under which a chat may be given to the agent. `None` in an account without a capacity, which
/// costs no read.
pub async fn slot_claim(
    directory: &Directory,
    settings: &AccountSettings,
    account_id: &str,
    agent_id: u64,
) -> Result<Option<SlotClaim>, Error> {
    let Some(assignment) = settings.assignment else { return Ok(None) };
    let agent = directory.agent(account_id, agent_id).await?;
    let capacity = assignment.capacity_of(agent.and_then(|agent| agent.capacity));
    Ok(Some(SlotClaim::within(capacity)))
}

/// Returns the position of a waiting chat in the queue. `None` in an account without an assignment, which costs no
/// read.
pub async fn queue_position(directory: &Directory, chats: &Chats, chat: &Chat) -> Result<Option<u64>, Error> {
    let settings = directory.cached_settings(&chat.account_id).await?;
    if settings.assignment.is_none() || !chat.state.is_waiting() {
        return Ok(None);
    }
    chats.queue_position(chat).await
}
