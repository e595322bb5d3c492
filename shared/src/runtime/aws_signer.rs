//! Signs requests to services of AWS whose SDK would be a large client for a few requests (Signature Version 4).

use std::time::{Duration, SystemTime};

use aws_sdk_dynamodb::config::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningInstructions, SigningSettings, sign};
use aws_sigv4::sign::v4;
use aws_smithy_runtime_api::client::identity::Identity;
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;

use crate::error::Error;
use crate::runtime::{clock, config};

#[derive(Clone)]
pub(super) struct AwsSigner {
    service: &'static str,
    region: String,
    /// `None` if the process has no credentials.
    credentials: Option<Credentials>,
}

/// What is signed.
#[derive(Clone, Copy)]
pub(super) struct UnsignedRequest<'a> {
    pub method: &'a str,
    pub url: &'a str,
    pub headers: &'a [(&'static str, &'a str)],
}

impl AwsSigner {
    pub fn new(service: &'static str, region: String) -> Self {
        Self { service, region, credentials: config::aws_credentials() }
    }

    pub fn region(&self) -> &str {
        &self.region
    }

    pub fn credentials(&self) -> Result<&Credentials, Error> {
        self.credentials.as_ref().ok_or_else(|| Error::internal(("no credentials for the service", self.service)))
    }

    /// Returns what must be added to the request.
    pub fn sign(
        &self,
        UnsignedRequest { method, url, headers }: UnsignedRequest<'_>,
        body: SignableBody<'_>,
        settings: SigningSettings,
    ) -> Result<SigningInstructions, Error> {
        let identity: Identity = self.credentials()?.clone().into();
        let parameters = v4::SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(self.service)
            .time(SystemTime::UNIX_EPOCH + Duration::from_millis(clock::now().0))
            .settings(settings)
            .build()
            .map_err(Error::internal)?;
        let request = SignableRequest::new(method, url, headers.iter().copied(), body).map_err(Error::internal)?;
        Ok(sign(request, &parameters.into()).map_err(Error::internal)?.into_parts().0)
    }

    /// Returns the request with its signature in the headers.
    pub fn signed_request(
        &self,
        request: UnsignedRequest<'_>,
        (body, signable): (SdkBody, SignableBody<'_>),
        settings: SigningSettings,
    ) -> Result<HttpRequest, Error> {
        let instructions = self.sign(request, signable, settings)?;
        let mut signed = HttpRequest::new(body);
        signed.set_method(request.method).map_err(Error::internal)?;
        signed.set_uri(request.url.to_owned()).map_err(Error::internal)?;
        for (name, value) in request.headers.iter().copied().chain(instructions.headers()) {
            signed.headers_mut().try_insert(name.to_owned(), value.to_owned()).map_err(Error::internal)?;
        }
        Ok(signed)
    }
}
