//! The tables that are printed, in Markdown.

use std::fmt::{self, Display, Formatter};
use std::{fs, io};

use local::Host;
use local::builder::workspace;

use crate::counts::{Counts, total};
use crate::paths::{Path, Tally};
use crate::prices::{
    ALARM, DASHBOARD, DYNAMODB_READ, DYNAMODB_WRITE, HTTP_REQUEST, LAMBDA_GB_SECOND, LAMBDA_REQUEST, LOG_GB, METRIC,
    SOCKET_MESSAGE, SOCKET_MINUTE, SQS_FAIR, SQS_FIFO,
};
use crate::workload::{Assumed, MINUTES, Workload};

const MILLION: f64 = 1_000_000.0;
const GB: f64 = 1_000_000_000.0;
/// Requests a minute of one long poll of 20 s.
const POLLS_A_MINUTE: f64 = 3.0;

/// What a stack has whether anybody writes or not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// FIFO queues that functions wait on.
    pub fifo: f64,
    /// Standard queues that functions wait on.
    pub fair: f64,
    /// Alarms.
    pub alarms: f64,
    /// Dashboards.
    pub dashboards: f64,
}

impl Standing {
    /// That of a host and of the template that it serves.
    ///
    /// # Errors
    /// The template cannot be read.
    pub fn of(host: &Host) -> io::Result<Self> {
        let queues = |fifo| host.polled().iter().map(|queue| f64::from(queue.ends_with(".fifo") == fifo)).sum();
        // The host passes over what means nothing on one machine.
        let template = fs::read_to_string(workspace().join("template.yaml"))?;
        let resources = |kind: &str| {
            let lines = template.lines().filter(|line| line.strip_prefix("    Type: ") == Some(kind));
            lines.map(|_| 1.0).sum()
        };
        Ok(Self {
            fifo: queues(true),
            fair: queues(false),
            alarms: resources("AWS::CloudWatch::Alarm"),
            dashboards: resources("AWS::CloudWatch::Dashboard"),
        })
    }
}

/// Something with a price.
struct Line {
    service: &'static str,
    amount: f64,
    price: f64,
}

impl Line {
    fn dollars(&self) -> f64 {
        self.amount * self.price
    }
}

fn lines(uses: Counts, assumed: &Assumed) -> Vec<Line> {
    let seconds = (uses.invocations * assumed.function_ms + uses.deliveries * assumed.receiver_ms) / 1_000.0;
    let line = |service, amount, price| Line { service, amount, price };
    vec![
        line("API Gateway: requests", uses.requests, HTTP_REQUEST),
        line("Lambda: invocations", uses.invocations, LAMBDA_REQUEST),
        line("Lambda: GB-seconds", seconds * f64::from(assumed.memory) / 1_024.0, LAMBDA_GB_SECOND),
        line("DynamoDB: read units", uses.read_units, DYNAMODB_READ),
        line("DynamoDB: write units", uses.write_units, DYNAMODB_WRITE),
        line("SQS: requests, FIFO", uses.fifo, SQS_FIFO),
        line("SQS: requests, retries", uses.fair, SQS_FAIR),
        line("CloudWatch: GB of logs", uses.invocations * assumed.log_bytes / GB, LOG_GB),
    ]
}

fn dollars(uses: Counts, assumed: &Assumed) -> f64 {
    lines(uses, assumed).iter().map(Line::dollars).sum()
}

/// Everything that is printed: the paths, a million messages by service, and what stands ready.
pub fn tables(workload: &Workload, tally: &Tally, standing: Standing) -> [String; 3] {
    let assumed = &workload.assumed;
    [paths(tally, assumed), services(workload, tally), ready(tally, standing, assumed)]
}

/// What each path uses, and what a million of it costs.
fn paths(tally: &Tally, assumed: &Assumed) -> String {
    let mut table = String::from(
        "| path | function | reads | writes | queue requests | read units | write units | $ per million |\n\
         |---|---|--:|--:|--:|--:|--:|--:|\n",
    );
    for (path, bill) in tally {
        let mut label = path.label();
        for (function, uses) in bill {
            let Counts { reads, writes, fifo, fair, read_units, write_units, .. } = uses;
            let (queue, price) = (fifo + fair, Dollars(dollars(*uses, assumed) * MILLION));
            let row = format!(
                "| {label} | {function} | {reads} | {writes} | {queue} | {read_units} | {write_units} | {price} |\n"
            );
            table.push_str(&row);
            label = "";
        }
    }
    table
}

/// What a month of the workload costs, by service, for each million of its messages.
fn services(workload: &Workload, tally: &Tally) -> String {
    let messages = f64::from(workload.messages);
    let sockets = f64::from(workload.sockets);
    let pushed = if workload.sockets > 0 { messages } else { 0.0 };
    let mut lines = lines(workload.uses(tally), &workload.assumed);
    lines.push(Line { service: "API Gateway: socket messages", amount: pushed, price: SOCKET_MESSAGE });
    lines.push(Line { service: "API Gateway: socket minutes", amount: sockets * MINUTES, price: SOCKET_MINUTE });
    lines.retain(|line| line.amount > 0.0);
    let share = MILLION / messages.max(1.0);
    let mut table = String::from("| service | amount | list price | $ per million messages |\n|---|--:|--:|--:|\n");
    for line in &lines {
        let (amount, price) = (Amount(line.amount * share), Price(line.price));
        table.push_str(&format!("| {} | {amount} | {price} | {} |\n", line.service, Dollars(line.dollars() * share)));
    }
    let whole: f64 = lines.iter().map(Line::dollars).sum();
    table.push_str(&format!("| **all** | | | **{}** |\n", Dollars(whole * share)));
    table
}

/// What a month costs whatever is written in it.
fn ready(tally: &Tally, standing: Standing, assumed: &Assumed) -> String {
    let Standing { fifo, fair, alarms, dashboards } = standing;
    let clocks = tally.get(&Path::Idle).map(total).unwrap_or_default() * MINUTES;
    let polls = f64::from(assumed.pollers) * POLLS_A_MINUTE * MINUTES;
    let rows = [
        ("functions that run every minute".to_owned(), dollars(clocks, assumed)),
        (format!("Lambda's polls of {} queues", fifo + fair), polls * (fifo * SQS_FIFO + fair * SQS_FAIR)),
        (format!("{alarms} alarms"), alarms * ALARM),
        (format!("{dashboards} dashboard"), dashboards * DASHBOARD),
        (format!("{} metrics of deliveries, once there are some", assumed.metrics), assumed.metrics * METRIC),
    ];
    let mut table = String::from("| each month | $ |\n|---|--:|\n");
    for (what, price) in rows {
        table.push_str(&format!("| {what} | {} |\n", Dollars(price)));
    }
    table
}

struct Dollars(f64);

impl Display for Dollars {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{:.2}", self.0)
    }
}

/// A price as lists have it: of one, or of a million when one costs less than a thousandth of a cent.
struct Price(f64);

impl Display for Price {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if self.0 < 0.000_01 {
            write!(out, "{} a million", (self.0 * MILLION * 1_000.0).round() / 1_000.0)
        } else {
            write!(out, "{}", self.0)
        }
    }
}

struct Amount(f64);

impl Display for Amount {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if self.0 < 1_000.0 { write!(out, "{:.2}", self.0) } else { write!(out, "{:.0}", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Bill;

    const ASSUMED: Assumed =
        Assumed { memory: 512, function_ms: 10.0, receiver_ms: 190.0, log_bytes: 1_000.0, pollers: 2, metrics: 4.0 };

    fn tally(path: Path, uses: Counts) -> Tally {
        Tally::from([(path, Bill::from([("function".to_owned(), uses)]))])
    }

    /// A delivery that an HTTP request started, with round numbers.
    fn uses() -> Counts {
        Counts {
            requests: 1.0,
            deliveries: 1.0,
            invocations: 2.0,
            reads: 1.0,
            writes: 1.0,
            read_units: 8.0,
            write_units: 8.0,
            fifo: 2.0,
            fair: 4.0,
        }
    }

    #[test]
    fn a_path_has_its_price() {
        // 1.00 + 2 x 0.20 + 0.21 s x 0.5 GB x 13.3334 + 8 x 0.125 + 8 x 0.625 + 6 x 0.50 + 2 KB x 0.50
        let table = paths(&tally(Path::Status, uses()), &ASSUMED);
        assert!(table.ends_with("\n| status | function | 1 | 1 | 6 | 8 | 8 | 12.80 |\n"), "{table}");
    }

    #[test]
    fn a_month_without_messages_costs_what_stands_ready() {
        let idle = Counts { invocations: 1.0, ..Counts::default() };
        let standing = Standing { fifo: 2.0, fair: 1.0, alarms: 20.0, dashboards: 1.0 };
        let table = ready(&tally(Path::Idle, idle), standing, &ASSUMED);
        // 43,800 x (0.20 + 0.01 s x 0.5 GB x 13.3334 + 1 KB x 0.50), and 3 x 2 x 3 x 43,800 x 0.50, a million
        let calls = "| 0.03 |\n| Lambda's polls of 3 queues | 0.39 |\n";
        let watch =
            "| 20 alarms | 2.00 |\n| 1 dashboard | 3.00 |\n| 4 metrics of deliveries, once there are some | 1.20 |\n";
        assert!(table.ends_with(&[calls, watch].concat()), "{table}");
    }

    #[test]
    fn numbers_are_shown_as_lists_have_them() {
        for (shown, expected) in [
            (Price(HTTP_REQUEST).to_string(), "1 a million"),
            (Price(DYNAMODB_READ).to_string(), "0.125 a million"),
            (Price(LAMBDA_GB_SECOND).to_string(), "0.0000133334"),
            (Price(LOG_GB).to_string(), "0.5"),
            (Amount(0.756).to_string(), "0.76"),
            (Amount(1_234_567.4).to_string(), "1234567"),
            (Dollars(4.049).to_string(), "4.05"),
        ] {
            assert_eq!(shown, expected);
        }
    }
}
