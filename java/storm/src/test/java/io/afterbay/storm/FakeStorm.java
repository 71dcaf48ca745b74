package io.afterbay.storm;

import java.util.ArrayList;
import java.util.List;
import org.apache.storm.spout.ISpoutOutputCollector;

/** Writes down what is emitted, and asks the groupings: here one of the tasks 7, 8 and 9. */
final class FakeStorm implements ISpoutOutputCollector {
    private static final List<Integer> TASKS = List.of(7, 8, 9);

    final List<Sent> sent = new ArrayList<>();

    /**
     * @param task that it went to
     * @param avoided the one of the tasks that it went around; negative for none
     */
    record Sent(String stream, List<Object> values, Object id, int task, int avoided) {}

    @Override
    public List<Integer> emit(String stream, List<Object> values, Object id) {
        int avoided = AvoidedTasks.among(TASKS);
        int task = avoided == 7 ? 8 : 7;
        sent.add(new Sent(stream, values, id, task, avoided));
        return List.of(task);
    }

    @Override
    public void emitDirect(int task, String stream, List<Object> values, Object id) {
        sent.add(new Sent(stream, values, id, task, -1));
    }

    @Override
    public long getPendingCount() {
        return 1_000;
    }

    @Override
    public void flush() {}

    @Override
    public void reportError(Throwable error) {}
}
