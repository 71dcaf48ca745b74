//! Who is there: TLS says who the gateway is, a key's secret says who the site is, and both prove that they know it.
//!
//! A proof is an HMAC of both sides' numbers, the names, and what only this TLS connection knows: it is of no use on another one.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;

use ring::hmac;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, Connection, ServerConfig, ServerConnection};

use crate::error::{LinkError, Result};
use crate::key::{KeyError, SiteKey, random};
use crate::link::{Deadline, Limits, Receiver, Sender, link};
use crate::message::{Message, Refusal};

/// Connects a site, and proves and has proved who is there.
///
/// # Errors
/// Nobody answers, it is not the gateway, or it does not want this site.
pub fn connect(
    address: &str,
    name: ServerName<'static>,
    config: Arc<ClientConfig>,
    site: &str,
    key: &SiteKey,
    limits: Limits,
) -> Result<(Sender, Receiver)> {
    let socket = dial(address, limits)?;
    let tls = Connection::Client(ClientConnection::new(config, name)?);
    let (sender, mut receiver) = begin(tls, socket, limits)?;
    let server = match receiver.receive()? {
        Message::Hello { nonce } => nonce,
        other => return Err(unexpected(other)),
    };
    let mut nonce = [0; 32];
    random(&mut nonce)?;
    let both = Both { site, key: &key.access, server, client: nonce, binding: sender.binding()? };
    let (site, access) = (site.to_owned(), key.access.clone());
    let proof = proof_of(&key.secret, b"site", &both);
    receiver.hurry()?;
    sender.send(&Message::Prove { site, key: access, nonce, proof })?;
    match receiver.receive()? {
        Message::Welcome { proof } if holds(&key.secret, b"gateway", &both, &proof) => {
            receiver.trust(limits.silence)?;
            Ok((sender, receiver))
        }
        Message::Welcome { .. } => Err(LinkError::WrongGateway(key.access.clone())),
        other => Err(unexpected(other)),
    }
}

/// Accepts a connection; the site's name is known then. `key_of` gives the key of a site.
///
/// # Errors
/// It is no site, or one that cannot prove it.
pub fn accept(
    socket: TcpStream,
    config: Arc<ServerConfig>,
    key_of: impl Fn(&str) -> std::result::Result<Option<SiteKey>, KeyError>,
    limits: Limits,
) -> Result<(String, Sender, Receiver)> {
    let tls = Connection::Server(ServerConnection::new(config)?);
    let (sender, mut receiver) = begin(tls, socket, limits)?;
    let mut server = [0; 32];
    random(&mut server)?;
    receiver.hurry()?;
    sender.send(&Message::Hello { nonce: server })?;
    let Message::Prove { site, key, nonce, proof } = receiver.receive()? else {
        return Err(LinkError::Protocol("a site has to prove who it is first".to_owned()));
    };
    let both = Both { site: &site, key: &key, server, client: nonce, binding: sender.binding()? };
    receiver.hurry()?;
    let known = match key_of(&site) {
        Ok(known) => known,
        Err(error) => {
            // Without descriptors, for example. The site has done nothing wrong, and nobody knows yet that it is the site.
            let text = format!("the gateway cannot read the key of site {site} just now");
            sender.send(&Message::Refused { refusal: Refusal::Busy, text })?;
            return Err(error.into());
        }
    };
    let known =
        known.filter(|known| known.access == key && holds(&known.secret, b"site", &both, &proof));
    let Some(known) = known else {
        let text = format!(
            "key {key} of site {site} is not known, or its secret is another one: compare the site's --key-file with {site}.key in \
             the gateway's folder of keys"
        );
        let refused = Message::Refused { refusal: Refusal::Key, text: text.clone() };
        sender.send(&refused)?;
        return Err(LinkError::Refused { refusal: Refusal::Key, text });
    };
    let proof = proof_of(&known.secret, b"gateway", &both);
    sender.send(&Message::Welcome { proof })?;
    receiver.trust(limits.silence)?;
    Ok((site, sender, receiver))
}

fn dial(address: &str, limits: Limits) -> Result<TcpStream> {
    let mut last = None;
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, limits.handshake) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = Some(error),
        }
    }
    let none = || LinkError::Protocol(format!("{address}: a name without an address"));
    Err(last.map_or_else(none, LinkError::Io))
}

fn begin(mut tls: Connection, socket: TcpStream, limits: Limits) -> Result<(Sender, Receiver)> {
    // An acknowledgement is not to wait for more to say.
    socket.set_nodelay(true)?;
    let deadline = Deadline::within(limits.handshake);
    while tls.is_handshaking() {
        if let Err(error) = tls.complete_io(&mut Hurried { socket: &socket, deadline }) {
            // What TLS has found goes before what it was wrapped in.
            let of_tls = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
            let of_io = |error| deadline.error(error);
            return Err(of_tls.cloned().map_or_else(|| of_io(error), LinkError::Tls));
        }
    }
    link(tls, socket, deadline)
}

/// A socket on which all that is read and written has one deadline: a byte now and then is not enough.
struct Hurried<'a> {
    socket: &'a TcpStream,
    deadline: Deadline,
}

impl Read for Hurried<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.deadline.put_on(self.socket)?;
        self.socket.read(bytes)
    }
}

impl Write for Hurried<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.deadline.put_on(self.socket)?;
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

fn unexpected(message: Message) -> LinkError {
    match message {
        Message::Refused { refusal, text } => LinkError::Refused { refusal, text },
        _ => LinkError::Protocol("the gateway does not keep to the handshake".to_owned()),
    }
}

/// What both sides know before the first proof.
struct Both<'a> {
    site: &'a str,
    key: &'a str,
    server: [u8; 32],
    client: [u8; 32],
    binding: [u8; 32],
}

impl Both<'_> {
    /// The names' lengths are in front, so that no two pairs are the same bytes.
    fn bytes(&self, side: &[u8]) -> Vec<u8> {
        let lengths = [side.len(), self.site.len(), self.key.len()].map(|length| length as u64);
        let mut bytes = b"afterbay edge link 1".to_vec();
        lengths.iter().for_each(|length| bytes.extend_from_slice(&length.to_be_bytes()));
        for part in [side, self.site.as_bytes(), self.key.as_bytes()] {
            bytes.extend_from_slice(part);
        }
        for part in [&self.server, &self.client, &self.binding] {
            bytes.extend_from_slice(part);
        }
        bytes
    }
}

fn proof_of(secret: &str, side: &[u8], both: &Both<'_>) -> [u8; 32] {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let mut proof = [0; 32];
    proof.copy_from_slice(hmac::sign(&key, &both.bytes(side)).as_ref());
    proof
}

/// Takes as long for a wrong proof.
fn holds(secret: &str, side: &[u8], both: &Both<'_>, proof: &[u8; 32]) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    hmac::verify(&key, &both.bytes(side), proof).is_ok()
}
