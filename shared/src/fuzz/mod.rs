//! Fuzz tests for the code that reads data from outside: bodies, frames, queue tasks, receivers' responses, paths,
//! query parameters, cursors, signatures and e-mails.
//!
//! A target is a test. It first replays its corpus, the files in `corpus/<target>`, and then mutates these files at
//! random (see [`mutations`]). By default, the mutated inputs are the same in each run. If `PROPTEST_CASES` is set to
//! the number of mutated inputs for each target, each run uses new inputs:
//!
//! ```sh
//! PROPTEST_CASES=1000000 cargo test --package shared --lib fuzz::
//! ```
//!
//! An input that fails is reduced to a small one, which is added to the target's corpus as `found-<hash>`. It is
//! committed together with the fix.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::wildcard_enum_match_arm)]

mod bodies;
mod cursors;
mod emails;
mod mutations;
mod requests;
mod responses;
mod signatures;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};
use serde_json::Value;

use crate::domain::sha256;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::fields::json_parser;

/// The number of mutated inputs for each target, unless `PROPTEST_CASES` specifies a different number.
const DEFAULT_CASES: u32 = 1_500;

const CALL_ID: &str = "019a0000-0000-7000-8000-000000000000";
const NOW: Timestamp = Timestamp(1_700_000_000_000);

/// Declares the functions that are targets. Each takes an input and panics if the code under test is wrong.
macro_rules! targets {
    ($($name:ident),+ $(,)?) => {
        pub(super) const TARGETS: &[&str] = &[$(stringify!($name)),+];

        #[cfg(test)]
        mod targets {
            $(
                #[test]
                fn $name() {
                    crate::fuzz::run(stringify!($name), super::$name);
                }
            )+
        }
    };
}
use targets;

fn run(target: &str, check: fn(&[u8])) {
    let seeds: Vec<Vec<u8>> = corpus_files(target).iter().map(|file| fs::read(file).unwrap()).collect();
    assert!(!seeds.is_empty(), "the target {target} has no corpus");
    seeds.iter().for_each(|seed| check(seed));
    let mut config = Config { failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = DEFAULT_CASES;
        // Use the same inputs in every run without `PROPTEST_CASES`. If such a run failed because of a new random
        // input, it would be unclear which change had introduced the error.
        config.rng_seed = RngSeed::Fixed(1);
    }
    let inputs = mutations::inputs(seeds, &dictionary());
    let result = TestRunner::new(config).run(&inputs, |input| {
        check(&input);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, input)) => {
            let file = corpus_folder().join(target).join(format!("found-{}", &sha256::hex_digest(&input)[..16]));
            fs::write(&file, &input).unwrap();
            panic!("{reason}\ninput: {}\nsaved as {}", String::from_utf8_lossy(&input), file.display());
        }
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

fn corpus_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/fuzz/corpus")
}

fn corpus_files(target: &str) -> Vec<PathBuf> {
    let folder = fs::read_dir(corpus_folder().join(target));
    let mut files: Vec<PathBuf> = folder.into_iter().flatten().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

/// Returns the field names and the short texts of all corpora. Mutations insert them into inputs.
fn dictionary() -> Vec<String> {
    let mut words = BTreeSet::new();
    for target in all_targets() {
        for file in corpus_files(target) {
            if let Ok(value) = serde_json::from_slice(&fs::read(file).unwrap()) {
                collect_words(&value, &mut words);
            }
        }
    }
    words.into_iter().collect()
}

fn collect_words(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            words.insert(name.clone());
            collect_words(value, words);
        }),
        Value::Array(items) => items.iter().for_each(|item| collect_words(item, words)),
        Value::String(text) if text.len() <= 64 => {
            words.insert(text.clone());
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn all_targets() -> impl Iterator<Item = &'static str> {
    let all = [
        bodies::TARGETS,
        cursors::TARGETS,
        emails::TARGETS,
        requests::TARGETS,
        responses::TARGETS,
        signatures::TARGETS,
    ];
    all.into_iter().flatten().copied()
}

/// Parses an input in the same way as the service parses a request body. Returns `None` if the input is not UTF-8. If
/// it is not valid JSON, checks the error and returns `None`.
fn json(input: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(input).ok()?;
    match json_parser::parse(text) {
        Ok(value) => Some(value),
        Err(error) => {
            assert_eq!(error.status(), 400, "{error}");
            assert!(error.to_string().len() < MAX_ERROR_BYTES, "{error}");
            None
        }
    }
}

/// An error's text must be shorter than this number of bytes, so that it does not repeat a large body.
const MAX_ERROR_BYTES: usize = 2_000;

/// Returns the value that a parser has accepted. If the parser has returned an error, returns `None` after checking
/// that the error has status 400 and names a field if and only if the body is an object.
fn accepted<T>(body: &Value, parsed: Result<T, Error>) -> Option<T> {
    let error = match parsed {
        Ok(value) => return Some(value),
        Err(error) => error,
    };
    assert_eq!(error.status(), 400, "{error:?}");
    assert!(error.to_string().len() < MAX_ERROR_BYTES, "{error}");
    let field = error.invalid_field();
    assert_eq!(field.is_some(), body.is_object(), "{error}");
    if let Some(field) = field {
        let root = field.split(['.', '[']).next().unwrap();
        assert!(!root.is_empty() && root.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'), "{field}");
        assert!(error.to_string().starts_with(field), "{error}");
    }
    None
}

#[test]
fn every_corpus_belongs_to_a_target() {
    let folders = fs::read_dir(corpus_folder()).unwrap();
    let folders: BTreeSet<String> = folders.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(folders, all_targets().map(str::to_owned).collect());
}
