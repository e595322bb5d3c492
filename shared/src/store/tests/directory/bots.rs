//! Tests of bots, their tokens, their channels and their answer limits.

use crate::domain::bots::bot_settings::BotSettings;
use crate::store::tests::*;

#[tokio::test]
async fn bot_is_found_by_id_and_by_token() {
    let Stores { directory, .. } = stores().await;
    let (channel, _) = directory.create_channel("acc", channel().settings, NOW).await.unwrap();
    directory.create_provider(&provider()).await.unwrap();
    let bot = bot(&[&channel.channel_id]);
    directory.create_bot(&bot).await.unwrap();
    assert_eq!(directory.bot_of_account("acc", "B").await.unwrap(), bot);
    assert!(matches!(directory.bot_of_account("other", "B").await, Err(Error::NotFound)));
    assert_eq!(*directory.bot_by_token("P", "secret token").await.unwrap().unwrap(), bot);
    assert!(directory.bot_by_token("P", "other token").await.unwrap().is_none());
    assert!(directory.bot_by_token("Q", "secret token").await.unwrap().is_none());
    assert_eq!(directory.account_bots("acc").await.unwrap(), std::slice::from_ref(&bot));
    assert_eq!(directory.channel(&channel.channel_id).await.unwrap().unwrap().bot_id.as_deref(), Some("B"));
}

#[tokio::test]
async fn channel_has_one_bot_and_token_one_connection() {
    let Stores { directory, .. } = stores().await;
    let (one, _) = directory.create_channel("acc", channel().settings, NOW).await.unwrap();
    let (foreign, _) = directory.create_channel("other", channel().settings, NOW).await.unwrap();
    directory.create_provider(&provider()).await.unwrap();
    let first = bot(&[&one.channel_id]);
    directory.create_bot(&first).await.unwrap();
    let second = |token: &str, channel_id: &str| Bot { bot_id: "B2".into(), token: token.into(), ..bot(&[channel_id]) };
    for refused in [second("t2", &one.channel_id), second("t2", &foreign.channel_id), second("t2", "nowhere")] {
        assert!(matches!(directory.create_bot(&refused).await, Err(Error::Conflict(_))));
    }
    let same_token = Bot { bot_id: "B2".into(), ..bot(&[]) };
    assert!(matches!(directory.create_bot(&same_token).await, Err(Error::Conflict(_))));
    directory.delete_channel(&directory.channel_of_account("acc", &one.channel_id).await.unwrap()).await.unwrap();
    assert_eq!(directory.bot_of_account("acc", "B").await.unwrap().channel_ids, Vec::<String>::new());
    directory.delete_bot(&first).await.unwrap();
    directory.create_bot(&same_token).await.unwrap();
}

#[tokio::test]
async fn bot_is_not_connected_to_a_deleted_provider() {
    let Stores { directory, .. } = stores().await;
    directory.create_provider(&provider()).await.unwrap();
    directory.delete_provider("P").await.unwrap();
    assert!(matches!(directory.create_bot(&bot(&[])).await, Err(Error::Conflict(_))));
}

#[tokio::test]
async fn deleted_provider_is_not_restored_by_a_change() {
    let Stores { directory, client, .. } = stores().await;
    let (provider, renamed) = (provider(), Provider { name: "New".into(), ..provider() });
    directory.create_provider(&provider).await.unwrap();
    directory.save_provider(&provider, &renamed).await.unwrap();
    assert_eq!(directory.provider("P").await.unwrap().unwrap(), renamed);
    let again = Provider { endpoint: "https://other.example/".into(), ..provider.clone() };
    assert!(matches!(directory.create_provider(&again).await, Err(Error::Conflict(_))));

    let text = |text: &str| AttributeValue::S(text.to_owned());
    let retire = client.update_item().table_name("directory").update_expression("SET retiring = :true");
    let retire = retire.key("pk", text("PROVIDER#P")).key("sk", text("PROVIDER"));
    retire.expression_attribute_values(":true", AttributeValue::Bool(true)).send().await.unwrap();
    assert!(matches!(directory.save_provider(&renamed, &provider).await, Err(Error::NotFound)), "during the deletion");
    assert!(matches!(directory.create_bot(&bot(&[])).await, Err(Error::Conflict(_))));
    directory.delete_provider("P").await.unwrap();
    assert!(matches!(directory.save_provider(&renamed, &provider).await, Err(Error::NotFound)), "after the deletion");
    assert_eq!(directory.provider("P").await.unwrap(), None);
    assert!(matches!(directory.delete_provider("P").await, Err(Error::NotFound)));
}

#[tokio::test]
async fn bot_stored_without_an_answer_limit_has_the_default() {
    let Stores { directory, client, .. } = stores().await;
    directory.create_provider(&provider()).await.unwrap();
    let with_limit =
        |answer_within| Bot { settings: BotSettings { answer_within, ..BotSettings::default() }, ..bot(&[]) };
    let unlimited = with_limit(None);
    directory.create_bot(&unlimited).await.unwrap();
    assert_eq!(directory.bot("B").await.unwrap().unwrap().settings.answer_within, None);
    let limited = with_limit(Some(Duration::from_secs(7)));
    directory.save_bot(&unlimited, &limited).await.unwrap();
    assert_eq!(directory.bot("B").await.unwrap().unwrap().settings.answer_within, limited.settings.answer_within);
    directory.save_bot(&limited, &unlimited).await.unwrap();
    assert_eq!(directory.bot("B").await.unwrap().unwrap().settings.answer_within, None);
    let text = |text: &str| AttributeValue::S(text.to_owned());
    for update in ["SET answer_within = :null", "REMOVE answer_within"] {
        let request = client.update_item().table_name("directory").update_expression(update);
        let request = request.key("pk", text("BOT#B")).key("sk", text("BOT"));
        let null = update.contains(":null").then(|| [(":null".to_owned(), AttributeValue::Null(true))].into());
        request.set_expression_attribute_values(null).send().await.unwrap();
        let found = directory.bot("B").await.unwrap().unwrap();
        assert_eq!(found.settings.answer_within, Some(Duration::from_secs(120)), "{update}");
    }
}
