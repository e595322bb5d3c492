//! Describes the machine and the commit, so that figures can be compared.

use std::process::Command;
use std::thread::available_parallelism;

/// Returns a line such as `2 x Intel Xeon, 24 GiB, Linux 6.1; commit 1a2b3c4`.
pub(crate) fn description() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let (cpu, memory) = (read("/proc/cpuinfo"), read("/proc/meminfo"));
    let value = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let cores = available_parallelism().map_or(0, std::num::NonZero::get);
    let model = value(&cpu, "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let kilobytes = value(&memory, "MemTotal").and_then(|total| total.trim_end_matches(" kB").parse::<f64>().ok());
    let gigabytes = kilobytes.unwrap_or_default() / (1024.0 * 1024.0);
    let kernel = read("/proc/sys/kernel/osrelease");
    format!("{cores} x {model}, {gigabytes:.0} GiB, Linux {}; commit {}", kernel.trim(), commit())
}

/// Returns the abbreviated commit, and whether the working copy differs from it.
fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output =
            Command::new("git").args(arguments).current_dir(local::cargo_build::workspace_root()).output().ok();
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
    };
    let changes = if git(&["status", "--porcelain"]).is_empty() { "" } else { " with local changes" };
    format!("{}{changes}", git(&["rev-parse", "--short", "HEAD"]))
}
