//! What the answers of webhooks bring to the agent, and what becomes of those that bring nothing.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::client::number;
use crate::harness::{VISITOR, on_stage, open_chat, timed_on_stage};
use crate::hook::{Hooked, WEBHOOKS, add, fine, recorded, with_data};
use crate::receiver::{Answer, Receiver, Request, dead_port};
use crate::wait::{PATIENCE, seconds, wait_for};

/// How far from its slot a try may start on an idle machine.
const SLOT: Duration = Duration::from_millis(300);
const CARD: &str = "https://crm.example/card/7";

fn empty_panel() -> Value {
    json!({"custom_data": [], "enable_assign": false, "crm_link": null, "page": null, "assignment": null})
}

fn whole_answer() -> Value {
    json!({
        "custom_data": [
            {"title": "Plan", "content": "<b>Gold</b> since <script>x</script>2019", "key": "plan", "link": CARD},
            {"content": "1 < 2"},
            {"title": "<i>Debts</i>", "content": "none"},
        ],
        "contact_info": {"name": "Ada", "email": "ada@example.com", "phone": "+31 6 1"},
        "enable_assign": true,
        "crm_link": CARD,
        "page": {"url": "https://shop.example/ada", "title": "Ada's page"},
    })
}

fn line(title: Option<&str>, content: &str, key: Option<&str>, link: Option<&str>) -> Value {
    json!({"title": title, "content": content, "key": key, "link": link, "source": "crm"})
}

fn whole_panel() -> Value {
    json!({
        "custom_data": [
            line(Some("Plan"), "Gold since x2019", Some("plan"), Some(CARD)),
            line(None, "1 < 2", None, None),
            line(Some("Debts"), "none", None, None),
        ],
        "enable_assign": true,
        "crm_link": CARD,
        "page": {"url": "https://shop.example/ada", "title": "Ada's page"},
        "assignment": null,
    })
}

#[test]
fn an_ok_fills_the_panel_in_order_and_without_tags() {
    on_stage(async |stage| {
        let hooked = Hooked::open_with(stage, [with_data(whole_answer())]).await;
        let chat = hooked.accepted().await;
        assert_eq!(hooked.panel(chat).await, whole_panel());
    });
}

#[test]
fn result_is_read_in_any_case() {
    on_stage(async |stage| {
        join_all(["OK", "ok", "oK"].map(async |result| {
            let answer = Answer::Json(200, json!({"result": result, "enable_assign": true}));
            let hooked = Hooked::open_with(stage, [answer]).await;
            let chat = hooked.accepted().await;
            assert_eq!(hooked.panel(chat).await["enable_assign"], true, "{result}");
        }))
        .await;
    });
}

#[test]
fn contact_info_becomes_the_visitors_and_says_where_it_came_from() {
    on_stage(async |stage| {
        let hooked = Hooked::open_with(stage, [with_data(whole_answer())]).await;
        let sender = json!({"id": VISITOR, "name": "Visitor", "phone": "+31 6 1"});
        let body = json!({"sender": sender, "message": {"type": "text", "text": "Hi"}});
        hooked.channel.post(&body).await.expect(200);
        hooked.agent.accept(1).await;
        recorded(&hooked.agent, 1, "chat_accepted").await;

        let visitor = hooked.visitor(1).await;
        assert_eq!((&visitor["name"], &visitor["email"]), (&json!("Ada"), &json!("ada@example.com")));
        let sources = json!({"name": "crm", "email": "crm", "phone": "integrator"});
        assert_eq!(visitor["sources"], sources, "what was known already keeps its source");
        assert_eq!(hooked.agent.chats("active").await[0]["visitor"]["name"], "Ada");
    });
}

#[test]
fn the_answers_of_two_webhooks_both_fill_the_panel() {
    on_stage(async |stage| {
        let late = |fields| Answer::After(Duration::from_millis(300), Box::new(with_data(fields)));
        let hooked = Hooked::open_with(stage, [late(json!({"crm_link": CARD}))]).await;
        let other = Receiver::start(late(json!({"enable_assign": true}))).await;
        add(&hooked.account, &other, json!({})).await;
        let chat = open_chat(&hooked.agent, &hooked.channel, VISITOR).await;
        wait_for("both answers in the panel", seconds(8), async || {
            let panel = hooked.panel(chat).await;
            let is_whole = panel["crm_link"] == CARD && panel["enable_assign"] == true;
            if is_whole { Ok(()) } else { Err(panel) }
        })
        .await;
    });
}

#[test]
fn the_answer_to_chat_updated_brings_the_same() {
    on_stage(async |stage| {
        let hooked = Hooked::open_with(stage, [fine(), with_data(whole_answer())]).await;
        let chat = hooked.accepted().await;
        assert_eq!(hooked.panel(chat).await, empty_panel());
        hooked.correct(json!({"description": "Asks about numbers"})).await;
        recorded(&hooked.agent, chat, "chat_updated").await;
        assert_eq!(hooked.panel(chat).await, whole_panel());
        assert_eq!(hooked.visitor(chat).await["sources"]["name"], "crm");
    });
}

#[test]
fn a_plain_ok_takes_nothing_away_and_empty_values_do() {
    on_stage(async |stage| {
        let emptied = with_data(json!({"custom_data": [], "crm_link": null, "page": {}}));
        let hooked = Hooked::open_with(stage, [with_data(whole_answer()), fine(), emptied]).await;
        let chat = hooked.accepted().await;
        hooked.correct(json!({"description": "one"})).await;
        recorded(&hooked.agent, chat, "chat_updated").await;
        assert_eq!(hooked.panel(chat).await, whole_panel());
        hooked.correct(json!({"description": "two"})).await;
        recorded(&hooked.agent, chat, "chat_updated").await;
        let mut expected = empty_panel();
        expected["enable_assign"] = json!(true);
        assert_eq!(hooked.panel(chat).await, expected);
    });
}

#[test]
fn what_is_wrong_in_an_ok_is_left_out_and_the_rest_counts() {
    on_stage(async |stage| {
        let answer = with_data(json!({
            "custom_data": [
                {"content": "kept", "link": "javascript:alert(1)", "title": 7},
                {"title": "no content"}, "no object", {"content": {"a": 1}},
            ],
            "contact_info": [],
            "enable_assign": "yes",
            "crm_link": "javascript:alert(1)",
            "page": {"url": "data:text/html,x", "title": "x"},
        }));
        let hooked = Hooked::open_with(stage, [answer]).await;
        let chat = hooked.accepted().await;
        let mut expected = empty_panel();
        expected["custom_data"] = json!([line(Some("7"), "kept", None, None)]);
        assert_eq!(hooked.panel(chat).await, expected);
        assert_eq!(hooked.visitor(chat).await["name"], "Anonymous");
        let delivery = recorded(&hooked.agent, chat, "chat_accepted").await;
        assert_eq!(delivery["state"], "delivered");
        assert_eq!(delivery["attempts"].as_array().unwrap().len(), 1);
    });
}

#[test]
fn much_custom_data_is_cut() {
    on_stage(async |stage| {
        let lines = vec![json!({"content": "é".repeat(1_100)}); 12];
        let hooked = Hooked::open_with(stage, [with_data(json!({"custom_data": lines}))]).await;
        let chat = hooked.accepted().await;
        let shown = hooked.panel(chat).await["custom_data"].clone();
        assert_eq!(shown.as_array().unwrap().len(), 12);
        assert_eq!(shown[11]["content"], "é".repeat(1_000));
    });
}

/// Answers that end the delivery and bring nothing, although they try to: the status that an attempt sees, and what the
/// entry says, with `delivered` or `failed`.
fn answers_without_ok() -> Vec<(Answer, u16, &'static str, &'static str)> {
    let with = |status: u16, result: Value| {
        Answer::Json(status, json!({"result": result, "crm_link": CARD, "contact_info": {"name": "Mallory"}}))
    };
    let text = |status, text: &str| Answer::Text(status, "text/html", text.to_owned());
    let megabyte = json!({"result": "OK", "custom_data": [{"content": "x".repeat(1_000_000)}]});
    vec![
        (with(200, json!("FAILURE")), 200, "failed", "FAILURE"),
        (with(202, json!("no card")), 202, "failed", "no card"),
        (with(200, json!(true)), 200, "delivered", "\"result\":true"),
        (with(201, Value::Null), 201, "delivered", "\"result\":null"),
        (text(200, "<h1>It works!</h1>"), 200, "delivered", "It works!"),
        (text(204, ""), 204, "delivered", "(nothing)"),
        (Answer::Json(200, json!([{"result": "OK"}])), 200, "delivered", "[{\"result\":\"OK\"}]"),
        (Answer::Json(200, megabyte), 200, "delivered", "\"xxxx"),
    ]
}

#[test]
fn any_2xx_ends_the_attempts_and_only_ok_brings_something() {
    on_stage(async |stage| {
        join_all(answers_without_ok().into_iter().map(async |(answer, status, state, words)| {
            let name = format!("{status} {words}");
            let hooked = Hooked::open_with(stage, [answer]).await;
            let chat = hooked.accepted().await;
            let delivery = recorded(&hooked.agent, chat, "chat_accepted").await;
            assert_eq!(delivery["state"], state, "{name}: {delivery}");
            let attempts = delivery["attempts"].as_array().unwrap();
            assert_eq!((attempts.len(), &attempts[0]["status"]), (1, &json!(status)), "{name}: {delivery}");
            let is_failed = state == "failed";
            let said = &attempts[0][if is_failed { "error" } else { "answer" }];
            assert!(said.as_str().is_some_and(|said| said.contains(words)), "{name}: {delivery}");
            assert_eq!(delivery["error"]["message"] == *said, is_failed, "{name}: {delivery}");
            assert_eq!(hooked.panel(chat).await, empty_panel(), "{name}");
            assert_eq!(hooked.visitor(chat).await["name"], "Anonymous", "{name}");
            assert_eq!(hooked.crm.requests().len(), 1, "{name}");
        }))
        .await;
    });
}

#[test]
fn an_ok_counts_with_any_2xx_and_inside_a_json_string() {
    on_stage(async |stage| {
        let ok = json!({"result": "OK", "crm_link": CARD});
        let answers = [Answer::Json(201, ok.clone()), Answer::Json(200, json!(ok.to_string()))];
        join_all(answers.map(async |answer| {
            let hooked = Hooked::open_with(stage, [answer]).await;
            let chat = hooked.accepted().await;
            assert_eq!(hooked.panel(chat).await["crm_link"], CARD);
            let delivery = recorded(&hooked.agent, chat, "chat_accepted").await;
            assert_eq!((&delivery["state"], &delivery["attempts"][0]["answer"]), (&json!("delivered"), &Value::Null));
        }))
        .await;
    });
}

#[test]
fn numbers_and_a_description_are_taken_from_an_answer() {
    on_stage(async |stage| {
        let hooked = Hooked::open_with(
            stage,
            [with_data(json!({
                "custom_data": [{"title": "Debts", "content": 12.5}, {"content": 7}],
                "contact_info": {"name": "Ada", "phone": 31_612_345_678_u64, "description": "<b>Gold</b> since 2019"},
            }))],
        )
        .await;
        let chat = hooked.accepted().await;
        let lines = [line(Some("Debts"), "12.5", None, None), line(None, "7", None, None)];
        assert_eq!(hooked.panel(chat).await["custom_data"], json!(lines));
        let visitor = hooked.visitor(chat).await;
        assert_eq!((&visitor["phone"], &visitor["description"]), (&json!("31612345678"), &json!("Gold since 2019")));
        assert_eq!(visitor["sources"]["description"], "crm");
    });
}

/// Failed after three tries, each with its status or the lack of one, its duration and its reason.
fn check_exhausted(name: &str, delivery: &Value, status: Option<u16>) {
    assert_eq!(delivery["state"], "failed", "{name}: {delivery}");
    assert!(delivery["error"]["message"].is_string(), "{name}: {delivery}");
    let attempts = delivery["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 3, "{name}: {attempts:#?}");
    for attempt in attempts {
        assert!(number(&attempt["ms"]) < 3_300 && number(&attempt["at"]) > 0, "{name}: {attempt}");
        assert_eq!(attempt["status"].as_u64(), status.map(u64::from), "{name}: {attempt}");
        assert!(attempt["error"].as_str().is_some_and(|text| !text.is_empty()), "{name}: {attempt}");
    }
}

#[test]
fn a_webhook_that_is_not_there_harms_nobody() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let nowhere = json!({"url": format!("http://127.0.0.1:{}/hook", dead_port().await)});
        account.admin.call.post(WEBHOOKS, &nowhere).await.expect(201);
        let integrator = Receiver::start(Answer::ok()).await;
        let channel = account.channel(&integrator.url()).await;
        let chat = open_chat(&account.admin, &channel, VISITOR).await;
        let seq = account.admin.write(chat, "Hello").await;
        assert_eq!(account.admin.verdict(chat, seq).await["state"], "delivered");
        check_exhausted("dead", &recorded(&account.admin, chat, "chat_accepted").await, None);
    });
}

#[test]
fn a_failing_webhook_is_tried_at_0_3_and_6_seconds_and_failed_at_9() {
    timed_on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        hooked.accepted().await;
        hooked.channel.say("another", "Hello").await;
        hooked.crm.answer(Answer::Json(500, json!({"result": "OK", "crm_link": CARD})));

        let accepted = Instant::now();
        hooked.agent.accept(2).await;
        let delivery = recorded(&hooked.agent, 2, "chat_accepted").await;
        let shown = accepted.elapsed();
        check_exhausted("500", &delivery, Some(500));
        assert!((seconds(9)..=seconds(10)).contains(&shown), "shown after {shown:?}");
        let tries: Vec<Duration> = hooked.crm.requests().iter().skip(1).map(|request| request.at - accepted).collect();
        assert_eq!(tries.len(), 3, "{tries:?}");
        for (start, slot) in tries.iter().zip([0, 3, 6]) {
            assert!(start.abs_diff(seconds(slot)) <= SLOT, "{tries:?}");
        }
        assert_eq!(hooked.panel(2).await, empty_panel());
    });
}

#[test]
fn the_third_try_may_succeed_and_all_carry_the_same_id() {
    on_stage(async |stage| {
        let broken = Answer::Json(500, json!({}));
        let hooked = Hooked::open_with(stage, [broken.clone(), broken, with_data(whole_answer())]).await;
        let chat = hooked.accepted().await;
        let delivery = recorded(&hooked.agent, chat, "chat_accepted").await;
        assert_eq!(delivery["state"], "delivered");
        let statuses: Vec<_> = delivery["attempts"].as_array().unwrap().iter().map(|it| it["status"].clone()).collect();
        assert_eq!(statuses, [500, 500, 200]);
        assert_eq!(hooked.panel(chat).await, whole_panel());
        let requests = hooked.crm.requests();
        let ids: Vec<_> = requests.iter().map(|request| request.header("webhook-id")).collect();
        assert!(ids[0].is_some());
        assert_eq!(ids, [ids[0]; 3]);
        assert_eq!(requests[0].json(), requests[2].json());
    });
}

#[test]
fn a_hanging_chat_does_not_hold_up_the_events_of_another() {
    timed_on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        hooked.accepted().await;
        for visitor in ["hanging", "healthy"] {
            hooked.channel.say(visitor, "Hello").await;
        }
        hooked.crm.answer_with([Answer::Hang, fine()]);
        hooked.agent.accept(2).await;
        hooked.crm.received(2, seconds(3)).await;

        let accepted = Instant::now();
        hooked.agent.accept(3).await;
        let arrived = hooked.crm.received(3, seconds(2)).await.remove(2);
        assert_eq!(arrived.json()["chat_id"], 3);
        assert!(arrived.at - accepted < seconds(1), "{:?}", arrived.at - accepted);
    });
}

#[test]
fn a_hanging_webhook_does_not_hold_up_another_of_the_same_chat() {
    timed_on_stage(async |stage| {
        let hooked = Hooked::open_with(stage, [Answer::Hang]).await;
        let healthy = Receiver::start(fine()).await;
        add(&hooked.account, &healthy, json!({})).await;
        hooked.channel.say(VISITOR, "Hello").await;
        let accepted = Instant::now();
        hooked.agent.accept(1).await;
        let arrived = healthy.received(1, seconds(5)).await.remove(0).at;
        assert!(arrived - accepted < seconds(1), "{:?}", arrived - accepted);
    });
}

#[test]
fn an_answer_that_comes_late_does_not_undo_what_the_agent_did_meanwhile() {
    on_stage(async |stage| {
        let late = Answer::After(Duration::from_millis(1_500), Box::new(with_data(whole_answer())));
        let hooked = Hooked::open_with(stage, [late, fine()]).await;
        let chat = open_chat(&hooked.agent, &hooked.channel, VISITOR).await;
        hooked.crm.received(1, PATIENCE).await;
        hooked.correct(json!({"blacklisted": true, "description": "Spams"})).await;
        recorded(&hooked.agent, chat, "chat_accepted").await;
        let visitor = hooked.visitor(chat).await;
        assert_eq!(visitor["name"], "Ada", "the answer counts");
        assert_eq!((&visitor["blacklisted"], &visitor["description"]), (&json!(true), &json!("Spams")));
    });
}

fn assign_path(chat: u64) -> String {
    format!("/agent/chats/{chat}/assign")
}

/// Accepted, with a card; `chat_assigned` is answered like this.
async fn with_card(stage: &crate::harness::Stage, answer: Answer) -> (Hooked, u64) {
    let card = with_data(json!({"enable_assign": true, "crm_link": CARD}));
    let hooked = Hooked::open_with(stage, [card, answer]).await;
    let chat = hooked.accepted().await;
    (hooked, chat)
}

/// The panel's assignment, once it is not `pending` any more.
async fn assignment(hooked: &Hooked, chat: u64) -> Value {
    wait_for("an assignment", seconds(13), async || {
        let assignment = hooked.panel(chat).await["assignment"].clone();
        if assignment["state"] == "pending" { Err(assignment) } else { Ok(assignment) }
    })
    .await
}

#[test]
fn an_agent_binds_the_visitor_to_the_card_of_the_crm() {
    on_stage(async |stage| {
        let (hooked, chat) = with_card(stage, fine()).await;
        let release = hooked.crm.answer_when_told(fine());
        let answer = hooked.agent.call.post(&assign_path(chat), &json!({})).await.expect(200);
        assert_eq!(answer, json!({"chat_id": chat, "assign_to": CARD}));
        assert_eq!(hooked.panel(chat).await["assignment"], json!({"state": "pending"}));
        release.send_replace(());
        assert_eq!(assignment(&hooked, chat).await, json!({"state": "done"}));
    });
}

#[test]
fn chat_assigned_is_chat_accepted_with_the_card() {
    on_stage(async |stage| {
        let (hooked, chat) = with_card(stage, fine()).await;
        hooked.agent.call.post(&assign_path(chat), &json!({})).await.expect(200);
        recorded(&hooked.agent, chat, "chat_assigned").await;
        let bodies: Vec<Value> = hooked.crm.requests().iter().map(Request::json).collect();
        let mut expected = bodies[0].clone();
        expected["event_name"] = json!("chat_assigned");
        expected["assign_to"] = json!(CARD);
        assert_eq!(bodies[1..], [expected]);
    });
}

#[test]
fn the_words_of_a_crm_that_refuses_the_binding_are_shown() {
    on_stage(async |stage| {
        let refusal = Answer::Json(200, json!({"result": "Card 7 is locked"}));
        let (hooked, chat) = with_card(stage, refusal).await;
        hooked.agent.call.post(&assign_path(chat), &json!({})).await.expect(200);
        let shown = assignment(&hooked, chat).await;
        assert_eq!(shown["state"], "failed");
        assert!(shown["message"].as_str().unwrap().contains("Card 7 is locked"), "{shown}");
        assert_eq!(hooked.crm.requests().len(), 1 + 1, "it is final");
        assert_eq!(hooked.panel(chat).await["crm_link"], CARD, "the agent may try again");
    });
}

#[test]
fn a_binding_that_one_webhook_made_stands_when_another_fails() {
    on_stage(async |stage| {
        let (hooked, chat) = with_card(stage, fine()).await;
        let other = Receiver::start(Answer::Json(500, json!({}))).await;
        add(&hooked.account, &other, json!({"events": ["chat_assigned"]})).await;
        hooked.agent.call.post(&assign_path(chat), &json!({})).await.expect(200);
        wait_for("the failure of the other", PATIENCE, async || {
            let timeline = hooked.agent.messages(chat).await;
            let is_failed = timeline.iter().any(|entry| entry["webhook_delivery"]["state"] == "failed");
            if is_failed { Ok(()) } else { Err(timeline) }
        })
        .await;
        assert_eq!(hooked.panel(chat).await["assignment"], json!({"state": "done"}));
    });
}

#[test]
fn a_chat_without_a_card_cannot_be_assigned() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        let chat = hooked.accepted().await;
        hooked.agent.call.post(&assign_path(chat), &json!({})).await.expect_error(409, "conflict");
        assert_eq!(hooked.panel(chat).await["assignment"], Value::Null);
        assert_eq!(hooked.crm.requests().len(), 1);
    });
}

#[test]
fn a_binding_of_which_nobody_is_told_is_refused() {
    on_stage(async |stage| {
        let hooked = Hooked::open_with(stage, [with_data(whole_answer())]).await;
        let events = json!({"events": ["chat_accepted"]});
        hooked.account.admin.call.patch(&hooked.path(""), &events).await.expect(200);
        let chat = hooked.accepted().await;
        hooked.agent.call.post(&assign_path(chat), &json!({})).await.expect_error(409, "conflict");
        assert_eq!(hooked.panel(chat).await["assignment"], Value::Null);
    });
}

#[test]
fn only_the_agent_of_an_open_chat_assigns_it() {
    on_stage(async |stage| {
        let (hooked, chat) = with_card(stage, fine()).await;
        let stranger = stage.account().await;
        stranger.admin.call.post(&assign_path(chat), &json!({})).await.expect_error(404, "not_found");
        hooked.account.admin.call.post(&assign_path(chat), &json!({})).await.expect_error(409, "conflict");
        hooked.agent.close(chat).await;
        hooked.agent.call.post(&assign_path(chat), &json!({})).await.expect_error(409, "conflict");
    });
}

#[test]
fn a_binding_that_is_not_confirmed_has_failed() {
    on_stage(async |stage| {
        let (hooked, chat) = with_card(stage, Answer::Text(200, "text/plain", "thanks".to_owned())).await;
        hooked.agent.call.post(&assign_path(chat), &json!({})).await.expect(200);
        let shown = assignment(&hooked, chat).await;
        assert_eq!(shown["state"], "failed");
        assert!(shown["message"].as_str().unwrap().contains("thanks"), "{shown}");
        assert_eq!(recorded(&hooked.agent, chat, "chat_assigned").await["state"], "delivered");
    });
}
