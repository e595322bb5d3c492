//! The ledger of deliveries, and what admins have sent again from it.

use futures_util::future::join_all;
use serde_json::{Value, json};
use standardwebhooks::Webhook;

use crate::client::{Account, Agent, Channel, merged, number};
use crate::harness::{Conversation, Stage, VISITOR, alone_on_stage, on_stage, open_chat, timed_on_stage};
use crate::hook::{Hooked, recorded, with_data};
use crate::provider::Front;
use crate::receiver::{Answer, Receiver, Request};
use crate::wait::{PATIENCE, seconds, wait_for};

const DELIVERIES_PATH: &str = "/admin/deliveries";
const REPLAY_PATH: &str = "/admin/deliveries/replay";

/// Words that no ledger and no log may hold.
const TEXT: &str = "text-that-nobody-else-may-read";

/// A page of the ledger.
async fn page(admin: &Agent, query: &str) -> Value {
    admin.call.get(&format!("{DELIVERIES_PATH}{query}")).await.expect(200)
}

/// The deliveries of a page that is the only one.
async fn ledger(admin: &Agent, query: &str) -> Vec<Value> {
    let page = page(admin, query).await;
    assert_eq!(page["next"], Value::Null, "{page}");
    page["deliveries"].as_array().expect("deliveries").clone()
}

async fn replay(admin: &Agent, body: Value) -> Value {
    admin.call.post(REPLAY_PATH, &body).await.expect(202)
}

/// What a replay answers that had nothing left to do.
fn replayed(count: u64) -> Value {
    json!({"replayed": count, "skipped": 0, "next": null})
}

/// The one delivery of an entry, once it is in this state.
async fn becomes(admin: &Agent, chat: u64, seq: u64, state: &str) -> Value {
    wait_for(&format!("{state}: {chat}/{seq}"), PATIENCE, async || {
        let rows = ledger(admin, &format!("?state={state}&chat_id={chat}")).await;
        rows.iter().find(|row| row["seq"] == seq).cloned().ok_or(rows)
    })
    .await
}

/// Whether all of them are the same delivery: one `webhook-id`, and each signed with the secret.
#[track_caller]
fn check_same(secret: &str, requests: &[Request]) {
    let verifier = Webhook::new(secret).unwrap();
    for request in requests {
        verifier.verify(&request.body, &request.header_map()).expect("the signature is right");
        assert_eq!(request.header("webhook-id"), requests[0].header("webhook-id"));
    }
}

fn statuses(row: &Value) -> Vec<Value> {
    row["attempts"].as_array().expect("attempts").iter().map(|attempt| attempt["status"].clone()).collect()
}

#[test]
fn a_message_that_failed_is_listed_with_its_tries_and_sent_again() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::Json(500, json!({}))).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let seq = talk.write(TEXT).await;
        assert_eq!(ledger(&talk.agent, "").await, Vec::<Value>::new(), "it has not failed yet");
        assert_eq!(ledger(&talk.agent, "?state=pending").await.len(), 1);
        let row = becomes(&talk.agent, talk.chat, seq, "failed").await;
        assert_eq!(ledger(&talk.agent, "").await, std::slice::from_ref(&row));

        let message = talk.agent.message(talk.chat, seq).await;
        let expected = json!({
            "chat_id": talk.chat, "seq": seq, "id": message["id"], "target": "channel", "type": "text",
            "channel_id": talk.channel.id, "since": message["timestamp"],
        });
        assert_eq!(row, merged(expected, message["delivery"].clone()));
        assert_eq!((&row["state"], statuses(&row)), (&json!("failed"), vec![json!(500); 3]));
        assert!(row["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{row}");

        integrator.answer(Answer::ok());
        assert_eq!(replay(&talk.agent, json!({"chat_id": talk.chat, "seq": seq})).await, replayed(1));
        let row = becomes(&talk.agent, talk.chat, seq, "delivered").await;
        assert_eq!(statuses(&row), [500, 500, 500, 200], "older tries stay");
        assert_eq!((&row["error"], &row["id"]), (&Value::Null, &message["id"]));
        assert_eq!(ledger(&talk.agent, "").await, Vec::<Value>::new());
        let requests = integrator.requests();
        assert_eq!(requests.len(), 4);
        assert_eq!(requests[3].header("webhook-id"), message["id"].as_str());
        check_same(&talk.channel.signing_secret, &requests);
        assert!(requests.iter().all(|request| request.body == requests[0].body));
    });
}

#[test]
fn a_replay_has_three_tries_of_its_own() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::error(7, "not now")).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let seq = talk.write("Hello?").await;
        becomes(&talk.agent, talk.chat, seq, "failed").await;
        integrator.answer(Answer::Json(503, json!({})));
        replay(&talk.agent, json!({"chat_id": talk.chat, "seq": seq})).await;
        let row = wait_for("the second verdict", PATIENCE, async || {
            let rows = ledger(&talk.agent, "").await;
            if rows.len() == 1 { Ok(rows[0].clone()) } else { Err(rows) }
        })
        .await;
        assert_eq!(statuses(&row), [200, 503, 503, 503]);
        check_same(&talk.channel.signing_secret, &integrator.requests());
    });
}

#[test]
fn an_event_that_failed_is_sent_again_to_its_webhook() {
    on_stage(async |stage| {
        let hooked = Hooked::open_with(stage, [Answer::Json(500, json!({}))]).await;
        let chat = open_chat(&hooked.agent, &hooked.channel, VISITOR).await;
        assert_eq!(recorded(&hooked.agent, chat, "chat_accepted").await["state"], "failed");
        let admin = &hooked.account.admin;
        let rows = ledger(admin, "?target=webhook").await;
        let [row] = rows.as_slice() else { panic!("{rows:#?}") };
        assert_eq!((&row["target"], &row["type"]), (&json!("webhook"), &json!("chat_accepted")));
        assert_eq!((&row["webhook_id"], row["chat_id"].as_u64()), (&hooked.webhook["webhook_id"], Some(chat)));
        assert_eq!(statuses(row), [500, 500, 500]);
        assert_eq!(ledger(admin, "?target=channel").await, Vec::<Value>::new());

        hooked.crm.answer(with_data(json!({"crm_link": "https://crm.example/1"})));
        assert_eq!(replay(admin, json!({"chat_id": chat})).await, replayed(1));
        becomes(admin, chat, number(&row["seq"]), "delivered").await;
        assert_eq!(hooked.panel(chat).await["crm_link"], "https://crm.example/1", "its answer counts");
        let requests = hooked.crm.requests();
        assert_eq!(requests.len(), 4);
        check_same(hooked.webhook["signing_secret"].as_str().unwrap(), &requests);
        assert_eq!(requests[0].header("webhook-id"), row["id"].as_str());
    });
}

#[test]
fn a_notice_that_failed_is_sent_again_to_the_bot() {
    on_stage(async |stage| {
        let front = Front::open(stage).await;
        front.ask(VISITOR, "Hello").await;
        front.provider.answer(Answer::Json(500, json!({})));
        front.agent.accept(1).await;
        let row = wait_for("AGENT_JOINED failed", PATIENCE, async || {
            let rows = ledger(&front.agent, "?target=bot").await;
            rows.first().cloned().ok_or(rows)
        })
        .await;
        assert_eq!((&row["type"], &row["target"]), (&json!("agent_joined"), &json!("bot")));
        assert_eq!((&row["webhook_id"], statuses(&row)), (&Value::Null, vec![json!(500); 3]));
        front.provider.answer(Answer::ok());
        assert_eq!(replay(&front.agent, json!({"chat_id": 1, "seq": row["seq"]})).await, replayed(1));
        becomes(&front.agent, 1, number(&row["seq"]), "delivered").await;
        let requests = front.tries("AGENT_JOINED");
        assert_eq!(requests.len(), 4);
        check_same(&front.bot.signing_secret, &requests);
    });
}

#[test]
fn what_a_visitor_asked_the_bot_is_not_sent_again() {
    timed_on_stage(async |stage| {
        let front = Front::open(stage).await;
        front.ask(VISITOR, "Hello").await;
        front.provider.answer(Answer::Json(500, json!({})));
        front.channel.say(VISITOR, "Anybody?").await;
        front.waits(1, seconds(12)).await;
        assert_eq!(front.bot_verdict(1, "Anybody?").await["state"], "failed");
        let rows = ledger(&front.agent, "").await;
        let [row] = rows.as_slice() else { panic!("{rows:#?}") };
        let tries = front.tries("CLIENT_MESSAGE").len();
        front.provider.answer(Answer::ok());

        let one = json!({"chat_id": 1, "seq": row["seq"]});
        front.agent.call.post(REPLAY_PATH, &one).await.expect_error(409, "conflict");
        let skipped = json!({"replayed": 0, "skipped": 1, "next": null});
        assert_eq!(replay(&front.agent, json!({"chat_id": 1})).await, skipped);
        let since = number(&row["since"]);
        assert_eq!(replay(&front.agent, json!({"from": since, "to": since})).await, skipped);
        assert_eq!(ledger(&front.agent, "").await, rows);
        stage.nothing_is_left().await;
        assert_eq!(front.tries("CLIENT_MESSAGE").len(), tries);
    });
}

#[test]
fn a_delivered_message_is_sent_again_only_by_itself() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::ok()).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let seq = talk.write("Hello").await;
        let row = becomes(&talk.agent, talk.chat, seq, "delivered").await;
        let since = number(&row["since"]);
        assert_eq!(replay(&talk.agent, json!({"chat_id": talk.chat})).await, replayed(0));
        assert_eq!(replay(&talk.agent, json!({"from": since, "to": since})).await, replayed(0));
        assert_eq!(replay(&talk.agent, json!({"chat_id": talk.chat, "seq": seq})).await, replayed(1));
        check_same(&talk.channel.signing_secret, &integrator.received(2, PATIENCE).await);
        wait_for("delivered twice", PATIENCE, async || {
            let row = becomes(&talk.agent, talk.chat, seq, "delivered").await;
            if statuses(&row).len() == 2 { Ok(()) } else { Err(row) }
        })
        .await;
    });
}

#[test]
fn what_is_still_being_delivered_or_goes_nowhere_is_not_sent_again() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::Hang).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let seq = talk.write("Hello").await;
        let one =
            async |chat: u64, seq: u64| talk.agent.call.post(REPLAY_PATH, &json!({"chat_id": chat, "seq": seq})).await;
        one(talk.chat, seq).await.expect_error(409, "conflict");
        one(talk.chat, 1).await.expect_error(409, "conflict");
        one(talk.chat, 99).await.expect_error(404, "not_found");
        one(99, 1).await.expect_error(404, "not_found");
        talk.agent.call.post(REPLAY_PATH, &json!({"chat_id": 99})).await.expect_error(404, "not_found");
        talk.agent.call.get(&format!("{DELIVERIES_PATH}?chat_id=99")).await.expect_error(404, "not_found");
    });
}

/// Two chats of two channels whose integrator refuses everything, and two messages of each.
struct Refused {
    account: Account,
    integrator: Receiver,
    channels: [Channel; 2],
    /// Chat and number, in the order in which they were written.
    written: Vec<(u64, u64)>,
}

impl Refused {
    async fn open(stage: &Stage) -> Self {
        let integrator = Receiver::start(Answer::error(7, "no")).await;
        let account = stage.account().await;
        let channels = [account.channel(&integrator.url()).await, account.channel(&integrator.url()).await];
        let mut written = Vec::new();
        let chats = [
            open_chat(&account.admin, &channels[0], VISITOR).await,
            open_chat(&account.admin, &channels[1], VISITOR).await,
        ];
        for text in ["one", "two"] {
            for chat in chats {
                let seq = account.admin.write(chat, text).await;
                becomes(&account.admin, chat, seq, "failed").await;
                written.push((chat, seq));
            }
        }
        Self { account, integrator, channels, written }
    }

    /// The places of a question's answer, page by page.
    async fn pages(&self, query: &str) -> Vec<Vec<(u64, u64)>> {
        let mut pages = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = page(&self.account.admin, &format!("{query}{cursor}")).await;
            let rows = page["deliveries"].as_array().unwrap().iter();
            pages.push(rows.map(|row| (number(&row["chat_id"]), number(&row["seq"]))).collect());
            let Some(next) = page["next"].as_str() else { return pages };
            cursor = format!("&cursor={next}");
        }
    }

    /// What the integrator heard since `before` requests.
    fn heard(&self, before: usize) -> Vec<Request> {
        self.integrator.requests().split_off(before)
    }
}

#[test]
fn a_chat_is_sent_again_in_the_order_in_which_it_was_written() {
    on_stage(async |stage| {
        let refused = Refused::open(stage).await;
        let admin = &refused.account.admin;
        let (chat, ..) = refused.written[0];
        refused.integrator.answer(Answer::ok());
        assert_eq!(replay(admin, json!({"chat_id": chat})).await, replayed(2));
        refused.integrator.received(6, PATIENCE).await;
        let texts: Vec<String> = refused.heard(4).iter().map(Request::text).collect();
        assert_eq!(texts, ["one", "two"]);
        for (its_chat, seq) in &refused.written {
            let state = if *its_chat == chat { "delivered" } else { "failed" };
            becomes(admin, *its_chat, *seq, state).await;
        }
        assert_eq!(replay(admin, json!({"chat_id": chat})).await, replayed(0));
    });
}

#[test]
fn a_range_is_sent_again_by_channel_and_target() {
    on_stage(async |stage| {
        let refused = Refused::open(stage).await;
        let admin = &refused.account.admin;
        let rows = ledger(admin, "").await;
        let (from, to) = (number(&rows[3]["since"]), number(&rows[0]["since"]));
        let range = |more: Value| merged(json!({"from": from, "to": to}), more);
        refused.integrator.answer(Answer::ok());
        assert_eq!(replay(admin, json!({"from": 0, "to": from - 1})).await, replayed(0));
        assert_eq!(replay(admin, json!({"from": to + 1, "to": to + 9})).await, replayed(0));
        assert_eq!(replay(admin, range(json!({"target": "webhook"}))).await, replayed(0));
        assert_eq!(replay(admin, range(json!({"channel_id": "ELSEWHERE"}))).await, replayed(0));
        let first = json!({"target": "channel", "channel_id": refused.channels[0].id});
        assert_eq!(replay(admin, range(first)).await, replayed(2));
        refused.integrator.received(6, PATIENCE).await;
        assert_eq!(replay(admin, range(json!({}))).await, replayed(2));
        refused.integrator.received(8, PATIENCE).await;
        for (chat, seq) in &refused.written {
            becomes(admin, *chat, *seq, "delivered").await;
        }
        let heard = refused.heard(0);
        for (chat, channel) in refused.channels.iter().enumerate() {
            let (path, chat) = (format!("/hook/{}", channel.id), refused.written[chat].0);
            for seq in refused.written.iter().filter(|(its_chat, _)| *its_chat == chat).map(|(_, seq)| *seq) {
                let id = admin.message(chat, seq).await["id"].clone();
                let is_it = |request: &&Request| request.path == path && request.header("webhook-id") == id.as_str();
                let requests: Vec<Request> = heard.iter().filter(is_it).cloned().collect();
                assert_eq!(requests.len(), 2, "{chat}/{seq}");
                check_same(&channel.signing_secret, &requests);
            }
        }
    });
}

#[test]
fn the_ledger_comes_page_by_page_newest_first() {
    on_stage(async |stage| {
        let refused = Refused::open(stage).await;
        let newest: Vec<_> = refused.written.iter().rev().copied().collect();
        let [first, second, third, fourth] = newest.as_slice() else { panic!("{newest:?}") };
        assert_eq!(refused.pages("?limit=3").await, [vec![*first, *second, *third], vec![*fourth]]);
        assert_eq!(refused.pages("?limit=1").await.concat(), newest);
        assert_eq!(refused.pages("?state=failed").await, std::slice::from_ref(&newest));
        let of_second = format!("?channel_id={}", refused.channels[1].id);
        assert_eq!(refused.pages(&of_second).await.concat(), [*first, *third]);
        assert_eq!(refused.pages(&format!("?chat_id={}&limit=1", second.0)).await.concat(), [*second, *fourth]);

        refused.integrator.answer(Answer::ok());
        replay(&refused.account.admin, json!({"from": 0, "to": 9_999_999_999_u64})).await;
        for (chat, seq) in &refused.written {
            becomes(&refused.account.admin, *chat, *seq, "delivered").await;
        }
        let by_chat = [*first, *third, *second, *fourth];
        assert_eq!(refused.pages("?state=delivered&limit=1").await.concat(), by_chat, "the newest chat first");
        assert_eq!(refused.pages("?state=delivered&target=bot").await.concat(), []);
        assert_eq!(refused.pages("?state=delivered&to=1").await.concat(), []);
        assert_eq!(refused.pages("?state=pending").await.concat(), []);
    });
}

#[test]
fn a_long_range_is_sent_again_a_hundred_at_a_time() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::error(7, "no")).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        for n in 0..105 {
            talk.write(&format!("message {n}")).await;
        }
        wait_for("every verdict", PATIENCE, async || {
            let pending = ledger(&talk.agent, "?state=pending").await;
            if pending.is_empty() { Ok(()) } else { Err(pending.len()) }
        })
        .await;
        integrator.answer(Answer::ok());
        let range = json!({"from": 0, "to": 9_999_999_999_u64});
        let first = replay(&talk.agent, range.clone()).await;
        assert_eq!((&first["replayed"], first["next"].is_string()), (&json!(100), true), "{first}");
        let rest = replay(&talk.agent, merged(range, json!({"cursor": first["next"]}))).await;
        assert_eq!(rest, replayed(5));
        let texts: Vec<String> = integrator.received(210, PATIENCE).await.iter().map(Request::text).collect();
        assert_eq!(texts[..105], texts[105..], "in the order in which they were written");
    });
}

#[test]
fn replays_at_the_same_time_send_once() {
    alone_on_stage(async |stage| {
        let refused = Refused::open(stage).await;
        refused.integrator.answer(Answer::ok());
        let range = json!({"from": 0, "to": 9_999_999_999_u64});
        let answers = join_all((0..6).map(|_| replay(&refused.account.admin, range.clone()))).await;
        let begun: u64 = answers.iter().map(|answer| number(&answer["replayed"])).sum();
        assert!(begun >= 4, "{answers:?}");
        for (chat, seq) in &refused.written {
            let row = becomes(&refused.account.admin, *chat, *seq, "delivered").await;
            assert_eq!(statuses(&row).len(), 2, "{row}");
        }
        stage.nothing_is_left().await;
        assert_eq!(refused.heard(4).len(), 4);
    });
}

#[test]
fn every_wrong_parameter_and_field_is_named() {
    on_stage(async |stage| {
        let admin = stage.account().await.admin.call;
        let parameters = ["state=lost", "target=all", "chat_id=x", "channel_id=%23", "from=x", "to=-1", "limit=0"];
        for parameter in parameters.into_iter().chain(["limit=101", "cursor=x", "cursor=1-2-3-4"]) {
            let error = admin.get(&format!("{DELIVERIES_PATH}?{parameter}")).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], parameter.split('=').next().unwrap(), "{parameter}: {error}");
        }
        let range = |field: &str, value: Value| (field.to_owned(), json!({"from": 0, "to": 9, field: value}));
        let cases = [
            ("chat_id".to_owned(), json!({})),
            ("chat_id".to_owned(), json!({"seq": 1})),
            ("seq".to_owned(), json!({"chat_id": 1, "seq": "1"})),
            ("from".to_owned(), json!({"chat_id": 1, "from": 0, "to": 9})),
            ("to".to_owned(), json!({"from": 10, "to": 9})),
            range("from", json!("x")),
            range("to", json!([])),
            range("target", json!("visitor")),
            range("channel_id", json!({})),
            range("cursor", json!("1-2")),
        ];
        for (field, body) in cases {
            let error = admin.post(REPLAY_PATH, &body).await.expect_error(400, "invalid_request");
            assert_eq!(error["error"]["field"], field.as_str(), "{body}: {error}");
        }
        admin.post(REPLAY_PATH, &json!([])).await.expect_error(400, "invalid_request");
    });
}

#[test]
fn an_account_sees_and_replays_its_own_deliveries_alone_and_nobody_sees_texts() {
    on_stage(async |stage| {
        let integrator = Receiver::start(Answer::error(7, "no")).await;
        let talk = Conversation::open(stage, &integrator.url(), json!({})).await;
        let seq = talk.write(TEXT).await;
        let row = becomes(&talk.agent, talk.chat, seq, "failed").await;
        let stranger = stage.account().await.admin;
        let (chat, id) = (talk.chat, &talk.channel.id);
        for query in ["", "?state=pending", "?state=delivered", &format!("?channel_id={id}")] {
            assert_eq!(ledger(&stranger, query).await, Vec::<Value>::new());
        }
        let cursor = format!("?cursor={}-{chat}-{}", number(&row["since"]) * 1_000 + 2_000, seq + 1);
        assert_eq!(ledger(&stranger, &cursor).await, Vec::<Value>::new());
        stranger.call.get(&format!("{DELIVERIES_PATH}?chat_id={chat}")).await.expect_error(404, "not_found");
        for body in [json!({"chat_id": chat, "seq": seq}), json!({"chat_id": chat})] {
            stranger.call.post(REPLAY_PATH, &body).await.expect_error(404, "not_found");
        }
        assert_eq!(replay(&stranger, json!({"from": 0, "to": 9_999_999_999_u64})).await, replayed(0));

        let agent = talk.account.agent("Ann").await;
        agent.call.get(DELIVERIES_PATH).await.expect_error(403, "forbidden");
        agent.call.post(REPLAY_PATH, &json!({"chat_id": chat})).await.expect_error(403, "forbidden");
        assert_eq!(integrator.requests().len(), 1);

        let seen = page(&talk.agent, "").await.to_string() + &page(&talk.agent, "?state=delivered").await.to_string();
        assert!(!seen.contains(TEXT), "{seen}");
        replay(&talk.agent, json!({"chat_id": chat})).await;
        integrator.received(2, PATIENCE).await;
        let log = stage.log.lock().unwrap();
        assert!(log.iter().any(|line| line.function == "admin-deliveries"));
        assert!(log.iter().all(|line| !line.line.contains(TEXT)));
    });
}
