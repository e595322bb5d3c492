//! Code shared by the tests: the host under test, clients for its API, and servers that act as receivers.

pub mod account_resources;
pub mod account_with_webhook;
pub mod api_client;
pub mod bot_fixture;
pub mod routes;
pub mod test_concurrency;
pub mod test_host;
pub mod test_receiver;
pub mod wait;
