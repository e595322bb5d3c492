//! The settings of an account.

use crate::domain::link_filter::SafeUrls;
use crate::domain::settings::{Callback, Limits};
use crate::domain::webhook::{SigningSecret, Webhook, WebhookEvent};
use crate::store::tests::*;

fn webhook(id: &str) -> Webhook {
    Webhook {
        webhook_id: id.into(),
        url: "https://crm.example".into(),
        events: vec![WebhookEvent::ChatAccepted],
        secrets: vec![SigningSecret { secret: "whsec_x".into(), valid_until: Some(NOW) }],
    }
}

#[tokio::test]
async fn settings_come_back_with_every_field_and_belong_to_one_account() {
    let Stores { directory, .. } = stores().await;
    assert_eq!(directory.settings("acc").await.unwrap(), Settings::default());
    let wanted = Settings {
        version: 1,
        webhooks: vec![webhook("w")],
        safe_urls: SafeUrls(vec!["a.example".into()]),
        callback: Callback { enabled: true, days: vec![1, 7], hours: (60, 120), utc_offset: -90 },
        limits: Limits { visitor_messages: 3, bot_requests: 4, channel_chats: 5 },
        idle_close: None,
        retention_days: Some(30),
    };
    let edit = |settings: &mut Settings| {
        *settings = Settings { version: settings.version, ..wanted.clone() };
        Ok(())
    };
    directory.edit_settings("acc", edit).await.unwrap();
    assert_eq!(directory.settings("acc").await.unwrap(), wanted);
    assert_eq!(directory.settings("other").await.unwrap(), Settings::default());
    let rules = serde_json::json!([{ "name": "one" }]);
    directory.save_rules("acc", &rules).await.unwrap();
    assert_eq!(directory.rules("acc").await.unwrap(), rules);
    assert_eq!(directory.rules("other").await.unwrap(), serde_json::json!([]));
}

#[tokio::test]
async fn changes_that_race_are_all_made() {
    let Stores { directory, .. } = stores().await;
    let add = async |id: String| {
        let edit = |settings: &mut Settings| {
            settings.webhooks.push(webhook(&id));
            Ok(settings.webhooks.len())
        };
        directory.edit_settings("acc", edit).await.unwrap().1
    };
    let mut lengths = join_all((0..4).map(|n| add(n.to_string()))).await;
    lengths.sort_unstable();
    assert_eq!(lengths, [1, 2, 3, 4]);
    assert_eq!(directory.settings("acc").await.unwrap().version, 4);
}
