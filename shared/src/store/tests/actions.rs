//! Helpers that let tests act as visitors, agents, bots and scheduled functions, and read the results.

use aws_sdk_dynamodb::types::{PutRequest, WriteRequest};

use crate::chats::agent::add_note::add_note;
use crate::chats::agent::close_chat::close_chat;
use crate::chats::bot::receive_bot_message::{BotMessage, BotMessageResult, receive_bot_message};
use crate::chats::upkeep::reschedule_idle_check::reschedule_idle_check;
use crate::domain::socket::{AgentSocket, Socket};
use crate::store::tests::*;

const MAX_BATCH_WRITES: usize = 25;

/// Signs in agent 1, who is an admin.
pub(crate) async fn signed_in(connections: &Connections) -> Session {
    let token = connections.create_session(&agent(1, "b@x.y"), &SessionOrigin::default(), NOW).await.unwrap();
    connections.session(&token, NOW).await.unwrap().unwrap()
}

pub(crate) async fn open_socket(
    connections: &Connections,
    session: &Session,
    connection_id: &str,
    now: Timestamp,
) -> AgentSocket {
    let ticket = connections.create_socket_ticket(session, now).await.unwrap();
    match connections.open_socket(&ticket, connection_id, now).await.unwrap() {
        Some(Socket::Agent(socket)) => socket,
        opened => panic!("not an agent's socket: {opened:?}"),
    }
}

impl Stores {
    /// Stores a text message from a visitor. Returns the chat number and the `seq` of the message.
    pub(crate) async fn visitor_writes(&self, visitor: &str, text: &str, now: Timestamp) -> Result<(u64, u64), Error> {
        self.visitor_writes_with(visitor, &VisitorProfile::default(), text, None, now).await
    }

    pub(crate) async fn visitor_writes_with(
        &self,
        external_id: &str,
        profile: &VisitorProfile,
        text: &str,
        key: Option<&IdempotencyKey>,
        now: Timestamp,
    ) -> Result<(u64, u64), Error> {
        let (channel, content) = (channel(), Content::text(text));
        let text = visitor_text(self, &channel, &content, profile, now);
        let incoming = VisitorText { from: FromVisitor { external_id, key, ..text.from }, ..text };
        receive_visitor_text(&self.chats, &incoming).await.map(|stored| {
            let receipt = stored.unwrap().receipt;
            (receipt.chat_id, receipt.seq)
        })
    }

    pub(crate) async fn accept(
        &self,
        chat_id: u64,
        agent: &AgentSnapshot,
        webhooks: &[Webhook],
        now: Timestamp,
    ) -> Result<Transition, Error> {
        let chat = self.chats.chat("acc", chat_id).await?.ok_or(Error::NotFound)?;
        accept_chat(&self.chats, chat, (agent, None), webhooks, now).await
    }

    pub(crate) async fn close(
        &self,
        chat_id: u64,
        agent: &AgentSnapshot,
        webhooks: &[Webhook],
        now: Timestamp,
    ) -> Result<Transition, Error> {
        let chat = self.chats.chat("acc", chat_id).await?.ok_or(Error::NotFound)?;
        close_chat(&self.chats, chat, agent, webhooks, now).await
    }

    /// Stores a text message from Bob, an agent. Returns the message's `seq`.
    pub(crate) async fn agent_writes(&self, chat_id: u64, text: &str, now: Timestamp) -> Result<u64, Error> {
        let (agent, content) = (bob(), Content::text(text));
        let outgoing = AgentMessage {
            account_id: "acc",
            chat_id,
            agent: &agent,
            content,
            draft: None,
            webhooks: &[],
            key: None,
            now,
        };
        send_agent_message(&self.chats, &outgoing).await.map(|sent| sent.receipt.seq)
    }

    /// Reads a chat and adds a note from Bob, an agent. Returns the note's `seq`.
    pub(crate) async fn add_note(&self, chat_id: u64, now: Timestamp) -> Result<u64, Error> {
        let chat = self.chats.chat("acc", chat_id).await?.ok_or(Error::NotFound)?;
        self.add_note_to(chat, None, now).await
    }

    /// Adds a note from Bob. `chat` is the header as the agent's request has read it.
    pub(crate) async fn add_note_to(
        &self,
        chat: Chat,
        key: Option<&IdempotencyKey>,
        now: Timestamp,
    ) -> Result<u64, Error> {
        let note = NewNote { agent: &bob(), text: "for us", mentions: &[], key, now };
        add_note(&self.chats, chat, &note).await.map(|receipt| receipt.seq)
    }

    pub(crate) async fn overdue_deliveries(&self, chat_id: u64, before: Timestamp) -> Vec<OverdueItem> {
        let partition = chat_id % DUE_PARTITIONS;
        self.chats.overdue(Backlog::Deliveries, partition, before, None, 10).await.unwrap().items
    }

    pub(crate) async fn chat_items(&self) -> Vec<Item> {
        self.client.scan().table_name("chats").consistent_read(true).send().await.unwrap().items.unwrap()
    }

    /// Opens chat 1, lets Bob accept it, and stores a message from him. Returns the `seq` of his message, whose
    /// delivery is pending.
    pub(crate) async fn chat_with_pending_message(&self) -> u64 {
        self.visitor_writes("v", "hi", NOW).await.unwrap();
        self.accept(1, &bob(), &[], NOW).await.unwrap();
        self.agent_writes(1, "hello", NOW).await.unwrap()
    }

    /// Opens chat 1 in a channel with a bot. The visitor's message is still waiting to be delivered to the bot.
    pub(crate) async fn open_chat_with_bot(&self) {
        let channel = Channel { bot_id: Some("B".into()), ..channel() };
        let (profile, content) = (VisitorProfile::default(), Content::text("hi"));
        let incoming = visitor_text(self, &channel, &content, &profile, NOW);
        assert!(
            receive_visitor_text(&self.chats, &incoming).await.unwrap().unwrap().receipt.target == Some(Target::Bot)
        );
    }

    pub(crate) async fn bot_sends(
        &self,
        bot: &Bot,
        content: Content,
        rich_support: RichSupport,
    ) -> Result<TimelineEntry, Error> {
        self.bot_sends_at(NOW, bot, content, rich_support).await
    }

    pub(crate) async fn bot_sends_text(&self, text: &str, now: Timestamp) {
        self.bot_sends_at(now, &bot(&[]), Content::text(text), RichSupport::default()).await.unwrap();
    }

    pub(crate) async fn bot_sends_at(
        &self,
        now: Timestamp,
        bot: &Bot,
        content: Content,
        rich_support: RichSupport,
    ) -> Result<TimelineEntry, Error> {
        let is_displayable = content.converted_for(rich_support).is_some();
        let message =
            BotMessage { bot, chat_id: 1, content: &content, reply_to_seq: None, is_displayable, webhooks: &[], now };
        let BotMessageResult::Stored { receipt: stored, .. } = receive_bot_message(&self.chats, &message, None).await?
        else {
            panic!("the message counts as a repeated one")
        };
        Ok(self.chats.entry("acc", stored.chat_id, stored.seq).await?.unwrap())
    }

    /// The bot invites agents without telling them anything.
    pub(crate) async fn bot_invites(
        &self,
        chat_id: u64,
        invited: Invited<'_>,
        now: Timestamp,
    ) -> Result<Transition, Error> {
        self.bot_invites_with(&bot(&[]), chat_id, (invited, &HandoverDetails::default(), None), now).await
    }

    /// The bot invites agents with these details and last words.
    pub(crate) async fn bot_invites_with(
        &self,
        bot: &Bot,
        chat_id: u64,
        (invited, details, text): (Invited<'_>, &HandoverDetails, Option<&str>),
        now: Timestamp,
    ) -> Result<Transition, Error> {
        let event = AgentInvitation {
            bot,
            chat_id,
            text,
            details,
            invited,
            opens_at: None,
            department: None,
            claim: None,
            reply_to_seq: None,
            key: None,
        };
        invite_agent(&self.chats, &event, &[webhook("w")], now).await
    }

    pub(crate) async fn chat_state_name(&self) -> &'static str {
        self.chat_header(1).await.state.name()
    }

    /// Inserts copies of chat 1's header with these chat numbers, and with agent 2 as the owner.
    pub(crate) async fn insert_chats_of_another_agent(&self, numbers: std::ops::Range<u64>) {
        let is_head = |item: &Item| item["sk"].as_s().unwrap() == "HEAD" && item["pk"].as_s().unwrap() == "CHAT#acc#1";
        let header = self.chat_items().await.into_iter().find(is_head).unwrap();
        let agent_2 = AttributeValue::M([("agent_id".into(), n(2)), ("name".into(), s("Ann"))].into());
        let chats: Vec<u64> = numbers.collect();
        for chats in chats.chunks(MAX_BATCH_WRITES) {
            let puts = chats.iter().map(|chat| {
                let mut item = header.clone();
                item.insert("pk".into(), s(format!("CHAT#acc#{chat}")));
                item.insert("chat_id".into(), n(chat));
                item.insert("agent".into(), agent_2.clone());
                let put = PutRequest::builder().set_item(Some(item)).build().unwrap();
                WriteRequest::builder().put_request(put).build()
            });
            self.client.batch_write_item().request_items("chats", puts.collect()).send().await.unwrap();
        }
    }

    pub(crate) async fn create_department(&self, name: &str, agent_ids: &[u64]) -> Department {
        let new = Department { name: name.into(), agent_ids: agent_ids.to_vec(), ..Department::default() };
        self.directory.create_department("acc", new).await.unwrap()
    }

    pub(crate) fn uncached_directory(&self) -> Directory {
        Directory::new(self.directory.table.clone())
    }

    /// Returns whether the agent can see chat 1.
    pub(crate) async fn can_see_chat(&self, agent_id: u64, role: Role) -> bool {
        self.can_see_chat_with(&self.uncached_directory(), &agent_session(agent_id, role)).await
    }

    pub(crate) async fn can_see_chat_with(&self, directory: &Directory, session: &Session) -> bool {
        match (ChatAccess { directory, chats: &self.chats, session, now: NOW }).chat(1).await {
            Ok(_) => true,
            Err(Error::Forbidden(_)) => false,
            Err(error) => panic!("{error:?}"),
        }
    }

    pub(crate) async fn transfer(&self, by: u64, to: &TransferTarget) -> Result<Chat, Error> {
        let chat = self.chats.chat("acc", 1).await?.unwrap();
        let by = TransferRequester { agent: &agent_snapshot(by), is_admin: false };
        let transition =
            transfer_chat(&self.chats, chat, by, transfer_to(to), without_webhooks(seconds_later(1))).await?;
        Ok(transition.chat)
    }

    /// Opens, accepts and closes a chat, `second` seconds after `NOW`.
    pub(crate) async fn closed_chat(&self, visitor: &str, second: u64) {
        let now = seconds_later(second);
        let (chat_id, _) = self.visitor_writes(visitor, "hi", now).await.unwrap();
        self.accept(chat_id, &bob(), &[], now).await.unwrap();
        self.close(chat_id, &bob(), &[], now).await.unwrap();
    }

    /// Runs all idle checks that are due, as the scheduled function does. Returns the number of each closed chat and
    /// the kinds of its notifications.
    pub(crate) async fn run_idle_checks(&self, now: Timestamp) -> Vec<(u64, Vec<Content>)> {
        let mut closed = Vec::new();
        for partition in 0..DUE_PARTITIONS {
            let page = self.chats.overdue(Backlog::IdleChecks, partition, now, None, 100).await.unwrap();
            for due in page.items {
                let Some(chat) = self.chats.due_for_idle_check(&due).await.unwrap() else { continue };
                if !self.settings.is_idle(chat.idle_since(), now) {
                    reschedule_idle_check(&self.chats, &due, &chat, &self.settings, now).await.unwrap();
                } else if let Some(end) = close_idle_chat(&self.chats, &chat, &self.settings, now).await.unwrap() {
                    closed.push((
                        end.chat.chat_id,
                        end.notifications.iter().map(|entry| entry.content.clone()).collect(),
                    ));
                }
            }
        }
        closed
    }

    /// Returns `pk`, `sk` and `expires_at` of every item that is neither a counter nor the record of an erasure.
    pub(crate) async fn expiries(&self) -> Vec<(String, String, Option<u64>)> {
        let text = |item: &Item, name: &str| item[name].as_s().unwrap().clone();
        let number = |item: &Item| item.get("expires_at").and_then(|value| value.as_n().ok()?.parse().ok());
        let items = self.chat_items().await;
        let expiries = items.iter().map(|item| (text(item, "pk"), text(item, "sk"), number(item)));
        let omitted = ["COUNTERS#", "OPENED_CHATS#", "REPORT#", "ERASED_CHAT#"];
        expiries.filter(|(pk, ..)| !omitted.iter().any(|prefix| pk.starts_with(prefix))).collect()
    }

    /// Returns `expires_at` of the visitor's item, and of the item that maps the visitor's number to the visitor.
    pub(crate) async fn visitor_expiries(&self) -> [Option<u64>; 2] {
        let expiries = self.expiries().await;
        ["VISITOR#", "VISITOR_NUMBER#"]
            .map(|prefix| expiries.iter().find(|(pk, ..)| pk.starts_with(prefix)).expect("no such item").2)
    }

    pub(crate) async fn chat_header(&self, chat_id: u64) -> Chat {
        self.chats.chat("acc", chat_id).await.unwrap().unwrap()
    }

    pub(crate) async fn entry(&self, chat_id: u64, seq: u64) -> TimelineEntry {
        self.chats.entry("acc", chat_id, seq).await.unwrap().unwrap()
    }

    pub(crate) async fn visitor(&self, external_id: &str) -> Visitor {
        self.chats.visitor("CH", external_id).await.unwrap().unwrap()
    }

    /// Returns the chat numbers of one page of the listing, regardless of who can see the chats, and the cursor of the
    /// next page.
    pub(crate) async fn listed_chat_ids(
        &self,
        states: &[&'static str],
        before: Option<u64>,
        count: usize,
    ) -> (Vec<u64>, Option<u64>) {
        page_ids(&self.chats.listing("acc", states, before).next(count).await.unwrap())
    }

    /// Returns the chat numbers of one page of the open chats that an agent can see, and the cursor of the next page.
    pub(crate) async fn visible_chat_ids(
        &self,
        session: &Session,
        before: Option<u64>,
        limit: usize,
    ) -> (Vec<u64>, Option<u64>) {
        let access = ChatAccess { directory: &self.directory, chats: &self.chats, session, now: NOW };
        page_ids(&access.list(self.chats.listing("acc", OPEN_STATES, before), limit).await.unwrap())
    }

    /// Stores channel `CH` with these agents as its audience.
    pub(crate) async fn store_channel_for(&self, agent_ids: &[u64]) {
        let mut channel = channel();
        (channel.settings.agent_ids, channel.settings.department_ids) = (agent_ids.to_vec(), vec![]);
        self.directory.table.put(to_item(&ChannelItem::from(&channel)).unwrap(), true).await.unwrap();
    }

    /// Stores agents 1 and 2, and channel `CH` with agent 2 as its audience. Returns a session of agent 1 without the
    /// rights of an admin.
    pub(crate) async fn session_outside_audience(&self) -> Session {
        for agent_id in [1, 2] {
            let agent = agent(agent_id, &format!("{agent_id}@example.com"));
            self.directory.create_agent(&agent, &test_password_hash(), Authority::Operator).await.unwrap();
        }
        self.store_channel_for(&[2]).await;
        agent_session(1, Role::Agent)
    }
}

pub(crate) fn page_ids(page: &ChatPage) -> (Vec<u64>, Option<u64>) {
    (page.chats.iter().map(|chat| chat.chat_id).collect(), page.next)
}
