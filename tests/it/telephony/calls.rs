//! Tests for phone calls through a plain HTTP gateway: callbacks, calls by agents, incoming calls, and what webhooks,
//! the console and the widget learn about them.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::agent_socket::AgentSocket;
use crate::support::api_client::{number, send};
use crate::support::bot_fixture::{TestBot, register_provider};
use crate::support::call_fixture::{
    ACCOUNT_NUMBER, AGENT_PHONE, CallFixture, GATEWAY_SECRET, TELEPHONY_PATH, VISITOR_PHONE, post_signed,
    post_signed_at, report,
};
use crate::support::test_host::{TestHost, run_on_own_host, run_on_shared_host, run_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

const RECORDING: &str = "https://calls.example/1.mp3";
const UNAVAILABLE: &str = "Callback unavaiable";

#[test]
fn callback_connects_the_agent_and_then_the_visitor() {
    run_on_shared_host(async |host| {
        let fixture = CallFixture::create(host).await;
        let (mut socket, mut console) = (fixture.visitor.open_socket().await, AgentSocket::open(&fixture.agent).await);
        let order = fixture.ordered_callback().await;
        let request = &fixture.provider.requests()[0];
        assert!(request.is_signed_with(GATEWAY_SECRET), "the order is signed");
        let (call_id, report_url) = (order["call_id"].as_str().unwrap(), order["report_url"].as_str().unwrap());
        let expected = json!({
            "event": "call", "call_id": call_id, "site_id": fixture.account.id, "chat_id": "1", "type": "callback",
            "agent": {"id": fixture.agent.id, "name": "Ann", "phone": AGENT_PHONE}, "client": {"phone": VISITOR_PHONE},
            "caller_id": ACCOUNT_NUMBER, "record": false, "ring_seconds": 15, "max_seconds": 3_600,
            "report_url": format!("{}/{call_id}", fixture.incoming_url),
        });
        assert_eq!(order, expected, "the talk is limited to the balance");
        assert_eq!(report_url, format!("{}/{call_id}", fixture.incoming_url));
        let call = json!({"type": "callback", "phone": VISITOR_PHONE, "status": "start"});
        assert_eq!(fixture.visitor.session().await["call"], call);
        assert_eq!(socket.next_of("call").await["call"], call);

        for status in ["ringing", "agent_connected", "client_connected", "agent_connected"] {
            assert_eq!(report(host, &order, status, json!({})).await.expect(200), json!({"result": "ok"}));
        }
        for status in ["agent_connected", "client_connected"] {
            assert_eq!(socket.next_of("call").await["call"]["status"], status);
        }
        let end = json!({"duration": 61, "record_url": RECORDING});
        report(host, &order, "end", end.clone()).await.expect(200);
        report(host, &order, "end", end).await.expect(200);
        assert_eq!(socket.next_of("call").await["call"]["status"], "end");
        let shown = console.find("the end of the call", |frame| frame["message"]["call"]["status"] == "end").await;
        let agent = json!({"id": fixture.agent.id, "name": "Ann"});
        let expected = json!({
            "type": "callback", "phone": VISITOR_PHONE, "status": "end", "record_url": RECORDING, "duration": 61,
            "agent": agent,
        });
        assert_eq!(shown["message"]["call"], expected);
        assert_eq!(fixture.call(1).await, expected);
        assert_eq!(fixture.visitor.session().await["call"], Value::Null);

        let events = fixture.wait_for_statuses(&["start", "agent_connected", "client_connected", "end"]).await;
        let call = json!({"type": "callback", "phone": VISITOR_PHONE, "status": "end", "record_url": RECORDING});
        assert_eq!(events[3], call);
        let event = fixture.webhook_receiver.requests()[3].json();
        assert_eq!((&event["chat_id"], &event["agent"]["name"]), (&json!(1), &json!("Ann")));
        assert_eq!(event["visitor"]["phone"], VISITOR_PHONE);
        let telephony = fixture.account.admin.client.get("/admin/telephony").await.expect(200);
        assert_eq!(telephony["balance_minutes"], 59, "the service's own clock has seen a talk of a few seconds");
        assert_eq!(fixture.agent.chats("waiting").await[0]["last_message"]["text"], VISITOR_PHONE);
    });
}

#[test]
fn foreign_host_header_changes_no_address() {
    run_on_shared_host(async |host| {
        let fixture = CallFixture::create(host).await;
        let (admin, base) = (&fixture.account.admin.client, host.local.base_url());
        let with_foreign_host = async |method: Method, path: &str, body: Value| {
            let client = if path.starts_with("/widget/") { &host.anonymous } else { admin };
            send(client.request(method, path).header("host", "evil.example").json(&body)).await
        };
        let telephony = with_foreign_host(Method::GET, TELEPHONY_PATH, json!({})).await.expect(200);
        assert_eq!(telephony["incoming_url"], fixture.incoming_url);
        assert!(fixture.incoming_url.starts_with(&format!("{base}/calls/")), "{telephony}");
        let api = json!({"kind": "api", "name": "Shop", "integrator_url": "https://shop.example/hook"});
        let created = with_foreign_host(Method::POST, "/admin/channels", api).await.expect(201);
        let rotate = format!("/admin/channels/{}/rotate", created["channel_id"].as_str().unwrap());
        let rotated = with_foreign_host(Method::POST, &rotate, json!({})).await.expect(200);
        for body in [created, rotated] {
            assert!(body["endpoint"].as_str().unwrap().starts_with(&format!("{base}/channel/")), "{body}");
        }
        let widget = format!("/admin/channels/{}", fixture.widget.id);
        let snippet = with_foreign_host(Method::GET, &widget, json!({})).await.expect(200)["snippet"].clone();
        assert!(snippet.as_str().unwrap().contains(&format!("src=\"{base}/widget/")), "{snippet}");
        let callback = json!({"token": fixture.visitor.token, "message_id": "m", "phone": VISITOR_PHONE});
        let path = format!("/widget/{}/call", fixture.widget.id);
        assert_eq!(with_foreign_host(Method::POST, &path, callback).await.expect(200)["result"], "ok");
        let order = fixture.provider.wait_for_requests(1, WAIT_TIMEOUT).await[0].json();
        assert_eq!(order["report_url"], format!("{}/{}", fixture.incoming_url, order["call_id"].as_str().unwrap()));
    });
}

#[test]
fn callback_opens_a_chat_that_the_bot_is_told_of() {
    run_on_shared_host(async |host| {
        let fixture = CallFixture::create(host).await;
        let provider = TestReceiver::start(CannedResponse::ok()).await;
        let provider_id = register_provider(&host.operator, &provider.url(), json!({})).await;
        let channels = json!({"channel_ids": [fixture.widget.id]});
        let bot = TestBot::connect(&fixture.account, &provider_id, &[], channels).await;
        fixture.ordered_callback().await;
        let event = provider.wait_for_requests(1, WAIT_TIMEOUT).await[0].json();
        assert_eq!((&event["event"], &event["message"]["text"]), (&json!("CLIENT_MESSAGE"), &json!(VISITOR_PHONE)));
        assert_eq!(event["call"], json!({"type": "callback", "phone": VISITOR_PHONE}));
        assert_eq!(fixture.agent.chat(1).await["state"], "bot");
        bot.send_text(&event["chat_id"], "We are calling you.").await.expect(200);
        assert_eq!(fixture.visitor.messages().await.len(), 1, "the visitor sees the answer only");
    });
}

/// Returns the responses of the endpoints behind the widget's `isCallbackEnabled` and `startCall`.
async fn callback_answers(fixture: &CallFixture) -> [Value; 2] {
    let checked = fixture.visitor.call("callback", json!({})).await.expect(200);
    [checked, fixture.start_callback().await]
}

fn failures(reason: &str) -> [Value; 2] {
    [(); 2].map(|()| json!({"result": "fail", "reason": reason}))
}

#[test]
fn callback_is_disabled_or_unavailable() {
    run_with_virtual_time(async |host, time| {
        let fixture = CallFixture::create(host).await;
        fixture.agent.set_presence("offline").await;
        assert_eq!(callback_answers(&fixture).await, failures(UNAVAILABLE), "no agent is online");
        fixture.account.admin.set_presence("online").await;
        assert_eq!(callback_answers(&fixture).await, failures(UNAVAILABLE), "the admin has no phone number");

        let outside_hours = json!({"enabled": true, "days": []});
        for (callback, reason) in [(outside_hours, UNAVAILABLE), (json!({"enabled": false}), "Callback disabled")] {
            let fixture = CallFixture::create(host).await;
            fixture.account.admin.client.put("/admin/settings", &json!({"callback": callback})).await.expect(200);
            assert_eq!(callback_answers(&fixture).await, failures(reason));
            let anonymous = fixture.widget.call("callback", &json!({})).await.expect(200);
            assert_eq!(anonymous["reason"], reason);
            // The process that starts sessions may have the earlier settings for ten seconds.
            time.advance(seconds(10));
            let session = fixture.widget.call("session", &json!({})).await.expect(200);
            let shown = (&session["callback"], &session["callback_available"]);
            assert_eq!(shown, (&json!(reason == UNAVAILABLE), &json!(false)), "{session}");
            assert_eq!(fixture.provider.requests().len(), 0);
        }
    });
}

#[test]
fn callback_needs_a_balance_and_a_valid_number() {
    run_on_shared_host(async |host| {
        let fixture = CallFixture::create(host).await;
        let refused = ["12", "0900 123 4567", "+1 900 234 5678", "+44 7911 123456", "+881612345678", "+88213000000"];
        for phone in refused.into_iter().chain([ACCOUNT_NUMBER, AGENT_PHONE]) {
            let invalid = fixture.visitor.call("call", json!({"message_id": "m", "phone": phone})).await;
            assert_eq!(invalid.expect_error(400, "invalid_request")["error"]["field"], "phone", "{phone}");
        }
        assert_eq!(fixture.provider.requests().len(), 0);
        let wrong_token = fixture.widget.call("call", &json!({"token": "x", "message_id": "m", "phone": "1"})).await;
        wrong_token.expect_error(401, "invalid_token");
        assert_eq!(fixture.visitor.call("callback", json!({})).await.expect(200), json!({"result": "ok"}));
        assert_eq!(fixture.widget.call("session", &json!({})).await.expect(200)["callback_available"], true);
        let order = fixture.ordered_callback().await;
        assert_eq!(callback_answers(&fixture).await, failures(UNAVAILABLE), "a call is in progress");
        let other = fixture.widget.visitor().await;
        let checked = other.call("callback", json!({})).await.expect(200);
        assert_eq!(checked["reason"], UNAVAILABLE, "all minutes are reserved for the call");
        report(host, &order, "client_connected", json!({})).await.expect(200);
        report(host, &order, "end", json!({"duration": 0})).await.expect(200);
        assert_eq!(other.call("callback", json!({})).await.expect(200)["result"], "ok", "the rest is given back");
    });
}

#[test]
fn strangers_cannot_make_one_phone_ring_or_overdraw_the_balance() {
    run_on_shared_host(async |host| {
        let fixture = CallFixture::create_with(host, json!({"max_minutes": 1, "callbacks_per_number": 2})).await;
        let ask = async |phone: String| {
            let visitor = fixture.widget.visitor().await;
            visitor.call("call", json!({"message_id": "m", "phone": phone})).await.expect(200)
        };
        let started = |answers: &[Value]| answers.iter().filter(|answer| answer["result"] == "ok").count();
        let answers = join_all((0..4).map(|_| ask(VISITOR_PHONE.to_owned()))).await;
        assert_eq!(started(&answers), 1, "{answers:?}");
        assert!(answers.iter().all(|answer| answer["result"] == "ok" || answer["reason"] == UNAVAILABLE));
        let order = fixture.provider.wait_for_requests(1, WAIT_TIMEOUT).await[0].json();
        report(host, &order, "error", json!({"reason": "busy"})).await.expect(200);
        assert_eq!(ask(VISITOR_PHONE.to_owned()).await["result"], "ok");
        let order = fixture.provider.wait_for_requests(2, WAIT_TIMEOUT).await[1].json();
        report(host, &order, "error", json!({"reason": "busy"})).await.expect(200);
        assert_eq!(ask(VISITOR_PHONE.to_owned()).await["reason"], UNAVAILABLE, "two callbacks a day to a number");

        let fixture = CallFixture::create_with(host, json!({"max_minutes": 60})).await;
        let ask = async |index: usize| {
            let visitor = fixture.widget.visitor().await;
            let request = json!({"message_id": "m", "phone": format!("+3162222223{index}")});
            visitor.call("call", request).await.expect(200)
        };
        let answers = join_all((0..4).map(ask)).await;
        assert_eq!(started(&answers), 1, "the balance suffices for one call: {answers:?}");
        let telephony = fixture.account.admin.client.get(TELEPHONY_PATH).await.expect(200);
        assert_eq!(telephony["balance_minutes"], 0);
        let order = fixture.provider.wait_for_requests(1, WAIT_TIMEOUT).await[0].json();
        report(host, &order, "error", json!({"reason": "busy"})).await.expect(200);
        let telephony = fixture.account.admin.client.get(TELEPHONY_PATH).await.expect(200);
        assert_eq!(telephony["balance_minutes"], 60, "the reserved minutes are given back");
    });
}

#[test]
fn callbacks_from_one_network_are_limited() {
    run_with_virtual_time(async |host, _| {
        let fixture = CallFixture::create_with(host, json!({"callbacks_per_number": 100})).await;
        let request = |id: usize| json!({"message_id": id.to_string(), "phone": VISITOR_PHONE});
        for id in 0..10 {
            assert_eq!(fixture.visitor.call("call", request(id)).await.expect(200)["result"], "ok");
            let order = fixture.provider.wait_for_requests(id + 1, WAIT_TIMEOUT).await[id].json();
            report(host, &order, "error", json!({"reason": "busy"})).await.expect(200);
        }
        let rejected = fixture.visitor.call("call", request(10)).await;
        assert!(rejected.headers.contains_key("retry-after"));
        rejected.expect_error(429, "rate_limited");
        assert_eq!(fixture.provider.requests().len(), 10);
    });
}

#[test]
fn repeated_request_starts_one_call() {
    // A process counts the requests from a client network in memory, and writes the count with every tenth request.
    const COUNTED_REQUESTS: usize = 10;
    run_on_own_host(&[], async |host| {
        let fixture = CallFixture::create(host).await;
        let request = json!({"message_id": "m", "phone": VISITOR_PHONE});
        let first = fixture.visitor.call("call", request.clone()).await.expect(200);
        fixture.provider.wait_for_requests(1, WAIT_TIMEOUT).await;
        for _ in 0..COUNTED_REQUESTS {
            assert_eq!(fixture.visitor.call("call", request.clone()).await.expect(200), first);
            let checked = fixture.visitor.call("callback", json!({})).await.expect(200);
            assert_eq!(checked["reason"], UNAVAILABLE, "a call is in progress");
        }
        fixture.wait_for_statuses(&["start"]).await;
        assert_eq!(fixture.provider.requests().len(), 1);
    });
}

#[test]
fn new_secret_of_the_gateway_works_at_once() {
    const NEW_SECRET: &str = "whsec_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";
    run_on_shared_host(async |host| {
        let fixture = CallFixture::create(host).await;
        let order = fixture.ordered_callback().await;
        report(host, &order, "agent_connected", json!({})).await.expect(200);
        let changed = json!({"provider": "http", "url": fixture.provider.url(), "signing_secret": NEW_SECRET});
        fixture.account.admin.client.patch(TELEPHONY_PATH, &changed).await.expect(200);
        let end = json!({"call_id": order["call_id"], "status": "end", "duration": 1});
        post_signed(host, order["report_url"].as_str().unwrap(), &end, NEW_SECRET).await.expect(200);

        fixture.provider.respond_by(|request| {
            let is_new = request.is_signed_with(NEW_SECRET);
            async move { if is_new { CannedResponse::ok() } else { CannedResponse::Json(401, json!({})) } }
        });
        fixture.start_callback().await;
        let is_placed =
            |requests: &[ReceivedRequest]| requests.iter().any(|request| request.is_signed_with(NEW_SECRET));
        wait_for("an order with the new secret", WAIT_TIMEOUT, async || {
            let requests = fixture.provider.requests();
            if is_placed(&requests) { Ok(()) } else { Err(requests.len()) }
        })
        .await;
        let order = fixture.provider.requests().pop().unwrap().json();
        let end = json!({"call_id": order["call_id"], "status": "end", "duration": 1});
        post_signed(host, order["report_url"].as_str().unwrap(), &end, NEW_SECRET).await.expect(200);
        let statuses = ["start", "agent_connected", "client_connected", "end"];
        fixture.wait_for_statuses(&[statuses, statuses].concat()).await;
    });
}

#[test]
fn forged_and_replayed_reports_are_rejected_or_harmless() {
    run_on_shared_host(async |host| {
        let fixture = CallFixture::create(host).await;
        let order = fixture.ordered_callback().await;
        let url = order["report_url"].as_str().unwrap();
        let end = json!({"call_id": order["call_id"], "status": "end", "duration": 60});
        let other_secret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        post_signed(host, url, &end, other_secret).await.expect_error(401, "invalid_signature");
        host.anonymous.post(url, &end).await.expect_error(401, "invalid_signature");
        post_signed_at(host, url, &end, GATEWAY_SECRET, 1_700_000_000).await.expect_error(401, "invalid_signature");
        let other_call = json!({"call_id": "00000000-0000-7000-8000-000000000000", "status": "end"});
        let replayed = post_signed(host, url, &other_call, GATEWAY_SECRET).await;
        assert_eq!(replayed.expect_error(400, "invalid_request")["error"]["field"], "call_id");
        let unknown = url.replace(order["call_id"].as_str().unwrap(), "00000000-0000-7000-8000-000000000000");
        post_signed(host, &unknown, &other_call, GATEWAY_SECRET).await.expect_error(404, "not_found");
        let unknown_account = url.replace(fixture.account.id.as_str().unwrap(), "unknown");
        post_signed(host, &unknown_account, &end, GATEWAY_SECRET).await.expect_error(404, "not_found");
        let other = CallFixture::create(host).await;
        let foreign = url.replace(fixture.account.id.as_str().unwrap(), other.account.id.as_str().unwrap());
        post_signed(host, &foreign, &end, GATEWAY_SECRET).await.expect_error(404, "not_found");
        assert_eq!(fixture.call(1).await["status"], "start");

        report(host, &order, "error", json!({"reason": "busy"})).await.expect(200);
        for status in ["agent_connected", "client_connected", "end", "error"] {
            report(host, &order, status, json!({})).await.expect(200);
        }
        let call = json!({"type": "callback", "phone": VISITOR_PHONE, "status": "error", "reason": "busy"});
        assert_eq!(fixture.wait_for_statuses(&["start", "error"]).await[1], call);
    });
}

#[test]
fn call_that_cannot_be_placed_ends_with_an_error() {
    run_on_shared_host(async |host| {
        let fixture = CallFixture::create(host).await;
        fixture.provider.respond_with(CannedResponse::Json(403, json!({})));
        fixture.ordered_callback().await;
        let events = fixture.wait_for_statuses(&["start", "error"]).await;
        assert_eq!(events[1]["reason"], "the call could not be placed");
        fixture.provider.respond_in_order([CannedResponse::Json(503, json!({})), CannedResponse::ok()]);
        let order = fixture.ordered_callback().await;
        let requests = fixture.provider.wait_for_requests(3, WAIT_TIMEOUT).await;
        assert_eq!(requests[2].json(), order, "a temporary failure is retried with the same call_id");
        report(host, &order, "end", json!({})).await.expect(200);
        let events = fixture.wait_for_statuses(&["start", "error", "start", "error"]).await;
        assert_eq!(events[3]["reason"], "no answer from the agent");
        let deliveries = fixture.account.admin.client.get("/admin/deliveries?target=call").await.expect(200);
        assert_eq!(deliveries["deliveries"][0]["type"], "call");
        let replay = json!({"chat_id": 1, "seq": deliveries["deliveries"][0]["seq"]});
        fixture.account.admin.client.post("/admin/deliveries/replay", &replay).await.expect_error(409, "conflict");
    });
}

#[test]
fn call_is_placed_at_once_after_a_gateway_has_recovered() {
    run_on_own_host(&[], async |host| {
        let fixture = CallFixture::create(host).await;
        fixture.provider.respond_with(CannedResponse::Hang);
        fixture.ordered_callback().await;
        fixture.wait_for_statuses(&["start", "error"]).await;
        fixture.provider.respond_with(CannedResponse::ok());
        let order = fixture.ordered_callback().await;
        report(host, &order, "error", json!({})).await.expect(200);
        let events = fixture.wait_for_statuses(&["start", "error", "start", "error"]).await;
        assert_eq!(events[1]["reason"], "the call could not be placed");
        assert_eq!(fixture.provider.requests().len(), 3 + 1, "one attempt after three that hung");
    });
}

#[test]
fn reported_call_is_not_placed_again_after_a_lost_response() {
    run_on_shared_host(async |host| {
        let fixture = CallFixture::create(host).await;
        fixture.provider.respond_with(CannedResponse::Hang);
        let order = fixture.ordered_callback().await;
        report(host, &order, "ringing", json!({"provider_call_id": "p1"})).await.expect(200);
        let seq = wait_for("the end of the delivery", WAIT_TIMEOUT, async || {
            let timeline = fixture.agent.timeline(1).await;
            let entry = timeline.iter().find(|entry| entry["type"] == "call").unwrap().clone();
            if entry["call_delivery"]["state"] == "delivered" { Ok(number(&entry["seq"])) } else { Err(entry) }
        })
        .await;
        assert_eq!((fixture.provider.requests().len(), seq), (1, 1));
        report(host, &order, "agent_connected", json!({"provider_call_id": "p2"})).await.expect(200);
        assert_eq!(fixture.call(1).await["status"], "start", "the report of another call is ignored");
        report(host, &order, "error", json!({"provider_call_id": "p1"})).await.expect(200);
        assert_eq!(fixture.call(1).await["reason"], "failed");
    });
}

#[test]
fn call_times_out_if_the_gateway_stops_reporting() {
    run_on_shared_host(async |host| {
        let fixture = CallFixture::create_with(host, json!({"ring_seconds": 1})).await;
        let order = fixture.ordered_callback().await;
        report(host, &order, "agent_connected", json!({})).await.expect(200);
        let events = fixture.wait_for_statuses(&["start", "agent_connected", "error"]).await;
        assert_eq!(events[2]["reason"], "no answer from the client");
        report(host, &order, "client_connected", json!({})).await.expect(200);
        assert_eq!(fixture.call(1).await["status"], "error", "a report after the limit is late");
        assert_eq!(fixture.start_callback().await["result"], "ok", "the visitor can ask again");
    });
}

#[test]
fn agent_calls_the_visitor_of_their_own_chat() {
    run_on_shared_host(async |host| {
        let fixture = CallFixture::create_with(host, json!({"max_minutes": 10})).await;
        fixture.visitor.say("Hello").await;
        let call = async |body: Value| fixture.agent.client.post("/agent/chats/1/call", &body).await;
        let reason = |response: Value| response["error"]["message"].as_str().unwrap().to_owned();
        let without_chat = call(json!({"phone": VISITOR_PHONE})).await.expect_error(409, "conflict");
        assert_eq!(reason(without_chat), "accept the chat first");
        fixture.agent.accept(1).await;
        let without_number = call(json!({})).await.expect_error(409, "conflict");
        assert_eq!(reason(without_number), "the visitor's phone number is not known");
        for phone in ["call me", "+44 7911 123456", AGENT_PHONE] {
            let invalid = call(json!({"phone": phone})).await.expect_error(400, "invalid_request");
            assert_eq!(invalid["error"]["field"], "phone", "{phone}");
        }
        let contact = json!({"contact_info": {"phone": "06 22222222"}});
        fixture.visitor.call("visitor", contact).await.expect(200);
        let seq = number(&call(json!({})).await.expect(201)["seq"]);
        let order = fixture.provider.wait_for_requests(1, WAIT_TIMEOUT).await[0].json();
        assert_eq!((&order["type"], &order["client"]["phone"]), (&json!("outgoing"), &json!(VISITOR_PHONE)));
        let busy = call(json!({})).await.expect_error(409, "conflict");
        assert_eq!(reason(busy), "the visitor has a call in progress");
        report(host, &order, "client_connected", json!({})).await.expect(200);
        report(host, &order, "end", json!({"duration": 5})).await.expect(200);
        fixture.wait_for_statuses(&["start", "agent_connected", "client_connected", "end"]).await;
        let entry = fixture.agent.timeline_entry(1, seq).await;
        assert_eq!((&entry["from"], &entry["call"]["duration"]), (&json!("agent"), &json!(5)));
        assert_eq!(fixture.visitor.messages().await.len(), 1, "calls are not listed as messages");

        fixture.account.admin.client.post("/agent/chats/1/call", &json!({})).await.expect_error(409, "conflict");
        let stranger = host.create_account().await.admin;
        stranger.client.post("/agent/chats/1/call", &json!({})).await.expect_error(404, "not_found");
    });
}

async fn incoming(host: &TestHost, fixture: &CallFixture, id: &str, phone: Value) -> Value {
    let body = json!({"provider_call_id": id, "phone": phone});
    post_signed(host, &fixture.incoming_url, &body, GATEWAY_SECRET).await.expect(200)
}

#[test]
fn incoming_call_is_matched_by_phone() {
    run_on_shared_host(async |host| {
        let fixture = CallFixture::create(host).await;
        fixture.visitor.call("visitor", json!({"contact_info": {"phone": "06-22222222"}})).await.expect(200);
        fixture.visitor.say("Hello").await;
        let known = incoming(host, &fixture, "p1", json!(VISITOR_PHONE)).await;
        assert_eq!(known["agent"], json!({"id": fixture.agent.id, "name": "Ann", "phone": AGENT_PHONE}));
        assert_eq!(incoming(host, &fixture, "p1", json!(VISITOR_PHONE)).await, known, "a repeated report");
        report(host, &known, "agent_connected", json!({})).await.expect(200);
        report(host, &known, "end", json!({"duration": 5, "record_url": RECORDING})).await.expect(200);
        let events = fixture.wait_for_statuses(&["start", "agent_connected", "end"]).await;
        assert_eq!((&events[2]["type"], &events[2]["record_url"]), (&json!("incoming"), &json!(RECORDING)));
        assert_eq!(fixture.call(1).await["status"], "end", "it is in the visitor's chat");
        let telephony = fixture.account.admin.client.get("/admin/telephony").await.expect(200);
        assert_eq!(telephony["balance_minutes"], 60, "incoming calls are free");
        assert_eq!(fixture.provider.requests().len(), 0);

        let unknown = incoming(host, &fixture, "p2", json!("+31633333333")).await;
        report(host, &unknown, "error", json!({"reason": "canceled"})).await.expect(200);
        let chat = fixture.agent.chat(2).await;
        assert_eq!(chat["visitor"]["phone"], "+31633333333");
        let hidden = incoming(host, &fixture, "p3", Value::Null).await;
        report(host, &hidden, "error", json!({})).await.expect(200);
        assert_eq!(fixture.agent.chats("waiting").await.len(), 3);
        let forged = json!({"provider_call_id": "p4", "phone": VISITOR_PHONE});
        host.anonymous.post(&fixture.incoming_url, &forged).await.expect_error(401, "invalid_signature");
    });
}

#[test]
fn only_members_of_the_channels_departments_are_called() {
    run_on_shared_host(async |host| {
        let fixture = CallFixture::create(host).await;
        let account = &fixture.account;
        let ben = account.create_agent_with("Ben", json!({"phone": "06 44444444"})).await;
        let department_id = account.create_department("Sales", &[&ben]).await;
        let widget = account.create_widget_with(json!({}), json!({"department_ids": [department_id]})).await;
        account.admin.client.patch(TELEPHONY_PATH, &json!({"channel_id": widget.id})).await.expect(200);
        let visitor = widget.visitor().await;
        let unavailable = visitor.call("callback", json!({})).await.expect(200);
        assert_eq!(unavailable["reason"], UNAVAILABLE, "Ben is offline, and Ann is not a member");

        ben.set_presence("online").await;
        let request = json!({"message_id": "m", "phone": VISITOR_PHONE});
        assert_eq!(visitor.call("call", request).await.expect(200)["result"], "ok");
        let order = fixture.provider.wait_for_requests(1, WAIT_TIMEOUT).await[0].json();
        let incoming = incoming(host, &fixture, "p1", json!("+31633333333")).await;
        for call in [order, incoming] {
            assert_eq!(call["agent"]["id"], ben.id);
            report(host, &call, "error", json!({})).await.expect(200);
        }
    });
}

#[test]
fn callers_who_hide_their_numbers_are_different_visitors() {
    run_on_shared_host(async |host| {
        let fixture = CallFixture::create(host).await;
        for (index, hidden) in
            [json!("withheld"), json!("withheld"), json!("+7378742833"), Value::Null].iter().enumerate()
        {
            let call = incoming(host, &fixture, &format!("p{index}"), hidden.clone()).await;
            report(host, &call, "error", json!({})).await.expect(200);
            assert_eq!(fixture.agent.chats("waiting").await.len(), index + 1, "{hidden}");
        }
        assert_eq!(fixture.agent.chat(1).await["visitor"]["phone"], Value::Null);
    });
}

#[test]
fn known_caller_of_a_disabled_channel_is_accepted() {
    run_on_shared_host(async |host| {
        let fixture = CallFixture::create(host).await;
        let old_widget = fixture.account.create_widget(json!({})).await;
        let visitor = old_widget.visitor().await;
        visitor.call("visitor", json!({"contact_info": {"phone": "06-33333333"}})).await.expect(200);
        let path = format!("/admin/channels/{}", old_widget.id);
        fixture.account.admin.client.patch(&path, &json!({"enabled": false})).await.expect(200);
        let call = incoming(host, &fixture, "p1", json!("+31633333333")).await;
        assert_eq!(call["agent"]["id"], fixture.agent.id, "the caller is a new visitor of the telephony's channel");
        report(host, &call, "error", json!({})).await.expect(200);
    });
}

#[test]
fn incoming_call_without_an_agent_is_rejected() {
    run_on_shared_host(async |host| {
        let fixture = CallFixture::create(host).await;
        fixture.agent.set_presence("offline").await;
        let missed = incoming(host, &fixture, "p1", json!("+31633333333")).await;
        assert_eq!(missed["agent"], Value::Null);
        let events = fixture.wait_for_statuses(&["start", "error"]).await;
        assert_eq!(events[1]["reason"], "no agent is available");
        fixture.account.admin.client.patch("/agent/visitors/2", &json!({"blacklisted": true})).await.expect(200);
        fixture.agent.set_presence("online").await;
        let rejected = incoming(host, &fixture, "p2", json!("+31633333333")).await;
        assert_eq!((&rejected["call_id"], &rejected["agent"]), (&Value::Null, &Value::Null), "a blacklisted caller");
    });
}

#[test]
fn incoming_call_times_out_without_reports() {
    run_on_shared_host(async |host| {
        let fixture = CallFixture::create_with(host, json!({"ring_seconds": 1})).await;
        incoming(host, &fixture, "p1", json!("+31633333333")).await;
        let events = fixture.wait_for_statuses(&["start", "error"]).await;
        assert_eq!(events[1]["reason"], "no answer from the agent");
    });
}
