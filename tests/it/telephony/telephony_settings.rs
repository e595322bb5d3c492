//! Tests for the endpoints that configure an account's telephony, and for the operator's top-up of its balance.

use serde_json::{Value, json};

use crate::support::call_fixture::{ACCOUNT_NUMBER, GATEWAY_SECRET, TELEPHONY_PATH};
use crate::support::test_host::run_on_shared_host;
use crate::support::test_receiver::unused_port;

#[test]
fn telephony_is_configured_without_showing_its_secrets() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let admin = &account.admin.client;
        let none = admin.get(TELEPHONY_PATH).await.expect(200);
        assert_eq!((&none["telephony"], &none["balance_minutes"]), (&Value::Null, &json!(0)));
        let id = account.id.as_str().unwrap();
        assert!(none["incoming_url"].as_str().unwrap().ends_with(&format!("/calls/{id}")));
        let url = format!("http://127.0.0.1:{}/", unused_port().await);
        let http = json!({
            "provider": "http", "url": url, "signing_secret": GATEWAY_SECRET, "number": "+31 20 123 4567", "future": 1,
        });
        let expected = json!({
            "provider": "http", "url": url, "number": ACCOUNT_NUMBER, "channel_id": null, "record": false,
            "ring_seconds": 30, "max_minutes": 120, "countries": ["NL"], "callbacks_per_number": 5,
            "callbacks_per_day": 200, "locked": false,
        });
        assert_eq!(admin.patch(TELEPHONY_PATH, &http).await.expect(200)["telephony"], expected);
        let channel = account.create_channel("https://app.example/hook").await;
        let changes = json!({
            "channel_id": channel.id, "record": true, "ring_seconds": 5, "max_minutes": 1, "countries": ["nl", "BE"],
            "callbacks_per_day": 10,
        });
        let changed = admin.patch(TELEPHONY_PATH, &changes).await.expect(200);
        assert_eq!((&changed["telephony"]["url"], &changed["telephony"]["ring_seconds"]), (&json!(url), &json!(5)));
        assert_eq!(admin.get(TELEPHONY_PATH).await.expect(200), changed);
        let twilio = json!({"provider": "twilio", "account_sid": "AC1", "auth_token": "t0ken"});
        let path = format!("/operator/accounts/{id}/telephony");
        let by_operator = host.operator.patch(&path, &twilio).await.expect(200);
        assert_eq!(by_operator["telephony"]["account_sid"], "AC1");
        assert!(!by_operator.to_string().contains("t0ken"));
        assert_eq!(host.operator.get(&path).await.expect(200), by_operator);
        assert_eq!(admin.delete(TELEPHONY_PATH).await.expect(200), json!({"deleted": true}));
        assert_eq!(host.operator.get(&path).await.expect(200)["telephony"], Value::Null);
        host.operator.delete(&path).await.expect(200);

        let log = admin.get("/admin/audit?kind=telephony").await.expect(200);
        let summary = |entry: &Value| json!([entry["agent"]["name"], entry["action"], entry["fields"]]);
        let entries: Vec<Value> = log["entries"].as_array().unwrap().iter().map(summary).collect();
        assert_eq!(changed["telephony"]["countries"], json!(["BE", "NL"]));
        let changed = ["channel_id", "record", "ring_seconds", "max_minutes", "countries", "callbacks_per_day"];
        let expected = [
            json!(["Grace", "deleted", []]),
            json!([null, "changed", ["provider"]]),
            json!(["Grace", "changed", changed]),
            json!(["Grace", "created", []]),
        ];
        assert_eq!(entries, expected);
    });
}

#[test]
fn telephony_that_the_operator_has_locked_is_changed_by_the_operator_only() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let admin = &account.admin.client;
        let path = format!("/operator/accounts/{}/telephony", account.id.as_str().unwrap());
        let twilio = json!({"provider": "twilio", "account_sid": "AC1", "auth_token": "t", "number": ACCOUNT_NUMBER});
        host.operator.patch(&path, &twilio).await.expect(200);
        let by_admin = admin.patch(TELEPHONY_PATH, &json!({"locked": true})).await;
        assert_eq!(by_admin.expect_error(400, "invalid_request")["error"]["field"], "locked");
        admin.patch(TELEPHONY_PATH, &json!({"locked": false, "record": true})).await.expect(200);

        let locked = host.operator.patch(&path, &json!({"locked": true})).await.expect(200);
        for response in
            [admin.patch(TELEPHONY_PATH, &json!({"number": "+31205555555"})).await, admin.delete(TELEPHONY_PATH).await]
        {
            let error = response.expect_error(403, "forbidden");
            assert_eq!(error["error"]["message"], "the operator has locked the telephony of this account");
        }
        assert_eq!(admin.get(TELEPHONY_PATH).await.expect(200), locked);
        host.operator.patch(&path, &json!({"locked": false})).await.expect(200);
        admin.delete(TELEPHONY_PATH).await.expect(200);
        host.operator.patch(&path, &json!({"locked": true})).await.expect_error(400, "invalid_request");
    });
}

#[test]
fn invalid_telephony_settings_name_the_field() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let other = host.create_account().await;
        let foreign = other.create_channel("https://app.example/hook").await;
        let twilio = |name: &str, value: Value| {
            let mut body =
                json!({"provider": "twilio", "account_sid": "AC1", "auth_token": "t", "number": ACCOUNT_NUMBER});
            body[name] = value;
            body
        };
        for (field, body) in [
            ("provider", json!({"number": ACCOUNT_NUMBER})),
            ("number", twilio("number", json!("020 123 4567"))),
            ("channel_id", twilio("channel_id", json!(foreign.id))),
            ("channel_id", twilio("channel_id", json!("unknown"))),
            ("auth_token", twilio("auth_token", Value::Null)),
            ("ring_seconds", twilio("ring_seconds", json!(0))),
            ("countries", twilio("countries", json!(["Holland"]))),
            ("callbacks_per_number", twilio("callbacks_per_number", json!(0))),
        ] {
            let error = account.admin.client.patch(TELEPHONY_PATH, &body).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], field, "{body}");
        }
        let agent = account.create_agent("Ann").await;
        agent.client.get(TELEPHONY_PATH).await.expect_error(403, "forbidden");
        agent.client.without_token().get(TELEPHONY_PATH).await.expect_error(401, "unauthorized");
        let path = format!("/operator/accounts/{}/telephony", account.id.as_str().unwrap());
        account.admin.client.get(&path).await.expect_error(401, "unauthorized");
        host.operator.get("/operator/accounts/unknown/telephony").await.expect_error(404, "not_found");
    });
}

#[test]
fn operator_tops_up_the_balance_once_for_each_payment() {
    run_on_shared_host(async |host| {
        let account = host.create_account().await;
        let path = format!("/operator/accounts/{}/call-balance", account.id.as_str().unwrap());
        for (minutes, reference, balance) in [(60, "1", 60), (60, "1", 60), (5, "2", 65)] {
            let body = json!({"minutes": minutes, "reference": reference});
            assert_eq!(host.operator.post(&path, &body).await.expect(200), json!({"balance_minutes": balance}));
        }
        let changed = json!({"minutes": 61, "reference": "1"});
        host.operator.post(&path, &changed).await.expect_error(422, "idempotency_mismatch");
        assert_eq!(account.admin.client.get(TELEPHONY_PATH).await.expect(200)["balance_minutes"], 65);
        let invalid = host.operator.post(&path, &json!({"minutes": -1, "reference": "3"})).await;
        assert_eq!(invalid.expect_error(400, "invalid_request")["error"]["field"], "minutes");
        let unknown = "/operator/accounts/unknown/call-balance";
        host.operator.post(unknown, &json!({"minutes": 1, "reference": "3"})).await.expect_error(404, "not_found");
        account
            .admin
            .client
            .post(&path, &json!({"minutes": 1, "reference": "3"}))
            .await
            .expect_error(401, "unauthorized");
    });
}
