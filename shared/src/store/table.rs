//! The DynamoDB operations that the stores use. The methods that call the SDK are not generic and return boxed futures,
//! so the SDK's nested types are compiled only once, in this crate. Compiling these types in each Lambda function would
//! add 20 seconds to its build.

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

use crate::domain::chats::chat_state::TransitionError;
use crate::error::{Error, ErrorContext};
use crate::runtime::aws_config;
use crate::runtime::aws_failure::AwsFailure;
use crate::runtime::dependencies::StartupContext;

pub(crate) type Item = HashMap<String, AttributeValue>;

/// A condition for updates that must not recreate a deleted item.
pub(crate) const ITEM_EXISTS: &str = "attribute_exists(#pk)";

/// The values of an expression's placeholders, such as `:name`.
pub(crate) type ExpressionValues = Vec<(&'static str, AttributeValue)>;

#[derive(Clone)]
pub struct Table {
    client: Client,
    name: Arc<str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub pk: String,
    pub sk: String,
}

/// An update to one item, in DynamoDB's expression language. The placeholder `#name` stands for the `name` attribute.
/// `U` is the type of the update expression: a string literal, or a `String` if the expression depends on the data.
#[derive(Clone)]
pub(crate) struct ItemUpdate<U = &'static str> {
    pub key: Key,
    pub update: U,
    /// An empty string means that the update is unconditional.
    pub condition: &'static str,
    pub values: ExpressionValues,
}

/// One part of a transaction: a write, or the check of an item's condition. If any condition fails, nothing is written.
#[derive(Clone)]
pub(crate) enum Write {
    /// Fails if an item with the same key exists.
    Create(Item),
    Update(ItemUpdate),
    /// Applies an update whose expression depends on the data.
    DynamicUpdate(ItemUpdate<String>),
    DeleteIf(Key, &'static str, ExpressionValues),
    Check(Key, &'static str, ExpressionValues),
}

#[derive(Clone)]
pub(crate) struct Query {
    /// `None` means that the table itself is queried.
    pub index: Option<&'static str>,
    pub condition: &'static str,
    pub values: ExpressionValues,
    /// The maximum number of items that one request reads.
    pub limit: i32,
    /// Whether the largest sort key is returned first.
    pub descending: bool,
}

pub(crate) struct QueryPage {
    pub items: Vec<Item>,
    /// The key after which the next page starts, or `None` if there are no more items.
    pub next: Option<Item>,
}

#[derive(Debug)]
pub(crate) enum WriteError {
    /// `index` is the position of the write in its transaction, or 0 for a single write. `item` is the stored item. It
    /// is `None` if no item is stored, and after a single delete.
    ConditionFailed {
        index: usize,
        item: Option<Item>,
    },
    /// Concurrent transactions were writing the same item, and every retry failed too.
    Contended,
    Error(Error),
}

/// What a failed condition means is said where the write is made.
pub(crate) trait WriteResult<T> {
    /// Fails with `error` if the condition has failed.
    fn on_condition_failed(self, error: Error) -> Result<T, Error>;

    /// Returns the inner error if the condition has failed: the stored item, or `None` if no item is stored.
    fn condition(self) -> Result<Result<T, Option<Item>>, Error>;

    /// For a write without a condition.
    fn unconditional(self) -> Result<T, Error>;
}

impl<T> WriteResult<T> for Result<T, WriteError> {
    fn on_condition_failed(self, error: Error) -> Result<T, Error> {
        self.condition()?.map_err(|_| error)
    }

    fn condition(self) -> Result<Result<T, Option<Item>>, Error> {
        match self {
            Ok(value) => Ok(Ok(value)),
            Err(WriteError::ConditionFailed { item, .. }) => Ok(Err(item)),
            Err(WriteError::Contended) => Err(Error::Unavailable(ErrorContext::new("contended item"))),
            Err(WriteError::Error(error)) => Err(error),
        }
    }

    fn unconditional(self) -> Result<T, Error> {
        self.on_condition_failed(Error::internal("a write without a condition failed its condition"))
    }
}

/// The error of a write that creates an item with a random key, if the key is taken.
pub(crate) fn key_taken() -> Error {
    Error::internal("a random key is taken")
}

impl From<TransitionError> for WriteError {
    fn from(error: TransitionError) -> Self {
        Self::Error(error.into())
    }
}

impl From<Error> for WriteError {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Key {
    pub(crate) fn new(pk: impl Into<String>, sk: impl Into<String>) -> Self {
        Self { pk: pk.into(), sk: sk.into() }
    }

    pub(crate) fn into_item(self) -> Item {
        HashMap::from([("pk".to_owned(), AttributeValue::S(self.pk)), ("sk".to_owned(), AttributeValue::S(self.sk))])
    }
}

impl ItemUpdate<String> {
    /// Returns an update that sets the attributes named after the placeholders in `values`: `#name = :name`.
    pub(crate) fn set_attributes(key: Key, values: ExpressionValues, condition: &'static str) -> Self {
        let name = |value: &'static str| value.trim_start_matches(':');
        let assignments: Vec<_> = values.iter().map(|(value, _)| format!("#{} = {value}", name(value))).collect();
        Self { key, update: format!("SET {}", assignments.join(", ")), condition, values }
    }
}

/// Returns the values of `after` that differ from `before`. Both must contain the same attributes in the same order.
/// Writing only the changed values preserves concurrent changes to other attributes.
pub(crate) fn changed_values(before: ExpressionValues, after: ExpressionValues) -> ExpressionValues {
    after.into_iter().zip(before).filter_map(|(after, before)| (after != before).then_some(after)).collect()
}

impl<U: Into<String>> ItemUpdate<U> {
    fn with_owned_expression(self) -> ItemUpdate<String> {
        let Self { key, update, condition, values } = self;
        ItemUpdate { key, update: update.into(), condition, values }
    }
}

pub(crate) fn item_key(item: &Item) -> Option<Key> {
    let text = |name: &str| item.get(name)?.as_s().ok().cloned();
    Some(Key::new(text("pk")?, text("sk")?))
}

pub(crate) fn s(value: impl Into<String>) -> AttributeValue {
    AttributeValue::S(value.into())
}

pub(crate) fn n(value: impl std::fmt::Display) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

impl Table {
    pub fn new(client: Client, name: &str) -> Self {
        Self { client, name: name.into() }
    }

    /// Opens the table whose name is stored in the environment variable `name_variable`. All tables share one client
    /// and its connections.
    pub(crate) fn open(startup: &mut StartupContext, name_variable: &'static str) -> Self {
        let name = startup.environment.required(name_variable);
        let new_client = || (Client::new(&aws_config::for_service(&startup.aws, "DYNAMODB")), name.clone());
        let (client, _) = startup.dynamodb.get_or_insert_with(new_client);
        Self::new(client.clone(), &name)
    }

    /// Reads an item with strong consistency. Returns `None` if the item does not exist or if the key is too long for
    /// DynamoDB. A key that is too long is not an error, because keys contain parts of public URLs.
    pub(crate) fn get(&self, key: Key) -> BoxFuture<'_, Result<Option<Item>, Error>> {
        Box::pin(async move {
            if key.pk.len() > MAX_PARTITION_KEY_BYTES || key.sk.len() > MAX_SORT_KEY_BYTES {
                return Ok(None);
            }
            let request = self.client.get_item().table_name(&*self.name).consistent_read(true);
            let answer = request.set_key(Some(key.into_item())).send().await.map_err(|e| request_error(&e))?;
            Ok(answer.item)
        })
    }

    /// Reads at most 100 items with strong consistency and returns them in no particular order. Items that do not exist
    /// are left out.
    pub(crate) fn batch_get(&self, keys: Vec<Key>) -> BoxFuture<'_, Result<Vec<Item>, Error>> {
        Box::pin(async move {
            let mut found = Vec::with_capacity(keys.len());
            let mut missing: Vec<Item> = keys.into_iter().map(Key::into_item).collect();
            for _ in 0..MAX_BATCH_GET_ROUNDS {
                if missing.is_empty() {
                    return Ok(found);
                }
                let keys = KeysAndAttributes::builder().set_keys(Some(missing)).consistent_read(true).build();
                let keys = keys.map_err(Error::internal)?;
                let request = self.client.batch_get_item().request_items(&*self.name, keys);
                let answer = request.send().await.map_err(|e| request_error(&e))?;
                found.extend(answer.responses.into_iter().flat_map(HashMap::into_values).flatten());
                let unprocessed = answer.unprocessed_keys.into_iter().flat_map(HashMap::into_values);
                missing = unprocessed.flat_map(|keys| keys.keys).collect();
            }
            if missing.is_empty() {
                Ok(found)
            } else {
                Err(Error::Unavailable(ErrorContext::new("unprocessed batch keys")))
            }
        })
    }

    /// Stores an item. If `create_only` is true, fails if a different item with the same key exists. An identical item
    /// counts as success, because the SDK may have repeated a request that timed out after the item was stored.
    pub(crate) fn put(&self, item: Item, create_only: bool) -> BoxFuture<'_, Result<(), WriteError>> {
        Box::pin(async move {
            let request = self.client.put_item().table_name(&*self.name).set_item(Some(item.clone()));
            let request = if create_only { request.condition_expression(ITEM_IS_NEW) } else { request };
            let request = request.return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
            let put = || request.clone().send().map_err(|error| put_error(&error));
            match retry_contended(put).await {
                Ok(_) => Ok(()),
                Err(WriteError::ConditionFailed { item: Some(found), .. }) if found == item => Ok(()),
                Err(error) => Err(error),
            }
        })
    }

    /// Updates an item and returns its new state.
    pub(crate) fn update<U: Into<String>>(
        &self,
        item_update: ItemUpdate<U>,
    ) -> BoxFuture<'_, Result<Item, WriteError>> {
        self.update_inner(item_update.with_owned_expression())
    }

    fn update_inner(&self, item_update: ItemUpdate<String>) -> BoxFuture<'_, Result<Item, WriteError>> {
        Box::pin(async move {
            let ItemUpdate { key, update, condition, values } = item_update;
            let request = self
                .client
                .update_item()
                .table_name(&*self.name)
                .set_key(Some(key.into_item()))
                .set_expression_attribute_names(placeholder_names(&[&update, condition]))
                .update_expression(update)
                .set_condition_expression(non_empty(condition))
                .set_expression_attribute_values(placeholder_values(values))
                .return_values(ReturnValue::AllNew)
                .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
            let update = || request.clone().send().map_err(|error| update_error(&error));
            Ok(retry_contended(update).await?.attributes.unwrap_or_default())
        })
    }

    /// Updates an item if it meets the condition; otherwise, does nothing.
    pub(crate) fn update_if(&self, item_update: ItemUpdate) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move { self.update(item_update).await.condition().map(|_| ()) })
    }

    /// Deletes an item and returns it, if it existed.
    pub(crate) fn delete(&self, key: Key) -> BoxFuture<'_, Result<Option<Item>, Error>> {
        Box::pin(async move {
            let request = self.client.delete_item().table_name(&*self.name).set_key(Some(key.into_item()));
            let request = request.return_values(ReturnValue::AllOld);
            let delete = || request.clone().send().map_err(|error| delete_error(&error));
            Ok(retry_contended(delete).await.unconditional()?.attributes)
        })
    }

    /// Deletes an item and returns it, if it existed and met the condition.
    pub(crate) fn delete_if(
        &self,
        key: Key,
        condition: &'static str,
        values: ExpressionValues,
    ) -> BoxFuture<'_, Result<Option<Item>, Error>> {
        Box::pin(async move {
            let request = self
                .client
                .delete_item()
                .table_name(&*self.name)
                .set_key(Some(key.into_item()))
                .condition_expression(condition)
                .set_expression_attribute_names(placeholder_names(&[condition]))
                .set_expression_attribute_values(placeholder_values(values));
            let request = request.return_values(ReturnValue::AllOld);
            let delete = || request.clone().send().map_err(|error| delete_error(&error));
            Ok(retry_contended(delete).await.condition()?.ok().and_then(|answer| answer.attributes))
        })
    }

    /// Reads the first page of a query and returns its items, sorted by their sort keys.
    pub(crate) fn query(&self, query: Query) -> BoxFuture<'_, Result<Vec<Item>, Error>> {
        Box::pin(async move { Ok(self.query_page(query, "", None).await?.items) })
    }

    /// Returns the first `max_items` items of a query.
    pub(crate) fn query_all(&self, query: Query, max_items: usize) -> BoxFuture<'_, Result<Vec<Item>, Error>> {
        let is_consistent = query.index.is_none();
        self.query_pages(query, max_items, is_consistent)
    }

    /// Returns all items of a query, read with eventual consistency: the most recent writes may be missing.
    pub(crate) fn query_all_eventually(&self, query: Query) -> BoxFuture<'_, Result<Vec<Item>, Error>> {
        self.query_pages(query, usize::MAX, false)
    }

    fn query_pages(
        &self,
        query: Query,
        max_items: usize,
        is_consistent: bool,
    ) -> BoxFuture<'_, Result<Vec<Item>, Error>> {
        Box::pin(async move {
            let (mut items, mut after) = (Vec::new(), None);
            loop {
                let page = self.query_page_with(query.clone(), "", after, is_consistent).await?;
                items.extend(page.items);
                after = page.next;
                if after.is_none() || items.len() >= max_items {
                    items.truncate(max_items);
                    return Ok(items);
                }
            }
        })
    }

    /// Reads one page of a query and returns the items that match `filter`; an empty filter matches all items. The page
    /// starts after the key `after`, if there is one. The query's limit applies before the filter.
    pub(crate) fn query_page(
        &self,
        query: Query,
        filter: &'static str,
        after: Option<Item>,
    ) -> BoxFuture<'_, Result<QueryPage, Error>> {
        let is_consistent = query.index.is_none();
        self.query_page_with(query, filter, after, is_consistent)
    }

    fn query_page_with(
        &self,
        query: Query,
        filter: &'static str,
        after: Option<Item>,
        is_consistent: bool,
    ) -> BoxFuture<'_, Result<QueryPage, Error>> {
        Box::pin(async move {
            let Query { index, condition, values, limit, descending } = query;
            let request = self
                .client
                .query()
                .table_name(&*self.name)
                .set_index_name(index.map(str::to_owned))
                .key_condition_expression(condition)
                .set_filter_expression(non_empty(filter))
                .set_expression_attribute_names(placeholder_names(&[condition, filter]))
                .set_expression_attribute_values(placeholder_values(values))
                .set_exclusive_start_key(after)
                .consistent_read(is_consistent)
                .limit(limit)
                .scan_index_forward(!descending);
            let answer = request.send().await.map_err(|e| request_error(&e))?;
            let next = answer.last_evaluated_key.filter(|key| !key.is_empty());
            Ok(QueryPage { items: answer.items.unwrap_or_default(), next })
        })
    }

    /// Reads at most one megabyte of the table with strong consistency, starting after the key `after`, if there is
    /// one.
    pub(crate) fn scan_page(&self, after: Option<Item>) -> BoxFuture<'_, Result<QueryPage, Error>> {
        Box::pin(async move {
            let request = self.client.scan().table_name(&*self.name).consistent_read(true);
            let answer = request.set_exclusive_start_key(after).send().await.map_err(|e| request_error(&e))?;
            let next = answer.last_evaluated_key.filter(|key| !key.is_empty());
            Ok(QueryPage { items: answer.items.unwrap_or_default(), next })
        })
    }

    /// Makes all of the writes, or none of them if any condition fails.
    pub(crate) fn transact(&self, writes: Vec<Write>) -> BoxFuture<'_, Result<(), WriteError>> {
        Box::pin(async move {
            let parts: Result<Vec<_>, _> = writes.into_iter().map(|write| self.transaction_part(write)).collect();
            let request = self.client.transact_write_items().set_transact_items(Some(parts?));
            let transact = || request.clone().send().map_err(|error| transaction_error(&error));
            retry_contended(transact).await.map(|_| ())
        })
    }

    fn transaction_part(&self, write: Write) -> Result<TransactWriteItem, Error> {
        let return_item = ReturnValuesOnConditionCheckFailure::AllOld;
        // The builders have no common trait.
        macro_rules! conditional {
            ($item:ident, $key:ident, [$($expression:expr),+], $values:ident) => {
                $item::builder()
                    .table_name(&*self.name)
                    .set_key(Some($key.into_item()))
                    .set_expression_attribute_names(placeholder_names(&[$($expression),+]))
                    .set_expression_attribute_values(placeholder_values($values))
                    .return_values_on_condition_check_failure(return_item)
            };
        }
        let part = TransactWriteItem::builder();
        let part = match write {
            Write::Create(item) => {
                let put = Put::builder().table_name(&*self.name).set_item(Some(item)).condition_expression(ITEM_IS_NEW);
                part.put(put.return_values_on_condition_check_failure(return_item).build().map_err(Error::internal)?)
            }
            Write::Update(item_update) => {
                return self.transaction_part(Write::DynamicUpdate(item_update.with_owned_expression()));
            }
            Write::DynamicUpdate(ItemUpdate { key, update, condition, values }) => {
                let item_update = conditional!(Update, key, [&update, condition], values)
                    .update_expression(update)
                    .set_condition_expression(non_empty(condition));
                part.update(item_update.build().map_err(Error::internal)?)
            }
            Write::DeleteIf(key, condition, values) => {
                let delete = conditional!(Delete, key, [condition], values).condition_expression(condition);
                part.delete(delete.build().map_err(Error::internal)?)
            }
            Write::Check(key, condition, values) => {
                let check = conditional!(ConditionCheck, key, [condition], values).condition_expression(condition);
                part.condition_check(check.build().map_err(Error::internal)?)
            }
        };
        Ok(part.build())
    }
}

/// Retries a write that DynamoDB cancelled because of a concurrent transaction. A cancelled write has changed nothing,
/// so it is safe to retry; its conditions are then evaluated again. The SDK itself does not retry such writes.
async fn retry_contended<T, W: Future<Output = Result<T, WriteError>>>(write: impl Fn() -> W) -> Result<T, WriteError> {
    for _ in 1..MAX_CONTENDED_WRITES {
        match write().await {
            Err(WriteError::Contended) => {}
            result => return result,
        }
    }
    write().await
}

const MAX_CONTENDED_WRITES: usize = 4;

fn non_empty(condition: &str) -> Option<String> {
    (!condition.is_empty()).then(|| condition.to_owned())
}

const MAX_PARTITION_KEY_BYTES: usize = 2_048;
const MAX_SORT_KEY_BYTES: usize = 1_024;

/// The maximum number of requests for one batch. DynamoDB may leave some of a batch's keys unprocessed; those keys are
/// requested again.
const MAX_BATCH_GET_ROUNDS: usize = 5;

const ITEM_IS_NEW: &str = "attribute_not_exists(pk)";

/// Returns a map from each `#name` placeholder in the expressions to its attribute name, or `None` if there are no
/// placeholders.
fn placeholder_names(expressions: &[&str]) -> Option<HashMap<String, String>> {
    let after_hash = expressions.iter().flat_map(|expression| expression.split('#').skip(1));
    let words = after_hash.filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next());
    let names: HashMap<_, _> = words.map(|name| (format!("#{name}"), name.to_owned())).collect();
    (!names.is_empty()).then_some(names)
}

fn placeholder_values(values: ExpressionValues) -> Option<HashMap<String, AttributeValue>> {
    let values: HashMap<_, _> = values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    (!values.is_empty()).then_some(values)
}

/// Declares the functions that map the errors of single writes. The errors have no common trait.
macro_rules! write_error_functions {
    ($($name:ident: $error:ident,)+) => {$(
        fn $name(error: &SdkError<$error>) -> WriteError {
            match error.as_service_error() {
                Some($error::ConditionalCheckFailedException(failed)) => {
                    WriteError::ConditionFailed { index: 0, item: failed.item.clone() }
                }
                Some($error::TransactionConflictException(_)) => WriteError::Contended,
                _ => WriteError::Error(request_error(error)),
            }
        }
    )+};
}

write_error_functions! {
    put_error: PutItemError,
    update_error: UpdateItemError,
    delete_error: DeleteItemError,
}

fn transaction_error(error: &SdkError<TransactWriteItemsError>) -> WriteError {
    let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) = error.as_service_error() else {
        return WriteError::Error(request_error(error));
    };
    let reasons = cancelled.cancellation_reasons();
    let failed = reasons.iter().enumerate().find(|(_, reason)| reason.code() == Some("ConditionalCheckFailed"));
    match failed {
        Some((index, reason)) => WriteError::ConditionFailed { index, item: reason.item.clone() },
        None if reasons.iter().any(|reason| reason.code() == Some("TransactionConflict")) => WriteError::Contended,
        None if reasons.iter().any(|reason| reason.code().is_some_and(is_throttling)) => {
            WriteError::Error(Error::Unavailable(ErrorContext::new("throttled transaction")))
        }
        None if reasons.iter().any(|reason| reason.code() == Some("ValidationError")) => {
            WriteError::Error(Error::Unwritable(ErrorContext::new("a part of a transaction is invalid")))
        }
        None => WriteError::Error(request_error(error)),
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

/// Maps an SDK error to an [`Error`]. A missing response, throttling or an internal error of DynamoDB becomes
/// `Unavailable`. An invalid request, such as one with an item larger than 400 KB, becomes `Unwritable`. Everything
/// else becomes `Internal`.
fn request_error<E: ProvideErrorMetadata + std::fmt::Debug>(error: &SdkError<E>) -> Error {
    let failure = AwsFailure::new("dynamodb", error);
    let code = failure.code.as_deref().unwrap_or_default();
    let (is_throttled, is_invalid) = (is_throttling(code), code == "ValidationException");
    let is_unanswered = failure.is_unanswered;
    let context = ErrorContext::new(failure);
    if is_throttled || is_unanswered {
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
    fn placeholder_names_come_from_the_expressions() {
        let names = placeholder_names(&["SET #state = :s, #seq=#seq + :one", "attribute_exists(#pk)"]).unwrap();
        let mut names: Vec<_> = names.into_iter().collect();
        names.sort();
        let expected = [("#pk", "pk"), ("#seq", "seq"), ("#state", "state")];
        assert_eq!(names, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }
}
