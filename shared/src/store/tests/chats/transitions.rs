//! Transitions: each applies to the chat as it was seen, and to no later one that looks like it.

use crate::domain::chat::Chat;
use crate::domain::chat_state::{Mover, Recipient};
use crate::store::tests::*;

fn ann() -> Author {
    Author { agent_id: 2, name: "Ann".into(), photo: None }
}

impl Stores {
    async fn head(&self) -> Chat {
        self.chats.chat("acc", 1).await.unwrap().unwrap()
    }

    /// The chat as Bob had it; by now Bob was deleted and Ann has it. Nothing was written in between.
    async fn had_by_bob(&self) -> Chat {
        self.visitor_writes("v", "hi", NOW).await.unwrap();
        self.accept(1, &bob(), &[], NOW).await.unwrap();
        let seen = self.head().await;
        self.chats.release("acc", 1, NOW).await.unwrap();
        self.accept(1, &ann(), &[], NOW).await.unwrap();
        assert_eq!(self.head().await.seq, seen.seq);
        seen
    }
}

#[tokio::test]
async fn a_late_close_does_not_end_the_chat_of_the_next_agent() {
    let stores = stores().await;
    let seen = stores.had_by_bob().await;
    let refused = stores.chats.close(seen, &bob(), &[], NOW).await;
    assert!(matches!(refused, Err(Error::Conflict("another agent has this chat"))), "{refused:?}");
    assert_eq!(stores.head().await.state, State::Active(ann()));
}

#[tokio::test]
async fn a_late_transfer_does_not_take_the_chat_of_the_next_agent() {
    let stores = stores().await;
    let seen = stores.had_by_bob().await;
    let to = Recipient::Agent(Author { agent_id: 3, ..bob() });
    let refused = stores.chats.transfer(seen, Mover { agent: &bob(), is_admin: false }, &to, NOW).await;
    assert!(matches!(refused, Err(Error::Conflict("another agent has this chat"))), "{refused:?}");
    assert_eq!(stores.head().await.state, State::Active(ann()));
}

#[tokio::test]
async fn a_late_accept_finds_a_chat_that_waits_again() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let seen = stores.head().await;
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    stores.chats.release("acc", 1, NOW).await.unwrap();
    let accepted = stores.chats.accept(seen.clone(), &ann(), &[], NOW).await.unwrap();
    assert_eq!((accepted.chat.version, &accepted.chat), (seen.version + 3, &stores.head().await));
}

#[tokio::test]
async fn every_transition_raises_the_version_and_no_message_does() {
    let stores = stores().await;
    let mut versions = Vec::new();
    let mut note = async || versions.push(stores.head().await.version);
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    note().await;
    stores.accept(1, &bob(), &[webhook("W")], NOW).await.unwrap();
    note().await;
    stores.agent_writes(1, "hello", NOW).await.unwrap();
    stores.visitor_writes("v", "hello", NOW).await.unwrap();
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    note().await;
    let to_ann = Recipient::Agent(ann());
    let seen = stores.head().await;
    stores.chats.transfer(seen, Mover { agent: &bob(), is_admin: false }, &to_ann, NOW).await.unwrap();
    note().await;
    stores.chats.release("acc", 2, NOW).await.unwrap();
    note().await;
    stores.close(1, &bob(), &[], NOW).await.unwrap();
    note().await;
    assert_eq!(versions, [1, 2, 2, 3, 4, 5]);
}

#[tokio::test]
async fn a_repeated_close_succeeds_and_notifies_nobody() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    let first = stores.close(1, &bob(), &[webhook("W")], NOW).await.unwrap();
    assert_eq!(first.notifications.len(), 1);
    let again = stores.close(1, &bob(), &[webhook("W")], at(5)).await.unwrap();
    assert_eq!((again.chat, again.notifications), (first.chat, vec![]));
    let refused = stores.close(1, &ann(), &[webhook("W")], NOW).await;
    assert!(matches!(refused, Err(Error::Conflict("the chat is closed"))), "{refused:?}");
}

#[tokio::test]
async fn a_close_is_refused_when_the_chat_was_offered_to_others() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let seen = stores.head().await;
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    let sales = crate::domain::department::Department { department_id: 5, name: "Sales".into(), agent_ids: vec![2] };
    let mover = Mover { agent: &bob(), is_admin: false };
    let active = stores.head().await;
    stores.chats.transfer(active, mover, &Recipient::Department(sales), NOW).await.unwrap();
    let refused = stores.chats.close(seen, &bob(), &[], NOW).await;
    assert!(matches!(refused, Err(Error::Conflict("the chat has just been offered to others"))), "{refused:?}");
}
