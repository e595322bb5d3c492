//! Reserves the ports and the data folder and parses the template before the functions are built. A build can take
//! minutes, so a port conflict or a mistake in the template is reported before the build starts.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::{TcpListener, TcpSocket};

use crate::database_files::DatabaseFiles;
use crate::template::{Addresses, Template};
use crate::{Error, Options};

const LISTEN_BACKLOG: u32 = 1024;

/// Dropping the reservation releases the ports and the data folder.
pub struct Reservation {
    pub(crate) public: ReservedPort,
    /// The port for services that only functions call.
    pub(crate) private: ReservedPort,
    /// The port of S3, which browsers call too.
    pub(crate) s3: ReservedPort,
    pub(crate) files: DatabaseFiles,
    pub(crate) template: Template,
}

impl Reservation {
    /// Reserves the ports and the data folder, and reads the template. Does not check the function binaries.
    ///
    /// # Errors
    /// Fails, for example, if the port is in use, another host uses the data folder, or the template is invalid.
    pub fn acquire(options: &Options) -> Result<Self, Error> {
        let public = ReservedPort::bind(options.port)?;
        let files = DatabaseFiles::open(&options.storage)?;
        let private = ReservedPort::bind(0)?;
        let s3 = ReservedPort::bind(0)?;
        let addresses = Addresses { gateway: public.url(), queues: private.url() };
        let template = read_template(options, addresses)?;
        Ok(Self { public, private, s3, files, template })
    }
}

/// A bound port. Connections fail until [`listen`](Self::listen) is called.
pub(crate) struct ReservedPort {
    socket: TcpSocket,
    pub number: u16,
}

impl ReservedPort {
    /// Binds `port`, or a free port if `port` is 0.
    fn bind(port: u16) -> Result<Self, Error> {
        let failed = |source| Error::Port { port, source };
        let socket = TcpSocket::new_v4().map_err(failed)?;
        // Without this option, an earlier run's connections in the TIME_WAIT state would block the port.
        socket.set_reuseaddr(true).map_err(failed)?;
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).map_err(failed)?;
        let number = socket.local_addr().map_err(failed)?.port();
        Ok(Self { socket, number })
    }

    pub fn url(&self) -> String {
        format!("http://{}:{}", Ipv4Addr::LOCALHOST, self.number)
    }

    pub fn listen(self) -> Result<TcpListener, Error> {
        let Self { socket, number } = self;
        // This fails if another host has bound the same port, which SO_REUSEADDR allows, and is already listening.
        socket.listen(LISTEN_BACKLOG).map_err(|source| Error::Port { port: number, source })
    }
}

fn read_template(options: &Options, addresses: Addresses) -> Result<Template, Error> {
    let path = &options.template;
    let text = fs::read_to_string(path).map_err(|source| Error::ReadTemplate { path: path.clone(), source })?;
    let template = Template::read(&text, &options.parameters, addresses);
    template.map_err(|source| Error::Template { path: path.clone(), source })
}
