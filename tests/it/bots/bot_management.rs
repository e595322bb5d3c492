//! Tests for the endpoints with which admins manage bots and the operator manages bot providers.

use reqwest::Method;
use serde_json::{Value, json};

use crate::bots::bot_endpoint::text_event;
use crate::support::api_client::{TestChannel, merged, send};
use crate::support::bot_fixture::{BOT_NAME, BotFixture, register_provider, unique_name};
use crate::support::test_host::{VISITOR_ID, run_on_shared_host, run_with_virtual_time};
use crate::support::wait::seconds;

#[test]
fn bot_is_connected_listed_read_changed_and_disconnected() {
    run_with_virtual_time(async |host, time| {
        let fixture = BotFixture::create(host).await;
        let admin = &fixture.agent.client;
        let path = format!("/admin/bots/{}", fixture.bot.bot_id);
        let read = admin.get(&path).await.expect(200);
        let expected = json!({
            "bot_id": fixture.bot.bot_id, "provider_id": fixture.bot.provider_id, "name": BOT_NAME,
            "channel_ids": [fixture.channel.id], "answer_within": null, "agent_wait_seconds": null,
            "quiet_ms": 0, "quiet_max_ms": 15_000, "visitor_data": [], "human_words": false, "disclosure": true, "standby": false,
            "created_at": read["created_at"],
        });
        assert_eq!(read, expected, "the response contains no secret");
        assert_eq!(admin.get("/admin/bots").await.expect(200), json!({"bots": [read]}));
        let channel = format!("/admin/channels/{}", fixture.channel.id);
        assert_eq!(admin.get(&channel).await.expect(200)["bot_id"], fixture.bot.bot_id.as_str());

        let activity = admin.get(&format!("{path}/activity")).await.expect(200);
        assert_eq!((&activity["events"], &activity["is_complete"]), (&json!(0), &json!(true)));

        let second = fixture.account.create_channel(&fixture.integrator.url()).await;
        let change = json!({
            "name": "Rob", "answer_within": 5, "channel_ids": [second.id], "visitor_data": ["contacts"], "human_words": true,
            "disclosure": false, "standby": true,
        });
        let changed = admin.patch(&path, &change).await.expect(200);
        assert_eq!(changed, merged(expected, change));
        assert_eq!(admin.get(&path).await.expect(200), changed);
        assert_eq!(admin.get(&channel).await.expect(200)["bot_id"], Value::Null);

        admin.delete(&format!("/admin/channels/{}", second.id)).await.expect(200);
        assert_eq!(admin.get(&path).await.expect(200)["channel_ids"], json!([]));
        admin.delete(&path).await.expect(200);
        admin.get(&path).await.expect_error(404, "not_found");
        assert_eq!(admin.get("/admin/bots").await.expect(200), json!({"bots": []}));
        time.advance(seconds(10));
        assert_eq!(fixture.bot.post(&text_event(1)).await.status, 401);
    });
}

#[test]
fn error_names_every_invalid_field_of_bots_and_providers() {
    run_on_shared_host(async |host| {
        let fixture = BotFixture::create(host).await;
        let valid = json!({"provider_id": fixture.bot.provider_id, "token": unique_name("token"), "channel_ids": [], "name": "Rob"});
        let cases = [
            ("provider_id", vec![json!(null), json!(5), json!(""), json!("unknown")]),
            ("token", vec![json!(5), json!(""), json!("7"), json!("nineteen characters"), json!(".".repeat(20))]),
            ("channel_ids", vec![json!(5), json!("x"), json!([5]), json!([null])]),
            ("name", vec![json!(5), json!([])]),
            ("answer_within", vec![json!(0), json!(901), json!("2"), json!(1.5)]),
            ("agent_wait_seconds", vec![json!(9), json!(901), json!("20"), json!(10.5)]),
        ];
        for (field, values) in cases {
            for value in values {
                let reply =
                    fixture.agent.client.post("/admin/bots", &merged(valid.clone(), json!({field: value}))).await;
                assert_eq!(reply.status, 400, "{field} {value}: {}", reply.text);
                assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], field, "{value}");
            }
        }
        for field in ["provider_id", "token"] {
            let path = format!("/admin/bots/{}", fixture.bot.bot_id);
            let reply = fixture.agent.client.patch(&path, &json!({field: "another"})).await;
            assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], field);
        }
        let valid = json!({"name": "Bots & Co", "endpoint": "https://bots.example"});
        let cases = [
            ("name", vec![json!(null), json!(""), json!(5)]),
            ("endpoint", vec![json!(null), json!(""), json!(5), json!("ftp://x"), json!("http://10.0.0.1/x")]),
            ("authorization", vec![json!(5), json!([])]),
        ];
        for (field, values) in cases {
            for value in values {
                let body = merged(valid.clone(), json!({field: value}));
                let reply = host.operator.post("/operator/providers", &body).await;
                assert_eq!(reply.status, 400, "{field} {value}: {}", reply.text);
                assert_eq!(reply.expect_error(400, "invalid_request")["error"]["field"], field, "{value}");
            }
        }
    });
}

#[test]
fn successive_provider_changes_are_merged() {
    run_on_shared_host(async |host| {
        let provider = register_provider(&host.operator, "https://old.example/bots", json!({})).await;
        let path = format!("/operator/providers/{provider}");
        host.operator.get(&path).await.expect(200);
        for change in
            [json!({"endpoint": "https://new.example"}), json!({"name": "New"}), json!({"authorization": "x"})]
        {
            host.operator.patch(&path, &change).await.expect(200);
        }
        let shown = host.operator.get(&path).await.expect(200);
        let fields = [&shown["endpoint"], &shown["name"], &shown["has_authorization"]];
        assert_eq!(fields, [&json!("https://new.example/"), &json!("New"), &json!(true)]);
    });
}

#[test]
fn token_and_channel_each_belong_to_one_bot() {
    run_on_shared_host(async |host| {
        let (ours, theirs) = (BotFixture::create(host).await, BotFixture::create(host).await);
        let free_channel = ours.account.create_channel(&ours.integrator.url()).await;
        let connect = async |provider: &str, token: &str, channel: &TestChannel| {
            let body = json!({"provider_id": provider, "token": token, "channel_ids": [channel.id]});
            ours.agent.client.post("/admin/bots", &body).await
        };
        let used_token = connect(&theirs.bot.provider_id, &theirs.bot.token, &free_channel).await;
        used_token.expect_error(409, "conflict");
        let unused = unique_name("token");
        connect(&ours.bot.provider_id, &unused, &ours.channel).await.expect_error(409, "conflict");
        connect(&ours.bot.provider_id, &unused, &theirs.channel).await.expect_error(409, "conflict");
        let created = connect(&ours.bot.provider_id, &theirs.bot.token, &free_channel).await.expect(201);
        assert_eq!(created["answer_within"], 120, "the default");
        let path = format!("/admin/bots/{}", ours.bot.bot_id);
        let response = ours.agent.client.patch(&path, &json!({"channel_ids": [theirs.channel.id]})).await;
        response.expect_error(409, "conflict");
        let channel = theirs.agent.client.get(&format!("/admin/channels/{}", theirs.channel.id)).await.expect(200);
        assert_eq!(channel["bot_id"], theirs.bot.bot_id.as_str());
    });
}

#[test]
fn account_cannot_see_bots_of_another_account() {
    run_on_shared_host(async |host| {
        let (ours, theirs) = (BotFixture::create(host).await, BotFixture::create(host).await);
        let path = format!("/admin/bots/{}", theirs.bot.bot_id);
        for (method, body) in [
            (Method::GET, json!({})),
            (Method::PATCH, json!({"name": "Mine"})),
            (Method::PATCH, json!({"channel_ids": [ours.channel.id]})),
            (Method::DELETE, json!({})),
        ] {
            let reply = send(ours.agent.client.request(method, &path).json(&body)).await;
            reply.expect_error(404, "not_found");
        }
        let listed = ours.agent.client.get("/admin/bots").await.expect(200);
        assert_eq!(listed["bots"].as_array().unwrap().len(), 1);
        assert_eq!(listed["bots"][0]["bot_id"], ours.bot.bot_id.as_str());
        assert_eq!(theirs.agent.client.get(&path).await.expect(200)["name"], BOT_NAME);
        theirs.send_visitor_text(VISITOR_ID, "Still there?").await;
    });
}
