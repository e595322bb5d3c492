//! An account that owns one resource of every kind that can appear in a route's path.

use std::collections::BTreeMap;
use std::time::UNIX_EPOCH;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::account_with_webhook::{add_webhook, ok_response};
use crate::support::api_client::{TestAccount, TestAgent, TestChannel};
use crate::support::bot_fixture::{TestBot, register_provider};
use crate::support::protected_routes::{protected_routes, required_query};
use crate::support::test_host::{TestHost, VISITOR_ID, open_accepted_chat};
use crate::support::test_receiver::{CannedResponse, TestReceiver};

/// Resources that are numbered per account have the number 2, which does not exist in an account that has only one
/// resource of that kind.
pub struct AccountResources {
    pub account: TestAccount,
    pub integrator: TestReceiver,
    pub webhook_receiver: TestReceiver,
    /// The id of the resource for each path parameter, keyed by parameter name.
    pub ids: BTreeMap<&'static str, String>,
}

impl AccountResources {
    pub async fn create(host: &TestHost) -> Self {
        let (integrator, webhook_receiver) =
            (TestReceiver::start(CannedResponse::error(7, "not now")).await, TestReceiver::start(ok_response()).await);
        let account = host.create_account().await;
        let channel = account.create_channel(&integrator.url()).await;
        let (chat, seq) = failed_message(&account.admin, &channel).await;
        let webhook = add_webhook(&account, &webhook_receiver, json!({})).await;
        add_department(&account.admin).await;
        let ids = BTreeMap::from([
            ("chat_id", chat.to_string()),
            ("seq", seq.to_string()),
            ("planned_id", plan_message(&account.admin, chat).await),
            ("number", account.admin.chat(chat).await["visitor"]["number"].to_string()),
            ("agent_id", account.create_agent("Ann").await.id.to_string()),
            ("department_id", add_department(&account.admin).await),
            ("id", add_canned_reply(&account.admin, "hello").await),
            ("bot_id", connect_bot(host, &account).await),
            ("webhook_id", webhook["webhook_id"].as_str().unwrap().to_owned()),
            ("session_id", session_id(&account.admin).await),
            ("channel_id", channel.id),
            ("external_id", VISITOR_ID.to_owned()),
        ]);
        Self { account, integrator, webhook_receiver, ids }
    }

    /// Fills a route's path template with the ids. Panics if the account has no resource for a parameter, because the
    /// route would otherwise go untested.
    pub fn path(&self, template: &str) -> String {
        let fill = |part: &str| match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            Some(name) => {
                self.ids.get(name).unwrap_or_else(|| panic!("add a {name} to AccountResources for {template}")).clone()
            }
            None => part.to_owned(),
        };
        template.split('/').map(fill).collect::<Vec<_>>().join("/")
    }

    /// Requests every GET route that requires a token, as the account's admin, and returns the responses keyed by path.
    /// The operator's routes are left out, and so are a few others: the chat changes, a bot's activity and the sessions
    /// contain current times, all tests share the list of providers, the CSV export is not JSON, a visitor is also
    /// read by number, and the audit log contains the exports that this function makes.
    pub async fn readable_resources(&self) -> BTreeMap<String, Value> {
        let mut readable_resources = BTreeMap::new();
        for (method, template) in protected_routes() {
            let left_out = [
                "/agent/changes",
                "/agent/sessions",
                "/admin/audit",
                "/admin/chats/export.csv",
                "/admin/bots/{bot_id}/activity",
                "/admin/providers",
                "/admin/visitors",
            ];
            let is_left_out = template.starts_with("/operator/") || left_out.contains(&&*template);
            if method == Method::GET && !is_left_out {
                let path = self.path(&template) + &required_query(&template);
                let shown = self.account.admin.client.get(&path).await.expect(200);
                readable_resources.insert(path, shown);
            }
        }
        readable_resources
    }
}

/// Returns the id of the session of an agent who is signed in once.
async fn session_id(agent: &TestAgent) -> String {
    let listed = agent.client.get("/agent/sessions").await.expect(200);
    listed["sessions"][0]["id"].as_str().unwrap_or_else(|| panic!("{listed}")).to_owned()
}

/// Creates a failed message that can be retried. It is in the account's second chat, which belongs to the second
/// visitor. Returns the chat number and `seq`.
async fn failed_message(admin: &TestAgent, channel: &TestChannel) -> (u64, u64) {
    open_accepted_chat(admin, channel, "another visitor").await;
    let chat = open_accepted_chat(admin, channel, VISITOR_ID).await;
    let seq = admin.send_text(chat, "Hello?").await;
    assert_eq!(admin.final_delivery(chat, seq).await["state"], "failed");
    (chat, seq)
}

/// Plans a message that is sent in an hour. Returns its id.
async fn plan_message(admin: &TestAgent, chat: u64) -> String {
    let body = json!({"text": "See you", "send_at": UNIX_EPOCH.elapsed().unwrap().as_secs() + 3_600});
    let planned = admin.client.put(&format!("/agent/chats/{chat}/planned/see-you"), &body).await.expect(200);
    planned["planned_id"].as_str().unwrap_or_else(|| panic!("{planned}")).to_owned()
}

pub async fn add_department(admin: &TestAgent) -> String {
    let created = admin.client.post("/admin/departments", &json!({"name": "Sales", "agent_ids": []})).await.expect(201);
    created["department_id"].to_string()
}

pub async fn add_canned_reply(admin: &TestAgent, shortcut: &str) -> String {
    let body = json!({"shortcut": shortcut, "text": "Hello {visitor}"});
    let created = admin.client.post("/agent/canned-replies", &body).await.expect(201);
    created["id"].as_str().expect("an id").to_owned()
}

/// Creates a channel and connects a bot to it. Returns the bot's id.
pub async fn connect_bot(host: &TestHost, account: &TestAccount) -> String {
    let channel = account.create_channel("https://app.example/hook").await;
    let provider_id = register_provider(&host.operator, "https://bots.example/hook", json!({})).await;
    TestBot::connect(account, &provider_id, &[&channel], json!({})).await.bot_id
}
