package io.afterbay.blob.it;

import io.afterbay.testing.Await;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * The real server: {@code afterbay-blob serve --data DIR} in a process of its own, with the key
 * that it made itself. It can be killed, and started again at the same address.
 */
final class BlobStore implements AutoCloseable {
    private static final Pattern S3 = Pattern.compile("(?m)^S3\\s+(http://\\S+)$");
    private static final Pattern READY = Pattern.compile("(?m)^ready$");
    private static final Pattern ACCESS = Pattern.compile("(?m)^access-key = (\\S+)$");
    private static final Pattern SECRET = Pattern.compile("(?m)^secret-key = (\\S+)$");
    private static final long LIMIT_S = Await.DEADLINE.toSeconds();
    private static final long PAUSE_MILLIS = 20;

    private final Path data;
    private final Path out;
    private final List<String> options;
    private Process process;
    private URI endpoint;

    private BlobStore(Path directory, List<String> options) throws Exception {
        this.data = directory.resolve("data");
        this.out = directory.resolve("server.out");
        this.options = options;
        this.process = launch("127.0.0.1:0");
        this.endpoint = URI.create(said(S3));
    }

    /**
     * @param directory for its data and what it says
     * @param options of {@code serve}, besides those that say where
     */
    static BlobStore start(Path directory, String... options) throws Exception {
        return new BlobStore(Files.createDirectories(directory), List.of(options));
    }

    private Process launch(String address) throws Exception {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                BlobProgram.path().toString(),
                                "serve",
                                "--data=" + data,
                                "--listen=127.0.0.1:0",
                                "--admin=none",
                                "--s3=" + address,
                                // Room is reserved when it is planned in: less than on a real disk.
                                "--partition-size=1GiB",
                                "--segment-size=64MiB"));
        command.addAll(options);
        Files.deleteIfExists(out);
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("RUST_LOG", "warn");
        Process started =
                builder.redirectOutput(out.toFile())
                        .redirectError(ProcessBuilder.Redirect.appendTo(log().toFile()))
                        .start();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_S);
        while (!READY.matcher(Files.readString(out)).find()) {
            if (!started.isAlive() || System.nanoTime() > end) {
                started.destroyForcibly();
                throw new AssertionError("the store did not start: " + Files.readString(log()));
            }
            Thread.sleep(PAUSE_MILLIS);
        }
        return started;
    }

    private Path log() {
        return out.resolveSibling("server.log");
    }

    private String said(Pattern pattern) throws IOException {
        return find(pattern, out);
    }

    private static String find(Pattern pattern, Path file) throws IOException {
        Matcher matcher = pattern.matcher(Files.readString(file));
        if (!matcher.find()) {
            throw new AssertionError(file + " has no " + pattern);
        }
        return matcher.group(1);
    }

    /** Ends it as a power cut of the process would: kill -9. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** After {@link #kill}: the same data at the same address. */
    void startAgain() throws Exception {
        process = launch(endpoint.getAuthority());
    }

    /** Its S3 endpoint. */
    URI endpoint() {
        return endpoint;
    }

    Path data() {
        return data;
    }

    String accessKey() throws IOException {
        return find(ACCESS, data.resolve("root-key"));
    }

    String secretKey() throws IOException {
        return find(SECRET, data.resolve("root-key"));
    }

    /** Amazon's own client for Java. */
    S3Client client() throws IOException {
        return S3Client.builder()
                .endpointOverride(endpoint)
                .forcePathStyle(true)
                .region(Region.US_EAST_1)
                .credentialsProvider(
                        StaticCredentialsProvider.create(
                                AwsBasicCredentials.create(accessKey(), secretKey())))
                .build();
    }

    void makeBucket(String name) throws IOException {
        try (S3Client client = client()) {
            client.createBucket(request -> request.bucket(name));
        }
    }

    /** In how many parts an object was uploaded; 0 if it was not. */
    int parts(String bucket, String key) throws IOException {
        try (S3Client client = client()) {
            Integer count =
                    client.headObject(head -> head.bucket(bucket).key(key).partNumber(1))
                            .partsCount();
            return count == null ? 0 : count;
        }
    }

    @Override
    public void close() throws InterruptedException {
        process.destroy();
        if (!process.waitFor(LIMIT_S, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
        }
    }
}
