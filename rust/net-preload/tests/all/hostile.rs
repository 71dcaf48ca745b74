//! A peer that writes anything into the memory that it shares: the program has an error on that connection at most, and serves
//! others as before.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering::Release;

use afterbay_net_ring::{Bell, Capacity, Direction, Field, Geometry, Shared};
use afterbay_net_shm::{EventBell, Segment};
use afterbay_test_form::{PATIENCE, net_hostile_peers};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};

use crate::world::{World, has_python};

/// Peers that stay at once.
const STAY: usize = 30;

/// Random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[(self.next() % choices.len() as u64) as usize]
    }
}

/// Connects with rings whose other side this test is.
fn connect_with(world: &World, port: u16, reference: u64) -> (TcpStream, Segment, [EventBell; 5]) {
    let capacity = Capacity::new(128 << 10).unwrap();
    let segment = Segment::create(Geometry::new(capacity, capacity).unwrap()).unwrap();
    let bells = [false, true, false, true, false].map(|rings| EventBell::create(rings).unwrap());
    let tcp: OwnedFd = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&tcp, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let mut agent = world.asker();
    let [a, b, c, d, call] = bells.each_ref().map(|bell| bell.as_fd());
    let offered = agent.offer(reference, tcp.as_fd(), [segment.as_fd(), a, b, c, d, call]);
    assert_eq!(offered.unwrap(), Ok(()));
    connect(&tcp, &SocketAddr::from(([127, 0, 0, 1], port))).unwrap();
    // It is claimed with `accept`: as soon as there is an answer.
    let mut stream = TcpStream::from(tcp);
    stream.write_all(b"first").unwrap();
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"first");
    drop(agent);
    (stream, segment, bells)
}

#[test]
fn a_peer_that_writes_anything_into_memory_harms_its_own_connection_only() {
    if !has_python() {
        return;
    }
    let world = World::new();
    let mut server = world.start(&["echo"]);
    let port: u16 = server.port().parse().unwrap();
    let random = &mut Random(1);
    let mut peers = VecDeque::new();
    for reference in 1..=net_hostile_peers() {
        let (mut stream, segment, bells) = connect_with(&world, port, reference);
        stream.set_nonblocking(true).unwrap();
        for _ in 0..30 {
            let ring = segment.ring(random.of(&[Direction::ToAcceptor, Direction::ToConnector]));
            let field = random.of(&Field::ALL);
            let word = ring.value(field);
            let value = random.next();
            let lies = [
                0,
                1,
                2,
                word.wrapping_add(1),
                word.wrapping_sub(1),
                word ^ 1,
                word << 1,
                value,
                value >> 40,
                u64::MAX,
            ];
            ring.word(field).store(random.of(&lies), Release);
            ring.put((random.next() % 1000) as usize, &value.to_le_bytes());
            bells.iter().for_each(Bell::ring);
            // What comes of it is this peer's own business: an error, nothing, or any bytes.
            let _ = stream.write(&value.to_le_bytes());
        }
        // It stays while others come, so that what it wrote is looked at.
        peers.push_back((stream, segment, bells));
        if peers.len() > STAY {
            drop(peers.pop_front());
        }
    }
    drop(peers);
    // More is in the ring than goes into it: this connection ends.
    let (mut stream, segment, bells) = connect_with(&world, port, net_hostile_peers() + 1);
    segment.ring(Direction::ToAcceptor).word(Field::Head).store(1 << 60, Release);
    bells.iter().for_each(Bell::ring);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let end = stream.read(&mut [0; 10]);
    let has_ended = match &end {
        Ok(bytes) => *bytes == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    };
    assert!(has_ended, "{end:?}: nobody looked at what was written");
    let port = port.to_string();
    let mut other = world.start(&["stream", "127.0.0.1", &port, "1000000"]);
    other.says("begun");
    other.says("got 1000000 ALL");
    other.says("end 0");
    other.ends();
}
