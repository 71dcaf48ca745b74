package io.afterbay.store.paged;

import io.afterbay.store.EntryCursor;
import io.afterbay.store.ListReader;
import io.afterbay.store.Slice;
import io.afterbay.store.StateKey;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;

/** A cursor of a snapshot, whose every step holds off the closing of the snapshot. */
final class GuardedCursor implements EntryCursor {
    private final Lock reading;
    private final EntryCursor entries;

    GuardedCursor(Lock reading, EntryCursor entries) {
        this.reading = reading;
        this.entries = entries;
    }

    private static <T> T guarded(Lock reading, Supplier<T> step) {
        reading.lock();
        try {
            return step.get();
        } finally {
            reading.unlock();
        }
    }

    @Override
    public boolean next() {
        return guarded(reading, entries::next);
    }

    @Override
    public StateKey key() {
        return entries.key();
    }

    @Override
    public Slice userKey() {
        return entries.userKey();
    }

    @Override
    public Slice value() {
        return entries.value();
    }

    @Override
    public ListReader list() {
        return new GuardedList(reading, guarded(reading, entries::list));
    }

    @Override
    public long timestamp() {
        return entries.timestamp();
    }

    @Override
    public void close() {
        entries.close();
    }

    private record GuardedList(Lock reading, ListReader list) implements ListReader {
        @Override
        public long bytes() {
            return guarded(reading, list::bytes);
        }

        @Override
        public long size() {
            return list.size();
        }

        @Override
        public Elements elements() {
            Elements elements = guarded(reading, list::elements);
            return into -> guarded(reading, () -> elements.next(into));
        }
    }
}
