//! Tests for channel secrets, passwords and session tokens, and for which endpoints require the admin role.

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;

use crate::support::api_client::{ApiClient, ApiResponse, PASSWORD, TestAccount, send, unique_email};
use crate::support::protected_routes::protected_paths;
use crate::support::test_host::{TestHost, run_on_shared_host, run_with_virtual_time, visitor_text};

/// Returns the endpoint with one path segment replaced. `from_end` counts the segments from the end, starting at 0 for
/// the last one.
fn with_segment(endpoint: &str, from_end: usize, segment: &str) -> String {
    let mut segments: Vec<_> = endpoint.split('/').collect();
    let index = segments.len() - 1 - from_end;
    segments[index] = segment;
    segments.join("/")
}

#[test]
fn wrong_secret_and_unknown_channel_get_the_same_404() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let (channel, other) =
            (account.create_channel("https://a.example").await, account.create_channel("https://b.example").await);
        let endpoint = &channel.endpoint;
        let secret = endpoint.split('/').rev().nth(1).unwrap();
        assert!(secret.len() >= 22, "fewer than 128 random bits: {secret}");
        let foreign_secret = other.endpoint.split('/').rev().nth(1).unwrap();
        let wrong = [
            with_segment(endpoint, 1, "wrong"),
            with_segment(endpoint, 1, foreign_secret),
            with_segment(endpoint, 1, &secret.to_uppercase()),
            with_segment(endpoint, 1, &format!("{secret}0")),
            with_segment(endpoint, 0, "unknown"),
            with_segment(endpoint, 0, &"x".repeat(2_000)),
            with_segment(endpoint, 0, "%00"),
        ];
        for suffix in ["", "/status"] {
            let mut bodies = Vec::new();
            for target in &wrong {
                let target = format!("{target}{suffix}");
                let reply = if suffix.is_empty() {
                    channel.client.post(&target, &visitor_text("v", "Hi")).await
                } else {
                    channel.client.get(&target).await
                };
                bodies.push(reply.text.clone());
                reply.expect_error(404, "not_found");
            }
            bodies.dedup();
            assert_eq!(bodies.len(), 1, "{bodies:?}");
        }
        assert!(account.admin.chats("open").await.is_empty());
    });
}

async fn log_in(client: &ApiClient, email: &str, password: &str) -> ApiResponse {
    client.post("/agent/login", &json!({"email": email, "password": password})).await
}

/// Returns the processor time that the login function has used so far, in clock ticks.
fn login_processor_time(host: &TestHost) -> u64 {
    let processes = host.local.processes().into_iter().filter(|(function, _)| function == "agent-login");
    let time = |(_, pid): (String, u32)| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let [user, system] = [fields[11], fields[12]].map(|ticks| ticks.parse::<u64>().unwrap());
        user + system
    };
    processes.map(time).sum()
}

#[test]
fn wrong_password_and_unknown_email_are_indistinguishable() {
    run_with_virtual_time(async |host, _| {
        let account = host.create_account().await;
        let mut bodies = Vec::new();
        let mut times = Vec::new();
        for email in [account.admin.email.clone(), unique_email("nobody")] {
            let start = login_processor_time(host);
            for _ in 0..9 {
                let reply = log_in(&host.anonymous, &email, "not the password").await;
                bodies.push(reply.expect_error(401, "invalid_credentials"));
            }
            times.push(login_processor_time(host) - start);
        }
        bodies.dedup();
        assert_eq!(bodies.len(), 1, "{bodies:?}");
        assert!(times[0].abs_diff(times[1]) < times[0] / 2, "{times:?}");
        log_in(&host.anonymous, &account.admin.email.to_uppercase(), PASSWORD).await.expect(200);
    });
}

#[test]
fn every_protected_endpoint_requires_its_token() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let token = account.admin.client.token();
        let operator = host.operator.token();
        let mut altered = token.to_owned();
        let last = if altered.pop() == Some('A') { 'B' } else { 'A' };
        altered.push(last);
        assert!(protected_paths().len() > 15);
        for (method, path) in protected_paths() {
            let other = if path.starts_with("/operator/") { token } else { operator };
            let headers = [
                None,
                Some(String::new()),
                Some("Bearer".to_owned()),
                Some("Bearer ".to_owned()),
                Some("Bearer x".to_owned()),
                Some(format!("Basic {token}")),
                Some(format!("Bearer {altered}")),
                Some(format!("Bearer {other}")),
                Some(format!("Bearer {}", "x".repeat(4_000))),
            ];
            for header in headers {
                let mut request = host.anonymous.request(method.clone(), &path).json(&json!({}));
                if let Some(header) = &header {
                    request = request.header("authorization", header);
                }
                let reply = send(request).await;
                assert_eq!(reply.status, 401, "{method} {path} with {header:?}: {}", reply.text);
                reply.expect_error(401, "unauthorized");
            }
        }
    });
}

/// Returns when the admin's only session expires, as Unix time in seconds. If `shorten` is true, the stored session is
/// then changed so that it expires ten minutes after its last request; the function still returns the original time.
async fn session_expiry(host: &TestHost, account: &TestAccount, shorten: bool) -> u64 {
    let tables = host.tables();
    let pk = format!("AGENT#{}#{}", account.id.as_str().unwrap(), account.admin.id);
    let query = tables.query().table_name("Connections").consistent_read(true);
    let query = query.key_condition_expression("pk = :pk").expression_attribute_values(":pk", AttributeValue::S(pk));
    let items = query.send().await.unwrap().items.unwrap();
    let [session] = &items[..] else { panic!("expected one session: {items:?}") };
    let number = |name: &str| session[name].as_n().unwrap().parse::<u64>().unwrap();
    if shorten {
        let number_value = |number: u64| AttributeValue::N(number.to_string());
        let update = tables.update_item().table_name("Connections");
        let update = update.key("pk", session["pk"].clone()).key("sk", session["sk"].clone());
        let update = update.update_expression("SET last_request_at = :zero, expires_at = :soon");
        let update = update.expression_attribute_values(":zero", number_value(0));
        update
            .expression_attribute_values(":soon", number_value(number("last_request_at") / 1_000 + 600))
            .send()
            .await
            .unwrap();
    }
    number("expires_at")
}

#[test]
fn every_request_extends_its_session() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let initial = session_expiry(host, &account, false).await;
        for (method, path) in protected_paths() {
            if path.starts_with("/operator/") {
                continue;
            }
            session_expiry(host, &account, true).await;
            send(account.admin.client.request(method.clone(), &path).json(&json!({}))).await;
            let extended = session_expiry(host, &account, false).await;
            assert!(extended >= initial, "{method} {path}: {extended} is before {initial}");
        }
    });
}

#[test]
fn agent_cannot_use_admin_endpoints() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let agent = account.create_agent("Ann").await;
        for (method, path) in protected_paths() {
            if path.starts_with("/admin/") {
                let reply = send(agent.client.request(method, &path).json(&json!({}))).await;
                reply.expect_error(403, "forbidden");
            }
        }
    });
}
