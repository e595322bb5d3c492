//! The ids of timeline entries, which go out as `message.id`, as `webhook-id` and as the `id` of bot events. Each is a
//! UUIDv7 (RFC 9562), so ids sort by time, and within a millisecond of a chat by the place of their entries. In place of
//! random bits it holds that place, so that a provider who repeats the id of a CLIENT_MESSAGE is understood without an
//! index:
//!
//! | 48 bits | 4 | 12 + 20 | 2 | 30 | 12 |
//! |---|---|---|---|---|---|
//! | milliseconds | version | chat, around the variant | variant | number of the entry | random |

use uuid::Uuid;

use crate::domain::timestamp::Timestamp;

const TIME_BITS: u32 = 48;
const CHAT_BITS: u32 = 32;
const SEQ_BITS: u32 = 30;
const NOISE_BITS: u32 = 12;
/// Bits behind the variant.
const TAIL_BITS: u32 = 62;

/// The id of an entry; `noise` makes it unique beyond its account.
pub fn message_id(chat_id: u64, seq: u64, at: Timestamp, noise: u16) -> String {
    let place = low(chat_id.into(), CHAT_BITS) << SEQ_BITS | low(seq.into(), SEQ_BITS);
    let payload = place << NOISE_BITS | low(noise.into(), NOISE_BITS);
    let head = low(at.0.into(), TIME_BITS) << 16 | 7 << 12 | payload >> TAIL_BITS;
    Uuid::from_u128(head << 64 | 0b10 << TAIL_BITS | low(payload, TAIL_BITS)).to_string()
}

/// The chat and the number of the entry that an id may belong to; whether it does, the entry itself says.
pub fn place(id: &str) -> Option<(u64, u64)> {
    let bits = Uuid::parse_str(id).ok()?.as_u128();
    let place = (low(bits >> 64, 12) << TAIL_BITS | low(bits, TAIL_BITS)) >> NOISE_BITS;
    Some((u64::try_from(place >> SEQ_BITS).ok()?, u64::try_from(low(place, SEQ_BITS)).ok()?))
}

/// The lowest bits of a number.
fn low(number: u128, bits: u32) -> u128 {
    number & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_id_leads_back_to_its_place(
            chat_id in 0_u64..1 << 32, seq in 0_u64..1 << 30, at in 0_u64..1 << 48, noise: u16,
        ) {
            let id = message_id(chat_id, seq, Timestamp(at), noise);
            prop_assert_eq!(place(&id), Some((chat_id, seq)));
            let id = Uuid::parse_str(&id).unwrap();
            prop_assert_eq!((id.get_version_num(), id.get_variant()), (7, uuid::Variant::RFC4122));
            let (seconds, nanos) = id.get_timestamp().unwrap().to_unix();
            prop_assert_eq!(seconds * 1_000 + u64::from(nanos) / 1_000_000, at);
        }

        #[test]
        fn ids_sort_by_time_and_then_by_place(
            first in (0_u64..1 << 48, 0_u64..1 << 32, 0_u64..1 << 30),
            second in (0_u64..1 << 48, 0_u64..1 << 32, 0_u64..1 << 30),
            noise: (u16, u16),
        ) {
            let id = |(at, chat_id, seq), noise| message_id(chat_id, seq, Timestamp(at), noise);
            if first != second {
                prop_assert_eq!(id(first, noise.0).cmp(&id(second, noise.1)), first.cmp(&second));
            }
        }
    }

    #[test]
    fn what_is_no_uuid_leads_nowhere() {
        assert_eq!(place("42"), None);
    }
}
