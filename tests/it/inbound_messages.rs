//! What a channel takes, refuses and counts: its limit of new chats, its switch, its addresses, and what a visitor's
//! message says about its sender.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::client::{Channel, Reply, merged, number};
use crate::harness::{Conversation, VISITOR, on_stage, post_raw, visitor_text};
use crate::hook::{Hooked, add, fine, notifications};
use crate::provider::{Front, chat_of};
use crate::receiver::{Answer, Receiver};
use crate::wait::{PATIENCE, seconds, wait_for};

/// A text of the default visitor, with these fields of the sender.
fn from(sender: Value) -> Value {
    let mut body = visitor_text(VISITOR, "Hello");
    body["sender"] = merged(body["sender"].clone(), sender);
    body
}

fn refused(replies: &[Reply], status: u16) -> usize {
    replies.iter().filter(|reply| reply.status == status).count()
}

#[test]
fn a_channel_opens_a_limited_number_of_chats() {
    on_stage(async |stage| {
        let account = stage.account().await;
        account.admin.call.put("/admin/settings", &json!({"limits": {"channel_chats": 3}})).await.expect(200);
        let flooded = account.channel("https://app.example/hook").await;
        let other = account.channel("https://app.example/hook").await;
        let bodies: Vec<_> = (0..20).map(|n| visitor_text(&format!("visitor {n}"), "Hi")).collect();
        let replies = join_all(bodies.iter().map(|body| flooded.post(body))).await;
        let opened = refused(&replies, 200);
        // A new window may open in the midst of them.
        assert!((3..=6).contains(&opened), "{replies:?}");
        assert_eq!(refused(&replies, 429), 20 - opened, "{replies:?}");
        let reply = replies.iter().find(|reply| reply.status == 429).unwrap().clone();
        let wait: u64 = reply.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=10).contains(&wait), "{wait}");
        let error = reply.expect_error(429, "rate_limited");
        assert_eq!(error["error"]["message"], "too many new chats on this channel");

        let chats = account.admin.chats("open").await;
        let mut numbers: Vec<_> = chats.iter().map(|chat| number(&chat["chat_id"])).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=opened as u64).collect::<Vec<_>>(), "a refused chat takes no number");
        let talking = bodies.iter().zip(&replies).find(|(_, reply)| reply.status == 200).unwrap().0;
        flooded.post(talking).await.expect(200);
        other.say(VISITOR, "Another channel has its own limit").await;
    });
}

/// What the channel refused, by reason, as its admin sees it.
async fn refusals(talk: &Conversation) -> Vec<(String, u64)> {
    let shown = talk.agent.call.get(&format!("/admin/channels/{}", talk.channel.id)).await.expect(200);
    let one = |entry: &Value| {
        let now = shared::runtime::clock::now().seconds();
        assert!((now - 600..=now).contains(&number(&entry["last_at"])), "{entry}");
        assert_eq!(number(&entry["day"]) % 86_400, 0, "{entry}");
        (entry["reason"].as_str().unwrap().to_owned(), number(&entry["count"]))
    };
    let mut all: Vec<_> = shown["refused"].as_array().unwrap().iter().map(one).collect();
    all.sort();
    all
}

#[test]
fn refused_messages_are_counted_by_reason() {
    on_stage(async |stage| {
        let talk = Conversation::open(stage, "https://app.example/hook", json!({})).await;
        assert_eq!(refusals(&talk).await, []);
        let marker = "words-of-the-caller";
        let photo = json!({"type": "photo", "file": "https://cdn.example/f", "file_name": marker});
        for _ in 0..7 {
            let body = json!({"sender": {"id": VISITOR}, "message": photo});
            talk.channel.post(&body).await.expect_error(400, "invalid_request");
        }
        let kind = json!({"sender": {"id": marker}, "message": {"type": marker, "text": marker}});
        talk.channel.post(&kind).await.expect(400);
        talk.channel.post(&from(json!({"photo": marker}))).await.expect(400);
        for broken in [format!("{{\"{marker}"), format!("[\"{marker}\", x]"), format!("\"{marker}\"")] {
            post_raw(&talk.channel.call, &talk.channel.endpoint, broken.into_bytes()).await.expect(400);
        }
        let large = visitor_text(VISITOR, &marker.repeat(100_000));
        talk.channel.post(&large).await.expect(413);
        // No messages: a wrong address, another method.
        talk.channel.call.post(&talk.channel.endpoint.replace("/channel/", "/channel/x"), &json!({})).await.expect(404);
        talk.channel.call.put(&talk.channel.endpoint, &json!({})).await.expect(405);
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
        assert_eq!(refusals(&talk).await, expected);
        let listed = talk.agent.call.get("/admin/channels").await.expect(200);
        assert!(listed["channels"][0].get("refused").is_none(), "{listed}");
    });
}

/// Waits until a message is answered with this status; a function remembers a channel for ten seconds.
async fn answered_with(channel: &Channel, status: u16) -> Reply {
    wait_for(&format!("an answer with {status}"), seconds(14), async || {
        let reply = channel.post(&visitor_text(VISITOR, "Hello?")).await;
        if reply.status == status { Ok(reply) } else { Err(reply) }
    })
    .await
}

#[test]
fn a_channel_is_switched_off_and_on() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        talk.agent.presence("online").await;
        assert_eq!(talk.channel.status().await.expect(200), 1);
        let off = talk.account.channel_with(&integrator.url(), json!({"enabled": false})).await;
        assert_eq!(off.status().await.expect(200), 0);
        for kind in ["text", "typein"] {
            let body = json!({"sender": {"id": VISITOR}, "message": {"type": kind, "text": "Hello"}});
            off.post(&body).await.expect_error(403, "channel_disabled");
        }
        let shown = talk.agent.call.get(&format!("/admin/channels/{}", off.id)).await.expect(200);
        let refused = &shown["refused"][0];
        assert_eq!((&shown["enabled"], &refused["count"]), (&json!(false), &json!(2)));
        assert_eq!(refused["reason"], "the channel is switched off");

        let switch = async |channel: &Channel, enabled: bool| {
            let path = format!("/admin/channels/{}", channel.id);
            let changed = talk.agent.call.patch(&path, &json!({"enabled": enabled})).await.expect(200);
            assert_eq!(changed["enabled"], enabled);
        };
        switch(&off, true).await;
        switch(&talk.channel, false).await;
        let closed = wait_for("status 0", seconds(14), async || {
            let status = talk.channel.status().await.expect(200);
            if status == 0 { Ok(()) } else { Err(status) }
        });
        futures_util::join!(answered_with(&off, 200), answered_with(&talk.channel, 403), closed);
        // The chat that was open stays, and the agent's answer is delivered.
        assert_eq!(talk.agent.chat(talk.chat).await["state"], "active");
        let seq = talk.write("Here I am").await;
        assert_eq!(talk.verdict(seq).await["state"], "delivered");
        let texts = integrator.requests().iter().map(crate::receiver::Request::text).collect::<Vec<_>>();
        assert_eq!(texts, ["Here I am"]);
    });
}

#[test]
fn integrator_address_takes_the_channel_id_where_it_says() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let base = integrator.url();
        let table = [
            (base.clone(), true, "/hook/ID"),
            (base.clone(), false, "/hook"),
            (format!("{base}/?key=1"), true, "/hook/ID?key=1"),
            (format!("{base}/in?key=1"), false, "/hook/in?key=1"),
            (format!("{base}/{{channel_id}}/in?channel={{channel_id}}"), true, "/hook/ID/in?channel=ID"),
            (format!("{base}/{{channel_id}}"), false, "/hook/ID"),
        ];
        for (sent, (url, append, expected)) in table.into_iter().enumerate() {
            let talk = Conversation::open(stage, &url, json!({"append_channel_id": append})).await;
            let path = format!("/admin/channels/{}", talk.channel.id);
            let shown = talk.agent.call.get(&path).await.expect(200);
            assert_eq!((&shown["integrator_url"], &shown["append_channel_id"]), (&json!(url), &json!(append)));
            talk.write("Hello").await;
            let request = integrator.received(sent + 1, PATIENCE).await.pop().unwrap();
            assert_eq!(request.path, expected.replace("ID", &talk.channel.id));
            let wrong = [
                ("http://10.0.0.1/{channel_id}", "integrator_url"),
                ("http://{channel_id}@app.example/", "integrator_url"),
                ("http://app.example:{channel_id}/", "integrator_url"),
                ("{channel_id}://app.example/", "integrator_url"),
                ("{channel_id}", "integrator_url"),
            ];
            for (url, field) in wrong {
                let reply = talk.agent.call.patch(&path, &json!({"integrator_url": url})).await;
                assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], field, "{url}");
            }
            let host = json!({"integrator_url": "https://{channel_id}.app.example/"});
            talk.agent.call.patch(&path, &host).await.expect(200);
        }
    });
}

#[test]
fn an_invitation_belongs_to_the_chat_it_came_with() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        let say = async |sender: Value| {
            hooked.channel.post(&from(sender)).await.expect(200);
        };
        let invite = async |chat: u64| hooked.agent.chat(chat).await["visitor"]["invite"].clone();
        say(json!({"invite": "Can I help?"})).await;
        say(json!({})).await;
        say(json!({"invite": "Can I help?"})).await;
        assert_eq!(invite(1).await, "Can I help?");
        hooked.agent.accept(1).await;
        hooked.agent.close(1).await;

        say(json!({})).await;
        assert_eq!(invite(2).await, Value::Null, "the chat before had one");
        hooked.agent.accept(2).await;
        hooked.agent.close(2).await;

        say(json!({})).await;
        say(json!({"invite": "Still there?"})).await;
        assert_eq!((invite(3).await, invite(1).await), (json!("Still there?"), json!("Can I help?")));
        hooked.agent.accept(3).await;
        hooked.agent.close(3).await;
        let finished = wait_for("three ended chats", PATIENCE, async || {
            let requests = hooked.crm.requests();
            let bodies = requests.iter().map(crate::receiver::Request::json);
            let mut ended: Vec<_> = bodies.filter(|body| body["event_name"] == "chat_finished").collect();
            ended.sort_by_key(|body| number(&body["chat_id"]));
            if ended.len() == 3 { Ok(ended) } else { Err(ended) }
        })
        .await;
        let invitations: Vec<_> = finished.iter().map(|body| body["chat"]["invitation"].clone()).collect();
        assert_eq!(invitations, [json!("Can I help?"), Value::Null, json!("Still there?")]);
    });
}

#[test]
fn a_page_that_is_no_link_is_passed_on_as_none() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let crm = Receiver::start(fine()).await;
        add(&front.account, &crm, json!({})).await;
        front.channel.post(&from(json!({"url": "app://cart/7"}))).await.expect(200);
        let event = front.notifications("CLIENT_MESSAGE").await;
        assert_eq!(event["sender"]["url"], Value::Null);
        let chat = chat_of(&event);
        let shown = front.agent.chat(chat).await["visitor"].clone();
        assert_eq!((&shown["url"], &shown["url_text"]), (&Value::Null, &json!("app://cart/7")));
        front.agent.accept(chat).await;
        assert_eq!(notifications(&crm, "chat_accepted").await["page"], json!({"url": ""}));
        let page = "https://shop.example/cart";
        front.channel.post(&from(json!({"url": page}))).await.expect(200);
        let shown = front.agent.chat(chat).await["visitor"].clone();
        assert_eq!((&shown["url"], &shown["url_text"]), (&json!(page), &Value::Null));
    });
}

#[test]
fn blank_optional_fields_count_as_absent() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        let known = json!({
            "name": "Ada", "phone": "+31 6 1", "email": "ada@example.com", "photo": "https://cdn.example/ada.png",
            "url": "https://shop.example/", "invite": "Can I help?",
        });
        front.channel.post(&from(known.clone())).await.expect(200);
        let before = front.agent.chat(1).await["visitor"].clone();
        assert_eq!(merged(before.clone(), known.clone()), before);
        for blank in ["", "  ", "\t\n"] {
            let fields: Value = known.as_object().unwrap().keys().map(|name| (name.clone(), json!(blank))).collect();
            front.channel.post(&from(fields)).await.expect(200);
            let contacts = json!({"name": blank, "phone": blank, "email": blank});
            let info = |contacts: Value| json!({"event": "CLIENT_INFO", "chat_id": 1, "contacts": contacts});
            front.bot.post(&info(contacts.clone())).await.expect_error(400, "invalid_request");
            front.bot.post(&info(merged(contacts, json!({"phone": "+31 6 1"})))).await.expect(200);
            let markdown = json!({"type": "MARKDOWN", "content": "**Hi**", "text": blank});
            front.bot.message(&json!(1), markdown).await.expect(200);
        }
        assert_eq!(front.agent.chat(1).await["visitor"], before);
        let rich = front.agent.messages(1).await;
        let rich: Vec<_> = rich.iter().filter(|entry| entry["type"] == "markdown").collect();
        assert!(rich.len() == 3 && rich.iter().all(|entry| entry["text"].is_null()), "{rich:#?}");
        assert!(front.integrator.requests().is_empty(), "a blank text is no fallback");
        // A person who corrects a visitor may take away what is known.
        let cleared = front.agent.call.patch("/agent/visitors/1", &json!({"phone": ""})).await.expect(200);
        assert_eq!(cleared["phone"], "");
    });
}
