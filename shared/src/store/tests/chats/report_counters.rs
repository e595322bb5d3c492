//! Tests of the report counters: what is counted and on which day, that repeated or concurrent requests are counted
//! once, and which days a report reads.

use crate::chats::visitor::rate_chat::rate_chat;
use crate::domain::chats::chat::Rating;
use crate::domain::report::{Bucket, Histogram, Report, ReportTotals};
use crate::domain::time_zone::{Day, TimeZone};
use crate::store::chats::header_key;
use crate::store::tests::*;

/// The day of `NOW` in UTC.
const TODAY: &str = "2023-11-14";

impl Stores {
    /// Returns the totals of the chats that were opened on this day.
    async fn totals_of(&self, day: &str) -> ReportTotals {
        let day = Day::parse(day).unwrap();
        let counted = self.chats.counted_chats("acc", day, day).await.unwrap();
        Report::new(&[day], counted).total
    }

    pub(crate) async fn totals(&self) -> ReportTotals {
        self.totals_of(TODAY).await
    }
}

fn histogram(seconds: &[u64]) -> Histogram {
    let mut histogram = Histogram::default();
    seconds.iter().for_each(|seconds| histogram.add(Bucket::of(Duration::from_secs(*seconds)), 1));
    histogram
}

fn settled(totals: &ReportTotals) -> [u64; 3] {
    [totals.settled_by_agent, totals.settled_by_bot, totals.settled_by_nobody]
}

#[tokio::test]
async fn chat_is_counted_when_opened_answered_and_closed() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.visitor_writes("v", "still there?", seconds_later(1)).await.unwrap();
    let opened = ReportTotals { opened_chats: 1, ..ReportTotals::default() };
    assert_eq!(stores.totals().await, opened);

    stores.accept(1, &bob(), &[], seconds_later(30)).await.unwrap();
    stores.agent_writes(1, "hello", seconds_later(41)).await.unwrap();
    stores.agent_writes(1, "how can I help?", seconds_later(55)).await.unwrap();
    let answered = ReportTotals { first_answer: histogram(&[41]), ..opened };
    assert_eq!(stores.totals().await, answered);
    assert_eq!(stores.chat_header(1).await.first_answer_at, Some(seconds_later(41)));

    stores.close(1, &bob(), &[webhook("w")], seconds_later(300)).await.unwrap();
    let chats_of_agents = [(1, 1)].into();
    let closed = ReportTotals { settled_by_agent: 1, length: histogram(&[300]), chats_of_agents, ..answered };
    assert_eq!(stores.totals().await, closed);

    stores.visitor_writes("v", "again", seconds_later(400)).await.unwrap();
    assert_eq!(stores.totals().await, ReportTotals { opened_chats: 2, ..closed });
}

#[tokio::test]
async fn answer_in_a_chat_from_before_the_counters_is_not_counted() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let header = stores.client.update_item().table_name("chats").set_key(Some(header_key("acc", 1).into_item()));
    header.update_expression("REMOVE opened_on").send().await.unwrap();
    stores.accept(1, &bob(), &[], seconds_later(30)).await.unwrap();
    stores.agent_writes(1, "hello", seconds_later(3 * DAY)).await.unwrap();
    assert_eq!(stores.totals().await.first_answer, Histogram::default());
}

#[tokio::test]
async fn repeated_requests_are_counted_once() {
    let stores = stores().await;
    let key = IdempotencyKey::new("CH".into(), b"key", "body");
    for _ in 0..3 {
        stores.visitor_writes_with("v", &VisitorProfile::default(), "hi", Some(&key), NOW).await.unwrap();
    }
    for _ in 0..3 {
        stores.accept(1, &bob(), &[], NOW).await.unwrap();
    }
    let (agent, key) = (bob(), IdempotencyKey::new("agent".into(), b"key", "body"));
    for second in [1, 2, 3] {
        let (content, now) = (Content::text("hello"), seconds_later(second));
        let outgoing = AgentMessage {
            account_id: "acc",
            chat_id: 1,
            agent: &agent,
            content,
            draft: None,
            webhooks: &[],
            key: Some(&key),
            now,
        };
        send_agent_message(&stores.chats, &outgoing).await.unwrap();
    }
    for second in [4, 5, 6] {
        stores.close(1, &bob(), &[], seconds_later(second)).await.unwrap();
    }
    let totals = stores.totals().await;
    assert_eq!((totals.opened_chats, settled(&totals)), (1, [1, 0, 0]));
    assert_eq!((totals.first_answer, totals.length), (histogram(&[1]), histogram(&[4])));
    assert_eq!(totals.chats_of_agents, [(1, 1)].into());
}

#[tokio::test]
async fn concurrent_events_are_counted_once() {
    const CHATS: u64 = 12;
    let stores = &stores().await;
    let visitors: Vec<String> = (0..CHATS).map(|n| format!("v{n}")).collect();
    // Each visitor sends three messages at once. One of them opens the chat.
    let messages = visitors.iter().flat_map(|visitor| (0..3).map(move |_| stores.visitor_writes(visitor, "hi", NOW)));
    assert!(join_all(messages).await.iter().all(Result::is_ok));
    assert_eq!(stores.totals().await.opened_chats, CHATS);

    let chats: Vec<u64> = stores.listed_chat_ids(&["waiting"], None, 100).await.0;
    assert_eq!(chats.len() as u64, CHATS);
    join_all(chats.iter().map(async |chat| stores.accept(*chat, &bob(), &[], NOW).await.unwrap())).await;
    let answers =
        chats.iter().flat_map(|chat| (0..3).map(move |_| stores.agent_writes(*chat, "hello", seconds_later(9))));
    assert!(join_all(answers).await.iter().all(Result::is_ok));
    let close = async |chat: u64| stores.close(chat, &bob(), &[webhook("w")], seconds_later(60)).await;
    let closings = chats.iter().flat_map(|chat| [close(*chat), close(*chat), close(*chat)]);
    assert!(join_all(closings).await.iter().all(Result::is_ok));

    let totals = stores.totals().await;
    assert_eq!((totals.opened_chats, settled(&totals)), (CHATS, [CHATS, 0, 0]));
    let (answer, length) = (Bucket::of(Duration::from_secs(9)), Bucket::of(Duration::from_secs(60)));
    assert_eq!(totals.first_answer.buckets().collect::<Vec<_>>(), [(answer, CHATS)]);
    assert_eq!(totals.length.buckets().collect::<Vec<_>>(), [(length, CHATS)]);
    assert_eq!(totals.chats_of_agents, [(1, CHATS)].into());
}

#[tokio::test]
async fn chat_is_settled_by_agent_bot_or_nobody() {
    let stores = Stores::with_settings(settings_with_idle_close(10)).await;
    // A bot answers, and the chat becomes idle.
    stores.open_chat_with_bot().await;
    stores.bot_sends_text("hello", seconds_later(1)).await;
    // Nobody accepts the second chat. An agent closes the third one without accepting it.
    stores.visitor_writes("w", "hi", NOW).await.unwrap();
    stores.visitor_writes("x", "hi", NOW).await.unwrap();
    stores.close(3, &bob(), &[], seconds_later(2)).await.unwrap();
    assert_eq!(settled(&stores.totals().await), [1, 0, 0]);
    stores.run_idle_checks(seconds_later(11 * MINUTE)).await;
    assert_eq!(settled(&stores.totals().await), [1, 1, 1]);
}

#[tokio::test]
async fn bot_that_sent_nothing_settles_no_chat() {
    let stores = Stores::with_settings(settings_with_idle_close(10)).await;
    stores.open_chat_with_bot().await;
    stores.run_idle_checks(seconds_later(11 * MINUTE)).await;
    assert_eq!(settled(&stores.totals().await), [0, 0, 1]);
}

#[tokio::test]
async fn every_agent_who_took_part_is_counted() {
    let stores = stores().await;
    stores.chat_with_pending_message().await;
    stores.transfer(1, &TransferTarget::Agent(agent_snapshot(2))).await.unwrap();
    stores.close(1, &agent_snapshot(2), &[], seconds_later(2)).await.unwrap();
    assert_eq!(stores.totals().await.chats_of_agents, [(1, 1), (2, 1)].into());
}

#[tokio::test]
async fn changed_rating_replaces_the_earlier_one() {
    let stores = stores().await;
    stores.closed_chat("v", 0).await;
    let ratings = async || {
        let totals = stores.totals().await;
        (totals.positive_ratings, totals.negative_ratings)
    };
    let table = [
        (Some(Rating::Positive), (1, 0)),
        (Some(Rating::Positive), (1, 0)),
        (Some(Rating::Negative), (0, 1)),
        (None, (0, 0)),
        (None, (0, 0)),
        (Some(Rating::Negative), (0, 1)),
    ];
    for (rating, expected) in table {
        rate_chat(&stores.chats, stores.chat_header(1).await, rating, &[], NOW).await.unwrap();
        assert_eq!(ratings().await, expected, "{rating:?}");
    }
    // All six requests start from the same version of the header.
    let header = stores.chat_header(1).await;
    let rate = |n: usize| Some(if n.is_multiple_of(2) { Rating::Positive } else { Rating::Negative });
    let results = join_all((0..6).map(|n| rate_chat(&stores.chats, header.clone(), rate(n), &[], NOW))).await;
    assert!(results.iter().all(Result::is_ok));
    let expected = if stores.chat_header(1).await.rating == Some(Rating::Positive) { (1, 0) } else { (0, 1) };
    assert_eq!(ratings().await, expected);
}

#[tokio::test]
async fn failed_delivery_is_counted_once_per_round() {
    let stores = stores().await;
    let seq = stores.chat_with_pending_message().await;
    let attempt = Attempt { at: NOW, status: None, duration_ms: 3_000, error: Some("x".into()), answer: None };
    let fail = async |now| {
        let entry = stores.entry(1, seq).await;
        let failure = Failure { code: Some(5), message: "no".into(), hidden: false };
        let failed = DeliveryUpdate::failed(failure, now);
        let delivery = entry.delivery.clone().unwrap();
        for _ in 0..2 {
            assert!(stores.chats.record_attempt(&entry, &delivery, &attempt, (&failed, &[])).await.unwrap());
        }
        assert_eq!(stores.entry(1, seq).await.delivery.unwrap().state, DeliveryState::Failed);
    };
    fail(seconds_later(9)).await;
    let totals = stores.totals().await;
    assert_eq!(totals.failed_deliveries, [(Target::Channel, 1)].into());
    stores.chats.replay_delivery("acc", 1, seq, ReplayScope::AllFailed, seconds_later(20)).await.unwrap();
    fail(seconds_later(29)).await;
    assert_eq!(stores.totals().await.failed_deliveries, [(Target::Channel, 2)].into());
}

#[tokio::test]
async fn delivery_that_the_sweep_fails_is_counted() {
    let stores = stores().await;
    stores.chat_with_pending_message().await;
    for run in 1..=70 {
        for overdue in stores.overdue_deliveries(1, seconds_later(run * 60)).await {
            requeue_overdue_delivery(&stores.chats, &stores.directory, &overdue, seconds_later(run * 60))
                .await
                .unwrap();
        }
    }
    assert_eq!(stores.totals().await.failed_deliveries, [(Target::Channel, 1)].into());
}

#[tokio::test]
async fn chat_is_counted_on_the_day_of_its_opening() {
    let time_zone = TimeZone::parse("Asia/Tokyo").unwrap();
    let stores = Stores::with_settings(AccountSettings { time_zone, ..AccountSettings::default() }).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    stores.agent_writes(1, "hello", seconds_later(2 * DAY)).await.unwrap();
    stores.close(1, &bob(), &[], seconds_later(3 * DAY)).await.unwrap();
    rate_chat(&stores.chats, stores.chat_header(1).await, Some(Rating::Positive), &[], NOW).await.unwrap();
    stores.visitor_writes("v", "hi", seconds_later(3 * DAY)).await.unwrap();
    let totals = stores.totals_of("2023-11-15").await;
    assert_eq!((totals.opened_chats, settled(&totals), totals.positive_ratings), (1, [1, 0, 0], 1));
    assert_eq!((totals.first_answer.count(), totals.length), (1, histogram(&[3 * DAY])));
    assert_eq!(stores.totals_of("2023-11-18").await.opened_chats, 1);
    assert_eq!(stores.totals_of(TODAY).await, ReportTotals::default());
}

#[tokio::test]
async fn report_reads_its_days_and_the_days_before() {
    let stores = stores().await;
    for days in [0, 30, 59, 60, 89, 100, 119] {
        stores.visitor_writes(&format!("v{days}"), "hi", seconds_later(days * DAY)).await.unwrap();
    }
    let today = Day::of(seconds_later(119 * DAY), &TimeZone::default());
    let report = async |channel_id| {
        let report = crate::service::reports::report(&stores.chats, "acc", (today, 60), channel_id).await.unwrap();
        (report.days.len(), report.total.opened_chats, report.previous.opened_chats)
    };
    assert_eq!(report(None).await, (60, 4, 3));
    assert_eq!(report(Some("CH")).await, (60, 4, 3));
    assert_eq!(report(Some("other")).await, (60, 0, 0));
}

#[tokio::test]
async fn counters_are_read_for_one_account_and_a_range_of_days() {
    let stores = stores().await;
    for days in 0..4 {
        stores.visitor_writes(&format!("v{days}"), "hi", seconds_later(days * DAY)).await.unwrap();
    }
    let day = |text: &str| Day::parse(text).unwrap();
    let counted = stores.chats.counted_chats("acc", day("2023-11-15"), day("2023-11-16")).await.unwrap();
    let found: Vec<_> = counted.iter().map(|it| (it.day.to_string(), &*it.channel_id, &*it.channel_name)).collect();
    let channel = channel();
    let expected = ["2023-11-15", "2023-11-16"].map(|day| (day.to_owned(), "CH", &*channel.settings.name));
    assert_eq!(found, expected);
    assert_eq!(stores.chats.counted_chats("ac", day("2023-11-15"), day("2023-11-16")).await.unwrap(), []);
}
