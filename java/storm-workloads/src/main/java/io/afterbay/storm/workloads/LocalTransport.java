package io.afterbay.storm.workloads;

import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.storm.grouping.Load;
import org.apache.storm.messaging.IConnection;
import org.apache.storm.messaging.IConnectionCallback;
import org.apache.storm.messaging.IContext;
import org.apache.storm.messaging.TaskMessage;
import org.apache.storm.messaging.local.Context;
import org.apache.storm.messaging.netty.BackPressureStatus;
import org.jspecify.annotations.Nullable;

/**
 * Messages between workers that are in one process, with backpressure. Storm's own for such workers
 * cannot tell others of a full queue, and ends the process; between processes Storm does it as
 * here: a worker tells all those that send to it which of its tasks are full, and they hold back
 * what is for these until they hear that there is room.
 *
 * <p>Storm makes one of these for each worker. Safe for use by any thread.
 */
public final class LocalTransport implements IContext {
    /** Messages themselves go as Storm's own take them. */
    private static final Context MESSAGES = new Context();

    private static final Map<Worker, Receiver> RECEIVERS = new ConcurrentHashMap<>();

    private record Worker(String topology, int port) {}

    /**
     * What a worker tells, and those that it tells it to. What is told is read and heard under one
     * lock, so that nobody hears an older status after a newer one.
     */
    private static final class Receiver {
        private final Set<Sender> senders = new HashSet<>();

        /** Of the worker; null while there is none. */
        private @Nullable Supplier<Object> status;

        synchronized void open(Supplier<Object> of) {
            status = of;
            tell();
        }

        /**
         * Nobody waits for room at a worker that is gone. Its successor may be there already.
         *
         * @param of what the worker was opened with
         */
        synchronized void close(Supplier<Object> of) {
            if (status != of) {
                return;
            }
            if (known() instanceof BackPressureStatus last) {
                BackPressureStatus none =
                        new BackPressureStatus(last.workerId, List.of(), last.bpTasks);
                senders.forEach(sender -> sender.hear(none));
            }
            status = null;
        }

        synchronized void add(Sender sender) {
            senders.add(sender);
            if (known() instanceof BackPressureStatus now) {
                sender.hear(now);
            }
        }

        synchronized void remove(Sender sender) {
            senders.remove(sender);
        }

        /** To all, what is full now. */
        synchronized void tell() {
            if (known() instanceof BackPressureStatus now) {
                senders.forEach(sender -> sender.hear(now));
            }
        }

        private @Nullable Object known() {
            return status == null ? null : status.get();
        }

        synchronized boolean isUnused() {
            return status == null && senders.isEmpty();
        }
    }

    /** A worker's, which is there from the first that sends to it or receives as it. */
    private static Receiver use(Worker worker, Consumer<Receiver> change) {
        return RECEIVERS.compute(
                worker,
                (any, known) -> {
                    Receiver receiver = known == null ? new Receiver() : known;
                    change.accept(receiver);
                    return receiver;
                });
    }

    /** The last one that leaves takes it away. */
    private static void leave(Worker worker, Consumer<Receiver> change) {
        RECEIVERS.computeIfPresent(
                worker,
                (any, receiver) -> {
                    change.accept(receiver);
                    return receiver.isUnused() ? null : receiver;
                });
    }

    /** Whether any worker of the topology is known, or any that sends to one. */
    static boolean knows(String topology) {
        return RECEIVERS.keySet().stream().anyMatch(one -> one.topology.equals(topology));
    }

    @Override
    public void prepare(Map<String, Object> conf) {
        // Nothing to prepare.
    }

    @Override
    public IConnection bind(
            String topology, int port, IConnectionCallback received, Supplier<Object> status) {
        Worker worker = new Worker(topology, port);
        IConnection storms = MESSAGES.bind(topology, port, received, status);
        Receiver receiver = use(worker, one -> one.open(status));
        return new Connection(storms) {
            /** What it is called with may be older than what another thread has told since. */
            @Override
            public void sendBackPressureStatus(BackPressureStatus of) {
                receiver.tell();
            }

            @Override
            public void close() {
                leave(worker, one -> one.close(status));
                super.close();
            }
        };
    }

    @Override
    public IConnection connect(
            String topology, String host, int port, AtomicBoolean[] isFullByTask) {
        Worker worker = new Worker(topology, port);
        Sender sender =
                new Sender(
                        MESSAGES.connect(topology, host, port, isFullByTask), worker, isFullByTask);
        use(worker, one -> one.add(sender));
        return sender;
    }

    @Override
    public void term() {
        // Nothing is held here.
    }

    /** One of Storm's. */
    private abstract static class Connection implements IConnection {
        private final IConnection storms;

        Connection(IConnection storms) {
            this.storms = storms;
        }

        @Override
        public void sendLoadMetrics(Map<Integer, Double> loads) {
            storms.sendLoadMetrics(loads);
        }

        @Override
        public void sendBackPressureStatus(BackPressureStatus status) {
            storms.sendBackPressureStatus(status);
        }

        @Override
        public void send(Iterator<TaskMessage> messages) {
            storms.send(messages);
        }

        @Override
        public Map<Integer, Load> getLoad(Collection<Integer> tasks) {
            return storms.getLoad(tasks);
        }

        @Override
        public int getPort() {
            return storms.getPort();
        }

        @Override
        public void close() {
            storms.close();
        }
    }

    /** To one worker. */
    private static final class Sender extends Connection {
        private final Worker worker;
        private final AtomicBoolean[] isFullByTask;

        Sender(IConnection storms, Worker worker, AtomicBoolean[] isFullByTask) {
            super(storms);
            this.worker = worker;
            this.isFullByTask = isFullByTask;
        }

        void hear(BackPressureStatus status) {
            set(status.bpTasks, true);
            set(status.nonBpTasks, false);
        }

        private void set(@Nullable Collection<Integer> tasks, boolean isFull) {
            if (tasks != null) {
                tasks.forEach(task -> isFullByTask[task].set(isFull));
            }
        }

        @Override
        public void close() {
            leave(worker, one -> one.remove(this));
            super.close();
        }
    }
}
