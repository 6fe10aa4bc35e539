//! Flow control actions.

use scenario::{OnError, Template};

use crate::element::Element;
use crate::names::{self, Kind};
use crate::values::Fields;

const ACTION: &str = "ActionProcessor.action";
const STOP: i64 = 0;
const PAUSE: i64 = 1;
const STOP_NOW: i64 = 2;
const NEXT_ITERATION: i64 = 3;
/// Targets.
const THREAD: i64 = 0;
const TEST: i64 = 2;

/// What such an element does.
pub(crate) enum Action {
    /// It waits for so many milliseconds.
    Pause(Template),
    /// It leaves the iteration.
    Leave(OnError),
}

/// Whether what is set may leave an iteration for the next one.
pub(crate) fn may_begin_anew(element: &Element) -> bool {
    let is_action = names::kind(&element.class, &element.gui) == Kind::FlowAction;
    is_action && !["0", "1", "2"].contains(&element.properties.text(ACTION).trim())
}

/// What a flow control action says.
pub(crate) fn action(fields: Fields<'_>) -> Result<Action, String> {
    let target = fields.whole_at_start("ActionProcessor.target", THREAD)?;
    Ok(match (fields.whole_at_start(ACTION, STOP)?, target) {
        (PAUSE, _) => Action::Pause(fields.template("ActionProcessor.duration")?),
        (NEXT_ITERATION, _) => Action::Leave(OnError::NextIteration),
        (STOP | STOP_NOW, THREAD) => Action::Leave(OnError::StopUser),
        (STOP, TEST) => Action::Leave(OnError::StopLoad),
        (STOP_NOW, TEST) => Action::Leave(OnError::StopNow),
        _ => {
            return Err("of its actions the pause, the end of the thread or the test, and the thread's next iteration \
                        are supported, and not what becomes of a loop"
                .into());
        }
    })
}
