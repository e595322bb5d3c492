//! Which definitions are sound.

use super::super::DefinitionError;
use super::*;

#[test]
fn names_are_those_of_sqs() {
    let longest = "n".repeat(80);
    for name in ["q", "A-b_9", "q.fifo", longest.as_str()] {
        definition::by_name(vec![queue(name)]).unwrap();
    }
    let too_long = "n".repeat(81);
    for name in ["", ".fifo", "a.b", "a/b", "é", too_long.as_str()] {
        let refused = definition::by_name(vec![queue(name)]).unwrap_err();
        assert!(matches!(refused, DefinitionError::Name(_)), "{name}");
    }
}

#[test]
fn a_name_is_defined_once() {
    let refused = definition::by_name(vec![queue("q"), queue("q")]).unwrap_err();
    assert_eq!(refused, DefinitionError::Twice("q".to_owned()));
}

#[test]
fn numbers_have_the_limits_of_sqs() {
    let wrong: [fn(&mut QueueDefinition); 5] = [
        |queue| queue.delay_seconds = 901,
        |queue| queue.visibility_seconds = 43_201,
        |queue| queue.retention_seconds = 59,
        |queue| queue.retention_seconds = 1_209_601,
        |queue| queue.dead_letter = dead_letter("q", 0),
    ];
    for spoil in wrong {
        let mut queue = queue("q");
        spoil(&mut queue);
        let refused = definition::by_name(vec![queue]).unwrap_err();
        assert!(matches!(refused, DefinitionError::Limit { .. }), "{refused}");
    }
}

#[test]
fn deduplication_is_for_fifo_queues() {
    let refused = definition::by_name(vec![QueueDefinition { content_based_deduplication: true, ..queue("q") }]);
    assert_eq!(refused.unwrap_err(), DefinitionError::FifoSettings("q".to_owned()));
}

#[test]
fn a_dead_letter_queue_is_another_that_exists_and_is_of_the_same_type() {
    let to = |target| QueueDefinition { dead_letter: dead_letter(target, 3), ..queue("q.fifo") };
    let missing = definition::by_name(vec![to("dead.fifo")]).unwrap_err();
    assert!(matches!(missing, DefinitionError::NoDeadLetter { .. }));
    let own = definition::by_name(vec![to("q.fifo")]).unwrap_err();
    assert_eq!(own, DefinitionError::OwnDeadLetter("q.fifo".to_owned()));
    let standard = definition::by_name(vec![to("dead"), queue("dead")]).unwrap_err();
    assert!(matches!(standard, DefinitionError::DeadLetterType { .. }));
    definition::by_name(vec![to("dead.fifo"), queue("dead.fifo")]).unwrap();
}
