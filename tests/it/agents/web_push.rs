//! Tests of the notifications that browsers get while the console is closed (Web Push). A receiver acts as the push
//! service, and the test decrypts what it got as a browser would.

use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::agreement::{ECDH_P256, PrivateKey, UnparsedPublicKey, agree};
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey as Verifier};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::support::api_client::{TestAccount, TestAgent, TestChannel};
use crate::support::test_host::{TestHost, VISITOR_ID, run_on_shared_host};
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

const PATH: &str = "/agent/web-push";

struct Size(usize);

impl KeyType for Size {
    fn len(&self) -> usize {
        self.0
    }
}

fn derive<const N: usize>(salt: &[u8], secret: &[u8], info: &[u8]) -> [u8; N] {
    let mut key = [0; N];
    let info = [info];
    Salt::new(HKDF_SHA256, salt).extract(secret).expand(&info, Size(N)).unwrap().fill(&mut key).unwrap();
    key
}

fn base64(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A browser with its push service.
struct Browser {
    push_service: TestReceiver,
    key: PrivateKey,
    auth: [u8; 16],
}

impl Browser {
    async fn start() -> Self {
        let push_service =
            TestReceiver::start(CannedResponse::Text(201, "text/plain", String::new())).await.without_document_check();
        Self { push_service, key: PrivateKey::generate(&ECDH_P256).unwrap(), auth: [9; 16] }
    }

    fn public_key(&self) -> Vec<u8> {
        self.key.compute_public_key().unwrap().as_ref().to_vec()
    }

    fn subscription(&self) -> Value {
        let keys = json!({"p256dh": base64(&self.public_key()), "auth": base64(&self.auth)});
        json!({"endpoint": format!("{}/send/secret", self.push_service.url()), "keys": keys})
    }

    async fn subscribe(&self, agent: &TestAgent) -> Value {
        agent.client.put(PATH, &self.subscription()).await.expect(200)
    }

    /// Waits for the notification with this number and decrypts it (RFC 8188 and RFC 8291).
    async fn notification(&self, number: usize) -> Value {
        let requests = self.push_service.wait_for_requests(number, WAIT_TIMEOUT).await;
        self.decrypt(&requests[number - 1])
    }

    fn decrypt(&self, request: &ReceivedRequest) -> Value {
        assert_eq!(request.header("content-encoding"), Some("aes128gcm"));
        let (header, record) = request.body.split_at(86);
        let (salt, sender) = (&header[..16], &header[21..]);
        assert_eq!((&header[16..20], header[20]), (&4_096_u32.to_be_bytes()[..], 65));
        let sender_key = UnparsedPublicKey::new(&ECDH_P256, sender);
        let secret = agree(&self.key, sender_key, (), |secret| Ok(secret.to_vec())).unwrap();
        let info = [b"WebPush: info\0", &*self.public_key(), sender].concat();
        let material: [u8; 32] = derive(&self.auth, &secret, &info);
        let key: [u8; 16] = derive(salt, &material, b"Content-Encoding: aes128gcm\0");
        let nonce: [u8; 12] = derive(salt, &material, b"Content-Encoding: nonce\0");
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).unwrap());
        let mut record = record.to_vec();
        let text = key.open_in_place(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut record).unwrap();
        let (end, text) = text.split_last().unwrap();
        assert_eq!(*end, 2, "the only record is the last one");
        serde_json::from_slice(text).unwrap()
    }
}

/// An account with two agents and a channel.
struct Team {
    account: TestAccount,
    ann: TestAgent,
    channel: TestChannel,
    _integrator: TestReceiver,
}

impl Team {
    async fn create(host: &TestHost) -> Self {
        let integrator = TestReceiver::start(CannedResponse::ok()).await;
        let account = host.create_account().await;
        let (ann, channel) = (account.create_agent("Ann").await, account.create_channel(&integrator.url()).await);
        Self { account, ann, channel, _integrator: integrator }
    }
}

#[test]
fn waiting_chat_and_its_messages_notify_the_browser() {
    run_on_shared_host(async |host| {
        let (team, browser) = (Team::create(host).await, Browser::start().await);
        browser.subscribe(&team.ann).await;
        team.channel.send_text(VISITOR_ID, "Is anybody there?").await;
        let waiting = browser.notification(1).await;
        let name = team.ann.chat(1).await["visitor"]["name"].clone();
        let text = "Is anybody there?";
        assert_eq!(waiting, json!({"kind": "waiting", "chat_id": 1, "name": name, "text": text}));
        team.ann.accept(1).await;
        assert_eq!(browser.notification(2).await, json!({"kind": "withdraw", "chat_id": 1}), "Ann has accepted");
        team.channel.send_text(VISITOR_ID, "Hello Ann").await;
        let message = browser.notification(3).await;
        assert_eq!(message, json!({"kind": "message", "chat_id": 1, "name": name, "text": "Hello Ann"}));
        team.ann.send_text(1, "Hello").await;
        assert_eq!(browser.notification(4).await, json!({"kind": "withdraw", "chat_id": 1}), "Ann has answered");
    });
}

#[test]
fn mention_in_a_note_notifies_the_browser() {
    run_on_shared_host(async |host| {
        let (team, browser) = (Team::create(host).await, Browser::start().await);
        team.channel.send_text(VISITOR_ID, "Hello").await;
        team.account.admin.accept(1).await;
        browser.subscribe(&team.ann).await;
        let note = json!({"text": "@Ann, do you know the order?", "mentions": [team.ann.id]});
        team.account.admin.client.post("/agent/chats/1/notes", &note).await.expect(201);
        let name = team.ann.chat(1).await["visitor"]["name"].clone();
        let expected = json!({"kind": "mention", "chat_id": 1, "name": name, "text": note["text"]});
        assert_eq!(browser.notification(1).await, expected);
    });
}

#[test]
fn notification_is_withdrawn_when_a_colleague_accepts() {
    run_on_shared_host(async |host| {
        let (team, browser) = (Team::create(host).await, Browser::start().await);
        browser.subscribe(&team.ann).await;
        team.channel.send_text(VISITOR_ID, "Hello").await;
        assert_eq!(browser.notification(1).await["kind"], "waiting");
        team.account.admin.accept(1).await;
        assert_eq!(browser.notification(2).await, json!({"kind": "withdraw", "chat_id": 1}));
        team.channel.send_text(VISITOR_ID, "for the admin").await;
        team.ann.set_presence("online").await;
        let transfer = json!({"agent_id": team.ann.id});
        team.account.admin.client.post("/agent/chats/1/transfer", &transfer).await.expect(200);
        assert_eq!(browser.notification(3).await["kind"], "given", "a colleague's chat does not notify Ann");
    });
}

#[test]
fn notification_without_text_contains_only_the_chat() {
    run_on_shared_host(async |host| {
        let (team, browser) = (Team::create(host).await, Browser::start().await);
        let mut subscription = browser.subscription();
        subscription["shows_text"] = json!(false);
        subscription["notifies_of_waiting"] = json!(false);
        team.ann.client.put(PATH, &subscription).await.expect(200);
        team.channel.send_text(VISITOR_ID, "Hello").await;
        team.ann.accept(1).await;
        team.channel.send_text(VISITOR_ID, "a secret").await;
        assert_eq!(browser.notification(1).await, json!({"kind": "message", "chat_id": 1}));
    });
}

#[test]
fn requests_are_signed_with_the_key_of_the_account() {
    run_on_shared_host(async |host| {
        let (team, browser) = (Team::create(host).await, Browser::start().await);
        let subscribed = browser.subscribe(&team.ann).await;
        let shown = team.ann.client.get(PATH).await.expect(200);
        assert_eq!(shown, subscribed);
        assert_eq!(shown["subscription"], json!({"shows_text": true, "notifies_of_waiting": true}));
        team.channel.send_text(VISITOR_ID, "Hello").await;
        browser.notification(1).await;
        let request = &browser.push_service.requests()[0];
        let headers = ["ttl", "topic", "urgency"].map(|name| request.header(name).unwrap().to_owned());
        assert_eq!(headers, ["43200", "chat-1", "high"]);
        let authorization = request.header("authorization").unwrap();
        let (token, key) = authorization.strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
        assert_eq!(shown["public_key"], key);
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        let verifier = Verifier::new(&ECDSA_P256_SHA256_FIXED, decode(key));
        verifier.verify(signed.as_bytes(), &decode(signature)).unwrap();
        let claims: Value = serde_json::from_slice(&decode(signed.split_once('.').unwrap().1)).unwrap();
        let url = browser.push_service.url();
        assert_eq!((claims["aud"].as_str(), claims["exp"].is_u64()), (url.strip_suffix("/hook"), true));
    });
}

#[test]
fn browser_is_not_notified_after_its_session_has_ended() {
    run_on_shared_host(async |host| {
        let (team, ended, subscribed) = (Team::create(host).await, Browser::start().await, Browser::start().await);
        ended.subscribe(&team.ann).await;
        subscribed.subscribe(&team.account.admin).await;
        team.ann.client.post("/agent/logout", &Value::Null).await.expect(200);
        team.channel.send_text(VISITOR_ID, "Hello").await;
        subscribed.notification(1).await;
        team.account.admin.client.delete(PATH).await.expect(200);
        assert!(team.account.admin.client.get(PATH).await.expect(200).get("subscription").is_none());
        team.channel.send_text("another visitor", "Hello").await;
        team.account.admin.accept(2).await;
        host.assert_queues_drain().await;
        assert_eq!((ended.push_service.requests().len(), subscribed.push_service.requests().len()), (0, 1));
    });
}

#[test]
fn subscription_that_the_push_service_does_not_know_is_deleted() {
    run_on_shared_host(async |host| {
        let (team, browser) = (Team::create(host).await, Browser::start().await);
        browser.subscribe(&team.ann).await;
        browser.push_service.respond_with(CannedResponse::Text(410, "text/plain", String::new()));
        team.channel.send_text(VISITOR_ID, "Hello").await;
        browser.notification(1).await;
        let is_deleted = async || {
            let shown = team.ann.client.get(PATH).await.expect(200);
            if shown.get("subscription").is_none() { Ok(()) } else { Err(shown) }
        };
        wait_for("the subscription is deleted", WAIT_TIMEOUT, is_deleted).await;
    });
}

#[test]
fn invalid_subscription_gets_a_clear_error() {
    run_on_shared_host(async |host| {
        let (team, browser) = (Team::create(host).await, Browser::start().await);
        let keys = |p256dh: &str, auth: &str| json!({"p256dh": p256dh, "auth": auth});
        let (key, auth) = (base64(&browser.public_key()), base64(&browser.auth));
        for (field, value, named) in [
            ("endpoint", Value::Null, "endpoint"),
            ("endpoint", json!("no address"), "endpoint"),
            ("keys", Value::Null, "keys"),
            ("keys", keys("AAAA", &auth), "keys.p256dh"),
            ("keys", keys(&base64(&[3; 65]), &auth), "keys.p256dh"),
            ("keys", keys(&key, "AAAA"), "keys.auth"),
            ("shows_text", json!("yes"), "shows_text"),
        ] {
            let mut subscription = browser.subscription();
            subscription[field] = value;
            let refused = team.ann.client.put(PATH, &subscription).await.expect_error(400, "invalid_request");
            assert_eq!(refused["error"]["field"], named);
        }
    });
}
