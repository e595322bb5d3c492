//! An account that sends e-mails, with a widget and a visitor whose address is known.

use serde_json::{Value, json};

use crate::support::api_client::{TestAccount, TestAgent, merged, unique_email};
use crate::support::test_host::TestHost;
use crate::support::virtual_time::VirtualTime;
use crate::support::wait::seconds;
use crate::support::widget_client::{TestVisitor, TestWidget};

/// Longer than processes cache settings.
const CACHE_TIME: u64 = 11;

pub struct Fixture<'h> {
    pub host: &'h TestHost,
    pub account: TestAccount,
    pub agent: TestAgent,
    pub widget: TestWidget,
    pub visitor: TestVisitor,
    /// The address of the visitor.
    pub address: String,
}

impl<'h> Fixture<'h> {
    /// `email` are the settings of the account, which has a widget with these additional channel fields.
    pub async fn create(host: &'h TestHost, time: &VirtualTime<'_>, email: Value, channel: Value) -> Self {
        let account = host.create_account().await;
        account.admin.client.put("/admin/settings", &json!({"email": email})).await.expect(200);
        time.wait_until_idle().await;
        time.advance(seconds(CACHE_TIME));
        let widget = account.create_widget_with(json!({}), channel).await;
        Self::with_visitor(host, account, widget).await
    }

    async fn with_visitor(host: &'h TestHost, account: TestAccount, widget: TestWidget) -> Self {
        let (visitor, address) = (widget.visitor().await, unique_email("visitor"));
        let contacts = json!({"name": "Ada", "email": address});
        visitor.call("visitor", json!({"contact_info": contacts, "source": "visitor"})).await.expect(200);
        Self { host, agent: account.admin.clone(), account, widget, visitor, address }
    }

    /// The visitor writes, and the agent accepts the chat.
    pub async fn open_accepted_chat(&self) {
        self.visitor.say("Where is my order?").await;
        self.agent.accept(1).await;
    }

    /// Lets every queued e-mail be sent, and returns those that this address has got, the first one first.
    pub async fn emails_to(&self, time: &VirtualTime<'_>, address: &str) -> Vec<Value> {
        time.run_until_queues_are_empty().await;
        let mut emails = self.sent_emails().await;
        emails.retain(|email| email["to"] == json!([address]));
        emails.reverse();
        emails
    }

    /// Delivers an e-mail to the service. Fields of `delivery` replace those of an e-mail from the visitor.
    pub async fn deliver(&self, recipient: &str, text: &str, changes: Value) {
        let from = changes["from"].as_str().unwrap_or(&self.address);
        let id = changes["message_id"].as_str().map_or_else(|| unique_email("id"), str::to_owned);
        let raw = format!("From: <{from}>\r\nTo: <{recipient}>\r\nMessage-ID: <{id}>\r\nSubject: Re: Hi\r\n\r\n{text}");
        let delivery = merged(json!({"raw": raw, "recipients": [recipient]}), changes);
        let url = format!("{}/_local/mail/receive", self.host.local.base_url());
        let response = reqwest::Client::new().post(url).json(&delivery).send().await.unwrap();
        assert_eq!(response.status(), 200);
    }

    /// Returns the texts of the visitor's messages in a chat.
    pub async fn visitor_texts(&self, chat: u64) -> Vec<String> {
        let timeline = self.agent.timeline(chat).await;
        let of_visitor = timeline.iter().filter(|entry| entry["from"] == "visitor");
        of_visitor.map(|entry| entry["text"].as_str().unwrap_or_default().to_owned()).collect()
    }

    async fn sent_emails(&self) -> Vec<Value> {
        let url = format!("{}/_local/mail", self.host.local.base_url());
        let body: Value = reqwest::get(url).await.unwrap().json().await.unwrap();
        body["emails"].as_array().unwrap().clone()
    }
}

/// Returns the address to which the recipient of an e-mail replies.
pub fn reply_address(email: &Value) -> String {
    email["reply_to"][0].as_str().unwrap_or_else(|| panic!("{email}")).to_owned()
}
