//! `cargo run --bin check -- integrator|bot|webhook|gateway URL --secret whsec_...`: checks a partner's server.

use std::io::Write;
use std::process::ExitCode;

use check::{Partner, Server, Verdict, check};
use clap::Parser;

/// Plays Switchboard against your server, and says which clauses of the contract it keeps. Never use a server that is
/// live: the requests are signed like real ones, so a gateway would dial.
#[derive(Parser)]
struct Arguments {
    #[arg(value_enum)]
    partner: Partner,
    /// The address to which the service would send.
    url: String,
    /// The signing secret that your server knows, whsec_ and a key in base64. Otherwise, the environment variable
    /// SIGNING_SECRET is read.
    #[arg(long)]
    secret: Option<String>,
    /// The channel sends in chunks (its setting *chunked*).
    #[arg(long)]
    chunked: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let Arguments { partner, url, secret, chunked } = Arguments::parse();
    let secret = secret.or_else(|| std::env::var("SIGNING_SECRET").ok()).unwrap_or_default();
    let server = Server { partner, url: &url, secret: &secret, gets_chunks: chunked };
    match check(server, print).await {
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
        Ok(verdicts) => {
            let failed = verdicts.iter().filter(|verdict| verdict.problem.is_some()).count();
            let passed = verdicts.len() - failed;
            let _ = writeln!(std::io::stdout(), "\n{passed} passed, {failed} failed");
            ExitCode::from(u8::from(failed > 0))
        }
    }
}

fn print(verdict: &Verdict) {
    // A reader who has seen enough, such as `head`, is no error.
    let _ = writeln!(std::io::stdout(), "{}", described(verdict));
}

fn described(Verdict { clause, problem, request }: &Verdict) -> String {
    let Some(problem) = problem else { return format!("pass  {clause}") };
    let request = request.as_deref().map(|body| format!("\n      the request was {body}"));
    format!("FAIL  {clause}\n      {problem}{}", request.unwrap_or_default())
}
