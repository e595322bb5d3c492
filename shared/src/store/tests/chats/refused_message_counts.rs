use crate::store::tests::*;

#[tokio::test]
async fn refusals_are_counted_by_reason_and_day() {
    let stores = stores().await;
    let refuse = async |error: &Error, now| stores.chats.count_refusal("CH", error, now).await;
    let (invalid_field, invalid_json) = (Error::field("sender.id", "is required"), Error::body("not JSON: at line 7"));
    let day = Timestamp::from_seconds(NOW.seconds() / 86_400 * 86_400);
    let after_days = |days: u64| day.plus(Duration::from_secs(days * 86_400));
    refuse(&invalid_field, after_days(0)).await;
    for _ in 0..30 {
        refuse(&invalid_field, after_days(1)).await;
    }
    refuse(&invalid_json, after_days(1).plus(Duration::from_secs(11))).await;
    refuse(&Error::NotFound, after_days(1)).await;
    let counts = async |now| {
        let refusals = stores.chats.refusal_counts("CH", now).await.unwrap();
        refusals.into_iter().map(|refusal| (refusal.day, refusal.reason, refusal.count)).collect::<Vec<_>>()
    };
    let yesterday = (after_days(0), "sender.id is required".to_owned(), 1);
    let today = [(after_days(1), "sender.id is required".to_owned(), 30), (after_days(1), "not JSON".to_owned(), 1)];
    assert_eq!(counts(after_days(2)).await, today);
    assert_eq!(counts(after_days(1)).await, today.into_iter().chain([yesterday]).collect::<Vec<_>>());
    assert_eq!(counts(after_days(3)).await, []);
    assert!(stores.chats.refusal_counts("OTHER", after_days(1)).await.unwrap().is_empty());
}
