//! Tests of the search for chats.

use crate::domain::chats::chat_search::{SearchCursor, SearchQuery};
use crate::service::chat_search;
use crate::store::tests::*;

fn profile(name: &str, email: &str, phone: &str) -> VisitorProfile {
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    VisitorProfile { name: text(name), email: text(email), phone: text(phone), ..VisitorProfile::default() }
}

impl Stores {
    async fn search_pages(&self, session: &Session, text: &str, now: Timestamp) -> Vec<Vec<u64>> {
        let access = ChatAccess { directory: &self.directory, chats: &self.chats, session, now };
        let query = SearchQuery::parse(text).unwrap();
        let (mut pages, mut cursor) = (Vec::new(), None);
        loop {
            let page = chat_search::read_page(&access, &query, cursor).await.unwrap();
            pages.push(page.chats.iter().map(|chat| chat.chat_id).collect());
            let Some(next) = page.next else { return pages };
            cursor = SearchCursor::parse(&next.to_text());
            assert!(cursor.is_some());
        }
    }

    async fn search(&self, text: &str) -> Vec<u64> {
        self.search_pages(&agent_session(1, Role::Admin), text, seconds_later(100)).await.concat()
    }

    async fn correct_visitor(&self, profile: &VisitorProfile, source: ProfileSource) {
        let mut visitor = self.visitor("v").await;
        assert!(visitor.merge_profile(profile, source));
        update_visitor(&self.chats, &visitor, NOW).await.unwrap();
    }
}

#[tokio::test]
async fn chats_are_found_by_each_criterion() {
    let stores = stores().await;
    let ada = profile("Ada Lovelace", "Ada@Example.com", "+49 151 2345");
    stores.visitor_writes_with("v", &ada, "My parcel is lost", None, NOW).await.unwrap();
    let jose = profile("José", "jose@example.com", "");
    stores.visitor_writes_with("w", &jose, "Where is Ada?", None, NOW).await.unwrap();
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    stores.close(1, &bob(), &[], NOW).await.unwrap();
    let table: [(&str, &[u64]); 16] = [
        ("ada", &[1, 2]),
        ("love", &[1]),
        ("lace", &[]),
        ("JOSE", &[2]),
        ("parcel lost", &[1]),
        ("ada parcel", &[1]),
        ("where ada jose", &[2]),
        ("1", &[1]),
        ("#2", &[2]),
        ("ADA@example", &[1]),
        ("jose@example.com", &[2]),
        ("example.com", &[]),
        ("+49 (151)", &[1]),
        ("0049151", &[1]),
        ("151", &[]),
        ("...", &[]),
    ];
    for (text, expected) in table {
        assert_eq!(stores.search(text).await, expected, "{text}");
    }
}

#[tokio::test]
async fn every_source_of_contact_data_is_searched() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    assert_eq!(stores.search("new@").await, [0; 0]);
    let sources = [ProfileSource::Agent, ProfileSource::Bot, ProfileSource::Crm];
    for (n, source) in sources.into_iter().enumerate() {
        stores.correct_visitor(&profile("", &format!("new{n}@example.com"), &format!("777{n}")), source).await;
        for m in 0..sources.len() {
            let expected: &[u64] = if m == n { &[1] } else { &[] };
            assert_eq!(stores.search(&format!("new{m}@example.com")).await, expected, "{n} {m}");
            assert_eq!(stores.search(&format!("777{m}")).await, expected, "{n} {m}");
        }
    }
    let integrator = profile("", "app@example.com", "888");
    stores.visitor_writes_with("v", &integrator, "hi", None, NOW).await.unwrap();
    assert_eq!([stores.search("app@").await, stores.search("888").await], [[1], [1]]);
    assert_eq!(stores.search("777").await, [0; 0]);
    let blank = VisitorProfile { email: Some(String::new()), phone: Some(" ".into()), ..VisitorProfile::default() };
    stores.correct_visitor(&blank, ProfileSource::Agent).await;
    assert_eq!([stores.search("app@").await, stores.search("888").await], [[0; 0], [0; 0]], "cleared");
    let long = "x".repeat(1_000);
    stores.correct_visitor(&profile("", &long, &"9".repeat(1_000)), ProfileSource::Agent).await;
    assert_eq!([stores.search(&long[..200]).await, stores.search("999").await], [[1], [1]]);
}

#[tokio::test]
async fn erased_and_expired_visitors_are_not_found() {
    let stores = Stores::with_settings(AccountSettings { retention_days: Some(1), ..AccountSettings::default() }).await;
    let ada = profile("Ada", "ada@example.com", "+49 151 2345");
    for visitor in ["v", "w"] {
        let (chat_id, _) = stores.visitor_writes_with(visitor, &ada, "hi", None, NOW).await.unwrap();
        stores.accept(chat_id, &bob(), &[], NOW).await.unwrap();
        stores.close(chat_id, &bob(), &[], NOW).await.unwrap();
    }
    assert_eq!(stores.search("ada@example.com").await, [1, 2]);
    erase_visitor((&stores.chats, &no_files), ("acc", 1), NOW, &|| true).await.unwrap();
    assert_eq!([stores.search("ada@example.com").await, stores.search("49151").await], [[2], [2]]);
    let (admin, later) = (agent_session(1, Role::Admin), seconds_later(DAY));
    for text in ["ada@example.com", "49151", "ada", "2"] {
        assert_eq!(stores.search_pages(&admin, text, later).await.concat(), [0; 0], "{text}");
    }
    stores.visitor_writes("w", "as a new visitor", later).await.unwrap();
    assert_eq!(stores.search("ada@example.com").await, [0; 0]);
    let text = |item: &Item| format!("{item:?}").to_lowercase();
    let remaining = stores.chat_items().await;
    assert!(!remaining.iter().any(|item| text(item).contains("ada@example.com") && text(item).contains("email_key")));
}

#[tokio::test]
async fn best_matches_are_first_and_no_chat_is_found_twice() {
    let mut stores = stores().await;
    stores.settings.limits.channel_chats = 10_000;
    let named = |name: &str, email: &str| profile(name, email, "");
    stores.visitor_writes_with("first", &named("Zoe", "anna@example.com"), "hi", None, NOW).await.unwrap();
    for n in 0..700 {
        let name = if n % 5 == 0 { "Anna" } else { "Ben" };
        stores.visitor_writes_with(&format!("v{n}"), &named(name, ""), "hi", None, NOW).await.unwrap();
    }
    let last = named("Anna", "anna@last.example");
    stores.visitor_writes_with("last", &last, "hi", None, NOW).await.unwrap();
    let pages = stores.search_pages(&agent_session(1, Role::Admin), "anna", seconds_later(100)).await;
    assert!(pages.len() > 2, "{pages:?}");
    assert_eq!(pages[0][..2], [1, 702], "by e-mail address");
    let mut all = pages.concat();
    all.sort_unstable();
    let expected: Vec<u64> = [1].into_iter().chain((2..702).step_by(5)).chain([702]).collect();
    assert_eq!(all, expected);
    let pages = stores.search_pages(&agent_session(1, Role::Admin), "nobody", seconds_later(100)).await;
    assert_eq!(pages, [[0; 0], [0; 0]], "500 chats are examined for a page");
}

#[tokio::test]
async fn all_chats_of_a_found_visitor_are_found() {
    let stores = stores().await;
    for second in 0..3 {
        stores.closed_chat("v", second).await;
        stores.closed_chat("w", second).await;
    }
    stores.correct_visitor(&profile("", "ada@example.com", ""), ProfileSource::Agent).await;
    assert_eq!(stores.search("ada@example.com").await, [5, 3, 1]);
    assert_eq!(stores.search("#2").await, [2, 6, 4], "chat 2, and the chats of visitor 2");
}

#[tokio::test]
async fn chats_of_other_agents_are_not_found() {
    let stores = stores().await;
    let outsider_session = stores.session_outside_audience().await;
    let ada = profile("Ada", "ada@example.com", "+49 151 2345");
    stores.visitor_writes_with("v", &ada, "hi", None, NOW).await.unwrap();
    stores.visitor_writes_with("w", &ada, "hi", None, NOW).await.unwrap();
    stores.accept(2, &outsider_session.agent, &[], NOW).await.unwrap();
    for (text, expected) in [("ada", vec![2]), ("ada@example.com", vec![2]), ("49151", vec![2]), ("1", vec![])] {
        let pages = stores.search_pages(&outsider_session, text, seconds_later(1)).await;
        assert_eq!(pages.concat(), expected, "{text}");
    }
}
