package io.afterbay.spark.publish;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The threads of a {@link Publisher}. Guarded by its lock. */
final class Crew {
    /** A thread that was given up: what it worked on, and why it was. */
    record Lost(@Nullable PendingFile file, IOException reason) {}

    private final Conductor conductor;
    private final String name;
    private final PublishSettings settings;
    private final List<Worker> workers = new ArrayList<>();
    private int started;

    /**
     * @param name of the threads
     */
    Crew(Conductor conductor, String name, PublishSettings settings) {
        this.conductor = conductor;
        this.name = name;
        this.settings = settings;
    }

    /** Gives up threads that died or hang. */
    List<Lost> removeLost(long now) {
        List<Lost> lost = new ArrayList<>();
        for (Worker worker : List.copyOf(workers)) {
            boolean isHung = worker.isHung(now, settings.hangNanosMax());
            if (isHung || worker.isDead()) {
                String reason = isHung ? "it hung" : "its thread died";
                lost.add(new Lost(worker.file, new IOException(reason, worker.death)));
                giveUp(worker);
                workers.remove(worker);
            }
        }
        return lost;
    }

    private static void giveUp(Worker worker) {
        worker.isStale = true;
        if (worker.file != null) {
            worker.thread.interrupt();
        }
    }

    /** The file that has been written silently for longest, if one thread alone writes it. */
    @Nullable PendingFile silent(long now, long silenceNanosMax) {
        return workers.stream()
                .filter(w -> isAlone(w) && w.silentFor(now) >= silenceNanosMax)
                .max(Comparator.comparingLong(w -> w.silentFor(now)))
                .map(w -> w.file)
                .orElse(null);
    }

    /** Until {@link #silent} may have one, if nothing else changes. */
    long nanosToSilent(long now, long silenceNanosMax) {
        return workers.stream()
                .filter(Crew::isAlone)
                .mapToLong(w -> silenceNanosMax - w.silentFor(now))
                .min()
                .orElse(Long.MAX_VALUE);
    }

    private static boolean isAlone(Worker worker) {
        return worker.file != null && worker.file.writers == 1;
    }

    /** Gives up threads that write a file which another has published. */
    void giveUp(PendingFile published) {
        giveUp(published, worker -> true);
    }

    /** Gives up threads that stage a file which another has staged. */
    void giveUpStaging(PendingFile staged) {
        giveUp(staged, worker -> worker.step == Step.STAGE);
    }

    private void giveUp(PendingFile file, Predicate<Worker> which) {
        for (Worker worker : List.copyOf(workers)) {
            if (worker.file == file && which.test(worker)) {
                giveUp(worker);
                workers.remove(worker);
                file.writers--;
            }
        }
    }

    /** Starts threads for so many files. */
    void growTo(int files) {
        while (workers.size() < Math.min(settings.threads(), files)) {
            Worker worker = new Worker("afterbay-publisher-" + ++started + " " + name, conductor);
            worker.thread.start(); // first: it may fail, and waits for the lock
            workers.add(worker);
        }
    }

    /** It ends by itself. */
    void leave(Worker worker) {
        workers.remove(worker);
    }

    void giveUpAll() {
        workers.forEach(Crew::giveUp);
        workers.clear();
    }
}
