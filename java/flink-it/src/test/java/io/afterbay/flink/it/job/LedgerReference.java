package io.afterbay.flink.it.job;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

/** What {@link LedgerJob} must output, computed from the journal by plain loops. */
public final class LedgerReference {
    private final List<Posting> postings = new ArrayList<>();
    private final List<String> lines = new ArrayList<>();

    private LedgerReference(Journal journal) {
        for (int p = 0; p < journal.partitions(); p++) {
            for (int n = 0; n < journal.postings(); n++) {
                postings.add(journal.posting(p, n));
            }
        }
    }

    /** All lines, in no particular order. */
    public static List<String> lines(Journal journal) {
        LedgerReference reference = new LedgerReference(journal);
        reference.by(p -> p.account).forEach(reference::account);
        reference.by(p -> p.customer).forEach(reference::sessions);
        return reference.lines;
    }

    private Map<Integer, List<Posting>> by(ToIntFunction<Posting> key) {
        return postings.stream().collect(Collectors.groupingBy(key::applyAsInt));
    }

    private void account(int account, List<Posting> own) {
        windows(own, LedgerJob.TUMBLING_MILLIS, LedgerJob.TUMBLING_MILLIS)
                .forEach((start, in) -> lines.add(Windows.sumLine(account, start, sum(in))));
        windows(own, LedgerJob.SLIDING_MILLIS, LedgerJob.SLIDE_MILLIS)
                .forEach(
                        (start, in) ->
                                lines.add(
                                        list(
                                                "list",
                                                account,
                                                start,
                                                LedgerJob.SLIDING_MILLIS,
                                                in)));
        long[] balance = new long[1];
        windows(own, Accounts.PERIOD_MILLIS, Accounts.PERIOD_MILLIS)
                .forEach(
                        (start, in) -> {
                            balance[0] += sum(in);
                            long end = start + Accounts.PERIOD_MILLIS;
                            lines.add(Accounts.line(account, end, in.size(), balance[0]));
                        });
    }

    /** Postings by the start of each window that holds them, in order of time. */
    private static TreeMap<Long, List<Posting>> windows(
            List<Posting> postings, long size, long slide) {
        TreeMap<Long, List<Posting>> windows = new TreeMap<>();
        for (Posting posting : postings) {
            long last = Math.floorDiv(posting.time, slide) * slide;
            for (long start = last; start > posting.time - size; start -= slide) {
                windows.computeIfAbsent(start, s -> new ArrayList<>()).add(posting);
            }
        }
        return windows;
    }

    /** Two postings share a session if their gaps overlap or touch. */
    private void sessions(int customer, List<Posting> own) {
        List<Posting> session = new ArrayList<>();
        List<Posting> sorted =
                own.stream().sorted(Comparator.comparingLong((Posting p) -> p.time)).toList();
        for (Posting posting : sorted) {
            if (!session.isEmpty()
                    && posting.time > session.get(session.size() - 1).time + LedgerJob.GAP_MILLIS) {
                addSession(customer, session);
                session.clear();
            }
            session.add(posting);
        }
        addSession(customer, session);
    }

    private void addSession(int customer, List<Posting> session) {
        long start = session.get(0).time;
        long length = session.get(session.size() - 1).time - start + LedgerJob.GAP_MILLIS;
        lines.add(list("session", customer, start, length, session));
    }

    private static long sum(List<Posting> postings) {
        return postings.stream().mapToLong(p -> p.amount).sum();
    }

    private static String list(
            String kind, int key, long start, long length, List<Posting> postings) {
        return Windows.listLine(
                kind, key, start, start + length, postings.stream().mapToLong(p -> p.amount));
    }
}
