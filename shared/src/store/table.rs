//! The few DynamoDB operations the stores are made of. They are not generic and return boxed futures, so
//! that the SDK's deep types are compiled once, here, and not again in every function (20 s each).

use std::collections::HashMap;
use std::sync::Arc;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    AttributeValue, ConditionCheck, Delete, KeysAndAttributes, Put, ReturnValue, ReturnValuesOnConditionCheckFailure,
    TransactWriteItem, Update,
};
use futures_util::TryFutureExt;
use futures_util::future::BoxFuture;

use crate::error::{Context, Error};
use crate::runtime::dependencies::Platform;

/// An item as the SDK knows it.
pub type Item = HashMap<String, AttributeValue>;

/// The condition for changes of what must not have been deleted meanwhile.
pub const EXISTS: &str = "attribute_exists(#pk)";

/// What the `:names` of an expression stand for.
pub type Values = Vec<(&'static str, AttributeValue)>;

/// A table.
#[derive(Clone)]
pub struct Table {
    client: Client,
    name: Arc<str>,
}

/// The key of an item: `pk` and `sk`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Partition key.
    pub pk: String,
    /// Sort key.
    pub sk: String,
}

/// An update of one item in DynamoDB's own expression language. `#name` stands for the attribute `name`. The update is
/// a literal, or a `String` where it depends on what there is to write.
#[derive(Clone)]
pub struct ItemUpdate<U = &'static str> {
    /// Which item.
    pub key: Key,
    /// The update expression.
    pub update: U,
    /// What must hold, else [`Refused::Condition`]; empty for nothing.
    pub condition: &'static str,
    /// What the expressions' `:names` stand for.
    pub values: Values,
}

/// One part of a transaction.
#[derive(Clone)]
pub enum Write {
    /// Stores a new item; there must be none under its key.
    Create(Item),
    /// Changes an item.
    ItemUpdate(ItemUpdate),
    /// Changes an item, by an update that was put together.
    Composed(ItemUpdate<String>),
    /// Deletes an item; there must be one.
    Delete(Key),
    /// Deletes an item if the condition holds.
    DeleteIf(Key, &'static str, Values),
    /// Changes nothing; the condition must hold for the item.
    Check(Key, &'static str, Values),
}

/// A query of one partition of the table or of an index.
#[derive(Clone)]
pub struct Query {
    /// The index; none for the table itself.
    pub index: Option<&'static str>,
    /// The key condition.
    pub condition: &'static str,
    /// What its `:names` stand for.
    pub values: Values,
    /// The most items to return.
    pub limit: i32,
    /// Largest sort key first.
    pub descending: bool,
}

/// A part of what a query finds.
pub struct Page {
    /// The items.
    pub items: Vec<Item>,
    /// The key of the last one that was looked at, if there may be more behind it.
    pub next: Option<Item>,
}

/// Why a conditional write was not done.
#[derive(Debug)]
pub enum Refused {
    /// The condition does not hold. `index`: which part of a transaction. `item`: as it is, when it exists.
    #[allow(missing_docs, reason = "said above")]
    Condition { index: usize, item: Option<Item> },
    /// Another write was under way; read again.
    Contended,
    /// It could not be tried.
    Error(Error),
}

impl From<Refused> for Error {
    /// For writes whose condition fails only when the item has gone.
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Condition { .. } => Self::NotFound,
            Refused::Contended => Self::Unavailable(Context::new("contended item")),
            Refused::Error(error) => error,
        }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Key {
    /// The key of those two parts.
    pub fn new(pk: impl Into<String>, sk: impl Into<String>) -> Self {
        Self { pk: pk.into(), sk: sk.into() }
    }

    /// The key's attributes.
    pub fn into_item(self) -> Item {
        HashMap::from([("pk".to_owned(), AttributeValue::S(self.pk)), ("sk".to_owned(), AttributeValue::S(self.sk))])
    }
}

impl ItemUpdate<String> {
    /// Sets attributes, each to the value that has its name: `#name = :name`.
    pub fn setting(key: Key, values: Values, condition: &'static str) -> Self {
        let name = |value: &'static str| value.trim_start_matches(':');
        let parts: Vec<_> = values.iter().map(|(value, _)| format!("#{} = {value}", name(value))).collect();
        Self { key, update: format!("SET {}", parts.join(", ")), condition, values }
    }
}

/// What differs from `before`, of the same attributes in the same order: who changes something else meanwhile is not
/// undone, and who says what was there already says nothing.
pub fn differing(before: Values, after: Values) -> Values {
    after.into_iter().zip(before).filter_map(|(after, before)| (after != before).then_some(after)).collect()
}

impl<U: Into<String>> ItemUpdate<U> {
    fn composed(self) -> ItemUpdate<String> {
        let Self { key, update, condition, values } = self;
        ItemUpdate { key, update: update.into(), condition, values }
    }
}

/// A string attribute.
pub fn s(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

/// A number attribute.
pub fn n(value: impl std::fmt::Display) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

impl Table {
    /// The table of that name.
    pub fn new(client: Client, name: &str) -> Self {
        Self { client, name: name.into() }
    }

    /// The table that a variable names. All tables share one client and so its connections.
    pub fn open(platform: &mut Platform, variable: &'static str) -> Self {
        let name = platform.environment.text(variable);
        let open = || (Client::new(&platform.aws), name.clone());
        let (client, _) = platform.dynamodb.get_or_insert_with(open);
        Self::new(client.clone(), &name)
    }

    /// Reads an item, strongly consistent. One read. There is nothing under a key that is longer than DynamoDB
    /// takes: parts of keys come from addresses that anybody may call.
    pub fn get(&self, key: Key) -> BoxFuture<'_, Result<Option<Item>, Error>> {
        Box::pin(async move {
            if key.pk.len() > MAX_PARTITION_KEY_BYTES || key.sk.len() > MAX_SORT_KEY_BYTES {
                return Ok(None);
            }
            let request = self.client.get_item().table_name(&*self.name).consistent_read(true);
            let answer = request.set_key(Some(key.into_item())).send().await.map_err(|e| failure(&e))?;
            Ok(answer.item)
        })
    }

    /// Reads some items, strongly consistent, in no order; at most 100. A read each.
    pub fn batch_get(&self, keys: Vec<Key>) -> BoxFuture<'_, Result<Vec<Item>, Error>> {
        Box::pin(async move {
            let mut found = Vec::with_capacity(keys.len());
            let mut wanted: Vec<Item> = keys.into_iter().map(Key::into_item).collect();
            for _ in 0..MAX_BATCH_GET_ROUNDS {
                if wanted.is_empty() {
                    return Ok(found);
                }
                let keys = KeysAndAttributes::builder().set_keys(Some(wanted)).consistent_read(true).build();
                let keys = keys.map_err(Error::internal)?;
                let request = self.client.batch_get_item().request_items(&*self.name, keys);
                let answer = request.send().await.map_err(|e| failure(&e))?;
                found.extend(answer.responses.into_iter().flat_map(HashMap::into_values).flatten());
                let rest = answer.unprocessed_keys.into_iter().flat_map(HashMap::into_values);
                wanted = rest.flat_map(|keys| keys.keys).collect();
            }
            if wanted.is_empty() { Ok(found) } else { Err(Error::Unavailable(Context::new("a batch came piecemeal"))) }
        })
    }

    /// Stores an item; with `create`, only where there is none. The SDK repeats a request whose answer is late, so
    /// finding the very item there is a success. One write.
    pub fn put(&self, item: Item, create: bool) -> BoxFuture<'_, Result<(), Refused>> {
        Box::pin(async move {
            let request = self.client.put_item().table_name(&*self.name).set_item(Some(item.clone()));
            let request = if create { request.condition_expression(IS_NEW) } else { request };
            let request = request.return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
            let put = || request.clone().send().map_err(|error| put_refused(&error));
            match unless_contended(put).await {
                Ok(_) => Ok(()),
                Err(Refused::Condition { item: Some(found), .. }) if found == item => Ok(()),
                Err(refused) => Err(refused),
            }
        })
    }

    /// Changes an item and returns it as it is afterwards. One write.
    pub fn update<U: Into<String>>(&self, change: ItemUpdate<U>) -> BoxFuture<'_, Result<Item, Refused>> {
        self.update_composed(change.composed())
    }

    fn update_composed(&self, change: ItemUpdate<String>) -> BoxFuture<'_, Result<Item, Refused>> {
        Box::pin(async move {
            let ItemUpdate { key, update, condition, values } = change;
            let request = self
                .client
                .update_item()
                .table_name(&*self.name)
                .set_key(Some(key.into_item()))
                .set_expression_attribute_names(names(&[&update, condition]))
                .update_expression(update)
                .set_condition_expression(given(condition))
                .set_expression_attribute_values(named(values))
                .return_values(ReturnValue::AllNew)
                .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
            let update = || request.clone().send().map_err(|error| update_refused(&error));
            Ok(unless_contended(update).await?.attributes.unwrap_or_default())
        })
    }

    /// Changes an item if the condition holds. One write.
    pub fn update_if(&self, change: ItemUpdate) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            match self.update(change).await {
                Ok(_) | Err(Refused::Condition { .. }) => Ok(()),
                Err(refused) => Err(refused.into()),
            }
        })
    }

    /// Deletes an item if it is there and returns it. One write.
    pub fn delete(&self, key: Key) -> BoxFuture<'_, Result<Option<Item>, Error>> {
        Box::pin(async move {
            let request = self.client.delete_item().table_name(&*self.name).set_key(Some(key.into_item()));
            let request = request.return_values(ReturnValue::AllOld);
            let delete = || request.clone().send().map_err(|error| delete_refused(&error));
            Ok(unless_contended(delete).await?.attributes)
        })
    }

    /// Deletes an item if it is there and the condition holds, and returns it. One write.
    pub fn delete_if(
        &self,
        key: Key,
        condition: &'static str,
        values: Values,
    ) -> BoxFuture<'_, Result<Option<Item>, Error>> {
        Box::pin(async move {
            let request = self
                .client
                .delete_item()
                .table_name(&*self.name)
                .set_key(Some(key.into_item()))
                .condition_expression(condition)
                .set_expression_attribute_names(names(&[condition]))
                .set_expression_attribute_values(named(values));
            let request = request.return_values(ReturnValue::AllOld);
            let delete = || request.clone().send().map_err(|error| delete_refused(&error));
            match unless_contended(delete).await {
                Ok(answer) => Ok(answer.attributes),
                Err(Refused::Condition { .. }) => Ok(None),
                Err(refused) => Err(refused.into()),
            }
        })
    }

    /// Reads items of one partition in the order of their sort keys.
    pub fn query(&self, query: Query) -> BoxFuture<'_, Result<Vec<Item>, Error>> {
        Box::pin(async move { Ok(self.page(query, "", None).await?.items) })
    }

    /// Reads the first `most` items of one partition, however large they are. A query for each megabyte, or for as many as
    /// the query's limit says.
    pub fn query_all(&self, query: Query, most: usize) -> BoxFuture<'_, Result<Vec<Item>, Error>> {
        Box::pin(async move {
            let (mut items, mut after) = (Vec::new(), None);
            loop {
                let page = self.page(query.clone(), "", after).await?;
                items.extend(page.items);
                after = page.next;
                if after.is_none() || items.len() >= most {
                    items.truncate(most);
                    return Ok(items);
                }
            }
        })
    }

    /// Reads as many items of one partition as the query's limit says, behind the key `after` if there is one, and
    /// returns those that `filter` takes.
    pub fn page(&self, query: Query, filter: &'static str, after: Option<Item>) -> BoxFuture<'_, Result<Page, Error>> {
        Box::pin(async move {
            let Query { index, condition, values, limit, descending } = query;
            let request = self
                .client
                .query()
                .table_name(&*self.name)
                .set_index_name(index.map(str::to_owned))
                .key_condition_expression(condition)
                .set_filter_expression(given(filter))
                .set_expression_attribute_names(names(&[condition, filter]))
                .set_expression_attribute_values(named(values))
                .set_exclusive_start_key(after)
                .consistent_read(index.is_none())
                .limit(limit)
                .scan_index_forward(!descending);
            let answer = request.send().await.map_err(|e| failure(&e))?;
            let next = answer.last_evaluated_key.filter(|key| !key.is_empty());
            Ok(Page { items: answer.items.unwrap_or_default(), next })
        })
    }

    /// Does all of the writes or none. Two writes an item.
    pub fn transact(&self, writes: Vec<Write>) -> BoxFuture<'_, Result<(), Refused>> {
        Box::pin(async move {
            let parts: Result<Vec<_>, _> = writes.into_iter().map(|write| self.part(write)).collect();
            let request = self.client.transact_write_items().set_transact_items(Some(parts?));
            let transact = || request.clone().send().map_err(|error| transaction_refused(&error));
            unless_contended(transact).await.map(|_| ())
        })
    }

    fn part(&self, write: Write) -> Result<TransactWriteItem, Error> {
        let old = ReturnValuesOnConditionCheckFailure::AllOld;
        let part = TransactWriteItem::builder();
        let part = match write {
            Write::Create(item) => {
                let put = Put::builder().table_name(&*self.name).set_item(Some(item)).condition_expression(IS_NEW);
                part.put(put.return_values_on_condition_check_failure(old).build().map_err(Error::internal)?)
            }
            Write::ItemUpdate(change) => return self.part(Write::Composed(change.composed())),
            Write::Composed(ItemUpdate { key, update, condition, values }) => {
                let change = Update::builder()
                    .table_name(&*self.name)
                    .set_key(Some(key.into_item()))
                    .set_expression_attribute_names(names(&[&update, condition]))
                    .update_expression(update)
                    .set_condition_expression(given(condition))
                    .set_expression_attribute_values(named(values))
                    .return_values_on_condition_check_failure(old);
                part.update(change.build().map_err(Error::internal)?)
            }
            Write::Delete(key) => return self.part(Write::DeleteIf(key, EXISTS, Vec::new())),
            Write::DeleteIf(key, condition, values) => {
                let delete = Delete::builder()
                    .table_name(&*self.name)
                    .set_key(Some(key.into_item()))
                    .set_expression_attribute_names(names(&[condition]))
                    .condition_expression(condition)
                    .set_expression_attribute_values(named(values))
                    .return_values_on_condition_check_failure(old);
                part.delete(delete.build().map_err(Error::internal)?)
            }
            Write::Check(key, condition, values) => {
                let check = ConditionCheck::builder()
                    .table_name(&*self.name)
                    .set_key(Some(key.into_item()))
                    .set_expression_attribute_names(names(&[condition]))
                    .condition_expression(condition)
                    .set_expression_attribute_values(named(values))
                    .return_values_on_condition_check_failure(old);
                part.condition_check(check.build().map_err(Error::internal)?)
            }
        };
        Ok(part.build())
    }
}

/// Tries a write again that another one was in the way of: nothing was written, and its conditions are looked at anew. The
/// SDK does not do that by itself.
async fn unless_contended<T, W: Future<Output = Result<T, Refused>>>(write: impl Fn() -> W) -> Result<T, Refused> {
    for _ in 1..MAX_TRANSACTION_RETRIES {
        match write().await {
            Err(Refused::Contended) => {}
            done => return done,
        }
    }
    write().await
}

/// Writes that may be in the way of one before it gives up.
const MAX_TRANSACTION_RETRIES: usize = 4;

fn given(condition: &str) -> Option<String> {
    (!condition.is_empty()).then(|| condition.to_owned())
}

/// Bytes of a partition key and of a sort key.
const MAX_PARTITION_KEY_BYTES: usize = 2_048;
const MAX_SORT_KEY_BYTES: usize = 1_024;

/// Requests that one batch may take when the table answers it piecemeal.
const MAX_BATCH_GET_ROUNDS: usize = 5;

const IS_NEW: &str = "attribute_not_exists(pk)";

/// `#name` for every attribute that the expressions mention so.
fn names(expressions: &[&str]) -> Option<HashMap<String, String>> {
    let mentioned = expressions.iter().flat_map(|expression| expression.split('#').skip(1));
    let words = mentioned.filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next());
    let names: HashMap<_, _> = words.map(|name| (format!("#{name}"), name.to_owned())).collect();
    (!names.is_empty()).then_some(names)
}

fn named(values: Values) -> Option<HashMap<String, AttributeValue>> {
    let values: HashMap<_, _> = values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    (!values.is_empty()).then_some(values)
}

fn put_refused(error: &SdkError<PutItemError>) -> Refused {
    match error.as_service_error() {
        Some(PutItemError::ConditionalCheckFailedException(failed)) => {
            Refused::Condition { index: 0, item: failed.item.clone() }
        }
        Some(PutItemError::TransactionConflictException(_)) => Refused::Contended,
        _ => Refused::Error(failure(error)),
    }
}

fn update_refused(error: &SdkError<UpdateItemError>) -> Refused {
    match error.as_service_error() {
        Some(UpdateItemError::ConditionalCheckFailedException(failed)) => {
            Refused::Condition { index: 0, item: failed.item.clone() }
        }
        Some(UpdateItemError::TransactionConflictException(_)) => Refused::Contended,
        _ => Refused::Error(failure(error)),
    }
}

fn delete_refused(error: &SdkError<DeleteItemError>) -> Refused {
    match error.as_service_error() {
        Some(DeleteItemError::ConditionalCheckFailedException(_)) => Refused::Condition { index: 0, item: None },
        Some(DeleteItemError::TransactionConflictException(_)) => Refused::Contended,
        _ => Refused::Error(failure(error)),
    }
}

fn transaction_refused(error: &SdkError<TransactWriteItemsError>) -> Refused {
    let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) = error.as_service_error() else {
        return Refused::Error(failure(error));
    };
    let reasons = cancelled.cancellation_reasons();
    let failed = reasons.iter().enumerate().find(|(_, reason)| reason.code() == Some("ConditionalCheckFailed"));
    match failed {
        Some((index, reason)) => Refused::Condition { index, item: reason.item.clone() },
        None if reasons.iter().any(|reason| reason.code() == Some("TransactionConflict")) => Refused::Contended,
        None if reasons.iter().any(|reason| reason.code().is_some_and(is_throttling)) => {
            Refused::Error(Error::Unavailable(Context::new("throttled transaction")))
        }
        None if reasons.iter().any(|reason| reason.code() == Some("ValidationError")) => {
            Refused::Error(Error::Unwritable(Context::new("a part of a transaction is refused for good")))
        }
        None => Refused::Error(failure(error)),
    }
}

fn is_throttling(code: &str) -> bool {
    matches!(
        code,
        "ProvisionedThroughputExceeded"
            | "ProvisionedThroughputExceededException"
            | "ThrottlingError"
            | "ThrottlingException"
            | "RequestLimitExceeded"
            | "TransactionInProgressException"
            | "InternalServerError"
    )
}

/// What did not answer or asks to slow down is worth another try; the rest is a fault of ours, and what is invalid, such as
/// an item of more than 400 KB, stays so.
fn failure<E: ProvideErrorMetadata + std::fmt::Debug>(error: &SdkError<E>) -> Error {
    let code = error.code().map(str::to_owned);
    let throttled = code.as_deref().is_some_and(is_throttling);
    let is_invalid = code.as_deref() == Some("ValidationException");
    let unanswered =
        matches!(error, SdkError::TimeoutError(_) | SdkError::DispatchFailure(_) | SdkError::ResponseError(_));
    let context = Context::new(("dynamodb", code, error.message().map(str::to_owned), unanswered));
    if throttled || unanswered {
        Error::Unavailable(context)
    } else if is_invalid {
        Error::Unwritable(context)
    } else {
        Error::Internal(context)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn names_are_taken_from_the_expressions() {
        let names = names(&["SET #state = :s, #seq=#seq + :one", "attribute_exists(#pk)"]).unwrap();
        let mut names: Vec<_> = names.into_iter().collect();
        names.sort();
        let expected = [("#pk", "pk"), ("#seq", "seq"), ("#state", "state")];
        assert_eq!(names, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }
}
