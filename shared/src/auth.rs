//! Who is calling. The account comes from the credential alone, never from the request.

use crate::clock;
use crate::domain::account::Role;
use crate::error::Error;
use crate::http::Request;
use crate::secret::OperatorKey;
use crate::store::connections::{Connections, Session};

/// An agent who signed in.
pub async fn agent(connections: &Connections, request: &Request) -> Result<Session, Error> {
    let token = request.bearer().ok_or(Error::Unauthorized)?;
    connections.session(token, clock::now()).await?.ok_or(Error::Unauthorized)
}

/// An admin who signed in.
pub async fn admin(connections: &Connections, request: &Request) -> Result<Session, Error> {
    let session = agent(connections, request).await?;
    match session.role {
        Role::Admin => Ok(session),
        Role::Agent => Err(Error::Forbidden("only an admin may do this")),
    }
}

/// The operator.
pub fn operator(key: &OperatorKey, request: &Request) -> Result<(), Error> {
    let given = request.bearer().ok_or(Error::Unauthorized)?;
    if key.matches(given) { Ok(()) } else { Err(Error::Unauthorized) }
}
