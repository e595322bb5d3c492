//! A visitor rates a chat.

use std::time::Duration;

use crate::chats::notifications::NotificationContext;
use crate::domain::chats::chat::{Chat, Rating};
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::webhook::{Webhook, WebhookEventDetails};
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::write_races::WriteRaces;

/// Stores and counts the visitor's rating of an open or closed chat; `None` removes the rating. Chat lists do not
/// show ratings, so an open chat does not count as changed. If chat_finished has already been sent, the rating is
/// reported with chat_updated. Returns these events, which the caller must queue.
pub async fn rate_chat(
    chats: &Chats,
    mut chat: Chat,
    rating: Option<Rating>,
    webhooks: &[Webhook],
    now: Timestamp,
) -> Result<Vec<TimelineEntry>, Error> {
    let mut races = WriteRaces::new("rating");
    while chat.rating != rating {
        let notifications = rating_notifications(&chat, webhooks, now)?;
        let written = chats.write_rating(&chat, rating, &notifications, now).await;
        if let Some(result) = races.final_result(written) {
            return result.map(|()| notifications);
        }
        chat = chats.chat(&chat.account_id, chat.chat_id).await?.ok_or(Error::NotFound)?;
    }
    Ok(Vec::new())
}

/// An attempt can be early by less than this. A rating that is stored at the same time is then reported twice, in
/// chat_finished and with chat_updated.
const MAX_ATTEMPT_LEAD: Duration = Duration::from_secs(3);

/// Returns the events that report a rating: chat_rated and, for the webhooks whose chat_finished can no longer contain
/// the rating, chat_updated. There is no chat_updated if no agent took part, because then no event has reported the chat.
fn rating_notifications(chat: &Chat, webhooks: &[Webhook], now: Timestamp) -> Result<Vec<TimelineEntry>, Error> {
    let owner = chat.state.agent().map(|agent| agent.agent_id);
    let agent_id = owner.or_else(|| chat.participants.last().copied());
    let context = NotificationContext { webhooks, agent_id, now };
    let details = WebhookEventDetails { reports_rating: true, ..WebhookEventDetails::default() };
    let since_end = now.since(chat.closed_at.unwrap_or(Timestamp(0))).saturating_add(MAX_ATTEMPT_LEAD);
    let is_finished = chat.state.is_closed() && agent_id.is_some();
    let will_report = |webhook: &Webhook| {
        webhook.subscribes_to(WebhookEvent::ChatFinished) && since_end <= webhook.delay_of(WebhookEvent::ChatFinished)
    };
    let is_sent = |webhook: &&Webhook| is_finished && !will_report(webhook);
    let finished: Vec<Webhook> = webhooks.iter().filter(is_sent).cloned().collect();
    let updated = NotificationContext { webhooks: &finished, ..context };
    let mut contents = updated.webhook_notifications(WebhookEvent::ChatUpdated, details);
    contents.extend(context.webhook_notifications(WebhookEvent::ChatRated, details));
    context.create_entries(&mut chat.clone(), contents)
}
