//! Options that are about another one, and say nothing without it.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, Error};

/// Each option by its id, and the one that it is about. They `require` it, too; but clap does not ask for what an option requires
/// where another one excludes that, and would pass over the option in silence: `--scenario x.toml --pods 3` would be a load from
/// here. Where clap does ask, it need not be here.
const ABOUT: [(&str, &str); 22] = [
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
    ("container", "watched"),
    ("server_port", "watch"),
    ("children_of", "watch"),
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
    let message = format!("{option} only works with {needed}; add {needed}, or leave {option} out");
    Err(command.error(ErrorKind::MissingRequiredArgument, message))
}

#[cfg(test)]
mod tests {
    use clap::{Arg, CommandFactory};

    use super::*;
    use crate::arguments::Arguments;

    /// What `option` requires, which clap tells in its debug output alone.
    fn required_by(option: &Arg) -> Vec<String> {
        let shown = format!("{option:?}");
        let (_, list) = shown.split_once(", requires: [").expect("clap shows what an option requires");
        let (list, _) = list.split_once("], r_ifs: ").expect("clap shows that next");
        list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
    }

    fn option<'a>(command: &'a Command, id: &str) -> Option<&'a Arg> {
        command.get_arguments().find(|it| it.get_id().as_str() == id)
    }

    fn exclude_each_other(command: &Command, one: &Arg, other: &Arg) -> bool {
        let excludes = |it: &Arg, of: &Arg| {
            command.get_arg_conflicts_with(it).into_iter().any(|excluded| excluded.get_id() == of.get_id())
        };
        excludes(one, other) || excludes(other, one)
    }

    /// Whether there is something with which clap takes `option` without `needed`: what excludes only the latter.
    fn is_passed_over(command: &Command, option: &Arg, needed: &Arg) -> bool {
        command
            .get_arguments()
            .any(|it| exclude_each_other(command, it, needed) && !exclude_each_other(command, it, option))
    }

    #[test]
    fn what_clap_would_pass_over_is_here_and_all_that_is_here_is_required_of_clap_too() {
        let mut all = Arguments::command();
        all.build();
        let mut required = Vec::new();
        for command in all.get_subcommands() {
            for about in command.get_arguments() {
                for id in required_by(about) {
                    let needed = option(command, &id).expect("an option requires one of its command");
                    let pair = (about.get_id().as_str(), needed.get_id().as_str());
                    let is_here = ABOUT.contains(&pair);
                    assert!(
                        is_here || !is_passed_over(command, about, needed),
                        "{}: {pair:?} is missing",
                        command.get_name()
                    );
                    required.push((command.get_name(), pair));
                }
            }
        }
        assert!(required.len() > ABOUT.len(), "{required:?}");
        for pair in ABOUT {
            let has_both =
                |command: &&Command| option(command, pair.0).is_some() && option(command, pair.1).is_some();
            let mut of = all.get_subcommands().filter(has_both).peekable();
            assert!(of.peek().is_some(), "{pair:?} are of no command");
            // What is refused for want of one that clap doesn't require would be taken without.
            assert!(of.all(|command| required.contains(&(command.get_name(), pair))), "{pair:?}");
        }
    }
}
