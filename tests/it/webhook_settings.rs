//! An account's webhooks as its admin keeps them: addresses, secrets, tests.

use serde_json::{Value, json};
use standardwebhooks::Webhook;

use crate::client::{Account, Caller, merged};
use crate::harness::{VISITOR, on_own_stage, on_stage, open_chat, timed_on_stage};
use crate::hook::{Hooked, WEBHOOKS, add, fine, names, notifications, recorded};
use crate::provider::unique;
use crate::receiver::{Answer, Receiver, Request, dead_port};
use crate::wait::{PATIENCE, seconds, wait_for};

const SETTINGS: &str = "/admin/settings";

fn secret(shown: &Value) -> &str {
    shown["signing_secret"].as_str().unwrap_or_else(|| panic!("no secret is shown: {shown}"))
}

/// Whether the official verifier accepts a request.
fn accepts(secret: &str, request: &Request) -> bool {
    Webhook::new(secret).unwrap().verify(&request.body, &request.header_map()).is_ok()
}

fn url(of: &str) -> String {
    format!("https://crm.example/{of}")
}

async fn settings(admin: &Caller) -> Value {
    admin.get(SETTINGS).await.expect(200)
}

/// What the settings say about webhooks.
fn only_webhooks(settings: &Value) -> Value {
    json!({"webhook_url": settings["webhook_url"], "webhooks": settings["webhooks"]})
}

async fn webhooks(admin: &Caller) -> Value {
    only_webhooks(&settings(admin).await)
}

#[test]
fn webhook_url_is_the_first_webhook() {
    on_stage(async |stage| {
        let admin = stage.account().await.admin.call;
        assert_eq!(webhooks(&admin).await, json!({"webhook_url": null, "webhooks": []}));

        let made = admin.put(SETTINGS, &json!({"webhook_url": url("one")})).await.expect(200);
        let id = made["webhooks"][0]["webhook_id"].clone();
        assert!(secret(&made).starts_with("whsec_"), "{made}");
        let first = |url: &str| json!({"webhook_id": id, "url": url, "events": []});
        let shown = |url: &str| json!({"webhook_url": url, "webhooks": [first(url)]});
        assert_eq!(webhooks(&admin).await, shown(&url("one")), "the secret is shown once");

        let changed = admin.put(SETTINGS, &json!({"webhook_url": url("two")})).await.expect(200);
        assert_eq!(only_webhooks(&changed), shown(&url("two")));
        let none = admin.put(SETTINGS, &json!({"webhook_url": null})).await.expect(200);
        assert_eq!(only_webhooks(&none), json!({"webhook_url": null, "webhooks": []}));
        admin.put(SETTINGS, &json!({"webhook_url": null})).await.expect(200);
    });
}

#[test]
fn of_several_webhooks_null_takes_none_away() {
    on_stage(async |stage| {
        let admin = stage.account().await.admin.call;
        admin.put(SETTINGS, &json!({"webhook_url": url("one")})).await.expect(200);
        admin.post(WEBHOOKS, &json!({"url": url("two")})).await.expect(201);
        let before = settings(&admin).await;
        admin.put(SETTINGS, &json!({"webhook_url": null})).await.expect_error(409, "conflict");
        assert_eq!(settings(&admin).await, before);
    });
}

#[test]
fn an_address_set_by_webhook_url_is_told_every_event() {
    on_stage(async |stage| {
        let (account, crm) = (stage.account().await, Receiver::start(fine()).await);
        let made = account.admin.call.put(SETTINGS, &json!({"webhook_url": crm.url()})).await.expect(200);
        let channel = account.channel("https://app.example/hook").await;
        let chat = open_chat(&account.admin, &channel, VISITOR).await;
        account.admin.close(chat).await;
        notifications(&crm, "chat_finished").await;
        assert_eq!(names(&crm), ["chat_accepted", "chat_finished"]);
        assert!(crm.requests().iter().all(|request| accepts(secret(&made), request)));
    });
}

#[test]
fn a_webhook_is_added_changed_and_removed() {
    on_stage(async |stage| {
        let admin = stage.account().await.admin.call;
        let made = admin.post(WEBHOOKS, &json!({"url": url("one"), "events": ["chat_finished"]})).await.expect(201);
        let path = format!("{WEBHOOKS}/{}", made["webhook_id"].as_str().unwrap());
        let mut shown = json!({"webhook_id": made["webhook_id"], "url": url("one"), "events": ["chat_finished"]});
        assert_eq!(merged(shown.clone(), json!({"signing_secret": secret(&made)})), made);
        assert_eq!(webhooks(&admin).await, json!({"webhook_url": url("one"), "webhooks": [shown]}));

        let moved = admin.patch(&path, &json!({"url": url("two")})).await.expect(200);
        shown["url"] = json!(url("two"));
        assert_eq!(moved, shown, "what is not mentioned stays");
        let retuned = admin.patch(&path, &json!({"events": []})).await.expect(200);
        shown["events"] = json!([]);
        assert_eq!(retuned, shown);

        admin.delete(&path).await.expect(200);
        assert_eq!(webhooks(&admin).await, json!({"webhook_url": null, "webhooks": []}));
        admin.delete(&path).await.expect_error(404, "not_found");
    });
}

#[test]
fn a_changed_address_is_used_within_ten_seconds() {
    on_stage(async |stage| {
        let (hooked, new) = (Hooked::open(stage).await, Receiver::start(fine()).await);
        hooked.accepted().await;
        hooked.account.admin.call.patch(&hooked.path(""), &json!({"url": new.url()})).await.expect(200);
        event_until(&hooked, &new, |requests| !requests.is_empty()).await;
    });
}

/// Lets an event happen again and again, until what `receiver` was told is as expected; returns that.
async fn event_until(hooked: &Hooked, receiver: &Receiver, is_it: impl Fn(&[Request]) -> bool) -> Vec<Request> {
    wait_for("an event as expected", seconds(13), async || {
        hooked.correct(json!({"description": unique("event")})).await;
        recorded(&hooked.agent, 1, "chat_updated").await;
        let requests = receiver.requests();
        if is_it(&requests) { Ok(requests) } else { Err(requests.len()) }
    })
    .await
}

#[test]
fn an_account_has_at_most_ten_webhooks() {
    on_stage(async |stage| {
        let admin = stage.account().await.admin.call;
        for n in 0..10 {
            admin.post(WEBHOOKS, &json!({"url": url(&n.to_string())})).await.expect(201);
        }
        admin.post(WEBHOOKS, &json!({"url": url("one more")})).await.expect_error(409, "conflict");
        let urls: Vec<String> = (0..10).map(|n| url(&n.to_string())).collect();
        let shown = settings(&admin).await["webhooks"].clone();
        let kept: Vec<_> = shown.as_array().unwrap().iter().map(|webhook| webhook["url"].clone()).collect();
        assert_eq!(kept, urls);
    });
}

/// Values that are no address to call.
fn no_targets() -> Vec<Value> {
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
fn every_wrong_field_of_the_settings_is_named() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        let admin = &hooked.account.admin.call;
        let before = settings(admin).await;
        let refused = |reply: crate::client::Reply, field: &str, what: &Value| {
            let body = reply.expect_error(400, "invalid_request");
            assert_eq!(body["error"]["field"], field, "{what}: {body}");
        };
        for target in no_targets() {
            refused(admin.put(SETTINGS, &json!({"webhook_url": target})).await, "webhook_url", &target);
            refused(admin.post(WEBHOOKS, &json!({"url": target})).await, "url", &target);
            refused(admin.patch(&hooked.path(""), &json!({"url": target})).await, "url", &target);
        }
        refused(admin.post(WEBHOOKS, &json!({})).await, "url", &json!("missing"));
        for events in [json!(["chat_accepted", "chat_exploded"]), json!("chat_accepted"), json!([7]), json!({})] {
            refused(admin.post(WEBHOOKS, &json!({"url": url("x"), "events": events})).await, "events", &events);
            refused(admin.patch(&hooked.path(""), &json!({"events": events})).await, "events", &events);
        }
        for keep in [json!(-1), json!(1.5), json!("60"), json!(30 * 24 * 60 * 60 + 1)] {
            let reply = admin.post(&hooked.path("/rotate"), &json!({"keep_old_seconds": keep})).await;
            refused(reply, "keep_old_seconds", &keep);
        }
        assert_eq!(settings(admin).await, before);
    });
}

#[test]
fn the_webhooks_of_another_account_do_not_exist() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        let stranger = stage.account().await.admin.call;
        let nothing = json!({});
        let replies = [
            stranger.patch(&hooked.path(""), &json!({"url": url("mine")})).await,
            stranger.post(&hooked.path("/rotate"), &nothing).await,
            stranger.post(&hooked.path("/test"), &nothing).await,
            stranger.delete(&hooked.path("")).await,
        ];
        for reply in replies {
            reply.expect_error(404, "not_found");
        }
        assert_eq!(settings(&stranger).await["webhooks"], json!([]));
        assert_eq!(settings(&hooked.account.admin.call).await["webhook_url"], hooked.crm.url());
        assert_eq!(hooked.crm.connections(), 0);
    });
}

#[test]
fn each_webhook_signs_with_a_secret_of_its_own() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        let other = Receiver::start(fine()).await;
        let added = add(&hooked.account, &other, json!({})).await;
        hooked.accepted().await;
        let (mine, others) = (hooked.crm.requests().remove(0), other.received(1, PATIENCE).await.remove(0));
        assert!(accepts(secret(&hooked.webhook), &mine) && accepts(secret(&added), &others));
        assert!(!accepts(secret(&hooked.webhook), &others) && !accepts(secret(&added), &mine));
        let mut forged = mine;
        forged.body.push(b' ');
        assert!(!accepts(secret(&hooked.webhook), &forged));
    });
}

async fn rotate(hooked: &Hooked, body: Value) -> Value {
    hooked.account.admin.call.post(&hooked.path("/rotate"), &body).await.expect(200)
}

#[test]
fn after_a_rotation_both_secrets_verify() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        let new = rotate(&hooked, json!({})).await;
        assert_ne!(secret(&new), secret(&hooked.webhook));
        hooked.accepted().await;
        let request = hooked.crm.requests().remove(0);
        assert!(accepts(secret(&hooked.webhook), &request), "the old one");
        assert!(accepts(secret(&new), &request), "the new one");
    });
}

#[test]
fn a_rotation_can_end_the_old_secret_at_once() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        let new = rotate(&hooked, json!({"keep_old_seconds": 0})).await;
        hooked.accepted().await;
        let request = hooked.crm.requests().remove(0);
        assert!(accepts(secret(&new), &request) && !accepts(secret(&hooked.webhook), &request));
    });
}

#[test]
fn a_second_rotation_keeps_what_the_first_one_promised() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        let (second, third) = (rotate(&hooked, json!({})).await, rotate(&hooked, json!({})).await);
        let attempts =
            (0..4).map(|_| async { hooked.account.admin.call.post(&hooked.path("/rotate"), &json!({})).await });
        let mut promised: Vec<String> = [&hooked.webhook, &second, &third].map(|shown| secret(shown).to_owned()).into();
        for reply in futures_util::future::join_all(attempts).await {
            match reply.status {
                200 => promised.push(secret(&reply.json()).to_owned()),
                _ => drop(reply.expect_error(409, "conflict")),
            }
        }
        assert!(promised.len() > 3, "all of them were refused");
        hooked.accepted().await;
        let request = hooked.crm.requests().remove(0);
        // The current one and the newest four.
        let signing = promised.iter().filter(|secret| accepts(secret, &request)).count();
        assert_eq!(signing, promised.len().min(5));
    });
}

/// Whether the newest event is signed by these secrets and no other. A process may use old ones for ten seconds.
fn signed_by<'a>(secrets: &'a [&str]) -> impl Fn(&[Request]) -> bool + 'a {
    move |requests| {
        let last = requests.last().expect("a request");
        let signatures = last.header("webhook-signature").expect("a signature").split(' ').count();
        signatures == secrets.len() && secrets.iter().all(|secret| accepts(secret, last))
    }
}

#[test]
fn an_old_secret_signs_until_its_end() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        let old = secret(&hooked.webhook);
        let rotated = rotate(&hooked, json!({"keep_old_seconds": 8})).await;
        let new = secret(&rotated);
        hooked.accepted().await;
        assert!(signed_by(&[new, old])(&hooked.crm.requests()));
        event_until(&hooked, &hooked.crm, signed_by(&[new])).await;
    });
}

#[test]
fn a_running_chat_is_signed_before_during_and_after_a_rotation() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        let old = secret(&hooked.webhook);
        hooked.accepted().await;
        assert!(signed_by(&[old])(&hooked.crm.requests()));
        let rotated = rotate(&hooked, json!({"keep_old_seconds": 3_600})).await;
        let new = secret(&rotated);
        event_until(&hooked, &hooked.crm, signed_by(&[new, old])).await;
        let rotated = rotate(&hooked, json!({"keep_old_seconds": 0})).await;
        event_until(&hooked, &hooked.crm, signed_by(&[secret(&rotated)])).await;
    });
}

async fn test_of(account: &Account, webhook: &Value) -> Value {
    let path = format!("{WEBHOOKS}/{}/test", webhook["webhook_id"].as_str().unwrap());
    account.admin.call.post(&path, &json!({})).await.expect(200)
}

#[test]
fn a_test_sends_one_signed_event_and_tells_what_came_of_it() {
    on_stage(async |stage| {
        let hooked = Hooked::open_with(stage, [fine(), Answer::Json(500, json!({}))]).await;
        for (status, error) in [(200, Value::Null), (500, json!("HTTP 500"))] {
            let outcome = test_of(&hooked.account, &hooked.webhook).await;
            assert_eq!((&outcome["status"], &outcome["error"]), (&json!(status), &error));
            assert!(outcome["ms"].as_u64().is_some_and(|ms| ms < 3_300), "{outcome}");
        }
        let requests = hooked.crm.requests();
        assert_eq!(names(&hooked.crm), ["test", "test"], "a test is not tried again");
        assert!(requests.iter().all(|request| accepts(secret(&hooked.webhook), request)));
        assert_ne!(requests[0].header("webhook-id"), requests[1].header("webhook-id"));
    });
}

#[test]
fn a_test_sends_a_sample_of_any_event() {
    on_stage(async |stage| {
        let hooked = Hooked::open(stage).await;
        let path = hooked.path("/test");
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
            let outcome = hooked.account.admin.call.post(&path, &json!({"event": event})).await.expect(200);
            assert_eq!((&outcome["status"], &outcome["error"]), (&json!(200), &Value::Null), "{event}");
        }
        // The receiver holds each body against the document.
        assert_eq!(names(&hooked.crm), events);
        for wrong in [json!("chat_exploded"), json!(7), json!([])] {
            let refused = hooked.account.admin.call.post(&path, &json!({"event": wrong})).await;
            assert_eq!(refused.expect_error(400, "invalid_request")["error"]["field"], "event");
        }
        assert_eq!(hooked.crm.requests().len(), events.len());
    });
}

#[test]
fn a_test_of_a_webhook_that_does_not_answer_says_why() {
    timed_on_stage(async |stage| {
        let hooked = Hooked::open_with(stage, [Answer::Hang]).await;
        let nowhere = json!({"url": format!("http://127.0.0.1:{}/hook", dead_port().await)});
        let dead = hooked.account.admin.call.post(WEBHOOKS, &nowhere).await.expect(201);
        for webhook in [&hooked.webhook, &dead] {
            let outcome = test_of(&hooked.account, webhook).await;
            assert_eq!(outcome["status"], Value::Null);
            assert!(outcome["ms"].as_u64().is_some_and(|ms| ms < 3_300), "{outcome}");
            assert!(outcome["error"].as_str().is_some_and(|error| !error.is_empty()), "{outcome}");
        }
    });
}

#[test]
fn a_webhook_cannot_be_turned_to_a_private_address() {
    on_own_stage(&[("AllowedPrivateTargets", "")], async |stage| {
        let tripwire = Receiver::start(fine()).await;
        let account = stage.account().await;
        let reply = account.admin.call.post(WEBHOOKS, &json!({"url": tripwire.url()})).await;
        assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], "url");
        let named = json!({"url": format!("http://localhost:{}/hook", tripwire.port())});
        let made = account.admin.call.post(WEBHOOKS, &named).await.expect(201);
        let outcome = test_of(&account, &made).await;
        assert!(outcome["error"].as_str().is_some_and(|error| error.contains("private")), "{outcome}");
        assert_eq!(tripwire.connections(), 0);
    });
}

#[test]
fn an_event_reaches_a_webhook_that_was_added_a_moment_ago() {
    on_own_stage(&[], async |stage| {
        let hooked = Hooked::open(stage).await;
        let only = json!({"events": ["chat_accepted"]});
        hooked.account.admin.call.patch(&hooked.path(""), &only).await.expect(200);
        let chat = hooked.accepted().await;
        let late = Receiver::start(fine()).await;
        add(&hooked.account, &late, json!({"events": ["chat_finished"]})).await;
        hooked.agent.close(chat).await;
        let delivery = recorded(&hooked.agent, chat, "chat_finished").await;
        assert_eq!(delivery["state"], "delivered", "{delivery}");
        assert_eq!(names(&late), ["chat_finished"]);
    });
}
