//! Formats a load as tables in Markdown.

use crate::Options;
use crate::operation::{KeyFamily, Operation, Queue};
use crate::simulation::{BusiestKey, GatewayLoad, KeyLoad, Load, QueueLoad, READ_LIMIT, WRITE_LIMIT};

/// The number of requests a second that API Gateway accepts for all APIs of an AWS account together, unless the quota
/// is raised.
const GATEWAY_LIMIT: f64 = 10_000.0;

pub fn report(options: &Options, load: &Load) -> String {
    let Options { rate, accounts, skew, seconds, .. } = options;
    let share = 100.0 * load.largest_share;
    format!(
        "{rate} messages a second of {accounts} accounts (skew {skew}) for {seconds} seconds; the largest account has \
         {share:.1} % of them.\n\n{}\n{}\n{}\n{}",
        mix_table(),
        key_table(load),
        queue_table(options, load),
        gateway_table(load)
    )
}

fn mix_table() -> String {
    let rows = Operation::ALL.map(|op| format!("| {} | {} |\n", op.name(), op.per_hundred_messages()));
    format!("| operation | per 100 messages |\n|---|--:|\n{}", rows.concat())
}

/// Returns a table of the busiest key of each family, sorted by the share of the limit that it uses, largest first.
pub fn key_table(load: &Load) -> String {
    let mut rows: Vec<(KeyFamily, &BusiestKey)> = load.families.iter().map(|(family, key)| (*family, key)).collect();
    rows.sort_by(|(_, one), (_, other)| other.load.share_of_limit().total_cmp(&one.load.share_of_limit()));
    let rows = rows.iter().map(|(family, BusiestKey { load, keys, .. })| {
        let KeyLoad { reads, writes } = load;
        let (write_percent, read_percent) = (100.0 * writes / WRITE_LIMIT, 100.0 * reads / READ_LIMIT);
        let name = family_name(*family);
        format!("| {name} | {keys} | {writes:.1} | {write_percent:.1} | {reads:.1} | {read_percent:.1} |\n")
    });
    let head = "| keys | number | writes/s of the busiest | % of 1,000 | reads/s of the busiest | % of 3,000 |";
    format!("{head}\n|---|--:|--:|--:|--:|--:|\n{}", rows.collect::<String>())
}

/// Returns a table of the load of each FIFO queue. The last column is the share of the time in which an attempt of the
/// busiest message group is in progress.
pub fn queue_table(options: &Options, load: &Load) -> String {
    let rows = load.queues.iter().map(|(queue, queue_load)| {
        let QueueLoad { tasks, account_tasks, group_tasks, attempt_seconds, .. } = queue_load;
        let groups = f64::from(options.first_attempts_per_account);
        let (processes, account_processes) = (tasks * attempt_seconds, account_tasks * attempt_seconds);
        let account_percent = 100.0 * account_processes / groups;
        let group_percent = 100.0 * group_tasks * attempt_seconds;
        let name = queue_name(*queue);
        format!(
            "| {name} | {tasks:.1} | {processes:.1} | {account_tasks:.1} | {account_percent:.1} | {group_tasks:.2} | \
             {group_percent:.1} |\n"
        )
    });
    let head = "| FIFO queue | first attempts/s | processes | of the busiest account/s | % of its groups | of the busiest \
                group/s | % of its time |";
    format!("{head}\n|---|--:|--:|--:|--:|--:|--:|\n{}", rows.collect::<String>())
}

/// Returns a table of the load of API Gateway. Its limit applies to the sum of the requests and the frames.
pub fn gateway_table(load: &Load) -> String {
    let GatewayLoad { requests, own_frames, frames, account_frames } = load.gateway;
    let percent = 100.0 * (requests + frames) / GATEWAY_LIMIT;
    let head = "| requests of clients/s | frames to agents/s | of own chats | of the busiest account/s | % of 10,000 |";
    format!(
        "{head}\n|--:|--:|--:|--:|--:|\n| {requests:.1} | {frames:.0} | {own_frames:.0} | {account_frames:.0} | \
         {percent:.0} |\n"
    )
}

fn queue_name(queue: Queue) -> &'static str {
    match queue {
        Queue::Channel => "ChannelQueue",
        Queue::Bot => "BotQueue",
    }
}

/// Returns the name of the family's table or index, and the format of the keys.
fn family_name(family: KeyFamily) -> &'static str {
    match family {
        KeyFamily::Chat => "Chats `CHAT#<account>#<number>`",
        KeyFamily::Visitor => "Chats `VISITOR#<channel>#<hash>`",
        KeyFamily::VisitorNumber => "Chats `VISITOR_NUMBER#<account>#<number>`",
        KeyFamily::Counters => "Chats `COUNTERS#<account>`",
        KeyFamily::OpenedChats => "Chats `OPENED_CHATS#<channel>`",
        KeyFamily::Report => "Chats `REPORT#<account>`",
        KeyFamily::ReportItem => "one item of `REPORT#<account>`",
        KeyFamily::ListingBot => "listing `<account>#bot`",
        KeyFamily::ListingWaiting => "listing `<account>#waiting`",
        KeyFamily::ListingActive => "listing `<account>#active`",
        KeyFamily::ListingClosed => "listing `<account>#closed`",
        KeyFamily::PendingDeliveries => "due `<0 to 31>`",
        KeyFamily::IdleChecks => "due `idle#<0 to 31>`",
        KeyFamily::ClosedChats => "due `<account>#closed`",
        KeyFamily::Sessions => "Connections `AGENT#<account>#<number>`",
        KeyFamily::Presence => "Connections `PRESENCE#<account>`",
        KeyFamily::AccountSockets => "Connections `SOCKETS#<account>`",
        KeyFamily::Subscribers => "Connections `SUBSCRIBERS#<account>`",
        KeyFamily::AgentSubscribers => "Connections `AGENT_SUBSCRIBERS#<account>#<number>`",
        KeyFamily::ChatSubscribers => "Connections `CHAT_SUBSCRIBERS#<account>#<number>`",
        KeyFamily::ChangedChats => "Connections `CHANGED_CHATS#<account>`",
        KeyFamily::BotRequests => "Connections `RATE#<bot>`",
        KeyFamily::Settings => "Directory `ACCOUNT#<account>`",
        KeyFamily::Channel => "Directory `CHANNEL#<id>`",
        KeyFamily::Provider => "Directory `PROVIDER#<id>`",
    }
}

#[cfg(test)]
mod tests {
    use crate::simulation::simulate;

    use super::*;

    #[test]
    fn scaling_page_contains_the_tables_of_the_default_options() {
        let options = Options::default();
        let load = simulate(&options);
        let page = include_str!("../../../docs/scaling.md");
        for table in [key_table(&load), queue_table(&options, &load), gateway_table(&load)] {
            assert!(page.contains(&table), "docs/scaling.md differs from this table:\n{table}");
        }
    }

    #[test]
    fn report_contains_every_operation_family_and_queue() {
        let options = Options { rate: 100, seconds: 10, accounts: 10, ..Options::default() };
        let load = simulate(&options);
        let report = report(&options, &load);
        for operation in Operation::ALL {
            assert!(report.contains(operation.name()), "{report}");
        }
        assert_eq!(load.families.len(), 25);
        for family in load.families.keys() {
            assert!(report.contains(family_name(*family)), "{report}");
        }
        assert!(report.contains("ChannelQueue") && report.contains("BotQueue"), "{report}");
    }
}
