//! The programs that are compared.

use crate::arguments::Arguments;
use crate::program::Program;

const CHANNEL_MESSAGE: &str = "channel-receive-message";

pub(super) fn channel_message(arguments: &Arguments) -> Program {
    Program::new(CHANNEL_MESSAGE, arguments.functions.join(CHANNEL_MESSAGE))
}

/// Returns the function `channel-receive-message`, the bare function (which only responds), and implementations of the
/// `channel-receive-message` endpoint in Node.js and in Python.
pub(super) fn programs(arguments: &Arguments) -> Result<[Program; 5], std::io::Error> {
    let peers = &arguments.peers;
    let node = peers.join("node/bin/node");
    let bare = std::env::current_exe()?.with_file_name("bare-function");
    Ok([
        channel_message(arguments),
        Program::new("bare lambda_http", bare),
        Program::new("Node.js 20, SDK v3", &node).with_argument(peers.join("node/bootstrap.mjs")),
        Program::new("Node.js 20, SDK v3, bundled", &node).with_argument(peers.join("node/bundle.mjs")),
        Program::new("Python 3.11, boto3", peers.join("python/bin/python"))
            .with_argument(peers.join("python/bootstrap.py")),
    ])
}
