//! Options that are about another one, and say nothing without it.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, Error};

/// Each option by its id, and the one that it is about. They `require` it, too; but clap does not ask for what an option requires
/// where another one excludes that, and would pass over the option in silence: `--scenario x.toml --pods 3` would be a load from
/// here.
const ABOUT: [(&str, &str); 19] = [
    ("no_pauses", "har"),
    ("hosts", "scenario"),
    ("agent_command", "machines"),
    ("pods", "on"),
    ("image", "on"),
    ("context", "on"),
    ("namespace", "on"),
    ("cpu", "on"),
    ("memory", "on"),
    ("ready_timeout", "on"),
    ("manifest", "on"),
    ("rbac", "on"),
    ("watched", "on"),
    ("watched", "labels"),
    ("labels", "watched"),
    ("namespace_of_server", "watched"),
    ("proxy_user", "proxy"),
    ("save_responses_dir", "save_responses"),
    ("variants", "all"),
];

/// Refuses an option without the one that it is about, of the subcommand that was given.
pub fn refuse(command: &mut Command, matches: &ArgMatches) -> Result<(), Error> {
    let Some((name, given)) = matches.subcommand() else { return Ok(()) };
    let Some(command) = command.find_subcommand_mut(name) else { return Ok(()) };
    let is_given = |id: &str| {
        given.ids().any(|it| it.as_str() == id) && given.value_source(id) == Some(ValueSource::CommandLine)
    };
    // Other subcommands may have an option of the same name that is about nothing.
    let long = |id: &str| {
        let option = command.get_arguments().find(|it| it.get_id().as_str() == id)?;
        option.get_long().map(|it| format!("--{it}"))
    };
    let pointless = ABOUT.iter().find_map(|&(option, needed)| {
        let needed = long(needed).filter(|_| is_given(option) && !is_given(needed))?;
        Some((long(option)?, needed))
    });
    let Some((option, needed)) = pointless else { return Ok(()) };
    let message = format!("{option} is about {needed}, which is not given; give that, or leave {option} out");
    Err(command.error(ErrorKind::MissingRequiredArgument, message))
}
