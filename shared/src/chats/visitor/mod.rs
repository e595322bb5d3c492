//! What a visitor does.

pub mod create_widget_visitor;
pub mod edit_visitor_text;
pub mod merge_visitors;
pub mod rate_chat;
pub mod receive_offline_form;
pub mod receive_receipt;
pub mod receive_visitor_text;
pub mod set_visitor_typing;
pub mod stop_answer;
pub mod update_visitor;
pub mod visitor_entry;
