//! Tests for webhooks' responses: their effect on the agent's panel and on the visitor, failed deliveries, and CRM
//! assignments.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::account_with_webhook::{
    WEBHOOKS_PATH, WebhookFixture, add_webhook, final_webhook_delivery, ok_response, ok_response_with,
};
use crate::support::attempt_schedule::assert_failed_after_three_attempts;
use crate::support::test_host::{TestHost, VISITOR_ID, open_accepted_chat, run_on_shared_host, run_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver, unused_port};
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

const CARD_URL: &str = "https://crm.example/card/7";

fn empty_panel() -> Value {
    json!({"custom_data": [], "enable_assign": false, "crm_link": null, "page": null, "assignment": null})
}

fn full_response() -> Value {
    json!({
        "custom_data": [
            {"title": "Plan", "content": "<b>Gold</b> since <script>x</script>2019", "key": "plan", "link": CARD_URL},
            {"content": "1 < 2"},
            {"title": "<i>Debts</i>", "content": "none"},
        ],
        "contact_info": {"name": "Ada", "email": "ada@example.com", "phone": "+31 6 1"},
        "enable_assign": true,
        "crm_link": CARD_URL,
        "page": {"url": "https://shop.example/ada", "title": "Ada's page"},
    })
}

fn custom_data_line(title: Option<&str>, content: &str, key: Option<&str>, link: Option<&str>) -> Value {
    json!({"title": title, "content": content, "key": key, "link": link, "source": "crm"})
}

fn full_panel() -> Value {
    json!({
        "custom_data": [
            custom_data_line(Some("Plan"), "Gold since x2019", Some("plan"), Some(CARD_URL)),
            custom_data_line(None, "1 < 2", None, None),
            custom_data_line(Some("Debts"), "none", None, None),
        ],
        "enable_assign": true,
        "crm_link": CARD_URL,
        "page": {"url": "https://shop.example/ada", "title": "Ada's page"},
        "assignment": null,
    })
}

#[test]
fn ok_fills_the_panel_in_order_and_without_html_tags() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create_with(host, [ok_response_with(full_response())]).await;
        let chat = fixture.open_accepted_chat().await;
        assert_eq!(fixture.panel(chat).await, full_panel());
    });
}

#[test]
fn ok_is_case_insensitive() {
    run_on_shared_host(async |host| {
        join_all(["OK", "ok", "oK"].map(async |result| {
            let response = CannedResponse::Json(200, json!({"result": result, "enable_assign": true}));
            let fixture = WebhookFixture::create_with(host, [response]).await;
            let chat = fixture.open_accepted_chat().await;
            assert_eq!(fixture.panel(chat).await["enable_assign"], true, "{result}");
        }))
        .await;
    });
}

#[test]
fn contact_info_updates_the_visitor_and_its_sources() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create_with(host, [ok_response_with(full_response())]).await;
        let sender = json!({"id": VISITOR_ID, "name": "Visitor", "phone": "+31 6 1"});
        let body = json!({"sender": sender, "message": {"type": "text", "text": "Hi"}});
        fixture.channel.post(&body).await.expect(200);
        fixture.agent.accept(1).await;
        final_webhook_delivery(&fixture.agent, 1, "chat_accepted").await;

        let visitor = fixture.visitor(1).await;
        assert_eq!((&visitor["name"], &visitor["email"]), (&json!("Ada"), &json!("ada@example.com")));
        let sources = json!({"name": "crm", "email": "crm", "phone": "integrator"});
        assert_eq!(visitor["sources"], sources, "an unchanged field keeps its source");
        assert_eq!(fixture.agent.chats("active").await[0]["visitor"]["name"], "Ada");
    });
}

#[test]
fn responses_of_two_webhooks_are_merged_in_the_panel() {
    run_on_shared_host(async |host| {
        let late = |fields| CannedResponse::Delayed(Duration::from_millis(300), Box::new(ok_response_with(fields)));
        let fixture = WebhookFixture::create_with(host, [late(json!({"crm_link": CARD_URL}))]).await;
        let other = TestReceiver::start(late(json!({"enable_assign": true}))).await;
        add_webhook(&fixture.account, &other, json!({})).await;
        let chat = open_accepted_chat(&fixture.agent, &fixture.channel, VISITOR_ID).await;
        wait_for("both responses in the panel", WAIT_TIMEOUT, async || {
            let panel = fixture.panel(chat).await;
            let is_whole = panel["crm_link"] == CARD_URL && panel["enable_assign"] == true;
            if is_whole { Ok(()) } else { Err(panel) }
        })
        .await;
    });
}

#[test]
fn chat_updated_response_fills_the_panel_too() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create_with(host, [ok_response(), ok_response_with(full_response())]).await;
        let chat = fixture.open_accepted_chat().await;
        assert_eq!(fixture.panel(chat).await, empty_panel());
        fixture.update_visitor(json!({"description": "Asks about numbers"})).await;
        final_webhook_delivery(&fixture.agent, chat, "chat_updated").await;
        assert_eq!(fixture.panel(chat).await, full_panel());
        assert_eq!(fixture.visitor(chat).await["sources"]["name"], "crm");
    });
}

#[test]
fn plain_ok_keeps_the_panel_and_empty_values_clear_it() {
    run_on_shared_host(async |host| {
        let empty_values = ok_response_with(json!({"custom_data": [], "crm_link": null, "page": {}}));
        let fixture =
            WebhookFixture::create_with(host, [ok_response_with(full_response()), ok_response(), empty_values]).await;
        let chat = fixture.open_accepted_chat().await;
        fixture.update_visitor(json!({"description": "one"})).await;
        final_webhook_delivery(&fixture.agent, chat, "chat_updated").await;
        assert_eq!(fixture.panel(chat).await, full_panel());
        fixture.update_visitor(json!({"description": "two"})).await;
        final_webhook_delivery(&fixture.agent, chat, "chat_updated").await;
        let mut expected = empty_panel();
        expected["enable_assign"] = json!(true);
        assert_eq!(fixture.panel(chat).await, expected);
    });
}

#[test]
fn invalid_parts_of_a_response_are_ignored() {
    run_on_shared_host(async |host| {
        let response = ok_response_with(json!({
            "custom_data": [
                {"content": "kept", "link": "javascript:alert(1)", "title": 7},
                {"title": "no content"}, "no object", {"content": {"a": 1}},
            ],
            "contact_info": [],
            "enable_assign": "yes",
            "crm_link": "javascript:alert(1)",
            "page": {"url": "data:text/html,x", "title": "x"},
        }));
        let fixture = WebhookFixture::create_with(host, [response]).await;
        let chat = fixture.open_accepted_chat().await;
        let mut expected = empty_panel();
        expected["custom_data"] = json!([custom_data_line(Some("7"), "kept", None, None)]);
        assert_eq!(fixture.panel(chat).await, expected);
        assert_eq!(fixture.visitor(chat).await["name"], "Anonymous");
        let delivery = final_webhook_delivery(&fixture.agent, chat, "chat_accepted").await;
        assert_eq!(delivery["state"], "delivered");
        assert_eq!(delivery["attempts"].as_array().unwrap().len(), 1);
    });
}

#[test]
fn long_custom_data_is_cut() {
    run_on_shared_host(async |host| {
        let lines = vec![json!({"content": "é".repeat(1_100)}); 12];
        let fixture = WebhookFixture::create_with(host, [ok_response_with(json!({"custom_data": lines}))]).await;
        let chat = fixture.open_accepted_chat().await;
        let shown = fixture.panel(chat).await["custom_data"].clone();
        assert_eq!(shown.as_array().unwrap().len(), 12);
        assert_eq!(shown[11]["content"], "é".repeat(1_000));
    });
}

/// Returns responses that end the delivery but do not affect the chat. Each comes with its HTTP status, the resulting
/// delivery state, and a text that the recorded attempt must contain.
fn responses_without_effect() -> Vec<(CannedResponse, u16, &'static str, &'static str)> {
    let response_with_result = |status: u16, result: Value| {
        CannedResponse::Json(
            status,
            json!({"result": result, "crm_link": CARD_URL, "contact_info": {"name": "Mallory"}}),
        )
    };
    let text = |status, text: &str| CannedResponse::Text(status, "text/html", text.to_owned());
    let megabyte = json!({"result": "OK", "custom_data": [{"content": "x".repeat(1_000_000)}]});
    vec![
        (response_with_result(200, json!("FAILURE")), 200, "failed", "FAILURE"),
        (response_with_result(202, json!("no card")), 202, "failed", "no card"),
        (response_with_result(200, json!(true)), 200, "delivered", "\"result\":true"),
        (response_with_result(201, Value::Null), 201, "delivered", "\"result\":null"),
        (text(200, "<h1>It works!</h1>"), 200, "delivered", "It works!"),
        (text(204, ""), 204, "delivered", "(nothing)"),
        (CannedResponse::Json(200, json!([{"result": "OK"}])), 200, "delivered", "[{\"result\":\"OK\"}]"),
        (CannedResponse::Json(200, megabyte), 200, "delivered", "\"xxxx"),
    ]
}

#[test]
fn any_2xx_ends_the_attempts_but_only_ok_is_applied() {
    run_on_shared_host(async |host| {
        join_all(responses_without_effect().into_iter().map(async |(response, status, state, words)| {
            let name = format!("{status} {words}");
            let fixture = WebhookFixture::create_with(host, [response]).await;
            let chat = fixture.open_accepted_chat().await;
            let delivery = final_webhook_delivery(&fixture.agent, chat, "chat_accepted").await;
            assert_eq!(delivery["state"], state, "{name}: {delivery}");
            let attempts = delivery["attempts"].as_array().unwrap();
            assert_eq!((attempts.len(), &attempts[0]["status"]), (1, &json!(status)), "{name}: {delivery}");
            let is_failed = state == "failed";
            let recorded = &attempts[0][if is_failed { "error" } else { "answer" }];
            assert!(recorded.as_str().is_some_and(|recorded| recorded.contains(words)), "{name}: {delivery}");
            assert_eq!(delivery["error"]["message"] == *recorded, is_failed, "{name}: {delivery}");
            assert_eq!(fixture.panel(chat).await, empty_panel(), "{name}");
            assert_eq!(fixture.visitor(chat).await["name"], "Anonymous", "{name}");
            assert_eq!(fixture.webhook_receiver.requests().len(), 1, "{name}");
        }))
        .await;
    });
}

#[test]
fn ok_counts_with_any_2xx_and_inside_a_json_string() {
    run_on_shared_host(async |host| {
        let ok = json!({"result": "OK", "crm_link": CARD_URL});
        let responses = [CannedResponse::Json(201, ok.clone()), CannedResponse::Json(200, json!(ok.to_string()))];
        join_all(responses.map(async |response| {
            let fixture = WebhookFixture::create_with(host, [response]).await;
            let chat = fixture.open_accepted_chat().await;
            assert_eq!(fixture.panel(chat).await["crm_link"], CARD_URL);
            let delivery = final_webhook_delivery(&fixture.agent, chat, "chat_accepted").await;
            assert_eq!((&delivery["state"], &delivery["attempts"][0]["answer"]), (&json!("delivered"), &Value::Null));
        }))
        .await;
    });
}

#[test]
fn numbers_and_a_description_are_read_from_a_response() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create_with(
            host,
            [ok_response_with(json!({
                "custom_data": [{"title": "Debts", "content": 12.5}, {"content": 7}],
                "contact_info": {"name": "Ada", "phone": 31_612_345_678_u64, "description": "<b>Gold</b> since 2019"},
            }))],
        )
        .await;
        let chat = fixture.open_accepted_chat().await;
        let lines = [custom_data_line(Some("Debts"), "12.5", None, None), custom_data_line(None, "7", None, None)];
        assert_eq!(fixture.panel(chat).await["custom_data"], json!(lines));
        let visitor = fixture.visitor(chat).await;
        assert_eq!((&visitor["phone"], &visitor["description"]), (&json!("31612345678"), &json!("Gold since 2019")));
        assert_eq!(visitor["sources"]["description"], "crm");
    });
}

#[test]
fn unreachable_webhook_does_not_affect_the_chat() {
    run_with_virtual_time(async |host, time| {
        let account = host.create_account().await;
        let closed_url = json!({"url": format!("http://127.0.0.1:{}/hook", unused_port().await)});
        account.admin.client.post(WEBHOOKS_PATH, &closed_url).await.expect(201);
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let channel = account.create_channel(&integrator.url()).await;
        let chat = open_accepted_chat(&account.admin, &channel, VISITOR_ID).await;
        let seq = account.admin.send_text(chat, "Hello").await;
        assert_eq!(account.admin.final_delivery(chat, seq).await["state"], "delivered");
        time.run_until_failure_is_shown().await;
        let delivery = final_webhook_delivery(&account.admin, chat, "chat_accepted").await;
        assert_failed_after_three_attempts("dead", &delivery, None);
    });
}

#[test]
fn failing_webhook_gets_attempts_at_0_3_and_6_seconds() {
    run_with_virtual_time(async |host, time| {
        let failing = CannedResponse::Json(500, json!({"result": "OK", "crm_link": CARD_URL}));
        let fixture = WebhookFixture::create_with(host, [failing]).await;
        fixture.channel.send_text(VISITOR_ID, "Hello").await;
        let accepted_at = Instant::now();
        fixture.agent.accept(1).await;
        time.run_until_failure_is_shown().await;
        let delivery = final_webhook_delivery(&fixture.agent, 1, "chat_accepted").await;
        assert_failed_after_three_attempts("500", &delivery, Some(500));
        time.assert_every_three_seconds(accepted_at, &fixture.webhook_receiver.requests());
        assert_eq!(fixture.panel(1).await, empty_panel());
    });
}

/// The attempts of this test are made in real time.
#[test]
fn third_attempt_may_succeed_and_all_share_one_id() {
    run_on_shared_host(async |host| {
        let broken = CannedResponse::Json(500, json!({}));
        let fixture =
            WebhookFixture::create_with(host, [broken.clone(), broken, ok_response_with(full_response())]).await;
        let chat = fixture.open_accepted_chat().await;
        let delivery = final_webhook_delivery(&fixture.agent, chat, "chat_accepted").await;
        assert_eq!(delivery["state"], "delivered");
        let statuses: Vec<_> = delivery["attempts"].as_array().unwrap().iter().map(|it| it["status"].clone()).collect();
        assert_eq!(statuses, [500, 500, 200]);
        assert_eq!(fixture.panel(chat).await, full_panel());
        let requests = fixture.webhook_receiver.requests();
        let ids: Vec<_> = requests.iter().map(|request| request.header("webhook-id")).collect();
        assert!(ids[0].is_some());
        assert_eq!(ids, [ids[0]; 3]);
        assert_eq!(requests[0].json(), requests[2].json());
    });
}

#[test]
fn hanging_chat_does_not_delay_events_of_another_chat() {
    run_with_virtual_time(async |host, _| {
        let fixture = WebhookFixture::create(host).await;
        fixture.open_accepted_chat().await;
        for visitor in ["hanging", "healthy"] {
            fixture.channel.send_text(visitor, "Hello").await;
        }
        fixture.webhook_receiver.respond_in_order([CannedResponse::Hang, ok_response()]);
        fixture.agent.accept(2).await;
        fixture.webhook_receiver.wait_for_requests(2, WAIT_TIMEOUT).await;
        // No time passes.
        fixture.agent.accept(3).await;
        let arrived = fixture.webhook_receiver.wait_for_requests(3, WAIT_TIMEOUT).await.remove(2);
        assert_eq!(arrived.json()["chat_id"], 3);
    });
}

#[test]
fn hanging_webhook_does_not_delay_another_webhook() {
    run_with_virtual_time(async |host, _| {
        let fixture = WebhookFixture::create_with(host, [CannedResponse::Hang]).await;
        let healthy = TestReceiver::start(ok_response()).await;
        add_webhook(&fixture.account, &healthy, json!({})).await;
        fixture.channel.send_text(VISITOR_ID, "Hello").await;
        // No time passes.
        fixture.agent.accept(1).await;
        healthy.wait_for_requests(1, WAIT_TIMEOUT).await;
    });
}

#[test]
fn late_response_preserves_concurrent_agent_changes() {
    run_with_virtual_time(async |host, _| {
        let fixture = WebhookFixture::create(host).await;
        let release = fixture.webhook_receiver.respond_on_release(ok_response_with(full_response()));
        let chat = open_accepted_chat(&fixture.agent, &fixture.channel, VISITOR_ID).await;
        fixture.webhook_receiver.wait_for_requests(1, WAIT_TIMEOUT).await;
        fixture.webhook_receiver.respond_with(ok_response());
        fixture.update_visitor(json!({"blacklisted": true, "description": "Spams"})).await;
        release.send_replace(());
        final_webhook_delivery(&fixture.agent, chat, "chat_accepted").await;
        let visitor = fixture.visitor(chat).await;
        assert_eq!(visitor["name"], "Ada", "the response is applied");
        assert_eq!((&visitor["blacklisted"], &visitor["description"]), (&json!(true), &json!("Spams")));
    });
}

fn assign_path(chat: u64) -> String {
    format!("/agent/chats/{chat}/assign")
}

/// Creates a chat that has a CRM card and is accepted by the agent. The webhook responds to `chat_assigned` and to
/// later events with `response`.
async fn chat_with_card(host: &TestHost, response: CannedResponse) -> (WebhookFixture, u64) {
    let card = ok_response_with(json!({"enable_assign": true, "crm_link": CARD_URL}));
    let fixture = WebhookFixture::create_with(host, [card, response]).await;
    let chat = fixture.open_accepted_chat().await;
    (fixture, chat)
}

/// Waits until the CRM assignment in the panel is no longer `pending`, and returns the assignment.
async fn final_assignment(fixture: &WebhookFixture, chat: u64) -> Value {
    wait_for("the end of the assignment", WAIT_TIMEOUT, async || {
        let assignment = fixture.panel(chat).await["assignment"].clone();
        if assignment["state"] == "pending" { Err(assignment) } else { Ok(assignment) }
    })
    .await
}

#[test]
fn agent_assigns_the_visitor_to_the_crm_card() {
    run_on_shared_host(async |host| {
        let (fixture, chat) = chat_with_card(host, ok_response()).await;
        let release = fixture.webhook_receiver.respond_on_release(ok_response());
        let response = fixture.agent.client.post(&assign_path(chat), &json!({})).await.expect(200);
        assert_eq!(response, json!({"chat_id": chat, "assign_to": CARD_URL}));
        assert_eq!(fixture.panel(chat).await["assignment"], json!({"state": "pending"}));
        release.send_replace(());
        assert_eq!(final_assignment(&fixture, chat).await, json!({"state": "done"}));
    });
}

#[test]
fn chat_assigned_equals_chat_accepted_with_the_card() {
    run_on_shared_host(async |host| {
        let (fixture, chat) = chat_with_card(host, ok_response()).await;
        fixture.agent.client.post(&assign_path(chat), &json!({})).await.expect(200);
        final_webhook_delivery(&fixture.agent, chat, "chat_assigned").await;
        let bodies: Vec<Value> = fixture.webhook_receiver.requests().iter().map(ReceivedRequest::json).collect();
        let mut expected = bodies[0].clone();
        expected["event_name"] = json!("chat_assigned");
        expected["assign_to"] = json!(CARD_URL);
        assert_eq!(bodies[1..], [expected]);
    });
}

#[test]
fn rejection_message_of_an_assignment_is_shown() {
    run_on_shared_host(async |host| {
        let refusal = CannedResponse::Json(200, json!({"result": "Card 7 is locked"}));
        let (fixture, chat) = chat_with_card(host, refusal).await;
        fixture.agent.client.post(&assign_path(chat), &json!({})).await.expect(200);
        let shown = final_assignment(&fixture, chat).await;
        assert_eq!(shown["state"], "failed");
        assert!(shown["message"].as_str().unwrap().contains("Card 7 is locked"), "{shown}");
        assert_eq!(fixture.webhook_receiver.requests().len(), 1 + 1, "the rejection is final");
        assert_eq!(fixture.panel(chat).await["crm_link"], CARD_URL, "the agent may repeat the assignment");
    });
}

#[test]
fn assignment_by_one_webhook_survives_failure_of_another() {
    run_with_virtual_time(async |host, time| {
        let (fixture, chat) = chat_with_card(host, ok_response()).await;
        let other = TestReceiver::start(CannedResponse::Json(500, json!({}))).await;
        add_webhook(&fixture.account, &other, json!({"events": ["chat_assigned"]})).await;
        fixture.agent.client.post(&assign_path(chat), &json!({})).await.expect(200);
        time.run_until_failure_is_shown().await;
        wait_for("the failed delivery to the other webhook", WAIT_TIMEOUT, async || {
            let timeline = fixture.agent.timeline(chat).await;
            let is_failed = timeline.iter().any(|entry| entry["webhook_delivery"]["state"] == "failed");
            if is_failed { Ok(()) } else { Err(timeline) }
        })
        .await;
        assert_eq!(fixture.panel(chat).await["assignment"], json!({"state": "done"}));
    });
}

#[test]
fn chat_without_a_card_cannot_be_assigned() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let chat = fixture.open_accepted_chat().await;
        fixture.agent.client.post(&assign_path(chat), &json!({})).await.expect_error(409, "conflict");
        assert_eq!(fixture.panel(chat).await["assignment"], Value::Null);
        assert_eq!(fixture.webhook_receiver.requests().len(), 1);
    });
}

#[test]
fn assignment_without_a_subscribed_webhook_is_rejected() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create_with(host, [ok_response_with(full_response())]).await;
        let events = json!({"events": ["chat_accepted"]});
        fixture.account.admin.client.patch(&fixture.webhook_path(""), &events).await.expect(200);
        let chat = fixture.open_accepted_chat().await;
        fixture.agent.client.post(&assign_path(chat), &json!({})).await.expect_error(409, "conflict");
        assert_eq!(fixture.panel(chat).await["assignment"], Value::Null);
    });
}

#[test]
fn only_the_agent_of_an_open_chat_can_assign_it() {
    run_on_shared_host(async |host| {
        let (fixture, chat) = chat_with_card(host, ok_response()).await;
        let other_account = host.create_account().await;
        other_account.admin.client.post(&assign_path(chat), &json!({})).await.expect_error(404, "not_found");
        fixture.account.admin.client.post(&assign_path(chat), &json!({})).await.expect_error(409, "conflict");
        fixture.agent.close(chat).await;
        fixture.agent.client.post(&assign_path(chat), &json!({})).await.expect_error(409, "conflict");
    });
}

#[test]
fn unconfirmed_assignment_fails() {
    run_on_shared_host(async |host| {
        let (fixture, chat) = chat_with_card(host, CannedResponse::Text(200, "text/plain", "thanks".to_owned())).await;
        fixture.agent.client.post(&assign_path(chat), &json!({})).await.expect(200);
        let shown = final_assignment(&fixture, chat).await;
        assert_eq!(shown["state"], "failed");
        assert!(shown["message"].as_str().unwrap().contains("thanks"), "{shown}");
        assert_eq!(final_webhook_delivery(&fixture.agent, chat, "chat_assigned").await["state"], "delivered");
    });
}
