//! MD5 and the five checksums of S3: computed, compared, and put together of those of parts.

use afterbay_blob_meta::{Checksum, Part};
use crc_fast::CrcAlgorithm;
use s3s::crypto::{Checksum as _, Crc32, Crc32c, Crc64Nvme, Md5, Sha1, Sha256};

/// An algorithm of S3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Algorithm {
    Crc32,
    Crc32c,
    Crc64Nvme,
    Sha1,
    Sha256,
}

impl Algorithm {
    /// Of what comes without one, as with S3.
    pub(crate) const DEFAULT: Algorithm = Algorithm::Crc64Nvme;

    pub(crate) const ALL: [Algorithm; 5] = [
        Algorithm::Crc32,
        Algorithm::Crc32c,
        Algorithm::Crc64Nvme,
        Algorithm::Sha1,
        Algorithm::Sha256,
    ];

    /// As in `x-amz-checksum-algorithm`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Algorithm::Crc32 => "CRC32",
            Algorithm::Crc32c => "CRC32C",
            Algorithm::Crc64Nvme => "CRC64NVME",
            Algorithm::Sha1 => "SHA1",
            Algorithm::Sha256 => "SHA256",
        }
    }

    /// The header, or trailer, that carries its value.
    pub(crate) fn header(self) -> &'static str {
        match self {
            Algorithm::Crc32 => "x-amz-checksum-crc32",
            Algorithm::Crc32c => "x-amz-checksum-crc32c",
            Algorithm::Crc64Nvme => "x-amz-checksum-crc64nvme",
            Algorithm::Sha1 => "x-amz-checksum-sha1",
            Algorithm::Sha256 => "x-amz-checksum-sha256",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|a| a.name().eq_ignore_ascii_case(name))
    }

    pub(crate) fn of_header(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|a| a.header().eq_ignore_ascii_case(name))
    }

    fn bytes(self) -> usize {
        match self {
            Algorithm::Crc32 | Algorithm::Crc32c => 4,
            Algorithm::Crc64Nvme => 8,
            Algorithm::Sha1 => 20,
            Algorithm::Sha256 => 32,
        }
    }

    /// Only those of CRCs can be computed from the parts' for the whole.
    fn crc(self) -> Option<CrcAlgorithm> {
        match self {
            Algorithm::Crc32 => Some(CrcAlgorithm::Crc32IsoHdlc),
            Algorithm::Crc32c => Some(CrcAlgorithm::Crc32Iscsi),
            Algorithm::Crc64Nvme => Some(CrcAlgorithm::Crc64Nvme),
            Algorithm::Sha1 | Algorithm::Sha256 => None,
        }
    }

    /// Whether the value can be one of this algorithm.
    pub(crate) fn accepts(self, value: &str) -> bool {
        decode(value).is_some_and(|bytes| bytes.len() == self.bytes())
    }
}

enum Digest {
    Crc32(Crc32),
    Crc32c(Crc32c),
    Crc64Nvme(Crc64Nvme),
    Sha1(Sha1),
    Sha256(Sha256),
}

impl Digest {
    fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Crc32 => Digest::Crc32(Crc32::new()),
            Algorithm::Crc32c => Digest::Crc32c(Crc32c::new()),
            Algorithm::Crc64Nvme => Digest::Crc64Nvme(Crc64Nvme::new()),
            Algorithm::Sha1 => Digest::Sha1(Sha1::new()),
            Algorithm::Sha256 => Digest::Sha256(Sha256::new()),
        }
    }

    fn update(&mut self, data: &[u8]) {
        match self {
            Digest::Crc32(d) => d.update(data),
            Digest::Crc32c(d) => d.update(data),
            Digest::Crc64Nvme(d) => d.update(data),
            Digest::Sha1(d) => d.update(data),
            Digest::Sha256(d) => d.update(data),
        }
    }

    fn finish(self) -> String {
        match self {
            Digest::Crc32(d) => encode(&d.finalize()),
            Digest::Crc32c(d) => encode(&d.finalize()),
            Digest::Crc64Nvme(d) => encode(&d.finalize()),
            Digest::Sha1(d) => encode(d.finalize().as_ref()),
            Digest::Sha256(d) => encode(d.finalize().as_ref()),
        }
    }
}

/// Computes several at once.
pub(crate) struct Digests {
    md5: Md5,
    others: Vec<(Algorithm, Digest)>,
}

/// What [`Digests`] computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Computed {
    pub(crate) md5: [u8; 16],
    /// In base 64.
    pub(crate) checksums: Vec<(Algorithm, String)>,
}

impl Digests {
    pub(crate) fn new(algorithms: &[Algorithm]) -> Self {
        let others = algorithms.iter().map(|a| (*a, Digest::new(*a))).collect();
        Digests { md5: Md5::new(), others }
    }

    pub(crate) fn update(&mut self, data: &[u8]) {
        self.md5.update(data);
        for (_, digest) in &mut self.others {
            digest.update(data);
        }
    }

    pub(crate) fn finish(self) -> Computed {
        let mut md5 = [0; 16];
        md5.copy_from_slice(self.md5.finalize().as_ref());
        let checksums = self.others.into_iter().map(|(a, d)| (a, d.finish())).collect();
        Computed { md5, checksums }
    }
}

impl Computed {
    pub(crate) fn etag(&self) -> String {
        hex(&self.md5)
    }

    pub(crate) fn stored(&self) -> Vec<Checksum> {
        let stored = |(a, value): &(Algorithm, String)| Checksum {
            algorithm: a.name().to_owned(),
            value: value.clone(),
            composite: false,
        };
        self.checksums.iter().map(stored).collect()
    }
}

/// The ETag of an object of parts: MD5 of their MD5s, `-`, their number.
pub(crate) fn etag_of_parts<'a>(etags: impl ExactSizeIterator<Item = &'a str>) -> Option<String> {
    let count = etags.len();
    let mut md5 = Md5::new();
    for etag in etags {
        md5.update(&unhex(etag)?);
    }
    Some(format!("{}-{count}", hex(md5.finalize().as_ref())))
}

/// The checksum of an object from those of its parts; `None` if one does not have it.
pub(crate) fn of_parts(algorithm: Algorithm, composite: bool, parts: &[&Part]) -> Option<Checksum> {
    let values: Option<Vec<_>> =
        parts.iter().map(|part| decode(&value(&part.checksums, algorithm)?)).collect();
    let values = values?;
    let value = if composite {
        let mut digest = Digest::new(algorithm);
        values.iter().for_each(|value| digest.update(value));
        format!("{}-{}", digest.finish(), parts.len())
    } else {
        combine(algorithm, &values, parts)?
    };
    Some(Checksum { algorithm: algorithm.name().to_owned(), value, composite })
}

fn combine(algorithm: Algorithm, values: &[Vec<u8>], parts: &[&Part]) -> Option<String> {
    let crc = algorithm.crc()?;
    let number = |bytes: &[u8]| bytes.iter().fold(0u64, |n, b| n << 8 | u64::from(*b));
    let mut all = values.iter().zip(parts);
    let (first, _) = all.next()?;
    let sum = all.fold(number(first), |sum, (value, part)| {
        crc_fast::checksum_combine(crc, sum, number(value), part.length)
    });
    Some(encode(&sum.to_be_bytes()[8 - algorithm.bytes()..]))
}

/// The stored value of an algorithm.
pub(crate) fn value(checksums: &[Checksum], algorithm: Algorithm) -> Option<String> {
    checksums.iter().find(|c| c.algorithm == algorithm.name()).map(|c| c.value.clone())
}

pub(crate) fn encode(bytes: &[u8]) -> String {
    base64_simd::STANDARD.encode_to_string(bytes)
}

pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    base64_simd::STANDARD.decode_to_vec(text.as_bytes()).ok()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        // Writing to a string does not fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.bytes().all(|b| b.is_ascii_hexdigit()) || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn part(content: &[u8]) -> Part {
        let mut digests = Digests::new(&Algorithm::ALL);
        digests.update(content);
        let computed = digests.finish();
        Part {
            length: content.len() as u64,
            etag: computed.etag(),
            checksums: computed.stored(),
            ..Default::default()
        }
    }

    #[test]
    fn known_values() {
        let computed = part(b"hello");
        assert_eq!(computed.etag, "5d41402abc4b2a76b9719d911017c592");
        let of = |a| value(&computed.checksums, a).unwrap();
        assert_eq!(of(Algorithm::Crc32), "NhCmhg==");
        assert_eq!(of(Algorithm::Crc32c), "mnG7TA==");
        assert_eq!(of(Algorithm::Sha1), "qvTGHdzF6KLavt4PO0gs2a6pQ00=");
    }

    #[test]
    fn crcs_of_parts_are_those_of_the_whole() {
        let whole = part(b"hello, world");
        let (a, b) = (part(b"hello, "), part(b"world"));
        for algorithm in [Algorithm::Crc32, Algorithm::Crc32c, Algorithm::Crc64Nvme] {
            let combined = of_parts(algorithm, false, &[&a, &b]).unwrap();
            assert_eq!(Some(combined.value), value(&whole.checksums, algorithm));
        }
        assert_eq!(of_parts(Algorithm::Sha256, false, &[&a, &b]), None);
        assert!(of_parts(Algorithm::Sha256, true, &[&a, &b]).unwrap().value.ends_with("-2"));
        assert_eq!(of_parts(Algorithm::Sha256, true, &[&a, &Part::default()]), None);
    }

    proptest! {
        #[test]
        fn crcs_of_any_parts_are_those_of_the_whole(
            pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 1..6)
        ) {
            let whole = part(&pieces.concat());
            let parts: Vec<Part> = pieces.iter().map(|piece| part(piece)).collect();
            let parts: Vec<&Part> = parts.iter().collect();
            for algorithm in [Algorithm::Crc32, Algorithm::Crc32c, Algorithm::Crc64Nvme] {
                let combined = of_parts(algorithm, false, &parts).unwrap();
                prop_assert_eq!(Some(combined.value), value(&whole.checksums, algorithm));
            }
        }

        #[test]
        fn hexadecimal_and_back(bytes in proptest::collection::vec(any::<u8>(), 0..40), text: String) {
            prop_assert_eq!(unhex(&hex(&bytes)), Some(bytes));
            if let Some(bytes) = unhex(&text) {
                prop_assert_eq!(hex(&bytes), text.to_lowercase());
            }
        }
    }

    #[test]
    fn etags_of_parts() {
        let etags = [part(b"a").etag, part(b"b").etag];
        let etag = etag_of_parts(etags.iter().map(String::as_str)).unwrap();
        assert_eq!(etag, "96e024ba2074fe77e8e965ba43a704be-2");
        assert_eq!(etag_of_parts(["zz"].into_iter()), None);
        assert_eq!(etag_of_parts(["+f"].into_iter()), None, "a sign is no digit");
    }
}
