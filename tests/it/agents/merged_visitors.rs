//! Tests for visitors whom agents merge because they are the same person.

use serde_json::{Value, json};

use crate::support::api_client::{ApiResponse, TestAccount, TestAgent, TestChannel, chat_numbers};
use crate::support::test_host::{TestHost, run_on_shared_host, visitor_text};

impl TestAgent {
    async fn change_visitor(&self, visitor: u64, changes: &Value) -> ApiResponse {
        self.client.patch(&format!("/agent/visitors/{visitor}"), changes).await
    }

    async fn merge(&self, visitor: u64, other: u64) -> Value {
        self.change_visitor(visitor, &json!({"merge_with": other})).await.expect(200)
    }

    /// Returns the numbers of a visitor's chats from all pages.
    async fn chats_of(&self, visitor: u64) -> Vec<u64> {
        let (mut found, mut query) = (Vec::new(), String::new());
        loop {
            let page = self.client.get(&format!("/agent/visitors/{visitor}/chats{query}")).await.expect(200);
            found.extend(chat_numbers(&page));
            let Some(next) = page["next"].as_str() else { return found };
            query = format!("?cursor={next}");
        }
    }
}

/// Creates an account and a channel in which each visitor has written a message, with the profile given.
async fn account_with_visitors(host: &TestHost, visitors: &[(&str, Value)]) -> (TestAccount, TestChannel) {
    let account = host.create_account().await;
    let channel = account.create_channel("https://app.example/hook").await;
    for (id, profile) in visitors {
        let mut body = visitor_text(id, "Hello");
        body["sender"].as_object_mut().unwrap().extend(profile.as_object().unwrap().clone());
        channel.post(&body).await.expect(200);
    }
    (account, channel)
}

#[test]
fn agents_see_one_profile_and_one_list_of_chats() {
    run_on_shared_host(async |host| {
        let ada = json!({"name": "Ada", "email": "ada@shop.example"});
        let phone = json!({"name": "Ada L.", "phone": "+44 20 7946"});
        let (account, channel) = account_with_visitors(host, &[("ada", ada), ("app-7", phone)]).await;
        let admin = &account.admin;
        let before = admin.client.get("/agent/visitors/2").await.expect(200);
        assert_eq!(admin.merge(1, 2).await["merged_with"], json!([2]));
        for (number, other, name) in [(1, 2, "Ada"), (2, 1, "Ada L.")] {
            let shown = admin.client.get(&format!("/agent/visitors/{number}")).await.expect(200);
            assert_eq!((&shown["merged_with"], &shown["last_chat_id"]), (&json!([other]), &json!(number)));
            for visitor in [&shown, &admin.chat(number).await["visitor"]] {
                let values = (&visitor["name"], &visitor["email"], &visitor["phone"]);
                assert_eq!(values, (&json!(name), &json!("ada@shop.example"), &json!("+44 20 7946")), "{visitor}");
                assert_eq!(visitor["sources"]["email"], "integrator");
            }
        }
        channel.send_text("someone else", "Hello").await;
        for visitor in [1, 2] {
            assert_eq!(admin.chats_of(visitor).await, [2, 1]);
        }
        assert_eq!(admin.chats_of(3).await, [3]);
        admin.change_visitor(1, &json!({"name": "Ada Lovelace"})).await.expect(200);
        admin.change_visitor(1, &json!({"separate": true})).await.expect(200);
        assert_eq!(admin.client.get("/agent/visitors/2").await.expect(200), before, "nothing was copied");
    });
}

#[test]
fn blacklist_applies_to_all_merged_visitors() {
    run_on_shared_host(async |host| {
        let (account, channel) = account_with_visitors(host, &[("a", json!({})), ("b", json!({}))]).await;
        let admin = &account.admin;
        admin.merge(1, 2).await;
        admin.change_visitor(2, &json!({"blacklisted": true})).await.expect(200);
        assert_eq!(admin.chat(1).await["visitor"]["blacklisted"], true);
        let before = admin.timeline(1).await;
        channel.send_text("a", "Buy now").await;
        assert_eq!(admin.timeline(1).await, before);
        admin.change_visitor(1, &json!({"blacklisted": false})).await.expect(200);
        channel.send_text("b", "Sorry").await;
        assert_eq!(admin.chat(2).await["visitor"]["blacklisted"], false);
        assert_eq!(admin.timeline(2).await.last().unwrap()["text"], "Sorry");
        let entries = admin.client.get("/admin/audit").await.expect(200)["entries"].clone();
        let blacklisted = entries.as_array().unwrap().iter().filter(|entry| entry["action"] == "blacklisted");
        assert_eq!(blacklisted.count(), 2, "one entry for each visitor");
    });
}

#[test]
fn chats_of_merged_visitors_are_paged_newest_first() {
    run_on_shared_host(async |host| {
        let (account, channel) = account_with_visitors(host, &[("rare", json!({}))]).await;
        let admin = &account.admin;
        admin.accept(1).await;
        admin.close(1).await;
        // Chats 2 to 26 belong to the frequent visitor, except for the 14th.
        for chat in 2..=26 {
            channel.send_text(if chat == 14 { "rare" } else { "frequent" }, "Hello").await;
            admin.accept(chat).await;
            admin.close(chat).await;
        }
        admin.merge(1, 2).await;
        let all: Vec<u64> = (1..=26).rev().collect();
        for visitor in [1, 2] {
            assert_eq!(admin.chats_of(visitor).await, all, "visitor {visitor}");
        }
        admin.change_visitor(1, &json!({"separate": true})).await.expect(200);
        assert_eq!(admin.chats_of(1).await, [14, 1]);
        let other = "/agent/visitors/1/chats?cursor=26";
        assert_eq!(admin.client.get(other).await.expect_error(400, "invalid_request")["error"]["field"], "cursor");
    });
}

#[test]
fn concurrent_merges_make_one_person() {
    run_on_shared_host(async |host| {
        let visitors = ["a", "b", "c", "d"].map(|id| (id, json!({})));
        let (account, _) = account_with_visitors(host, &visitors).await;
        let admin = &account.admin;
        tokio::join!(admin.merge(1, 2), admin.merge(1, 3), admin.merge(4, 3));
        for chat in 1..=4 {
            let others: Vec<u64> = (1..=4).filter(|number| *number != chat).collect();
            assert_eq!(admin.chat(chat).await["visitor"]["merged_with"], json!(others));
        }
        let entries = async || admin.client.get("/admin/audit").await.expect(200)["entries"].clone();
        let before = entries().await;
        assert_eq!(admin.merge(1, 3).await["merged_with"], json!([2, 3, 4]));
        assert_eq!(entries().await, before, "a repeated merge changes nothing");
        let separated = admin.change_visitor(2, &json!({"separate": true})).await.expect(200);
        assert_eq!(separated["merged_with"], Value::Null);
        assert_eq!(admin.chat(1).await["visitor"]["merged_with"], json!([3, 4]));
    });
}

#[test]
fn person_has_at_most_ten_visitors() {
    run_on_shared_host(async |host| {
        let ids: Vec<String> = (1..=11).map(|id| format!("v{id}")).collect();
        let visitors: Vec<(&str, Value)> = ids.iter().map(|id| (id.as_str(), json!({}))).collect();
        let (account, _) = account_with_visitors(host, &visitors).await;
        for other in 2..=10 {
            account.admin.merge(1, other).await;
        }
        account.admin.change_visitor(11, &json!({"merge_with": 5})).await.expect_error(409, "conflict");
        assert_eq!(account.admin.chat(11).await["visitor"]["merged_with"], Value::Null);
    });
}

#[test]
fn merge_requires_two_visible_visitors() {
    run_on_shared_host(async |host| {
        let (account, _) = account_with_visitors(host, &[("a", json!({})), ("b", json!({}))]).await;
        let (ann, ben) = (account.create_agent("Ann").await, account.create_agent("Ben").await);
        let hidden = account.create_channel_with("https://app.example/hook", json!({"agent_ids": [ben.id]})).await;
        hidden.send_text("c", "For Ben").await;
        for (changes, field) in [
            (json!({"merge_with": 1}), "merge_with"),
            (json!({"merge_with": 99}), "merge_with"),
            (json!({"merge_with": "2"}), "merge_with"),
            (json!({"merge_with": 2, "separate": true}), "separate"),
        ] {
            let error = ann.change_visitor(1, &changes).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], field, "{changes}");
        }
        ann.change_visitor(1, &json!({"merge_with": 3})).await.expect_error(403, "forbidden");
        ann.change_visitor(3, &json!({"merge_with": 1})).await.expect_error(403, "forbidden");
        assert_eq!(account.admin.chat(3).await["visitor"]["merged_with"], Value::Null);
        account.admin.change_visitor(3, &json!({"email": "c@d.example"})).await.expect(200);
        account.admin.merge(1, 3).await;
        assert_eq!(ann.chats_of(1).await, [1], "a merge shows no hidden chat");
        let seen_by_ann = ann.client.get("/agent/visitors/1").await.expect(200);
        assert_eq!((&seen_by_ann["merged_with"], &seen_by_ann["email"]), (&Value::Null, &Value::Null));
        ann.client.get("/agent/visitors/3").await.expect_error(403, "forbidden");
        ann.client.get("/agent/visitors/99").await.expect_error(404, "not_found");
        let actions = account.admin.client.get("/admin/audit").await.expect(200);
        let merged = actions["entries"].as_array().unwrap().iter().filter(|entry| entry["action"] == "merged");
        let mut visitors: Vec<&Value> = merged.map(|entry| &entry["resource_id"]).collect();
        visitors.sort_by_key(|id| id.as_str());
        assert_eq!(visitors, [&json!("1"), &json!("3")]);
    });
}

#[test]
fn browser_gets_nothing_of_a_merged_visitor() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let widget = account.create_widget(json!({})).await;
        let (phone, laptop) = (widget.visitor().await, widget.visitor().await);
        phone.say("From my phone").await;
        laptop.say("From my laptop").await;
        account.admin.change_visitor(1, &json!({"name": "Ada", "email": "ada@shop.example"})).await.expect(200);
        let before = laptop.session().await;
        account.admin.merge(1, 2).await;
        assert_eq!(account.admin.chats_of(1).await, [2, 1]);
        assert_eq!(account.admin.chat(2).await["visitor"]["email"], "ada@shop.example", "agents see it");
        let after = laptop.session().await;
        assert_eq!((&after["visitor"], &after["messages"]), (&before["visitor"], &before["messages"]));
        let earlier = laptop.call("history", json!({"before": {"chat_id": 1, "seq": 9}})).await.expect(200);
        assert_eq!(earlier["messages"], json!([]));
    });
}

#[test]
fn search_finds_the_chats_of_merged_visitors() {
    run_on_shared_host(async |host| {
        let ada = json!({"email": "ada@shop.example"});
        let (account, _) = account_with_visitors(host, &[("a", ada), ("b", json!({})), ("c", json!({}))]).await;
        account.admin.merge(2, 1).await;
        let page = account.admin.client.get("/agent/search?q=ada@shop.example").await.expect(200);
        let mut found = chat_numbers(&page);
        found.sort_unstable();
        assert_eq!(found, [1, 2]);
    });
}

#[test]
fn erasure_of_one_leaves_the_merged_visitor() {
    run_on_shared_host(async |host| {
        let (account, channel) = account_with_visitors(host, &[("a", json!({})), ("b", json!({}))]).await;
        let client = &account.admin.client;
        account.admin.merge(1, 2).await;
        let shown = client.get("/admin/visitors/2").await.expect(200);
        assert_eq!((&shown["chats_count"], &shown["visitor"]["merged_with"]), (&json!(1), &json!([1])));
        let found = client.get(&format!("/admin/visitors?channel_id={}&external_id=b", channel.id)).await.expect(200);
        assert_eq!(found, shown);
        let erased = client.delete("/admin/visitors/2").await.expect(200);
        assert_eq!((&erased["removed"]["chats"], &erased["complete"]), (&json!(1), &json!(true)));
        let left = client.get("/agent/visitors/1").await.expect(200);
        assert_eq!((&left["number"], &left["merged_with"]), (&json!(1), &Value::Null));
        assert_eq!(account.admin.chats_of(1).await, [1]);
    });
}
