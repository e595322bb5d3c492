//! Tests for the endpoints that the widget in a visitor's browser calls: valid and invalid requests, tokens of other
//! visitors and widgets, sites that are not allowed, hostile input, and rate limits.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::api_client::{TestAccount, merged, number, send};
use crate::support::test_host::{ORIGIN_SECRET, TestHost, run_on_shared_host, run_with_virtual_time};
use crate::support::widget_client::{SITE, TestVisitor, TestWidget};

/// Returns endpoints that require a token, each with valid fields for a request.
fn requests_with_token() -> [(&'static str, Value); 6] {
    [
        ("history", json!({"before": {"chat_id": 1, "seq": 2}})),
        ("message", json!({"message_id": "m", "message": {"type": "text", "text": "Hi"}})),
        ("visitor", json!({"contact_info": {"name": "Ada"}})),
        ("offline-message", json!({"message_id": "o", "email": "ada@x.example", "message": "Call me"})),
        ("rating", json!({"chat_id": 1, "rate": "positive"})),
        ("socket-ticket", json!({})),
    ]
}

async fn visitor_of_new_widget(host: &TestHost) -> (TestAccount, TestWidget, TestVisitor) {
    let account = host.create_account().await;
    let widget = account.create_widget(json!({"allowed_sites": ["shop.example"]})).await;
    let visitor = widget.visitor().await;
    (account, widget, visitor)
}

#[test]
fn session_without_a_token_stores_nothing() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let widget = account.create_widget(json!({"title": "Help"})).await;
        let rule = json!({"name": "a", "enabled": true, "type": "all", "conditions": [], "commands": []});
        account.admin.client.put("/admin/settings", &json!({"rules": [rule]})).await.expect(200);
        let session = widget.call("session", &json!({"page": {"url": "https://shop.example/"}})).await.expect(200);
        assert_eq!((&session["v"], &session["widget"]["title"]), (&json!(1), &json!("Help")));
        assert_eq!(session["rules"], json!([rule]));
        assert_eq!((&session["mode"], &session["agents"]), (&json!("offline"), &json!([])));
        assert_eq!((&session["visitor"], &session["chat"]), (&Value::Null, &Value::Null));
        assert_eq!((&session["messages"], &session["has_earlier"]), (&json!([]), &json!(false)));
        let first = widget.call("session", &json!({"identify": true})).await.expect(200);
        assert_eq!(first["visitor"]["number"], 1, "the first session created no visitor");
    });
}

#[test]
fn session_shows_agents_online_and_departments() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let photo = json!({"photo": "https://cdn.example/ann.png"});
        let ann = account.create_agent_with("Ann", photo.clone()).await;
        let department = json!({"name": "Sales", "agent_ids": [ann.id]});
        let department = account.admin.client.post("/admin/departments", &department).await.expect(201);
        let id = department["department_id"].clone();
        let widget = account.create_widget_with(json!({}), json!({"department_ids": [id]})).await;
        account.admin.set_presence("online").await;
        assert_eq!(widget.call("session", &json!({})).await.expect(200)["mode"], "offline", "the admin is no member");
        ann.set_presence("online").await;
        let session = widget.call("session", &json!({})).await.expect(200);
        assert_eq!(session["mode"], "online");
        assert_eq!(session["agents"], json!([{"name": "Ann", "photo": photo["photo"], "department_ids": [id]}]));
        assert_eq!(session["departments"], json!([{"id": id, "name": "Sales"}]));
    });
}

#[test]
fn visitor_keeps_number_and_messages_between_sessions() {
    run_on_shared_host(async |host| {
        let (_, widget, visitor) = visitor_of_new_widget(host).await;
        assert_eq!(visitor.session().await["visitor"]["number"], 1);
        assert_eq!(widget.visitor().await.session().await["visitor"]["number"], 2);
        let sent = visitor.say("Hello").await;
        assert_eq!((&sent["chat_id"], &sent["message"]["seq"]), (&json!(1), &json!(1)));
        assert_eq!((&sent["message"]["from"], &sent["message"]["message_id"]), (&json!("visitor"), &json!("Hello")));
        visitor.say("Anyone?").await;
        let session = visitor.session().await;
        let chat = json!({
            "chat_id": 1, "state": "waiting", "agent": null, "last_seq": 2, "rated": false, "rate": null,
        });
        assert_eq!(session["chat"], chat);
        assert_eq!(visitor.messages().await.len(), 2);
        let rest = visitor.call("session", json!({"after": 1})).await.expect(200);
        assert_eq!(rest["messages"].as_array().unwrap().len(), 1);
        visitor.call("visitor", json!({"clear_history": true})).await.expect(200);
        assert_eq!(visitor.messages().await, []);
        visitor.say("Again").await;
        assert_eq!(visitor.messages().await, [("visitor".to_owned(), "Again".to_owned())]);
    });
}

#[test]
fn only_the_last_fifty_messages_are_returned() {
    run_on_shared_host(async |host| {
        let (account, _, visitor) = visitor_of_new_widget(host).await;
        account.admin.client.put("/admin/settings", &json!({"limits": {"visitor_messages": 100}})).await.expect(200);
        for n in 1..=52 {
            visitor.say(&format!("message {n}")).await;
        }
        let session = visitor.session().await;
        let seqs: Vec<u64> = session["messages"].as_array().unwrap().iter().map(|one| number(&one["seq"])).collect();
        assert_eq!((seqs, &session["has_earlier"]), ((3..=52).collect(), &json!(true)));
        let rest = visitor.call("session", json!({"after": 10})).await.expect(200);
        assert_eq!((rest["messages"].as_array().unwrap().len(), &rest["has_earlier"]), (42, &json!(false)));
    });
}

#[test]
fn repeated_message_is_stored_once() {
    run_on_shared_host(async |host| {
        let (_, _, visitor) = visitor_of_new_widget(host).await;
        let first = visitor.say("Hello").await;
        assert_eq!(visitor.say("Hello").await, first);
        assert_eq!(visitor.messages().await.len(), 1);
        let other = json!({"message_id": "Hello", "message": {"type": "text", "text": "Other"}});
        visitor.call("message", other).await.expect_error(422, "idempotency_mismatch");
        let offline = json!({"message_id": "Hello", "email": "ada@x.example", "message": "Call me"});
        for _ in 0..2 {
            visitor.call("offline-message", offline.clone()).await.expect(200);
        }
        assert_eq!(visitor.messages().await.len(), 2);
    });
}

#[test]
fn token_is_valid_only_for_its_widget() {
    run_on_shared_host(async |host| {
        let (account, widget, visitor) = visitor_of_new_widget(host).await;
        visitor.say("Hello").await;
        let others =
            [account.create_widget(json!({})).await, host.create_account().await.create_widget(json!({})).await];
        for (endpoint, fields) in requests_with_token() {
            for token in ["x", &"x".repeat(43), &widget.id] {
                let forged = TestVisitor { token: token.to_owned(), ..visitor.clone() };
                let reply = forged.call(endpoint, fields.clone()).await;
                reply.expect_error(401, "invalid_token");
            }
            for other in &others {
                let elsewhere = TestVisitor { widget: other.clone(), ..visitor.clone() };
                elsewhere.call(endpoint, fields.clone()).await.expect_error(401, "invalid_token");
            }
            widget.call(endpoint, &fields).await.expect_error(400, "invalid_request");
        }
        let forged = widget.call("session", &json!({"token": "x", "identify": true})).await;
        forged.expect_error(401, "invalid_token");
        assert_eq!(visitor.messages().await.len(), 1);
    });
}

#[test]
fn visitor_reaches_only_own_chats() {
    run_on_shared_host(async |host| {
        let (account, widget, ada) = visitor_of_new_widget(host).await;
        let eve = widget.visitor().await;
        ada.say("My secret").await;
        assert_eq!(eve.messages().await, []);
        let rating = json!({"chat_id": 1, "rate": "negative"});
        eve.call("rating", rating.clone()).await.expect_error(404, "not_found");
        eve.call("rating", json!({"chat_id": 99, "rate": "negative"})).await.expect_error(404, "not_found");
        assert_eq!(account.admin.chat(1).await["rate"], Value::Null);
        ada.call("rating", rating).await.expect(200);
        assert_eq!(account.admin.chat(1).await["rate"], "negative");
        assert_eq!(ada.session().await["chat"]["rated"], true);
        ada.call("rating", json!({"chat_id": 1, "rate": null})).await.expect(200);
        assert_eq!(account.admin.chat(1).await["rate"], Value::Null);
    });
}

#[test]
fn responses_have_cors_headers_for_allowed_sites() {
    run_on_shared_host(async |host| {
        let (_, widget, visitor) = visitor_of_new_widget(host).await;
        let valid = json!({"token": visitor.token}).to_string();
        for (origin, body, status) in [
            (Some(SITE), valid.as_str(), 200),
            (Some("http://shop.example:8080"), &valid, 200),
            (Some(SITE), "{", 400),
            (Some(SITE), r#"{"token":"x"}"#, 401),
            (None, &valid, 200),
            (Some("https://evil.example"), &valid, 403),
            (Some("https://shop.example.evil.example"), &valid, 403),
            (Some("null"), &valid, 403),
        ] {
            let reply = widget.call_from(origin, "session", body).await;
            assert_eq!(reply.status, status, "{origin:?} {}", reply.text);
            assert_eq!(reply.headers["vary"], "Origin");
            let allowed = reply.headers.get("access-control-allow-origin").map(|origin| origin.to_str().unwrap());
            assert_eq!(allowed, origin, "{origin:?}");
            if status == 403 {
                reply.expect_error(403, "site_not_allowed");
            }
        }
        let unknown = TestWidget { id: "unknown".to_owned(), ..widget.clone() };
        let reply = unknown.call("session", &json!({})).await;
        assert_eq!(reply.headers["access-control-allow-origin"], SITE);
        reply.expect_error(404, "not_found");
        for (endpoint, fields) in requests_with_token() {
            let body = merged(fields, json!({"token": visitor.token})).to_string();
            let forged = widget.call_from(Some("https://evil.example"), endpoint, &body).await;
            forged.expect_error(403, "site_not_allowed");
        }
        assert_eq!(visitor.messages().await, [], "no request of the other site was accepted");
    });
}

#[test]
fn disabled_widget_is_not_found() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let widget = account.create_widget_with(json!({}), json!({"enabled": false})).await;
        widget.call("session", &json!({})).await.expect_error(404, "not_found");
    });
}

#[test]
fn error_names_the_invalid_field_of_widget_requests() {
    run_on_shared_host(async |host| {
        let (_, _, visitor) = visitor_of_new_widget(host).await;
        let text = json!({"type": "text", "text": "Hi"});
        for (endpoint, field, fields) in [
            ("session", "identify", json!({"identify": "yes"})),
            ("session", "after", json!({"after": -1})),
            ("session", "page", json!({"page": 7})),
            ("message", "message_id", json!({"message": text})),
            ("message", "message_id", json!({"message": text, "message_id": "x".repeat(65)})),
            ("message", "message", json!({"message_id": "m"})),
            ("message", "message.type", json!({"message_id": "m", "message": {"type": "typein"}})),
            ("message", "message.type", json!({"message_id": "m", "message": {"type": "note", "text": "Hi"}})),
            ("message", "message.text", json!({"message_id": "m", "message": {"type": "text"}})),
            ("message", "department_id", json!({"message_id": "m", "message": text, "department_id": "x"})),
            ("visitor", "contact_info.email", json!({"contact_info": {"email": 7}})),
            ("visitor", "custom_data", json!({"custom_data": "x"})),
            ("visitor", "custom_data", json!({"custom_data": vec![json!({"content": "x"}); 11]})),
            ("visitor", "custom_data[0].content", json!({"custom_data": [{"content": "x".repeat(1_001)}]})),
            (
                "visitor",
                "custom_data[0].link",
                json!({"custom_data": [{"content": "x", "link": "javascript:alert(1)"}]}),
            ),
            ("visitor", "source", json!({"source": "agent"})),
            ("offline-message", "email", json!({"message_id": "m", "message": "Hi"})),
            ("offline-message", "message", json!({"message_id": "m", "email": "ada@x.example"})),
            ("rating", "rate", json!({"chat_id": 1})),
            ("rating", "chat_id", json!({"rate": "positive"})),
        ] {
            let reply = visitor.call(endpoint, fields.clone()).await;
            assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], field, "{endpoint} {fields}");
        }
    });
}

#[test]
fn hostile_input_is_refused_or_stays_text() {
    run_on_shared_host(async |host| {
        let (account, widget, visitor) = visitor_of_new_widget(host).await;
        let large = json!({"token": visitor.token, "custom_data": [{"content": "x".repeat(1024 * 1024)}]}).to_string();
        widget.call_from(Some(SITE), "visitor", &large).await.expect_error(413, "payload_too_large");
        for body in ["", "[]", "7", "\"x\"", "{\"token\":\"a\",\"token\":\"b\"}"] {
            widget.call_from(Some(SITE), "visitor", body).await.expect_error(400, "invalid_request");
        }
        let html = "<img src=x onerror=alert(1)>";
        visitor.say(html).await;
        let contact_info = json!({"name": html, "email": html, "phone": html, "description": html});
        let custom_data = json!([{"content": html, "title": html, "key": html}]);
        let page = json!({"url": "javascript:alert(1)", "title": html});
        let fields =
            json!({"contact_info": contact_info, "custom_data": custom_data, "page": page, "source": "script"});
        let stored = visitor.call("visitor", fields).await.expect(200);
        assert_eq!(stored["visitor"]["custom_data"][0]["content"], html);
        let chat = account.admin.chat(1).await;
        assert_eq!((&chat["visitor"]["name"], &chat["visitor"]["sources"]["name"]), (&json!(html), &json!("script")));
        let line = json!({"content": html, "title": html, "key": html, "link": null, "source": "script"});
        assert_eq!(chat["panel"]["custom_data"], json!([line]));
        assert_eq!((&chat["visitor"]["url"], &chat["page"]), (&Value::Null, &Value::Null), "no link");
    });
}

#[test]
fn network_that_sends_too_many_requests_has_to_wait() {
    run_with_virtual_time(async |host, _| {
        let account = host.create_account().await;
        let endpoints = [
            "session",
            "message",
            "visitor",
            "offline-message",
            "rating",
            "socket-ticket",
            "call",
            "callback",
            "upload",
        ];
        for endpoint in endpoints {
            let widget = account.create_widget(json!({})).await;
            call_until_limited(&widget, endpoint).await;
        }
    });
}

/// Calls an endpoint without a token until the limit is reached. Rejected requests count too.
async fn call_until_limited(widget: &TestWidget, endpoint: &str) {
    for _ in 0..20 {
        let replies = join_all((0..20).map(async |_| widget.call(endpoint, &json!({})).await)).await;
        if let Some(reply) = replies.into_iter().find(|reply| reply.status == 429) {
            assert!(reply.headers.contains_key("retry-after"));
            assert_eq!(reply.headers["access-control-allow-origin"], SITE);
            assert_eq!(reply.headers["access-control-expose-headers"], "Retry-After");
            return drop(reply.expect_error(429, "rate_limited"));
        }
    }
    panic!("400 requests to {endpoint} were accepted");
}

#[test]
fn page_chooses_the_department_of_a_new_chat() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let mut ids = Vec::new();
        for name in ["Sales", "Billing"] {
            let department = json!({"name": name, "agent_ids": []});
            let created = account.admin.client.post("/admin/departments", &department).await.expect(201);
            ids.push(created["department_id"].clone());
        }
        let widget = account.create_widget_with(json!({}), json!({"department_ids": ids})).await;
        for (chat_id, department_id, expected) in
            [(1, &ids[1], json!("Billing")), (2, &json!(99), Value::Null), (3, &Value::Null, Value::Null)]
        {
            let message = json!({
                "message_id": "1", "message": {"type": "text", "text": "Hello"}, "department_id": department_id,
            });
            widget.visitor().await.call("message", message).await.expect(200);
            assert_eq!(account.admin.chat(chat_id).await["department"]["name"], expected, "{department_id}");
        }
        let only_sales = account.create_widget_with(json!({}), json!({"department_ids": [ids[0]]})).await;
        let form = json!({"message_id": "1", "email": "ada@example.com", "message": "Call me"});
        only_sales.visitor().await.call("offline-message", form).await.expect(200);
        assert_eq!(account.admin.chat(4).await["department"]["name"], "Sales");
    });
}

#[test]
fn blacklisted_visitor_does_not_notice_it() {
    run_on_shared_host(async |host| {
        let (account, _, visitor) = visitor_of_new_widget(host).await;
        visitor.say("Hello").await;
        account.admin.client.patch("/agent/visitors/1", &json!({"blacklisted": true})).await.expect(200);
        let dropped = visitor.say("Again").await;
        assert_eq!((&dropped["chat_id"], &dropped["message"]["text"]), (&json!(0), &json!("Again")));
        assert_eq!(account.admin.timeline(1).await.len(), 1);
        let fields = json!({"contact_info": {"name": "Spam"}, "custom_data": [{"content": "Spam"}]});
        let stored = visitor.call("visitor", fields).await.expect(200);
        assert_eq!(stored["visitor"]["contact_info"]["client_name"], "Spam");
        let chat = account.admin.chat(1).await;
        assert!(!chat.to_string().contains("Spam"), "{chat}");
    });
}

/// Returns the session of the visitor's chat after a request with the headers that the distribution adds.
async fn session_behind_distribution(host: &TestHost, secret: Option<&str>) -> Value {
    let (account, widget, _) = visitor_of_new_widget(host).await;
    let request = widget.client.request(reqwest::Method::POST, &format!("/widget/{}/session", widget.id));
    let request = request.header("origin", SITE).header("x-viewer-address", "2001:db8::7");
    let request = request.header("cloudfront-viewer-country", "NL").header("cloudfront-viewer-city", "Utrecht");
    let request = secret.into_iter().fold(request, |request, secret| request.header("x-origin-secret", secret));
    let session = send(request.body(json!({"identify": true}).to_string())).await.expect(200);
    let token = session["visitor"]["token"].as_str().unwrap().to_owned();
    TestVisitor { widget: widget.clone(), token }.say("Hello").await;
    account.admin.chat(1).await["session"].clone()
}

#[test]
fn viewer_headers_are_believed_only_beside_the_secret_of_the_distribution() {
    run_on_shared_host(async |host| {
        for forged in [None, Some(""), Some("8d969eef6ecad3c29a3a629280e686cd")] {
            let session = session_behind_distribution(host, forged).await;
            assert_eq!((&session["geoip"]["city"], &session["ip_addr"]), (&json!(""), &json!("127.0.0.1")));
        }
        let session = session_behind_distribution(host, Some(ORIGIN_SECRET)).await;
        let geoip = &session["geoip"];
        assert_eq!((&geoip["country_code"], &geoip["city"]), (&json!("NL"), &json!("Utrecht")));
        assert_eq!((&geoip["organization"], &session["ip_addr"]), (&json!(""), &json!("2001:db8::7")));
    });
}
