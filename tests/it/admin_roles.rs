//! Who is an admin of an account, and what an agent signs in with.

use futures_util::future::{join, join_all};
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{Account, Agent, PASSWORD, Reply, send, unique_email};
use crate::harness::{Stage, on_stage};

const NEW_PASSWORD: &str = "another long password";

fn path(agent: &Agent) -> String {
    format!("/admin/agents/{}", agent.id)
}

/// The ids of the account's admins, as one of them is shown.
async fn admins(by: &Agent) -> Vec<Value> {
    let listed = by.call.get("/admin/agents").await.expect(200);
    let all = listed["agents"].as_array().unwrap().iter();
    all.filter(|agent| agent["role"] == "admin").map(|agent| agent["agent_id"].clone()).collect()
}

async fn log_in(stage: &Stage, email: &str, password: &str) -> Reply {
    stage.anyone.post("/agent/login", &json!({"email": email, "password": password})).await
}

#[test]
fn admins_who_remove_each_other_leave_one_admin() {
    on_stage(async |stage| {
        let change = |method: &Method| json!({"role": if method == Method::PATCH { "agent" } else { "admin" }});
        let rounds = [Method::PATCH, Method::DELETE].into_iter().cycle().take(6);
        join_all(rounds.map(async |method| {
            let account = stage.account().await;
            let (one, two) = (&account.admin, &account.agent_with("Ada", json!({"role": "admin"})).await);
            let remove = async |by: &Agent, whom: &Agent| {
                send(by.call.request(method.clone(), &path(whom)).json(&change(&method))).await
            };
            let (by_one, by_two) = join(remove(one, two), remove(two, one)).await;
            let (kept, refused) = if by_one.status == 200 { (one, by_two) } else { (two, by_one) };
            // The refused one may have lost the session already.
            assert!([401, 403].contains(&refused.status), "{method}: {refused:?}");
            assert_eq!(admins(kept).await, std::slice::from_ref(&kept.id), "{method}");
        }))
        .await;
    });
}

#[test]
fn admins_do_not_change_their_own_role() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let (one, two) = (&account.admin, account.agent_with("Ada", json!({"role": "admin"})).await);
        one.call.patch(&path(one), &json!({"role": "agent"})).await.expect_error(409, "conflict");
        one.call.delete(&path(one)).await.expect_error(409, "conflict");
        one.call.patch(&path(one), &json!({"name": "Grace H.", "role": "admin"})).await.expect(200);
        // Naming a role ended the sessions.
        let one = Agent::log_in(&stage.anyone, one.id.clone(), &one.email).await;
        one.call.patch(&path(&two), &json!({"role": "agent"})).await.expect(200);
        one.call.patch(&path(&two), &json!({"role": "admin"})).await.expect(200);
        one.call.delete(&path(&two)).await.expect(200);
        assert_eq!(admins(&one).await, std::slice::from_ref(&one.id));
    });
}

#[test]
fn parallel_changes_of_an_e_mail_are_conflicts() {
    on_stage(async |stage| {
        join_all((0..4).map(async |_| {
            let account = stage.account().await;
            let (ann, ben) = (account.agent("Ann").await, account.agent("Ben").await);
            let moved = async |agent: &Agent, email: &str| {
                account.admin.call.patch(&path(agent), &json!({"email": email})).await
            };
            let [one, two, three] = ["one", "two", "three"].map(unique_email);
            let first = join_all([moved(&ann, &one), moved(&ann, &two), moved(&ann, &three)]).await;
            only_one_succeeds(stage, &account, &ann, &first, &[&ann.email, &one, &two, &three]).await;
            let same = unique_email("same");
            let second = join_all([moved(&ann, &same), moved(&ben, &same)]).await;
            let statuses: Vec<u16> = second.iter().map(|reply| reply.status).collect();
            assert!(statuses == [200, 409] || statuses == [409, 200], "{second:?}");
            assert_eq!(log_in(stage, &same, PASSWORD).await.status, 200);
        }))
        .await;
    });
}

/// The agent signs in by the e-mail that is shown, and by no other of these.
async fn only_one_succeeds(stage: &Stage, account: &Account, agent: &Agent, replies: &[Reply], emails: &[&str]) {
    let done = replies.iter().filter(|reply| reply.status == 200).count();
    let refused = replies.iter().filter(|reply| reply.status == 409).count();
    assert!(done >= 1 && done + refused == replies.len(), "{replies:?}");
    let shown = account.admin.call.get(&path(agent)).await.expect(200)["email"].clone();
    for email in emails {
        let expected = if shown == *email { 200 } else { 401 };
        assert_eq!(log_in(stage, email, PASSWORD).await.status, expected, "{email}, shown: {shown}");
    }
}

#[test]
fn the_operator_adds_and_resets_an_admin() {
    on_stage(async |stage| {
        let (account, other) = (stage.account().await, stage.account().await);
        let target = format!("/operator/accounts/{}/admins", account.id.as_str().unwrap());
        let person = |email: &str| json!({"name": "Eve", "email": email, "password": NEW_PASSWORD});
        let admit = async |email: &str| stage.operator.post(&target, &person(email)).await;

        let email = unique_email("eve");
        let made = admit(&email).await.expect(201);
        assert_eq!((&made["role"], &made["name"], &made["email"]), (&json!("admin"), &json!("Eve"), &json!(email)));
        let session = log_in(stage, &email, NEW_PASSWORD).await.expect(200);
        let eve = stage.anyone.with(session["token"].as_str().unwrap());
        assert_eq!(eve.get("/admin/agents").await.expect(200)["agents"].as_array().unwrap().len(), 2);

        // An agent becomes an admin; an admin stays one. Both lose password and sessions and keep the rest.
        let ann = account.agent_with("Ann", json!({"phone": "+31 20 1"})).await;
        for agent in [&ann, &account.admin] {
            let before = eve.get(&path(agent)).await.expect(200);
            let reset = admit(&agent.email.to_uppercase()).await.expect(200);
            assert_eq!(reset["role"], "admin");
            for kept in ["agent_id", "name", "email", "phone", "photo", "created_at"] {
                assert_eq!(reset[kept], before[kept], "{kept}");
            }
            agent.call.get("/agent/presence").await.expect_error(401, "unauthorized");
            log_in(stage, &agent.email, PASSWORD).await.expect_error(401, "invalid_credentials");
            assert_eq!(log_in(stage, &agent.email, NEW_PASSWORD).await.expect(200)["agent"]["role"], "admin");
        }

        admit(&other.admin.email).await.expect_error(409, "conflict");
        let unknown = "/operator/accounts/unknown/admins";
        for email in [&account.admin.email, &unique_email("nobody")] {
            stage.operator.post(unknown, &person(email)).await.expect_error(404, "not_found");
        }
        for (field, body) in [
            ("name", json!({"email": email, "password": NEW_PASSWORD})),
            ("email", json!({"name": "Eve", "email": "nonsense", "password": NEW_PASSWORD})),
            ("password", json!({"name": "Eve", "email": email, "password": "short"})),
        ] {
            let refused = stage.operator.post(&target, &body).await.expect_error(400, "invalid_request");
            assert_eq!(refused["error"]["field"], field);
        }
        log_in(stage, &other.admin.email, PASSWORD).await.expect(200);
    });
}
