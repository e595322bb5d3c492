//! Tests for the channel API (specification, part A): messages between an integrator's server and an agent.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};

use crate::support::api_client::{ApiClient, TestAccount, merged, number, send};
use crate::support::test_host::{
    ActiveChat, TestHost, VISITOR_ID, open_accepted_chat, run_on_shared_host, run_with_virtual_time, visitor_text,
};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, seconds};

const PHOTO_URL: &str = "https://cdn.example/ann.png";

#[test]
fn visitor_and_agent_exchange_messages() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let account = host.create_account().await;
        let agent = account.create_agent_with("Ann", json!({"photo": PHOTO_URL})).await;
        let channel = account.create_channel(&integrator.url()).await;

        assert_eq!(channel.status().await.expect(200), 0);
        agent.set_presence("online").await;
        assert_eq!(channel.status().await.expect(200), 1);

        channel.send_text("user@app:7", "Is my order sent?").await;
        let chats = agent.chats("waiting").await;
        assert_eq!(chats.len(), 1);
        assert_eq!(chats[0]["visitor"], json!({"number": 1, "name": "Anonymous"}));
        assert_eq!(chats[0]["channel"], json!({"channel_id": channel.id, "name": "App"}));
        assert_eq!(chats[0]["last_message"]["text"], "Is my order sent?");
        assert_eq!(chats[0]["agent"], Value::Null);

        let chat = number(&chats[0]["chat_id"]);
        agent.accept(chat).await;
        let active = agent.chats("active").await;
        assert_eq!(active[0]["agent"], json!({"id": agent.id, "name": "Ann"}));

        let body = json!({"type": "text", "text": "Yes, this morning."});
        let message = agent.client.post(&format!("/agent/chats/{chat}/messages"), &body).await.expect(201);
        let request = &integrator.wait_for_requests(1, WAIT_TIMEOUT).await[0];
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", &*format!("/hook/{}", channel.id)));
        assert_eq!(
            request.json(),
            json!({
                "sender": {"type": "agent", "name": "Ann", "photo": PHOTO_URL},
                "recipient": {"id": "user@app:7"},
                "message": {"type": "text", "id": message["id"], "text": "Yes, this morning."},
            })
        );
        assert_eq!(agent.final_delivery(chat, number(&message["seq"])).await["state"], "delivered");

        let timeline = agent.timeline(chat).await;
        let messages: Vec<_> = timeline.iter().map(|entry| (&entry["from"], &entry["text"])).collect();
        assert_eq!(
            messages,
            [(&json!("visitor"), &json!("Is my order sent?")), (&json!("agent"), &json!("Yes, this morning."))]
        );

        agent.close(chat).await;
        assert!(agent.chats("open").await.is_empty());
        assert_eq!(number(&agent.chats("closed").await[0]["chat_id"]), chat);
        channel.send_text("user@app:7", "One more thing").await;
        let waiting = agent.chats("waiting").await;
        assert_eq!(number(&waiting[0]["chat_id"]), chat + 1, "a new chat follows a closed one");
        assert_eq!(waiting[0]["visitor"]["number"], 1, "the same visitor");
    });
}

#[test]
fn status_is_1_while_an_agent_of_the_channel_is_online() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let (ann, ben) = (account.create_agent("Ann").await, account.create_agent("Ben").await);
        let everyone = account.create_channel("https://app.example/hook").await;
        let only_ben = account.create_channel_with("https://app.example/hook", json!({"agent_ids": [ben.id]})).await;
        let statuses = async || {
            let both = [everyone.status().await, only_ben.status().await];
            both.map(|reply| (reply.status, reply.text))
        };
        let shown = |everyone: &str, only_ben: &str| [everyone, only_ben].map(|text| (200, text.to_owned()));

        assert_eq!(statuses().await, shown("0", "0"));
        ann.set_presence("online").await;
        assert_eq!(statuses().await, shown("1", "0"));
        ben.set_presence("online").await;
        assert_eq!(statuses().await, shown("1", "1"));
        ann.set_presence("offline").await;
        ben.set_presence("away").await;
        assert_eq!(statuses().await, shown("0", "0"));
    });
}

/// Returns one message of each media type. The first message has every field in table A3 of the specification.
fn media_messages() -> Vec<Value> {
    let file = |kind: &str| {
        json!({
            "type": kind, "file": format!("https://cdn.example/{kind}"), "file_name": format!("{kind}.bin"),
            "file_size": 12_345,
        })
    };
    let all_fields = json!({
        "thumb": "http://cdn.example/thumb.png", "emoji": "🎬", "duration": 61, "width": 640, "height": 480,
        "text": "A comment", "performer": "Bach", "title": "Air", "latitude": 1.5, "longitude": -2.25,
    });
    vec![
        merged(file("video"), all_fields),
        file("audio"),
        file("voice"),
        file("photo"),
        file("sticker"),
        file("document"),
        json!({"type": "location", "latitude": -33.8568, "longitude": 151.2153}),
    ]
}

/// Returns the fields of `actual` that occur in `expected`. A field that `actual` does not have is null.
fn same_fields(actual: &Value, expected: &Value) -> Value {
    expected.as_object().unwrap().keys().map(|key| (key.clone(), actual[key].clone())).collect()
}

#[test]
fn media_of_every_type_are_delivered_both_ways() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        for (index, message) in media_messages().into_iter().enumerate() {
            let body = json!({"sender": {"id": VISITOR_ID}, "message": message});
            active_chat.channel.post(&body).await.expect(200);
            let entry = active_chat.agent.timeline(active_chat.number).await.pop().unwrap();
            assert_eq!(entry["from"], "visitor");
            assert_eq!(same_fields(&entry, &message), message);

            let seq = active_chat.agent.send_message(active_chat.number, &message).await;
            let request = integrator.wait_for_requests(index + 1, WAIT_TIMEOUT).await.pop().unwrap();
            let mut received = request.json()["message"].clone();
            assert!(received.as_object_mut().unwrap().remove("id").is_some_and(|id| id.is_string()));
            assert_eq!(received, message);
            assert_eq!(active_chat.final_delivery(seq).await["state"], "delivered");
        }
    });
}

#[test]
fn typing_notices_are_delivered_both_ways() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let send_typing = async |kind: &str| {
            let notice = json!({"sender": {"id": VISITOR_ID}, "message": {"type": kind, "text": "ignored"}});
            active_chat.channel.post(&notice).await.expect(200);
        };
        let visitor_typing = async || active_chat.agent.chat(active_chat.number).await["visitor_typing"].clone();

        assert_eq!(visitor_typing().await, false);
        send_typing("typein").await;
        assert_eq!(visitor_typing().await, true);
        send_typing("typeout").await;
        assert_eq!(visitor_typing().await, false);
        send_typing("typein").await;
        active_chat.channel.send_text(VISITOR_ID, "There").await;
        assert_eq!(visitor_typing().await, false, "a message ends typing");

        let profile = json!({"name": "Anna", "photo": "https://cdn.example/anna.png"});
        active_chat.agent.client.patch(&format!("/admin/agents/{}", active_chat.agent.id), &profile).await.expect(200);
        active_chat.agent.send_typing(active_chat.number, "typein").await;
        active_chat.agent.send_typing(active_chat.number, "typeout").await;
        let requests = integrator.wait_for_requests(2, WAIT_TIMEOUT).await;
        for (request, kind) in requests.iter().zip(["typein", "typeout"]) {
            let sender = merged(profile.clone(), json!({"type": "agent"}));
            let expected = json!({"sender": sender, "recipient": {"id": VISITOR_ID}, "message": {"type": kind}});
            assert_eq!(request.json(), expected);
        }
        let timeline = active_chat.agent.timeline(active_chat.number).await;
        assert_eq!(timeline.len(), 2, "typing is not part of the timeline: {timeline:#?}");
    });
}

#[test]
fn typing_notice_opens_no_chat() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        channel.post(&json!({"sender": {"id": "x"}, "message": {"type": "typein"}})).await.expect(200);
        assert!(account.admin.chats("open").await.is_empty());
    });
}

#[test]
fn long_text_is_cut_to_1000_characters() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        // With the last text, the request body is almost as large as allowed. The text is still accepted, but
        // truncated.
        for (unit, length) in [("a", 1_001), ("é", 5_000), ("🎈", 1_500), ("e\u{301}", 1_000), ("b", 1_000_000)] {
            let text = unit.repeat(length);
            channel.send_text(unit, &text).await;
            let chat = newest_chat(&account.admin.chats("waiting").await);
            let stored = account.admin.timeline(chat).await[0]["text"].clone();
            let expected: String = text.chars().take(1_000).collect();
            assert_eq!(stored, expected);
        }
        let too_large = channel.post(&visitor_text("c", &"c".repeat(1_100_000))).await;
        too_large.expect_error(413, "payload_too_large");
    });
}

#[test]
fn text_of_1000_characters_is_unchanged() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        let text = "🎈".repeat(1_000);
        channel.send_text("v", &text).await;
        let chat = newest_chat(&account.admin.chats("waiting").await);
        assert_eq!(account.admin.timeline(chat).await[0]["text"], text);
    });
}

fn newest_chat(chats: &[Value]) -> u64 {
    chats.iter().map(|chat| number(&chat["chat_id"])).max().expect("a chat")
}

#[test]
fn visitor_data_is_stored_and_updated_during_the_chat() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        let send_message = async |fields: Value| {
            let sender = merged(json!({"id": 7}), fields);
            let body = json!({"sender": sender, "message": {"type": "text", "text": "Hi"}});
            channel.post(&body).await.expect(200);
            account.admin.chat(1).await["visitor"].clone()
        };
        let profile = json!({
            "phone": "+31201234567", "email": "ada@example.com", "photo": "https://cdn.example/ada.png",
            "url": "https://shop.example/cart?x=1", "invite": "Can I help?",
        });

        let first = send_message(profile.clone()).await;
        assert_eq!(first["name"], "Anonymous");
        assert_eq!(first["id"], "7", "an integer id is its decimal text");
        assert_eq!(same_fields(&first, &profile), profile);

        let renamed = send_message(json!({"name": "Ada", "email": "ada@lovelace.example"})).await;
        assert_eq!(renamed["name"], "Ada");
        assert_eq!(renamed["email"], "ada@lovelace.example");
        assert_eq!(renamed["phone"], "+31201234567", "a field that is not sent keeps its value");
        assert_eq!(account.admin.chats("waiting").await[0]["visitor"], json!({"number": 1, "name": "Ada"}));
    });
}

#[test]
fn visitor_id_is_returned_unchanged() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let account = host.create_account().await;
        let channel = account.create_channel(&integrator.url()).await;
        let long = "x".repeat(200);
        let ids = [
            json!("a/b?c#d %41"),
            json!("日本 🎈"),
            json!("0"),
            json!(long),
            json!(7),
            json!(-7),
            json!(u64::MAX),
            json!(i64::MIN),
            json!(9_007_199_254_740_993_u64),
        ];
        for (index, id) in ids.iter().enumerate() {
            let body = json!({"sender": {"id": id}, "message": {"type": "text", "text": "Hi"}});
            channel.post(&body).await.expect(200);
            let chat = newest_chat(&account.admin.chats("waiting").await);
            account.admin.accept(chat).await;
            account.admin.send_text(chat, "Hello").await;
            let request = integrator.wait_for_requests(index + 1, WAIT_TIMEOUT).await.pop().unwrap();
            assert_eq!(request.json()["recipient"]["id"], *id);
        }
    });
}

#[test]
fn last_json_type_of_a_visitor_id_is_used() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let account = host.create_account().await;
        let channel = account.create_channel(&integrator.url()).await;
        for (round, id) in [json!(7), json!("7"), json!(7)].into_iter().enumerate() {
            channel.post(&json!({"sender": {"id": id}, "message": {"type": "text", "text": "Hi"}})).await.expect(200);
            account.admin.accept(1).await;
            account.admin.send_text(1, "Hello").await;
            account.admin.send_typing(1, "typein").await;
            let requests = integrator.wait_for_requests(2 * (round + 1), WAIT_TIMEOUT).await;
            for request in requests.iter().skip(2 * round) {
                assert_eq!(request.json()["recipient"]["id"], id);
            }
        }
        assert_eq!(account.admin.chats("open").await.len(), 1, "7 and \"7\" are one visitor");
    });
}

#[test]
fn visitors_and_chats_are_numbered_from_1_in_every_account() {
    run_on_shared_host(async |host| {
        for _ in 0..2 {
            let account = host.create_account().await;
            let channel = account.create_channel("https://app.example/hook").await;
            for expected in 1..=3 {
                channel.send_text(&format!("visitor {expected}"), "Hi").await;
                let chat = account.admin.chat(expected).await;
                assert_eq!(chat["visitor"]["number"], expected);
                assert_eq!(chat["state"], "waiting");
            }
        }
    });
}

#[test]
fn concurrent_accepts_have_one_winner() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let (ann, ben) = (account.create_agent("Ann").await, account.create_agent("Ben").await);
        let channel = account.create_channel("https://app.example/hook").await;
        for chat in 1..=5_u64 {
            channel.send_text(&format!("visitor {chat}"), "Hi").await;
            let accept = format!("/agent/chats/{chat}/accept");
            let empty = json!({});
            let (first_reply, second_reply) =
                tokio::join!(ann.client.post(&accept, &empty), ben.client.post(&accept, &empty));
            let (winner, loser) = if first_reply.status == 200 { (&ann, &ben) } else { (&ben, &ann) };
            let mut statuses = [first_reply.status, second_reply.status];
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 409]);
            assert_eq!(winner.chat(chat).await["agent"]["id"], winner.id);
            winner.accept(chat).await;
            let text = json!({"type": "text", "text": "mine"});
            let refused = loser.client.post(&format!("/agent/chats/{chat}/messages"), &text).await;
            refused.expect_error(409, "conflict");
        }
    });
}

#[test]
fn agent_can_send_only_between_accept_and_close() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        channel.send_text("v", "Hi").await;
        let messages = "/agent/chats/1/messages";
        let text = json!({"type": "text", "text": "Hello"});
        account.admin.client.post(messages, &text).await.expect_error(409, "conflict");
        account.admin.accept(1).await;
        account.admin.close(1).await;
        account.admin.client.post(messages, &text).await.expect_error(409, "conflict");
        account.admin.client.post("/agent/chats/1/accept", &json!({})).await.expect_error(409, "conflict");
    });
}

#[test]
fn repeated_idempotency_key_stores_one_message() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let active_chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let post_with_key = async |client: &ApiClient, target: &str, body: &Value, key: &str| {
            send(client.request(reqwest::Method::POST, target).header("idempotency-key", key).json(body)).await
        };
        let before = active_chat.agent.timeline(active_chat.number).await.len();

        let visitor = visitor_text(VISITOR_ID, "Once");
        for _ in 0..3 {
            let reply =
                post_with_key(&active_chat.channel.client, &active_chat.channel.endpoint, &visitor, "visit-1").await;
            let id = active_chat.agent.timeline(active_chat.number).await[before]["id"].clone();
            let stored = json!({"result": "ok", "chat_id": active_chat.number, "seq": before + 1, "id": id});
            assert_eq!(reply.expect(200), stored);
        }
        let target = format!("/agent/chats/{}/messages", active_chat.number);
        let answer = json!({"type": "text", "text": "Once, too"});
        let first = post_with_key(&active_chat.agent.client, &target, &answer, "answer-1").await.expect(201);
        let repeated = post_with_key(&active_chat.agent.client, &target, &answer, "answer-1").await.expect(201);
        assert_eq!(first, repeated);
        let other = post_with_key(&active_chat.agent.client, &target, &answer, "answer-2").await.expect(201);
        assert_ne!(first["seq"], other["seq"]);

        assert_eq!(active_chat.final_delivery(number(&other["seq"])).await["state"], "delivered");
        assert_eq!(integrator.requests().len(), 2);
        assert_eq!(active_chat.agent.timeline(active_chat.number).await.len(), before + 3);
    });
}

#[test]
fn same_idempotency_key_of_two_visitors_stores_two_messages() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        for visitor in ["ada", "bob", "ada"] {
            let request = channel.client.request(reqwest::Method::POST, &channel.endpoint);
            let body = visitor_text(visitor, "My first");
            send(request.header("idempotency-key", "1").json(&body)).await.expect(200);
        }
        assert_eq!(account.admin.chats("waiting").await.len(), 2);
        for chat in [1, 2] {
            assert_eq!(account.admin.timeline(chat).await.len(), 1, "chat {chat}");
        }
    });
}

/// Deletes the second of three messages, so that the service assumes that this message is still being written. Makes
/// the third message `age_seconds` old. Returns the timeline.
async fn timeline_with_gap(host: &TestHost, account: &TestAccount, age_seconds: u64) -> Vec<Value> {
    let tables = host.tables();
    let key = |seq: u64| {
        let pk = AttributeValue::S(format!("CHAT#{}#1", account.id.as_str().unwrap()));
        HashMap::from([("pk".to_owned(), pk), ("sk".to_owned(), AttributeValue::S(format!("{seq:010}")))])
    };
    tables.delete_item().table_name("Chats").set_key(Some(key(2))).send().await.unwrap();
    let at = shared::runtime::clock::now().0 - age_seconds * 1_000;
    let update = tables.update_item().table_name("Chats").set_key(Some(key(3))).update_expression("SET #at = :at");
    let update = update.expression_attribute_names("#at", "at");
    update.expression_attribute_values(":at", AttributeValue::N(at.to_string())).send().await.unwrap();
    account.admin.timeline(1).await
}

#[test]
fn message_after_a_gap_is_listed_after_ten_seconds() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        for text in ["1", "2", "3"] {
            channel.send_text(VISITOR_ID, text).await;
        }
        let texts = |entries: Vec<Value>| entries.iter().map(|entry| entry["text"].clone()).collect::<Vec<_>>();
        assert_eq!(texts(timeline_with_gap(host, &account, 0).await), ["1"]);
        assert_eq!(account.admin.timeline_after(1, 1).await, Vec::<Value>::new());
        assert_eq!(texts(timeline_with_gap(host, &account, 10).await), ["1", "3"]);
    });
}

#[test]
fn concurrent_requests_with_one_key_store_one_message() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        let body = visitor_text("v", "Once");
        let post = || {
            let request = channel.client.request(reqwest::Method::POST, &channel.endpoint);
            send(request.header("idempotency-key", "k").json(&body))
        };
        let replies = futures_util::future::join_all((0..4).map(|_| post())).await;
        assert!(replies.iter().all(|reply| reply.status == 200), "{replies:?}");
        let open = account.admin.chats("open").await;
        assert_eq!(open.len(), 1, "{open:#?}");
        assert_eq!(account.admin.timeline(newest_chat(&open)).await.len(), 1);
    });
}

#[test]
fn concurrent_first_messages_open_one_chat() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        let bodies: Vec<_> = (0..6).map(|n| visitor_text("v", &format!("{n}"))).collect();
        let replies = futures_util::future::join_all(bodies.iter().map(|body| channel.post(body))).await;
        for reply in replies {
            reply.expect(200);
        }
        let open = account.admin.chats("open").await;
        assert_eq!(open.len(), 1, "{open:#?}");
        let chat = newest_chat(&open);
        assert_eq!(account.admin.timeline(chat).await.len(), 6);
    });
}

#[test]
fn visitor_may_send_30_messages_in_10_seconds() {
    run_with_virtual_time(async |host, time| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        let mut accepted = 0;
        let refused = loop {
            let reply = channel.post(&visitor_text("eager", "again")).await;
            if reply.status == 429 {
                break reply;
            }
            reply.expect(200);
            accepted += 1;
            assert!(accepted <= 60, "no request was rejected");
        };
        let retry_after_seconds: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=10).contains(&retry_after_seconds), "{retry_after_seconds}");
        refused.expect_error(429, "rate_limited");
        assert!(accepted >= 30, "{accepted}");
        channel.send_text("patient", "Hi").await;
        let chat = newest_chat(&account.admin.chats("open").await) - 1;
        time.advance(seconds(10));
        channel.post(&visitor_text("eager", "at last")).await.expect(200);
        assert_eq!(account.admin.timeline(chat).await.len(), accepted + 1);
    });
}

#[test]
fn other_http_methods_are_rejected() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        let status = format!("{}/status", channel.endpoint);
        for (target, allowed, allow) in [(&channel.endpoint, "POST", "POST"), (&status, "GET", "GET, HEAD")] {
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
                if method == allowed {
                    continue;
                }
                let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
                let reply = send(channel.client.request(method, target).json(&json!({}))).await;
                assert_eq!(reply.headers["allow"], allow);
                reply.expect_error(405, "method_not_allowed");
            }
        }
    });
}

#[test]
fn unlabelled_and_chunked_bodies_are_read_as_json() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let channel = account.create_channel("https://app.example/hook").await;
        let body = visitor_text("v", "Hi").to_string();
        let post = || channel.client.request(reqwest::Method::POST, &channel.endpoint);
        send(post().body(body.clone())).await.expect(200);
        send(post().header("content-type", "text/plain").body(body.clone())).await.expect(200);
        send(post().header("content-type", "application/octet-stream").body(body.clone())).await.expect(200);
        let mut chunked =
            tokio::net::TcpStream::connect(host.local.base_url().trim_start_matches("http://")).await.unwrap();
        let path = channel.endpoint.strip_prefix(host.local.base_url()).expect("an endpoint of the local host");
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
            body.len()
        );
        let answer = send_raw_request(&mut chunked, request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert_eq!(account.admin.timeline(1).await.len(), 4);
    });
}

async fn send_raw_request(stream: &mut tokio::net::TcpStream, request: &[u8]) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    stream.write_all(request).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[test]
fn each_visitor_gets_only_the_replies_to_their_chat() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let account = host.create_account().await;
        let channel = account.create_channel(&integrator.url()).await;
        let ada = open_accepted_chat(&account.admin, &channel, "ada").await;
        let bob = open_accepted_chat(&account.admin, &channel, "bob").await;
        account.admin.send_text(bob, "for bob").await;
        account.admin.send_text(ada, "for ada").await;
        let requests = integrator.wait_for_requests(2, WAIT_TIMEOUT).await;
        let mut received: Vec<_> =
            requests.iter().map(|request| (request.json()["recipient"]["id"].clone(), request.text())).collect();
        received.sort_by(|a, b| a.1.cmp(&b.1));
        assert_eq!(received, [(json!("ada"), "for ada".to_owned()), (json!("bob"), "for bob".to_owned())]);
    });
}
