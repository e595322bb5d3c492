//! Measures cold starts: the time from the start of a process to its first response.

use std::time::Duration;

use crate::arguments::Arguments;
use crate::error::Error;
use crate::fixture::{BenchHost, OpenChats};
use crate::measures::programs::programs;
use crate::plot::{Bars, Plot};
use crate::progress;
use crate::report::{Section, Table};
use crate::statistics::Spread;

const STARTS_PER_ROUND: u64 = 10;

const UNREACHABLE_RECEIVER: &str = "http://127.0.0.1:9/";

/// The durations of one program's starts: until the process asked for an event, and until it responded.
#[derive(Default)]
struct Starts {
    ready: Vec<Duration>,
    answered: Vec<Duration>,
}

pub(super) async fn run(arguments: &Arguments) -> Result<Section, Error> {
    let bench = BenchHost::start(arguments, Duration::ZERO).await?;
    let chats = OpenChats::create(&bench.driver().await?, "cold", UNREACHABLE_RECEIVER, 20).await?;
    let (tables, programs) = (bench.host.tables_url("bench"), programs(arguments)?);
    let mut starts = programs.each_ref().map(|_| Starts::default());
    for round in 0..u64::from(arguments.rounds) {
        progress(&format!("  round {} of {}", round + 1, arguments.rounds));
        for (program, starts) in programs.iter().zip(&mut starts) {
            for start in 0..STARTS_PER_ROUND {
                let event = chats.visitor_event(chats.nth(start), "Good morning");
                let mut process = program.start(&tables).await?;
                let (ready, answered) = process.first_answer(event).await?;
                starts.ready.push(ready);
                starts.answered.push(answered);
                process.stop().await?;
            }
        }
    }
    bench.host.stop().await;
    let spreads: Vec<_> =
        programs.iter().map(|program| program.label.to_owned()).zip(starts.iter().map(spreads)).collect();
    Ok(section(&spreads, u64::from(arguments.rounds) * STARTS_PER_ROUND))
}

fn spreads(starts: &Starts) -> (Spread, Spread) {
    (Spread::of_milliseconds(&starts.ready), Spread::of_milliseconds(&starts.answered))
}

fn section(spreads: &[(String, (Spread, Spread))], starts: u64) -> Section {
    let mut table = Table::new(&["program", "until ready, ms", "until the first answer, ms", "factor"]);
    let ours = spreads.first().map_or(f64::NAN, |(_, (_, answered))| answered.median);
    for (label, (ready, answered)) in spreads {
        let factor = format!("{:.1}", answered.median / ours);
        table.add([label.clone(), ready.to_string(), answered.to_string(), factor]);
    }
    let bars = spreads.iter().map(|(label, (_, answered))| (label.clone(), *answered)).collect();
    let title = "Cold start: milliseconds until the first answer".to_owned();
    Section {
        title: "Cold start",
        description: format!(
            "{starts} starts of each program, in turn, with the files in the page cache. The event is a visitor's text \
             in an open chat: five requests to the tables. `channel-receive-message` makes one more before it is ready."
        ),
        table,
        plots: vec![("cold-start", Plot::Bars(Bars { title, bars }))],
    }
}
