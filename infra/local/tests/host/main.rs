//! The local host with real processes: template, Lambda, gateway, queues, tables, clocks.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod gateway;
mod lambda;
mod lifecycle;
mod permissions;
mod queues;
mod support;
mod tables;
