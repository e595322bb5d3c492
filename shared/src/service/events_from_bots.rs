//! The events that a bot may send (specification, B-1). A bot can affect only its own chats and visitors.

use crate::chats::bot::close_chat::{BotClosing, close_chat_by_bot};
use crate::chats::bot::hand_over_chat::{self, invite_agent};
use crate::chats::bot::receive_bot_message::{BotMessage, BotMessageResult, receive_bot_message};
use crate::chats::notifications::NotificationContext;
use crate::chats::transition::Transition;
use crate::chats::visitor::update_visitor::update_visitor_and_notify;
use crate::delivery::bot_receiver::has_online_agent;
use crate::delivery::socket_gateway::SocketGateway;
use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::accounts::agent_presence;
use crate::domain::accounts::department::Department;
use crate::domain::bots::bot::Bot;
use crate::domain::bots::turn::answerable_seq;
use crate::domain::business_hours::BusinessHours;
use crate::domain::chats::bot_draft::BotDraft;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_side_panel::PanelUpdate;
use crate::domain::chats::chat_state::Invited;
use crate::domain::chats::idempotency_key::IdempotencyKey;
use crate::domain::chats::message_content::{Content, RichSupport, TypingNotice};
use crate::domain::chats::message_id;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::files::upload::Uploader;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::{ProfileSource, Visitor, VisitorProfile};
use crate::error::Error;
use crate::runtime::clock;
use crate::runtime::outbox::Outbox;
use crate::service::assignment::slot_claim;
use crate::service::growing_answer::show_growing_answer;
use crate::service::push::PushService;
use crate::service::typing_notice::send_typing_notice_to_visitor;
use crate::service::uploads::{FileReceiver, MessageFate};
use crate::store::chats::Chats;
use crate::store::connections::Connections;
use crate::store::directory::Directory;
use crate::wire::bots::bot::{AgentInvitation, ChatReference, InvitationTarget};
use crate::wire::push::TypingFrom;

/// The maximum number of entries that are read to find the visitor's newer messages.
const MAX_NEWER_ENTRIES: i32 = 50;

pub struct BotEventHandler<'a> {
    pub bot: &'a Bot,
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub connections: &'a Connections,
}

impl BotEventHandler<'_> {
    /// Handles BOT_MESSAGE. The message is stored once for each idempotency key.
    pub async fn bot_message(
        &self,
        chat_reference: &ChatReference,
        content: &Content,
        files: &FileReceiver<'_>,
        reply_to_seq: Option<u64>,
        key: Option<&IdempotencyKey>,
    ) -> Result<BotMessageResult, Error> {
        if let Some(receipt) = self.chats.earlier_receipt(key).await? {
            return Ok(BotMessageResult::repeated(receipt));
        }
        let (bot, now) = (self.bot, clock::now());
        let chat_id = self.chat_id(chat_reference).await?;
        let in_field = |error| as_field_error(chat_reference, error);
        let is_displayable = self.is_displayable(chat_id, content).await.map_err(in_field)?;
        let webhooks = &self.directory.cached_settings(&bot.account_id).await?.webhooks;
        let mut content = content.clone();
        let uploader = Uploader::bot(&bot.account_id, &bot.bot_id, chat_id);
        let taken = files.take(&uploader, &mut content).await?;
        let message = BotMessage { bot, chat_id, content: &content, reply_to_seq, is_displayable, webhooks, now };
        let received = receive_bot_message(self.chats, &message, key).await;
        let fate = match received {
            // The equal message before this one can have the same file.
            Ok(BotMessageResult::Duplicate { .. }) => MessageFate::Unknown,
            _ => MessageFate::of(&received),
        };
        taken.finish(files.bucket, fate).await;
        received.map_err(in_field)
    }

    /// Returns whether the chat's channel can show a message or its fallback text.
    async fn is_displayable(&self, chat_id: u64, content: &Content) -> Result<bool, Error> {
        if content.converted_for(RichSupport::default()).is_some() {
            return Ok(true);
        }
        let chat = self.chat_of_this_bot(chat_id).await?;
        let channel = self.directory.cached_channel(&chat.channel_id).await?;
        let rich_support = channel.map(|channel| channel.settings.rich_support()).unwrap_or_default();
        Ok(content.converted_for(rich_support).is_some())
    }

    /// Handles INVITE_AGENT. The result is `None` if an earlier request with the same idempotency key was handled.
    pub async fn invite_agent(
        &self,
        chat_reference: &ChatReference,
        invitation: &AgentInvitation,
        reply_to_seq: Option<u64>,
        key: Option<&IdempotencyKey>,
    ) -> Result<Option<Transition>, Error> {
        // An invitation that stores nothing has no receipt.
        let key = key.filter(|_| *invitation != AgentInvitation::default());
        if self.chats.earlier_receipt(key).await?.is_some() {
            return Ok(None);
        }
        let (bot, now) = (self.bot, clock::now());
        let chat = self.referenced_chat(chat_reference).await?;
        let chat_id = chat.chat_id;
        let target = self.invitation_target(invitation.target).await?;
        let settings = self.directory.cached_settings(&bot.account_id).await?;
        let AgentInvitation { text, details, .. } = invitation;
        let (text, department) = (text.as_deref(), target.department());
        let closed = self.closed_hours(&chat, department, now).await?;
        let invited = if closed.is_some() { Invited::Nobody } else { self.invited(&chat, &target).await? };
        let opens_at = closed.and_then(|hours| hours.opens_at(now));
        let claim = match &invited {
            Invited::Agent(agent) => slot_claim(self.directory, &settings, &bot.account_id, agent.agent_id).await?,
            Invited::Nobody | Invited::Audience | Invited::Department(_) => None,
        };
        let event = hand_over_chat::AgentInvitation {
            bot,
            chat_id,
            text,
            details,
            invited,
            opens_at,
            department,
            claim,
            reply_to_seq,
            key,
        };
        match invite_agent(self.chats, &event, &settings.webhooks, now).await {
            // An agent without a free slot is replaced by the audience of the channel, like one who is not online.
            Err(error) if claim.is_some() && error.is_at_capacity() => {
                let event = hand_over_chat::AgentInvitation { invited: Invited::Audience, claim: None, ..event };
                invite_agent(self.chats, &event, &settings.webhooks, now).await.map(Some)
            }
            invited => invited.map(Some),
        }
    }

    /// Reads the department or the agent that the bot has chosen. Fails with the name of the field if it does not
    /// exist.
    async fn invitation_target(&self, target: Option<InvitationTarget>) -> Result<ChosenTarget, Error> {
        let (directory, account_id) = (self.directory, &self.bot.account_id);
        let (field, found) = match target {
            None => return Ok(ChosenTarget::Audience),
            Some(InvitationTarget::Department(id)) => {
                ("department_id", directory.department(account_id, id).await?.map(ChosenTarget::Department))
            }
            Some(InvitationTarget::Agent(id)) => {
                let agent = directory.agent(account_id, id).await?;
                ("agent_id", agent.map(|agent| ChosenTarget::Agent(AgentSnapshot::from(agent).without_photo())))
            }
        };
        found.ok_or_else(|| Error::field(field, "does not exist"))
    }

    /// Returns the business hours of an invitation outside them: those of the invited department, if there is one.
    async fn closed_hours(
        &self,
        chat: &Chat,
        invited: Option<&Department>,
        now: Timestamp,
    ) -> Result<Option<BusinessHours>, Error> {
        let Some(channel) = self.directory.cached_channel(&chat.channel_id).await? else { return Ok(None) };
        let of_chat = || chat.department.as_ref().map(|department| department.department_id);
        let department_id = invited.map(|department| department.department_id).or_else(of_chat);
        let hours = self.directory.business_hours(&channel, department_id).await?;
        Ok(hours.filter(|hours| !hours.is_open(now)))
    }

    /// Returns whom the invitation reaches. An agent who is not online is replaced by the audience of the channel, and
    /// so is a department without members, to which no chat can be offered.
    async fn invited<'t>(&self, chat: &Chat, target: &'t ChosenTarget) -> Result<Invited<'t>, Error> {
        let is_online = async |agent_ids: &[u64]| {
            let presences = self.connections.presences(&chat.account_id).await?;
            Ok::<_, Error>(agent_presence::any_online(&presences, |id| agent_ids.contains(&id), clock::now()))
        };
        match target {
            ChosenTarget::Department(department) if !department.agent_ids.is_empty() => {
                let is_online = is_online(&department.agent_ids).await?;
                return Ok(if is_online { Invited::Department(department.department_id) } else { Invited::Nobody });
            }
            ChosenTarget::Agent(agent) if is_online(&[agent.agent_id]).await? => return Ok(Invited::Agent(agent)),
            ChosenTarget::Audience | ChosenTarget::Department(_) | ChosenTarget::Agent(_) => {}
        }
        let is_agent_online = has_online_agent(self.directory, self.connections, chat).await?;
        Ok(if is_agent_online { Invited::Audience } else { Invited::Nobody })
    }

    /// Handles CLOSE_CHAT. The result is `None` if an earlier request with the same idempotency key was handled.
    pub async fn close_chat(
        &self,
        chat_reference: &ChatReference,
        text: Option<&str>,
        key: Option<&IdempotencyKey>,
    ) -> Result<Option<Transition>, Error> {
        if self.chats.earlier_receipt(key).await?.is_some() {
            return Ok(None);
        }
        let Chat { chat_id, .. } = self.referenced_chat(chat_reference).await?;
        let settings = self.directory.cached_settings(&self.bot.account_id).await?;
        let closing = BotClosing { bot: self.bot, chat_id, text, key };
        close_chat_by_bot(self.chats, &closing, &settings.webhooks, clock::now()).await.map(Some)
    }

    /// Handles TYPING. The notice is sent once and is not stored.
    pub async fn send_typing_notice(
        &self,
        chat_reference: &ChatReference,
        typing: TypingNotice,
        outbox: &Outbox,
        gateway: &SocketGateway,
    ) -> Result<(), Error> {
        let chat = self.chat_owned_by_bot(chat_reference).await?;
        let push = self.push_service(gateway);
        send_typing_notice_to_visitor(&push, outbox, &chat, TypingFrom::Bot, typing).await
    }

    /// Handles MESSAGE_CHUNK. Returns whether the visitor has stopped the answer. Nothing is stored.
    pub async fn show_growing_answer(
        &self,
        chat_reference: &ChatReference,
        (text, reply_to_seq): (&str, Option<u64>),
        outbox: &Outbox,
        gateway: &SocketGateway,
    ) -> Result<bool, Error> {
        let chat = self.chat_owned_by_bot(chat_reference).await?;
        chat.require_answer_to_last(reply_to_seq)?;
        if chat.is_answer_stopped() {
            return Ok(true);
        }
        let push = self.push_service(gateway);
        show_growing_answer(&push, outbox, &chat, (&self.bot.name, text)).await?;
        Ok(false)
    }

    /// Handles DRAFT: shows the agent who has the chat an answer. Fails if the bot is not on standby, or if no agent
    /// has its chat.
    pub async fn suggest_answer(
        &self,
        chat_reference: &ChatReference,
        (text, reply_to_seq): (&str, Option<u64>),
    ) -> Result<(), Error> {
        let chat = self.referenced_chat(chat_reference).await?;
        chat.require_bot(&self.bot.bot_id)?;
        if !self.bot.settings.standby {
            return Err(Error::Forbidden("the bot is not on standby"));
        }
        if chat.state.agent().is_none() {
            return Err(Error::Forbidden("no agent has the chat"));
        }
        chat.require_answer_to_last(reply_to_seq)?;
        let (bot_name, text) = (self.bot.name.clone(), text.to_owned());
        let after_seq = reply_to_seq.unwrap_or(chat.seq);
        let draft = BotDraft { bot_name, text, after_seq, at: clock::now() };
        self.chats.update_panel(&chat, &PanelUpdate { draft: Some(draft), ..PanelUpdate::default() }).await
    }

    /// Counts an answer that was refused because the visitor has written since. An error is only logged, because the
    /// answer has been refused already.
    pub async fn count_superseded_answer(&self, chat_reference: &ChatReference) {
        let counted = async {
            let chat_id = self.chat_id(chat_reference).await?;
            self.chats.count_superseded_answer(&self.bot.account_id, chat_id).await
        };
        if let Err(error) = counted.await {
            tracing::warn!(context = error.context(), self.bot.bot_id, "superseded answer not counted");
        }
    }

    /// Reads the chat of an event. Fails if the bot does not have it.
    async fn chat_owned_by_bot(&self, chat_reference: &ChatReference) -> Result<Chat, Error> {
        let chat = self.referenced_chat(chat_reference).await?;
        chat.require_owned_by_bot(&self.bot.bot_id)?;
        Ok(chat)
    }

    fn push_service<'s>(&'s self, gateway: &'s SocketGateway) -> PushService<'s> {
        let Self { directory, chats, connections, .. } = *self;
        PushService { directory, chats, connections, gateway, browsers: None, now: clock::now() }
    }

    /// Handles CLIENT_INFO. Returns the stored notifications for the webhooks; the caller must queue them.
    pub async fn handle_client_info(
        &self,
        chat_reference: &ChatReference,
        profile: &VisitorProfile,
    ) -> Result<Vec<TimelineEntry>, Error> {
        let visitor = match chat_reference.client_id {
            Some(number) if chat_reference.chat_id.is_none() => self.visitor(number).await?,
            _ => {
                let chat = self.referenced_chat(chat_reference).await?;
                let visitor = self.chats.visitor(&chat.channel_id, &chat.external_id).await?;
                visitor.ok_or_else(|| not_of_this_bot("chat_id"))?
            }
        };
        let mut visitor = visitor;
        visitor.merge_profile(profile, ProfileSource::Bot);
        let settings = self.directory.cached_settings(&self.bot.account_id).await?;
        let context = NotificationContext { webhooks: &settings.webhooks, agent_id: None, now: clock::now() };
        update_visitor_and_notify(self.chats, &visitor, &context).await
    }

    /// Returns the visitor's messages that a refused answer did not take into account, oldest first, and the number
    /// with which the bot can answer them.
    pub async fn newer_messages(
        &self,
        chat_reference: &ChatReference,
        refused_seq: u64,
    ) -> Result<(Vec<TimelineEntry>, u64), Error> {
        let chat_id = self.chat_id(chat_reference).await?;
        let account_id = &self.bot.account_id;
        let (entries, chat) = self.chats.timeline_and_chat(account_id, chat_id, refused_seq, MAX_NEWER_ENTRIES).await?;
        let chat = chat.ok_or(Error::NotFound)?;
        let newer: Vec<_> = entries.into_iter().filter(TimelineEntry::is_visitor_message).collect();
        let up_to_seq = answerable_seq(refused_seq, &newer, &chat, clock::now());
        Ok((newer, up_to_seq))
    }

    /// Finds the chat of an event by its `chat_id`, by its `client_id`, or by the `id` of a CLIENT_MESSAGE
    /// (docs/decisions.md, Bot API).
    async fn chat_id(&self, chat_reference: &ChatReference) -> Result<u64, Error> {
        match (chat_reference.chat_id, chat_reference.client_id) {
            (Some(chat_id), None) => Ok(chat_id),
            (Some(chat_id), Some(number)) => {
                let chat =
                    self.chat_of_this_bot(chat_id).await.map_err(|error| as_field_error(chat_reference, error))?;
                let agrees = chat.visitor_number == number;
                if agrees { Ok(chat_id) } else { Err(Error::field("client_id", "is not the client of chat_id")) }
            }
            (None, Some(number)) => {
                let visitor = self.visitor(number).await?;
                visitor.open_chat.ok_or_else(|| Error::field("client_id", "has no open chat"))
            }
            (None, None) => self.chat_of_message(chat_reference.id.as_deref()).await,
        }
    }

    async fn chat_of_message(&self, id: Option<&str>) -> Result<u64, Error> {
        let missing = || Error::field("chat_id", "or client_id is required, or the id of a CLIENT_MESSAGE");
        let id = id.ok_or_else(missing)?;
        let (chat_id, seq) = message_id::chat_and_seq(id).ok_or_else(missing)?;
        let entry = self.chats.entry(&self.bot.account_id, chat_id, seq).await?;
        if entry.is_some_and(|entry| entry.id == id) { Ok(chat_id) } else { Err(missing()) }
    }

    /// Reads the chat of an event, which this bot must own or have owned.
    async fn referenced_chat(&self, chat_reference: &ChatReference) -> Result<Chat, Error> {
        let chat_id = self.chat_id(chat_reference).await?;
        self.chat_of_this_bot(chat_id).await.map_err(|error| as_field_error(chat_reference, error))
    }

    /// Reads a chat that this bot owns or has owned. For any other chat, fails with `NotFound`.
    async fn chat_of_this_bot(&self, chat_id: u64) -> Result<Chat, Error> {
        let chat = self.chats.chat(&self.bot.account_id, chat_id).await?;
        chat.filter(|chat| chat.has_or_had_bot(&self.bot.bot_id)).ok_or(Error::NotFound)
    }

    /// Reads a visitor of one of this bot's channels. For any other visitor, the error names the `client_id` field as
    /// invalid.
    async fn visitor(&self, number: u64) -> Result<Visitor, Error> {
        let visitor = self.chats.visitor_by_number(&self.bot.account_id, number, clock::now()).await?;
        let visitor = visitor.filter(|visitor| self.bot.channel_ids.contains(&visitor.channel_id));
        visitor.ok_or_else(|| not_of_this_bot("client_id"))
    }
}

/// Whom a bot wants to invite.
enum ChosenTarget {
    /// The audience of the chat's channel.
    Audience,
    Department(Department),
    Agent(AgentSnapshot),
}

impl ChosenTarget {
    fn department(&self) -> Option<&Department> {
        if let Self::Department(department) = self { Some(department) } else { None }
    }
}

fn not_of_this_bot(field: &'static str) -> Error {
    Error::field(field, "does not belong to this bot")
}

/// Converts `NotFound` to an error that names the invalid field of the event (400), because 404 would mean that the URL
/// is wrong.
fn as_field_error(chat_reference: &ChatReference, error: Error) -> Error {
    match (&error, chat_reference.chat_id, chat_reference.client_id) {
        (Error::NotFound, None, Some(_)) => not_of_this_bot("client_id"),
        (Error::NotFound, _, _) => not_of_this_bot("chat_id"),
        _ => error,
    }
}
