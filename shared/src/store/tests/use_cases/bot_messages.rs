use crate::store::tests::*;

#[tokio::test]
async fn bot_message_is_sent_if_the_channel_can_show_it() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    let buttons = vec![Button { text: "One".into(), id: Some(ButtonId::Number("1".into())) }];
    let format = RichFormat::Buttons { title: Some("Choose".into()), buttons };
    let content = Content::Rich(RichMessage { format, text: None, force_reply: false, not_displayable: false });
    let all = RichSupport { markdown: true, buttons: true };
    let sent = stores.bot_sends(&bot(&[]), content.clone(), all).await.unwrap();
    assert_eq!(sent.delivery.map(|delivery| delivery.target), Some(Target::Channel));
    let not_sent = stores.bot_sends(&bot(&[]), content.clone(), RichSupport::default()).await.unwrap();
    assert_eq!(not_sent.delivery, None, "the channel cannot show it");
    let timeline = stores.chats.timeline("acc", 1, 1, 10).await.unwrap();
    assert_eq!((&timeline[0].content, &timeline[1].content), (&content, &content.clone().into_not_displayable()));
    assert!(timeline[0].content.is_displayable() && !timeline[1].content.is_displayable());
    assert_eq!(timeline[0].from, Sender::Bot("Robo".into()));
}

#[tokio::test]
async fn bot_cannot_write_in_a_chat_of_another_bot() {
    let stores = stores().await;
    stores.open_chat_with_bot().await;
    let other_bot = Bot { bot_id: "X".into(), ..bot(&[]) };
    let refused = stores.bot_sends(&other_bot, Content::text("hi"), RichSupport::default()).await;
    assert!(matches!(refused, Err(Error::NotFound)), "{refused:?}");
    let other_account = Bot { account_id: "other".into(), ..bot(&[]) };
    let refused = stores.bot_sends(&other_account, Content::text("hi"), RichSupport::default()).await;
    assert!(matches!(refused, Err(Error::NotFound)), "{refused:?}");
}
