//! The conditions of a template: which resources and values are part of the stack.

use super::error::{Error, Place, Problem};
use super::intrinsics::intrinsic;
use super::scope::Scope;
use super::yaml::Node;

impl Scope {
    /// Whether the condition holds. `trail` has the conditions on the way here.
    pub fn named_condition(&self, name: &str, line: usize, place: &Place, trail: &[&str]) -> Result<bool, Error> {
        if trail.contains(&name) {
            return Err(place.error(line, Problem::CircularCondition(name.to_owned())));
        }
        let unknown = || place.error(line, Problem::UnknownCondition(name.to_owned()));
        let definition = self.conditions.get(name).ok_or_else(unknown)?;
        let trail: Vec<&str> = trail.iter().copied().chain([name]).collect();
        self.condition(definition, &Place::default().inner(name), &trail)
    }

    fn condition(&self, node: &Node, place: &Place, trail: &[&str]) -> Result<bool, Error> {
        let Some((function, argument)) = intrinsic(node) else {
            return Err(place.expected("a condition", node));
        };
        let mut each = argument.items().iter().map(|part| self.condition(part, place, trail));
        match function {
            "Condition" => self.named_condition(argument.as_text(), node.line, place, trail),
            "Not" => each.next().map_or_else(|| Err(place.expected("a condition", node)), |c| Ok(!c?)),
            "And" => each.try_fold(true, |all, part| Ok(all & part?)),
            "Or" => each.try_fold(false, |any, part| Ok(any | part?)),
            "Equals" => match argument.items() {
                [left, right] => Ok(self.text(left, place)? == self.text(right, place)?),
                _ => Err(place.expected("two values", &argument)),
            },
            other => Err(place.error(node.line, Problem::UnknownIntrinsic(other.to_owned()))),
        }
    }
}
