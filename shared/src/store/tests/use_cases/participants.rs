//! Tests of which agents count as a chat's participants, and of which chats end with a chat_finished event.

use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::store::tests::*;

impl Stores {
    async fn transfer_as_admin(&self, chat_id: u64, by: u64, to: u64) {
        let (by, to) = (agent_snapshot(by), TransferTarget::Agent(agent_snapshot(to)));
        let by = TransferRequester { agent: &by, is_admin: true };
        transfer_chat(&self.chats, self.chat_header(chat_id).await, by, transfer_to(&to), without_webhooks(NOW))
            .await
            .unwrap();
    }

    async fn idle_close_notifications(&self, chat_id: u64) -> Vec<Content> {
        let settings = AccountSettings { webhooks: vec![webhook("w")], ..AccountSettings::default() };
        let closed = close_idle_chat(&self.chats, &self.chat_header(chat_id).await, &settings, seconds_later(100_000))
            .await
            .unwrap()
            .unwrap();
        closed.notifications.iter().map(|entry| entry.content.clone()).collect()
    }
}

#[tokio::test]
async fn only_a_chat_accepted_by_an_agent_ends_with_chat_finished() {
    let stores = stores().await;
    let finished = vec![Content::Webhook(WebhookEvent::ChatFinished)];
    for visitor in ["unaccepted", "accepted", "released", "closed by an agent"] {
        stores.visitor_writes(visitor, "hi", NOW).await.unwrap();
    }
    assert_eq!(stores.idle_close_notifications(1).await, []);

    stores.accept(2, &bob(), &[], NOW).await.unwrap();
    assert_eq!(stores.idle_close_notifications(2).await, finished);

    stores.accept(3, &bob(), &[], NOW).await.unwrap();
    release_chats_of_agent(&stores.chats, "acc", 1, &[], NOW).await.unwrap();
    assert_eq!(stores.chat_header(3).await.state, ChatState::Waiting);
    assert_eq!(stores.idle_close_notifications(3).await, finished, "an agent had accepted it before");

    let closed = stores.close(4, &bob(), &[webhook("w")], NOW).await.unwrap();
    assert_eq!(closed.notifications.iter().map(|entry| entry.content.clone()).collect::<Vec<_>>(), finished);
    assert_eq!(
        closed.notifications[0].webhook_dispatch.as_ref().unwrap().agent_ids(&closed.chat),
        [1],
        "who closed it"
    );
}

#[tokio::test]
async fn participants_are_the_agents_who_had_or_closed_the_chat() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    assert!(stores.chat_header(1).await.participants.is_empty());
    stores.accept(1, &agent_snapshot(5), &[], NOW).await.unwrap();
    stores.transfer_as_admin(1, 5, 2).await;
    stores.transfer_as_admin(1, 9, 5).await;
    stores.transfer_as_admin(1, 5, 7).await;
    assert_eq!(stores.chat_header(1).await.participants, [5, 2, 7], "not the admin who moved it");
    stores.close(1, &agent_snapshot(7), &[], NOW).await.unwrap();
    assert_eq!(stores.chat_header(1).await.participants, [5, 2, 7]);
}

#[tokio::test]
async fn header_stores_the_last_thirty_participants() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.accept(1, &agent_snapshot(1), &[], NOW).await.unwrap();
    for agent_id in 2..=40 {
        stores.transfer_as_admin(1, agent_id - 1, agent_id).await;
    }
    assert_eq!(stores.chat_header(1).await.participants, (11..=40).collect::<Vec<_>>());
}
