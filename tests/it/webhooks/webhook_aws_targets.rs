//! Tests for webhooks whose target is an SQS queue or an EventBridge event bus of the customer.

use serde_json::{Value, json};

use crate::support::account_with_webhook::{WEBHOOKS_PATH, final_webhook_delivery};
use crate::support::api_client::{TestAccount, TestAgent, TestChannel, merged};
use crate::support::bot_fixture::unique_name;
use crate::support::test_host::{TestHost, VISITOR_ID, open_accepted_chat, run_on_shared_host, run_with_virtual_time};
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

const ROLES_PATH: &str = "/_local/customer-aws/roles";
const RECEIVED_PATH: &str = "/_local/customer-aws/received";

/// The addresses of one customer, which no other test uses.
struct Customer {
    role_arn: String,
    queue_url: String,
    fifo_queue_url: String,
    event_bus_arn: String,
}

impl Customer {
    fn new() -> Self {
        let name = unique_name("customer").replace(' ', "-");
        Self {
            role_arn: format!("arn:aws:iam::123456789012:role/{name}"),
            queue_url: format!("https://sqs.eu-central-1.amazonaws.com/123456789012/{name}"),
            fifo_queue_url: format!("https://sqs.eu-central-1.amazonaws.com/123456789012/{name}.fifo"),
            event_bus_arn: format!("arn:aws:events:eu-central-1:123456789012:event-bus/{name}"),
        }
    }

    async fn trust(&self, host: &TestHost, external_id: &Value) {
        self.set_trust_policy(host, json!({"external_id": external_id})).await;
    }

    async fn set_trust_policy(&self, host: &TestHost, policy: Value) {
        let policy = merged(json!({"role_arn": self.role_arn}), policy);
        let sent = reqwest::Client::new().post(format!("{}{ROLES_PATH}", host.local.base_url())).json(&policy).send();
        assert_eq!(sent.await.unwrap().status(), 200);
    }

    fn webhook(&self, target: &str) -> Value {
        let url = match target {
            "sqs" => &self.queue_url,
            _ => &self.event_bus_arn,
        };
        json!({"target": target, "url": url, "role_arn": self.role_arn})
    }
}

/// Returns what has arrived with this value in a field.
async fn received(host: &TestHost, field: &str, value: &str) -> Vec<Value> {
    let response = reqwest::get(format!("{}{RECEIVED_PATH}", host.local.base_url())).await.unwrap();
    let mut body: Value = response.json().await.unwrap();
    let Value::Array(all) = body["received"].take() else { panic!("{body}") };
    all.into_iter().filter(|message| message[field] == value).collect()
}

async fn wait_for_received(host: &TestHost, field: &str, value: &str, count: usize) -> Vec<Value> {
    wait_for("messages of the customer", WAIT_TIMEOUT, async || {
        let found = received(host, field, value).await;
        if found.len() == count { Ok(found) } else { Err(found) }
    })
    .await
}

struct Fixture {
    account: TestAccount,
    agent: TestAgent,
    channel: TestChannel,
    customer: Customer,
}

impl Fixture {
    /// Creates an account whose external id the customer's role trusts.
    async fn create(host: &TestHost) -> Self {
        let (account, customer) = (host.create_account().await, Customer::new());
        let settings = account.admin.client.get("/admin/settings").await.expect(200);
        customer.trust(host, &settings["aws_external_id"]).await;
        let agent = account.create_agent("Ann").await;
        let channel = account.create_channel("https://app.example/hook").await;
        Self { account, agent, channel, customer }
    }

    async fn add(&self, webhook: Value) -> Value {
        self.account.admin.client.post(WEBHOOKS_PATH, &webhook).await.expect(201)
    }

    async fn open_accepted_chat(&self) -> u64 {
        open_accepted_chat(&self.agent, &self.channel, VISITOR_ID).await
    }
}

#[test]
fn queue_gets_events_with_attributes() {
    run_on_shared_host(async |host| {
        let fixture = Fixture::create(host).await;
        fixture.add(fixture.customer.webhook("sqs")).await;
        let chat = fixture.open_accepted_chat().await;
        fixture.agent.close(chat).await;
        let messages = wait_for_received(host, "queue_url", &fixture.customer.queue_url, 2).await;
        for (message, event) in messages.iter().zip(["chat_accepted", "chat_finished"]) {
            assert_eq!((&message["body"]["event_name"], &message["body"]["chat_id"]), (&json!(event), &json!(chat)));
            let attributes = &message["attributes"];
            assert_eq!(attributes["webhook-event"], event);
            assert!(attributes["webhook-id"].as_str().is_some_and(|id| id.len() == 36), "{attributes}");
            assert!(attributes["webhook-timestamp"].as_str().is_some_and(|at| at.parse::<u64>().is_ok()));
            assert_eq!((&message["role_arn"], &message["group_id"]), (&json!(fixture.customer.role_arn), &Value::Null));
        }
        let delivery = final_webhook_delivery(&fixture.agent, chat, "chat_finished").await;
        assert_eq!((&delivery["state"], &delivery["attempts"][0]["status"]), (&json!("delivered"), &json!(200)));
    });
}

#[test]
fn chat_is_a_message_group_of_a_fifo_queue() {
    run_on_shared_host(async |host| {
        let fixture = Fixture::create(host).await;
        let fifo = json!({"url": fixture.customer.fifo_queue_url});
        fixture.add(merged(fixture.customer.webhook("sqs"), fifo)).await;
        let chat = fixture.open_accepted_chat().await;
        let message = wait_for_received(host, "queue_url", &fixture.customer.fifo_queue_url, 1).await.remove(0);
        assert_eq!(message["group_id"], chat.to_string());
        assert_eq!(message["deduplication_id"], message["attributes"]["webhook-id"]);
    });
}

#[test]
fn event_bus_gets_events_in_both_formats() {
    run_on_shared_host(async |host| {
        let fixture = Fixture::create(host).await;
        let plain = fixture.add(fixture.customer.webhook("eventbridge")).await;
        let chat = fixture.open_accepted_chat().await;
        let bus = &fixture.customer.event_bus_arn;
        let event = wait_for_received(host, "event_bus", bus, 1).await.remove(0);
        assert_eq!((&event["source"], &event["detail_type"]), (&json!("switchboard"), &json!("chat_accepted")));
        assert_eq!(event["detail"]["chat_id"], chat);
        let path = format!("{WEBHOOKS_PATH}/{}", plain["webhook_id"].as_str().unwrap());
        fixture.account.admin.client.delete(&path).await.expect(200);
        fixture.add(merged(fixture.customer.webhook("eventbridge"), json!({"format": "cloudevents"}))).await;
        fixture.agent.close(chat).await;
        let event = wait_for_received(host, "event_bus", bus, 2).await.remove(1);
        assert_eq!(
            (&event["detail_type"], &event["detail"]["type"]),
            (&json!("chat_finished"), &json!("switchboard.chat_finished"))
        );
        assert_eq!(event["detail"]["data"]["chat_id"], chat);
    });
}

#[test]
fn role_of_another_customer_cannot_be_used() {
    run_with_virtual_time(async |host, time| {
        let fixture = Fixture::create(host).await;
        for target in ["sqs", "eventbridge"] {
            fixture.customer.trust(host, &json!("another account")).await;
            let webhook = fixture.add(fixture.customer.webhook(target)).await;
            let chat = fixture.open_accepted_chat().await;
            time.run_until_failure_is_shown().await;
            let failed = final_webhook_delivery(&fixture.agent, chat, "chat_accepted").await;
            assert_eq!((&failed["state"], failed["attempts"].as_array().map(Vec::len)), (&json!("failed"), Some(3)));
            let attempt = &failed["attempts"][2];
            assert_eq!(attempt["status"], 403, "{attempt}");
            assert!(attempt["error"].as_str().is_some_and(|error| error.starts_with("STS: AccessDenied")), "{attempt}");

            let outages = fixture.account.admin.client.get("/admin/outages").await.expect(200);
            assert_eq!(outages["outages"][0]["target"], target, "{outages}");
            let resumed = json!({"target": target, "receiver_id": webhook["webhook_id"]});
            fixture.customer.trust(host, &json!(fixture.account.id)).await;
            fixture.account.admin.client.post("/admin/outages", &resumed).await.expect(200);
            time.advance(seconds(60));
            time.run_until_queues_are_empty().await;
            let late = final_webhook_delivery(&fixture.agent, chat, "chat_accepted").await;
            assert_eq!((&late["state"], &late["late"]), (&json!("delivered"), &json!(true)), "{target}");
            let path = format!("{WEBHOOKS_PATH}/{}", webhook["webhook_id"].as_str().unwrap());
            fixture.account.admin.client.delete(&path).await.expect(200);
            fixture.agent.close(chat).await;
        }
    });
}

#[test]
fn aws_that_does_not_answer_fails_after_three_attempts() {
    run_with_virtual_time(async |host, time| {
        for target in ["sqs", "eventbridge"] {
            let fixture = Fixture::create(host).await;
            fixture.add(fixture.customer.webhook(target)).await;
            let silent = json!({"external_id": fixture.account.id, "is_silent": true});
            fixture.customer.set_trust_policy(host, silent).await;
            let chat = fixture.open_accepted_chat().await;
            for attempt in 1..=3 {
                wait_for_received(host, "unanswered_role", &fixture.customer.role_arn, attempt).await;
                time.advance(seconds(3));
            }
            let failed = final_webhook_delivery(&fixture.agent, chat, "chat_accepted").await;
            let errors: Vec<_> =
                failed["attempts"].as_array().unwrap().iter().map(|attempt| attempt["error"].clone()).collect();
            assert_eq!(errors, ["no response within 3 seconds"; 3]);

            // The next first attempt reads the breaker, which one receiver that hangs in one chat does not open.
            fixture.customer.trust(host, &json!(fixture.account.id)).await;
            fixture.agent.close(chat).await;
            let delivery = final_webhook_delivery(&fixture.agent, chat, "chat_finished").await;
            assert_eq!(delivery["state"], "delivered", "{delivery}");
        }
    });
}

#[test]
fn event_that_is_too_large_for_the_bus_fails_at_once() {
    run_on_shared_host(async |host| {
        let fixture = Fixture::create(host).await;
        fixture.add(merged(fixture.customer.webhook("eventbridge"), json!({"events": ["chat_finished"]}))).await;
        let chat = fixture.open_accepted_chat().await;
        for _ in 0..12 {
            fixture.agent.send_text(chat, &"x".repeat(10_000)).await;
        }
        fixture.agent.close(chat).await;
        let failed = final_webhook_delivery(&fixture.agent, chat, "chat_finished").await;
        assert_eq!((&failed["state"], failed["attempts"].as_array().map(Vec::len)), (&json!("failed"), Some(1)));
        let error = failed["error"]["message"].as_str().expect("a message");
        assert!(error.ends_with("KB; EventBridge accepts at most 256 KB"), "{error}");
        assert_eq!(received(host, "event_bus", &fixture.customer.event_bus_arn).await, [Value::Null; 0]);
    });
}

/// Returns the headers of a shown request, in which the fields of a message to AWS take the place of headers.
fn shown_fields(request: &Value) -> Value {
    let fields = request["headers"].as_array().unwrap().iter();
    fields.map(|field| (field["name"].as_str().unwrap().to_owned(), field["value"].clone())).collect()
}

fn sent_body(request: &Value) -> Value {
    serde_json::from_str(request["body"].as_str().unwrap()).unwrap()
}

#[test]
fn delivery_to_aws_is_shown_as_it_was_sent() {
    run_on_shared_host(async |host| {
        let fixture = Fixture::create(host).await;
        let fifo = json!({"url": fixture.customer.fifo_queue_url});
        fixture.add(merged(fixture.customer.webhook("sqs"), fifo)).await;
        fixture.add(fixture.customer.webhook("eventbridge")).await;
        let chat = fixture.open_accepted_chat().await;
        let message = wait_for_received(host, "queue_url", &fixture.customer.fifo_queue_url, 1).await.remove(0);
        let event = wait_for_received(host, "event_bus", &fixture.customer.event_bus_arn, 1).await.remove(0);
        let admin = &fixture.account.admin;
        let shown = async |target: &str| {
            let path = format!("/admin/deliveries?state=delivered&target={target}&chat_id={chat}");
            let listed = wait_for("the delivery", WAIT_TIMEOUT, async || {
                let page = admin.client.get(&path).await.expect(200);
                page["deliveries"].get(0).cloned().ok_or(page)
            })
            .await;
            let path = format!("/admin/deliveries/{chat}/{}", listed["seq"]);
            admin.client.get(&path).await.expect(200)["request"].clone()
        };
        let request = shown("sqs").await;
        assert_eq!(
            (&request["method"], &request["url"]),
            (&json!("SendMessage"), &json!(fixture.customer.fifo_queue_url))
        );
        let fifo = json!({
            "MessageGroupId": message["group_id"], "MessageDeduplicationId": message["deduplication_id"],
        });
        assert_eq!(shown_fields(&request), merged(message["attributes"].clone(), fifo));
        assert_eq!(sent_body(&request), message["body"]);

        let request = shown("eventbridge").await;
        assert_eq!(
            (&request["method"], &request["url"]),
            (&json!("PutEvents"), &json!(fixture.customer.event_bus_arn))
        );
        let fields = json!({"Source": event["source"], "DetailType": event["detail_type"]});
        assert_eq!((shown_fields(&request), sent_body(&request)), (fields, event["detail"].clone()));
    });
}

#[test]
fn test_event_reaches_queue_and_bus() {
    run_on_shared_host(async |host| {
        let fixture = Fixture::create(host).await;
        let admin = &fixture.account.admin.client;
        let addresses = [
            ("sqs", "queue_url", &fixture.customer.queue_url),
            ("eventbridge", "event_bus", &fixture.customer.event_bus_arn),
        ];
        for (target, field, address) in addresses {
            let webhook = fixture.add(fixture.customer.webhook(target)).await;
            let path = format!("{WEBHOOKS_PATH}/{}/test", webhook["webhook_id"].as_str().unwrap());
            let tested = admin.post(&path, &json!({"event": "chat_finished"})).await.expect(200);
            assert_eq!((&tested["status"], &tested["error"]), (&json!(200), &Value::Null), "{tested}");
            assert_eq!((&tested["request"]["url"], &tested["response"]), (&json!(address), &Value::Null));
            let arrived = received(host, field, address).await.remove(0);
            let body = if target == "sqs" { &arrived["body"] } else { &arrived["detail"] };
            assert_eq!(body["event_name"], "chat_finished");
            assert_eq!(sent_body(&tested["request"]), *body);
            let of_a_server = json!({"clause": "refuses_unsigned"});
            admin.post(&path, &of_a_server).await.expect_error(409, "conflict");

            let other = json!({"role_arn": fixture.customer.role_arn.replace("customer", "unknown")});
            admin.patch(path.trim_end_matches("/test"), &other).await.expect(200);
            let tested = admin.post(&path, &json!({})).await.expect(200);
            assert_eq!(tested["status"], 403, "{tested}");
            assert!(tested["error"].as_str().is_some_and(|error| error.starts_with("STS: AccessDenied")), "{tested}");
            assert_eq!(received(host, field, address).await.len(), 1);
        }
    });
}

#[test]
fn error_names_the_invalid_field_of_a_target() {
    run_on_shared_host(async |host| {
        let fixture = Fixture::create(host).await;
        let (queue, bus) = (fixture.customer.webhook("sqs"), fixture.customer.webhook("eventbridge"));
        let server = json!({"url": "https://crm.example/hook"});
        let invalid = [
            (merged(queue.clone(), json!({"target": "sns"})), "target"),
            (merged(queue.clone(), json!({"url": bus["url"]})), "url"),
            (merged(queue.clone(), json!({"url": "https://crm.example/hook"})), "url"),
            (merged(bus.clone(), json!({"url": queue["url"]})), "url"),
            (merged(queue.clone(), json!({"role_arn": null})), "role_arn"),
            (merged(bus.clone(), json!({"role_arn": "arn:aws:iam::1:role/x"})), "role_arn"),
            (merged(server.clone(), json!({"role_arn": queue["role_arn"]})), "role_arn"),
        ];
        let admin = &fixture.account.admin.client;
        for (body, field) in invalid {
            let refused = admin.post(WEBHOOKS_PATH, &body).await.expect_error(400, "invalid_request");
            assert_eq!(refused["error"]["field"], field, "{body}");
        }
        let added = fixture.add(queue.clone()).await;
        assert_eq!(
            [&added["target"], &added["url"], &added["role_arn"]],
            [&queue["target"], &queue["url"], &queue["role_arn"]]
        );
        let path = format!("{WEBHOOKS_PATH}/{}", added["webhook_id"].as_str().unwrap());
        let refused = admin.patch(&path, &server).await.expect_error(400, "invalid_request");
        assert_eq!(refused["error"]["field"], "url", "the target stays a queue");
        let settings = admin.get("/admin/settings").await.expect(200);
        assert_eq!((&settings["webhook_url"], &settings["aws_external_id"]), (&Value::Null, &fixture.account.id));
    });
}
