package io.afterbay.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands between a command and its cluster: a job that is sent stays on its way until it may go on,
 * whatever becomes of the command. All else passes.
 */
final class SlowWay implements AutoCloseable {
    private static final int ACCEPTED = 202;

    private final URI cluster;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final AtomicInteger sent = new AtomicInteger();
    private final CountDownLatch mayGoOn = new CountDownLatch(1);
    private final CountDownLatch arrived = new CountDownLatch(1);

    /**
     * @param cluster its REST address
     */
    SlowWay(URI cluster) throws IOException {
        this.cluster = cluster;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::pass);
        server.start();
    }

    /** HOST:PORT, in place of the cluster's. */
    String address() {
        return server.getAddress().getHostString() + ":" + server.getAddress().getPort();
    }

    /** How many jobs have been sent so far. */
    int sent() {
        return sent.get();
    }

    /** All that are on their way, and those that come. */
    void letGoOn() {
        mayGoOn.countDown();
    }

    /** Whether the cluster has taken one. */
    boolean hasArrived() {
        return arrived.getCount() == 0;
    }

    private void pass(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] content = exchange.getRequestBody().readAllBytes();
            String method = exchange.getRequestMethod();
            boolean isJob =
                    method.equals("POST") && exchange.getRequestURI().getPath().endsWith("/jobs");
            if (isJob) {
                sent.incrementAndGet();
                mayGoOn.await();
            }
            HttpResponse<byte[]> answer = ask(exchange, method, content);
            if (isJob && answer.statusCode() == ACCEPTED) {
                arrived.countDown();
            }
            byte[] body = answer.body();
            exchange.sendResponseHeaders(answer.statusCode(), body.length == 0 ? -1 : body.length);
            if (body.length > 0) {
                exchange.getResponseBody().write(body); // who has asked may be gone
            }
        } catch (InterruptedException e) {
            throw new InterruptedIOException();
        }
    }

    private HttpResponse<byte[]> ask(HttpExchange exchange, String method, byte[] content)
            throws IOException, InterruptedException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(cluster.resolve(exchange.getRequestURI()))
                        .method(method, HttpRequest.BodyPublishers.ofByteArray(content));
        String type = exchange.getRequestHeaders().getFirst("Content-Type");
        if (type != null) {
            request.header("Content-Type", type);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    }

    @Override
    public void close() {
        letGoOn();
        server.stop(0);
        threads.shutdownNow();
    }
}
