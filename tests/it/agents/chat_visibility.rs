//! Tests which chats an agent can see, and that no `/agent/` route gives the agent access to any other chat.

use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use futures_util::future::{join_all, try_join_all};
use reqwest::Method;
use serde_json::json;

use crate::support::account_resources::AccountResources;
use crate::support::api_client::{TestAccount, TestAgent, number, send};
use crate::support::protected_routes::{protected_routes, valid_body};
use crate::support::test_host::{TestHost, VISITOR_ID, open_accepted_chat, run_on_shared_host};

/// Returns the agent routes whose path contains a chat number or a visitor number.
fn agent_routes() -> Vec<(Method, String)> {
    let mut routes = protected_routes();
    routes.retain(|(_, template)| {
        template.starts_with("/agent/") && ["{chat_id}", "{number}"].iter().any(|name| template.contains(name))
    });
    assert!(routes.len() >= 10, "{routes:?}");
    routes
}

/// Why only Ann and the admin can see the chat.
#[derive(Clone, Copy)]
enum HiddenBy {
    /// Ann is the only agent in the channel's audience.
    Channel,
    /// The chat was transferred to a department whose only member is Ann.
    Offer,
}

impl HiddenBy {
    async fn apply(self, resources: &AccountResources, ann: &TestAgent) {
        let admin = &resources.account.admin.client;
        match self {
            Self::Channel => {
                let path = resources.path("/admin/channels/{channel_id}");
                admin.patch(&path, &json!({"agent_ids": [ann.id]})).await.expect(200);
            }
            Self::Offer => {
                let sales = json!({"name": "Sales", "agent_ids": [ann.id]});
                let created = admin.post("/admin/departments", &sales).await.expect(201);
                ann.set_presence("online").await;
                let to = json!({"department_id": created["department_id"]});
                admin.post(&resources.path("/agent/chats/{chat_id}/transfer"), &to).await.expect(200);
            }
        }
    }
}

/// Returns which of the chats numbered 1 to `chats` the agent can see. Checks that the chat lists contain exactly the
/// chats that the agent can read individually.
async fn visible_chats(agent: &TestAgent, chats: u64) -> Vec<u64> {
    let mut listed = agent.chats("open").await;
    listed.extend(agent.chats("closed").await);
    let mut listed: Vec<u64> = listed.iter().map(|row| number(&row["chat_id"])).collect();
    listed.sort_unstable();
    let mut read = Vec::new();
    for chat in 1..=chats {
        let path = format!("/agent/chats/{chat}");
        let statuses =
            [agent.client.get(&path).await.status, agent.client.get(&format!("{path}/messages")).await.status];
        assert!([[200, 200], [403, 403]].contains(&statuses), "chat {chat}: {statuses:?}");
        read.extend((statuses[0] == 200).then_some(chat));
    }
    assert_eq!(listed, read, "listed and readable chats differ");
    read
}

async fn assert_chat_is_hidden(host: &TestHost, hidden_by: HiddenBy) {
    let resources = AccountResources::create(host).await;
    let [ann, ben] = [resources.account.create_agent("Ann").await, resources.account.create_agent("Ben").await];
    hidden_by.apply(&resources, &ann).await;
    let before = resources.readable_resources().await;
    for (method, template) in agent_routes() {
        let (path, body) = (resources.path(&template), valid_body(&method, &template));
        let reply = send(ben.client.request(method.clone(), &path).json(&body)).await;
        assert_eq!(reply.status, 403, "{method} {path}: {}", reply.text);
        reply.expect_error(403, "forbidden");
    }
    assert_eq!(resources.readable_resources().await, before);
    let expected = match hidden_by {
        HiddenBy::Channel => [vec![1, 2], vec![], vec![1, 2]],
        // Ben sees chat 1: it is in the same channel, but it was not transferred.
        HiddenBy::Offer => [vec![1, 2], vec![1], vec![1, 2]],
    };
    assert_eq!(
        [visible_chats(&ann, 2).await, visible_chats(&ben, 2).await, visible_chats(&resources.account.admin, 2).await],
        expected
    );
    // Only the author changes a message, and a planned message can be sent or cancelled once.
    let is_repeatable = |template: &str| !template.ends_with("/messages/{seq}") && !template.ends_with("{planned_id}");
    for (method, template) in agent_routes().into_iter().filter(|(_, template)| is_repeatable(template)) {
        let (path, body) = (resources.path(&template), valid_body(&method, &template));
        let reply = send(ann.client.request(method.clone(), &path).json(&body)).await;
        assert!(![403, 404].contains(&reply.status), "{method} {path}: {}", reply.text);
    }
}

#[test]
fn hidden_chat_is_unreachable_through_every_agent_route() {
    run_on_shared_host(async |host| {
        join_all([HiddenBy::Channel, HiddenBy::Offer].map(|hidden_by| assert_chat_is_hidden(host, hidden_by))).await;
    });
}

#[test]
fn agents_edit_visitors_whose_latest_chat_they_see() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let [ann, ben] = [account.create_agent("Ann").await, account.create_agent("Ben").await];
        ben.set_presence("online").await;
        let channel = account.create_channel_with("https://app.example/hook", json!({"agent_ids": [ann.id]})).await;
        let rename =
            async |agent: &TestAgent| agent.client.patch("/agent/visitors/1", &json!({"name": "Ada"})).await.status;
        open_accepted_chat(&ann, &channel, VISITOR_ID).await;
        assert_eq!([rename(&ann).await, rename(&ben).await, rename(&account.admin).await], [200, 403, 200]);
        ann.client.post("/agent/chats/1/transfer", &json!({"agent_id": ben.id})).await.expect(200);
        ben.close(1).await;
        assert_eq!([rename(&ann).await, rename(&ben).await], [200, 200], "Ben had the chat last");
        channel.send_text(VISITOR_ID, "Hello again").await;
        assert_eq!([rename(&ann).await, rename(&ben).await], [200, 403]);
        assert_eq!([visible_chats(&ann, 2).await, visible_chats(&ben, 2).await], [vec![1, 2], vec![1]]);
    });
}

/// More channels than one query request reads.
const CHANNEL_COPIES: usize = 1_001;

/// Stores copies of a channel that have the same audience and endpoint secret. Returns the id of the last copy.
async fn copy_channel(host: &TestHost, channel_id: &str) -> String {
    let tables = host.tables();
    let id = |n: usize| format!("zz{n:04}{channel_id}");
    let text = |text: String| AttributeValue::S(text);
    let key = tables.get_item().table_name("Directory").consistent_read(true);
    let key = key.key("pk", text(format!("CHANNEL#{channel_id}"))).key("sk", text("CHANNEL".into()));
    let original = key.send().await.unwrap().item.unwrap();
    let copies: Vec<WriteRequest> = (1..=CHANNEL_COPIES)
        .map(|n| {
            let mut item = original.clone();
            item.insert("pk".into(), text(format!("CHANNEL#{}", id(n))));
            item.insert("channel_id".into(), text(id(n)));
            let put = PutRequest::builder().set_item(Some(item)).build().unwrap();
            WriteRequest::builder().put_request(put).build()
        })
        .collect();
    let batches =
        copies.chunks(25).map(|batch| tables.batch_write_item().request_items("Directory", batch.to_vec()).send());
    try_join_all(batches).await.unwrap();
    id(CHANNEL_COPIES)
}

#[test]
fn chat_of_the_1001st_channel_stays_hidden() {
    run_on_shared_host(async |host| {
        let account: TestAccount = host.create_account().await;
        let [ann, ben] = [account.create_agent("Ann").await, account.create_agent("Ben").await];
        let mut channel = account.create_channel_with("https://app.example/hook", json!({"agent_ids": [ann.id]})).await;
        channel.send_text("first", "Hello").await;
        let last = copy_channel(host, &channel.id).await;
        channel.endpoint = channel.endpoint.replace(&channel.id, &last);
        channel.send_text("last", "Hello").await;
        assert_eq!([visible_chats(&ann, 2).await, visible_chats(&ben, 2).await], [vec![1, 2], vec![]]);
    });
}
