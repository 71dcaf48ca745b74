package io.afterbay.doctor;

import io.afterbay.doctor.reading.ColumnFamilyLog;
import io.afterbay.doctor.reading.Engine;
import io.afterbay.doctor.reading.InstanceLog;
import io.afterbay.doctor.reading.InstanceName;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.function.IntUnaryOperator;

/** Logs of instances that flush at each checkpoint, by rule instead of by a database. */
public final class Synthetic {
    public static final long MS = 1000;
    public static final long SECOND = 1000 * MS;
    public static final long START = 1_763_866_800L * SECOND;
    public static final long PERIOD = 8 * SECOND;

    private int rounds = 40;
    private IntUnaryOperator trigger = i -> 4;
    private IntUnaryOperator filesBefore = i -> 0;
    private IntToLongFunction shift = i -> 0;
    private IntUnaryOperator stage = i -> 0;
    private int families = 1;
    private Engine engine = Engine.FLINK;
    private long compactionMicros = 900 * MS;
    private long stepMicros = MS;

    public Synthetic rounds(int number) {
        rounds = number;
        return this;
    }

    public Synthetic triggers(IntUnaryOperator ofInstance) {
        trigger = ofInstance;
        return this;
    }

    /** How many files of level 0 an instance has at the start. */
    public Synthetic filesBefore(IntUnaryOperator ofInstance) {
        filesBefore = ofInstance;
        return this;
    }

    /** How much later everything of an instance happens, in microseconds. */
    public Synthetic shifted(IntToLongFunction ofInstance) {
        shift = ofInstance;
        return this;
    }

    public Synthetic stages(IntUnaryOperator ofInstance) {
        stage = ofInstance;
        return this;
    }

    /** How many column families each instance has, which all do the same. */
    public Synthetic families(int number) {
        families = number;
        return this;
    }

    public Synthetic engine(Engine value) {
        engine = value;
        return this;
    }

    public Synthetic compactionsOf(long micros) {
        compactionMicros = micros;
        return this;
    }

    /** After how long the next instance flushes; one flush takes 50 ms. */
    public Synthetic flushesEvery(long micros) {
        stepMicros = micros;
        return this;
    }

    public List<InstanceLog> instances(int number) {
        List<InstanceLog> result = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            result.add(instance(i, number));
        }
        return result;
    }

    private InstanceLog instance(int i, int number) {
        String stageName = "stage-" + stage.applyAsInt(i);
        InstanceLog log =
                new InstanceLog(
                        new InstanceName(engine, stageName, (i + 1) + "/" + number, "key-" + i));
        for (int f = 0; f < families; f++) {
            fill(log.columnFamily("state-" + f), i);
        }
        return log;
    }

    private void fill(ColumnFamilyLog family, int i) {
        family.setTrigger(trigger.applyAsInt(i));
        int files = filesBefore.applyAsInt(i);
        for (int round = 0; round < rounds; round++) {
            long flush = START + round * PERIOD + shift.applyAsLong(i) + i * stepMicros;
            family.addFlush(flush, flush + 50 * MS, "Get Live Files");
            if (++files >= trigger.applyAsInt(i)) {
                family.addCompaction(flush + 60 * MS, flush + 60 * MS + compactionMicros, files);
                files = 0;
            }
        }
    }
}
