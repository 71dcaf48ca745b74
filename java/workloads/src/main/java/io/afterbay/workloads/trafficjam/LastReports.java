package io.afterbay.workloads.trafficjam;

import java.util.Arrays;
import java.util.Objects;
import java.util.SplittableRandom;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;

/**
 * First stage, by car: keeps the car's last report with some ballast, as ShadowSync's application
 * does, or those of its last seconds, and passes the report on. The state is read and written with
 * every report, and what is read is checked against what must have been written: a backend that
 * mixes up its state fails the job.
 */
public final class LastReports extends KeyedProcessFunction<String, Report, Report> {
    private static final long serialVersionUID = 1;
    private static final int WORK_STEPS = 1000;

    /** Of a linear congruential generator (Knuth, TAOCP 2, 3.3.4). */
    private static final long MULTIPLIER = 6364136223846793005L;

    private static final long INCREMENT = 1442695040888963407L;
    private static final byte[] NO_PAYLOAD = {};

    /** The state of a car. */
    public record Car(Report lastReport, byte[] payload) {}

    /** Where a report finds the one that it replaces. */
    private interface Place {
        @Nullable Car get(Report of) throws Exception;

        void set(Report of, Car car) throws Exception;
    }

    private final int payloadBytes;
    private final int history;
    private final int work;
    private transient @Nullable Place place;

    /** So that the work must be done. */
    private transient volatile long workDone;

    private LastReports(int payloadBytes, int history, int work) {
        this.payloadBytes = payloadBytes;
        this.history = history;
        this.work = work;
    }

    static LastReports of(TrafficJamOptions options) {
        return new LastReports(options.payloadBytes(), options.history(), options.work());
    }

    @Override
    public void open(OpenContext context) {
        place = history == 1 ? last() : track();
    }

    private Place last() {
        ValueState<Car> cars =
                getRuntimeContext().getState(new ValueStateDescriptor<>("car", Car.class));
        return new Place() {
            @Override
            public @Nullable Car get(Report of) throws Exception {
                return cars.value();
            }

            @Override
            public void set(Report of, Car car) throws Exception {
                cars.update(car);
            }
        };
    }

    /** One place for each of so many seconds, again and again. */
    private Place track() {
        MapState<Integer, Car> cars =
                getRuntimeContext()
                        .getMapState(new MapStateDescriptor<>("track", Integer.class, Car.class));
        return new Place() {
            @Override
            public @Nullable Car get(Report of) throws Exception {
                return cars.get(second(of));
            }

            @Override
            public void set(Report of, Car car) throws Exception {
                cars.put(second(of), car);
            }
        };
    }

    private int second(Report report) {
        return (int) (report.timeS() % history);
    }

    @Override
    public void processElement(Report report, Context context, Collector<Report> out)
            throws Exception {
        Place own = Objects.requireNonNull(place);
        Car before = own.get(report);
        if (before != null) {
            check(before, context.getCurrentKey());
        }
        work(report);
        own.set(report, new Car(report, payload(report)));
        out.collect(report);
    }

    private void check(Car car, String key) {
        Report last = car.lastReport();
        if (!last.car().equals(key) || !Arrays.equals(car.payload(), payload(last))) {
            throw new IllegalStateException(
                    "the state of car "
                            + key
                            + " is wrong: it holds "
                            + last
                            + "; the state backend returned what was never written");
        }
    }

    /**
     * What an application computes of a report before it keeps it: takes a processor, no memory.
     * Each step needs the one before, so that it takes as long however it is compiled.
     */
    private void work(Report report) {
        long number = report.timeS();
        for (int step = 0; step < WORK_STEPS * work; step++) {
            number = number * MULTIPLIER + INCREMENT;
        }
        workDone = number;
    }

    /**
     * Ballast that does not compress, differs from report to report, and follows from the report.
     */
    private byte[] payload(Report report) {
        if (payloadBytes == 0) {
            return NO_PAYLOAD;
        }
        byte[] payload = new byte[payloadBytes];
        long seed = 31 * (31 * report.timeS() + report.speedDms()) + report.car().hashCode();
        new SplittableRandom(seed).nextBytes(payload);
        return payload;
    }
}
