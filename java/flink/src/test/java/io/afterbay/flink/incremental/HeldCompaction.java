package io.afterbay.flink.incremental;

import io.afterbay.flink.state.StoreFactory;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStores;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.StoreStats;
import io.afterbay.store.io.LocalFile;
import io.afterbay.store.io.LocalFiles;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * Stores whose compactions run in a thread of their own, which can be held in the middle of a file:
 * some of its pages are moved, the others are not.
 */
final class HeldCompaction implements StoreFactory, AutoCloseable {
    private static final long serialVersionUID = 1;

    /** Of the thread's reads of files: a file is read in pieces. */
    private static final int HELD_READ = 2;

    private final transient ExecutorService thread = Executors.newSingleThreadExecutor();
    private final transient CountDownLatch held = new CountDownLatch(1);
    private final transient CountDownLatch released = new CountDownLatch(1);
    private final transient ThreadLocal<Integer> reads = new ThreadLocal<>();
    private final transient LocalFiles files = watching(LocalFiles.class, LocalFiles.system());
    private transient @Nullable StateStore last;

    @Override
    public StateStore open(StoreOptions options) {
        StateStore store = StateStores.open(withOwnCompaction(options));
        last = store;
        return store;
    }

    @Override
    public LocalFiles files() {
        return files;
    }

    private StoreOptions withOwnCompaction(StoreOptions options) {
        return new StoreOptions(
                options.name(),
                options.directory(),
                options.files(),
                options.budget(),
                options.background(),
                compaction -> thread.execute(() -> compact(compaction)),
                options.owner(),
                options.firstKeyGroup(),
                options.lastKeyGroup(),
                options.maxSpaceAmplification(),
                options.compression(),
                options.reads(),
                options.tuning());
    }

    private void compact(Runnable compaction) {
        reads.set(0);
        compaction.run();
        reads.remove();
    }

    /** Passes calls on; reads of the thread are counted, and one of them waits. */
    private <T> T watching(Class<T> type, T to) {
        return type.cast(
                Proxy.newProxyInstance(
                        HeldCompaction.class.getClassLoader(),
                        new Class<?>[] {type},
                        (proxy, method, arguments) -> {
                            if (method.getName().equals("read")) {
                                countRead();
                            }
                            try {
                                return watched(method.invoke(to, arguments));
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        }));
    }

    private @Nullable Object watched(@Nullable Object result) {
        return result instanceof LocalFile file ? watching(LocalFile.class, file) : result;
    }

    private void countRead() throws InterruptedException {
        Integer before = reads.get();
        if (before != null) {
            reads.set(before + 1);
            if (before + 1 == HELD_READ) {
                held.countDown();
                released.await();
            }
        }
    }

    boolean isHeld() {
        return held.getCount() == 0;
    }

    /** Lets it go on, and waits for its end. */
    void release() throws Exception {
        released.countDown();
        thread.submit(() -> {}).get();
    }

    /** Of the store that was opened last without an image. */
    StoreStats stats() {
        return Objects.requireNonNull(last).stats();
    }

    @Override
    public void close() {
        released.countDown();
        thread.shutdown();
    }
}
