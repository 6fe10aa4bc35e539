//! Flow control actions.

use scenario::{OnError, Template};

use crate::element::Element;
use crate::names::{self, Kind, Scoped};
use crate::values::Fields;

const ACTION: &str = "ActionProcessor.action";
/// Of a Result Status Action Handler.
const ON_ERROR: &str = "OnError.action";
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
    let text = |name: &str| element.properties.text(name).trim();
    match names::kind(&element.class, &element.gui) {
        Kind::FlowAction => !["0", "1", "2"].contains(&text(ACTION)),
        Kind::Scoped(Scoped::OnError) => !["", "0", "1", "2", "3"].contains(&text(ON_ERROR)),
        _ => false,
    }
}

/// What a Result Status Action Handler has a user do after a failure.
pub(crate) fn on_error(fields: Fields<'_>) -> Result<OnError, String> {
    match fields.whole_at_start(ON_ERROR, 0)? {
        0 => Ok(OnError::Continue),
        1 => Ok(OnError::StopUser),
        2 => Ok(OnError::StopLoad),
        3 => Ok(OnError::StopNow),
        4 => Ok(OnError::NextIteration),
        5 | 6 => Err("what becomes of a loop after an error is not supported; choose another action".into()),
        other => Err(format!("{ON_ERROR} is {other}, which is none of JMeter's 0 to 6")),
    }
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
