package io.afterbay.replay;

import java.io.Serializable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The OffsetsInitializer that a replay starts with: those of a time, unless Kafka's retention has
 * deleted what there was. A partition begins with offset 0; one that begins later has lost records,
 * and if the oldest that is left is newer than the start, or nothing is left, some of them may have
 * been in the range.
 */
final class RetainedOffsets implements InvocationHandler, Serializable {
    private static final long serialVersionUID = 1;

    private final Object offsets;
    private final long fromMs;
    private final String source;

    /**
     * @param offsets the OffsetsInitializer of the time
     * @param source its name, for messages
     */
    RetainedOffsets(Object offsets, long fromMs, String source) {
        this.offsets = offsets;
        this.fromMs = fromMs;
        this.source = source;
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
            throws Throwable {
        Object result = call(offsets, method, arguments == null ? new Object[0] : arguments);
        if (method.getName().equals("getPartitionOffsets")
                && arguments != null
                && result instanceof Map<?, ?> starts) {
            requireRetained((Collection<?>) arguments[0], arguments[1], starts);
        }
        return result;
    }

    private void requireRetained(Collection<?> partitions, Object broker, Map<?, ?> starts)
            throws Throwable {
        Map<?, ?> oldest =
                (Map<?, ?>) ask(broker, "beginningOffsets", Collection.class, partitions);
        Map<Object, Long> atFrom = new HashMap<>();
        for (Object partition : partitions) {
            Object offset = oldest.get(partition);
            if (offset instanceof Long first && first > 0 && first.equals(starts.get(partition))) {
                atFrom.put(partition, fromMs);
            }
        }
        if (!atFrom.isEmpty()) {
            requireOld(
                    atFrom.keySet(), (Map<?, ?>) ask(broker, "offsetsForTimes", Map.class, atFrom));
        }
    }

    /**
     * @param cut partitions that have lost records
     * @param firsts the oldest that is left; of a partition that has nothing left there is none
     */
    private void requireOld(Set<?> cut, Map<?, ?> firsts) throws Throwable {
        List<String> late = new ArrayList<>();
        List<String> empty = new ArrayList<>();
        long latestMs = fromMs;
        for (Object partition : cut) {
            Object found = firsts.get(partition);
            if (found == null) {
                empty.add(partition.toString());
                continue;
            }
            long ms = (long) call(found, found.getClass().getMethod("timestamp"));
            if (ms > fromMs) {
                late.add(partition + " from " + Instant.ofEpochMilli(ms));
                latestMs = Math.max(latestMs, ms);
            }
        }
        requireNone(late, empty, latestMs);
    }

    private void requireNone(List<String> late, List<String> empty, long latestMs) {
        List<String> lost = new ArrayList<>(late);
        empty.forEach(partition -> lost.add(partition + " has nothing left"));
        if (lost.isEmpty()) {
            return;
        }
        throw new ReplayImpossibleException(
                "source '%s' is to be replayed from %s, but Kafka's retention has deleted older records of it: %s. %s"
                        .formatted(
                                source,
                                Instant.ofEpochMilli(fromMs),
                                String.join(", ", lost),
                                empty.isEmpty()
                                        ? "All partitions have what there was from %s on"
                                                .formatted(Instant.ofEpochMilli(latestMs))
                                        : "Nothing tells what was in those that have nothing left; without them, by setPartitions of the KafkaSource, the rest can be replayed from %s on"
                                                .formatted(Instant.ofEpochMilli(latestMs))));
    }

    private static Object ask(Object broker, String question, Class<?> type, Object argument)
            throws Throwable {
        for (Class<?> known : broker.getClass().getInterfaces()) {
            if (known.getSimpleName().equals("PartitionOffsetsRetriever")) {
                return call(broker, known.getMethod(question, type), argument);
            }
        }
        return call(broker, broker.getClass().getMethod(question, type), argument);
    }

    private static Object call(Object object, Method method, Object... arguments) throws Throwable {
        try {
            method.setAccessible(true);
            return method.invoke(object, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }
}
