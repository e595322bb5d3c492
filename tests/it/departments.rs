//! Departments: who is in them, whose chats their members receive, and how a chat is transferred.

use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{Account, Agent, Channel, Reply, number, send};
use crate::harness::{Stage, VISITOR, on_stage, open_chat, post_raw};
use crate::hook::{add, fine, notifications, recorded};
use crate::provider::Front;
use crate::receiver::Receiver;
use crate::wait::{PATIENCE, seconds, wait_for};

const DEPARTMENTS: &str = "/admin/departments";
const HOOK: &str = "https://app.example/hook";

/// A change of a department is seen by every function after ten seconds.
const TTL_TIMEOUT: std::time::Duration = seconds(13);

impl Account {
    /// Makes a department; its id.
    async fn department(&self, name: &str, members: &[&Agent]) -> u64 {
        let agent_ids: Vec<&Value> = members.iter().map(|agent| &agent.id).collect();
        let made = self.admin.call.post(DEPARTMENTS, &json!({"name": name, "agent_ids": agent_ids})).await.expect(201);
        number(&made["department_id"])
    }
}

impl Agent {
    async fn transfer(&self, chat: u64, to: Value) -> Reply {
        self.call.post(&format!("/agent/chats/{chat}/transfer"), &to).await
    }

    async fn try_accept(&self, chat: u64) -> Reply {
        self.call.post(&format!("/agent/chats/{chat}/accept"), &json!({})).await
    }

    async fn sees(&self, chat: u64) -> bool {
        self.chats("open").await.iter().any(|row| row["chat_id"] == chat)
    }
}

/// An account with two agents of Sales, the first department, and one of none; all are online but the admin.
struct Team {
    account: Account,
    ann: Agent,
    anton: Agent,
    ben: Agent,
    channel: Channel,
}

impl Team {
    /// With a channel for everybody.
    async fn open(stage: &Stage) -> Self {
        Self::open_with(stage, json!({})).await
    }

    /// With a channel of these settings.
    async fn open_with(stage: &Stage, channel: Value) -> Self {
        let account = stage.account().await;
        let [ann, anton, ben] = [account.agent("Ann").await, account.agent("Anton").await, account.agent("Ben").await];
        assert_eq!(account.department("Sales", &[&ann, &anton]).await, 1);
        for agent in [&ann, &anton, &ben] {
            agent.presence("online").await;
        }
        let channel = account.channel_with(HOOK, channel).await;
        Self { account, ann, anton, ben, channel }
    }

    /// Ben has the first chat.
    async fn with_ben(stage: &Stage) -> Self {
        let team = Self::open(stage).await;
        assert_eq!(open_chat(&team.ben, &team.channel, VISITOR).await, 1);
        team
    }
}

#[test]
fn a_department_is_created_listed_read_changed_and_deleted() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let (admin, ann) = (&account.admin.call, account.agent("Ann").await);
        let sales = json!({"department_id": 1, "name": "Sales", "agent_ids": [ann.id]});
        let body = json!({"name": "Sales", "agent_ids": [ann.id, ann.id]});
        assert_eq!(admin.post(DEPARTMENTS, &body).await.expect(201), sales, "an agent is a member once");
        let support = json!({"department_id": 2, "name": "Support", "agent_ids": []});
        assert_eq!(admin.post(DEPARTMENTS, &json!({"name": "Support"})).await.expect(201), support);
        let listed = admin.get(DEPARTMENTS).await.expect(200);
        assert_eq!(listed, json!({"departments": [sales, support]}));

        let path = format!("{DEPARTMENTS}/1");
        assert_eq!(admin.get(&path).await.expect(200), sales);
        let renamed = json!({"department_id": 1, "name": "Sellers", "agent_ids": [ann.id]});
        assert_eq!(admin.patch(&path, &json!({"name": "Sellers"})).await.expect(200), renamed);
        let all = json!({"department_id": 1, "name": "Sellers", "agent_ids": [account.admin.id, ann.id]});
        let members = json!({"agent_ids": [account.admin.id, ann.id]});
        assert_eq!(admin.patch(&path, &members).await.expect(200), all);
        assert_eq!(admin.get(&path).await.expect(200), all);
        admin.delete(&format!("/admin/agents/{}", ann.id)).await.expect(200);
        assert_eq!(admin.get(&path).await.expect(200)["agent_ids"], json!([account.admin.id]), "who goes is no member");

        admin.delete(&path).await.expect(200);
        for reply in [admin.get(&path).await, admin.delete(&path).await, admin.patch(&path, &members).await] {
            reply.expect_error(404, "not_found");
        }
        assert_eq!(account.department("Sales", &[]).await, 3, "a number is given once");
    });
}

#[test]
fn departments_are_numbered_in_their_account_and_nobody_elses() {
    on_stage(async |stage| {
        let (account, other) = (stage.account().await, stage.account().await);
        assert_eq!((account.department("A", &[]).await, account.department("B", &[]).await), (1, 2));
        assert_eq!(other.department("C", &[]).await, 1);
        let (theirs, change) = (format!("{DEPARTMENTS}/2"), json!({"name": "Mine"}));
        for method in [Method::GET, Method::PATCH, Method::DELETE] {
            let reply = send(other.admin.call.request(method, &theirs).json(&change)).await;
            reply.expect_error(404, "not_found");
        }
        assert_eq!(account.admin.call.get(&theirs).await.expect(200)["name"], "B");
    });
}

#[track_caller]
fn names(reply: Reply, field: &str) {
    let body = reply.expect_error(400, "invalid_request");
    assert_eq!(body["error"]["field"], field, "{body}");
}

#[test]
fn every_wrong_field_of_a_department_is_named() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let admin = &account.admin.call;
        account.department("Sales", &[]).await;
        let one = format!("{DEPARTMENTS}/1");
        let no_name = [json!(""), json!(null), json!(5), json!([]), json!("x".repeat(256))];
        let no_agents = [json!(1), json!("1"), json!(["x"]), json!([0]), json!([-1]), json!([1.5]), json!([1, 99])];
        let cases = no_name.map(|value| ("name", value)).into_iter().chain(no_agents.map(|value| ("agent_ids", value)));
        for (field, value) in cases {
            let mut body = json!({"name": "Sales"});
            body[field] = value.clone();
            names(admin.post(DEPARTMENTS, &body).await, field);
            names(admin.patch(&one, &json!({field: value})).await, field);
        }
        names(admin.post(DEPARTMENTS, &json!({})).await, "name");
        admin.patch(&one, &json!({"name": "x".repeat(255)})).await.expect(200);
        admin.get(&format!("{DEPARTMENTS}/x")).await.expect_error(404, "not_found");
        let listed = admin.get(DEPARTMENTS).await.expect(200);
        assert_eq!(listed["departments"].as_array().unwrap().len(), 1, "nothing else was made: {listed}");
    });
}

#[test]
fn a_channel_names_departments_of_its_account() {
    on_stage(async |stage| {
        let (account, other) = (stage.account().await, stage.account().await);
        account.department("Sales", &[]).await;
        account.department("Support", &[]).await;
        other.department("Theirs", &[]).await;
        let made = account.channel_with(HOOK, json!({"department_ids": [2, 1, 2]})).await;
        let path = format!("/admin/channels/{}", made.id);
        let admin = &account.admin.call;
        assert_eq!(admin.get(&path).await.expect(200)["department_ids"], json!([2, 1]));
        assert_eq!(admin.patch(&path, &json!({"department_ids": [1]})).await.expect(200)["department_ids"], json!([1]));

        let wrong = [json!(1), json!("1"), json!(["x"]), json!([0]), json!([3]), json!([1, 99])];
        for department_ids in wrong {
            names(admin.patch(&path, &json!({"department_ids": department_ids})).await, "department_ids");
            let body = json!({"name": "App", "integrator_url": HOOK, "department_ids": department_ids});
            names(admin.post("/admin/channels", &body).await, "department_ids");
        }
        let theirs = other.channel(HOOK).await;
        let theirs = format!("/admin/channels/{}", theirs.id);
        names(other.admin.call.patch(&theirs, &json!({"department_ids": [2]})).await, "department_ids");

        admin.delete(&format!("{DEPARTMENTS}/1")).await.expect(200);
        let renamed = admin.patch(&path, &json!({"name": "Shop", "department_ids": [1]})).await.expect(200);
        assert_eq!(renamed["name"], "Shop", "what went later stops nobody from sending back what they read");
    });
}

#[test]
fn the_chats_of_a_channel_go_to_the_members_of_its_department() {
    on_stage(async |stage| {
        let Team { account, ann, anton, ben, channel } = Team::open_with(stage, json!({"department_ids": []})).await;
        let sales = account.channel_with(HOOK, json!({"department_ids": [1]})).await;
        let statuses = async || [channel.status().await.text, sales.status().await.text];
        assert_eq!(statuses().await, ["1", "1"]);
        for member in [&ann, &anton] {
            member.presence("offline").await;
        }
        assert_eq!(statuses().await, ["1", "0"], "Ben is no member");

        sales.say(VISITOR, "Hello").await;
        assert_eq!([ann.sees(1).await, ben.sees(1).await, account.admin.sees(1).await], [true, false, true]);
        ben.try_accept(1).await.expect_error(403, "forbidden");
        ann.accept(1).await;
        channel.say(VISITOR, "Hello").await;
        ben.accept(2).await;
        for row in ann.chats("active").await {
            let department = if row["chat_id"] == 1 { json!({"id": 1, "name": "Sales"}) } else { Value::Null };
            assert_eq!(row["department"], department, "{row}");
            assert_eq!(ann.chat(number(&row["chat_id"])).await["department"], department);
        }
    });
}

#[test]
fn a_channel_goes_to_the_agents_and_to_the_departments_it_names() {
    on_stage(async |stage| {
        let team = Team::open(stage).await;
        let (account, carl) = (&team.account, team.account.agent("Carl").await);
        let both = account.channel_with(HOOK, json!({"agent_ids": [team.ben.id], "department_ids": [1]})).await;
        both.say(VISITOR, "Hello").await;
        for (agent, expected) in [(&team.ann, true), (&team.anton, true), (&team.ben, true), (&carl, false)] {
            assert_eq!(agent.sees(1).await, expected, "{}", agent.email);
        }
        carl.try_accept(1).await.expect_error(403, "forbidden");
        team.ben.accept(1).await;
    });
}

#[test]
fn a_bot_that_invites_an_agent_gets_a_member_of_the_department() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let ann = front.account.agent("Ann").await;
        let department_id = front.account.department("Sales", &[&ann]).await;
        let path = format!("/admin/channels/{}", front.channel.id);
        front.agent.call.patch(&path, &json!({"department_ids": [department_id]})).await.expect(200);
        front.agent.presence("online").await;
        let asked = front.ask(VISITOR, "A human, please").await;
        assert_eq!(asked["agents_online"], false, "{asked}");
        front.bot.invite_agent(&asked["chat_id"]).await.expect(200);
        front.notifications("AGENT_UNAVAILABLE").await;
        assert_eq!(front.state(1).await, "bot");
        ann.presence("online").await;
        assert_eq!(front.ask(VISITOR, "Somebody?").await["agents_online"], true);
        front.bot.invite_agent(&asked["chat_id"]).await.expect(200);
        front.waits(1, PATIENCE).await;
        assert_eq!(ann.chat(1).await["department"], json!({"id": department_id, "name": "Sales"}));
        ann.accept(1).await;
        front.notifications("AGENT_JOINED").await;
    });
}

#[test]
fn a_new_member_receives_the_chats_within_ten_seconds() {
    on_stage(async |stage| {
        let Team { account, ben, .. } = Team::open(stage).await;
        let sales = account.channel_with(HOOK, json!({"department_ids": [1]})).await;
        sales.say(VISITOR, "Hello").await;
        assert!(!ben.sees(1).await);
        ben.try_accept(1).await.expect_error(403, "forbidden");
        let path = format!("{DEPARTMENTS}/1");
        account.admin.call.patch(&path, &json!({"agent_ids": [ben.id]})).await.expect(200);
        accepts(&ben, 1).await;
        let sees = async || if ben.sees(1).await { Ok(()) } else { Err(ben.chats("open").await) };
        wait_for("Ben sees the chat", TTL_TIMEOUT, sees).await;
    });
}

/// The agent accepts as soon as the functions know that they may.
async fn accepts(agent: &Agent, chat: u64) {
    wait_for("the chat is accepted", TTL_TIMEOUT, async || {
        let reply = agent.try_accept(chat).await;
        if reply.status == 200 { Ok(()) } else { Err(reply) }
    })
    .await;
}

#[test]
fn a_channel_whose_people_are_all_gone_goes_to_everybody() {
    on_stage(async |stage| {
        let Team { account, ann, anton, ben, .. } = Team::open(stage).await;
        let named = json!({"agent_ids": [ann.id], "department_ids": [1]});
        let sales = account.channel_with(HOOK, named).await;
        sales.say(VISITOR, "Hello").await;
        account.admin.call.delete(&format!("{DEPARTMENTS}/1")).await.expect(200);
        account.admin.call.delete(&format!("/admin/agents/{}", ann.id)).await.expect(200);
        account.admin.call.delete(&format!("/admin/agents/{}", anton.id)).await.expect(200);
        assert_eq!(sales.status().await.text, "1", "Ben is online");
        assert!(ben.sees(1).await);
        ben.accept(1).await;
    });
}

#[test]
fn a_chat_is_transferred_to_an_agent() {
    on_stage(async |stage| {
        let Team { ann, ben, channel, .. } = Team::with_ben(stage).await;
        let row = ben.transfer(1, json!({"agent_id": ann.id})).await.expect(200);
        assert_eq!((&row["state"], &row["agent"]["id"], &row["department"]), (&json!("active"), &ann.id, &Value::Null));
        assert_eq!(ann.chat(1).await["agent"], json!({"id": ann.id, "name": "Ann"}));
        let note = ann.messages(1).await.pop().unwrap();
        assert_eq!((&note["from"], &note["type"]), (&json!("system"), &json!("text")));
        assert_eq!(note["text"], "Ben transferred the chat to Ann");
        assert!(note["delivery"].is_null(), "it is not for the visitor: {note}");

        let text = json!({"type": "text", "text": "mine"});
        ben.call.post("/agent/chats/1/messages", &text).await.expect_error(409, "conflict");
        ben.try_accept(1).await.expect_error(409, "conflict");
        ben.call.post("/agent/chats/1/close", &json!({})).await.expect_error(409, "conflict");
        channel.say(VISITOR, "Who is there?").await;
        ann.call.post("/agent/chats/1/messages", &text).await.expect(201);
        ann.accept(1).await;
        ann.close(1).await;
    });
}

#[test]
fn an_agent_whom_the_channel_does_not_name_keeps_what_is_transferred_to_them() {
    on_stage(async |stage| {
        let Team { account, ann, ben, .. } = Team::open(stage).await;
        let sales = account.channel_with(HOOK, json!({"department_ids": [1]})).await;
        open_chat(&ann, &sales, VISITOR).await;
        ann.transfer(1, json!({"agent_id": ben.id})).await.expect(200);
        assert!(ben.sees(1).await);
        ben.accept(1).await;
        let department = json!({"id": 1, "name": "Sales"});
        assert_eq!(ben.chat(1).await["department"], department, "a transfer to an agent keeps it");
        ben.close(1).await;
        assert_eq!(ben.chat(1).await["department"], department);
    });
}

#[test]
fn a_chat_is_transferred_to_a_department_and_offered_to_its_members_alone() {
    on_stage(async |stage| {
        let Team { account, ann, anton, ben, channel } = Team::with_ben(stage).await;
        let row = ben.transfer(1, json!({"department_id": 1})).await.expect(200);
        let department = json!({"id": 1, "name": "Sales"});
        assert_eq!((&row["state"], &row["agent"]), (&json!("waiting"), &Value::Null));
        assert_eq!(row["department"], department);
        assert_eq!(ann.messages(1).await.pop().unwrap()["text"], "Ben transferred the chat to Sales");
        ben.call.get("/agent/chats/1/messages").await.expect_error(403, "forbidden");
        channel.say(VISITOR, "Who is there?").await;
        for (agent, expected) in [(&ann, true), (&anton, true), (&ben, false), (&account.admin, true)] {
            assert_eq!(agent.sees(1).await, expected, "{}", agent.email);
        }
        ben.try_accept(1).await.expect_error(403, "forbidden");
        ben.call.post("/agent/chats/1/close", &json!({})).await.expect_error(403, "forbidden");
        anton.accept(1).await;
        assert_eq!(ann.chats("active").await[0]["department"], department, "it is kept");
        ann.try_accept(1).await.expect_error(409, "conflict");

        anton.transfer(1, json!({"agent_id": ben.id})).await.expect(200);
        ben.transfer(1, json!({"department_id": 1})).await.expect(200);
        account.admin.accept(1).await;
        assert_eq!(account.admin.chat(1).await["agent"]["id"], account.admin.id, "an admin sees and takes everything");
    });
}

#[test]
fn a_chat_that_was_offered_to_a_department_that_is_gone_is_offered_as_its_channel_says() {
    on_stage(async |stage| {
        let Team { account, ann, ben, .. } = Team::open(stage).await;
        let only_ben = account.channel_with(HOOK, json!({"agent_ids": [ben.id]})).await;
        open_chat(&ben, &only_ben, VISITOR).await;
        ben.transfer(1, json!({"department_id": 1})).await.expect(200);
        ben.try_accept(1).await.expect_error(403, "forbidden");
        account.admin.call.delete(&format!("{DEPARTMENTS}/1")).await.expect(200);
        accepts(&ben, 1).await;
        ben.transfer(1, json!({"department_id": 1})).await.expect_error(400, "invalid_request");
        assert_eq!(ben.chat(1).await["department"], json!({"id": 1, "name": "Sales"}), "the chat remembers it");
        ann.call.get("/agent/chats/1").await.expect_error(403, "forbidden");
    });
}

#[test]
fn only_the_agent_who_has_a_chat_or_an_admin_transfers_it() {
    on_stage(async |stage| {
        let Team { account, ann, anton, ben, channel } = Team::open(stage).await;
        let everybody = [&ann, &anton, &ben, &account.admin];
        let (to_ann, to_sales) = (json!({"agent_id": ann.id}), json!({"department_id": 1}));
        channel.say(VISITOR, "Hello").await;
        for agent in everybody {
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
        for agent in everybody {
            agent.transfer(1, to_sales.clone()).await.expect_error(409, "conflict");
        }
    });
}

#[test]
fn a_chat_goes_only_to_somebody_who_is_online_and_does_not_have_it() {
    on_stage(async |stage| {
        let Team { account, ann, anton, ben, .. } = Team::with_ben(stage).await;
        let refused = async |to: Value, why: &str| {
            let body = ben.transfer(1, to).await.expect_error(409, "conflict");
            assert_eq!(body["error"]["message"], why);
        };
        refused(json!({"agent_id": ben.id}), "the agent has this chat already").await;
        refused(json!({"agent_id": account.admin.id}), "the agent is not online").await;
        ann.presence("away").await;
        refused(json!({"agent_id": ann.id}), "the agent is not online").await;
        anton.presence("offline").await;
        refused(json!({"department_id": 1}), "no member of the department is online").await;
        assert_eq!(account.department("Nobody", &[]).await, 2);
        refused(json!({"department_id": 2}), "no member of the department is online").await;
        assert_eq!(ben.chat(1).await["agent"]["id"], ben.id);
        assert_eq!(ben.messages(1).await.len(), 1, "nothing is noted");
        anton.presence("online").await;
        ben.transfer(1, json!({"department_id": 1})).await.expect(200);
    });
}

#[test]
fn every_wrong_field_of_a_transfer_is_named() {
    on_stage(async |stage| {
        let Team { account, ann, ben, .. } = Team::with_ben(stage).await;
        let no_id = [json!(0), json!(-1), json!(1.5), json!("1"), json!(true), json!([]), json!({}), json!(99)];
        for field in ["agent_id", "department_id"] {
            for value in &no_id {
                names(ben.transfer(1, json!({field: value})).await, field);
            }
        }
        names(ben.transfer(1, json!({})).await, "agent_id");
        names(ben.transfer(1, json!({"agent_id": null, "department_id": null})).await, "agent_id");
        names(ben.transfer(1, json!({"agent_id": ann.id, "department_id": 1})).await, "department_id");
        for body in [&b""[..], b"[]", b"{"] {
            post_raw(&ben.call, "/agent/chats/1/transfer", body.to_vec()).await.expect_error(400, "invalid_request");
        }
        account.admin.call.delete(&format!("/admin/agents/{}", ann.id)).await.expect(200);
        names(ben.transfer(1, json!({"agent_id": ann.id})).await, "agent_id");
        ben.transfer(2, json!({"department_id": 1})).await.expect_error(404, "not_found");
        assert_eq!(ben.chat(1).await["agent"]["id"], ben.id);
    });
}

#[test]
fn nobody_transfers_to_or_from_another_account() {
    on_stage(async |stage| {
        let Team { account: theirs, ben, .. } = Team::with_ben(stage).await;
        let stranger = stage.account().await;
        stranger.admin.presence("online").await;
        stranger.admin.transfer(1, json!({"agent_id": stranger.admin.id})).await.expect_error(404, "not_found");
        let mine = stranger.channel(HOOK).await;
        open_chat(&stranger.admin, &mine, VISITOR).await;
        names(stranger.admin.transfer(1, json!({"agent_id": ben.id})).await, "agent_id");
        names(stranger.admin.transfer(1, json!({"department_id": 1})).await, "department_id");
        assert_eq!(theirs.admin.chat(1).await["agent"]["id"], ben.id);
    });
}

#[test]
fn of_transfers_that_race_one_is_done() {
    on_stage(async |stage| {
        let Team { account, ann, anton, ben, channel } = Team::open(stage).await;
        for chat in 1..=5_u64 {
            assert_eq!(open_chat(&ben, &channel, &format!("visitor {chat}")).await, chat);
            let (to_ann, to_anton) = (json!({"agent_id": ann.id}), json!({"agent_id": anton.id}));
            let replies = tokio::join!(
                ben.transfer(chat, to_ann),
                ben.transfer(chat, to_anton),
                ben.transfer(chat, json!({"department_id": 1})),
            );
            let replies = [replies.0, replies.1, replies.2];
            // Who comes after a transfer to Sales does not see the chat any more.
            let statuses = replies.clone().map(|reply| reply.status);
            let refused = statuses.iter().filter(|status| [403, 409].contains(status)).count();
            assert_eq!((refused, statuses.contains(&200)), (2, true), "{replies:?}");
            let done = replies.into_iter().find(|reply| reply.status == 200).unwrap().json();
            let shown = account.admin.chat(chat).await;
            assert_eq!((&shown["state"], &shown["agent"]), (&done["state"], &done["agent"]));
            assert_eq!(account.admin.messages(chat).await.len(), 2, "the message and one note");
        }
    });
}

#[test]
fn of_two_members_who_accept_an_offer_together_one_gets_it() {
    on_stage(async |stage| {
        let Team { ann, anton, ben, channel, .. } = Team::open(stage).await;
        for chat in 1..=5_u64 {
            assert_eq!(open_chat(&ben, &channel, &format!("visitor {chat}")).await, chat);
            ben.transfer(chat, json!({"department_id": 1})).await.expect(200);
            let replies = tokio::join!(ann.try_accept(chat), anton.try_accept(chat), ben.try_accept(chat));
            let mut statuses = [replies.0.status, replies.1.status];
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 409]);
            assert!([403, 409].contains(&replies.2.status), "Ben came too early or too late: {}", replies.2.text);
            let winner = if replies.0.status == 200 { &ann } else { &anton };
            assert_eq!(winner.chat(chat).await["agent"]["id"], winner.id);
        }
    });
}

#[test]
fn webhooks_are_told_the_department_of_a_chat() {
    on_stage(async |stage| {
        let (Team { account, ann, ben, .. }, crm) = (Team::open(stage).await, Receiver::start(fine()).await);
        account.department("Support", &[&ben]).await;
        add(&account, &crm, json!({})).await;
        let sales = account.channel_with(HOOK, json!({"department_ids": [1]})).await;
        open_chat(&ann, &sales, VISITOR).await;
        let department = json!({"id": 1, "name": "Sales"});
        assert_eq!(notifications(&crm, "chat_accepted").await["department"], department);
        recorded(&ann, 1, "chat_accepted").await;
        ann.call.patch("/agent/visitors/1", &json!({"name": "Ada"})).await.expect(200);
        assert_eq!(notifications(&crm, "chat_updated").await["department"], department);
        recorded(&ann, 1, "chat_updated").await;

        ann.transfer(1, json!({"department_id": 2})).await.expect(200);
        ben.accept(1).await;
        recorded(&ben, 1, "chat_accepted").await;
        let again = crm.requests().pop().unwrap().json();
        let support = json!({"id": 2, "name": "Support"});
        assert_eq!((&again["event_name"], &again["department"]), (&json!("chat_accepted"), &support));
        ben.close(1).await;
        let finished = notifications(&crm, "chat_finished").await;
        assert_eq!(finished["department"], support);
        let log = finished["plain_messages"].as_str().unwrap();
        assert!(!log.contains("transferred"), "a note is no message: {log}");
    });
}
