//! The local host: runs the functions of `template.yaml` on one machine, without AWS.

pub mod sqs;
