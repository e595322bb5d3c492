//! Tests of webhooks without an address, whose events a program fetches.

use futures_util::future::join;
use serde_json::{Value, json};

use crate::support::account_with_webhook::{WEBHOOKS_PATH, add_webhook, ok_response_with};
use crate::support::api_client::{TestAccount, TestAgent, TestChannel, merged};
use crate::support::event_feed::{EventFeed, fields, requests};
use crate::support::test_host::{TestHost, VISITOR_ID, open_accepted_chat, run_on_shared_host, run_with_virtual_time};
use crate::support::test_receiver::TestReceiver;
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};
use crate::webhooks::webhook_signatures::{is_signed_with_key, public_keys};

/// An account with one webhook, whose events a program fetches.
struct Fixture {
    account: TestAccount,
    agent: TestAgent,
    channel: TestChannel,
    /// The admin API's response to the creation of the webhook.
    webhook: Value,
    feed: EventFeed,
}

impl Fixture {
    async fn create(host: &TestHost, settings: Value) -> Self {
        let account = host.create_account().await;
        let (agent, channel) = (account.create_agent("Ann").await, account.create_channel("https://app.example").await);
        let webhook = add_fetched_webhook(&account, settings).await;
        let feed = EventFeed::of_webhook(&channel.client, &webhook);
        Self { account, agent, channel, webhook, feed }
    }

    async fn open_accepted_chat(&self) -> u64 {
        open_accepted_chat(&self.agent, &self.channel, VISITOR_ID).await
    }

    /// Returns the delivery of the newest entry of this type.
    async fn delivery(&self, chat: u64, event: &str) -> Value {
        let timeline = self.agent.timeline(chat).await;
        let entry = timeline.iter().rfind(|entry| entry["type"] == event);
        entry.unwrap_or_else(|| panic!("no {event}: {timeline:?}"))["webhook_delivery"].clone()
    }

    async fn state(&self, chat: u64, event: &str) -> Value {
        self.delivery(chat, event).await["state"].clone()
    }

    fn path(&self, suffix: &str) -> String {
        format!("{WEBHOOKS_PATH}/{}{suffix}", self.webhook["webhook_id"].as_str().unwrap())
    }

    fn secret(&self) -> &str {
        self.webhook["signing_secret"].as_str().unwrap()
    }
}

async fn add_fetched_webhook(account: &TestAccount, settings: Value) -> Value {
    account.admin.client.post(WEBHOOKS_PATH, &merged(json!({"target": "pull"}), settings)).await.expect(201)
}

fn names(page: &Value) -> Vec<String> {
    fields(page, "/event_name")
}

#[test]
fn events_are_fetched_in_order_and_acknowledged() {
    run_on_shared_host(async |host| {
        let fixture = Fixture::create(host, json!({})).await;
        let chat = fixture.open_accepted_chat().await;
        fixture.agent.client.patch("/agent/visitors/1", &json!({"name": "Ada"})).await.expect(200);
        fixture.agent.close(chat).await;
        let page = fixture.feed.fetch_all(3).await;
        assert_eq!(names(&page), ["chat_accepted", "chat_updated", "chat_finished"]);
        assert_eq!(requests(&page)[2].json()["chat_id"], chat);
        assert!(requests(&page).iter().all(|request| request.is_signed_with(fixture.secret())), "{page}");
        let waiting = fixture.delivery(chat, "chat_accepted").await;
        assert_eq!((&waiting["state"], waiting["fetch_until"].is_u64()), (&json!("pending"), true), "{waiting}");

        let again = fixture.feed.fetch("limit=2").await.expect(200);
        assert_eq!(names(&again), ["chat_accepted", "chat_updated"], "what is not acknowledged is returned again");
        let ids = |page: &Value| requests(page)[0].header("webhook-id").map(str::to_owned);
        assert_eq!(ids(&again), ids(&page));
        let rest = fixture.feed.fetch_after(&again).await;
        assert_eq!(names(&rest), ["chat_finished"]);
        assert_eq!(fixture.state(chat, "chat_updated").await, "delivered");
        assert_eq!(fixture.state(chat, "chat_finished").await, "pending");
        for _ in 0..2 {
            assert_eq!(fixture.feed.fetch_after(&rest).await, json!({"events": []}), "a repeated cursor");
        }
        assert_eq!(fixture.state(chat, "chat_finished").await, "delivered");
    });
}

#[test]
fn fetched_event_equals_the_one_that_a_server_gets() {
    run_on_shared_host(async |host| {
        let settings = json!({"format": "cloudevents", "ed25519_signature": true});
        let fixture = Fixture::create(host, settings.clone()).await;
        let server = TestReceiver::start(ok_response_with(json!({}))).await;
        add_webhook(&fixture.account, &server, settings).await;
        fixture.open_accepted_chat().await;
        let fetched = requests(&fixture.feed.fetch_all(1).await).remove(0);
        let mut posted = server.wait_for_requests(1, WAIT_TIMEOUT).await.remove(0).json();
        posted["id"] = json!(fetched.header("webhook-id"));
        posted["time"] = fetched.json()["time"].clone();
        assert_eq!(fetched.json(), posted);
        assert_eq!(fetched.header("content-type"), Some("application/cloudevents+json; charset=utf-8"));
        assert!(fetched.is_signed_with(fixture.secret()));
        assert!(is_signed_with_key(&fetched, &public_keys(&fixture.webhook)[0]));
    });
}

#[test]
fn request_waits_for_the_next_event() {
    run_on_shared_host(async |host| {
        let fixture = Fixture::create(host, json!({})).await;
        let (page, _) = join(fixture.feed.fetch("wait=20"), fixture.open_accepted_chat()).await;
        assert_eq!(names(&page.expect(200)), ["chat_accepted"]);
    });
}

#[test]
fn program_acknowledges_only_events_of_its_webhook() {
    run_on_shared_host(async |host| {
        let fixture = Fixture::create(host, json!({})).await;
        let chat = fixture.open_accepted_chat().await;
        let page = fixture.feed.fetch_all(1).await;
        for account in [&fixture.account, &host.create_account().await] {
            let other = add_fetched_webhook(account, json!({})).await;
            let other = EventFeed::of_webhook(&fixture.channel.client, &other);
            assert_eq!(other.fetch_after(&page).await, json!({"events": []}));
        }
        assert_eq!(fixture.state(chat, "chat_accepted").await, "pending");
    });
}

#[test]
fn only_the_secret_address_shows_events() {
    run_on_shared_host(async |host| {
        let fixture = Fixture::create(host, json!({})).await;
        let (admin, url) = (&fixture.account.admin.client, fixture.feed.url());
        let (id, account_id) = (fixture.webhook["webhook_id"].as_str().unwrap(), fixture.account.id.as_str().unwrap());
        assert!(url.ends_with(&format!("/{account_id}/{id}/events")), "{url}");
        for wrong in [url.replace("/webhook/", "/webhook/x"), url.replace(id, "x"), url.replace(account_id, "x")] {
            admin.get(&wrong).await.expect_error(404, "not_found");
        }
        let refused = admin.post(url, &json!({})).await;
        assert_eq!(refused.headers["allow"], "GET, HEAD");
        refused.expect_error(405, "method_not_allowed");
        let server = admin.post(WEBHOOKS_PATH, &json!({"url": "https://crm.example"})).await.expect(201);
        assert_eq!(server.get("pull_url"), None);
        let other = url.replace(id, server["webhook_id"].as_str().unwrap());
        admin.get(&other).await.expect_error(404, "not_found");
        let settings = admin.get("/admin/settings").await.expect(200);
        let shown = &settings["webhooks"][0];
        assert_eq!((&shown["target"], &shown["url"], shown.get("pull_url")), (&json!("pull"), &Value::Null, None));
        assert_eq!(settings["webhook_url"], "https://crm.example/");
    });
}

#[test]
fn rotation_replaces_the_address_of_the_events() {
    run_with_virtual_time(async |host, time| {
        let fixture = Fixture::create(host, json!({})).await;
        let (admin, client) = (&fixture.account.admin.client, &fixture.channel.client);
        fixture.open_accepted_chat().await;
        time.run_until_queues_are_empty().await;
        let rotated = admin.post(&fixture.path("/rotate"), &json!({"keep_old_seconds": 60})).await.expect(200);
        assert_ne!(rotated["pull_url"], fixture.webhook["pull_url"]);
        let new = EventFeed::of_webhook(client, &rotated);
        let page = new.fetch_all(1).await;
        assert_eq!(fixture.feed.fetch_all(1).await["cursor"], page["cursor"]);
        time.advance(seconds(10));
        let request = requests(&new.fetch_all(1).await).remove(0);
        assert!(request.is_signed_with(rotated["signing_secret"].as_str().unwrap()));
        assert!(request.is_signed_with(fixture.secret()), "the old secret is valid, too");
        time.advance(seconds(60));
        fixture.feed.fetch("").await.expect_error(404, "not_found");
        assert_eq!(names(&new.fetch_all(1).await), ["chat_accepted"]);
    });
}

#[test]
fn event_that_nobody_fetches_in_three_days_has_failed() {
    run_with_virtual_time(async |host, time| {
        let fixture = Fixture::create(host, json!({})).await;
        let admin = &fixture.account.admin.client;
        admin.put("/admin/settings", &json!({"idle_close": null})).await.expect(200);
        let chat = fixture.open_accepted_chat().await;
        time.run_until_queues_are_empty().await;
        for _ in 0..9 {
            time.advance(seconds(8 * 60 * 60));
            fixture.agent.chat(chat).await;
            admin.get("/admin/settings").await.expect(200);
        }
        assert_eq!(fixture.state(chat, "chat_accepted").await, "failed");
        assert_eq!(fixture.feed.fetch("").await.expect(200), json!({"events": []}));
        let failed = fixture.delivery(chat, "chat_accepted").await;
        assert_eq!(failed["error"]["message"], "Not delivered: not fetched within three days", "{failed}");
        assert_eq!(admin.get("/admin/outages").await.expect(200)["outages"], json!([]));
        let replayed = admin.post("/admin/deliveries/replay", &json!({"chat_id": chat})).await.expect(202);
        assert_eq!(replayed["replayed"], 1, "{replayed}");
        time.run_until_queues_are_empty().await;
        assert_eq!(fixture.state(chat, "chat_accepted").await, "pending", "it waits for three more days");
        assert_eq!(names(&fixture.feed.fetch("").await.expect(200)), ["chat_accepted"]);
    });
}

#[test]
fn acknowledged_assignment_is_done() {
    run_on_shared_host(async |host| {
        let fixture = Fixture::create(host, json!({"events": ["chat_assigned"]})).await;
        let card = json!({"enable_assign": true, "crm_link": "https://crm.example/cards/7"});
        let server = TestReceiver::start(ok_response_with(card)).await;
        add_webhook(&fixture.account, &server, json!({"events": ["chat_accepted"]})).await;
        let chat = fixture.open_accepted_chat().await;
        let panel = async || fixture.agent.chat(chat).await["panel"].clone();
        wait_for("the card", WAIT_TIMEOUT, async || {
            let panel = panel().await;
            if panel["crm_link"].is_null() { Err(panel) } else { Ok(()) }
        })
        .await;
        fixture.agent.client.post(&format!("/agent/chats/{chat}/assign"), &json!({})).await.expect(200);
        let page = fixture.feed.fetch_all(1).await;
        assert_eq!(fields(&page, "/assign_to"), ["https://crm.example/cards/7"]);
        assert_eq!(panel().await["assignment"], json!({"state": "pending"}));
        fixture.feed.fetch_after(&page).await;
        assert_eq!(panel().await["assignment"], json!({"state": "done"}));
    });
}

#[test]
fn fetched_delivery_is_shown_and_has_no_test() {
    run_on_shared_host(async |host| {
        let fixture = Fixture::create(host, json!({})).await;
        let admin = &fixture.account.admin.client;
        let chat = fixture.open_accepted_chat().await;
        let fetched = requests(&fixture.feed.fetch_all(1).await).remove(0);
        let path = format!("/admin/deliveries?state=pending&target=webhook&chat_id={chat}");
        let listed = admin.get(&path).await.expect(200)["deliveries"][0].clone();
        let shown = admin.get(&format!("/admin/deliveries/{chat}/{}", listed["seq"])).await.expect(200);
        let request = &shown["request"];
        assert_eq!((&request["url"], request["body"].as_str().unwrap().as_bytes()), (&json!(""), &*fetched.body));
        admin.post(&fixture.path("/test"), &json!({})).await.expect_error(409, "conflict");
    });
}

#[test]
fn removed_webhook_has_no_feed() {
    run_with_virtual_time(async |host, time| {
        let fixture = Fixture::create(host, json!({})).await;
        let chat = fixture.open_accepted_chat().await;
        time.run_until_queues_are_empty().await;
        fixture.account.admin.client.delete(&fixture.path("")).await.expect(200);
        time.advance(seconds(10));
        fixture.feed.fetch("").await.expect_error(404, "not_found");
        assert_eq!(fixture.state(chat, "chat_accepted").await, "pending", "it fails after three days");
    });
}

#[test]
fn error_names_the_field_that_a_fetched_webhook_lacks() {
    run_on_shared_host(async |host| {
        let fixture = Fixture::create(host, json!({})).await;
        let admin = &fixture.account.admin.client;
        let role = "arn:aws:iam::123456789012:role/r";
        for (body, field) in [
            (json!({"target": "pull", "url": "https://crm.example"}), "url"),
            (json!({"target": "pull", "role_arn": role}), "role_arn"),
            (json!({"target": "server"}), "url"),
            (json!({}), "url"),
        ] {
            let refused = admin.post(WEBHOOKS_PATH, &body).await.expect_error(400, "invalid_request");
            assert_eq!(refused["error"]["field"], field, "{body}");
        }
        let refused = admin.patch(&fixture.path(""), &json!({"url": "https://crm.example"})).await;
        assert_eq!(refused.expect_error(400, "invalid_request")["error"]["field"], "url");
        let changed = admin.patch(&fixture.path(""), &json!({"url": null, "events": ["chat_finished"]})).await;
        assert_eq!(changed.expect(200)["events"], json!(["chat_finished"]));
        for (query, field) in [("wait=21", "wait"), ("limit=0", "limit"), ("after=x", "after")] {
            let error = fixture.feed.fetch(query).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], field, "{query}");
        }
    });
}
