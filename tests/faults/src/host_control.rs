//! Starts the local host as a child process, kills it and starts it again with the same data and the same port.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use local::faults::FaultPlan;
use local::random_and_digest;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::customer::JOURNAL_FILE;
use crate::host_program::{HostCommand, HostStatus};

/// How long the host may take to start or to respond to a command.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

pub struct HostControl {
    folder: PathBuf,
    binaries: PathBuf,
    port: u16,
    operator_key: String,
    running: RunningHost,
    /// The number of faults of each kind that were injected before the host was last started.
    earlier_faults: BTreeMap<String, u64>,
}

struct RunningHost {
    child: Child,
    commands: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    status: HostStatus,
}

impl HostControl {
    /// Starts the host with its data and its log in `folder`.
    pub async fn start(folder: &Path, binaries: &Path) -> Self {
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let operator_key = random_and_digest::random_hex::<32>().unwrap();
        let binaries = linked(binaries, &folder.join("binaries"));
        let running = RunningHost::start(folder, &binaries, port, &operator_key).await;
        Self { folder: folder.to_owned(), binaries, port, operator_key, running, earlier_faults: BTreeMap::new() }
    }

    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn operator_key(&self) -> &str {
        &self.operator_key
    }

    /// Kills the host together with all function processes, and then starts the host again.
    pub async fn kill_and_restart(&mut self) {
        self.running.send(&HostCommand::Status).await;
        self.running.child.kill().await.unwrap();
        self.earlier_faults = self.faults();
        *self.earlier_faults.entry("host killed".to_owned()).or_default() += 1;
        self.running = RunningHost::start(&self.folder, &self.binaries, self.port, &self.operator_key).await;
    }

    pub async fn set_plan(&mut self, plan: Option<FaultPlan>) {
        self.running.send(&HostCommand::SetPlan(plan.map(Box::new))).await;
    }

    /// Runs the scheduled search for overdue deliveries. Returns the number of messages in each queue that is not empty
    /// afterwards.
    pub async fn sweep(&mut self) -> &BTreeMap<String, u64> {
        self.running.send(&HostCommand::Sweep).await;
        &self.running.status.queues
    }

    pub async fn queues(&mut self) -> &BTreeMap<String, u64> {
        self.running.send(&HostCommand::Status).await;
        &self.running.status.queues
    }

    /// Returns the number of injected faults of each kind, as of the last command to the host. Killing the host counts
    /// as one of these kinds.
    pub fn faults(&self) -> BTreeMap<String, u64> {
        let mut all = self.earlier_faults.clone();
        for (name, count) in &self.running.status.faults {
            *all.entry(name.clone()).or_default() += count;
        }
        all
    }

    /// Returns the path of the file with what customers' AWS accounts have received.
    pub fn customer_file(&self) -> PathBuf {
        self.folder.join("data").join(JOURNAL_FILE)
    }

    pub fn copy_log(&self, to: &Path) {
        std::fs::copy(self.folder.join("log"), to).unwrap();
    }

    pub async fn stop(self) {
        let RunningHost { mut child, commands, .. } = self.running;
        drop(commands);
        if timeout(ANSWER_TIMEOUT, child.wait()).await.is_err() {
            child.kill().await.unwrap();
        }
    }
}

impl RunningHost {
    async fn start(folder: &Path, binaries: &Path, port: u16, operator_key: &str) -> Self {
        let log: File = OpenOptions::new().create(true).append(true).open(folder.join("log")).unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["host", "--port", &port.to_string()])
            .args(["--operator-key-sha256", &random_and_digest::sha256_hex(operator_key)])
            .arg("--data")
            .arg(folder.join("data"))
            .arg("--binaries")
            .arg(binaries)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let commands = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut host = Self { child, commands, answers, status: HostStatus::default() };
        host.read_answer().await;
        host
    }

    async fn send(&mut self, command: &HostCommand) {
        let line = serde_json::to_string(command).unwrap() + "\n";
        self.commands.write_all(line.as_bytes()).await.expect("the host reads commands");
        self.read_answer().await;
    }

    async fn read_answer(&mut self) {
        let line = timeout(ANSWER_TIMEOUT, self.answers.next_line()).await.expect("the host answers").unwrap();
        self.status = serde_json::from_str(&line.expect("the host runs; its log has the reason")).unwrap();
    }
}

/// Links or copies the binaries into a new folder, so that a build cannot replace them during the run. Returns the new
/// folder.
fn linked(binaries: &Path, folder: &Path) -> PathBuf {
    std::fs::create_dir(folder).unwrap();
    for entry in std::fs::read_dir(binaries).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), folder.join(entry.file_name()));
        // The binaries of the functions have no file extension, but most other files that cargo writes have one.
        if entry.file_type().unwrap().is_file() && from.extension().is_none() {
            std::fs::hard_link(&from, &to).or_else(|_| std::fs::copy(&from, &to).map(drop)).unwrap();
        }
    }
    folder.to_owned()
}
