//! Limits the number of stream records in the database. The engine stores a record in the same transaction as the
//! write, but it never deletes records, and it reads all of them to number the next one.

use rusqlite::Connection;

/// The number of records that the database keeps, for all tables together. It is more than enough, because readers are
/// notified of each write and are usually only a few records behind.
const MAX_STREAM_RECORDS: u32 = 2_000;

/// Adds an index and a trigger to the engine's table of stream records. With the index, numbering a record takes the
/// same time regardless of how many records are stored. When a record is stored, the trigger deletes the records that
/// exceed `MAX_STREAM_RECORDS`.
pub(super) fn limit_stream_records(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "CREATE INDEX IF NOT EXISTS stream_record_positions
             ON _stream_records (table_name, CAST(sequence_number AS INTEGER));
         DROP TRIGGER IF EXISTS delete_old_stream_records;
         CREATE TRIGGER delete_old_stream_records AFTER INSERT ON _stream_records BEGIN
             DELETE FROM _stream_records WHERE id <= NEW.id - {MAX_STREAM_RECORDS};
         END;"
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use dynoxide::Database;
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_latest_records_are_kept() {
        const LOCATION: &str = "file:/stream-retention?vfs=memdb";
        let database = Database::new(LOCATION).unwrap();
        let connection = Connection::open(LOCATION).unwrap();
        limit_stream_records(&connection).unwrap();
        let table = json!({
            "TableName": "Items",
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        });
        database.create_table(serde_json::from_value(table).unwrap()).unwrap();
        for value in 0..MAX_STREAM_RECORDS + 10 {
            let put = json!({"TableName": "Items", "Item": {"pk": {"S": "a"}, "value": {"N": value.to_string()}}});
            database.put_item(serde_json::from_value(put).unwrap()).unwrap();
        }
        let count = |sql: &str| connection.query_row::<u32, _, _>(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(count("SELECT count(*) FROM _stream_records"), MAX_STREAM_RECORDS);
        assert_eq!(count("SELECT count(*) FROM _stream_records WHERE new_image LIKE '%\"5\"%'"), 0);
    }
}
