//! Tests for the admin API for webhooks: URLs, event selection, signing secrets, secret rotation and test events.

use futures_util::future::join;
use serde_json::{Value, json};

use crate::support::account_with_webhook::{
    WEBHOOKS_PATH, WebhookFixture, add_webhook, event_names, final_webhook_delivery, ok_response, wait_for_event,
};
use crate::support::api_client::{ApiClient, ApiResponse, TestAccount, merged};
use crate::support::bot_fixture::unique_name;
use crate::support::test_host::{
    VISITOR_ID, open_accepted_chat, run_on_own_host, run_on_shared_host, run_with_virtual_time,
};
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver, unused_port};
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

const SETTINGS_PATH: &str = "/admin/settings";

fn signing_secret(shown: &Value) -> &str {
    shown["signing_secret"].as_str().unwrap_or_else(|| panic!("the response has no secret: {shown}"))
}

fn crm_url(path: &str) -> String {
    format!("https://crm.example/{path}")
}

async fn get_settings(admin: &ApiClient) -> Value {
    admin.get(SETTINGS_PATH).await.expect(200)
}

fn webhook_fields(settings: &Value) -> Value {
    json!({"webhook_url": settings["webhook_url"], "webhooks": settings["webhooks"]})
}

/// Returns a webhook as the settings show it, with the defaults of its delivery.
fn shown_webhook(id: &Value, url: &str, events: &Value) -> Value {
    json!({
        "webhook_id": id, "target": "server", "url": url, "role_arn": null, "events": events,
        "late_delivery": true, "strict_order": false, "outage": "none",
        "format": "json", "body": "full", "rating_wait_seconds": 0, "ed25519_signature": false, "public_keys": [],
    })
}

async fn get_webhook_fields(admin: &ApiClient) -> Value {
    webhook_fields(&get_settings(admin).await)
}

#[test]
fn webhook_url_is_the_first_webhook() {
    run_on_shared_host(async |host| {
        let admin = host.create_account().await.admin.client;
        assert_eq!(get_webhook_fields(&admin).await, json!({"webhook_url": null, "webhooks": []}));

        let created = admin.put(SETTINGS_PATH, &json!({"webhook_url": crm_url("one")})).await.expect(200);
        let id = created["webhooks"][0]["webhook_id"].clone();
        assert!(signing_secret(&created).starts_with("whsec_"), "{created}");
        let shown = |url: &str| json!({"webhook_url": url, "webhooks": [shown_webhook(&id, url, &json!([]))]});
        assert_eq!(get_webhook_fields(&admin).await, shown(&crm_url("one")), "the secret is returned only on creation");

        let changed = admin.put(SETTINGS_PATH, &json!({"webhook_url": crm_url("two")})).await.expect(200);
        assert_eq!(webhook_fields(&changed), shown(&crm_url("two")));
        let none = admin.put(SETTINGS_PATH, &json!({"webhook_url": null})).await.expect(200);
        assert_eq!(webhook_fields(&none), json!({"webhook_url": null, "webhooks": []}));
        admin.put(SETTINGS_PATH, &json!({"webhook_url": null})).await.expect(200);
    });
}

#[test]
fn null_url_with_several_webhooks_is_rejected() {
    run_on_shared_host(async |host| {
        let admin = host.create_account().await.admin.client;
        admin.put(SETTINGS_PATH, &json!({"webhook_url": crm_url("one")})).await.expect(200);
        admin.post(WEBHOOKS_PATH, &json!({"url": crm_url("two")})).await.expect(201);
        let before = get_settings(&admin).await;
        admin.put(SETTINGS_PATH, &json!({"webhook_url": null})).await.expect_error(409, "conflict");
        assert_eq!(get_settings(&admin).await, before);
    });
}

#[test]
fn webhook_set_by_url_receives_every_event() {
    run_on_shared_host(async |host| {
        let (account, webhook_receiver) = (host.create_account().await, TestReceiver::start(ok_response()).await);
        let created =
            account.admin.client.put(SETTINGS_PATH, &json!({"webhook_url": webhook_receiver.url()})).await.expect(200);
        let channel = account.create_channel("https://app.example/hook").await;
        let chat = open_accepted_chat(&account.admin, &channel, VISITOR_ID).await;
        account.admin.close(chat).await;
        wait_for_event(&webhook_receiver, "chat_finished").await;
        assert_eq!(event_names(&webhook_receiver), ["chat_accepted", "chat_finished"]);
        assert!(webhook_receiver.requests().iter().all(|request| request.is_signed_with(signing_secret(&created))));
    });
}

#[test]
fn webhook_is_added_changed_and_removed() {
    run_on_shared_host(async |host| {
        let admin = host.create_account().await.admin.client;
        let created =
            admin.post(WEBHOOKS_PATH, &json!({"url": crm_url("one"), "events": ["chat_finished"]})).await.expect(201);
        let path = format!("{WEBHOOKS_PATH}/{}", created["webhook_id"].as_str().unwrap());
        let mut shown = shown_webhook(&created["webhook_id"], &crm_url("one"), &json!(["chat_finished"]));
        assert_eq!(merged(shown.clone(), json!({"signing_secret": signing_secret(&created)})), created);
        assert_eq!(get_webhook_fields(&admin).await, json!({"webhook_url": crm_url("one"), "webhooks": [shown]}));

        let changed = admin.patch(&path, &json!({"url": crm_url("two")})).await.expect(200);
        shown["url"] = json!(crm_url("two"));
        assert_eq!(changed, shown, "an omitted field is unchanged");
        let changed = admin.patch(&path, &json!({"events": []})).await.expect(200);
        shown["events"] = json!([]);
        assert_eq!(changed, shown);
        let rotated = admin.post(&format!("{path}/rotate"), &json!({})).await.expect(200);
        assert_ne!(signing_secret(&rotated), signing_secret(&created));

        admin.delete(&path).await.expect(200);
        assert_eq!(get_webhook_fields(&admin).await, json!({"webhook_url": null, "webhooks": []}));
        admin.delete(&path).await.expect_error(404, "not_found");
    });
}

#[test]
fn changed_url_is_used_within_ten_seconds() {
    run_with_virtual_time(async |host, time| {
        let (fixture, new) = (WebhookFixture::create(host).await, TestReceiver::start(ok_response()).await);
        fixture.open_accepted_chat().await;
        fixture.account.admin.client.patch(&fixture.webhook_path(""), &json!({"url": new.url()})).await.expect(200);
        time.advance(seconds(10));
        send_events_until(&fixture, &new, |requests| !requests.is_empty()).await;
    });
}

/// Triggers `chat_updated` events until `matches` returns true for the requests that `receiver` has received. Returns
/// these requests.
async fn send_events_until(
    fixture: &WebhookFixture,
    receiver: &TestReceiver,
    matches: impl Fn(&[ReceivedRequest]) -> bool,
) -> Vec<ReceivedRequest> {
    wait_for("a matching event", WAIT_TIMEOUT, async || {
        fixture.update_visitor(json!({"description": unique_name("event")})).await;
        final_webhook_delivery(&fixture.agent, 1, "chat_updated").await;
        let requests = receiver.requests();
        if matches(&requests) { Ok(requests) } else { Err(requests.len()) }
    })
    .await
}

#[test]
fn account_has_at_most_ten_webhooks() {
    run_on_shared_host(async |host| {
        let admin = host.create_account().await.admin.client;
        for n in 0..10 {
            admin.post(WEBHOOKS_PATH, &json!({"url": crm_url(&n.to_string())})).await.expect(201);
        }
        admin.post(WEBHOOKS_PATH, &json!({"url": crm_url("one more")})).await.expect_error(409, "conflict");
        let urls: Vec<String> = (0..10).map(|n| crm_url(&n.to_string())).collect();
        let shown = get_settings(&admin).await["webhooks"].clone();
        let stored: Vec<_> = shown.as_array().unwrap().iter().map(|webhook| webhook["url"].clone()).collect();
        assert_eq!(stored, urls);
    });
}

fn invalid_urls() -> Vec<Value> {
    let texts = [
        "",
        "crm.example",
        "/relative",
        "ftp://crm.example/x",
        "javascript:alert(1)",
        "http://10.0.0.1/hook",
        "http://169.254.169.254/latest",
        "http://[fd00::1]/",
        "https://me:secret@crm.example/",
        "https://crm.example/ho\nok",
    ];
    texts.into_iter().map(Value::from).chain([json!(5), json!([]), json!({}), json!(true)]).collect()
}

#[test]
fn error_names_every_invalid_field() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let admin = &fixture.account.admin.client;
        let before = get_settings(admin).await;
        let assert_invalid = |reply: ApiResponse, field: &str, value: &Value| {
            let body = reply.expect_error(400, "invalid_request");
            assert_eq!(body["error"]["field"], field, "{value}: {body}");
        };
        for target in invalid_urls() {
            assert_invalid(admin.put(SETTINGS_PATH, &json!({"webhook_url": target})).await, "webhook_url", &target);
            assert_invalid(admin.post(WEBHOOKS_PATH, &json!({"url": target})).await, "url", &target);
            assert_invalid(admin.patch(&fixture.webhook_path(""), &json!({"url": target})).await, "url", &target);
        }
        assert_invalid(admin.post(WEBHOOKS_PATH, &json!({})).await, "url", &json!("missing"));
        for events in [json!(["chat_accepted", "chat_exploded"]), json!("chat_accepted"), json!([7]), json!({})] {
            assert_invalid(
                admin.post(WEBHOOKS_PATH, &json!({"url": crm_url("x"), "events": events})).await,
                "events",
                &events,
            );
            assert_invalid(admin.patch(&fixture.webhook_path(""), &json!({"events": events})).await, "events", &events);
        }
        for seconds in [json!(-1), json!(1.5), json!("60"), json!(30 * 24 * 60 * 60 + 1)] {
            let reply = admin.post(&fixture.webhook_path("/rotate"), &json!({"keep_old_seconds": seconds})).await;
            assert_invalid(reply, "keep_old_seconds", &seconds);
        }
        assert_eq!(get_settings(admin).await, before);
    });
}

#[test]
fn webhook_of_another_account_is_not_found() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let other_admin = host.create_account().await.admin.client;
        let empty = json!({});
        let replies = [
            other_admin.patch(&fixture.webhook_path(""), &json!({"url": crm_url("mine")})).await,
            other_admin.post(&fixture.webhook_path("/rotate"), &empty).await,
            other_admin.post(&fixture.webhook_path("/test"), &empty).await,
            other_admin.delete(&fixture.webhook_path("")).await,
        ];
        for reply in replies {
            reply.expect_error(404, "not_found");
        }
        assert_eq!(get_settings(&other_admin).await["webhooks"], json!([]));
        assert_eq!(get_settings(&fixture.account.admin.client).await["webhook_url"], fixture.webhook_receiver.url());
        assert_eq!(fixture.webhook_receiver.connections(), 0);
    });
}

#[test]
fn every_webhook_has_its_own_signing_secret() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let other = TestReceiver::start(ok_response()).await;
        let added = add_webhook(&fixture.account, &other, json!({})).await;
        fixture.open_accepted_chat().await;
        let mine = fixture.webhook_receiver.wait_for_requests(1, WAIT_TIMEOUT).await.remove(0);
        let others = other.wait_for_requests(1, WAIT_TIMEOUT).await.remove(0);
        assert!(mine.is_signed_with(signing_secret(&fixture.webhook)) && others.is_signed_with(signing_secret(&added)));
        assert!(
            !others.is_signed_with(signing_secret(&fixture.webhook)) && !mine.is_signed_with(signing_secret(&added))
        );
        let mut forged = mine;
        forged.body.push(b' ');
        assert!(!forged.is_signed_with(signing_secret(&fixture.webhook)));
    });
}

async fn rotate_secret(fixture: &WebhookFixture, body: Value) -> Value {
    fixture.account.admin.client.post(&fixture.webhook_path("/rotate"), &body).await.expect(200)
}

#[test]
fn webhook_that_knows_only_the_new_secret_gets_the_event() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let chat = fixture.open_accepted_chat().await;
        let rotated = rotate_secret(&fixture, json!({"keep_old_seconds": 0})).await;
        let secret = signing_secret(&rotated).to_owned();
        fixture.webhook_receiver.respond_by(move |request| {
            let is_signed = request.is_signed_with(&secret);
            async move { if is_signed { ok_response() } else { CannedResponse::Json(401, json!({})) } }
        });
        fixture.agent.close(chat).await;
        let delivery = final_webhook_delivery(&fixture.agent, chat, "chat_finished").await;
        assert_eq!(delivery["state"], "delivered", "{delivery}");
    });
}

#[test]
fn both_secrets_verify_after_a_rotation() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let new = rotate_secret(&fixture, json!({})).await;
        assert_ne!(signing_secret(&new), signing_secret(&fixture.webhook));
        fixture.open_accepted_chat().await;
        let request = fixture.webhook_receiver.requests().remove(0);
        assert!(request.is_signed_with(signing_secret(&fixture.webhook)), "the old secret");
        assert!(request.is_signed_with(signing_secret(&new)), "the new secret");
    });
}

#[test]
fn rotation_can_end_the_old_secret_immediately() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let new = rotate_secret(&fixture, json!({"keep_old_seconds": 0})).await;
        fixture.open_accepted_chat().await;
        let request = fixture.webhook_receiver.requests().remove(0);
        assert!(
            request.is_signed_with(signing_secret(&new)) && !request.is_signed_with(signing_secret(&fixture.webhook))
        );
    });
}

#[test]
fn repeated_rotations_keep_the_newest_old_secrets() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let (second, third) = (rotate_secret(&fixture, json!({})).await, rotate_secret(&fixture, json!({})).await);
        let attempts = (0..4)
            .map(|_| async { fixture.account.admin.client.post(&fixture.webhook_path("/rotate"), &json!({})).await });
        let mut secrets: Vec<String> =
            [&fixture.webhook, &second, &third].map(|shown| signing_secret(shown).to_owned()).into();
        for reply in futures_util::future::join_all(attempts).await {
            match reply.status {
                200 => secrets.push(signing_secret(&reply.json()).to_owned()),
                _ => drop(reply.expect_error(409, "conflict")),
            }
        }
        assert!(secrets.len() > 3, "every rotation was rejected");
        fixture.open_accepted_chat().await;
        let request = fixture.webhook_receiver.requests().remove(0);
        // The request is signed with the current secret and at most four previous secrets.
        let signing = secrets.iter().filter(|signing_secret| request.is_signed_with(signing_secret)).count();
        assert_eq!(signing, secrets.len().min(5));
    });
}

/// Returns a condition for [`send_events_until`]: the newest event is signed with exactly these secrets. Processes
/// cache the secrets for ten seconds.
fn signed_by<'a>(secrets: &'a [&str]) -> impl Fn(&[ReceivedRequest]) -> bool + 'a {
    move |requests| {
        let last = requests.last().expect("a request");
        let signatures = last.header("webhook-signature").expect("a signature").split(' ').count();
        signatures == secrets.len() && secrets.iter().all(|signing_secret| last.is_signed_with(signing_secret))
    }
}

#[test]
fn old_secret_signs_until_it_expires() {
    run_with_virtual_time(async |host, time| {
        let fixture = WebhookFixture::create(host).await;
        let old = signing_secret(&fixture.webhook);
        let rotated = rotate_secret(&fixture, json!({"keep_old_seconds": 8})).await;
        let new = signing_secret(&rotated);
        fixture.open_accepted_chat().await;
        assert!(signed_by(&[new, old])(&fixture.webhook_receiver.requests()));
        time.advance(seconds(10));
        send_events_until(&fixture, &fixture.webhook_receiver, signed_by(&[new])).await;
    });
}

#[test]
fn open_chat_is_signed_throughout_rotations() {
    run_with_virtual_time(async |host, time| {
        let fixture = WebhookFixture::create(host).await;
        let old = signing_secret(&fixture.webhook);
        fixture.open_accepted_chat().await;
        assert!(signed_by(&[old])(&fixture.webhook_receiver.requests()));
        let rotated = rotate_secret(&fixture, json!({"keep_old_seconds": 3_600})).await;
        let new = signing_secret(&rotated);
        time.advance(seconds(10));
        send_events_until(&fixture, &fixture.webhook_receiver, signed_by(&[new, old])).await;
        let rotated = rotate_secret(&fixture, json!({"keep_old_seconds": 0})).await;
        time.advance(seconds(10));
        send_events_until(&fixture, &fixture.webhook_receiver, signed_by(&[signing_secret(&rotated)])).await;
    });
}

async fn send_test_event(account: &TestAccount, webhook: &Value) -> Value {
    let path = format!("{WEBHOOKS_PATH}/{}/test", webhook["webhook_id"].as_str().unwrap());
    account.admin.client.post(&path, &json!({})).await.expect(200)
}

#[test]
fn test_sends_one_signed_event_and_returns_the_outcome() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create_with(host, [ok_response(), CannedResponse::Json(500, json!({}))]).await;
        for (status, error) in [(200, Value::Null), (500, json!("HTTP 500"))] {
            let outcome = send_test_event(&fixture.account, &fixture.webhook).await;
            assert_eq!((&outcome["status"], &outcome["error"]), (&json!(status), &error));
            assert!(outcome["ms"].as_u64().is_some_and(|ms| ms < 3_300), "{outcome}");
        }
        let requests = fixture.webhook_receiver.requests();
        assert_eq!(event_names(&fixture.webhook_receiver), ["test", "test"], "a test event has one attempt");
        assert!(requests.iter().all(|request| request.is_signed_with(signing_secret(&fixture.webhook))));
        assert_ne!(requests[0].header("webhook-id"), requests[1].header("webhook-id"));
    });
}

#[test]
fn test_sends_a_sample_of_any_event() {
    run_on_shared_host(async |host| {
        let fixture = WebhookFixture::create(host).await;
        let path = fixture.webhook_path("/test");
        let events = [
            "call_event",
            "chat_accepted",
            "chat_assigned",
            "chat_finished",
            "chat_updated",
            "offline_message",
            "test",
        ];
        for event in events {
            let outcome = fixture.account.admin.client.post(&path, &json!({"event": event})).await.expect(200);
            assert_eq!((&outcome["status"], &outcome["error"]), (&json!(200), &Value::Null), "{event}");
        }
        // The test receiver also checks every body against the OpenAPI document.
        assert_eq!(event_names(&fixture.webhook_receiver), events);
        for wrong in [json!("chat_exploded"), json!(7), json!([])] {
            let refused = fixture.account.admin.client.post(&path, &json!({"event": wrong})).await;
            assert_eq!(refused.expect_error(400, "invalid_request")["error"]["field"], "event");
        }
        assert_eq!(fixture.webhook_receiver.requests().len(), events.len());
    });
}

#[test]
fn test_of_an_unresponsive_webhook_explains_the_failure() {
    run_with_virtual_time(async |host, time| {
        let fixture = WebhookFixture::create_with(host, [CannedResponse::Hang]).await;
        let closed_url = json!({"url": format!("http://127.0.0.1:{}/hook", unused_port().await)});
        let unreachable = fixture.account.admin.client.post(WEBHOOKS_PATH, &closed_url).await.expect(201);
        let test_of_hanging = send_test_event(&fixture.account, &fixture.webhook);
        let (hanging, ()) = join(test_of_hanging, time.time_out_requests(&fixture.webhook_receiver, [1])).await;
        let unreachable = send_test_event(&fixture.account, &unreachable).await;
        for (outcome, duration_ms) in [(hanging, 3_000), (unreachable, 0)] {
            assert_eq!((&outcome["status"], &outcome["ms"]), (&Value::Null, &json!(duration_ms)));
            assert!(outcome["error"].as_str().is_some_and(|error| !error.is_empty()), "{outcome}");
        }
    });
}

#[test]
fn webhook_cannot_use_a_private_address() {
    run_on_own_host(&[("AllowedPrivateTargets", "")], async |host| {
        let receiver = TestReceiver::start(ok_response()).await;
        let account = host.create_account().await;
        let reply = account.admin.client.post(WEBHOOKS_PATH, &json!({"url": receiver.url()})).await;
        assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], "url");
        let named = json!({"url": format!("http://localhost:{}/hook", receiver.port())});
        let created = account.admin.client.post(WEBHOOKS_PATH, &named).await.expect(201);
        let outcome = send_test_event(&account, &created).await;
        assert!(outcome["error"].as_str().is_some_and(|error| error.contains("private")), "{outcome}");
        assert_eq!(receiver.connections(), 0);
    });
}

#[test]
fn newly_added_webhook_receives_the_next_event() {
    run_on_own_host(&[], async |host| {
        let fixture = WebhookFixture::create(host).await;
        let only = json!({"events": ["chat_accepted"]});
        fixture.account.admin.client.patch(&fixture.webhook_path(""), &only).await.expect(200);
        let chat = fixture.open_accepted_chat().await;
        let late = TestReceiver::start(ok_response()).await;
        add_webhook(&fixture.account, &late, json!({"events": ["chat_finished"]})).await;
        fixture.agent.close(chat).await;
        let delivery = final_webhook_delivery(&fixture.agent, chat, "chat_finished").await;
        assert_eq!(delivery["state"], "delivered", "{delivery}");
        assert_eq!(event_names(&late), ["chat_finished"]);
    });
}
