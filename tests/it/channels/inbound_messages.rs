//! Tests for messages that arrive at a channel: the limit on new chats, the counts of rejected messages, disabled
//! channels, the channel id in the integrator's URL, and optional sender fields.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::account_with_webhook::{WebhookFixture, add_webhook, ok_response, wait_for_event};
use crate::support::api_client::{ApiResponse, TestChannel, merged, number};
use crate::support::bot_fixture::{BotFixture, chat_number};
use crate::support::test_host::{
    ActiveChat, VISITOR_ID, post_raw, run_on_shared_host, run_with_virtual_time, visitor_text,
};
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

/// Returns a text message from the default visitor. `sender` contains additional sender fields.
fn text_with_sender(sender: Value) -> Value {
    let mut body = visitor_text(VISITOR_ID, "Hello");
    body["sender"] = merged(body["sender"].clone(), sender);
    body
}

fn count_status(replies: &[ApiResponse], status: u16) -> usize {
    replies.iter().filter(|reply| reply.status == status).count()
}

#[test]
fn channel_limits_the_number_of_new_chats() {
    run_with_virtual_time(async |host, _| {
        let account = host.create_account().await;
        account.admin.client.put("/admin/settings", &json!({"limits": {"channel_chats": 3}})).await.expect(200);
        let flooded = account.create_channel("https://app.example/hook").await;
        let other = account.create_channel("https://app.example/hook").await;
        let bodies: Vec<_> = (0..20).map(|n| visitor_text(&format!("visitor {n}"), "Hi")).collect();
        let replies = join_all(bodies.iter().map(|body| flooded.post(body))).await;
        let opened = count_status(&replies, 200);
        assert_eq!(opened, 3, "{replies:?}");
        assert_eq!(count_status(&replies, 429), 20 - opened, "{replies:?}");
        let reply = replies.iter().find(|reply| reply.status == 429).unwrap().clone();
        let retry_after_seconds: u64 = reply.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=10).contains(&retry_after_seconds), "{retry_after_seconds}");
        let error = reply.expect_error(429, "rate_limited");
        assert_eq!(error["error"]["message"], "too many new chats on this channel");

        let chats = account.admin.chats("open").await;
        let mut numbers: Vec<_> = chats.iter().map(|chat| number(&chat["chat_id"])).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=opened as u64).collect::<Vec<_>>(), "a rejected chat uses no number");
        let open_chat_message = bodies.iter().zip(&replies).find(|(_, reply)| reply.status == 200).unwrap().0;
        flooded.post(open_chat_message).await.expect(200);
        other.send_text(VISITOR_ID, "Another channel has its own limit").await;
    });
}

async fn rejected_counts(active_chat: &ActiveChat) -> Vec<(String, u64)> {
    let shown = active_chat.agent.client.get(&format!("/admin/channels/{}", active_chat.channel.id)).await.expect(200);
    let reason_and_count = |entry: &Value| {
        let now = shared::runtime::clock::now().seconds();
        assert!((now - 600..=now).contains(&number(&entry["last_at"])), "{entry}");
        assert_eq!(number(&entry["day"]) % 86_400, 0, "{entry}");
        (entry["reason"].as_str().unwrap().to_owned(), number(&entry["count"]))
    };
    let mut all: Vec<_> = shown["refused"].as_array().unwrap().iter().map(reason_and_count).collect();
    all.sort();
    all
}

#[test]
fn rejected_messages_are_counted_by_reason() {
    run_on_shared_host(async |host| {
        let active_chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        assert_eq!(rejected_counts(&active_chat).await, []);
        let marker = "text-of-the-caller";
        let photo = json!({"type": "photo", "file": "https://cdn.example/f", "file_name": marker});
        for _ in 0..7 {
            let body = json!({"sender": {"id": VISITOR_ID}, "message": photo});
            active_chat.channel.post(&body).await.expect_error(400, "invalid_request");
        }
        let kind = json!({"sender": {"id": marker}, "message": {"type": marker, "text": marker}});
        active_chat.channel.post(&kind).await.expect(400);
        active_chat.channel.post(&text_with_sender(json!({"photo": marker}))).await.expect(400);
        for broken in [format!("{{\"{marker}"), format!("[\"{marker}\", x]"), format!("\"{marker}\"")] {
            post_raw(&active_chat.channel.client, &active_chat.channel.endpoint, broken.into_bytes()).await.expect(400);
        }
        let large = visitor_text(VISITOR_ID, &marker.repeat(100_000));
        active_chat.channel.post(&large).await.expect(413);
        // Requests with a wrong URL or HTTP method are not counted, because they are not messages.
        active_chat
            .channel
            .client
            .post(&active_chat.channel.endpoint.replace("/channel/", "/channel/x"), &json!({}))
            .await
            .expect(404);
        active_chat.channel.client.put(&active_chat.channel.endpoint, &json!({})).await.expect(405);
        let kinds = "text, typein, typeout, video, audio, voice, photo, sticker, document, location";
        let expected = [
            ("message.file_size is required", 7),
            (&format!("message.type must be one of {kinds}"), 1),
            ("sender.photo must be an http:// or https:// URL", 1),
            ("the body is larger than 1048576 bytes", 1),
            ("the body is not valid JSON", 2),
            ("the body must be a JSON object", 1),
        ];
        let expected = expected.map(|(reason, count)| (reason.to_owned(), count));
        assert_eq!(rejected_counts(&active_chat).await, expected);
        let listed = active_chat.agent.client.get("/admin/channels").await.expect(200);
        assert!(listed["channels"][0].get("refused").is_none(), "{listed}");
    });
}

#[test]
fn channel_can_be_disabled_and_enabled() {
    run_with_virtual_time(async |host, time| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        active_chat.agent.set_presence("online").await;
        assert_eq!(active_chat.channel.status().await.expect(200), 1);
        let disabled = active_chat.account.create_channel_with(&integrator.url(), json!({"enabled": false})).await;
        assert_eq!(disabled.status().await.expect(200), 0);
        for kind in ["text", "typein"] {
            let body = json!({"sender": {"id": VISITOR_ID}, "message": {"type": kind, "text": "Hello"}});
            disabled.post(&body).await.expect_error(403, "channel_disabled");
        }
        let shown = active_chat.agent.client.get(&format!("/admin/channels/{}", disabled.id)).await.expect(200);
        let refused = &shown["refused"][0];
        assert_eq!((&shown["enabled"], &refused["count"]), (&json!(false), &json!(2)));
        assert_eq!(refused["reason"], "the channel is switched off");

        let set_enabled = async |channel: &TestChannel, enabled: bool| {
            let path = format!("/admin/channels/{}", channel.id);
            let changed = active_chat.agent.client.patch(&path, &json!({"enabled": enabled})).await.expect(200);
            assert_eq!(changed["enabled"], enabled);
        };
        set_enabled(&disabled, true).await;
        set_enabled(&active_chat.channel, false).await;
        time.advance(seconds(10));
        let text = visitor_text(VISITOR_ID, "Hello?");
        disabled.post(&text).await.expect(200);
        active_chat.channel.post(&text).await.expect(403);
        assert_eq!(active_chat.channel.status().await.expect(200), 0);
        assert_eq!(active_chat.agent.chat(active_chat.number).await["state"], "active");
        let seq = active_chat.send_text("Here I am").await;
        assert_eq!(active_chat.final_delivery(seq).await["state"], "delivered");
        let texts = integrator.requests().iter().map(ReceivedRequest::text).collect::<Vec<_>>();
        assert_eq!(texts, ["Here I am"]);
    });
}

#[test]
fn channel_id_placeholder_is_replaced_in_integrator_url() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let base = integrator.url();
        let table = [
            (base.clone(), true, "/hook/ID"),
            (base.clone(), false, "/hook"),
            (format!("{base}/?key=1"), true, "/hook/ID?key=1"),
            (format!("{base}/in?key=1"), false, "/hook/in?key=1"),
            (format!("{base}/{{channel_id}}/in?channel={{channel_id}}"), true, "/hook/ID/in?channel=ID"),
            (format!("{base}/{{channel_id}}"), false, "/hook/ID"),
        ];
        for (index, (url, append, expected)) in table.into_iter().enumerate() {
            let active_chat = ActiveChat::create(host, &url, json!({"append_channel_id": append})).await;
            let path = format!("/admin/channels/{}", active_chat.channel.id);
            let shown = active_chat.agent.client.get(&path).await.expect(200);
            assert_eq!((&shown["integrator_url"], &shown["append_channel_id"]), (&json!(url), &json!(append)));
            active_chat.send_text("Hello").await;
            let request = integrator.wait_for_requests(index + 1, WAIT_TIMEOUT).await.pop().unwrap();
            assert_eq!(request.path, expected.replace("ID", &active_chat.channel.id));
            let invalid_urls = [
                ("http://10.0.0.1/{channel_id}", "integrator_url"),
                ("http://{channel_id}@app.example/", "integrator_url"),
                ("http://app.example:{channel_id}/", "integrator_url"),
                ("{channel_id}://app.example/", "integrator_url"),
                ("{channel_id}", "integrator_url"),
            ];
            for (url, field) in invalid_urls {
                let reply = active_chat.agent.client.patch(&path, &json!({"integrator_url": url})).await;
                assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], field, "{url}");
            }
            let change = json!({"integrator_url": "https://{channel_id}.app.example/"});
            active_chat.agent.client.patch(&path, &change).await.expect(200);
        }
    });
}

#[test]
fn invitation_belongs_to_the_chat_of_its_message() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let send_message = async |sender: Value| {
            fixture.channel.post(&text_with_sender(sender)).await.expect(200);
        };
        let invitation = async |chat: u64| fixture.agent.chat(chat).await["visitor"]["invite"].clone();
        send_message(json!({"invite": "Can I help?"})).await;
        send_message(json!({})).await;
        send_message(json!({"invite": "Can I help?"})).await;
        assert_eq!(invitation(1).await, "Can I help?");
        fixture.agent.accept(1).await;
        fixture.agent.close(1).await;

        send_message(json!({})).await;
        assert_eq!(invitation(2).await, Value::Null, "the invitation of the previous chat is not used");
        fixture.agent.accept(2).await;
        fixture.agent.close(2).await;

        send_message(json!({})).await;
        send_message(json!({"invite": "Still there?"})).await;
        assert_eq!((invitation(3).await, invitation(1).await), (json!("Still there?"), json!("Can I help?")));
        fixture.agent.accept(3).await;
        fixture.agent.close(3).await;
        let finished = wait_for("three chat_finished events", WAIT_TIMEOUT, async || {
            let requests = fixture.webhook_receiver.requests();
            let bodies = requests.iter().map(ReceivedRequest::json);
            let mut finished: Vec<_> = bodies.filter(|body| body["event_name"] == "chat_finished").collect();
            finished.sort_by_key(|body| number(&body["chat_id"]));
            if finished.len() == 3 { Ok(finished) } else { Err(finished) }
        })
        .await;
        let invitations: Vec<_> = finished.iter().map(|body| body["chat"]["invitation"].clone()).collect();
        assert_eq!(invitations, [json!("Can I help?"), Value::Null, json!("Still there?")]);
    });
}

#[test]
fn page_that_is_not_a_web_link_is_omitted() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let webhook_receiver = TestReceiver::start(ok_response()).await;
        add_webhook(&fixture.account, &webhook_receiver, json!({})).await;
        fixture.channel.post(&text_with_sender(json!({"url": "app://cart/7"}))).await.expect(200);
        let event = fixture.wait_for_event("CLIENT_MESSAGE").await;
        assert_eq!(event["sender"]["url"], Value::Null);
        let chat = chat_number(&event);
        let shown = fixture.agent.chat(chat).await["visitor"].clone();
        assert_eq!((&shown["url"], &shown["url_text"]), (&Value::Null, &json!("app://cart/7")));
        fixture.agent.accept(chat).await;
        assert_eq!(wait_for_event(&webhook_receiver, "chat_accepted").await["page"], json!({"url": "", "title": ""}));
        let page = "https://shop.example/cart";
        fixture.channel.post(&text_with_sender(json!({"url": page}))).await.expect(200);
        let shown = fixture.agent.chat(chat).await["visitor"].clone();
        assert_eq!((&shown["url"], &shown["url_text"]), (&json!(page), &Value::Null));
    });
}

#[test]
fn blank_optional_texts_are_absent() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let profile = json!({
            "name": "Ada", "phone": "+31 6 1", "email": "ada@example.com", "photo": "https://cdn.example/ada.png",
            "url": "https://shop.example/", "invite": "Can I help?",
        });
        fixture.channel.post(&text_with_sender(profile.clone())).await.expect(200);
        let before = fixture.agent.chat(1).await["visitor"].clone();
        assert_eq!(merged(before.clone(), profile.clone()), before);
        for blank in ["", "  ", "\t\n"] {
            let fields: Value = profile.as_object().unwrap().keys().map(|name| (name.clone(), json!(blank))).collect();
            fixture.channel.post(&text_with_sender(fields)).await.expect(200);
            let contacts = json!({"name": blank, "phone": blank, "email": blank});
            let info = |contacts: Value| json!({"event": "CLIENT_INFO", "chat_id": 1, "contacts": contacts});
            fixture.bot.post(&info(contacts.clone())).await.expect_error(400, "invalid_request");
            fixture.bot.post(&info(merged(contacts, json!({"phone": "+31 6 1"})))).await.expect(200);
            let markdown = json!({"type": "MARKDOWN", "content": "**Hi**", "text": blank});
            fixture.bot.send_message(&json!(1), markdown).await.expect(200);
        }
        assert_eq!(fixture.agent.chat(1).await["visitor"], before);
        let rich = fixture.agent.timeline(1).await;
        let rich: Vec<_> = rich.iter().filter(|entry| entry["type"] == "markdown").collect();
        assert!(rich.len() == 3 && rich.iter().all(|entry| entry["text"].is_null()), "{rich:#?}");
        assert!(fixture.integrator.requests().is_empty(), "a blank text is not a fallback");
        // Unlike visitors and bots, an agent can clear one of a visitor's fields by sending an empty text.
        let cleared = fixture.agent.client.patch("/agent/visitors/1", &json!({"phone": ""})).await.expect(200);
        assert_eq!(cleared["phone"], "");
    });
}
