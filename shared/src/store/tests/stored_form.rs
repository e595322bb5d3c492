//! Converts values to table items and back, without a table, and checks the items against limits of DynamoDB.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::domain::bots::bot::Provider;
use crate::domain::calls::telephony::Telephony;
use crate::store::chats::chat_from_item;
use crate::store::chats::items::{EntryItem, HeaderItem, VisitorItem};
use crate::store::directory::canned_replies::CannedReplyItem;
use crate::store::directory::items::{AgentItem, BotItem, DepartmentItem, ProviderItem};
use crate::store::directory::settings::{SettingsItem, settings_from_item};
use crate::store::directory::telephony::TelephonyItem;
use crate::store::from_item;
use crate::store::tests::*;

const MAX_ITEM_BYTES: usize = 400 * 1024;
/// DynamoDB's limits for the lengths of keys, in bytes. `email_key` and `phone_key` are the sort keys of indexes.
const MAX_KEY_BYTES: [(&str, usize); 4] = [("pk", 2_048), ("sk", 1_024), ("email_key", 1_024), ("phone_key", 1_024)];
/// DynamoDB's limit for the significant digits of a number.
const MAX_DIGITS: usize = 38;

pub(crate) trait StoredForm: Sized {
    /// Returns the value as it would be read back after being stored. Panics if the item exceeds a limit of DynamoDB.
    fn stored_and_read(&self) -> Self;
}

impl StoredForm for TimelineEntry {
    fn stored_and_read(&self) -> Self {
        let item: EntryItem = through_item(&EntryItem::from(self));
        item.try_into().unwrap()
    }
}

impl StoredForm for Chat {
    fn stored_and_read(&self) -> Self {
        let item = to_item(&HeaderItem::new(self, NOW)).unwrap();
        check_item(&item);
        chat_from_item(item).unwrap()
    }
}

impl StoredForm for Visitor {
    fn stored_and_read(&self) -> Self {
        let item: VisitorItem = through_item(&VisitorItem::from(self));
        item.into()
    }
}

impl StoredForm for Channel {
    fn stored_and_read(&self) -> Self {
        let item: ChannelItem = through_item(&ChannelItem::from(self));
        item.try_into().unwrap()
    }
}

impl StoredForm for Agent {
    fn stored_and_read(&self) -> Self {
        let item: AgentItem = through_item(&AgentItem::from(self));
        item.into_agent(&self.account_id).unwrap()
    }
}

impl StoredForm for Bot {
    fn stored_and_read(&self) -> Self {
        let item: BotItem = through_item(&BotItem::from(self));
        item.into()
    }
}

impl StoredForm for Provider {
    fn stored_and_read(&self) -> Self {
        let item: ProviderItem = through_item(&ProviderItem::from(self));
        item.into()
    }
}

impl StoredForm for Department {
    fn stored_and_read(&self) -> Self {
        let item: DepartmentItem = through_item(&DepartmentItem::new("acc", self));
        item.try_into().unwrap()
    }
}

impl StoredForm for CannedReply {
    fn stored_and_read(&self) -> Self {
        let item: CannedReplyItem = through_item(&CannedReplyItem::new("acc", self));
        item.into()
    }
}

impl StoredForm for Telephony {
    fn stored_and_read(&self) -> Self {
        let item: TelephonyItem = through_item(&TelephonyItem::from(self.clone()));
        item.into()
    }
}

impl StoredForm for AccountSettings {
    fn stored_and_read(&self) -> Self {
        let settings = AttributeValue::M(to_item(&SettingsItem::from(self)).unwrap());
        let item = Item::from([("version".to_owned(), n(self.version)), ("settings".to_owned(), settings)]);
        check_item(&item);
        settings_from_item(item).unwrap()
    }
}

fn through_item<T: Serialize, U: DeserializeOwned>(item: &T) -> U {
    let item = to_item(item).unwrap();
    check_item(&item);
    from_item(item).unwrap()
}

/// Panics if the item, one of its keys or one of its numbers exceeds DynamoDB's limit.
fn check_item(item: &Item) {
    let size: usize = item.iter().map(|(name, value)| name.len() + value_bytes(value)).sum();
    assert!(size <= MAX_ITEM_BYTES, "the item has {size} bytes");
    for (name, max_bytes) in MAX_KEY_BYTES {
        if let Some(AttributeValue::S(key)) = item.get(name) {
            assert!((1..=max_bytes).contains(&key.len()), "{name} has {} bytes", key.len());
        }
    }
}

fn value_bytes(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::N(number) => {
            let digits = number.trim_start_matches('-').replace('.', "");
            let digits = digits.trim_matches('0');
            assert!(digits.len() <= MAX_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit()), "{number}");
            number.len()
        }
        AttributeValue::M(fields) => fields.iter().map(|(name, value)| name.len() + value_bytes(value)).sum(),
        AttributeValue::L(items) => items.iter().map(value_bytes).sum(),
        _ => 1,
    }
}
