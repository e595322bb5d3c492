//! Limits the requests of a bot, the refused requests of a client network (an IPv4 address or an IPv6 /64 prefix) to
//! the path of a bot provider, the socket tickets, messages and typing notices of an agent, the tests of receivers, the
//! frames of a widget's visitor, and the requests and callbacks that a client network makes through a widget.
//!
//! Messages and typing notices of agents and tests of receivers are counted only in the memory of each process, because
//! their callers are known and the limits are far above what people do. All processes share the other counts.
//!
//! Each callback is counted in the table. Other requests are counted in memory, and a process adds them to the count in
//! the table after every ten requests, to save writes. With a single process, the limit is exact. Each additional
//! process can let up to nine extra requests through.

use serde::Deserialize;

use crate::domain::accounts::login_limit::client_network;
use crate::domain::rate_limit::{
    HOUR, MAX_AGENT_MESSAGES_PER_WINDOW, MAX_AGENT_TYPING_NOTICES_PER_WINDOW, MAX_CALLBACKS_PER_HOUR,
    MAX_RECEIVER_TESTS_PER_WINDOW, MAX_REFUSED_BOT_REQUESTS_PER_WINDOW, MAX_SOCKET_TICKETS_PER_WINDOW,
    MAX_WIDGET_REQUESTS_PER_WINDOW, MAX_WIDGET_UPLOADS_PER_HOUR, RATE_WINDOW, fixed_window,
};
use crate::domain::sha256;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::connections::Connections;
use crate::store::connections::local_rate_windows::LocalRateWindow;
use crate::store::connections::sessions::Session;
use crate::store::from_item;
use crate::store::table::{ItemUpdate, Key, WriteResult, n};

const COUNT_FLUSH_SIZE: u64 = 10;

fn refused_bot_requests_of(provider_id: &str, address: &str) -> String {
    format!("REFUSED_BOT#{provider_id}#{}", sha256::hex_digest(client_network(address)))
}

#[derive(Deserialize)]
struct RequestCountItem {
    count: u64,
}

pub(in crate::store) fn request_count_key(caller: &str, window: u64) -> Key {
    Key::new(format!("RATE#{caller}"), format!("{window}"))
}

impl Connections {
    /// Counts a request of a bot, which may make `limit` requests in a window of ten seconds.
    ///
    /// # Errors
    /// Fails with `RateLimited` if the bot has reached its limit. The error contains the time until the window ends.
    pub async fn count_bot_request(&self, bot_id: &str, limit: u64, now: Timestamp) -> Result<(), Error> {
        self.count_request(bot_id, limit, now).await
    }

    /// Counts a socket ticket that is created for an agent. Errors are as in
    /// [`count_bot_request`](Self::count_bot_request).
    pub async fn count_socket_ticket(&self, account_id: &str, agent_id: u64, now: Timestamp) -> Result<(), Error> {
        let caller = format!("SOCKET_TICKET#{account_id}#{agent_id}");
        self.count_request(&caller, MAX_SOCKET_TICKETS_PER_WINDOW, now).await
    }

    /// Counts a message that an agent sends in a chat.
    ///
    /// # Errors
    /// Fails with `RateLimited` if this process has reached the limit. The error contains the time until the window
    /// ends.
    pub fn count_agent_message(&self, session: &Session, chat_id: u64, now: Timestamp) -> Result<(), Error> {
        let caller = format!("AGENT_MESSAGE#{}#{}#{chat_id}", session.account_id, session.agent.agent_id);
        self.count_in_memory(&caller, MAX_AGENT_MESSAGES_PER_WINDOW, now)
    }

    /// Counts a typing notice that an agent sends. Errors are as in
    /// [`count_agent_message`](Self::count_agent_message).
    pub fn count_agent_typing(&self, session: &Session, now: Timestamp) -> Result<(), Error> {
        let caller = format!("AGENT_TYPING#{}#{}", session.account_id, session.agent.agent_id);
        self.count_in_memory(&caller, MAX_AGENT_TYPING_NOTICES_PER_WINDOW, now)
    }

    /// Counts a sample that an admin sends to a receiver. Errors are as in
    /// [`count_agent_message`](Self::count_agent_message).
    pub fn count_receiver_test(&self, account_id: &str, now: Timestamp) -> Result<(), Error> {
        self.count_in_memory(&format!("RECEIVER_TEST#{account_id}"), MAX_RECEIVER_TESTS_PER_WINDOW, now)
    }

    /// Counts a request that the client network makes through this widget. Stores only a hash of the network. Costs
    /// and errors are as in [`count_bot_request`](Self::count_bot_request).
    pub async fn count_widget_request(&self, channel_id: &str, address: &str, now: Timestamp) -> Result<(), Error> {
        let caller = format!("WIDGET#{channel_id}#{}", sha256::hex_digest(client_network(address)));
        self.count_request(&caller, MAX_WIDGET_REQUESTS_PER_WINDOW, now).await
    }

    /// Counts a request to a bot provider's path that is refused with 401. Stores only a hash of the network. Errors
    /// are as in [`count_bot_request`](Self::count_bot_request).
    pub(crate) async fn count_refused_bot_request(
        &self,
        provider_id: &str,
        address: &str,
        now: Timestamp,
    ) -> Result<(), Error> {
        let caller = refused_bot_requests_of(provider_id, address);
        self.count_request(&caller, MAX_REFUSED_BOT_REQUESTS_PER_WINDOW, now).await
    }

    /// Fails with `RateLimited` if this process knows that the network has reached the limit of refused requests.
    pub(crate) fn require_few_refused_bot_requests(
        &self,
        provider_id: &str,
        address: &str,
        now: Timestamp,
    ) -> Result<(), Error> {
        let (number, ends_at) = fixed_window(RATE_WINDOW, now);
        let counted = self.local_rate_windows.counted(&refused_bot_requests_of(provider_id, address), number);
        if counted < MAX_REFUSED_BOT_REQUESTS_PER_WINDOW { Ok(()) } else { Err(Error::RateLimited(ends_at.since(now))) }
    }

    /// Counts a callback against the hourly limit of the client network in this widget. Stores only a hash of the
    /// network.
    ///
    /// # Errors
    /// Fails with `RateLimited` if the network has reached its limit. The error contains the time until the window
    /// ends.
    pub async fn count_callback(&self, channel_id: &str, address: &str, now: Timestamp) -> Result<(), Error> {
        let caller = format!("CALLBACK#{channel_id}#{}", sha256::hex_digest(client_network(address)));
        self.count_in_hour(&caller, MAX_CALLBACKS_PER_HOUR, now).await
    }

    /// Counts an upload that the client network begins through this widget. Stores and errors are as in
    /// [`count_callback`](Self::count_callback).
    pub async fn count_widget_upload(&self, channel_id: &str, address: &str, now: Timestamp) -> Result<(), Error> {
        let caller = format!("UPLOAD#{channel_id}#{}", sha256::hex_digest(client_network(address)));
        self.count_in_hour(&caller, MAX_WIDGET_UPLOADS_PER_HOUR, now).await
    }

    async fn count_in_hour(&self, caller: &str, limit: u64, now: Timestamp) -> Result<(), Error> {
        let (number, ends_at) = fixed_window(HOUR, now);
        let count = self.add_to_shared_count(caller, number, 1, ends_at).await?;
        if count <= limit { Ok(()) } else { Err(Error::RateLimited(ends_at.since(now))) }
    }

    pub(super) async fn count_request(&self, caller: &str, limit: u64, now: Timestamp) -> Result<(), Error> {
        let (number, ends_at) = fixed_window(RATE_WINDOW, now);
        let mut window = self.local_rate_windows.count_request(caller, number);
        if window.local_count >= COUNT_FLUSH_SIZE && window.shared_count <= limit {
            let shared_count = self.add_to_shared_count(caller, number, window.local_count, ends_at).await?;
            window = LocalRateWindow { number, shared_count, local_count: 0 };
            self.local_rate_windows.replace(caller, window);
        }
        if window.shared_count + window.local_count <= limit {
            return Ok(());
        }
        Err(Error::RateLimited(ends_at.since(now)))
    }

    fn count_in_memory(&self, caller: &str, limit: u64, now: Timestamp) -> Result<(), Error> {
        let (number, ends_at) = fixed_window(RATE_WINDOW, now);
        let LocalRateWindow { local_count, .. } = self.local_rate_windows.count_request(caller, number);
        if local_count <= limit { Ok(()) } else { Err(Error::RateLimited(ends_at.since(now))) }
    }

    async fn add_to_shared_count(
        &self,
        caller: &str,
        number: u64,
        added: u64,
        ends_at: Timestamp,
    ) -> Result<u64, Error> {
        let update = ItemUpdate {
            key: request_count_key(caller, number),
            update: "ADD #count :added SET #expires_at = :expires",
            condition: "",
            values: vec![(":added", n(added)), (":expires", n(ends_at.seconds() + 60))],
        };
        Ok(from_item::<RequestCountItem>(self.table.update(update).await.unconditional()?)?.count)
    }
}
