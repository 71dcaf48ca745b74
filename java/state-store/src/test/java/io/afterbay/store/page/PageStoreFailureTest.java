package io.afterbay.store.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreOwner;
import io.afterbay.store.io.LocalFile;
import io.afterbay.store.io.LocalFiles;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the page store does when executors, files or memory let it down. */
class PageStoreFailureTest {
    private static final Executor FORGETFUL = task -> {};
    private static final StoreOwner REJECTING =
            task -> {
                throw new RejectedExecutionException("shut down");
            };

    @TempDir private Path directory;
    private final MemoryBudget budget = new MemoryBudget(1 << 20);
    private long allocatedBefore;

    @BeforeEach
    void remember() {
        allocatedBefore = Memory.allocatedBytes();
    }

    @AfterEach
    void nothingIsLeft() {
        assertThat(Memory.allocatedBytes()).isEqualTo(allocatedBefore);
        assertThat(budget.usedBytes()).isZero();
        assertThat(directory.resolve("store")).doesNotExist();
    }

    private PageStore open(LocalFiles files, Executor background) {
        return new PageStore(
                new StoreOptions(
                        "failing",
                        directory.resolve("store"),
                        files,
                        budget,
                        background,
                        background,
                        REJECTING,
                        0,
                        127,
                        1.5,
                        true));
    }

    private static int[] fill(PageStore pages, int count) {
        int[] ids = new int[count];
        for (int i = 0; i < count; i++) {
            pages.safepoint();
            ids[i] = pages.allocate(PageSize.LARGEST_BYTES, PageStore.CHAIN_STREAM, 0);
            Memory.putInt(pages.address(ids[i]), i);
        }
        return ids;
    }

    @Test
    void closesThoughTheExecutorForgotItsTasks() {
        PageStore pages = open(LocalFiles.system(), FORGETFUL);
        for (int id : fill(pages, 200)) {
            pages.safepoint();
            pages.free(id);
        }
        pages.close();
    }

    @Test
    void isBoundByTheBudgetWhenTheFirstPageIsEvicted() {
        PageStore pages = open(LocalFiles.system(), REJECTING);
        for (int i = 0; i < 4000; i++) {
            pages.safepoint();
            pages.allocate(PageSize.SMALLEST_BYTES, PageStore.TREE_STREAM, 0);
            assertThat(pages.stats().memoryBytes()).isLessThanOrEqualTo(budget.usedBytes());
        }
        assertThat(pages.stats().evictions()).isPositive();
        pages.close();
    }

    @Test
    void anUnexpectedFailureOfAFileIsKeptAndLosesNoBuffer() {
        PageStore pages = open(throwing(new IllegalStateException("no such luck")), FORGETFUL);
        assertThatThrownBy(() -> fill(pages, 1000))
                .isInstanceOf(StateStoreException.class)
                .hasMessageContaining("no such luck");
        assertThatThrownBy(pages::safepoint).isInstanceOf(StateStoreException.class);
        pages.close();
    }

    /** Files that are created, but fail to be written. */
    private static LocalFiles throwing(RuntimeException error) {
        return (LocalFiles)
                Proxy.newProxyInstance(
                        PageStoreFailureTest.class.getClassLoader(),
                        new Class<?>[] {LocalFiles.class},
                        (proxy, method, arguments) -> {
                            if (method.getReturnType() == LocalFile.class) {
                                throw error;
                            }
                            try {
                                return method.invoke(LocalFiles.system(), arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }

    @Test
    void aSnapshotStaysReadableWhenThereIsNoMemoryToPreserveAPage() {
        PageStore pages = open(LocalFiles.system(), REJECTING);
        int[] ids = fill(pages, 17);
        PageSnapshot snapshot = pages.freeze();
        for (int i = 0; i < ids.length; i++) {
            assertThat(Memory.getInt(snapshot.address(ids[i], PageSource.CHAIN_SLOT))).isEqualTo(i);
        }
        long rest = budget.totalBytes() - budget.usedBytes();
        assertThat(budget.tryReserve(rest)).isTrue();
        assertThatThrownBy(
                        () -> {
                            for (int id : ids) {
                                Memory.putInt(pages.modify(id), -1);
                            }
                        })
                .isInstanceOf(StateStoreException.class)
                .hasMessageContaining("needs more memory");
        for (int i = 0; i < ids.length; i++) {
            assertThat(Memory.getInt(snapshot.address(ids[i], PageSource.CHAIN_SLOT))).isEqualTo(i);
        }
        budget.release(rest);
        snapshot.close();
        pages.close();
    }

    @Test
    void aSnapshotClosedAfterItsStoreIsNoError() {
        PageStore pages = open(LocalFiles.system(), REJECTING);
        fill(pages, 100);
        PageSnapshot snapshot = pages.freeze();
        fill(pages, 100);
        pages.close();
        snapshot.close();
    }
}
