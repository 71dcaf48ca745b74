package io.afterbay.flink.it.job;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

/** What {@link LedgerJob} must output, computed from the journal by plain loops. */
public final class LedgerReference {
    private final List<Posting> postings = new ArrayList<>();
    private final Consumer<String> lines;

    private LedgerReference(Journal journal, Consumer<String> lines) {
        this.lines = lines;
        for (int p = 0; p < journal.partitions(); p++) {
            for (int n = 0; n < journal.postings(); n++) {
                postings.add(journal.posting(p, n));
            }
        }
    }

    /** All lines, in no particular order. */
    public static List<String> lines(Journal journal) {
        List<String> lines = new ArrayList<>();
        lines(journal, Pages.NONE, lines::add);
        return lines;
    }

    /** Hands over all lines, in no particular order, of a job with an archive. */
    public static void lines(Journal journal, Pages pages, Consumer<String> lines) {
        LedgerReference reference = new LedgerReference(journal, lines);
        reference.by(p -> p.account).forEach(reference::account);
        reference.by(p -> p.customer).forEach(reference::sessions);
        if (pages.perCustomer() > 0) {
            reference.by(p -> p.customer).forEach((c, own) -> reference.archive(pages, c, own));
        }
    }

    private Map<Integer, List<Posting>> by(ToIntFunction<Posting> key) {
        return postings.stream().collect(Collectors.groupingBy(key::applyAsInt));
    }

    private void account(int account, List<Posting> own) {
        windows(own, LedgerJob.TUMBLING_MILLIS, LedgerJob.TUMBLING_MILLIS)
                .forEach((start, in) -> lines.accept(Windows.sumLine(account, start, sum(in))));
        windows(own, LedgerJob.SLIDING_MILLIS, LedgerJob.SLIDE_MILLIS)
                .forEach(
                        (start, in) ->
                                lines.accept(
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
                            lines.accept(Accounts.line(account, end, in.size(), balance[0]));
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
        lines.accept(list("session", customer, start, length, session));
    }

    private void archive(Pages layout, int customer, List<Posting> own) {
        Map<Integer, byte[]> pages = new TreeMap<>();
        for (Posting posting : own) {
            byte[] page =
                    pages.computeIfAbsent(
                            layout.page(posting), number -> layout.empty(customer, number));
            Pages.add(posting, page);
        }
        long digest =
                pages.entrySet().stream()
                        .mapToLong(page -> Pages.digest(page.getKey(), page.getValue()))
                        .sum();
        lines.accept(Pages.line(customer, pages.size(), digest));
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
