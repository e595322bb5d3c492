//! Tests of chat state transitions. If the header has changed since the caller read it, the transition is decided again
//! with the current header: it fails if the chat now belongs to another agent or was offered to others.

use crate::chats::agent::close_chat::close_chat;
use crate::store::tests::*;

#[tokio::test]
async fn concurrent_accepts_of_a_chat_have_one_winner() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let agents: Vec<AgentSnapshot> = (1..=8).map(|agent_id| AgentSnapshot { agent_id, ..bob() }).collect();
    let results = join_all(agents.iter().map(|agent| stores.accept(1, agent, &[], NOW))).await;
    let accepted = results.iter().filter(|result| result.is_ok()).count();
    let refused = results.iter().filter(|result| matches!(result, Err(Error::Conflict(_)))).count();
    assert_eq!((accepted, refused), (1, 7));
}

#[tokio::test]
async fn chats_of_a_deleted_agent_wait_again() {
    let stores = stores().await;
    stores.chat_with_pending_message().await;
    stores.insert_chats_of_another_agent(2..1_052).await;
    release_chats_of_agent(&stores.chats, "acc", 1, &[], seconds_later(1)).await.unwrap();
    assert_eq!(stores.chat_header(1).await.state, ChatState::Waiting);
    assert_eq!(stores.chat_header(2).await.state.name(), "active", "the chat of another agent");
}

#[tokio::test]
async fn entries_name_the_agent_who_made_the_transition() {
    let stores = stores().await;
    let agents_of = async || {
        let entries = stores.chats.timeline("acc", 1, 0, 10).await.unwrap();
        entries.into_iter().map(|entry| entry.caused_by.map(|agent| agent.name)).collect::<Vec<_>>()
    };
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let with_photo = AgentSnapshot { photo: Some("https://x.example/bob.png".into()), ..bob() };
    let accepted = stores.accept(1, &with_photo, &[webhook("w")], NOW).await.unwrap();
    assert_eq!(accepted.notifications[0].caused_by, Some(bob()), "without the photo");
    stores.transfer(1, &TransferTarget::Agent(ann())).await.unwrap();
    stores.close(1, &ann(), &[webhook("w")], NOW).await.unwrap();
    let name = |name: &str| Some(name.to_owned());
    assert_eq!(agents_of().await, [None, name("Bob"), name("Agent 1"), name("Ann")]);
}

fn ann() -> AgentSnapshot {
    AgentSnapshot { agent_id: 2, name: "Ann".into(), photo: None }
}

impl Stores {
    /// Opens chat 1, which Bob accepts, and moves it to Ann, as happens when Bob is deleted. The `seq` of the header
    /// stays the same, so only its version shows the change. Returns the header as it was while Bob owned the chat.
    async fn reassign_from_bob_to_ann(&self) -> Chat {
        self.visitor_writes("v", "hi", NOW).await.unwrap();
        self.accept(1, &bob(), &[], NOW).await.unwrap();
        let stale = self.chat_header(1).await;
        release_chats_of_agent(&self.chats, "acc", 1, &[], NOW).await.unwrap();
        self.accept(1, &ann(), &[], NOW).await.unwrap();
        assert_eq!(self.chat_header(1).await.seq, stale.seq);
        stale
    }
}

#[tokio::test]
async fn stale_close_does_not_end_the_chat_of_the_next_agent() {
    let stores = stores().await;
    let stale = stores.reassign_from_bob_to_ann().await;
    let refused = close_chat(&stores.chats, stale, &bob(), &[], NOW).await;
    assert!(matches!(refused, Err(Error::Conflict("another agent has this chat"))), "{refused:?}");
    assert_eq!(stores.chat_header(1).await.state, ChatState::Active(ann()));
}

#[tokio::test]
async fn stale_transfer_does_not_move_the_chat_of_the_next_agent() {
    let stores = stores().await;
    let stale = stores.reassign_from_bob_to_ann().await;
    let to = TransferTarget::Agent(AgentSnapshot { agent_id: 3, ..bob() });
    let refused = transfer_chat(
        &stores.chats,
        stale,
        TransferRequester { agent: &bob(), is_admin: false },
        transfer_to(&to),
        without_webhooks(NOW),
    )
    .await;
    assert!(matches!(refused, Err(Error::Conflict("another agent has this chat"))), "{refused:?}");
    assert_eq!(stores.chat_header(1).await.state, ChatState::Active(ann()));
}

#[tokio::test]
async fn stale_accept_succeeds_if_the_chat_waits_again() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let stale = stores.chat_header(1).await;
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    release_chats_of_agent(&stores.chats, "acc", 1, &[], NOW).await.unwrap();
    let accepted = accept_chat(&stores.chats, stale.clone(), (&ann(), None), &[], NOW).await.unwrap();
    assert_eq!((accepted.chat.version, &accepted.chat), (stale.version + 3, &stores.chat_header(1).await));
}

#[tokio::test]
async fn transitions_raise_the_version_and_messages_do_not() {
    let stores = stores().await;
    let mut versions = Vec::new();
    let mut record_version = async || versions.push(stores.chat_header(1).await.version);
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    record_version().await;
    stores.accept(1, &bob(), &[webhook("W")], NOW).await.unwrap();
    record_version().await;
    stores.agent_writes(1, "hello", NOW).await.unwrap();
    stores.visitor_writes("v", "hello", NOW).await.unwrap();
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    record_version().await;
    let to_ann = TransferTarget::Agent(ann());
    let stale = stores.chat_header(1).await;
    transfer_chat(
        &stores.chats,
        stale,
        TransferRequester { agent: &bob(), is_admin: false },
        transfer_to(&to_ann),
        without_webhooks(NOW),
    )
    .await
    .unwrap();
    record_version().await;
    release_chats_of_agent(&stores.chats, "acc", 2, &[], NOW).await.unwrap();
    record_version().await;
    stores.close(1, &bob(), &[], NOW).await.unwrap();
    record_version().await;
    assert_eq!(versions, [1, 2, 2, 3, 4, 5]);
}

#[tokio::test]
async fn repeated_close_succeeds_and_notifies_nobody() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    let first = stores.close(1, &bob(), &[webhook("W")], NOW).await.unwrap();
    assert_eq!(first.notifications.len(), 1);
    let repeated = stores.close(1, &bob(), &[webhook("W")], seconds_later(5)).await.unwrap();
    assert_eq!((repeated.chat, repeated.notifications), (first.chat, vec![]));
    let refused = stores.close(1, &ann(), &[webhook("W")], NOW).await;
    assert!(matches!(refused, Err(Error::Conflict("the chat is closed"))), "{refused:?}");
}

#[tokio::test]
async fn stale_close_of_an_offered_chat_is_refused() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let stale = stores.chat_header(1).await;
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    let requester = TransferRequester { agent: &bob(), is_admin: false };
    let active = stores.chat_header(1).await;
    transfer_chat(
        &stores.chats,
        active,
        requester,
        transfer_to(&TransferTarget::Department(sales())),
        without_webhooks(NOW),
    )
    .await
    .unwrap();
    let refused = close_chat(&stores.chats, stale, &bob(), &[], NOW).await;
    assert!(matches!(refused, Err(Error::Conflict("the chat has just been offered to others"))), "{refused:?}");
}

#[tokio::test]
async fn waiting_time_starts_with_the_transition_into_waiting() {
    let stores = stores().await;
    let waiting_since = async || stores.chat_header(1).await.waiting_since;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.visitor_writes("v", "hello?", seconds_later(1)).await.unwrap();
    assert_eq!(waiting_since().await, Some(NOW), "a further message does not change it");
    stores.accept(1, &bob(), &[], seconds_later(2)).await.unwrap();
    assert_eq!(waiting_since().await, None);
    let chat = stores.chat_header(1).await;
    let requester = TransferRequester { agent: &bob(), is_admin: false };
    let to = TransferTarget::Department(sales());
    transfer_chat(&stores.chats, chat, requester, transfer_to(&to), without_webhooks(seconds_later(3))).await.unwrap();
    assert_eq!(waiting_since().await, Some(seconds_later(3)));
    stores.accept(1, &ann(), &[webhook("W")], seconds_later(4)).await.unwrap();
    assert_eq!(waiting_since().await, None);
    release_chats_of_agent(&stores.chats, "acc", 2, &[], seconds_later(5)).await.unwrap();
    assert_eq!(waiting_since().await, Some(seconds_later(5)));
    stores.close(1, &bob(), &[], seconds_later(6)).await.unwrap();
    assert_eq!(waiting_since().await, None);
    stores.visitor_writes("v", "again", seconds_later(7)).await.unwrap();
    assert_eq!(stores.chat_header(2).await.waiting_since, Some(seconds_later(7)));
}

#[tokio::test]
async fn waiting_time_starts_when_the_bot_hands_the_chat_over() {
    for is_invitation in [true, false] {
        let stores = stores().await;
        stores.open_chat_with_bot().await;
        assert_eq!(stores.chat_header(1).await.waiting_since, None);
        stores.bot_invites(1, Invited::Nobody, seconds_later(1)).await.unwrap();
        assert_eq!(stores.chat_header(1).await.waiting_since, None, "no agent is online");
        if is_invitation {
            stores.bot_invites(1, Invited::Audience, seconds_later(2)).await.unwrap();
        } else {
            hand_over_chat(&stores.chats, "acc", 1, seconds_later(1), without_webhooks(seconds_later(2)))
                .await
                .unwrap();
        }
        assert_eq!(stores.chat_header(1).await.waiting_since, Some(seconds_later(2)));
    }
}
