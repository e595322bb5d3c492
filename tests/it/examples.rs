//! Runs one conversation through the example programs (docs/examples) for each language. The programs need the packages
//! that `tests/run` installs in target/examples.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Stdio;

use local::cargo_build::workspace_root;
use reqwest::Client;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use crate::support::bot_fixture::{BOT_NAME, TestBot, register_provider};
use crate::support::test_host::{VISITOR_ID, run_on_shared_host};
use crate::support::test_receiver::unused_port;
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

#[derive(Clone, Copy)]
enum Language {
    Python,
    Node,
    Php,
}

impl Language {
    fn command(self, role: &str, port: u16) -> Command {
        let (sources, installed) = (workspace_root().join("docs/examples"), workspace_root().join("target/examples"));
        match self {
            Self::Python => command(installed.join("venv/bin/python"), &[sources.join(format!("python/{role}.py"))]),
            Self::Node => {
                // Node.js looks for packages next to the program, so copy the program there.
                let program = installed.join(format!("node/{role}.js"));
                fs::copy(sources.join(format!("node/{role}.js")), &program).unwrap();
                command("node".into(), &[program])
            }
            Self::Php => {
                let address = format!("127.0.0.1:{port}");
                command("php".into(), &["-S".into(), address.into(), sources.join(format!("php/{role}.php"))])
            }
        }
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
        let mut command = language.command(role, port);
        command.env("PORT", port.to_string()).envs(environment.iter().copied());
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

/// A visitor talks to the bot, which replies and then hands the chat over to the agent. The agent sees the webhook's
/// custom data and replies to the visitor.
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

        channel.send_text(VISITOR_ID, "When are you open?").await;
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
        let delivered = timeline.iter().filter(|entry| entry["bot_delivery"]["state"] == "delivered").count();
        assert!(delivered >= 4, "three messages and AGENT_UNAVAILABLE: {timeline:#?}");

        for program in [&integrator, &bot_program, &webhook] {
            program.assert_rejects_unsigned_requests().await;
        }
    });
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
