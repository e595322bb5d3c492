//! Part A of the specification: an integrator's server and an agent hold a conversation.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};

use crate::client::{Account, merged, number, send};
use crate::harness::{Conversation, VISITOR, on_stage, open_chat, visitor_text};
use crate::receiver::{Answer, Receiver};
use crate::wait::{PATIENCE, seconds, wait_for};

const PHOTO: &str = "https://cdn.example/ann.png";

#[test]
fn a_visitor_and_an_agent_hold_a_conversation() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let account = stage.account().await;
        let agent = account.agent_with("Ann", json!({"photo": PHOTO})).await;
        let channel = account.channel(&integrator.url()).await;

        assert_eq!(channel.status().await.expect(200), 0);
        agent.presence("online").await;
        assert_eq!(channel.status().await.expect(200), 1);

        channel.say("user@app:7", "Is my order sent?").await;
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
        let written = agent.call.post(&format!("/agent/chats/{chat}/messages"), &body).await.expect(201);
        let request = &integrator.received(1, PATIENCE).await[0];
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", &*format!("/hook/{}", channel.id)));
        assert_eq!(
            request.json(),
            json!({
                "sender": {"name": "Ann", "photo": PHOTO},
                "recipient": {"id": "user@app:7"},
                "message": {"type": "text", "id": written["id"], "text": "Yes, this morning."},
            })
        );
        assert_eq!(agent.verdict(chat, number(&written["seq"])).await["state"], "delivered");

        let timeline = agent.messages(chat).await;
        let said: Vec<_> = timeline.iter().map(|entry| (&entry["from"], &entry["text"])).collect();
        assert_eq!(
            said,
            [(&json!("visitor"), &json!("Is my order sent?")), (&json!("agent"), &json!("Yes, this morning."))]
        );

        agent.close(chat).await;
        assert!(agent.chats("open").await.is_empty());
        assert_eq!(number(&agent.chats("closed").await[0]["chat_id"]), chat);
        channel.say("user@app:7", "One more thing").await;
        let again = agent.chats("waiting").await;
        assert_eq!(number(&again[0]["chat_id"]), chat + 1, "a closed chat is followed by a new one");
        assert_eq!(again[0]["visitor"]["number"], 1, "of the same visitor");
    });
}

#[test]
fn status_says_whether_an_agent_of_the_channel_is_online() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let (ann, ben) = (account.agent("Ann").await, account.agent("Ben").await);
        let everyone = account.channel("https://app.example/hook").await;
        let only_ben = account.channel_with("https://app.example/hook", json!({"agent_ids": [ben.id]})).await;
        let statuses = async || {
            let both = [everyone.status().await, only_ben.status().await];
            both.map(|reply| (reply.status, reply.text))
        };
        let shown = |everyone: &str, only_ben: &str| [everyone, only_ben].map(|text| (200, text.to_owned()));

        assert_eq!(statuses().await, shown("0", "0"));
        ann.presence("online").await;
        assert_eq!(statuses().await, shown("1", "0"));
        ben.presence("online").await;
        assert_eq!(statuses().await, shown("1", "1"));
        ann.presence("offline").await;
        ben.presence("away").await;
        assert_eq!(statuses().await, shown("0", "0"));
    });
}

/// One message of every media type, with every field of table A3 on one of them.
fn media_messages() -> Vec<Value> {
    let file = |kind: &str| {
        json!({
            "type": kind, "file": format!("https://cdn.example/{kind}"), "file_name": format!("{kind}.bin"),
            "file_size": 12_345,
        })
    };
    let rich = json!({
        "thumb": "http://cdn.example/thumb.png", "emoji": "🎬", "duration": 61, "width": 640, "height": 480,
        "text": "A comment", "performer": "Bach", "title": "Air", "latitude": 1.5, "longitude": -2.25,
    });
    vec![
        merged(file("video"), rich),
        file("audio"),
        file("voice"),
        file("photo"),
        file("sticker"),
        file("document"),
        json!({"type": "location", "latitude": -33.8568, "longitude": 151.2153}),
    ]
}

/// The fields of `sent` in `got`.
fn same_fields(got: &Value, sent: &Value) -> Value {
    sent.as_object().unwrap().keys().map(|key| (key.clone(), got[key].clone())).collect()
}

#[test]
fn media_of_every_type_go_both_ways() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        for (sent, message) in media_messages().into_iter().enumerate() {
            let body = json!({"sender": {"id": VISITOR}, "message": message});
            talk.channel.post(&body).await.expect(200);
            let entry = talk.agent.messages(talk.chat).await.pop().unwrap();
            assert_eq!(entry["from"], "visitor");
            assert_eq!(same_fields(&entry, &message), message);

            let seq = talk.agent.write_message(talk.chat, &message).await;
            let request = integrator.received(sent + 1, PATIENCE).await.pop().unwrap();
            let mut received = request.json()["message"].clone();
            assert!(received.as_object_mut().unwrap().remove("id").is_some_and(|id| id.is_string()));
            assert_eq!(received, message);
            assert_eq!(talk.verdict(seq).await["state"], "delivered");
        }
    });
}

#[test]
fn typing_goes_both_ways() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let visitor_types = async |kind: &str| {
            let notice = json!({"sender": {"id": VISITOR}, "message": {"type": kind, "text": "ignored"}});
            talk.channel.post(&notice).await.expect(200);
        };
        let shown = async || talk.agent.chat(talk.chat).await["visitor_typing"].clone();

        assert_eq!(shown().await, false);
        visitor_types("typein").await;
        assert_eq!(shown().await, true);
        visitor_types("typeout").await;
        assert_eq!(shown().await, false);
        visitor_types("typein").await;
        talk.channel.say(VISITOR, "There").await;
        assert_eq!(shown().await, false, "who has written types no more");

        let looks = json!({"name": "Anna", "photo": "https://cdn.example/anna.png"});
        talk.agent.call.patch(&format!("/admin/agents/{}", talk.agent.id), &looks).await.expect(200);
        talk.agent.typing(talk.chat, "typein").await;
        talk.agent.typing(talk.chat, "typeout").await;
        let requests = integrator.received(2, PATIENCE).await;
        for (request, kind) in requests.iter().zip(["typein", "typeout"]) {
            let expected = json!({"sender": looks, "recipient": {"id": VISITOR}, "message": {"type": kind}});
            assert_eq!(request.json(), expected);
        }
        let kept = talk.agent.messages(talk.chat).await;
        assert_eq!(kept.len(), 2, "typing is not part of the timeline: {kept:#?}");
    });
}

#[test]
fn typing_alone_opens_no_chat() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        channel.post(&json!({"sender": {"id": "x"}, "message": {"type": "typein"}})).await.expect(200);
        assert!(account.admin.chats("open").await.is_empty());
    });
}

#[test]
fn a_long_text_is_cut_to_1000_characters() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        // The last one is cut before its body is found too large.
        for (unit, length) in [("a", 1_001), ("é", 5_000), ("🎈", 1_500), ("e\u{301}", 1_000), ("b", 1_000_000)] {
            let text = unit.repeat(length);
            channel.say(unit, &text).await;
            let chat = newest(&account.admin.chats("waiting").await);
            let kept = account.admin.messages(chat).await[0]["text"].clone();
            let expected: String = text.chars().take(1_000).collect();
            assert_eq!(kept, expected);
        }
        let too_large = channel.post(&visitor_text("c", &"c".repeat(1_100_000))).await;
        too_large.expect_error(413, "payload_too_large");
    });
}

#[test]
fn a_text_of_1000_characters_arrives_whole() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        let text = "🎈".repeat(1_000);
        channel.say("v", &text).await;
        let chat = newest(&account.admin.chats("waiting").await);
        assert_eq!(account.admin.messages(chat).await[0]["text"], text);
    });
}

fn newest(chats: &[Value]) -> u64 {
    chats.iter().map(|chat| number(&chat["chat_id"])).max().expect("a chat")
}

#[test]
fn what_a_visitor_tells_is_kept_and_updated_during_the_chat() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        let says = async |more: Value| {
            let sender = merged(json!({"id": 7}), more);
            let body = json!({"sender": sender, "message": {"type": "text", "text": "Hi"}});
            channel.post(&body).await.expect(200);
            account.admin.chat(1).await["visitor"].clone()
        };
        let notifications = json!({
            "phone": "+31201234567", "email": "ada@example.com", "photo": "https://cdn.example/ada.png",
            "url": "https://shop.example/cart?x=1", "invite": "Can I help?",
        });

        let first = says(notifications.clone()).await;
        assert_eq!(first["name"], "Anonymous");
        assert_eq!(first["id"], "7", "an integer id is its decimal text");
        assert_eq!(same_fields(&first, &notifications), notifications);

        let renamed = says(json!({"name": "Ada", "email": "ada@lovelace.example"})).await;
        assert_eq!(renamed["name"], "Ada");
        assert_eq!(renamed["email"], "ada@lovelace.example");
        assert_eq!(renamed["phone"], "+31201234567", "what is not told again stays");
        assert_eq!(account.admin.chats("waiting").await[0]["visitor"], json!({"number": 1, "name": "Ada"}));
    });
}

#[test]
fn the_visitor_id_comes_back_unchanged() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let account = stage.account().await;
        let channel = account.channel(&integrator.url()).await;
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
        for (seen, id) in ids.iter().enumerate() {
            let body = json!({"sender": {"id": id}, "message": {"type": "text", "text": "Hi"}});
            channel.post(&body).await.expect(200);
            let chat = newest(&account.admin.chats("waiting").await);
            account.admin.accept(chat).await;
            account.admin.write(chat, "Hello").await;
            let request = integrator.received(seen + 1, PATIENCE).await.pop().unwrap();
            assert_eq!(request.json()["recipient"]["id"], *id);
        }
    });
}

#[test]
fn the_last_form_of_a_visitor_id_counts() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let account = stage.account().await;
        let channel = account.channel(&integrator.url()).await;
        for (round, id) in [json!(7), json!("7"), json!(7)].into_iter().enumerate() {
            channel.post(&json!({"sender": {"id": id}, "message": {"type": "text", "text": "Hi"}})).await.expect(200);
            account.admin.accept(1).await;
            account.admin.write(1, "Hello").await;
            account.admin.typing(1, "typein").await;
            let requests = integrator.received(2 * (round + 1), PATIENCE).await;
            for request in requests.iter().skip(2 * round) {
                assert_eq!(request.json()["recipient"]["id"], id);
            }
        }
        assert_eq!(account.admin.chats("open").await.len(), 1, "7 and \"7\" are one visitor");
    });
}

#[test]
fn visitors_and_chats_are_numbered_from_1_in_every_account() {
    on_stage(async |stage| {
        for _ in 0..2 {
            let account = stage.account().await;
            let channel = account.channel("https://app.example/hook").await;
            for expected in 1..=3 {
                channel.say(&format!("visitor {expected}"), "Hi").await;
                let chat = account.admin.chat(expected).await;
                assert_eq!(chat["visitor"]["number"], expected);
                assert_eq!(chat["state"], "waiting");
            }
        }
    });
}

#[test]
fn of_two_agents_who_press_reply_together_one_gets_the_chat() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let (ann, ben) = (account.agent("Ann").await, account.agent("Ben").await);
        let channel = account.channel("https://app.example/hook").await;
        for chat in 1..=5_u64 {
            channel.say(&format!("visitor {chat}"), "Hi").await;
            let accept = format!("/agent/chats/{chat}/accept");
            let nothing = json!({});
            let (a, b) = tokio::join!(ann.call.post(&accept, &nothing), ben.call.post(&accept, &nothing));
            let (winner, loser) = if a.status == 200 { (&ann, &ben) } else { (&ben, &ann) };
            let mut statuses = [a.status, b.status];
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 409]);
            assert_eq!(winner.chat(chat).await["agent"]["id"], winner.id);
            winner.accept(chat).await;
            let text = json!({"type": "text", "text": "mine"});
            let refused = loser.call.post(&format!("/agent/chats/{chat}/messages"), &text).await;
            refused.expect_error(409, "conflict");
        }
    });
}

#[test]
fn a_chat_is_written_in_only_between_accept_and_close() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        channel.say("v", "Hi").await;
        let messages = "/agent/chats/1/messages";
        let text = json!({"type": "text", "text": "Hello"});
        account.admin.call.post(messages, &text).await.expect_error(409, "conflict");
        account.admin.accept(1).await;
        account.admin.close(1).await;
        account.admin.call.post(messages, &text).await.expect_error(409, "conflict");
        account.admin.call.post("/agent/chats/1/accept", &json!({})).await.expect_error(409, "conflict");
    });
}

#[test]
fn a_message_sent_again_with_its_idempotency_key_is_one_message() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let with_key = async |call: &crate::client::Caller, target: &str, body: &Value, key: &str| {
            send(call.request(reqwest::Method::POST, target).header("idempotency-key", key).json(body)).await
        };
        let before = talk.agent.messages(talk.chat).await.len();

        let visitor = visitor_text(VISITOR, "Once");
        for _ in 0..3 {
            let reply = with_key(&talk.channel.call, &talk.channel.endpoint, &visitor, "visit-1").await;
            assert_eq!(reply.expect(200), json!({"result": "ok"}));
        }
        let target = format!("/agent/chats/{}/messages", talk.chat);
        let answer = json!({"type": "text", "text": "Once, too"});
        let first = with_key(&talk.agent.call, &target, &answer, "answer-1").await.expect(201);
        let again = with_key(&talk.agent.call, &target, &answer, "answer-1").await.expect(201);
        assert_eq!(first, again);
        let other = with_key(&talk.agent.call, &target, &answer, "answer-2").await.expect(201);
        assert_ne!(first["seq"], other["seq"]);

        assert_eq!(talk.verdict(number(&other["seq"])).await["state"], "delivered");
        assert_eq!(integrator.requests().len(), 2);
        assert_eq!(talk.agent.messages(talk.chat).await.len(), before + 3);
    });
}

#[test]
fn the_same_idempotency_key_of_two_visitors_is_two_messages() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        for visitor in ["ada", "bob", "ada"] {
            let request = channel.call.request(reqwest::Method::POST, &channel.endpoint);
            let body = visitor_text(visitor, "My first");
            send(request.header("idempotency-key", "1").json(&body)).await.expect(200);
        }
        assert_eq!(account.admin.chats("waiting").await.len(), 2);
        for chat in [1, 2] {
            assert_eq!(account.admin.messages(chat).await.len(), 1, "chat {chat}");
        }
    });
}

/// Makes the last of three messages look that many seconds old, and the one before it as if it were still being written.
async fn with_a_gap(stage: &crate::harness::Stage, account: &Account, age: u64) -> Vec<Value> {
    let tables = stage.tables();
    let key = |seq: u64| {
        let pk = AttributeValue::S(format!("CHAT#{}#1", account.id.as_str().unwrap()));
        HashMap::from([("pk".to_owned(), pk), ("sk".to_owned(), AttributeValue::S(format!("{seq:010}")))])
    };
    tables.delete_item().table_name("Chats").set_key(Some(key(2))).send().await.unwrap();
    let at = shared::runtime::clock::now().0 - age * 1_000;
    let update = tables.update_item().table_name("Chats").set_key(Some(key(3))).update_expression("SET #at = :at");
    let update = update.expression_attribute_names("#at", "at");
    update.expression_attribute_values(":at", AttributeValue::N(at.to_string())).send().await.unwrap();
    account.admin.messages(1).await
}

#[test]
fn a_message_is_shown_when_none_can_come_before_it_any_more() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        for text in ["1", "2", "3"] {
            channel.say(VISITOR, text).await;
        }
        let texts = |shown: Vec<Value>| shown.iter().map(|entry| entry["text"].clone()).collect::<Vec<_>>();
        assert_eq!(texts(with_a_gap(stage, &account, 0).await), ["1"]);
        assert_eq!(account.admin.messages_after(1, 1).await, Vec::<Value>::new());
        assert_eq!(texts(with_a_gap(stage, &account, 10).await), ["1", "3"]);
    });
}

#[test]
fn requests_that_race_with_one_idempotency_key_store_one_message() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        let body = visitor_text("v", "Once");
        let post = || {
            let request = channel.call.request(reqwest::Method::POST, &channel.endpoint);
            send(request.header("idempotency-key", "k").json(&body))
        };
        let replies = futures_util::future::join_all((0..4).map(|_| post())).await;
        assert!(replies.iter().all(|reply| reply.status == 200), "{replies:?}");
        let open = account.admin.chats("open").await;
        assert_eq!(open.len(), 1, "{open:#?}");
        assert_eq!(account.admin.messages(newest(&open)).await.len(), 1);
    });
}

#[test]
fn first_messages_that_race_open_one_chat_of_one_visitor() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        let bodies: Vec<_> = (0..6).map(|n| visitor_text("v", &format!("{n}"))).collect();
        let replies = futures_util::future::join_all(bodies.iter().map(|body| channel.post(body))).await;
        for reply in replies {
            reply.expect(200);
        }
        let open = account.admin.chats("open").await;
        assert_eq!(open.len(), 1, "{open:#?}");
        let chat = newest(&open);
        assert_eq!(account.admin.messages(chat).await.len(), 6);
    });
}

#[test]
fn a_visitor_may_write_30_messages_in_10_seconds() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        let mut accepted = 0;
        let refused = loop {
            let reply = channel.post(&visitor_text("eager", "again")).await;
            if reply.status == 429 {
                break reply;
            }
            reply.expect(200);
            accepted += 1;
            assert!(accepted <= 60, "never refused");
        };
        let wait: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=10).contains(&wait), "{wait}");
        refused.expect_error(429, "rate_limited");
        assert!(accepted >= 30, "{accepted}");
        channel.say("patient", "Hi").await;
        let chat = newest(&account.admin.chats("open").await) - 1;
        wait_for("the visitor may write again", seconds(12), async || {
            let reply = channel.post(&visitor_text("eager", "at last")).await;
            if reply.status == 200 { Ok(()) } else { Err(reply) }
        })
        .await;
        assert_eq!(account.admin.messages(chat).await.len(), accepted + 1);
    });
}

#[test]
fn other_methods_are_refused() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        let status = format!("{}/status", channel.endpoint);
        for (target, allowed) in [(&channel.endpoint, "POST"), (&status, "GET")] {
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
                if method == allowed {
                    continue;
                }
                let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
                let reply = send(channel.call.request(method, target).json(&json!({}))).await;
                assert_eq!(reply.headers["allow"], allowed);
                reply.expect_error(405, "method_not_allowed");
            }
        }
    });
}

#[test]
fn a_body_without_a_label_and_a_chunked_body_are_read_as_json() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let channel = account.channel("https://app.example/hook").await;
        let body = visitor_text("v", "Hi").to_string();
        let post = || channel.call.request(reqwest::Method::POST, &channel.endpoint);
        send(post().body(body.clone())).await.expect(200);
        send(post().header("content-type", "text/plain").body(body.clone())).await.expect(200);
        send(post().header("content-type", "application/octet-stream").body(body.clone())).await.expect(200);
        let mut chunked =
            tokio::net::TcpStream::connect(stage.host.base_url().trim_start_matches("http://")).await.unwrap();
        let path = channel.endpoint.strip_prefix(stage.host.base_url()).expect("the endpoint is here");
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
            body.len()
        );
        let answer = exchange(&mut chunked, request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert_eq!(account.admin.messages(1).await.len(), 4);
    });
}

async fn exchange(stream: &mut tokio::net::TcpStream, request: &[u8]) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    stream.write_all(request).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[test]
fn two_visitors_have_two_chats_and_each_gets_their_own_answers() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let account = stage.account().await;
        let channel = account.channel(&integrator.url()).await;
        let ada = open_chat(&account.admin, &channel, "ada").await;
        let bob = open_chat(&account.admin, &channel, "bob").await;
        account.admin.write(bob, "for bob").await;
        account.admin.write(ada, "for ada").await;
        let requests = integrator.received(2, PATIENCE).await;
        let mut got: Vec<_> =
            requests.iter().map(|request| (request.json()["recipient"]["id"].clone(), request.text())).collect();
        got.sort_by(|a, b| a.1.cmp(&b.1));
        assert_eq!(got, [(json!("ada"), "for ada".to_owned()), (json!("bob"), "for bob".to_owned())]);
    });
}
