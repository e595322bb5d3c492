//! The time limits of agents' answers: begins and ends them when headers change, and tells webhooks before they end.

use std::time::Duration;

use crate::chats::notifications::NotificationContext;
use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::accounts::answer_times::AnswerTimes;
use crate::domain::chats::answer_timer::{AnswerDue, AnswerResult, AnswerStep};
use crate::domain::chats::chat::Chat;
use crate::domain::deliveries::webhook::WebhookEventDetails;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::clock;
use crate::runtime::outbox::{MAX_DELAY, Outbox};
use crate::store::chats::Chats;
use crate::store::directory::Directory;
use crate::store::table_changes::ParsedChanges;
use crate::store::write_races::WriteRaces;
use crate::wire::queue_task::{AnswerTimerStep, AnswerTimerTask, Task};

/// Queues delay tasks by whole seconds, so a task can come this much too early.
const DELAY_PRECISION: Duration = Duration::from_secs(1);

/// A change of a chat that may begin or end a time limit.
pub struct AnswerChange {
    account_id: String,
    chat_id: u64,
    department_id: Option<u64>,
    step: AnswerStep,
}

impl AnswerChange {
    #[must_use]
    pub fn all_of(changes: &ParsedChanges) -> Vec<Self> {
        let of_header = |(account_id, before, after): (&str, Option<&Chat>, &Chat)| {
            Some(Self {
                account_id: account_id.to_owned(),
                chat_id: after.chat_id,
                department_id: after.department.as_ref().map(|department| department.department_id),
                step: AnswerStep::of(before, after)?,
            })
        };
        changes.changed_headers().filter_map(of_header).collect()
    }

    /// Queues the tasks of the accounts that have time limits.
    ///
    /// # Errors
    /// Fails if a table or a queue is unavailable. The stream then repeats the batch; repeated tasks do no harm.
    pub async fn queue(changes: Vec<Self>, directory: &Directory, outbox: &Outbox) -> Result<(), Error> {
        for Self { account_id, chat_id, department_id, step } in changes {
            let settings = directory.cached_settings(&account_id).await?;
            if answer_times(directory, &settings, &account_id, department_id).await?.is_some() {
                outbox.send_answer_step(&Task::answer_timer(&account_id, chat_id, step)).await?;
            }
        }
        Ok(())
    }
}

/// Returns the time limits of a chat in this department. Departments without their own have those of the account. Only
/// an account with time limits can have departments with others, so that the other accounts cost no read.
async fn answer_times(
    directory: &Directory,
    settings: &AccountSettings,
    account_id: &str,
    department_id: Option<u64>,
) -> Result<Option<AnswerTimes>, Error> {
    let (Some(of_account), Some(department_id)) = (settings.answer_times, department_id) else {
        return Ok(settings.answer_times);
    };
    let roster = directory.cached_roster(account_id).await?;
    Ok(roster.department(department_id).and_then(|department| department.answer_times).or(Some(of_account)))
}

pub struct AnswerTimers<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub outbox: &'a Outbox,
}

impl AnswerTimers<'_> {
    /// # Errors
    /// Fails if a table or a queue is unavailable. The task can be repeated.
    pub async fn run(&self, task: &AnswerTimerTask) -> Result<(), Error> {
        let Some(chat) = self.chats.chat(&task.account_id, task.chat_id).await? else { return Ok(()) };
        match task.step {
            AnswerTimerStep::Asked { is_first } => self.start(chat, task, is_first).await,
            AnswerTimerStep::DueSoon => self.announce(chat, task).await,
            AnswerTimerStep::Answered => {
                let due = chat.answer_due.filter(|due| due.asked_seq < task.seq);
                self.end(&chat, due, |due| Some(due.result(Timestamp(task.at)))).await
            }
            AnswerTimerStep::Ended => {
                let late = |due: AnswerDue| Some(due.result(Timestamp(task.at))).filter(|it| *it == AnswerResult::Late);
                self.end(&chat, chat.answer_due, late).await
            }
        }
    }

    /// Begins the time limit, unless the visitor waits for an earlier answer.
    async fn start(&self, chat: Chat, task: &AnswerTimerTask, is_first: bool) -> Result<(), Error> {
        let due = match chat.answer_due {
            Some(due) => due,
            None => {
                let Some(due) = self.due(&chat, task, is_first).await? else { return Ok(()) };
                let settings = self.directory.cached_settings(&chat.account_id).await?;
                let idle_check = settings.next_idle_check(chat.idle_since(), clock::now());
                self.chats.start_answer_timer(&chat, due, idle_check).await?;
                due
            }
        };
        self.queue_announcement(&chat, due).await
    }

    async fn due(&self, chat: &Chat, task: &AnswerTimerTask, is_first: bool) -> Result<Option<AnswerDue>, Error> {
        let settings = self.directory.cached_settings(&chat.account_id).await?;
        let department_id = chat.department.as_ref().map(|department| department.department_id);
        let times = answer_times(self.directory, &settings, &chat.account_id, department_id).await?;
        let Some(limit) = times.and_then(|times| times.limit(is_first)) else { return Ok(None) };
        let hours = match self.directory.cached_channel(&chat.channel_id).await? {
            Some(channel) => self.directory.business_hours(&channel, department_id).await?,
            None => settings.business_hours.clone(),
        };
        Ok(AnswerDue::new((task.seq, Timestamp(task.at)), is_first, limit, hours.as_ref()))
    }

    /// Queues the check at the time at which the answer is due soon, or an earlier one if the time is too far away.
    async fn queue_announcement(&self, chat: &Chat, due: AnswerDue) -> Result<(), Error> {
        if due.is_announced {
            return Ok(());
        }
        let task = Task::answer_due_soon(&chat.account_id, chat.chat_id, due.asked_seq);
        self.outbox.send_assignment_later(&task, due.soon_at.since(clock::now()).min(MAX_DELAY)).await
    }

    /// Tells the webhooks that the answer is due soon. Does nothing if the visitor has got it.
    async fn announce(&self, chat: Chat, task: &AnswerTimerTask) -> Result<(), Error> {
        let mut races = WriteRaces::new("announcement of a due answer");
        let mut current = Some(chat);
        while let Some(chat) = current {
            // An agent may have answered, although the task that ends the time limit has not come yet.
            let is_answered = chat.last_message.as_ref().is_some_and(|last| last.agent_id.is_some());
            let owed = chat.owed_answer().filter(|due| due.asked_seq == task.seq && !due.is_announced && !is_answered);
            let Some(due) = owed else { return Ok(()) };
            let now = clock::now();
            if due.soon_at.since(now) >= DELAY_PRECISION {
                return self.queue_announcement(&chat, due).await;
            }
            let settings = self.directory.cached_settings(&chat.account_id).await?;
            let agent_id = chat.state.agent().map(|agent| agent.agent_id);
            let context = NotificationContext { webhooks: &settings.webhooks, agent_id, now };
            let contents = context.webhook_notifications(WebhookEvent::AnswerDueSoon, WebhookEventDetails::default());
            let mut header = chat.clone();
            let events = context.create_entries(&mut header, contents)?;
            let written = self.chats.announce_due_answer((&chat, &header), due, &events, now).await;
            if let Some(result) = races.final_result(written) {
                result?;
                self.outbox.enqueue(&events).await;
                return Ok(());
            }
            current = self.chats.chat(&task.account_id, task.chat_id).await?;
        }
        Ok(())
    }

    async fn end(
        &self,
        chat: &Chat,
        due: Option<AnswerDue>,
        result: impl Fn(AnswerDue) -> Option<AnswerResult>,
    ) -> Result<(), Error> {
        match due {
            Some(due) => self.chats.end_answer_timer(chat, due, result(due)).await,
            None => Ok(()),
        }
    }
}
