package io.afterbay.storm.workloads;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.storm.Config;
import org.apache.storm.DaemonConfig;
import org.apache.storm.LocalCluster;
import org.apache.storm.generated.KillOptions;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.thrift.TException;

/** A Storm cluster in this process: its workers are threads, and tuples do not leave it. */
final class EmbeddedStorm implements AutoCloseable {
    /** How many workers a topology can have. */
    static final int WORKERS_MAX = 5;

    private static final int PATIENCE_S = 120;
    private static final int LOOK_MS = 20;

    /** A topology gets its workers when Nimbus next looks; by default it does so every 10 s. */
    private static final int ASSIGN_EVERY_S = 1;

    private final LoopbackZooKeeper zooKeeper;
    private final LocalCluster cluster;

    /**
     * @param directory for what it writes
     */
    EmbeddedStorm(Path directory) throws Exception {
        zooKeeper = new LoopbackZooKeeper(directory.resolve("zookeeper"));
        cluster =
                new LocalCluster.Builder()
                        .withSupervisors(1)
                        .withPortsPerSupervisor(WORKERS_MAX)
                        .withDaemonConf(
                                Map.of(
                                        Config.STORM_ZOOKEEPER_SERVERS,
                                        List.of(zooKeeper.host()),
                                        Config.STORM_ZOOKEEPER_PORT,
                                        (long) zooKeeper.port(),
                                        DaemonConfig.NIMBUS_MONITOR_FREQ_SECS,
                                        ASSIGN_EVERY_S,
                                        Config.TOPOLOGY_ENABLE_MESSAGE_TIMEOUTS,
                                        true,
                                        // Not its own messages between workers, but those named.
                                        Config.STORM_LOCAL_MODE_ZMQ,
                                        true,
                                        Config.STORM_MESSAGING_TRANSPORT,
                                        LocalTransport.class.getName()))
                        .build();
        // It is elected in a thread of its own, and refuses topologies before.
        if (!cluster.getNimbus().awaitLeadership(PATIENCE_S, TimeUnit.SECONDS)) {
            close();
            throw new IllegalStateException(
                    "Storm's Nimbus was not elected within %d s; its ZooKeeper is at %s:%d"
                            .formatted(PATIENCE_S, zooKeeper.host(), zooKeeper.port()));
        }
    }

    void submit(String name, Map<String, Object> conf, StormTopology topology) throws TException {
        cluster.submitTopology(name, conf, topology);
    }

    /** Whether Nimbus has a topology of that name, which is so until its places are free. */
    boolean has(String name) throws TException {
        return cluster.getTopologySummaries().stream().anyMatch(one -> name.equals(one.get_name()));
    }

    /**
     * Ends a topology at once, and waits until Nimbus has forgotten it. Until then its places for
     * workers are not free: the next topology may begin with fewer workers, get the others when it
     * is at work, and end this process if it is killed meanwhile.
     */
    void kill(String name) throws TException, InterruptedException {
        KillOptions now = new KillOptions();
        now.set_wait_secs(0);
        cluster.killTopologyWithOpts(name, now);
        long begun = System.nanoTime();
        while (has(name)) {
            if (System.nanoTime() - begun > TimeUnit.SECONDS.toNanos(PATIENCE_S)) {
                throw new IllegalStateException(
                        "Storm's Nimbus did not end topology %s within %d s"
                                .formatted(name, PATIENCE_S));
            }
            Thread.sleep(LOOK_MS);
        }
    }

    @Override
    public void close() throws Exception {
        cluster.close();
        zooKeeper.close();
    }
}
