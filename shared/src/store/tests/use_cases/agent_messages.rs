use crate::store::tests::*;

#[tokio::test]
async fn only_the_agent_of_a_chat_can_write_in_it() {
    let stores = stores().await;
    assert!(matches!(stores.agent_writes(1, "x", NOW).await, Err(Error::NotFound)));
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    assert!(matches!(stores.agent_writes(1, "x", NOW).await, Err(Error::Conflict(m)) if m.starts_with("accept")));
    stores.accept(1, &AgentSnapshot { agent_id: 2, ..bob() }, &[], NOW).await.unwrap();
    assert!(matches!(stores.agent_writes(1, "x", NOW).await, Err(Error::Conflict("another agent has this chat"))));
    stores.close(1, &AgentSnapshot { agent_id: 2, ..bob() }, &[], NOW).await.unwrap();
    assert!(matches!(stores.agent_writes(1, "x", NOW).await, Err(Error::Conflict("the chat is closed"))));
}
