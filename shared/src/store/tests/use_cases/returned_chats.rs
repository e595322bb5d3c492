//! Tests of what a bot tells the agents when it hands over a chat, and of chats that return from the agents to a bot.

use crate::chats::bot::close_chat::{BotClosing, close_chat_by_bot};
use crate::chats::bot::hand_over_chat::HandoverResult;
use crate::chats::bot::return_chat::{give_chat_to_bot, return_unaccepted_chat};
use crate::domain::bots::bot_reaction::awaits_bot_reaction;
use crate::store::tests::*;

fn details() -> HandoverDetails {
    HandoverDetails {
        reason: Some(HandoverReason::Complaint),
        priority: Some(HandoverPriority::Urgent),
        summary: Some("**Broken** ".repeat(40)),
        data: Some(r#"{"order":7}"#.into()),
    }
}

fn other_bot() -> Bot {
    Bot { bot_id: "other".into(), name: "Other".into(), ..bot(&[]) }
}

impl Stores {
    async fn give_to_bot(&self, bot: &Bot, now: Timestamp) -> Result<Transition, Error> {
        let agent = bob();
        let by = TransferRequester { agent: &agent, is_admin: false };
        give_chat_to_bot(&self.chats, self.chat_header(1).await, by, bot, without_webhooks(now)).await
    }
}

#[tokio::test]
async fn handover_and_last_words_are_stored_in_one_transaction() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    let (robo, details) = (bot(&[]), details());
    let invited = (Invited::Audience, &details, Some("One moment"));
    let handed_over = stores.bot_invites_with(&robo, 1, invited, seconds_later(1)).await.unwrap();
    let [words, summary] = handed_over.notifications.as_slice() else { panic!("{handed_over:?}") };
    assert_eq!((words.seq, &words.content), (2, &Content::text("One moment")));
    assert_eq!(words.delivery.as_ref().map(|delivery| delivery.target), Some(Target::Channel));
    assert_eq!((summary.seq, &summary.delivery), (3, &None), "only agents see it");
    assert_eq!(summary.content, Content::Handover(Box::new(details.clone())));
    assert_eq!([&words.from, &summary.from], [&Sender::Bot(robo.name.clone()); 2]);

    let chat = stores.chat_header(1).await;
    let handover = chat.handover.clone().unwrap();
    assert_eq!((handover.reason, handover.priority), (details.reason, details.priority));
    assert_eq!((handover.is_fallback, handover.details_seq, handover.return_at), (false, Some(3), None));
    assert_eq!(handover.summary_start.unwrap().chars().count(), 200);
    assert_eq!(chat.last_message.unwrap().text, "One moment");
    assert_eq!(stores.entry(1, 3).await.content, Content::Handover(Box::new(details)));
}

#[tokio::test]
async fn only_last_words_are_kept_if_nobody_is_online() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    let invited = (Invited::Nobody, &details(), Some("One moment"));
    let kept = stores.bot_invites_with(&bot(&[]), 1, invited, seconds_later(1)).await.unwrap();
    let contents: Vec<_> = kept.notifications.iter().map(|entry| entry.content.clone()).collect();
    let unavailable = Content::bot_notification(BotNotification::AgentUnavailable);
    assert_eq!(contents, [Content::text("One moment"), unavailable]);
    assert_eq!((stores.chat_state_name().await, stores.chat_header(1).await.handover), ("bot", None));
}

#[tokio::test]
async fn invited_agent_gets_the_chat_and_all_are_told() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    let invited = stores.bot_invites(1, Invited::Agent(&bob()), NOW).await.unwrap();
    let kinds: Vec<_> = invited.notifications.iter().map(|entry| entry.content.name()).collect();
    assert_eq!(kinds, ["agent_joined", "chat_accepted"]);
    assert!(invited.notifications.iter().all(|entry| entry.caused_by == Some(bob().without_photo())));
    let chat = stores.chat_header(1).await;
    assert_eq!((chat.state.agent().unwrap().agent_id, chat.participants), (bob().agent_id, vec![bob().agent_id]));
}

#[tokio::test]
async fn repeated_invitation_with_the_same_key_is_stored_once() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    let key = IdempotencyKey::new("bot#B".into(), b"once", "body");
    let (robo, details) = (bot(&[]), details());
    let event = AgentInvitation {
        bot: &robo,
        chat_id: 1,
        text: Some("One moment"),
        details: &details,
        invited: Invited::Nobody,
        opens_at: None,
        reply_to_seq: None,
        department: None,
        claim: None,
        key: Some(&key),
    };
    invite_agent(&stores.chats, &event, &[], seconds_later(1)).await.unwrap();
    assert_eq!(stores.chats.earlier_receipt(Some(&key)).await.unwrap().unwrap().seq, 2);
    let repeated = invite_agent(&stores.chats, &event, &[], seconds_later(2)).await;
    assert!(matches!(repeated, Err(Error::Unavailable(_))), "the receipt already exists: {repeated:?}");
    assert_eq!(stores.chats.timeline("acc", 1, 0, 10).await.unwrap().len(), 3);
}

#[tokio::test]
async fn bot_closes_its_chat() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    let robo = bot(&[]);
    let closing = BotClosing { bot: &robo, chat_id: 1, text: Some("Bye"), key: None };
    let closed = close_chat_by_bot(&stores.chats, &closing, &[webhook("w")], seconds_later(1)).await.unwrap();
    let reasons: Vec<_> = closed.notifications.iter().map(|entry| entry.content.closed_by()).collect();
    assert_eq!(reasons, [None, Some(CloseReason::Bot)], "no agent has taken part, so webhooks are not notified");
    assert_eq!(stores.chat_state_name().await, "closed");
    let repeated = close_chat_by_bot(&stores.chats, &closing, &[], seconds_later(2)).await;
    assert!(matches!(repeated, Err(Error::Forbidden(_))), "{repeated:?}");
}

#[tokio::test]
async fn closing_a_chat_that_had_an_agent_notifies_webhooks() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    let robo = bot(&[]);
    stores.give_to_bot(&robo, seconds_later(1)).await.unwrap();
    let closing = BotClosing { bot: &robo, chat_id: 1, text: None, key: None };
    let closed = close_chat_by_bot(&stores.chats, &closing, &[webhook("w")], seconds_later(2)).await.unwrap();
    let kinds: Vec<_> = closed.notifications.iter().map(|entry| entry.content.name()).collect();
    assert_eq!(kinds, ["chat_closed", "chat_finished"]);
}

#[tokio::test]
async fn unaccepted_chat_returns_to_the_bot_once() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    let robo = bot_with_agent_wait(Duration::from_secs(30), bot(&[]));
    stores.bot_invites_with(&robo, 1, (Invited::Audience, &details(), None), NOW).await.unwrap();
    let return_at = async |second| {
        let returned =
            return_unaccepted_chat(&stores.chats, "acc", 1, without_webhooks(seconds_later(second))).await.unwrap();
        returned.map(|transition| transition.notifications[0].content.name())
    };
    assert_eq!(return_at(29).await, None, "too early");
    assert_eq!(return_at(30).await, Some("agent_unavailable"));
    assert_eq!((stores.chat_state_name().await, return_at(31).await), ("bot", None), "a repeated task");
    assert_eq!(stores.chat_header(1).await.handover, None);

    stores.bot_invites_with(&robo, 1, (Invited::Department(5), &details(), None), seconds_later(32)).await.unwrap();
    assert_eq!(return_at(33).await, None, "the task of the first invitation comes too late");
    assert_eq!(return_at(99).await, Some("agent_unavailable"), "a late task");
}

#[tokio::test]
async fn accepted_chat_does_not_return() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    let robo = bot_with_agent_wait(Duration::from_secs(30), bot(&[]));
    stores.bot_invites_with(&robo, 1, (Invited::Audience, &details(), None), NOW).await.unwrap();
    stores.accept(1, &bob(), &[], seconds_later(1)).await.unwrap();
    stores.transfer(bob().agent_id, &TransferTarget::Department(sales())).await.unwrap();
    assert!(
        return_unaccepted_chat(&stores.chats, "acc", 1, without_webhooks(seconds_later(60))).await.unwrap().is_none()
    );
    assert_eq!(stores.chat_state_name().await, "waiting");
    assert!(stores.chat_header(1).await.handover.is_some(), "the agents still see the summary");
}

#[tokio::test]
async fn idle_check_is_due_when_the_wait_for_an_agent_ends() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    let robo = bot_with_agent_wait(Duration::from_secs(30), bot(&[]));
    stores.bot_invites_with(&robo, 1, (Invited::Audience, &details(), None), NOW).await.unwrap();
    let due = async |second| {
        let page = stores.chats.overdue(Backlog::IdleChecks, 1, seconds_later(second), None, 10).await.unwrap();
        page.items.len()
    };
    assert_eq!((due(29).await, due(31).await), (0, 1));
}

#[tokio::test]
async fn chat_is_given_to_another_bot() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    let other = other_bot();
    let given = stores.give_to_bot(&other, seconds_later(1)).await.unwrap();
    let [returned] = given.notifications.as_slice() else { panic!("{given:?}") };
    assert!(returned.content.is_chat_returned() && awaits_bot_reaction(returned));
    assert_eq!(returned.caused_by, Some(bob().without_photo()));

    let chat = stores.chat_header(1).await;
    assert_eq!((chat.state.name(), chat.bot_id.as_deref()), ("bot", Some("other")));
    assert_eq!([1, 2, returned.seq].map(|seq| chat.bot_of_entry(seq)), [Some("B"), Some("B"), Some("other")]);

    let late = stores.bot_sends(&bot(&[]), Content::text("late"), RichSupport::default()).await;
    assert!(matches!(late, Err(Error::Forbidden(_))), "the former bot: {late:?}");
    let late = stores.bot_invites(1, Invited::Audience, seconds_later(2)).await;
    assert!(matches!(late, Err(Error::Forbidden(_))), "the former bot: {late:?}");
    let late = hand_over_chat(&stores.chats, "acc", 1, NOW, without_webhooks(seconds_later(2))).await.unwrap();
    assert_eq!(late, HandoverResult::NotWithBot, "the time limit of the former bot");
    stores.bot_sends(&other, Content::text("hello"), RichSupport::default()).await.unwrap();
    let again = stores.give_to_bot(&other, seconds_later(3)).await;
    assert!(matches!(again, Err(Error::Conflict("the bot has this chat already"))), "{again:?}");
}

#[tokio::test]
async fn bot_gets_the_messages_that_it_has_missed() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    stores.fail_first_attempt(NOW).await;
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    for text in ["one", "two"] {
        stores.visitor_writes("v", text, seconds_later(1)).await.unwrap();
    }
    let missed_by = async |bot: &Bot| {
        let given = stores.give_to_bot(bot, seconds_later(2)).await.unwrap();
        let seq = given.notifications[0].seq;
        let missed = stores.chats.messages_without_bot(&given.chat, seq).await.unwrap();
        missed.into_iter().map(|entry| entry.content.to_plain_text()).collect::<Vec<_>>()
    };
    assert_eq!(missed_by(&bot(&[])).await, ["one", "two"]);
    assert_eq!(missed_by(&other_bot()).await, ["hi", "one", "two"], "a bot that has not had the chat");
}

#[tokio::test]
async fn bot_gets_a_message_that_an_agent_took_before_it_was_sent() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    let given = stores.give_to_bot(&bot(&[]), seconds_later(1)).await.unwrap();
    let missed = stores.chats.messages_without_bot(&given.chat, given.notifications[0].seq).await.unwrap();
    assert_eq!(missed.iter().map(|entry| entry.content.to_plain_text()).collect::<Vec<_>>(), ["hi"]);
}
