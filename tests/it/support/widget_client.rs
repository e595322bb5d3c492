//! A widget, and the visitors whose browsers call its endpoints.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::agent_socket::AgentSocket;
use crate::support::api_client::{ApiClient, ApiResponse, TestAccount, merged, send};

/// The site of the pages in which the widget is embedded.
pub const SITE: &str = "https://shop.example";

#[derive(Clone)]
pub struct TestWidget {
    pub client: ApiClient,
    pub id: String,
}

impl TestAccount {
    pub async fn create_widget(&self, settings: Value) -> TestWidget {
        self.create_widget_with(settings, json!({})).await
    }

    /// Creates a widget with these widget settings and these additional channel fields.
    pub async fn create_widget_with(&self, settings: Value, extra_fields: Value) -> TestWidget {
        let body = merged(json!({"kind": "widget", "name": "Shop", "widget": settings}), extra_fields);
        let created = self.admin.client.post("/admin/channels", &body).await.expect(201);
        let id = created["widget_id"].as_str().unwrap_or_else(|| panic!("{created}")).to_owned();
        TestWidget { client: self.admin.client.without_token(), id }
    }
}

impl TestWidget {
    /// Calls an endpoint as a browser on a page of [`SITE`] does.
    pub async fn call(&self, endpoint: &str, body: &Value) -> ApiResponse {
        self.call_from(Some(SITE), endpoint, &body.to_string()).await
    }

    /// Calls an endpoint with any body, as a browser on a page of this origin does. With `None`, the request has no
    /// `Origin` header.
    pub async fn call_from(&self, origin: Option<&str>, endpoint: &str, body: &str) -> ApiResponse {
        let request = self.client.request(Method::POST, &format!("/widget/{}/{endpoint}", self.id));
        let request = request.header("content-type", "text/plain;charset=UTF-8").body(body.to_owned());
        send(match origin {
            Some(origin) => request.header("origin", origin),
            None => request,
        })
        .await
    }

    /// Creates a visitor by starting a session without a token.
    pub async fn visitor(&self) -> TestVisitor {
        let session = self.call("session", &json!({"identify": true})).await.expect(200);
        let token = session["visitor"]["token"].as_str().unwrap_or_else(|| panic!("{session}")).to_owned();
        TestVisitor { widget: self.clone(), token }
    }
}

#[derive(Clone)]
pub struct TestVisitor {
    pub widget: TestWidget,
    pub token: String,
}

impl TestVisitor {
    /// Calls an endpoint with the visitor's token and these fields.
    pub async fn call(&self, endpoint: &str, fields: Value) -> ApiResponse {
        self.widget.call(endpoint, &merged(json!({"token": self.token}), fields)).await
    }

    pub async fn open_socket(&self) -> AgentSocket {
        let ticket = self.call("socket-ticket", json!({})).await.expect(201);
        let url = format!("{}?ticket={}", ticket["url"].as_str().unwrap(), ticket["ticket"].as_str().unwrap());
        AgentSocket::connect(&url).await.expect("the ticket is valid")
    }

    pub async fn session(&self) -> Value {
        self.call("session", json!({})).await.expect(200)
    }

    /// Sends a message with this text, which is also the message's id. Returns the response's body.
    pub async fn say(&self, text: &str) -> Value {
        let message = json!({"message_id": text, "message": {"type": "text", "text": text}});
        self.call("message", message).await.expect(200)
    }

    /// Returns the authors and texts of the messages that the visitor sees.
    pub async fn messages(&self) -> Vec<(String, String)> {
        let session = self.session().await;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        session["messages"].as_array().unwrap().iter().map(|one| (text(&one["from"]), text(&one["text"]))).collect()
    }
}
