//! Receives the replies of visitors to e-mails. SES invokes this function after it has stored an e-mail in the bucket. An
//! e-mail that is not from the visitor is dropped, and nobody is told, because its sender may be forged.

use std::process::ExitCode;

use serde_json::Value;
use shared::error::Error;
use shared::runtime::file_bucket::FileBucket;
use shared::runtime::invocation;
use shared::runtime::mail_domain::MailDomain;
use shared::runtime::outbox::Outbox;
use shared::service::received_emails::EmailReceiver;
use shared::store::chats::Chats;
use shared::store::directory::Directory;
use shared::wire::email_event;

fn main() -> ExitCode {
    invocation::run(handle)
}

type Dependencies = (Directory, Chats, FileBucket, Outbox, MailDomain);

async fn handle((directory, chats, bucket, outbox, mail_domain): Dependencies, event: Value) -> Result<(), Error> {
    let Some(mail_domain) = mail_domain.get() else { return Ok(()) };
    let receiver =
        EmailReceiver { directory: &directory, chats: &chats, bucket: &bucket, outbox: &outbox, mail_domain };
    for notice in email_event::read(event)? {
        receiver.receive(&notice).await?;
    }
    Ok(())
}
