//! The operations that make up the load, and the capacity units that their requests consume. A test compares the units
//! of all operations except `CloseIdle` with docs/costs.md.

/// The number of messages in a chat, as assumed in docs/costs.md.
pub const MESSAGES_PER_CHAT: u32 = 10;
/// How long a chat stays open, in seconds: ten messages, one every half minute.
pub const CHAT_SECONDS: u32 = 300;

/// An operation, including its deliveries, which succeed on the first attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A visitor's first message, for the agents.
    OpenChat,
    /// A visitor's first message, for a bot.
    OpenChatWithBot,
    VisitorMessage,
    VisitorMessageToBot,
    FirstAnswer,
    AgentMessage,
    BotMessage,
    Accept,
    Close,
    /// `schedule-close-idle-chats` closes a chat of a bot.
    CloseIdle,
}

/// A family of keys with the same format, such as the partition keys of all chats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyFamily {
    Chat,
    Visitor,
    VisitorNumber,
    Counters,
    OpenedChats,
    Report,
    ReportItem,
    ListingBot,
    ListingWaiting,
    ListingActive,
    ListingClosed,
    PendingDeliveries,
    IdleChecks,
    ClosedChats,
    Sessions,
    Presence,
    AccountSockets,
    Subscribers,
    AgentSubscribers,
    ChatSubscribers,
    ChangedChats,
    BotRequests,
    Settings,
    Channel,
    Provider,
}

/// The capacity units that an operation's requests to one key consume. Requests in a transaction consume twice as many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    pub family: KeyFamily,
    pub reads: f64,
    pub writes: f64,
}

/// A function whose cached reads of the Directory table are simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Function {
    ChannelMessage,
    BotEvent,
    DeliverChannel,
    DeliverBot,
}

/// The FIFO queue for the first attempt of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Queue {
    Channel,
    Bot,
}

const fn read(family: KeyFamily, reads: f64) -> Request {
    Request { family, reads, writes: 0.0 }
}

const fn write(family: KeyFamily, writes: f64) -> Request {
    Request { family, reads: 0.0, writes }
}

/// The requests of every message that opens a chat. [`Operation::requests`] adds the write of the index `listing` and,
/// for a bot, the write of the pending delivery. One transaction writes five items: the visitor, the header, the first
/// entry, the counters of the report and the visitor's number.
const OPEN: [Request; 8] = [
    read(KeyFamily::Visitor, 1.0),
    write(KeyFamily::OpenedChats, 1.0),
    write(KeyFamily::Counters, 1.0),
    write(KeyFamily::Visitor, 2.0),
    write(KeyFamily::Chat, 4.0),
    write(KeyFamily::Report, 2.0),
    write(KeyFamily::VisitorNumber, 2.0),
    write(KeyFamily::IdleChecks, 1.0),
];

/// The requests for each further message from a visitor. The two writes store the header and the entry.
const MESSAGE: [Request; 2] = [read(KeyFamily::Visitor, 1.0), write(KeyFamily::Chat, 2.0)];

/// The requests that close a chat, except those of the index `listing`: one read of the header, and one transaction.
const CLOSE: [Request; 6] = [
    read(KeyFamily::Chat, 1.0),
    write(KeyFamily::Chat, 2.0),
    write(KeyFamily::Visitor, 2.0),
    write(KeyFamily::Report, 2.0),
    write(KeyFamily::IdleChecks, 1.0),
    write(KeyFamily::ClosedChats, 1.0),
];

/// The requests of the first attempt of a delivery to an integrator, which reads the entry and the header, then writes
/// the result. A delivered entry is removed from the index `due`.
const DELIVERY: [Request; 3] =
    [read(KeyFamily::Chat, 2.0), write(KeyFamily::Chat, 1.0), write(KeyFamily::PendingDeliveries, 1.0)];

/// The requests of the first attempt of a delivery to a bot, and of the check for the bot's answer. An agent is online,
/// so the presences are cached.
const BOT_DELIVERY: [Request; 4] = [
    read(KeyFamily::Chat, 3.0),
    read(KeyFamily::Visitor, 1.0),
    write(KeyFamily::Chat, 1.0),
    write(KeyFamily::PendingDeliveries, 1.0),
];

impl Operation {
    pub const ALL: [Self; 10] = [
        Self::OpenChat,
        Self::OpenChatWithBot,
        Self::VisitorMessage,
        Self::VisitorMessageToBot,
        Self::FirstAnswer,
        Self::AgentMessage,
        Self::BotMessage,
        Self::Accept,
        Self::Close,
        Self::CloseIdle,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::OpenChat => "visitor's first message, to the agents",
            Self::OpenChatWithBot => "visitor's first message, to a bot",
            Self::VisitorMessage => "visitor's further message to an agent",
            Self::VisitorMessageToBot => "visitor's further message to a bot",
            Self::FirstAnswer => "agent's first answer",
            Self::AgentMessage => "agent's further message",
            Self::BotMessage => "bot's message",
            Self::Accept => "agent accepts a chat",
            Self::Close => "agent closes a chat",
            Self::CloseIdle => "idle check closes a bot's chat",
        }
    }

    /// Returns how often the operation occurs per hundred messages. The messages belong to ten chats, six with an agent
    /// and four with a bot. Half of the messages are answers.
    pub fn per_hundred_messages(self) -> f64 {
        match self {
            Self::OpenChat | Self::FirstAnswer | Self::Accept | Self::Close => 6.0,
            Self::OpenChatWithBot | Self::CloseIdle => 4.0,
            Self::VisitorMessage | Self::AgentMessage => 24.0,
            Self::VisitorMessageToBot => 16.0,
            Self::BotMessage => 20.0,
        }
    }

    pub fn is_message(self) -> bool {
        !matches!(self, Self::Accept | Self::Close | Self::CloseIdle)
    }

    pub fn opens_chat(self) -> bool {
        matches!(self, Self::OpenChat | Self::OpenChatWithBot)
    }

    /// Returns the table requests of the function that handles the operation, without cached reads and the delivery.
    pub fn requests(self) -> Vec<Request> {
        let session = read(KeyFamily::Sessions, 1.0);
        let pending = write(KeyFamily::PendingDeliveries, 1.0);
        match self {
            Self::OpenChat => [&OPEN[..], &[write(KeyFamily::ListingWaiting, 1.0)]].concat(),
            Self::OpenChatWithBot => [&OPEN[..], &[write(KeyFamily::ListingBot, 1.0), pending]].concat(),
            Self::VisitorMessage => MESSAGE.to_vec(),
            Self::VisitorMessageToBot => [&MESSAGE[..], &[pending]].concat(),
            // The entry, the time of the first answer in the header, and the counters are written in one transaction.
            Self::FirstAnswer => {
                vec![session, write(KeyFamily::Chat, 5.0), write(KeyFamily::Report, 2.0), pending]
            }
            Self::AgentMessage => vec![session, write(KeyFamily::Chat, 2.0), pending],
            Self::BotMessage => vec![write(KeyFamily::Chat, 2.0), pending, write(KeyFamily::BotRequests, 0.1)],
            Self::Accept => vec![
                session,
                read(KeyFamily::Chat, 1.0),
                write(KeyFamily::Chat, 1.0),
                write(KeyFamily::ListingWaiting, 1.0),
                write(KeyFamily::ListingActive, 1.0),
            ],
            Self::Close => {
                let listing = [write(KeyFamily::ListingActive, 1.0), write(KeyFamily::ListingClosed, 1.0)];
                [&CLOSE[..], &[session], &listing].concat()
            }
            Self::CloseIdle => {
                [&CLOSE[..], &[write(KeyFamily::ListingBot, 1.0), write(KeyFamily::ListingClosed, 1.0)]].concat()
            }
        }
    }

    /// Returns the queue and the requests of the operation's delivery, or `None` if it has no delivery.
    pub fn delivery(self) -> Option<(Queue, &'static [Request])> {
        match self {
            Self::FirstAnswer | Self::AgentMessage | Self::BotMessage => Some((Queue::Channel, &DELIVERY)),
            Self::OpenChatWithBot | Self::VisitorMessageToBot => Some((Queue::Bot, &BOT_DELIVERY)),
            Self::OpenChat | Self::VisitorMessage | Self::Accept | Self::Close | Self::CloseIdle => None,
        }
    }

    /// Returns the functions whose cached reads of the Directory table are simulated for the operation, each with the
    /// kinds of items it reads. The reads of the settings by `agent-accept-chat`, `agent-close-chat` and
    /// `schedule-close-idle-chats` are left out.
    pub fn cached_reads(self) -> &'static [(Function, &'static [KeyFamily])] {
        use KeyFamily::{Channel, Presence, Provider, Settings};
        match self {
            Self::OpenChat | Self::VisitorMessage => &[(Function::ChannelMessage, &[Channel, Settings])],
            Self::OpenChatWithBot | Self::VisitorMessageToBot => &[
                (Function::ChannelMessage, &[Channel, Settings]),
                (Function::DeliverBot, &[Channel, Provider, Presence]),
            ],
            Self::FirstAnswer | Self::AgentMessage => &[(Function::DeliverChannel, &[Channel])],
            Self::BotMessage => {
                &[(Function::BotEvent, &[Channel, Provider, Settings]), (Function::DeliverChannel, &[Channel])]
            }
            Self::Accept | Self::Close | Self::CloseIdle => &[],
        }
    }

    /// Returns how many frames the client of the chat's agent gets at once. A message causes two frames: the message and
    /// the chat's row. Any other operation causes only the row. A delivery attempt causes one more frame, because it
    /// changes the message's delivery. Nobody has a chat that waits or that a bot has.
    pub fn frames(self) -> f64 {
        match self {
            Self::OpenChat | Self::OpenChatWithBot | Self::VisitorMessageToBot | Self::BotMessage | Self::CloseIdle => {
                0.0
            }
            Self::VisitorMessage => 2.0,
            Self::FirstAnswer | Self::AgentMessage => 3.0,
            // The client of the agent subscribes to the chat, and gets a response.
            Self::Accept => 2.0,
            Self::Close => 1.0,
        }
    }

    /// Returns whether the operation changes a row of the lists by more than its last message, so that the clients of
    /// all agents show it. They show the waiting chats and their own; the simulation assumes that none of them shows
    /// the lists of other agents' chats and of bots' chats.
    pub fn changes_lists(self) -> bool {
        match self {
            Self::OpenChat | Self::OpenChatWithBot | Self::Accept | Self::Close | Self::CloseIdle => true,
            Self::VisitorMessage
            | Self::VisitorMessageToBot
            | Self::FirstAnswer
            | Self::AgentMessage
            | Self::BotMessage => false,
        }
    }

    /// Returns the number of requests that clients send to the gateway: a request to the HTTP API and, when an agent
    /// accepts a chat, the frame with which the client subscribes to it.
    pub fn client_requests(self) -> u64 {
        match self {
            Self::CloseIdle => 0,
            Self::Accept => 2,
            Self::OpenChat
            | Self::OpenChatWithBot
            | Self::VisitorMessage
            | Self::VisitorMessageToBot
            | Self::FirstAnswer
            | Self::AgentMessage
            | Self::BotMessage
            | Self::Close => 1,
        }
    }

    /// Returns how often the operation invokes `deliver-push`: once for the request and, if the request causes a
    /// delivery, once more for the attempt.
    pub fn pushes(self) -> f64 {
        if self.delivery().is_some() { 2.0 } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_messages_add_up() {
        let sum = |is_counted: fn(Operation) -> bool| -> f64 {
            Operation::ALL.into_iter().filter(|op| is_counted(*op)).map(Operation::per_hundred_messages).sum()
        };
        assert_eq!(sum(Operation::is_message), 100.0);
        assert_eq!(sum(Operation::opens_chat), 100.0 / f64::from(MESSAGES_PER_CHAT));
        assert_eq!(sum(|op| matches!(op, Operation::Close | Operation::CloseIdle)), sum(Operation::opens_chat));
        let is_answer = |op| matches!(op, Operation::FirstAnswer | Operation::AgentMessage | Operation::BotMessage);
        assert_eq!(sum(is_answer), 50.0);
    }

    /// Returns the read and write units of a scenario in docs/costs.md. `further_row` is 0 for the scenario's own row
    /// and 1 for the delivery row below it.
    fn units_on_costs_page(scenario: &str, further_row: usize) -> (f64, f64) {
        let page = include_str!("../../../docs/costs.md");
        let rows_from = |name: &str| {
            let start = format!("| {name} |");
            page.lines().skip_while(move |line| !line.starts_with(&start))
        };
        let cells = |row: &'static str| row.split('|').map(str::trim);
        let column = |name| cells(rows_from("scenario").next().unwrap()).position(|cell| cell == name).unwrap();
        let row: Vec<&str> = cells(rows_from(scenario).nth(further_row).unwrap()).collect();
        (row[column("read units")].parse().unwrap(), row[column("write units")].parse().unwrap())
    }

    fn units(requests: &[Request]) -> (f64, f64) {
        (requests.iter().map(|request| request.reads).sum(), requests.iter().map(|request| request.writes).sum())
    }

    #[test]
    fn requests_are_those_of_the_costs_page() {
        for (operation, scenario) in [
            (Operation::OpenChat, "visitor's first message (opens a chat)"),
            (Operation::OpenChatWithBot, "visitor's first message, to a bot"),
            (Operation::VisitorMessage, "visitor's message, open chat"),
            (Operation::VisitorMessageToBot, "visitor's message to a bot"),
            (Operation::FirstAnswer, "agent's first message in a chat"),
            (Operation::AgentMessage, "agent's message"),
            (Operation::BotMessage, "bot's message (every tenth: one more write)"),
            (Operation::Accept, "agent accepts a chat"),
            (Operation::Close, "agent closes a chat"),
        ] {
            let mut requests = operation.requests();
            requests.retain(|request| request.family != KeyFamily::BotRequests);
            assert_eq!(units(&requests), units_on_costs_page(scenario, 0), "{scenario}");
            let Some((queue, requests)) = operation.delivery() else { continue };
            let (mut reads, writes) = units_on_costs_page(scenario, 1);
            if queue == Queue::Bot {
                reads += units_on_costs_page("the check for the bot's answer", 0).0;
            }
            assert_eq!(units(requests), (reads, writes), "delivery of {scenario}");
        }
    }
}
