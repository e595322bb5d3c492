//! One round: an account, its load while faults are injected, the recovery, a calm phase, and the collected evidence.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use local::faults::Generator;
use tokio::time::{Instant, sleep, sleep_until};

use crate::account::{Account, BOT_ANSWER_SECONDS};
use crate::bot::Bot;
use crate::client::ApiClient;
use crate::conversations::Conversations;
use crate::evidence::{Evidence, unfinished_deliveries};
use crate::host_control::HostControl;
use crate::plan::{RoundPlan, SLOT_MS};
use crate::records::Records;

/// How long all deliveries may take to finish after the last fault. The sweep finds a lost task 15 seconds after its
/// delivery was due. A queue redelivers a killed consumer's task after 36 seconds, in the worst case several times.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(240);
const RECOVERY_INTERVAL: Duration = Duration::from_secs(3);
/// The minimum time between the last fault and the calm phase. It is longer than the nine seconds for which a chat's
/// header marks a receiver as failing after a failed attempt.
const FAILING_TIME: Duration = Duration::from_secs(12);

/// For how long a timeline ends before a gap, counted from the first entry after it, and a second for wrong clocks. A
/// killed request leaves such a gap.
const GAP_TIME: Duration = Duration::from_secs(11);

pub async fn run(host: &mut HostControl, seed: u64, number: u64, seconds: u64) -> Evidence {
    let generator = Generator::new(seed).part(&format!("round {number}"));
    let plan = RoundPlan::new(&generator.part("plan"), seconds);
    let records = Records::start();
    let anonymous = ApiClient::new(&host.base_url());
    let faults_before = host.faults();
    let (account, events) =
        Account::create(&anonymous, host.operator_key(), &generator.part("receivers"), &records).await;
    let account = Arc::new(account);
    let bot = Bot {
        client: anonymous.clone(),
        path: account.bot_path.clone(),
        generator: generator.part("bot"),
        records: records.clone(),
    };
    let bot = tokio::spawn(bot.run(events));
    let conversations = Conversations {
        account: Arc::clone(&account),
        anonymous: anonymous.clone(),
        records: records.clone(),
        generator: generator.part("conversations"),
    };

    let deadline = Instant::now() + Duration::from_secs(seconds);
    tokio::join!(conversations.run_until(deadline), inject(host, &plan, seconds));
    account.calm_receivers();
    let calm_since = Instant::now();
    let faults_ended_ms = records.now_ms();
    let mut recovery_problem = recover(host, &account).await;
    sleep_until(calm_since + FAILING_TIME.max(Duration::from_secs(BOT_ANSWER_SECONDS + 3))).await;

    let calm_started_ms = records.now_ms();
    let chats = Evidence::read_chats(&account).await;
    conversations.send_in_order(&chats).await;
    let calm_ended = Instant::now();
    recovery_problem = recovery_problem.or(recover(host, &account).await);
    sleep_until(calm_ended + GAP_TIME).await;
    let mut evidence = Evidence::collect(&account, &records, &host.customer_file()).await;
    evidence.queues = host.queues().await.clone();
    evidence.faults = difference(&host.faults(), &faults_before);
    evidence.recovery_problem = recovery_problem;
    (evidence.faults_ended_ms, evidence.calm_started_ms) = (faults_ended_ms, calm_started_ms);
    drop(conversations);
    bot.abort();
    evidence
}

async fn inject(host: &mut HostControl, plan: &RoundPlan, seconds: u64) {
    let start = Instant::now();
    let at = |ms: u64| start + Duration::from_millis(ms);
    for (slot, faults) in (0_u64..).zip(&plan.slots) {
        host.set_plan(Some(faults.clone())).await;
        let slot_end_ms = ((slot + 1) * SLOT_MS).min(seconds * 1_000);
        for kill_ms in plan.host_kills_ms.iter().filter(|kill_ms| (slot * SLOT_MS..slot_end_ms).contains(kill_ms)) {
            sleep_until(at(*kill_ms)).await;
            host.kill_and_restart().await;
            host.set_plan(Some(faults.clone())).await;
        }
        sleep_until(at(slot_end_ms)).await;
    }
    host.set_plan(None).await;
}

/// Runs the sweep until no delivery is pending or waits for its receiver's return, and all queues except the
/// dead-letter queues are empty. Returns what is still pending after the timeout, or `None` if everything recovers in
/// time.
async fn recover(host: &mut HostControl, account: &Account) -> Option<String> {
    let deadline = Instant::now() + RECOVERY_TIMEOUT;
    loop {
        let queues = host.sweep().await.clone();
        let waiting: Vec<_> = queues.iter().filter(|(name, _)| !name.contains("DeadLetter")).collect();
        let pending = unfinished_deliveries(&account.admin.client).await;
        if waiting.is_empty() && pending.is_empty() {
            return None;
        }
        if Instant::now() >= deadline {
            return Some(format!("after {RECOVERY_TIMEOUT:?}: queues {waiting:?}, pending {pending:?}"));
        }
        sleep(RECOVERY_INTERVAL).await;
    }
}

fn difference(after: &BTreeMap<String, u64>, before: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let less = |(name, count): (&String, &u64)| (name.clone(), count - before.get(name).unwrap_or(&0));
    after.iter().map(less).filter(|(_, count)| *count > 0).collect()
}
