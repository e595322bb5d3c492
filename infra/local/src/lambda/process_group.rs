//! The process group of all functions of a host. It ends with the host, however the host ends.

use std::io;
use std::process::Stdio;

use tokio::process::{Child, Command};

/// The watchdog: blocks until its standard input ends, then kills its own process group.
const WATCHDOG: &str = "read -r _; kill -KILL 0";

/// A process group. When this is dropped or the host is killed, the system closes the pipe to the watchdog, which kills
/// every process in the group, also one that hangs.
pub(super) struct ProcessGroup {
    id: i32,
    /// Holds the host's end of the pipe. The system reserves the group's id until this child is waited for.
    _watchdog: Child,
}

impl ProcessGroup {
    /// Starts the watchdog, which leads the group.
    pub fn start() -> io::Result<Self> {
        let watchdog = Command::new("/bin/sh")
            .args(["-c", WATCHDOG])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let id = watchdog.id().and_then(|id| id.try_into().ok()).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self { id, _watchdog: watchdog })
    }

    /// For [`Command::process_group`].
    pub fn id(&self) -> i32 {
        self.id
    }
}
