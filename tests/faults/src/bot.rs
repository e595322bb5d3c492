//! An account's bot. For each event that its provider accepts and that needs a reaction, it sends a message, invites an
//! agent, or does not react.

use std::collections::BTreeSet;
use std::sync::Arc;

use local::faults::Generator;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;

use crate::client::ApiClient;
use crate::conversations::{Request, send};
use crate::records::{Action, Records};

pub struct Bot {
    pub client: ApiClient,
    pub path: String,
    pub generator: Generator,
    pub records: Records,
}

impl Bot {
    /// Reacts to the events until the channel `events` is closed, and waits for the last reactions.
    pub async fn run(self, mut events: UnboundedReceiver<Value>) {
        let bot = Arc::new(self);
        let mut reactions = JoinSet::new();
        let mut known = BTreeSet::new();
        while let Some(event) = events.recv().await {
            let id = event["id"].as_str().unwrap_or_default().to_owned();
            let needs_reaction = ["CLIENT_MESSAGE", "AGENT_UNAVAILABLE"].iter().any(|name| event["event"] == *name);
            // A correct bot reacts only once to a repeated event.
            if needs_reaction && known.insert(id.clone()) {
                let bot = Arc::clone(&bot);
                reactions.spawn(async move { bot.react(&id, &event).await });
            }
        }
        reactions.join_all().await;
    }

    async fn react(&self, id: &str, event: &Value) {
        let said = event["message"]["text"].as_str().unwrap_or_default();
        // The choice depends on the text alone, because ids are different in every run.
        let choice = self.generator.part(said).below(100);
        let chat = event["chat_id"].as_str().and_then(|chat| chat.parse().ok());
        let (action, text, body) = if choice < 65 {
            let text = format!("bot on {id}");
            let message = json!({"type": "TEXT", "text": text, "timestamp": 1_700_000_000});
            let body = json!({"event": "BOT_MESSAGE", "id": id, "chat_id": event["chat_id"], "message": message});
            (Action::BotMessage, Some(text), body)
        } else if choice < 85 {
            (Action::BotInvite, None, json!({"event": "INVITE_AGENT", "id": id, "chat_id": event["chat_id"]}))
        } else {
            return;
        };
        let request = Request { action, chat, agent: None, to: None, text, path: self.path.clone(), body };
        send(&self.client, &self.records, request, Some(4)).await;
    }
}
