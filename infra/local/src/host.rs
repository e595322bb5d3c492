//! Starts all emulated services and the functions, connects them, and stops them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::{NonZero, NonZeroU32};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::middleware::from_fn;
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::activity::Activity;
use crate::aws::access_keys::AccessKeys;
use crate::aws::iam::{Permission, Roles};
use crate::aws::service_endpoints::ServiceEndpoints;
use crate::clock::Clock;
use crate::customer_aws::CustomerAws;
use crate::database_files::{DataFolderLock, add_data_folder_path};
use crate::dynamo::DynamoEngine;
use crate::event_source_mapping::{QueueConsumer, StreamConsumer};
use crate::faults::Faults;
use crate::faults::sqs_outage::SqsOutage;
use crate::faults::store_latency::delay_requests;
use crate::gateway::Gateway;
use crate::http::loopback_host;
use crate::http::server::{serve, serve_until};
use crate::lambda::{Functions, KillOnDrop, LaunchContext, function_variables};
use crate::log::LogSink;
use crate::reservation::Reservation;
use crate::s3::{Objects, S3Api};
use crate::schedule::Scheduler;
use crate::ses::{LocalSes, open_sent_emails};
use crate::sqs::Queues;
use crate::sqs::proxy::SqsProxy;
use crate::template::{Function, event_source_permissions};
use crate::usage::UsageMeter;
use crate::web_sockets::{SocketTimeouts, WebSockets};
use crate::{Error, Options, schedule};

/// How long [`Host::stop`] waits for running requests and invocations.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// How long [`Host::advance_to_next_message`] waits until the host is idle.
const MAX_IDLE_WAIT: Duration = Duration::from_secs(60);

const IDLE_PROBE_INTERVAL: Duration = Duration::from_millis(4);

/// The environment variables of each function, by the logical id of the function.
pub type FunctionVariables = BTreeMap<String, BTreeMap<String, String>>;

/// A running host. Dropping it kills the functions at once; [`Host::stop`] lets them finish.
pub struct Host {
    base_url: String,
    port: u16,
    tables_url: String,
    queues: Queues,
    objects: Objects,
    s3_base_url: String,
    functions: Functions,
    function_variables: FunctionVariables,
    _kill_on_drop: KillOnDrop,
    /// `None` if the template has no WebSocket API.
    web_sockets: Option<WebSockets>,
    /// The scheduled functions by name, each with the name of its first schedule.
    schedules: BTreeMap<String, String>,
    consumed_queues: Vec<String>,
    activity: Activity,
    /// When each schedule is due, in milliseconds since 1970.
    schedules_due_ms: Vec<Arc<AtomicU64>>,
    clock: Clock,
    meter: UsageMeter,
    roles: Roles,
    outage: SqsOutage,
    faults: Faults,
    stop: watch::Sender<bool>,
    /// The tasks that complete on their own after a stop request: the gateway and the event source mappings.
    graceful_tasks: JoinSet<()>,
    /// The tasks that run until they are aborted, such as the schedules.
    background_tasks: JoinSet<()>,
    engine: DynamoEngine,
    _lock: Option<DataFolderLock>,
}

impl Host {
    /// Starts a host. When this returns, the host serves requests.
    pub async fn start(options: Options) -> Result<Self, Error> {
        let reservation = Reservation::acquire(&options)?;
        Self::start_with(reservation, options).await
    }

    /// Like [`start`](Self::start), but takes a reservation that was acquired with the same options.
    pub async fn start_with(reservation: Reservation, options: Options) -> Result<Self, Error> {
        let Reservation { public, private, s3, files, template } = reservation;
        let (base_url, port, private_base_url) = (public.url(), public.number, private.url());
        for function in &template.functions {
            check_binary(function, &options.binaries)?;
        }

        let clock = Clock::new().map_err(Error::Clock)?;
        let meter = UsageMeter::default();
        let roles = verified_roles(&template.functions)?;
        let faults = Faults::default();
        let latency = options.store_latency;
        let with_data_folder = |error| add_data_folder_path(&options.storage, error);
        let access_keys = AccessKeys::generate(template.functions.iter().map(|function| function.name.as_str()))?;
        let tables_context = (access_keys.clone(), meter.clone(), roles.clone(), faults.clone());
        let engine = DynamoEngine::start(files.tables.as_deref(), &template.tables, tables_context, latency);
        let engine = engine.map_err(|error| with_data_folder(error.into()))?;
        let queues = Queues::open(&files.queues, template.queues, clock.clone());
        let queues = queues.map_err(|error| with_data_folder(error.into()))?;
        let objects = Objects::open(files.objects.as_deref(), template.buckets, clock.clone());
        let objects = objects.map_err(|error| with_data_folder(error.into()))?;
        let s3_base_url = s3.url();
        let (public, private, s3) = (public.listen()?, private.listen()?, s3.listen()?);
        let endpoints = ServiceEndpoints {
            private_base_url: private_base_url.clone(),
            dynamodb_base_url: engine.url().to_owned(),
            s3_base_url: s3_base_url.clone(),
        };
        let context = LaunchContext {
            binaries: options.binaries,
            endpoints,
            access_keys: access_keys.clone(),
            log: options.log.clone(),
            meter: meter.clone(),
            clock: clock.clone(),
            faults: faults.clone(),
        };
        let functions = Functions::new(&template.functions, &context).map_err(Error::ProcessStart)?;
        let runtime_api = functions.runtime_api();
        let variables = |function: &Function| function_variables(function, &context).into_iter().collect();
        let variables = template.functions.iter().map(|function| (function.logical_id.clone(), variables(function)));
        let gateway = Gateway::new(&template.functions, functions.clone());
        let web_sockets = template.web_socket_api.map(|api| {
            WebSockets::new(api, functions.clone(), access_keys.clone(), roles.clone(), meter.clone(), clock.clone())
        });

        let tables_url = format!("{}/tools/{}", engine.url(), access_keys.of_tools());
        let mut host = Self {
            base_url,
            port,
            tables_url,
            _kill_on_drop: functions.kill_on_drop(),
            functions,
            function_variables: variables.collect(),
            web_sockets,
            schedules: first_schedule_by_function(&template.functions),
            consumed_queues: consumed_queues(&template.functions),
            activity: Activity::default(),
            schedules_due_ms: Vec::new(),
            stop: watch::Sender::new(false),
            graceful_tasks: JoinSet::new(),
            background_tasks: JoinSet::new(),
            _lock: files.lock,
            queues,
            objects,
            s3_base_url,
            clock,
            meter,
            roles,
            outage: SqsOutage::default(),
            faults,
            engine,
        };
        let customers = CustomerAws::open(
            access_keys.clone(),
            host.clock.clone(),
            host.faults.clone(),
            files.customer_aws.as_deref(),
        );
        let customers = customers.map_err(Error::CustomerAws)?;
        let ses = LocalSes {
            access_keys: access_keys.clone(),
            roles: host.roles.clone(),
            clock: host.clock.clone(),
            functions: host.functions.clone(),
            objects: host.objects.clone(),
            emails: open_sent_emails(files.emails.as_deref()).map_err(Error::SentEmails)?,
        };
        let s3_api =
            S3Api { objects: host.objects.clone(), access_keys: access_keys.clone(), roles: host.roles.clone() };
        host.background_tasks.spawn(serve(s3, s3_api.router().layer(from_fn(loopback_host::require))));
        let sqs_api = SqsProxy {
            access_keys,
            customers: customers.clone(),
            queues: host.queues.router(private_base_url),
            meter: host.meter.clone(),
            roles: host.roles.clone(),
            outage: host.outage.clone(),
            faults: host.faults.clone(),
        };
        let sqs_api = delay_requests(sqs_api.router(), latency);
        let private_apis = runtime_api.merge(sqs_api).merge(customers.private_router()).merge(ses.private_router());
        let private_apis = private_apis.layer(from_fn(loopback_host::require));
        host.background_tasks.spawn(serve(private, private_apis));
        host.background_tasks.spawn(host.engine.delete_expired_items());
        host.background_tasks.spawn(host.functions.clone().kill_idle_processes());
        host.start_event_sources(&template.functions, &options.log)?;
        let web_sockets = host.web_sockets.as_ref().map_or_else(Router::new, WebSockets::router);
        // These routes need no credentials.
        let extra_routes = options.extra_routes.merge(host.meter.clone().router());
        let extra_routes = extra_routes.merge(customers.local_router()).merge(ses.local_router());
        let extra_routes = extra_routes.route_layer(from_fn(loopback_host::require)).merge(web_sockets);
        let stop_requested = host.stop_requested();
        host.graceful_tasks.spawn(serve_until(public, gateway.router(extra_routes), stop_requested));
        Ok(host)
    }

    /// Starts one process for every function, so that initialization errors surface immediately.
    pub async fn start_functions(&self) -> Result<(), Error> {
        let starts = stream::iter(self.functions.names().map(|function| self.start_function(function)));
        starts.buffer_unordered(max_concurrent_starts()).try_collect().await
    }

    /// Starts one process of the function and waits until it is initialized.
    pub async fn start_function(&self, function: &str) -> Result<(), Error> {
        let started = self.functions.warm_up(function).await;
        started.map_err(|error| Error::Invocation { function: function.to_owned(), error })
    }

    /// Returns the URL of the gateway: `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    #[must_use]
    pub fn queues(&self) -> &Queues {
        &self.queues
    }

    /// Returns the objects in the buckets.
    #[must_use]
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Returns the origin of uploaded files, and the endpoint for an AWS SDK.
    #[must_use]
    pub fn s3_url(&self) -> &str {
        &self.s3_base_url
    }

    /// Returns the `DynamoDB` endpoint for an AWS SDK. The URL contains a secret, so that the requests need no access
    /// key. They may do anything, and are counted under the name in `caller`.
    #[must_use]
    pub fn tables_url(&self, caller: &str) -> String {
        format!("{}/{caller}", self.tables_url)
    }

    /// Returns the variables that all processes of a function have in common. They include its secret access key.
    #[must_use]
    pub fn function_variables(&self) -> &FunctionVariables {
        &self.function_variables
    }

    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// For tests: waits until the functions have handled all messages and table changes, and then advances the clock to
    /// the time at which the next message can be received. Returns by how much it has advanced the clock, or `None` if
    /// no message is left.
    ///
    /// # Errors
    /// Fails if the queues cannot be read, if the clock cannot be advanced, or if the host stays busy for a minute.
    pub async fn advance_to_next_message(&self) -> Result<Option<Duration>, Error> {
        let Some(due_ms) = self.wait_until_idle().await? else { return Ok(None) };
        let duration = Duration::from_millis(due_ms.saturating_sub(self.clock.now_ms()));
        self.clock.advance_by(duration).map_err(Error::Clock)?;
        Ok(Some(duration))
    }

    /// For tests: waits until nothing is running, all changes of tables have been processed, and nothing is due.
    /// Returns when the next message is due, in milliseconds since 1970.
    ///
    /// # Errors
    /// Fails if the queues cannot be read, or if the host stays busy for a minute.
    pub async fn wait_until_idle(&self) -> Result<Option<u64>, Error> {
        let deadline = Instant::now() + MAX_IDLE_WAIT;
        loop {
            match self.next_due_ms_if_idle()? {
                Ok(due_ms) => return Ok(due_ms),
                Err(busy) if Instant::now() > deadline => return Err(Error::StillBusy(busy)),
                Err(_) => tokio::time::sleep(IDLE_PROBE_INTERVAL).await,
            }
        }
    }

    /// Work can start only because a message, a table change or a schedule is due, and can itself cause further work.
    /// So if no work goes on, nothing is due after that, and no work has been started meanwhile, there is none.
    fn next_due_ms_if_idle(&self) -> Result<Result<Option<u64>, Busy>, Error> {
        let (started, ongoing) = self.activity.started_and_ongoing();
        let functions = self.functions.busy();
        let tables = self.engine.tables_with_unread_changes();
        let now_ms = self.clock.now_ms();
        let schedules = self.schedules_due_ms.iter().filter(|due_ms| due_ms.load(Ordering::SeqCst) <= now_ms).count();
        let (mut queues, mut next_due_ms) = (Vec::new(), None);
        for queue in &self.consumed_queues {
            match self.queues.next_due_ms(queue)? {
                Some(due_ms) if due_ms <= now_ms => queues.push(queue.as_str()),
                Some(due_ms) => next_due_ms = Some(next_due_ms.map_or(due_ms, |next: u64| next.min(due_ms))),
                None => {}
            }
        }
        let has_started = self.activity.started_and_ongoing().0 != started;
        let is_idle = functions.is_empty() && tables.is_empty() && queues.is_empty();
        if is_idle && ongoing == 0 && schedules == 0 && !has_started {
            return Ok(Ok(next_due_ms));
        }
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        Ok(Err(Busy { functions: owned(functions), tables: owned(tables), queues: owned(queues), schedules, ongoing }))
    }

    /// For tests: makes every n-th write to a table fail with a write conflict, because the local tables have no real
    /// conflicts. With `None`, no write fails.
    pub fn set_write_conflict_interval(&self, interval: Option<NonZeroU32>) {
        self.engine.set_write_conflict_interval(interval);
    }

    /// For tests: while the outage is active, every message that a function sends to a queue is rejected.
    pub fn set_sqs_outage(&self, is_active: bool) {
        self.outage.set_active(is_active);
    }

    /// For tests: returns the [`Faults`] through which a fault plan is set.
    #[must_use]
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// For tests: sets the timeouts of the WebSockets that are opened from now on.
    pub fn set_socket_timeouts(&self, timeouts: SocketTimeouts) {
        if let Some(web_sockets) = &self.web_sockets {
            web_sockets.set_timeouts(timeouts);
        }
    }

    /// Returns the function name and the process id of every running process.
    #[must_use]
    pub fn processes(&self) -> Vec<(String, u32)> {
        self.functions.processes()
    }

    /// Returns each function's usage since the start or the last reset, as JSON.
    #[must_use]
    pub fn usage(&self) -> Value {
        self.meter.snapshot()
    }

    pub fn reset_usage(&self) {
        self.meter.reset();
    }

    /// Sets whether the responses of the tables are delayed until all concurrent requests of a function have arrived.
    /// The usage then contains the exact number of round trips.
    pub fn separate_round_trips(&self, is_separated: bool) {
        self.meter.separate_round_trips(is_separated);
    }

    /// Returns the permissions that functions have not used so far, each with the function's name.
    #[must_use]
    pub fn unused_permissions(&self) -> BTreeSet<(String, Permission)> {
        self.roles.unused()
    }

    /// Returns the names of the queues that have an event source mapping.
    #[must_use]
    pub fn consumed_queues(&self) -> &[String] {
        &self.consumed_queues
    }

    pub fn scheduled_functions(&self) -> impl Iterator<Item = &str> {
        self.schedules.keys().map(String::as_str)
    }

    /// Invokes a scheduled function now, with the event of its first schedule.
    pub async fn run_schedule(&self, function: &str) -> Result<Value, Error> {
        let name = self.schedules.get(function);
        let name = name.ok_or_else(|| Error::NoSchedule(function.to_owned()))?;
        self.call(function, schedule::payload(name, &self.clock)).await
    }

    pub async fn invoke(&self, function: &str, event: Value) -> Result<Value, Error> {
        self.call(function, event.to_string().into()).await
    }

    async fn call(&self, function: &str, event: Bytes) -> Result<Value, Error> {
        let result = self.functions.invoke(function, event).await;
        let result = result.map_err(|error| Error::Invocation { function: function.to_owned(), error })?;
        serde_json::from_slice(&result).map_err(|source| Error::InvalidResult { function: function.to_owned(), source })
    }

    /// Stops accepting requests and messages, closes all WebSockets, waits for running requests and invocations for at
    /// most three seconds, and ends all processes.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        let finished = async {
            let requests = async { while self.graceful_tasks.join_next().await.is_some() {} };
            let web_sockets = async {
                if let Some(web_sockets) = &self.web_sockets {
                    web_sockets.close_all().await;
                }
            };
            tokio::join!(requests, web_sockets);
            self.functions.drain().await;
        };
        // Work that exceeds the timeout is aborted below.
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, finished).await;
        self.functions.kill_all().await;
        self.graceful_tasks.shutdown().await;
        self.background_tasks.shutdown().await;
        self.engine.stop().await;
    }

    fn start_event_sources(&mut self, functions: &[Function], log: &LogSink) -> Result<(), Error> {
        for function in functions {
            for mapping in &function.queues {
                let consumer = QueueConsumer {
                    function: function.name.clone(),
                    mapping: mapping.clone(),
                    queues: self.queues.clone(),
                    functions: self.functions.clone(),
                    meter: self.meter.clone(),
                    faults: self.faults.clone(),
                    activity: self.activity.clone(),
                    log: log.clone(),
                };
                self.graceful_tasks.spawn(consumer.run(self.stop_requested()));
            }
            for mapping in &function.streams {
                let consumer = StreamConsumer {
                    function: function.name.clone(),
                    mapping: mapping.clone(),
                    reader: self.engine.read_stream(&mapping.table)?,
                    functions: self.functions.clone(),
                    activity: self.activity.clone(),
                    log: log.clone(),
                };
                self.graceful_tasks.spawn(consumer.run(self.stop_requested()));
            }
            for schedule in &function.schedules {
                let due_ms = Arc::new(AtomicU64::new(u64::MAX));
                self.schedules_due_ms.push(Arc::clone(&due_ms));
                let scheduler = Scheduler {
                    function: function.name.clone(),
                    schedule: schedule.clone(),
                    functions: self.functions.clone(),
                    clock: self.clock.clone(),
                    activity: self.activity.clone(),
                    due_ms,
                };
                self.background_tasks.spawn(scheduler.run());
            }
        }
        Ok(())
    }

    fn stop_requested(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut stop = self.stop.subscribe();
        async move {
            let _ = stop.wait_for(|is_requested| *is_requested).await;
        }
    }
}

/// What a host is doing.
#[derive(Debug)]
pub struct Busy {
    /// The functions that are running.
    functions: Vec<String>,
    /// The tables with changes that have not been passed to the functions.
    tables: Vec<String>,
    /// The queues with a message that is due.
    queues: Vec<String>,
    /// The number of schedules that are due.
    schedules: usize,
    /// The number of batches, records and scheduled invocations that are being processed.
    ongoing: u64,
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { functions, tables, queues, schedules, ongoing } = self;
        write!(
            f,
            "running functions {functions:?}, unread tables {tables:?}, due queues {queues:?}, due schedules \
             {schedules}, other work {ongoing}"
        )
    }
}

fn check_binary(function: &Function, binaries: &Path) -> Result<(), Error> {
    let path = binaries.join(&function.name);
    if path.is_file() {
        return Ok(());
    }
    Err(Error::MissingBinary { logical_id: function.logical_id.clone(), path })
}

/// Returns the functions' roles. Fails if a role does not allow Lambda to consume its function's queues and streams.
fn verified_roles(functions: &[Function]) -> Result<Roles, Error> {
    let roles = Roles::new(functions.iter().map(|function| (&*function.name, &*function.permissions)));
    for function in functions {
        let allowed = roles.authorize(&function.name, &event_source_permissions(&function.queues, &function.streams));
        allowed.map_err(|denied| Error::MissingPermission { logical_id: function.logical_id.clone(), denied })?;
    }
    Ok(roles)
}

fn consumed_queues(functions: &[Function]) -> Vec<String> {
    let mappings = functions.iter().flat_map(|function| &function.queues);
    mappings.map(|mapping| mapping.queue.clone()).collect()
}

fn first_schedule_by_function(functions: &[Function]) -> BTreeMap<String, String> {
    let first_schedule = |function: &Function| {
        let schedule = function.schedules.first()?;
        Some((function.name.clone(), schedule.name.clone()))
    };
    functions.iter().filter_map(first_schedule).collect()
}

/// Returns how many processes can start concurrently. The number is limited because each process must initialize within
/// a time limit that includes any time spent waiting for a CPU. At least two processes can start, so that one can run
/// while the other waits for the host.
fn max_concurrent_starts() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get).max(2)
}
