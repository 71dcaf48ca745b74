package io.afterbay.spark;

import io.afterbay.spark.CheckpointFiles.Role;
import io.afterbay.spark.publish.PublishObserver;
import io.afterbay.spark.publish.WrittenStates;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** On an executor that is a process of its own: it publishes state files, and reports them. */
class ExecutorPeers extends Peers {
    private static final long PAUSE_MILLIS_MAX = 20;

    private final WrittenStates states;
    private final Reporter.Driver driver;
    private final long waitNanosMax;

    /** One task of each query asks the driver again and again; the others wait for it. */
    private final Map<String, ReentrantLock> asking = new ConcurrentHashMap<>();

    /**
     * @param waitNanosMax the longest that a task waits for the log
     */
    ExecutorPeers(WrittenStates states, Reporter.Driver driver, long waitNanosMax) {
        this.states = states;
        this.driver = driver;
        this.waitNanosMax = waitNanosMax;
    }

    /** Logs are the driver's; whatever else a task writes is written as Spark does. */
    @Override
    boolean publishes(Role role) {
        return role == Role.STATE;
    }

    @Override
    void created(String location, String target) {
        states.created(location, CheckpointFiles.state(target));
    }

    @Override
    void cancelled(String target) {
        states.cancelled(CheckpointFiles.state(target));
    }

    @Override
    PublishObserver observer(String location) {
        return new PublishObserver() {
            @Override
            public void published(String target) {
                states.published(CheckpointFiles.state(target));
            }

            @Override
            public void failed(String reason) {
                states.failed(location, reason);
            }
        };
    }

    @Override
    boolean haveState() {
        return true;
    }

    @Override
    void awaitPublished(Checkpoint checkpoint, String target) throws IOException {
        PublishedQuestion question = new PublishedQuestion(checkpoint.location(), target);
        long deadline = System.nanoTime() + waitNanosMax;
        ReentrantLock lock =
                asking.computeIfAbsent(checkpoint.location(), c -> new ReentrantLock());
        try {
            if (!lock.tryLock(waitNanosMax, TimeUnit.NANOSECONDS)) {
                throw tooLong(target);
            }
            try {
                askUntilPublished(question, deadline);
            } finally {
                lock.unlock();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while " + target + " was waited for");
        }
    }

    private void askUntilPublished(PublishedQuestion question, long deadline)
            throws IOException, InterruptedException {
        long pauseMillis = 1;
        while (!isPublished(question)) {
            if (System.nanoTime() - deadline > 0) {
                throw tooLong(question.target());
            }
            Thread.sleep(pauseMillis);
            pauseMillis = Math.min(2 * pauseMillis, PAUSE_MILLIS_MAX);
        }
    }

    private boolean isPublished(PublishedQuestion question)
            throws IOException, InterruptedException {
        try {
            return (Boolean) driver.ask(question);
        } catch (InterruptedException | IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException("the driver did not say whether " + question + " is there", e);
        }
    }

    private IOException tooLong(String target) {
        return new IOException(
                target + " was not published within " + waitNanosMax / 1_000_000 + " ms");
    }
}
