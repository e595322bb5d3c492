//! The stage on which tests play: the local host in this process, with the real functions.
//!
//! Most tests share one host, each in an account of its own. Tests that measure time play beside each other alone
//! (`turns.rs`); one that loads the machine or kills processes plays alone. Whenever no test runs, no task may be left in
//! any queue of the shared host.
//!
//! With SWITCHBOARD_BASE_URL and SWITCHBOARD_OPERATOR_KEY set, the shared stage is the stack at that address
//! (`tests/deploy/run`). A test that looks into the host fails there and says so; it is not for a stack.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use local::demo::integrator;
use local::{Host, LogLine, LogSink, Options, Storage, builder, home};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

use crate::client::{Account, Agent, Caller, Channel, Reply, number, send};
use crate::turns::{Kind, Turns};
use crate::wait::{PATIENCE, seconds, wait_for};

/// A queue shows a killed consumer's task again after 36 s.
const EMPTY_WITHIN: Duration = seconds(60);

/// One runtime for all tests: the shared host's tasks must outlive the test that started it.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap());
static SHARED: OnceCell<Stage> = OnceCell::const_new();
static BINARIES: OnceCell<Result<PathBuf, builder::Error>> = OnceCell::const_new();
/// What roles allow and no host has needed so far.
static UNUSED: Mutex<Option<BTreeSet<String>>> = Mutex::new(None);
static TURNS: Turns = Turns::new();

/// Plays a test on the shared host, beside others.
pub fn on_stage(test: impl AsyncFnOnce(&Stage)) {
    play(Kind::Busy, on_shared_stage(test));
}

/// Plays a test that measures time on the shared host, beside others that mostly wait.
pub fn timed_on_stage(test: impl AsyncFnOnce(&Stage)) {
    play(Kind::Timed, on_shared_stage(test));
}

/// Plays a test on the shared host while nothing else happens on it: one that loads the machine, or that any other test
/// would disturb.
pub fn alone_on_stage(test: impl AsyncFnOnce(&Stage)) {
    play(Kind::Alone, on_shared_stage(test));
}

async fn on_shared_stage(test: impl AsyncFnOnce(&Stage)) {
    let stage = shared().await;
    stage.watch(test(stage)).await;
}

/// Plays a test on a host of its own with these parameters, beside others.
pub fn on_own_stage(parameters: &[(&str, &str)], test: impl AsyncFnOnce(&Stage)) {
    beside(own_stage(parameters, test));
}

/// Plays a test alone, on a host of its own with these parameters: it measures how the host keeps up.
pub fn alone_on_stage_with(parameters: &[(&str, &str)], test: impl AsyncFnOnce(&Stage)) {
    alone(own_stage(parameters, test));
}

/// Plays a test alone, on a host of its own, which it may harm.
pub fn alone_on_own_stage(test: impl AsyncFnOnce(&Stage)) {
    alone(own_stage(&[], test));
}

async fn own_stage(parameters: &[(&str, &str)], test: impl AsyncFnOnce(&Stage)) {
    let stage = Stage::start(parameters).await;
    stage.watch(test(&stage)).await;
    stage.nothing_is_left().await;
    stage.host.0.expect("a host of its own").stop().await;
}

/// Runs a test that starts what it needs itself, beside others.
pub fn beside(test: impl Future<Output = ()>) {
    play(Kind::Busy, test);
}

/// Runs a test that starts what it needs itself, alone.
pub fn alone(test: impl Future<Output = ()>) {
    play(Kind::Alone, test);
}

fn play(kind: Kind, test: impl Future<Output = ()>) {
    RUNTIME.block_on(async {
        let turn = TURNS.take(kind).await;
        test.await;
        if turn.is_last()
            && let Some(stage) = SHARED.get()
        {
            stage.nothing_is_left().await;
        }
    });
}

async fn shared() -> &'static Stage {
    let start = async || match stack() {
        Some(base_url) => Stage::of_stack(&base_url),
        None => Stage::start(&[]).await,
    };
    SHARED.get_or_init(start).await
}

/// The address of the stack on which to play, if any.
fn stack() -> Option<String> {
    std::env::var("SWITCHBOARD_BASE_URL").ok()
}

/// The folder with the built functions. Built once, even when it fails: the compiler's words are enough once.
pub async fn binaries() -> &'static Path {
    let built = BINARIES.get_or_init(async || builder::build(builder::Profile::Dev).await).await;
    built.as_deref().expect("the functions compile")
}

/// A running host and its operator.
pub struct Stage {
    pub host: Local,
    pub operator: Caller,
    pub anyone: Caller,
    pub log: Arc<Mutex<Vec<LogLine>>>,
}

/// The local host, unless a stack plays its part.
pub struct Local(Option<Host>);

impl Deref for Local {
    type Target = Host;

    fn deref(&self) -> &Host {
        self.0.as_ref().expect("this test looks into the local host, which a stack has not")
    }
}

impl Stage {
    /// A stack that somebody deployed.
    fn of_stack(base_url: &str) -> Self {
        let operator_key = std::env::var("SWITCHBOARD_OPERATOR_KEY").expect("SWITCHBOARD_OPERATOR_KEY");
        let anyone = Caller::new(base_url);
        let operator = anyone.with(&operator_key);
        Self { host: Local(None), operator, anyone, log: Arc::default() }
    }

    async fn start(parameters: &[(&str, &str)]) -> Self {
        assert_eq!(stack(), None, "this test needs a local host of its own");
        let operator_key = home::random_hex::<32>().unwrap();
        let mut all = BTreeMap::from([
            ("OperatorKeySha256".to_owned(), home::sha256_hex(&operator_key)),
            ("AllowHttpTargets".to_owned(), "true".to_owned()),
            ("AllowedPrivateTargets".to_owned(), "127.0.0.0/8,::1/128".to_owned()),
        ]);
        all.extend(parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let log = Arc::default();
        let host = Host::start(Options {
            port: 0,
            storage: Storage::Memory,
            template: builder::workspace().join("template.yaml"),
            parameters: all,
            binaries: binaries().await.to_owned(),
            extra: integrator::router(),
            log: LogSink::Memory(Arc::clone(&log)),
        })
        .await
        .expect("the host starts");
        let anyone = Caller::new(host.base_url());
        let operator = anyone.with(&operator_key);
        Self { host: Local(Some(host)), operator, anyone, log }
    }

    /// Shows what the functions complained about when the test fails.
    async fn watch(&self, test: impl Future<Output = ()>) {
        let from = self.log.lock().unwrap().len();
        let _complaints = Complaints { log: &self.log, from };
        test.await;
        if let Local(Some(host)) = &self.host {
            note_permissions(host);
        }
    }

    pub async fn account(&self) -> Account {
        Account::open(&self.operator).await
    }

    /// The tables behind the functions.
    pub fn tables(&self) -> aws_sdk_dynamodb::Client {
        let config = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new("local", "local", None, None, "tests"))
            .endpoint_url(self.host.tables_url("tests"))
            .build();
        aws_sdk_dynamodb::Client::from_conf(config)
    }

    /// Kills these processes, and returns once they have ended.
    pub async fn kill(&self, is_meant: impl Fn(&str) -> bool) {
        let mut meant = self.host.processes();
        meant.retain(|(function, _)| is_meant(function));
        meant.iter().for_each(|(_, pid)| kill(*pid, "-9"));
        self.have_ended(&meant).await;
    }

    /// Returns once these killed processes have ended: until then one could be given a request, and take it along.
    pub async fn have_ended(&self, killed: &[(String, u32)]) {
        wait_for("the processes are gone", PATIENCE, async || {
            let left: Vec<_> = self.host.processes().into_iter().filter(|process| killed.contains(process)).collect();
            if left.is_empty() { Ok(()) } else { Err(left) }
        })
        .await;
    }

    /// No task may be left over, nor any that the consumers could not digest.
    pub async fn nothing_is_left(&self) {
        let Local(Some(host)) = &self.host else { return };
        let queues = host.queues();
        wait_for("every queue empty", EMPTY_WITHIN, async || {
            let left = queues.left().unwrap();
            if left.is_empty() { Ok(()) } else { Err(left) }
        })
        .await;
    }
}

/// Leaves for `tests/permissions.rs` what no test of this run has needed.
fn note_permissions(host: &Host) {
    let unused = host.unused_permissions().into_iter();
    let unused: BTreeSet<String> = unused.map(|(function, permission)| format!("{function}: {permission}")).collect();
    let mut all = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
    let left = match all.take() {
        Some(before) => before.intersection(&unused).cloned().collect(),
        None => unused,
    };
    let lines: Vec<&str> = left.iter().map(String::as_str).collect();
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("unused-permissions"), lines.join("\n")).unwrap();
    *all = Some(left);
}

struct Complaints<'a> {
    log: &'a Mutex<Vec<LogLine>>,
    from: usize,
}

impl Drop for Complaints<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // A second panic would end the whole run.
            let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
            let complains = |line: &&LogLine| !line.line.contains("\"INFO\"");
            for line in log.iter().skip(self.from).filter(complains) {
                eprintln!("{}: {}", line.function, line.line);
            }
        }
    }
}

pub fn kill(pid: u32, signal: &str) {
    Command::new("kill").args([signal, &pid.to_string()]).status().unwrap();
}

/// A visitor and an agent who has accepted the chat; the agent is the account's admin.
pub struct Conversation {
    pub account: Account,
    pub agent: Agent,
    pub channel: Channel,
    pub chat: u64,
}

pub const VISITOR: &str = "visitor-1";

impl Conversation {
    /// Opened in an account of its own, through a channel with these settings.
    pub async fn open(stage: &Stage, integrator_url: &str, settings: Value) -> Self {
        let account = stage.account().await;
        let channel = account.channel_with(integrator_url, settings).await;
        Self::join(account, channel).await
    }

    async fn join(account: Account, channel: Channel) -> Self {
        let agent = account.admin.clone();
        let chat = open_chat(&agent, &channel, VISITOR).await;
        Self { account, agent, channel, chat }
    }

    pub async fn write(&self, text: &str) -> u64 {
        self.agent.write(self.chat, text).await
    }

    pub async fn verdict(&self, seq: u64) -> Value {
        self.agent.verdict(self.chat, seq).await
    }
}

/// The visitor writes, the agent accepts; returns the chat's number.
pub async fn open_chat(agent: &Agent, channel: &Channel, visitor: &str) -> u64 {
    channel.say(visitor, "Hello").await;
    let chats = agent.chats("waiting").await;
    let newest = chats.iter().map(|chat| number(&chat["chat_id"])).max().expect("the chat waits");
    agent.accept(newest).await;
    newest
}

/// Posts raw bytes.
pub async fn post_raw(caller: &Caller, target: &str, body: Vec<u8>) -> Reply {
    send(caller.request(Method::POST, target).header("content-type", "application/json").body(body)).await
}

/// A text message of a visitor, as table A1 has it.
pub fn visitor_text(visitor: &str, text: &str) -> Value {
    json!({"sender": {"id": visitor}, "message": {"type": "text", "text": text}})
}
