//! The programs of docs/examples: one conversation through those of each language. They need what `tests/run` installs
//! under target/examples.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Stdio;

use local::builder::workspace;
use reqwest::Client;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use crate::harness::{VISITOR, on_stage};
use crate::provider::{Bot, NAME, register};
use crate::receiver::dead_port;
use crate::wait::{PATIENCE, wait_for};

/// How the programs of a language are started.
#[derive(Clone, Copy)]
enum Language {
    Python,
    Node,
    Php,
}

impl Language {
    /// The command that runs a program on this port.
    fn command(self, role: &str, port: u16) -> Command {
        let (sources, installed) = (workspace().join("docs/examples"), workspace().join("target/examples"));
        match self {
            Self::Python => command(installed.join("venv/bin/python"), &[sources.join(format!("python/{role}.py"))]),
            Self::Node => {
                // A program finds its packages beside itself.
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

/// A program of docs/examples that listens; killed when dropped.
struct Program {
    port: u16,
    output: TempDir,
    _process: Child,
}

impl Program {
    async fn start(language: Language, role: &str, port: u16, environment: &[(&str, &str)]) -> Self {
        let output = tempfile::tempdir().unwrap();
        let file = |name: &str| File::create(output.path().join(name)).unwrap();
        let mut command = language.command(role, port);
        command.env("PORT", port.to_string()).envs(environment.iter().copied());
        let process = command.stdout(file("stdout")).stderr(file("stderr")).spawn();
        let program = Self { port, _process: process.expect("what tests/run installs is there"), output };
        wait_for("the program listens", PATIENCE, async || {
            TcpStream::connect(("127.0.0.1", port)).await.map_err(|error| (role, error, program.read("stderr")))
        })
        .await;
        program
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.output.path().join(name)).unwrap()
    }

    /// Returns once the program has printed this line.
    async fn prints(&self, line: &str) {
        wait_for(line, PATIENCE, async || {
            let printed = self.read("stdout");
            if printed.lines().any(|it| it == line) { Ok(()) } else { Err((printed, self.read("stderr"))) }
        })
        .await;
    }

    /// A request that is not signed with the program's secret is refused.
    async fn check_refuses(&self) {
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

/// A visitor asks the bot, which answers and hands over; the agent sees what the webhook says and answers.
fn hold_a_conversation(language: Language) {
    on_stage(async |stage| {
        let [to_integrator, to_bot, to_webhook] = [dead_port().await, dead_port().await, dead_port().await];
        let account = stage.account().await;
        let agent = &account.admin;
        let channel = account.channel(&address(to_integrator)).await;
        let provider = register(&stage.operator, &address(to_bot), json!({})).await;
        let bot = Bot::connect(&account, &provider, &[&channel], json!({})).await;
        let made = agent.call.post("/admin/settings/webhooks", &json!({"url": address(to_webhook)})).await.expect(201);

        let start = async |role, port, secret, more: &[(&str, &str)]| {
            Program::start(language, role, port, &[&[("SIGNING_SECRET", secret)], more].concat()).await
        };
        let integrator = start("integrator", to_integrator, &*channel.signing_secret, &[]).await;
        let events = format!("{}{}", stage.host.base_url(), bot.webhook());
        let robin = start("bot", to_bot, &*bot.signing_secret, &[("EVENTS_URL", &*events)]).await;
        let webhook = start("webhook", to_webhook, made["signing_secret"].as_str().unwrap(), &[]).await;

        channel.say(VISITOR, "When are you open?").await;
        let open = "We are open from 9 to 5. Write \"human\" to talk to an agent.";
        integrator.prints(&format!("{NAME} to {VISITOR}: {open}")).await;
        channel.say(VISITOR, "A human, please").await;
        let nobody = "Nobody is here right now. Please leave your e-mail address.";
        integrator.prints(&format!("{NAME} to {VISITOR}: {nobody}")).await;
        agent.presence("online").await;
        channel.say(VISITOR, "Human?").await;
        wait_for("the bot hands over", PATIENCE, async || {
            let state = agent.chat(1).await["state"].clone();
            if state == "waiting" { Ok(()) } else { Err(state) }
        })
        .await;

        agent.accept(1).await;
        webhook.prints("chat_accepted 1").await;
        let known = wait_for("custom data", PATIENCE, async || {
            let panel = agent.chat(1).await["panel"].clone();
            panel["custom_data"].get(0).cloned().ok_or(panel)
        })
        .await;
        assert_eq!((&known["title"], &known["content"]), (&json!("Customer"), &json!("No. 1, 3 orders")));
        let seq = agent.write(1, "Here I am").await;
        assert_eq!(agent.verdict(1, seq).await["state"], "delivered");
        integrator.prints(&format!("Grace to {VISITOR}: Here I am")).await;
        agent.close(1).await;
        webhook.prints("chat_finished 1").await;
        let timeline = agent.messages(1).await;
        let taken = timeline.iter().filter(|entry| entry["bot_delivery"]["state"] == "delivered").count();
        assert!(taken >= 4, "three questions and the news that no agent is there: {timeline:#?}");
        let deliveries: Vec<_> = agent.messages(1).await;
        let asked = deliveries.iter().filter(|entry| entry["bot_delivery"]["state"] == "delivered");
        assert!(asked.count() >= 4, "{deliveries:#?}");

        for program in [&integrator, &robin, &webhook] {
            program.check_refuses().await;
        }
    });
}

#[test]
#[ignore = "needs what tests/run installs"]
fn python_programs_hold_a_conversation() {
    hold_a_conversation(Language::Python);
}

#[test]
#[ignore = "needs what tests/run installs"]
fn node_programs_hold_a_conversation() {
    hold_a_conversation(Language::Node);
}

#[test]
#[ignore = "needs what tests/run installs"]
fn php_programs_hold_a_conversation() {
    hold_a_conversation(Language::Php);
}
