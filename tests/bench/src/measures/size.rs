//! The sizes of the functions' binaries.

use crate::arguments::Arguments;
use crate::error::Error;
use crate::plot::{Bars, Plot};
use crate::report::{Section, Table};
use crate::statistics::Spread;

/// The file name of the program to which `tests/bench/run` links each function that it does not build. Its size is not
/// reported.
const PLACEHOLDER: &str = "false";

pub(super) fn run(arguments: &Arguments) -> Result<Section, Error> {
    let mut sizes = Vec::new();
    for file in std::fs::read_dir(&arguments.functions)? {
        let file = file?;
        let target = file.path().canonicalize()?;
        if target.file_name().is_none_or(|name| name != PLACEHOLDER) {
            let megabytes = target.metadata()?.len() as f64 / 1e6;
            sizes.push((file.file_name().to_string_lossy().into_owned(), Spread::of([megabytes])));
        }
    }
    sizes.sort_by(|(_, one), (_, other)| other.median.total_cmp(&one.median));
    let mut table = Table::new(&["function", "MB"]);
    for (name, size) in &sizes {
        table.add([name.clone(), format!("{:.2}", size.median)]);
    }
    let title = "Size of the binaries in megabytes".to_owned();
    Ok(Section {
        title: "Binary size",
        description: format!("{} functions, release build, stripped.", sizes.len()),
        table,
        plots: vec![("size", Plot::Bars(Bars { title, bars: sizes }))],
    })
}
