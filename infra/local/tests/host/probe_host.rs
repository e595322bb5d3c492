//! Starts a local host for one test. The host's functions are links to the `test_function` example.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use local::{Error, Host, HostStorage, LogLine, LogSink, Options};
use tempfile::TempDir;

/// The functions of `template.yaml` in this folder.
const FUNCTIONS: [&str; 8] =
    ["probe", "socket-probe", "hasty", "single", "never-starts", "cannot-start", "worker", "watcher"];

/// A running host. `lines` is its captured log. `folder` is deleted when this value is dropped; in most tests, it
/// contains the function binaries.
pub struct ProbeHost {
    pub host: Host,
    pub lines: Arc<Mutex<Vec<LogLine>>>,
    pub folder: TempDir,
}

impl std::ops::Deref for ProbeHost {
    type Target = Host;

    fn deref(&self) -> &Host {
        &self.host
    }
}

impl ProbeHost {
    pub async fn start() -> Self {
        let folder = link_binaries();
        let (options, lines) = memory_options(folder.path());
        let host = Host::start(options).await.unwrap();
        Self { host, lines, folder }
    }

    /// Like [`start`](Self::start), but stores the data in the returned `folder`, and replaces the first occurrence of
    /// `from` in the template with `to`.
    pub async fn start_with_template_change(from: &str, to: &str) -> Self {
        let folder = link_binaries();
        let (options, lines) = changed_template_options(folder.path(), from, to);
        let host = Host::start(options).await.unwrap();
        Self { host, lines, folder }
    }

    pub fn lines(&self, function: &str) -> Vec<String> {
        let lines = self.lines.lock().unwrap();
        let lines = lines.iter().filter(|line| line.function == function);
        lines.map(|line| line.line.clone()).collect()
    }
}

/// Returns options for a host that stores its data in memory, and the log lines that the host captures.
pub fn memory_options(binaries: &Path) -> (Options, Arc<Mutex<Vec<LogLine>>>) {
    let lines = Arc::default();
    let options = Options {
        port: 0,
        storage: HostStorage::Memory,
        template: template_path(),
        parameters: BTreeMap::new(),
        binaries: binaries.to_owned(),
        store_latency: Duration::ZERO,
        extra_routes: axum::Router::new(),
        log: LogSink::Memory(Arc::clone(&lines)),
    };
    (options, lines)
}

/// Starts a host whose binaries and data are in `folder`. In the host's copy of the template, the first occurrence of
/// `from` is replaced with `to`.
pub async fn start_with_template_change(folder: &Path, from: &str, to: &str) -> Result<Host, Error> {
    Host::start(changed_template_options(folder, from, to).0).await
}

/// Like [`start_with_template_change`], but only returns the options and the log lines that the host captures.
pub fn changed_template_options(folder: &Path, from: &str, to: &str) -> (Options, Arc<Mutex<Vec<LogLine>>>) {
    let text = std::fs::read_to_string(template_path()).unwrap();
    assert!(text.contains(from));
    let (options, lines) = memory_options(folder);
    let options =
        Options { template: folder.join("template.yaml"), storage: HostStorage::Dir(folder.join("data")), ..options };
    std::fs::write(&options.template, text.replacen(from, to, 1)).unwrap();
    (options, lines)
}

pub fn template_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host/template.yaml")
}

pub fn link_binaries() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for function in FUNCTIONS {
        std::os::unix::fs::symlink(example_path("test_function"), folder.path().join(function)).unwrap();
    }
    folder
}

/// Returns the path of an example, which Cargo puts next to the binaries when it builds all tests.
pub fn example_path(name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_switchboard")).parent().unwrap();
    let path = target.join("examples").join(name);
    assert!(path.exists(), "{} is missing: cargo build -p local --examples", path.display());
    path
}

/// Reads a value until `is_done` accepts it, and returns it. Panics with the last value after ten seconds.
pub async fn wait_for<T: Debug>(read: impl Fn() -> T, is_done: impl Fn(&T) -> bool) -> T {
    let start = Instant::now();
    loop {
        let value = read();
        if is_done(&value) {
            return value;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "still {value:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Returns whether the process is running. A zombie process does not count as running.
pub fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.starts_with('Z'));
    state == Some(false)
}

pub fn kill(pid: u32) {
    let status = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(status.unwrap().success());
}
