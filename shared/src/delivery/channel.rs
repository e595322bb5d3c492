//! Delivery to the integrator of a channel (specification, A-3).

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use url::Url;

use super::engine::Receiver;
use super::outbound::{Exchange, NoAnswer, Outbound, Post};
use super::task::TypingTask;
use crate::clock;
use crate::domain::channel::Channel;
use crate::domain::chat::{Chat, From};
use crate::domain::content::Typing;
use crate::domain::delivery::{Attempt, Failure, Outcome};
use crate::domain::entry::Entry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::directory::Directory;
use crate::wire::{agent_message, answer};

/// A typing notice that is older is of no use to anybody.
const TYPING_LASTS: Duration = Duration::from_secs(3);

/// Integrators' servers.
pub struct Integrators<'a> {
    /// Where their channels are.
    pub directory: &'a Directory,
    /// How they are called.
    pub outbound: &'a Outbound,
}

impl Receiver for Integrators<'_> {
    fn send<'a>(
        &'a self,
        entry: &'a Entry,
        chat: &'a Chat,
        timeout: Duration,
    ) -> BoxFuture<'a, Result<(Outcome, Attempt), Error>> {
        Box::pin(async move {
            let Some(channel) = self.directory.cached_channel(&chat.channel_id).await? else {
                return Ok(deleted());
            };
            let From::Agent(author) = &entry.from else {
                return Err(Error::internal("only agents' messages are delivered"));
            };
            let body = agent_message::body(author, &chat.external_id, &entry.id, &entry.content);
            let exchange = self.post(&channel, &body, &entry.id, timeout).await?;
            Ok(classify(&channel, exchange))
        })
    }
}

impl Integrators<'_> {
    /// Passes on a typing notice of the agent who has the chat: once, and only while it is fresh.
    pub async fn send_typing(&self, chats: &Chats, task: &TypingTask) -> Result<(), Error> {
        let is_fresh = clock::now().since(Timestamp(task.at)) < TYPING_LASTS;
        let Some(typing) = Typing::parse(&task.r#type).filter(|_| is_fresh) else {
            return Ok(());
        };
        let Some(chat) = chats.chat(&task.account_id, task.chat_id).await? else {
            return Ok(());
        };
        let Some(agent) = chat.state.agent().filter(|_| !chat.is_failing(clock::now())) else {
            return Ok(());
        };
        let Some(channel) = self.directory.cached_channel(&chat.channel_id).await? else {
            return Ok(());
        };
        let body = agent_message::typing(agent, &chat.external_id, typing);
        let exchange = self.post(&channel, &body, &crate::secret::message_id(), TYPING_LASTS).await?;
        let Attempt { at: _, status, ms: duration_ms, error: _ } = exchange.attempt;
        tracing::info!(task.account_id, task.chat_id, status, duration_ms, "typing notice tried");
        Ok(())
    }

    async fn post(
        &self,
        channel: &Arc<Channel>,
        body: &serde_json::Value,
        id: &str,
        timeout: Duration,
    ) -> Result<Exchange, Error> {
        let url = endpoint(&channel.settings.integrator_url, &channel.channel_id)?;
        let body = body.to_string().into_bytes();
        let (secret, chunked) = (&channel.signing_secret, channel.settings.chunked);
        self.outbound.post(Post { url, body, id, secret, chunked, timeout }).await
    }
}

/// `<integrator_url>/<CHANNEL_PUBLIC_ID>`; a query of the integrator's stays where it is.
fn endpoint(integrator_url: &str, channel_id: &str) -> Result<Url, Error> {
    let mut url = Url::parse(integrator_url).map_err(Error::internal)?;
    url.path_segments_mut().map_err(|()| Error::internal("integrator_url"))?.pop_if_empty().push(channel_id);
    Ok(url)
}

fn classify(channel: &Channel, exchange: Exchange) -> (Outcome, Attempt) {
    let Exchange { result, mut attempt } = exchange;
    let outcome = match result {
        Ok(answer) => answer::classify(&answer, &channel.settings),
        Err(NoAnswer::Forbidden(forbidden)) => {
            Outcome::Rejected(Failure { code: None, message: format!("the address {forbidden}"), hidden: false })
        }
        Err(no_answer) => Outcome::TryAgain(no_answer.to_string()),
    };
    attempt.error = match &outcome {
        Outcome::Delivered => None,
        Outcome::Rejected(failure) => Some(failure.message.clone()),
        Outcome::TryAgain(reason) => Some(reason.clone()),
    };
    (outcome, attempt)
}

fn deleted() -> (Outcome, Attempt) {
    let message = "the channel was deleted".to_owned();
    let attempt = Attempt { at: clock::now(), status: None, ms: 0, error: Some(message.clone()) };
    (Outcome::Rejected(Failure { code: None, message, hidden: false }), attempt)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_channel_id_is_the_last_segment_of_the_integrators_address() {
        let table = [
            ("https://a.example", "https://a.example/ID"),
            ("https://a.example/", "https://a.example/ID"),
            ("https://a.example/hook", "https://a.example/hook/ID"),
            ("https://a.example/hook/?key=1", "https://a.example/hook/ID?key=1"),
        ];
        for (integrator_url, expected) in table {
            assert_eq!(endpoint(integrator_url, "ID").unwrap().as_str(), expected);
        }
    }
}
