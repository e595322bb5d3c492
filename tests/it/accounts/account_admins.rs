//! Tests for adding, changing and removing an account's admins, and for concurrent changes of agents' e-mail addresses.

use futures_util::future::{join, join_all};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::api_client::{ApiResponse, PASSWORD, TestAccount, TestAgent, send, unique_email};
use crate::support::test_host::{TestHost, run_on_shared_host};

const NEW_PASSWORD: &str = "another long password";

fn agent_path(agent: &TestAgent) -> String {
    format!("/admin/agents/{}", agent.id)
}

async fn admin_ids(agent: &TestAgent) -> Vec<Value> {
    let listed = agent.client.get("/admin/agents").await.expect(200);
    let all = listed["agents"].as_array().unwrap().iter();
    all.filter(|agent| agent["role"] == "admin").map(|agent| agent["agent_id"].clone()).collect()
}

async fn log_in(host: &TestHost, email: &str, password: &str) -> ApiResponse {
    host.anonymous.post("/agent/login", &json!({"email": email, "password": password})).await
}

#[test]
fn concurrent_removal_of_two_admins_leaves_one_admin() {
    run_on_shared_host(async |host| {
        let change = |method: &Method| json!({"role": if method == Method::PATCH { "agent" } else { "admin" }});
        let rounds = [Method::PATCH, Method::DELETE].into_iter().cycle().take(6);
        join_all(rounds.map(async |method| {
            let account = host.create_account().await;
            let (one, two) = (&account.admin, &account.create_agent_with("Ada", json!({"role": "admin"})).await);
            let remove = async |actor: &TestAgent, target: &TestAgent| {
                send(actor.client.request(method.clone(), &agent_path(target)).json(&change(&method))).await
            };
            let (by_one, by_two) = join(remove(one, two), remove(two, one)).await;
            let (remaining, rejected) = if by_one.status == 200 { (one, by_two) } else { (two, by_one) };
            // The rejected request gets 401 if the other admin has already removed its sender, because the removal ends
            // the sender's session. Otherwise, it gets 403.
            assert!([401, 403].contains(&rejected.status), "{method}: {rejected:?}");
            assert_eq!(admin_ids(remaining).await, std::slice::from_ref(&remaining.id), "{method}");
        }))
        .await;
    });
}

#[test]
fn admins_cannot_change_their_own_role() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let (one, two) = (&account.admin, account.create_agent_with("Ada", json!({"role": "admin"})).await);
        one.client.patch(&agent_path(one), &json!({"role": "agent"})).await.expect_error(409, "conflict");
        one.client.delete(&agent_path(one)).await.expect_error(409, "conflict");
        one.client.patch(&agent_path(one), &json!({"name": "Grace H.", "role": "admin"})).await.expect(200);
        // A request that contains `role` ends the agent's sessions, even if the role does not change.
        let one = TestAgent::log_in(&host.anonymous, one.id.clone(), &one.email).await;
        one.client.patch(&agent_path(&two), &json!({"role": "agent"})).await.expect(200);
        one.client.patch(&agent_path(&two), &json!({"role": "admin"})).await.expect(200);
        one.client.delete(&agent_path(&two)).await.expect(200);
        assert_eq!(admin_ids(&one).await, std::slice::from_ref(&one.id));
    });
}

#[test]
fn concurrent_email_changes_conflict() {
    run_on_shared_host(async |host| {
        join_all((0..4).map(async |_| {
            let account = host.create_account().await;
            let (ann, ben) = (account.create_agent("Ann").await, account.create_agent("Ben").await);
            let change_email = async |agent: &TestAgent, email: &str| {
                account.admin.client.patch(&agent_path(agent), &json!({"email": email})).await
            };
            let [one, two, three] = ["one", "two", "three"].map(unique_email);
            let first =
                join_all([change_email(&ann, &one), change_email(&ann, &two), change_email(&ann, &three)]).await;
            assert_only_stored_email_works(host, &account, &ann, &first, &[&ann.email, &one, &two, &three]).await;
            let same = unique_email("same");
            let second = join_all([change_email(&ann, &same), change_email(&ben, &same)]).await;
            let statuses: Vec<u16> = second.iter().map(|reply| reply.status).collect();
            assert!(statuses == [200, 409] || statuses == [409, 200], "{second:?}");
            assert_eq!(log_in(host, &same, PASSWORD).await.status, 200);
        }))
        .await;
    });
}

/// Checks that at least one change succeeded and all others conflicted, and that the agent can log in only with the
/// stored e-mail address.
async fn assert_only_stored_email_works(
    host: &TestHost,
    account: &TestAccount,
    agent: &TestAgent,
    replies: &[ApiResponse],
    emails: &[&str],
) {
    let succeeded = replies.iter().filter(|reply| reply.status == 200).count();
    let conflicts = replies.iter().filter(|reply| reply.status == 409).count();
    assert!(succeeded >= 1 && succeeded + conflicts == replies.len(), "{replies:?}");
    let stored = account.admin.client.get(&agent_path(agent)).await.expect(200)["email"].clone();
    for email in emails {
        let expected = if stored == *email { 200 } else { 401 };
        assert_eq!(log_in(host, email, PASSWORD).await.status, expected, "{email}, stored: {stored}");
    }
}

#[test]
fn operator_adds_and_resets_an_admin() {
    run_on_shared_host(async |host| {
        let (account, other) = (host.create_account().await, host.create_account().await);
        let target = format!("/operator/accounts/{}/admins", account.id.as_str().unwrap());
        let person = |email: &str| json!({"name": "Eve", "email": email, "password": NEW_PASSWORD});
        let add_admin = async |email: &str| host.operator.post(&target, &person(email)).await;

        let email = unique_email("eve");
        let created = add_admin(&email).await.expect(201);
        assert_eq!(
            (&created["role"], &created["name"], &created["email"]),
            (&json!("admin"), &json!("Eve"), &json!(email))
        );
        let session = log_in(host, &email, NEW_PASSWORD).await.expect(200);
        let eve = host.anonymous.with_token(session["token"].as_str().unwrap());
        assert_eq!(eve.get("/admin/agents").await.expect(200)["agents"].as_array().unwrap().len(), 2);

        // If the new admin's e-mail address already belongs to an agent, that agent becomes an admin or remains one. In
        // both cases, the password is replaced and existing sessions end, but all other data stays the same.
        let ann = account.create_agent_with("Ann", json!({"phone": "+31 20 123 4567"})).await;
        for agent in [&ann, &account.admin] {
            let before = eve.get(&agent_path(agent)).await.expect(200);
            let reset = add_admin(&agent.email.to_uppercase()).await.expect(200);
            assert_eq!(reset["role"], "admin");
            for field in ["agent_id", "name", "email", "phone", "photo", "created_at"] {
                assert_eq!(reset[field], before[field], "{field}");
            }
            agent.client.get("/agent/presence").await.expect_error(401, "unauthorized");
            log_in(host, &agent.email, PASSWORD).await.expect_error(401, "invalid_credentials");
            assert_eq!(log_in(host, &agent.email, NEW_PASSWORD).await.expect(200)["agent"]["role"], "admin");
        }

        add_admin(&other.admin.email).await.expect_error(409, "conflict");
        let unknown = "/operator/accounts/unknown/admins";
        for email in [&account.admin.email, &unique_email("nobody")] {
            host.operator.post(unknown, &person(email)).await.expect_error(404, "not_found");
        }
        for (field, body) in [
            ("name", json!({"email": email, "password": NEW_PASSWORD})),
            ("email", json!({"name": "Eve", "email": "nonsense", "password": NEW_PASSWORD})),
            ("password", json!({"name": "Eve", "email": email, "password": "short"})),
        ] {
            let refused = host.operator.post(&target, &body).await.expect_error(400, "invalid_request");
            assert_eq!(refused["error"]["field"], field);
        }
        log_in(host, &other.admin.email, PASSWORD).await.expect(200);
    });
}
