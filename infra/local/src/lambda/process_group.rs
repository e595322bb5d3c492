//! Creates the process group for all function processes. A watchdog process kills the group when the host exits for any
//! reason, even after `kill -9`.

use std::io;
use std::process::Stdio;

use tokio::process::{Child, Command};

/// The script blocks until standard input is closed. It then kills its own process group.
const WATCHDOG_SCRIPT: &str = "read -r _; kill -KILL 0";

/// The group of all function processes. When this value is dropped or the host exits, the operating system closes the
/// pipe to the watchdog, which then kills every process in the group, including processes that hang.
pub(super) struct ProcessGroup {
    id: i32,
    /// Holds the write end of the pipe. The group id cannot be reused until the host has waited for this child process.
    _watchdog: Child,
}

impl ProcessGroup {
    /// Starts the watchdog as the leader of a new group.
    pub fn start() -> io::Result<Self> {
        let watchdog = Command::new("/bin/sh")
            .args(["-c", WATCHDOG_SCRIPT])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let id = watchdog.id().and_then(|id| id.try_into().ok()).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self { id, _watchdog: watchdog })
    }

    pub fn id(&self) -> i32 {
        self.id
    }
}
