package io.afterbay.doctor.analysis;

import io.afterbay.doctor.reading.ColumnFamilyLog;
import io.afterbay.doctor.reading.InstanceName;
import io.afterbay.doctor.reading.Intervals;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Function;

/**
 * The flushes of many column families in the order of their begin: a merge, since a sorted copy of
 * millions would take more memory than they do.
 */
final class FlushOrder {
    private final PriorityQueue<Cursor> cursors =
            new PriorityQueue<>(Comparator.comparingLong(Cursor::start));

    /** Takes a flush. */
    interface Visitor {
        void flush(long start, long end, InstanceName instance);
    }

    private static final class Cursor {
        private final Intervals flushes;
        private final InstanceName instance;
        private int at;

        Cursor(Intervals flushes, InstanceName instance) {
            this.flushes = flushes;
            this.instance = instance;
        }

        long start() {
            return flushes.start(at);
        }
    }

    private FlushOrder() {}

    static void visit(
            List<ColumnFamilyLog> families,
            Function<ColumnFamilyLog, Intervals> kind,
            Visitor visitor) {
        FlushOrder order = new FlushOrder();
        for (ColumnFamilyLog family : families) {
            Intervals flushes = kind.apply(family).inOrder();
            if (!flushes.isEmpty()) {
                order.cursors.add(new Cursor(flushes, family.instance()));
            }
        }
        order.visitAll(visitor);
    }

    private void visitAll(Visitor visitor) {
        while (!cursors.isEmpty()) {
            Cursor first = cursors.remove();
            visitor.flush(first.start(), first.flushes.end(first.at), first.instance);
            if (++first.at < first.flushes.size()) {
                cursors.add(first);
            }
        }
    }
}
