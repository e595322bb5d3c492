//! Channels: their addresses and secrets, and the widget.

pub mod callback_availability;
pub mod channel;
pub mod channel_availability;
pub mod contacts_form;
pub mod secret_rotation;
pub mod signing_secret;
pub mod widget;
