//! Serves a router on a listener.

use std::net::SocketAddr;

use axum::Router;
use axum::serve::{ListenerExt, TapIo};
use tokio::net::{TcpListener, TcpStream};

/// Small answers must not wait for more to send.
pub(crate) fn without_delay(listener: TcpListener) -> TapIo<TcpListener, fn(&mut TcpStream)> {
    listener.tap_io(|stream| {
        // Slower, not wrong, without it.
        let _ = stream.set_nodelay(true);
    })
}

/// Serves until it is dropped.
pub(crate) async fn serve(listener: TcpListener, router: Router) {
    // Accepting goes on after any error.
    let _ = axum::serve(without_delay(listener), router).await;
}

/// Serves until `stopping`, then finishes what is running. Handlers may ask for the caller's address.
pub(crate) async fn serve_until(
    listener: TcpListener,
    router: Router,
    stopping: impl Future<Output = ()> + Send + 'static,
) {
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    let _ = axum::serve(without_delay(listener), service).with_graceful_shutdown(stopping).await;
}
