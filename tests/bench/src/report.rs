//! The report: a Markdown file with the result of each measure, and its plots.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::machine;
use crate::plot::Plot;
use crate::progress;

/// The result of one measure.
pub(crate) struct Section {
    pub title: &'static str,
    /// What was measured, and how often.
    pub description: String,
    pub table: Table,
    /// The plots, each with its file name without the extension.
    pub plots: Vec<(&'static str, Plot)>,
}

/// A table whose first column is aligned left and whose other columns are aligned right.
pub(crate) struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

pub(crate) struct Report {
    folder: PathBuf,
    text: String,
}

impl Table {
    pub fn new(header: &[&str]) -> Self {
        Self { header: header.iter().map(|&name| name.to_owned()).collect(), rows: Vec::new() }
    }

    pub fn add(&mut self, row: impl IntoIterator<Item = String>) {
        self.rows.push(row.into_iter().collect());
    }

    fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = format!("|---|{}\n", "--:|".repeat(self.header.len().saturating_sub(1)));
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        line(&self.header) + &rule + &rows
    }
}

impl Report {
    /// Creates the folder of the report. Nothing is written to it yet.
    pub fn new(folder: &Path) -> Result<Self, Error> {
        std::fs::create_dir_all(folder).map_err(|error| Error::File(folder.display().to_string(), error))?;
        let text = format!("# Benchmarks\n\n{}. Spreads are median (minimum to maximum).\n", machine::description());
        Ok(Self { folder: folder.to_owned(), text })
    }

    /// Adds the result of a measure, prints its table, and writes its plots and the report so far.
    pub fn add(&mut self, section: Section) -> Result<(), Error> {
        let Section { title, description, table, plots } = section;
        let table = table.markdown();
        progress(&format!("\n{table}"));
        // Writing to a string cannot fail.
        let _ = write!(self.text, "\n## {title}\n\n{description}\n\n{table}");
        for (name, plot) in plots {
            self.write(&format!("{name}.svg"), &plot.svg())?;
            let _ = write!(self.text, "\n![{title}]({name}.svg)\n");
        }
        self.write("results.md", &self.text)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        let path = self.folder.join(name);
        std::fs::write(&path, text).map_err(|error| Error::File(path.display().to_string(), error))
    }
}
