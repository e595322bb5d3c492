//! Code shared by the tests: the host under test, clients for its API, and servers that act as receivers.

pub mod account_resources;
pub mod account_with_webhook;
pub mod agent_socket;
pub mod api_client;
pub mod attempt_schedule;
pub mod bot_fixture;
pub mod built_files;
pub mod call_fixture;
pub mod chat_copies;
pub mod event_feed;
pub mod protected_routes;
pub mod sample_values;
pub mod shown_request;
pub mod test_concurrency;
pub mod test_host;
pub mod test_receiver;
pub mod upload;
pub mod virtual_time;
pub mod wait;
pub mod widget_client;
