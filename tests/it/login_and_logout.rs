//! Signing in and out: wrong passwords are limited, and a session ends when it is asked to.

use futures_util::future::join_all;
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::client::{Agent, PASSWORD, Reply, unique_email};
use crate::contract;
use crate::events::samples;
use crate::harness::{Stage, on_stage};

/// Wrong passwords for an e-mail from one address until a window ends.
const LIMIT: usize = 10;
/// The same for all e-mails together.
const ADDRESS_LIMIT: usize = 100;
/// Seconds of a window.
const WINDOW: u64 = 300;

/// A login as the gateway hands it on from a caller at this address, who claims to be somewhere else each time.
async fn log_in_from(stage: &Stage, address: &str, email: &str, password: &str) -> Reply {
    let mut event = samples()["agent-login"].clone();
    event["requestContext"]["http"]["sourceIp"] = json!(address);
    let claimed = format!("2001:db8::{}, {address}", local::home::random_hex::<2>().unwrap());
    event["headers"]["x-forwarded-for"] = json!(claimed);
    event["headers"]["x-real-ip"] = json!(claimed);
    event["body"] = json!(json!({"email": email, "password": password}).to_string());
    let answer = stage.host.invoke("agent-login", event).await.unwrap();
    let header = |(name, value): (&String, &Value)| {
        (name.parse::<HeaderName>().unwrap(), value.as_str().unwrap().parse::<HeaderValue>().unwrap())
    };
    let reply = Reply {
        status: answer["statusCode"].as_u64().unwrap().try_into().unwrap(),
        headers: answer["headers"].as_object().unwrap().iter().map(header).collect::<HeaderMap>(),
        text: answer["body"].as_str().unwrap().to_owned(),
    };
    contract::check(&Method::POST, "/agent/login", None, &reply);
    reply
}

/// Answers to wrong passwords until one is refused unseen.
async fn until_refused(stage: &Stage, address: &str, email: &str) -> Vec<Reply> {
    let mut replies = Vec::new();
    // A new window may begin once in between.
    while replies.len() <= 2 * LIMIT {
        let reply = log_in_from(stage, address, email, "not the password").await;
        replies.push(reply.clone());
        if reply.status == 429 {
            return replies;
        }
        reply.expect_error(401, "invalid_credentials");
    }
    panic!("never refused");
}

#[test]
fn wrong_passwords_are_limited_by_e_mail_and_address() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let (owner, colleague, unknown) = (&account.admin, account.agent("Ann").await, unique_email("nobody"));
        let (attacker, elsewhere) = ("198.51.100.7", "198.51.100.8");
        let mut last = Vec::new();
        for email in [&owner.email, &unknown] {
            let replies = until_refused(stage, attacker, email).await;
            assert!(replies.len() > LIMIT, "{email}: refused after {}", replies.len());
            last.push(replies.last().unwrap().text.clone());
            // The right password does not help, and the answer says when to come back.
            let refused = log_in_from(stage, attacker, &email.to_uppercase(), PASSWORD).await;
            let wait: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
            assert!((1..=WINDOW).contains(&wait), "{wait}");
            refused.expect_error(429, "rate_limited");
        }
        assert_eq!(last[0], last[1], "known and unknown");
        // Nobody else is refused: neither the owner elsewhere nor a colleague behind the same address.
        log_in_from(stage, elsewhere, &owner.email, PASSWORD).await.expect(200);
        log_in_from(stage, attacker, &colleague.email, PASSWORD).await.expect(200);
    });
}

#[test]
fn an_address_over_its_limit_still_serves_whom_it_served_before() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let (known, address) = (&account.admin.email, "198.51.100.10");
        log_in_from(stage, address, known, PASSWORD).await.expect(200);
        // Twice the limit, because a new window may begin once in between.
        let strangers: Vec<_> = (0..=2 * ADDRESS_LIMIT).map(|_| unique_email("stranger")).collect();
        let guesses = strangers.iter().map(async |email| log_in_from(stage, address, email, "not the password").await);
        let guesses: Vec<_> = join_all(guesses).await.iter().map(|reply| reply.status).collect();
        assert!(guesses.iter().all(|status| [401, 429].contains(status)) && guesses.contains(&429), "{guesses:?}");
        log_in_from(stage, address, &unique_email("another"), PASSWORD).await.expect_error(429, "rate_limited");
        log_in_from(stage, address, known, PASSWORD).await.expect(200);
    });
}

#[test]
fn the_right_password_clears_the_wrong_ones_before_it() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let email = &account.admin.email;
        for _ in 0..3 {
            for _ in 0..LIMIT - 3 {
                let reply = log_in_from(stage, "198.51.100.9", email, "not the password").await;
                reply.expect_error(401, "invalid_credentials");
            }
            log_in_from(stage, "198.51.100.9", email, PASSWORD).await.expect(200);
        }
    });
}

#[test]
fn logout_ends_the_session_and_no_other() {
    on_stage(async |stage| {
        let account = stage.account().await;
        let first = account.agent("Ann").await;
        let second = Agent::log_in(&stage.anyone, first.id.clone(), &first.email).await;
        first.presence("online").await;
        let online = async |agent: &Agent| agent.call.get("/agent/presence").await.expect(200)["status"].clone();

        let gone = json!({"logged_out": true});
        // A request that was repeated because its answer was lost.
        for _ in 0..2 {
            assert_eq!(first.call.post("/agent/logout", &json!({})).await.expect(200), gone);
            first.call.get("/agent/presence").await.expect_error(401, "unauthorized");
        }
        assert_eq!(online(&second).await, "online", "there is another session");
        // Whoever does not know the secret ends nothing.
        let (prefix, _) = second.call.bearer().rsplit_once('.').unwrap();
        for token in [format!("{prefix}.guessed"), "nonsense".to_owned()] {
            stage.anyone.with(&token).post("/agent/logout", &json!({})).await.expect(200);
        }
        assert_eq!(online(&second).await, "online");

        second.call.post("/agent/logout", &json!({})).await.expect(200);
        let third = Agent::log_in(&stage.anyone, first.id.clone(), &first.email).await;
        assert_eq!(online(&third).await, "offline", "the last session was ended");
        stage.anyone.post("/agent/logout", &json!({})).await.expect_error(401, "unauthorized");
    });
}
