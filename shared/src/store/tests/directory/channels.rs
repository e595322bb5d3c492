//! Channels and their addresses.

use crate::store::tests::*;

#[tokio::test]
async fn a_channel_is_read_as_it_was_stored() {
    let Stores { directory, .. } = stores().await;
    let (made, address) = directory.create_channel("acc", channel().settings, NOW).await.unwrap();
    assert!(opens(Some(&made), &address, NOW));
    assert_eq!(made.settings, channel().settings);
    assert_eq!(directory.channel_of("acc", &made.channel_id).await.unwrap(), made);
    assert!(matches!(directory.channel_of("other", &made.channel_id).await, Err(Error::NotFound)));
    assert_eq!(directory.channels("acc").await.unwrap(), [made]);
    assert_eq!(directory.channels("other").await.unwrap(), []);
}

#[tokio::test]
async fn concurrent_changes_to_other_settings_are_preserved() {
    let Stores { directory, .. } = stores().await;
    let (seen, _) = directory.create_channel("acc", channel().settings, NOW).await.unwrap();
    let renamed = ChannelSettings { name: "Shop".into(), ..seen.settings.clone() };
    let moved = ChannelSettings { integrator_url: "https://new.example/hook".into(), ..seen.settings.clone() };
    directory.save_channel_settings(&seen, &renamed).await.unwrap();
    directory.save_channel_settings(&seen, &moved).await.unwrap();
    let both = ChannelSettings { name: "Shop".into(), ..moved };
    assert_eq!(directory.channel_of("acc", &seen.channel_id).await.unwrap().settings, both);
}

#[tokio::test]
async fn a_rotation_that_is_written_twice_is_done_and_another_ones_is_refused() {
    let Stores { directory, .. } = stores().await;
    let (before, _) = directory.create_channel("acc", channel().settings, NOW).await.unwrap();
    let rotated = |secret: &str| {
        let mut after = before.clone();
        after.rotate(crate::runtime::secret::hash(secret), NOW, at(10));
        after
    };
    let after = rotated("mine");
    for _ in 0..2 {
        directory.save_channel_secrets(&before, &after).await.unwrap();
    }
    let refused = directory.save_channel_secrets(&before, &rotated("another")).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
}

#[test]
fn addresses_that_are_promised_stay_valid_through_more_rotations() {
    let mut rotated = channel();
    for (n, secret) in ["b", "c", "d", "e"].into_iter().enumerate() {
        rotated.rotate(crate::runtime::secret::hash(secret), at(n as u64), at(100));
    }
    for living in ["random", "b", "c", "d", "e"] {
        assert!(opens(Some(&rotated), living, at(99)), "{living}");
    }
    assert!(opens(Some(&rotated), "e", at(100)) && !opens(Some(&rotated), "d", at(100)));
}

#[test]
fn only_a_living_secret_opens_a_channel() {
    let mut rotated = channel();
    rotated.rotate(crate::runtime::secret::hash("newer"), NOW, at(10));
    assert!(opens(Some(&rotated), "newer", at(60)));
    assert!(opens(Some(&rotated), "random", at(9)));
    assert!(!opens(Some(&rotated), "random", at(10)));
    assert!(!opens(Some(&rotated), "wrong", NOW));
    assert!(!opens(None, "random", NOW));
}
