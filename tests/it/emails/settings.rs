//! Tests of the setting that lets an account send e-mails.

use serde_json::{Value, json};

use crate::emails::fixture::Fixture;
use crate::support::api_client::unique_email;
use crate::support::test_host::{run_on_own_host, run_with_virtual_time};

#[test]
fn nothing_is_sent_while_the_setting_is_off() {
    run_with_virtual_time(async |host, time| {
        let fixture = Fixture::create(host, time, Value::Null, json!({})).await;
        fixture.open_accepted_chat().await;
        fixture.agent.send_text(1, "Hello").await;
        fixture.agent.close(1).await;
        assert_eq!(fixture.emails_to(time, &fixture.address).await, Vec::<Value>::new());
    });
}

#[test]
fn stack_without_a_domain_refuses_the_setting() {
    run_on_own_host(&[("MailDomain", "")], async |host| {
        let admin = host.create_account().await.admin;
        let email = json!({"email": {"sender_name": "Shop", "transcript_to": [unique_email("team")]}});
        let error = admin.client.put("/admin/settings", &email).await.expect_error(409, "conflict");
        assert!(error["error"]["message"].as_str().unwrap().contains("MailDomain"), "{error}");
        let settings = admin.client.get("/admin/settings").await.expect(200);
        assert_eq!((&settings["email"], &settings["email_domain"]), (&Value::Null, &Value::Null));
        admin.client.put("/admin/settings", &json!({"email": null})).await.expect(200);
    });
}
