package io.afterbay.store.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFiles;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How large the pages at the ends of lists are. */
class ListPageBytesTest {
    @TempDir private Path directory;

    private PageStore open(long memoryBytes) {
        return new PageStore(
                new StoreOptions(
                        "pages",
                        directory.resolve("store"),
                        LocalFiles.system(),
                        new MemoryBudget(memoryBytes),
                        Runnable::run,
                        Runnable::run,
                        Runnable::run,
                        0,
                        127,
                        1.5,
                        true));
    }

    @Test
    void theEndsOfAllListsTakeAQuarterOfTheShare() {
        PageStore pages = open(64 << 20);
        assertThat(pages.listPageBytes(0)).isEqualTo(PageSize.LARGEST_BYTES);
        assertThat(pages.listPageBytes(512)).isEqualTo(32 << 10);
        assertThat(pages.listPageBytes(513)).isEqualTo(16 << 10);
        assertThat(pages.listPageBytes(16 << 10)).isEqualTo(1 << 10);
        assertThat(pages.listPageBytes(1_000_000)).isEqualTo(PageSize.SMALLEST_BYTES);
        pages.close();
    }

    @Test
    void aLargePageTableMakesThemLarger() {
        PageStore pages = open(1 << 20);
        int bytes = pages.listPageBytes(1_000_000);
        assertThat(bytes).isEqualTo(PageSize.SMALLEST_BYTES);
        long allocated = 0;
        for (; bytes < 2 << 10; bytes = pages.listPageBytes(1_000_000)) {
            pages.safepoint();
            pages.allocate(bytes, PageStore.CHAIN_STREAM, 0);
            allocated += bytes;
        }
        assertThat(allocated).isBetween(16L << 20, 48L << 20);
        pages.close();
    }
}
