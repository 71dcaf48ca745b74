package io.afterbay.experiments.storm;

import io.afterbay.experiments.Labelled;
import io.afterbay.handover.stragglers.StragglerPlan.Grouping;

/** Who chooses the task of a tuple: Storm as it can be configured, what others do, or ours. */
enum StormVariant implements Labelled {
    /** Round robin. */
    SHUFFLE("shuffle", "none", Grouping.SHUFFLE, StormVariant.BUFFER),

    /** Storm's default; it looks at how full queues are. */
    LOAD_AWARE("load-aware", "none", Grouping.LOAD_AWARE, StormVariant.BUFFER),

    /** The same with queues so short that it sees them: the strongest that Storm 2 has. */
    LOAD_AWARE_64("load-aware-64", "none", Grouping.LOAD_AWARE, 64),

    /** The paper's. */
    ALGORITHM_2("algorithm-2", "none", Grouping.LATENCY_BALANCE, StormVariant.BUFFER),

    /** That of Storm 3. */
    JITTER("jitter", "none", Grouping.JITTER, StormVariant.BUFFER),

    /** Ours. */
    SHARED("shared", "shared", Grouping.LOAD_AWARE, StormVariant.BUFFER),

    /** Ours. */
    BALANCED("balanced", "balanced", Grouping.LOAD_AWARE, StormVariant.BUFFER);

    /** As Storm has it by default. */
    private static final int BUFFER = 32768;

    private final String label;
    private final String technique;
    private final Grouping grouping;
    private final int receiveBuffer;

    StormVariant(String label, String technique, Grouping grouping, int receiveBuffer) {
        this.label = label;
        this.technique = technique;
        this.grouping = grouping;
        this.receiveBuffer = receiveBuffer;
    }

    @Override
    public String label() {
        return label;
    }

    String technique() {
        return technique;
    }

    Grouping grouping() {
        return grouping;
    }

    int receiveBuffer() {
        return receiveBuffer;
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
