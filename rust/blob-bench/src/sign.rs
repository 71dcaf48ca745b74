//! Presigned URLs of S3 (AWS Signature Version 4, by query).
//!
//! The key for a day is computed once, so that a request costs the client one hash and one HMAC, and the server all that
//! verifying takes.

use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use ring::{digest, hmac};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const EXPIRES_S: u32 = 86_400;

/// Signs requests of one key to one server.
#[derive(Debug)]
pub(crate) struct Signer {
    host: String,
    time: String,
    scope: String,
    query: String,
    key: hmac::Key,
}

/// Who asks whom.
#[derive(Debug, Clone)]
pub(crate) struct Identity<'a> {
    /// As in the header of requests.
    pub(crate) host: &'a str,
    pub(crate) region: &'a str,
    pub(crate) key: &'a str,
    pub(crate) secret: &'a str,
}

impl Signer {
    /// For requests from now on, for a day.
    pub(crate) fn new(of: &Identity<'_>) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Signer::at(of, &time(now.as_secs()))
    }

    fn at(of: &Identity<'_>, time: &str) -> Self {
        let day = time.split('T').next().unwrap_or_default();
        let scope = format!("{day}/{}/s3/aws4_request", of.region);
        let mut key = format!("AWS4{}", of.secret).into_bytes();
        for part in [day, of.region, "s3", "aws4_request"] {
            key = mac(&hmac::Key::new(hmac::HMAC_SHA256, &key), part).as_ref().to_vec();
        }
        // Sorted, as the canonical form wants it.
        let query = format!(
            "X-Amz-Algorithm={ALGORITHM}&X-Amz-Credential={}%2F{}&X-Amz-Date={time}\
             &X-Amz-Expires={EXPIRES_S}&X-Amz-SignedHeaders=host",
            of.key,
            scope.replace('/', "%2F"),
        );
        Signer {
            host: of.host.to_owned(),
            time: time.to_owned(),
            scope,
            query,
            key: hmac::Key::new(hmac::HMAC_SHA256, &key),
        }
    }

    /// Path and query of a signed request. `path` has letters, digits, `/`, `.` and `-` only.
    pub(crate) fn path(&self, method: &str, path: &str) -> String {
        let canonical = format!(
            "{method}\n{path}\n{}\nhost:{}\n\nhost\nUNSIGNED-PAYLOAD",
            self.query, self.host
        );
        let hash = hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
        let to_sign = format!("{ALGORITHM}\n{}\n{}\n{hash}", self.time, self.scope);
        let signature = hex(mac(&self.key, &to_sign).as_ref());
        format!("{path}?{}&X-Amz-Signature={signature}", self.query)
    }
}

fn mac(key: &hmac::Key, text: &str) -> hmac::Tag {
    hmac::sign(key, text.as_bytes())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Seconds since 1970 as `20130524T000000Z`.
fn time(seconds: u64) -> String {
    let (year, month, day) = date(seconds / 86_400);
    let of_day = seconds % 86_400;
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

/// The date of a day since 1970-01-01: by eras of 400 years that begin in March, so that leap days come last.
fn date(day: u64) -> (u64, u64, u64) {
    let day = day + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: Identity<'_> = Identity {
        host: "examplebucket.s3.amazonaws.com",
        region: "us-east-1",
        key: "AKIAIOSFODNN7EXAMPLE",
        secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    };

    /// The example of Amazon's documentation, "Authenticating Requests: Using Query Parameters".
    #[test]
    fn signs_as_in_the_documentation() {
        let signed = Signer::at(&EXAMPLE, "20130524T000000Z").path("GET", "/test.txt");
        assert_eq!(
            signed,
            "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256\
             &X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request\
             &X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host\
             &X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
        );
        let put = Signer::at(&EXAMPLE, "20130524T000000Z").path("PUT", "/test.txt");
        assert_ne!(put, signed);
    }

    #[test]
    fn times() {
        assert_eq!(time(0), "19700101T000000Z");
        assert_eq!(time(951_782_399), "20000228T235959Z");
        assert_eq!(time(951_782_400), "20000229T000000Z");
        assert_eq!(time(1_704_067_199), "20231231T235959Z");
        assert_eq!(time(1_795_435_200), "20261123T120000Z");
    }
}
