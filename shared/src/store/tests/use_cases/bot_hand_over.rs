//! Tests of when a bot's chat is handed over to the agents (because the bot invites them, because the bot failed, or
//! because a delivery to the bot was lost), when the bot keeps its chat, and how the bot is notified.

use crate::chats::bot::hand_over_chat::HandoverResult;
use crate::chats::bot::receive_bot_message::{BotMessage, advance_header};
use crate::chats::upkeep::requeue_overdue_delivery::OverdueResult;
use crate::store::tests::*;

#[tokio::test]
async fn invitation_hands_over_only_if_an_agent_is_online() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    let refused = stores.bot_invites(1, Invited::Nobody, NOW).await.unwrap();
    let notice = refused.notifications.into_iter().next().unwrap();
    assert_eq!(notice.content, Content::bot_notification(BotNotification::AgentUnavailable));
    assert_eq!((notice.delivery.unwrap().target, stores.chat_state_name().await), (Target::Bot, "bot"));
    let handed_over = stores.bot_invites(1, Invited::Audience, NOW).await.unwrap();
    assert!(handed_over.notifications.is_empty());
    assert_eq!(stores.chat_state_name().await, "waiting");
    assert!(matches!(stores.bot_invites(1, Invited::Audience, NOW).await, Err(Error::Forbidden(_))));
    let late = stores.bot_sends(&bot(&[]), Content::text("late"), RichSupport::default()).await;
    assert!(matches!(late, Err(Error::Forbidden(_))), "{late:?}");
}

#[tokio::test]
async fn bot_is_notified_of_agent_joined_and_chat_closed() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    let joined = stores.accept(1, &bob(), &[], NOW).await.unwrap();
    assert_eq!(joined.notifications[0].content, Content::bot_notification(BotNotification::AgentJoined));
    assert!(stores.accept(1, &bob(), &[], NOW).await.unwrap().notifications.is_empty(), "notified once");
    let closed = stores.close(1, &bob(), &[], NOW).await.unwrap();
    assert_eq!(closed.notifications[0].content, chat_closed_by_agent());
    let kinds: Vec<_> =
        stores.chats.timeline("acc", 1, 1, 10).await.unwrap().iter().map(|e| e.content.clone()).collect();
    assert_eq!(kinds, [Content::bot_notification(BotNotification::AgentJoined), chat_closed_by_agent()]);
    assert!(matches!(
        stores.bot_sends(&bot(&[]), Content::text("late"), RichSupport::default()).await,
        Err(Error::Forbidden(_))
    ));
}

#[tokio::test]
async fn failing_bot_keeps_the_chat_if_it_answered_in_time() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    stores.bot_sends_text("hello", seconds_later(2)).await;
    let hand_over =
        async |since| hand_over_chat(&stores.chats, "acc", 1, since, without_webhooks(seconds_later(3))).await.unwrap();
    assert_eq!(hand_over(seconds_later(1)).await, HandoverResult::BotResponded);
    assert!(matches!(hand_over(seconds_later(2)).await, HandoverResult::HandedOver(_)));
    assert_eq!(stores.chat_state_name().await, "waiting");
    assert_eq!(hand_over(seconds_later(3)).await, HandoverResult::NotWithBot);
    assert_eq!(hand_over(seconds_later(1)).await, HandoverResult::BotResponded, "the chat is already waiting");
}

/// In each pass of the loop, the bot's answer starts later, after more reads, so that it meets the handover at another
/// point. Either the bot's message is rejected, or the bot keeps the chat.
#[tokio::test]
async fn concurrent_hand_over_and_bot_answer_have_one_winner() {
    for reads in 0..5 {
        let stores = stores().await;
        stores.open_chat_with_bot().await;
        let (chats, robo) = (&stores.chats, bot(&[]));
        let answer = async {
            for _ in 0..reads {
                chats.chat("acc", 1).await.unwrap();
            }
            let (bot, content, now) = (&robo, &Content::text("hello"), seconds_later(2));
            advance_header(
                chats,
                &BotMessage { bot, chat_id: 1, content, reply_to_seq: None, is_displayable: true, webhooks: &[], now },
            )
            .await
        };
        let (answered, handed_over) =
            tokio::join!(answer, hand_over_chat(chats, "acc", 1, seconds_later(1), without_webhooks(seconds_later(2))));
        let state = stores.chat_state_name().await;
        match handed_over.unwrap() {
            HandoverResult::HandedOver(_) => assert!(answered.is_err() && state == "waiting", "{answered:?} {state}"),
            HandoverResult::BotResponded => assert!(answered.is_ok() && state == "bot", "{answered:?} {state}"),
            HandoverResult::NotWithBot => panic!("{answered:?} {state}"),
        }
    }
}

fn chat_closed_by_agent() -> Content {
    let closed_by = Some(CloseReason::Agent);
    Content::BotNotification { notification: BotNotification::ChatClosed, text: None, closed_by, opens_at: None }
}

impl Stores {
    /// Runs the sweep once a minute for this many minutes. Returns what the runs did with the overdue deliveries of
    /// chat 1, except when they queued an entry that is not from the visitor.
    async fn run_sweeps(&self, minutes: u64) -> Vec<&'static str> {
        let mut results = Vec::new();
        for minute in 1..=minutes {
            for overdue in self.overdue_deliveries(1, seconds_later(minute * 60)).await {
                results.push(
                    match requeue_overdue_delivery(&self.chats, &self.directory, &overdue, seconds_later(minute * 60))
                        .await
                        .unwrap()
                    {
                        OverdueResult::Requeued(entry) if entry.from != Sender::Visitor => continue,
                        OverdueResult::Requeued(entry) => {
                            assert_eq!(
                                entry.delivery.unwrap().round,
                                1,
                                "a repeated task, which the queue deduplicates"
                            );
                            "queued"
                        }
                        OverdueResult::Failed { entry, handover: Some(_), .. } if entry.from == Sender::Visitor => {
                            "handed over"
                        }
                        OverdueResult::Failed { .. } => "failed",
                        OverdueResult::NotNeeded => "dropped",
                    },
                );
            }
        }
        results
    }

    /// Records that the first attempt to deliver the visitor's message failed. The attempt was made at `since`, when it
    /// was the message's turn.
    pub(super) async fn fail_first_attempt(&self, since: Timestamp) {
        let (entry, _) = self.chats.entry_and_chat("acc", 1, 1).await.unwrap().unwrap();
        let delivery = entry.delivery.clone().unwrap().restart_round_if_waited(since);
        let attempt =
            Attempt { at: since, status: Some(500), duration_ms: 7, error: Some("HTTP 500".into()), answer: None };
        let retry = DeliveryUpdate::RetryAfter(Duration::from_secs(3));
        assert!(self.chats.record_attempt(&entry, &delivery, &attempt, (&retry, &[])).await.unwrap());
    }

    async fn first_delivery(&self) -> Delivery {
        self.entry(1, 1).await.delivery.unwrap()
    }
}

#[tokio::test]
async fn queued_message_leaves_the_chat_with_the_bot() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    assert_eq!(stores.run_sweeps(2).await, ["queued", "queued"]);
    assert_eq!(stores.chat_state_name().await, "bot");
}

#[tokio::test]
async fn undelivered_visitor_message_hands_the_chat_over() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    assert_eq!(stores.run_sweeps(5).await, ["queued", "queued", "handed over"]);
    assert_eq!(
        (stores.chat_state_name().await, stores.first_delivery().await.state),
        ("waiting", DeliveryState::Failed)
    );
}

#[tokio::test]
async fn undelivered_agent_unavailable_hands_the_chat_over() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    stores.bot_invites(1, Invited::Nobody, seconds_later(1)).await.unwrap();
    stores.run_sweeps(2).await;
    assert_eq!(stores.chat_state_name().await, "bot", "the notice may still be queued");
    stores.run_sweeps(3).await;
    let notice = stores.entry(1, 2).await;
    assert_eq!((stores.chat_state_name().await, notice.delivery.unwrap().state), ("waiting", DeliveryState::Failed));
}

#[tokio::test]
async fn lost_retry_of_a_visitor_message_hands_the_chat_over() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    stores.fail_first_attempt(NOW).await;
    assert_eq!(stores.run_sweeps(2).await, ["handed over"]);
    assert_eq!(
        (stores.chat_state_name().await, stores.first_delivery().await.state),
        ("waiting", DeliveryState::Failed)
    );
}

#[tokio::test]
async fn bot_that_wrote_after_the_attempt_keeps_the_chat() {
    let table = [(seconds_later(1), "bot", DeliveryState::Delivered), (NOW, "waiting", DeliveryState::Failed)];
    for (written_at, chat_state, delivery_state) in table {
        let stores = stores().await;
        stores.open_chat_with_bot().await;
        stores.fail_first_attempt(NOW).await;
        stores.bot_sends_text("hello", written_at).await;
        stores.run_sweeps(2).await;
        assert_eq!(
            (stores.chat_state_name().await, stores.first_delivery().await.state),
            (chat_state, delivery_state),
            "{written_at:?}"
        );
    }
}

#[tokio::test]
async fn unattempted_message_before_a_bot_message_is_superseded() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    stores.bot_sends_text("hello", seconds_later(1)).await;
    assert_eq!(stores.run_sweeps(5).await, ["queued", "queued", "dropped"]);
    assert_eq!(
        (stores.chat_state_name().await, stores.first_delivery().await.state),
        ("bot", DeliveryState::Superseded)
    );
}

#[tokio::test]
async fn lost_bot_delivery_is_superseded_after_a_hand_over() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    stores.fail_first_attempt(NOW).await;
    assert!(matches!(
        hand_over_chat(&stores.chats, "acc", 1, NOW, without_webhooks(NOW)).await.unwrap(),
        HandoverResult::HandedOver(_)
    ));
    assert_eq!(stores.run_sweeps(2).await, ["dropped"]);
    assert_eq!(stores.first_delivery().await.state, DeliveryState::Superseded);
}

#[tokio::test]
async fn answer_window_starts_with_the_first_attempt() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    stores.fail_first_attempt(seconds_later(20)).await;
    assert_eq!(stores.first_delivery().await.round_started_at, seconds_later(20));
    assert!(
        stores.overdue_deliveries(1, seconds_later(29)).await.is_empty(),
        "it is due nine seconds after its first attempt"
    );
    assert_eq!(stores.overdue_deliveries(1, seconds_later(30)).await.len(), 1);
}
