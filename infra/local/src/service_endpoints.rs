//! Where functions find the services of this host. Every function has addresses of its own, so that what it
//! uses can be counted.

use uuid::Uuid;

/// The private addresses of one host.
#[derive(Debug, Clone)]
pub(crate) struct Endpoints {
    /// `http://host:port` of the Runtime API and of the queues.
    pub services: String,
    /// `http://host:port` of the tables.
    pub tables: String,
}

impl Endpoints {
    /// What the AWS SDK of a function reads.
    pub fn variables(&self, function: &str) -> [(&'static str, String); 2] {
        [
            ("AWS_ENDPOINT_URL_DYNAMODB", format!("{}/{function}", self.tables)),
            ("AWS_ENDPOINT_URL_SQS", format!("{}/sqs/{function}", self.services)),
        ]
    }

    /// `AWS_LAMBDA_RUNTIME_API` of a process. AWS gives host and port alone; a base path needs the scheme, or
    /// the runtime cannot read it as an address.
    pub fn runtime_api(&self, process: Uuid) -> String {
        format!("{}/runtime/{process}", self.services)
    }
}
