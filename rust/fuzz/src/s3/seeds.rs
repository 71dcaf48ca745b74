//! Requests to begin with.

use super::backend::UPLOAD;

/// Signed ones, each of another operation.
const SIGNED: [&str; 44] = [
    "GET /",
    "PUT /another-bucket",
    "PUT /another-bucket\n\n<CreateBucketConfiguration><LocationConstraint>us-east-1</LocationConstraint></CreateBucketConfiguration>",
    "HEAD /bucket",
    "DELETE /another-bucket",
    "GET /bucket?location",
    "GET /bucket?acl",
    "GET /bucket?policy",
    "GET /bucket?versioning",
    "GET /bucket?tagging",
    "PUT /bucket?tagging\n\n<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>",
    "PUT /bucket?acl\n\n<AccessControlPolicy><Owner><ID>owner</ID></Owner><AccessControlList/></AccessControlPolicy>",
    "PUT /bucket?versioning\n\n<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>",
    "GET /bucket?prefix=k&delimiter=/&max-keys=2&marker=a&encoding-type=url",
    "GET /bucket?list-type=2&start-after=a&continuation-token=YQ==&fetch-owner=true",
    "GET /bucket?versions&key-marker=a",
    "GET /bucket?uploads&upload-id-marker=0&max-uploads=3",
    "PUT /bucket/key\ncontent-type: text/plain\nx-amz-meta-a: b\nx-amz-tagging: a=b&c=d\ncontent-md5: XUFAKrxLKna5cZ2REBfFkg==\n\nhello",
    "PUT /bucket/key\nx-amz-content-sha256: HASHED\nif-none-match: *\n\nhello",
    "PUT /bucket/key\nx-amz-checksum-crc32: NhCmhg==\nx-amz-acl: private\n\nhello",
    "PUT /bucket/key\nx-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER\nx-amz-decoded-content-length: 5\n\
     content-encoding: aws-chunked\nx-amz-trailer: x-amz-checksum-crc32\n\n5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n",
    "PUT /bucket/copy\nx-amz-copy-source: /bucket/key\nx-amz-metadata-directive: REPLACE\nx-amz-copy-source-if-match: *",
    "GET /bucket/key\nrange: bytes=1-3\nif-modified-since: Sun, 06 Nov 1994 08:49:37 GMT",
    "GET /bucket/key?response-content-type=text/html&partNumber=1",
    "GET /bucket/key?attributes\nx-amz-object-attributes: ETag,Checksum,ObjectParts,StorageClass,ObjectSize",
    "HEAD /bucket/key\nif-none-match: \"x\"",
    "GET /bucket/key?tagging",
    "PUT /bucket/key?tagging\n\n<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>",
    "DELETE /bucket/key?tagging",
    "GET /bucket/key?acl",
    "DELETE /bucket/key\nif-match: *",
    "POST /bucket?delete\ncontent-md5: 1B2M2Y8AsgTpgAmY7PhCfg==\n\n<Delete><Quiet>true</Quiet><Object><Key>key</Key></Object></Delete>",
    "POST /bucket?delete\nx-amz-content-sha256: HASHED\n\n<Delete><Object><Key>a&amp;b</Key><ETag>x</ETag></Object></Delete>",
    "POST /bucket/parts?uploads\nx-amz-checksum-algorithm: CRC32C",
    "PUT /bucket/parts?partNumber=1&uploadId=UPLOAD\n\nhello",
    "PUT /bucket/parts?partNumber=2&uploadId=UPLOAD\nx-amz-copy-source: bucket/key\nx-amz-copy-source-range: bytes=0-4",
    "GET /bucket/parts?uploadId=UPLOAD&max-parts=2&part-number-marker=0",
    "POST /bucket/parts?uploadId=UPLOAD\n\n<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>\
     <ETag>\"5d41402abc4b2a76b9719d911017c592\"</ETag></Part></CompleteMultipartUpload>",
    "DELETE /bucket/parts?uploadId=UPLOAD",
    "OPTIONS /bucket/key\norigin: http://example.org\naccess-control-request-method: PUT\naccess-control-request-headers: x-amz-date",
    "PUT /bucket?cors\n\n<CORSConfiguration><CORSRule><AllowedMethod>PUT</AllowedMethod><AllowedOrigin>http://*.org</AllowedOrigin>\
     <AllowedHeader>*</AllowedHeader><ExposeHeader>ETag</ExposeHeader><MaxAgeSeconds>9</MaxAgeSeconds></CORSRule></CORSConfiguration>",
    "DELETE /bucket?cors",
    "PUT /bucket?lifecycle\n\n<LifecycleConfiguration><Rule><ID>r</ID><Status>Enabled</Status><Filter><And><Prefix>k</Prefix><Tag><Key>a</Key>\
     <Value>b</Value></Tag></And></Filter><Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>",
    "DELETE /bucket?lifecycle",
];

/// As they come on a connection.
const BYTES: [&str; 12] = [
    "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "PUT /bucket/key HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello",
    "PUT /bucket/key HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "DELETE /bucket/key HTTP/1.1\r\nHost: localhost\r\nAuthorization: AWS4-HMAC-SHA256 Credential=OWNER/@DATE@/us-east-1/s3/aws4_request, \
     SignedHeaders=host;x-amz-date, Signature=0123456789abcdef\r\nX-Amz-Date: @TIME@\r\nX-Amz-Content-Sha256: UNSIGNED-PAYLOAD\r\n\r\n",
    "DELETE /bucket/key HTTP/1.1\r\nHost: localhost\r\nAuthorization: AWS4-HMAC-SHA256 Credential=NOBODY/@DATE@/us-east-1/s3/aws4_request, \
     SignedHeaders=host;x-amz-date, Signature=0123456789abcdef\r\nX-Amz-Date: @TIME@\r\nX-Amz-Content-Sha256: UNSIGNED-PAYLOAD\r\n\r\n",
    "GET /bucket/key?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=OWNER%2F@DATE@%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=@TIME@\
     &X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature=0123456789abcdef HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "DELETE /bucket/key HTTP/1.1\r\nHost: localhost\r\nDate: Tue, 24 Nov 2026 10:00:00 GMT\r\nAuthorization: AWS OWNER:frJIUN8DYpKDtOLCwo//yllqDzg=\r\n\r\n",
    "GET /bucket/key?AWSAccessKeyId=OWNER&Signature=frJIUN8DYpKDtOLCwo%2F%2Fy&Expires=99999999999 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "POST /bucket HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 120\r\n\r\n\
     --x\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\nkey\r\n--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nhello\r\n--x--\r\n",
    "PUT /bucket/key HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\nless",
    "POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: AWS4-HMAC-SHA256 Credential=OWNER/@DATE@/us-east-1/sts/aws4_request, \
     SignedHeaders=host, Signature=00\r\nX-Amz-Date: @TIME@\r\nContent-Length: 18\r\n\r\nAction=AssumeRole&",
    "HEAD /bucket HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /bucket/key HTTP/1.1\r\nHost: b.localhost\r\n\r\n",
];

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let of = |mode: &str, request: &str| (mode.to_owned() + request).into_bytes();
    let mut all: Vec<_> = BYTES.iter().map(|request| of("u", request)).collect();
    for request in SIGNED {
        let request = request.replace("UPLOAD", UPLOAD);
        all.extend(["w", "r", "f"].map(|mode| of(mode, &request)));
    }
    // The first byte decides which chunk is signed wrongly: 'h' the first one, 'o' none.
    for body in ["hello, hello, hello", "only right chunks", "", "king of chunks"] {
        all.push(of("c", &format!("PUT /bucket/key\n\n{body}")));
    }
    all
}
