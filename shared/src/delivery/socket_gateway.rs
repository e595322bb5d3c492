//! Sends frames to open sockets, and closes sockets, through the management API of API Gateway (`@connections`).

use std::time::Duration;

use aws_sdk_apigatewaymanagement::Client;
use aws_sdk_apigatewaymanagement::config::{Builder, retry::RetryConfig, timeout::TimeoutConfig};
use aws_sdk_apigatewaymanagement::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_apigatewaymanagement::primitives::Blob;
use aws_types::SdkConfig;
use futures_util::future::BoxFuture;

use crate::error::ErrorContext;
use crate::runtime::aws_failure::AwsFailure;
use crate::runtime::dependencies::{Dependency, StartupContext};
use crate::runtime::socket_url::SocketUrl;

/// The maximum duration of a request, including retries. If a socket does not accept the push of a stored change within
/// this time, the socket is closed, so that it delays the other sockets at most once. A process opens its first
/// connection to the gateway while it starts, because its first TLS handshake can take this long.
const SEND_TIMEOUT: Duration = Duration::from_secs(1);

/// The maximum number of attempts to send a frame. Attempts are repeated because the gateway throttles all callers of
/// an AWS account together, and throttling during a burst of pushes must not close the sockets.
const MAX_SEND_ATTEMPTS: u32 = 4;

/// The maximum delay before the second attempt. The maximum doubles for each further attempt, so all delays together
/// take at most 350 ms, well below [`SEND_TIMEOUT`]. Each delay has a random length up to its maximum.
const MAX_FIRST_BACKOFF: Duration = Duration::from_millis(50);

const UNKNOWN_CONNECTION_ID: &str = "WARM_UP";

#[derive(Clone)]
pub struct SocketGateway {
    client: Client,
}

#[derive(Debug)]
pub enum SendError {
    Closed,
    /// The frame was not accepted within one second.
    TimedOut,
    /// The gateway could not be reached, or it rejected the frame, for example because it throttles its callers or
    /// because the buffer of the client is full. AWS does not distinguish the last two reasons.
    Rejected(ErrorContext),
}

impl Dependency for SocketGateway {
    fn open(startup: &mut StartupContext) -> Self {
        let endpoint = SocketUrl::open(startup).management_endpoint();
        let gateway = Self::new(&startup.aws, endpoint);
        startup.warm_ups.push(Box::pin(gateway.clone().connect()));
        gateway
    }
}

impl SocketGateway {
    fn new(aws: &SdkConfig, endpoint: String) -> Self {
        let timeout =
            TimeoutConfig::builder().operation_timeout(SEND_TIMEOUT).operation_attempt_timeout(SEND_TIMEOUT).build();
        let retry =
            RetryConfig::standard().with_max_attempts(MAX_SEND_ATTEMPTS).with_initial_backoff(MAX_FIRST_BACKOFF);
        let config = Builder::from(aws).endpoint_url(endpoint).timeout_config(timeout).retry_config(retry);
        Self { client: Client::from_conf(config.build()) }
    }

    /// Opens a connection for later requests by sending a request that changes nothing.
    async fn connect(self) {
        self.close(UNKNOWN_CONNECTION_ID).await;
    }

    /// Sends a frame. The AWS SDK repeats the request if the gateway throttles it or is unavailable, but not after a
    /// timeout. The client may therefore get the frame twice, which does no harm. The future is boxed so that the AWS
    /// SDK's types are compiled only once, in this crate.
    pub fn send(&self, connection_id: &str, frame: &str) -> BoxFuture<'_, Result<(), SendError>> {
        let request = self.client.post_to_connection().connection_id(connection_id).data(Blob::new(frame));
        Box::pin(async move { request.send().await.map(|_| ()).map_err(|error| send_error(&error)) })
    }

    /// Closes a socket. Errors are ignored: if the socket has already been closed, there is nothing to do. If it cannot
    /// be closed, it gets no further pushes once its stored item has been deleted, which the caller must do.
    pub fn close(&self, connection_id: &str) -> BoxFuture<'_, ()> {
        let request = self.client.delete_connection().connection_id(connection_id);
        Box::pin(async move { drop(request.send().await) })
    }
}

fn send_error<E: ProvideErrorMetadata + std::fmt::Debug>(error: &SdkError<E>) -> SendError {
    match error.code() {
        Some("GoneException") => SendError::Closed,
        _ if matches!(error, SdkError::TimeoutError(_)) => SendError::TimedOut,
        _ => SendError::Rejected(ErrorContext::new(AwsFailure::new("socket gateway", error))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::runtime::aws_config;

    const ACCEPTED: &str = "200 OK\r\n";
    const THROTTLED: &str = "429 Too Many Requests\r\nx-amzn-errortype: LimitExceededException\r\n";
    const GONE: &str = "410 Gone\r\nx-amzn-errortype: GoneException\r\n";

    /// Reads the head of a request, and responds with a status line and headers. Returns the method and the path.
    async fn respond(connection: &mut BufReader<TcpStream>, response: &str) -> String {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(connection.read_line(&mut head).await.unwrap(), 0, "the client keeps the connection");
        }
        let response = format!("HTTP/1.1 {response}content-length: 0\r\n\r\n");
        connection.write_all(response.as_bytes()).await.unwrap();
        head.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1").to_owned()
    }

    fn gateway_at(listener: &TcpListener) -> SocketGateway {
        let url = format!("http://{}/socket", listener.local_addr().unwrap());
        SocketGateway::new(&aws_config::of_local_server(url.clone()), url)
    }

    /// Sends a frame to a gateway that gives these responses, one after the other.
    async fn send_to_gateway(responses: &[&str]) -> Result<(), SendError> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let gateway = gateway_at(&listener);
        let server = async {
            let mut connection = BufReader::new(listener.accept().await.unwrap().0);
            for response in responses {
                respond(&mut connection, response).await;
            }
        };
        futures_util::future::join(server, gateway.send("one", "frame")).await.1
    }

    #[tokio::test]
    async fn throttled_frame_is_sent_again() {
        send_to_gateway(&[THROTTLED, THROTTLED, THROTTLED, ACCEPTED]).await.unwrap();
    }

    #[tokio::test]
    async fn only_a_closed_socket_counts_as_closed() {
        let throttled = send_to_gateway(&[THROTTLED; MAX_SEND_ATTEMPTS as usize]).await;
        assert!(matches!(throttled, Err(SendError::Rejected(_))), "{throttled:?}");
        let closed = send_to_gateway(&[GONE]).await;
        assert!(matches!(closed, Err(SendError::Closed)), "{closed:?}");
    }

    #[tokio::test]
    async fn first_frame_uses_the_connection_that_was_opened_at_startup() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let gateway = gateway_at(&listener);
        let server = async {
            let mut connection = BufReader::new(listener.accept().await.unwrap().0);
            (respond(&mut connection, ACCEPTED).await, respond(&mut connection, ACCEPTED).await)
        };
        let client = async {
            gateway.clone().connect().await;
            gateway.send("one", "frame").await.unwrap();
        };
        let (requests, ()) = futures_util::future::join(server, client).await;
        assert_eq!(requests, ("DELETE /socket/@connections/WARM_UP".into(), "POST /socket/@connections/one".into()));
    }
}
