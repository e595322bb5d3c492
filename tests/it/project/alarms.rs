//! Tests for the alarms in template.yaml, each of which must have a section in the runbook. Also tests the backups of
//! the tables, the retention of logs, the dashboard, and the staged rollout.

use std::collections::BTreeSet;
use std::process::Command;

use local::cargo_build::workspace_root;
use serde_json::{Value, json};
use shared::domain::deliveries::delivery::Target;
use shared::domain::named::Named;
use shared::store::chats::delivery::due_index::Backlog;

use crate::project::sam_template::{Resource, TEMPLATE, consumers, events, functions, resources};

fn alarms() -> impl Iterator<Item = Resource> {
    resources("AWS::CloudWatch::Alarm")
}

/// Returns the metrics that an alarm uses: all metrics in its expression, or the alarm itself if it describes a single
/// metric.
fn metrics(alarm: &Value) -> Vec<&Value> {
    match alarm["Metrics"].as_array() {
        Some(metrics) => {
            metrics.iter().map(|metric| &metric["MetricStat"]["Metric"]).filter(|m| m.is_object()).collect()
        }
        None => vec![alarm],
    }
}

/// Returns the values of a metric's dimensions. A reference to a resource is returned as the resource's logical id.
fn dimensions(metric: &Value) -> Vec<String> {
    let dimension_value = |value: &Value| match (value, &value["!Ref"], &value["!GetAtt"]) {
        (Value::String(text), ..) | (_, Value::String(text), _) => text.clone(),
        (.., attribute) => attribute.as_str().unwrap().split('.').next().unwrap().to_owned(),
    };
    let dimensions = metric["Dimensions"].as_array().into_iter().flatten();
    dimensions.map(|dimension| dimension_value(&dimension["Value"])).collect()
}

/// Returns the alarms that watch the metric `name` of `resource`, each with the metric that matched.
fn alarms_for(name: &str, resource: &str) -> Vec<(&'static Value, &'static Value)> {
    let is_for_resource =
        |metric: &Value| metric["MetricName"] == name && dimensions(metric).iter().any(|value| value == resource);
    let all = alarms().flat_map(|(_, alarm)| metrics(alarm).into_iter().map(move |metric| (alarm, metric)));
    all.filter(|(_, metric)| is_for_resource(metric)).collect()
}

#[test]
fn every_queue_has_dead_letter_and_message_age_alarms() {
    for (queue, ..) in consumers() {
        let properties = &TEMPLATE["Resources"][queue]["Properties"];
        let dead_letter_queue =
            crate::project::sam_template::resource_of_arn(&properties["RedrivePolicy"]["deadLetterTargetArn"]);
        let [(alarm, _)] = alarms_for("ApproximateNumberOfMessagesVisible", dead_letter_queue)[..] else {
            panic!("{dead_letter_queue}: expected one alarm")
        };
        assert_eq!((&alarm["ComparisonOperator"], &alarm["Threshold"]), (&json!("GreaterThanThreshold"), &json!(0)));
        assert_eq!(alarms_for("ApproximateAgeOfOldestMessage", queue).len(), 1, "{queue}");
    }
}

#[test]
fn asynchronous_functions_and_the_api_have_error_alarms() {
    for (name, properties) in functions() {
        let is_http_function = events(properties).any(|event| event["Type"] == "HttpApi");
        assert_eq!(alarms_for("Errors", name).len(), usize::from(!is_http_function), "{name}");
        let is_scheduled = events(properties).any(|event| event["Type"] == "Schedule");
        assert_eq!(alarms_for("Invocations", name).len(), usize::from(is_scheduled), "{name}: a schedule may stop");
    }
    assert_eq!(alarms_for("5xx", "Api").len(), 1);
}

#[test]
fn every_target_has_a_failed_deliveries_alarm() {
    for target in Target::ALL.iter().map(|target| target.name()) {
        let [(_, metric)] = alarms_for("Deliveries", target)[..] else { panic!("{target}: expected one alarm") };
        assert_eq!(metric["Namespace"], "Switchboard");
        assert_eq!(dimensions(metric), ["AWS::StackName", target, "failed"]);
    }
}

#[test]
fn every_backlog_has_an_age_alarm() {
    for backlog in [Backlog::Deliveries, Backlog::IdleChecks] {
        let [(alarm, _)] = alarms_for("BacklogAge", backlog.name())[..] else {
            panic!("{backlog:?}: expected one alarm")
        };
        assert_eq!((&alarm["Namespace"], &alarm["Statistic"]), (&json!("Switchboard"), &json!("Maximum")));
        assert_eq!(dimensions(alarm), ["AWS::StackName", backlog.name()]);
    }
}

#[test]
fn slow_messages_and_throttled_tables_raise_an_alarm() {
    for name in ["ChannelReceiveMessage", "WidgetReceiveMessage", "AgentSendMessage", "BotReceiveEvent"] {
        assert_eq!(alarms_for("Duration", name).len(), 1, "{name}");
    }
    for (name, _) in resources("AWS::DynamoDB::Table") {
        for metric in ["ReadThrottleEvents", "WriteThrottleEvents"] {
            assert_eq!(alarms_for(metric, name).len(), 1, "{name}: {metric}");
        }
    }
}

#[test]
fn every_alarm_notifies_and_links_to_its_runbook_section() {
    let runbook = std::fs::read_to_string(workspace_root().join("docs/runbook.md")).unwrap();
    let sections: BTreeSet<_> = runbook.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    for (name, alarm) in alarms() {
        let description = alarm["AlarmDescription"].as_str().unwrap();
        let (_, section) = description.split_once("See docs/runbook.md, ").unwrap_or_else(|| panic!("{name}"));
        assert!(sections.contains(section.trim_end_matches('.')), "{name}: {section}");
        assert!(runbook.contains(&format!("`{name}`")), "{name} is not in the runbook");
        for action in ["AlarmActions", "OKActions"] {
            assert_eq!(alarm[action], json!([{"!Ref": "AlarmTopic"}]), "{name}");
        }
        let expression = alarm["Metrics"][0]["Expression"].as_str().unwrap_or_default();
        for metric in alarm["Metrics"].as_array().into_iter().flatten().skip(1) {
            let id = metric["Id"].as_str().unwrap();
            assert!(expression.contains(&format!("FILL({id}, 0)")), "{name} ignores {id}, or has no value without it");
        }
        // Missing data counts as a failure only for the invocation counts of the scheduled functions, because these
        // functions run even while the service is idle. An idle service has no data for the other metrics.
        let expected = if metrics(alarm).iter().any(|metric| metric["MetricName"] == "Invocations") {
            "breaching"
        } else {
            "notBreaching"
        };
        assert_eq!(alarm["TreatMissingData"], expected, "{name}");
    }
    assert!(alarms().count() > 5);
}

#[test]
fn retained_tables_have_backups_and_logs_expire() {
    let mut retained = BTreeSet::new();
    for (name, table) in resources("AWS::DynamoDB::Table") {
        let resource = &TEMPLATE["Resources"][name];
        let is_retained = resource["DeletionPolicy"] == "RetainExceptOnCreate";
        assert_eq!(resource["UpdateReplacePolicy"] == "Retain", is_retained, "{name}");
        let recovery = &table["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"];
        assert_eq!(*recovery == true, is_retained, "{name}");
        // A table that is deleted with the stack must not be protected, because the deletion of the stack would fail.
        let protection = if is_retained { json!({"!Ref": "DeletionProtection"}) } else { Value::Null };
        assert_eq!(table["DeletionProtectionEnabled"], protection, "{name}");
        retained.extend(is_retained.then_some(name));
    }
    assert_eq!(retained, BTreeSet::from(["Chats", "Directory"]));
    for (name, group) in resources("AWS::Logs::LogGroup") {
        assert_eq!(group["RetentionInDays"], json!({"!Ref": "LogRetentionDays"}), "{name}");
    }
}

#[test]
fn dashboard_is_valid_json_and_shows_the_metrics() {
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

/// Returns the functions with an alias and a deployment group in a staged rollout.
fn staged_functions() -> BTreeSet<&'static str> {
    let is_staged =
        |(name, _): &Resource| TEMPLATE["Resources"][name]["Metadata"]["StagedRollout"].as_bool().unwrap_or(false);
    functions().filter(is_staged).map(|(name, _)| name).collect()
}

#[test]
fn staged_rollout_covers_every_function_that_receives_or_delivers_messages() {
    let staged = staged_functions();
    for (name, properties) in functions() {
        let has_queue_or_stream = events(properties).any(|event| event["Type"] == "SQS" || event["Type"] == "DynamoDB");
        // The WebSocket API invokes a function and not its alias, so these functions have no events and no alias.
        let is_staged = staged.contains(name);
        assert!(is_staged || !has_queue_or_stream, "{name}");
        assert!(!is_staged || events(properties).count() > 0, "{name}");
    }
    for name in ["AgentSendMessage", "BotReceiveEvent", "ChannelReceiveMessage", "WidgetReceiveMessage"] {
        assert!(staged.contains(name), "{name}");
    }
}

#[test]
fn staged_rollout_adds_only_aliases_and_a_release() {
    let run = |kind: &str| Command::new(workspace_root().join("infra/rollout")).arg(kind).output().unwrap();
    let staged = run("Canary10Percent5Minutes");
    assert!(staged.status.success());
    let staged = String::from_utf8(staged.stdout).unwrap();
    let template = std::fs::read_to_string(workspace_root().join("template.yaml")).unwrap();
    let mut rest = template.lines().peekable();
    let added: Vec<&str> = staged.lines().filter(|line| rest.next_if(|next| next == line).is_none()).collect();
    assert!(rest.next().is_none(), "a line of the template is missing");
    let (release, settings) = added.split_first().unwrap();
    assert!(release.starts_with("        RELEASE: 20"), "{release}");
    let mut expected = vec![
        "      AutoPublishAlias: live".to_owned(),
        "      DeploymentPreference:".to_owned(),
        "        Type: Canary10Percent5Minutes".to_owned(),
        "        Alarms:".to_owned(),
    ];
    let is_error_alarm = |alarm: &Value| {
        metrics(alarm).iter().any(|metric| metric["MetricName"] == "Errors" || metric["MetricName"] == "5xx")
    };
    let list_item = |(name, alarm): Resource| match alarm["AlarmName"]["!Sub"].as_str() {
        Some(name) => format!("          - !Sub {name}"),
        None => format!("          - !Ref {name}"),
    };
    let mut rollback_alarms: Vec<_> = alarms().filter(|(_, alarm)| is_error_alarm(alarm)).map(list_item).collect();
    rollback_alarms.sort_by_key(|item| !item.contains("!Sub"));
    expected.append(&mut rollback_alarms);
    let settings: Vec<_> = settings.chunks(expected.len()).collect();
    assert_eq!(settings.len(), staged_functions().len());
    for of_function in settings {
        assert_eq!(of_function, expected);
    }
    assert!(!run("Everywhere").status.success());
}
