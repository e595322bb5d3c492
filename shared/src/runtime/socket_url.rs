//! The URL at which clients open WebSockets.

use crate::runtime::dependencies::{Dependency, StartupContext};

/// The URL of the WebSocket API, such as `wss://id.execute-api.eu-west-1.amazonaws.com/socket`.
#[derive(Clone)]
pub struct SocketUrl(String);

impl Dependency for SocketUrl {
    fn open(startup: &mut StartupContext) -> Self {
        Self(startup.environment.required("SOCKET_URL"))
    }
}

impl SocketUrl {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the URL without its path.
    pub fn origin(&self) -> String {
        let (scheme, rest) = self.0.split_once("://").unwrap_or(("wss", &self.0));
        format!("{scheme}://{}", rest.split('/').next().unwrap_or_default())
    }

    /// Returns the URL of the management API, through which the service sends frames to sockets and closes them. It
    /// differs from the socket URL in its scheme: `https` instead of `wss`, or `http` instead of `ws` on the local
    /// host.
    pub(crate) fn management_endpoint(&self) -> String {
        self.0.strip_prefix("ws").map_or_else(|| self.0.clone(), |rest| format!("http{rest}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_and_management_endpoint_follow_from_the_url() {
        let table = [
            ("wss://id.example.com/socket", "wss://id.example.com", "https://id.example.com/socket"),
            ("ws://127.0.0.1:3000/socket", "ws://127.0.0.1:3000", "http://127.0.0.1:3000/socket"),
        ];
        for (url, origin, management_endpoint) in table {
            let url = SocketUrl(url.to_owned());
            assert_eq!((url.origin().as_str(), url.management_endpoint().as_str()), (origin, management_endpoint));
        }
    }
}
