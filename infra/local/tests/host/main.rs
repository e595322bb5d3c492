//! Tests of the template, Lambda, permissions, the gateway, WebSockets, queues, tables, streams, schedules, injected
//! faults and sign-in links. They run the local host with real processes.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod faults;
mod gateway;
mod invocations;
mod lifecycle;
mod permissions;
mod probe_host;
mod queues;
mod sign_in;
mod streams;
mod tables;
mod web_socket_client;
mod web_sockets;
