//! The command `switchboard` itself, as a person or a script starts it.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::client::Caller;
use crate::harness::{alone, beside, binaries, kill, visitor_text};
use crate::wait::{PATIENCE, seconds, wait_for};

/// The program, started and ready; killed when dropped.
pub struct Program {
    child: Child,
    folder: TempDir,
    ready: Value,
    started_in: Duration,
}

impl Program {
    /// Starts it on a free port and waits for its ready file.
    pub async fn start(arguments: &[&str]) -> Self {
        Self::start_by(command(&binaries().await.join("switchboard")), arguments).await
    }

    /// As [`start`](Self::start), by a command that runs it.
    async fn start_by(mut command: Command, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ready.json");
        let output = |name: &str| File::create(folder.path().join(name)).unwrap();
        let start = Instant::now();
        let child = command
            .args(["--no-build", "--port", "0", "--ready-file"])
            .arg(&file)
            .args(arguments)
            .stdout(output("stdout"))
            .stderr(output("stderr"))
            .spawn()
            .unwrap();
        let text = wait_for("the ready file", PATIENCE, async || {
            fs::read_to_string(&file).map_err(|_| fs::read_to_string(folder.path().join("stderr")))
        })
        .await;
        let started_in = start.elapsed();
        let ready = serde_json::from_str(&text).expect("the ready file is whole");
        Self { child, folder, ready, started_in }
    }

    pub fn ready(&self) -> &Value {
        &self.ready
    }

    fn base_url(&self) -> &str {
        self.ready["base_url"].as_str().unwrap()
    }

    fn ready_file(&self) -> PathBuf {
        self.folder.path().join("ready.json")
    }

    fn stdout(&self) -> String {
        fs::read_to_string(self.folder.path().join("stdout")).unwrap()
    }

    fn stderr(&self) -> String {
        fs::read_to_string(self.folder.path().join("stderr")).unwrap()
    }

    /// Returns once the terminal shows this.
    async fn says(&self, line: &str) {
        wait_for(line, PATIENCE, async || {
            let said = self.stdout();
            if said.contains(line) { Ok(()) } else { Err(said) }
        })
        .await;
    }

    /// `kill -9`, without a chance to tidy up.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Asks it to stop, and checks that it leaves nothing behind.
    pub async fn stop(self) {
        self.stop_by("-TERM").await;
    }

    async fn stop_by(mut self, signal: &str) {
        kill(self.child.id().unwrap(), signal);
        let status = timeout(seconds(10), self.child.wait()).await.expect("it stops").unwrap();
        assert_eq!(status.code(), Some(0));
        assert!(!self.ready_file().exists(), "nobody should connect to a host that is gone");
        no_function_of(self.base_url()).await;
    }
}

fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.kill_on_drop(true).stdin(Stdio::null());
    command
}

/// Functions know their host by the address of its Runtime API, in their environment.
async fn no_function_of(base_url: &str) {
    let address = base_url.trim_start_matches("http://");
    wait_for("no function left", PATIENCE, async || {
        let left: Vec<_> = fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| fs::read(entry.ok()?.path().join("environ")).ok())
            .map(|environment| String::from_utf8_lossy(&environment).into_owned())
            .filter(|environment| environment.contains("AWS_LAMBDA_RUNTIME_API=") && environment.contains(address))
            .collect();
        if left.is_empty() { Ok(()) } else { Err(left) }
    })
    .await;
}

/// Runs until it ends by itself: its status and what it said on stderr.
async fn fails(program: &Path, arguments: &[&str]) -> (ExitStatus, String) {
    let run = command(program).arg("--no-build").args(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let output = timeout(seconds(20), run.unwrap().wait_with_output()).await.expect("it ends").unwrap();
    (output.status, String::from_utf8(output.stderr).unwrap())
}

#[track_caller]
fn check_one_line((status, said): &(ExitStatus, String), about: &str) {
    assert_eq!(status.code(), Some(1), "{said}");
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    assert!(said.starts_with("switchboard: "), "{said}");
    assert!(said.contains(about), "{about}: {said}");
}

#[test]
fn it_says_in_a_file_and_on_the_terminal_how_to_reach_it() {
    alone(async {
        let program = Program::start(&["--memory"]).await;
        assert!(program.started_in < seconds(5), "{:?}", program.started_in);
        let ready = program.ready();
        let base = program.base_url();
        assert_eq!(ready["channel_base_url"], format!("{base}/channel"));
        assert_eq!(ready["bot_base_url"], format!("{base}/bot"));
        assert_eq!(ready["socket_url"], format!("{}/socket", base.replace("http", "ws")));
        assert_eq!(ready["operator_key"].as_str().unwrap().len(), 64);
        let fields: Vec<_> = ready["demo"].as_object().unwrap().keys().map(String::as_str).collect();
        let expected = [
            "account_id",
            "admin_email",
            "admin_password",
            "agent_email",
            "agent_password",
            "bot_channel_url",
            "bot_token",
            "channel_id",
            "channel_url",
            "provider_id",
            "widget_id",
        ];
        assert_eq!(fields, expected);
        let mode = fs::metadata(program.folder.path().join("ready.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "it holds keys");
        assert!(program.stdout().contains(base), "{}", program.stdout());
        program.stop_by("-INT").await;
    });
}

#[test]
fn the_printed_lines_work_as_pasted() {
    beside(async {
        let program = Program::start(&["--memory"]).await;
        let said = program.stdout();
        let lines: Vec<_> = said.lines().filter(|line| line.starts_with("curl")).collect();
        let [visitor, waiting, answer, asks_the_bot, asks_for_a_human] = lines[..] else { panic!("{said}") };

        assert_eq!(paste(visitor).await, "{\"result\":\"ok\"}\n");
        let listed = paste(waiting).await;
        assert!(listed.contains("\"state\":\"waiting\"") && listed.contains("Ada"), "{listed}");
        let answered = paste(answer).await;
        assert!(answered.contains("\"active\"") && answered.contains("\"seq\":"), "{answered}");
        program.says("Demo Agent: Hello, how can I help?").await;

        assert_eq!(paste(asks_the_bot).await, "{\"result\":\"ok\"}\n");
        program.says("Demo Bot: Which day? [Today] [At the weekend] [I want a human]").await;
        let gone_over = paste(asks_for_a_human).await;
        assert!(gone_over.ends_with("{\"result\":\"ok\"}\n"), "{gone_over}");
        wait_for("the chat among those that wait", PATIENCE, async || {
            let listed = paste(waiting).await;
            if listed.contains("I want a human.") { Ok(()) } else { Err(listed) }
        })
        .await;
        program.stop().await;
    });
}

/// What a line says when it is run by the shell.
async fn paste(line: &str) -> String {
    let output = Command::new("bash").args(["-c", line]).output().await.unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn data_survives_a_restart_on_another_port() {
    beside(async {
        let data = tempfile::tempdir().unwrap();
        let data = ["--data", data.path().to_str().unwrap()];
        let first = Program::start(&data).await;
        let before = first.ready().clone();
        say(&before, "before").await;
        first.stop().await;

        let second = Program::start(&data).await;
        let after = second.ready().clone();
        assert_eq!(after["operator_key"], before["operator_key"]);
        for field in ["account_id", "admin_email", "admin_password", "agent_email", "channel_id"] {
            assert_eq!(after["demo"][field], before["demo"][field], "{field}");
        }
        assert_ne!(after["base_url"], before["base_url"]);
        assert!(after["demo"]["channel_url"].as_str().unwrap().starts_with(second.base_url()));
        say(&after, "after").await;
        let agent = log_in(&after).await;
        let chats = agent.get("/agent/chats?state=open").await.expect(200);
        assert_eq!(chats["chats"].as_array().unwrap().len(), 1, "the same visitor, the same chat: {chats}");
        let timeline = agent.get("/agent/chats/1/messages").await.expect(200);
        let texts: Vec<_> = timeline["messages"].as_array().unwrap().iter().map(|entry| &entry["text"]).collect();
        assert_eq!(texts, ["before", "after"]);
        let channel = agent.get(&format!("/admin/channels/{}", after["demo"]["channel_id"].as_str().unwrap())).await;
        let url = channel.expect(200)["integrator_url"].clone();
        assert!(url.as_str().unwrap().starts_with(second.base_url()), "{url}");
        for field in ["provider_id", "bot_token"] {
            assert_eq!(after["demo"][field], before["demo"][field], "{field}");
        }
        let bot_channel = after["demo"]["bot_channel_url"].as_str().unwrap();
        agent.post(bot_channel, &visitor_text("v", "What are your hours?")).await.expect(200);
        second.says("Demo Bot: Which day?").await;
        second.stop().await;
    });
}

async fn say(ready: &Value, text: &str) {
    let caller = Caller::new(ready["base_url"].as_str().unwrap());
    caller.post(ready["demo"]["channel_url"].as_str().unwrap(), &visitor_text("v", text)).await.expect(200);
}

async fn log_in(ready: &Value) -> Caller {
    let caller = Caller::new(ready["base_url"].as_str().unwrap());
    let credentials = json!({"email": ready["demo"]["admin_email"], "password": ready["demo"]["admin_password"]});
    let session = caller.post("/agent/login", &credentials).await.expect(200);
    caller.with(session["token"].as_str().unwrap())
}

#[test]
fn the_deployed_defaults_serve_without_a_demo_and_say_why() {
    beside(async {
        let data = tempfile::tempdir().unwrap();
        let folder = ["--data", data.path().to_str().unwrap()];
        let without = [&folder[..], &["--parameter", "AllowHttpTargets=false"]].concat();
        let nowhere = [&folder[..], &["--parameter", "AllowedPrivateTargets="]].concat();

        let first = Program::start(&without).await;
        assert_eq!(first.ready()["demo"], Value::Null);
        let said = first.stdout();
        assert!(said.contains("There is no demo account") && said.contains("AllowHttpTargets=true"), "{said}");
        let create = said.lines().find(|line| line.starts_with("curl")).unwrap();
        assert!(paste(create).await.contains("account_id"), "{create}");
        first.stop().await;

        let second = Program::start(&folder).await;
        assert!(second.ready()["demo"].is_object());
        second.stop().await;
        let kept = fs::read_to_string(data.path().join("demo.json")).unwrap();

        let third = Program::start(&nowhere).await;
        assert_eq!(third.ready()["demo"], Value::Null);
        third.stop().await;
        assert_eq!(fs::read_to_string(data.path().join("demo.json")).unwrap(), kept);
    });
}

#[test]
fn a_demo_account_that_the_store_does_not_know_is_made_again() {
    beside(async {
        let data = tempfile::tempdir().unwrap();
        let stranger = json!({
            "account_id": "x", "admin_email": "a@b.example", "admin_password": "x", "agent_email": "b@b.example",
            "agent_password": "x", "channel_id": "x", "channel_url": "http://127.0.0.1:1/channel/x/x",
            "widget_id": null, "provider_id": "x", "bot_token": "x", "bot_channel_url": "http://127.0.0.1:1/channel/x/y",
        });
        fs::write(data.path().join("demo.json"), stranger.to_string()).unwrap();
        let program = Program::start(&["--data", data.path().to_str().unwrap()]).await;
        say(program.ready(), "Hi").await;
        program.stop().await;
    });
}

#[test]
fn a_restart_leaves_what_its_user_has_set() {
    beside(async {
        let data = tempfile::tempdir().unwrap();
        let data = ["--data", data.path().to_str().unwrap()];
        let first = Program::start(&data).await;
        let before = first.ready().clone();
        let (channel, provider) = (format!("/admin/channels/{}", text(&before, "channel_id")), provider(&before));
        let (integrator_url, endpoint) = ("https://app.example/hook", "https://bots.example/switchboard");
        let admin = log_in(&before).await;
        admin.patch(&channel, &json!({"integrator_url": integrator_url})).await.expect(200);
        operator(&before).patch(&provider, &json!({"endpoint": endpoint})).await.expect(200);
        first.stop().await;

        let second = Program::start(&data).await;
        let after = second.ready();
        assert_eq!(log_in(after).await.get(&channel).await.expect(200)["integrator_url"], integrator_url);
        assert_eq!(operator(after).get(&provider).await.expect(200)["endpoint"], endpoint);
        second.stop().await;
    });
}

#[test]
fn a_part_of_the_demo_account_that_is_gone_is_made_again_within_it() {
    beside(async {
        let data = tempfile::tempdir().unwrap();
        let arguments = ["--data", data.path().to_str().unwrap()];
        let first = Program::start(&arguments).await;
        let before = first.ready().clone();
        let admin = log_in(&before).await;
        admin.delete(&format!("/admin/channels/{}", text(&before, "channel_id"))).await.expect(200);
        let bot_channel = text(&before, "bot_channel_url").rsplit('/').next().unwrap().to_owned();
        let rotate = format!("/admin/channels/{bot_channel}/rotate");
        admin.post(&rotate, &json!({"keep_old_seconds": 0})).await.expect(200);
        let agents = admin.get("/admin/agents").await.expect(200);
        let is_demo_agent = |agent: &&Value| agent["email"] == before["demo"]["agent_email"];
        let agent = agents["agents"].as_array().unwrap().iter().find(is_demo_agent).unwrap();
        let password = json!({"password": "another one, chosen by hand"});
        admin.patch(&format!("/admin/agents/{}", agent["agent_id"]), &password).await.expect(200);
        first.stop().await;

        let second = Program::start(&arguments).await;
        let after = second.ready();
        for field in ["account_id", "admin_email", "admin_password", "provider_id"] {
            assert_eq!(after["demo"][field], before["demo"][field], "{field}");
        }
        for field in ["agent_email", "agent_password", "channel_id", "channel_url", "bot_channel_url"] {
            assert_ne!(after["demo"][field], before["demo"][field], "{field}");
        }
        let caller = Caller::new(second.base_url());
        let credentials = json!({"email": text(after, "agent_email"), "password": text(after, "agent_password")});
        caller.post("/agent/login", &credentials).await.expect(200);
        say(after, "Hi").await;
        let asked = visitor_text("v", "What are your hours?");
        caller.post(text(after, "bot_channel_url"), &asked).await.expect(200);
        second.says("Demo Bot: Which day?").await;
        assert_eq!(files_like(data.path(), "demo"), ["demo.json"]);
        second.stop().await;
    });
}

#[test]
fn the_passwords_of_a_demo_account_that_is_given_up_are_kept() {
    beside(async {
        let data = tempfile::tempdir().unwrap();
        let arguments = ["--data", data.path().to_str().unwrap()];
        let first = Program::start(&arguments).await;
        let before = first.ready().clone();
        let admin = log_in(&before).await;
        let agents = admin.get("/admin/agents").await.expect(200);
        let is_admin = |agent: &&Value| agent["email"] == before["demo"]["admin_email"];
        let id = agents["agents"].as_array().unwrap().iter().find(is_admin).unwrap()["agent_id"].clone();
        let password = json!({"password": "another one, chosen by hand"});
        admin.patch(&format!("/admin/agents/{id}"), &password).await.expect(200);
        first.stop().await;
        let kept = fs::read_to_string(data.path().join("demo.json")).unwrap();

        let second = Program::start(&arguments).await;
        assert_ne!(second.ready()["demo"]["account_id"], before["demo"]["account_id"]);
        let aside = format!("demo-{}.json", text(&before, "account_id"));
        assert_eq!(fs::read_to_string(data.path().join(&aside)).unwrap(), kept);
        let said = second.stderr();
        assert!(said.lines().count() == 1 && said.contains(&aside), "{said}");
        second.stop().await;

        fs::write(data.path().join("demo.json"), "{").unwrap();
        let third = Program::start(&arguments).await;
        assert_eq!(fs::read_to_string(data.path().join("demo-unreadable.json")).unwrap(), "{");
        assert!(third.stderr().contains("demo-unreadable.json"), "{}", third.stderr());
        third.stop().await;
    });
}

fn files_like(folder: &Path, start: &str) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.starts_with(start)).collect();
    names.sort();
    names
}

/// A text that the ready file has of the demo.
fn text<'r>(ready: &'r Value, field: &str) -> &'r str {
    ready["demo"][field].as_str().unwrap_or_else(|| panic!("{field}: {ready}"))
}

fn operator(ready: &Value) -> Caller {
    Caller::new(ready["base_url"].as_str().unwrap()).with(ready["operator_key"].as_str().unwrap())
}

fn provider(ready: &Value) -> String {
    format!("/operator/providers/{}", text(ready, "provider_id"))
}

#[test]
fn what_keeps_it_from_serving_is_one_clear_line() {
    beside(async {
        let program = binaries().await.join("switchboard");
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port().to_string();
        check_one_line(&fails(&program, &["--memory", "--port", &port]).await, &port);
        check_one_line(&fails(&program, &["--memory", "--port", &port]).await, "--port 0 takes a free one");
        check_one_line(&fails(&program, &["--port", "0", "--data", "/dev/null/x"]).await, "/dev/null/x");

        let folder = tempfile::tempdir().unwrap();
        let template = folder.path().join("template.yaml");
        let template = template.to_str().unwrap();
        let broken = ["--memory", "--port", "0", "--template", template];
        check_one_line(&fails(&program, &broken).await, template);
        for text in ["Resources: [", "Resources: {}\nbroken", "just text", "Resources: {X: {Type: AWS::S3::Bucket}}"] {
            fs::write(template, text).unwrap();
            check_one_line(&fails(&program, &broken).await, "");
        }
        let ready = fails(&program, &["--memory", "--port", "0", "--ready-file", "/dev/null/x"]).await;
        check_one_line(&ready, "/dev/null/x");
    });
}

/// Runs it with a cargo that says that it was asked to build.
async fn fails_before_a_build(program: &Path, arguments: &[&str], about: &str) {
    let mut run = command(program);
    run.args(arguments).env("CARGO", "false").stdout(Stdio::null()).stderr(Stdio::piped());
    let output = timeout(seconds(20), run.spawn().unwrap().wait_with_output()).await.expect("it ends").unwrap();
    check_one_line(&(output.status, String::from_utf8(output.stderr).unwrap()), about);
}

#[test]
fn what_keeps_it_from_serving_is_said_before_a_build() {
    beside(async {
        let program = binaries().await.join("switchboard");
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port().to_string();
        let data = tempfile::tempdir().unwrap();
        let data = ["--port", "0", "--data", data.path().to_str().unwrap()];
        let host = Program::start(&data[2..]).await;
        let template = ["--memory", "--port", "0", "--template", "/dev/null/x"];
        let parameter = ["--memory", "--port", "0", "--parameter", "Nothing=1"];
        fails_before_a_build(&program, &["--memory", "--port", &port], &port).await;
        fails_before_a_build(&program, &data, "another host").await;
        fails_before_a_build(&program, &template, "/dev/null/x").await;
        fails_before_a_build(&program, &parameter, "Nothing").await;
        // With nothing in the way it does build.
        fails_before_a_build(&program, &["--memory", "--port", "0"], "do not compile").await;
        host.stop().await;
    });
}

/// The built programs in a folder of their own, where one can be spoilt.
async fn own_binaries(folder: &Path) -> PathBuf {
    let built = binaries().await;
    for entry in fs::read_dir(built).unwrap() {
        let path = entry.unwrap().path();
        symlink(&path, folder.join(path.file_name().unwrap())).unwrap();
    }
    // It looks for the functions where it really is.
    let program = folder.join("switchboard");
    fs::remove_file(&program).unwrap();
    // By another process: while this one has a program open to write, what another thread starts has it open too, and
    // the system runs no such program.
    let copied = Command::new("cp").arg(built.join("switchboard")).arg(&program).status().await.unwrap();
    assert!(copied.success());
    program
}

#[test]
fn a_function_that_does_not_start_is_one_clear_line() {
    beside(async {
        let folder = tempfile::tempdir().unwrap();
        let program = own_binaries(folder.path()).await;
        // One that preparing the demo does not need.
        let spoilt = folder.path().join("schedule-sweep");
        fs::remove_file(&spoilt).unwrap();
        check_one_line(&fails(&program, &["--memory", "--port", "0"]).await, "schedule-sweep");
        fs::write(&spoilt, "#!/bin/sh\necho broken >&2\nexit 3\n").unwrap();
        fs::set_permissions(&spoilt, PermissionsExt::from_mode(0o755)).unwrap();
        let (status, said) = fails(&program, &["--memory", "--port", "0"]).await;
        let reason = said.strip_prefix("schedule-sweep: broken\n").unwrap_or_else(|| panic!("{said}"));
        let expected = "schedule-sweep: the process ended before it asked for work (exit status: 3)";
        check_one_line(&(status, reason.to_owned()), expected);
    });
}

#[test]
fn it_may_open_more_files_than_a_program_usually_can() {
    beside(async {
        let mut shell = command(Path::new("bash"));
        shell.args(["-c", "ulimit -Sn 256; exec \"$0\" \"$@\""]).arg(binaries().await.join("switchboard"));
        let program = Program::start_by(shell, &["--memory"]).await;
        let limits = fs::read_to_string(format!("/proc/{}/limits", program.child.id().unwrap())).unwrap();
        let soft = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
        let soft: u64 = soft.split_whitespace().nth(3).unwrap().parse().unwrap();
        assert!(soft > 256, "{limits}");
        program.stop().await;
    });
}

#[test]
fn a_second_host_on_the_same_data_is_refused() {
    beside(async {
        let data = tempfile::tempdir().unwrap();
        let arguments = ["--port", "0", "--data", data.path().to_str().unwrap()];
        let first = Program::start(&arguments[2..]).await;
        let program = binaries().await.join("switchboard");
        let file = first.ready_file();
        let second = [&arguments[..], &["--ready-file", file.to_str().unwrap()]].concat();
        check_one_line(&fails(&program, &second).await, "another host");
        let ready: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(ready, *first.ready(), "the first one's file is left alone");
        first.stop().await;
    });
}
