//! Runs every minute and closes chats that have been idle for the account's limit. A bot that had the chat is notified
//! with CHAT_CLOSED. The webhooks are notified with chat_finished, unless no agent has accepted the chat. An open chat
//! is checked when it may have reached the limit, and at least once an hour. A check also returns a chat to its bot if
//! no agent has accepted it in time, and lets an offer end whose task was lost. Before the checks, the messages that
//! agents have planned for this minute are sent. In the remaining time, a run continues
//! the retention passes, which apply changed retention periods to closed chats, and the deletions of accounts.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use shared::chats::agent::close_chat::close_idle_chat;
use shared::chats::bot::return_chat::return_unaccepted_chat;
use shared::chats::notifications::NotificationContext;
use shared::chats::upkeep::reschedule_idle_check::reschedule_idle_check;
use shared::error::Error;
use shared::runtime::outbox::Outbox;
use shared::runtime::{clock, schedule};
use shared::service::account_work::continue_account_work;
use shared::service::backlog::{BacklogRun, HandlerFuture, OverdueHandler};
use shared::service::planned_messages::PlannedMessages;
use shared::store::account_deletion::AccountData;
use shared::store::chats::Chats;
use shared::store::chats::delivery::due_index::{Backlog, OverdueItem};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::queue_task::Task;

/// After this time, a run starts no further idle checks. The rest of the run is for retention passes and deletions.
const IDLE_CHECK_TIME_BUDGET: Duration = Duration::from_secs(25);
/// After this time, a run sends no further planned messages. The next run sends the rest.
const PLANNED_MESSAGES_TIME_BUDGET: Duration = Duration::from_secs(10);
/// After this time, a run starts no further work, so that it ends before the function's timeout and before the next
/// run.
const RUN_TIME_BUDGET: Duration = Duration::from_secs(40);

fn main() -> ExitCode {
    schedule::run(handle)
}

struct IdleCheck(Directory, Chats, Outbox);

type Dependencies = (Directory, Chats, Connections, Outbox);

async fn handle((directory, chats, connections, outbox): Dependencies, (): ()) -> Result<Value, Error> {
    let (started, now) = (Instant::now(), clock::now());
    let check = IdleCheck(directory, chats, outbox);
    let IdleCheck(directory, chats, outbox) = &check;
    let planned = PlannedMessages { directory, chats, outbox };
    let unsent = planned.send_due(now, started + PLANNED_MESSAGES_TIME_BUDGET).await;
    let (backlog, deadline) = (Backlog::IdleChecks, started + IDLE_CHECK_TIME_BUDGET);
    let report =
        BacklogRun { chats, backlog, due_before: now, deadline, max_changed_items: u32::MAX }.process(&check).await;
    let checked_until = report.oldest_unhandled_due_at.unwrap_or(now);
    // A retention pass waits until all chats that were open when it was planned have been checked.
    let data = AccountData { directory, chats, connections: &connections };
    let failed =
        unsent + report.failed + continue_account_work(&data, checked_until, started + RUN_TIME_BUDGET).await?;
    tracing::info!(closed = report.changed, failed, "idle chats closed");
    match failed {
        0 => Ok(json!({ "closed": report.changed })),
        failed => Err(Error::internal(("planned messages, idle checks, retention passes or deletions failed", failed))),
    }
}

impl OverdueHandler for IdleCheck {
    /// Returns whether the chat was closed.
    fn handle<'a>(&'a self, overdue: &'a OverdueItem) -> HandlerFuture<'a> {
        Box::pin(async move {
            let Self(directory, chats, outbox) = self;
            let Some(chat) = chats.due_for_idle_check(overdue).await? else { return Ok(false) };
            let (settings, now) = (directory.cached_settings(&chat.account_id).await?, clock::now());
            // Usually a task in a queue returns the chat. It may have been lost.
            let context = NotificationContext { webhooks: &settings.webhooks, agent_id: None, now };
            if settings.suspended_at.is_none()
                && chat.is_agent_wait_over(now)
                && let Some(returned) = return_unaccepted_chat(chats, &chat.account_id, chat.chat_id, context).await?
            {
                outbox.enqueue(&returned.notifications).await;
                reschedule_idle_check(chats, overdue, &returned.chat, &settings, now).await?;
                return Ok(false);
            }
            // Usually a change of a table, or a delayed task at the end of an offer, causes an assignment. It may have
            // been lost.
            if chat.assignment.is_offer_over(now) || settings.assignment.is_some() && chat.awaits_assignment() {
                outbox.send_assignment(&Task::assignment(&chat.account_id, Some(chat.chat_id), now)).await?;
            }
            // Usually a delayed task announces a due answer. It may have been lost.
            if let Some(due) = chat.owed_answer().filter(|due| due.soon_at <= now && !due.is_announced) {
                let task = Task::answer_due_soon(&chat.account_id, chat.chat_id, due.asked_seq);
                outbox.send_assignment_later(&task, Duration::ZERO).await?;
            }
            // Nothing happens in the chats of a suspended account, so they are not closed either.
            if settings.suspended_at.is_some() || !settings.is_idle(chat.idle_since(), now) {
                reschedule_idle_check(chats, overdue, &chat, &settings, now).await?;
                return Ok(false);
            }
            let Some(closed) = close_idle_chat(chats, &chat, &settings, now).await? else { return Ok(false) };
            outbox.enqueue(&closed.notifications).await;
            Ok(true)
        })
    }
}
