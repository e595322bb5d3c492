use crate::chats::agent::plan_message::{
    cancel_planned_message, delete_if_chat_is_gone, plan_message, replace_message_of_deleted_agent,
    send_planned_message,
};
use crate::domain::chats::idempotency_key::IdempotencyKey;
use crate::domain::chats::planned_message::{CLAIM_DURATION, MAX_PLANNED_PER_CHAT, PlannedMessage};
use crate::store::chats::header_key;
use crate::store::tests::*;

fn planned_with(planned_id: &str, text: &str) -> PlannedMessage {
    PlannedMessage {
        account_id: "acc".into(),
        chat_id: 1,
        planned_id: planned_id.into(),
        agent: bob(),
        text: text.into(),
        send_at: seconds_later(3_600),
        claimed_until: None,
    }
}

fn key_of(planned: &PlannedMessage) -> IdempotencyKey {
    let scope = format!("acc#1#{}#planned", planned.agent.agent_id);
    IdempotencyKey::new(scope, planned.planned_id.as_bytes(), &planned.text)
}

impl Stores {
    async fn chat_of_bob(&self) {
        self.visitor_writes("v", "hi", NOW).await.unwrap();
        self.accept(1, &bob(), &[], NOW).await.unwrap();
    }

    async fn plan(&self, planned_id: &str, text: &str) -> PlannedMessage {
        let planned = planned_with(planned_id, text);
        self.try_plan(&planned).await.unwrap();
        planned
    }

    async fn try_plan(&self, planned: &PlannedMessage) -> Result<(), Error> {
        plan_message(&self.chats, planned, &key_of(planned), NOW).await
    }

    async fn planned_texts(&self) -> Vec<String> {
        let planned = self.chats.planned_messages(&self.chat_header(1).await).await.unwrap();
        planned.into_iter().map(|planned| planned.text).collect()
    }

    /// Sends what is due, as the scheduled function does. Returns the texts that were sent.
    async fn send_due(&self, now: Timestamp) -> Vec<String> {
        let mut sent = Vec::new();
        for planned in self.chats.due_planned_messages(now, None, 100).await.unwrap().messages {
            if self.chats.claim_planned_message(&planned, now).await.unwrap() {
                let stored = send_planned_message(&self.chats, &planned, &[], now).await.unwrap();
                sent.extend(stored.map(|_| planned.text));
            }
        }
        sent
    }

    async fn only_note(&self) -> Content {
        let mut contents = self.timeline_contents().await;
        contents.retain(|content| content.name() == Content::NOTE);
        assert_eq!(contents.len(), 1, "{contents:?}");
        contents.remove(0)
    }

    async fn timeline_contents(&self) -> Vec<Content> {
        let entries = self.chats.timeline("acc", 1, 0, 100).await.unwrap();
        entries.into_iter().map(|entry| entry.content).collect()
    }
}

#[tokio::test]
async fn planned_message_is_sent_once_after_its_time() {
    let stores = stores().await;
    stores.chat_of_bob().await;
    stores.plan("p", "later").await;
    assert_eq!((stores.planned_texts().await, stores.chat_header(1).await.planned), (vec!["later".into()], 1));
    assert!(stores.send_due(seconds_later(3_600)).await.is_empty(), "not yet due");
    assert_eq!(stores.send_due(seconds_later(3_660)).await, ["later"]);
    assert!(stores.send_due(seconds_later(9_000)).await.is_empty());
    let header = stores.chat_header(1).await;
    assert_eq!((header.planned, header.last_message.unwrap().text), (0, "later".into()));
    let entry = stores.entry(1, header.seq).await;
    assert_eq!((entry.from, entry.at), (Sender::Agent(bob()), seconds_later(3_660)));
    assert_eq!(entry.delivery.unwrap().state, DeliveryState::Pending);
    assert!(stores.planned_texts().await.is_empty());
}

#[tokio::test]
async fn repeated_plan_stores_one_message() {
    let stores = stores().await;
    stores.chat_of_bob().await;
    stores.plan("p", "later").await;
    stores.plan("p", "later").await;
    let other = stores.try_plan(&planned_with("p", "other")).await;
    assert!(matches!(other, Err(Error::IdempotencyMismatch)), "{other:?}");
    assert_eq!((stores.planned_texts().await, stores.chat_header(1).await.planned), (vec!["later".into()], 1));
}

#[tokio::test]
async fn receipt_of_a_planned_message_outlives_the_plan() {
    let stores = stores().await;
    stores.chat_of_bob().await;
    let planned = stores.plan("p", "later").await;
    cancel_planned_message(&stores.chats, &planned, NOW).await.unwrap();
    assert_eq!(stores.chats.earlier_receipt(Some(&key_of(&planned))).await.unwrap().unwrap().id, "p");
    let repeated = stores.try_plan(&planned).await;
    assert!(matches!(repeated, Err(Error::Unavailable(_))), "{repeated:?}");
    assert!(stores.planned_texts().await.is_empty());
}

#[tokio::test]
async fn only_the_agent_of_an_open_chat_plans_ten_messages() {
    let stores = stores().await;
    let unknown = stores.try_plan(&planned_with("p", "x")).await;
    assert!(matches!(unknown, Err(Error::NotFound)), "{unknown:?}");
    stores.chat_of_bob().await;
    let foreign = PlannedMessage { agent: agent_snapshot(2), ..planned_with("p", "x") };
    let refused = stores.try_plan(&foreign).await;
    assert!(matches!(refused, Err(Error::Conflict("another agent has this chat"))), "{refused:?}");
    for number in 0..MAX_PLANNED_PER_CHAT {
        stores.plan(&number.to_string(), "x").await;
    }
    let eleventh = stores.try_plan(&planned_with("11", "x")).await;
    assert!(matches!(eleventh, Err(Error::Conflict("a chat has at most 10 planned messages"))), "{eleventh:?}");
    stores.close(1, &bob(), &[], NOW).await.unwrap();
    let closed = stores.try_plan(&planned_with("12", "x")).await;
    assert!(matches!(closed, Err(Error::Conflict("the chat is closed"))), "{closed:?}");
}

#[tokio::test]
async fn cancelled_message_is_not_sent() {
    let stores = stores().await;
    stores.chat_of_bob().await;
    let planned = stores.plan("p", "later").await;
    cancel_planned_message(&stores.chats, &planned, NOW).await.unwrap();
    let repeated = cancel_planned_message(&stores.chats, &planned, NOW).await;
    assert!(matches!(repeated, Err(Error::Conflict(_))), "{repeated:?}");
    assert_eq!(stores.chat_header(1).await.planned, 0);
    assert!(stores.send_due(seconds_later(9_000)).await.is_empty());
}

#[tokio::test]
async fn claimed_message_can_be_neither_cancelled_nor_claimed() {
    let stores = stores().await;
    stores.chat_of_bob().await;
    let planned = stores.plan("p", "later").await;
    let now = seconds_later(3_660);
    assert!(stores.chats.claim_planned_message(&planned, now).await.unwrap());
    assert!(!stores.chats.claim_planned_message(&planned, now).await.unwrap());
    let cancelled = cancel_planned_message(&stores.chats, &planned, now).await;
    assert!(matches!(cancelled, Err(Error::Conflict(_))), "{cancelled:?}");
    assert!(stores.send_due(now).await.is_empty(), "the claim has not ended");
    let after_claim = Timestamp(now.plus(CLAIM_DURATION).0 + 1);
    assert_eq!(stores.send_due(after_claim).await, ["later"], "the process that had claimed it has died");
    assert_eq!(stores.chat_header(1).await.planned, 0);
}

#[tokio::test]
async fn two_processes_send_a_message_once() {
    let stores = stores().await;
    stores.chat_of_bob().await;
    let planned = stores.plan("p", "later").await;
    let now = seconds_later(3_660);
    assert!(stores.chats.claim_planned_message(&planned, now).await.unwrap());
    let send = || send_planned_message(&stores.chats, &planned, &[], now);
    let sent = join_all([send(), send(), send()]).await;
    let count = sent.iter().filter(|sent| matches!(sent, Ok(Some(_)))).count();
    assert_eq!(count, 1, "{count} sent");
    let texts = stores.timeline_contents().await.into_iter().filter(|content| *content == Content::text("later"));
    assert_eq!(texts.count(), 1);
}

#[tokio::test]
async fn transferred_chat_gets_the_message_of_its_author() {
    let stores = stores().await;
    stores.chat_of_bob().await;
    stores.plan("p", "later").await;
    stores.transfer(1, &TransferTarget::Agent(agent_snapshot(2))).await.unwrap();
    assert_eq!(stores.send_due(seconds_later(3_660)).await, ["later"]);
    let header = stores.chat_header(1).await;
    assert_eq!(stores.entry(1, header.seq).await.from, Sender::Agent(bob()));
    assert_eq!((header.state.agent().unwrap().agent_id, header.first_answer_at), (2, None), "no answer of the agent");
}

#[tokio::test]
async fn author_is_told_that_the_chat_was_closed() {
    let stores = stores().await;
    stores.chat_of_bob().await;
    stores.plan("p", "later").await;
    stores.close(1, &bob(), &[], seconds_later(1)).await.unwrap();
    assert!(stores.send_due(seconds_later(3_660)).await.is_empty());
    assert!(stores.send_due(seconds_later(9_000)).await.is_empty());
    let note = stores.only_note().await;
    assert_eq!(note.mentions(), [1]);
    assert!(note.own_text().unwrap().ends_with("later"), "{note:?}");
    assert_eq!(stores.chat_header(1).await.planned, 0);
}

#[tokio::test]
async fn message_of_a_deleted_agent_becomes_a_note() {
    let stores = stores().await;
    stores.chat_of_bob().await;
    let planned = stores.plan("p", "later").await;
    stores.transfer(1, &TransferTarget::Agent(agent_snapshot(2))).await.unwrap();
    let now = seconds_later(3_660);
    assert!(stores.chats.claim_planned_message(&planned, now).await.unwrap());
    for _ in 0..2 {
        replace_message_of_deleted_agent(&stores.chats, &planned, now).await.unwrap();
    }
    let note = stores.only_note().await;
    assert_eq!(note.mentions(), [2], "the agent who has the chat");
    assert!(note.own_text().unwrap().ends_with("later"), "{note:?}");
    assert!(!stores.timeline_contents().await.contains(&Content::text("later")));
    assert!(stores.send_due(seconds_later(9_000)).await.is_empty());
}

#[tokio::test]
async fn planned_message_does_not_outlive_its_chat() {
    let stores = stores().await;
    stores.chat_of_bob().await;
    let planned = stores.plan("p", "my-secret-word").await;
    let now = seconds_later(3_660);
    delete_if_chat_is_gone(&stores.chats, &planned).await.unwrap();
    assert_eq!(stores.chats.due_planned_messages(now, None, 100).await.unwrap().messages.len(), 1);
    let header = stores.client.delete_item().table_name("chats").set_key(Some(header_key("acc", 1).into_item()));
    header.send().await.unwrap();
    assert!(!stores.chats.claim_planned_message(&planned, now).await.unwrap());
    delete_if_chat_is_gone(&stores.chats, &planned).await.unwrap();
    assert!(!format!("{:?}", stores.chat_items().await).contains("my-secret-word"));
}

#[tokio::test]
async fn due_messages_are_read_in_pages() {
    let stores = stores().await;
    stores.chat_of_bob().await;
    let (mut read, mut after) = (Vec::new(), None);
    for number in 0..5 {
        stores.plan(&number.to_string(), &number.to_string()).await;
    }
    loop {
        let page = stores.chats.due_planned_messages(seconds_later(3_660), after, 2).await.unwrap();
        read.extend(page.messages.into_iter().map(|planned| planned.text));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    read.sort();
    assert_eq!(read, ["0", "1", "2", "3", "4"]);
}

#[tokio::test]
async fn erasure_deletes_planned_messages() {
    let stores = stores().await;
    stores.chat_of_bob().await;
    stores.plan("p", "my-secret-word").await;
    erase_visitor((&stores.chats, &no_files), ("acc", 1), NOW, &|| true).await.unwrap();
    assert!(!format!("{:?}", stores.chat_items().await).contains("my-secret-word"));
    assert!(stores.send_due(seconds_later(3_660)).await.is_empty());
}
