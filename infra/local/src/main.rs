//! `cargo run`: builds the functions, serves them on this machine and says what to try.

use std::future::Future;
use std::process::ExitCode;

use clap::Parser;
use local::arguments::Arguments;
use local::demo::bot::DemoBot;
use local::demo::{self, integrator, welcome};
use local::home::{self, Home};
use local::public_api::{self, Api};
use local::ready::{self, Ready};
use local::{Claim, Host, Options, builder, open_files, terminal};
use tokio::signal::unix::{SignalKind, signal};

/// Why the host does not serve.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Build(#[from] builder::Error),
    #[error(transparent)]
    Home(#[from] home::Error),
    #[error(transparent)]
    Host(#[from] local::Error),
    #[error(transparent)]
    Demo(#[from] demo::Error),
    #[error(transparent)]
    Api(#[from] public_api::Error),
    #[error("cannot listen for Ctrl-C: {0}")]
    Signals(std::io::Error),
}

#[tokio::main]
async fn main() -> ExitCode {
    open_files::raise_limit();
    match run(&Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::complain(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

/// A stop signal wins at any moment; what was being started goes down with its future.
async fn run(arguments: &Arguments) -> Result<(), Error> {
    let mut stop = Box::pin(stop_signal()?);
    let home = arguments.open_home()?;
    let operator_key = home.operator_key()?;
    let bot = DemoBot::default();
    let extra = integrator::router().merge(bot.clone().router());
    let options = arguments.options(&home, builder::already_built()?, &operator_key, extra);
    let claim = Claim::take(&options)?;
    // Not earlier: until here it may be that of a host that serves.
    clear_ready_file(arguments)?;
    let host = tokio::select! {
        () = &mut stop => return Ok(()),
        host = start(arguments, claim, options) => host?,
    };
    // Once everything is introduced, only the signal is left to wait for.
    let outcome = tokio::select! {
        () = &mut stop => Ok(()),
        Err(error) = introduce(arguments, &home, &operator_key, &bot, host.base_url()) => Err(error),
    };
    let cleared = clear_ready_file(arguments);
    host.stop().await;
    outcome.and(cleared)
}

async fn start(arguments: &Arguments, claim: Claim, options: Options) -> Result<Host, Error> {
    let binaries = arguments.binaries().await?;
    let host = Host::start_on(claim, Options { binaries, ..options }).await?;
    if let Err(error) = host.start_functions().await {
        // Functions that lose their host say so, and the reason would not be the last line.
        host.stop().await;
        return Err(error.into());
    }
    Ok(host)
}

fn clear_ready_file(arguments: &Arguments) -> Result<(), Error> {
    match &arguments.ready_file {
        Some(file) => Ok(ready::clear(file)?),
        None => Ok(()),
    }
}

fn stop_signal() -> Result<impl Future<Output = ()>, Error> {
    let mut interrupt = signal(SignalKind::interrupt()).map_err(Error::Signals)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(Error::Signals)?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Tells people on the terminal, and scripts through the ready file, that everything can be called.
async fn introduce(
    arguments: &Arguments,
    home: &Home,
    operator_key: &str,
    bot: &DemoBot,
    base_url: &str,
) -> Result<(), Error> {
    let api = Api::new(base_url)?;
    let demo = match demo::prepare(&api, operator_key, home).await {
        Ok(demo) => {
            bot.introduce(Api::new(base_url)?, &demo.provider_id);
            terminal::say(&welcome::text(&api, &demo).await?);
            Some(demo)
        }
        Err(refused @ demo::Error::ReceiversRefused(_)) => {
            terminal::say(&welcome::without_demo(base_url, operator_key, &refused)?);
            None
        }
        Err(error) => return Err(error.into()),
    };
    if let Some(file) = &arguments.ready_file {
        Ready::new(base_url, operator_key, demo.as_ref()).write(file)?;
    }
    Ok(())
}
