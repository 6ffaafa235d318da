//! The command line and the environment together. Errors name the variable that a wrong value comes
//! from.

use std::ffi::OsStr;

use clap::{
    Arg, Command, Parser,
    error::{ContextKind, ContextValue, ErrorKind},
};

/// The command that checks the environment itself.
const CHECK: &str = "check";

/// Variables that had another name before, which still works: the earlier name and today's.
pub(super) const RENAMED: [(&str, &str); 1] =
    [("GATEHOUSE_LINGER_SECONDS", "GATEHOUSE_DRAIN_SECONDS")];

/// Reads the command line and the environment. An empty variable counts as not set. A message about
/// a wrong value names the variable that the value comes from.
///
/// # Errors
/// What clap prints.
pub(crate) fn read<C: Parser>() -> Result<C, clap::Error> {
    let command = sourced(C::command());
    let matches = command.clone().try_get_matches();
    let matches = matches.map_err(|error| blaming(command, error))?;
    C::from_arg_matches(&matches).map_err(|error| error.format(&mut sourced(C::command())))
}

/// The commands, without variables that count as not set.
fn sourced(command: Command) -> Command {
    let without = command.mut_args(|arg| {
        let arg = by_the_name_that_is_set(arg);
        match variable(&arg) {
            Some((_, value)) if value.is_empty() => arg.env(None::<&'static str>),
            _ => arg,
        }
    });
    without
        .mut_args(with_numbers_below_zero)
        .mut_subcommands(|inner| {
            let inner = sourced(inner);
            if inner.get_name() == CHECK {
                // `check` reports them with all other problems.
                inner.mut_args(|arg| match problem(&arg) {
                    Some(_) => arg.env(None::<&'static str>),
                    None => arg,
                })
            } else {
                inner
            }
        })
}

/// The same option. Its variable has the earlier name if only that one is set.
fn by_the_name_that_is_set(arg: Arg) -> Arg {
    let is_set = |name: &OsStr| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let renamed = RENAMED
        .into_iter()
        .find(|(_, now)| arg.get_env() == Some(OsStr::new(now)));
    match renamed {
        Some((earlier, now)) if is_set(OsStr::new(earlier)) && !is_set(OsStr::new(now)) => {
            arg.env(earlier)
        }
        _ => arg,
    }
}

/// A value such as `-1` belongs to the option before it, whose message says which values are valid. Otherwise it would be an
/// "unexpected argument".
fn with_numbers_below_zero(arg: Arg) -> Arg {
    let takes_values = arg.get_action().takes_values();
    arg.allow_negative_numbers(takes_values)
}

/// The variable of an option, and its value.
fn variable(arg: &Arg) -> Option<(&OsStr, std::ffi::OsString)> {
    let name = arg.get_env()?;
    Some((name, std::env::var_os(name)?))
}

/// What is wrong with the variable of an option, if it is set.
fn problem(arg: &Arg) -> Option<String> {
    let (name, value) = variable(arg)?;
    if value.is_empty() {
        return None;
    }
    let alone = Command::new("gatehouse")
        .no_binary_name(true)
        .arg(arg.clone().required(false));
    let error = alone.try_get_matches_from([""; 0]).err()?;
    Some(format!(
        "the variable {} is wrong: {}",
        name.display(),
        reason(&error)
    ))
}

/// Every variable of any command that has an invalid value.
pub(crate) fn problems<C: Parser>() -> Vec<String> {
    let mut found = Vec::new();
    for command in C::command().get_subcommands() {
        for arg in command.get_arguments() {
            found.extend(problem(&by_the_name_that_is_set(arg.clone())));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// The message of an error in one line, without its advice to ask for help.
fn reason(error: &clap::Error) -> String {
    let text = error.to_string();
    let message = text.split("\n\n").next().unwrap_or_default();
    let message = message.trim_start_matches("error: ");
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Adds the variable that a wrong value comes from.
fn blaming(mut command: Command, mut error: clap::Error) -> clap::Error {
    if !matches!(
        error.kind(),
        ErrorKind::ValueValidation | ErrorKind::InvalidValue
    ) {
        return error;
    }
    let (Some(ContextValue::String(option)), Some(ContextValue::String(value))) = (
        error.get(ContextKind::InvalidArg),
        error.get(ContextKind::InvalidValue),
    ) else {
        return error;
    };
    // Options have the names that errors use only after this.
    command.build();
    let blamed = command
        .get_subcommands()
        .flat_map(Command::get_arguments)
        .filter(|arg| arg.to_string() == *option && !is_given(arg))
        .find_map(variable)
        .filter(|(_, set)| set.to_string_lossy().contains(value.as_str()));
    if let Some((name, _)) = blamed {
        let tip = format!("this value comes from the variable {}", name.display());
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![tip.into()]),
        );
    }
    error
}

/// Whether the command line has this option.
fn is_given(arg: &Arg) -> bool {
    let Some(long) = arg.get_long() else {
        return false;
    };
    std::env::args_os().any(|argument| {
        let argument = argument.to_string_lossy();
        let name = argument.split('=').next().unwrap_or_default();
        name.strip_prefix("--") == Some(long)
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::commands::Cli;

    /// Every option with a value: the words that lead to it, and its name.
    fn options(command: &Command, path: &[String]) -> Vec<(Vec<String>, String)> {
        let own = command.get_arguments();
        let own = own.filter(|arg| arg.get_action().takes_values());
        let own = own.filter_map(|arg| Some((path.to_vec(), format!("--{}", arg.get_long()?))));
        let inner = command.get_subcommands().flat_map(|inner| {
            let path = [path, &[inner.get_name().to_owned()]].concat();
            options(inner, &path)
        });
        own.chain(inner).collect()
    }

    fn refused(path: &[String], option: &str) -> Option<clap::Error> {
        let words = [path, &[option.to_owned(), "-1".to_owned()]].concat();
        let words = std::iter::once("gatehouse".to_owned()).chain(words);
        sourced(Cli::command()).try_get_matches_from(words).err()
    }

    #[test]
    fn every_option_takes_a_number_below_zero_as_its_own_value() {
        let options = options(&Cli::command(), &[]);
        assert!(options.len() > 100, "{}", options.len());
        for (path, option) in options {
            if let Some(error) = refused(&path, &option) {
                assert_ne!(
                    error.kind(),
                    ErrorKind::UnknownArgument,
                    "{path:?} {option}"
                );
            }
        }
        for option in ["--connections", "--drain-seconds"] {
            let error = refused(&["api".to_owned()], option).unwrap().to_string();
            assert!(error.contains("must be a whole number from "), "{error}");
        }
    }
}
