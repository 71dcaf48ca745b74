//! What the kernel says of real descriptors.

use std::fs::File;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, Stdio};

use afterbay_net_agent::{Destinations, Ends, Matcher, Socket, TcpSocket};
use afterbay_net_proto::Reason;
use afterbay_net_shm::passing;
use rustix::net::{
    AddressFamily, SocketAddrV4, SocketFlags, SocketType, bind, connect, ipproto, socket,
    socketpair,
};

use crate::{ACCEPTOR, CONNECTOR, group};

fn copy(socket: impl AsFd) -> TcpSocket {
    TcpSocket(socket.as_fd().try_clone_to_owned().unwrap())
}

fn ends(socket: impl Into<OwnedFd>) -> Option<Ends> {
    TcpSocket(socket.into()).ends()
}

/// Bound before it connects, as the library does it.
fn bound() -> OwnedFd {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &SocketAddrV4::new([127, 0, 0, 1].into(), 0)).unwrap();
    socket
}

#[test]
fn two_ends_of_real_connections_find_each_other() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let std::net::SocketAddr::V4(to) = listener.local_addr().unwrap() else { panic!("IPv4") };
    let mut agent = Matcher::new(Destinations::Exact);
    let connectors: Vec<_> = (0..20_u64)
        .map(|reference| {
            let connector = bound();
            agent.offer(&group("shop"), CONNECTOR, reference, copy(&connector), reference).unwrap();
            connect(&connector, &to).unwrap();
            TcpStream::from(connector)
        })
        .collect();
    let plain = TcpStream::connect(to).unwrap();
    let mut found = 0;
    for _ in 0..21 {
        let (accepted, from) = listener.accept().unwrap();
        match agent.claim(&group("shop"), ACCEPTOR, &copy(&accepted)) {
            Ok((_, reference, rings)) => {
                let connector = &connectors[usize::try_from(reference).unwrap()];
                assert_eq!(connector.local_addr().unwrap(), from);
                assert_eq!(rings, reference);
                found += 1;
            }
            Err(reason) => {
                assert_eq!(reason, Reason::NoOffer);
                assert_eq!(plain.local_addr().unwrap(), from);
            }
        }
    }
    assert_eq!(found, 20);
}

#[test]
fn namespaces_have_cookies() {
    let [one, other] = [bound(), bound()].map(|socket| ends(socket).unwrap());
    assert_ne!(one.netns, 0);
    assert_eq!(one.netns, other.netns);
    assert_eq!(one.peer, None);
}

#[test]
fn other_descriptors_are_no_tcp_sockets() {
    let (unix, _other) = std::os::unix::net::UnixStream::pair().unwrap();
    assert_eq!(ends(unix), None);
    assert_eq!(ends(UdpSocket::bind("127.0.0.1:0").unwrap()), None);
    assert_eq!(ends(File::open("/dev/null").unwrap()), None);
    // A stream over several paths, where the kernel has it.
    if let Ok(multipath) = socket(AddressFamily::INET, SocketType::STREAM, Some(ipproto::MPTCP)) {
        assert_eq!(ends(multipath), None);
    }
    assert!(
        ends(TcpListener::bind("[::1]:0").or_else(|_| TcpListener::bind("127.0.0.1:0")).unwrap())
            .is_some()
    );
}

/// This process is in a network namespace of its own.
const INSIDE: &str = "AFTERBAY_NETNS_INSIDE";

/// Whether this machine lets us; where tests must not be left out, it has to.
fn may_unshare() -> bool {
    let made = Command::new("unshare").args(["-Urn", "true"]).status();
    let may = made.is_ok_and(|status| status.success());
    assert!(may || std::env::var_os("CI").is_none(), "no network namespaces here");
    if !may {
        println!("not run: no network namespaces here (unshare -Urn)");
    }
    may
}

#[test]
fn a_descriptor_says_from_which_namespace_it_comes() {
    if std::env::var_os(INSIDE).is_some() {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        return passing::send(std::io::stdin(), b"!", &[socket.as_fd()]).unwrap();
    }
    if !may_unshare() {
        return;
    }
    let flags = SocketFlags::CLOEXEC;
    let cookies = [(); 2].map(|()| {
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
        let mut inside = Command::new("unshare")
            .arg("-Urn")
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "real::a_descriptor_says_from_which_namespace_it_comes"])
            .env(INSIDE, "true")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let (_, mut descriptors) = passing::receive(ours, &mut [0; 8]).unwrap();
        assert!(inside.wait().unwrap().success());
        ends(descriptors.pop().unwrap()).unwrap().netns
    });
    let outside = ends(bound()).unwrap().netns;
    assert_ne!(cookies[0], outside);
    assert_ne!(cookies[1], outside);
    assert_ne!(cookies[0], cookies[1]);
}
