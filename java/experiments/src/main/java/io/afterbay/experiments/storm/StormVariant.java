package io.afterbay.experiments.storm;

import io.afterbay.experiments.Labelled;
import io.afterbay.handover.stragglers.StragglerPlan.Grouping;
import io.afterbay.handover.stragglers.StragglerPlan.Senders;

/**
 * Who chooses the task of a tuple, and how often it is sent: Storm as it can be configured, what
 * others do, or ours.
 */
enum StormVariant implements Labelled {
    /** Round robin. */
    SHUFFLE("shuffle", storms(Grouping.SHUFFLE)),

    /** Storm's default; it looks at how full queues are. */
    LOAD_AWARE("load-aware", storms(Grouping.LOAD_AWARE)),

    /** The same with queues so short that it sees their load. */
    LOAD_AWARE_64("load-aware-64", new Senders("none", Grouping.LOAD_AWARE, true, 64, 0, false)),

    /** The default without locality: Storm would fill the tasks in the sender's worker first. */
    LOAD_AWARE_ANYWHERE(
            "load-aware-anywhere",
            new Senders("none", Grouping.LOAD_AWARE, false, Buffer.TUPLES, 0, false)),

    /** The same with short queues. */
    LOAD_AWARE_64_ANYWHERE(
            "load-aware-64-anywhere",
            new Senders("none", Grouping.LOAD_AWARE, false, 64, 0, false)),

    /** The paper's. */
    ALGORITHM_2("algorithm-2", storms(Grouping.LATENCY_BALANCE)),

    /** That of Storm 3. */
    JITTER("jitter", storms(Grouping.JITTER)),

    /** The paper's baselines of replays: so many percent of the tuples are sent twice at once. */
    BLIND_20("blind-20", blind(20)),
    BLIND_50("blind-50", blind(50)),
    BLIND_100("blind-100", blind(100)),

    /** The tasks of a worker have one queue (section 3.2). */
    SHARED("shared", ours("shared")),

    /** By what tasks or acks tell, in the place of algorithm 2. */
    BALANCED("balanced", ours("balanced")),

    /** Late tuples are sent a second time, within a budget (section 3.1). */
    REPLAY("replay", ours("replay")),

    /** The same, also where queues and processors are too busy for it. */
    REPLAY_ALWAYS(
            "replay-always",
            new Senders("replay", Grouping.LOAD_AWARE, true, Buffer.TUPLES, 0, true));

    private static final double PERCENT = 100;

    private final String label;
    private final Senders senders;

    StormVariant(String label, Senders senders) {
        this.label = label;
        this.senders = senders;
    }

    /** Of a task. */
    private static final class Buffer {
        /** As Storm has it by default. */
        static final int TUPLES = 32768;
    }

    private static Senders storms(Grouping grouping) {
        return new Senders("none", grouping, true, Buffer.TUPLES, 0, false);
    }

    private static Senders blind(int percent) {
        return new Senders(
                "none", Grouping.LOAD_AWARE, true, Buffer.TUPLES, percent / 100.0, false);
    }

    private static Senders ours(String technique) {
        return new Senders(technique, Grouping.LOAD_AWARE, true, Buffer.TUPLES, 0, false);
    }

    @Override
    public String label() {
        return label;
    }

    /** The same for the process with Storm. */
    Senders senders() {
        return senders;
    }

    /** Of the tuples that are sent twice without looking, in percent; 0 for none. */
    double blindPercent() {
        return senders.replicatedShare() * PERCENT;
    }

    /** Whether late tuples are sent a second time. */
    boolean replays() {
        return senders.technique().equals("replay");
    }

    /** The one of that label; see {@link Labelled#named(Class, String)}. */
    static StormVariant named(String label) {
        return Labelled.named(StormVariant.class, label);
    }

    public static final class Converter extends Labelled.Converter<StormVariant> {
        public Converter() {
            super(StormVariant.class);
        }
    }
}
