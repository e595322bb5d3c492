use std::sync::LazyLock;

use futures_util::future::join;

use crate::store::tests::*;

const ADMIN: Authority = Authority::Admin(1);

fn new_password() -> Option<&'static NewPassword> {
    static PASSWORD: LazyLock<NewPassword> =
        LazyLock::new(|| NewPassword { text: "another password".into(), must_change: false });
    Some(&PASSWORD)
}

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

/// Creates an account with an admin (agent 1) and the agent Ann (agent 2).
async fn account() -> Stores {
    let stores = stores().await;
    stores.directory.create_account("Acme", &admin(), &test_password_hash()).await.unwrap();
    stores.directory.create_agent(&ann(), &test_password_hash(), ADMIN).await.unwrap();
    stores
}

/// Creates the same account as `account`, but with Ann as a second admin.
async fn account_of_two_admins() -> (Stores, [Agent; 2]) {
    let stores = account().await;
    let second = with_role(&ann(), Role::Admin);
    stores.directory.save_agent(&ann(), &second, None, ADMIN).await.unwrap();
    (stores, [admin(), second])
}

#[tokio::test]
async fn stored_agents_and_logins_are_read_back() {
    let Stores { directory, .. } = account().await;
    assert!(directory.has_account("acc").await.unwrap() && !directory.has_account("other").await.unwrap());
    assert_eq!(directory.agents("acc").await.unwrap(), [admin(), ann()]);
    assert_eq!(directory.login("bob@example.com").await.unwrap().unwrap().agent_id, 1);
    assert_eq!(directory.next_agent_id("acc").await.unwrap(), 2);
    assert!(matches!(directory.next_agent_id("other").await, Err(Error::NotFound)));
    directory.start_agent_deletion(&ann(), ADMIN).await.unwrap();
    assert!(directory.login("ann@example.com").await.unwrap().is_none());
    directory.delete_agent(&ann()).await.unwrap();
    assert_eq!(directory.agent("acc", 2).await.unwrap(), None);
}

#[tokio::test]
async fn two_admins_cannot_demote_each_other() {
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
async fn two_admins_cannot_delete_each_other() {
    let (Stores { directory, .. }, [bob, ann]) = account_of_two_admins().await;
    directory.start_agent_deletion(&ann, Authority::Admin(1)).await.unwrap();
    let by_ann = Authority::Admin(2);
    let deletion = directory.start_agent_deletion(&bob, by_ann).await;
    let demotion = directory.save_agent(&bob, &with_role(&bob, Role::Agent), None, by_ann).await;
    let new_admin = Agent { role: Role::Admin, ..agent(3, "eve@example.com") };
    let addition = directory.create_agent(&new_admin, &test_password_hash(), by_ann).await;
    for refused in [deletion, demotion, addition] {
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    }
    assert_eq!(directory.login("bob@example.com").await.unwrap().unwrap().agent_id, 1);
}

#[tokio::test]
async fn interrupted_agent_deletion_is_completed() {
    let (Stores { directory, .. }, [_, ann]) = account_of_two_admins().await;
    directory.start_agent_deletion(&ann, ADMIN).await.unwrap();
    // Before the deletion is completed, a new agent gets Ann's e-mail address, and updates try to restore Ann.
    let successor = Agent { agent_id: 3, role: Role::Agent, ..ann.clone() };
    directory.create_agent(&successor, &test_password_hash(), ADMIN).await.unwrap();
    let half_deleted = directory.agent_of_account("acc", 2).await.unwrap();
    assert_eq!(half_deleted.role, Role::Agent);
    for after in [with_role(&half_deleted, Role::Admin), with_email(&half_deleted, "anna@example.com")] {
        let refused = directory.save_agent(&half_deleted, &after, new_password(), ADMIN).await;
        assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    }
    directory.start_agent_deletion(&half_deleted, ADMIN).await.unwrap();
    directory.delete_agent(&half_deleted).await.unwrap();
    assert_eq!(directory.login("ann@example.com").await.unwrap().unwrap().agent_id, 3);
    assert_eq!(directory.agents("acc").await.unwrap(), [admin(), successor]);
    let repeated = directory.start_agent_deletion(&half_deleted, ADMIN).await;
    assert!(matches!(repeated, Err(Error::NotFound)), "{repeated:?}");
}

#[tokio::test]
async fn email_is_unique_across_all_accounts() {
    let Stores { directory, .. } = account().await;
    let twin = Agent { account_id: "other".into(), ..admin() };
    let refused = directory.create_account("Other", &twin, &test_password_hash()).await;
    assert!(matches!(refused, Err(Error::Conflict("the e-mail is taken"))), "{refused:?}");
    assert_eq!(directory.agent("other", 1).await.unwrap(), None, "the transaction stored nothing");
    let refused = directory.save_agent(&ann(), &with_email(&ann(), "bob@example.com"), None, ADMIN).await;
    assert!(matches!(refused, Err(Error::Conflict("the e-mail is taken"))), "{refused:?}");
    directory.save_agent(&ann(), &with_email(&ann(), "anna@example.com"), None, ADMIN).await.unwrap();
    assert!(directory.login("ann@example.com").await.unwrap().is_none());
    assert_eq!(directory.login("anna@example.com").await.unwrap().unwrap().password_hash, "hash");
}

#[tokio::test]
async fn losing_a_concurrent_email_change_is_a_conflict() {
    let first_updates: [(Agent, Option<&NewPassword>); 2] =
        [(with_email(&ann(), "a@example.com"), None), (ann(), new_password())];
    let second_updates: [(Agent, Option<&NewPassword>); 3] = [
        (with_email(&ann(), "b@example.com"), None),
        (with_email(&ann(), "b@example.com"), new_password()),
        (ann(), new_password()),
    ];
    for (first, first_password) in &first_updates {
        for (second, second_password) in &second_updates {
            let Stores { directory, .. } = account().await;
            let (first_result, second_result) = join(
                directory.save_agent(&ann(), first, *first_password, ADMIN),
                directory.save_agent(&ann(), second, *second_password, ADMIN),
            )
            .await;
            let is_conflict = |result: &Result<(), Error>| matches!(result, Err(Error::Conflict(_)));
            assert!(
                (first_result.is_ok() || is_conflict(&first_result))
                    && (second_result.is_ok() || is_conflict(&second_result)),
                "{first_result:?} {second_result:?}"
            );
            assert!(first_result.is_ok() || second_result.is_ok(), "{first_result:?} {second_result:?}");
            // Login works only with the stored e-mail address. The password is new only if an update with a password
            // has succeeded.
            let agent = directory.agent_of_account("acc", 2).await.unwrap();
            let mut logins = Vec::new();
            for email in ["ann@example.com", "a@example.com", "b@example.com"] {
                logins.extend(directory.login(email).await.unwrap().map(|login| (email, login.password_hash)));
            }
            let [(email, hash)] = &logins[..] else { panic!("{}", logins.len()) };
            let sets_password = (first_result.is_ok() && first_password.is_some())
                || (second_result.is_ok() && second_password.is_some());
            assert_eq!((*email, hash != "hash"), (agent.email.as_str(), sets_password));
        }
    }
}

#[tokio::test]
async fn updating_a_deleted_agent_does_not_restore_it() {
    let Stores { directory, .. } = account().await;
    directory.start_agent_deletion(&ann(), ADMIN).await.unwrap();
    directory.delete_agent(&ann()).await.unwrap();
    let renamed = Agent { name: "Anna".into(), ..ann() };
    let with_new_email = with_email(&ann(), "anna@example.com");
    for (after, password) in
        [(&renamed, None), (&renamed, new_password()), (&ann(), new_password()), (&with_new_email, new_password())]
    {
        let refused = directory.save_agent(&ann(), after, password, ADMIN).await;
        assert!(matches!(refused, Err(Error::NotFound)), "{refused:?}");
    }
    assert_eq!(directory.agent("acc", 2).await.unwrap(), None);
    for email in ["ann@example.com", "anna@example.com"] {
        assert!(directory.login(email).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn lists_longer_than_one_query_page_are_read_completely() {
    let Stores { directory, connections, .. } = account().await;
    let large = "x".repeat(100_000);
    for id in 3..27 {
        let large_agent = Agent { phone: Some(large.clone()), ..agent(id, &format!("{id}@example.com")) };
        directory.create_agent(&large_agent, &test_password_hash(), Authority::Operator).await.unwrap();
        let settings = ChannelSettings { name: large.clone(), ..channel().settings };
        directory.create_channel("acc", settings, NOW).await.unwrap();
    }
    for agent_id in 1..=1_001 {
        connections.set_presence("acc", agent_id, AgentStatus::Online, NOW).await.unwrap();
    }
    assert_eq!(directory.agents("acc").await.unwrap().len(), 26);
    assert_eq!(directory.channels("acc").await.unwrap().len(), 24);
    assert_eq!(connections.presences("acc").await.unwrap().len(), 1_001);
    let found = directory.agents_by_id("acc", &[26, 2, 99]).await.unwrap();
    assert_eq!(found.iter().map(|agent| agent.agent_id).collect::<Vec<_>>(), [26, 2], "99 does not exist");
}

#[tokio::test]
async fn concurrent_changes_to_other_agent_fields_are_preserved() {
    let Stores { directory, .. } = account().await;
    let renamed = Agent { name: "Anna".into(), ..ann() };
    let with_phone = Agent { phone: Some("+31 20 123".into()), ..ann() };
    directory.save_agent(&ann(), &renamed, None, ADMIN).await.unwrap();
    directory.save_agent(&ann(), &with_phone, new_password(), ADMIN).await.unwrap();
    let both = Agent { name: "Anna".into(), ..with_phone };
    assert_eq!(directory.agent("acc", 2).await.unwrap(), Some(both));
}

#[tokio::test]
async fn deleted_agents_are_found_by_their_ids() {
    let Stores { directory, .. } = stores().await;
    let [bob, eve, ada] =
        [(1, "b@x.example"), (2, "e@x.example"), (3, "a@x.example")].map(|(id, email)| agent(id, email));
    directory.create_account("Acme", &bob, &test_password_hash()).await.unwrap();
    for other in [&eve, &ada] {
        directory.create_agent(other, &test_password_hash(), Authority::Operator).await.unwrap();
    }
    directory.delete_agent(&eve).await.unwrap();
    directory.delete_agent(&eve).await.unwrap();
    let found = directory.agents_by_id("acc", &[3, 2, 9, 1]).await.unwrap();
    assert_eq!(found, [ada.clone(), Agent { photo: None, ..eve }, bob.clone()]);
    assert_eq!(directory.agents_by_id("acc", &[]).await.unwrap(), []);
    assert_eq!(directory.agents("acc").await.unwrap(), [bob, ada]);
    assert_eq!(directory.agent("acc", 2).await.unwrap(), None);
    assert!(!directory.roster("acc").await.unwrap().has_agent(2));
}

#[tokio::test]
async fn replaced_one_time_password_need_not_be_changed_again() {
    let Stores { directory, .. } = account().await;
    let first = NewPassword { text: "one-time password".into(), must_change: true };
    directory.save_agent(&ann(), &ann(), Some(&first), ADMIN).await.unwrap();
    // A new e-mail address keeps the password, and so it must still be changed.
    let ann = with_email(&ann(), "anna@example.com");
    directory.save_agent(&self::ann(), &ann, None, ADMIN).await.unwrap();
    let login = directory.login("anna@example.com").await.unwrap().unwrap();
    assert!(login.must_change_password);
    directory.change_own_password(&ann, &login, &test_password_hash()).await.unwrap();
    assert!(!directory.login("anna@example.com").await.unwrap().unwrap().must_change_password);
    let late = directory.change_own_password(&ann, &login, &test_password_hash()).await;
    assert!(matches!(late, Err(Error::Conflict(_))), "the password has been replaced in the meantime: {late:?}");
}
