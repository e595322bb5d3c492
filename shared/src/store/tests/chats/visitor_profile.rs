//! What is learned of visitors, by whom, and who is told of it.

use crate::domain::webhook::WebhookEvent;
use crate::store::table::s;
use crate::store::tests::*;

#[tokio::test]
async fn what_two_learn_of_a_visitor_at_the_same_time_is_both_kept() {
    let stores = stores().await;
    let ann = Profile { phone: Some("1".into()), ..named("Ann") };
    stores.visitor_says("v", &ann, "hi", None, NOW).await.unwrap();
    let mut seen = stores.chats.visitor("CH", "v").await.unwrap().unwrap();
    let moved = Profile { phone: Some("2".into()), ..named("Ann") };
    stores.visitor_says("v", &moved, "new phone", None, NOW).await.unwrap();
    seen.learn(&Profile { description: Some("Gold".into()), ..Profile::default() }, Source::Agent);
    seen.blacklist(true);
    stores.chats.save_visitor(&seen).await.unwrap();
    let visitor = stores.chats.visitor("CH", "v").await.unwrap().unwrap();
    let (phone, description) = (visitor.profile.phone.as_deref(), visitor.profile.description.as_deref());
    assert_eq!((phone, description, visitor.blacklisted), (Some("2"), Some("Gold"), true));
    assert_eq!((visitor.sources.phone, visitor.sources.description), (Some(Source::Integrator), Some(Source::Agent)));
}

#[tokio::test]
async fn what_the_integrator_repeats_undoes_no_correction_also_in_another_chat() {
    let stores = stores().await;
    stores.visitor_says("v", &named("Ann"), "hi", None, NOW).await.unwrap();
    let mut visitor = stores.chats.visitor("CH", "v").await.unwrap().unwrap();
    visitor.learn(&named("Anna"), Source::Agent);
    stores.chats.save_visitor(&visitor).await.unwrap();
    stores.visitor_says("v", &named("Ann"), "again", None, NOW).await.unwrap();
    stores.close(1, &bob(), &[], NOW).await.unwrap();
    stores.visitor_says("v", &named("Ann"), "and again", None, NOW).await.unwrap();
    let head = stores.chats.chat("acc", 2).await.unwrap().unwrap();
    assert_eq!(head.visitor_name, "Anna");
    stores.visitor_says("v", &named("Annie"), "married", None, NOW).await.unwrap();
    assert_eq!(stores.chats.visitor("CH", "v").await.unwrap().unwrap().profile, named("Annie"));
}

#[tokio::test]
async fn a_message_with_news_of_its_visitor_brings_what_the_webhooks_are_told() {
    let mut stores = stores().await;
    stores.settings.webhooks = vec![webhook("W"), webhook("X")];
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.visitor_says("v", &named("Ann"), "nobody has accepted", None, NOW).await.unwrap();
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    stores.visitor_says("v", &named("Anna"), "news", None, NOW).await.unwrap();
    stores.visitor_says("v", &named("Anna"), "none", None, NOW).await.unwrap();
    let timeline = stores.chats.timeline("acc", 1, 0, 100).await.unwrap();
    let shown: Vec<_> = timeline.iter().map(|entry| (entry.seq, entry.content.kind)).collect();
    let updated = Kind::Webhook(WebhookEvent::ChatUpdated);
    assert_eq!(shown, [(1, Kind::Text), (2, Kind::Text), (3, Kind::Text), (4, updated), (5, updated), (6, Kind::Text)]);
    let dispatches: Vec<_> = timeline.iter().filter_map(|entry| entry.occurrence.as_ref()).collect();
    assert_eq!(
        dispatches.iter().map(|dispatch| (dispatch.webhook_id.as_str(), dispatch.agent_id)).collect::<Vec<_>>(),
        [("W", Some(1)), ("X", Some(1))]
    );
}

#[tokio::test]
async fn what_could_not_be_stored_of_a_visitor_is_told_by_the_next_try() {
    let stores = stores().await;
    stores.undelivered().await;
    let webhooks = [webhook("W")];
    let mut visitor = stores.chats.visitor("CH", "v").await.unwrap().unwrap();
    visitor.learn(&named("Ann"), Source::Agent);
    // The death between the header and the rest: an entry that is in the way.
    stores.in_the_way(1, 3).await;
    assert!(stores.chats.save_and_tell(&visitor, &webhooks, NOW).await.is_err());
    let mut again = stores.chats.visitor("CH", "v").await.unwrap().unwrap();
    assert!(again.learn(&named("Ann"), Source::Agent), "the visitor is as they were");
    let notifications = stores.chats.save_and_tell(&again, &webhooks, NOW).await.unwrap();
    assert_eq!(notifications.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [4]);
    assert_eq!(stores.chats.visitor("CH", "v").await.unwrap().unwrap().profile, named("Ann"));
}

impl Stores {
    /// Something under the number of an entry.
    async fn in_the_way(&self, chat_id: u64, seq: u64) {
        let put = self.client.put_item().table_name("chats");
        let put = put.item("pk", s(format!("CHAT#acc#{chat_id}"))).item("sk", s(format!("{seq:010}")));
        put.send().await.unwrap();
    }
}
