//! Serves HTTP, accepts only requests that name this machine, and decodes the text of requests.

pub(crate) mod loopback_host;
pub(crate) mod request_text;
pub(crate) mod server;
