//! Which changes of chats lead to an e-mail: the end of a chat, and an agent's message to a visitor of a widget. They
//! come from the table stream, so no function can forget to report them. In an account without e-mail, such a change
//! costs at most one cached read of the settings.

use std::time::Duration;

use crate::domain::channels::channel::ChannelKind;
use crate::domain::chats::chat::Chat;
use crate::domain::email::email_settings::EmailSettings;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::outbox::Outbox;
use crate::store::directory::Directory;
use crate::store::table_changes::ParsedChanges;
use crate::wire::queue_task::{EmailKind, Task};

/// The time in which a visitor can rate a closed chat before its transcript is sent.
const RATING_WAIT: Duration = Duration::from_secs(2 * 60);

/// A change of a chat about which an e-mail may have to be sent.
pub struct EmailTrigger {
    account_id: String,
    chat_id: u64,
    kind: EmailKind,
}

impl EmailTrigger {
    #[must_use]
    pub fn all_of(changes: &ParsedChanges) -> Vec<Self> {
        let of_header = |(account_id, before, after): (&str, Option<&Chat>, &Chat)| {
            let kind = kind_of(before?, after)?;
            Some(Self { account_id: account_id.to_owned(), chat_id: after.chat_id, kind })
        };
        changes.changed_headers().filter_map(of_header).collect()
    }

    /// Queues the tasks of the accounts that send e-mails.
    ///
    /// # Errors
    /// Fails if a table or the queue is unavailable. The stream then repeats the batch; repeated tasks do no harm.
    pub async fn queue(triggers: Vec<Self>, directory: &Directory, outbox: &Outbox) -> Result<(), Error> {
        for Self { account_id, chat_id, kind } in triggers {
            let settings = directory.cached_settings(&account_id).await?;
            if let Some(delay) = settings.email.as_ref().and_then(|email| delay_of(kind, email)) {
                outbox.send_email_later(&Task::email(&account_id, chat_id, kind), delay).await?;
            }
        }
        Ok(())
    }
}

/// Returns how long the e-mail waits. `None` if the account does not send it.
fn delay_of(kind: EmailKind, email: &EmailSettings) -> Option<Duration> {
    match kind {
        EmailKind::Transcript => email.sends_transcripts().then_some(RATING_WAIT),
        EmailKind::Answer { .. } => email.answers_to_visitor.then_some(email.away),
    }
}

fn kind_of(before: &Chat, after: &Chat) -> Option<EmailKind> {
    let is_closed_now = after.state.is_closed() && !before.state.is_closed();
    if is_closed_now && !after.participants.is_empty() {
        return Some(EmailKind::Transcript);
    }
    let at = |chat: &Chat| chat.last_message.as_ref().map_or(Timestamp(0), |message| message.at);
    let is_new_message = after.seq > before.seq && after.last_message != before.last_message && at(after) >= at(before);
    let is_of_agent = after.last_message.as_ref().is_some_and(|message| message.from == AGENT);
    let is_answer = is_new_message && is_of_agent && after.channel_kind == ChannelKind::Widget;
    // Events that report the message have the numbers after it.
    is_answer.then(|| EmailKind::Answer { seq: before.seq + 1 })
}

/// The kind of sender of an agent's message; see [`Sender::name`](crate::domain::chats::chat::Sender::name).
const AGENT: &str = "agent";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::chats::chat::{MessagePreview, Sender};
    use crate::domain::chats::chat_state::ChatState;
    use crate::domain::chats::message_content::Content;
    use crate::wire::sample_data;

    const NOW: Timestamp = Timestamp(1_000_000);

    fn agent() -> Sender {
        Sender::Agent(sample_data::agent(NOW).into())
    }

    fn chat() -> Chat {
        let last_message = None;
        Chat {
            channel_kind: ChannelKind::Widget,
            seq: 4,
            last_message,
            participants: vec![7],
            ..sample_data::chat(NOW)
        }
    }

    fn with_message(chat: &Chat, from: &Sender) -> Chat {
        let last_message = Some(MessagePreview::of(&Content::text("Hi"), from, NOW));
        Chat { seq: chat.seq + 2, last_message, ..chat.clone() }
    }

    #[test]
    fn message_of_an_agent_to_a_widget_leads_to_an_answer() {
        assert_eq!(agent().name(), AGENT);
        let answer = kind_of(&chat(), &with_message(&chat(), &agent()));
        assert_eq!(answer, Some(EmailKind::Answer { seq: 5 }), "the event after it has the number 6");
        for other in [Sender::Visitor, Sender::Bot("Bot".to_owned())] {
            assert_eq!(kind_of(&chat(), &with_message(&chat(), &other)), None, "{other:?}");
        }
        let api = Chat { channel_kind: ChannelKind::Api, ..chat() };
        assert_eq!(kind_of(&api, &with_message(&api, &agent())), None, "an integrator delivers it");
    }

    #[test]
    fn end_of_a_chat_with_an_agent_leads_to_a_transcript() {
        let closed = |chat: Chat| Chat { state: ChatState::Closed(None), ..chat };
        assert_eq!(kind_of(&chat(), &closed(chat())), Some(EmailKind::Transcript));
        let rated = Chat { rating: None, ..closed(chat()) };
        assert_eq!(kind_of(&closed(chat()), &rated), None, "it was closed before");
        let without_agent = Chat { participants: Vec::new(), ..chat() };
        assert_eq!(kind_of(&without_agent, &closed(without_agent.clone())), None);
    }
}
