//! Tests for the `switchboard` command, which starts the local host: its output, demo account, demo site, data folder
//! and startup errors.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::support::api_client::ApiClient;
use crate::support::test_host::{binaries, kill, run_without_host, visitor_text};
use crate::support::wait::{WAIT_TIMEOUT, wait_for};

/// Dropping this value kills the host.
pub struct LocalHostProgram {
    child: Child,
    folder: TempDir,
    ready: Value,
}

impl LocalHostProgram {
    /// Starts the host on a free port and waits for its ready file, which the host writes once it can serve requests.
    pub async fn start(arguments: &[&str]) -> Self {
        Self::start_with(command(&binaries().await.join("switchboard")), arguments).await
    }

    async fn start_with(mut command: Command, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ready.json");
        let output = |name: &str| File::create(folder.path().join(name)).unwrap();
        let child = command
            .args(["--no-build", "--port", "0", "--ready-file"])
            .arg(&file)
            .args(arguments)
            .stdout(output("stdout"))
            .stderr(output("stderr"))
            .spawn()
            .unwrap();
        let text = wait_for("the ready file", WAIT_TIMEOUT, async || {
            fs::read_to_string(&file).map_err(|_| fs::read_to_string(folder.path().join("stderr")))
        })
        .await;
        let ready = serde_json::from_str(&text).expect("the ready file is whole");
        Self { child, folder, ready }
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

    async fn wait_for_output(&self, line: &str) {
        wait_for(line, WAIT_TIMEOUT, async || {
            let output = self.stdout();
            if output.contains(line) { Ok(()) } else { Err(output) }
        })
        .await;
    }

    /// Kills the host with SIGKILL, so that it cannot clean up.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Stops the host with SIGTERM. Checks that the ready file has been removed, and waits for the end of the functions
    /// that [`wait_for_end_of_functions`] finds.
    pub async fn stop(self) {
        self.stop_with_signal("-TERM").await;
    }

    async fn stop_with_signal(mut self, signal: &str) {
        kill(self.child.id().unwrap(), signal);
        let status = timeout(WAIT_TIMEOUT, self.child.wait()).await.expect("it stops").unwrap();
        assert_eq!(status.code(), Some(0));
        assert!(!self.ready_file().exists(), "the ready file of a stopped host is left");
        wait_for_end_of_functions(self.base_url()).await;
    }
}

fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.kill_on_drop(true).stdin(Stdio::null());
    command
}

/// Waits until the host's functions have ended. Finds those whose environment contains the host's public address, for
/// example in `SOCKET_URL`.
async fn wait_for_end_of_functions(base_url: &str) {
    let address = base_url.trim_start_matches("http://");
    wait_for("the end of all functions", WAIT_TIMEOUT, async || {
        let functions: Vec<_> = fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| fs::read(entry.ok()?.path().join("environ")).ok())
            .map(|environment| String::from_utf8_lossy(&environment).into_owned())
            .filter(|environment| environment.contains("AWS_LAMBDA_RUNTIME_API=") && environment.contains(address))
            .collect();
        if functions.is_empty() { Ok(()) } else { Err(functions) }
    })
    .await;
}

/// Runs the program with `--no-build` until it exits. Returns its exit status and standard error.
async fn run_to_end(program: &Path, arguments: &[&str]) -> (ExitStatus, String) {
    let run = command(program).arg("--no-build").args(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let output = timeout(WAIT_TIMEOUT, run.unwrap().wait_with_output()).await.expect("it ends").unwrap();
    (output.status, String::from_utf8(output.stderr).unwrap())
}

#[track_caller]
fn assert_one_line_error((status, stderr): &(ExitStatus, String), expected: &str) {
    assert_eq!(status.code(), Some(1), "{stderr}");
    assert_eq!(stderr.trim_end().lines().count(), 1, "{stderr}");
    assert!(stderr.starts_with("switchboard: "), "{stderr}");
    assert!(stderr.contains(expected), "{expected}: {stderr}");
}

#[test]
fn ready_file_and_terminal_show_the_addresses() {
    run_without_host(async {
        let program = LocalHostProgram::start(&["--memory"]).await;
        let ready = program.ready();
        let base = program.base_url();
        assert_eq!(ready["channel_base_url"], format!("{base}/channel"));
        assert_eq!(ready["bot_base_url"], format!("{base}/bot"));
        assert_eq!(ready["socket_url"], format!("{}/socket", base.replace("http", "ws")));
        assert_eq!(ready["console_url"], format!("{base}/console/"));
        assert_eq!(ready["demo_url"], format!("{base}/demo"));
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
            "gateway_secret",
            "provider_id",
            "webhook_id",
            "widget_id",
        ];
        assert_eq!(fields, expected);
        let variables = &ready["functions"]["ChannelShowStatus"];
        assert!(
            variables["AWS_ENDPOINT_URL_DYNAMODB"].as_str().unwrap().ends_with("/channel-show-status"),
            "{variables}"
        );
        let mode = fs::metadata(program.folder.path().join("ready.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "the file contains secrets");
        let first_line = program.stdout().trim_start().lines().next().unwrap_or_default().to_owned();
        assert!(first_line.starts_with("Demo site:") && first_line.contains(&format!("{base}/demo ")), "{first_line}");
        program.stop_with_signal("-INT").await;
    });
}

#[test]
fn printed_curl_commands_work_when_pasted() {
    run_without_host(async {
        let program = LocalHostProgram::start(&["--memory"]).await;
        let output = program.stdout();
        let lines: Vec<_> = output.lines().filter(|line| line.starts_with("curl")).collect();
        let [visitor_message, list_waiting, agent_reply, bot_question, agent_request] = lines[..] else {
            panic!("{output}")
        };

        let stored = run_in_shell(visitor_message).await;
        assert!(stored.starts_with("{\"result\":\"ok\",\"chat_id\":1,\"seq\":1,\"id\":\""), "{stored}");
        let listed = run_in_shell(list_waiting).await;
        assert!(listed.contains("\"state\":\"waiting\"") && listed.contains("Ada"), "{listed}");
        let accepted = run_in_shell(agent_reply).await;
        assert!(accepted.contains("\"active\"") && accepted.contains("\"seq\":"), "{accepted}");
        program.wait_for_output("Demo Agent: Hello, how can I help?").await;

        let stored = run_in_shell(bot_question).await;
        assert!(stored.starts_with("{\"result\":\"ok\",\"chat_id\":2,\"seq\":1,\"id\":\""), "{stored}");
        program.wait_for_output("Demo Bot: Which day? [Today] [At the weekend] [I want a human]").await;
        let output = run_in_shell(agent_request).await;
        assert!(output.contains("\"chat_id\":2,\"seq\":3,\"id\":\""), "{output}");
        wait_for("the chat in the waiting list", WAIT_TIMEOUT, async || {
            let listed = run_in_shell(list_waiting).await;
            if listed.contains("I want a human.") { Ok(()) } else { Err(listed) }
        })
        .await;
        program.stop().await;
    });
}

#[test]
fn printed_link_signs_in_the_demo_agent_once() {
    run_without_host(async {
        let program = LocalHostProgram::start(&["--memory"]).await;
        let output = program.stdout();
        let (_, code) = output.split_once(&format!("{}/console/#code=", program.base_url())).expect("a link");
        let code = json!({"code": code.split_whitespace().next().unwrap()});

        let client = ApiClient::new(program.base_url());
        let session = client.post("/_local/sign-in", &code).await.expect(200);
        let agent = client.with_token(session["token"].as_str().unwrap());
        assert_eq!(session["agent"]["role"], "agent");
        agent.get("/agent/chats?state=open").await.expect(200);

        agent.post("/_local/sign-in", &code).await.expect(410);
        program.wait_for_output("To sign in to the console again:").await;
        program.stop().await;
    });
}

#[test]
fn demo_site_signs_in_and_shows_the_journal() {
    run_without_host(async {
        let program = LocalHostProgram::start(&["--memory"]).await;
        let client = ApiClient::new(program.base_url());
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let get = async |path: &str| http.get(format!("{}{path}", program.base_url())).send().await.unwrap();

        let page = get("/demo").await.text().await.unwrap();
        let widget_id = demo_field(program.ready(), "widget_id");
        let script = format!(r#"<script async src="{}/widget/{widget_id}">"#, program.base_url());
        assert!(page.contains(&script), "{page}");
        let console = get("/demo/console/").await;
        let policy = console.headers()["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("frame-ancestors 'self'"), "{policy}");

        for role in ["agent", "admin"] {
            let redirect = get(&format!("/demo/sign-in/{role}")).await;
            let (_, code) = redirect.headers()["location"].to_str().unwrap().split_once("/console/#code=").unwrap();
            let session = client.post("/_local/sign-in", &json!({"code": code})).await.expect(200);
            assert_eq!(session["agent"]["role"], role);
        }
        let foreign = http.get(format!("{}/_local/journal", program.base_url())).header("host", "shop.example");
        assert_eq!(foreign.send().await.unwrap().status(), 403);

        let bot_question = visitor_text("v", "What are your hours?");
        client.post(demo_field(program.ready(), "bot_channel_url"), &bot_question).await.expect(200);
        let journal = wait_for("the journal", WAIT_TIMEOUT, async || {
            let journal = client.get("/_local/journal").await.expect(200);
            let is_complete = journal["entries"].as_array().unwrap().len() >= 2;
            if is_complete { Ok(journal) } else { Err(journal) }
        })
        .await;
        let receivers: Vec<_> = journal["entries"].as_array().unwrap().iter().map(|it| &it["receiver"]).collect();
        assert_eq!(receivers, ["bot", "integrator"]);
        assert_eq!(journal["entries"][0]["request"]["message"]["text"], "What are your hours?");
        assert_eq!(journal["entries"][0]["replies"][0]["event"], "BOT_MESSAGE");
        assert!(!journal.to_string().contains(demo_field(program.ready(), "bot_token")));
        program.stop().await;
    });
}

async fn run_in_shell(line: &str) -> String {
    let output = Command::new("bash").args(["-c", line]).output().await.unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn data_survives_a_restart_on_another_port() {
    run_without_host(async {
        let data = tempfile::tempdir().unwrap();
        let data = ["--data", data.path().to_str().unwrap()];
        let first = LocalHostProgram::start(&data).await;
        let before = first.ready().clone();
        send_visitor_text(&before, "before").await;
        first.stop().await;

        let second = LocalHostProgram::start(&data).await;
        let after = second.ready().clone();
        assert_eq!(after["operator_key"], before["operator_key"]);
        for field in ["account_id", "admin_email", "admin_password", "agent_email", "channel_id"] {
            assert_eq!(after["demo"][field], before["demo"][field], "{field}");
        }
        assert_ne!(after["base_url"], before["base_url"]);
        assert!(after["demo"]["channel_url"].as_str().unwrap().starts_with(second.base_url()));
        send_visitor_text(&after, "after").await;
        let agent = log_in(&after).await;
        let chats = agent.get("/agent/chats?state=open").await.expect(200);
        assert_eq!(chats["chats"].as_array().unwrap().len(), 1, "one visitor has one chat: {chats}");
        let timeline = agent.get("/agent/chats/1/messages").await.expect(200);
        let texts: Vec<_> = timeline["messages"].as_array().unwrap().iter().map(|entry| &entry["text"]).collect();
        assert_eq!(texts, ["before", "after"]);
        let channel = agent.get(&format!("/admin/channels/{}", after["demo"]["channel_id"].as_str().unwrap())).await;
        let url = channel.expect(200)["integrator_url"].clone();
        assert!(url.as_str().unwrap().starts_with(second.base_url()), "{url}");
        let webhooks = agent.get("/admin/settings").await.expect(200)["webhooks"].clone();
        assert_eq!(webhooks.as_array().unwrap().len(), 1);
        assert_eq!(webhooks[0]["url"], format!("{}/_local/webhook", second.base_url()));
        for field in ["provider_id", "bot_token", "webhook_id", "widget_id"] {
            assert_eq!(after["demo"][field], before["demo"][field], "{field}");
        }
        let bot_channel = after["demo"]["bot_channel_url"].as_str().unwrap();
        agent.post(bot_channel, &visitor_text("v", "What are your hours?")).await.expect(200);
        second.wait_for_output("Demo Bot: Which day?").await;
        second.stop().await;
    });
}

async fn send_visitor_text(ready: &Value, text: &str) {
    let client = ApiClient::new(ready["base_url"].as_str().unwrap());
    client.post(ready["demo"]["channel_url"].as_str().unwrap(), &visitor_text("v", text)).await.expect(200);
}

async fn log_in(ready: &Value) -> ApiClient {
    let client = ApiClient::new(ready["base_url"].as_str().unwrap());
    let credentials = json!({"email": ready["demo"]["admin_email"], "password": ready["demo"]["admin_password"]});
    let session = client.post("/agent/login", &credentials).await.expect(200);
    client.with_token(session["token"].as_str().unwrap())
}

#[test]
fn deployed_defaults_run_without_demo_account_and_explain_why() {
    run_without_host(async {
        let data = tempfile::tempdir().unwrap();
        let folder = ["--data", data.path().to_str().unwrap()];
        let no_http_targets = [&folder[..], &["--parameter", "AllowHttpTargets=false"]].concat();
        let no_private_targets = [&folder[..], &["--parameter", "AllowedPrivateTargets="]].concat();

        let first = LocalHostProgram::start(&no_http_targets).await;
        assert_eq!(first.ready()["demo"], Value::Null);
        assert_eq!(first.ready()["demo_url"], Value::Null);
        let output = first.stdout();
        assert!(output.contains("There is no demo account") && output.contains("AllowHttpTargets=true"), "{output}");
        let create = output.lines().find(|line| line.starts_with("curl")).unwrap();
        assert!(run_in_shell(create).await.contains("account_id"), "{create}");
        first.stop().await;

        let second = LocalHostProgram::start(&folder).await;
        assert!(second.ready()["demo"].is_object());
        second.stop().await;
        let saved = fs::read_to_string(data.path().join("demo.json")).unwrap();

        let third = LocalHostProgram::start(&no_private_targets).await;
        assert_eq!(third.ready()["demo"], Value::Null);
        third.stop().await;
        assert_eq!(fs::read_to_string(data.path().join("demo.json")).unwrap(), saved);
    });
}

#[test]
fn demo_account_missing_in_the_tables_is_recreated() {
    run_without_host(async {
        let data = tempfile::tempdir().unwrap();
        let unknown_account = json!({
            "account_id": "x", "admin_email": "a@b.example", "admin_password": "x", "agent_email": "b@b.example",
            "agent_password": "x", "channel_id": "x", "channel_url": "http://127.0.0.1:1/channel/x/x",
            "widget_id": null, "provider_id": "x", "bot_token": "x", "bot_channel_url": "http://127.0.0.1:1/channel/x/y",
        });
        fs::write(data.path().join("demo.json"), unknown_account.to_string()).unwrap();
        let program = LocalHostProgram::start(&["--data", data.path().to_str().unwrap()]).await;
        send_visitor_text(program.ready(), "Hi").await;
        program.stop().await;
    });
}

#[test]
fn restart_keeps_settings_changed_by_the_user() {
    run_without_host(async {
        let data = tempfile::tempdir().unwrap();
        let data = ["--data", data.path().to_str().unwrap()];
        let first = LocalHostProgram::start(&data).await;
        let before = first.ready().clone();
        let (channel, provider_path) =
            (format!("/admin/channels/{}", demo_field(&before, "channel_id")), provider_path(&before));
        let (integrator_url, endpoint) = ("https://app.example/hook", "https://bots.example/switchboard");
        let admin = log_in(&before).await;
        admin.patch(&channel, &json!({"integrator_url": integrator_url})).await.expect(200);
        operator_client(&before).patch(&provider_path, &json!({"endpoint": endpoint})).await.expect(200);
        first.stop().await;

        let second = LocalHostProgram::start(&data).await;
        let after = second.ready();
        assert_eq!(log_in(after).await.get(&channel).await.expect(200)["integrator_url"], integrator_url);
        assert_eq!(operator_client(after).get(&provider_path).await.expect(200)["endpoint"], endpoint);
        second.stop().await;
    });
}

#[test]
fn missing_parts_of_the_demo_account_are_recreated() {
    run_without_host(async {
        let data = tempfile::tempdir().unwrap();
        let arguments = ["--data", data.path().to_str().unwrap()];
        let first = LocalHostProgram::start(&arguments).await;
        let before = first.ready().clone();
        let admin = log_in(&before).await;
        admin.delete(&format!("/admin/channels/{}", demo_field(&before, "channel_id"))).await.expect(200);
        let bot_channel = demo_field(&before, "bot_channel_url").rsplit('/').next().unwrap().to_owned();
        let rotate = format!("/admin/channels/{bot_channel}/rotate");
        admin.post(&rotate, &json!({"keep_old_seconds": 0})).await.expect(200);
        let agents = admin.get("/admin/agents").await.expect(200);
        let is_demo_agent = |agent: &&Value| agent["email"] == before["demo"]["agent_email"];
        let agent = agents["agents"].as_array().unwrap().iter().find(is_demo_agent).unwrap();
        let password = json!({"password": "another password"});
        admin.patch(&format!("/admin/agents/{}", agent["agent_id"]), &password).await.expect(200);
        first.stop().await;

        let second = LocalHostProgram::start(&arguments).await;
        let after = second.ready();
        for field in ["account_id", "admin_email", "admin_password", "provider_id"] {
            assert_eq!(after["demo"][field], before["demo"][field], "{field}");
        }
        for field in ["agent_email", "agent_password", "channel_id", "channel_url", "bot_channel_url"] {
            assert_ne!(after["demo"][field], before["demo"][field], "{field}");
        }
        let client = ApiClient::new(second.base_url());
        let credentials =
            json!({"email": demo_field(after, "agent_email"), "password": demo_field(after, "agent_password")});
        client.post("/agent/login", &credentials).await.expect(200);
        send_visitor_text(after, "Hi").await;
        let bot_question = visitor_text("v", "What are your hours?");
        client.post(demo_field(after, "bot_channel_url"), &bot_question).await.expect(200);
        second.wait_for_output("Demo Bot: Which day?").await;
        assert_eq!(files_starting_with(data.path(), "demo"), ["demo.json"]);
        second.stop().await;
    });
}

#[test]
fn replaced_demo_account_keeps_its_passwords_in_a_file() {
    run_without_host(async {
        let data = tempfile::tempdir().unwrap();
        let arguments = ["--data", data.path().to_str().unwrap()];
        let first = LocalHostProgram::start(&arguments).await;
        let before = first.ready().clone();
        let admin = log_in(&before).await;
        let agents = admin.get("/admin/agents").await.expect(200);
        let is_admin = |agent: &&Value| agent["email"] == before["demo"]["admin_email"];
        let id = agents["agents"].as_array().unwrap().iter().find(is_admin).unwrap()["agent_id"].clone();
        let password = json!({"password": "another password"});
        admin.patch(&format!("/admin/agents/{id}"), &password).await.expect(200);
        first.stop().await;
        let saved = fs::read_to_string(data.path().join("demo.json")).unwrap();

        let second = LocalHostProgram::start(&arguments).await;
        assert_ne!(second.ready()["demo"]["account_id"], before["demo"]["account_id"]);
        let backup = format!("demo-{}.json", demo_field(&before, "account_id"));
        assert_eq!(fs::read_to_string(data.path().join(&backup)).unwrap(), saved);
        let stderr = second.stderr();
        assert!(stderr.lines().count() == 1 && stderr.contains(&backup), "{stderr}");
        second.stop().await;

        fs::write(data.path().join("demo.json"), "{").unwrap();
        let third = LocalHostProgram::start(&arguments).await;
        assert_eq!(fs::read_to_string(data.path().join("demo-unreadable.json")).unwrap(), "{");
        assert!(third.stderr().contains("demo-unreadable.json"), "{}", third.stderr());
        third.stop().await;
    });
}

fn files_starting_with(folder: &Path, start: &str) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.starts_with(start)).collect();
    names.sort();
    names
}

fn demo_field<'r>(ready: &'r Value, field: &str) -> &'r str {
    ready["demo"][field].as_str().unwrap_or_else(|| panic!("{field}: {ready}"))
}

fn operator_client(ready: &Value) -> ApiClient {
    ApiClient::new(ready["base_url"].as_str().unwrap()).with_token(ready["operator_key"].as_str().unwrap())
}

fn provider_path(ready: &Value) -> String {
    format!("/operator/providers/{}", demo_field(ready, "provider_id"))
}

#[test]
fn startup_errors_are_one_clear_line() {
    run_without_host(async {
        let program = binaries().await.join("switchboard");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        assert_one_line_error(&run_to_end(&program, &["--memory", "--port", &port]).await, &port);
        assert_one_line_error(&run_to_end(&program, &["--memory", "--port", &port]).await, "--port 0 takes a free one");
        assert_one_line_error(&run_to_end(&program, &["--port", "0", "--data", "/dev/null/x"]).await, "/dev/null/x");

        let folder = tempfile::tempdir().unwrap();
        let template = folder.path().join("template.yaml");
        let template = template.to_str().unwrap();
        let broken = ["--memory", "--port", "0", "--template", template];
        assert_one_line_error(&run_to_end(&program, &broken).await, template);
        for text in ["Resources: [", "Resources: {}\nbroken", "just text", "Resources: {X: {Type: AWS::S3::Bucket}}"] {
            fs::write(template, text).unwrap();
            assert_one_line_error(&run_to_end(&program, &broken).await, "");
        }
        let ready = run_to_end(&program, &["--memory", "--port", "0", "--ready-file", "/dev/null/x"]).await;
        assert_one_line_error(&ready, "/dev/null/x");
    });
}

/// Runs the program with a build command that always fails. Checks that the program prints the expected error on one
/// line.
async fn assert_error_before_build(program: &Path, arguments: &[&str], expected: &str) {
    let mut run = command(program);
    run.args(arguments).env("CARGO", "false").stdout(Stdio::null()).stderr(Stdio::piped());
    let output = timeout(WAIT_TIMEOUT, run.spawn().unwrap().wait_with_output()).await.expect("it ends").unwrap();
    assert_one_line_error(&(output.status, String::from_utf8(output.stderr).unwrap()), expected);
}

#[test]
fn startup_errors_are_reported_before_a_build() {
    run_without_host(async {
        let program = binaries().await.join("switchboard");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        let data = tempfile::tempdir().unwrap();
        let data = ["--port", "0", "--data", data.path().to_str().unwrap()];
        let host = LocalHostProgram::start(&data[2..]).await;
        let template = ["--memory", "--port", "0", "--template", "/dev/null/x"];
        let parameter = ["--memory", "--port", "0", "--parameter", "Nothing=1"];
        assert_error_before_build(&program, &["--memory", "--port", &port], &port).await;
        assert_error_before_build(&program, &data, "another host").await;
        assert_error_before_build(&program, &template, "/dev/null/x").await;
        assert_error_before_build(&program, &parameter, "Nothing").await;
        // With valid arguments, the program starts the build.
        assert_error_before_build(&program, &["--memory", "--port", "0"], "do not compile").await;
        host.stop().await;
    });
}

/// Puts links to the built functions and a copy of `switchboard` in `folder`, so that a test can replace a function.
/// Returns the path of the copy.
async fn link_binaries(folder: &Path) -> PathBuf {
    let built = binaries().await;
    for entry in fs::read_dir(built).unwrap() {
        let path = entry.unwrap().path();
        symlink(&path, folder.join(path.file_name().unwrap())).unwrap();
    }
    // Copy `switchboard` instead of linking to it, because it looks for the functions next to its real path.
    let program = folder.join("switchboard");
    fs::remove_file(&program).unwrap();
    // Let another process make the copy. If this process wrote the file, a process started by another test thread at
    // the same moment could inherit the open file, and the system does not execute a file that is open for writing.
    let copied = Command::new("cp").arg(built.join("switchboard")).arg(&program).status().await.unwrap();
    assert!(copied.success());
    program
}

#[test]
fn function_that_fails_to_start_is_one_clear_line() {
    run_without_host(async {
        let folder = tempfile::tempdir().unwrap();
        let program = link_binaries(folder.path()).await;
        // The demo account does not need this function.
        let broken = folder.path().join("schedule-requeue-deliveries");
        fs::remove_file(&broken).unwrap();
        assert_one_line_error(&run_to_end(&program, &["--memory", "--port", "0"]).await, "schedule-requeue-deliveries");
        fs::write(&broken, "#!/bin/sh\necho broken >&2\nexit 3\n").unwrap();
        fs::set_permissions(&broken, PermissionsExt::from_mode(0o755)).unwrap();
        let (status, stderr) = run_to_end(&program, &["--memory", "--port", "0"]).await;
        let error = stderr.strip_prefix("schedule-requeue-deliveries: broken\n").unwrap_or_else(|| panic!("{stderr}"));
        let expected = "schedule-requeue-deliveries: the process exited before it requested an event (exit status: 3)";
        assert_one_line_error(&(status, error.to_owned()), expected);
    });
}

#[test]
fn open_file_limit_is_raised() {
    run_without_host(async {
        let mut shell = command(Path::new("bash"));
        shell.args(["-c", "ulimit -Sn 256; exec \"$0\" \"$@\""]).arg(binaries().await.join("switchboard"));
        let program = LocalHostProgram::start_with(shell, &["--memory"]).await;
        let limits = fs::read_to_string(format!("/proc/{}/limits", program.child.id().unwrap())).unwrap();
        let soft = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
        let soft: u64 = soft.split_whitespace().nth(3).unwrap().parse().unwrap();
        assert!(soft > 256, "{limits}");
        program.stop().await;
    });
}

#[test]
fn second_host_on_the_same_data_is_refused() {
    run_without_host(async {
        let data = tempfile::tempdir().unwrap();
        let arguments = ["--port", "0", "--data", data.path().to_str().unwrap()];
        let first = LocalHostProgram::start(&arguments[2..]).await;
        let program = binaries().await.join("switchboard");
        let file = first.ready_file();
        let second = [&arguments[..], &["--ready-file", file.to_str().unwrap()]].concat();
        assert_one_line_error(&run_to_end(&program, &second).await, "another host");
        let ready: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(ready, *first.ready(), "the ready file of the first host is unchanged");
        first.stop().await;
    });
}
