//! Addresses that a server takes before it makes anything on a disk, and listens on once it can answer.
//!
//! So a port that is in use is noticed while nothing has been made, and a client that comes while the disks are opened is
//! refused, and does not wait.

use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use tokio::net::{TcpListener, TcpSocket, lookup_host};

use crate::serve::StartError;

/// Connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// Who listens on an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// What to call it in messages.
    pub what: &'static str,
    /// The option of `serve` that says where.
    pub option: &'static str,
    /// Host and port.
    pub address: String,
}

impl Endpoint {
    fn failed(&self, error: &io::Error) -> StartError {
        let Endpoint { what, option, address } = self;
        StartError::of(match error.kind() {
            io::ErrorKind::AddrInUse => format!(
                "{what}, {address}: another program listens there (this server, started before?); stop that one, or give another address by {option}"
            ),
            _ => format!("{what}, {address}: cannot listen: {error}; {option} says where"),
        })
    }

    async fn bind(&self) -> Result<TcpSocket, StartError> {
        let failed = |error: io::Error| self.failed(&error);
        let mut last = io::Error::other("the name has no address");
        for address in lookup_host(&self.address).await.map_err(failed)? {
            let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
            let bound = socket.and_then(|socket| {
                // A server that is started again need not wait until connections of the one before are forgotten.
                socket.set_reuseaddr(true)?;
                socket.bind(address)?;
                Ok(socket)
            });
            match bound {
                Ok(socket) => return Ok(socket),
                Err(error) => last = error,
            }
        }
        Err(failed(last))
    }
}

/// The addresses that were taken.
#[derive(Debug, Default)]
pub struct Sockets(Mutex<Vec<(Endpoint, TcpSocket)>>);

impl Sockets {
    /// Takes them all, or says which one cannot be had.
    pub async fn bind(endpoints: Vec<Endpoint>) -> Result<Self, StartError> {
        let mut sockets = Vec::new();
        for endpoint in endpoints {
            let socket = endpoint.bind().await?;
            let address = socket.local_addr().map_err(|e| endpoint.failed(&e))?;
            // Both can be taken, and only one can be listened on.
            let same = |(_, other): &&(Endpoint, TcpSocket)| {
                other.local_addr().is_ok_and(|other| clash(address, other))
            };
            if let Some((other, _)) = sockets.iter().find(same) {
                let Endpoint { what, option, address } = &endpoint;
                return Err(StartError::of(format!(
                    "{what}, {address}: that is the address of {} ({}), too; give another one by {option}",
                    other.what, other.option
                )));
            }
            sockets.push((endpoint, socket));
        }
        Ok(Sockets(Mutex::new(sockets)))
    }

    /// Listens, on an address that was taken or is now.
    pub async fn listen(&self, endpoint: &Endpoint) -> Result<TcpListener, StartError> {
        let socket = match self.take(endpoint) {
            Some(socket) => socket,
            None => endpoint.bind().await?,
        };
        socket.listen(BACKLOG).map_err(|e| endpoint.failed(&e))
    }

    fn take(&self, endpoint: &Endpoint) -> Option<TcpSocket> {
        let mut sockets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = sockets.iter().position(|(taken, _)| taken == endpoint)?;
        Some(sockets.swap_remove(at).1)
    }
}

fn clash(a: SocketAddr, b: SocketAddr) -> bool {
    let all = a.ip().is_unspecified() || b.ip().is_unspecified();
    a.port() == b.port() && (all || a.ip() == b.ip())
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn what_is_taken_is_kept_from_others_and_answers_nobody_yet() {
        let busy = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = |address: String| Endpoint { what: "S3", option: "--s3", address };
        let taken = at(busy.local_addr().unwrap().to_string());
        let refused = Sockets::bind(vec![taken]).await.unwrap_err().to_string();
        assert!(refused.contains("S3, 127.0.0.1:") && refused.contains("--s3"), "{refused}");
        let endpoint = at("127.0.0.1:0".to_owned());
        let sockets = Sockets::bind(vec![endpoint.clone()]).await.unwrap();
        let address = sockets.0.lock().unwrap()[0].1.local_addr().unwrap();
        TcpStream::connect(address).await.unwrap_err();
        let listener = sockets.listen(&endpoint).await.unwrap();
        assert_eq!(listener.local_addr().unwrap(), address);
        TcpStream::connect(address).await.unwrap();
        let another = sockets.listen(&endpoint).await.unwrap();
        assert_ne!(another.local_addr().unwrap(), address, "the first one was given away");
    }
}
