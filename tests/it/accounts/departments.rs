//! Tests for departments, for the chats that their members receive, and for transferring chats to agents and
//! departments.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::account_with_webhook::{add_webhook, final_webhook_delivery, ok_response, wait_for_event};
use crate::support::api_client::{ApiResponse, TestAccount, TestAgent, TestChannel, number, send};
use crate::support::bot_fixture::BotFixture;
use crate::support::test_host::{
    TestHost, VISITOR_ID, open_accepted_chat, post_raw, run_on_shared_host, run_with_virtual_time,
};
use crate::support::test_receiver::TestReceiver;
use crate::support::wait::{WAIT_TIMEOUT, seconds};

const DEPARTMENTS_PATH: &str = "/admin/departments";
const INTEGRATOR_URL: &str = "https://app.example/hook";

impl TestAccount {
    pub async fn create_department(&self, name: &str, members: &[&TestAgent]) -> u64 {
        let agent_ids: Vec<&Value> = members.iter().map(|agent| &agent.id).collect();
        let created =
            self.admin.client.post(DEPARTMENTS_PATH, &json!({"name": name, "agent_ids": agent_ids})).await.expect(201);
        number(&created["department_id"])
    }
}

impl TestAgent {
    async fn transfer(&self, chat: u64, to: Value) -> ApiResponse {
        self.client.post(&format!("/agent/chats/{chat}/transfer"), &to).await
    }

    async fn try_accept(&self, chat: u64) -> ApiResponse {
        self.client.post(&format!("/agent/chats/{chat}/accept"), &json!({})).await
    }

    async fn can_see(&self, chat: u64) -> bool {
        self.chats("open").await.iter().any(|row| row["chat_id"] == chat)
    }
}

/// An account with department 1, Sales. Ann and Anton are members of Sales; Ben is not in any department. The three
/// agents are online; the admin is not.
struct Team {
    account: TestAccount,
    ann: TestAgent,
    anton: TestAgent,
    ben: TestAgent,
    channel: TestChannel,
}

impl Team {
    /// Creates a team with a channel whose audience is all agents.
    async fn create(host: &TestHost) -> Self {
        Self::create_with(host, json!({})).await
    }

    /// Creates a team whose channel has these additional settings.
    async fn create_with(host: &TestHost, channel: Value) -> Self {
        let account = host.create_account().await;
        let [ann, anton, ben] =
            [account.create_agent("Ann").await, account.create_agent("Anton").await, account.create_agent("Ben").await];
        assert_eq!(account.create_department("Sales", &[&ann, &anton]).await, 1);
        for agent in [&ann, &anton, &ben] {
            agent.set_presence("online").await;
        }
        let channel = account.create_channel_with(INTEGRATOR_URL, channel).await;
        Self { account, ann, anton, ben, channel }
    }

    async fn create_with_chat_of_ben(host: &TestHost) -> Self {
        let team = Self::create(host).await;
        assert_eq!(open_accepted_chat(&team.ben, &team.channel, VISITOR_ID).await, 1);
        team
    }
}

#[test]
fn department_is_created_listed_read_changed_and_deleted() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let (admin, ann) = (&account.admin.client, account.create_agent("Ann").await);
        let department = |id: u64, name: &str, agent_ids: Value| {
            json!({
                "department_id": id, "name": name, "agent_ids": agent_ids, "bot_id": null, "business_hours": null,
                "assignment": null, "answer_times": null,
            })
        };
        let sales = department(1, "Sales", json!([ann.id]));
        let body = json!({"name": "Sales", "agent_ids": [ann.id, ann.id]});
        assert_eq!(admin.post(DEPARTMENTS_PATH, &body).await.expect(201), sales, "an agent is a member once");
        let support = department(2, "Support", json!([]));
        assert_eq!(admin.post(DEPARTMENTS_PATH, &json!({"name": "Support"})).await.expect(201), support);
        let listed = admin.get(DEPARTMENTS_PATH).await.expect(200);
        assert_eq!(listed, json!({"departments": [sales, support]}));

        let path = format!("{DEPARTMENTS_PATH}/1");
        assert_eq!(admin.get(&path).await.expect(200), sales);
        let renamed = department(1, "Sellers", json!([ann.id]));
        assert_eq!(admin.patch(&path, &json!({"name": "Sellers"})).await.expect(200), renamed);
        let all = department(1, "Sellers", json!([account.admin.id, ann.id]));
        let members = json!({"agent_ids": [account.admin.id, ann.id]});
        assert_eq!(admin.patch(&path, &members).await.expect(200), all);
        assert_eq!(admin.get(&path).await.expect(200), all);
        admin.delete(&format!("/admin/agents/{}", ann.id)).await.expect(200);
        assert_eq!(
            admin.get(&path).await.expect(200)["agent_ids"],
            json!([account.admin.id]),
            "a deleted agent is removed from the department"
        );

        admin.delete(&path).await.expect(200);
        for reply in [admin.get(&path).await, admin.delete(&path).await, admin.patch(&path, &members).await] {
            reply.expect_error(404, "not_found");
        }
        assert_eq!(account.create_department("Sales", &[]).await, 3, "numbers are not reused");
    });
}

#[test]
fn departments_are_numbered_per_account_and_isolated() {
    run_on_shared_host(async |host| {
        let (account, other) = (host.create_account().await, host.create_account().await);
        assert_eq!((account.create_department("A", &[]).await, account.create_department("B", &[]).await), (1, 2));
        assert_eq!(other.create_department("C", &[]).await, 1);
        let (theirs, change) = (format!("{DEPARTMENTS_PATH}/2"), json!({"name": "Mine"}));
        for method in [Method::GET, Method::PATCH, Method::DELETE] {
            let reply = send(other.admin.client.request(method, &theirs).json(&change)).await;
            reply.expect_error(404, "not_found");
        }
        assert_eq!(account.admin.client.get(&theirs).await.expect(200)["name"], "B");
    });
}

#[track_caller]
fn assert_invalid_field(reply: ApiResponse, field: &str) {
    let body = reply.expect_error(400, "invalid_request");
    assert_eq!(body["error"]["field"], field, "{body}");
}

#[test]
fn error_names_every_invalid_field_of_a_department() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let admin = &account.admin.client;
        account.create_department("Sales", &[]).await;
        let one = format!("{DEPARTMENTS_PATH}/1");
        let invalid_names = [json!(""), json!(null), json!(5), json!([]), json!("x".repeat(256))];
        let invalid_agents =
            [json!(1), json!("1"), json!(["x"]), json!([0]), json!([-1]), json!([1.5]), json!([1, 99])];
        let cases = invalid_names
            .map(|value| ("name", value))
            .into_iter()
            .chain(invalid_agents.map(|value| ("agent_ids", value)));
        for (field, value) in cases {
            let mut body = json!({"name": "Sales"});
            body[field] = value.clone();
            assert_invalid_field(admin.post(DEPARTMENTS_PATH, &body).await, field);
            assert_invalid_field(admin.patch(&one, &json!({field: value})).await, field);
        }
        assert_invalid_field(admin.post(DEPARTMENTS_PATH, &json!({})).await, "name");
        admin.patch(&one, &json!({"name": "x".repeat(255)})).await.expect(200);
        admin.get(&format!("{DEPARTMENTS_PATH}/x")).await.expect_error(404, "not_found");
        let listed = admin.get(DEPARTMENTS_PATH).await.expect(200);
        assert_eq!(listed["departments"].as_array().unwrap().len(), 1, "no other department was created: {listed}");
    });
}

#[test]
fn channel_refers_only_to_departments_of_its_account() {
    run_on_shared_host(async |host| {
        let (account, other) = (host.create_account().await, host.create_account().await);
        account.create_department("Sales", &[]).await;
        account.create_department("Support", &[]).await;
        other.create_department("Theirs", &[]).await;
        let created = account.create_channel_with(INTEGRATOR_URL, json!({"department_ids": [2, 1, 2]})).await;
        let path = format!("/admin/channels/{}", created.id);
        let admin = &account.admin.client;
        assert_eq!(admin.get(&path).await.expect(200)["department_ids"], json!([2, 1]));
        assert_eq!(admin.patch(&path, &json!({"department_ids": [1]})).await.expect(200)["department_ids"], json!([1]));

        let invalid = [json!(1), json!("1"), json!(["x"]), json!([0]), json!([3]), json!([1, 99])];
        for department_ids in invalid {
            assert_invalid_field(
                admin.patch(&path, &json!({"department_ids": department_ids})).await,
                "department_ids",
            );
            let body = json!({"name": "App", "integrator_url": INTEGRATOR_URL, "department_ids": department_ids});
            assert_invalid_field(admin.post("/admin/channels", &body).await, "department_ids");
        }
        let theirs = other.create_channel(INTEGRATOR_URL).await;
        let theirs = format!("/admin/channels/{}", theirs.id);
        assert_invalid_field(
            other.admin.client.patch(&theirs, &json!({"department_ids": [2]})).await,
            "department_ids",
        );

        admin.delete(&format!("{DEPARTMENTS_PATH}/1")).await.expect(200);
        let renamed = admin.patch(&path, &json!({"name": "Shop", "department_ids": [1]})).await.expect(200);
        assert_eq!(renamed["name"], "Shop", "a department deleted since the read does not prevent an update");
    });
}

#[test]
fn channel_chats_are_offered_to_members_of_its_department() {
    run_on_shared_host(async |host| {
        let Team { account, ann, anton, ben, channel } = Team::create_with(host, json!({"department_ids": []})).await;
        let sales = account.create_channel_with(INTEGRATOR_URL, json!({"department_ids": [1]})).await;
        let statuses = async || [channel.status().await.text, sales.status().await.text];
        assert_eq!(statuses().await, ["1", "1"]);
        for member in [&ann, &anton] {
            member.set_presence("offline").await;
        }
        assert_eq!(statuses().await, ["1", "0"], "Ben is not a member");

        sales.send_text(VISITOR_ID, "Hello").await;
        assert_eq!([ann.can_see(1).await, ben.can_see(1).await, account.admin.can_see(1).await], [true, false, true]);
        ben.try_accept(1).await.expect_error(403, "forbidden");
        ann.accept(1).await;
        channel.send_text(VISITOR_ID, "Hello").await;
        ben.accept(2).await;
        for row in ann.chats("active").await {
            let department = if row["chat_id"] == 1 { json!({"id": 1, "name": "Sales"}) } else { Value::Null };
            assert_eq!(row["department"], department, "{row}");
            assert_eq!(ann.chat(number(&row["chat_id"])).await["department"], department);
        }
    });
}

#[test]
fn channel_audience_combines_agents_and_departments() {
    run_on_shared_host(async |host| {
        let team = Team::create(host).await;
        let (account, carl) = (&team.account, team.account.create_agent("Carl").await);
        let both = account
            .create_channel_with(INTEGRATOR_URL, json!({"agent_ids": [team.ben.id], "department_ids": [1]}))
            .await;
        both.send_text(VISITOR_ID, "Hello").await;
        for (agent, expected) in [(&team.ann, true), (&team.anton, true), (&team.ben, true), (&carl, false)] {
            assert_eq!(agent.can_see(1).await, expected, "{}", agent.email);
        }
        carl.try_accept(1).await.expect_error(403, "forbidden");
        team.ben.accept(1).await;
    });
}

#[test]
fn bot_invitation_reaches_a_member_of_the_department() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let ann = fixture.account.create_agent("Ann").await;
        let department_id = fixture.account.create_department("Sales", &[&ann]).await;
        let path = format!("/admin/channels/{}", fixture.channel.id);
        fixture.agent.client.patch(&path, &json!({"department_ids": [department_id]})).await.expect(200);
        fixture.agent.set_presence("online").await;
        let client_message = fixture.send_visitor_text(VISITOR_ID, "A human, please").await;
        assert_eq!(client_message["agents_online"], false, "{client_message}");
        fixture.bot.invite_agent(&client_message["chat_id"]).await.expect(200);
        fixture.wait_for_event("AGENT_UNAVAILABLE").await;
        assert_eq!(fixture.chat_state(1).await, "bot");
        ann.set_presence("online").await;
        assert_eq!(fixture.send_visitor_text(VISITOR_ID, "Somebody?").await["agents_online"], true);
        fixture.bot.invite_agent(&client_message["chat_id"]).await.expect(200);
        fixture.wait_until_waiting(1, WAIT_TIMEOUT).await;
        assert_eq!(ann.chat(1).await["department"], json!({"id": department_id, "name": "Sales"}));
        ann.accept(1).await;
        fixture.wait_for_event("AGENT_JOINED").await;
    });
}

#[test]
fn new_member_receives_chats_within_ten_seconds() {
    run_with_virtual_time(async |host, time| {
        let Team { account, ben, .. } = Team::create(host).await;
        let sales = account.create_channel_with(INTEGRATOR_URL, json!({"department_ids": [1]})).await;
        sales.send_text(VISITOR_ID, "Hello").await;
        assert!(!ben.can_see(1).await);
        ben.try_accept(1).await.expect_error(403, "forbidden");
        let path = format!("{DEPARTMENTS_PATH}/1");
        account.admin.client.patch(&path, &json!({"agent_ids": [ben.id]})).await.expect(200);
        time.advance(seconds(10));
        ben.accept(1).await;
        assert!(ben.can_see(1).await);
    });
}

#[test]
fn channel_without_remaining_audience_is_open_to_everyone() {
    run_on_shared_host(async |host| {
        let Team { account, ann, anton, ben, .. } = Team::create(host).await;
        let named = json!({"agent_ids": [ann.id], "department_ids": [1]});
        let sales = account.create_channel_with(INTEGRATOR_URL, named).await;
        sales.send_text(VISITOR_ID, "Hello").await;
        account.admin.client.delete(&format!("{DEPARTMENTS_PATH}/1")).await.expect(200);
        account.admin.client.delete(&format!("/admin/agents/{}", ann.id)).await.expect(200);
        account.admin.client.delete(&format!("/admin/agents/{}", anton.id)).await.expect(200);
        assert_eq!(sales.status().await.text, "1", "Ben is online");
        assert!(ben.can_see(1).await);
        ben.accept(1).await;
    });
}

#[test]
fn chat_is_transferred_to_an_agent() {
    run_on_shared_host(async |host| {
        let Team { ann, ben, channel, .. } = Team::create_with_chat_of_ben(host).await;
        let row = ben.transfer(1, json!({"agent_id": ann.id})).await.expect(200);
        assert_eq!((&row["state"], &row["agent"]["id"], &row["department"]), (&json!("active"), &ann.id, &Value::Null));
        assert_eq!(ann.chat(1).await["agent"], json!({"id": ann.id, "name": "Ann"}));
        let note = ann.timeline(1).await.pop().unwrap();
        assert_eq!((&note["from"], &note["type"]), (&json!("system"), &json!("text")));
        assert_eq!(note["text"], "Ben transferred the chat to Ann");
        assert!(note["delivery"].is_null(), "the note is not sent to the visitor: {note}");

        let text = json!({"type": "text", "text": "mine"});
        ben.client.post("/agent/chats/1/messages", &text).await.expect_error(409, "conflict");
        ben.try_accept(1).await.expect_error(409, "conflict");
        ben.client.post("/agent/chats/1/close", &json!({})).await.expect_error(409, "conflict");
        channel.send_text(VISITOR_ID, "Who is there?").await;
        ann.client.post("/agent/chats/1/messages", &text).await.expect(201);
        ann.accept(1).await;
        ann.close(1).await;
    });
}

#[test]
fn agent_outside_the_audience_keeps_a_transferred_chat() {
    run_on_shared_host(async |host| {
        let Team { account, ann, ben, .. } = Team::create(host).await;
        let sales = account.create_channel_with(INTEGRATOR_URL, json!({"department_ids": [1]})).await;
        open_accepted_chat(&ann, &sales, VISITOR_ID).await;
        ann.transfer(1, json!({"agent_id": ben.id})).await.expect(200);
        assert!(ben.can_see(1).await);
        ben.accept(1).await;
        let department = json!({"id": 1, "name": "Sales"});
        assert_eq!(ben.chat(1).await["department"], department, "a transfer to an agent keeps the department");
        ben.close(1).await;
        assert_eq!(ben.chat(1).await["department"], department);
    });
}

#[test]
fn chat_transferred_to_a_department_is_offered_to_members() {
    run_on_shared_host(async |host| {
        let Team { account, ann, anton, ben, channel } = Team::create_with_chat_of_ben(host).await;
        let row = ben.transfer(1, json!({"department_id": 1})).await.expect(200);
        let department = json!({"id": 1, "name": "Sales"});
        assert_eq!((&row["state"], &row["agent"]), (&json!("waiting"), &Value::Null));
        assert_eq!(row["department"], department);
        assert_eq!(ann.timeline(1).await.pop().unwrap()["text"], "Ben transferred the chat to Sales");
        ben.client.get("/agent/chats/1/messages").await.expect_error(403, "forbidden");
        channel.send_text(VISITOR_ID, "Who is there?").await;
        for (agent, expected) in [(&ann, true), (&anton, true), (&ben, false), (&account.admin, true)] {
            assert_eq!(agent.can_see(1).await, expected, "{}", agent.email);
        }
        ben.try_accept(1).await.expect_error(403, "forbidden");
        ben.client.post("/agent/chats/1/close", &json!({})).await.expect_error(403, "forbidden");
        anton.accept(1).await;
        assert_eq!(ann.chats("active").await[0]["department"], department, "the department is kept");
        ann.try_accept(1).await.expect_error(409, "conflict");

        anton.transfer(1, json!({"agent_id": ben.id})).await.expect(200);
        ben.transfer(1, json!({"department_id": 1})).await.expect(200);
        account.admin.accept(1).await;
        assert_eq!(account.admin.chat(1).await["agent"]["id"], account.admin.id, "an admin can accept every chat");
    });
}

#[test]
fn chat_of_a_deleted_department_returns_to_channel_audience() {
    run_with_virtual_time(async |host, time| {
        let Team { account, ann, ben, .. } = Team::create(host).await;
        let only_ben = account.create_channel_with(INTEGRATOR_URL, json!({"agent_ids": [ben.id]})).await;
        open_accepted_chat(&ben, &only_ben, VISITOR_ID).await;
        ben.transfer(1, json!({"department_id": 1})).await.expect(200);
        ben.try_accept(1).await.expect_error(403, "forbidden");
        account.admin.client.delete(&format!("{DEPARTMENTS_PATH}/1")).await.expect(200);
        time.advance(seconds(10));
        ben.accept(1).await;
        ben.transfer(1, json!({"department_id": 1})).await.expect_error(400, "invalid_request");
        assert_eq!(ben.chat(1).await["department"], json!({"id": 1, "name": "Sales"}), "the chat keeps the name");
        ann.client.get("/agent/chats/1").await.expect_error(403, "forbidden");
    });
}

#[test]
fn only_the_owner_or_an_admin_transfers_a_chat() {
    run_on_shared_host(async |host| {
        let Team { account, ann, anton, ben, channel } = Team::create(host).await;
        let all_agents = [&ann, &anton, &ben, &account.admin];
        let (to_ann, to_sales) = (json!({"agent_id": ann.id}), json!({"department_id": 1}));
        channel.send_text(VISITOR_ID, "Hello").await;
        for agent in all_agents {
            for to in [&to_ann, &to_sales] {
                agent.transfer(1, to.clone()).await.expect_error(409, "conflict");
            }
        }
        ben.accept(1).await;
        anton.transfer(1, to_ann.clone()).await.expect_error(409, "conflict");
        anton.transfer(1, to_sales.clone()).await.expect_error(409, "conflict");
        account.admin.transfer(1, to_ann.clone()).await.expect(200);
        assert_eq!(ann.chat(1).await["agent"]["id"], ann.id);
        account.admin.transfer(1, to_sales.clone()).await.expect(200);
        ben.transfer(1, to_ann.clone()).await.expect_error(403, "forbidden");
        for agent in [&ann, &anton, &account.admin] {
            agent.transfer(1, to_ann.clone()).await.expect_error(409, "conflict");
        }
        ann.accept(1).await;
        ann.close(1).await;
        for agent in all_agents {
            agent.transfer(1, to_sales.clone()).await.expect_error(409, "conflict");
        }
    });
}

#[test]
fn transfer_target_must_be_online_and_not_the_owner() {
    run_on_shared_host(async |host| {
        let Team { account, ann, anton, ben, .. } = Team::create_with_chat_of_ben(host).await;
        let refused = async |to: Value, why: &str| {
            let body = ben.transfer(1, to).await.expect_error(409, "conflict");
            assert_eq!(body["error"]["message"], why);
        };
        refused(json!({"agent_id": ben.id}), "the agent has this chat already").await;
        refused(json!({"agent_id": account.admin.id}), "the agent is not online").await;
        ann.set_presence("away").await;
        refused(json!({"agent_id": ann.id}), "the agent is not online").await;
        anton.set_presence("offline").await;
        refused(json!({"department_id": 1}), "no member of the department is online").await;
        assert_eq!(account.create_department("Nobody", &[]).await, 2);
        refused(json!({"department_id": 2}), "no member of the department is online").await;
        assert_eq!(ben.chat(1).await["agent"]["id"], ben.id);
        assert_eq!(ben.timeline(1).await.len(), 1, "no note was added");
        anton.set_presence("online").await;
        ben.transfer(1, json!({"department_id": 1})).await.expect(200);
    });
}

#[test]
fn error_names_every_invalid_field_of_a_transfer() {
    run_on_shared_host(async |host| {
        let Team { account, ann, ben, .. } = Team::create_with_chat_of_ben(host).await;
        let invalid_ids = [json!(0), json!(-1), json!(1.5), json!("1"), json!(true), json!([]), json!({}), json!(99)];
        for field in ["agent_id", "department_id"] {
            for value in &invalid_ids {
                assert_invalid_field(ben.transfer(1, json!({field: value})).await, field);
            }
        }
        assert_invalid_field(ben.transfer(1, json!({})).await, "agent_id");
        assert_invalid_field(ben.transfer(1, json!({"agent_id": null, "department_id": null})).await, "agent_id");
        assert_invalid_field(ben.transfer(1, json!({"agent_id": ann.id, "department_id": 1})).await, "department_id");
        for body in [&b""[..], b"[]", b"{"] {
            post_raw(&ben.client, "/agent/chats/1/transfer", body.to_vec()).await.expect_error(400, "invalid_request");
        }
        account.admin.client.delete(&format!("/admin/agents/{}", ann.id)).await.expect(200);
        assert_invalid_field(ben.transfer(1, json!({"agent_id": ann.id})).await, "agent_id");
        ben.transfer(2, json!({"department_id": 1})).await.expect_error(404, "not_found");
        assert_eq!(ben.chat(1).await["agent"]["id"], ben.id);
    });
}

#[test]
fn transfer_between_accounts_is_rejected() {
    run_on_shared_host(async |host| {
        let Team { account: theirs, ben, .. } = Team::create_with_chat_of_ben(host).await;
        let other_account = host.create_account().await;
        other_account.admin.set_presence("online").await;
        other_account
            .admin
            .transfer(1, json!({"agent_id": other_account.admin.id}))
            .await
            .expect_error(404, "not_found");
        let mine = other_account.create_channel(INTEGRATOR_URL).await;
        open_accepted_chat(&other_account.admin, &mine, VISITOR_ID).await;
        assert_invalid_field(other_account.admin.transfer(1, json!({"agent_id": ben.id})).await, "agent_id");
        assert_invalid_field(other_account.admin.transfer(1, json!({"department_id": 1})).await, "department_id");
        assert_eq!(theirs.admin.chat(1).await["agent"]["id"], ben.id);
    });
}

#[test]
fn concurrent_transfers_have_one_winner() {
    run_on_shared_host(async |host| {
        let Team { account, ann, anton, ben, channel } = Team::create(host).await;
        for chat in 1..=5_u64 {
            assert_eq!(open_accepted_chat(&ben, &channel, &format!("visitor {chat}")).await, chat);
            let (to_ann, to_anton) = (json!({"agent_id": ann.id}), json!({"agent_id": anton.id}));
            let replies = tokio::join!(
                ben.transfer(chat, to_ann),
                ben.transfer(chat, to_anton),
                ben.transfer(chat, json!({"department_id": 1})),
            );
            let replies = [replies.0, replies.1, replies.2];
            // A transfer gets 403 if the chat has already been transferred to Sales, because Ben can no longer see the
            // chat. It gets 409 if the chat has already been transferred to an agent, or if another transfer is stored
            // while this one is being processed.
            let statuses = replies.clone().map(|reply| reply.status);
            let refused = statuses.iter().filter(|status| [403, 409].contains(status)).count();
            assert_eq!((refused, statuses.contains(&200)), (2, true), "{replies:?}");
            let winner = replies.into_iter().find(|reply| reply.status == 200).unwrap().json();
            let shown = account.admin.chat(chat).await;
            assert_eq!((&shown["state"], &shown["agent"]), (&winner["state"], &winner["agent"]));
            assert_eq!(account.admin.timeline(chat).await.len(), 2, "the message and one note");
        }
    });
}

#[test]
fn concurrent_accepts_of_an_offer_have_one_winner() {
    run_on_shared_host(async |host| {
        let Team { ann, anton, ben, channel, .. } = Team::create(host).await;
        for chat in 1..=5_u64 {
            assert_eq!(open_accepted_chat(&ben, &channel, &format!("visitor {chat}")).await, chat);
            ben.transfer(chat, json!({"department_id": 1})).await.expect(200);
            let replies = tokio::join!(ann.try_accept(chat), anton.try_accept(chat), ben.try_accept(chat));
            let mut statuses = [replies.0.status, replies.1.status];
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 409]);
            assert!([403, 409].contains(&replies.2.status), "unexpected response to Ben: {}", replies.2.text);
            let winner = if replies.0.status == 200 { &ann } else { &anton };
            assert_eq!(winner.chat(chat).await["agent"]["id"], winner.id);
        }
    });
}

#[test]
fn webhook_events_contain_the_department() {
    run_on_shared_host(async |host| {
        let (Team { account, ann, ben, .. }, webhook_receiver) =
            (Team::create(host).await, TestReceiver::start(ok_response()).await);
        account.create_department("Support", &[&ben]).await;
        add_webhook(&account, &webhook_receiver, json!({})).await;
        let sales = account.create_channel_with(INTEGRATOR_URL, json!({"department_ids": [1]})).await;
        open_accepted_chat(&ann, &sales, VISITOR_ID).await;
        let department = json!({"id": 1, "name": "Sales"});
        assert_eq!(wait_for_event(&webhook_receiver, "chat_accepted").await["department"], department);
        final_webhook_delivery(&ann, 1, "chat_accepted").await;
        ann.client.patch("/agent/visitors/1", &json!({"name": "Ada"})).await.expect(200);
        assert_eq!(wait_for_event(&webhook_receiver, "chat_updated").await["department"], department);
        final_webhook_delivery(&ann, 1, "chat_updated").await;

        ann.transfer(1, json!({"department_id": 2})).await.expect(200);
        ben.accept(1).await;
        final_webhook_delivery(&ben, 1, "chat_accepted").await;
        let last = webhook_receiver.requests().pop().unwrap().json();
        let support = json!({"id": 2, "name": "Support"});
        assert_eq!((&last["event_name"], &last["department"]), (&json!("chat_accepted"), &support));
        ben.close(1).await;
        let finished = wait_for_event(&webhook_receiver, "chat_finished").await;
        assert_eq!(finished["department"], support);
        let log = finished["plain_messages"].as_str().unwrap();
        assert!(!log.contains("transferred"), "notes are not part of the transcript: {log}");
    });
}
