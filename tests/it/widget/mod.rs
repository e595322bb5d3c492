//! The widget's endpoints, script and sockets.

mod changed_messages;
mod widget_channels;
mod widget_contacts;
mod widget_conversation;
mod widget_endpoints;
mod widget_history;
mod widget_script;
mod widget_socket;
