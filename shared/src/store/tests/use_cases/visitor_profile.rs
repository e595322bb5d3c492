//! Tests of the visitor's profile: changes by agents, bots and the integrator, and the webhook notifications that they
//! cause.

use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::store::tests::*;

#[tokio::test]
async fn visitor_is_found_by_number_and_updated_by_a_bot() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    let mut visitor = stores.chats.visitor_by_number("acc", 1, NOW).await.unwrap().unwrap();
    assert_eq!(visitor.external_id, "v");
    assert!(stores.chats.visitor_by_number("other", 1, NOW).await.unwrap().is_none());
    visitor.merge_profile(&profile_named("Ann"), ProfileSource::Bot);
    update_visitor(&stores.chats, &visitor, NOW).await.unwrap();
    assert_eq!(stores.visitor("v").await.profile, profile_named("Ann"));
    assert_eq!(stores.chat_header(1).await.visitor_name, "Ann");
}

#[tokio::test]
async fn visitor_profile_is_merged_during_a_chat() {
    let stores = stores().await;
    let ann = VisitorProfile { phone: Some("+1".into()), ..profile_named("Ann") };
    stores.visitor_writes_with("v", &ann, "hi", None, NOW).await.unwrap();
    stores.visitor_writes_with("v", &profile_named("Anna"), "again", None, NOW).await.unwrap();
    let visitor = stores.visitor("v").await;
    assert_eq!(visitor.profile, VisitorProfile { phone: Some("+1".into()), ..profile_named("Anna") });
    let header = stores.chat_header(1).await;
    assert_eq!((header.visitor_name.as_str(), header.last_message.unwrap().text.as_str()), ("Anna", "again"));
}

#[tokio::test]
async fn concurrent_changes_to_a_visitor_are_both_saved() {
    let stores = stores().await;
    let ann = VisitorProfile { phone: Some("1".into()), ..profile_named("Ann") };
    stores.visitor_writes_with("v", &ann, "hi", None, NOW).await.unwrap();
    let mut stale = stores.visitor("v").await;
    let new_phone = VisitorProfile { phone: Some("2".into()), ..profile_named("Ann") };
    stores.visitor_writes_with("v", &new_phone, "new phone", None, NOW).await.unwrap();
    stale.merge_profile(
        &VisitorProfile { description: Some("Gold".into()), ..VisitorProfile::default() },
        ProfileSource::Agent,
    );
    stale.set_blacklisted(true);
    update_visitor(&stores.chats, &stale, NOW).await.unwrap();
    let visitor = stores.visitor("v").await;
    let (phone, description) = (visitor.profile.phone.as_deref(), visitor.profile.description.as_deref());
    assert_eq!((phone, description, visitor.blacklisted), (Some("2"), Some("Gold"), true));
    assert_eq!(
        (visitor.sources.phone, visitor.sources.description),
        (Some(ProfileSource::Integrator), Some(ProfileSource::Agent))
    );
}

#[tokio::test]
async fn repeated_integrator_data_does_not_undo_a_correction() {
    let stores = stores().await;
    stores.visitor_writes_with("v", &profile_named("Ann"), "hi", None, NOW).await.unwrap();
    let mut visitor = stores.visitor("v").await;
    visitor.merge_profile(&profile_named("Anna"), ProfileSource::Agent);
    update_visitor(&stores.chats, &visitor, NOW).await.unwrap();
    stores.visitor_writes_with("v", &profile_named("Ann"), "again", None, NOW).await.unwrap();
    stores.close(1, &bob(), &[], NOW).await.unwrap();
    stores.visitor_writes_with("v", &profile_named("Ann"), "and again", None, NOW).await.unwrap();
    let header = stores.chat_header(2).await;
    assert_eq!(header.visitor_name, "Anna");
    stores.visitor_writes_with("v", &profile_named("Annie"), "married", None, NOW).await.unwrap();
    assert_eq!(stores.visitor("v").await.profile, profile_named("Annie"));
}

#[tokio::test]
async fn message_with_new_visitor_data_notifies_webhooks() {
    let mut stores = stores().await;
    stores.settings.webhooks = vec![webhook("W"), webhook("X")];
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.visitor_writes_with("v", &profile_named("Ann"), "nobody has accepted", None, NOW).await.unwrap();
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    stores.visitor_writes_with("v", &profile_named("Anna"), "new name", None, NOW).await.unwrap();
    stores.visitor_writes_with("v", &profile_named("Anna"), "same name", None, NOW).await.unwrap();
    let timeline = stores.chats.timeline("acc", 1, 0, 100).await.unwrap();
    let kinds: Vec<_> = timeline.iter().map(|entry| (entry.seq, entry.content.name())).collect();
    let updated = WebhookEvent::ChatUpdated.name();
    assert_eq!(
        kinds,
        [(1, Content::TEXT), (2, Content::TEXT), (3, Content::TEXT), (4, updated), (5, updated), (6, Content::TEXT)]
    );
    let dispatches: Vec<_> = timeline.iter().filter_map(|entry| entry.webhook_dispatch.as_ref()).collect();
    assert_eq!(
        dispatches.iter().map(|dispatch| (dispatch.webhook_id.as_str(), dispatch.agent_id)).collect::<Vec<_>>(),
        [("W", Some(1)), ("X", Some(1))]
    );
}

#[tokio::test]
async fn retry_of_a_failed_profile_save_notifies_webhooks() {
    let stores = stores().await;
    stores.chat_with_pending_message().await;
    let webhooks = [webhook("W")];
    let mut visitor = stores.visitor("v").await;
    visitor.merge_profile(&profile_named("Ann"), ProfileSource::Agent);
    // The key of the next entry is taken, so the header is written but the transaction that follows fails, as if the
    // process had been interrupted between the two writes.
    stores.block_entry(1, 3).await;
    assert!(update_visitor_and_notify(&stores.chats, &visitor, &notifying(&webhooks, NOW)).await.is_err());
    let mut visitor = stores.visitor("v").await;
    assert!(visitor.merge_profile(&profile_named("Ann"), ProfileSource::Agent), "the visitor is unchanged");
    let notifications = update_visitor_and_notify(&stores.chats, &visitor, &notifying(&webhooks, NOW)).await.unwrap();
    assert_eq!(notifications.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [4]);
    assert_eq!(stores.visitor("v").await.profile, profile_named("Ann"));
}

impl Stores {
    /// Stores an item under the key of an entry, so that a later write of that entry fails.
    async fn block_entry(&self, chat_id: u64, seq: u64) {
        let put = self.client.put_item().table_name("chats");
        let put = put.item("pk", s(format!("CHAT#acc#{chat_id}"))).item("sk", s(format!("{seq:010}")));
        put.send().await.unwrap();
    }
}
