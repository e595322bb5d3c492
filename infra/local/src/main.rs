//! The `switchboard` command (`cargo run`): builds the functions, serves them on this machine and prints how to try
//! them.

use std::future::Future;
use std::process::ExitCode;

use clap::Parser;
use local::api_client::{self, ApiClient};
use local::command::arguments::Arguments;
use local::command::open_file_limit;
use local::command::ready_file::{self, ReadyFile};
use local::demo::{self, DemoServers, welcome};
use local::file_store::{self, FileStore};
use local::random_and_digest::RandomError;
use local::{Host, Options, Reservation, cargo_build, terminal};
use tokio::signal::unix::{SignalKind, signal};

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Build(#[from] cargo_build::Error),
    #[error(transparent)]
    FileStore(#[from] file_store::Error),
    #[error(transparent)]
    Host(#[from] local::Error),
    #[error(transparent)]
    Demo(#[from] demo::Error),
    #[error(transparent)]
    Api(#[from] api_client::Error),
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error("cannot handle signals such as Ctrl-C: {0}")]
    Signals(std::io::Error),
}

#[tokio::main]
async fn main() -> ExitCode {
    open_file_limit::raise_limit();
    match run(&Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::print_error(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

/// Runs the command until a stop signal arrives or a step fails. A signal during startup drops the future of `start`,
/// which stops everything that has been started.
async fn run(arguments: &Arguments) -> Result<(), Error> {
    let mut stop = Box::pin(stop_signal()?);
    let file_store = arguments.open_file_store()?;
    let operator_key = file_store.operator_key()?;
    let servers = DemoServers::default();
    let binaries = cargo_build::existing_binaries()?;
    let options = arguments.options(&file_store, binaries, &operator_key, servers.router());
    let reservation = Reservation::acquire(&options)?;
    // Until the reservation succeeds, the ready file may belong to another running host.
    remove_ready_file(arguments)?;
    let host = tokio::select! {
        () = &mut stop => return Ok(()),
        host = start(arguments, reservation, options) => host?,
    };
    let announcement = announce(arguments, &file_store, &operator_key, &servers, &host);
    // If `announce` succeeds, `select!` keeps waiting for the signal.
    let result = tokio::select! {
        () = &mut stop => Ok(()),
        Err(error) = announcement => Err(error),
    };
    let removed = remove_ready_file(arguments);
    host.stop().await;
    result.and(removed)
}

async fn start(arguments: &Arguments, reservation: Reservation, options: Options) -> Result<Host, Error> {
    let binaries = arguments.build_functions().await?;
    let host = Host::start_with(reservation, Options { binaries, ..options }).await?;
    if let Err(error) = host.start_functions().await {
        // If the host were dropped instead, the functions would log errors of their own. After an orderly shutdown, the
        // error returned here is the last line of the output.
        host.stop().await;
        return Err(error.into());
    }
    Ok(host)
}

fn remove_ready_file(arguments: &Arguments) -> Result<(), Error> {
    match &arguments.ready_file {
        Some(file) => Ok(ready_file::remove(file)?),
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

/// Prepares the demo account, prints the welcome text and, if the arguments name a ready file, writes it.
async fn announce(
    arguments: &Arguments,
    file_store: &FileStore,
    operator_key: &str,
    servers: &DemoServers,
    host: &Host,
) -> Result<(), Error> {
    let base_url = host.base_url();
    let api = ApiClient::new(base_url)?;
    let demo = match demo::prepare(&api, operator_key, file_store).await {
        Ok(demo) => {
            servers.connect(base_url, &demo)?;
            let sign_in_link = servers.create_sign_in_link(base_url)?;
            terminal::print_line(&welcome::welcome_text(&api, &demo, &sign_in_link).await?);
            Some(demo)
        }
        Err(reason @ demo::Error::ReceiversRejected(_)) => {
            terminal::print_line(&welcome::text_without_demo(base_url, operator_key, &reason)?);
            None
        }
        Err(error) => return Err(error.into()),
    };
    if let Some(file) = &arguments.ready_file {
        ReadyFile::new(host, operator_key, demo.as_ref()).write(file)?;
    }
    Ok(())
}
