//! Visitors, chats and timelines.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;

use crate::store::table::{n, s};
use crate::store::tests::*;

#[tokio::test]
async fn numbers_of_chats_and_visitors_are_sequential_in_an_account() {
    let stores = stores().await;
    assert_eq!(stores.visitor_writes("a", "1", NOW).await.unwrap(), (1, 1));
    assert_eq!(stores.visitor_writes("a", "2", NOW).await.unwrap(), (1, 2));
    assert_eq!(stores.visitor_writes("b", "1", NOW).await.unwrap(), (2, 1));
    let head = stores.chats.chat("acc", 2).await.unwrap().unwrap();
    assert_eq!((head.state, head.visitor_number, head.visitor_name.as_str()), (State::Waiting, 2, "Anonymous"));
}

#[tokio::test]
async fn a_visitor_who_writes_from_many_places_at_once_opens_one_chat() {
    let stores = stores().await;
    let texts: Vec<String> = (0..5).map(|n| n.to_string()).collect();
    let written = join_all(texts.iter().map(|text| stores.visitor_writes("v", text, NOW))).await;
    let written: Vec<(u64, u64)> = written.into_iter().map(Result::unwrap).collect();
    let chat_id = written[0].0;
    assert!(written.iter().all(|(chat, _)| *chat == chat_id), "{written:?}");
    let timeline = stores.chats.timeline("acc", chat_id, 0, 100).await.unwrap();
    let mut found: Vec<&str> = timeline.iter().filter_map(|entry| entry.content.text.as_deref()).collect();
    found.sort_unstable();
    assert_eq!(found, texts);
}

#[tokio::test]
async fn a_visitors_data_is_kept_and_updated_during_a_chat() {
    let stores = stores().await;
    let ann = Profile { phone: Some("+1".into()), ..named("Ann") };
    stores.visitor_says("v", &ann, "hi", None, NOW).await.unwrap();
    stores.visitor_says("v", &named("Anna"), "again", None, NOW).await.unwrap();
    let visitor = stores.chats.visitor("CH", "v").await.unwrap().unwrap();
    assert_eq!(visitor.profile, Profile { phone: Some("+1".into()), ..named("Anna") });
    let head = stores.chats.chat("acc", 1).await.unwrap().unwrap();
    assert_eq!((head.visitor_name.as_str(), head.last_message.unwrap().text.as_str()), ("Anna", "again"));
}

#[tokio::test]
async fn a_visitor_over_the_rate_is_refused_and_nothing_is_stored() {
    let stores = stores().await;
    for n in 0..30 {
        stores.visitor_writes("v", &n.to_string(), NOW).await.unwrap();
    }
    let refused = stores.visitor_writes("v", "more", at(4)).await;
    assert!(matches!(refused, Err(Error::RateLimited(wait)) if wait == Duration::from_secs(6)), "{refused:?}");
    assert_eq!(stores.chats.timeline("acc", 1, 0, 100).await.unwrap().len(), 30);
    stores.visitor_writes("v", "later", at(10)).await.unwrap();
}

#[tokio::test]
async fn a_channel_opens_no_more_chats_than_its_limit() {
    let mut stores = stores().await;
    stores.settings.limits.channel_chats = 5;
    let visitors: Vec<String> = (0..20).map(|n| format!("v{n}")).collect();
    let results = join_all(visitors.iter().map(|visitor| stores.visitor_writes(visitor, "hi", at(3)))).await;
    let (opened, refused): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!((opened.len(), refused.len()), (5, 15));
    for refusal in refused {
        let wait = Duration::from_secs(7);
        assert!(matches!(refusal, Err(Error::TooManyChats(left)) if left == wait), "{refusal:?}");
    }
    let talking = stores.chats.chat("acc", 1).await.unwrap().unwrap().external_id;
    stores.visitor_writes(&talking, "an open chat is not limited", at(4)).await.unwrap();
    assert_eq!(stores.visitor_writes("late", "hi", at(10)).await.unwrap(), (6, 1), "a refused chat takes no number");
}

#[tokio::test]
async fn a_full_window_is_refused_without_a_write() {
    let mut stores = stores().await;
    stores.settings.limits.channel_chats = 1;
    stores.visitor_writes("a", "hi", NOW).await.unwrap();
    stores.visitor_writes("b", "hi", NOW).await.unwrap_err();
    // Nobody has counted now: only memory refuses.
    let key = [("pk", "OPENED_CHATS#CH".to_owned()), ("sk", (NOW.seconds() / 10).to_string())];
    let key = key.map(|(name, value)| (name.to_owned(), s(value))).into();
    let removed = stores.client.delete_item().table_name("chats").set_key(Some(key));
    let removed = removed.return_values(aws_sdk_dynamodb::types::ReturnValue::AllOld).send().await.unwrap();
    assert_eq!(removed.attributes.unwrap()["count"], n(1));
    assert!(matches!(stores.visitor_writes("c", "hi", NOW).await, Err(Error::TooManyChats(_))));
    stores.visitor_writes("c", "hi", at(10)).await.unwrap();
}

#[tokio::test]
async fn refusals_are_counted_by_reason_and_day() {
    let stores = stores().await;
    let refuse = async |error: &Error, now| stores.chats.count_refusal("CH", error, now).await;
    let (field, parser) = (Error::field("sender.id", "is required"), Error::body("not JSON: at line 7"));
    let day = Timestamp::from_seconds(NOW.seconds() / 86_400 * 86_400);
    let days = |days: u64| day.after(Duration::from_secs(days * 86_400));
    refuse(&field, days(0)).await;
    for _ in 0..30 {
        refuse(&field, days(1)).await;
    }
    refuse(&parser, days(1).after(Duration::from_secs(11))).await;
    refuse(&Error::NotFound, days(1)).await;
    let seen = async |now| {
        let refusals = stores.chats.refusals("CH", now).await.unwrap();
        refusals.into_iter().map(|of| (of.day, of.reason, of.count)).collect::<Vec<_>>()
    };
    let yesterday = (days(0), "sender.id is required".to_owned(), 1);
    let today = [(days(1), "sender.id is required".to_owned(), 30), (days(1), "not JSON".to_owned(), 1)];
    assert_eq!(seen(days(2)).await, today);
    assert_eq!(seen(days(1)).await, today.into_iter().chain([yesterday]).collect::<Vec<_>>());
    assert_eq!(seen(days(3)).await, []);
    assert!(stores.chats.refusals("another", days(1)).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_repeated_idempotency_key_stores_nothing_and_gets_the_first_answer() {
    let stores = stores().await;
    let key = IdempotencyKey::new("CH".into(), b"k1", &json!({}));
    let first = stores.visitor_says("v", &Profile::default(), "hi", Some(&key), NOW).await.unwrap();
    for _ in 0..2 {
        let again = stores.visitor_says("v", &Profile::default(), "hi", Some(&key), NOW).await.unwrap();
        assert_eq!(again, first);
    }
    let other = IdempotencyKey::new("CH".into(), b"k2", &json!({}));
    let second = stores.visitor_says("v", &Profile::default(), "ho", Some(&other), NOW).await.unwrap();
    assert_ne!(second, first);
    assert_eq!(stores.chats.timeline("acc", 1, 0, 100).await.unwrap().len(), 2);
    let late = stores.visitor_says("v", &Profile::default(), "hi", Some(&key), at(2 * 86_400)).await.unwrap();
    assert_eq!(late, first, "expired, but not deleted yet");
}

#[tokio::test]
async fn idempotency_key_with_another_body_is_refused() {
    let stores = stores().await;
    let says = async |text: &str| {
        let key = IdempotencyKey::new("CH".into(), "ключ".as_bytes(), &json!({ "text": text }));
        stores.visitor_says("v", &Profile::default(), text, Some(&key), NOW).await
    };
    let first = says("hi").await.unwrap();
    assert!(matches!(says("ho").await, Err(Error::IdempotencyMismatch)));
    assert_eq!(says("hi").await.unwrap(), first);
    assert_eq!(stores.chats.timeline("acc", 1, 0, 100).await.unwrap().len(), 1);
}

#[tokio::test]
async fn racing_bodies_with_one_key_store_one_of_them() {
    let stores = stores().await;
    let says = async |text: &str| {
        let key = IdempotencyKey::new("CH".into(), b"k", &json!({ "text": text }));
        stores.visitor_says("v", &Profile::default(), text, Some(&key), NOW).await
    };
    let results = join_all(["1", "2", "1", "2", "1", "2"].map(says)).await;
    let stored = stores.chats.timeline("acc", 1, 0, 100).await.unwrap();
    assert_eq!(stored.len(), 1);
    let winner = stored[0].content.text.as_deref().unwrap();
    for (text, result) in ["1", "2", "1", "2", "1", "2"].iter().zip(results) {
        match result {
            Ok(place) => assert_eq!((*text, place), (winner, (1, stored[0].seq))),
            Err(error) => assert!(*text != winner && matches!(error, Error::IdempotencyMismatch), "{error}"),
        }
    }
}

#[tokio::test]
async fn of_agents_who_press_reply_together_one_gets_the_chat() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let agents: Vec<Author> = (1..=8).map(|agent_id| Author { agent_id, ..bob() }).collect();
    let results = join_all(agents.iter().map(|agent| stores.accept(1, agent, &[], NOW))).await;
    let taken = results.iter().filter(|result| result.is_ok()).count();
    let refused = results.iter().filter(|result| matches!(result, Err(Error::Conflict(_)))).count();
    assert_eq!((taken, refused), (1, 7));
}

#[tokio::test]
async fn only_the_agent_who_has_a_chat_writes_and_the_refusal_says_why() {
    let stores = stores().await;
    assert!(matches!(stores.agent_writes(1, "x", NOW).await, Err(Error::NotFound)));
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    assert!(matches!(stores.agent_writes(1, "x", NOW).await, Err(Error::Conflict(m)) if m.starts_with("accept")));
    stores.accept(1, &Author { agent_id: 2, ..bob() }, &[], NOW).await.unwrap();
    assert!(matches!(stores.agent_writes(1, "x", NOW).await, Err(Error::Conflict("another agent has this chat"))));
    stores.close(1, &Author { agent_id: 2, ..bob() }, &[], NOW).await.unwrap();
    assert!(matches!(stores.agent_writes(1, "x", NOW).await, Err(Error::Conflict("the chat is closed"))));
}

#[tokio::test]
async fn a_visitor_who_writes_after_the_close_opens_a_new_chat() {
    let stores = stores().await;
    let ann = named("Ann");
    stores.visitor_says("v", &ann, "hi", None, NOW).await.unwrap();
    stores.close(1, &bob(), &[], NOW).await.unwrap();
    assert_eq!(stores.visitor_writes("v", "again", NOW).await.unwrap(), (2, 1));
    let head = stores.chats.chat("acc", 2).await.unwrap().unwrap();
    assert_eq!((head.visitor_number, head.visitor_name.as_str()), (1, "Ann"), "the same visitor");
    assert_eq!(stores.listed(OPEN, None, 10).await, (vec![2], None));
    assert_eq!(stores.listed(&["closed"], None, 10).await, (vec![1], None));
}

#[tokio::test]
async fn the_chats_of_an_agent_who_is_gone_wait_again_however_many_others_are_newer() {
    let stores = stores().await;
    stores.undelivered().await;
    stores.others_have_chats(2..1_052).await;
    stores.chats.release("acc", 1, at(1)).await.unwrap();
    assert_eq!(stores.chats.chat("acc", 1).await.unwrap().unwrap().state, State::Waiting);
    assert_eq!(stores.chats.chat("acc", 2).await.unwrap().unwrap().state.name(), "active", "another agent's");
}

#[tokio::test]
async fn there_is_nothing_behind_the_largest_number_of_an_entry() {
    let stores = stores().await;
    stores.undelivered().await;
    for after in [9_999_999_998, 9_999_999_999, 10_000_000_000, u64::MAX] {
        assert_eq!(stores.chats.timeline("acc", 1, after, 10).await.unwrap(), [], "{after}");
        let (entries, chat) = stores.chats.timeline_and_chat("acc", 1, after, 10).await.unwrap();
        assert_eq!((entries, chat.map(|chat| chat.chat_id)), (vec![], Some(1)), "{after}");
    }
}

#[tokio::test]
async fn a_page_of_a_timeline_comes_with_the_header() {
    let stores = stores().await;
    stores.undelivered().await;
    stores.agent_writes(1, "again", NOW).await.unwrap();
    let head = stores.chats.chat("acc", 1).await.unwrap();
    for (after, limit, expected) in [(0, 10, vec![1, 2, 3]), (0, 3, vec![1, 2, 3]), (0, 2, vec![1, 2]), (3, 1, vec![])]
    {
        let (entries, chat) = stores.chats.timeline_and_chat("acc", 1, after, limit).await.unwrap();
        let seqs: Vec<u64> = entries.iter().map(|entry| entry.seq).collect();
        assert_eq!((seqs, chat), (expected, head.clone()), "{limit} after {after}");
    }
    assert_eq!(stores.chats.timeline_and_chat("acc", 2, 0, 10).await.unwrap(), (vec![], None));
}

#[tokio::test]
async fn a_whole_timeline_is_read_however_large_it_is() {
    let stores = stores().await;
    let long = "ä".repeat(10_000);
    stores.undelivered().await;
    for n in 0..120 {
        stores.agent_writes(1, &format!("{n} {long}"), NOW).await.unwrap();
    }
    assert!(stores.chats.timeline("acc", 1, 0, 1_000).await.unwrap().len() < 122, "a megabyte is full");
    let whole = stores.chats.whole_timeline("acc", 1, 1_000).await.unwrap();
    assert_eq!(whole.iter().map(|entry| entry.seq).collect::<Vec<_>>(), (1..=122).collect::<Vec<u64>>());
    assert_eq!(stores.chats.whole_timeline("acc", 1, 100).await.unwrap().len(), 100);
}

#[tokio::test]
async fn a_timeline_comes_back_with_every_field_and_from_any_place() {
    let stores = stores().await;
    let (channel, profile) = (channel(), Profile::default());
    let media = Media {
        file: Some("https://x.example/f".into()),
        file_size: Some(u64::MAX / 2),
        latitude: Some(-12.345_678),
        ..Media::default()
    };
    let content = Content { kind: Kind::Photo, text: Some("look".into()), media, rich: None };
    let (key, now, external_id) = (None, NOW, "v");
    let incoming = Incoming {
        channel: &channel,
        department: None,
        external_id,
        has_numeric_id: false,
        invite: None,
        profile: &profile,
        content: &content,
        settings: &Settings::default(),
        key,
        now,
    };
    stores.chats.visitor_message(&incoming).await.unwrap();
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    stores.agent_writes(1, "nice", NOW).await.unwrap();
    let timeline = stores.chats.timeline("acc", 1, 0, 10).await.unwrap();
    assert_eq!(timeline[0].content, content);
    assert_eq!(timeline[1].delivery.as_ref().unwrap().state, DeliveryState::Pending);
    assert_eq!(stores.chats.timeline("acc", 1, 1, 10).await.unwrap(), timeline[1..]);
    assert_eq!(stores.chats.timeline("acc", 1, 2, 10).await.unwrap(), []);
}

impl Stores {
    /// Chats of these numbers that are like the first one; another agent has them.
    pub(in crate::store) async fn others_have_chats(&self, numbers: std::ops::Range<u64>) {
        let is_head = |item: &Item| item["sk"].as_s().unwrap() == "HEAD" && item["pk"].as_s().unwrap() == "CHAT#acc#1";
        let head = self.items().await.into_iter().find(is_head).unwrap();
        let other = AttributeValue::M([("agent_id".into(), n(2)), ("name".into(), s("Ann"))].into());
        let chats: Vec<u64> = numbers.collect();
        for chats in chats.chunks(50) {
            let puts = chats.iter().map(|chat| {
                let mut item = head.clone();
                item.insert("pk".into(), s(format!("CHAT#acc#{chat}")));
                item.insert("chat_id".into(), n(chat));
                item.insert("agent".into(), other.clone());
                self.client.put_item().table_name("chats").set_item(Some(item)).send()
            });
            futures_util::future::try_join_all(puts).await.unwrap();
        }
    }
}

#[tokio::test]
async fn two_answers_that_come_together_both_fill_the_panel() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let chat = stores.chats.chat("acc", 1).await.unwrap().unwrap();
    let line = CustomData { title: None, content: "Gold".into(), link: None, key: None };
    let link = || Some("https://crm.example/7".to_owned());
    let page = || Some(("https://shop.example/ada".to_owned(), Some("Ada".to_owned())));
    let changes = [
        PanelChange { custom_data: Some(vec![line.clone()]), page: Some(page()), ..PanelChange::default() },
        PanelChange { crm_link: Some(link()), enable_assign: Some(true), ..PanelChange::default() },
    ];
    join_all(changes.iter().map(async |change| stores.chats.fill_panel(&chat, change, NOW).await.unwrap())).await;
    let both =
        Panel { custom_data: vec![line], enable_assign: true, crm_link: link(), page: page(), ..Panel::default() };
    assert_eq!(stores.chats.panel("acc", 1).await.unwrap(), both);

    let taken = PanelChange { custom_data: Some(vec![]), enable_assign: None, crm_link: Some(None), page: Some(None) };
    stores.chats.fill_panel(&chat, &taken, NOW).await.unwrap();
    let left = Panel { enable_assign: true, ..Panel::default() };
    assert_eq!(stores.chats.panel("acc", 1).await.unwrap(), left, "what an answer empties is taken away");
}
