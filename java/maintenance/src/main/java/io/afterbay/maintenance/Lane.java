package io.afterbay.maintenance;

import java.util.ArrayDeque;

/**
 * The tasks of one instance that take turns with those of others, first in, first out. Due times
 * and deadlines do not fall along the queue, so its head is the first that may begin.
 */
final class Lane {
    final ArrayDeque<Task> tasks = new ArrayDeque<>();

    /** When it was served last, counted in tasks; the lowest is next. */
    long lastTurn;

    Lane(long lastTurn) {
        this.lastTurn = lastTurn;
    }
}
