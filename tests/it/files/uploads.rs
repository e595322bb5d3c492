//! Tests of files that agents, visitors and bots upload.

use reqwest::StatusCode;
use reqwest::redirect::Policy;
use serde_json::{Value, json};

use crate::support::bot_fixture::BotFixture;
use crate::support::test_host::{
    ActiveChat, VISITOR_ID, open_accepted_chat, run_on_shared_host, run_with_virtual_time,
};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::upload::{TestFile, open, png, send_form, send_form_with};

#[test]
fn agents_file_reaches_the_integrator_as_a_link() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let chat = ActiveChat::create(host, &integrator.url(), json!({})).await;
        let file = TestFile::png();
        let file_id = chat.agent.upload(1, &file).await;
        assert_eq!(host.objects("pending", &chat.account.id).len(), 1);
        let message = json!({"type": "photo", "file_id": file_id, "text": "The way to us"});
        let seq = chat.agent.send_message(1, &message).await;
        assert!(host.objects("pending", &chat.account.id).is_empty(), "the message has taken the file over");
        let entry = chat.agent.timeline_entry(1, seq).await;
        assert_eq!(entry["file_name"], "map.png");
        assert_eq!(
            (&entry["file_size"], &entry["width"], &entry["height"]),
            (&json!(file.content.len()), &json!(3), &json!(2))
        );
        let served = open(entry["file"].as_str().unwrap()).await;
        assert_eq!((served.status, served.content), (StatusCode::OK, file.content));
        assert_eq!((&*served.media_type, &*served.disposition), ("image/png", "inline; filename*=UTF-8''map.png"));
        chat.final_delivery(seq).await;
        let sent = integrator.requests().into_iter().find_map(|request| {
            let message = request.json()["message"].clone();
            (message["type"] == "photo").then_some(message)
        });
        assert_eq!(sent.unwrap()["file"], entry["file"]);
    });
}

#[test]
fn visitors_file_is_shown_to_the_agent() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let visitor = account.create_widget(json!({})).await.visitor().await;
        let file = TestFile::new("bill.pdf", "application/pdf", "%PDF-1.7\n...");
        let thumb = png(320, 200);
        let request = json!({
            "file_name": file.name, "type": file.media_type, "file_size": file.content.len(),
            "thumb": {"type": "image/png", "file_size": thumb.len()},
        });
        let upload = visitor.call("upload", request).await.expect(201);
        assert_eq!(send_form(&upload["file"], &file.content).await, StatusCode::NO_CONTENT);
        assert_eq!(send_form(&upload["thumb"], &thumb).await, StatusCode::NO_CONTENT);
        let message = json!({
            "type": "document", "file_id": upload["file"]["file_id"], "thumb_id": upload["thumb"]["file_id"],
        });
        let video = json!({"type": "video", "file_id": upload["file"]["file_id"]});
        visitor.call("message", json!({"message_id": "0", "message": video})).await.expect(400);
        let stored = visitor.call("message", json!({"message_id": "1", "message": message})).await.expect(200);
        assert_eq!(stored["message"]["file_name"], "bill.pdf");
        let entry = account.admin.timeline(1).await.remove(0);
        let served = open(entry["file"].as_str().unwrap()).await;
        assert_eq!(served.content, file.content);
        assert_eq!(served.media_type, "application/octet-stream");
        assert_eq!(served.disposition, "attachment; filename*=UTF-8''bill.pdf");
        assert_eq!(open(entry["thumb"].as_str().unwrap()).await.content, thumb);
        // A repeated request finds the file among those that were sent.
        let repeated = visitor.call("message", json!({"message_id": "1", "message": message})).await.expect(200);
        assert_eq!(repeated["message"]["seq"], stored["message"]["seq"]);
        assert_eq!(host.objects("files", &account.id).len(), 2);
    });
}

#[test]
fn bots_file_is_shown_to_the_visitor() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let chat_id = fixture.send_visitor_text(VISITOR_ID, "Where are you?").await["chat_id"].clone();
        let file = TestFile::png();
        let file_id = fixture.bot.upload(1, &file).await;
        let video = json!({"type": "VIDEO", "file_id": file_id});
        fixture.bot.send_message(&chat_id, video).await.expect(400);
        let message = json!({"type": "PHOTO", "file_id": file_id});
        fixture.bot.send_message(&chat_id, message).await.expect(200);
        let entries = fixture.agent.timeline(1).await;
        let entry = entries.iter().find(|entry| entry["type"] == "photo").unwrap();
        assert_eq!(open(entry["file"].as_str().unwrap()).await.content, file.content);
        let other_chat = format!("{}/chats/999/uploads", fixture.bot.webhook_path());
        fixture.bot.client.post(&other_chat, &file.request()).await.expect(404);
    });
}

#[test]
fn forms_count_towards_the_limit_of_the_bot() {
    run_with_virtual_time(async |host, _| {
        let fixture = BotFixture::create(host).await;
        let limit = json!({"limits": {"bot_requests": 12}});
        fixture.account.admin.client.put("/admin/settings", &limit).await.expect(200);
        fixture.send_visitor_text(VISITOR_ID, "One").await;
        let path = format!("{}/chats/1/uploads", fixture.bot.webhook_path());
        let mut statuses = Vec::new();
        for _ in 0..25 {
            statuses.push(fixture.bot.client.post(&path, &TestFile::png().request()).await.status);
        }
        assert!(statuses.contains(&201) && statuses.contains(&429), "{statuses:?}");
    });
}

#[test]
fn form_accepts_only_the_declared_file() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let file = TestFile::png();
        let upload = chat.agent.client.post("/agent/chats/1/uploads", &file.request()).await.expect(201);
        let target = &upload["file"];
        let larger = [file.content.as_slice(), b"!"].concat();
        assert_eq!(send_form(target, &larger).await, StatusCode::BAD_REQUEST);
        assert_eq!(send_form(target, &file.content[1..]).await, StatusCode::BAD_REQUEST);
        for (field, value) in [
            ("key", "files/acc/other"),
            ("Content-Type", "text/html"),
            ("Content-Disposition", "inline"),
            ("x-amz-meta-name", "other.html"),
            ("policy", "e30="),
        ] {
            let changed = send_form_with(target, &file.content, |fields| {
                fields.insert(field.to_owned(), json!(value));
            });
            assert_eq!(changed.await, StatusCode::FORBIDDEN, "{field}");
        }
        assert!(host.objects("pending", &chat.account.id).is_empty());
        assert_eq!(send_form(target, &file.content).await, StatusCode::NO_CONTENT);
    });
}

#[test]
fn form_of_a_sent_file_cannot_replace_it() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let file = TestFile::png();
        let upload = chat.agent.client.post("/agent/chats/1/uploads", &file.request()).await.expect(201);
        let target = &upload["file"];
        assert_eq!(send_form(target, &file.content).await, StatusCode::NO_CONTENT);
        let message = json!({"type": "photo", "file_id": target["file_id"]});
        let seq = chat.agent.send_message(1, &message).await;
        let mut other = file.content.clone();
        *other.last_mut().unwrap() ^= 1;
        assert_eq!(send_form(target, &other).await, StatusCode::NO_CONTENT);
        let again = chat.agent.send_message(1, &message).await;
        let video = json!({"type": "video", "file_id": target["file_id"]});
        chat.agent.client.post("/agent/chats/1/messages", &video).await.expect(400);
        for seq in [seq, again] {
            let link = chat.agent.timeline_entry(1, seq).await["file"].clone();
            assert_eq!(open(link.as_str().unwrap()).await.content, file.content, "{seq}");
        }
    });
}

#[test]
fn message_names_only_files_of_its_sender() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let file_id = chat.agent.upload(1, &TestFile::png()).await;
        let send = async |message: Value| chat.agent.client.post("/agent/chats/1/messages", &message).await;
        let field = |error: Value| error["error"]["field"].clone();
        let message = json!({"type": "photo", "file_id": file_id});
        let other_chat = open_accepted_chat(&chat.agent, &chat.channel, "visitor-2").await;
        let path = format!("/agent/chats/{other_chat}/messages");
        assert_eq!(field(chat.agent.client.post(&path, &message).await.expect(400)), "file_id");
        for (message, expected) in [
            (json!({"type": "video", "file_id": file_id}), "type"),
            (json!({"type": "location", "file_id": file_id}), "type"),
            (json!({"type": "photo", "file_id": "../x"}), "file_id"),
            (json!({"type": "photo", "file_id": file_id, "file": "https://a.example/"}), "file"),
            (json!({"type": "photo", "file_id": file_id, "thumb_id": "x"}), "thumb_id"),
        ] {
            assert_eq!(field(send(message.clone()).await.expect(400)), expected, "{message}");
        }
        assert!(host.objects("files", &chat.account.id).is_empty(), "a rejected message takes nothing over");
        send(message).await.expect(201);
    });
}

#[test]
fn account_decides_which_files_it_accepts() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let request = async |body: Value| chat.agent.client.post("/agent/chats/1/uploads", &body).await;
        let body = json!({"file_name": "a.txt", "type": "text/plain", "file_size": 20 * 1024 * 1024});
        request(body.clone()).await.expect(201);
        let field = |error: Value| error["error"]["field"].clone();
        let with = |name: &str, value: Value| {
            let mut changed = body.clone();
            changed[name] = value;
            changed
        };
        for (name, value) in [
            ("file_size", json!(20 * 1024 * 1024 + 1)),
            ("file_size", json!(0)),
            ("type", json!("text/html")),
            ("type", json!("application/octet-stream")),
            ("file_name", json!("")),
        ] {
            assert_eq!(field(request(with(name, value)).await.expect(400)), name);
        }
        let thumb = with("thumb", json!({"type": "text/plain", "file_size": 1}));
        assert_eq!(field(request(thumb).await.expect(400)), "thumb.type");
        let settings = json!({"files": {"max_size_bytes": 10, "types": ["image/png"]}});
        let stored = chat.account.admin.client.put("/admin/settings", &settings).await.expect(200);
        let expected = json!({"enabled": true, "max_size_bytes": 10, "types": ["image/png"], "link_days": 30});
        assert_eq!(stored["files"], expected);
    });
}

#[test]
fn link_opens_nothing_else() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let file_id = chat.agent.upload(1, &TestFile::png()).await;
        let seq = chat.agent.send_message(1, &json!({"type": "photo", "file_id": file_id})).await;
        let link = chat.agent.timeline_entry(1, seq).await["file"].as_str().unwrap().to_owned();
        let client = reqwest::Client::builder().redirect(Policy::none()).build().unwrap();
        let response = client.get(&link).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::FOUND);
        let location = response.headers()["location"].to_str().unwrap().to_owned();
        assert!(location.starts_with(host.local.s3_url()), "another origin: {location}");
        assert_eq!(response.headers()["referrer-policy"], "no-referrer");
        let signature = link.rsplit('/').next().unwrap();
        let wrong_signature = link.replace(signature, &signature.chars().rev().collect::<String>());
        for wrong in [wrong_signature, link.replace(&file_id, "another-file"), format!("{link}x")] {
            assert_eq!(client.get(&wrong).send().await.unwrap().status(), StatusCode::NOT_FOUND, "{wrong}");
        }
        let unsigned = location.split('?').next().unwrap();
        assert_eq!(client.get(unsigned).send().await.unwrap().status(), StatusCode::FORBIDDEN);
        let changed = location.replace("X-Amz-Expires=3600", "X-Amz-Expires=99999");
        assert_eq!(client.get(&changed).send().await.unwrap().status(), StatusCode::FORBIDDEN);
        let part = client.get(&location).header("range", "bytes=1-3").send().await.unwrap();
        assert_eq!(part.status(), StatusCode::PARTIAL_CONTENT);
        assert_eq!(part.bytes().await.unwrap(), "PNG");
    });
}
