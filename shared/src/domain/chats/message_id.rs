//! The ids of timeline entries. They are sent as `message.id`, as `webhook-id`, and as the `id` of bot events. An id is
//! a UUIDv7 (RFC 9562) in which the chat id and the entry number replace most of the random bits. Therefore, an entry
//! can be found by its id without an index. Ids are sorted by time, and within the same millisecond by chat id and
//! entry number. The table shows how the 128 bits are used:
//!
//! | 48 bits | 4 | 12 + 20 | 2 | 30 | 12 |
//! |---|---|---|---|---|---|
//! | milliseconds | version | chat id, split by the variant | variant | entry number | random |

use uuid::Uuid;

use crate::domain::timestamp::Timestamp;

const TIME_BITS: u32 = 48;
const CHAT_BITS: u32 = 32;
const SEQ_BITS: u32 = 30;
const RANDOM_BITS: u32 = 12;
const BITS_AFTER_VARIANT: u32 = 62;

/// Creates the id of an entry. `random` distinguishes ids from different accounts that contain the same chat id and
/// entry number.
pub fn message_id(chat_id: u64, seq: u64, at: Timestamp, random: u16) -> String {
    let chat_and_seq = lowest_bits(chat_id.into(), CHAT_BITS) << SEQ_BITS | lowest_bits(seq.into(), SEQ_BITS);
    let payload = chat_and_seq << RANDOM_BITS | lowest_bits(random.into(), RANDOM_BITS);
    let head = lowest_bits(at.0.into(), TIME_BITS) << 16 | 7 << 12 | payload >> BITS_AFTER_VARIANT;
    Uuid::from_u128(head << 64 | 0b10 << BITS_AFTER_VARIANT | lowest_bits(payload, BITS_AFTER_VARIANT)).to_string()
}

/// Extracts the chat id and the entry number from an id. Returns `None` if the id is not a UUID. Any UUID yields two
/// numbers, so the caller must check that the entry with these numbers actually has the given id.
pub fn chat_and_seq(id: &str) -> Option<(u64, u64)> {
    let bits = Uuid::parse_str(id).ok()?.as_u128();
    let chat_and_seq =
        (lowest_bits(bits >> 64, 12) << BITS_AFTER_VARIANT | lowest_bits(bits, BITS_AFTER_VARIANT)) >> RANDOM_BITS;
    Some((u64::try_from(chat_and_seq >> SEQ_BITS).ok()?, u64::try_from(lowest_bits(chat_and_seq, SEQ_BITS)).ok()?))
}

fn lowest_bits(number: u128, bits: u32) -> u128 {
    number & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn id_contains_chat_and_entry_number(
            chat_id in 0_u64..1 << 32, seq in 0_u64..1 << 30, at in 0_u64..1 << 48, random: u16,
        ) {
            let id = message_id(chat_id, seq, Timestamp(at), random);
            prop_assert_eq!(chat_and_seq(&id), Some((chat_id, seq)));
            let id = Uuid::parse_str(&id).unwrap();
            prop_assert_eq!((id.get_version_num(), id.get_variant()), (7, uuid::Variant::RFC4122));
            let (seconds, nanos) = id.get_timestamp().unwrap().to_unix();
            prop_assert_eq!(seconds * 1_000 + u64::from(nanos) / 1_000_000, at);
        }

        #[test]
        fn ids_sort_by_time_then_by_chat_and_entry(
            first in (0_u64..1 << 48, 0_u64..1 << 32, 0_u64..1 << 30),
            second in (0_u64..1 << 48, 0_u64..1 << 32, 0_u64..1 << 30),
            random: (u16, u16),
        ) {
            let id = |(at, chat_id, seq), random| message_id(chat_id, seq, Timestamp(at), random);
            if first != second {
                prop_assert_eq!(id(first, random.0).cmp(&id(second, random.1)), first.cmp(&second));
            }
        }
    }

    #[test]
    fn text_that_is_no_uuid_is_ignored() {
        assert_eq!(chat_and_seq("42"), None);
    }
}
