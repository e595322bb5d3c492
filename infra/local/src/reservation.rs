//! What a host needs before it can start, taken first: building the functions may take minutes, and somebody who waits for
//! them should not learn only then that the port is taken.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::{TcpListener, TcpSocket};

use crate::data::Data;
use crate::template::{Addresses, Template};
use crate::{Error, Options};

/// As many callers may wait to be let in as with a listener of the standard library.
const BACKLOG: u32 = 1024;

/// The port, the data folder and the template of a host to be. Dropping it gives them up.
pub struct Claim {
    pub(crate) public: Port,
    /// For the functions.
    pub(crate) private: Port,
    pub(crate) data: Data,
    pub(crate) template: Template,
}

impl Claim {
    /// Takes what these options name. The binaries need not be there yet.
    ///
    /// # Errors
    /// The port is not free, another host uses the data folder, or the template has a mistake.
    pub fn take(options: &Options) -> Result<Self, Error> {
        let public = Port::take(options.port)?;
        let data = Data::open(&options.storage)?;
        let private = Port::take(0)?;
        let addresses = Addresses { gateway: public.url(), queues: private.url() };
        let template = read(options, addresses)?;
        Ok(Self { public, private, data, template })
    }
}

/// A port that nobody else can have. Who calls is refused until it listens.
pub(crate) struct Port {
    socket: TcpSocket,
    pub number: u16,
}

impl Port {
    /// This port, or a free one for 0.
    fn take(port: u16) -> Result<Self, Error> {
        let failed = |source| Error::Port { port, source };
        let socket = TcpSocket::new_v4().map_err(failed)?;
        // As every listener has it: connections of an earlier run may linger.
        socket.set_reuseaddr(true).map_err(failed)?;
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).map_err(failed)?;
        let number = socket.local_addr().map_err(failed)?.port();
        Ok(Self { socket, number })
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}:{}", Ipv4Addr::LOCALHOST, self.number)
    }

    /// Lets callers in.
    pub fn listen(self) -> Result<TcpListener, Error> {
        let Self { socket, number } = self;
        // Another host that started at the same moment may listen by now.
        socket.listen(BACKLOG).map_err(|source| Error::Port { port: number, source })
    }
}

fn read(options: &Options, addresses: Addresses) -> Result<Template, Error> {
    let path = &options.template;
    let text = fs::read_to_string(path).map_err(|source| Error::Read { path: path.clone(), source })?;
    let template = Template::read(&text, &options.parameters, addresses);
    template.map_err(|source| Error::Template { path: path.clone(), source })
}
