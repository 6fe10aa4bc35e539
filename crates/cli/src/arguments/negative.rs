//! Values that begin with a minus sign, such as `-d -5s`.

use std::any::TypeId;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command, Error};
use plan::Threads;
use plan::gate::Condition;
use target::Stall;
use units::{Bytes, Duration, Rate, Seed, Share};

use super::{http, kubernetes};

/// The command, with every option that takes a quantity open to values that begin with a minus sign: their own parser says
/// then that there are none below zero, where clap would take them for options and advise `--`.
pub fn refused_by_their_parsers(command: Command) -> Command {
    let command = command.mut_args(|argument| {
        if takes_a_quantity(&argument) { argument.allow_hyphen_values(true) } else { argument }
    });
    command.mut_subcommands(refused_by_their_parsers)
}

fn takes_a_quantity(argument: &Arg) -> bool {
    let quantities = [
        TypeId::of::<Duration>(),
        TypeId::of::<Rate>(),
        TypeId::of::<Bytes>(),
        TypeId::of::<Share>(),
        TypeId::of::<Seed>(),
        TypeId::of::<Threads>(),
        TypeId::of::<Stall>(),
        TypeId::of::<Condition>(),
        TypeId::of::<kubernetes::Cpu>(),
        TypeId::of::<http::Version>(),
        TypeId::of::<tls::Version>(),
        TypeId::of::<u8>(),
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<f64>(),
        TypeId::of::<NonZeroU32>(),
        TypeId::of::<NonZeroU64>(),
        TypeId::of::<NonZeroUsize>(),
    ];
    let is_option = argument.get_long().is_some() || argument.get_short().is_some();
    let takes_a_value = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
    is_option && takes_a_value && quantities.iter().any(|of| argument.get_value_parser().type_id() == *of)
}

/// How clap's advice begins to write `--` before what it does not know.
const ADVICE: &str = "to pass '";

/// The error without that advice: it would make a free argument of an option that there is not, which is what nobody means.
pub fn without_advice(mut error: Error) -> Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    if let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested) {
        tips.retain(|tip| !tip.to_string().starts_with(ADVICE));
        if !tips.is_empty() {
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
    }
    error
}
