//! Tests that run the local host with real processes: template, Lambda, gateway, queues, tables, schedules.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod gateway;
mod invocations;
mod lifecycle;
mod permissions;
mod probe_host;
mod queues;
mod tables;
