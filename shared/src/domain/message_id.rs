//! The ids of timeline entries, which go out as `message.id`, as `webhook-id` and as the `id` of bot events.
//! Each is a UUID (version 8) that holds the place of its entry, so that a provider who repeats the id of a
//! CLIENT_MESSAGE is understood without an index.

/// The id of an entry; `noise` makes it unique beyond its account.
pub fn message_id(chat_id: u64, seq: u64, noise: [u8; 6]) -> String {
    let [_, _, chat @ ..] = chat_id.to_be_bytes();
    let [_, _, _, _, place @ ..] = seq.to_be_bytes();
    let mut bytes = [0; 16];
    let parts = chat.into_iter().chain(noise.into_iter().take(4)).chain(place).chain(noise.into_iter().skip(4));
    for (byte, value) in bytes.iter_mut().zip(parts) {
        *byte = value;
    }
    uuid::Uuid::new_v8(bytes).to_string()
}

/// The chat and the number of the entry that an id may belong to; whether it does, the entry itself says.
pub fn place(id: &str) -> Option<(u64, u64)> {
    let [c0, c1, c2, c3, c4, c5, _, _, _, _, s0, s1, s2, s3, _, _] = uuid::Uuid::parse_str(id).ok()?.into_bytes();
    Some((u64::from_be_bytes([0, 0, c0, c1, c2, c3, c4, c5]), u64::from(u32::from_be_bytes([s0, s1, s2, s3]))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_id_leads_back_to_its_place(chat_id in 0_u64..1 << 48, seq in 0_u64..1 << 32, noise: [u8; 6]) {
            prop_assert_eq!(place(&message_id(chat_id, seq, noise)), Some((chat_id, seq)));
        }
    }

    #[test]
    fn what_is_no_uuid_leads_nowhere() {
        assert_eq!(place("42"), None);
    }
}
