//! Which chats an agent sees, and that nothing leads to the others.

use aws_sdk_dynamodb::types::{AttributeValue, PutRequest, WriteRequest};
use futures_util::future::{join_all, try_join_all};
use reqwest::Method;
use serde_json::json;

use crate::client::{Account, Agent, number, send};
use crate::harness::{Stage, VISITOR, on_stage, open_chat};
use crate::security::{Estate, good_body, guarded_templates};

/// The endpoints of agents that name a chat or a visitor, as the template has them.
fn agent_routes() -> Vec<(Method, String)> {
    let mut routes = guarded_templates();
    routes.retain(|(_, template)| template.starts_with("/agent/") && template.contains('{'));
    assert!(routes.len() >= 10, "{routes:?}");
    routes
}

/// Why agents other than Ann do not see the estate's chat.
#[derive(Clone, Copy)]
enum Reason {
    /// Its channel names Ann alone.
    Channel,
    /// It is offered to a department of which Ann alone is a member.
    Offer,
}

impl Reason {
    async fn apply(self, estate: &Estate, ann: &Agent) {
        let admin = &estate.account.admin.call;
        match self {
            Self::Channel => {
                let path = estate.path("/admin/channels/{channel_id}");
                admin.patch(&path, &json!({"agent_ids": [ann.id]})).await.expect(200);
            }
            Self::Offer => {
                let sales = json!({"name": "Sales", "agent_ids": [ann.id]});
                let made = admin.post("/admin/departments", &sales).await.expect(201);
                ann.presence("online").await;
                let to = json!({"department_id": made["department_id"]});
                admin.post(&estate.path("/agent/chats/{chat_id}/transfer"), &to).await.expect(200);
            }
        }
    }
}

/// Whether lists and reads agree on which of the account's chats the agent sees; these.
async fn seen(agent: &Agent, chats: u64) -> Vec<u64> {
    let mut listed = agent.chats("open").await;
    listed.extend(agent.chats("closed").await);
    let mut listed: Vec<u64> = listed.iter().map(|row| number(&row["chat_id"])).collect();
    listed.sort_unstable();
    let mut read = Vec::new();
    for chat in 1..=chats {
        let path = format!("/agent/chats/{chat}");
        let statuses = [agent.call.get(&path).await.status, agent.call.get(&format!("{path}/messages")).await.status];
        assert!([[200, 200], [403, 403]].contains(&statuses), "chat {chat}: {statuses:?}");
        read.extend((statuses[0] == 200).then_some(chat));
    }
    assert_eq!(listed, read, "what is listed is what can be read");
    read
}

async fn nothing_leads_to_a_hidden_chat(stage: &Stage, reason: Reason) {
    let estate = Estate::open(stage).await;
    let [ann, ben] = [estate.account.agent("Ann").await, estate.account.agent("Ben").await];
    reason.apply(&estate, &ann).await;
    let before = estate.all().await;
    for (method, template) in agent_routes() {
        let (path, body) = (estate.path(&template), good_body(&method, &template));
        let reply = send(ben.call.request(method.clone(), &path).json(&body)).await;
        assert_eq!(reply.status, 403, "{method} {path}: {}", reply.text);
        reply.expect_error(403, "forbidden");
    }
    assert_eq!(estate.all().await, before);
    // The other chat has the same channel, and was not transferred.
    let expected = match reason {
        Reason::Channel => [vec![1, 2], vec![], vec![1, 2]],
        Reason::Offer => [vec![1, 2], vec![1], vec![1, 2]],
    };
    assert_eq!([seen(&ann, 2).await, seen(&ben, 2).await, seen(&estate.account.admin, 2).await], expected);
    for (method, template) in agent_routes() {
        let (path, body) = (estate.path(&template), good_body(&method, &template));
        let reply = send(ann.call.request(method.clone(), &path).json(&body)).await;
        assert!(![403, 404].contains(&reply.status), "{method} {path}: {}", reply.text);
    }
}

#[test]
fn no_agent_endpoint_reaches_a_chat_offered_to_others() {
    on_stage(async |stage| {
        join_all([Reason::Channel, Reason::Offer].map(|reason| nothing_leads_to_a_hidden_chat(stage, reason))).await;
    });
}

#[test]
fn agents_correct_visitors_whose_latest_chat_they_see() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let [ann, ben] = [account.agent("Ann").await, account.agent("Ben").await];
        ben.presence("online").await;
        let channel = account.channel_with("https://app.example/hook", json!({"agent_ids": [ann.id]})).await;
        let rename = async |agent: &Agent| agent.call.patch("/agent/visitors/1", &json!({"name": "Ada"})).await.status;
        open_chat(&ann, &channel, VISITOR).await;
        assert_eq!([rename(&ann).await, rename(&ben).await, rename(&account.admin).await], [200, 403, 200]);
        ann.call.post("/agent/chats/1/transfer", &json!({"agent_id": ben.id})).await.expect(200);
        ben.close(1).await;
        assert_eq!([rename(&ann).await, rename(&ben).await], [200, 200], "it was his");
        channel.say(VISITOR, "Hello again").await;
        assert_eq!([rename(&ann).await, rename(&ben).await], [200, 403]);
        assert_eq!([seen(&ann, 2).await, seen(&ben, 2).await], [vec![1, 2], vec![1]]);
    });
}

/// More channels than one page of an index has.
const CHANNELS: usize = 1_001;

/// Copies of a channel, each for the same agents and under the same secret; the last one's id.
async fn copy_channel(stage: &Stage, channel_id: &str) -> String {
    let tables = stage.tables();
    let id = |n: usize| format!("zz{n:04}{channel_id}");
    let text = |text: String| AttributeValue::S(text);
    let key = tables.get_item().table_name("Directory").consistent_read(true);
    let key = key.key("pk", text(format!("CHANNEL#{channel_id}"))).key("sk", text("CHANNEL".into()));
    let original = key.send().await.unwrap().item.unwrap();
    let copies: Vec<WriteRequest> = (1..=CHANNELS)
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
    id(CHANNELS)
}

#[test]
fn a_chat_of_the_last_of_a_thousand_channels_stays_hidden() {
    on_stage(async |stage| {
        let account: Account = stage.account().await;
        let [ann, ben] = [account.agent("Ann").await, account.agent("Ben").await];
        let mut channel = account.channel_with("https://app.example/hook", json!({"agent_ids": [ann.id]})).await;
        channel.say("first", "Hello").await;
        let last = copy_channel(stage, &channel.id).await;
        channel.endpoint = channel.endpoint.replace(&channel.id, &last);
        channel.say("last", "Hello").await;
        assert_eq!([seen(&ann, 2).await, seen(&ben, 2).await], [vec![1, 2], vec![]]);
    });
}
