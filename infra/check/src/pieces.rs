//! A request body that arrives in pieces, with a pause before each of them, and that may break off.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

const PAUSE: Duration = Duration::from_millis(250);
const PIECES: usize = 4;
/// How long a slow body takes.
pub(crate) const SLOW_UPLOAD: Duration = Duration::from_secs(1);

pub(crate) struct Pieces {
    left: VecDeque<Bytes>,
    /// The length that the header announces, even if the body breaks off before.
    length: u64,
    pause: Pin<Box<Sleep>>,
    breaks_off: bool,
}

impl Pieces {
    pub fn slow(body: &[u8]) -> Self {
        let left = body.chunks(body.len().div_ceil(PIECES).max(1)).map(Bytes::copy_from_slice).collect();
        Self { left, length: body.len() as u64, pause: Box::pin(sleep(PAUSE)), breaks_off: false }
    }

    /// The first piece of a slow body. The connection is closed after it.
    pub fn broken_off(body: &[u8]) -> Self {
        let mut pieces = Self { breaks_off: true, ..Self::slow(body) };
        pieces.left.truncate(1);
        pieces
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        ready!(self.pause.as_mut().poll(context));
        self.pause.as_mut().reset(Instant::now() + PAUSE);
        Poll::Ready(match self.left.pop_front() {
            Some(piece) => Some(Ok(Frame::data(piece))),
            None if self.breaks_off => Some(Err(io::ErrorKind::ConnectionAborted.into())),
            None => None,
        })
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.length)
    }
}
