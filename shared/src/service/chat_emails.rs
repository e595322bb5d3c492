//! Sends the e-mails about a chat. An e-mail can be sent twice if the process dies between the request to SES and the
//! write that records it, if that write fails, or if the response of SES is lost or late.

use futures_util::future::join_all;

use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::email::chat_emails::ChatEmails;
use crate::domain::email::email_settings::EmailSettings;
use crate::domain::email::mailbox::Mailbox;
use crate::domain::email::outgoing::OutgoingEmail;
use crate::domain::email::reply_address::ReplyToken;
use crate::domain::sha256;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::runtime::email_sender::{EmailSender, SendResult};
use crate::runtime::outbox::Outbox;
use crate::runtime::{clock, metrics};
use crate::store::chats::Chats;
use crate::store::connections::Connections;
use crate::store::connections::emails::EmailKey;
use crate::store::directory::Directory;
use crate::wire::queue_task::{EmailKind, EmailTask};

/// A longer transcript ends with these entries.
const MAX_TRANSCRIPT_ENTRIES: usize = 2_000;
/// The most entries that are examined for one answer.
const MAX_ANSWER_ENTRIES: i32 = 200;
/// A chat is closed once, so each recipient gets one transcript.
const THROUGH_END: u64 = 1;
const ANSWER: &str = "answer";
const TRANSCRIPT: &str = "transcript";

pub struct ChatEmailService<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub connections: &'a Connections,
    pub sender: &'a EmailSender,
    pub outbox: &'a Outbox,
}

impl ChatEmailService<'_> {
    /// Sends what the task asks for, unless it has been sent, the account has switched it off, or the visitor has been
    /// there since.
    ///
    /// # Errors
    /// Fails if a table or SES is unavailable. The task can be repeated.
    pub async fn run(&self, task: &EmailTask) -> Result<(), Error> {
        let Some(domain) = self.sender.mail_domain() else { return Ok(()) };
        let settings = self.directory.cached_settings(&task.account_id).await?;
        let Some(email) = settings.email.as_ref().filter(|_| settings.suspended_at.is_none()) else { return Ok(()) };
        let Some(chat) = self.chats.chat(&task.account_id, task.chat_id).await? else { return Ok(()) };
        let Some(visitor) = self.chats.visitor(&chat.channel_id, &chat.external_id).await? else { return Ok(()) };
        match task.email {
            EmailKind::Transcript => self.send_transcripts((&settings, email), &chat, &visitor).await,
            EmailKind::Answer { seq } if email.answers_to_visitor => {
                self.send_answer((&settings, email), &chat, &visitor, (task, seq, domain)).await
            }
            EmailKind::Answer { .. } => Ok(()),
        }
    }

    async fn send_transcripts(
        &self,
        (settings, email): (&AccountSettings, &EmailSettings),
        chat: &Chat,
        visitor: &Visitor,
    ) -> Result<(), Error> {
        if !chat.state.is_closed() {
            return Ok(());
        }
        let entries = self.chats.whole_timeline(&chat.account_id, chat.chat_id, MAX_TRANSCRIPT_ENTRIES).await?;
        let emails = ChatEmails { settings: email, zone: &settings.time_zone, chat, visitor };
        let for_account = email.transcript_to.iter().map(|to| emails.transcript_for_account(to, &entries));
        let visitors_address = address_of(visitor).filter(|_| email.transcript_to_visitor);
        let for_visitor = visitors_address.map(|to| emails.transcript_for_visitor(&to, &entries));
        let transcripts: Vec<OutgoingEmail> = for_account.chain(for_visitor).collect();
        // The failure of one keeps the transcript from no other recipient.
        join_all(transcripts.iter().map(|transcript| self.send_transcript(chat, transcript)))
            .await
            .into_iter()
            .collect()
    }

    /// Each recipient gets an e-mail of their own, so that none sees the others and each failure is repeated alone.
    async fn send_transcript(&self, chat: &Chat, email: &OutgoingEmail) -> Result<(), Error> {
        let name = format!("{TRANSCRIPT}#{}", sha256::hex_digest(email.to.as_str().to_ascii_lowercase()));
        let key = EmailKey { account_id: &chat.account_id, chat_id: chat.chat_id, name: &name };
        self.send_once(&key, THROUGH_END, TRANSCRIPT, email).await
    }

    /// Sends the agents' messages that the visitor has not got: those after the visitor's last message, the last e-mail
    /// and the visitor's last connection. Does nothing if the message with this number is not one of them.
    async fn send_answer(
        &self,
        (settings, email): (&AccountSettings, &EmailSettings),
        chat: &Chat,
        visitor: &Visitor,
        (task, seq, domain): (&EmailTask, u64, &str),
    ) -> Result<(), Error> {
        let now = clock::now();
        let Some(to) = address_of(visitor) else { return Ok(()) };
        let key = EmailKey { account_id: &chat.account_id, chat_id: chat.chat_id, name: ANSWER };
        let after = self.connections.sent_through(&key).await?.max(chat.visitor_seq);
        if seq <= after {
            return Ok(());
        }
        if self.is_connected(chat, now).await? {
            return self.check_later(task, email).await;
        }
        let seen_at = self.connections.visitor_seen_at(&chat.channel_id, &chat.external_id).await?;
        let is_missed = |entry: &TimelineEntry| {
            matches!(entry.from, Sender::Agent(_)) && entry.content.is_visible_to_visitor() && entry.at > seen_at
        };
        // The newest entries include this message.
        let after = after.max(seq.saturating_sub(MAX_ANSWER_ENTRIES.unsigned_abs().into()));
        let mut entries = self.chats.timeline(&chat.account_id, chat.chat_id, after, MAX_ANSWER_ENTRIES).await?;
        entries.retain(is_missed);
        // If the visitor has got this message, later ones have tasks of their own.
        let is_missed = entries.first().is_some_and(|first| first.seq <= seq);
        let Some(last) = entries.last().filter(|_| is_missed) else { return Ok(()) };
        let signing_key = self.directory.file_link_key_or_new(&chat.account_id).await?;
        let Some(reply_to) = ReplyToken::address(chat, &signing_key, domain, now) else { return Ok(()) };
        let emails = ChatEmails { settings: email, zone: &settings.time_zone, chat, visitor };
        self.send_once(&key, last.seq, ANSWER, &emails.answer(&to, reply_to, &entries)).await
    }

    /// Queues the task again, because a connection that has died without a notice looks open until a push fails.
    async fn check_later(&self, task: &EmailTask, email: &EmailSettings) -> Result<(), Error> {
        match task.next_check() {
            Some(task) => self.outbox.send_email_later(&task, email.away).await,
            None => Ok(()),
        }
    }

    async fn is_connected(&self, chat: &Chat, now: Timestamp) -> Result<bool, Error> {
        let sockets = self.connections.visitor_sockets(&chat.channel_id, &chat.external_id, now).await?;
        Ok(!sockets.is_empty())
    }

    /// Sends an e-mail, unless it has been sent. An e-mail that SES rejects is not sent again.
    async fn send_once(
        &self,
        key: &EmailKey<'_>,
        seq: u64,
        kind: &'static str,
        email: &OutgoingEmail,
    ) -> Result<(), Error> {
        if !self.connections.claim_email(key, seq, clock::now()).await? {
            return Ok(());
        }
        let result = match self.sender.send(email).await {
            Ok(result) => result,
            Err(error) => {
                metrics::count_email(kind, "failed");
                self.connections.release_email(key).await?;
                return Err(error);
            }
        };
        let (account_id, chat_id) = (key.account_id, key.chat_id);
        match result {
            SendResult::Sent => {
                metrics::count_email(kind, "sent");
                tracing::info!(account_id, chat_id, kind, "e-mail sent");
            }
            SendResult::Rejected => {
                metrics::count_email(kind, "rejected");
                tracing::warn!(account_id, chat_id, kind, "e-mail rejected");
            }
        }
        self.connections.finish_email(key, seq).await
    }
}

/// Returns the address to which the visitor's e-mails go. `None` if it is not known or an agent has blacklisted the
/// visitor.
fn address_of(visitor: &Visitor) -> Option<Mailbox> {
    visitor.profile.email.as_deref().filter(|_| !visitor.blacklisted).and_then(Mailbox::parse)
}
