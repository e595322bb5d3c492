//! Puts the host together, and takes it apart again.

use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZero, NonZeroU32};
use std::path::Path;
use std::time::Duration;

use axum::body::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::claim::Claim;
use crate::data::{Lock, blamed_on};
use crate::dynamo::Engine;
use crate::endpoints::Endpoints;
use crate::gateway::Gateway;
use crate::lambda::{Functions, Leash, Setup};
use crate::log::LogSink;
use crate::mappings::Mapping;
use crate::outage::Outage;
use crate::permission::{Permission, Roles};
use crate::serve::{serve, serve_until};
use crate::sqs::Queues;
use crate::template::{Function, to_consume};
use crate::usage::Meter;
use crate::{Error, Options, queue_proxy, schedule};

/// How long a stop waits for what is running.
const GRACE: Duration = Duration::from_secs(3);

/// A running host. Dropping it ends the functions at once; [`Host::stop`] lets them finish.
pub struct Host {
    base_url: String,
    port: u16,
    queues: Queues,
    functions: Functions,
    /// Dropping the host drops this.
    _leash: Leash,
    /// The names of schedules by function.
    schedules: BTreeMap<String, String>,
    /// The queues that feed functions.
    polled: Vec<String>,
    meter: Meter,
    roles: Roles,
    outage: Outage,
    stopping: watch::Sender<bool>,
    /// What ends by itself when it is told to.
    serving: JoinSet<()>,
    /// What runs until it is dropped.
    background: JoinSet<()>,
    engine: Engine,
    _lock: Option<Lock>,
}

impl Host {
    /// Starts everything; requests are served when this returns.
    ///
    /// # Errors
    /// Whatever keeps the host from serving: the template, a missing binary, the port, the data folder.
    pub async fn start(options: Options) -> Result<Self, Error> {
        let claim = Claim::take(&options)?;
        Self::start_on(claim, options).await
    }

    /// As [`start`](Self::start), on what was taken before for the same options.
    ///
    /// # Errors
    /// A missing binary, or what an earlier run left in the data folder.
    pub async fn start_on(claim: Claim, options: Options) -> Result<Self, Error> {
        let Claim { public, private, data, template } = claim;
        let (base_url, port, services) = (public.url(), public.number, private.url());
        for function in &template.functions {
            check_binary(function, &options.binaries)?;
        }

        let meter = Meter::default();
        let roles = roles(&template.functions)?;
        let unusable = |error| blamed_on(&options.storage, error);
        let engine = Engine::start(data.tables.as_deref(), &template.tables, meter.clone(), roles.clone());
        let engine = engine.map_err(|error| unusable(error.into()))?;
        let queues = Queues::open(&data.queues, template.queues).map_err(|error| unusable(error.into()))?;
        let (public, private) = (public.listen()?, private.listen()?);
        let endpoints = Endpoints { services: services.clone(), tables: engine.url().to_owned() };
        let setup = Setup { binaries: options.binaries, endpoints, log: options.log.clone(), meter: meter.clone() };
        let functions = Functions::new(&template.functions, &setup).map_err(Error::Processes)?;
        let runtime_api = functions.runtime_api();
        let gateway = Gateway::new(&template.functions, functions.clone());

        let mut host = Self {
            base_url,
            port,
            _leash: functions.leash(),
            functions,
            schedules: schedules(&template.functions),
            polled: template.functions.iter().flat_map(|function| &function.queues).map(|q| q.queue.clone()).collect(),
            stopping: watch::Sender::new(false),
            serving: JoinSet::new(),
            background: JoinSet::new(),
            _lock: data.lock,
            queues,
            meter,
            roles,
            outage: Outage::default(),
            engine,
        };
        let (meter, roles, outage) = (host.meter.clone(), host.roles.clone(), host.outage.clone());
        let queue_api = queue_proxy::router(&host.queues, services, meter, roles, outage);
        host.background.spawn(serve(private, runtime_api.merge(queue_api)));
        host.background.spawn(host.engine.sweep());
        host.background.spawn(host.functions.clone().reap());
        host.feed(&template.functions, &options.log);
        let extra = options.extra.merge(host.meter.clone().router());
        let stopping = host.told_to_stop();
        host.serving.spawn(serve_until(public, gateway.router(extra), stopping));
        Ok(host)
    }

    /// Starts a process of every function, so that whoever is told that the host serves can call them all.
    ///
    /// # Errors
    /// [`Error::Invoke`] with a function that cannot start.
    pub async fn start_functions(&self) -> Result<(), Error> {
        let starts = stream::iter(self.functions.names().map(|function| self.start_function(function)));
        starts.buffer_unordered(starts_at_once()).try_collect().await
    }

    /// Starts a process of this function.
    ///
    /// # Errors
    /// [`Error::Invoke`].
    pub async fn start_function(&self, function: &str) -> Result<(), Error> {
        let started = self.functions.warm(function).await;
        started.map_err(|failure| Error::Invoke { function: function.to_owned(), failure })
    }

    /// `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The gateway's port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The queues.
    #[must_use]
    pub fn queues(&self) -> &Queues {
        &self.queues
    }

    /// The address of the tables for an AWS SDK; requests are counted under the caller's name.
    #[must_use]
    pub fn tables_url(&self, caller: &str) -> String {
        format!("{}/{caller}", self.engine.url())
    }

    /// From now on every so-manieth write to a table is answered as on AWS when it meets another one, which never happens
    /// here by itself; with `None` no write is. For tests.
    pub fn contend(&self, every: Option<NonZeroU32>) {
        self.engine.contend(every);
    }

    /// From now on every message that a function sends to a queue is refused, as by an SQS that has an outage; with
    /// `false` none is. For tests.
    pub fn refuse_sends(&self, refuses: bool) {
        self.outage.set(refuses);
    }

    /// Function and process id of every process there is now.
    #[must_use]
    pub fn processes(&self) -> Vec<(String, u32)> {
        self.functions.processes()
    }

    /// What every function used since the start or the last reset.
    #[must_use]
    pub fn usage(&self) -> Value {
        self.meter.snapshot()
    }

    /// Starts to count what the functions use from nothing.
    pub fn reset_usage(&self) {
        self.meter.reset();
    }

    /// What the roles of functions allow and they did not do so far, by function.
    #[must_use]
    pub fn unused_permissions(&self) -> BTreeSet<(String, Permission)> {
        self.roles.unused()
    }

    /// The queues that feed functions.
    #[must_use]
    pub fn polled(&self) -> &[String] {
        &self.polled
    }

    /// The functions that clocks call.
    pub fn scheduled(&self) -> impl Iterator<Item = &str> {
        self.schedules.keys().map(String::as_str)
    }

    /// Calls a scheduled function as its clock would, now.
    ///
    /// # Errors
    /// [`Error::NoSchedule`], [`Error::Invoke`], [`Error::Result`].
    pub async fn run_schedule(&self, function: &str) -> Result<Value, Error> {
        let name = self.schedules.get(function);
        let name = name.ok_or_else(|| Error::NoSchedule(function.to_owned()))?;
        self.call(function, schedule::payload(name)).await
    }

    /// Invokes a function with any event.
    ///
    /// # Errors
    /// [`Error::Invoke`], [`Error::Result`].
    pub async fn invoke(&self, function: &str, event: Value) -> Result<Value, Error> {
        self.call(function, event.to_string().into()).await
    }

    async fn call(&self, function: &str, event: Bytes) -> Result<Value, Error> {
        let result = self.functions.invoke(function, event).await;
        let result = result.map_err(|failure| Error::Invoke { function: function.to_owned(), failure })?;
        serde_json::from_slice(&result).map_err(|source| Error::Result { function: function.to_owned(), source })
    }

    /// Takes no more work, gives what is running a few seconds, and ends everything.
    pub async fn stop(mut self) {
        self.stopping.send_replace(true);
        let finished = async {
            while self.serving.join_next().await.is_some() {}
            self.functions.drain().await;
        };
        // Whoever is not done by now is cut off.
        let _ = tokio::time::timeout(GRACE, finished).await;
        self.functions.end().await;
        self.serving.shutdown().await;
        self.background.shutdown().await;
        self.engine.stop().await;
    }

    /// Queues and clocks start to call.
    fn feed(&mut self, functions: &[Function], log: &LogSink) {
        for function in functions {
            for mapping in &function.queues {
                let mapping = Mapping {
                    function: function.name.clone(),
                    mapping: mapping.clone(),
                    queues: self.queues.clone(),
                    functions: self.functions.clone(),
                    meter: self.meter.clone(),
                    log: log.clone(),
                };
                self.serving.spawn(mapping.run(self.told_to_stop()));
            }
            for schedule in &function.schedules {
                let functions = self.functions.clone();
                let run = schedule::run(function.name.clone(), schedule.clone(), functions);
                self.background.spawn(run);
            }
        }
    }

    /// Waits for the stop.
    fn told_to_stop(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut stopping = self.stopping.subscribe();
        async move {
            let _ = stopping.wait_for(|stopping| *stopping).await;
        }
    }
}

fn check_binary(function: &Function, binaries: &Path) -> Result<(), Error> {
    let path = binaries.join(&function.name);
    if path.is_file() {
        return Ok(());
    }
    Err(Error::NoBinary { logical_id: function.logical_id.clone(), path })
}

/// The roles of the functions, which must let Lambda consume their queues.
fn roles(functions: &[Function]) -> Result<Roles, Error> {
    let roles = Roles::new(functions.iter().map(|function| (&*function.name, &*function.permissions)));
    for function in functions {
        for mapping in &function.queues {
            let allowed = roles.check(&function.name, &to_consume(mapping));
            allowed.map_err(|denied| Error::Role { logical_id: function.logical_id.clone(), denied })?;
        }
    }
    Ok(roles)
}

/// The name of each scheduled function's first schedule.
fn schedules(functions: &[Function]) -> BTreeMap<String, String> {
    let named = |function: &Function| {
        let schedule = function.schedules.first()?;
        Some((function.name.clone(), schedule.name.clone()))
    };
    functions.iter().filter_map(named).collect()
}

/// How many processes a host starts at once: each has a limit of its own, which it must not spend waiting for the others.
/// While one waits for the host, another can use its processor.
fn starts_at_once() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get).max(2)
}
