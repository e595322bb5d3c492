//! Sending a timeline entry to somebody else's server: one engine for every kind of receiver. It builds the
//! request, sends it, classifies the answer, records the try and plans the next (docs/design.md, How something gets out).

pub mod bot;
pub mod channel;
pub mod engine;
pub mod guard;
pub mod outbound;
pub mod signature;
pub mod task;
pub mod webhook;
