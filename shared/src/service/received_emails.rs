//! Receives the replies of visitors to e-mails. A reply becomes the visitor's message in the chat, or opens a new chat
//! if the chat has been closed.

use std::sync::Arc;

use crate::chats::visitor::receive_visitor_text::{VisitorText, receive_visitor_text};
use crate::chats::visitor::visitor_entry::{FromVisitor, StoredEntry};
use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::channels::channel::Channel;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::idempotency_key::IdempotencyKey;
use crate::domain::chats::message_content::Content;
use crate::domain::email::mailbox::Mailbox;
use crate::domain::email::received::{EmailNotice, MAX_EMAIL_BYTES, ReceivedEmail, Refusal};
use crate::domain::email::reply_address::ReplyToken;
use crate::domain::visitors::visitor::{ProfileSource, VisitorProfile};
use crate::error::Error;
use crate::runtime::file_bucket::FileBucket;
use crate::runtime::outbox::Outbox;
use crate::runtime::{clock, metrics};
use crate::service::widget::department_of_new_chat;
use crate::store::chats::Chats;
use crate::store::directory::Directory;

/// As long as the longest message of an agent.
const MAX_REPLY_BYTES: usize = 10_000;
const KIND: &str = "reply";

pub struct EmailReceiver<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub bucket: &'a FileBucket,
    pub outbox: &'a Outbox,
    pub mail_domain: &'a str,
}

/// The chat to which a reply belongs, with its channel and the settings of its account.
struct Conversation {
    chat: Chat,
    channel: Arc<Channel>,
    settings: Arc<AccountSettings>,
}

impl EmailReceiver<'_> {
    /// Stores the message of a received e-mail, and deletes the e-mail. An e-mail that is refused is only counted and
    /// logged. A repeated e-mail stores nothing.
    ///
    /// # Errors
    /// Fails if a table or the bucket is unavailable, or if the visitor sends too many messages. The call can be
    /// repeated.
    pub async fn receive(&self, notice: &EmailNotice) -> Result<(), Error> {
        match self.store(notice).await? {
            Ok(Some((account_id, stored))) => {
                let receipt = &stored.receipt;
                self.outbox.enqueue_message(&account_id, receipt).await;
                self.outbox.enqueue(&stored.notifications).await;
                metrics::count_email(KIND, "received");
                let (chat_id, seq) = (receipt.chat_id, receipt.seq);
                tracing::info!(account_id, chat_id, seq, message_id = receipt.id, "e-mail received");
            }
            // An earlier call has deleted the e-mail.
            Ok(None) => return Ok(()),
            Err(refusal) => {
                metrics::count_email(KIND, "refused");
                tracing::warn!(email_id = notice.email_id, reason = refusal.name(), "e-mail refused");
            }
        }
        self.bucket.delete(&notice.object_key()).await
    }

    async fn store(&self, notice: &EmailNotice) -> Result<Result<Option<(String, StoredEntry)>, Refusal>, Error> {
        let conversation = match self.conversation(notice).await? {
            Ok(conversation) => conversation,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let Some(object) = self.bucket.read_beginning(&notice.object_key(), MAX_EMAIL_BYTES).await? else {
            return Ok(Ok(None));
        };
        if object.size > MAX_EMAIL_BYTES {
            return Ok(Err(Refusal::TooLarge));
        }
        let email = match ReceivedEmail::parse(&object.bytes, MAX_REPLY_BYTES) {
            Ok(email) => email,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if !self.is_visitor(&conversation.chat, &email.from).await? {
            return Ok(Err(Refusal::Sender));
        }
        let account_id = conversation.chat.account_id.clone();
        let stored = match self.store_message(&conversation, &email).await {
            // The visitor has expired since.
            Err(Error::InvalidVisitorToken) => return Ok(Err(Refusal::Sender)),
            stored => stored?,
        };
        Ok(stored.map(|stored| Some((account_id, stored))).ok_or(Refusal::Blacklisted))
    }

    /// Returns the conversation of the reply address, if the e-mail is authentic. Reads nothing from the e-mail itself.
    async fn conversation(&self, notice: &EmailNotice) -> Result<Result<Conversation, Refusal>, Error> {
        let parse = |address: &String| ReplyToken::parse(address, self.mail_domain);
        let Some(token) = notice.recipients.iter().find_map(parse) else { return Ok(Err(Refusal::Token)) };
        if let Err(refusal) = notice.verdicts.require_authentic() {
            return Ok(Err(refusal));
        }
        let now = clock::now();
        let (chat, key) =
            (self.chats.chat(&token.account_id, token.chat_id).await?, self.directory.file_link_key(&token.account_id));
        let (Some(chat), Some(key)) = (chat, key.await?) else { return Ok(Err(Refusal::Token)) };
        if !token.is_valid(&chat, &key, now) || chat.is_expired(now) {
            return Ok(Err(Refusal::Token));
        }
        let settings = self.directory.cached_settings(&chat.account_id).await?;
        let receives = settings.email.as_ref().is_some_and(|email| email.answers_to_visitor);
        let channel = self.directory.cached_channel(&chat.channel_id).await?;
        let channel = channel.filter(|it| it.settings.enabled && receives && settings.suspended_at.is_none());
        Ok(channel.map(|channel| Conversation { chat, channel, settings }).ok_or(Refusal::SwitchedOff))
    }

    /// Whether the address is the one that the visitor has now.
    async fn is_visitor(&self, chat: &Chat, from: &Mailbox) -> Result<bool, Error> {
        let visitor = self.chats.visitor(&chat.channel_id, &chat.external_id).await?;
        let address = visitor.and_then(|visitor| Mailbox::parse(visitor.profile.email.as_deref()?));
        Ok(address.is_some_and(|address| address.is_same_as(from)))
    }

    async fn store_message(
        &self,
        Conversation { chat, channel, settings }: &Conversation,
        email: &ReceivedEmail,
    ) -> Result<Option<StoredEntry>, Error> {
        let department = department_of_new_chat(self.directory, channel, None).await?;
        let bot_id = self.directory.first_bot(channel, department.as_ref()).await?;
        let scope = format!("email#{}#{}", channel.channel_id, chat.external_id);
        let from = FromVisitor {
            channel,
            department: department.as_ref(),
            bot_id: bot_id.as_deref(),
            external_id: &chat.external_id,
            network: None,
            settings,
            key: Some(&IdempotencyKey::new(scope, email.message_id.as_bytes(), "")),
            now: clock::now(),
        };
        let text = VisitorText {
            from,
            content: &Content::text(email.text.clone()),
            has_numeric_id: false,
            invite: None,
            profile: &VisitorProfile::default(),
            source: ProfileSource::Visitor,
            page: None,
        };
        receive_visitor_text(self.chats, &text).await
    }
}
