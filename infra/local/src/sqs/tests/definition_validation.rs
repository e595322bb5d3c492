use super::super::DefinitionError;
use super::*;

#[test]
fn queue_names_follow_the_rules_of_sqs() {
    let longest = "n".repeat(80);
    for name in ["q", "A-b_9", "q.fifo", longest.as_str()] {
        queue_definition::by_name(vec![queue(name)]).unwrap();
    }
    let too_long = "n".repeat(81);
    for name in ["", ".fifo", "a.b", "a/b", "é", too_long.as_str()] {
        let error = queue_definition::by_name(vec![queue(name)]).unwrap_err();
        assert!(matches!(error, DefinitionError::InvalidName(_)), "{name}");
    }
}

#[test]
fn duplicate_queue_name_is_rejected() {
    let error = queue_definition::by_name(vec![queue("q"), queue("q")]).unwrap_err();
    assert_eq!(error, DefinitionError::DuplicateName("q".to_owned()));
}

#[test]
fn numbers_outside_the_limits_of_sqs_are_rejected() {
    let invalid_changes: [fn(&mut QueueDefinition); 5] = [
        |queue| queue.delay_seconds = 901,
        |queue| queue.visibility_timeout_seconds = 43_201,
        |queue| queue.retention_seconds = 59,
        |queue| queue.retention_seconds = 1_209_601,
        |queue| queue.redrive_policy = redrive_policy("q", 0),
    ];
    for change in invalid_changes {
        let mut queue = queue("q");
        change(&mut queue);
        let error = queue_definition::by_name(vec![queue]).unwrap_err();
        assert!(matches!(error, DefinitionError::OutOfRange { .. }), "{error}");
    }
}

#[test]
fn standard_queue_rejects_deduplication_settings() {
    let error = queue_definition::by_name(vec![QueueDefinition { content_based_deduplication: true, ..queue("q") }]);
    assert_eq!(error.unwrap_err(), DefinitionError::FifoSettingOnStandardQueue("q".to_owned()));
}

#[test]
fn dead_letter_queue_must_exist_and_have_the_same_type() {
    let source =
        |dead_letter_queue| QueueDefinition { redrive_policy: redrive_policy(dead_letter_queue, 3), ..queue("q.fifo") };
    let missing = queue_definition::by_name(vec![source("dead.fifo")]).unwrap_err();
    assert!(matches!(missing, DefinitionError::MissingDeadLetterQueue { .. }));
    let own = queue_definition::by_name(vec![source("q.fifo")]).unwrap_err();
    assert_eq!(own, DefinitionError::OwnDeadLetterQueue("q.fifo".to_owned()));
    let standard = queue_definition::by_name(vec![source("dead"), queue("dead")]).unwrap_err();
    assert!(matches!(standard, DefinitionError::DeadLetterQueueType { .. }));
    queue_definition::by_name(vec![source("dead.fifo"), queue("dead.fifo")]).unwrap();
}
