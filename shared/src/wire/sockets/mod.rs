//! The frames on sockets of consoles and widgets.

pub mod socket_api;
pub mod socket_frame;
