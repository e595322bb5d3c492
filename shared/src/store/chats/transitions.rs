//! Changes of a chat's owner. Each is one conditional write of the header; what the bot and the webhooks must be told
//! of it are entries of the timeline, written in the same transaction, so that neither is without the other.

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::account::Author;
use crate::domain::bot::BotNotice;
use crate::domain::chat::{Chat, Sender};
use crate::domain::chat_state::{Event, State};
use crate::domain::content::{Content, Kind};
use crate::domain::delivery::{Delivery, Target};
use crate::domain::entry::Entry;
use crate::domain::settings::Settings;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::Visitor;
use crate::domain::webhook::{Details, Webhook, WebhookDispatch, WebhookEvent};
use crate::error::{Context, Error};
use crate::store::chats::items::{AuthorItem, DepartmentItem, EntryItem};
use crate::store::chats::listing::MAX_HEADERS_PER_READ;
use crate::store::chats::listing_key;
use crate::store::chats::{ABOVE_ALL, Chats, head_key, number_key, panel_key, visitor_key};
use crate::store::table::{EXISTS, Item, ItemUpdate, Refused, Write, n, s};
use crate::store::{MAX_RACE_ATTEMPTS, to_attribute, to_item};

/// A change that was made.
#[derive(Debug)]
pub struct Transition {
    /// The chat afterwards.
    pub chat: Chat,
    /// What the bot and the webhooks are to be told, to be queued.
    pub notifications: Vec<Entry>,
}

/// What became of handing a bot's chat to the agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOver {
    /// The agents have it.
    Done,
    /// The bot keeps it, or gave it away itself: it has sent an event meanwhile.
    Answered,
    /// The bot had lost it already.
    NotWithBot,
}

/// What a transition does besides changing the owner.
struct TransitionEffects {
    state: State,
    notice: Option<BotNotice>,
    event: Option<WebhookEvent>,
    /// Whether the bot has reacted to what was written before.
    bot_reacted: bool,
}

impl Chats {
    /// Gives a chat that was just read to the agent who pressed Reply, to whom it is offered as it was then. A write;
    /// with a bot, a transaction of two; a read more for each race that is lost.
    pub async fn accept(
        &self,
        seen: Chat,
        agent: &Author,
        webhooks: &[Webhook],
        now: Timestamp,
    ) -> Result<Transition, Error> {
        let context = EventContext { webhooks, agent_id: Some(agent.agent_id), now };
        // Every write of the header would pay for a long address.
        let without_photo = Author { photo: None, ..agent.clone() };
        let offer = seen.state.offer();
        let plan = |before: &Chat| {
            let state = before.state.after(Event::Accept(&without_photo, offer))?;
            let notice = before.bot_id.is_some().then_some(BotNotice::AgentJoined);
            Ok(TransitionEffects { state, notice, event: Some(WebhookEvent::ChatAccepted), bot_reacted: false })
        };
        self.transition(seen, context, &plan).await
    }

    /// Ends a chat that was just read, which the agent has or which is offered to them, together with the visitor's pointer
    /// to it. Nothing where it has ended already. A transaction of two, with a bot of three; a read more for each race that
    /// is lost.
    pub async fn close(
        &self,
        seen: Chat,
        agent: &Author,
        webhooks: &[Webhook],
        now: Timestamp,
    ) -> Result<Transition, Error> {
        let context = EventContext { webhooks, agent_id: Some(agent.agent_id), now };
        let offer = seen.state.offer();
        let plan = |before: &Chat| {
            let state = before.state.after(Event::Close(agent, offer))?;
            let notice = before.bot_id.is_some().then_some(BotNotice::ChatClosed);
            Ok(TransitionEffects { state, notice, event: Some(WebhookEvent::ChatFinished), bot_reacted: false })
        };
        self.transition(seen, context, &plan).await
    }

    /// Ends a chat that has rested too long. None when somebody wrote in it or ended it meanwhile. As [`close`](Self::close).
    pub async fn close_idle(
        &self,
        due_for_idle_check: &Chat,
        settings: &Settings,
        now: Timestamp,
    ) -> Result<Option<Transition>, Error> {
        let agent_id = due_for_idle_check.state.agent().map(|agent| agent.agent_id);
        let context = EventContext { webhooks: &settings.webhooks, agent_id, now };
        let plan = |before: &Chat| {
            if !settings.is_idle(before.updated_at, now) {
                return Err(Error::Conflict("the chat does not rest any more"));
            }
            let state = before.state.after(Event::Idle)?;
            let notice = before.bot_id.is_some().then_some(BotNotice::ChatClosed);
            // Nobody was told of a chat that no agent has accepted.
            let event = (!before.participants.is_empty()).then_some(WebhookEvent::ChatFinished);
            Ok(TransitionEffects { state, notice, event, bot_reacted: false })
        };
        match self.transition(due_for_idle_check.clone(), context, &plan).await {
            Ok(transition) => Ok(Some(transition)),
            Err(Error::Conflict(_) | Error::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// INVITE_AGENT: hands the chat to the agents, or tells the bot that none is there.
    pub async fn invite_agent(
        &self,
        account_id: &str,
        chat_id: u64,
        agent_online: bool,
        now: Timestamp,
    ) -> Result<Transition, Error> {
        let context = EventContext { webhooks: &[], agent_id: None, now };
        let plan = |before: &Chat| {
            let state = before.state.after(Event::BotInvites { agent_online })?;
            let notice = (!agent_online).then_some(BotNotice::AgentUnavailable);
            Ok(TransitionEffects { state, notice, event: None, bot_reacted: true })
        };
        self.read_and_transition(account_id, chat_id, context, &plan).await
    }

    /// Hands the chat of a bot that failed to the agents, unless the bot has sent a message or an invitation since then.
    /// One that arrives meanwhile refuses the write, and the chat is looked at again.
    pub async fn bot_failed(
        &self,
        account_id: &str,
        chat_id: u64,
        unanswered_since: Timestamp,
        now: Timestamp,
    ) -> Result<HandOver, Error> {
        let context = EventContext { webhooks: &[], agent_id: None, now };
        let plan = |before: &Chat| {
            if before.has_bot_event_after(unanswered_since) {
                return Err(Error::Conflict("the bot has answered"));
            }
            let state = before.state.after(Event::BotFails)?;
            Ok(TransitionEffects { state, notice: None, event: None, bot_reacted: false })
        };
        match self.read_and_transition(account_id, chat_id, context, &plan).await {
            Ok(_) => Ok(HandOver::Done),
            Err(Error::Conflict(_)) => Ok(HandOver::Answered),
            Err(Error::Forbidden(_) | Error::NotFound) => Ok(HandOver::NotWithBot),
            Err(error) => Err(error),
        }
    }

    /// Gives the chats of an agent who is gone back to the others: they wait again. Looks through all chats that agents
    /// have, and once more when there were any of this one, because the index lags by moments.
    pub async fn release(&self, account_id: &str, agent_id: u64, now: Timestamp) -> Result<(), Error> {
        while self.release_listed(account_id, agent_id, now).await? {}
        Ok(())
    }

    /// Whether there were any.
    async fn release_listed(&self, account_id: &str, agent_id: u64, now: Timestamp) -> Result<bool, Error> {
        let context = EventContext { webhooks: &[], agent_id: None, now };
        let plan = |before: &Chat| {
            let state = before.state.after(Event::AgentGone(agent_id))?;
            Ok(TransitionEffects { state, notice: None, event: None, bot_reacted: false })
        };
        let (mut has_any, mut next) = (false, Some(ABOVE_ALL));
        while let Some(before) = next {
            let page = self.listing(account_id, &["active"], Some(before)).next(MAX_HEADERS_PER_READ).await?;
            next = page.next;
            let is_theirs = |chat: &Chat| chat.state.agent().is_some_and(|agent| agent.agent_id == agent_id);
            for chat in page.chats.into_iter().filter(is_theirs) {
                has_any = true;
                match self.read_and_transition(account_id, chat.chat_id, context, &plan).await {
                    // It went to somebody else meanwhile, or is over.
                    Ok(_) | Err(Error::Conflict(_) | Error::NotFound) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(has_any)
    }

    /// The transition of a chat as it is now. A read more.
    async fn read_and_transition(
        &self,
        account_id: &str,
        chat_id: u64,
        context: EventContext<'_>,
        plan: &(dyn Fn(&Chat) -> Result<TransitionEffects, Error> + Sync),
    ) -> Result<Transition, Error> {
        let chat = self.chat(account_id, chat_id).await?.ok_or(Error::NotFound)?;
        self.transition(chat, context, plan).await
    }

    async fn transition(
        &self,
        seen: Chat,
        context: EventContext<'_>,
        plan: &(dyn Fn(&Chat) -> Result<TransitionEffects, Error> + Sync),
    ) -> Result<Transition, Error> {
        let mut before = seen;
        for _ in 0..MAX_RACE_ATTEMPTS {
            let plan = plan(&before)?;
            if plan.state == before.state && plan.notice != Some(BotNotice::AgentUnavailable) {
                return Ok(Transition { chat: before, notifications: Vec::new() });
            }
            match self.commit(&before, plan, &context).await {
                Ok(transition) => return Ok(transition),
                Err(Refused::Error(error)) => return Err(error),
                Err(Refused::Condition { .. } | Refused::Contended) => {}
            }
            before = self.chat(&before.account_id, before.chat_id).await?.ok_or(Error::NotFound)?;
        }
        Err(Error::Unavailable(Context::new("a transition lost every race")))
    }

    async fn commit(
        &self,
        before: &Chat,
        plan: TransitionEffects,
        context: &EventContext<'_>,
    ) -> Result<Transition, Refused> {
        let TransitionEffects { state, notice, event, bot_reacted } = plan;
        let notices = notice.map(|notice| (Kind::BotNotice(notice), None));
        let events = event.into_iter().flat_map(|event| context.occurrences(event, Details::default()));
        let happened: Vec<_> = notices.into_iter().chain(events).collect();
        let mut after = before.after_transition(state, context.now);
        // Who closes a chat takes part, also where nobody had it.
        if let Some(agent_id) = context.agent_id {
            after.add_participant(agent_id);
        }
        let notifications = context.entries(&mut after, happened)?;
        if bot_reacted {
            after.bot_event_at = Some(after.updated_at);
        }
        let kept = match self.write(before, &after, &notifications, &Kept::by(&after)).await {
            // The visitor has a chat that is kept longer: this end must not be theirs.
            Err(Refused::Condition { item, .. }) => item.as_ref().and_then(|item| Kept::longer(item, &after)),
            written => return written.map(|()| Transition { chat: after, notifications }),
        };
        let Some(kept) = kept else { return Err(Refused::Contended) };
        self.write(before, &after, &notifications, &kept).await?;
        Ok(Transition { chat: after, notifications })
    }

    async fn write(&self, before: &Chat, after: &Chat, notifications: &[Entry], kept: &Kept) -> Result<(), Refused> {
        let head = head_change(before, after)?;
        let mut others = notifications.iter().map(create).collect::<Result<Vec<_>, _>>()?;
        if after.state.is_closed() {
            others.extend(end(after, kept)?);
        }
        if others.is_empty() {
            self.table.update(head).await?;
            return Ok(());
        }
        others.push(Write::ItemUpdate(head));
        self.table.transact(others).await
    }

    /// Tells the webhooks of something that changes no owner: the chat's next numbers, then the entries, all or none. A
    /// write, and one a webhook; none when nobody wants to know.
    pub async fn notify_webhooks(
        &self,
        chat: &Chat,
        event: WebhookEvent,
        details: Details<'_>,
        context: &EventContext<'_>,
    ) -> Result<Vec<Entry>, Error> {
        let happened = context.occurrences(event, details);
        if happened.is_empty() {
            return Ok(Vec::new());
        }
        let key = head_key(&chat.account_id, chat.chat_id);
        let mut values = vec![(":count", n(happened.len()))];
        // What comes after chat_finished would be about a chat that the receiver has put away; a call goes on, and a chat
        // with a call does not rest.
        let (update, condition) = if event == WebhookEvent::CallEvent {
            values.push((":now", n(context.now.0)));
            ("SET #seq = #seq + :count, #updated_at = :now", EXISTS)
        } else {
            values.push((":closed", s("closed")));
            ("SET #seq = #seq + :count", "attribute_exists(#pk) AND #state <> :closed")
        };
        let mut head = match self.table.update(ItemUpdate { key, update, condition, values }).await {
            Ok(item) => crate::store::chats::chat(item)?,
            Err(Refused::Condition { .. }) => return Ok(Vec::new()),
            Err(refused) => return Err(refused.into()),
        };
        head.seq = head.seq.saturating_sub(happened.len() as u64);
        let entries = context.entries(&mut head, happened)?;
        if let [first, others @ ..] = entries.as_slice() {
            let others = others.iter().map(create).collect::<Result<_, _>>()?;
            self.store_entry_and(first, None, others).await?;
        }
        Ok(entries)
    }
}

/// Who is told of what happens, by whom it was done, and when.
#[derive(Clone, Copy)]
pub struct EventContext<'a> {
    /// The account's webhooks.
    pub webhooks: &'a [Webhook],
    /// The agent who did it.
    pub agent_id: Option<u64>,
    /// Now.
    pub now: Timestamp,
}

pub(in crate::store) type Happened = (Kind, Option<WebhookDispatch>);

impl EventContext<'_> {
    /// The event for each webhook that wants it.
    pub(in crate::store) fn occurrences(&self, event: WebhookEvent, details: Details<'_>) -> Vec<Happened> {
        let wanting = self.webhooks.iter().filter(|webhook| webhook.wants(event));
        let one = |webhook: &Webhook| WebhookDispatch {
            event,
            webhook_id: webhook.webhook_id.clone(),
            agent_id: self.agent_id,
            assign_to: details.assign_to.map(str::to_owned),
            call: details.call.cloned(),
        };
        wanting.map(|webhook| (Kind::Webhook(event), Some(one(webhook)))).collect()
    }

    /// How many webhooks want to know what is learned of visitors.
    pub(in crate::store) fn listeners(&self) -> usize {
        self.webhooks.iter().filter(|webhook| webhook.wants(WebhookEvent::ChatUpdated)).count()
    }

    /// chat_updated, when there are news of the visitor. Told from chat_accepted on, because before it no agent has the
    /// chat and nobody was told of it.
    pub(in crate::store) fn updated(&self, chat: &Chat, visitor: &Visitor) -> Vec<Happened> {
        match chat.state {
            State::Active(_) if visitor.changes.are_news => {
                self.occurrences(WebhookEvent::ChatUpdated, Details::default())
            }
            State::Active(_) | State::Bot | State::Waiting | State::Offered(_) | State::Closed(_) => Vec::new(),
        }
    }

    /// What happened as the chat's next entries.
    pub(in crate::store) fn entries(&self, chat: &mut Chat, happened: Vec<Happened>) -> Result<Vec<Entry>, Error> {
        let mut entries = Vec::with_capacity(happened.len());
        for (kind, occurrence) in happened {
            chat.seq += 1;
            let target = if occurrence.is_some() { Target::Webhook } else { Target::Bot };
            entries.push(Entry {
                account_id: chat.account_id.clone(),
                chat_id: chat.chat_id,
                seq: chat.seq,
                id: crate::runtime::secret::message_id(chat.chat_id, chat.seq, self.now)?,
                from: Sender::System,
                content: Content::happened(kind),
                at: self.now,
                occurrence,
                keep_until: chat.keep_until(self.now),
                delivery: Some(Delivery::new(target, self.now)),
            });
        }
        Ok(entries)
    }
}

pub(in crate::store) fn create(entry: &Entry) -> Result<Write, Error> {
    to_item(&EntryItem::from(entry)).map(Write::Create)
}

/// A chat that has an owner, or waits for one.
const MOVE: &str = "SET #state = :state, #version = :version, #agent = :agent, #offered_to = :offer, \
                    #department = :department, #participants = :participants, #listing = :listing, \
                    #updated_at = :now, #seq = :seq, #bot_event_at = :bot_event_at REMOVE #typing_since";

/// A chat that is over: nobody looks any more whether it rests, and it is forgotten when the account says so.
const END: &str = "SET #state = :state, #version = :version, #agent = :agent, #offered_to = :offer, \
                   #department = :department, #participants = :participants, #listing = :listing, \
                   #updated_at = :now, #seq = :seq, #bot_event_at = :bot_event_at, #expires_at = :expires_at \
                   REMOVE #typing_since, #due, #due_at";

/// The condition holds as long as the chat has had no transition since it was read, and no entry. State and agent would
/// not do: an agent who lost the chat and got it back has another one.
pub(in crate::store) fn head_change(before: &Chat, after: &Chat) -> Result<ItemUpdate, Error> {
    let mut values = vec![
        (":state", s(after.state.name())),
        (":agent", to_attribute(&after.state.agent().map(AuthorItem::from))?),
        (":offer", to_attribute(&after.state.offer())?),
        (":department", to_attribute(&after.department.as_ref().map(DepartmentItem::from))?),
        (":participants", to_attribute(&after.participants)?),
        (":listing", s(listing_key(&after.account_id, after.state.name()))),
        (":now", n(after.updated_at.0)),
        (":seq", n(after.seq)),
        (":bot_event_at", to_attribute(&after.bot_event_at.map(|at| at.0))?),
        (":version", n(after.version)),
        (":old_version", n(before.version)),
        (":old_seq", n(before.seq)),
    ];
    let update = if after.state.is_closed() {
        values.push((":expires_at", expiry(after)));
        END
    } else {
        MOVE
    };
    let key = head_key(&before.account_id, before.chat_id);
    Ok(ItemUpdate { key, update, condition: "#version = :old_version AND #seq = :old_seq", values })
}

/// When an ended chat is forgotten, and what goes with it; null: never.
pub(in crate::store) fn expiry(ended: &Chat) -> AttributeValue {
    let until = ended.keep_until(ended.updated_at);
    until.map_or(AttributeValue::Null(true), |until| n(until.seconds()))
}

/// Until when a visitor is kept after the end of a chat: as long as the ended chat of theirs that is kept longest. The
/// visitor's item has it as `kept_until`, also while a chat is open; null: for ever. Beside it stands `last_end`, when the
/// last chat ended, from which a changed retention counts.
pub(in crate::store) enum Kept {
    /// As long as the chat that ends now; a condition makes sure that no other is kept longer.
    ThisChat(AttributeValue),
    /// As long as another one that ended before.
    Longer(AttributeValue),
}

impl Kept {
    /// What holds unless the visitor's item says more: so the end of a chat need not read it.
    pub(in crate::store) fn by(ended: &Chat) -> Self {
        Self::ThisChat(expiry(ended))
    }

    /// What the item that refused the end says, if it is the visitor's and says more.
    pub(in crate::store) fn longer(refusing: &Item, ended: &Chat) -> Option<Self> {
        let longest = refusing.get("kept_until").filter(|_| refusing.contains_key("external_id"))?;
        let seconds = |value: &AttributeValue| value.as_n().ok()?.parse::<u64>().ok();
        let this = seconds(&expiry(ended))?;
        seconds(longest).is_none_or(|longest| longest > this).then(|| Self::Longer(longest.clone()))
    }

    pub(in crate::store) fn until(&self) -> &AttributeValue {
        let (Self::ThisChat(until) | Self::Longer(until)) = self;
        until
    }

    pub(in crate::store) fn is_for_ever(&self) -> bool {
        self.until().is_null()
    }
}

/// What a chat's end means to what stands beside it: the visitor has no open chat, and if the account forgets, it
/// forgets the panel, and the visitor too with the chat of theirs that is kept longest, unless they come again.
fn end(ended: &Chat, kept: &Kept) -> Result<Vec<Write>, Error> {
    let condition = match kept {
        Kept::Longer(_) => "#open_chat = :chat AND #kept_until = :kept_until",
        Kept::ThisChat(_) if kept.is_for_ever() => "#open_chat = :chat",
        Kept::ThisChat(_) => "#open_chat = :chat AND (attribute_not_exists(#kept_until) OR #kept_until <= :kept_until)",
    };
    let mut writes = vec![Write::ItemUpdate(ItemUpdate {
        key: visitor_key(&ended.channel_id, &ended.external_id),
        update: "SET #expires_at = :kept_until, #kept_until = :kept_until, #last_end = :now REMOVE #open_chat",
        condition,
        values: vec![
            (":chat", n(ended.chat_id)),
            (":kept_until", kept.until().clone()),
            (":now", n(ended.updated_at.0)),
        ],
    })];
    if !kept.is_for_ever() {
        writes.push(number_end(ended, kept));
    }
    if ended.keep_days.is_some() {
        writes.push(Write::ItemUpdate(ItemUpdate {
            key: panel_key(&ended.account_id, ended.chat_id),
            update: "SET #expires_at = :expires_at",
            condition: "",
            values: vec![(":expires_at", expiry(ended))],
        }));
    }
    Ok(writes)
}

/// The end of what leads from the visitor's number to the visitor. While the visitor has an open chat it has none.
pub(in crate::store) fn number_end(ended: &Chat, kept: &Kept) -> Write {
    let visitor = visitor_key(&ended.channel_id, &ended.external_id);
    Write::ItemUpdate(ItemUpdate {
        key: number_key(&ended.account_id, ended.visitor_number),
        update: "SET #visitor_pk = :pk, #visitor_sk = :sk, #expires_at = :expires_at",
        condition: "",
        values: vec![(":pk", s(visitor.pk)), (":sk", s(visitor.sk)), (":expires_at", kept.until().clone())],
    })
}
