//! Tests of `GET /agent/changes`, which consoles use to keep their lists current.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::api_client::{TestAgent, TestChannel, number};
use crate::support::chat_copies::copy_chat;
use crate::support::test_host::{open_accepted_chat, run_on_shared_host};
use crate::support::test_receiver::{CannedResponse, TestReceiver};

/// A console that reads the changes to keep its rows current, starting with an empty account.
struct Console {
    agent: TestAgent,
    cursor: String,
    rows: BTreeMap<u64, Value>,
}

impl Console {
    async fn open(agent: &TestAgent) -> Self {
        let start = agent.client.get("/agent/changes").await.expect(200);
        let cursor = start["cursor"].as_str().unwrap().to_owned();
        assert_eq!(start, json!({"cursor": cursor, "chats": [], "gone": [], "complete": true}));
        Self { agent: agent.clone(), cursor, rows: BTreeMap::new() }
    }

    async fn next_page(&mut self) -> Value {
        let page = self.agent.client.get(&format!("/agent/changes?cursor={}", self.cursor)).await.expect(200);
        self.cursor = page["cursor"].as_str().unwrap().to_owned();
        for row in page["chats"].as_array().unwrap() {
            self.rows.insert(number(&row["chat_id"]), row.clone());
        }
        for chat in page["gone"].as_array().unwrap() {
            self.rows.remove(&number(chat));
        }
        page
    }

    /// Requests pages until the changes are complete. Returns the number of pages.
    async fn follow(&mut self) -> usize {
        for pages in 1..100 {
            if self.next_page().await["complete"] == true {
                return pages;
            }
        }
        panic!("never complete");
    }

    async fn assert_equals_lists(&self) {
        let mut listed = BTreeMap::new();
        for state in ["open", "closed"] {
            let rows = self.agent.chats(state).await;
            listed.extend(rows.into_iter().map(|row| (number(&row["chat_id"]), row)));
        }
        assert_eq!(self.rows, listed);
    }
}

/// Runs two conversations with a visitor. The first one is closed. During the second one, the visitor is renamed.
async fn converse(admin: &TestAgent, agent: &TestAgent, channel: &TestChannel, visitor: &str) {
    let write = async || {
        let body = json!({"sender": {"id": visitor, "name": visitor}, "message": {"type": "text", "text": "Hello"}});
        channel.post(&body).await.expect(200);
        let waiting = admin.chats("waiting").await;
        waiting.into_iter().find(|row| row["visitor"]["name"] == visitor).expect("a waiting chat")
    };
    let chat = number(&write().await["chat_id"]);
    agent.accept(chat).await;
    agent.send_text(chat, "How can I help?").await;
    channel.send_text(visitor, "It works now").await;
    agent.close(chat).await;
    let path = format!("/agent/visitors/{}", write().await["visitor"]["number"]);
    admin.client.patch(&path, &json!({"name": format!("{visitor} (renamed)")})).await.expect(200);
}

#[test]
fn consoles_that_follow_concurrent_changes_show_the_lists() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let account = host.create_account().await;
        let [ann, ben] = [account.create_agent("Ann").await, account.create_agent("Ben").await];
        let for_all = account.create_channel(&integrator.url()).await;
        let for_ann = account.create_channel_with(&integrator.url(), json!({"agent_ids": [ann.id]})).await;
        let mut consoles = join_all([&account.admin, &ann, &ben].map(Console::open)).await;
        let names: Vec<String> = (0..6).map(|n| format!("visitor-{n}")).collect();
        let writers = join_all(names.iter().enumerate().map(|(n, name)| {
            let (agent, channel) = if n % 2 == 0 { (&ann, &for_ann) } else { (&ben, &for_all) };
            converse(&account.admin, agent, channel, name)
        }));
        let readers = join_all(consoles.iter_mut().map(async |console| {
            for _ in 0..20 {
                console.follow().await;
            }
        }));
        futures_util::join!(writers, readers);
        for console in &mut consoles {
            console.follow().await;
            console.assert_equals_lists().await;
        }
        assert_eq!(consoles.iter().map(|console| console.rows.len()).collect::<Vec<_>>(), [12, 12, 6]);
    });
}

/// The functions read the channels of a page in one request, unless they have read some of them before.
#[test]
fn agent_sees_the_chats_of_several_channels_that_nobody_has_listed_before() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let ann = account.create_agent("Ann").await;
        let mut console = Console::open(&ann).await;
        for visitor in ["ada", "bob"] {
            account.create_channel("https://app.example/hook").await.send_text(visitor, "Hello").await;
        }
        console.follow().await;
        assert_eq!(console.rows.keys().copied().collect::<Vec<_>>(), [1, 2]);
        console.assert_equals_lists().await;
        let found = ann.client.get("/agent/search?q=hello").await.expect(200);
        assert_eq!(found["chats"].as_array().unwrap().len(), 2);
    });
}

#[test]
fn chat_that_an_agent_loses_is_gone() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let [ann, ben] = [account.create_agent("Ann").await, account.create_agent("Ben").await];
        let channel = account.create_channel("https://app.example/hook").await;
        let (mut anns, mut bens) = (Console::open(&ann).await, Console::open(&ben).await);
        let chat = open_accepted_chat(&ann, &channel, "ada").await;
        anns.follow().await;
        bens.follow().await;
        assert_eq!([anns.rows.len(), bens.rows.len()], [1, 1]);
        ben.set_presence("online").await;
        let sales = json!({"name": "Sales", "agent_ids": [ben.id]});
        let sales = account.admin.client.post("/admin/departments", &sales).await.expect(201);
        let to = json!({"department_id": sales["department_id"]});
        ann.client.post(&format!("/agent/chats/{chat}/transfer"), &to).await.expect(200);
        assert_eq!(anns.next_page().await["gone"], json!([chat]));
        bens.follow().await;
        assert_eq!(bens.rows[&chat]["state"], "waiting");
        account.admin.client.delete("/admin/visitors/1").await.expect(200);
        assert_eq!(bens.next_page().await["gone"], json!([chat]));
        assert_eq!([anns.rows.len(), bens.rows.len()], [0, 0]);
    });
}

#[test]
fn changes_are_paged() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        let mut console = Console::open(&account.admin).await;
        channel.send_text("ada", "Hello").await;
        copy_chat(host, &account.id, 2..251).await;
        let first = console.next_page().await;
        assert_eq!((first["chats"].as_array().unwrap().len(), &first["complete"]), (100, &json!(false)));
        assert_eq!(console.follow().await, 2);
        assert_eq!(console.rows.keys().copied().collect::<Vec<_>>(), (1..251).collect::<Vec<_>>());
    });
}

#[test]
fn invalid_and_expired_cursors_are_rejected() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let get = async |cursor: &str| account.admin.client.get(&format!("/agent/changes?cursor={cursor}")).await;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let day = 24 * 60 * 60 * 1_000;
        for cursor in ["", "x", "1-2", "-1", &(now + day).to_string(), &format!("{now}-{now}-c-1-1")] {
            let error = get(cursor).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], "cursor", "{cursor}");
        }
        for cursor in [now - day - 1_000, 0] {
            get(&cursor.to_string()).await.expect_error(410, "cursor_expired");
        }
        get(&(now - day + 60_000).to_string()).await.expect(200);
    });
}

#[test]
fn changes_of_other_accounts_are_not_returned() {
    run_on_shared_host(async |host| {
        let (account, other_account) = (host.create_account().await, host.create_account().await);
        let mut console = Console::open(&other_account.admin).await;
        let channel = account.create_channel("https://app.example/hook").await;
        let chat = open_accepted_chat(&account.admin, &channel, "ada").await;
        account.admin.close(chat).await;
        channel.send_text("ada", "Hello again").await;
        let page = console.next_page().await;
        assert_eq!((&page["chats"], &page["gone"], &page["complete"]), (&json!([]), &json!([]), &json!(true)));
    });
}
