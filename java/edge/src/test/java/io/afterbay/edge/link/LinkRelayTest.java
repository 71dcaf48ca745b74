package io.afterbay.edge.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LinkRelayTest {
    private static final LinkShape FAST = new LinkShape(1_000_000_000, Duration.ZERO);

    private ServerSocket cloud;

    @BeforeEach
    void listen() throws IOException {
        cloud = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
    }

    @AfterEach
    void close() throws IOException {
        cloud.close();
    }

    private static Socket connect(int port) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), port);
    }

    private static byte[] random(int bytes) {
        byte[] random = new byte[bytes];
        new Random(bytes).nextBytes(random);
        return random;
    }

    private static CompletableFuture<Void> send(Socket socket, byte[] bytes) {
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        socket.getOutputStream().write(bytes);
                        socket.shutdownOutput();
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    }
                });
    }

    /** One end may have said all that it has to say before the other one begins. */
    @Test
    void carriesBytesBothWaysAndCountsThem() throws Exception {
        byte[] up = random(300_000);
        byte[] down = random(200_000);
        try (LinkRelay link = LinkRelay.open(cloud.getLocalPort(), FAST);
                Socket site = connect(link.port());
                Socket taken = cloud.accept()) {
            CompletableFuture<Void> sent = send(site, up);
            assertThat(taken.getInputStream().readAllBytes()).isEqualTo(up);
            sent.get();
            CompletableFuture<Void> answered = send(taken, down);
            assertThat(site.getInputStream().readAllBytes()).isEqualTo(down);
            answered.get();
            assertThat(link.bytesUp()).isEqualTo(up.length);
            assertThat(link.bytesDown()).isEqualTo(down.length);
        }
    }

    /** Who listens may be started again, and has another port then. */
    @Test
    void leadsToWhereItsTargetIsNow() throws Exception {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            AtomicInteger port = new AtomicInteger(cloud.getLocalPort());
            try (LinkRelay link = LinkRelay.open(port::get, FAST)) {
                try (Socket site = connect(link.port());
                        Socket taken = cloud.accept()) {
                    assertThat(taken.isConnected()).isTrue();
                    site.shutdownOutput();
                }
                port.set(other.getLocalPort());
                try (Socket site = connect(link.port());
                        Socket taken = other.accept()) {
                    site.getOutputStream().write(7);
                    assertThat(taken.getInputStream().read()).isEqualTo(7);
                }
            }
        }
    }

    /** The other bound would be one of the machine. */
    @Test
    void isNotFasterThanItsRateAndItsRoundTrip() throws Exception {
        LinkShape shape = new LinkShape(800_000, Duration.ofMillis(300));
        byte[] up = random(20_000);
        try (LinkRelay link = LinkRelay.open(cloud.getLocalPort(), shape);
                Socket site = connect(link.port());
                Socket taken = cloud.accept()) {
            long start = System.nanoTime();
            CompletableFuture<Void> sent = send(site, up);
            assertThat(taken.getInputStream().readAllBytes()).isEqualTo(up);
            sent.get();
            assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start))
                    .isGreaterThanOrEqualTo(200 + 150);
        }
    }

    @Test
    void whatIsSentWhileItIsDownIsLostWithItsConnection() throws Exception {
        try (LinkRelay link = LinkRelay.open(cloud.getLocalPort(), FAST)) {
            try (Socket site = connect(link.port());
                    Socket taken = cloud.accept()) {
                site.getOutputStream().write(1);
                assertThat(taken.getInputStream().read()).isEqualTo(1);
                link.cut();
                site.getOutputStream().write(2);
                link.restore();
                assertThat(rest(taken)).isEmpty();
            }
            try (Socket site = connect(link.port());
                    Socket taken = cloud.accept()) {
                site.getOutputStream().write(3);
                assertThat(taken.getInputStream().read()).isEqualTo(3);
            }
        }
    }

    private static byte[] rest(Socket socket) {
        try {
            return socket.getInputStream().readAllBytes();
        } catch (IOException e) {
            return new byte[0]; // reset
        }
    }

    @Test
    void whoConnectsWhileItIsDownWaits() throws Exception {
        try (LinkRelay link = LinkRelay.open(cloud.getLocalPort(), FAST)) {
            link.cut();
            try (Socket site = connect(link.port())) {
                site.getOutputStream().write(4);
                link.restore();
                try (Socket taken = cloud.accept()) {
                    assertThat(taken.getInputStream().read()).isEqualTo(4);
                }
            }
        }
    }

    @Test
    void whereNobodyListensConnectionsEnd() throws Exception {
        cloud.close();
        try (LinkRelay link = LinkRelay.open(cloud.getLocalPort(), FAST);
                Socket site = connect(link.port())) {
            assertThat(rest(site)).isEmpty();
        }
    }
}
