//! Who took part in a chat, and which chats end with chat_finished.

use crate::domain::chat_state::{Mover, Recipient};
use crate::domain::webhook::WebhookEvent;
use crate::store::tests::*;

fn author(agent_id: u64) -> Author {
    Author { agent_id, name: format!("Agent {agent_id}"), photo: None }
}

impl Stores {
    async fn chat_header(&self, chat_id: u64) -> crate::domain::chat::Chat {
        self.chats.chat("acc", chat_id).await.unwrap().unwrap()
    }

    async fn hand_to(&self, chat_id: u64, by: u64, to: u64) {
        let (by, to) = (author(by), Recipient::Agent(author(to)));
        let by = Mover { agent: &by, is_admin: true };
        self.chats.transfer(self.chat_header(chat_id).await, by, &to, NOW).await.unwrap();
    }

    /// What is told when the chat is closed because nobody wrote in it for a day.
    async fn told_of_idle_close(&self, chat_id: u64) -> Vec<Kind> {
        let settings = Settings { webhooks: vec![webhook("w")], ..Settings::default() };
        let closed =
            self.chats.close_idle(&self.chat_header(chat_id).await, &settings, at(100_000)).await.unwrap().unwrap();
        closed.notifications.iter().map(|entry| entry.content.kind).collect()
    }
}

#[tokio::test]
async fn only_a_chat_that_an_agent_had_ends_with_chat_finished() {
    let stores = stores().await;
    let finished = vec![Kind::Webhook(WebhookEvent::ChatFinished)];
    for visitor in ["nobody's", "accepted", "given up", "closed by hand"] {
        stores.visitor_writes(visitor, "hi", NOW).await.unwrap();
    }
    assert_eq!(stores.told_of_idle_close(1).await, []);

    stores.accept(2, &bob(), &[], NOW).await.unwrap();
    assert_eq!(stores.told_of_idle_close(2).await, finished);

    stores.accept(3, &bob(), &[], NOW).await.unwrap();
    stores.chats.release("acc", 1, NOW).await.unwrap();
    assert_eq!(stores.chat_header(3).await.state, State::Waiting);
    assert_eq!(stores.told_of_idle_close(3).await, finished, "an agent had accepted it");

    let closed = stores.close(4, &bob(), &[webhook("w")], NOW).await.unwrap();
    assert_eq!(closed.notifications.iter().map(|entry| entry.content.kind).collect::<Vec<_>>(), finished);
    assert_eq!(closed.notifications[0].occurrence.as_ref().unwrap().agent_ids(&closed.chat), [1], "who closed it");
}

#[tokio::test]
async fn participants_are_those_who_had_or_closed_the_chat() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    assert!(stores.chat_header(1).await.participants.is_empty());
    stores.accept(1, &author(5), &[], NOW).await.unwrap();
    stores.hand_to(1, 5, 2).await;
    stores.hand_to(1, 9, 5).await;
    stores.hand_to(1, 5, 7).await;
    assert_eq!(stores.chat_header(1).await.participants, [5, 2, 7], "not the admin who moved it");
    stores.close(1, &author(7), &[], NOW).await.unwrap();
    assert_eq!(stores.chat_header(1).await.participants, [5, 2, 7]);
}

#[tokio::test]
async fn a_header_keeps_the_last_thirty_participants() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.accept(1, &author(1), &[], NOW).await.unwrap();
    for agent_id in 2..=40 {
        stores.hand_to(1, agent_id - 1, agent_id).await;
    }
    assert_eq!(stores.chat_header(1).await.participants, (11..=40).collect::<Vec<_>>());
}

#[tokio::test]
async fn deleted_agents_are_found_by_their_ids() {
    let Stores { directory, .. } = stores().await;
    let [bob, eve, ada] =
        [(1, "b@x.example"), (2, "e@x.example"), (3, "a@x.example")].map(|(id, email)| agent(id, email));
    directory.create_account("Acme", &bob, "hash").await.unwrap();
    for other in [&eve, &ada] {
        directory.create_agent(other, "hash", Authority::Operator).await.unwrap();
    }
    directory.delete_agent(&eve).await.unwrap();
    directory.delete_agent(&eve).await.unwrap();
    let found = directory.agents_by_id("acc", &[3, 2, 9, 1]).await.unwrap();
    assert_eq!(found, [ada.clone(), Agent { photo: None, ..eve }, bob.clone()]);
    assert_eq!(directory.agents_by_id("acc", &[]).await.unwrap(), []);
    assert_eq!(directory.agents("acc").await.unwrap(), [bob, ada]);
    assert_eq!(directory.agent("acc", 2).await.unwrap(), None);
    assert!(!directory.roster("acc").await.unwrap().has_agent(2));
}
