package io.afterbay.store.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.io.LocalFiles;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The owner compacts at every chance, amid everything that a store does. */
class CompactionDebtTest {
    private static final int PAGES = 600; // more than memory holds
    private static final int STEPS = 6_000;

    @TempDir private Path directory;
    private final Queue<Runnable> background = new ArrayDeque<>();

    @ParameterizedTest
    @MethodSource("seeds")
    void losesNothing(long seed) throws IOException {
        Random random = new Random(seed);
        try (ImagedPages pages = open(seed)) {
            pages.pages.compactor.debt.boundFactor = 0;
            pages.pages.compactor.debt.graceSegments = 0;
            for (int page = 0; page < PAGES; page++) {
                pages.add(4 << 10);
            }
            for (int step = 0; step < STEPS; step++) {
                pages.changeAtRandom();
                if (random.nextInt(200) == 0) {
                    runSome(random);
                    pages.assertLiveBytesAreRight();
                }
                if (random.nextInt(1000) == 0) {
                    renewImage(pages);
                }
            }
            pages.assertAllRight();
            assertThat(pages.pages.stats().compactionStalls()).isPositive();
            assertThat(pages.pages.stats().relocatedBytes()).isPositive();
        }
    }

    static LongStream seeds() {
        return LongStream.rangeClosed(1, TestForm.STORE_SEEDS);
    }

    private ImagedPages open(long seed) {
        return new ImagedPages(
                directory, LocalFiles.system(), background::add, 1 << 20, seed % 2 == 0, seed);
    }

    /** What the store leaves to others, late. */
    private void runSome(Random random) {
        for (int left = random.nextInt(background.size() + 1); left > 0; left--) {
            background.remove().run();
        }
    }

    private static void renewImage(ImagedPages pages) throws IOException {
        ImagedPages.Image image = pages.image(pages::changeAtRandom);
        pages.assertLiveBytesAreRight();
        pages.assertRight(image);
        if (pages.images().size() > 2) {
            pages.close(pages.images().get(0));
        }
    }
}
