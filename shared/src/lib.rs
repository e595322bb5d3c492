//! The library of Switchboard's functions.
//!
//! # Layout
//!
//! - [`domain`] has the rules; pure, no AWS, no HTTP, no serde, time is an argument.
//! - [`wire`] has the JSON bodies of the specification and of our own endpoints.
//! - [`store`] is DynamoDB; items are its own, what comes out are domain types.
//! - [`delivery`] is sending to other people's servers: engine, guard, signature.
//! - [`queue`] is SQS.
//! - [`backlog`] works through what is overdue, for the scheduled functions.
//! - [`announce`] tells the webhooks, [`bot_desk`] is what the events of a bot do, [`settings_desk`] and [`ledger`]
//!   what an admin does with settings and deliveries, [`retention`] what follows from it for ended chats.
//! - [`http`], [`consumer`]: what a function's `main` calls.
//! - [`resource`], [`config`], [`clock`], [`log`], [`metrics`]: the only places that know the environment, the time,
//!   the log and what is counted.
//! - [`auth`] says who calls, [`chat_access`] which chats they reach.
//! - [`secret`], [`password`] and [`error`] are what they say.

pub mod announce;
pub mod auth;
pub mod backlog;
pub mod bot_desk;
pub mod chat_access;
pub mod clock;
pub mod config;
pub mod consumer;
pub mod delivery;
pub mod domain;
pub mod error;
pub mod http;
pub mod ledger;
pub mod log;
pub mod metrics;
pub mod password;
pub mod queue;
pub mod resource;
pub mod retention;
pub mod secret;
pub mod settings_desk;
pub mod store;
pub mod wire;
