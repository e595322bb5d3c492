//! Tests of the audit log: who changed the configuration of an account, and which fields.

use serde_json::{Value, json};

use crate::support::api_client::{PASSWORD, TestAgent};
use crate::support::test_host::{ActiveChat, run_on_shared_host};

/// Returns the agent's name, the action, the kind and the fields of each entry, newest first.
async fn entries(admin: &TestAgent, query: &str) -> Vec<[String; 4]> {
    let page = admin.client.get(&format!("/admin/audit{query}")).await.expect(200);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let fields = |entry: &Value| entry["fields"].as_array().unwrap().iter().map(text).collect::<Vec<_>>().join(" ");
    let entry =
        |entry: &Value| [text(&entry["agent"]["name"]), text(&entry["action"]), text(&entry["kind"]), fields(entry)];
    page["entries"].as_array().unwrap().iter().map(entry).collect()
}

fn row(agent: &str, action: &str, kind: &str, fields: &str) -> [String; 4] {
    [agent, action, kind, fields].map(str::to_owned)
}

#[test]
fn changes_are_listed_with_agent_address_and_fields() {
    run_on_shared_host(async |host| {
        let (account, other) = (host.create_account().await, host.create_account().await);
        let admin = &account.admin;
        let agent = account.create_agent("Bob").await;
        let channel = account.create_channel("https://app.example/hook?token=hidden").await;
        let path = format!("/admin/channels/{}", channel.id);
        admin.client.patch(&path, &json!({"name": "Shop", "enabled": false})).await.expect(200);
        admin.client.post(&format!("{path}/rotate"), &json!({})).await.expect(200);
        let ada = account.create_agent_with("Ada", json!({"role": "admin"})).await;
        ada.client.put("/admin/settings", &json!({"idle_close": 30, "retention_days": 90})).await.expect(200);
        ada.client.put("/admin/settings", &json!({"idle_close": 30})).await.expect(200);
        ada.client.put("/admin/settings", &json!({"idle_close": 0})).await.expect(400);
        let url = json!({"url": "https://crm.example/hidden"});
        ada.client.post("/admin/settings/webhooks", &url).await.expect(201);
        let operator = json!({"name": "Grace", "email": admin.email, "password": PASSWORD});
        let account_id = account.id.as_str().unwrap();
        host.operator.post(&format!("/operator/accounts/{account_id}/admins"), &operator).await.expect(200);

        let expected = [
            row("", "changed", "agent", "password"),
            row("Ada", "created", "webhook", ""),
            row("Ada", "changed", "settings", "idle_close retention_days"),
            row("Ada", "signed_in", "session", ""),
            row("Grace", "created", "agent", ""),
            row("Grace", "rotated", "channel", "endpoint"),
            row("Grace", "changed", "channel", "name enabled"),
            row("Grace", "created", "channel", ""),
            row("Bob", "signed_in", "session", ""),
            row("Grace", "created", "agent", ""),
            row("Grace", "signed_in", "session", ""),
            row("", "created", "account", ""),
        ];
        assert_eq!(entries(&ada, "").await, expected);
        assert_eq!(entries(&ada, "?kind=channel").await, expected[5..8]);
        assert_eq!(entries(&ada, &format!("?agent_id={}", ada.id)).await, expected[1..4]);
        assert_eq!(entries(&ada, &format!("?id={}&limit=1", channel.id)).await, expected[5..6]);
        assert_eq!(entries(&other.admin, "").await, expected[10..], "nothing of the first account");

        let page = ada.client.get("/admin/audit?limit=3").await.expect(200);
        let cursor = page["next"].as_str().unwrap();
        assert_eq!(entries(&ada, &format!("?cursor={cursor}")).await, expected[3..]);
        assert!(!page.to_string().contains("hidden"), "{page}");
        assert_ne!(page["entries"][1]["source_address"], "");

        agent.client.get("/admin/audit").await.expect_error(403, "forbidden");
        for (field, query) in [("kind", "kind=chat"), ("limit", "limit=0"), ("cursor", "cursor=%20")] {
            let refused = ada.client.get(&format!("/admin/audit?{query}")).await;
            assert_eq!(refused.expect_error(400, "invalid_request")["error"]["field"], field, "{query}");
        }
    });
}

#[test]
fn sign_ins_exports_erasures_replays_tests_and_blacklisting_are_recorded() {
    run_on_shared_host(async |host| {
        let chat = ActiveChat::create(host, "https://app.example/hook", json!({})).await;
        let (admin, agent) = (&chat.account.admin, &chat.agent);
        let wrong = json!({"email": agent.email, "password": "not the password"});
        for _ in 0..3 {
            host.anonymous.post("/agent/login", &wrong).await.expect_error(401, "invalid_credentials");
        }
        agent.client.patch("/agent/visitors/1", &json!({"blacklisted": true})).await.expect(200);
        agent.client.patch("/agent/visitors/1", &json!({"blacklisted": true})).await.expect(200);
        agent.client.patch("/agent/visitors/1", &json!({"blacklisted": false})).await.expect(200);
        for target in ["/admin/chats/export?chat_id=1", "/admin/chats/export.csv?chat_id=1"] {
            assert_eq!(admin.client.get(target).await.status, 200, "{target}");
        }
        admin.client.post(&format!("/admin/channels/{}/test", chat.channel.id), &json!({})).await.expect(200);
        admin.client.post("/admin/deliveries/replay", &json!({"chat_id": 1})).await.expect(202);
        let account_id = chat.account.id.as_str().unwrap();
        let payment = json!({"minutes": 5, "reference": "invoice-7"});
        host.operator.post(&format!("/operator/accounts/{account_id}/call-balance"), &payment).await.expect(200);
        agent.close(1).await;
        admin.client.delete("/admin/visitors/1").await.expect(200);

        let page = admin.client.get("/admin/audit?limit=100").await.expect(200);
        let shown = |entry: &Value| {
            let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
            assert_ne!(text("source_address"), "", "{entry}");
            format!("{} {} {}", text("action"), text("kind"), text("resource_id"))
        };
        let mut entries: Vec<String> = page["entries"].as_array().unwrap().iter().map(shown).collect();
        entries.retain(|entry| !entry.starts_with("created") && !entry.starts_with("signed_in"));
        // The three refused sign-ins and the two exports have at most one entry a minute.
        entries.sort();
        entries.dedup();
        let agent_id = &agent.id;
        let expected = [
            "blacklisted visitor 1".to_owned(),
            "erased visitor 1".to_owned(),
            "exported chats 1".to_owned(),
            "replayed delivery 1".to_owned(),
            format!("sign_in_refused session {agent_id}"),
            format!("tested channel {}", chat.channel.id),
            "topped_up call_balance invoice-7".to_owned(),
            "unblacklisted visitor 1".to_owned(),
        ];
        assert_eq!(entries, expected);
    });
}
