//! GET /admin/reports: the query, the report and the operation.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::contract::Operation;
use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::accounts::agent::Agent;
use crate::domain::calls::phone_call::CallKind;
use crate::domain::deliveries::delivery::Target;
use crate::domain::named::Named;
use crate::domain::report::{self, BUCKET_COUNT, CallTotals, Histogram, MAX_PERCENTILE_ERROR};
use crate::wire::fields::values::{NotNull, SequentialNumber, Whole};

const MAX_DAYS: u64 = 90;
const DEFAULT_DAYS: u64 = 30;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        Operation::get("/admin/reports", "report", "Reports on the chats of the last days, in the account's time zone")
            .describe(
                "Chats, answers, ratings, failed deliveries and calls by day, channel and agent, and the same for the \
             period before.",
            )
            .query::<ReportQuery>()
            .answers::<Report>(200, "The report. The latest events may be missing."),
    ]
}

#[derive(Deserialize, JsonSchema)]
pub struct ReportQuery {
    /// The number of days, including today.
    #[serde(default)]
    #[schemars(extend("default" = DEFAULT_DAYS))]
    days: NotNull<Whole<1, MAX_DAYS>>,
    /// Selects the chats of this channel.
    #[serde(default)]
    #[schemars(regex(pattern = "^[A-Za-z0-9]{1,64}$"))]
    channel_id: NotNull<String>,
}

impl ReportQuery {
    pub fn days(&self) -> usize {
        let days = self.days.0.map_or(DEFAULT_DAYS, |Whole(days)| days);
        usize::try_from(days).unwrap_or(usize::MAX)
    }

    pub fn channel_id(&self) -> Option<&str> {
        self.channel_id.0.as_deref()
    }
}

#[derive(Serialize, JsonSchema)]
pub struct Report {
    time_zone: String,
    /// The largest relative error of a median or percentile of a second or more. Shorter ones are reported as half a
    /// second.
    percentile_error: f64,
    total: ReportTotals,
    /// The totals for the same number of days immediately before the period.
    previous: ReportTotals,
    distributions: ReportDistributions,
    /// Every day of the period, oldest first.
    #[schemars(length(min = 1, max = MAX_DAYS))]
    days: Vec<ReportedDay>,
    /// The channels with chats in the period, including deleted channels.
    channels: Vec<ReportedChannel>,
    /// The agents who took part in closed chats of the period.
    agents: Vec<ReportedAgent>,
    /// The tags of closed chats of the period. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<ReportedTag>,
}

impl Report {
    /// `agents` are the agents of the account, whose names the report shows.
    pub fn new(report: report::Report, settings: &AccountSettings, agents: &[Agent]) -> Self {
        let report::Report { days, total, previous, channels } = report;
        let name = |agent_id: u64| agents.iter().find(|agent| agent.agent_id == agent_id).map(|agent| &agent.name);
        let agent = |(agent_id, chats): (&u64, &u64)| ReportedAgent {
            agent_id: SequentialNumber(*agent_id),
            name: name(*agent_id).cloned(),
            chats: *chats,
        };
        let tag = |(tag_id, chats): (&u64, &u64)| ReportedTag {
            tag_id: SequentialNumber(*tag_id),
            name: settings.inbox.tag(*tag_id).map(|tag| tag.name.clone()),
            chats: *chats,
        };
        let channel = |(channel_id, channel): (String, report::ChannelTotals)| ReportedChannel {
            channel_id,
            name: channel.name,
            totals: (&channel.totals).into(),
        };
        Self {
            time_zone: settings.time_zone.name().to_owned(),
            percentile_error: MAX_PERCENTILE_ERROR,
            total: (&total).into(),
            previous: (&previous).into(),
            distributions: ReportDistributions {
                first_answer: (&total.first_answer).into(),
                length: (&total.length).into(),
                talk_time: (&total.talk_time).into(),
            },
            days: days
                .iter()
                .map(|(day, totals)| ReportedDay { day: day.to_string(), totals: totals.into() })
                .collect(),
            channels: channels.into_iter().map(channel).collect(),
            agents: total.chats_of_agents.iter().map(agent).collect(),
            tags: total.chats_with_tags.iter().filter(|(_, chats)| **chats > 0).map(tag).collect(),
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct ReportedDay {
    #[schemars(extend("format" = "date"))]
    day: String,
    totals: ReportTotals,
}

#[derive(Serialize, JsonSchema)]
pub struct ReportedChannel {
    channel_id: String,
    name: String,
    totals: ReportTotals,
}

#[derive(Serialize, JsonSchema)]
pub struct ReportedAgent {
    agent_id: SequentialNumber,
    /// Null if the agent has been deleted.
    name: Option<String>,
    #[schemars(range(min = 1))]
    chats: u64,
}

#[derive(Serialize, JsonSchema)]
pub struct ReportedTag {
    tag_id: SequentialNumber,
    /// Null if the tag has been deleted.
    name: Option<String>,
    /// The number of closed chats with the tag.
    #[schemars(range(min = 1))]
    chats: u64,
}

/// Chats that were opened in the period, with everything that happened in them later. first_answer is the time from
/// the opening of a chat to an agent's first message; length is the time from the opening to the closing of a chat;
/// talk_time is how long the agent and the visitor talked in each answered call.
#[derive(Serialize, JsonSchema)]
pub struct ReportTotals {
    opened: u64,
    settled_by: SettledChats,
    first_answer: ReportedDuration,
    answers: ReportedAnswers,
    length: ReportedDuration,
    ratings: ReportedRatings,
    failed_deliveries: FailedDeliveries,
    calls: FinishedCalls,
    talk_time: ReportedDuration,
    drafts: ReportedDrafts,
}

impl From<&report::ReportTotals> for ReportTotals {
    fn from(totals: &report::ReportTotals) -> Self {
        let report::ReportTotals {
            opened_chats,
            settled_by_agent,
            settled_by_bot,
            settled_by_nobody,
            first_answer,
            answers_in_time,
            late_answers,
            length,
            positive_ratings,
            negative_ratings,
            failed_deliveries,
            calls,
            talk_time,
            chats_of_agents: _,
            chats_with_tags: _,
            drafts,
            taken_drafts,
            edited_drafts,
        } = totals;
        let calls = |kind: CallKind| {
            let CallTotals { answered, failed } = calls.get(&kind).copied().unwrap_or_default();
            ReportedCalls { answered, failed }
        };
        Self {
            opened: *opened_chats,
            settled_by: SettledChats { agent: *settled_by_agent, bot: *settled_by_bot, nobody: *settled_by_nobody },
            first_answer: first_answer.into(),
            answers: ReportedAnswers { in_time: *answers_in_time, late: *late_answers },
            length: length.into(),
            ratings: ReportedRatings { positive: *positive_ratings, negative: *negative_ratings },
            failed_deliveries: FailedDeliveries::new(failed_deliveries),
            calls: FinishedCalls {
                callback: calls(CallKind::Callback),
                incoming: calls(CallKind::Incoming),
                outgoing: calls(CallKind::Outgoing),
            },
            talk_time: talk_time.into(),
            drafts: ReportedDrafts {
                suggested: *drafts,
                taken: *taken_drafts,
                edited: *edited_drafts,
                ignored: drafts.saturating_sub(taken_drafts + edited_drafts),
            },
        }
    }
}

/// Answers that bots on standby have suggested to agents. taken: sent as they were; edited: sent with changes; ignored:
/// all others.
#[derive(Serialize, JsonSchema)]
pub struct ReportedDrafts {
    suggested: u64,
    taken: u64,
    edited: u64,
    ignored: u64,
}

/// Who settled the closed chats. agent: an agent accepted the chat, received it by a transfer, or closed it. bot: the
/// bot had the chat until it was closed, and had sent at least one event. nobody: all other closed chats.
#[derive(Serialize, JsonSchema)]
pub struct SettledChats {
    agent: u64,
    bot: u64,
    nobody: u64,
}

/// Answers of agents with a time limit. A chat that ends without an answer that was due counts as late.
#[derive(Serialize, JsonSchema)]
pub struct ReportedAnswers {
    in_time: u64,
    late: u64,
}

#[derive(Serialize, JsonSchema)]
pub struct ReportedRatings {
    positive: u64,
    negative: u64,
}

/// Failed rounds of attempts, by the kind of receiver. A replay that fails counts again.
#[derive(Serialize)]
#[serde(transparent)]
pub struct FailedDeliveries(BTreeMap<&'static str, u64>);

impl FailedDeliveries {
    fn new(counts: &BTreeMap<Target, u64>) -> Self {
        let count = |target: &Target| (target.report_field(), counts.get(target).copied().unwrap_or_default());
        Self(Target::ALL.iter().map(count).collect())
    }
}

impl JsonSchema for FailedDeliveries {
    fn schema_name() -> Cow<'static, str> {
        "FailedDeliveries".into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = Target::ALL.iter().map(|target| target.report_field()).collect();
        let count: Value = schemas.subschema_for::<u64>().into();
        let counts: Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), count.clone())).collect();
        json_schema!({
            "description": "Failed rounds of attempts, by the kind of receiver. A replay that fails counts again.",
            "type": "object",
            "required": names,
            "properties": counts,
        })
    }
}

/// Finished phone calls.
#[derive(Serialize, JsonSchema)]
pub struct FinishedCalls {
    callback: ReportedCalls,
    incoming: ReportedCalls,
    outgoing: ReportedCalls,
}

#[derive(Serialize, JsonSchema)]
pub struct ReportedCalls {
    /// Calls in which the agent and the visitor talked.
    answered: u64,
    failed: u64,
}

/// Seconds. Null if there is no chat.
#[derive(Serialize, JsonSchema)]
pub struct ReportedDuration {
    /// The number of chats.
    count: u64,
    #[schemars(range(min = 0))]
    median: Option<f64>,
    #[schemars(range(min = 0))]
    percentile_90: Option<f64>,
}

impl From<&Histogram> for ReportedDuration {
    fn from(histogram: &Histogram) -> Self {
        let percentile = |percent| histogram.percentile(percent).map(rounded);
        Self { count: histogram.count(), median: percentile(50), percentile_90: percentile(90) }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct ReportDistributions {
    first_answer: DurationBuckets,
    length: DurationBuckets,
    talk_time: DurationBuckets,
}

/// The ranges that are not empty, shortest first.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
pub struct DurationBuckets(#[schemars(length(max = BUCKET_COUNT))] Vec<DurationBucket>);

#[derive(Serialize, JsonSchema)]
pub struct DurationBucket {
    /// Seconds.
    #[schemars(range(min = 0))]
    from: f64,
    /// Seconds, exclusive. The last possible range also contains all longer durations.
    #[schemars(range(min = 0))]
    to: f64,
    #[schemars(range(min = 1))]
    count: u64,
}

impl From<&Histogram> for DurationBuckets {
    fn from(histogram: &Histogram) -> Self {
        let bucket = |(bucket, count): (report::Bucket, u64)| {
            let (from, to) = bucket.bounds();
            DurationBucket { from: rounded(from), to: rounded(to), count }
        };
        Self(histogram.buckets().map(bucket).collect())
    }
}

fn rounded(seconds: f64) -> f64 {
    (seconds * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;
    use crate::domain::report::{Bucket, CountedChats, Counter};
    use crate::domain::time_zone::Day;
    use crate::wire::fields::reader::read_query;

    #[test]
    fn report_covers_one_to_ninety_days() {
        for (days, expected) in
            [(None, Some(30)), (Some(1), Some(1)), (Some(90), Some(90)), (Some(0), None), (Some(91), None)]
        {
            let read = read_query::<ReportQuery>(days.map(|days: u64| ("days".to_owned(), days.to_string())));
            assert_eq!(read.as_ref().ok().map(ReportQuery::days), expected, "{days:?}");
            assert_eq!(
                read.err().and_then(|error| error.invalid_field().map(str::to_owned)).is_some(),
                expected.is_none()
            );
        }
    }

    #[test]
    fn durations_are_reported_as_percentiles_and_buckets() {
        let today = Day::parse("2026-11-22").unwrap();
        let answer = |number| Counter::FirstAnswer(Bucket::new(number).unwrap());
        let counted = CountedChats {
            day: today,
            channel_id: "c".into(),
            channel_name: "Shop".into(),
            counters: vec![(answer(5), 8), (answer(9), 2)],
        };
        let report = report::Report::new(&[today], [counted]);
        let json = json!(Report::new(report, &AccountSettings::default(), &[]));
        let expected = json!({ "count": 10, "median": 2.18, "percentile_90": 4.36 });
        assert_eq!([&json["total"]["first_answer"], &json["channels"][0]["totals"]["first_answer"]], [&expected; 2]);
        let buckets = json!([{ "from": 2.0, "to": 2.38, "count": 8 }, { "from": 4.0, "to": 4.76, "count": 2 }]);
        assert_eq!(json["distributions"]["first_answer"], buckets);
        assert_eq!(json["total"]["length"], json!({ "count": 0, "median": null, "percentile_90": null }));
    }
}
