package io.afterbay.experiments.storm;

import static io.afterbay.experiments.storm.StormVariant.ALGORITHM_2;
import static io.afterbay.experiments.storm.StormVariant.BALANCED;
import static io.afterbay.experiments.storm.StormVariant.BLIND_100;
import static io.afterbay.experiments.storm.StormVariant.BLIND_20;
import static io.afterbay.experiments.storm.StormVariant.BLIND_50;
import static io.afterbay.experiments.storm.StormVariant.JITTER;
import static io.afterbay.experiments.storm.StormVariant.LOAD_AWARE;
import static io.afterbay.experiments.storm.StormVariant.LOAD_AWARE_64;
import static io.afterbay.experiments.storm.StormVariant.LOAD_AWARE_64_ANYWHERE;
import static io.afterbay.experiments.storm.StormVariant.LOAD_AWARE_ANYWHERE;
import static io.afterbay.experiments.storm.StormVariant.REPLAY;
import static io.afterbay.experiments.storm.StormVariant.REPLAY_ALWAYS;
import static io.afterbay.experiments.storm.StormVariant.SHARED;
import static io.afterbay.experiments.storm.StormVariant.SHUFFLE;

import io.afterbay.experiments.Labelled;
import io.afterbay.handover.stragglers.StragglerTopology.Limit;
import io.afterbay.handover.stragglers.StragglerTopology.Machine;
import java.util.List;

/** What there is to cure. */
enum StormCell implements Labelled {
    /** Tasks that are alike, and queues (the paper, section 5.1.2 and figures 3 and 4). */
    QUEUE(
            "queue",
            new StormShape(1, 1, List.of(2, 4, 8)),
            new StormLoad(StormService.EXPONENTIAL, List.of(30, 50, 70, 78, 90, 95)),
            List.of(SHUFFLE, LOAD_AWARE, LOAD_AWARE_64, SHARED)),

    /** One task is slow for a while, and can just do an even share. */
    SLOW(
            "slow",
            new StormShape(1, 1, List.of(5)),
            new StormLoad(StormService.EXPONENTIAL, List.of(27)).withSlowTask(),
            Groups.ONE_TASK),

    /** One task is slow for a while, and cannot do an even share. */
    OVERLOAD(
            "overload",
            new StormShape(1, 1, List.of(5)),
            new StormLoad(StormService.EXPONENTIAL, List.of(36)).withSlowTask(),
            Groups.ONE_TASK),

    /** Tasks stand still now and then (the paper, table 2). */
    REPLICATION(
            "replication",
            new StormShape(5, 3, List.of(5)),
            new StormLoad(StormService.PAUSES, List.of(30)),
            List.of(LOAD_AWARE, REPLAY, BLIND_20, BLIND_50, BLIND_100)),

    /** On both sides of what limits replays (the paper, table 4 and figures 4 and 5). */
    LIMITS(
            "limits",
            new StormShape(5, 3, List.of(5)),
            new StormLoad(StormService.PAUSES, List.of(40, 70)).withBusyProcessors(List.of(0, 50)),
            List.of(LOAD_AWARE, LOAD_AWARE_64, REPLAY, REPLAY_ALWAYS, SHARED, BALANCED)),

    /** Workers have different numbers of tasks (the paper, table 3, scenario a). */
    UNEVEN(
            "uneven",
            new StormShape(5, 3, List.of(3)).on(Machines.alike()),
            new StormLoad(StormService.EXPONENTIAL, List.of(40)),
            Groups.SEVERAL_WORKERS),

    /** Other programs run beside two of five workers (scenario b). */
    BESIDE(
            "beside",
            new StormShape(5, 3, List.of(5)).on(Machines.twoWithOthers()),
            new StormLoad(StormService.EXPONENTIAL, List.of(27)),
            Groups.SEVERAL_WORKERS),

    /** One of five workers has half a machine (scenario c). */
    MIXED(
            "mixed",
            new StormShape(5, 3, List.of(5)).on(Machines.oneHalf()),
            new StormLoad(StormService.EXPONENTIAL, List.of(27)),
            Groups.SEVERAL_WORKERS),

    /** A compressor runs beside two of three workers, in their cgroups (scenario b). */
    BESIDE_CGROUP(
            "beside-cgroup",
            new StormShape(3, 1, List.of(6)).limitedTo(Limits.twoWithCompressors()),
            Limits.work(8),
            Groups.SEVERAL_WORKERS),

    /** One of three workers has half of what the others have, by its cgroup (scenario c). */
    MIXED_CGROUP(
            "mixed-cgroup",
            new StormShape(3, 1, List.of(6)).limitedTo(Limits.oneHalf()),
            Limits.work(6),
            Groups.SEVERAL_WORKERS),

    /** The paper's table 5: 240 tuples/s of each source task, room for replays. */
    PAGE_LOAD_LOW(
            "pageload-low",
            StormShape.of(StormLayout.PAGE_LOAD, 5).in(5),
            Yahoo.low(),
            Groups.REPLAYS),
    PROCESSING_LOW(
            "processing-low",
            StormShape.of(StormLayout.PROCESSING, 5).in(5),
            Yahoo.low(),
            Groups.REPLAYS),

    /** 530 tuples/s, and all tasks of a bolt in one worker. */
    PAGE_LOAD_HIGH(
            "pageload-high", StormShape.of(StormLayout.PAGE_LOAD, 4), Yahoo.high(), Groups.QUEUES),
    PROCESSING_HIGH(
            "processing-high",
            StormShape.of(StormLayout.PROCESSING, 4),
            Yahoo.high(),
            Groups.QUEUES),

    /** 600 tuples/s, and one of five workers has half a machine. */
    PAGE_LOAD_MIXED(
            "pageload-mixed",
            StormShape.of(StormLayout.PAGE_LOAD, 5).on(Machines.oneHalf()),
            Yahoo.mixed(),
            Groups.SEVERAL_WORKERS),
    PROCESSING_MIXED(
            "processing-mixed",
            StormShape.of(StormLayout.PROCESSING, 5).on(Machines.oneHalf()),
            Yahoo.mixed(),
            Groups.SEVERAL_WORKERS);

    /**
     * Rates of the paper's topologies (section 5.2), as loads: λ of a task to μ. The paper gives μ
     * for the second only.
     */
    private static final class Yahoo {
        private static final double SERVICES_PER_S = 830;

        /** So that six bolts are not too much for half a machine. */
        private static final double SERVICES_PER_S_MIXED = 4600;

        /** λ = 240. */
        static StormLoad low() {
            return new StormLoad(StormService.PAUSES, List.of(29)).withServicesPerS(SERVICES_PER_S);
        }

        /** λ = 660. */
        static StormLoad high() {
            return new StormLoad(StormService.EXPONENTIAL, List.of(80))
                    .withServicesPerS(SERVICES_PER_S);
        }

        /** λ = 600. */
        static StormLoad mixed() {
            return new StormLoad(StormService.EXPONENTIAL, List.of(13))
                    .withServicesPerS(SERVICES_PER_S_MIXED);
        }
    }

    /** What five workers run on: two processors each, as in the paper. */
    private static final class Machines {
        private static final Machine USUAL = new Machine(2, 0);
        private static final Machine WITH_OTHERS = new Machine(2, 1);
        private static final Machine HALF = new Machine(1, 0);

        static List<Machine> alike() {
            return List.of(USUAL, USUAL, USUAL, USUAL, USUAL);
        }

        static List<Machine> twoWithOthers() {
            return List.of(WITH_OTHERS, WITH_OTHERS, USUAL, USUAL, USUAL);
        }

        static List<Machine> oneHalf() {
            return List.of(HALF, USUAL, USUAL, USUAL, USUAL);
        }
    }

    /**
     * What the kernel lets three workers have of this machine's processors. All together it is
     * little more than one: where two processors are busy, the kernel keeps threads waiting for
     * hundreds of milliseconds, whatever their limit is, and no grouping can do anything about it.
     */
    private static final class Limits {
        private static final int PERCENT = 40;

        /** So that Storm's own work is the smaller part. */
        private static final double SERVICES_PER_S = 250;

        static List<Limit> twoWithCompressors() {
            Limit both = new Limit(PERCENT, true);
            return List.of(both, both, new Limit(PERCENT, false));
        }

        static List<Limit> oneHalf() {
            Limit whole = new Limit(PERCENT, false);
            return List.of(new Limit(PERCENT / 2, false), whole, whole);
        }

        static StormLoad work(int utilisation) {
            return new StormLoad(StormService.EXPONENTIAL, List.of(utilisation))
                    .withServicesPerS(SERVICES_PER_S);
        }
    }

    /** What is compared with what. */
    private static final class Groups {
        static final List<StormVariant> REPLAYS = List.of(LOAD_AWARE, REPLAY, REPLAY_ALWAYS);
        static final List<StormVariant> QUEUES = List.of(LOAD_AWARE, LOAD_AWARE_64, SHARED);
        static final List<StormVariant> SEVERAL_WORKERS =
                List.of(
                        SHUFFLE,
                        LOAD_AWARE,
                        LOAD_AWARE_ANYWHERE,
                        LOAD_AWARE_64,
                        LOAD_AWARE_64_ANYWHERE,
                        ALGORITHM_2,
                        JITTER,
                        BALANCED);
        static final List<StormVariant> ONE_TASK =
                List.of(SHUFFLE, LOAD_AWARE, LOAD_AWARE_64, ALGORITHM_2, JITTER, SHARED, BALANCED);
    }

    private final String label;
    private final StormShape shape;
    private final StormLoad load;
    private final List<StormVariant> variants;

    StormCell(String label, StormShape shape, StormLoad load, List<StormVariant> variants) {
        this.label = label;
        this.shape = shape;
        this.load = load;
        this.variants = variants;
    }

    @Override
    public String label() {
        return label;
    }

    StormShape shape() {
        return shape;
    }

    StormLoad load() {
        return load;
    }

    /** Usual ones. */
    List<StormVariant> variants() {
        return variants;
    }

    /** The one of that label; see {@link Labelled#named(Class, String)}. */
    static StormCell named(String label) {
        return Labelled.named(StormCell.class, label);
    }

    public static final class Converter extends Labelled.Converter<StormCell> {
        public Converter() {
            super(StormCell.class);
        }
    }
}
