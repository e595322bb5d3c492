//! An S3 implementation for the local host, as small as the one of SQS: forms (POST Object), GET with ranges, HEAD,
//! copies, DELETE and ListObjectsV2, in one SQLite database. It has a port of its own, so that files have another
//! origin than the pages, as on AWS.
//!
//! Signatures and the policies of forms are verified, and each request needs the permission of the function that has
//! signed it. The lifecycle rules of the template apply.
//!
//! # Layout
//! - `objects.rs`: the database of objects
//! - `signature.rs`: verifies signatures (Signature Version 4)
//! - `form.rs`: a browser's form and its policy
//! - `requests.rs`: the router and the other requests
//! - `error.rs`: error responses

mod error;
mod form;
mod objects;
mod requests;
mod signature;

pub use objects::{BucketDefinition, LifecycleRule, Objects, StorageError};
pub(crate) use requests::S3Api;

use crate::aws::iam::Permission;

pub(crate) fn bucket_arn(bucket: &str) -> String {
    format!("arn:aws:s3:::{bucket}")
}

/// Returns the permission for an action on the objects whose keys begin like this one, or on the bucket if there is no
/// key, as a policy names them.
fn permission(action: &str, bucket: &str, key: &str) -> Permission {
    let prefix = key.split('/').next().filter(|prefix| !prefix.is_empty());
    let resource = prefix.map_or_else(|| bucket_arn(bucket), |prefix| format!("{}/{prefix}/*", bucket_arn(bucket)));
    Permission { action: format!("s3:{action}"), resource }
}
