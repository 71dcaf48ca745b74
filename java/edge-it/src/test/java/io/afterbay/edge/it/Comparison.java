package io.afterbay.edge.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.afterbay.command.flink.sql.ScriptException;
import io.afterbay.edge.plan.PlanJson;
import io.afterbay.edge.plan.PlanMaker;
import io.afterbay.edge.plan.PlanTable;
import io.afterbay.edge.program.PlanCut;
import io.afterbay.edge.run.EmbeddedFlink;
import io.afterbay.edge.run.Halves;
import io.afterbay.edge.run.PartialsMerge.Order;
import io.afterbay.edge.run.ResultRows;
import io.afterbay.edge.run.Tables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Queries as whole jobs and in halves: all whole ones in one job of Flink's, all upper halves in
 * another, and each lower half by the real program, site by site.
 */
final class Comparison {
    private final Path directory;
    private final List<Case> cases = new ArrayList<>();
    private final List<PlanJson> plans = new ArrayList<>();
    private final List<JsonNode> cuts = new ArrayList<>();
    private final List<ResultRows> whole = new ArrayList<>();
    private final List<ResultRows> halves = new ArrayList<>();

    /**
     * One query on some reports.
     *
     * @param definitions in front of the query: views
     * @param partitions the number of sites in each
     * @param order in which partitions get what sites send
     * @param local columns that are declared to be local to a site
     */
    record Case(
            String definitions,
            String query,
            Reports reports,
            List<Integer> partitions,
            Order order,
            Tampering tampering,
            List<String> local) {
        Case(String query, Reports reports, List<Integer> partitions, Order order) {
            this("", query, reports, partitions, order, file -> {}, List.of());
        }

        Case with(Tampering other) {
            return new Case(definitions, query, reports, partitions, order, other, local);
        }

        Case withLocal(String... columns) {
            List<String> local = List.of(columns);
            return new Case(definitions, query, reports, partitions, order, tampering, local);
        }

        Case behind(String views) {
            return new Case(views, query, reports, partitions, order, tampering, local);
        }
    }

    /** Does something to the file of what a site has sent. */
    @FunctionalInterface
    interface Tampering {
        void with(Path sent) throws IOException;
    }

    Comparison(Path directory) {
        this.directory = directory;
    }

    /** Plans a case; returns its number. */
    int add(Case one) {
        String script = Reports.TABLE + one.definitions + one.query;
        try {
            plans.add(PlanMaker.plan("query", script).plan());
        } catch (ScriptException e) {
            throw new IllegalArgumentException(script, e);
        }
        cases.add(one);
        return cases.size() - 1;
    }

    void run() throws Exception {
        List<PlanJson> wholeJobs = new ArrayList<>();
        List<PlanJson> upperHalves = new ArrayList<>();
        for (int i = 0; i < cases.size(); i++) {
            Path work = Files.createDirectory(directory.resolve("work-" + i));
            Path input = cases.get(i).reports.write(work.resolve("whole.ndjson"));
            wholeJobs.add(
                    plans.get(i)
                            .withSource("reports", Tables.json(input))
                            .withSinks(Tables.json(work.resolve("whole"))));
            upperHalves.add(upper(i, work));
        }
        EmbeddedFlink.run(PlanJson.together(wholeJobs));
        EmbeddedFlink.run(PlanJson.together(upperHalves));
        for (int i = 0; i < cases.size(); i++) {
            PlanTable table = plans.get(i).sinks().get(0);
            Path work = directory.resolve("work-" + i);
            whole.add(ResultRows.read(table, work.resolve("whole")));
            halves.add(ResultRows.read(table, work.resolve("halves")));
        }
    }

    private PlanJson upper(int number, Path work) throws Exception {
        Case one = cases.get(number);
        PlanCut cut = Programs.edge().cut(plans.get(number), one.local, work);
        cuts.add(cut.report());
        Halves parts = new Halves(Programs.edge(), cut, work, one.order);
        int sites = one.partitions.stream().mapToInt(Integer::intValue).sum();
        Map<String, Path> sent = parts.runSites(one.reports.write(work, sites));
        for (Path file : sent.values()) {
            one.tampering.with(file);
        }
        return parts.upper(partitions(sent, one.partitions), work.resolve("halves"));
    }

    private static List<Map<String, Path>> partitions(Map<String, Path> sent, List<Integer> sizes) {
        List<Map.Entry<String, Path>> sites = new ArrayList<>(sent.entrySet());
        List<Map<String, Path>> partitions = new ArrayList<>();
        int next = 0;
        for (int size : sizes) {
            Map<String, Path> partition = new LinkedHashMap<>();
            for (var site : sites.subList(next, next + size)) {
                partition.put(site.getKey(), site.getValue());
            }
            next += size;
            partitions.add(partition);
        }
        return partitions;
    }

    /** How the halves of a case differ from the whole; null if they do not. */
    String difference(int number) {
        return difference(number, ResultRows.ERROR_MAX);
    }

    String difference(int number, double error) {
        String difference = whole.get(number).difference(halves.get(number), error);
        Case one = cases.get(number);
        return difference == null ? null : difference + "\n" + one.definitions + one.query;
    }

    /**
     * Fails if rows of one of these cases are not those of the whole job, or are so few that this
     * says nothing.
     *
     * @param count of cases
     * @param sent what goes from sites to the cloud
     * @param rowsMin of each: there are more
     */
    void assertEqual(List<Integer> numbers, int count, String sent, int rowsMin) {
        assertThat(numbers).hasSize(count);
        for (int number : numbers) {
            assertThat(sent(number)).isEqualTo(sent);
            assertThat(rows(number)).isGreaterThan(rowsMin);
            assertThat(difference(number)).isNull();
        }
    }

    /** Rows of the whole job of a case. */
    int rows(int number) {
        return whole.get(number).size();
    }

    /** Rows of the whole job of a case, as CSV in order. */
    List<String> wholeRows(int number) {
        return whole.get(number).csv();
    }

    /** Rows of the halves of a case, as CSV in order. */
    List<String> rowsInHalves(int number) {
        return halves.get(number).csv();
    }

    /** What goes from sites to the cloud: raw, filtered, projected, partial or final. */
    String sent(int number) {
        return cuts.get(number).path("pipelines").path(0).path("rows").asText();
    }

    /** As the program tells it. */
    JsonNode cut(int number) {
        return cuts.get(number);
    }
}
