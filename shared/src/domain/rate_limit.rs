//! Rate limits: the maximum number of messages, requests, chats, socket tickets, frames, callbacks or uploads in a
//! window of time (docs/decisions.md, General).

use std::time::Duration;

use crate::domain::timestamp::Timestamp;

pub const DEFAULT_VISITOR_MESSAGES_PER_WINDOW: u32 = 30;
pub const DEFAULT_BOT_REQUESTS_PER_WINDOW: u64 = 300;
pub const DEFAULT_CHANNEL_CHATS_PER_WINDOW: u32 = 300;
/// The limit for the socket tickets that one agent requests in a window of [`RATE_WINDOW`]. An agent needs one ticket
/// for each page that is open in a browser, and another one after each interruption of the connection.
pub const MAX_SOCKET_TICKETS_PER_WINDOW: u64 = 30;
/// The limit for the requests from one client network (an IPv4 address or an IPv6 /64 prefix) to one widget in a window
/// of [`RATE_WINDOW`]. It is lower than the default limit on a channel's new chats, so that a single network cannot use
/// up that limit.
pub const MAX_WIDGET_REQUESTS_PER_WINDOW: u64 = 120;
/// The limit for the frames that one visitor of a widget sends through sockets in a window of [`RATE_WINDOW`].
pub const MAX_VISITOR_FRAMES_PER_WINDOW: u64 = 30;
/// The limit for the messages that a process accepts from one agent in one chat in a window of [`RATE_WINDOW`]. People
/// never reach it; it bounds what a program with an agent's token can send to an integrator.
pub const MAX_AGENT_MESSAGES_PER_WINDOW: u64 = 600;
/// The limit for the typing notices that a process accepts from one agent in a window of [`RATE_WINDOW`].
pub const MAX_AGENT_TYPING_NOTICES_PER_WINDOW: u64 = 60;
/// The limit for the samples that a process sends to the receivers of one account in a window of [`RATE_WINDOW`].
pub const MAX_RECEIVER_TESTS_PER_WINDOW: u64 = 30;
/// The limit for the requests of one client network to one bot provider's path that are refused with 401, in a window
/// of [`RATE_WINDOW`].
pub const MAX_REFUSED_BOT_REQUESTS_PER_WINDOW: u64 = 30;
pub const RATE_WINDOW: Duration = Duration::from_secs(10);
/// The limit for the callbacks that one client network can request through one widget in an hour. Every callback costs
/// the account money and an agent's time.
pub const MAX_CALLBACKS_PER_HOUR: u64 = 10;
/// The limit for the uploads that one client network can begin through one widget in an hour. What is uploaded costs
/// storage until it expires, even if it is never sent.
pub const MAX_WIDGET_UPLOADS_PER_HOUR: u64 = 100;
pub const HOUR: Duration = Duration::from_secs(3600);

/// Returns the number and the end of the fixed window of this length that contains `now`. Fixed windows start at
/// multiples of their length.
pub fn fixed_window(length: Duration, now: Timestamp) -> (u64, Timestamp) {
    let seconds = length.as_secs();
    let number = now.seconds() / seconds;
    (number, Timestamp::from_seconds((number + 1).saturating_mul(seconds)))
}
