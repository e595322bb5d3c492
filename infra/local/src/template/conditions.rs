//! Evaluates a template's conditions, which decide which resources and values are part of the stack.

use super::error::{Error, ErrorKind, ValuePath};
use super::intrinsics::as_intrinsic;
use super::scope::Scope;
use super::yaml::Node;

impl Scope {
    /// Returns whether a condition is true. `visited` contains the conditions that are being evaluated, so that cycles
    /// are detected.
    pub fn evaluate_condition(
        &self,
        name: &str,
        line: usize,
        path: &ValuePath,
        visited: &[&str],
    ) -> Result<bool, Error> {
        if visited.contains(&name) {
            return Err(path.error(line, ErrorKind::CircularCondition(name.to_owned())));
        }
        let unknown = || path.error(line, ErrorKind::UnknownCondition(name.to_owned()));
        let definition = self.conditions.get(name).ok_or_else(unknown)?;
        let visited: Vec<&str> = visited.iter().copied().chain([name]).collect();
        self.evaluate_expression(definition, &ValuePath::default().child(name), &visited)
    }

    fn evaluate_expression(&self, node: &Node, path: &ValuePath, visited: &[&str]) -> Result<bool, Error> {
        let Some((function, argument)) = as_intrinsic(node) else {
            return Err(path.unexpected_value("a condition", node));
        };
        let mut operands = argument.items().iter().map(|operand| self.evaluate_expression(operand, path, visited));
        match function {
            "Condition" => self.evaluate_condition(argument.as_text(), node.line, path, visited),
            "Not" => {
                operands.next().map_or_else(|| Err(path.unexpected_value("a condition", node)), |value| Ok(!value?))
            }
            "And" => operands.try_fold(true, |all, operand| Ok(all & operand?)),
            "Or" => operands.try_fold(false, |any, operand| Ok(any | operand?)),
            "Equals" => match argument.items() {
                [left, right] => Ok(self.evaluate_text(left, path)? == self.evaluate_text(right, path)?),
                _ => Err(path.unexpected_value("two values", &argument)),
            },
            other => Err(path.error(node.line, ErrorKind::UnsupportedIntrinsic(other.to_owned()))),
        }
    }
}
