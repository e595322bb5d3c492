//! What a visitor's request writes. On an open chat: two reads (visitor, header) and two writes (header,
//! entry); one write more when the visitor's data changed, and where webhooks are told of it, all but the header is one
//! transaction. Opening a chat is two counters and one transaction.

use aws_sdk_dynamodb::types::AttributeValue;
use serde::Deserialize;

use crate::domain::channel::Channel;
use crate::domain::chat::{Chat, Failing, Preview, Rating, Sender};
use crate::domain::chat_state::State;
use crate::domain::content::{Content, cut};
use crate::domain::delivery::{Delivery, Target};
use crate::domain::department::ChatDepartment;
use crate::domain::entry::Entry;
use crate::domain::rate::Window;
use crate::domain::settings::Settings;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::{Changes, Field, Profile, Said, Source, Sources, Visitor};
use crate::error::{Context, Error};
use crate::store::chats::idempotency::{Answered, IdempotencyKey};
use crate::store::chats::items::{EntryItem, HeadItem, NumberItem, PreviewItem, VisitorItem};
use crate::store::chats::panels::{invite_hash, invite_write};
use crate::store::chats::transitions::{EventContext, create};
use crate::store::chats::{Chats, chat, head_key, number_key, visitor_key};
use crate::store::table::{EXISTS, ItemUpdate, Key, Refused, Write, n, s};
use crate::store::{MAX_RACE_ATTEMPTS, from_item, to_attribute, to_item};

/// Characters of a visitor's name in a header.
pub(in crate::store) const NAME_CHARACTERS: usize = 60;

/// A visitor's message on its way in.
pub struct Incoming<'a> {
    /// Through which door.
    pub channel: &'a Channel,
    /// The department of a chat that it opens.
    pub department: Option<&'a ChatDepartment>,
    /// `sender.id` as text.
    pub external_id: &'a str,
    /// Whether it was a number.
    pub has_numeric_id: bool,
    /// `sender.invite`.
    pub invite: Option<&'a str>,
    /// What the message says about its sender.
    pub profile: &'a Profile,
    /// What it says.
    pub content: &'a Content,
    /// The settings of the account.
    pub settings: &'a Settings,
    /// The caller's key, if any.
    pub key: Option<&'a IdempotencyKey>,
    /// Now.
    pub now: Timestamp,
}

/// A visitor's message that was stored.
pub struct Received {
    /// The answer.
    pub answered: Answered,
    /// What the webhooks are to be told, to be queued: chat_updated, when the message changed what is known of the
    /// visitor and an agent has the chat.
    pub notifications: Vec<Entry>,
}

/// What is set of the rate window in the header, and on which condition.
type Advance = (&'static str, &'static str);

const OPEN_WINDOW: Advance =
    ("#rate_since = :since, #rate_count = :one", "#state = :state AND #rate_since = :old_since");

const WITHIN_WINDOW: Advance =
    ("#rate_count = #rate_count + :one", "#state = :state AND #rate_since = :old_since AND #rate_count < :limit");

/// What every message sets of the header.
const ADVANCE: &str = "#seq = #seq + :count, #updated_at = :now, #last_message = :preview, #visitor_name = :name, \
                       #has_numeric_id = :has_numeric_id";

#[derive(Deserialize)]
pub(in crate::store) struct Counters {
    #[serde(default)]
    pub visitors: u64,
    #[serde(default)]
    pub chats: u64,
}

impl Chats {
    /// Stores a visitor's message, in their open chat or in a new one. None: the visitor is blacklisted, and the
    /// message is dropped.
    pub async fn visitor_message(&self, incoming: &Incoming<'_>) -> Result<Option<Received>, Error> {
        let mut has_news = false;
        for _ in 0..MAX_RACE_ATTEMPTS {
            if let Some(answered) = self.answered(incoming.key).await? {
                return Ok(Some(Received { answered, notifications: Vec::new() }));
            }
            let visitor = self.visitor(&incoming.channel.channel_id, incoming.external_id).await?;
            let written = match visitor {
                Some(visitor) if visitor.blacklisted => return Ok(None),
                Some(visitor) if visitor.open_chat.is_some() => self.append(incoming, visitor, &mut has_news).await,
                known => self.open(incoming, known.map(|visitor| visitor.again(incoming.now))).await,
            };
            match written {
                Ok(received) => return Ok(Some(received)),
                Err(Refused::Error(error)) => return Err(error),
                Err(Refused::Condition { .. } | Refused::Contended) => {}
            }
        }
        Err(Error::Unavailable(Context::new("visitor message lost every race")))
    }

    /// Adds a message to the visitor's open chat. Whether it brings news of the visitor is remembered for another try,
    /// which finds them stored.
    async fn append(
        &self,
        incoming: &Incoming<'_>,
        mut visitor: Visitor,
        has_news: &mut bool,
    ) -> Result<Received, Refused> {
        let account_id = &incoming.channel.account_id;
        let chat_id = visitor.open_chat.unwrap_or_default();
        let before = self.chat(account_id, chat_id).await?;
        // Else the visitor is being erased, or their chat has just ended; a moment later they are a stranger, or open one.
        let before = before.filter(|chat| !chat.state.is_closed()).ok_or(Refused::Contended)?;
        let rate = before.rate.take(incoming.settings.limits.visitor_messages, incoming.now);
        let rate = rate.map_err(Error::RateLimited)?;
        visitor.learn(incoming.profile, Source::Integrator);
        *has_news |= visitor.changes.are_news;
        visitor.changes.are_news = *has_news;
        let webhooks = &incoming.settings.webhooks;
        let context =
            EventContext { webhooks, agent_id: before.state.agent().map(|agent| agent.agent_id), now: incoming.now };
        let happened = context.updated(&before, &visitor);
        let count = happened.len() as u64;
        let mut learned = visitor_change(&visitor)?;
        if happened.is_empty()
            && let Some(learned) = learned.take()
        {
            self.table.update(learned).await?;
        }
        let invite = incoming.invite.filter(|invite| before.invite_hash.as_deref() != Some(&*invite_hash(invite)));
        let mut head = self.advance(incoming, &before, rate, &visitor.profile, invite, 1 + count).await?;
        head.seq = head.seq.saturating_sub(count);
        let entry = incoming.entry(&head)?;
        let notifications = context.entries(&mut head, happened)?;
        let mut others = notifications.iter().map(create).collect::<Result<Vec<_>, _>>()?;
        others.extend(learned.map(Write::Composed));
        others.extend(invite.map(|invite| invite_write(&head, invite)));
        self.store_entry_and(&entry, incoming.key, others).await?;
        Ok(Received { answered: Answered::of(&entry), notifications })
    }

    /// Takes the next numbers of the chat, if its state and rate window are still those that were read.
    async fn advance(
        &self,
        incoming: &Incoming<'_>,
        before: &Chat,
        rate: Window,
        profile: &Profile,
        invite: Option<&str>,
        count: u64,
    ) -> Result<Chat, Refused> {
        let preview = Preview::of(incoming.content, &Sender::Visitor, incoming.now);
        // Within a window the count is added up, so that a burst does not race itself; a new window opens once.
        let is_new_window = rate.since != before.rate.since;
        let (window, condition) = if is_new_window { OPEN_WINDOW } else { WITHIN_WINDOW };
        let mut update = format!("SET {ADVANCE}, {window}");
        let mut values = vec![
            (":one", n(1)),
            (":now", n(incoming.now.0)),
            (":preview", to_attribute(&PreviewItem::from(&preview))?),
            (":name", s(cut(profile.display_name(), NAME_CHARACTERS))),
            (":count", n(count)),
            (":state", s(before.state.name())),
            (":old_since", n(before.rate.since.0)),
            (":has_numeric_id", AttributeValue::Bool(incoming.has_numeric_id)),
        ];
        if let Some(invite) = invite {
            update.push_str(", #invite_hash = :invite_hash");
            values.push((":invite_hash", s(invite_hash(invite))));
        }
        update.push_str(" REMOVE #typing_since");
        let limit = incoming.settings.limits.visitor_messages;
        values.push(if is_new_window { (":since", n(rate.since.0)) } else { (":limit", n(limit)) });
        let key = head_key(&before.account_id, before.chat_id);
        let change = ItemUpdate { key, update, condition, values };
        Ok(chat(self.table.update(change).await?)?)
    }

    /// Stores how the visitor rates a chat, also after its end. One write.
    pub async fn rate(&self, account_id: &str, chat_id: u64, rating: Rating) -> Result<(), Error> {
        let change = ItemUpdate {
            key: head_key(account_id, chat_id),
            update: "SET #rating = :rating",
            condition: EXISTS,
            values: vec![(":rating", s(rating.name()))],
        };
        Ok(self.table.update(change).await.map(|_| ())?)
    }

    /// Stores an entry, with the answer to its idempotency key if it has one.
    pub(in crate::store) async fn store_entry(
        &self,
        entry: &Entry,
        key: Option<&IdempotencyKey>,
    ) -> Result<(), Refused> {
        self.store_entry_and(entry, key, Vec::new()).await
    }

    /// The same with what must not be without it.
    pub(in crate::store) async fn store_entry_and(
        &self,
        entry: &Entry,
        key: Option<&IdempotencyKey>,
        mut others: Vec<Write>,
    ) -> Result<(), Refused> {
        let item = to_item(&EntryItem::from(entry))?;
        others.extend(key.map(|key| key.remember(entry)).transpose()?);
        if others.is_empty() {
            return self.table.put(item, true).await;
        }
        others.push(Write::Create(item));
        // The number is taken; another try with a new one would leave a gap.
        self.table.transact(others).await
    }

    /// Opens a chat with a visitor's first message: numbers first, then everything or nothing.
    async fn open(&self, incoming: &Incoming<'_>, known: Option<Visitor>) -> Result<Received, Refused> {
        let is_new = known.is_none();
        let counters = self.take_numbers(incoming, is_new).await?;
        let mut visitor = known.unwrap_or_else(|| incoming.stranger(counters.visitors));
        visitor.learn(incoming.profile, Source::Integrator);
        visitor.chats += 1;
        visitor.open_chat = Some(counters.chats);
        visitor.last_chat = visitor.open_chat;
        let head = incoming.head(&visitor, counters.chats);
        let next_idle_check = incoming.settings.next_idle_check(incoming.now, incoming.now);
        let entry = incoming.entry(&head)?;
        let mut writes = vec![
            visitor_write(&visitor, is_new)?,
            Write::Create(to_item(&HeadItem::new(&head, next_idle_check))?),
            Write::Create(to_item(&EntryItem::from(&entry))?),
        ];
        writes.extend(incoming.invite.map(|invite| invite_write(&head, invite)));
        if is_new {
            writes.push(number_write(&visitor)?);
        } else if visitor.keep_until.is_some() {
            writes.push(number_kept(&visitor));
        }
        if let Some(key) = incoming.key {
            writes.push(key.remember(&entry)?);
        }
        self.table.transact(writes).await?;
        Ok(Received { answered: Answered::of(&entry), notifications: Vec::new() })
    }

    /// The next chat number and, for a new visitor, the next visitor number, if the channel may open another chat. Two
    /// writes.
    pub(in crate::store) async fn take_numbers(
        &self,
        incoming: &Incoming<'_>,
        new_visitor: bool,
    ) -> Result<Counters, Refused> {
        let Incoming { channel, settings, now, .. } = incoming;
        self.count_opened_chat(&channel.channel_id, settings.limits.channel_chats, *now).await?;
        let change = ItemUpdate {
            key: Key::new(format!("COUNTERS#{}", channel.account_id), "COUNTERS"),
            update: "ADD #chats :one, #visitors :visitors",
            condition: "",
            values: vec![(":one", n(1)), (":visitors", n(u8::from(new_visitor)))],
        };
        Ok(from_item(self.table.update(change).await?)?)
    }

    /// Notes that a visitor began or stopped to type; nothing happens without an open chat, nor when the visitor is
    /// blacklisted. A read, a write.
    pub async fn visitor_typing(
        &self,
        channel: &Channel,
        external_id: &str,
        since: Option<Timestamp>,
    ) -> Result<(), Error> {
        let visitor = self.visitor(&channel.channel_id, external_id).await?;
        let heard = visitor.filter(|visitor| !visitor.blacklisted);
        let Some(chat_id) = heard.and_then(|visitor| visitor.open_chat) else {
            return Ok(());
        };
        let (update, values) = match since {
            Some(since) => ("SET #typing_since = :since", vec![(":closed", s("closed")), (":since", n(since.0))]),
            None => ("REMOVE #typing_since", vec![(":closed", s("closed"))]),
        };
        let key = head_key(&channel.account_id, chat_id);
        match self
            .table
            .update(ItemUpdate { key, update, condition: "attribute_exists(#pk) AND #state <> :closed", values })
            .await
        {
            Err(Refused::Error(error)) => Err(error),
            Ok(_) | Err(Refused::Condition { .. } | Refused::Contended) => Ok(()),
        }
    }
}

/// Leads from a visitor's number, the `client_id` of the Bot API, to the visitor.
pub(in crate::store) fn number_write(visitor: &Visitor) -> Result<Write, Error> {
    let key = number_key(&visitor.account_id, visitor.number);
    let target = visitor_key(&visitor.channel_id, &visitor.external_id);
    let number = NumberItem {
        pk: key.pk,
        sk: key.sk,
        visitor_pk: target.pk,
        visitor_sk: target.sk,
        expires_at: visitor.keep_until.map(Timestamp::seconds),
    };
    to_item(&number).map(Write::Create)
}

/// What has changed of a visitor, if anything has. Each attribute by itself: many write at the same time, and none may
/// take back what another has learned.
pub(in crate::store) fn visitor_change(visitor: &Visitor) -> Result<Option<ItemUpdate<String>>, Error> {
    let (sets, values) = changed(visitor)?;
    Ok((!sets.is_empty()).then(|| ItemUpdate {
        key: visitor_key(&visitor.channel_id, &visitor.external_id),
        update: format!("SET {}", sets.join(", ")),
        condition: EXISTS,
        values,
    }))
}

/// The parts of an update and what their `:names` stand for.
type Sets = (Vec<&'static str>, Vec<(&'static str, AttributeValue)>);

/// What has changed of a visitor, as parts of an update.
pub(in crate::store) fn changed(visitor: &Visitor) -> Result<Sets, Error> {
    let Visitor { profile, sources, said, .. } = visitor;
    let from = |source: Option<Source>| to_attribute(&source.map(Source::name));
    let (mut sets, mut all) = (Vec::new(), Vec::new());
    for field in &visitor.changes.fields {
        let (set, values) = match field {
            Field::Name => (
                "#profile.#name = :name, #sources.#name = :name_from, #said_name = :name_said",
                vec![
                    (":name", to_attribute(&profile.name)?),
                    (":name_from", from(sources.name)?),
                    (":name_said", to_attribute(&said.name)?),
                ],
            ),
            Field::Phone => (
                "#profile.#phone = :phone, #sources.#phone = :phone_from, #said_phone = :phone_said",
                vec![
                    (":phone", to_attribute(&profile.phone)?),
                    (":phone_from", from(sources.phone)?),
                    (":phone_said", to_attribute(&said.phone)?),
                ],
            ),
            Field::Email => (
                "#profile.#email = :email, #sources.#email = :email_from, #said_email = :email_said",
                vec![
                    (":email", to_attribute(&profile.email)?),
                    (":email_from", from(sources.email)?),
                    (":email_said", to_attribute(&said.email)?),
                ],
            ),
            Field::Description => (
                "#profile.#description = :description, #sources.#description = :description_from, \
                 #said_description = :description_said",
                vec![
                    (":description", to_attribute(&profile.description)?),
                    (":description_from", from(sources.description)?),
                    (":description_said", to_attribute(&said.description)?),
                ],
            ),
            Field::Photo => ("#profile.#photo = :photo", vec![(":photo", to_attribute(&profile.photo)?)]),
            Field::Url => ("#profile.#url = :url", vec![(":url", to_attribute(&profile.url)?)]),
            Field::Blacklisted => {
                ("#blacklisted = :blacklisted", vec![(":blacklisted", to_attribute(&visitor.blacklisted)?)])
            }
        };
        sets.push(set);
        all.extend(values);
    }
    Ok((sets, all))
}

/// A visitor who was to be forgotten is there again, and so is the number.
fn number_kept(visitor: &Visitor) -> Write {
    let target = visitor_key(&visitor.channel_id, &visitor.external_id);
    Write::ItemUpdate(ItemUpdate {
        key: number_key(&visitor.account_id, visitor.number),
        update: "SET #visitor_pk = :pk, #visitor_sk = :sk REMOVE #expires_at",
        condition: "",
        values: vec![(":pk", s(target.pk)), (":sk", s(target.sk))],
    })
}

fn visitor_write(visitor: &Visitor, is_new: bool) -> Result<Write, Error> {
    if is_new {
        return to_item(&VisitorItem::from(visitor)).map(Write::Create);
    }
    let (mut sets, mut values) = changed(visitor)?;
    sets.extend(["#open_chat = :chat", "#last_chat = :chat", "#chats = :chats"]);
    values.extend([(":chat", to_attribute(&visitor.open_chat)?), (":chats", n(visitor.chats))]);
    Ok(Write::Composed(ItemUpdate {
        key: visitor_key(&visitor.channel_id, &visitor.external_id),
        update: format!("SET {} REMOVE #expires_at", sets.join(", ")),
        condition: "attribute_exists(#pk) AND attribute_not_exists(#open_chat)",
        values,
    }))
}

impl Incoming<'_> {
    pub(in crate::store) fn stranger(&self, number: u64) -> Visitor {
        Visitor {
            account_id: self.channel.account_id.clone(),
            channel_id: self.channel.channel_id.clone(),
            external_id: self.external_id.to_owned(),
            number,
            profile: Profile::default(),
            sources: Sources::default(),
            said: Said::default(),
            chats: 0,
            blacklisted: false,
            open_chat: None,
            last_chat: None,
            keep_until: None,
            changes: Changes::default(),
        }
    }

    /// The message as an entry of the chat as it is now; while a bot has the chat, it is due there.
    pub(in crate::store) fn entry(&self, head: &Chat) -> Result<Entry, Error> {
        Ok(Entry {
            account_id: head.account_id.clone(),
            chat_id: head.chat_id,
            seq: head.seq,
            id: crate::runtime::secret::message_id(head.chat_id, head.seq, self.now)?,
            from: Sender::Visitor,
            content: self.content.clone(),
            at: self.now,
            occurrence: None,
            keep_until: head.keep_until(self.now),
            delivery: (head.state == State::Bot).then(|| Delivery::new(Target::Bot, self.now)),
        })
    }

    pub(in crate::store) fn head(&self, visitor: &Visitor, chat_id: u64) -> Chat {
        Chat {
            account_id: visitor.account_id.clone(),
            chat_id,
            state: State::opened(self.channel.bot_id.is_some()),
            version: 1,
            channel_id: visitor.channel_id.clone(),
            channel_name: cut(&self.channel.settings.name, NAME_CHARACTERS),
            external_id: visitor.external_id.clone(),
            has_numeric_id: self.has_numeric_id,
            invite_hash: self.invite.map(invite_hash),
            visitor_number: visitor.number,
            visitor_name: cut(visitor.profile.display_name(), NAME_CHARACTERS),
            department: self.department.cloned(),
            participants: Vec::new(),
            bot_id: self.channel.bot_id.clone(),
            bot_event_at: None,
            seq: 1,
            opened_at: self.now,
            updated_at: self.now,
            last_message: Some(Preview::of(self.content, &Sender::Visitor, self.now)),
            typing_since: None,
            failing: Failing::default(),
            rate: Window { since: self.now, count: 1 },
            rating: None,
            keep_days: self.settings.retention_days,
        }
    }
}
