//! What tells the operator: every queue, table and function has what watches it, and every alarm has its page in the
//! runbook.

use std::collections::BTreeSet;
use std::process::Command;

use local::builder::workspace;
use serde_json::{Value, json};
use shared::store::chats::deliveries::Backlog;

use crate::template::{Resource, TEMPLATE, consumers, functions, resources};

fn alarms() -> impl Iterator<Item = Resource> {
    resources("AWS::CloudWatch::Alarm")
}

/// The resources or words that the alarm's dimensions name.
fn dimensions(alarm: &Value) -> Vec<String> {
    let word = |value: &Value| match (value, &value["!Ref"], &value["!GetAtt"]) {
        (Value::String(text), ..) | (_, Value::String(text), _) => text.clone(),
        (.., attribute) => attribute.as_str().unwrap().split('.').next().unwrap().to_owned(),
    };
    let dimensions = alarm["Dimensions"].as_array().into_iter().flatten();
    dimensions.map(|dimension| word(&dimension["Value"])).collect()
}

/// The alarms on this metric of this resource.
fn on(metric: &str, resource: &str) -> Vec<&'static Value> {
    let is_on = |alarm: &Value| alarm["MetricName"] == metric && dimensions(alarm).iter().any(|word| word == resource);
    alarms().map(|(_, alarm)| alarm).filter(|alarm| is_on(alarm)).collect()
}

#[test]
fn every_queue_is_watched_for_dead_letters_and_for_its_age() {
    for (queue, ..) in consumers() {
        let properties = &TEMPLATE["Resources"][queue]["Properties"];
        let letters = crate::template::target(&properties["RedrivePolicy"]["deadLetterTargetArn"]);
        let [alarm] = on("ApproximateNumberOfMessagesVisible", letters)[..] else { panic!("{letters}: not one alarm") };
        assert_eq!((&alarm["ComparisonOperator"], &alarm["Threshold"]), (&json!("GreaterThanThreshold"), &json!(0)));
        assert_eq!(on("ApproximateAgeOfOldestMessage", queue).len(), 1, "{queue}");
    }
}

#[test]
fn every_function_that_nobody_waits_for_is_watched_and_the_api_is_for_the_others() {
    for (name, properties) in functions() {
        let events = properties["Events"].as_object().unwrap().values();
        let is_called = events.clone().any(|event| event["Type"] == "HttpApi");
        assert_eq!(on("Errors", name).len(), usize::from(!is_called), "{name}");
        let is_scheduled = events.clone().any(|event| event["Type"] == "Schedule");
        assert_eq!(on("Invocations", name).len(), usize::from(is_scheduled), "{name}: a clock may stand still");
    }
    assert_eq!(on("5xx", "Api").len(), 1);
}

#[test]
fn every_target_is_watched_for_deliveries_that_run_out_of_tries() {
    for target in ["channel", "bot", "webhook"] {
        let [alarm] = on("Deliveries", target)[..] else { panic!("{target}: not one alarm") };
        assert_eq!(alarm["Namespace"], "Switchboard");
        assert_eq!(dimensions(alarm), ["AWS::StackName", target, "failed"]);
    }
}

#[test]
fn every_backlog_is_watched_for_its_age() {
    for backlog in [Backlog::Deliveries, Backlog::IdleChecks] {
        let [alarm] = on("BacklogAge", backlog.name())[..] else { panic!("{backlog:?}: not one alarm") };
        assert_eq!((&alarm["Namespace"], &alarm["Statistic"]), (&json!("Switchboard"), &json!("Maximum")));
        assert_eq!(dimensions(alarm), ["AWS::StackName", backlog.name()]);
    }
}

#[test]
fn every_alarm_is_told_and_leads_to_its_section_of_the_runbook() {
    let runbook = std::fs::read_to_string(workspace().join("docs/runbook.md")).unwrap();
    let sections: BTreeSet<_> = runbook.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    for (name, alarm) in alarms() {
        let description = alarm["AlarmDescription"].as_str().unwrap();
        let (_, section) = description.split_once("See docs/runbook.md, ").unwrap_or_else(|| panic!("{name}"));
        assert!(sections.contains(section.trim_end_matches('.')), "{name}: {section}");
        assert!(runbook.contains(&format!("`{name}`")), "{name} is not in the runbook");
        for notifications in ["AlarmActions", "OKActions"] {
            assert_eq!(alarm[notifications], json!([{"!Ref": "AlarmTopic"}]), "{name}");
        }
        // Nothing is written when nobody writes; only clocks never rest.
        let silence = if alarm["MetricName"] == "Invocations" { "breaching" } else { "notBreaching" };
        assert_eq!(alarm["TreatMissingData"], silence, "{name}");
    }
    assert!(alarms().count() > 10);
}

#[test]
fn a_table_that_outlives_the_stack_can_be_recovered_and_the_logs_end() {
    let mut kept = BTreeSet::new();
    for (name, table) in resources("AWS::DynamoDB::Table") {
        let resource = &TEMPLATE["Resources"][name];
        let is_kept = resource["DeletionPolicy"] == "RetainExceptOnCreate";
        assert_eq!(resource["UpdateReplacePolicy"] == "Retain", is_kept, "{name}");
        let recovery = &table["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"];
        assert_eq!(*recovery == true, is_kept, "{name}");
        kept.extend(is_kept.then_some(name));
    }
    assert_eq!(kept, BTreeSet::from(["Chats", "Directory"]));
    for (name, group) in resources("AWS::Logs::LogGroup") {
        assert_eq!(group["RetentionInDays"], json!({"!Ref": "LogRetentionDays"}), "{name}");
    }
}

#[test]
fn the_dashboard_is_json_and_shows_what_is_counted() {
    let (_, dashboard) = resources("AWS::CloudWatch::Dashboard").next().unwrap();
    let body: Value = serde_json::from_str(dashboard["DashboardBody"]["!Sub"].as_str().unwrap()).unwrap();
    let body = body.to_string();
    for metric in ["Deliveries", "DeliveryAge", "BotFallbacks", "RateLimited"] {
        assert!(body.contains(metric), "{metric}");
    }
    let mut rest = body.as_str();
    while let Some((_, after)) = rest.split_once("${") {
        let (name, after) = after.split_once('}').unwrap();
        let resource = name.split('.').next().unwrap();
        assert!(name.starts_with("AWS::") || TEMPLATE["Resources"][resource].is_object(), "{name}");
        rest = after;
    }
}

#[test]
fn a_staged_rollout_adds_an_alias_and_a_release_and_nothing_else() {
    let run = |kind: &str| Command::new(workspace().join("infra/rollout")).arg(kind).output().unwrap();
    let staged = run("Canary10Percent5Minutes");
    assert!(staged.status.success());
    let staged = String::from_utf8(staged.stdout).unwrap();
    let template = std::fs::read_to_string(workspace().join("template.yaml")).unwrap();
    let before: Vec<&str> = template.lines().collect();
    let mut rest = before.iter().peekable();
    let added: Vec<&str> = staged.lines().filter(|line| rest.next_if(|next| **next == *line).is_none()).collect();
    assert!(rest.next().is_none(), "a line of the template is missing");
    let (release, settings) = added.split_last().unwrap();
    let (settings, turns_back) = settings.split_at(4);
    let expected = [
        "    AutoPublishAlias: live",
        "    DeploymentPreference:",
        "      Type: Canary10Percent5Minutes",
        "      Alarms:",
    ];
    assert_eq!(settings, expected);
    let of_errors = |alarm: &Value| alarm["MetricName"] == "Errors" || alarm["MetricName"] == "5xx";
    let named = |(name, alarm): Resource| match alarm["AlarmName"]["!Sub"].as_str() {
        Some(name) => format!("        - !Sub {name}"),
        None => format!("        - !Ref {name}"),
    };
    let of_errors = alarms().filter(|(_, alarm)| of_errors(alarm)).map(named);
    assert_eq!(turns_back.iter().map(ToString::to_string).collect::<BTreeSet<_>>(), of_errors.collect());
    assert!(release.starts_with("        RELEASE: 20"), "{release}");
    assert!(!run("Everywhere").status.success());
}
