//! A host for one test, and ways to wait without sleeping for a fixed time.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use local::{Error, Host, LogLine, LogSink, Options, Storage};
use tempfile::TempDir;

/// The functions of `template.yaml` in this folder; each is a link to the probe.
const FUNCTIONS: [&str; 6] = ["probe", "hasty", "single", "never-starts", "cannot-start", "worker"];

/// A host with its binaries and its log.
pub struct TestHost {
    pub host: Host,
    pub lines: Arc<Mutex<Vec<LogLine>>>,
    pub folder: TempDir,
}

impl std::ops::Deref for TestHost {
    type Target = Host;

    fn deref(&self) -> &Host {
        &self.host
    }
}

impl TestHost {
    pub async fn start() -> Self {
        let folder = binaries();
        let (options, lines) = options(folder.path());
        let host = Host::start(options).await.unwrap();
        Self { host, lines, folder }
    }

    /// Every line of the function so far.
    pub fn lines(&self, function: &str) -> Vec<String> {
        let lines = self.lines.lock().unwrap();
        let own = lines.iter().filter(|line| line.function == function);
        own.map(|line| line.line.clone()).collect()
    }
}

/// Options for a host in memory that captures its log.
pub fn options(binaries: &Path) -> (Options, Arc<Mutex<Vec<LogLine>>>) {
    let lines = Arc::default();
    let options = Options {
        port: 0,
        storage: Storage::Memory,
        template: template(),
        parameters: BTreeMap::new(),
        binaries: binaries.to_owned(),
        extra: axum::Router::new(),
        log: LogSink::Memory(Arc::clone(&lines)),
    };
    (options, lines)
}

/// A host on `folder`, with the template changed in one place.
pub async fn start_changed(folder: &Path, from: &str, to: &str) -> Result<Host, Error> {
    let text = std::fs::read_to_string(template()).unwrap();
    assert!(text.contains(from));
    let (options, _) = options(folder);
    let options =
        Options { template: folder.join("template.yaml"), storage: Storage::Dir(folder.join("data")), ..options };
    std::fs::write(&options.template, text.replacen(from, to, 1)).unwrap();
    Host::start(options).await
}

pub fn template() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host/template.yaml")
}

/// A folder with a link to the probe for every function.
pub fn binaries() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for function in FUNCTIONS {
        std::os::unix::fs::symlink(example("probe"), folder.path().join(function)).unwrap();
    }
    folder
}

/// Cargo builds examples beside the binaries when all tests are built.
pub fn example(name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_switchboard")).parent().unwrap();
    let path = target.join("examples").join(name);
    assert!(path.exists(), "{} is missing: cargo build -p local --examples", path.display());
    path
}

/// Waits until `look` gives something that `is_done`, and fails with the last thing it gave.
pub async fn wait_for<T: Debug>(look: impl Fn() -> T, is_done: impl Fn(&T) -> bool) -> T {
    let start = Instant::now();
    loop {
        let state = look();
        if is_done(&state) {
            return state;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "still {state:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether the process exists; a zombie does not count.
pub fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.starts_with('Z'));
    state == Some(false)
}

/// Ends the process as a crash would.
pub fn kill(pid: u32) {
    let status = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(status.unwrap().success());
}
