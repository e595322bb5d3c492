//! Tests for the passwords of agents, and for the sessions that agents list and end.

use serde_json::{Value, json};

use crate::support::agent_socket::AgentSocket;
use crate::support::api_client::{ApiClient, ApiResponse, PASSWORD, TestAgent, unique_email};
use crate::support::test_host::{TestHost, run_on_shared_host};
use crate::support::wait::seconds;

const NEW_PASSWORD: &str = "daffodils in the summer sun";

async fn log_in(host: &TestHost, email: &str, password: &str) -> ApiResponse {
    host.anonymous.post("/agent/login", &json!({"email": email, "password": password})).await
}

async fn change_password(client: &ApiClient, current: &str, new: &str) -> ApiResponse {
    client.put("/agent/password", &json!({"current_password": current, "new_password": new})).await
}

#[test]
fn weak_passwords_are_refused_and_invisible_characters_in_addresses_too() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let add = async |email: &str, password: &str| {
            let body = json!({"name": "Ann", "email": email, "password": password});
            let reply = account.admin.client.post("/admin/agents", &body).await;
            reply.expect_error(400, "invalid_request")["error"]["field"].clone()
        };
        let blanks = " ".repeat(12);
        for password in
            ["password", "elevenchars", "aaaaaaaaaaaa", "Password1234", "\0\0\0\0\0\0\0\0\0\0\0\0", &*blanks]
        {
            assert_eq!(add(&unique_email("ann"), password).await, "password", "{password:?}");
        }
        let email = unique_email("ann");
        assert_eq!(add(&email, &email).await, "password", "the e-mail address");
        for invisible in ["\u{200b}", "\u{ad}", "\u{202e}"] {
            assert_eq!(add(&format!("a{invisible}{email}"), PASSWORD).await, "email", "{invisible:?}");
        }
        let weak = change_password(&account.admin.client, PASSWORD, "password1234").await;
        assert_eq!(weak.expect_error(400, "invalid_request")["error"]["field"], "new_password");
        let same = change_password(&account.admin.client, PASSWORD, PASSWORD).await;
        assert_eq!(same.expect_error(400, "invalid_request")["error"]["field"], "new_password");
        let wrong = change_password(&account.admin.client, "not the password", NEW_PASSWORD).await;
        assert_eq!(wrong.expect_error(400, "invalid_request")["error"]["field"], "current_password");
    });
}

#[test]
fn own_password_is_changed_and_the_other_sessions_end() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let ann = account.create_agent("Ann").await;
        let other = TestAgent::log_in(&host.anonymous, ann.id.clone(), &ann.email).await;
        let changed = change_password(&ann.client, PASSWORD, NEW_PASSWORD).await.expect(200);
        assert_eq!(changed["ended_sessions"], 1);
        ann.client.get("/agent/me").await.expect(200);
        other.client.get("/agent/me").await.expect_error(401, "unauthorized");
        log_in(host, &ann.email, PASSWORD).await.expect_error(401, "invalid_credentials");
        log_in(host, &ann.email, NEW_PASSWORD).await.expect(200);
    });
}

#[test]
fn one_time_password_must_be_changed_before_anything_else() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let email = unique_email("ann");
        let body = json!({"name": "Ann", "email": email, "password": PASSWORD, "must_change_password": true});
        let id = account.admin.client.post("/admin/agents", &body).await.expect(201)["agent_id"].clone();
        let session = log_in(host, &email, PASSWORD).await.expect(200);
        assert_eq!(session["must_change_password"], true);
        let client = host.anonymous.with_token(session["token"].as_str().unwrap());
        assert_eq!(client.get("/agent/me").await.expect(200)["must_change_password"], true);
        for path in ["/agent/chats", "/agent/sessions", "/agent/agents"] {
            client.get(path).await.expect_error(403, "password_change_required");
        }
        client.post("/agent/socket-ticket", &json!({})).await.expect_error(403, "password_change_required");
        change_password(&client, PASSWORD, NEW_PASSWORD).await.expect(200);
        client.get("/agent/chats").await.expect(200);
        assert_eq!(log_in(host, &email, NEW_PASSWORD).await.expect(200)["must_change_password"], false);

        let path = format!("/admin/agents/{id}");
        let alone = account.admin.client.patch(&path, &json!({"must_change_password": true})).await;
        assert_eq!(alone.expect_error(400, "invalid_request")["error"]["field"], "must_change_password");
        let reset = json!({"password": PASSWORD, "must_change_password": true});
        account.admin.client.patch(&path, &reset).await.expect(200);
        client.get("/agent/me").await.expect_error(401, "unauthorized");
        assert_eq!(log_in(host, &email, PASSWORD).await.expect(200)["must_change_password"], true);
    });
}

#[test]
fn new_e_mail_address_ends_the_sessions() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let ann = account.create_agent("Ann").await;
        let path = format!("/admin/agents/{}", ann.id);
        account.admin.client.patch(&path, &json!({"email": unique_email("anna")})).await.expect(200);
        ann.client.get("/agent/me").await.expect_error(401, "unauthorized");
    });
}

#[test]
fn revoked_session_ends_with_its_socket() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let ann = account.create_agent("Ann").await;
        let lost = TestAgent::log_in(&host.anonymous, ann.id.clone(), &ann.email).await;
        let mut socket = AgentSocket::open(&lost).await;
        let sessions = ann.client.get("/agent/sessions").await.expect(200)["sessions"].clone();
        let all = sessions.as_array().unwrap();
        assert_eq!(all.len(), 2, "{sessions}");
        let (current, others): (Vec<_>, Vec<_>) = all.iter().partition(|session| session["current"] == true);
        assert_eq!((current.len(), others.len()), (1, 1), "{sessions}");
        assert!(others[0]["created_at"].is_u64() && others[0]["source_address"].is_string(), "{sessions}");
        let path = format!("/agent/sessions/{}", others[0]["id"].as_str().unwrap());
        account.admin.client.delete(&path).await.expect_error(404, "not_found");
        ann.client.delete(&path).await.expect(200);
        ann.client.delete(&path).await.expect_error(404, "not_found");
        lost.client.get("/agent/me").await.expect_error(401, "unauthorized");
        socket.wait_until_closed(seconds(5)).await;
        TestAgent::log_in(&host.anonymous, ann.id.clone(), &ann.email).await;
        let ended: Value = ann.client.delete("/agent/sessions").await.expect(200);
        assert_eq!(ended["ended_sessions"], 1);
        ann.client.get("/agent/me").await.expect(200);
    });
}
