package io.afterbay.maintenance;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Which task is next: the policy of a {@link MaintenanceScheduler}, without threads and without a
 * clock. Guarded by the scheduler's lock.
 *
 * <ol>
 *   <li>Flushes go first. Only a task past its deadline takes turns with them, so that endless
 *       flushes do not starve it.
 *   <li>A deferrable task is due at the first phase of its instance after its submission and after
 *       the hold of the gate. Tasks whose phase lies within a hold thus go to their next phase,
 *       spread as before, instead of together at its end.
 *   <li>At most {@code deferrableLimit} of them run; past their deadline as many as there are
 *       threads but one, which is left to flushes: a limit too low makes a backlog, and that grows.
 *   <li>Among instances, whoever was served longest ago is next; flushes and the rest are counted
 *       apart.
 * </ol>
 *
 * <p>A choice looks at the first task of each instance: some microseconds for hundreds of them.
 */
final class TaskQueues {
    private final MaintenanceSettings settings;
    private final BurstGate gate;
    private final List<MaintenanceInstance> instances = new ArrayList<>();
    private final Map<Kind, Integer> queued = zeros();
    private final Map<Kind, Integer> running = zeros();
    private int deferrableLimit;
    private int runningDeferrable;
    private int queuedTasks;
    private long turn;
    private boolean overdueIsNext;
    private long executed;
    private long failed;
    private long stalls;
    private long longestWaitNanos;

    TaskQueues(MaintenanceSettings settings, BurstGate gate) {
        this.settings = settings;
        this.gate = gate;
        this.deferrableLimit = settings.deferrableLimit();
    }

    private static Map<Kind, Integer> zeros() {
        Map<Kind, Integer> result = new EnumMap<>(Kind.class);
        for (Kind kind : Kind.values()) {
            result.put(kind, 0);
        }
        return result;
    }

    /** An instance with the lowest place that is free. */
    MaintenanceInstance add(String name, MaintenanceScheduler scheduler) {
        int place = 0;
        while (isTaken(place)) {
            place++;
        }
        MaintenanceInstance instance = new MaintenanceInstance(name, scheduler, place, turn);
        instances.add(instance);
        return instance;
    }

    private boolean isTaken(int place) {
        return instances.stream().anyMatch(instance -> instance.place == place);
    }

    /** Closed instances stay until their last task has begun. */
    void removeIfDone(MaintenanceInstance instance) {
        if (instance.isClosed
                && instance.flushes.tasks.isEmpty()
                && instance.deferrable.tasks.isEmpty()) {
            instances.remove(instance);
        }
    }

    boolean hasTasks() {
        return queuedTasks > 0;
    }

    void setDeferrableLimit(int limit) {
        deferrableLimit = limit;
    }

    void submit(MaintenanceInstance instance, Kind kind, Runnable work, long nowNanos) {
        Task task = new Task(kind, work, nowNanos, nowNanos + settings.deadlineNanos());
        if (kind.isDeferrable()) {
            task.makeDueAt(phaseAfter(instance, gate.endOfHold(nowNanos)));
            instance.deferrable.tasks.add(task);
        } else {
            instance.flushes.tasks.add(task);
        }
        queued.merge(kind, 1, Integer::sum);
        queuedTasks++;
    }

    /** The first moment from that on which lies at the phase of the instance. */
    private long phaseAfter(MaintenanceInstance instance, long nanos) {
        long period = settings.periodNanos();
        if (period == 0) {
            return nanos;
        }
        long phase = (long) (instance.phase() * period);
        return nanos + Math.floorMod(phase - nanos, period);
    }

    /** After a change of the gate. Tasks of closed instances stay due. */
    void reschedule(long nowNanos) {
        long opens = gate.endOfHold(nowNanos);
        for (MaintenanceInstance instance : instances) {
            if (!instance.isClosed) {
                instance.deferrable.tasks.forEach(task -> reschedule(instance, task, opens));
            }
        }
    }

    private void reschedule(MaintenanceInstance instance, Task task, long opens) {
        boolean beforeOpening = task.submittedNanos - opens < 0;
        task.makeDueAt(phaseAfter(instance, beforeOpening ? opens : task.submittedNanos));
    }

    /** All that the instance has queued may begin now. */
    void release(MaintenanceInstance instance) {
        instance.deferrable.tasks.forEach(task -> task.dueNanos = task.submittedNanos);
    }

    /** The task to begin now, which counts as running from here on; or null. */
    @Nullable Task poll(long nowNanos) {
        MaintenanceInstance flush = longestUnserved(i -> i.flushes, task -> true);
        MaintenanceInstance overdue = overdue(nowNanos);
        if (flush != null && (overdue == null || !overdueIsNext)) {
            overdueIsNext = overdue != null;
            return begin(flush, flush.flushes, nowNanos);
        }
        MaintenanceInstance next = overdue != null ? overdue : due(nowNanos);
        if (next == null) {
            return null;
        }
        overdueIsNext = false;
        return begin(next, next.deferrable, nowNanos);
    }

    private @Nullable MaintenanceInstance overdue(long nowNanos) {
        return runningDeferrable < overdueLimit()
                ? longestUnserved(i -> i.deferrable, task -> task.isOverdue(nowNanos))
                : null;
    }

    private int overdueLimit() {
        return Math.max(deferrableLimit, settings.threads() - 1);
    }

    private @Nullable MaintenanceInstance due(long nowNanos) {
        return runningDeferrable < deferrableLimit
                ? longestUnserved(i -> i.deferrable, task -> task.isDue(nowNanos))
                : null;
    }

    private @Nullable MaintenanceInstance longestUnserved(
            Function<MaintenanceInstance, Lane> laneOf, Predicate<Task> mayBegin) {
        MaintenanceInstance best = null;
        for (MaintenanceInstance instance : instances) {
            Lane lane = laneOf.apply(instance);
            Task head = lane.tasks.peek();
            if (head != null
                    && mayBegin.test(head)
                    && (best == null || lane.lastTurn < laneOf.apply(best).lastTurn)) {
                best = instance;
            }
        }
        return best;
    }

    private Task begin(MaintenanceInstance instance, Lane lane, long nowNanos) {
        Task task = lane.tasks.remove();
        lane.lastTurn = ++turn;
        removeIfDone(instance);
        queuedTasks--;
        queued.merge(task.kind, -1, Integer::sum);
        running.merge(task.kind, 1, Integer::sum);
        longestWaitNanos = Math.max(longestWaitNanos, nowNanos - task.submittedNanos);
        if (task.kind.isDeferrable()) {
            runningDeferrable++;
            stalls += task.isOverdue(nowNanos) ? 1 : 0;
        }
        return task;
    }

    void ended(Task task, boolean threw) {
        running.merge(task.kind, -1, Integer::sum);
        runningDeferrable -= task.kind.isDeferrable() ? 1 : 0;
        executed++;
        failed += threw ? 1 : 0;
    }

    /**
     * How long until {@link #poll} may find a task that it does not find now, if nothing else
     * happens: 0 or more, {@link Long#MAX_VALUE} for never.
     */
    long nanosToNext(long nowNanos) {
        long result = Long.MAX_VALUE;
        for (MaintenanceInstance instance : instances) {
            Task head = instance.deferrable.tasks.peek();
            if (head != null) {
                result = Math.min(result, nanosToNext(head, nowNanos));
            }
        }
        return result;
    }

    private long nanosToNext(Task head, long nowNanos) {
        if (runningDeferrable < deferrableLimit) {
            return Math.max(0, head.dueNanos - nowNanos);
        }
        return runningDeferrable < overdueLimit()
                ? Math.max(0, head.deadlineNanos - nowNanos)
                : Long.MAX_VALUE;
    }

    MaintenanceMetrics metrics(long nowNanos) {
        int delayed = 0;
        long longest = longestWaitNanos;
        for (MaintenanceInstance instance : instances) {
            for (Task task : instance.deferrable.tasks) {
                delayed += task.isDue(nowNanos) ? 0 : 1;
            }
            longest = Math.max(longest, waitOfHead(instance.flushes, nowNanos));
            longest = Math.max(longest, waitOfHead(instance.deferrable, nowNanos));
        }
        return new MaintenanceMetrics(queued, running, delayed, executed, failed, stalls, longest);
    }

    private static long waitOfHead(Lane lane, long nowNanos) {
        Task head = lane.tasks.peek();
        return head == null ? 0 : nowNanos - head.submittedNanos;
    }
}
