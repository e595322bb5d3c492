#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::time::Duration;

use super::*;
use crate::filter_pattern::FilterPattern;
use crate::sqs::RedrivePolicy;

fn read(text: &str) -> Result<Template, Error> {
    read_with(text, &[])
}

fn read_with(text: &str, parameters: &[(&str, &str)]) -> Result<Template, Error> {
    let to_owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let addresses = Addresses { gateway: "http://gateway".to_owned(), queues: "http://queues".to_owned() };
    Template::read(text, &parameters.iter().map(to_owned).collect(), addresses)
}

fn template_with_variable(value: &str) -> String {
    format!(
        "Parameters:
  Name: {{Type: String, Default: world}}
  Names: {{Type: CommaDelimitedList, Default: 'a, b'}}
Conditions:
  Yes: !Equals [!Ref Name, world]
  No: !Not [!Condition Yes]
  Both: !And [!Condition Yes, !Condition No]
  Either: !Or [!Condition Yes, !Condition No]
Resources:
  Api: {{Type: AWS::Serverless::HttpApi}}
  SocketApi: {{Type: AWS::Serverless::WebSocketApi, Properties: {{Routes: {{}}, RouteSelectionExpression: $request.body.t}}}}
  LogGroup: {{Type: AWS::Logs::LogGroup}}
  Items:
    Type: AWS::DynamoDB::Table
    Properties:
      AttributeDefinitions: [{{AttributeName: pk, AttributeType: S}}]
      KeySchema: [{{AttributeName: pk, KeyType: HASH}}]
  Jobs: {{Type: AWS::SQS::Queue}}
  Ordered: {{Type: AWS::SQS::Queue, Properties: {{FifoQueue: true}}}}
  Absent: {{Type: AWS::SQS::Queue, Condition: No}}
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: target/lambda/f/
      Environment:
        Variables:
          V: {value}
"
    )
}

fn variable(value: &str) -> Option<String> {
    let template = read(&template_with_variable(value)).unwrap();
    template.functions[0].environment.get("V").cloned()
}

#[test]
fn intrinsic_functions_have_local_values() {
    for (value, expected) in [
        ("1.10", "1.10"),
        ("true", "true"),
        ("!Ref Name", "world"),
        ("{Ref: Name}", "world"),
        ("!Ref Items", "Items"),
        ("!Ref Jobs", "http://queues/000000000000/Jobs"),
        ("!Ref Ordered", "http://queues/000000000000/Ordered.fifo"),
        ("!Ref AWS::Region", "us-east-1"),
        ("!GetAtt Ordered.Arn", "arn:aws:sqs:us-east-1:000000000000:Ordered.fifo"),
        ("!GetAtt [Items, Arn]", "arn:aws:dynamodb:us-east-1:000000000000:table/Items"),
        ("{'Fn::GetAtt': [Jobs, QueueName]}", "Jobs"),
        ("!GetAtt Api.ApiEndpoint", "http://gateway"),
        ("!Sub '${SocketApi.ApiEndpoint}/socket'", "ws://gateway/socket"),
        ("!Ref SocketApi", "SocketApi"),
        ("!GetAtt LogGroup.Arn", "arn:aws:local:us-east-1:000000000000:LogGroup"),
        (
            "!Sub 'hello ${Name} ${Items.Arn} ${!Name}'",
            "hello world arn:aws:dynamodb:us-east-1:000000000000:table/Items ${Name}",
        ),
        ("!Sub ['${Who}!', {Who: !Ref Name}]", "world!"),
        ("!Join ['-', [a, !Ref Name]]", "a-world"),
        ("!Join [',', !Ref Names]", "a,b"),
        ("!If [Yes, !Ref Name, no]", "world"),
        ("!If [No, yes, 'no']", "no"),
        ("!If [Both, 'yes', 'no']", "no"),
        ("!If [Either, 'yes', 'no']", "yes"),
    ] {
        assert_eq!(variable(value).as_deref(), Some(expected), "{value}");
    }
    assert_eq!(variable("!Ref AWS::NoValue"), None);
    assert_eq!(variable("!If [No, x, !Ref AWS::NoValue]"), None);
}

#[test]
fn invalid_value_is_reported_with_its_path() {
    for (value, message) in [
        ("!Ref Nobody", "the template has no resource or parameter \"Nobody\""),
        ("!Ref Absent", "the template has no resource or parameter \"Absent\""),
        ("!GetAtt Nobody.Arn", "the template has no resource or parameter \"Nobody\""),
        ("!Sub '${Nobody}'", "the template has no resource or parameter \"Nobody\""),
        ("!If [Maybe, a, b]", "the template has no condition \"Maybe\""),
        ("!ImportValue x", "the local host does not support the intrinsic function ImportValue"),
        ("[a]", "expected text, found a list"),
        ("!Join [a]", "expected a separator and a list, found a list"),
    ] {
        let error = read(&template_with_variable(value)).unwrap_err().to_string();
        let expected = format!("line 27: F.Environment.Variables.V: {message}");
        assert_eq!(error, expected, "{value}");
    }
}

#[test]
fn circular_condition_is_rejected() {
    let text = "Conditions:\n  A: !Not [!Condition B]\n  B: !Not [!Condition A]\nResources:\n  Q: {Type: AWS::SQS::Queue, Condition: A}\n";
    let error = read(text).unwrap_err();
    assert_eq!(error.to_string(), "line 3: B: condition \"A\" depends on itself");
}

#[test]
fn resource_with_false_condition_is_ignored() {
    let template = read(&template_with_variable("x")).unwrap();
    let names: Vec<_> = template.queues.iter().map(|queue| queue.name.as_str()).collect();
    assert_eq!(names, ["Jobs", "Ordered.fifo"]);
}

#[test]
fn public_base_url_is_the_address_of_the_gateway() {
    let text = "Parameters:\n  PublicBaseUrl: {Type: String, Default: ''}\nResources:\n  F:\n    Type: AWS::Serverless::Function\n    Properties:\n      CodeUri: target/lambda/f/\n      Environment: {Variables: {V: !Ref PublicBaseUrl}}\n";
    let value = |template: Template| template.functions[0].environment.get("V").cloned().unwrap();
    assert_eq!(value(read(text).unwrap()), "http://gateway");
    let overridden = read_with(text, &[("PublicBaseUrl", "https://tunnel.example")]).unwrap();
    assert_eq!(value(overridden), "https://tunnel.example");
}

const ONLY_ON_AWS: &str = "Parameters:
  Email: {Type: String, Default: ''}
  Domain: {Type: String, Default: ''}
Rules:
  Both: {Assertions: [{Assert: !Contains [[a], a]}]}
Conditions:
  HasEmail: !Not [!Equals [!Ref Email, '']]
  HasDomain: !And [!Condition HasEmail, !Not [!Equals [!Ref Domain, '']]]
Resources:
  Jobs: {Type: AWS::SQS::Queue}
  Topic: {Type: AWS::SNS::Topic}
  Subscription: {Type: AWS::SNS::Subscription, Condition: HasEmail, Properties: {TopicArn: !Ref Topic}}
  Alarm:
    Type: AWS::CloudWatch::Alarm
    Properties: {Threshold: 0, Dimensions: [{Name: Q, Value: !GetAtt Jobs.QueueName}], AlarmActions: [!Ref Topic]}
  Board: {Type: AWS::CloudWatch::Dashboard, Properties: {DashboardBody: !Sub '{\"q\": \"${Jobs}\"}'}}
  Mapping: {Type: AWS::ApiGatewayV2::ApiMapping, Condition: HasDomain, Properties: {Zones: !GetAZs ''}}
Outputs:
  Base: {Value: !If [HasDomain, !Sub 'https://${Domain}', x]}
";

#[test]
fn resources_that_need_aws_are_ignored() {
    for parameters in [&[][..], &[("Email", "a@b.example")], &[("Email", "a@b.example"), ("Domain", "b.example")]] {
        let template = read_with(ONLY_ON_AWS, parameters).unwrap();
        let names: Vec<_> = template.queues.iter().map(|queue| queue.name.as_str()).collect();
        assert_eq!((names, template.tables.len(), template.functions.len()), (vec!["Jobs"], 0, 0), "{parameters:?}");
    }
}

#[test]
fn parameter_override_replaces_default() {
    let text = template_with_variable("!Ref Name");
    let template = read_with(&text, &[("Name", "you")]).unwrap();
    assert_eq!(template.functions[0].environment["V"], "you");
}

#[test]
fn invalid_parameter_is_reported_by_name() {
    let text = "Parameters:\n  Key: {Type: String}\n  Level: {Type: String, Default: A, AllowedValues: [A, B]}\nResources: {}\n";
    for (parameters, expected) in [
        (&[][..], "line 2: Key: the parameter has no default value, so a value is required"),
        (&[("Key", "x"), ("Level", "C")], "line 3: Level: \"C\" is not one of the allowed values"),
        (&[("Key", "x"), ("Kex", "y")], "line 1: Kex: the template has no such parameter"),
    ] {
        assert_eq!(read_with(text, parameters).unwrap_err().to_string(), expected);
    }
}

#[test]
fn globals_are_merged_into_every_function() {
    let text = "Globals:
  Function:
    Timeout: 7
    Environment: {Variables: {A: global, B: global}}
    LoggingConfig: {LogFormat: JSON, ApplicationLogLevel: INFO}
Resources:
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: target/lambda/area-what/
      MemorySize: 512
      Environment: {Variables: {B: own, C: own}}
      LoggingConfig: {ApplicationLogLevel: DEBUG}
";
    let function = read(text).unwrap().functions.remove(0);
    assert_eq!((function.logical_id.as_str(), function.name.as_str()), ("F", "area-what"));
    assert_eq!((function.timeout, function.memory_mb), (Duration::from_secs(7), 512));
    let environment: Vec<_> = function.environment.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(environment, [("A", "global"), ("B", "own"), ("C", "own")]);
    assert_eq!(function.logging.format.as_deref(), Some("JSON"));
    assert_eq!(function.logging.level.as_deref(), Some("DEBUG"));
}

#[test]
fn queues_with_redrive_policy_are_read() {
    let text = "Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      FifoQueue: true
      DeduplicationScope: messageGroup
      VisibilityTimeout: 36
      RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 5}
  D:
    Type: AWS::SQS::Queue
    Properties: {FifoQueue: true, MessageRetentionPeriod: 1209600}
";
    let queues = read(text).unwrap().queues;
    assert_eq!(
        queues[0],
        QueueDefinition {
            name: "Q.fifo".to_owned(),
            delay_seconds: 0,
            visibility_timeout_seconds: 36,
            retention_seconds: 345_600,
            content_based_deduplication: false,
            deduplication_per_group: true,
            redrive_policy: Some(RedrivePolicy { dead_letter_queue: "D.fifo".to_owned(), max_receive_count: 5 }),
        }
    );
    assert_eq!(queues[1].retention_seconds, 1_209_600);
}

fn template_with_property(property: &str) -> String {
    format!(
        "Resources:
  Items:
    Type: AWS::DynamoDB::Table
    Properties: {{AttributeDefinitions: [], KeySchema: []}}
  FRole:
    Type: AWS::IAM::Role
    Properties:
      Policies:
        - PolicyName: f
          PolicyDocument:
            Statement: [{{Effect: Allow, Action: dynamodb:Scan, Resource: !GetAtt Items.Arn}}]
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: f
      {property}
"
    )
}

#[test]
fn function_gets_permissions_of_policies_or_role() {
    let permissions = |property: &str| {
        let function = read(&template_with_property(property)).unwrap().functions.remove(0);
        function.permissions.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let table = "arn:aws:dynamodb:us-east-1:000000000000:table/Items";
    assert_eq!(permissions("Timeout: 3"), [""; 0]);
    assert_eq!(permissions("Policies: []"), [""; 0]);
    assert_eq!(permissions("Role: !GetAtt FRole.Arn"), [format!("dynamodb:Scan on {table}")]);
    let policies =
        "Policies: [{Statement: [{Effect: Allow, Action: ['s:A', 's:B'], Resource: [!GetAtt Items.Arn, x]}]}]";
    let expected = [format!("s:A on {table}"), format!("s:B on {table}"), "s:A on x".to_owned(), "s:B on x".to_owned()];
    assert_eq!(permissions(policies), expected);
}

#[test]
fn unsupported_policy_is_rejected() {
    for (property, message) in [
        ("Role: x", "Role: \"x\" is not a role of this template"),
        (
            "Policies: [AWSLambdaSQSQueueExecutionRole]",
            "Policies.0: expected a mapping, found \"AWSLambdaSQSQueueExecutionRole\"",
        ),
        ("Policies: [{SQSPollerPolicy: {}}]", "Policies.0: Statement is missing"),
        ("Policies: [{Statement: [{Effect: Deny}]}]", "Policies.0.Statement.0.Effect: expected Allow, found \"Deny\""),
        (
            "Policies: [{Statement: [{Effect: Allow, Action: 's:*', Resource: x}]}]",
            "Policies.0.Statement.0.Action: expected names without wildcards, found \"s:*\"",
        ),
        (
            "Policies: [{Statement: [{Effect: Allow, Action: 's:A', Resource: 'x/*/@connections/*'}]}]",
            "Policies.0.Statement.0.Resource: expected names without wildcards, found \"x/*/@connections/*\"",
        ),
        (
            "Policies: [{Statement: [{Effect: Allow, Action: 's:A', Resource: x, Condition: {}}]}]",
            "Policies.0.Statement.0.Condition: expected nothing but Sid, Effect, Action and Resource, found a mapping",
        ),
    ] {
        let error = read(&template_with_property(property)).unwrap_err().to_string();
        assert_eq!(error, format!("line 16: F.{message}"), "{property}");
    }
}

fn template_with_event(event: &str) -> String {
    format!(
        "Resources:
  Jobs: {{Type: AWS::SQS::Queue}}
  Ordered: {{Type: AWS::SQS::Queue, Properties: {{FifoQueue: true}}}}
  Plain: {{Type: AWS::DynamoDB::Table, Properties: {{AttributeDefinitions: [], KeySchema: []}}}}
  Items:
    Type: AWS::DynamoDB::Table
    Properties: {{AttributeDefinitions: [], KeySchema: [], StreamSpecification: {{StreamViewType: NEW_AND_OLD_IMAGES}}}}
  F:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: f
      Events:
        E: {event}
"
    )
}

#[test]
fn event_sources_are_read() {
    let function = |event: &str| read(&template_with_event(event)).unwrap().functions.remove(0);

    let route = function("{Type: HttpApi, Properties: {Method: any, Path: '/a/{b}'}}").routes.remove(0);
    assert_eq!((route.key().as_str(), route.timeout.as_secs()), ("ANY /a/{b}", 30));

    let queue = function(
        "{Type: SQS, Properties: {Queue: !GetAtt Jobs.Arn, BatchSize: 20, MaximumBatchingWindowInSeconds: 1, FunctionResponseTypes: [ReportBatchItemFailures], ScalingConfig: {MaximumConcurrency: 5}}}",
    );
    assert_eq!(
        queue.queues,
        [QueueMapping {
            queue: "Jobs".to_owned(),
            batch_size: 20,
            batching_window: Duration::from_secs(1),
            reports_partial_failures: true,
            max_concurrency: Some(5),
        }]
    );
    assert!(function("{Type: SQS, Properties: {Queue: !GetAtt Jobs.Arn, Enabled: false}}").queues.is_empty());

    const STREAM: &str = "Stream: !GetAtt Items.StreamArn, StartingPosition: LATEST";
    let pattern = r#"{"eventName": ["REMOVE"]}"#;
    let stream = function(&format!(
        "{{Type: DynamoDB, Properties: {{{STREAM}, BatchSize: 20, MaximumBatchingWindowInSeconds: 1, ParallelizationFactor: 10, MaximumRecordAgeInSeconds: 60, MaximumRetryAttempts: 2, BisectBatchOnFunctionError: true, FunctionResponseTypes: [ReportBatchItemFailures], FilterCriteria: {{Filters: [{{Pattern: '{pattern}'}}]}}}}}}"
    ));
    let expected = StreamMapping {
        table: "Items".to_owned(),
        batch_size: 20,
        batching_window: Duration::from_secs(1),
        lanes: 10,
        max_record_age: Duration::from_mins(1),
        max_retries: Some(2),
        bisects_failed_batches: true,
        reports_partial_failures: true,
        filters: vec![FilterPattern::parse(pattern).unwrap()],
    };
    assert_eq!(stream.streams, [expected]);
    let stream_arn = "arn:aws:dynamodb:us-east-1:000000000000:table/Items/stream/2026-01-01T00:00:00.000";
    assert!(stream.permissions.iter().all(|permission| permission.resource == stream_arn));
    for unlimited in ["", ", MaximumRecordAgeInSeconds: -1, MaximumRetryAttempts: -1"] {
        let stream = function(&format!("{{Type: DynamoDB, Properties: {{{STREAM}{unlimited}}}}}")).streams.remove(0);
        assert_eq!((stream.batch_size, stream.lanes, stream.max_retries), (100, 1, None));
        assert_eq!(stream.max_record_age, Duration::from_hours(24));
    }

    for (rate, seconds) in [("1 minute", 60), ("5 minutes", 300), ("2 hours", 7_200), ("1 day", 86_400)] {
        let function = function(&format!("{{Type: Schedule, Properties: {{Schedule: rate({rate})}}}}"));
        assert_eq!(function.schedules[0].interval.as_secs(), seconds, "{rate}");
    }
}

#[test]
fn invalid_event_is_reported_with_its_path() {
    for (event, message) in [
        ("{Type: Sns}", "Type: the local host does not support events of type \"Sns\""),
        (
            "{Type: HttpApi, Properties: {Method: GRAB, Path: /a}}",
            "Method: expected an HTTP method or ANY, found \"GRAB\"",
        ),
        (
            "{Type: HttpApi, Properties: {Method: GET, Path: a}}",
            "Path: expected a path such as /agent/chats/{chat_id}, found \"a\"",
        ),
        ("{Type: SQS, Properties: {BatchSize: 1}}", "Queue is missing"),
        (
            "{Type: SQS, Properties: {Queue: !Ref Jobs}}",
            "Queue: \"http://queues/000000000000/Jobs\" is not a queue of this template",
        ),
        (
            "{Type: SQS, Properties: {Queue: !GetAtt Ordered.Arn, BatchSize: 11}}",
            "BatchSize: expected a whole number from 1 to 10, found \"11\"",
        ),
        (
            "{Type: SQS, Properties: {Queue: !GetAtt Jobs.Arn, FunctionResponseTypes: [All]}}",
            "FunctionResponseTypes.0: expected ReportBatchItemFailures, found \"All\"",
        ),
        (
            "{Type: DynamoDB, Properties: {Stream: !GetAtt Plain.StreamArn, StartingPosition: LATEST}}",
            "Stream: the table Plain has no StreamSpecification",
        ),
        (
            "{Type: DynamoDB, Properties: {Stream: !GetAtt Items.Arn, StartingPosition: LATEST}}",
            "Stream: \"arn:aws:dynamodb:us-east-1:000000000000:table/Items\" is not a stream of this template",
        ),
        (
            "{Type: DynamoDB, Properties: {Stream: !GetAtt Items.StreamArn, StartingPosition: TRIM_HORIZON}}",
            "StartingPosition: expected LATEST, found \"TRIM_HORIZON\"",
        ),
        (
            "{Type: DynamoDB, Properties: {Stream: !GetAtt Items.StreamArn, StartingPosition: LATEST, MaximumRecordAgeInSeconds: 1}}",
            "MaximumRecordAgeInSeconds: expected a whole number from 60 to 604800, found \"1\"",
        ),
        (
            "{Type: DynamoDB, Properties: {Stream: !GetAtt Items.StreamArn, StartingPosition: LATEST, FilterCriteria: {Filters: [{Pattern: '{\"a\": [{\"cidr\": \"b\"}]}'}]}}}",
            "FilterCriteria.Filters.0.Pattern: the local host does not support the filter pattern {\"cidr\":\"b\"}",
        ),
        (
            "{Type: Schedule, Properties: {Schedule: cron(0 0 * * ? *)}}",
            "Schedule: expected rate(n minutes), (n hours) or (n days), found \"cron(0 0 * * ? *)\"",
        ),
    ] {
        let error = read(&template_with_event(event)).unwrap_err().to_string();
        let expected = format!("line 13: F.Events.E.{message}").replace("E.Queue is", "E: Queue is");
        assert_eq!(error, expected, "{event}");
    }
}

#[test]
fn route_or_binary_of_two_functions_is_rejected() {
    let function = |id: &str, binary: &str, path: &str| {
        format!(
            "  {id}:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: target/lambda/{binary}/
      Events: {{E: {{Type: HttpApi, Properties: {{Method: GET, Path: '{path}'}}}}}}
"
        )
    };
    let routes = format!("Resources:\n{}{}", function("A", "a", "/x/{y}"), function("B", "b", "/x/{z}"));
    assert_eq!(
        read(&routes).unwrap_err().to_string(),
        "line 11: B: the route GET /x/{z} already belongs to function A"
    );
    let binaries = format!("Resources:\n{}{}", function("A", "a", "/x"), function("B", "a", "/y"));
    assert_eq!(
        read(&binaries).unwrap_err().to_string(),
        "line 10: B.CodeUri: the binary a already belongs to function A"
    );
}

fn template_with_web_socket_api(properties: &str) -> String {
    format!(
        "Resources:
  Api:
    Type: AWS::Serverless::WebSocketApi
    Properties:
      {properties}
  F: {{Type: AWS::Serverless::Function, Properties: {{CodeUri: target/lambda/f/}}}}
"
    )
}

#[test]
fn message_selects_a_route_of_the_web_socket_api() {
    let text = template_with_web_socket_api(
        "{StageName: s, RouteSelectionExpression: $request.body.a.b, Routes: {$default: {FunctionArn: !GetAtt F.Arn}, x: {FunctionArn: !GetAtt F.Arn, IntegrationTimeout: 50}}}",
    );
    let api = read(&text).unwrap().web_socket_api.unwrap();
    assert_eq!((api.id.as_str(), api.stage.as_str(), api.route("$connect")), ("Api", "s", None));
    assert_eq!(api.route("$default").unwrap().timeout, Duration::from_secs(29));
    let route = api.route("x").unwrap();
    assert_eq!((route.function.as_str(), route.timeout), ("f", Duration::from_millis(50)));
    for (body, key) in [
        (r#"{"a": {"b": "x"}}"#, "x"),
        (r#"{"a": {"b": "$default"}}"#, "$default"),
        (r#"{"a": {"b": "y"}}"#, "$default"),
        (r#"{"a": "x"}"#, "$default"),
        (r#""x""#, "$default"),
        ("x", "$default"),
    ] {
        assert_eq!(api.route_for_message(body).unwrap().key, key, "{body}");
    }
}

#[test]
fn invalid_web_socket_api_is_rejected() {
    let route = "Routes: {x: {FunctionArn: !GetAtt F.Arn}}";
    for (properties, message) in [
        (route.to_owned(), "Api: RouteSelectionExpression is missing"),
        (
            format!("{{RouteSelectionExpression: $request.header.x, {route}}}"),
            "Api.RouteSelectionExpression: expected $request.body.<name>, found \"$request.header.x\"",
        ),
        (
            format!("{{StageName: $default, RouteSelectionExpression: $request.body.x, {route}}}"),
            "Api.StageName: expected letters, digits, hyphens and underscores, found \"$default\"",
        ),
        (
            "{RouteSelectionExpression: $request.body.x, Routes: {x: {FunctionArn: y}}}".to_owned(),
            "Api.Routes.x.FunctionArn: \"y\" is not a function of this template",
        ),
    ] {
        let error = read(&template_with_web_socket_api(&properties)).unwrap_err().to_string();
        assert_eq!(error, format!("line 5: {message}"), "{properties}");
    }
    let second = "  Second:\n    Type: AWS::Serverless::WebSocketApi\n";
    let text =
        template_with_web_socket_api(&format!("{{RouteSelectionExpression: $request.body.x, {route}}}")) + second;
    let error = read(&text).unwrap_err().to_string();
    assert_eq!(error, "line 8: Second.Type: the local host supports only one WebSocket API");
}

#[test]
fn tables_are_read_in_the_format_of_dynamodb() {
    let text = "Resources:
  Items:
    Type: AWS::DynamoDB::Table
    Properties:
      AttributeDefinitions:
        - {AttributeName: pk, AttributeType: S}
        - {AttributeName: due, AttributeType: N}
      KeySchema: [{AttributeName: pk, KeyType: HASH}]
      GlobalSecondaryIndexes:
        - IndexName: due
          KeySchema: [{AttributeName: due, KeyType: HASH}]
          Projection: {ProjectionType: INCLUDE, NonKeyAttributes: [a]}
      TimeToLiveSpecification: {AttributeName: expires_at, Enabled: true}
      StreamSpecification: {StreamViewType: NEW_AND_OLD_IMAGES}
";
    let table = read(text).unwrap().tables.remove(0);
    assert_eq!(table.key_schema, serde_json::json!([{"AttributeName": "pk", "KeyType": "HASH"}]));
    assert_eq!(table.indexes[0].projection["NonKeyAttributes"], serde_json::json!(["a"]));
    assert_eq!(table.ttl_attribute.as_deref(), Some("expires_at"));
    assert!(table.has_stream);
    assert_eq!(table.partition_key(), "pk");
    let error = read(&text.replace("NEW_AND_OLD_IMAGES", "KEYS_ONLY")).unwrap_err().to_string();
    let message = "expected NEW_AND_OLD_IMAGES, found \"KEYS_ONLY\"";
    assert_eq!(error, format!("line 14: Items.StreamSpecification.StreamViewType: {message}"));
}

#[test]
fn deployed_template_is_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../template.yaml");
    let key = "0".repeat(64);
    let template = read_with(&std::fs::read_to_string(path).unwrap(), &[("OperatorKeySha256", &key)]);
    let template = template.unwrap();
    assert!(!template.functions.is_empty() && !template.tables.is_empty() && !template.queues.is_empty());
}
