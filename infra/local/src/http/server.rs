//! Serves HTTP requests with a router.

use std::net::SocketAddr;

use axum::Router;
use axum::serve::{ListenerExt, TapIo};
use tokio::net::{TcpListener, TcpStream};

/// Disables Nagle's algorithm on the listener's connections, because it would delay small responses.
fn without_delay(listener: TcpListener) -> TapIo<TcpListener, fn(&mut TcpStream)> {
    listener.tap_io(|stream| {
        // If this fails, responses are still correct but slower.
        let _ = stream.set_nodelay(true);
    })
}

/// Serves requests until the returned future is dropped.
pub(crate) async fn serve(listener: TcpListener, router: Router) {
    // This never returns, because axum continues to accept connections after an error.
    let _ = axum::serve(without_delay(listener), router).await;
}

/// Serves requests until `shutdown` completes, then waits for the running requests. Handlers can extract the client's
/// IP address and port.
pub(crate) async fn serve_until(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()> + Send + 'static,
) {
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    let _ = axum::serve(without_delay(listener), service).with_graceful_shutdown(shutdown).await;
}
