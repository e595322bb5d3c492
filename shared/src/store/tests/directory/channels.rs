//! Tests of channels and of the secrets in their endpoint URLs.

use crate::store::directory::widget_item::WidgetItem;
use crate::store::tests::*;
use crate::store::{from_item, to_attribute};

#[tokio::test]
async fn stored_channel_is_read_back() {
    let Stores { directory, .. } = stores().await;
    let (created, address) = directory.create_channel("acc", channel().settings, NOW).await.unwrap();
    assert!(has_valid_secret(&created.secrets, &address.unwrap(), NOW));
    assert_eq!(created.settings, channel().settings);
    assert_eq!(directory.channel_of_account("acc", &created.channel_id).await.unwrap(), created);
    assert!(matches!(directory.channel_of_account("other", &created.channel_id).await, Err(Error::NotFound)));
    assert_eq!(directory.channels("acc").await.unwrap(), [created]);
    assert_eq!(directory.channels("other").await.unwrap(), []);
}

#[tokio::test]
async fn stored_widget_is_read_back_and_has_no_secret() {
    let Stores { directory, .. } = stores().await;
    let (created, secret) = directory.create_channel("acc", widget_settings(), NOW).await.unwrap();
    assert_eq!((secret, created.settings.kind()), (None, ChannelKind::Widget));
    assert!(!has_valid_secret(&created.secrets, "", NOW));
    let mut changed = WidgetSettings::with_title("Shop".into());
    changed.allowed_sites.0.push("shop.example".into());
    changed.contacts_form.required.push(ContactField::Email);
    let changed = ChannelSettings { specific: KindSettings::Widget(Box::new(changed)), ..created.settings.clone() };
    directory.save_channel_settings(&created, &changed).await.unwrap();
    let expected = Channel { settings: changed, ..created };
    assert_eq!(directory.channel_of_account("acc", &expected.channel_id).await.unwrap(), expected);
}

/// Widgets that were created before a setting existed have no attribute for it.
#[tokio::test]
async fn widget_without_the_newer_attributes_has_their_defaults() {
    let settings = WidgetSettings::with_title("Acme".into());
    let AttributeValue::M(mut item) = to_attribute(&WidgetItem::from(&settings)).unwrap() else { panic!() };
    for newer in ["theme", "launcher", "typing_preview", "reply_time", "moved_from", "contacts_form_custom_fields"] {
        assert!(item.remove(newer).is_some(), "{newer}");
    }
    let read: WidgetItem = from_item(item).unwrap();
    assert_eq!(WidgetSettings::try_from(read).unwrap(), settings);
}

#[tokio::test]
async fn concurrent_changes_to_other_settings_are_preserved() {
    let Stores { directory, .. } = stores().await;
    let (before, _) = directory.create_channel("acc", channel().settings, NOW).await.unwrap();
    let renamed = ChannelSettings { name: "Shop".into(), ..before.settings.clone() };
    let api = before.settings.api().unwrap().clone();
    let api = ApiSettings { integrator_url: Some("https://new.example/hook".into()), ..api };
    let with_new_url = ChannelSettings { specific: KindSettings::Api(api), ..before.settings.clone() };
    directory.save_channel_settings(&before, &renamed).await.unwrap();
    directory.save_channel_settings(&before, &with_new_url).await.unwrap();
    let both = ChannelSettings { name: "Shop".into(), ..with_new_url };
    assert_eq!(directory.channel_of_account("acc", &before.channel_id).await.unwrap().settings, both);
}

#[tokio::test]
async fn repeated_rotation_succeeds_and_a_concurrent_one_conflicts() {
    let Stores { directory, .. } = stores().await;
    let (before, _) = directory.create_channel("acc", channel().settings, NOW).await.unwrap();
    let rotated = |secret: &str| {
        let mut after = before.clone();
        after.rotate(crate::domain::sha256::digest(secret), NOW, seconds_later(10));
        after
    };
    let after = rotated("first");
    for _ in 0..2 {
        directory.save_channel_secrets(&before, &after).await.unwrap();
    }
    let refused = directory.save_channel_secrets(&before, &rotated("concurrent")).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
}

#[test]
fn channel_secrets_stay_valid_through_later_rotations() {
    let mut rotated = channel();
    for (n, secret) in ["b", "c", "d", "e"].into_iter().enumerate() {
        rotated.rotate(crate::domain::sha256::digest(secret), seconds_later(n as u64), seconds_later(100));
    }
    for valid in ["random", "b", "c", "d", "e"] {
        assert!(has_valid_secret(&rotated.secrets, valid, seconds_later(99)), "{valid}");
    }
    assert!(
        has_valid_secret(&rotated.secrets, "e", seconds_later(100))
            && !has_valid_secret(&rotated.secrets, "d", seconds_later(100))
    );
}

#[test]
fn only_a_valid_secret_opens_a_channel() {
    let mut rotated = channel();
    rotated.rotate(crate::domain::sha256::digest("newer"), NOW, seconds_later(10));
    assert!(has_valid_secret(&rotated.secrets, "newer", seconds_later(60)));
    assert!(has_valid_secret(&rotated.secrets, "random", seconds_later(9)));
    assert!(!has_valid_secret(&rotated.secrets, "random", seconds_later(10)));
    assert!(!has_valid_secret(&rotated.secrets, "wrong", NOW));
    assert!(!has_valid_secret(&[], "random", NOW));
}
