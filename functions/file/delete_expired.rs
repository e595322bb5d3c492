//! Deletes the files of messages that have expired or were deleted, for example with their account. The stream of the
//! Chats table invokes this function with the deleted entries that had files. A repeated batch does no harm.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::file_bucket::FileBucket;
use shared::runtime::table_stream::{self, ItemChange};
use shared::store::table_changes::deleted_files;

fn main() -> ExitCode {
    table_stream::run(handle)
}

async fn handle(bucket: FileBucket, changes: Vec<ItemChange>) -> Result<(), Error> {
    for (account_id, file_ids) in changes.iter().filter_map(deleted_files) {
        for file_id in file_ids {
            bucket.delete_sent(&account_id, file_id).await?;
        }
    }
    Ok(())
}
