package io.afterbay.edge.raw;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.edge.lines.GrowingFile;
import io.afterbay.edge.link.LinkRelay;
import io.afterbay.edge.link.LinkShape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LineShipperTest {
    private static final LinkShape LINK = new LinkShape(4_000_000, Duration.ofMillis(2));
    private static final int LINES = 20_000;
    private static final int OUTAGES = 3;

    @TempDir private Path directory;

    @FunctionalInterface
    private interface Condition {
        boolean holds() throws IOException;
    }

    private static void await(Condition condition) throws Exception {
        while (!condition.holds()) {
            Thread.sleep(5);
        }
    }

    /** Random digits, of which a link of this rate carries little in a moment. */
    private void append(Path file, Random random) throws IOException {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < LINES / (OUTAGES + 1); i++) {
            lines.append(random.nextLong()).append('\n');
        }
        Files.writeString(file, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    @Test
    void filesArriveOnceOverALinkThatBreaks() throws Exception {
        Path sent = directory.resolve("sent.ndjson");
        Random random = new Random(1);
        try (LineReceiver receiver =
                        LineReceiver.open(Files.createDirectory(directory.resolve("cloud")));
                LinkRelay link = LinkRelay.open(receiver.port(), LINK);
                LineShipper shipper = LineShipper.start("a", sent, link.port())) {
            Path arrived = receiver.file("a");
            for (int i = 0; i < OUTAGES; i++) {
                long before = Files.exists(arrived) ? Files.size(arrived) : 0;
                append(sent, random);
                await(() -> Files.exists(arrived) && Files.size(arrived) > before);
                link.cut();
                link.restore();
            }
            append(sent, random);
            assertThat(GrowingFile.endOf(arrived)).doesNotExist();
            Files.createFile(GrowingFile.endOf(sent));
            await(shipper::isDone);
            assertThat(Files.mismatch(arrived, sent)).isEqualTo(-1);
            assertThat(GrowingFile.endOf(arrived)).exists();
            assertThat(link.bytesUp()).isPositive().isLessThan(Files.size(sent));
        }
    }
}
