//! Accounts, agents and logins.

use futures_util::future::join;

use crate::store::tests::*;

const ADMIN: Authority = Authority::Admin(1);
const PASSWORD: Option<&str> = Some("another password");

/// A colleague of [`admin`].
fn ann() -> Agent {
    Agent { name: "Ann".into(), role: Role::Agent, ..agent(2, "ann@example.com") }
}

fn admin() -> Agent {
    agent(1, "bob@example.com")
}

fn with_role(agent: &Agent, role: Role) -> Agent {
    Agent { role, ..agent.clone() }
}

fn with_email(agent: &Agent, email: &str) -> Agent {
    Agent { email: email.into(), ..agent.clone() }
}

/// An account with an admin and Ann.
async fn account() -> Stores {
    let stores = stores().await;
    stores.directory.create_account("Acme", &admin(), "hash").await.unwrap();
    stores.directory.create_agent(&ann(), "hash", ADMIN).await.unwrap();
    stores
}

/// An account with the admin and an admin Ann.
async fn account_of_two_admins() -> (Stores, [Agent; 2]) {
    let stores = account().await;
    let second = with_role(&ann(), Role::Admin);
    stores.directory.save_agent(&ann(), &second, None, ADMIN).await.unwrap();
    (stores, [admin(), second])
}

#[tokio::test]
async fn agents_and_logins_are_read_as_they_were_stored() {
    let Stores { directory, .. } = account().await;
    assert!(directory.has_account("acc").await.unwrap() && !directory.has_account("other").await.unwrap());
    assert_eq!(directory.agents("acc").await.unwrap(), [admin(), ann()]);
    assert_eq!(directory.login("bob@example.com").await.unwrap().unwrap().agent_id, 1);
    assert_eq!(directory.next_agent_id("acc").await.unwrap(), 2);
    assert!(matches!(directory.next_agent_id("other").await, Err(Error::NotFound)));
    directory.begin_agent_deletion(&ann(), ADMIN).await.unwrap();
    assert!(directory.login("ann@example.com").await.unwrap().is_none());
    directory.delete_agent(&ann()).await.unwrap();
    assert_eq!(directory.agent("acc", 2).await.unwrap(), None);
}

#[tokio::test]
async fn of_two_admins_who_demote_each_other_one_succeeds() {
    let (Stores { directory, .. }, [bob, ann]) = account_of_two_admins().await;
    let demotion = async |by: &Agent, of: &Agent| {
        directory.save_agent(of, &with_role(of, Role::Agent), None, Authority::Admin(by.agent_id)).await
    };
    demotion(&bob, &ann).await.unwrap();
    let refused = demotion(&ann, &bob).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    assert_eq!(directory.agent("acc", 1).await.unwrap().unwrap().role, Role::Admin);
}

#[tokio::test]
async fn of_two_admins_who_delete_each_other_one_succeeds() {
    let (Stores { directory, .. }, [bob, ann]) = account_of_two_admins().await;
    directory.begin_agent_deletion(&ann, Authority::Admin(1)).await.unwrap();
    let by_ann = Authority::Admin(2);
    // Also while the deletion of Ann has only begun.
    let deletion = directory.begin_agent_deletion(&bob, by_ann).await;
    let demotion = directory.save_agent(&bob, &with_role(&bob, Role::Agent), None, by_ann).await;
    let accomplice = Agent { role: Role::Admin, ..agent(3, "eve@example.com") };
    let addition = directory.create_agent(&accomplice, "hash", by_ann).await;
    for refused in [deletion, demotion, addition] {
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    }
    assert_eq!(directory.login("bob@example.com").await.unwrap().unwrap().agent_id, 1);
}

#[tokio::test]
async fn a_deletion_that_was_cut_short_is_completed() {
    let (Stores { directory, .. }, [_, ann]) = account_of_two_admins().await;
    directory.begin_agent_deletion(&ann, ADMIN).await.unwrap();
    // Meanwhile somebody else gets the e-mail, and somebody tries to keep Ann.
    let successor = Agent { agent_id: 3, role: Role::Agent, ..ann.clone() };
    directory.create_agent(&successor, "hash", ADMIN).await.unwrap();
    let left = directory.agent_of("acc", 2).await.unwrap();
    assert_eq!(left.role, Role::Agent);
    for after in [with_role(&left, Role::Admin), with_email(&left, "anna@example.com")] {
        let refused = directory.save_agent(&left, &after, PASSWORD, ADMIN).await;
        assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    }
    directory.begin_agent_deletion(&left, ADMIN).await.unwrap();
    directory.delete_agent(&left).await.unwrap();
    assert_eq!(directory.login("ann@example.com").await.unwrap().unwrap().agent_id, 3);
    assert_eq!(directory.agents("acc").await.unwrap(), [admin(), successor]);
    let repeated = directory.begin_agent_deletion(&left, ADMIN).await;
    assert!(matches!(repeated, Err(Error::NotFound)), "{repeated:?}");
}

#[tokio::test]
async fn an_e_mail_belongs_to_one_agent_of_the_whole_service() {
    let Stores { directory, .. } = account().await;
    let twin = Agent { account_id: "other".into(), ..admin() };
    let refused = directory.create_account("Other", &twin, "hash").await;
    assert!(matches!(refused, Err(Error::Conflict("the e-mail is taken"))), "{refused:?}");
    assert_eq!(directory.agent("other", 1).await.unwrap(), None, "all or nothing");
    let refused = directory.save_agent(&ann(), &with_email(&ann(), "bob@example.com"), None, ADMIN).await;
    assert!(matches!(refused, Err(Error::Conflict("the e-mail is taken"))), "{refused:?}");
    directory.save_agent(&ann(), &with_email(&ann(), "anna@example.com"), None, ADMIN).await.unwrap();
    assert!(directory.login("ann@example.com").await.unwrap().is_none());
    assert_eq!(directory.login("anna@example.com").await.unwrap().unwrap().password_hash, "hash");
}

#[tokio::test]
async fn an_e_mail_change_that_lost_a_race_is_a_conflict() {
    let others: [(Agent, Option<&str>); 2] = [(with_email(&ann(), "a@example.com"), None), (ann(), PASSWORD)];
    let late: [(Agent, Option<&str>); 3] = [
        (with_email(&ann(), "b@example.com"), None),
        (with_email(&ann(), "b@example.com"), PASSWORD),
        (ann(), PASSWORD),
    ];
    for (first, first_password) in &others {
        for (second, second_password) in &late {
            let Stores { directory, .. } = account().await;
            let (one, two) = join(
                directory.save_agent(&ann(), first, *first_password, ADMIN),
                directory.save_agent(&ann(), second, *second_password, ADMIN),
            )
            .await;
            let is_conflict = |it: &Result<(), Error>| matches!(it, Err(Error::Conflict(_)));
            assert!((one.is_ok() || is_conflict(&one)) && (two.is_ok() || is_conflict(&two)), "{one:?} {two:?}");
            assert!(one.is_ok() || two.is_ok(), "{one:?} {two:?}");
            // The e-mail of the agent is the only login, and has the password of whoever was not refused.
            let agent = directory.agent_of("acc", 2).await.unwrap();
            let mut logins = Vec::new();
            for email in ["ann@example.com", "a@example.com", "b@example.com"] {
                logins.extend(directory.login(email).await.unwrap().map(|login| (email, login.password_hash)));
            }
            let [(email, hash)] = &logins[..] else { panic!("{}", logins.len()) };
            let sets_password = (one.is_ok() && first_password.is_some()) || (two.is_ok() && second_password.is_some());
            assert_eq!((*email, hash != "hash"), (agent.email.as_str(), sets_password));
        }
    }
}

#[tokio::test]
async fn a_deleted_agent_is_not_restored_by_a_change() {
    let Stores { directory, .. } = account().await;
    directory.begin_agent_deletion(&ann(), ADMIN).await.unwrap();
    directory.delete_agent(&ann()).await.unwrap();
    let renamed = Agent { name: "Anna".into(), ..ann() };
    let moved = with_email(&ann(), "anna@example.com");
    for (after, password) in [(&renamed, None), (&renamed, PASSWORD), (&ann(), PASSWORD), (&moved, PASSWORD)] {
        let refused = directory.save_agent(&ann(), after, password, ADMIN).await;
        assert!(matches!(refused, Err(Error::NotFound)), "{refused:?}");
    }
    assert_eq!(directory.agent("acc", 2).await.unwrap(), None);
    for email in ["ann@example.com", "anna@example.com"] {
        assert!(directory.login(email).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn lists_are_read_beyond_one_page() {
    let Stores { directory, connections, .. } = account().await;
    let large = "x".repeat(100_000);
    for id in 3..27 {
        let fat = Agent { phone: Some(large.clone()), ..agent(id, &format!("{id}@example.com")) };
        directory.create_agent(&fat, "hash", Authority::Operator).await.unwrap();
        let settings = ChannelSettings { name: large.clone(), ..channel().settings };
        directory.create_channel("acc", settings, NOW).await.unwrap();
    }
    for agent_id in 1..=1_001 {
        let presence = Presence { agent_id, status: Status::Online, seen_at: NOW };
        connections.set_presence("acc", presence).await.unwrap();
    }
    assert_eq!(directory.agents("acc").await.unwrap().len(), 26);
    assert_eq!(directory.channels("acc").await.unwrap().len(), 24);
    assert_eq!(connections.presences("acc").await.unwrap().len(), 1_001);
    let named = directory.agents_by_id("acc", &[26, 2, 99]).await.unwrap();
    assert_eq!(named.iter().map(|agent| agent.agent_id).collect::<Vec<_>>(), [26, 2], "99 does not exist");
}

#[tokio::test]
async fn concurrent_changes_to_other_fields_of_an_agent_are_preserved() {
    let Stores { directory, .. } = account().await;
    let renamed = Agent { name: "Anna".into(), ..ann() };
    let called = Agent { phone: Some("+31 20 123".into()), ..ann() };
    directory.save_agent(&ann(), &renamed, None, ADMIN).await.unwrap();
    directory.save_agent(&ann(), &called, PASSWORD, ADMIN).await.unwrap();
    let both = Agent { name: "Anna".into(), ..called };
    assert_eq!(directory.agent("acc", 2).await.unwrap(), Some(both));
}
