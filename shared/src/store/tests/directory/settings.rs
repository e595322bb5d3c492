use crate::domain::accounts::account_settings::{CallbackHours, RateLimits};
use crate::domain::accounts::answer_times::AnswerTimes;
use crate::domain::accounts::assignment::{Assignment, AssignmentMode, AssignmentRule};
use crate::domain::accounts::inbox_settings::{InboxSettings, SavedView, Tag, TagColor, ViewFilter, ViewedList};
use crate::domain::business_hours::{HoursException, OpenInterval, hours_in};
use crate::domain::channels::channel::EndpointSecret;
use crate::domain::channels::signing_secret::{SigningSecret, SigningSecrets};
use crate::domain::deliveries::outage::{DeliveryOptions, OutageStatus};
use crate::domain::deliveries::webhook::{BodyFormat, Webhook, WebhookTarget};
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::email::email_settings::EmailSettings;
use crate::domain::email::mailbox::Mailbox;
use crate::domain::files::file_settings::FileSettings;
use crate::domain::text::link_filter::LinkFilter;
use crate::domain::time_zone::{Day, TimeZone};
use crate::store::tests::*;

fn webhook(id: &str) -> Webhook {
    let secrets = SigningSecrets(vec![SigningSecret { secret: "whsec_x".into(), valid_until: Some(NOW) }]);
    let delivery = DeliveryOptions { late_delivery: true, strict_order: true };
    let (events, outage_status) = (vec![WebhookEvent::ChatAccepted], OutageStatus::Reported);
    let pull_secrets = vec![EndpointSecret::new([7; 32]), EndpointSecret { hash: [9; 32], valid_until: Some(NOW) }];
    let (signing_keys, format) = (SigningSecrets::new("whsk_x"), BodyFormat::CloudEvents);
    let (target, role_arn) = (WebhookTarget::Sqs, Some("arn:aws:iam::123456789012:role/r".into()));
    let new = Webhook::new(id.into(), "https://crm.example".into(), secrets);
    Webhook { target, role_arn, events, signing_keys, pull_secrets, format, delivery, outage_status, ..new }
}

const MONDAY: &[(u16, u16)] = &[(540, 720), (780, 1_440)];

fn new_year() -> HoursException {
    HoursException {
        name: "New year".into(),
        first_day: Day::parse("2026-12-31").unwrap(),
        last_day: Day::parse("2027-01-03").unwrap(),
        intervals: vec![OpenInterval::new(600, 720).unwrap()],
    }
}

#[tokio::test]
async fn settings_of_one_account_are_read_with_all_fields() {
    let Stores { directory, .. } = stores().await;
    assert_eq!(directory.settings("acc").await.unwrap(), AccountSettings::default());
    let expected = AccountSettings {
        version: 1,
        webhooks: vec![webhook("w")],
        safe_urls: LinkFilter(vec!["a.example".into()]),
        callback: CallbackHours { enabled: true, days: vec![1, 7], hours: (60, 120), utc_offset: -90 },
        limits: RateLimits { visitor_messages: 3, bot_requests: 4, channel_chats: 5 },
        idle_close: None,
        retention_days: Some(30),
        time_zone: TimeZone::parse("Asia/Tokyo").unwrap(),
        inbox: InboxSettings {
            tags: vec![Tag { tag_id: 4, name: "VIP".into(), color: TagColor::Red }],
            last_tag_id: 6,
            views: vec![SavedView {
                name: "VIPs to answer".into(),
                list: ViewedList::Mine,
                filter: ViewFilter {
                    tag_id: Some(4),
                    channel_id: Some("CH".into()),
                    department_id: Some(2),
                    unread: true,
                    unanswered: true,
                },
            }],
        },
        business_hours: Some(hours_in(
            "Asia/Tokyo",
            [MONDAY, &[], &[], &[], &[], &[], &[(1_320, 360)]],
            vec![new_year()],
        )),
        assignment: Some(Assignment {
            rule: AssignmentRule { mode: AssignmentMode::RoundRobin, offer: Some(Duration::from_secs(30)) },
            capacity: 4,
        }),
        email: Some(EmailSettings {
            sender_name: "Shop".to_owned(),
            transcript_to: Mailbox::parse("team@shop.example").into_iter().collect(),
            transcript_to_visitor: true,
            answers_to_visitor: true,
            away: Duration::from_secs(120),
        }),
        answer_times: Some(AnswerTimes { first: Some(Duration::from_secs(60)), next: Some(Duration::from_secs(90)) }),
        files: FileSettings { link_days: 7, ..FileSettings::default() },
        suspended_at: Some(seconds_later(7)),
    };
    let replace = |settings: &mut AccountSettings| {
        *settings = AccountSettings { version: settings.version, ..expected.clone() };
        Ok(())
    };
    directory.edit_settings("acc", replace).await.unwrap();
    assert_eq!(directory.settings("acc").await.unwrap(), expected);
    assert_eq!(directory.settings("other").await.unwrap(), AccountSettings::default());
    let rules = serde_json::json!([{ "name": "one" }]);
    directory.save_widget_rules("acc", &rules).await.unwrap();
    assert_eq!(directory.widget_rules("acc").await.unwrap(), rules);
    assert_eq!(directory.widget_rules("other").await.unwrap(), serde_json::json!([]));
}

#[tokio::test]
async fn concurrent_settings_changes_are_all_applied() {
    let Stores { directory, .. } = stores().await;
    let add = async |id: String| {
        let add_webhook = |settings: &mut AccountSettings| {
            settings.webhooks.push(webhook(&id));
            Ok(settings.webhooks.len())
        };
        directory.edit_settings("acc", add_webhook).await.unwrap().1
    };
    let mut lengths = join_all((0..4).map(|n| add(n.to_string()))).await;
    lengths.sort_unstable();
    assert_eq!(lengths, [1, 2, 3, 4]);
    assert_eq!(directory.settings("acc").await.unwrap().version, 4);
}
