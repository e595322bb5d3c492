//! Tests for the Ed25519 signatures of webhooks: the key pair, its rotation and its removal.

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::support::account_with_webhook::{WEBHOOKS_PATH, WebhookFixture, add_webhook, ok_response};
use crate::support::api_client::ApiClient;
use crate::support::test_host::{TestHost, run_on_shared_host};
use crate::support::test_receiver::{ReceivedRequest, TestReceiver};
use crate::support::wait::WAIT_TIMEOUT;

/// An account with a webhook that has both kinds of signatures.
struct Ed25519Fixture {
    fixture: WebhookFixture,
    receiver: TestReceiver,
    webhook: Value,
}

impl Ed25519Fixture {
    async fn create(host: &TestHost) -> Self {
        let (fixture, receiver) = (WebhookFixture::create(host).await, TestReceiver::start(ok_response()).await);
        let webhook = add_webhook(&fixture.account, &receiver, json!({"ed25519_signature": true})).await;
        Self { fixture, receiver, webhook }
    }

    fn admin(&self) -> &ApiClient {
        &self.fixture.account.admin.client
    }

    fn path(&self) -> String {
        format!("{WEBHOOKS_PATH}/{}", self.webhook["webhook_id"].as_str().expect("a webhook_id"))
    }

    /// Returns the request with the first event.
    async fn first_request(&self) -> ReceivedRequest {
        self.fixture.open_accepted_chat().await;
        self.receiver.wait_for_requests(1, WAIT_TIMEOUT).await.remove(0)
    }
}

pub fn public_keys(webhook: &Value) -> Vec<String> {
    let keys = webhook["public_keys"].as_array().expect("public_keys");
    keys.iter().map(|key| key["public_key"].as_str().expect("a public_key").to_owned()).collect()
}

fn versions(request: &ReceivedRequest) -> Vec<&str> {
    let signatures = request.header("webhook-signature").expect("a signature").split(' ');
    signatures.map(|signature| signature.split(',').next().unwrap_or_default()).collect()
}

/// Returns whether one of the request's Ed25519 signatures is that of this public key.
pub fn is_signed_with_key(request: &ReceivedRequest, public_key: &str) -> bool {
    let key = STANDARD.decode(public_key.strip_prefix("whpk_").expect("a public key")).unwrap();
    let header = |name| request.header(name).expect("a header").as_bytes();
    let content = [header("webhook-id"), header("webhook-timestamp"), &request.body].join(&b'.');
    let signatures = request.header("webhook-signature").expect("a signature").split(' ');
    signatures.filter_map(|signature| signature.strip_prefix("v1a,")).any(|signature| {
        let signature = STANDARD.decode(signature).unwrap();
        UnparsedPublicKey::new(&ED25519, &key).verify(&content, &signature).is_ok()
    })
}

#[test]
fn ed25519_signature_is_added_to_the_hmac_signature() {
    run_on_shared_host(async |host| {
        let ed25519 = Ed25519Fixture::create(host).await;
        let mut request = ed25519.first_request().await;
        assert_eq!(versions(&request), ["v1", "v1a"]);
        assert!(request.is_signed_with(ed25519.webhook["signing_secret"].as_str().expect("a secret")));
        let [public_key] = &public_keys(&ed25519.webhook)[..] else { panic!("{}", ed25519.webhook) };
        assert!(is_signed_with_key(&request, public_key));
        request.body.push(b' ');
        assert!(!is_signed_with_key(&request, public_key), "a changed body");

        let default = &ed25519.fixture;
        assert_eq!(versions(&default.webhook_receiver.requests()[0]), ["v1"], "another webhook of the account");
        assert_eq!((&default.webhook["ed25519_signature"], public_keys(&default.webhook)), (&json!(false), vec![]));
    });
}

#[test]
fn rotation_keeps_the_old_public_key_valid() {
    run_on_shared_host(async |host| {
        let ed25519 = Ed25519Fixture::create(host).await;
        let rotate =
            async |body: Value| ed25519.admin().post(&format!("{}/rotate", ed25519.path()), &body).await.expect(200);
        let old = public_keys(&ed25519.webhook).remove(0);
        let rotated = rotate(json!({"keep_old_seconds": 3_600})).await;
        let [replaced, new] = &public_keys(&rotated)[..] else { panic!("{rotated}") };
        assert_eq!((replaced, new == replaced), (&old, false));
        let valid_until = |index: usize| &rotated["public_keys"][index]["valid_until"];
        assert!(valid_until(0).is_u64() && valid_until(1).is_null(), "{rotated}");
        let request = ed25519.first_request().await;
        assert_eq!(versions(&request), ["v1", "v1", "v1a", "v1a"]);
        assert!(is_signed_with_key(&request, &old) && is_signed_with_key(&request, new));
        let rotated = rotate(json!({"keep_old_seconds": 0})).await;
        assert_eq!(public_keys(&rotated).len(), 1);
        assert!(![&old, new].contains(&&public_keys(&rotated)[0]));
    });
}

#[test]
fn key_pair_is_kept_until_the_signature_is_removed() {
    run_on_shared_host(async |host| {
        let ed25519 = Ed25519Fixture::create(host).await;
        let change = async |body: Value| ed25519.admin().patch(&ed25519.path(), &body).await.expect(200);
        let first = public_keys(&ed25519.webhook);
        assert_eq!(public_keys(&change(json!({"ed25519_signature": true})).await), first);
        assert_eq!(public_keys(&change(json!({"events": []})).await), first);
        assert_eq!(public_keys(&change(json!({"ed25519_signature": false})).await), Vec::<String>::new());
        assert_eq!(versions(&ed25519.first_request().await), ["v1"]);
        let second = public_keys(&change(json!({"ed25519_signature": true})).await);
        assert!(second.len() == 1 && second != first, "a removed key does not return");
        let refused = ed25519.admin().patch(&ed25519.path(), &json!({"ed25519_signature": "yes"})).await;
        assert_eq!(refused.expect_error(400, "invalid_request")["error"]["field"], "ed25519_signature");
    });
}
