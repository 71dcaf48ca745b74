package io.afterbay.store.paged;

import io.afterbay.store.ListReader;
import io.afterbay.store.StateKey;
import io.afterbay.store.page.PageSource;
import io.afterbay.store.paged.AppendLogs.Log;
import io.afterbay.store.paged.AppendLogs.LogReader;
import io.afterbay.store.paged.AppendLogs.Window;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The logged elements of one key group, in the order of their appending per key; each is an entry.
 */
final class LogCursor extends ListEntryCursor {
    private final PageSource source;
    private final int keyGroup;
    private final Iterator<WindowLog> logs;
    private @Nullable LogReader reader;

    private record WindowLog(Window window, Log log) {}

    LogCursor(PageSource source, Map<Window, List<Log>> windows, int keyGroup) {
        this.source = source;
        this.keyGroup = keyGroup;
        List<WindowLog> relevant = new ArrayList<>();
        windows.forEach(
                (window, logs) -> {
                    for (Log log : logs) {
                        if (log.firstKeyGroup <= keyGroup && keyGroup <= log.lastKeyGroup) {
                            relevant.add(new WindowLog(window, log));
                        }
                    }
                });
        logs = relevant.iterator();
    }

    @Override
    public boolean next() {
        for (; ; ) {
            LogReader current = reader;
            if (current != null && current.next()) {
                if (current.key().keyGroup() == keyGroup) {
                    return true;
                }
            } else if (logs.hasNext()) {
                WindowLog next = logs.next();
                reader = new LogReader(source, next.window, next.log);
            } else {
                return false;
            }
        }
    }

    private LogReader reader() {
        LogReader current = reader;
        if (current == null) {
            throw new IllegalStateException("call next() first");
        }
        return current;
    }

    @Override
    public StateKey key() {
        return reader().key();
    }

    byte[] element() {
        return reader().element().toByteArray();
    }

    @Override
    public ListReader list() {
        return new HeapListReader(null, List.of(element()));
    }
}
