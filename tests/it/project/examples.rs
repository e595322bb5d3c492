//! Runs one conversation through the example programs (docs/examples) for each language. The programs need the packages
//! that `tests/run` installs in target/examples.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use check::{Partner, Server, check};
use local::cargo_build::workspace_root;
use reqwest::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

use crate::support::api_client::TestAgent;
use crate::support::bot_fixture::{BOT_NAME, TestBot, register_provider};
use crate::support::test_host::{VISITOR_ID, run_on_shared_host};
use crate::support::test_receiver::{CannedResponse, ReceivedRequest, TestReceiver, unused_port};
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

#[derive(Clone, Copy)]
enum Language {
    Python,
    Node,
    Php,
}

impl Language {
    /// Returns the command that runs an example program. The program is a copy in `folder`.
    fn command(self, role: &str, port: u16, folder: &Path) -> Command {
        let installed = workspace_root().join("target/examples");
        let program = self.copy_program(role, folder, &installed);
        match self {
            Self::Python => command(installed.join("venv/bin/python"), &[program]),
            Self::Node => command("node".into(), &[program]),
            Self::Php if role == "sender" => command("php".into(), &[program]),
            Self::Php => command("php".into(), &["-S".into(), format!("127.0.0.1:{port}").into(), program]),
        }
    }

    fn copy_program(self, role: &str, folder: &Path, installed: &Path) -> PathBuf {
        let (language, extension) = match self {
            Self::Python => ("python", "py"),
            Self::Node => ("node", "js"),
            Self::Php => ("php", "php"),
        };
        let name = format!("{role}.{extension}");
        let source = fs::read_to_string(workspace_root().join("docs/examples").join(language).join(&name)).unwrap();
        // Node.js looks for packages next to the program.
        let program = if language == "node" { installed.join("node").join(name) } else { folder.join(name) };
        fs::write(&program, if role == "integrator" { self.with_one_failure(&source) } else { source }).unwrap();
        program
    }

    /// Changes the integrator's program so that it fails to forward its first message.
    fn with_one_failure(self, source: &str) -> String {
        let (function, failure) = match self {
            Self::Python => (
                "\"\"\"Replace this function: forward the message to the visitor.\"\"\"\n",
                "
        if not os.path.exists(os.environ['FAILED']):
            open(os.environ['FAILED'], 'w').close()
            raise RuntimeError('broken')\n",
            ),
            Self::Node => (
                "function forwardToVisitor({ sender, recipient, message }) {\n",
                "if (!fs.existsSync(process.env.FAILED)) {
                    fs.writeFileSync(process.env.FAILED, '');
                    throw new Error('broken');
                }\n",
            ),
            Self::Php => (
                "function forward_to_visitor(array $event): void\n{\n",
                "if (!file_exists(getenv('FAILED'))) {
                    touch(getenv('FAILED'));
                    throw new RuntimeException('broken');
                }\n",
            ),
        };
        assert!(source.contains(function), "{source}");
        let changed = source.replacen(function, &format!("{function}{failure}"), 1);
        if matches!(self, Self::Node) { format!("import fs from 'node:fs';\n{changed}") } else { changed }
    }
}

fn command(program: PathBuf, arguments: &[PathBuf]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// Dropping this value kills the program.
struct ExampleProgram {
    port: u16,
    output: TempDir,
    _process: Child,
}

impl ExampleProgram {
    async fn start(language: Language, role: &str, port: u16, environment: &[(&str, &str)]) -> Self {
        let output = tempfile::tempdir().unwrap();
        let file = |name: &str| File::create(output.path().join(name)).unwrap();
        let mut command = language.command(role, port, output.path());
        command.env("PORT", port.to_string()).env("FAILED", output.path().join("failed"));
        command.envs(environment.iter().copied());
        let process = command.stdout(file("stdout")).stderr(file("stderr")).spawn();
        let program = Self { port, _process: process.expect("the packages that tests/run installs"), output };
        wait_for("the program listens", WAIT_TIMEOUT, async || {
            TcpStream::connect(("127.0.0.1", port)).await.map_err(|error| (role, error, program.read("stderr")))
        })
        .await;
        program
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.output.path().join(name)).unwrap()
    }

    async fn wait_for_line(&self, line: &str) {
        wait_for(line, WAIT_TIMEOUT, async || {
            let printed = self.read("stdout");
            if printed.lines().any(|it| it == line) { Ok(()) } else { Err((printed, self.read("stderr"))) }
        })
        .await;
    }

    async fn wait_for_error(&self, text: &str) {
        wait_for(text, WAIT_TIMEOUT, async || {
            let errors = self.read("stderr");
            if errors.contains(text) { Ok(()) } else { Err(errors) }
        })
        .await;
    }

    /// Sends a part of a request, as a client that disconnects during its upload.
    async fn abort_upload(&self) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        stream.write_all(b"POST / HTTP/1.1\r\nhost: example\r\ncontent-length: 100\r\n\r\n{").await.unwrap();
    }

    /// Checks that the program rejects requests that have no signature or an invalid one.
    async fn assert_rejects_unsigned_requests(&self) {
        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs().to_string();
        let unsigned = || Client::new().post(address(self.port)).body("{}");
        let signed = unsigned().header("webhook-id", "1").header("webhook-timestamp", now);
        let signed = signed.header("webhook-signature", "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=");
        for request in [unsigned(), signed] {
            assert_eq!(request.send().await.unwrap().status(), 401, "{}", self.read("stderr"));
        }
    }
}

fn address(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

/// Runs the sender with two lines, of which the channel stores the first: its response is lost, and the second message
/// is rejected. Returns the requests.
async fn send_lines(language: Language, channel_url: &str, line: &str) -> Vec<ReceivedRequest> {
    let channel = TestReceiver::start(CannedResponse::ok()).await.without_document_check();
    let (url, attempts) = (channel_url.to_owned(), Arc::new(AtomicUsize::new(0)));
    channel.respond_by(move |request| {
        let (url, attempt) = (url.clone(), attempts.fetch_add(1, Ordering::Relaxed));
        async move {
            let key = request.header("idempotency-key").unwrap_or_default();
            let sent = Client::new().post(url).header("idempotency-key", key).body(request.body.clone());
            let status = if attempt < 2 { sent.send().await.unwrap().status().as_u16() } else { 404 };
            CannedResponse::Json(if attempt == 0 { 503 } else { status }, json!({}))
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let mut command = language.command("sender", 0, folder.path());
    command.args([VISITOR_ID, "Ada"]).env("CHANNEL_URL", channel.url());
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut sender = piped.expect("the packages that tests/run installs");
    let mut stdin = sender.stdin.take().unwrap();
    stdin.write_all(format!("{line}\n\nrejected\n").as_bytes()).await.unwrap();
    drop(stdin);
    let output = sender.wait_with_output().await.unwrap();
    let [printed, errors] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    assert_eq!(printed.lines().collect::<Vec<_>>(), [format!("sent: {line}")], "{errors}");
    assert!(errors.starts_with("not sent: HTTP 404") && errors.lines().count() == 1, "{errors}");
    channel.requests()
}

/// A visitor talks to the bot, which replies and then hands the chat over to the agent. The agent sees the webhook's
/// custom data and replies to the visitor. Before that, clients disconnect during uploads, the bot gets a test event,
/// the response to the visitor's first message is lost, and the integrator fails to forward the bot's first answer.
fn complete_conversation(language: Language) {
    run_on_shared_host(async |host| {
        let [to_integrator, to_bot, to_webhook] = [unused_port().await, unused_port().await, unused_port().await];
        let account = host.create_account().await;
        let agent = &account.admin;
        let channel = account.create_channel(&address(to_integrator)).await;
        let provider = register_provider(&host.operator, &address(to_bot), json!({})).await;
        let bot = TestBot::connect(&account, &provider, &[&channel], json!({})).await;
        let created =
            agent.client.post("/admin/settings/webhooks", &json!({"url": address(to_webhook)})).await.expect(201);

        let start = async |role, port, secret, variables: &[(&str, &str)]| {
            ExampleProgram::start(language, role, port, &[&[("SIGNING_SECRET", secret)], variables].concat()).await
        };
        let integrator = start("integrator", to_integrator, &*channel.signing_secret, &[]).await;
        let events = format!("{}{}", host.local.base_url(), bot.webhook_path());
        let bot_program = start("bot", to_bot, &*bot.signing_secret, &[("EVENTS_URL", &*events)]).await;
        let webhook = start("webhook", to_webhook, created["signing_secret"].as_str().unwrap(), &[]).await;

        for program in [&integrator, &bot_program, &webhook] {
            program.abort_upload().await;
        }
        agent.client.post(&format!("/admin/bots/{}/test", bot.bot_id), &json!({})).await.expect(200);
        bot_program.wait_for_error("BOT_MESSAGE was not accepted: HTTP 400").await;
        assert!(!bot_program.read("stderr").contains("Traceback"), "{}", bot_program.read("stderr"));

        let sent = send_lines(language, &channel.endpoint, "When are you open?").await;
        let keys: Vec<_> = sent.iter().map(|request| request.header("idempotency-key").unwrap()).collect();
        assert!(matches!(keys[..], [first, repeated, other] if first == repeated && first != other), "{keys:?}");
        let opening_hours = "We are open from 9 to 5. Write \"human\" to talk to an agent.";
        integrator.wait_for_line(&format!("{BOT_NAME} to {VISITOR_ID}: {opening_hours}")).await;
        channel.send_text(VISITOR_ID, "A human, please").await;
        let no_agent = "Nobody is here right now. Please leave your e-mail address.";
        integrator.wait_for_line(&format!("{BOT_NAME} to {VISITOR_ID}: {no_agent}")).await;
        agent.set_presence("online").await;
        channel.send_text(VISITOR_ID, "Human?").await;
        wait_for("the bot hands over", WAIT_TIMEOUT, async || {
            let state = agent.chat(1).await["state"].clone();
            if state == "waiting" { Ok(()) } else { Err(state) }
        })
        .await;

        agent.accept(1).await;
        webhook.wait_for_line("chat_accepted 1").await;
        let custom_data = wait_for("custom data", WAIT_TIMEOUT, async || {
            let panel = agent.chat(1).await["panel"].clone();
            panel["custom_data"].get(0).cloned().ok_or(panel)
        })
        .await;
        assert_eq!((&custom_data["title"], &custom_data["content"]), (&json!("Customer"), &json!("No. 1, 3 orders")));
        let seq = agent.send_text(1, "Here I am").await;
        assert_eq!(agent.final_delivery(1, seq).await["state"], "delivered");
        integrator.wait_for_line(&format!("Grace to {VISITOR_ID}: Here I am")).await;
        agent.close(1).await;
        webhook.wait_for_line("chat_finished 1").await;
        let timeline = agent.timeline(1).await;
        let first_answer = timeline.iter().find(|entry| entry["text"] == opening_hours).unwrap();
        assert_eq!(first_answer["delivery"]["attempts"].as_array().unwrap().len(), 2, "{first_answer:#?}");
        let questions = timeline.iter().filter(|entry| entry["text"] == "When are you open?").count();
        assert_eq!(questions, 1, "{timeline:#?}");
        let delivered = timeline.iter().filter(|entry| entry["bot_delivery"]["state"] == "delivered").count();
        assert!(delivered >= 4, "three messages and AGENT_UNAVAILABLE: {timeline:#?}");

        for program in [&integrator, &bot_program, &webhook] {
            program.assert_rejects_unsigned_requests().await;
        }
    });
}

/// The response of a model's endpoint: two parts of a text, or the arguments of a call of `hand_over`.
fn model_response(delta: &str, parts: [&str; 2]) -> CannedResponse {
    let delta = |part: &str| match delta {
        "content" => json!({"content": part}),
        _ => json!({"tool_calls": [{"index": 0, "function": {"arguments": part}}]}),
    };
    let lines = parts.map(|part| format!("data: {}\n\n", json!({"choices": [{"delta": delta(part)}]})));
    CannedResponse::Text(200, "text/event-stream", format!(": ok\n\n{}data: [DONE]\n\n", lines.concat()))
}

/// A visitor talks to a bot that asks a language model. The model's endpoint answers with the visitor's last words. It
/// takes so long for the second question that the visitor writes once more; then it hands the chat over; then it fails.
fn conversation_with_a_model(language: Language) {
    run_on_shared_host(async |host| {
        let to_bot = unused_port().await;
        let (account, integrator) = (host.create_account().await, TestReceiver::start(CannedResponse::ok()).await);
        let channel = account.create_channel(&integrator.url()).await;
        let provider = register_provider(&host.operator, &address(to_bot), json!({})).await;
        let bot = TestBot::connect(&account, &provider, &[&channel], json!({"standby": true})).await;
        account.admin.set_presence("online").await;
        let model = TestReceiver::start(CannedResponse::ok()).await.without_document_check();
        let slow = Arc::new(Semaphore::new(0));
        let permits = Arc::clone(&slow);
        model.respond_by(move |request| {
            let (permits, asked) = (Arc::clone(&permits), request.json());
            async move {
                let messages = asked["messages"].as_array().unwrap();
                let last = messages.last().unwrap()["content"].as_str().unwrap();
                match last {
                    "And on Sunday?" => permits.acquire().await.unwrap().forget(),
                    "A person" => {
                        let arguments = ["{\"reason\": \"requested\", \"sum", "mary\": \"Asks about **Sunday**\"}"];
                        return model_response("tool_calls", arguments);
                    }
                    "Fail" => return CannedResponse::Json(500, json!({})),
                    _ => {}
                }
                model_response("content", [&format!("{} messages, ", messages.len()), last])
            }
        });
        let environment = [
            ("SIGNING_SECRET", &*bot.signing_secret),
            ("EVENTS_URL", &format!("{}{}", host.local.base_url(), bot.webhook_path())),
            ("MODEL_URL", &model.url()),
            ("MODEL", "stub"),
            ("MODEL_KEY", "none"),
            ("CHUNK_SECONDS", "0"),
        ];
        let program = ExampleProgram::start(language, "bot-llm", to_bot, &environment).await;
        program.assert_rejects_unsigned_requests().await;
        let messages_of_type = |kind: &str| {
            let messages = integrator.requests().into_iter().map(|request| request.json()["message"].clone());
            messages.filter(|message| message["type"] == kind).collect::<Vec<_>>()
        };
        let wait_for_answer = async |number: usize| {
            wait_for("an answer", WAIT_TIMEOUT, async || {
                let answers = messages_of_type("text");
                answers.get(number - 1).map(|message| message["text"].clone()).ok_or(answers)
            })
            .await
        };

        channel.send_text(VISITOR_ID, "Hello").await;
        assert_eq!(wait_for_answer(1).await, "2 messages, Hello");
        assert!(!messages_of_type("typein").is_empty(), "the beginning was sent before the whole answer");
        channel.send_text(VISITOR_ID, "And on Sunday?").await;
        model.wait_for_requests(2, WAIT_TIMEOUT).await;
        channel.send_text(VISITOR_ID, "In Delft").await;
        slow.add_permits(1);
        assert_eq!(wait_for_answer(2).await, "5 messages, In Delft", "the stale answer is not shown");

        channel.send_text(VISITOR_ID, "A person").await;
        let handover = wait_for_handover(&account.admin, 1).await;
        assert_eq!((&handover["reason"], &handover["summary"]), (&json!("requested"), &json!("Asks about **Sunday**")));
        channel.send_text("another visitor", "Fail").await;
        assert_eq!(wait_for_handover(&account.admin, 2).await["reason"], "error");
        let answers = account
            .admin
            .timeline(1)
            .await
            .iter()
            .filter(|entry| entry["from"] == "bot" && entry["type"] == "text")
            .count();
        assert_eq!(answers, 3, "two answers and the last words: none is sent twice");

        account.admin.accept(1).await;
        channel.send_text(VISITOR_ID, "Are you there?").await;
        let suggested = wait_for("a suggestion", WAIT_TIMEOUT, async || {
            let shown = account.admin.chat(1).await["panel"]["draft"].clone();
            if shown.is_null() { Err(shown) } else { Ok(shown) }
        })
        .await;
        assert_eq!((&suggested["text"], &suggested["bot"]), (&json!("9 messages, Are you there?"), &json!("Robin")));
    });
}

/// Waits until the bot has handed a chat over, and returns what it says about it.
async fn wait_for_handover(agent: &TestAgent, chat: u64) -> Value {
    wait_for("the bot hands over", WAIT_TIMEOUT, async || {
        let shown = agent.chat(chat).await;
        if shown["state"] == "waiting" { Ok(shown["handover"].clone()) } else { Err(shown) }
    })
    .await
}

/// The kit for partners finds nothing wrong with the examples.
fn examples_keep_the_contract(language: Language) {
    run_on_shared_host(async |host| {
        let events_url = format!("{}/bot/webhooks/none/none", host.local.base_url());
        for (role, partner) in
            [("integrator", Partner::Integrator), ("bot", Partner::Bot), ("webhook", Partner::Webhook)]
        {
            let port = unused_port().await;
            let environment = [("SIGNING_SECRET", CHECK_SECRET), ("EVENTS_URL", events_url.as_str())];
            let program = ExampleProgram::start(language, role, port, &environment).await;
            File::create(program.output.path().join("failed")).unwrap();
            let (url, secret) = (&address(port), CHECK_SECRET);
            let verdicts = check(Server { partner, url, secret, gets_chunks: false }, |_| {}).await.unwrap();
            let broken: Vec<_> = verdicts.iter().filter(|verdict| verdict.problem.is_some()).collect();
            assert!(broken.is_empty(), "{role}: {broken:#?} {}", program.read("stderr"));
        }
    });
}

const CHECK_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

#[test]
#[ignore = "needs the packages that tests/run installs"]
fn python_programs_keep_the_contract() {
    examples_keep_the_contract(Language::Python);
}

#[test]
#[ignore = "needs the packages that tests/run installs"]
fn node_programs_keep_the_contract() {
    examples_keep_the_contract(Language::Node);
}

#[test]
#[ignore = "needs the packages that tests/run installs"]
fn php_programs_keep_the_contract() {
    examples_keep_the_contract(Language::Php);
}

#[test]
#[ignore = "needs the packages that tests/run installs"]
fn python_bot_answers_with_a_model() {
    conversation_with_a_model(Language::Python);
}

#[test]
#[ignore = "needs the packages that tests/run installs"]
fn node_bot_answers_with_a_model() {
    conversation_with_a_model(Language::Node);
}

#[test]
#[ignore = "needs the packages that tests/run installs"]
fn python_programs_complete_a_conversation() {
    complete_conversation(Language::Python);
}

#[test]
#[ignore = "needs the packages that tests/run installs"]
fn node_programs_complete_a_conversation() {
    complete_conversation(Language::Node);
}

#[test]
#[ignore = "needs the packages that tests/run installs"]
fn php_programs_complete_a_conversation() {
    complete_conversation(Language::Php);
}
