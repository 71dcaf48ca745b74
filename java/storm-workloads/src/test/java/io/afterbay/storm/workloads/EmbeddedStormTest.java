package io.afterbay.storm.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.testing.Await;
import io.afterbay.testing.Prerequisite;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Only this machine can reach the cluster in this process, whatever of it has started. */
class EmbeddedStormTest {
    private static final int WORDS = 20;

    @TempDir private Path directory;

    @BeforeEach
    void needLinux() {
        Prerequisite.check(
                Listeners.areKnown(), () -> "there is no /proc/self/net/tcp, which Linux has");
    }

    @Test
    void listensOnTheLoopbackInterfaceOnly() throws Exception {
        ExclamationPlan plan =
                new ExclamationPlan("listens", Technique.BALANCED, 200, 0, WORDS, 2, 2, 0.1, 1, 1);
        Measured measured = Measured.of(plan.run());
        Set<InetSocketAddress> before = Listeners.ofThisProcess();
        try (EmbeddedStorm storm = new EmbeddedStorm(directory)) {
            Map<String, Object> conf = ExclamationTopology.conf(plan);
            storm.submit(plan.run(), conf, ExclamationTopology.of(plan, conf));
            Await.until("words are acked", () -> measured.ackedWords() >= WORDS);
            Set<InetSocketAddress> listeners = new HashSet<>(Listeners.ofThisProcess());
            listeners.removeAll(before);
            assertThat(storm.has(plan.run())).isTrue();
            storm.kill(plan.run());
            assertThat(storm.has(plan.run())).as("its places are free").isFalse();
            assertThat(listeners)
                    .isNotEmpty()
                    .allMatch(address -> address.getAddress().isLoopbackAddress());
        } finally {
            Measured.forget(plan.run());
        }
    }

    /** The control. */
    @Test
    void aSocketOnAllAddressesIsSeen() throws Exception {
        try (ServerSocket all = new ServerSocket(0);
                ServerSocket one = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThat(Listeners.ofThisProcess())
                    .anyMatch(
                            address ->
                                    address.getPort() == all.getLocalPort()
                                            && address.getAddress().isAnyLocalAddress())
                    .anyMatch(
                            address ->
                                    address.getPort() == one.getLocalPort()
                                            && address.getAddress().isLoopbackAddress());
        }
    }
}
