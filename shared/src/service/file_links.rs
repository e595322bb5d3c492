//! The links to uploaded files in messages.

use std::time::Duration;

use crate::domain::chats::message_content::Content;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::files::file_link::FileLink;
use crate::domain::files::upload::sent_key;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::file_bucket::FileBucket;
use crate::store::directory::Directory;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// A link that a page gets works for at least this long.
const MIN_LIFETIME: Duration = Duration::from_secs(60 * 60);

/// Signs links.
pub struct FileLinks<'a> {
    pub directory: &'a Directory,
    /// Without a trailing slash.
    pub base_url: String,
    pub now: Timestamp,
}

impl FileLinks<'_> {
    /// Sets the links of a message whose files are in the bucket.
    pub(super) async fn set(&self, account_id: &str, content: &mut Content) -> Result<(), Error> {
        let Content::Media(message) = content else { return Ok(()) };
        let Some(uploaded) = &message.uploaded else { return Ok(()) };
        message.media.file = Some(self.link(account_id, &uploaded.file_id).await?);
        message.media.thumb = match &uploaded.thumb_id {
            Some(thumb_id) => Some(self.link(account_id, thumb_id).await?),
            None => None,
        };
        Ok(())
    }

    /// Replaces the links that have ended. Accounts without such links pay nothing.
    pub async fn renew(&self, entries: &mut [TimelineEntry]) -> Result<(), Error> {
        for entry in entries.iter_mut().filter(|entry| self.has_ended(&entry.content)) {
            self.set(&entry.account_id.clone(), &mut entry.content).await?;
        }
        Ok(())
    }

    fn has_ended(&self, content: &Content) -> bool {
        let link = content.uploaded().and_then(|_| content.media()?.file.as_deref());
        link.is_some_and(|link| FileLink::end_of(link).is_none_or(|end| end < self.now.plus(MIN_LIFETIME)))
    }

    /// Returns a link that ends at midnight (UTC), so that the same file has the same link for a day.
    async fn link(&self, account_id: &str, file_id: &str) -> Result<String, Error> {
        let key = self.directory.file_link_key_or_new(account_id).await?;
        let days = self.directory.cached_settings(account_id).await?.files.link_days;
        let end = self.now.plus(DAY * days.saturating_add(1)).seconds();
        let until = end - end % DAY.as_secs();
        let link = FileLink { account_id: account_id.to_owned(), file_id: file_id.to_owned(), until };
        Ok(self.base_url.clone() + &link.signed_path(&key))
    }
}

/// Returns the short-lived URL of a file. Fails with `NotFound` if the link is not valid or has ended.
pub async fn download_url(
    (directory, bucket): (&Directory, &FileBucket),
    link: &FileLink,
    signature: &str,
    now: Timestamp,
) -> Result<String, Error> {
    let key = directory.file_link_key(&link.account_id).await?.ok_or(Error::NotFound)?;
    if !link.is_valid(signature, &key, now) {
        return Err(Error::NotFound);
    }
    bucket.download_url(&sent_key(&link.account_id, &link.file_id))
}
