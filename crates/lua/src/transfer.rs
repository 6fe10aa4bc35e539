//! Values carried from one Lua state into another.

use mlua::{Error, Lua, Result, Value};

/// Tables within tables beyond which a value is taken to refer to itself.
const DEPTH_MAX: u32 = 64;

/// A copy of `value` in the state `to`: nothing, truth values, numbers, text, and tables of these.
pub(crate) fn transfer(value: &Value, to: &Lua) -> Result<Value> {
    copy(value, to, 0)
}

fn copy(value: &Value, to: &Lua, depth: u32) -> Result<Value> {
    if depth > DEPTH_MAX {
        return Err(Error::RuntimeError("a table that holds itself can't be given to a thread".into()));
    }
    Ok(match value {
        Value::Nil => Value::Nil,
        Value::Boolean(truth) => Value::Boolean(*truth),
        Value::Integer(number) => Value::Integer(*number),
        Value::Number(number) => Value::Number(*number),
        Value::String(text) => Value::String(to.create_string(text.as_bytes())?),
        Value::Table(table) => {
            let copied = to.create_table()?;
            for pair in table.pairs::<Value, Value>() {
                let (key, value) = pair?;
                copied.set(copy(&key, to, depth + 1)?, copy(&value, to, depth + 1)?)?;
            }
            Value::Table(copied)
        }
        other => {
            let what = other.type_name();
            return Err(Error::RuntimeError(format!(
                "a {what} can't be given to or taken from a thread; give text, a number, a truth value or a table"
            )));
        }
    })
}
