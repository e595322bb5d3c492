//! A registry of all running function processes, by id. The Runtime API uses it to find the mailbox of the process that
//! calls it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::mailbox::Mailbox;

#[derive(Default)]
pub(super) struct ProcessRegistry(Mutex<BTreeMap<Uuid, RegisteredProcess>>);

struct RegisteredProcess {
    function: String,
    /// `None` until the process is spawned.
    pid: Option<u32>,
    mailbox: Arc<Mailbox>,
}

/// Removes the process from the registry when it is dropped.
pub(super) struct Registration {
    id: Uuid,
    registry: Arc<ProcessRegistry>,
}

impl ProcessRegistry {
    pub fn register(self: &Arc<Self>, id: Uuid, function: &str, mailbox: Arc<Mailbox>) -> Registration {
        let process = RegisteredProcess { function: function.to_owned(), pid: None, mailbox };
        self.lock().insert(id, process);
        Registration { id, registry: Arc::clone(self) }
    }

    pub fn mailbox(&self, id: Uuid) -> Option<Arc<Mailbox>> {
        self.lock().get(&id).map(|process| Arc::clone(&process.mailbox))
    }

    /// Returns the function name and the operating system's process id of every spawned process.
    pub fn processes(&self) -> Vec<(String, u32)> {
        let processes = self.lock();
        processes.values().filter_map(|process| Some((process.function.clone(), process.pid?))).collect()
    }

    /// A poisoned lock is ignored, because each critical section changes at most one entry.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Uuid, RegisteredProcess>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Registration {
    pub fn set_pid(&self, pid: u32) {
        if let Some(process) = self.registry.lock().get_mut(&self.id) {
            process.pid = Some(pid);
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.registry.lock().remove(&self.id);
    }
}
