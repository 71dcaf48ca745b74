package io.afterbay.storm.workloads;

import java.util.Collection;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
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

    /** What a worker tells, and those that it tells it to. */
    private static final class Receiver {
        private final Set<Sender> senders = ConcurrentHashMap.newKeySet();
        private volatile @Nullable Supplier<Object> status;

        static Receiver of(Worker worker) {
            return RECEIVERS.computeIfAbsent(worker, any -> new Receiver());
        }

        /** In this order, it hears of each change. */
        void add(Sender sender) {
            senders.add(sender);
            Supplier<Object> now = status;
            if (now != null && now.get() instanceof BackPressureStatus known) {
                sender.hear(known);
            }
        }

        void tell(BackPressureStatus of) {
            senders.forEach(sender -> sender.hear(of));
        }
    }

    @Override
    public void prepare(Map<String, Object> conf) {
        // Nothing to prepare.
    }

    @Override
    public IConnection bind(
            String topology, int port, IConnectionCallback received, Supplier<Object> status) {
        Receiver receiver = Receiver.of(new Worker(topology, port));
        receiver.status = status;
        return new Connection(MESSAGES.bind(topology, port, received, status)) {
            @Override
            public void sendBackPressureStatus(BackPressureStatus of) {
                receiver.tell(of);
            }
        };
    }

    @Override
    public IConnection connect(
            String topology, String host, int port, AtomicBoolean[] isFullByTask) {
        Sender sender =
                new Sender(
                        MESSAGES.connect(topology, host, port, isFullByTask),
                        Receiver.of(new Worker(topology, port)),
                        isFullByTask);
        sender.receiver.add(sender);
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
        private final Receiver receiver;
        private final AtomicBoolean[] isFullByTask;

        Sender(IConnection storms, Receiver receiver, AtomicBoolean[] isFullByTask) {
            super(storms);
            this.receiver = receiver;
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
            receiver.senders.remove(this);
            super.close();
        }
    }
}
