//! The counters of an account's reports (docs/design.md, Reports). Every transaction that changes a counted fact, for
//! example opens or closes a chat, also updates one item of counters. Each event is therefore counted exactly once,
//! even if requests are repeated.
//!
//! The counters of a day and a channel are spread over several items (shards) by chat number, because DynamoDB cancels
//! one of two concurrent transactions that write the same item.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::calls::phone_call::{Call, CallKind};
use crate::domain::chats::answer_timer::AnswerResult;
use crate::domain::chats::bot_draft::DraftUse;
use crate::domain::chats::chat::{Chat, Rating};
use crate::domain::deliveries::delivery::Target;
use crate::domain::named::Named;
use crate::domain::report::{Bucket, CallResult, CountedChats, Counter, SettledBy};
use crate::domain::time_zone::Day;
use crate::error::Error;
use crate::store::chats::{Chats, MAX_QUERY_ITEMS};
use crate::store::table::{Item, ItemUpdate, Key, Query, Write, n, s};

/// The number of items for the counters of a day and a channel. Chats with consecutive numbers use different items.
const SHARDS: u64 = 8;
/// How long counters are kept. A report covers at most 90 days and the same number of days before, so 400 days are more
/// than enough.
const COUNTER_TTL: Duration = Duration::from_secs(400 * 24 * 60 * 60);

fn report_partition(account_id: &str) -> String {
    format!("REPORT#{account_id}")
}

pub(crate) fn report_counters_key(account_id: &str, opened_on: Day, channel_id: &str, chat_id: u64) -> Key {
    Key::new(report_partition(account_id), format!("{opened_on}#{channel_id}#{}", chat_id % SHARDS))
}

pub(crate) fn count_write(chat: &Chat, counters: &[Counter]) -> Write {
    change_write(chat, counters, &[])
}

/// Returns the write that decrements the counter of the rating `before` and increments that of `after`.
pub(crate) fn count_rating_write(chat: &Chat, before: Option<Rating>, after: Option<Rating>) -> Write {
    let counters = |rating: Option<Rating>| rating.map(Counter::Ratings).into_iter().collect::<Vec<_>>();
    change_write(chat, &counters(after), &counters(before))
}

/// Returns the write that counts a closed chat by its tags `after` instead of by its tags `before`, or `None` if they
/// are the same tags.
pub(crate) fn count_tags_write(chat: &Chat, before: &[u64], after: &[u64]) -> Option<Write> {
    let counters = |tag_ids: &[u64], others: &[u64]| -> Vec<Counter> {
        tag_ids.iter().filter(|tag_id| !others.contains(tag_id)).copied().map(Counter::ChatsWithTag).collect()
    };
    let (added, removed) = (counters(after, before), counters(before, after));
    let is_changed = !added.is_empty() || !removed.is_empty();
    is_changed.then(|| change_write(chat, &added, &removed))
}

/// Returns the write that counts a finished call. If the call was already counted as failed but then ended normally,
/// according to the provider's report, the write also takes back the failure. `before` is the call before that report.
pub(crate) fn count_call_write(chat: &Chat, before: &Call, after: &Call) -> Write {
    change_write(chat, &Counter::of_finished_call(after), &Counter::of_finished_call(before))
}

fn change_write(chat: &Chat, incremented: &[Counter], decremented: &[Counter]) -> Write {
    let mut values =
        vec![(":name", s(&*chat.channel_name)), (":expires_at", n(chat.opened_at.plus(COUNTER_TTL).seconds()))];
    let mut additions = Vec::new();
    for (counters, placeholder, amount) in [(incremented, ":one", 1), (decremented, ":minus_one", -1)] {
        if !counters.is_empty() {
            values.push((placeholder, n(amount)));
            additions.extend(counters.iter().map(|counter| format!("#{} {placeholder}", attribute_name(*counter))));
        }
    }
    let update = format!("SET #channel_name = :name, #expires_at = :expires_at ADD {}", additions.join(", "));
    let key = report_counters_key(&chat.account_id, chat.opened_on, &chat.channel_id, chat.chat_id);
    Write::DynamicUpdate(ItemUpdate { key, update, condition: "", values })
}

/// The names of histogram buckets and agents are short, because an item has many of them and DynamoDB charges for
/// writes by size.
fn attribute_name(counter: Counter) -> String {
    match counter {
        Counter::OpenedChats => "opened".to_owned(),
        Counter::SettledChats(by) => by.name().to_owned(),
        Counter::FirstAnswer(bucket) => format!("a{}", bucket.number()),
        Counter::Answers(result) => format!("answers_{}", result.name()),
        Counter::Length(bucket) => format!("l{}", bucket.number()),
        Counter::Ratings(rating) => rating.name().to_owned(),
        Counter::FailedDeliveries(target) => format!("failed_{}", target.name()),
        Counter::ChatsOfAgent(agent_id) => format!("g{agent_id}"),
        Counter::ChatsWithTag(tag_id) => format!("k{tag_id}"),
        Counter::Calls(kind, result) => format!("{}_{}", kind.name(), result.name()),
        Counter::TalkTime(bucket) => format!("t{}", bucket.number()),
        Counter::Drafts => "drafts".to_owned(),
        Counter::UsedDrafts(used) => format!("drafts_{}", used.name()),
    }
}

/// Returns `None` if the attribute is not a counter.
fn counter_of_attribute(name: &str) -> Option<Counter> {
    let fixed = [Counter::OpenedChats, Counter::Drafts]
        .into_iter()
        .chain(SettledBy::ALL.map(Counter::SettledChats))
        .chain(AnswerResult::ALL.iter().copied().map(Counter::Answers))
        .chain(DraftUse::ALL.iter().copied().map(Counter::UsedDrafts))
        .chain([Rating::Positive, Rating::Negative].map(Counter::Ratings))
        .chain(Target::ALL.iter().copied().map(Counter::FailedDeliveries))
        .chain(
            CallResult::ALL
                .into_iter()
                .flat_map(|result| CallKind::ALL.iter().map(move |kind| Counter::Calls(*kind, result))),
        );
    if let Some(counter) = fixed.into_iter().find(|counter| attribute_name(*counter) == name) {
        return Some(counter);
    }
    let bucket = |number: &str| Bucket::new(number.parse().ok()?);
    match name.split_at_checked(1)? {
        ("a", number) => bucket(number).map(Counter::FirstAnswer),
        ("l", number) => bucket(number).map(Counter::Length),
        ("t", number) => bucket(number).map(Counter::TalkTime),
        ("g", number) => number.parse().ok().map(Counter::ChatsOfAgent),
        ("k", number) => number.parse().ok().map(Counter::ChatsWithTag),
        _ => None,
    }
}

fn counted_chats(item: &Item) -> Option<CountedChats> {
    let (day, rest) = item.get("sk")?.as_s().ok()?.split_once('#')?;
    let (channel_id, _) = rest.rsplit_once('#')?;
    let count = |value: &AttributeValue| value.as_n().ok()?.parse().ok();
    let counters = item.iter().filter_map(|(name, value)| Some((counter_of_attribute(name)?, count(value)?)));
    Some(CountedChats {
        day: Day::parse(day)?,
        channel_id: channel_id.to_owned(),
        channel_name: item.get("channel_name")?.as_s().ok()?.clone(),
        counters: counters.collect(),
    })
}

/// Returns the write that counts a failed delivery.
pub(crate) fn count_failure_write(chat: &Chat, target: Target) -> Write {
    count_write(chat, &[Counter::FailedDeliveries(target)])
}

impl Chats {
    /// Reads the counters of the chats that were opened from day `first` to day `last`, oldest first. The read is
    /// eventually consistent, so the latest events may be missing.
    pub async fn counted_chats(&self, account_id: &str, first: Day, last: Day) -> Result<Vec<CountedChats>, Error> {
        let query = Query {
            index: None,
            condition: "#pk = :account AND #sk BETWEEN :first AND :last",
            values: vec![
                (":account", s(report_partition(account_id))),
                (":first", s(first.to_string())),
                // The keys of the last day continue with `#`. `$` sorts directly after `#`, so the range includes all
                // of these keys.
                (":last", s(format!("{last}$"))),
            ],
            limit: MAX_QUERY_ITEMS,
            descending: false,
        };
        let items = self.table.query_all_eventually(query).await?;
        items.iter().map(|item| counted_chats(item).ok_or_else(|| Error::internal("invalid counters"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn attribute_names_identify_their_counters() {
        let bucket = Bucket::of(Duration::from_secs(41));
        let counters = [
            Counter::OpenedChats,
            Counter::SettledChats(SettledBy::Agent),
            Counter::SettledChats(SettledBy::Bot),
            Counter::SettledChats(SettledBy::Nobody),
            Counter::FirstAnswer(bucket),
            Counter::Answers(AnswerResult::InTime),
            Counter::Answers(AnswerResult::Late),
            Counter::Length(bucket),
            Counter::Ratings(Rating::Positive),
            Counter::Ratings(Rating::Negative),
            Counter::FailedDeliveries(Target::Call),
            Counter::Calls(CallKind::Callback, CallResult::Answered),
            Counter::Calls(CallKind::Incoming, CallResult::Failed),
            Counter::TalkTime(bucket),
            Counter::ChatsOfAgent(12),
            Counter::ChatsWithTag(3),
            Counter::Drafts,
            Counter::UsedDrafts(DraftUse::Taken),
            Counter::UsedDrafts(DraftUse::Edited),
        ];
        for counter in counters {
            assert_eq!(counter_of_attribute(&attribute_name(counter)), Some(counter), "{counter:?}");
        }
        for name in ["pk", "sk", "channel_name", "expires_at", "a93", "a", "", "g", "lx", "\u{e4}1"] {
            assert_eq!(counter_of_attribute(name), None, "{name}");
        }
    }
}
