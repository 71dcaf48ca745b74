//! Both sides prove that they know the secret of a key, without sending it.
//!
//! The proof covers the random numbers of both sides, so that it cannot be replayed, and, on TLS, a number that both sides
//! derive from the session, so that somebody between two TLS sessions cannot hand it on. On plaintext it says who opened
//! the connection, and nothing about who sends on it later: whoever can change packets on the way can do that then.

use ring::hmac;

/// A number that is used once.
pub type Nonce = [u8; 32];
/// What ties a proof to a TLS session: the exporter of RFC 9266 (`EXPORTER-Channel-Binding`, 32 bytes); zeros on plaintext.
pub type Binding = [u8; 32];
/// HMAC-SHA256.
pub type Proof = [u8; 32];

/// Which side proves.
const CLIENT: &[u8] = b"afterbay-blob/1 client";
const SERVER: &[u8] = b"afterbay-blob/1 server";

/// What a proof is about.
#[derive(Debug, Clone, Copy)]
struct Transcript<'a> {
    side: &'a [u8],
    server: &'a Nonce,
    client: &'a Nonce,
    binding: &'a Binding,
    key: &'a str,
}

impl Transcript<'_> {
    fn bytes(&self) -> Vec<u8> {
        let fixed = [self.side, &self.server[..], &self.client[..], &self.binding[..]];
        // All parts but the last have a fixed length: no two transcripts are the same bytes.
        [&fixed.concat(), self.key.as_bytes()].concat()
    }
}

/// The proof of a client that knows `secret`, the secret of `key`.
pub fn client_proof(
    secret: &str,
    key: &str,
    server: &Nonce,
    client: &Nonce,
    binding: &Binding,
) -> Proof {
    sign(secret, &Transcript { side: CLIENT, server, client, binding, key })
}

/// The proof of a server that knows `secret`.
pub fn server_proof(
    secret: &str,
    key: &str,
    server: &Nonce,
    client: &Nonce,
    binding: &Binding,
) -> Proof {
    sign(secret, &Transcript { side: SERVER, server, client, binding, key })
}

/// Whether two proofs are the same; takes as long for wrong ones.
pub fn prove(expected: &Proof, found: &Proof) -> bool {
    expected.iter().zip(found).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

fn sign(secret: &str, transcript: &Transcript<'_>) -> Proof {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let tag = hmac::sign(&key, &transcript.bytes());
    let mut proof = [0; 32];
    proof.copy_from_slice(tag.as_ref());
    proof
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_counts() {
        let all = |secret, key, s: u8, c: u8, b: u8| {
            client_proof(secret, key, &[s; 32], &[c; 32], &[b; 32])
        };
        let proof = all("secret", "key", 1, 2, 3);
        assert!(prove(&proof, &all("secret", "key", 1, 2, 3)));
        for other in [
            all("secreT", "key", 1, 2, 3),
            all("secret", "kez", 1, 2, 3),
            all("secret", "key", 9, 2, 3),
            all("secret", "key", 1, 9, 3),
            all("secret", "key", 1, 2, 9),
            server_proof("secret", "key", &[1; 32], &[2; 32], &[3; 32]),
        ] {
            assert!(!prove(&proof, &other));
        }
    }
}
