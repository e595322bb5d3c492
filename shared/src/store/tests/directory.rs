//! Accounts, channels, agents, logins.

use super::*;

#[tokio::test]
async fn channels_agents_and_logins_come_back_as_they_were_stored() {
    let Stores { directory, .. } = stores().await;
    let (made, address) = directory.create_channel("acc", channel().settings, NOW).await.unwrap();
    assert!(opens(Some(&made), &address, NOW));
    assert_eq!(made.settings, channel().settings);
    assert_eq!(directory.channel_of("acc", &made.channel_id).await.unwrap(), made);
    assert!(matches!(directory.channel_of("other", &made.channel_id).await, Err(Error::NotFound)));
    assert_eq!(directory.channels("acc").await.unwrap(), [made]);
    assert_eq!(directory.channels("other").await.unwrap(), []);
    let bob = agent(1, "bob@example.com");
    directory.create_account("Acme", &bob, "hash").await.unwrap();
    assert_eq!(directory.agents("acc").await.unwrap(), std::slice::from_ref(&bob));
    assert_eq!(directory.login("bob@example.com").await.unwrap().unwrap().agent_id, 1);
    assert_eq!(directory.next_agent_id("acc").await.unwrap(), 2);
    directory.delete_login(&bob).await.unwrap();
    directory.delete_agent(&bob).await.unwrap();
    assert!(directory.login("bob@example.com").await.unwrap().is_none());
    assert_eq!(directory.agent("acc", 1).await.unwrap(), None);
}

#[tokio::test]
async fn an_e_mail_belongs_to_one_agent_of_the_whole_service() {
    let Stores { directory, .. } = stores().await;
    directory.create_account("Acme", &agent(1, "bob@example.com"), "hash").await.unwrap();
    let twin = Agent { account_id: "other".into(), ..agent(1, "bob@example.com") };
    let refused = directory.create_account("Other", &twin, "hash").await;
    assert!(matches!(refused, Err(Error::Conflict("the e-mail is taken"))), "{refused:?}");
    assert_eq!(directory.agent("other", 1).await.unwrap(), None, "all or nothing");
    let ann = agent(2, "ann@example.com");
    directory.create_agent(&ann, "hash").await.unwrap();
    let moved = Agent { email: "bob@example.com".into(), ..ann.clone() };
    assert!(matches!(directory.save_agent(&ann, &moved, None).await, Err(Error::Conflict(_))));
    let moved = Agent { email: "anna@example.com".into(), ..ann.clone() };
    directory.save_agent(&ann, &moved, None).await.unwrap();
    assert!(directory.login("ann@example.com").await.unwrap().is_none());
    assert_eq!(directory.login("anna@example.com").await.unwrap().unwrap().password_hash, "hash");
}

#[tokio::test]
async fn an_agent_who_is_gone_does_not_come_back_by_a_change() {
    let Stores { directory, .. } = stores().await;
    let ann = agent(2, "ann@example.com");
    directory.create_agent(&ann, "hash").await.unwrap();
    directory.delete_login(&ann).await.unwrap();
    directory.delete_agent(&ann).await.unwrap();
    let renamed = Agent { name: "Anna".into(), ..ann.clone() };
    let moved = Agent { email: "anna@example.com".into(), ..ann.clone() };
    for (after, password) in
        [(&renamed, None), (&renamed, Some("another password")), (&moved, Some("another password"))]
    {
        let refused = directory.save_agent(&ann, after, password).await;
        assert!(matches!(refused, Err(Error::NotFound)), "{refused:?}");
    }
    assert_eq!(directory.agent("acc", 2).await.unwrap(), None);
    assert!(directory.login("ann@example.com").await.unwrap().is_none());
    assert!(directory.login("anna@example.com").await.unwrap().is_none());
}

#[tokio::test]
async fn two_who_change_different_things_at_the_same_time_both_do() {
    let stores = stores().await;
    let directory = &stores.directory;
    let ann = agent(2, "ann@example.com");
    directory.create_agent(&ann, "hash").await.unwrap();
    let renamed = Agent { name: "Anna".into(), ..ann.clone() };
    let called = Agent { phone: Some("+31 20 123".into()), ..ann.clone() };
    directory.save_agent(&ann, &renamed, None).await.unwrap();
    directory.save_agent(&ann, &called, Some("another password")).await.unwrap();
    let both = Agent { name: "Anna".into(), ..called };
    assert_eq!(directory.agent("acc", 2).await.unwrap(), Some(both));

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
        after.rotate(crate::secret::hash(secret), NOW, at(10));
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
        rotated.rotate(crate::secret::hash(secret), at(n as u64), at(100));
    }
    for living in ["random", "b", "c", "d", "e"] {
        assert!(opens(Some(&rotated), living, at(99)), "{living}");
    }
    assert!(opens(Some(&rotated), "e", at(100)) && !opens(Some(&rotated), "d", at(100)));
}

#[test]
fn only_a_living_secret_opens_a_channel() {
    let mut rotated = channel();
    rotated.rotate(crate::secret::hash("newer"), NOW, at(10));
    assert!(opens(Some(&rotated), "newer", at(60)));
    assert!(opens(Some(&rotated), "random", at(9)));
    assert!(!opens(Some(&rotated), "random", at(10)));
    assert!(!opens(Some(&rotated), "wrong", NOW));
    assert!(!opens(None, "random", NOW));
}
