package io.afterbay.store.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFile;
import io.afterbay.store.io.LocalFiles;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pages that are read past the cache, at any offset in a file, are what was written. */
class DirectReadTest {
    private static final int PAGES = 5000;

    @TempDir private Path directory;
    private final AtomicInteger cachedReads = new AtomicInteger();
    private final AtomicInteger directReads = new AtomicInteger();

    @Test
    void aStoreWhoseCachedReadsAreSlowReadsPastTheCache() {
        PageStore pages =
                new PageStore(
                        new StoreOptions(
                                "direct",
                                directory.resolve("store"),
                                slowWhereCached(),
                                new MemoryBudget(1 << 20),
                                Runnable::run,
                                Runnable::run,
                                Runnable::run,
                                0,
                                127,
                                1.5));
        int[] ids = new int[PAGES];
        for (int i = 0; i < PAGES; i++) {
            pages.safepoint();
            int bytes = PageSize.bytes(i % PageSize.CLASSES);
            ids[i] = pages.allocate(bytes, PageStore.TREE_STREAM);
            fill(pages.address(ids[i]), bytes, i);
        }
        Random random = new Random(1);
        for (int n = 0; n < 20_000; n++) {
            pages.safepoint();
            int i = random.nextInt(PAGES);
            assertFilled(pages.address(ids[i]), PageSize.bytes(i % PageSize.CLASSES), i);
            if (n % 10 == 0) {
                pages.modify(ids[i]); // so that it is written, and read, again
            }
        }
        assertThat(directReads.get()).isGreaterThan(cachedReads.get());
        pages.close();
    }

    private static void fill(long page, int bytes, int value) {
        for (int at = 0; at < bytes; at += Integer.BYTES) {
            Memory.putInt(page + at, value + at);
        }
    }

    private static void assertFilled(long page, int bytes, int value) {
        for (int at = 0; at < bytes; at += Integer.BYTES) {
            if (Memory.getInt(page + at) != value + at) {
                throw new AssertionError("page " + value + " differs at byte " + at);
            }
        }
    }

    private LocalFiles slowWhereCached() {
        return (LocalFiles)
                Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {LocalFiles.class},
                        (proxy, method, arguments) -> {
                            try {
                                Object result = method.invoke(LocalFiles.system(), arguments);
                                return result instanceof LocalFile file ? counted(file) : result;
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }

    private LocalFile counted(LocalFile file) {
        return new LocalFile() {
            @Override
            public int write(ByteBuffer source, long position) throws IOException {
                return file.write(source, position);
            }

            @Override
            public int read(ByteBuffer target, long position) throws IOException {
                cachedReads.incrementAndGet();
                LockSupport.parkNanos(3_000_000);
                return file.read(target, position);
            }

            @Override
            public int readDirect(ByteBuffer target, long position) throws IOException {
                directReads.incrementAndGet();
                return file.readDirect(target, position);
            }

            @Override
            public void close() throws IOException {
                file.close();
            }
        };
    }
}
