//! Generates inputs from the files of a corpus. A JSON text is mutated as a tree: fields and items are added, replaced,
//! removed, copied and repeated, with names and texts from a dictionary. Any input can also be mutated as bytes.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Number, Value, json};

/// The lengths, in characters, of generated long texts. Most of them are at or beside a limit of a parser.
const LENGTHS: [usize; 22] = [
    1, 2, 40, 63, 64, 65, 100, 101, 128, 253, 254, 255, 256, 300, 500, 501, 1_000, 1_001, 2_049, 4_097, 10_000, 10_001,
];

/// Texts that parsers often mishandle.
const TEXTS: [&str; 39] = [
    "",
    " ",
    "\t\u{a0}\n",
    "0",
    "-0",
    "-1",
    "+5",
    "007",
    "1.5",
    "1e3",
    "NaN",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "\u{0}",
    "\u{feff}",
    "\u{202e}abc",
    "e\u{301}",
    "🙂",
    "İ",
    "ß",
    "{channel_id}",
    "http://{channel_id}.example/#{channel_id}",
    "HTTPS://Shop.Example:443/a b?q=%zz#f",
    "https://xn--a.example/",
    "https://user:pw@shop.example/",
    "http://[::1]/",
    "https:shop.example",
    "https://shop.example\\@evil.example",
    "//shop.example",
    "ftp://shop.example",
    "javascript:alert(1)",
    "*.shop.example",
    "a@b",
    "A@B.Example",
    "24:00",
    "9:30",
    "Europe/Berlin",
    "+31 (0)20 123 4567",
];

#[derive(Clone, Debug)]
enum TreeMutation {
    Replace(Index, Value),
    Remove(Index),
    Add(Index, String, Value),
    /// Replaces the second value with a copy of the first.
    Copy(Index, Index),
    /// Resizes a list to this many items. A list that becomes longer is filled with copies of its last item.
    Repeat(Index, usize),
    /// Replaces a value with its JSON text.
    Quote(Index),
}

#[derive(Clone, Debug)]
enum ByteMutation {
    Replace(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Truncate(Index),
    /// Copies this many bytes from the first position and inserts the copy at the second position.
    Copy(Index, Index, usize),
    /// Inserts a field after an opening brace. The field's name may then occur twice.
    RepeatKey(Index, String),
}

pub(super) fn inputs(seeds: Vec<Vec<u8>>, dictionary: &[String]) -> impl Strategy<Value = Vec<u8>> + use<> {
    let trees = vec(tree_mutation(dictionary), 0..5);
    let bytes = prop_oneof![3 => Just(Vec::new()), 1 => vec(byte_mutation(dictionary), 1..4)];
    let bytes_only = vec(byte_mutation(dictionary), 0..6);
    (select(seeds), trees, bytes, bytes_only).prop_map(
        |(seed, trees, bytes, bytes_only)| match serde_json::from_slice::<Value>(&seed) {
            Ok(tree) if tree.is_object() || tree.is_array() => {
                let tree = trees.into_iter().fold(tree, mutate_tree);
                bytes.into_iter().fold(tree.to_string().into_bytes(), mutate_bytes)
            }
            _ => bytes_only.into_iter().fold(seed, mutate_bytes),
        },
    )
}

fn tree_mutation(dictionary: &[String]) -> impl Strategy<Value = TreeMutation> + use<> {
    let at = any::<Index>;
    let name = select(dictionary.to_vec());
    prop_oneof![
        6 => (at(), value(dictionary)).prop_map(|(at, value)| TreeMutation::Replace(at, value)),
        2 => at().prop_map(TreeMutation::Remove),
        3 => (at(), name, value(dictionary)).prop_map(|(at, name, value)| TreeMutation::Add(at, name, value)),
        2 => (at(), at()).prop_map(|(from, to)| TreeMutation::Copy(from, to)),
        1 => (at(), select(vec![2_usize, 4, 11, 50, 51, 101, 1_001])).prop_map(|(at, n)| TreeMutation::Repeat(at, n)),
        1 => at().prop_map(TreeMutation::Quote),
    ]
}

fn value(dictionary: &[String]) -> impl Strategy<Value = Value> + use<> {
    let text = prop_oneof![
        3 => select(TEXTS.to_vec()).prop_map(str::to_owned),
        3 => select(dictionary.to_vec()),
        2 => "\\PC{0,12}",
        1 => any::<String>(),
        2 => (select(vec!['a', 'ß', '🙂', ' ', '\n']), select(LENGTHS.to_vec())).prop_map(|(c, n)| c.to_string().repeat(n)),
        1 => select(LENGTHS.to_vec()).prop_map(|n| format!("https://shop.example/{}", "ä".repeat(n))),
    ];
    let number = prop_oneof![
        any::<i64>().prop_map(Number::from),
        any::<u64>().prop_map(Number::from),
        (-10_i64..100).prop_map(Number::from),
        select(vec![0_u64, 1, 7, 255, 1 << 31, 1 << 32, (1 << 53) - 1, 1 << 53, u64::MAX]).prop_map(Number::from),
        prop_oneof![any::<f64>(), select(vec![-0.0, 0.5, 5e-324, 1e-130, 1e-9, 90.0, 180.000_000_1, 1e126, f64::MAX])]
            .prop_filter_map("JSON has only finite numbers", Number::from_f64),
    ];
    prop_oneof![
        6 => text.prop_map(Value::from),
        4 => number.prop_map(Value::Number),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => select(vec![json!([]), json!({}), json!([[]]), json!([null]), json!([1, 1, 2]), json!({ "": {} })]),
        1 => (1..200_usize).prop_map(|depth| (0..depth).fold(Value::Null, |inner, _| json!([inner]))),
    ]
}

fn byte_mutation(dictionary: &[String]) -> impl Strategy<Value = ByteMutation> + use<> {
    let at = any::<Index>;
    let inserted = prop_oneof![
        select(dictionary.to_vec()).prop_map(String::into_bytes),
        select(TEXTS.to_vec()).prop_map(|text| text.as_bytes().to_vec()),
        vec(any::<u8>(), 1..4),
        select(vec!["-", "&", "=", "%", "\"", "{", "[", ",", "\\u0000", "\\ud800", "0", "1e400"])
            .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop_oneof![
        2 => (at(), any::<u8>()).prop_map(|(at, byte)| ByteMutation::Replace(at, byte)),
        3 => (at(), inserted).prop_map(|(at, bytes)| ByteMutation::Insert(at, bytes)),
        2 => (at(), 1..8_usize).prop_map(|(at, n)| ByteMutation::Remove(at, n)),
        1 => at().prop_map(ByteMutation::Truncate),
        1 => (at(), at(), 1..16_usize).prop_map(|(from, to, n)| ByteMutation::Copy(from, to, n)),
        1 => (at(), select(dictionary.to_vec())).prop_map(|(at, name)| ByteMutation::RepeatKey(at, name)),
    ]
}

/// Returns the JSON pointers to a value and to all values nested in it.
fn pointers(value: &Value) -> Vec<String> {
    let mut all = vec![String::new()];
    let children: Vec<(String, &Value)> = match value {
        Value::Object(fields) => {
            let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
            fields.iter().map(|(name, value)| (escaped(name), value)).collect()
        }
        Value::Array(items) => items.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    for (name, child) in children {
        all.extend(pointers(child).into_iter().map(|rest| format!("/{name}{rest}")));
    }
    all
}

fn mutate_tree(mut tree: Value, mutation: TreeMutation) -> Value {
    let pointers = pointers(&tree);
    let at = |index: Index| index.get(&pointers).clone();
    match mutation {
        TreeMutation::Replace(index, value) => replace(&mut tree, &at(index), value),
        TreeMutation::Remove(index) => remove(&mut tree, &at(index)),
        TreeMutation::Add(index, name, value) => match tree.pointer_mut(&at(index)) {
            Some(Value::Object(fields)) => {
                fields.insert(name, value);
            }
            Some(Value::Array(items)) => items.push(value),
            _ => {}
        },
        TreeMutation::Copy(from, to) => {
            let copied = tree.pointer(&at(from)).cloned();
            copied.into_iter().for_each(|value| replace(&mut tree, &at(to), value));
        }
        TreeMutation::Repeat(index, count) => {
            if let Some(Value::Array(items)) = tree.pointer_mut(&at(index))
                && let Some(last) = items.last().cloned()
            {
                items.resize(count, last);
            }
        }
        TreeMutation::Quote(index) => {
            let text = tree.pointer(&at(index)).map(Value::to_string);
            text.into_iter().for_each(|text| replace(&mut tree, &at(index), Value::String(text)));
        }
    }
    tree
}

fn replace(tree: &mut Value, pointer: &str, value: Value) {
    if let Some(place) = tree.pointer_mut(pointer) {
        *place = value;
    }
}

fn remove(tree: &mut Value, pointer: &str) {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return };
    match tree.pointer_mut(parent) {
        Some(Value::Object(fields)) => {
            fields.remove(&name.replace("~1", "/").replace("~0", "~"));
        }
        Some(Value::Array(items)) => {
            name.parse::<usize>().ok().filter(|index| *index < items.len()).map(|index| items.remove(index));
        }
        _ => {}
    }
}

fn mutate_bytes(mut bytes: Vec<u8>, mutation: ByteMutation) -> Vec<u8> {
    let end = bytes.len();
    let position = |index: Index| index.index(end + 1);
    match mutation {
        ByteMutation::Replace(at, byte) => {
            if let Some(place) = bytes.get_mut(position(at)) {
                *place = byte;
            }
        }
        ByteMutation::Insert(at, inserted) => drop(bytes.splice(position(at)..position(at), inserted)),
        ByteMutation::Remove(at, count) => drop(bytes.drain(position(at)..(position(at) + count).min(end))),
        ByteMutation::Truncate(at) => bytes.truncate(position(at)),
        ByteMutation::Copy(from, to, count) => {
            let copied = bytes[position(from)..(position(from) + count).min(end)].to_vec();
            drop(bytes.splice(position(to)..position(to), copied));
        }
        ByteMutation::RepeatKey(at, name) => {
            let braces: Vec<usize> = (0..end).filter(|index| bytes[*index] == b'{').collect();
            if !braces.is_empty() {
                let after = at.get(&braces) + 1;
                drop(bytes.splice(after..after, format!("{}:0,", Value::String(name)).into_bytes()));
            }
        }
    }
    bytes
}
