//! Rows of the names, key files, arguments, and what S3 requests consist of. The parsers are not public: their crates show
//! them by the feature `fuzzing`, with what must hold.

fn texts(all: &[&str]) -> Vec<Vec<u8>> {
    all.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(crate) fn row_seeds() -> Vec<Vec<u8>> {
    afterbay_blob_meta::fuzzing::sample_rows()
}

pub(crate) fn row(bytes: &[u8]) -> String {
    afterbay_blob_meta::fuzzing::read_row(bytes)
}

pub(crate) fn key_file_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "access-key = ABCDEFG\nsecret-key = 0123456789abcdef0123\n",
        "secret-key = 0123456789abcdef\r\naccess-key = é\n# note\n",
    ])
}

pub(crate) fn key_file(bytes: &[u8]) -> String {
    afterbay_blob_server::fuzzing::key_file(&String::from_utf8_lossy(bytes))
}

pub(crate) fn argument_seeds() -> Vec<Vec<u8>> {
    texts(&["64MiB", "1 GB", "90s", "24h", "7=fast", "bucket/key", "0-99", "100-", "-5", "durable"])
}

pub(crate) fn argument(bytes: &[u8]) -> String {
    afterbay_blob_server::fuzzing::argument(&String::from_utf8_lossy(bytes))
}

pub(crate) fn s3_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "bytes=0-21",
        "bytes=5-5",
        "a=1&b=%C3%A9&c+d=e",
        "YS9rZXk=",
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=604800&X-Amz-Signature=0",
        "<Error><Code>NoSuchKey</Code></Error>",
        "<ETag>&quot;d41d8cd98f00b204e9800998ecf8427e&quot;</ETag>",
        "d41d8cd98f00b204e9800998ecf8427e",
        "x-amz-checksum-crc32c",
        "bucket.name-1",
        "gzip, aws-chunked",
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "public-read",
        "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0",
        "3\r\nabc\r\n4\r\ndefg\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n",
        "3;chunk-signature=0f\r\nabc\r\n0;chunk-signature=0f\r\n\r\n",
    ])
}

pub(crate) fn s3(bytes: &[u8]) -> String {
    let pieces = afterbay_blob_s3::fuzzing::pieces(&String::from_utf8_lossy(bytes));
    pieces + &afterbay_blob_s3::fuzzing::chunks(bytes)
}
