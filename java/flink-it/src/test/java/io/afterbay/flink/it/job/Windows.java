package io.afterbay.flink.it.job;

import java.util.stream.LongStream;
import java.util.stream.StreamSupport;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/** What the windows of the job compute. */
final class Windows {
    private Windows() {}

    /** Kept as one number per window. */
    static final class Sum implements AggregateFunction<Posting, Long, Long> {
        private static final long serialVersionUID = 1;

        @Override
        public Long createAccumulator() {
            return 0L;
        }

        @Override
        public Long add(Posting posting, Long sum) {
            return sum + posting.amount;
        }

        @Override
        public Long getResult(Long sum) {
            return sum;
        }

        @Override
        public Long merge(Long a, Long b) {
            return a + b;
        }
    }

    /** One line per window of a sum. */
    static final class SumLine extends ProcessWindowFunction<Long, String, Integer, TimeWindow> {
        private static final long serialVersionUID = 1;

        @Override
        public void process(Integer key, Context c, Iterable<Long> sums, Collector<String> out) {
            sums.forEach(sum -> out.collect(sumLine(key, c.window().getStart(), sum)));
        }
    }

    /** One line per window of a list. */
    static final class ListLine
            extends ProcessWindowFunction<Posting, String, Integer, TimeWindow> {
        private static final long serialVersionUID = 1;

        private final String kind;

        ListLine(String kind) {
            this.kind = kind;
        }

        @Override
        public void process(
                Integer key, Context c, Iterable<Posting> postings, Collector<String> out) {
            LongStream amounts =
                    StreamSupport.stream(postings.spliterator(), false).mapToLong(p -> p.amount);
            out.collect(listLine(kind, key, c.window().getStart(), c.window().getEnd(), amounts));
        }
    }

    static String sumLine(int account, long start, long sum) {
        return "sum,%d,%d,%d".formatted(account, start, sum);
    }

    /** The digest tells any two different multisets of amounts apart, in practice. */
    static String listLine(String kind, int key, long start, long end, LongStream amounts) {
        long[] sorted = amounts.sorted().toArray();
        long digest = LongStream.of(sorted).reduce(7, (hash, amount) -> hash * 1_000_003 + amount);
        return "%s,%d,%d,%d,%d,%x".formatted(kind, key, start, end, sorted.length, digest);
    }
}
