//! Bots and what they write.

use aws_sdk_dynamodb::types::AttributeValue;

use crate::store::chats::deliveries::Revived;
use crate::store::chats::transitions::HandOver;
use crate::store::tests::*;

fn bot(channel_ids: &[&str]) -> Bot {
    Bot {
        bot_id: "B".into(),
        account_id: "acc".into(),
        provider_id: "P".into(),
        token: "secret token".into(),
        name: "Robo".into(),
        channel_ids: channel_ids.iter().map(|id| (*id).to_owned()).collect(),
        answer_within: Some(Duration::from_secs(60)),
        signing_secret: "whsec_y".into(),
        created_at: NOW,
    }
}

impl Stores {
    /// A chat of a visitor of a channel with a bot; its message is due there.
    async fn with_bot(&self) -> u64 {
        let channel = Channel { bot_id: Some("B".into()), ..channel() };
        let (profile, content, key) = (Profile::default(), Content::text("hi"), None);
        let incoming = Incoming {
            channel: &channel,
            department: None,
            external_id: "v",
            has_numeric_id: false,
            invite: None,
            profile: &profile,
            content: &content,
            settings: &Settings::default(),
            key,
            now: NOW,
        };
        let stored = self.chats.visitor_message(&incoming).await.unwrap().unwrap().answered;
        assert!(stored.to_bot);
        stored.chat_id
    }

    async fn bot_writes(&self, bot: &Bot, content: Content, shows: Shows) -> Result<Entry, Error> {
        self.bot_writes_at(NOW, bot, content, shows).await
    }

    async fn bot_says(&self, text: &str, now: Timestamp) {
        self.bot_writes_at(now, &bot(&[]), Content::text(text), Shows::default()).await.unwrap();
    }

    async fn bot_writes_at(&self, now: Timestamp, bot: &Bot, content: Content, shows: Shows) -> Result<Entry, Error> {
        let head = self.chats.bot_advance(bot, 1, &content, now).await?;
        let stored = self.chats.bot_message(bot, &head, content, shows, None, now).await?;
        Ok(self.chats.entry("acc", stored.chat_id, stored.seq).await?.unwrap())
    }

    async fn state(&self) -> &'static str {
        self.chats.chat("acc", 1).await.unwrap().unwrap().state.name()
    }
}

#[tokio::test]
async fn a_bot_comes_back_by_its_id_and_by_its_token() {
    let Stores { directory, .. } = stores().await;
    let (made, _) = directory.create_channel("acc", channel().settings, NOW).await.unwrap();
    let bot = bot(&[&made.channel_id]);
    directory.create_bot(&bot).await.unwrap();
    assert_eq!(directory.bot_of("acc", "B").await.unwrap(), bot);
    assert!(matches!(directory.bot_of("other", "B").await, Err(Error::NotFound)));
    assert_eq!(*directory.bot_of_token("P", "secret token").await.unwrap().unwrap(), bot);
    assert!(directory.bot_of_token("P", "other token").await.unwrap().is_none());
    assert!(directory.bot_of_token("Q", "secret token").await.unwrap().is_none());
    assert_eq!(directory.account_bots("acc").await.unwrap(), std::slice::from_ref(&bot));
    assert_eq!(directory.channel(&made.channel_id).await.unwrap().unwrap().bot_id.as_deref(), Some("B"));
}

#[tokio::test]
async fn a_channel_has_one_bot_a_token_one_connection_and_an_account_its_own_channels() {
    let Stores { directory, .. } = stores().await;
    let (one, _) = directory.create_channel("acc", channel().settings, NOW).await.unwrap();
    let (foreign, _) = directory.create_channel("other", channel().settings, NOW).await.unwrap();
    let first = bot(&[&one.channel_id]);
    directory.create_bot(&first).await.unwrap();
    let second = |token: &str, channel_id: &str| Bot { bot_id: "B2".into(), token: token.into(), ..bot(&[channel_id]) };
    for refused in [second("t2", &one.channel_id), second("t2", &foreign.channel_id), second("t2", "nowhere")] {
        assert!(matches!(directory.create_bot(&refused).await, Err(Error::Conflict(_))));
    }
    let same_token = Bot { bot_id: "B2".into(), ..bot(&[]) };
    assert!(matches!(directory.create_bot(&same_token).await, Err(Error::Conflict(_))));
    directory.delete_channel(&directory.channel_of("acc", &one.channel_id).await.unwrap()).await.unwrap();
    assert_eq!(directory.bot_of("acc", "B").await.unwrap().channel_ids, Vec::<String>::new());
    directory.delete_bot(&first).await.unwrap();
    directory.create_bot(&same_token).await.unwrap();
}

#[tokio::test]
async fn a_bots_message_takes_the_way_to_the_visitor_that_the_channel_can_show() {
    let stores = stores().await;
    stores.with_bot().await;
    let buttons = vec![Button { text: "One".into(), id: Some(ButtonId::Number("1".into())) }];
    let rich = Rich { title: Some("Choose".into()), buttons, ..Rich::default() };
    let content = Content { kind: Kind::Buttons, text: None, rich: Some(Box::new(rich)), ..Content::text("") };
    let all = Shows { markdown: true, buttons: true };
    let sent = stores.bot_writes(&bot(&[]), content.clone(), all).await.unwrap();
    assert_eq!(sent.delivery.map(|delivery| delivery.target), Some(Target::Channel));
    let kept = stores.bot_writes(&bot(&[]), content.clone(), Shows::default()).await.unwrap();
    assert_eq!(kept.delivery, None, "not sent where it cannot be shown");
    let timeline = stores.chats.timeline("acc", 1, 1, 10).await.unwrap();
    assert_eq!((&timeline[0].content, &timeline[1].content), (&content, &content.clone().not_shown()));
    assert!(timeline[0].content.is_shown() && !timeline[1].content.is_shown());
    assert_eq!(timeline[0].from, Sender::Bot("Robo".into()));
}

#[tokio::test]
async fn another_bots_chat_does_not_exist_for_a_bot() {
    let stores = stores().await;
    stores.with_bot().await;
    let stranger = Bot { bot_id: "X".into(), ..bot(&[]) };
    let refused = stores.bot_writes(&stranger, Content::text("hi"), Shows::default()).await;
    assert!(matches!(refused, Err(Error::NotFound)), "{refused:?}");
    let elsewhere = Bot { account_id: "other".into(), ..bot(&[]) };
    let refused = stores.bot_writes(&elsewhere, Content::text("hi"), Shows::default()).await;
    assert!(matches!(refused, Err(Error::NotFound)), "{refused:?}");
}

#[tokio::test]
async fn an_invitation_hands_over_when_an_agent_is_online_and_tells_the_bot_when_none_is() {
    let stores = stores().await;
    stores.with_bot().await;
    let nobody = stores.chats.invite_agent("acc", 1, false, NOW).await.unwrap();
    let notice = nobody.notifications.into_iter().next().unwrap();
    assert_eq!(notice.content.kind, Kind::BotNotice(BotNotice::AgentUnavailable));
    assert_eq!((notice.delivery.unwrap().target, stores.state().await), (Target::Bot, "bot"));
    let handed = stores.chats.invite_agent("acc", 1, true, NOW).await.unwrap();
    assert!(handed.notifications.is_empty());
    assert_eq!(stores.state().await, "waiting");
    assert!(matches!(stores.chats.invite_agent("acc", 1, true, NOW).await, Err(Error::Forbidden(_))));
    let late = stores.bot_writes(&bot(&[]), Content::text("late"), Shows::default()).await;
    assert!(matches!(late, Err(Error::Forbidden(_))), "{late:?}");
}

#[tokio::test]
async fn a_bot_is_told_that_an_agent_joined_and_that_the_chat_was_closed() {
    let stores = stores().await;
    stores.with_bot().await;
    let joined = stores.accept(1, &bob(), &[], NOW).await.unwrap();
    assert_eq!(joined.notifications[0].content.kind, Kind::BotNotice(BotNotice::AgentJoined));
    assert!(stores.accept(1, &bob(), &[], NOW).await.unwrap().notifications.is_empty(), "told once");
    let closed = stores.close(1, &bob(), &[], NOW).await.unwrap();
    assert_eq!(closed.notifications[0].content.kind, Kind::BotNotice(BotNotice::ChatClosed));
    let kinds: Vec<_> = stores.chats.timeline("acc", 1, 1, 10).await.unwrap().iter().map(|e| e.content.kind).collect();
    assert_eq!(kinds, [Kind::BotNotice(BotNotice::AgentJoined), Kind::BotNotice(BotNotice::ChatClosed)]);
    assert!(matches!(
        stores.bot_writes(&bot(&[]), Content::text("late"), Shows::default()).await,
        Err(Error::Forbidden(_))
    ));
}

#[tokio::test]
async fn a_bot_that_fails_loses_the_chat_unless_it_reacted_in_time() {
    let stores = stores().await;
    stores.with_bot().await;
    stores.bot_says("hello", at(2)).await;
    let failed = async |since| stores.chats.bot_failed("acc", 1, since, at(3)).await.unwrap();
    assert_eq!(failed(at(1)).await, HandOver::Answered);
    assert_eq!(failed(at(2)).await, HandOver::Done);
    assert_eq!(stores.state().await, "waiting");
    assert_eq!(failed(at(3)).await, HandOver::NotWithBot);
    assert_eq!(failed(at(1)).await, HandOver::Answered, "also when it gave the chat away itself");
}

/// A bot's message at any moment of a hand-over: the message is refused, or the bot keeps the chat.
#[tokio::test]
async fn hand_over_never_overtakes_an_answer_of_the_bot() {
    for reads in 0..5 {
        let stores = stores().await;
        stores.with_bot().await;
        let (chats, robo) = (&stores.chats, bot(&[]));
        let answer = async {
            for _ in 0..reads {
                chats.chat("acc", 1).await.unwrap();
            }
            chats.bot_advance(&robo, 1, &Content::text("hello"), at(2)).await
        };
        let (answered, handed_over) = tokio::join!(answer, chats.bot_failed("acc", 1, at(1), at(2)));
        let state = stores.state().await;
        match handed_over.unwrap() {
            HandOver::Done => assert!(answered.is_err() && state == "waiting", "{answered:?} {state}"),
            HandOver::Answered => assert!(answered.is_ok() && state == "bot", "{answered:?} {state}"),
            HandOver::NotWithBot => panic!("{answered:?} {state}"),
        }
    }
}

#[tokio::test]
async fn bot_stored_without_a_time_limit_has_the_default() {
    let Stores { directory, client, .. } = stores().await;
    let unlimited = Bot { answer_within: None, ..bot(&[]) };
    directory.create_bot(&unlimited).await.unwrap();
    assert_eq!(directory.bot("B").await.unwrap().unwrap().answer_within, None);
    let limited = Bot { answer_within: Some(Duration::from_secs(7)), ..unlimited.clone() };
    directory.save_bot(&unlimited, &limited).await.unwrap();
    assert_eq!(directory.bot("B").await.unwrap().unwrap().answer_within, limited.answer_within);
    directory.save_bot(&limited, &unlimited).await.unwrap();
    assert_eq!(directory.bot("B").await.unwrap().unwrap().answer_within, None);
    let text = |text: &str| AttributeValue::S(text.to_owned());
    for update in ["SET answer_within = :null", "REMOVE answer_within"] {
        let request = client.update_item().table_name("directory").update_expression(update);
        let request = request.key("pk", text("BOT#B")).key("sk", text("BOT"));
        let null = update.contains(":null").then(|| [(":null".to_owned(), AttributeValue::Null(true))].into());
        request.set_expression_attribute_values(null).send().await.unwrap();
        let found = directory.bot("B").await.unwrap().unwrap();
        assert_eq!(found.answer_within, Some(Duration::from_secs(120)), "{update}");
    }
}

/// The runs of a sweep that comes every minute, and what each made of a visitor's message to a bot: whether it is to be
/// queued or given up, and whether the chat was handed over.
impl Stores {
    async fn swept(&self, minutes: u64) -> Vec<&'static str> {
        let mut ends = Vec::new();
        for minute in 1..=minutes {
            for overdue in self.overdue(1, at(minute * 60)).await {
                ends.push(match self.chats.revive(&overdue, at(minute * 60)).await.unwrap() {
                    Revived::Begun(entry) if entry.from != Sender::Visitor => continue,
                    Revived::Begun(entry) => {
                        assert_eq!(entry.delivery.unwrap().round, 1, "the same task, which its queue knows");
                        "queued"
                    }
                    Revived::Failed(entry, true) if entry.from == Sender::Visitor => "handed over",
                    Revived::Failed(..) => "failed",
                    Revived::Not => "dropped",
                });
            }
        }
        ends
    }

    async fn first_try_fails(&self, since: Timestamp) {
        let (entry, _) = self.chats.entry_and_chat("acc", 1, 1).await.unwrap().unwrap();
        let delivery = entry.delivery.clone().unwrap().in_turn(since);
        let attempt = Attempt { at: since, status: Some(500), ms: 7, error: Some("HTTP 500".into()), answer: None };
        let again = DeliveryUpdate::Again(Duration::from_secs(3));
        assert!(self.chats.record_attempt(&entry, &delivery, &attempt, &again).await.unwrap());
    }

    async fn first_delivery(&self) -> Delivery {
        self.chats.entry("acc", 1, 1).await.unwrap().unwrap().delivery.unwrap()
    }
}

#[tokio::test]
async fn a_visitors_message_that_waits_its_turn_is_no_reason_to_take_the_chat_from_the_bot() {
    let stores = stores().await;
    stores.with_bot().await;
    assert_eq!(stores.swept(2).await, ["queued", "queued"]);
    assert_eq!(stores.state().await, "bot");
}

#[tokio::test]
async fn a_visitors_message_that_never_came_to_the_bot_is_given_up_and_the_chat_with_it() {
    let stores = stores().await;
    stores.with_bot().await;
    assert_eq!(stores.swept(5).await, ["queued", "queued", "handed over"], "told once");
    assert_eq!((stores.state().await, stores.first_delivery().await.state), ("waiting", DeliveryState::Failed));
}

#[tokio::test]
async fn a_bot_that_never_heard_that_no_agent_is_there_loses_the_chat() {
    let stores = stores().await;
    stores.with_bot().await;
    stores.chats.invite_agent("acc", 1, false, at(1)).await.unwrap();
    stores.swept(2).await;
    assert_eq!(stores.state().await, "bot", "it may wait its turn");
    stores.swept(3).await;
    let notice = stores.chats.entry("acc", 1, 2).await.unwrap().unwrap();
    assert_eq!((stores.state().await, notice.delivery.unwrap().state), ("waiting", DeliveryState::Failed));
}

#[tokio::test]
async fn a_tried_message_whose_delivery_died_is_given_up_and_the_chat_with_it() {
    let stores = stores().await;
    stores.with_bot().await;
    stores.first_try_fails(NOW).await;
    assert_eq!(stores.swept(2).await, ["handed over"]);
    assert_eq!((stores.state().await, stores.first_delivery().await.state), ("waiting", DeliveryState::Failed));
}

#[tokio::test]
async fn a_bot_that_has_written_since_keeps_the_chat_when_a_delivery_died() {
    let table = [(at(1), "bot", DeliveryState::Delivered), (NOW, "waiting", DeliveryState::Failed)];
    for (written_at, chat_state, delivery_state) in table {
        let stores = stores().await;
        stores.with_bot().await;
        stores.first_try_fails(NOW).await;
        stores.bot_says("hello", written_at).await;
        stores.swept(2).await;
        assert_eq!(
            (stores.state().await, stores.first_delivery().await.state),
            (chat_state, delivery_state),
            "{written_at:?}"
        );
    }
}

#[tokio::test]
async fn an_untried_message_that_the_bot_wrote_after_is_dropped() {
    let stores = stores().await;
    stores.with_bot().await;
    stores.bot_says("hello", at(1)).await;
    assert_eq!(stores.swept(5).await, ["queued", "queued", "dropped"]);
    assert_eq!((stores.state().await, stores.first_delivery().await.state), ("bot", DeliveryState::Superseded));
}

#[tokio::test]
async fn a_message_of_a_chat_that_the_agents_have_is_dropped_when_its_delivery_died() {
    let stores = stores().await;
    stores.with_bot().await;
    stores.first_try_fails(NOW).await;
    assert_eq!(stores.chats.bot_failed("acc", 1, NOW, NOW).await.unwrap(), HandOver::Done);
    assert_eq!(stores.swept(2).await, ["dropped"]);
    assert_eq!(stores.first_delivery().await.state, DeliveryState::Superseded);
}

#[tokio::test]
async fn a_window_that_began_with_its_first_try_ends_later_for_the_sweep_too() {
    let stores = stores().await;
    stores.with_bot().await;
    stores.first_try_fails(at(20)).await;
    assert_eq!(stores.first_delivery().await.since, at(20));
    assert!(stores.overdue(1, at(29)).await.is_empty(), "it is due nine seconds after");
    assert_eq!(stores.overdue(1, at(30)).await.len(), 1);
}

#[tokio::test]
async fn a_visitor_is_found_by_their_number_and_learns_from_the_bot() {
    let stores = stores().await;
    stores.with_bot().await;
    let mut visitor = stores.chats.visitor_by_number("acc", 1, NOW).await.unwrap().unwrap();
    assert_eq!(visitor.external_id, "v");
    assert!(stores.chats.visitor_by_number("other", 1, NOW).await.unwrap().is_none());
    visitor.learn(&named("Ann"), Source::Bot);
    stores.chats.save_visitor(&visitor).await.unwrap();
    assert_eq!(stores.chats.visitor("CH", "v").await.unwrap().unwrap().profile, named("Ann"));
    assert_eq!(stores.chats.chat("acc", 1).await.unwrap().unwrap().visitor_name, "Ann");
}
