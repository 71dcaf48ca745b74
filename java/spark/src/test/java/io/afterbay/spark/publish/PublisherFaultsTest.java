package io.afterbay.spark.publish;

import static io.afterbay.testing.TestForm.PUBLISHER_SEEDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.spark.publish.FaultyStorage.Fault;
import io.afterbay.testing.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Batches of a query on a storage that fails, dies and lies at random: the order always holds. */
class PublisherFaultsTest {
    private static final long PATIENCE = Await.DEADLINE.toNanos();
    private static final int BATCHES = 10;
    private static final int PARTITIONS = 3;
    private static final int SILENCE_MS = 60;

    @TempDir Path dir;
    private long hedges;

    @Test
    void whatIsPublishedIsAlwaysAPrefixOfTheLog() throws Exception {
        int finished = 0;
        int seed = 0;
        // Where writes are slow, those that stall are nothing unusual: then more are needed.
        for (; seed < PUBLISHER_SEEDS || hedges == 0; seed++) {
            Random random = new Random(seed);
            FaultyStorage storage = new FaultyStorage();
            if (seed % 2 == 0) {
                storage.staging();
            }
            finished += run(storage, random) ? 1 : 0;
            checkOrder(storage.order());
        }
        assertThat(finished)
                .isBetween(seed / 10, seed - seed / 20); // some fail for good, some do not
        assertThat(hedges).isPositive();
    }

    /** Whether all was published. */
    private boolean run(FaultyStorage storage, Random random) throws IOException {
        Backoff backoff = new Backoff(1_000, 50_000);
        PublishSettings settings =
                new PublishSettings(4, 10, 1_000, PATIENCE, 3, PATIENCE, backoff, 0, 100);
        Publisher publisher = new Publisher("ckpt", storage, settings);
        try {
            for (int batch = 0; batch < BATCHES; batch++) {
                submit(publisher, storage, random, Kind.LOG, "offsets/" + batch);
                for (int p = 0; p < PARTITIONS; p++) {
                    submit(publisher, storage, random, Kind.STATE, "state/" + batch + "/" + p);
                }
                submit(publisher, storage, random, Kind.LOG, "commits/" + batch);
            }
            publisher.close();
            return true;
        } catch (PublishException e) {
            assertThat(e).hasMessageContaining("attempts failed");
            return false;
        } finally {
            hedges += publisher.metrics().hedges();
            publisher.abandon();
        }
    }

    private void submit(
            Publisher publisher, FaultyStorage storage, Random random, Kind kind, String target)
            throws IOException {
        storage.beforeWrites(target, faults(random));
        storage.afterWrites(target, faults(random));
        Path local = Files.createTempFile(dir, "copy", "");
        Files.writeString(local, target);
        publisher.submit(kind, target, local, kind == Kind.STATE);
    }

    private static Fault[] faults(Random random) {
        List<Fault> faults = new ArrayList<>();
        while (random.nextInt(6) == 0) {
            switch (random.nextInt(10)) {
                case 0, 1 -> faults.add(FaultyStorage.dies());
                case 2 -> faults.add(FaultyStorage.stalls(SILENCE_MS)); // two write it then
                default -> faults.add(FaultyStorage.fails());
            }
        }
        return faults.toArray(Fault[]::new);
    }

    private static void checkOrder(List<String> order) {
        Set<String> there = new HashSet<>();
        int logs = 0;
        for (String target : order) {
            if (!target.startsWith("state/") && there.add(target)) {
                int batch = logs / 2;
                boolean isCommit = logs % 2 == 1;
                assertThat(target).isEqualTo((isCommit ? "commits/" : "offsets/") + batch);
                for (int p = 0; isCommit && p < PARTITIONS; p++) {
                    assertThat(there).contains("state/" + batch + "/" + p);
                }
                logs++;
            }
            there.add(target);
        }
    }
}
