//! What several local services have in common with AWS: ARNs, access keys, IAM, the header that names an operation, the
//! addresses of the services, and time formats.

pub(crate) mod access_keys;
pub(crate) mod arn;
pub(crate) mod iam;
pub(crate) mod operation;
pub(crate) mod service_endpoints;
pub(crate) mod time_format;
