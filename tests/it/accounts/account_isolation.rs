//! Tests that no account can read or change another account's data.

use reqwest::Method;
use serde_json::json;

use crate::support::account_resources::{AccountResources, add_department};
use crate::support::api_client::send;
use crate::support::protected_routes::{protected_routes, valid_body};
use crate::support::test_host::{ActiveChat, VISITOR_ID, run_on_shared_host};
use crate::support::test_receiver::{CannedResponse, TestReceiver};

#[test]
fn account_cannot_access_data_of_another_account() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let seq = active_chat.send_text("Hello").await;
        active_chat.final_delivery(seq).await;
        let colleague = active_chat.account.create_agent("Ann").await;
        let created = json!({"name": "Sales", "agent_ids": [colleague.id]});
        active_chat.account.admin.client.post("/admin/departments", &created).await.expect(201);
        let other_account = host.create_account().await;
        let chat = format!("/agent/chats/{}", active_chat.number);
        let channel = format!("/admin/channels/{}", active_chat.channel.id);
        let agent = format!("/admin/agents/{}", colleague.id);
        let department = "/admin/departments/1".to_owned();
        let text = json!({"type": "text", "text": "Hi"});
        let requests = [
            (Method::GET, chat.clone(), json!({})),
            (Method::GET, format!("{chat}/messages"), json!({})),
            (Method::POST, format!("{chat}/accept"), json!({})),
            (Method::POST, format!("{chat}/messages"), text),
            (Method::POST, format!("{chat}/notes"), json!({"text": "Hi"})),
            (Method::POST, format!("{chat}/typing"), json!({"type": "typein"})),
            (Method::POST, format!("{chat}/messages/{seq}/retry"), json!({})),
            (Method::POST, format!("{chat}/transfer"), json!({"agent_id": 1})),
            (Method::POST, format!("{chat}/close"), json!({})),
            (Method::GET, channel.clone(), json!({})),
            (Method::PATCH, channel.clone(), json!({"name": "Mine"})),
            (Method::POST, format!("{channel}/rotate"), json!({})),
            (Method::DELETE, channel.clone(), json!({})),
            (Method::GET, agent.clone(), json!({})),
            (Method::PATCH, agent.clone(), json!({"name": "Mine"})),
            (Method::DELETE, agent, json!({})),
            (Method::GET, department.clone(), json!({})),
            (Method::PATCH, department.clone(), json!({"name": "Mine"})),
            (Method::DELETE, department, json!({})),
        ];
        for (method, path, body) in requests {
            let reply = send(other_account.admin.client.request(method.clone(), &path).json(&body)).await;
            assert_eq!(reply.status, 404, "{method} {path}: {}", reply.text);
            reply.expect_error(404, "not_found");
        }
        assert!(other_account.admin.chats("open").await.is_empty());
        let listed = other_account.admin.client.get("/admin/channels").await.expect(200);
        assert_eq!(listed, json!({"channels": []}));

        assert_eq!(active_chat.agent.chat(active_chat.number).await["state"], "active");
        assert_eq!(active_chat.account.admin.client.get(&channel).await.expect(200)["name"], "App");
        active_chat.channel.send_text(VISITOR_ID, "Still here").await;
    });
}

#[test]
fn no_route_reaches_data_of_another_account() {
    run_on_shared_host(async |host| {
        let owner = AccountResources::create(host).await;
        let other_account = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        add_department(&other_account.agent).await;
        let before = owner.readable_resources().await;
        let mut routes = protected_routes();
        routes.retain(|(_, template)| template.contains('{') && !template.starts_with("/operator/"));
        assert!(routes.len() > 20);
        for (method, template) in routes {
            let (path, body) = (owner.path(&template), valid_body(&method, &template));
            let reply = send(other_account.agent.client.request(method.clone(), &path).json(&body)).await;
            assert_eq!(reply.status, 404, "{method} {path}: {}", reply.text);
            reply.expect_error(404, "not_found");
        }
        assert_eq!(owner.readable_resources().await, before);
        assert_eq!(
            (owner.integrator.requests().len(), owner.webhook_receiver.connections()),
            (1, 0),
            "no receiver got another request"
        );
    });
}
