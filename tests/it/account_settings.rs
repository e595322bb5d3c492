//! What an admin decides for the whole account: Safe URL, limits, rules, call-back, how long things last.

use serde_json::{Value, json};

use crate::client::{Caller, merged};
use crate::harness::{Conversation, VISITOR, on_stage, open_chat, visitor_text};
use crate::hook::{add, recorded, with_data};
use crate::provider::Front;
use crate::receiver::{Answer, Receiver};
use crate::wait::{seconds, wait_for};

const SETTINGS: &str = "/admin/settings";

async fn set(admin: &Caller, settings: Value) -> Value {
    admin.put(SETTINGS, &settings).await.expect(200)
}

#[test]
fn settings_are_set_one_by_one_and_shown_whole() {
    on_stage(async |stage| {
        let (account, other) = (stage.account().await, stage.account().await);
        let admin = &account.admin.call;
        let usual = json!({
            "webhook_url": null, "webhooks": [], "safe_urls": [], "rules": [],
            "callback": {"enabled": false, "days": [1, 2, 3, 4, 5, 6, 7], "from": "00:00", "to": "24:00", "utc_offset": 0},
            "limits": {"visitor_messages": 30, "bot_requests": 300, "channel_chats": 300}, "idle_close": 1_440,
            "retention_days": null,
        });
        assert_eq!(admin.get(SETTINGS).await.expect(200), usual);
        let rules = json!([{
            "name": "Hello", "enabled": true, "type": "all",
            "conditions": [{"condition": "time_on_page", "comparator": "greater", "value": "10"}],
            "commands": [{"command": "proactive", "params": {"message": "Can I help?"}}],
        }]);
        let changes = [
            json!({"safe_urls": ["shop.example", "pay.example"]}),
            json!({"rules": rules}),
            json!({"callback": {"enabled": true, "days": [1, 2], "from": "09:00", "to": "17:30", "utc_offset": 60}}),
            json!({"limits": {"visitor_messages": 10, "bot_requests": 20}}),
            json!({"idle_close": 30, "retention_days": 365}),
            json!({"limits": {"bot_requests": 30, "channel_chats": 40}}),
            json!({"callback": {"to": "18:00", "days": [5]}}),
        ];
        let mut expected = usual.clone();
        for change in changes {
            for (name, value) in change.as_object().unwrap() {
                expected[name] =
                    if value.is_object() { merged(expected[name].clone(), value.clone()) } else { value.clone() };
            }
            assert_eq!(set(admin, change).await, expected);
        }
        assert_eq!(admin.get(SETTINGS).await.expect(200), expected);
        let nulls = json!({
            "safe_urls": null, "rules": null, "callback": null, "limits": null, "idle_close": null,
            "retention_days": null,
        });
        assert_eq!(set(admin, nulls).await, merged(usual.clone(), json!({"idle_close": null})));
        assert_eq!(other.admin.call.get(SETTINGS).await.expect(200), usual);
        let agent = account.agent("Bob").await;
        agent.call.put(SETTINGS, &json!({"idle_close": 1})).await.expect_error(403, "forbidden");
    });
}

#[test]
fn a_wrong_setting_is_named_and_nothing_is_changed() {
    on_stage(async |stage| {
        let admin = stage.account().await.admin.call;
        let before = admin.get(SETTINGS).await.expect(200);
        let table = [
            ("safe_urls", json!({"safe_urls": ["https://shop.example/"]})),
            ("rules[0].type", json!({"rules": [{"name": "a", "enabled": true, "type": "any"}]})),
            ("callback.days", json!({"callback": {"days": [8]}})),
            ("limits.visitor_messages", json!({"limits": {"visitor_messages": 0}})),
            ("limits.channel_chats", json!({"limits": {"channel_chats": 10_001}})),
            ("idle_close", json!({"idle_close": "soon"})),
            ("retention_days", json!({"retention_days": 0.5})),
        ];
        for (field, wrong) in table {
            let body = merged(json!({"idle_close": 5, "safe_urls": ["a.example"]}), wrong);
            let error = admin.put(SETTINGS, &body).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], field, "{body}");
        }
        admin.put(SETTINGS, &json!([])).await.expect_error(400, "invalid_request");
        assert_eq!(admin.get(SETTINGS).await.expect(200), before);
    });
}

#[test]
fn links_to_other_domains_are_not_shown_to_the_agent() {
    on_stage(async |stage| {
        let account = stage.account().await;
        set(&account.admin.call, json!({"safe_urls": ["good.example"]})).await;
        let crm = Receiver::start(with_data(json!({
            "custom_data": [
                {"content": "https://evil.example/a", "link": "https://evil.example/b"},
                {"content": "fine", "link": "https://crm.good.example/c"},
            ],
            "crm_link": "https://evil.example/card",
        })))
        .await;
        add(&account, &crm, json!({})).await;
        let (agent, channel) = (&account.admin, account.channel("https://app.example/hook").await);
        let said = json!({
            "sender": {"id": VISITOR, "name": "www.evil.example", "url": "https://evil.example/", "photo": "https://good.example/p.png"},
            "message": {"type": "text", "text": "see https://evil.example/x or https://good.example/y"},
        });
        channel.post(&said).await.expect(200);
        let file = json!({"type": "document", "file": "https://evil.example/f", "file_name": "f.pdf", "file_size": 1});
        channel.post(&json!({"sender": {"id": VISITOR}, "message": file})).await.expect(200);
        let shown = "see [link blocked] or https://good.example/y";
        let row = &agent.chats("waiting").await[0];
        assert_eq!(
            (&row["visitor"]["name"], &row["last_message"]["text"]),
            (&json!("[link blocked]"), &json!("f.pdf"))
        );
        let accepted = agent.call.post("/agent/chats/1/accept", &json!({})).await.expect(200);
        assert_eq!(accepted["visitor"]["name"], "[link blocked]");
        let timeline = agent.messages(1).await;
        assert_eq!((&timeline[0]["text"], &timeline[1]["file"]), (&json!(shown), &json!("[link blocked]")));
        agent.write(1, "go to https://evil.example/mine").await;
        assert_eq!(agent.messages(1).await.last().unwrap()["text"], "go to https://evil.example/mine");
        recorded(agent, 1, "chat_accepted").await;
        let chat = agent.chat(1).await;
        assert_eq!(
            (&chat["visitor"]["url"], &chat["visitor"]["photo"]),
            (&Value::Null, &json!("https://good.example/p.png"))
        );
        assert_eq!(chat["panel"]["custom_data"][0]["content"], "[link blocked]");
        assert_eq!(chat["panel"]["custom_data"][0]["link"], Value::Null);
        assert_eq!(chat["panel"]["custom_data"][1]["link"], "https://crm.good.example/c");
        assert_eq!(chat["panel"]["crm_link"], Value::Null);
        agent.call.post("/agent/chats/1/assign", &json!({})).await.expect_error(409, "conflict");
        let sales = json!({"name": "Sales", "agent_ids": [agent.id]});
        let department =
            account.admin.call.post("/admin/departments", &sales).await.expect(201)["department_id"].clone();
        agent.presence("online").await;
        let to = json!({"department_id": department});
        let moved = agent.call.post("/agent/chats/1/transfer", &to).await.expect(200);
        assert_eq!(moved["visitor"]["name"], "[link blocked]");

        // What was said is kept: another choice shows it, as soon as a process has heard of it.
        set(&account.admin.call, json!({"safe_urls": []})).await;
        wait_for("the link itself", seconds(15), async || {
            let text = agent.messages(1).await[0]["text"].clone();
            if text == "see https://evil.example/x or https://good.example/y" { Ok(()) } else { Err(text) }
        })
        .await;
    });
}

#[test]
fn links_in_the_words_of_a_receiver_are_not_shown_either() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::error(7, "see https://evil.example/x")).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        set(&talk.agent.call, json!({"safe_urls": ["good.example"]})).await;
        let seq = talk.agent.write(talk.chat, "Hello").await;
        let shown = talk.verdict(seq).await;
        assert_eq!(shown["error"], json!({"code": 7, "message": "see [link blocked]"}));
        assert_eq!(shown["attempts"][0]["error"], "see [link blocked]");
    });
}

#[test]
fn an_accounts_limits_hold_for_its_visitors_and_its_bots() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        set(&front.account.admin.call, json!({"limits": {"visitor_messages": 2, "bot_requests": 3}})).await;
        let chat_id = front.ask(VISITOR, "one").await["chat_id"].clone();
        front.channel.say(VISITOR, "two").await;
        let refused = front.channel.post(&visitor_text(VISITOR, "three")).await;
        assert!(refused.headers.contains_key("retry-after"), "{refused:?}");
        refused.expect_error(429, "rate_limited");
        front.channel.say("another visitor", "one").await;
        // A new window may open in the midst of them.
        let mut replies = Vec::new();
        for _ in 0..7 {
            replies.push(front.bot.say(&chat_id, "hello").await);
        }
        let (taken, refused): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 200);
        assert!((3..=6).contains(&taken.len()), "{}", taken.len());
        assert!(refused.iter().all(|reply| reply.status == 429 && reply.headers.contains_key("retry-after")));
    });
}

#[test]
fn another_account_is_not_limited_by_it() {
    on_stage(async |stage| {
        let (strict, usual) = (stage.account().await, stage.account().await);
        set(&strict.admin.call, json!({"limits": {"visitor_messages": 1}})).await;
        let channel = usual.channel("https://app.example/hook").await;
        open_chat(&usual.admin, &channel, VISITOR).await;
        channel.say(VISITOR, "again").await;
    });
}
