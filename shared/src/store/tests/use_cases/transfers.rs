//! Tests of transfers: what a transfer changes, and which agents can see the chat afterwards.

use crate::domain::accounts::department::ChatDepartment;
use crate::store::tests::*;

#[tokio::test]
async fn transfer_to_an_agent_is_noted_in_the_timeline() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let to_agent_2 = TransferTarget::agent(agent(2, "2@example.com"));
    assert!(matches!(stores.transfer(1, &to_agent_2).await, Err(Error::Conflict("accept the chat first"))));
    stores.accept(1, &agent_snapshot(1), &[], NOW).await.unwrap();
    assert!(matches!(stores.transfer(3, &to_agent_2).await, Err(Error::Conflict("another agent has this chat"))));
    let after = stores.transfer(1, &to_agent_2).await.unwrap();
    assert_eq!(after, stores.chat_header(1).await);
    assert_eq!(after.state, ChatState::Active(AgentSnapshot { agent_id: 2, name: "Bob".into(), photo: None }));
    assert_eq!((after.department, after.updated_at), (None, seconds_later(1)));
    assert!(matches!(stores.transfer(2, &to_agent_2).await, Err(Error::Conflict("the agent has this chat already"))));
    let note = stores.chats.timeline("acc", 1, 0, 10).await.unwrap().pop().unwrap();
    assert_eq!((&note.from, note.seq, &note.delivery), (&Sender::System, after.seq, &None));
    assert_eq!(note.content.own_text(), Some("Agent 1 transferred the chat to Bob"));
    assert!(stores.agent_writes(1, "too late", NOW).await.is_err());
}

#[tokio::test]
async fn transfer_offers_the_chat_to_department_members() {
    let stores = account_with_four_agents().await;
    stores.create_department("Sales", &[2, 3]).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let stale = stores.chat_header(1).await;
    stores.accept(1, &agent_snapshot(1), &[], NOW).await.unwrap();
    let after = stores.transfer(1, &TransferTarget::Department(sales())).await.unwrap();
    assert_eq!(after, stores.chat_header(1).await);
    assert_eq!((after.state.clone(), after.department.clone()), (ChatState::Offered(1), Some(sales().snapshot())));
    assert_eq!(stores.listed_chat_ids(&["waiting"], None, 10).await, (vec![1], None));
    let visible = [stores.can_see_chat(1, Role::Agent).await, stores.can_see_chat(2, Role::Agent).await];
    assert_eq!((visible, stores.can_see_chat(1, Role::Admin).await), ([false, true], true));

    let refused = accept_chat(&stores.chats, stale, (&agent_snapshot(2), None), &[], NOW).await;
    assert!(matches!(refused, Err(Error::Conflict("the chat has just been offered to others"))), "{refused:?}");
    stores.accept(1, &agent_snapshot(2), &[], NOW).await.unwrap();
    let accepted = stores.chat_header(1).await;
    assert_eq!((accepted.state.offered_department(), accepted.department), (None, Some(sales().snapshot())));
    release_chats_of_agent(&stores.chats, "acc", 2, &[], NOW).await.unwrap();
    let released = stores.chat_header(1).await;
    assert_eq!(released.state, ChatState::Waiting, "the offer ended with the accept");
}

#[tokio::test]
async fn offer_to_a_deleted_department_falls_back_to_the_channel() {
    let stores = account_with_four_agents().await;
    stores.create_department("Sales", &[2, 3]).await;
    stores.store_channel_for(&[]).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.accept(1, &agent_snapshot(1), &[], NOW).await.unwrap();
    stores.transfer(1, &TransferTarget::Department(sales())).await.unwrap();
    assert!(!stores.can_see_chat(4, Role::Agent).await);
    stores.directory.save_department("acc", &sales(), &Department { agent_ids: vec![], ..sales() }).await.unwrap();
    assert!(stores.can_see_chat(4, Role::Agent).await, "the department has no members");
    stores.directory.delete_department("acc", &sales()).await.unwrap();
    assert!(stores.can_see_chat(4, Role::Agent).await);
    stores.accept(1, &agent_snapshot(4), &[], NOW).await.unwrap();
}

#[tokio::test]
async fn offer_to_a_department_newer_than_the_cache_is_visible() {
    let stores = account_with_four_agents().await;
    stores.directory.cached_roster("acc").await.unwrap();
    let department = stores
        .uncached_directory()
        .create_department("acc", Department { name: "Sales".into(), agent_ids: vec![2], ..Department::default() })
        .await
        .unwrap();
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.accept(1, &agent_snapshot(1), &[], NOW).await.unwrap();
    stores.transfer(1, &TransferTarget::Department(department)).await.unwrap();
    for (agent_id, expected) in [(2, true), (3, false)] {
        let sees = stores.can_see_chat_with(&stores.directory, &agent_session(agent_id, Role::Agent)).await;
        assert_eq!(sees, expected, "agent {agent_id}");
    }
}

#[tokio::test]
async fn concurrent_transfers_have_one_winner() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.accept(1, &agent_snapshot(1), &[], NOW).await.unwrap();
    let mut recipients: Vec<TransferTarget> =
        (2..=5).map(|agent_id| TransferTarget::Agent(agent_snapshot(agent_id))).collect();
    recipients.push(TransferTarget::Department(sales()));
    let results = join_all(recipients.iter().map(|to| stores.transfer(1, to))).await;
    let transferred: Vec<&Chat> = results.iter().filter_map(|result| result.as_ref().ok()).collect();
    let refused = results.iter().filter(|result| matches!(result, Err(Error::Conflict(_)))).count();
    assert_eq!((transferred.len(), refused), (1, 4), "{results:?}");
    assert_eq!(stores.chat_header(1).await, *transferred[0]);
    assert_eq!(stores.chats.timeline("acc", 1, 0, 10).await.unwrap().len(), 2, "the message and one note");
}

#[tokio::test]
async fn chat_keeps_its_department_after_a_transfer_to_an_agent() {
    let stores = stores().await;
    let (channel, profile, content) = (channel(), VisitorProfile::default(), Content::text("hi"));
    let department = ChatDepartment { department_id: 3, name: "Support".into() };
    let department = Some(&department);
    let text = visitor_text(&stores, &channel, &content, &profile, NOW);
    let incoming = VisitorText { from: FromVisitor { department, ..text.from }, ..text };
    receive_visitor_text(&stores.chats, &incoming).await.unwrap();
    stores.accept(1, &agent_snapshot(1), &[], NOW).await.unwrap();
    let after = stores.transfer(1, &TransferTarget::Agent(agent_snapshot(2))).await.unwrap();
    assert_eq!(after.department.as_ref(), department);
    let after = stores.transfer(2, &TransferTarget::Department(sales())).await.unwrap();
    assert_eq!(after.department, Some(sales().snapshot()));
}
