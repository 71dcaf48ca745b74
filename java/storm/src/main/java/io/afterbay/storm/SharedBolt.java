package io.afterbay.storm;

import io.afterbay.storm.BoltQueue.Work;
import io.afterbay.stragglers.SharedQueue;
import java.util.Map;
import java.util.Objects;
import org.apache.storm.ICredentialsListener;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.IRichBolt;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * A bolt whose tasks in one worker have one input queue (Du &amp; Gupta 2016, section 3.2).
 *
 * <p>Storm's thread of a task only puts tuples into the queue. Another thread of the task takes
 * them out and calls the bolt, which so meets one thread at a time, as ever. Ticks and other tuples
 * of the system go to the task that they are for. Storm's thread has nothing else to do than to
 * look for tuples; {@link PacedWait} says how often it does.
 */
final class SharedBolt implements IRichBolt, ICredentialsListener {
    private static final long serialVersionUID = 1;

    private final IRichBolt bolt;
    private final int capacity;

    /** Who has its monitor may call the bolt. An object that can be serialised. */
    private final byte[] turn = {};

    private transient @Nullable Task task;

    /**
     * @param capacity how many tuples wait in the queue, and in that of each task
     */
    SharedBolt(IRichBolt bolt, int capacity) {
        this.bolt = bolt;
        this.capacity = capacity;
    }

    IRichBolt bolt() {
        return bolt;
    }

    @Override
    public void prepare(
            Map<String, Object> conf, TopologyContext context, OutputCollector collector) {
        PieceChecks.checkShared(context);
        Refusals.checkBatches(context.getThisComponentId(), conf);
        WorkerShare share = WorkerShare.enter(context);
        BoltQueue queue = share.queue(context.getThisComponentId(), () -> new BoltQueue(capacity));
        PacedWait.Pace paceOfOthers = PacedWait.pace();
        bolt.prepare(conf, context, collector);
        if (SharedShuffle.isSpared(context)) {
            PacedWait.rest(paceOfOthers);
        } else {
            PacedWait.follow(queue.times()::nanos);
        }
        task = new Task(share, queue, context, collector);
        task.start();
    }

    @Override
    public void execute(Tuple input) {
        try {
            Objects.requireNonNull(task).accept(input);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** The bolt's own cleanup comes when its thread has left it, as with Storm's thread. */
    @Override
    public void cleanup() {
        if (task != null) {
            task.end();
        }
        bolt.cleanup();
    }

    /** One task at work. */
    private final class Task {
        private final WorkerShare share;
        private final BoltQueue queue;
        private final SharedQueue<Work>.Lane lane;
        private final OutputCollector collector;
        private final String component;
        private final int id;
        private final Thread thread;
        private volatile boolean isEnding;

        private Task(
                WorkerShare share,
                BoltQueue queue,
                TopologyContext context,
                OutputCollector collector) {
            this.share = share;
            this.queue = queue;
            this.lane = queue.join();
            this.collector = collector;
            this.component = context.getThisComponentId();
            this.id = context.getThisTaskId();
            this.thread = new Thread(this::drain, "afterbay-shared-" + component + "-" + id);
            thread.setDaemon(true);
            context.registerGauge("afterbay-shared-moved", queue::moved);
            context.registerGauge("afterbay-shared-waiting", queue::size);
            context.registerGauge("afterbay-shared-execute-us", queue.times()::micros);
        }

        private void start() {
            thread.start();
        }

        private void accept(Tuple tuple) throws InterruptedException {
            Work work = new Work(tuple, id);
            if (isOfSystem(tuple)) {
                queue.put(lane, work);
            } else {
                queue.put(work);
            }
        }

        private void drain() {
            try {
                Work work = lane.take();
                while (work != null && !isEnding) {
                    queue.taken(work, id);
                    long begun = System.nanoTime();
                    synchronized (turn) {
                        bolt.execute(work.tuple());
                    }
                    queue.times().observe(System.nanoTime() - begun);
                    work = lane.take();
                }
            } catch (Throwable e) {
                // As in Storm, being interrupted is how a task ends, and no error then.
                if (!isEnding || !Utils.exceptionCauseIsInstanceOf(InterruptedException.class, e)) {
                    fail(e);
                }
            }
        }

        /** A worker ends with the first thread that ends so. */
        private void fail(Throwable e) {
            queue.fail(e);
            collector.reportError(e);
            throw new IllegalStateException(
                    "bolt '%s', task %d has failed".formatted(component, id), e);
        }

        /** All tasks of a worker end together. */
        private void end() {
            isEnding = true;
            queue.close();
            share.forget(component, queue);
            share.leave();
            thread.interrupt();
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static boolean isOfSystem(Tuple tuple) {
        return Utils.isSystemId(tuple.getSourceStreamId())
                || Utils.isSystemId(tuple.getSourceComponent());
    }

    @Override
    public void setCredentials(Map<String, String> credentials) {
        if (bolt instanceof ICredentialsListener listener) {
            synchronized (turn) {
                listener.setCredentials(credentials);
            }
        }
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        bolt.declareOutputFields(declarer);
    }

    @Override
    public Map<String, Object> getComponentConfiguration() {
        return Mark.SHARED.in(bolt.getComponentConfiguration());
    }
}
