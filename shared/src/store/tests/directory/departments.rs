//! Departments, who receives a chat, and transfers.

use crate::domain::chat::Chat;
use crate::domain::chat_state::{Mover, Recipient};
use crate::domain::department::{Audience, ChatDepartment, Department};
use crate::service::chat_access::ChatAccess;
use crate::store::connections::Session;
use crate::store::tests::listing::session;
use crate::store::tests::*;

/// An account with the agents 1 to 4.
async fn staffed() -> Stores {
    let stores = stores().await;
    stores.directory.create_account("Acme", &agent(1, "1@example.com"), "hash").await.unwrap();
    for agent_id in 2..=4 {
        assert_eq!(stores.directory.next_agent_id("acc").await.unwrap(), agent_id);
        let agent = agent(agent_id, &format!("{agent_id}@example.com"));
        stores.directory.create_agent(&agent, "hash", Authority::Operator).await.unwrap();
    }
    stores
}

fn author(agent_id: u64) -> Author {
    Author { agent_id, name: format!("Agent {agent_id}"), photo: None }
}

fn sales() -> Department {
    Department { department_id: 1, name: "Sales".into(), agent_ids: vec![2, 3] }
}

impl Stores {
    async fn department(&self, name: &str, agent_ids: &[u64]) -> Department {
        self.directory.create_department("acc", name.into(), agent_ids.to_vec()).await.unwrap()
    }

    /// What another process sees: nothing is remembered.
    fn elsewhere(&self) -> Directory {
        Directory::new(self.directory.table.clone())
    }

    /// Whether they see the first chat.
    async fn sees(&self, agent_id: u64, role: Role) -> bool {
        self.sees_through(&self.elsewhere(), &session(agent_id, role)).await
    }

    async fn sees_through(&self, directory: &Directory, session: &Session) -> bool {
        match (ChatAccess { directory, chats: &self.chats, session, now: NOW }).chat(1).await {
            Ok(_) => true,
            Err(Error::Forbidden(_)) => false,
            Err(error) => panic!("{error:?}"),
        }
    }

    async fn transfer(&self, by: u64, to: &Recipient) -> Result<Chat, Error> {
        let chat = self.chats.chat("acc", 1).await?.unwrap();
        self.chats.transfer(chat, Mover { agent: &author(by), is_admin: false }, to, at(1)).await
    }
}

fn names(error: &Error, field: &str) -> bool {
    error.wrong_field() == Some(field)
}

#[tokio::test]
async fn departments_come_back_as_they_were_stored_and_are_numbered_in_their_account() {
    let stores = staffed().await;
    let directory = &stores.directory;
    assert_eq!(stores.department("Sales", &[2, 3]).await, sales());
    assert_eq!(stores.department("Support", &[]).await.department_id, 2);
    assert_eq!(directory.next_agent_id("acc").await.unwrap(), 5, "a counter of its own");
    assert_eq!(directory.department("acc", 1).await.unwrap(), Some(sales()));
    assert_eq!(directory.department("other", 1).await.unwrap(), None);
    let roster = directory.roster("acc").await.unwrap();
    assert!((1..=4).all(|agent_id| roster.has_agent(agent_id)) && !roster.has_agent(5));
    assert_eq!(roster.departments().iter().map(|found| &*found.name).collect::<Vec<_>>(), ["Sales", "Support"]);

    let changed = Department { name: "Sellers".into(), agent_ids: vec![4], ..sales() };
    let (renamed, staffed) =
        (Department { agent_ids: vec![2, 3], ..changed.clone() }, Department { agent_ids: vec![4], ..sales() });
    directory.save_department("acc", &sales(), &renamed).await.unwrap();
    directory.save_department("acc", &sales(), &staffed).await.unwrap();
    assert_eq!(directory.department("acc", 1).await.unwrap(), Some(changed.clone()));
    directory.delete_department("acc", 1).await.unwrap();
    assert_eq!(directory.department("acc", 1).await.unwrap(), None);
    assert!(
        matches!(directory.save_department("acc", &changed, &sales()).await, Err(Error::NotFound)),
        "stays deleted"
    );
    assert_eq!(stores.department("Sales", &[]).await.department_id, 3, "a number is given once");
}

#[tokio::test]
async fn only_what_is_newly_named_must_be_there() {
    let stores = staffed().await;
    let directory = &stores.directory;
    let unknown = directory.create_department("acc", "Sales".into(), vec![2, 9]).await.unwrap_err();
    assert!(names(&unknown, "agent_ids"), "{unknown:?}");
    let department = stores.department("Sales", &[2]).await;
    directory.delete_agent(&agent(2, "2@example.com")).await.unwrap();
    let renamed = Department { name: "Sellers".into(), ..department.clone() };
    directory.save_department("acc", &department, &renamed).await.unwrap();
    let with_9 = Department { agent_ids: vec![2, 9], ..department.clone() };
    let unknown = directory.save_department("acc", &department, &with_9).await.unwrap_err();
    assert!(names(&unknown, "agent_ids"), "{unknown:?}");

    let settings = |agent_ids: &[u64], department_ids: &[u64]| ChannelSettings {
        agent_ids: agent_ids.to_vec(),
        department_ids: department_ids.to_vec(),
        ..channel().settings
    };
    directory.check_named("acc", None, &settings(&[1], &[1])).await.unwrap();
    let unknown = directory.check_named("acc", None, &settings(&[2], &[])).await.unwrap_err();
    assert!(names(&unknown, "agent_ids"), "{unknown:?}");
    let unknown = directory.check_named("acc", None, &settings(&[], &[7])).await.unwrap_err();
    assert!(names(&unknown, "department_ids"), "{unknown:?}");
    directory.check_named("acc", Some(&settings(&[2], &[7])), &settings(&[2], &[7])).await.unwrap();
    let unknown = directory.check_named("other", None, &settings(&[1], &[])).await.unwrap_err();
    assert!(names(&unknown, "agent_ids"), "another account's agent: {unknown:?}");
}

#[tokio::test]
async fn a_hundred_departments_are_enough() {
    let stores = staffed().await;
    for n in 1..=100 {
        assert_eq!(stores.department("D", &[1]).await.department_id, n);
    }
    let refused = stores.directory.create_department("acc", "D".into(), vec![]).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    assert_eq!(stores.directory.roster("acc").await.unwrap().departments().len(), 100);
}

#[tokio::test]
async fn the_audience_of_a_channel_follows_its_departments() {
    let stores = staffed().await;
    let department = stores.department("Sales", &[2, 3]).await;
    let settings = ChannelSettings { agent_ids: vec![4], department_ids: vec![1], ..channel().settings };
    let (made, _) = stores.directory.create_channel("acc", settings, NOW).await.unwrap();
    let read = stores.directory.channel(&made.channel_id).await.unwrap().unwrap();
    assert_eq!(read, made);
    let only = |ids: &[u64]| Audience::Only(ids.iter().copied().collect());
    assert_eq!(stores.directory.audience(&read).await.unwrap(), only(&[2, 3, 4]));
    assert_eq!(stores.directory.department_of(&read).await.unwrap(), Some(department.of_chat()));

    stores.directory.delete_agent(&agent(4, "4@example.com")).await.unwrap();
    assert_eq!(stores.directory.audience(&read).await.unwrap(), only(&[2, 3, 4]), "remembered for 10 s");
    assert_eq!(stores.elsewhere().audience(&read).await.unwrap(), only(&[2, 3]));
    stores.directory.delete_department("acc", 1).await.unwrap();
    assert_eq!(stores.elsewhere().audience(&read).await.unwrap(), Audience::Everybody);
    assert_eq!(stores.elsewhere().department_of(&read).await.unwrap(), None);
}

#[tokio::test]
async fn a_transfer_to_an_agent_gives_them_the_chat_and_is_noted() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let to_2 = Recipient::agent(agent(2, "2@example.com"));
    assert!(matches!(stores.transfer(1, &to_2).await, Err(Error::Conflict("accept the chat first"))));
    stores.accept(1, &author(1), &[], NOW).await.unwrap();
    assert!(matches!(stores.transfer(3, &to_2).await, Err(Error::Conflict("another agent has this chat"))));
    let after = stores.transfer(1, &to_2).await.unwrap();
    assert_eq!(after, stores.chats.chat("acc", 1).await.unwrap().unwrap());
    assert_eq!(after.state, State::Active(Author { agent_id: 2, name: "Bob".into(), photo: None }));
    assert_eq!((after.department, after.updated_at), (None, at(1)));
    assert!(matches!(stores.transfer(2, &to_2).await, Err(Error::Conflict("the agent has this chat already"))));
    let note = stores.chats.timeline("acc", 1, 0, 10).await.unwrap().pop().unwrap();
    assert_eq!((&note.from, note.seq, &note.delivery), (&Sender::System, after.seq, &None));
    assert_eq!(note.content.text.as_deref(), Some("Agent 1 transferred the chat to Bob"));
    assert!(stores.agent_writes(1, "still mine?", NOW).await.is_err());
}

#[tokio::test]
async fn a_transfer_to_a_department_offers_the_chat_to_its_members_until_one_accepts() {
    let stores = staffed().await;
    stores.department("Sales", &[2, 3]).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    let before = stores.chats.chat("acc", 1).await.unwrap().unwrap();
    stores.accept(1, &author(1), &[], NOW).await.unwrap();
    let after = stores.transfer(1, &Recipient::Department(sales())).await.unwrap();
    assert_eq!(after, stores.chats.chat("acc", 1).await.unwrap().unwrap());
    assert_eq!((after.state.clone(), after.department.clone()), (State::Offered(1), Some(sales().of_chat())));
    assert_eq!(stores.listed(&["waiting"], None, 10).await, (vec![1], None));
    let seen = [stores.sees(1, Role::Agent).await, stores.sees(2, Role::Agent).await];
    assert_eq!((seen, stores.sees(1, Role::Admin).await), ([false, true], true));

    let unseen = stores.chats.accept(before, &author(2), &[], NOW).await;
    assert!(matches!(unseen, Err(Error::Conflict("the chat has just been offered to others"))), "{unseen:?}");
    stores.accept(1, &author(2), &[], NOW).await.unwrap();
    let accepted = stores.chats.chat("acc", 1).await.unwrap().unwrap();
    assert_eq!((accepted.state.offer(), accepted.department), (None, Some(sales().of_chat())));
    stores.chats.release("acc", 2, NOW).await.unwrap();
    let released = stores.chats.chat("acc", 1).await.unwrap().unwrap();
    assert_eq!(released.state, State::Waiting, "the offer was spent");
}

#[tokio::test]
async fn what_is_offered_to_a_department_that_is_gone_is_offered_as_its_channel_says() {
    let stores = staffed().await;
    stores.department("Sales", &[2, 3]).await;
    stores.channel_for(&[]).await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.accept(1, &author(1), &[], NOW).await.unwrap();
    stores.transfer(1, &Recipient::Department(sales())).await.unwrap();
    assert!(!stores.sees(4, Role::Agent).await);
    stores.directory.save_department("acc", &sales(), &Department { agent_ids: vec![], ..sales() }).await.unwrap();
    assert!(stores.sees(4, Role::Agent).await, "nobody is left in it");
    stores.directory.delete_department("acc", 1).await.unwrap();
    assert!(stores.sees(4, Role::Agent).await);
    stores.accept(1, &author(4), &[], NOW).await.unwrap();
}

#[tokio::test]
async fn a_department_that_is_younger_than_what_is_remembered_is_looked_up() {
    let stores = staffed().await;
    stores.directory.cached_roster("acc").await.unwrap();
    let department = stores.elsewhere().create_department("acc", "Sales".into(), vec![2]).await.unwrap();
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.accept(1, &author(1), &[], NOW).await.unwrap();
    stores.transfer(1, &Recipient::Department(department)).await.unwrap();
    for (agent_id, expected) in [(2, true), (3, false)] {
        let sees = stores.sees_through(&stores.directory, &session(agent_id, Role::Agent)).await;
        assert_eq!(sees, expected, "agent {agent_id}");
    }
}

#[tokio::test]
async fn of_transfers_that_race_one_is_done() {
    let stores = stores().await;
    stores.visitor_writes("v", "hi", NOW).await.unwrap();
    stores.accept(1, &author(1), &[], NOW).await.unwrap();
    let mut recipients: Vec<Recipient> = (2..=5).map(|agent_id| Recipient::Agent(author(agent_id))).collect();
    recipients.push(Recipient::Department(sales()));
    let results = join_all(recipients.iter().map(|to| stores.transfer(1, to))).await;
    let done: Vec<&Chat> = results.iter().filter_map(|result| result.as_ref().ok()).collect();
    let refused = results.iter().filter(|result| matches!(result, Err(Error::Conflict(_)))).count();
    assert_eq!((done.len(), refused), (1, 4), "{results:?}");
    assert_eq!(stores.chats.chat("acc", 1).await.unwrap().unwrap(), *done[0]);
    assert_eq!(stores.chats.timeline("acc", 1, 0, 10).await.unwrap().len(), 2, "the message and one note");
}

#[tokio::test]
async fn a_new_chat_keeps_the_department_it_came_to() {
    let stores = stores().await;
    let (channel, profile, content) = (channel(), Profile::default(), Content::text("hi"));
    let department = ChatDepartment { department_id: 3, name: "Support".into() };
    let department = Some(&department);
    let (external_id, key, now) = ("v", None, NOW);
    let settings = &Settings::default();
    let (profile, content) = (&profile, &content);
    let incoming = Incoming {
        channel: &channel,
        department,
        external_id,
        has_numeric_id: false,
        invite: None,
        profile,
        content,
        settings,
        key,
        now,
    };
    stores.chats.visitor_message(&incoming).await.unwrap();
    stores.accept(1, &author(1), &[], NOW).await.unwrap();
    let kept = stores.transfer(1, &Recipient::Agent(author(2))).await.unwrap();
    assert_eq!(kept.department.as_ref(), department, "also after a transfer to an agent");
    let moved = stores.transfer(2, &Recipient::Department(sales())).await.unwrap();
    assert_eq!(moved.department, Some(sales().of_chat()));
}
