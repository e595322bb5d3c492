//! Computes the costs from the counted usage and the prices, and formats them as Markdown tables.

use std::fmt::{self, Display, Formatter};
use std::{fs, io};

use local::Host;
use local::cargo_build::workspace_root;

use crate::function_usage::{Usage, total};
use crate::measured_operations::{Scenario, ScenarioUsage};
use crate::monthly_workload::{Assumptions, MINUTES_PER_MONTH, Workload};
use crate::prices::{
    ALARM, DASHBOARD, DYNAMODB_READ, DYNAMODB_WRITE, HTTP_REQUEST, LAMBDA_GB_SECOND, LAMBDA_REQUEST, LOG_GB, METRIC,
    SOCKET_MESSAGE, SOCKET_MINUTE, SQS_FAIR, SQS_FIFO,
};

const MILLION: f64 = 1_000_000.0;
const GB: f64 = 1_000_000_000.0;
/// The number of requests that one poller makes in a minute. Each request is a 20-second long poll.
const LONG_POLLS_PER_MINUTE: f64 = 3.0;

/// The numbers of a stack's resources whose cost does not depend on the traffic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FixedResources {
    /// The number of FIFO queues that Lambda polls.
    pub fifo_queues: f64,
    /// The number of standard queues that Lambda polls.
    pub retry_queues: f64,
    pub alarm_metrics: f64,
    pub dashboards: f64,
}

impl FixedResources {
    /// Counts the queues of the host, and the alarm metrics and dashboards in `template.yaml`.
    pub fn of(host: &Host) -> io::Result<Self> {
        let queues =
            |fifo| host.consumed_queues().iter().map(|queue| f64::from(queue.ends_with(".fifo") == fifo)).sum();
        // Alarms and dashboards are counted in the template's text, because the host ignores them.
        let template = fs::read_to_string(workspace_root().join("template.yaml"))?;
        let count = |matches: &dyn Fn(&str) -> bool| template.lines().filter(|line| matches(line)).map(|_| 1.0).sum();
        Ok(Self {
            fifo_queues: queues(true),
            retry_queues: queues(false),
            // Metrics are counted rather than alarms, because an alarm is charged for each of its metrics.
            alarm_metrics: count(&|line| line.starts_with("      MetricName: ") || line.contains(" MetricStat: ")),
            dashboards: count(&|line| line == "    Type: AWS::CloudWatch::Dashboard"),
        })
    }
}

struct PriceLine {
    service: &'static str,
    amount: f64,
    price: f64,
}

impl PriceLine {
    fn dollars(&self) -> f64 {
        self.amount * self.price
    }
}

fn lines(usage: Usage, assumptions: &Assumptions) -> Vec<PriceLine> {
    let ms = usage.invocations * assumptions.function_ms + usage.deliveries * assumptions.receiver_ms;
    let seconds = (ms + usage.pushes * assumptions.push_ms) / 1_000.0;
    let line = |service, amount, price| PriceLine { service, amount, price };
    vec![
        line("API Gateway: requests", usage.requests, HTTP_REQUEST),
        line("Lambda: invocations", usage.invocations + usage.pushes, LAMBDA_REQUEST),
        line("Lambda: GB-seconds", seconds * f64::from(assumptions.memory) / 1_024.0, LAMBDA_GB_SECOND),
        line("DynamoDB: read units", usage.read_units, DYNAMODB_READ),
        line("DynamoDB: write units", usage.write_units, DYNAMODB_WRITE),
        line("SQS: requests, FIFO", usage.fifo_queue_requests, SQS_FIFO),
        line("SQS: requests, retries", usage.retry_queue_requests, SQS_FAIR),
        line("CloudWatch: GB of logs", usage.invocations * assumptions.log_bytes / GB, LOG_GB),
        line("API Gateway: socket messages", usage.socket_messages, SOCKET_MESSAGE),
    ]
}

fn dollars(usage: Usage, assumptions: &Assumptions) -> f64 {
    lines(usage, assumptions).iter().map(PriceLine::dollars).sum()
}

/// Returns the tables to print: the cost of each scenario, the cost of each service, and the fixed cost.
pub fn tables(workload: &Workload, usage: &ScenarioUsage, fixed_resources: FixedResources) -> [String; 3] {
    let assumptions = &workload.assumptions;
    [scenarios(usage, assumptions), services(workload, usage), fixed_costs(usage, fixed_resources, assumptions)]
}

/// Lists the usage of each function in each scenario, and the function's cost if the scenario runs a million times.
fn scenarios(usage: &ScenarioUsage, assumptions: &Assumptions) -> String {
    let mut table = String::from(
        "| scenario | function | round trips | reads | writes | queue requests | read units | write units | $ per million |\n\
         |---|---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (scenario, functions) in usage {
        let mut label = scenario.label();
        for (function, usage) in functions {
            let Usage { round_trips, reads, writes, read_units, write_units, .. } = usage;
            let queue_requests = usage.fifo_queue_requests + usage.retry_queue_requests;
            let price = Dollars(dollars(*usage, assumptions) * MILLION);
            let row = format!(
                "| {label} | {function} | {round_trips} | {reads} | {writes} | {queue_requests} | {read_units} | {write_units} | {price} |\n"
            );
            table.push_str(&row);
            label = "";
        }
    }
    table
}

/// Lists each service's cost for a month of the workload, scaled to a million messages.
fn services(workload: &Workload, usage: &ScenarioUsage) -> String {
    let messages = f64::from(workload.messages);
    let sockets = f64::from(workload.sockets);
    let mut lines = lines(workload.monthly_usage(usage), &workload.assumptions);
    let pushes = workload.monthly_push_usage(usage);
    let without_messages = Usage { socket_messages: 0.0, ..pushes };
    lines.push(PriceLine {
        service: "Pushes: invocations of `deliver-push` and their reads",
        amount: pushes.pushes,
        price: dollars(without_messages, &workload.assumptions) / pushes.pushes,
    });
    let service = "API Gateway: socket messages";
    lines.push(PriceLine { service, amount: pushes.socket_messages, price: SOCKET_MESSAGE });
    lines.push(PriceLine {
        service: "API Gateway: socket minutes",
        amount: sockets * MINUTES_PER_MONTH,
        price: SOCKET_MINUTE,
    });
    lines.retain(|line| line.amount > 0.0);
    let per_million = MILLION / messages.max(1.0);
    let mut table = String::from("| service | amount | list price | $ per million messages |\n|---|--:|--:|--:|\n");
    for line in &lines {
        let (amount, price) = (Amount(line.amount * per_million), ListPrice(line.price));
        table.push_str(&format!(
            "| {} | {amount} | {price} | {} |\n",
            line.service,
            Dollars(line.dollars() * per_million)
        ));
    }
    let total_dollars: f64 = lines.iter().map(PriceLine::dollars).sum();
    table.push_str(&format!("| **all** | | | **{}** |\n", Dollars(total_dollars * per_million)));
    table
}

fn fixed_costs(usage: &ScenarioUsage, fixed_resources: FixedResources, assumptions: &Assumptions) -> String {
    let FixedResources { fifo_queues, retry_queues, alarm_metrics, dashboards } = fixed_resources;
    let schedules = usage.get(&Scenario::IdleMinute).map(total).unwrap_or_default() * MINUTES_PER_MONTH;
    let polls = f64::from(assumptions.pollers) * LONG_POLLS_PER_MINUTE * MINUTES_PER_MONTH;
    let rows = [
        ("scheduled functions".to_owned(), dollars(schedules, assumptions)),
        (
            format!("Lambda's polling of {} queues", fifo_queues + retry_queues),
            polls * (fifo_queues * SQS_FIFO + retry_queues * SQS_FAIR),
        ),
        (format!("{alarm_metrics} metrics with an alarm"), alarm_metrics * ALARM),
        (format!("{dashboards} dashboard"), dashboards * DASHBOARD),
        (format!("{} delivery metrics, once they are written", assumptions.metrics), assumptions.metrics * METRIC),
    ];
    let mut table = String::from("| fixed cost | $ per month |\n|---|--:|\n");
    for (item, price) in rows {
        table.push_str(&format!("| {item} | {} |\n", Dollars(price)));
    }
    table
}

struct Dollars(f64);

impl Display for Dollars {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{:.2}", self.0)
    }
}

/// A unit price. A price below a thousandth of a cent is printed per million units.
struct ListPrice(f64);

impl Display for ListPrice {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if self.0 < 0.000_01 {
            write!(out, "{} per million", (self.0 * MILLION * 1_000.0).round() / 1_000.0)
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
    use crate::function_usage::UsageByFunction;

    const ASSUMPTIONS: Assumptions = Assumptions {
        memory: 512,
        function_ms: 10.0,
        push_ms: 4.0,
        receiver_ms: 190.0,
        log_bytes: 1_000.0,
        pollers: 2,
        metrics: 4.0,
    };

    fn usage_of(scenario: Scenario, usage: Usage) -> ScenarioUsage {
        ScenarioUsage::from([(scenario, UsageByFunction::from([("function".to_owned(), usage)]))])
    }

    /// Returns the usage of an HTTP request that triggers a delivery, in round numbers.
    fn sample_usage() -> Usage {
        Usage {
            requests: 1.0,
            deliveries: 1.0,
            invocations: 2.0,
            reads: 1.0,
            writes: 1.0,
            round_trips: 2.0,
            read_units: 8.0,
            write_units: 8.0,
            fifo_queue_requests: 2.0,
            retry_queue_requests: 4.0,
            pushed_changes: 1.0,
            pushes: 0.0,
            socket_messages: 0.0,
        }
    }

    #[test]
    fn pushes_are_priced_without_logs() {
        let push = Usage { pushes: 1.0, reads: 1.0, read_units: 0.5, socket_messages: 2.0, ..Usage::default() };
        // A million runs cost 0.20 + 0.004 s x 0.5 GB x 13.3334 + 0.5 x 0.125 + 2 x 1.00.
        let table = scenarios(&usage_of(Scenario::PushToAgent, push), &ASSUMPTIONS);
        assert!(table.ends_with("| 2.29 |\n"), "{table}");
    }

    #[test]
    fn scenario_is_priced() {
        // A million runs cost 1.00 + 2 x 0.20 + 0.21 s x 0.5 GB x 13.3334 + 8 x 0.125 + 8 x 0.625 + 6 x 0.50
        // + 2 KB x 0.50
        let table = scenarios(&usage_of(Scenario::StatusRequest, sample_usage()), &ASSUMPTIONS);
        assert!(
            table.ends_with("\n| integrator's status request | function | 2 | 1 | 1 | 6 | 8 | 8 | 12.80 |\n"),
            "{table}"
        );
    }

    #[test]
    fn month_without_messages_has_fixed_costs() {
        let idle = Usage { invocations: 1.0, ..Usage::default() };
        let fixed_resources =
            FixedResources { fifo_queues: 2.0, retry_queues: 1.0, alarm_metrics: 20.0, dashboards: 1.0 };
        let table = fixed_costs(&usage_of(Scenario::IdleMinute, idle), fixed_resources, &ASSUMPTIONS);
        // The first two rows, in millionths of a dollar, are 43,800 x (0.20 + 0.01 s x 0.5 GB x 13.3334 + 1 KB x 0.50)
        // and 3 x 2 x 3 x 43,800 x 0.50.
        let functions_and_polls = "| 0.03 |\n| Lambda's polling of 3 queues | 0.39 |\n";
        let monitoring = "| 20 metrics with an alarm | 2.00 |\n| 1 dashboard | 3.00 |\n| 4 delivery metrics, once they are written | 1.20 |\n";
        assert!(table.ends_with(&[functions_and_polls, monitoring].concat()), "{table}");
    }

    #[test]
    fn amounts_and_prices_are_formatted() {
        for (shown, expected) in [
            (ListPrice(HTTP_REQUEST).to_string(), "1 per million"),
            (ListPrice(DYNAMODB_READ).to_string(), "0.125 per million"),
            (ListPrice(LAMBDA_GB_SECOND).to_string(), "0.0000133334"),
            (ListPrice(LOG_GB).to_string(), "0.5"),
            (Amount(0.756).to_string(), "0.76"),
            (Amount(1_234_567.4).to_string(), "1234567"),
            (Dollars(4.049).to_string(), "4.05"),
        ] {
            assert_eq!(shown, expected);
        }
    }
}
