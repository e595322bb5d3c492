//! Visitors, and how the service recognizes those of the widget.

pub mod merged_visitors;
pub mod visitor;
pub mod widget_visitor;
