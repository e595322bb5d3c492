//! Tests of automatic assignment: who gets a waiting chat, the capacity of agents, and offers.

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::join;
use serde_json::{Value, json};

use crate::support::account_resources::add_department;
use crate::support::api_client::{ApiResponse, TestAccount, TestAgent, TestChannel, number};
use crate::support::bot_fixture::BotFixture;
use crate::support::test_host::{TestHost, run_on_shared_host, run_with_virtual_time};
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

const INTEGRATOR_URL: &str = "https://app.example/hook";

/// An account with a channel and two agents who are online, Ann and Ben. The admin is not online.
struct Team {
    account: TestAccount,
    channel: TestChannel,
    ann: TestAgent,
    ben: TestAgent,
}

impl Team {
    async fn create(host: &TestHost, assignment: Value) -> Self {
        let account = host.create_account().await;
        let channel = account.create_channel(INTEGRATOR_URL).await;
        let (ann, ben) = (account.create_agent("Ann").await, account.create_agent("Ben").await);
        set_assignment(&account, assignment).await;
        ann.set_presence("online").await;
        ben.set_presence("online").await;
        Self { account, channel, ann, ben }
    }

    /// Opens chats of new visitors, one after the other, whose numbers follow each other.
    async fn open_chats(&self, visitors: &[&str]) {
        for visitor in visitors {
            self.channel.send_text(visitor, "Hello").await;
        }
    }

    /// Opens a chat and waits until it has an agent. Returns the agent's id.
    async fn assigned_chat(&self, visitor: &str, chat: u64) -> Value {
        self.open_chats(&[visitor]).await;
        agent_of(&self.account, chat).await
    }

    async fn offered_to(&self, chat: u64) -> Value {
        self.account.admin.chat(chat).await["offer"]["agent_id"].clone()
    }
}

async fn set_assignment(account: &TestAccount, assignment: Value) {
    account.admin.client.put("/admin/settings", &json!({"assignment": assignment})).await.expect(200);
}

/// Waits until an agent has the chat. Returns the agent's id.
async fn agent_of(account: &TestAccount, chat: u64) -> Value {
    wait_for("an agent of the chat", WAIT_TIMEOUT, async || {
        let shown = account.admin.chat(chat).await;
        if shown["state"] == "active" { Ok(shown["agent"]["id"].clone()) } else { Err(shown) }
    })
    .await
}

async fn try_accept(agent: &TestAgent, chat: u64) -> ApiResponse {
    agent.client.post(&format!("/agent/chats/{chat}/accept"), &json!({})).await
}

/// Lets the offer of chat 1 end in the past, as if the task at its end had been lost.
async fn end_offer_without_task(host: &TestHost, account: &TestAccount) {
    let id = account.id.as_str().expect("an id");
    let request = host.tables().update_item().table_name("Chats").key("pk", AttributeValue::S(format!("CHAT#{id}#1")));
    let request = request.key("sk", AttributeValue::S("HEAD".to_owned()));
    let request = request.update_expression("SET agent_offer.#until = :past, due_at = :past");
    let request = request.expression_attribute_names("#until", "until");
    request.expression_attribute_values(":past", AttributeValue::N("1".to_owned())).send().await.expect("a header");
}

fn is_conflict(response: &ApiResponse, message: &str) -> bool {
    response.status == 409 && response.json()["error"]["message"].as_str().is_some_and(|text| text.contains(message))
}

#[test]
fn chats_are_assigned_in_turn() {
    run_on_shared_host(async |host| {
        let team = Team::create(host, json!({"mode": "round_robin"})).await;
        let mut agents = Vec::new();
        for (chat, visitor) in (1..).zip(["a", "b", "c", "d"]) {
            agents.push(team.assigned_chat(visitor, chat).await);
        }
        let (ann, ben) = (&team.ann.id, &team.ben.id);
        assert_eq!(agents.iter().collect::<Vec<_>>(), [ann, ben, ann, ben]);
        let row = &team.ann.chats("active").await[0];
        assert_eq!(row.get("offer"), None, "{row}");
    });
}

#[test]
fn least_busy_agent_gets_the_next_chat() {
    run_on_shared_host(async |host| {
        let team = Team::create(host, json!({"mode": "least_busy"})).await;
        let (ann, ben) = (&team.ann.id, &team.ben.id);
        assert_eq!(&team.assigned_chat("a", 1).await, ann);
        assert_eq!(&team.assigned_chat("b", 2).await, ben);
        assert_eq!(&team.assigned_chat("c", 3).await, ann);
        team.ann.close(1).await;
        team.ann.close(3).await;
        assert_eq!(&team.assigned_chat("d", 4).await, ann);
        assert_eq!(&team.assigned_chat("e", 5).await, ben, "both have one, and Ben got his earlier");
    });
}

#[test]
fn freed_slot_takes_the_oldest_chat() {
    run_on_shared_host(async |host| {
        let team = Team::create(host, json!({"mode": "round_robin", "capacity": 1})).await;
        team.ben.set_presence("away").await;
        assert_eq!(team.assigned_chat("a", 1).await, team.ann.id);
        team.open_chats(&["b", "c"]).await;
        team.ann.close(1).await;
        assert_eq!(agent_of(&team.account, 2).await, team.ann.id);
        assert_eq!(team.account.admin.chat(3).await["state"], "waiting");
        team.ben.set_presence("online").await;
        assert_eq!(agent_of(&team.account, 3).await, team.ben.id);
    });
}

#[test]
fn agent_has_a_capacity_of_their_own() {
    run_on_shared_host(async |host| {
        let team = Team::create(host, json!({"mode": "least_busy", "capacity": 1})).await;
        let path = format!("/admin/agents/{}", team.ben.id);
        let changed = team.account.admin.client.patch(&path, &json!({"capacity": 2})).await.expect(200);
        assert_eq!(changed["capacity"], 2);
        let mut agents = Vec::new();
        for (chat, visitor) in (1..).zip(["a", "b", "c"]) {
            agents.push(number(&team.assigned_chat(visitor, chat).await));
        }
        agents.sort_unstable();
        assert_eq!(agents, [number(&team.ann.id), number(&team.ben.id), number(&team.ben.id)]);
        let zero = team.account.admin.client.patch(&path, &json!({"capacity": 0})).await;
        assert_eq!(zero.expect_error(400, "invalid_request")["error"]["field"], "capacity");
    });
}

#[test]
fn racing_accepts_do_not_exceed_the_capacity() {
    run_on_shared_host(async |host| {
        let team = Team::create(host, json!({"mode": "manual", "capacity": 1})).await;
        team.open_chats(&["a", "b"]).await;
        let (first, second) = join(try_accept(&team.ann, 1), try_accept(&team.ann, 2)).await;
        let mut statuses = [first.status, second.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409], "{} {}", first.text, second.text);
        let (refused, chat) = if first.status == 409 { (first, 1) } else { (second, 2) };
        assert!(is_conflict(&refused, "capacity"), "{}", refused.text);
        team.ben.accept(chat).await;
        let transferred = json!({"agent_id": team.ann.id});
        let path = format!("/agent/chats/{chat}/transfer");
        let refused = team.ben.client.post(&path, &transferred).await;
        assert!(is_conflict(&refused, "capacity"), "{}", refused.text);
        team.ann.close(3 - chat).await;
        team.ben.client.post(&path, &transferred).await.expect(200);
    });
}

#[test]
fn chats_of_an_account_without_assignment_wait_for_an_accept() {
    run_with_virtual_time(async |host, time| {
        let team = Team::create(host, Value::Null).await;
        team.open_chats(&["a", "b"]).await;
        time.wait_until_idle().await;
        for chat in [1, 2] {
            assert_eq!(team.account.admin.chat(chat).await["state"], "waiting");
            team.ann.accept(chat).await;
        }
        assert_eq!(time.advance_to_next_message().await, None, "no task is queued");
    });
}

#[test]
fn department_assigns_its_own_chats() {
    run_on_shared_host(async |host| {
        let team = Team::create(host, json!({"mode": "manual"})).await;
        let department = add_department(&team.account.admin).await;
        let path = format!("/admin/departments/{department}");
        let changes = json!({"agent_ids": [team.ben.id], "assignment": {"mode": "round_robin"}});
        let changed = team.account.admin.client.patch(&path, &changes).await.expect(200);
        assert_eq!(changed["assignment"], json!({"mode": "round_robin", "offer_seconds": null}));
        let ids = json!({"department_ids": [department.parse::<u64>().expect("a number")]});
        let sales = team.account.create_channel_with(INTEGRATOR_URL, ids).await;
        team.open_chats(&["a"]).await;
        sales.send_text("b", "Hello").await;
        assert_eq!(agent_of(&team.account, 2).await, team.ben.id);
        assert_eq!(team.account.admin.chat(1).await["state"], "waiting");
    });
}

#[test]
fn chats_with_a_higher_priority_are_assigned_first() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        set_assignment(&fixture.account, json!({"mode": "round_robin", "capacity": 1})).await;
        fixture.agent.set_presence("online").await;
        for (visitor, priority) in [("a", "normal"), ("b", "normal"), ("c", "low"), ("d", "urgent")] {
            let chat_id =
                fixture.send_visitor_text(visitor, &format!("A human for {visitor}")).await["chat_id"].clone();
            let event = json!({"event": "INVITE_AGENT", "chat_id": chat_id, "priority": priority});
            fixture.bot.post(&event).await.expect(200);
            if visitor == "a" {
                agent_of(&fixture.account, 1).await;
            }
        }
        for chat in [4, 2, 3] {
            let active = number(&fixture.agent.chats("active").await[0]["chat_id"]);
            fixture.agent.close(active).await;
            agent_of(&fixture.account, chat).await;
        }
    });
}

#[test]
fn bot_cannot_give_a_chat_to_a_busy_agent() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        set_assignment(&fixture.account, json!({"mode": "manual", "capacity": 1})).await;
        fixture.agent.set_presence("online").await;
        for (visitor, state) in [("a", "active"), ("b", "waiting")] {
            let chat_id = fixture.send_visitor_text(visitor, &format!("Grace for {visitor}")).await["chat_id"].clone();
            let event = json!({"event": "INVITE_AGENT", "chat_id": chat_id, "agent_id": fixture.agent.id});
            fixture.bot.post(&event).await.expect(200);
            let chat = chat_id.as_u64().unwrap_or_else(|| chat_id.as_str().unwrap().parse().unwrap());
            assert_eq!(fixture.agent.chat(chat).await["state"], state);
        }
    });
}

#[test]
fn offer_moves_to_the_next_agent() {
    run_with_virtual_time(async |host, time| {
        let team = Team::create(host, json!({"mode": "round_robin", "offer_seconds": 20})).await;
        time.run_until_queues_are_empty().await;
        team.open_chats(&["a"]).await;
        time.wait_until_idle().await;
        let (ann, ben) = (&team.ann.id, &team.ben.id);
        let shown = team.account.admin.chat(1).await;
        assert_eq!((&shown["state"], &shown["offer"]["agent_id"]), (&json!("waiting"), ann));
        let refused = try_accept(&team.ben, 1).await;
        assert!(is_conflict(&refused, "offered to another agent"), "{}", refused.text);

        assert_eq!(time.advance_to_next_message().await, Some(seconds(20)));
        time.wait_until_idle().await;
        assert_eq!(&team.offered_to(1).await, ben);
        let decline = json!({"decline_offer": true});
        team.ann.client.patch("/agent/chats/1", &decline).await.expect_error(409, "conflict");
        let row = team.ben.client.patch("/agent/chats/1", &decline).await.expect(200);
        assert_eq!(row.get("offer"), None, "{row}");
        time.wait_until_idle().await;
        assert_eq!(team.offered_to(1).await, Value::Null, "both have let it pass");
        time.advance(seconds(59));
        time.wait_until_idle().await;
        assert_eq!(team.offered_to(1).await, Value::Null);
        time.advance(seconds(1));
        time.wait_until_idle().await;
        assert_eq!(&team.offered_to(1).await, ann, "the next round");
        team.ann.accept(1).await;
        time.run_until_queues_are_empty().await;
        assert_eq!(team.account.admin.chat(1).await["agent"]["id"], *ann);
    });
}

#[test]
fn chat_that_all_have_declined_is_open_to_everyone() {
    run_with_virtual_time(async |host, time| {
        let team = Team::create(host, json!({"mode": "round_robin", "offer_seconds": 20})).await;
        team.ben.set_presence("away").await;
        time.run_until_queues_are_empty().await;
        team.open_chats(&["a"]).await;
        time.wait_until_idle().await;
        team.ann.client.patch("/agent/chats/1", &json!({"decline_offer": true})).await.expect(200);
        time.wait_until_idle().await;
        assert_eq!(team.offered_to(1).await, Value::Null, "the sole agent is left alone for a minute");
        team.ben.accept(1).await;
        assert_eq!(team.account.admin.chat(1).await["agent"]["id"], team.ben.id);
    });
}

#[test]
fn offer_takes_a_slot_until_it_ends() {
    run_with_virtual_time(async |host, time| {
        let team = Team::create(host, json!({"mode": "least_busy", "capacity": 1, "offer_seconds": 20})).await;
        team.ben.set_presence("away").await;
        time.run_until_queues_are_empty().await;
        team.open_chats(&["a", "b"]).await;
        time.wait_until_idle().await;
        assert_eq!((team.offered_to(1).await, team.offered_to(2).await), (team.ann.id.clone(), Value::Null));
        team.ann.accept(1).await;
        time.wait_until_idle().await;
        assert_eq!(team.offered_to(2).await, Value::Null);
        team.ann.close(1).await;
        time.wait_until_idle().await;
        assert_eq!(team.offered_to(2).await, team.ann.id);
    });
}

#[test]
fn lost_end_of_an_offer_is_found_by_the_idle_check() {
    run_with_virtual_time(async |host, time| {
        let team = Team::create(host, json!({"mode": "round_robin", "offer_seconds": 20})).await;
        time.run_until_queues_are_empty().await;
        team.open_chats(&["a"]).await;
        time.wait_until_idle().await;
        end_offer_without_task(host, &team.account).await;
        host.local.run_schedule("schedule-close-idle-chats").await.expect("the schedule runs");
        time.wait_until_idle().await;
        assert_eq!(team.offered_to(1).await, team.ben.id);
    });
}

#[test]
fn chats_accepted_before_the_assignment_count() {
    run_with_virtual_time(async |host, time| {
        let team = Team::create(host, Value::Null).await;
        team.open_chats(&["a", "b"]).await;
        team.ann.accept(1).await;
        set_assignment(&team.account, json!({"mode": "least_busy", "capacity": 1})).await;
        time.run_until_queues_are_empty().await;
        assert_eq!(team.account.admin.chat(2).await["agent"]["id"], team.ben.id);
        team.open_chats(&["c"]).await;
        time.wait_until_idle().await;
        assert_eq!(team.account.admin.chat(3).await["state"], "waiting", "both are busy");
        team.ann.close(1).await;
        time.wait_until_idle().await;
        assert_eq!(team.account.admin.chat(3).await["agent"]["id"], team.ann.id);
    });
}

#[test]
fn visitors_learn_their_position_in_the_queue() {
    run_with_virtual_time(async |host, time| {
        let team = Team::create(host, json!({"mode": "round_robin", "capacity": 1})).await;
        let widget = team.account.create_widget(json!({})).await;
        team.ben.set_presence("away").await;
        time.run_until_queues_are_empty().await;
        team.open_chats(&["a", "b", "c"]).await;
        let visitor = widget.visitor().await;
        visitor.say("Hello").await;
        time.wait_until_idle().await;
        let position = async |visitor: &str| {
            let path = format!("{}/status?detail=true&visitor={visitor}", team.channel.endpoint);
            team.channel.client.get(&path).await.expect(200).get("queue_position").cloned()
        };
        assert_eq!(
            [position("a").await, position("b").await, position("c").await],
            [None, Some(1.into()), Some(2.into())]
        );
        assert_eq!(visitor.session().await["queue_position"], 3, "the chats of both channels wait for the same agents");
        team.ann.close(1).await;
        time.wait_until_idle().await;
        assert_eq!([position("b").await, position("c").await], [None, Some(1.into())]);
        assert_eq!(visitor.session().await["queue_position"], 2);
    });
}
