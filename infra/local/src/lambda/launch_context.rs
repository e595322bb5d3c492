//! What the processes of all functions on a host have in common.

use std::path::PathBuf;

use crate::aws::access_keys::AccessKeys;
use crate::aws::service_endpoints::ServiceEndpoints;
use crate::clock::Clock;
use crate::faults::Faults;
use crate::log::LogSink;
use crate::usage::UsageMeter;

/// The settings and services that all functions on a host share.
pub(crate) struct LaunchContext {
    /// The folder that contains the function binaries.
    pub binaries: PathBuf,
    pub endpoints: ServiceEndpoints,
    pub access_keys: AccessKeys,
    pub log: LogSink,
    pub meter: UsageMeter,
    pub clock: Clock,
    pub faults: Faults,
}
