//! Tests for conversations through a widget with a bot and with an agent, for the webhook events that they cause, and
//! for offline messages.

use serde_json::{Value, json};

use crate::support::account_with_webhook::{add_webhook, event_names, ok_response, wait_for_event};
use crate::support::api_client::{number, send};
use crate::support::bot_fixture::{BOT_NAME, TestBot, register_provider};
use crate::support::test_host::{run_on_shared_host, run_with_virtual_time};
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, wait_for};
use crate::support::widget_client::{SITE, TestVisitor};

#[test]
fn visitor_talks_to_the_bot_and_then_to_an_agent() {
    run_on_shared_host(async |host| {
        let provider = TestReceiver::start(CannedResponse::ok()).await;
        let account = host.create_account().await;
        let agent = account.create_agent_with("Ann", json!({"photo": "https://cdn.example/ann.png"})).await;
        agent.set_presence("online").await;
        let widget = account.create_widget(json!({})).await;
        let provider_id = register_provider(&host.operator, &provider.url(), json!({})).await;
        let bot = TestBot::connect(&account, &provider_id, &[], json!({"channel_ids": [widget.id]})).await;
        let visitor = widget.visitor().await;

        visitor.say("Hello").await;
        let event = provider.wait_for_requests(1, WAIT_TIMEOUT).await[0].json();
        assert_eq!(event["channel"], json!({"id": widget.id, "type": "widget"}));
        assert_eq!((&event["client_id"], &event["message"]["text"]), (&json!("1"), &json!("Hello")));
        let chat_id = &event["chat_id"];
        let buttons = json!({"type": "BUTTONS", "title": "Which day?", "buttons": [{"text": "Today", "id": 1}]});
        assert_eq!(bot.send_message(chat_id, buttons).await.expect(200), json!({"result": "ok"}));
        let markdown = json!({"type": "MARKDOWN", "content": "**Hi**"});
        assert_eq!(bot.send_message(chat_id, markdown).await.expect(200), json!({"result": "ok"}), "it is shown");
        let session = visitor.session().await;
        let messages = session["messages"].as_array().unwrap();
        assert_eq!((&messages[1]["type"], &messages[1]["buttons"][0]["text"]), (&json!("buttons"), &json!("Today")));
        assert_eq!((&messages[2]["content"], &messages[2]["name"]), (&json!("**Hi**"), &json!(BOT_NAME)));
        assert_eq!((&session["chat"]["state"], &session["bot"]), (&json!("bot"), &json!(true)));

        bot.invite_agent(chat_id).await.expect(200);
        assert_eq!(visitor.session().await["chat"]["state"], "waiting");
        agent.accept(1).await;
        let seq = agent.send_text(1, "How can I help?").await;
        agent.client.post("/agent/chats/1/notes", &json!({"text": "A private note"})).await.expect(201);
        assert_eq!(agent.timeline_entry(1, seq).await.get("delivery"), None, "nothing is sent to an integrator");
        agent.send_typing(1, "typein").await;
        let session = visitor.session().await;
        assert_eq!(session["chat"]["agent"]["name"], "Ann");
        let last = session["messages"].as_array().unwrap().last().unwrap();
        assert_eq!((&last["from"], &last["text"]), (&json!("agent"), &json!("How can I help?")), "and no note");
        assert_eq!((&last["name"], &last["photo"]), (&json!("Ann"), &json!("https://cdn.example/ann.png")));

        agent.close(1).await;
        let session = visitor.session().await;
        assert_eq!((&session["chat"]["state"], &session["chat"]["agent"]["name"]), (&json!("closed"), &json!("Ann")));
        visitor.call("rating", json!({"chat_id": 1, "rate": "positive"})).await.expect(200);
        assert_eq!(visitor.say("One more thing").await["chat_id"], 2, "a new chat follows a closed one");
    });
}

#[test]
fn webhooks_hear_of_a_message_at_once() {
    run_with_virtual_time(async |host, time| {
        let (account, webhook) = (host.create_account().await, TestReceiver::start(ok_response()).await);
        add_webhook(&account, &webhook, json!({"events": ["chat_opened", "message"]})).await;
        let visitor = account.create_widget(json!({})).await.visitor().await;
        visitor.say("Hello").await;
        time.wait_until_idle().await;
        let mut events = event_names(&webhook);
        events.sort_unstable();
        assert_eq!(events, ["chat_opened", "message"]);
    });
}

#[test]
fn webhooks_get_the_browser_of_the_visitor() {
    run_on_shared_host(async |host| {
        let receiver = TestReceiver::start(ok_response()).await;
        let account = host.create_account().await;
        add_webhook(&account, &receiver, json!({})).await;
        let widget = account.create_widget(json!({})).await;
        let body = json!({
            "identify": true, "page": {"url": "https://shop.example/cart", "title": "Cart"},
            "referrer": "https://search.example/",
        });
        let path = format!("/widget/{}/session", widget.id);
        let request = widget.client.request(reqwest::Method::POST, &path).header("origin", SITE);
        let request = request.header("user-agent", "Browser/1").header("cloudfront-viewer-country", "NL");
        let request = request.header("cloudfront-viewer-city", "Utrecht");
        let request = request.header("x-viewer-address", "198.51.100.10");
        let session = send(request.body(body.to_string())).await.expect(200);
        let token = session["visitor"]["token"].as_str().unwrap().to_owned();
        let visitor = TestVisitor { widget: widget.clone(), token };
        let fields = json!({
            "utm": {"source": "mail", "campaign": "May"}, "analytics": {"ga": "1.2"}, "user_token": "customer-7",
            "contact_info": {"name": "Ada"},
        });
        visitor.call("visitor", fields).await.expect(200);
        visitor.say("Hello").await;
        account.admin.accept(1).await;

        let event = wait_for_event(&receiver, "chat_accepted").await;
        let geoip = json!({
            "region_code": "", "country": "", "country_code": "", "region": "", "city": "", "latitude": "",
            "longitude": "", "organization": "",
        });
        // The visitor could have forged the headers of a distribution, and the address of the test is not known on AWS.
        assert_ne!(event["session"]["ip_addr"], "198.51.100.10");
        let session = json!({
            "geoip": geoip, "utm": "source=mail|campaign=May",
            "utm_json": {"source": "mail", "campaign": "May", "content": "", "medium": "", "term": ""},
            "ip_addr": event["session"]["ip_addr"], "user_agent": "Browser/1",
        });
        assert_eq!((&event["widget_id"], &event["session"]), (&json!(widget.id), &session));
        assert_eq!(event["page"], json!({"url": "https://shop.example/cart", "title": "Cart"}));
        assert_eq!(event["analytics"], json!({"ga": "1.2", "ym": null}));
        assert_eq!((&event["user_token"], &event["visitor"]["name"]), (&json!("customer-7"), &json!("Ada")));
        assert_eq!(event["visitor"].get("external_id"), None, "the id of a widget's visitor is ours");
        let chat = account.admin.chat(1).await;
        assert_eq!(chat["session"]["utm_json"], json!({"source": "mail", "campaign": "May"}));
        assert_eq!((&chat["session"]["geoip"], &chat["page"]), (&session["geoip"], &event["page"]));
        assert_eq!(chat["referrer"], "https://search.example/");

        visitor
            .call("visitor", json!({"contact_info": {"phone": "+31 6 1"}, "user_token": "customer-7"}))
            .await
            .expect(200);
        let event = wait_for_event(&receiver, "chat_updated").await;
        assert_eq!((&event["visitor"]["phone"], &event["user_token"]), (&json!("+31 6 1"), &json!("customer-7")));
        visitor.call("visitor", json!({"contact_info": {"phone": "+31 6 1"}})).await.expect(200);
        visitor.call("visitor", json!({"custom_data": [{"content": "Gold"}]})).await.expect(200);
        account.admin.close(1).await;
        wait_for_event(&receiver, "chat_finished").await;
        assert_eq!(event_names(&receiver), ["chat_accepted", "chat_updated", "chat_finished"]);
    });
}

#[test]
fn another_user_of_the_same_browser_is_a_new_visitor() {
    run_on_shared_host(async |host| {
        let receiver = TestReceiver::start(ok_response()).await;
        let account = host.create_account().await;
        add_webhook(&account, &receiver, json!({})).await;
        let widget = account.create_widget(json!({})).await;
        let ada = widget.visitor().await;
        let ada_fields = json!({"user_token": "ada-jwt", "contact_info": {"name": "Ada"}});
        ada.say("My order").await;
        account.admin.accept(1).await;
        let set = ada.call("visitor", ada_fields).await.expect(200);
        assert_eq!(set["visitor"].get("token"), None, "the first user keeps the visitor");
        assert_eq!(wait_for_event(&receiver, "chat_updated").await["user_token"], "ada-jwt");
        let same = ada.call("session", json!({"user_token": "ada-jwt"})).await.expect(200);
        assert_eq!((&same["chat"]["chat_id"], same["visitor"].get("token")), (&json!(1), None));

        for (user_token, endpoint) in
            [(json!("bob-jwt"), "visitor"), (Value::Null, "visitor"), (json!("bob-jwt"), "session")]
        {
            let fields = json!({"user_token": user_token, "contact_info": {"name": "Bob"}, "after": 1});
            let response = ada.call(endpoint, fields).await.expect(200);
            let token = response["visitor"]["token"].as_str().unwrap_or_else(|| panic!("{endpoint}: {response}"));
            let bob = TestVisitor { widget: widget.clone(), token: token.to_owned() };
            let session = bob.session().await;
            assert_eq!((&session["chat"], &session["messages"]), (&Value::Null, &json!([])), "{endpoint} {user_token}");
            assert_ne!(session["visitor"]["number"], same["visitor"]["number"]);
            let name = if endpoint == "visitor" { json!("Bob") } else { Value::Null };
            assert_eq!(session["visitor"]["contact_info"]["client_name"], name, "{endpoint}");
        }
        assert_eq!(ada.messages().await.len(), 1, "the first user's token still works");
        assert_eq!(event_names(&receiver), ["chat_accepted", "chat_updated"], "the first user's chat is unchanged");

        let log = account.admin.client.get("/admin/deliveries?state=delivered&chat_id=1").await.expect(200);
        let seq = &log["deliveries"][0]["seq"];
        let shown = account.admin.client.get(&format!("/admin/deliveries/1/{seq}")).await.expect(200);
        let body = shown["request"]["body"].as_str().unwrap();
        assert!(body.contains(r#""user_token":"***""#) && !body.contains("ada-jwt"), "{body}");
    });
}

#[test]
fn offline_message_reaches_the_bot_and_the_webhooks() {
    run_on_shared_host(async |host| {
        let (receiver, provider) =
            (TestReceiver::start(ok_response()).await, TestReceiver::start(CannedResponse::ok()).await);
        let account = host.create_account().await;
        add_webhook(&account, &receiver, json!({"events": ["offline_message"]})).await;
        let widget = account.create_widget(json!({})).await;
        let provider_id = register_provider(&host.operator, &provider.url(), json!({})).await;
        TestBot::connect(&account, &provider_id, &[], json!({"channel_ids": [widget.id]})).await;
        let visitor = widget.visitor().await;
        let form = |id: &str, text: &str| json!({"message_id": id, "name": "Ada", "phone": "+31 6 1", "description": "Gold", "message": text});
        visitor.call("offline-message", form("1", "Call me")).await.expect(200);
        visitor.call("offline-message", form("2", "After five")).await.expect(200);

        let messages = wait_for("both events", WAIT_TIMEOUT, async || {
            let events: Vec<Value> = receiver.requests().iter().map(ReceivedRequest::json).collect();
            if events.len() == 2 { Ok(events) } else { Err(events) }
        })
        .await;
        let texts: Vec<&Value> = messages.iter().map(|event| &event["message"]).collect();
        assert_eq!(texts, ["Call me", "After five"]);
        assert_eq!(messages[0].get("chat_id"), Some(&Value::Null));
        assert_eq!(messages[0]["visitor"]["description"], "Gold");
        let with_bot = account.admin.chats("bot").await;
        assert_eq!((with_bot.len(), &with_bot[0]["visitor"]["name"]), (1, &json!("Ada")));
        let to_bot = provider.wait_for_requests(2, WAIT_TIMEOUT).await;
        let texts: Vec<String> = to_bot.iter().map(ReceivedRequest::text).collect();
        assert_eq!(texts, ["Call me", "After five"]);
        account.admin.accept(number(&with_bot[0]["chat_id"])).await;
        account.admin.send_text(1, "We will call you").await;
        assert_eq!(visitor.messages().await.len(), 3);
    });
}
