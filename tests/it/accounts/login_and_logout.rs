//! Tests for login and logout: the limits on wrong passwords, and how sessions end.

use futures_util::future::join_all;
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::project::openapi_contract;
use crate::project::sample_events::samples;
use crate::support::api_client::{ApiResponse, PASSWORD, TestAgent, unique_email};
use crate::support::test_host::{TestHost, run_on_shared_host, run_with_virtual_time};

/// The maximum number of wrong passwords per time window for one e-mail address from one IP address.
const MAX_WRONG_PASSWORDS: usize = 10;
/// The maximum number of wrong passwords per time window from one IP address, across all e-mail addresses.
const MAX_WRONG_PASSWORDS_PER_ADDRESS: usize = 100;
const WINDOW_SECONDS: u64 = 300;

/// Sends a login request as the gateway would forward it from a client at `address`. The client's own headers always
/// claim a different address.
async fn log_in_from(host: &TestHost, address: &str, email: &str, password: &str) -> ApiResponse {
    let mut event = samples()["agent-login"].clone();
    event["requestContext"]["http"]["sourceIp"] = json!(address);
    let claimed = format!("2001:db8::{}, {address}", local::random_and_digest::random_hex::<2>().unwrap());
    event["headers"]["x-forwarded-for"] = json!(claimed);
    event["headers"]["x-real-ip"] = json!(claimed);
    event["body"] = json!(json!({"email": email, "password": password}).to_string());
    let response = host.local.invoke("agent-login", event).await.unwrap();
    let header = |(name, value): (&String, &Value)| {
        (name.parse::<HeaderName>().unwrap(), value.as_str().unwrap().parse::<HeaderValue>().unwrap())
    };
    let reply = ApiResponse {
        status: response["statusCode"].as_u64().unwrap().try_into().unwrap(),
        headers: response["headers"].as_object().unwrap().iter().map(header).collect::<HeaderMap>(),
        text: response["body"].as_str().unwrap().to_owned(),
    };
    openapi_contract::check(&Method::POST, "/agent/login", None, &reply);
    reply
}

async fn log_in_until_limited(host: &TestHost, address: &str, email: &str) -> Vec<ApiResponse> {
    let mut replies = Vec::new();
    while replies.len() <= MAX_WRONG_PASSWORDS {
        let reply = log_in_from(host, address, email, "not the password").await;
        replies.push(reply.clone());
        if reply.status == 429 {
            return replies;
        }
        reply.expect_error(401, "invalid_credentials");
    }
    panic!("the limit was not reached");
}

#[test]
fn wrong_passwords_are_limited_per_email_and_address() {
    run_with_virtual_time(async |host, _| {
        let account = host.create_account().await;
        let (owner, colleague, unknown) = (&account.admin, account.create_agent("Ann").await, unique_email("nobody"));
        let (attacker, elsewhere) = ("198.51.100.7", "198.51.100.8");
        let mut last = Vec::new();
        for email in [&owner.email, &unknown] {
            let replies = log_in_until_limited(host, attacker, email).await;
            assert!(replies.len() > MAX_WRONG_PASSWORDS, "{email}: refused after {}", replies.len());
            last.push(replies.last().unwrap().text.clone());
            // The correct password is rejected, too.
            let refused = log_in_from(host, attacker, &email.to_uppercase(), PASSWORD).await;
            let retry_after_seconds: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
            assert!((1..=WINDOW_SECONDS).contains(&retry_after_seconds), "{retry_after_seconds}");
            refused.expect_error(429, "rate_limited");
        }
        assert_eq!(last[0], last[1], "the responses for a known and an unknown e-mail address differ");
        // The limit affects neither the owner of the e-mail address, who logs in from another IP address, nor a
        // colleague who logs in from the attacker's IP address.
        log_in_from(host, elsewhere, &owner.email, PASSWORD).await.expect(200);
        log_in_from(host, attacker, &colleague.email, PASSWORD).await.expect(200);
    });
}

#[test]
fn blocked_address_still_accepts_its_previous_users() {
    run_with_virtual_time(async |host, _| {
        let account = host.create_account().await;
        let (email, address) = (&account.admin.email, "198.51.100.10");
        log_in_from(host, address, email, PASSWORD).await.expect(200);
        let other_emails: Vec<_> = (0..=MAX_WRONG_PASSWORDS_PER_ADDRESS).map(|_| unique_email("stranger")).collect();
        let guess = async |email: &String| log_in_from(host, address, email, "not the password").await.status;
        // Each password check keeps a processor busy for a while, so run only a few at the same time.
        let mut guesses = Vec::new();
        for emails in other_emails.chunks(8) {
            guesses.extend(join_all(emails.iter().map(&guess)).await);
        }
        assert!(guesses.iter().all(|status| [401, 429].contains(status)) && guesses.contains(&429), "{guesses:?}");
        log_in_from(host, address, &unique_email("another"), PASSWORD).await.expect_error(429, "rate_limited");
        log_in_from(host, address, email, PASSWORD).await.expect(200);
    });
}

#[test]
fn correct_password_resets_the_limit() {
    run_with_virtual_time(async |host, _| {
        let account = host.create_account().await;
        let email = &account.admin.email;
        for _ in 0..3 {
            for _ in 0..MAX_WRONG_PASSWORDS - 3 {
                let reply = log_in_from(host, "198.51.100.9", email, "not the password").await;
                reply.expect_error(401, "invalid_credentials");
            }
            log_in_from(host, "198.51.100.9", email, PASSWORD).await.expect(200);
        }
    });
}

#[test]
fn logout_ends_only_its_own_session() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let first = account.create_agent("Ann").await;
        let second = TestAgent::log_in(&host.anonymous, first.id.clone(), &first.email).await;
        first.set_presence("online").await;
        let online = async |agent: &TestAgent| agent.client.get("/agent/presence").await.expect(200)["status"].clone();

        let logged_out = json!({"logged_out": true});
        // The second logout succeeds too, because a client that did not receive the response repeats the request.
        for _ in 0..2 {
            assert_eq!(first.client.post("/agent/logout", &json!({})).await.expect(200), logged_out);
            first.client.get("/agent/presence").await.expect_error(401, "unauthorized");
        }
        assert_eq!(online(&second).await, "online", "another session is open");
        // Logging out with a wrong secret in the token does not end the session.
        let (prefix, _) = second.client.token().rsplit_once('.').unwrap();
        for token in [format!("{prefix}.guessed"), "nonsense".to_owned()] {
            host.anonymous.with_token(&token).post("/agent/logout", &json!({})).await.expect(200);
        }
        assert_eq!(online(&second).await, "online");

        second.client.post("/agent/logout", &json!({})).await.expect(200);
        let third = TestAgent::log_in(&host.anonymous, first.id.clone(), &first.email).await;
        assert_eq!(online(&third).await, "offline", "the last session has ended");
        host.anonymous.post("/agent/logout", &json!({})).await.expect_error(401, "unauthorized");
    });
}
