package io.afterbay.storm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.testing.TestForm;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;
import org.apache.storm.spout.ISpout;
import org.apache.storm.spout.ISpoutOutputCollector;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.TopologyContext;

/**
 * Acks, fails, time-outs and ends that are told twice, in any order: each tuple of the spout ends
 * once, and fails only if all of its incarnations have.
 */
class ReplayedTaskModelTest {
    private static final int CALLS = 400;
    private static final int CONTROLS = 20;

    /** What is tested, or a control. */
    private interface Replayer {
        void emit(int number, Object id);

        void nextTuple();

        void ack(Object id);

        void fail(Object id);

        /** What it keeps of emissions that have not ended. */
        default int underWay() {
            return 0;
        }
    }

    private interface Maker {
        Replayer of(ISpout spout, ISpoutOutputCollector storm, LateAfter10Ms late);
    }

    /** Equal to every third one, but another one. */
    private static final class Id {
        private final int number;

        Id(int number) {
            this.number = number;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Id id && id.number % 3 == number % 3;
        }

        @Override
        public int hashCode() {
            return number % 3;
        }
    }

    private static final class Tuple {
        private int incarnations;
        private int open;
        private int acks;
        private int fails;
        private int acksExpected;
        private int failsExpected;

        boolean hasEnded() {
            return acksExpected + failsExpected > 0;
        }
    }

    private static final class Run implements ISpout, ISpoutOutputCollector {
        private final SplittableRandom random;
        private final LateAfter10Ms late = new LateAfter10Ms();
        private final Replayer replayer;
        private final List<Tuple> tuples = new ArrayList<>();
        private final Map<Object, Integer> pending = new HashMap<>();
        private final List<Object> ended = new ArrayList<>();
        private int replays;

        Run(long seed, Maker maker) {
            random = new SplittableRandom(seed);
            replayer = maker.of(this, this, late);
        }

        int run() {
            for (int i = 0; i < CALLS; i++) {
                call();
                check();
            }
            new ArrayList<>(pending.keySet()).forEach(this::end);
            check();
            assertThat(tuples).allMatch(Tuple::hasEnded);
            assertThat(replayer.underWay()).isZero();
            return replays;
        }

        private void call() {
            switch (random.nextInt(6)) {
                case 0, 1 -> replayer.nextTuple();
                case 2 -> late.advance(random.nextInt(8));
                case 3, 4 -> {
                    if (!pending.isEmpty()) {
                        end(any(new ArrayList<>(pending.keySet())));
                    }
                }
                default -> {
                    if (!ended.isEmpty()) {
                        tell(any(ended));
                    }
                }
            }
        }

        private Object any(List<Object> ids) {
            return ids.get(random.nextInt(ids.size()));
        }

        /** One that Storm has had an end of already. */
        private void tell(Object id) {
            if (random.nextBoolean()) {
                replayer.ack(id);
            } else {
                replayer.fail(id);
            }
        }

        private void end(Object id) {
            Tuple tuple = tuples.get(pending.remove(id));
            tuple.open--;
            ended.add(id);
            if (random.nextBoolean()) {
                tuple.acksExpected += tuple.hasEnded() ? 0 : 1;
                replayer.ack(id);
            } else {
                tuple.failsExpected += tuple.hasEnded() || tuple.open > 0 ? 0 : 1;
                replayer.fail(id);
            }
        }

        private void check() {
            for (Tuple tuple : tuples) {
                assertThat(tuple.acks).as("acks").isEqualTo(tuple.acksExpected);
                assertThat(tuple.fails).as("fails").isEqualTo(tuple.failsExpected);
                assertThat(tuple.incarnations).isBetween(1, 2);
            }
        }

        // The spout.

        @Override
        public void nextTuple() {
            int number = tuples.size();
            tuples.add(new Tuple());
            replayer.emit(number, new Id(number));
        }

        @Override
        public void ack(Object id) {
            tuples.get(((Id) id).number).acks++;
        }

        @Override
        public void fail(Object id) {
            tuples.get(((Id) id).number).fails++;
        }

        @Override
        public void open(
                Map<String, Object> conf,
                TopologyContext context,
                SpoutOutputCollector collector) {}

        @Override
        public void close() {}

        @Override
        public void activate() {}

        @Override
        public void deactivate() {}

        // Storm.

        @Override
        public List<Integer> emit(String stream, List<Object> values, Object id) {
            int number = (Integer) values.get(0);
            Tuple tuple = tuples.get(number);
            assertThat(tuple.hasEnded()).as("it has ended").isFalse();
            assertThat(pending.put(id, number)).as("an id of its own").isNull();
            tuple.incarnations++;
            tuple.open++;
            replays += tuple.incarnations > 1 ? 1 : 0;
            return List.of(random.nextInt(5));
        }

        @Override
        public void emitDirect(int task, String stream, List<Object> values, Object id) {}

        @Override
        public long getPendingCount() {
            return pending.size();
        }

        @Override
        public void flush() {}

        @Override
        public void reportError(Throwable error) {}
    }

    private static Replayer real(ISpout spout, ISpoutOutputCollector storm, LateAfter10Ms late) {
        late.fill();
        ReplayedTask task = new ReplayedTask("events", spout, storm, late.replays, 0);
        return new Replayer() {
            @Override
            public void emit(int number, Object id) {
                task.emit("default", List.of(number), id);
            }

            @Override
            public void nextTuple() {
                task.nextTuple();
            }

            @Override
            public void ack(Object id) {
                task.ack(id);
            }

            @Override
            public void fail(Object id) {
                task.fail(id);
            }

            @Override
            public int underWay() {
                return task.underWay();
            }
        };
    }

    /** Of a control. */
    private enum Mistake {
        NONE,
        TELLS_ALL_ACKS,
        FAILS_WITH_THE_FIRST
    }

    /** A control: emits each tuple twice at once, and makes one mistake. */
    private static final class Careless implements Replayer {
        private final ISpout spout;
        private final ISpoutOutputCollector storm;
        private final Mistake mistake;
        private final Map<Object, Both> pending = new HashMap<>();
        private int last;

        private static final class Both {
            private final Object id;
            private int open = 2;
            private boolean hasEnded;

            Both(Object id) {
                this.id = id;
            }
        }

        Careless(ISpout spout, ISpoutOutputCollector storm, Mistake mistake) {
            this.spout = spout;
            this.storm = storm;
            this.mistake = mistake;
        }

        @Override
        public void emit(int number, Object id) {
            Both both = new Both(id);
            for (int i = 0; i < 2; i++) {
                pending.put(++last, both);
                storm.emit("default", List.of(number), last);
            }
        }

        @Override
        public void nextTuple() {
            spout.nextTuple();
        }

        @Override
        public void ack(Object id) {
            Both both = pending.remove(id);
            if (both != null) {
                both.open--;
                if (!both.hasEnded || mistake == Mistake.TELLS_ALL_ACKS) {
                    both.hasEnded = true;
                    spout.ack(both.id);
                }
            }
        }

        @Override
        public void fail(Object id) {
            Both both = pending.remove(id);
            if (both != null) {
                both.open--;
                boolean isLast = both.open == 0 || mistake == Mistake.FAILS_WITH_THE_FIRST;
                if (!both.hasEnded && isLast) {
                    both.hasEnded = true;
                    spout.fail(both.id);
                }
            }
        }
    }

    @Property(tries = TestForm.STRAGGLER_MODEL_TRIES, seed = TestForm.SEED)
    void eachTupleEndsOnce(@ForAll long seed) {
        new Run(seed, ReplayedTaskModelTest::real).run();
    }

    @Property(tries = TestForm.STRAGGLER_MODEL_TRIES_LONG)
    @AddLifecycleHook(value = OnlyInLongForm.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
    void eachTupleEndsOnceInManyTries(@ForAll long seed) {
        new Run(seed, ReplayedTaskModelTest::real).run();
    }

    /** Else nothing would have been tested. */
    @Example
    void runsReplay() {
        int replays = 0;
        for (int seed = 0; seed < CONTROLS; seed++) {
            replays += new Run(seed, ReplayedTaskModelTest::real).run();
        }
        assertThat(replays).isGreaterThan(5 * CONTROLS);
    }

    @Example
    void whoAcksTwiceIsCaught() {
        for (int seed = 0; seed < CONTROLS; seed++) {
            assertThatThrownBy(careless(seed, Mistake.TELLS_ALL_ACKS)::run)
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("[acks]");
        }
    }

    @Example
    void whoFailsWithTheFirstIncarnationIsCaught() {
        for (int seed = 0; seed < CONTROLS; seed++) {
            assertThatThrownBy(careless(seed, Mistake.FAILS_WITH_THE_FIRST)::run)
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("[fails]");
        }
    }

    /** What is caught is the mistake. */
    @Example
    void whoMakesNoMistakeIsNotCaught() {
        for (int seed = 0; seed < CONTROLS; seed++) {
            assertThat(careless(seed, Mistake.NONE).run()).isPositive();
        }
    }

    private static Run careless(long seed, Mistake mistake) {
        return new Run(seed, (spout, storm, late) -> new Careless(spout, storm, mistake));
    }
}
