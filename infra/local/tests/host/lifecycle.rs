//! Tests of how a host starts and stops, which errors prevent the start, and which data the host keeps.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use local::sqs::QueueMessageToSend;
use local::{Host, HostStorage};
use serde_json::json;

use crate::probe_host::{
    ProbeHost, example_path, is_alive, kill, link_binaries, memory_options, template_path, wait_for,
};

/// The maximum number of calls that a test makes to find a second process of a function.
const MAX_CALLS: usize = 20;

#[tokio::test]
async fn stopping_ends_all_processes() {
    let host = ProbeHost::start().await;
    host.invoke("probe", json!({})).await.unwrap();
    let processes = host.processes();
    host.host.stop().await;
    assert!(processes.iter().all(|(_, pid)| !is_alive(*pid)), "{processes:?}");
}

#[tokio::test]
async fn stopping_lets_a_request_finish() {
    let host = ProbeHost::start().await;
    let response = tokio::spawn(reqwest::get(format!("{}/probe/x?do=sleep&ms=300", host.base_url())));
    wait_for(|| host.lines("probe"), |lines| lines.contains(&"sleeping".to_owned())).await;
    host.host.stop().await;
    assert_eq!(response.await.unwrap().unwrap().status(), 200);
}

#[tokio::test]
async fn stopping_does_not_wait_for_a_hanging_function() {
    let host = ProbeHost::start().await;
    let response = tokio::spawn(reqwest::get(format!("{}/probe/x?do=hang", host.base_url())));
    wait_for(|| host.processes(), |processes| !processes.is_empty()).await;
    host.host.stop().await;
    // Either the connection is closed or the response is an error.
    let succeeded = response.await.unwrap().is_ok_and(|response| response.status().is_success());
    assert!(!succeeded);
}

#[tokio::test]
async fn extra_routes_are_served_next_to_the_functions() {
    let folder = link_binaries();
    let (mut options, _) = memory_options(folder.path());
    options.extra_routes = axum::Router::new().route("/_local/extra", axum::routing::get(async || "extra"));
    let host = Host::start(options).await.unwrap();
    let get = async |path| reqwest::get(format!("{}{path}", host.base_url())).await.unwrap();
    assert_eq!(get("/_local/extra").await.text().await.unwrap(), "extra");
    assert_eq!(get("/probe/x").await.status(), 200);
}

#[tokio::test]
async fn dropping_a_host_ends_busy_processes() {
    let host = ProbeHost::start().await;
    let hang = host.invoke("probe", json!({"do": "hang"}));
    let pids = async { wait_for(|| host.processes(), |processes| !processes.is_empty()).await };
    let processes = tokio::select! {
        _ = hang => Vec::new(),
        processes = pids => processes,
    };
    let (_, pid) = processes[0];
    assert!(is_alive(pid));
    drop(host);
    wait_for(|| is_alive(pid), |alive| !alive).await;
}

#[tokio::test]
async fn killing_a_host_ends_idle_and_hanging_functions() {
    let binaries = link_binaries();
    let data = tempfile::tempdir().unwrap();
    let mut host = Command::new(example_path("test_host"))
        .args([template_path(), binaries.path().to_owned(), data.path().to_owned()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut base_url = String::new();
    BufReader::new(host.stdout.take().unwrap()).read_line(&mut base_url).unwrap();
    let probe = format!("{}/probe/x?do=", base_url.trim());
    let pid = async || -> u32 { reqwest::get(format!("{probe}pid")).await.unwrap().json().await.unwrap() };
    let mut functions = vec![pid().await];
    let hang = tokio::spawn(reqwest::get(format!("{probe}hang")));
    // Look for a second process. If the first process hangs, the next call goes to a second one. If the hanging call
    // has started a second process, all calls go to the first one, and the loop ends without finding the second.
    for _ in 0..MAX_CALLS {
        let pid = pid().await;
        if !functions.contains(&pid) {
            functions.push(pid);
            break;
        }
    }
    kill(host.id());
    host.wait().unwrap();
    wait_for(|| functions.iter().any(|pid| is_alive(*pid)), |is_any_alive| !is_any_alive).await;
    assert!(hang.await.unwrap().is_err());
}

#[tokio::test]
async fn tables_and_queues_outlive_the_host() {
    let binaries = link_binaries();
    let data = tempfile::tempdir().unwrap();
    let (mut options, _) = memory_options(binaries.path());
    options.storage = HostStorage::Dir(data.path().to_owned());
    let host = Host::start(options.clone()).await.unwrap();
    host.invoke("probe", json!({"do": "tables"})).await.unwrap();
    let message = QueueMessageToSend { body: "kept".to_owned(), ..QueueMessageToSend::default() };
    host.queues().send("DeadJobs", message).unwrap();
    host.stop().await;

    let host = Host::start(options).await.unwrap();
    let result = host.invoke("probe", json!({"do": "tables"})).await.unwrap();
    assert_eq!(result, json!({"first": false, "refused": true}));
    assert_eq!(host.queues().depth("DeadJobs").unwrap().visible, 1);
}

#[tokio::test]
async fn data_folder_is_used_by_one_host_at_a_time() {
    let binaries = link_binaries();
    let data = tempfile::tempdir().unwrap();
    let (mut options, _) = memory_options(binaries.path());
    options.storage = HostStorage::Dir(data.path().to_owned());
    let first = Host::start(options.clone()).await.unwrap();
    let error = Host::start(options.clone()).await.err().unwrap();
    let expected = format!("another host is using the data folder {}", data.path().display());
    assert_eq!(error.to_string(), expected);
    first.stop().await;
    Host::start(options).await.unwrap();
}

#[tokio::test]
async fn port_in_use_is_a_one_line_error() {
    let host = ProbeHost::start().await;
    let (mut options, _) = memory_options(host.folder.path());
    options.port = host.port();
    let error = Host::start(options).await.err().unwrap().to_string();
    let expected = format!("cannot serve on port {}: ", host.port());
    assert!(error.starts_with(&expected) && !error.contains('\n'), "{error}");
}

#[tokio::test]
async fn missing_binary_is_named() {
    let binaries = link_binaries();
    std::fs::remove_file(binaries.path().join("worker")).unwrap();
    let (options, _) = memory_options(binaries.path());
    let error = Host::start(options).await.err().unwrap();
    let path = binaries.path().join("worker");
    let expected = format!("Worker: there is no binary {}; build the functions first", path.display());
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn template_mistake_is_a_one_line_error() {
    let folder = link_binaries();
    let (mut options, _) = memory_options(folder.path());
    options.template = folder.path().join("template.yaml");
    let text = std::fs::read_to_string(template_path()).unwrap().replace("      Timeout: 1\n", "      Timeout: soon\n");
    std::fs::write(&options.template, text).unwrap();
    let error = Host::start(options.clone()).await.err().unwrap();
    let problem = "Hasty.Timeout: expected a whole number from 1 to 900, found \"soon\"";
    let line = std::fs::read_to_string(&options.template).unwrap();
    let line = line.lines().position(|line| line.contains("soon")).unwrap() + 1;
    assert_eq!(error.to_string(), format!("{} line {line}: {problem}", options.template.display()));
}

#[tokio::test]
async fn invalid_database_is_reported_with_its_folder() {
    let binaries = link_binaries();
    for file in ["dynamodb.sqlite", "sqs.sqlite"] {
        let data = tempfile::tempdir().unwrap();
        std::fs::write(data.path().join(file), "not a database".repeat(100)).unwrap();
        let (mut options, _) = memory_options(binaries.path());
        options.storage = HostStorage::Dir(data.path().to_owned());
        let error = Host::start(options).await.err().unwrap().to_string();
        let advice = format!("; remove the data folder {} or name another one", data.path().display());
        assert!(error.ends_with(&advice) && !error.contains('\n'), "{file}: {error}");
    }
}

#[tokio::test]
async fn data_folder_is_accessible_to_its_owner_only() {
    let binaries = link_binaries();
    let data = tempfile::tempdir().unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    // Files of an older host, which anybody could read.
    for name in ["host.lock", "sqs.sqlite"] {
        std::fs::write(data.path().join(name), "").unwrap();
        std::fs::set_permissions(data.path().join(name), PermissionsExt::from_mode(0o644)).unwrap();
    }
    std::fs::set_permissions(data.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let (mut options, _) = memory_options(binaries.path());
    options.storage = HostStorage::Dir(data.path().to_owned());
    let host = Host::start(options).await.unwrap();
    host.invoke("probe", json!({"do": "tables"})).await.unwrap();
    assert_eq!(mode(data.path()), 0o700);
    let files: Vec<_> = std::fs::read_dir(data.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}
