//! End-to-end tests. Most tests call the public API of the real functions, which run on the local host or on a deployed
//! stack. The tests start the receivers that the functions call: integrators, bot providers, webhooks and telephony
//! providers. Other tests check files such as template.yaml and docs/openapi.json.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod accounts;
mod agents;
mod bots;
mod channels;
mod deliveries;
mod emails;
mod files;
mod project;
mod support;
mod telephony;
mod webhooks;
mod widget;
