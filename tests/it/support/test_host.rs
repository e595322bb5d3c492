//! The host under test. By default, this is the local host, which runs in this process and starts the real functions.
//!
//! Most tests share one host, and each of them creates its own account. Whenever no test is running, all queues of the
//! shared host must become empty. A test that affects or observes all accounts runs on its own host.
//!
//! A test of a schedule, such as the three attempts of a delivery, runs with virtual time: on a host of its own, whose
//! clock it advances (`virtual_time.rs`). Later tests use the same host. One test of each schedule runs in real time:
//! `unreachable_integrator_fails_after_three_attempts`, `third_attempt_may_succeed_and_all_share_one_id` (webhooks),
//! `provider_refusing_connections_loses_the_chat` and `silent_bot_loses_the_chat`.
//!
//! If SWITCHBOARD_BASE_URL and SWITCHBOARD_OPERATOR_KEY are set, the shared host is the deployed stack at that URL
//! (`tests/deploy/run`). A test that reads the tables, queues or processes of the local host then fails with a clear
//! message.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use local::demo::{integrator, journal::Journal};
use local::{Host, HostStorage, LogLine, LogSink, Options, Permission, cargo_build, random_and_digest};
use reqwest::Method;
use serde_json::{Value, json};
use shared::runtime::aws_config;
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

use crate::support::api_client::{ApiClient, ApiResponse, TestAccount, TestAgent, TestChannel, number, send};
use crate::support::test_concurrency::{acquire_all_permits, acquire_permit, exclude_other_tests};
use crate::support::test_receiver::{CannedResponse, TestReceiver};
use crate::support::virtual_time::VirtualTime;
use crate::support::wait::{WAIT_TIMEOUT, seconds, wait_for};

/// How long to wait for the queues to become empty. This is longer than the 36-second visibility timeout, after which
/// the queue redelivers a killed consumer's task.
const DRAIN_TIMEOUT: Duration = seconds(60);

/// All tests share one runtime, because the shared host's tasks must outlive the test that started the host.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap());
static SHARED: OnceCell<TestHost> = OnceCell::const_new();
/// The hosts with virtual time that no test is using.
static WITH_VIRTUAL_TIME: Mutex<Vec<TestHost>> = Mutex::new(Vec::new());
static BINARIES: OnceCell<Result<PathBuf, cargo_build::Error>> = OnceCell::const_new();
/// The permissions in the functions' roles that no test in this process has used so far. `None` until the first host
/// has recorded its permissions.
static UNUSED_PERMISSIONS: Mutex<Option<BTreeSet<String>>> = Mutex::new(None);

/// Runs a test on the shared host.
pub fn run_on_shared_host(test: impl AsyncFnOnce(&TestHost)) {
    run(async {
        let host = shared_host().await;
        host.run_test(test(host)).await;
    });
}

/// Runs a test on a host that no other test uses at the same time, and whose clock only the test advances. The log of
/// the host is empty. When the test has ended, all queues become empty without any waiting.
pub fn run_with_virtual_time(test: impl AsyncFnOnce(&TestHost, &VirtualTime<'_>)) {
    run(async {
        let unused = WITH_VIRTUAL_TIME.lock().unwrap().pop();
        let host = match unused {
            Some(host) => host,
            None => TestHost::start(&[]).await,
        };
        host.log.lock().unwrap().clear();
        host.run_with_virtual_time(test).await;
        WITH_VIRTUAL_TIME.lock().unwrap().push(host);
    });
}

/// Like [`run_with_virtual_time`], but on a new host with these template parameters.
pub fn run_on_own_host_with_virtual_time(
    parameters: &[(&str, &str)],
    test: impl AsyncFnOnce(&TestHost, &VirtualTime<'_>),
) {
    run(async {
        let host = TestHost::start(parameters).await;
        host.run_with_virtual_time(test).await;
        host.local.0.expect("a host of its own").stop().await;
    });
}

/// Runs a test on its own host with these template parameters.
pub fn run_on_own_host(parameters: &[(&str, &str)], test: impl AsyncFnOnce(&TestHost)) {
    run(async {
        let host = TestHost::start(parameters).await;
        host.run_test(test(&host)).await;
        host.assert_queues_drain().await;
        host.local.0.expect("a host of its own").stop().await;
    });
}

/// Like [`run_on_own_host`], on a host that exports spans to a collector, whose requests the test gets.
pub fn run_on_own_host_with_collector(test: impl AsyncFnOnce(&TestHost, &TestReceiver)) {
    run(async {
        let accepted = CannedResponse::Text(200, "application/x-protobuf", String::new());
        let collector = TestReceiver::start(accepted).await.without_document_check();
        let endpoint = format!("http://127.0.0.1:{}", collector.port());
        let host = TestHost::start(&[("OtlpEndpoint", &endpoint)]).await;
        host.run_test(test(&host, &collector)).await;
        host.assert_queues_drain().await;
        host.local.0.expect("a host of its own").stop().await;
    });
}

/// Runs a test on its own host while no other test is running, because it measures usage that depends on how fast the
/// functions are.
pub fn run_alone_on_own_host(test: impl AsyncFnOnce(&TestHost)) {
    RUNTIME.block_on(async {
        let _permits = acquire_all_permits().await;
        let host = TestHost::start(&[]).await;
        host.run_test(test(&host)).await;
        host.assert_queues_drain().await;
        host.local.0.expect("a host of its own").stop().await;
    });
}

/// Runs a test that needs no host or starts its own.
pub fn run_without_host(test: impl Future<Output = ()>) {
    run(test);
}

fn run(test: impl Future<Output = ()>) {
    RUNTIME.block_on(async {
        let _permit = acquire_permit().await;
        test.await;
        if let Some(host) = SHARED.get()
            && let Some(_other_tests) = exclude_other_tests()
        {
            host.assert_queues_drain().await;
        }
    });
}

async fn shared_host() -> &'static TestHost {
    let start = async || match stack_base_url() {
        Some(base_url) => TestHost::for_stack(&base_url),
        None => TestHost::start(&[]).await,
    };
    SHARED.get_or_init(start).await
}

/// Returns the base URL of the deployed stack under test, or `None` if the tests run on the local host.
fn stack_base_url() -> Option<String> {
    std::env::var("SWITCHBOARD_BASE_URL").ok()
}

/// The options with which tests/run builds.
const OPTIONS: [&str; 3] = ["--examples", "--features", "bench/run,faults/run"];

/// Returns the folder with the built functions. The build runs only once, even if it fails, so that the compiler's
/// messages are printed only once.
pub async fn binaries() -> &'static Path {
    let built = BINARIES.get_or_init(async || cargo_build::build(cargo_build::CargoProfile::Dev, &OPTIONS).await).await;
    built.as_deref().expect("the functions compile")
}

/// The domain from which the host sends e-mails.
pub const MAIL_DOMAIN: &str = "mail.localhost";
/// The secret by which the functions recognize requests of the CloudFront distribution.
pub const ORIGIN_SECRET: &str = "8d969eef6ecad3c29a3a629280e686cf";

pub struct TestHost {
    pub local: LocalHost,
    pub operator: ApiClient,
    pub anonymous: ApiClient,
    pub log: Arc<Mutex<Vec<LogLine>>>,
}

/// The local host. `None` means that the tests run against a deployed stack.
pub struct LocalHost(Option<Host>);

impl Deref for LocalHost {
    type Target = Host;

    fn deref(&self) -> &Host {
        self.0.as_ref().expect("this test needs the local host, not a deployed stack")
    }
}

impl TestHost {
    fn for_stack(base_url: &str) -> Self {
        let operator_key = std::env::var("SWITCHBOARD_OPERATOR_KEY").expect("SWITCHBOARD_OPERATOR_KEY");
        let anonymous = ApiClient::new(base_url);
        let operator = anonymous.with_token(&operator_key);
        Self { local: LocalHost(None), operator, anonymous, log: Arc::default() }
    }

    async fn start(parameters: &[(&str, &str)]) -> Self {
        assert_eq!(stack_base_url(), None, "this test needs a local host of its own");
        let operator_key = random_and_digest::random_hex::<32>().unwrap();
        let mut all = BTreeMap::from([
            ("OperatorKeySha256".to_owned(), random_and_digest::sha256_hex(&operator_key)),
            ("AllowHttpTargets".to_owned(), "true".to_owned()),
            ("AllowedPrivateTargets".to_owned(), "127.0.0.0/8,::1/128".to_owned()),
            ("OriginSecrets".to_owned(), ORIGIN_SECRET.to_owned()),
            ("MailDomain".to_owned(), MAIL_DOMAIN.to_owned()),
        ]);
        all.extend(parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let log = Arc::default();
        let host = Host::start(Options {
            port: 0,
            storage: HostStorage::Memory,
            template: cargo_build::workspace_root().join("template.yaml"),
            parameters: all,
            binaries: binaries().await.to_owned(),
            store_latency: Duration::ZERO,
            extra_routes: integrator::router(Journal::default()),
            log: LogSink::Memory(Arc::clone(&log)),
        })
        .await
        .expect("the host starts");
        let anonymous = ApiClient::new(host.base_url());
        let operator = anonymous.with_token(&operator_key);
        Self { local: LocalHost(Some(host)), operator, anonymous, log }
    }

    /// Runs the test. If the test panics, prints what the functions have logged since its start, except lines with the
    /// level INFO. On the shared host, this includes the functions' logs about concurrent tests.
    async fn run_test(&self, test: impl Future<Output = ()>) {
        let start = self.log.lock().unwrap().len();
        let _print_on_panic = PrintProblemsOnPanic { log: &self.log, start };
        test.await;
        if let LocalHost(Some(host)) = &self.local {
            record_unused_permissions(host);
        }
    }

    async fn run_with_virtual_time(&self, test: impl AsyncFnOnce(&TestHost, &VirtualTime<'_>)) {
        self.local.clock().stop().unwrap();
        let time = VirtualTime(&self.local);
        self.run_test(async {
            test(self, &time).await;
            time.run_until_queues_are_empty().await;
            self.assert_queues_drain().await;
        })
        .await;
    }

    pub async fn create_account(&self) -> TestAccount {
        TestAccount::create(&self.operator).await
    }

    pub fn tables(&self) -> aws_sdk_dynamodb::Client {
        aws_sdk_dynamodb::Client::new(&aws_config::of_local_server(self.local.tables_url("tests")))
    }

    /// Kills the processes of all functions for which `matches` returns true. Returns once these processes have ended.
    pub async fn kill_processes(&self, matches: impl Fn(&str) -> bool) {
        let mut processes = self.local.processes();
        processes.retain(|(function, _)| matches(function));
        processes.iter().for_each(|(_, pid)| kill(*pid, "-9"));
        self.wait_until_ended(&processes).await;
    }

    /// Waits until the killed processes have ended. Until then, the host might send a request to one of them, and the
    /// request would be lost.
    pub async fn wait_until_ended(&self, killed: &[(String, u32)]) {
        wait_for("the processes have ended", WAIT_TIMEOUT, async || {
            let remaining: Vec<_> =
                self.local.processes().into_iter().filter(|process| killed.contains(process)).collect();
            if remaining.is_empty() { Ok(()) } else { Err(remaining) }
        })
        .await;
    }

    /// Waits until every queue is empty, including the dead-letter queues. Does nothing on a deployed stack.
    pub async fn assert_queues_drain(&self) {
        let LocalHost(Some(host)) = &self.local else { return };
        let queues = host.queues();
        wait_for("every queue empty", DRAIN_TIMEOUT, async || {
            let remaining = queues.non_empty_queues().unwrap();
            if remaining.is_empty() { Ok(()) } else { Err(remaining) }
        })
        .await;
    }
}

/// Writes the permissions that no test has used so far to the file that `tests/unused_permissions.rs` checks.
fn record_unused_permissions(host: &Host) {
    let all_unused = host.unused_permissions();
    let is_unused = |function: &String, permission: &Permission| {
        let webhook_queue =
            webhook_queue_permission(permission).filter(|_| !OTHER_TARGETS.contains(&function.as_str()));
        webhook_queue.is_none_or(|webhook_queue| all_unused.contains(&(function.clone(), webhook_queue)))
    };
    let unused = all_unused.iter().filter(|(function, permission)| is_unused(function, permission));
    let unused: BTreeSet<String> = unused.map(|(function, permission)| format!("{function}: {permission}")).collect();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unused-permissions");
    let mut all = UNUSED_PERMISSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let remaining = match all.take() {
        Some(before) => before.intersection(&unused).cloned().collect(),
        None => unused,
    };
    let lines: Vec<&str> = remaining.iter().map(String::as_str).collect();
    std::fs::write(&file, lines.join("\n")).unwrap();
    *all = Some(remaining);
}

/// The functions that deliver to the other targets of webhooks. Their own permissions must all be used.
const OTHER_TARGETS: [&str; 2] = ["deliver-event-bridge", "deliver-sqs"];

/// Returns the permission to send to the webhook queue, if `permission` is to send to the queue of another target of
/// webhooks. The settings of the account decide to which of these queues a function sends, so it needs all of them if
/// it uses one.
fn webhook_queue_permission(permission: &Permission) -> Option<Permission> {
    let (arn, queue) = permission.resource.rsplit_once(':')?;
    let webhook_queue = queue.replace("Sqs", "Webhook").replace("EventBridge", "Webhook");
    let is_other = permission.action == "sqs:SendMessage" && webhook_queue != queue;
    is_other.then(|| Permission { resource: format!("{arn}:{webhook_queue}"), ..permission.clone() })
}

struct PrintProblemsOnPanic<'a> {
    log: &'a Mutex<Vec<LogLine>>,
    start: usize,
}

impl Drop for PrintProblemsOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // A second panic would abort the whole test process, so ignore a poisoned lock.
            let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
            let is_problem = |line: &&LogLine| !line.line.contains("\"INFO\"");
            for line in log.iter().skip(self.start).filter(is_problem) {
                eprintln!("{}: {}", line.function, line.line);
            }
        }
    }
}

pub fn kill(pid: u32, signal: &str) {
    Command::new("kill").args([signal, &pid.to_string()]).status().unwrap();
}

/// A chat in a new account, accepted by `agent`, who is the account's admin.
pub struct ActiveChat {
    pub account: TestAccount,
    pub agent: TestAgent,
    pub channel: TestChannel,
    pub number: u64,
}

pub const VISITOR_ID: &str = "visitor-1";

impl ActiveChat {
    /// Creates an account and a channel with these settings, opens a chat in the channel, and accepts the chat.
    pub async fn create(host: &TestHost, integrator_url: &str, settings: Value) -> Self {
        let account = host.create_account().await;
        let channel = account.create_channel_with(integrator_url, settings).await;
        Self::open(account, channel).await
    }

    async fn open(account: TestAccount, channel: TestChannel) -> Self {
        let agent = account.admin.clone();
        let number = open_accepted_chat(&agent, &channel, VISITOR_ID).await;
        Self { account, agent, channel, number }
    }

    pub async fn send_text(&self, text: &str) -> u64 {
        self.agent.send_text(self.number, text).await
    }

    pub async fn final_delivery(&self, seq: u64) -> Value {
        self.agent.final_delivery(self.number, seq).await
    }
}

/// Opens a chat with a message from the visitor and accepts it as the agent. Returns the chat number.
pub async fn open_accepted_chat(agent: &TestAgent, channel: &TestChannel, visitor: &str) -> u64 {
    channel.send_text(visitor, "Hello").await;
    let chats = agent.chats("waiting").await;
    let newest = chats.iter().map(|chat| number(&chat["chat_id"])).max().expect("a waiting chat");
    agent.accept(newest).await;
    newest
}

/// Posts these bytes with the JSON content type, even if they are not valid JSON.
pub async fn post_raw(client: &ApiClient, target: &str, body: Vec<u8>) -> ApiResponse {
    send(client.request(Method::POST, target).header("content-type", "application/json").body(body)).await
}

/// Returns the body of a visitor's text message (specification, table A1).
pub fn visitor_text(visitor: &str, text: &str) -> Value {
    json!({"sender": {"id": visitor}, "message": {"type": "text", "text": text}})
}
