//! Draws operations at random, and counts the requests to each key, the tasks of each message group, and the requests
//! and frames of API Gateway.

use std::collections::{BTreeMap, HashMap};

use shared::domain::time_zone::Day;
use shared::store::chats::delivery::due_index::Backlog;
use shared::store::key_usage;
use shared::wire::queue_task::Task;

use crate::Options;
use crate::operation::{CHAT_SECONDS, Function, KeyFamily, MESSAGES_PER_CHAT, Operation, Queue, Request};
use crate::zipf::{Random, Weighted};

/// The maximum numbers of write and read units that DynamoDB serves per second for one partition.
pub const WRITE_LIMIT: f64 = 1_000.0;
pub const READ_LIMIT: f64 = 3_000.0;
/// How long an invocation takes, not including the time spent waiting for a receiver, as in docs/costs.md.
const FUNCTION_SECONDS: f64 = 0.025;
/// How long a process caches an item of the Directory table.
const CACHE_SECONDS: f64 = 10.0;
/// The sizes, in bytes, of the item of a subscriber's socket and of the item of an agent's presence.
const SUBSCRIBER_BYTES: f64 = 380.0;
const PRESENCE_BYTES: f64 = 200.0;
/// The number of bytes that one read unit covers in a strongly consistent query. An eventually consistent query costs
/// half.
const BYTES_PER_READ: f64 = 4_096.0;
/// The number of each account's latest chat at the start. Other open chats have lower numbers.
const FIRST_CHAT: u64 = 1_000_000_000;

/// The capacity units that the requests to one key consume per second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct KeyLoad {
    pub reads: f64,
    pub writes: f64,
}

impl KeyLoad {
    /// Returns the share of a partition's write limit or read limit that the requests use, whichever is larger.
    pub fn share_of_limit(&self) -> f64 {
        (self.writes / WRITE_LIMIT).max(self.reads / READ_LIMIT)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct BusiestKey {
    pub key: String,
    pub load: KeyLoad,
    /// The number of keys of the family that have at least one request.
    pub keys: usize,
}

/// The load of a FIFO queue. All numbers of tasks are per second.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueLoad {
    pub tasks: f64,
    /// The number of tasks of the busiest account.
    pub account_tasks: f64,
    pub busiest_group: String,
    /// The number of tasks of the busiest message group.
    pub group_tasks: f64,
    /// How long one attempt takes, including the time spent waiting for the receiver.
    pub attempt_seconds: f64,
}

/// The numbers of requests and frames that API Gateway handles per second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GatewayLoad {
    /// The number of requests to the HTTP API, and of frames from agents.
    pub requests: f64,
    /// The number of frames about own chats that agents get at once.
    pub own_frames: f64,
    /// The number of frames to agents. This is an upper bound, because the simulation assumes that every agent of an
    /// account sees all chats, regardless of the channels' audiences.
    pub frames: f64,
    /// The number of frames for the agents of the busiest account.
    pub account_frames: f64,
}

pub struct Load {
    /// The expected share of the messages that belong to the largest account, from 0 to 1.
    pub largest_share: f64,
    pub messages: u64,
    pub families: BTreeMap<KeyFamily, BusiestKey>,
    pub queues: BTreeMap<Queue, QueueLoad>,
    pub gateway: GatewayLoad,
}

struct Account {
    id: String,
    latest_chat: u64,
    open_chats: u64,
    agents: u64,
    /// The number of operations so far. Each of them changes a row.
    operations: f64,
    /// The number of frames about the agents' own chats so far.
    own_frames: f64,
    /// The number of changes to the lists of all agents so far.
    list_changes: f64,
}

impl Account {
    /// Returns the number of frames per second with which each agent gets the changes of the lists.
    fn list_frames(&self, seconds: f64) -> f64 {
        list_pushes(self.list_changes / seconds)
    }

    fn frames(&self, seconds: f64) -> f64 {
        self.own_frames / seconds + self.list_frames(seconds) * self.agents as f64
    }
}

/// Returns the number of pushes of the lists per second if this number of changes arrive per second, independently of
/// each other. A change that arrives within a second after the last push starts a window of a second; a later one is
/// pushed at once.
fn list_pushes(changes: f64) -> f64 {
    if changes <= 0.0 { 0.0 } else { 1.0 / (1.0 / changes + 1.0 - (-changes).exp()) }
}

struct Simulation<'a> {
    options: &'a Options,
    accounts: Vec<Account>,
    random: Random,
    day: Option<Day>,
    keys: BTreeMap<KeyFamily, HashMap<String, KeyLoad>>,
    cached_reads: BTreeMap<(KeyFamily, Function), HashMap<String, u64>>,
    invocations: BTreeMap<Function, u64>,
    groups: BTreeMap<Queue, HashMap<String, u64>>,
    account_tasks: BTreeMap<Queue, Vec<u64>>,
    client_requests: u64,
}

pub fn simulate(options: &Options) -> Load {
    let sizes = Weighted::zipf(options.accounts, options.skew);
    let mut simulation = Simulation::new(options, &sizes);
    let mix = Weighted::new(Operation::ALL.map(Operation::per_hundred_messages));
    let count = u64::from(options.rate) * u64::from(options.seconds);
    let mut messages = 0;
    while messages < count {
        let account = sizes.draw(&mut simulation.random);
        let Some(operation) = Operation::ALL.get(mix.draw(&mut simulation.random)) else { continue };
        messages += u64::from(operation.is_message());
        simulation.add(account, *operation);
    }
    simulation.finish(sizes.share(0), messages)
}

impl<'a> Simulation<'a> {
    fn new(options: &'a Options, sizes: &Weighted) -> Self {
        let account = |index: u32| {
            let rate = f64::from(options.rate) * sizes.share(index as usize);
            let open_chats = rate * f64::from(CHAT_SECONDS) / f64::from(MESSAGES_PER_CHAT);
            Account {
                id: format!("account{index}"),
                latest_chat: FIRST_CHAT,
                open_chats: (open_chats as u64).max(1),
                agents: ((rate * options.agents) as u64).max(1),
                operations: 0.0,
                own_frames: 0.0,
                list_changes: 0.0,
            }
        };
        Self {
            options,
            accounts: (0..options.accounts).map(account).collect(),
            random: Random::new(options.seed),
            day: Day::parse("2026-01-01"),
            keys: BTreeMap::new(),
            cached_reads: BTreeMap::new(),
            invocations: BTreeMap::new(),
            groups: BTreeMap::new(),
            account_tasks: BTreeMap::new(),
            client_requests: 0,
        }
    }

    fn add(&mut self, index: usize, operation: Operation) {
        let Some(account) = self.accounts.get_mut(index) else { return };
        let chat_id = if operation.opens_chat() {
            account.latest_chat += 1;
            account.latest_chat
        } else {
            account.latest_chat - self.random.below(account.open_chats)
        };
        account.operations += 1.0;
        account.own_frames += operation.frames();
        account.list_changes += f64::from(u8::from(operation.changes_lists()));
        self.client_requests += operation.client_requests();
        let chat = Chat::new(account, chat_id, self.options, self.day);
        for request in operation.requests() {
            self.count(&chat, request);
        }
        self.count_push(&chat, operation);
        if let Some((queue, requests)) = operation.delivery() {
            requests.iter().for_each(|request| self.count(&chat, *request));
            self.count_task(index, queue, &chat);
        }
        for (function, families) in operation.cached_reads() {
            *self.invocations.entry(*function).or_default() += 1;
            for family in *families {
                let keys = self.cached_reads.entry((*family, *function)).or_default();
                *keys.entry(chat.key(*family)).or_default() += 1;
            }
        }
    }

    fn count(&mut self, chat: &Chat, request: Request) {
        let Request { family, reads, writes } = request;
        self.add_to_key(family, chat.key(family), reads, writes);
        if family == KeyFamily::Report {
            self.add_to_key(KeyFamily::ReportItem, chat.key(KeyFamily::ReportItem), reads, writes);
        }
    }

    fn add_to_key(&mut self, family: KeyFamily, key: String, reads: f64, writes: f64) {
        let load = self.keys.entry(family).or_default().entry(key).or_default();
        load.reads += reads;
        load.writes += writes;
    }

    fn count_task(&mut self, index: usize, queue: Queue, chat: &Chat) {
        let task = Task::first_attempt_of_new_entry(&chat.account_id, chat.chat_id, 1);
        let group = task.message_group(u64::from(self.options.first_attempts_per_account));
        *self.groups.entry(queue).or_default().entry(group).or_default() += 1;
        let account_tasks = self.account_tasks.entry(queue).or_insert_with(|| vec![0; self.accounts.len()]);
        if let Some(tasks) = account_tasks.get_mut(index) {
            *tasks += 1;
        }
    }

    fn finish(mut self, largest_share: f64, messages: u64) -> Load {
        let seconds = f64::from(self.options.seconds);
        self.count_list_pushes();
        self.count_cache_misses();
        let families = self.keys.iter().filter_map(|(family, keys)| {
            let by_load = |(key, load): &(&String, &KeyLoad), (other_key, other): &(&String, &KeyLoad)| {
                load.share_of_limit().total_cmp(&other.share_of_limit()).then_with(|| key.cmp(other_key))
            };
            let (key, total) = keys.iter().max_by(by_load)?;
            let load = KeyLoad { reads: total.reads / seconds, writes: total.writes / seconds };
            Some((*family, BusiestKey { key: key.clone(), load, keys: keys.len() }))
        });
        let families = families.collect();
        let queues = self.groups.iter().filter_map(|(queue, groups)| {
            let (busiest_group, count) = groups.iter().max_by_key(|(group, count)| (**count, *group))?;
            let per_second = |count: u64| count as f64 / seconds;
            Some((
                *queue,
                QueueLoad {
                    tasks: per_second(groups.values().sum()),
                    account_tasks: per_second(self.account_tasks.get(queue)?.iter().copied().max()?),
                    busiest_group: busiest_group.clone(),
                    group_tasks: per_second(*count),
                    attempt_seconds: self.attempt_seconds(),
                },
            ))
        });
        let queues = queues.collect();
        Load { largest_share, messages, families, queues, gateway: self.gateway_load() }
    }

    fn gateway_load(&self) -> GatewayLoad {
        let seconds = f64::from(self.options.seconds);
        let frames = || self.accounts.iter().map(|account| account.frames(seconds));
        GatewayLoad {
            requests: self.client_requests as f64 / seconds,
            own_frames: self.accounts.iter().map(|account| account.own_frames / seconds).sum(),
            frames: frames().sum(),
            account_frames: frames().fold(0.0, f64::max),
        }
    }

    /// Counts the requests of the pushes that an operation causes, except those of the lists. Each invocation of
    /// `deliver-push` looks for sockets, and then for the subscribers of the chat and of its agent. This is an upper
    /// bound, because an invocation makes one query of each kind for all changes in its batch.
    fn count_push(&mut self, chat: &Chat, operation: Operation) {
        let reads = operation.pushes() / 2.0;
        self.add_to_key(KeyFamily::AccountSockets, chat.key(KeyFamily::AccountSockets), reads, 0.0);
        self.add_to_key(KeyFamily::ChatSubscribers, chat.key(KeyFamily::ChatSubscribers), reads, 0.0);
        if operation.frames() > 0.0 {
            self.add_to_key(KeyFamily::AgentSubscribers, chat.key(KeyFamily::AgentSubscribers), reads, 0.0);
        }
    }

    /// Counts the requests of the pushes of lists. Each operation changes a row: its changes are stored, unless they
    /// are pushed at once. A push writes the marker, which has the key of the sockets, and queries all subscribers.
    fn count_list_pushes(&mut self) {
        let seconds = f64::from(self.options.seconds);
        let accounts: Vec<(String, f64, f64)> = self
            .accounts
            .iter()
            .map(|account| {
                (account.id.clone(), account.operations, query_units(account.agents, SUBSCRIBER_BYTES) / 2.0)
            })
            .collect();
        for (id, operations, units) in accounts.into_iter().filter(|(_, operations, _)| *operations > 0.0) {
            let pushes = list_pushes(operations / seconds) * seconds;
            self.add_to_key(KeyFamily::AccountSockets, key_usage::account_sockets(&id), 0.0, pushes);
            self.add_to_key(KeyFamily::Subscribers, key_usage::subscribers(&id), pushes * units, 0.0);
            self.add_to_key(KeyFamily::ChangedChats, key_usage::changed_chats(&id), 0.0, operations);
        }
    }

    /// Counts the table reads that the caches do not avoid: a process reads an item from the table if it has not read
    /// the item in the last ten seconds. Assumes that each request is handled by a random process of its function.
    fn count_cache_misses(&mut self) {
        let seconds = f64::from(self.options.seconds);
        for ((family, function), keys) in std::mem::take(&mut self.cached_reads) {
            let invocations = self.invocations.get(&function).copied().unwrap_or_default() as f64;
            let processes = (invocations / seconds * self.invocation_seconds(function)).max(1.0);
            for (key, count) in keys {
                let units = self.cached_read_units(family, &key);
                let in_cache_time = count as f64 / seconds * CACHE_SECONDS;
                let reading_processes = processes * (1.0 - (1.0 - 1.0 / processes).powf(in_cache_time));
                self.add_to_key(family, key, reading_processes / CACHE_SECONDS * seconds * units, 0.0);
            }
        }
    }

    /// Returns the units of a read into the cache. A query for the presence reads the items of all agents.
    fn cached_read_units(&self, family: KeyFamily, key: &str) -> f64 {
        let is_of = |account: &&Account| key_usage::presence(&account.id) == key;
        let account = self.accounts.iter().find(|account| family == KeyFamily::Presence && is_of(account));
        account.map_or(1.0, |account| query_units(account.agents, PRESENCE_BYTES))
    }

    fn attempt_seconds(&self) -> f64 {
        FUNCTION_SECONDS + f64::from(self.options.receiver_ms) / 1_000.0
    }

    fn invocation_seconds(&self, function: Function) -> f64 {
        match function {
            Function::ChannelMessage | Function::BotEvent => FUNCTION_SECONDS,
            Function::DeliverChannel | Function::DeliverBot => self.attempt_seconds(),
        }
    }
}

/// Returns the read units that a strongly consistent query consumes if it returns this number of items of this size.
fn query_units(items: u64, bytes: f64) -> f64 {
    (items as f64 * bytes / BYTES_PER_READ).ceil().max(1.0)
}

struct Chat {
    account_id: String,
    chat_id: u64,
    channel_id: String,
    agents: u64,
    day: Option<Day>,
}

impl Chat {
    fn new(account: &Account, chat_id: u64, options: &Options, day: Option<Day>) -> Self {
        let channel_id = format!("{}channel{}", account.id, chat_id % u64::from(options.channels));
        Self { account_id: account.id.clone(), chat_id, channel_id, agents: account.agents, day }
    }

    fn key(&self, family: KeyFamily) -> String {
        let Self { account_id, chat_id, channel_id, agents, day } = self;
        let (account_id, chat_id, channel_id) = (account_id.as_str(), *chat_id, channel_id.as_str());
        let report = |key: fn(&str, Day, &str, u64) -> String| {
            day.map(|day| key(account_id, day, channel_id, chat_id)).unwrap_or_default()
        };
        match family {
            KeyFamily::Chat => key_usage::chat(account_id, chat_id),
            // Each chat has its own visitor, whose id is the number of the chat.
            KeyFamily::Visitor => key_usage::visitor(channel_id, &chat_id.to_string()),
            KeyFamily::VisitorNumber => key_usage::visitor_number(account_id, chat_id),
            KeyFamily::Counters => key_usage::counters(account_id),
            KeyFamily::OpenedChats => key_usage::opened_chats(channel_id),
            KeyFamily::Report => report(key_usage::report_counters),
            KeyFamily::ReportItem => report(key_usage::report_counters_item),
            KeyFamily::ListingBot => key_usage::listing(account_id, "bot"),
            KeyFamily::ListingWaiting => key_usage::listing(account_id, "waiting"),
            KeyFamily::ListingActive => key_usage::listing(account_id, "active"),
            KeyFamily::ListingClosed => key_usage::listing(account_id, "closed"),
            KeyFamily::PendingDeliveries => key_usage::due(Backlog::Deliveries, chat_id),
            KeyFamily::IdleChecks => key_usage::due(Backlog::IdleChecks, chat_id),
            KeyFamily::ClosedChats => key_usage::closed_chats(account_id),
            KeyFamily::Sessions => key_usage::sessions(account_id, chat_id % agents),
            KeyFamily::Presence => key_usage::presence(account_id),
            KeyFamily::AccountSockets => key_usage::account_sockets(account_id),
            KeyFamily::Subscribers => key_usage::subscribers(account_id),
            KeyFamily::AgentSubscribers => key_usage::agent_subscribers(account_id, chat_id % agents),
            KeyFamily::ChatSubscribers => key_usage::chat_subscribers(account_id, chat_id),
            KeyFamily::ChangedChats => key_usage::changed_chats(account_id),
            KeyFamily::BotRequests => key_usage::bot_requests(&format!("{account_id}bot")),
            KeyFamily::Settings => key_usage::settings(account_id),
            KeyFamily::Channel => key_usage::channel(channel_id),
            // All accounts use the same provider of bots.
            KeyFamily::Provider => key_usage::provider("provider"),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn load(options: &str) -> Load {
        simulate(&Options::parse_from(std::iter::once("hot-keys").chain(options.split(' '))))
    }

    fn percent(load: &Load, family: KeyFamily) -> f64 {
        100.0 * load.families[&family].load.share_of_limit()
    }

    #[test]
    fn uniform_distribution_has_no_hot_key() {
        let load = load("--rate 500 --accounts 500 --skew 0 --seconds 20");
        assert_eq!(load.messages, 10_000);
        for family in load.families.keys() {
            assert!(percent(&load, *family) < 5.0, "{:?}", load.families[family]);
        }
        for queue in load.queues.values() {
            assert!(queue.group_tasks * queue.attempt_seconds < 0.5, "{queue:?}");
        }
    }

    #[test]
    fn single_account_concentrates_the_load() {
        let single = load("--rate 500 --accounts 1 --seconds 20");
        let many = load("--rate 500 --accounts 500 --skew 0 --seconds 20");
        assert_eq!(single.largest_share, 1.0);
        for family in [KeyFamily::Counters, KeyFamily::Report, KeyFamily::ListingWaiting, KeyFamily::ClosedChats] {
            assert!(percent(&single, family) > 20.0 * percent(&many, family), "{family:?}");
            assert_eq!(single.families[&family].keys, 1, "{family:?}");
        }
        // The load on one chat, or on a partition that all accounts share, does not depend on the number of accounts.
        for family in [KeyFamily::Chat, KeyFamily::PendingDeliveries, KeyFamily::IdleChecks] {
            assert!(percent(&single, family) < 3.0 * percent(&many, family), "{family:?}");
        }
        assert_eq!(single.families[&KeyFamily::PendingDeliveries].keys, 32);
        assert_eq!(single.families[&KeyFamily::ReportItem].keys, 24, "eight for each channel");
        for family in [KeyFamily::Subscribers, KeyFamily::ChangedChats] {
            assert!(percent(&single, family) > 20.0 * percent(&many, family), "{family:?}");
        }
    }

    #[test]
    fn mix_is_simulated_in_its_proportions() {
        let load = load("--rate 1000 --accounts 1 --seconds 50");
        let opened = load.families[&KeyFamily::Counters].load.writes;
        assert!((95.0..105.0).contains(&opened), "{opened} chats a second");
        let QueueLoad { tasks, account_tasks, .. } = load.queues[&Queue::Channel];
        assert!((490.0..510.0).contains(&tasks) && tasks == account_tasks, "{tasks} deliveries a second");
        let GatewayLoad { requests, own_frames, frames, account_frames } = load.gateway;
        assert!((1_160.0..1_200.0).contains(&requests), "{requests} requests a second");
        assert!((1_500.0..1_600.0).contains(&own_frames), "{own_frames} frames to those who have the chats");
        let list_frames = frames - own_frames;
        assert!(
            (4_900.0..=5_000.0).contains(&list_frames) && frames == account_frames,
            "{list_frames} for 5,000 agents"
        );
    }

    #[test]
    fn lists_are_pushed_at_most_once_a_second() {
        assert_eq!(list_pushes(0.0), 0.0);
        let few = list_pushes(0.01);
        assert!((0.0099..=0.01).contains(&few), "{few}: each of few changes is pushed");
        let many = list_pushes(1_000.0);
        assert!((0.99..=1.0).contains(&many), "{many}");
    }

    #[test]
    fn larger_account_gets_a_larger_share() {
        let skewed = load("--rate 500 --accounts 100 --skew 1 --seconds 20");
        assert!((0.18..0.21).contains(&skewed.largest_share));
        assert!(skewed.families[&KeyFamily::Counters].key.contains("account0"));
        let equal = load("--rate 500 --accounts 100 --skew 0 --seconds 20");
        assert!(percent(&skewed, KeyFamily::Counters) > 4.0 * percent(&equal, KeyFamily::Counters));
    }

    #[test]
    fn same_seed_gives_the_same_load() {
        let keys = |seed: u32| load(&format!("--rate 50 --accounts 10 --seconds 5 --seed {seed}")).families;
        assert_eq!(keys(3), keys(3));
        assert_ne!(keys(3), keys(4));
    }
}
