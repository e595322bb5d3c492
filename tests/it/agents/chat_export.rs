//! Tests of the export of chats as JSON and CSV.

use serde_json::{Value, json};

use crate::support::api_client::{TestAgent, number};
use crate::support::test_host::{VISITOR_ID, open_accepted_chat, run_on_shared_host};
use crate::support::test_receiver::{CannedResponse, TestReceiver};

const PAGE_ENTRIES: usize = 500;

/// Returns the chats of all pages. A chat that continues on another page appears once.
async fn export(admin: &TestAgent, query: &str) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = admin.client.get(&format!("/admin/chats/export?{query}{cursor}")).await.expect(200);
        for chat in page["chats"].as_array().unwrap() {
            match all.last_mut().filter(|last| last["chat_id"] == chat["chat_id"]) {
                Some(last) => {
                    let more = chat["messages"].as_array().unwrap().clone();
                    last["messages"].as_array_mut().unwrap().extend(more);
                }
                None => all.push(chat.clone()),
            }
        }
        let Some(next) = page["next"].as_str() else { return all };
        cursor = format!("&cursor={next}");
    }
}

fn ids(chats: &[Value]) -> Vec<u64> {
    chats.iter().map(|chat| number(&chat["chat_id"])).collect()
}

#[test]
fn chat_and_range_are_exported_with_their_timelines() {
    run_on_shared_host(async |host| {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let (account, other) = (host.create_account().await, host.create_account().await);
        let admin = &account.admin;
        let (channel, second) =
            (account.create_channel(&integrator.url()).await, account.create_channel(&integrator.url()).await);
        for visitor in ["one", "two"] {
            let chat = open_accepted_chat(admin, &channel, visitor).await;
            let seq = admin.send_text(chat, "=HYPERLINK(\"https://evil.example\")").await;
            admin.final_delivery(chat, seq).await;
            admin.close(chat).await;
        }
        let third = open_accepted_chat(admin, &second, "three").await;
        admin.close(third).await;
        let open = open_accepted_chat(admin, &channel, VISITOR_ID).await;

        let all = export(admin, "").await;
        assert_eq!(ids(&all), [1, 2, 3]);
        assert_eq!(all[0]["messages"].as_array().unwrap(), &admin.timeline(1).await);
        assert_eq!(all[0]["visitor"]["external_id"], "one");
        assert_eq!((&all[0]["visitor"]["id"], &all[0]["agent"]["name"]), (&json!("one"), &json!("Grace")));
        assert_eq!(ids(&export(admin, &format!("channel_id={}", second.id)).await), [3]);
        assert_eq!(ids(&export(admin, &format!("chat_id={open}")).await), [open]);
        let closed_at = number(&all[1]["updated_at"]);
        assert!(ids(&export(admin, &format!("from={closed_at}&to={closed_at}")).await).contains(&2));
        assert!(export(admin, "to=1000").await.is_empty());
        assert!(export(&other.admin, "").await.is_empty());

        let csv = admin.client.get("/admin/chats/export.csv?chat_id=1").await;
        assert_eq!(csv.headers["content-type"], "text/csv; charset=utf-8");
        assert_eq!(csv.headers["content-disposition"], "attachment; filename=\"chats.csv\"");
        assert!(csv.headers.get("x-next-cursor").is_none());
        let lines: Vec<&str> = csv.text.lines().collect();
        assert_eq!(lines.len(), 1 + all[0]["messages"].as_array().unwrap().len());
        assert!(lines[0].starts_with("\u{feff}\"chat_id\",\"channel_id\","), "{}", lines[0]);
        assert!(lines[2].contains(",\"agent\",\"Grace\",\"text\",\"'=HYPERLINK(\"\"https://evil.example\"\")\","));

        for (field, query) in [
            ("chat_id", "chat_id=1&from=5"),
            ("cursor", "cursor=x"),
            ("cursor", "chat_id=1&cursor=0-2-1"),
            ("from", "from=x"),
        ] {
            let refused = admin.client.get(&format!("/admin/chats/export?{query}")).await;
            assert_eq!(refused.expect_error(400, "invalid_request")["error"]["field"], field, "{query}");
        }
        admin.client.get("/admin/chats/export?chat_id=99").await.expect_error(404, "not_found");
        other.admin.client.get("/admin/chats/export.csv?chat_id=1").await.expect_error(404, "not_found");
        let agent = account.create_agent("Bob").await;
        agent.client.get("/admin/chats/export").await.expect_error(403, "forbidden");
    });
}

#[test]
fn long_chat_continues_on_the_next_page() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let admin = &account.admin;
        let channel = account.create_channel("https://app.example/hook").await;
        for visitor in ["one", "two"] {
            let chat = open_accepted_chat(admin, &channel, visitor).await;
            for _ in 0..PAGE_ENTRIES / 2 {
                admin.client.post(&format!("/agent/chats/{chat}/notes"), &json!({"text": "x"})).await.expect(201);
            }
            admin.close(chat).await;
        }
        let all = export(admin, "").await;
        assert_eq!(ids(&all), [1, 2]);
        for chat in all {
            let timeline = admin.timeline(number(&chat["chat_id"])).await;
            assert_eq!(chat["messages"].as_array().unwrap(), &timeline);
        }
        let first = admin.client.get("/admin/chats/export.csv").await;
        let cursor = first.headers["x-next-cursor"].to_str().unwrap();
        let rest = admin.client.get(&format!("/admin/chats/export.csv?cursor={cursor}")).await;
        assert!(rest.headers.get("x-next-cursor").is_none());
        let lines = |text: &str| text.lines().count();
        assert_eq!((lines(&first.text), lines(&rest.text)), (PAGE_ENTRIES + 1, 2));
    });
}
