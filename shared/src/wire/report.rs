//! The query parameter `days` and the response of GET /admin/reports.

use serde_json::{Value, json};

use crate::domain::agent::Agent;
use crate::domain::delivery::Target;
use crate::domain::named::Named;
use crate::domain::phone_call::CallKind;
use crate::domain::report::{Bucket, CallTotals, ChannelTotals, Histogram, MAX_PERCENTILE_ERROR, Report, ReportTotals};
use crate::domain::time_zone::{Day, TimeZone};
use crate::error::Error;

const MAX_DAYS: u64 = 90;
const DEFAULT_DAYS: u64 = 30;

/// Validates the query parameter `days`, the number of days in the report. Returns the default if it is absent.
pub fn parse_days(days: Option<u64>) -> Result<usize, Error> {
    let days = Some(days.unwrap_or(DEFAULT_DAYS)).filter(|days| (1..=MAX_DAYS).contains(days));
    let days = days.and_then(|days| usize::try_from(days).ok());
    days.ok_or_else(|| Error::field("days", format_args!("must be a whole number from 1 to {MAX_DAYS}")))
}

/// `agents` are the agents of the account, whose names the report shows.
pub fn report_json(report: &Report, time_zone: &TimeZone, agents: &[Agent]) -> Value {
    let Report { days, total, previous, channels } = report;
    let name = |agent_id: u64| agents.iter().find(|agent| agent.agent_id == agent_id).map(|agent| &agent.name);
    let agent =
        |(agent_id, chats): (&u64, &u64)| json!({ "agent_id": agent_id, "name": name(*agent_id), "chats": chats });
    let day = |(day, totals): &(Day, ReportTotals)| json!({ "day": day.to_string(), "totals": totals_json(totals) });
    let channel = |(channel_id, channel): (&String, &ChannelTotals)| json!({ "channel_id": channel_id, "name": channel.name, "totals": totals_json(&channel.totals) });
    json!({
        "time_zone": time_zone.name(),
        "percentile_error": MAX_PERCENTILE_ERROR,
        "total": totals_json(total),
        "previous": totals_json(previous),
        "distributions": { "first_answer": buckets_json(&total.first_answer), "length": buckets_json(&total.length), "talk_time": buckets_json(&total.talk_time) },
        "days": days.iter().map(day).collect::<Vec<_>>(),
        "channels": channels.iter().map(channel).collect::<Vec<_>>(),
        "agents": total.chats_of_agents.iter().map(agent).collect::<Vec<_>>(),
    })
}

fn totals_json(totals: &ReportTotals) -> Value {
    let ReportTotals {
        opened_chats,
        settled_by_agent,
        settled_by_bot,
        settled_by_nobody,
        first_answer,
        length,
        positive_ratings,
        negative_ratings,
        failed_deliveries,
        calls,
        talk_time,
        chats_of_agents: _,
    } = totals;
    let call_totals = |kind: CallKind| {
        let CallTotals { answered, failed } = calls.get(&kind).copied().unwrap_or_default();
        (kind.name().to_owned(), json!({ "answered": answered, "failed": failed }))
    };
    let failed = |target: &Target| {
        (target.report_field().to_owned(), json!(failed_deliveries.get(target).copied().unwrap_or_default()))
    };
    json!({
        "opened": opened_chats,
        "settled_by": { "agent": settled_by_agent, "bot": settled_by_bot, "nobody": settled_by_nobody },
        "first_answer": percentiles_json(first_answer),
        "length": percentiles_json(length),
        "ratings": { "positive": positive_ratings, "negative": negative_ratings },
        "failed_deliveries": Target::ALL.iter().map(failed).collect::<Value>(),
        "calls": CallKind::ALL.map(call_totals).into_iter().collect::<Value>(),
        "talk_time": percentiles_json(talk_time),
    })
}

/// Returns the number of durations in a histogram, and their median and 90th percentile in seconds.
fn percentiles_json(histogram: &Histogram) -> Value {
    let percentile = |percent| histogram.percentile(percent).map(rounded);
    json!({ "count": histogram.count(), "median": percentile(50), "percentile_90": percentile(90) })
}

fn buckets_json(histogram: &Histogram) -> Value {
    let bucket = |(bucket, count): (Bucket, u64)| {
        let (from, to) = bucket.bounds();
        json!({ "from": rounded(from), "to": rounded(to), "count": count })
    };
    histogram.buckets().map(bucket).collect()
}

fn rounded(seconds: f64) -> f64 {
    (seconds * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::domain::report::{CountedChats, Counter};

    #[test]
    fn report_covers_one_to_ninety_days() {
        for (days, expected) in
            [(None, Some(30)), (Some(1), Some(1)), (Some(90), Some(90)), (Some(0), None), (Some(91), None)]
        {
            assert_eq!(parse_days(days).ok(), expected, "{days:?}");
        }
        assert_eq!(parse_days(Some(91)).unwrap_err().invalid_field(), Some("days"));
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
        let json = report_json(&Report::new(&[today], [counted]), &TimeZone::default(), &[]);
        let expected = json!({ "count": 10, "median": 2.18, "percentile_90": 4.36 });
        assert_eq!([&json["total"]["first_answer"], &json["channels"][0]["totals"]["first_answer"]], [&expected; 2]);
        let buckets = json!([{ "from": 2.0, "to": 2.38, "count": 8 }, { "from": 4.0, "to": 4.76, "count": 2 }]);
        assert_eq!(json["distributions"]["first_answer"], buckets);
        assert_eq!(json["total"]["length"], json!({ "count": 0, "median": null, "percentile_90": null }));
    }
}
