//! Tests of departments and the audiences of channels.

use crate::domain::accounts::department::Audience;
use crate::store::tests::*;

fn is_error_of_field(error: &Error, field: &str) -> bool {
    error.invalid_field() == Some(field)
}

#[tokio::test]
async fn stored_departments_are_read_back_and_numbered() {
    let stores = account_with_four_agents().await;
    let directory = &stores.directory;
    assert_eq!(stores.create_department("Sales", &[2, 3]).await, sales());
    assert_eq!(stores.create_department("Support", &[]).await.department_id, 2);
    assert_eq!(directory.next_agent_id("acc").await.unwrap(), 5, "agents have a separate counter");
    assert_eq!(directory.department("acc", 1).await.unwrap(), Some(sales()));
    assert_eq!(directory.department("other", 1).await.unwrap(), None);
    let roster = directory.roster("acc").await.unwrap();
    assert!((1..=4).all(|agent_id| roster.has_agent(agent_id)) && !roster.has_agent(5));
    assert_eq!(roster.departments().iter().map(|found| &*found.name).collect::<Vec<_>>(), ["Sales", "Support"]);

    let changed = Department { name: "Sellers".into(), agent_ids: vec![4], ..sales() };
    let (renamed, with_agent_4) =
        (Department { agent_ids: vec![2, 3], ..changed.clone() }, Department { agent_ids: vec![4], ..sales() });
    directory.save_department("acc", &sales(), &renamed).await.unwrap();
    directory.save_department("acc", &sales(), &with_agent_4).await.unwrap();
    assert_eq!(directory.department("acc", 1).await.unwrap(), Some(changed.clone()));
    directory.delete_department("acc", &sales()).await.unwrap();
    assert_eq!(directory.department("acc", 1).await.unwrap(), None);
    assert!(
        matches!(directory.save_department("acc", &changed, &sales()).await, Err(Error::NotFound)),
        "it stays deleted"
    );
    assert_eq!(stores.create_department("Sales", &[]).await.department_id, 3, "numbers are not reused");
}

#[tokio::test]
async fn only_newly_named_agents_and_departments_must_exist() {
    let stores = account_with_four_agents().await;
    let directory = &stores.directory;
    let unknown = directory
        .create_department("acc", Department { name: "Sales".into(), agent_ids: vec![2, 9], ..Department::default() })
        .await
        .unwrap_err();
    assert!(is_error_of_field(&unknown, "agent_ids"), "{unknown:?}");
    let department = stores.create_department("Sales", &[2]).await;
    directory.delete_agent(&agent(2, "2@example.com")).await.unwrap();
    let renamed = Department { name: "Sellers".into(), ..department.clone() };
    directory.save_department("acc", &department, &renamed).await.unwrap();
    let with_9 = Department { agent_ids: vec![2, 9], ..department.clone() };
    let unknown = directory.save_department("acc", &department, &with_9).await.unwrap_err();
    assert!(is_error_of_field(&unknown, "agent_ids"), "{unknown:?}");

    let settings = |agent_ids: &[u64], department_ids: &[u64]| ChannelSettings {
        agent_ids: agent_ids.to_vec(),
        department_ids: department_ids.to_vec(),
        ..channel().settings
    };
    directory.check_audience_ids("acc", None, &settings(&[1], &[1])).await.unwrap();
    let unknown = directory.check_audience_ids("acc", None, &settings(&[2], &[])).await.unwrap_err();
    assert!(is_error_of_field(&unknown, "agent_ids"), "{unknown:?}");
    let unknown = directory.check_audience_ids("acc", None, &settings(&[], &[7])).await.unwrap_err();
    assert!(is_error_of_field(&unknown, "department_ids"), "{unknown:?}");
    directory.check_audience_ids("acc", Some(&settings(&[2], &[7])), &settings(&[2], &[7])).await.unwrap();
    let unknown = directory.check_audience_ids("other", None, &settings(&[1], &[])).await.unwrap_err();
    assert!(is_error_of_field(&unknown, "agent_ids"), "another account's agent: {unknown:?}");
}

#[tokio::test]
async fn account_has_at_most_100_departments() {
    let stores = account_with_four_agents().await;
    for n in 1..=100 {
        assert_eq!(stores.create_department("D", &[1]).await.department_id, n);
    }
    let refused = stores
        .directory
        .create_department("acc", Department { name: "D".into(), agent_ids: vec![], ..Department::default() })
        .await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    assert_eq!(stores.directory.roster("acc").await.unwrap().departments().len(), 100);
}

#[tokio::test]
async fn audience_of_a_channel_follows_its_departments() {
    let stores = account_with_four_agents().await;
    let department = stores.create_department("Sales", &[2, 3]).await;
    let settings = ChannelSettings { agent_ids: vec![4], department_ids: vec![1], ..channel().settings };
    let (created, _) = stores.directory.create_channel("acc", settings, NOW).await.unwrap();
    let channel = stores.directory.channel(&created.channel_id).await.unwrap().unwrap();
    assert_eq!(channel, created);
    let only = |ids: &[u64]| Audience::Only(ids.iter().copied().collect());
    assert_eq!(stores.directory.audience(&channel).await.unwrap(), only(&[2, 3, 4]));
    assert_eq!(stores.directory.default_department(&channel).await.unwrap(), Some(department.snapshot()));

    stores.directory.delete_agent(&agent(4, "4@example.com")).await.unwrap();
    assert_eq!(stores.directory.audience(&channel).await.unwrap(), only(&[2, 3, 4]), "cached for ten seconds");
    assert_eq!(stores.uncached_directory().audience(&channel).await.unwrap(), only(&[2, 3]));
    stores.directory.delete_department("acc", &sales()).await.unwrap();
    assert_eq!(stores.uncached_directory().audience(&channel).await.unwrap(), Audience::AllAgents);
    assert_eq!(stores.uncached_directory().default_department(&channel).await.unwrap(), None);
}
