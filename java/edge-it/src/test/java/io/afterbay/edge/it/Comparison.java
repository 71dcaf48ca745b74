package io.afterbay.edge.it;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Queries as whole jobs and in halves: all whole ones in one job of Flink's, all halves in one. */
final class Comparison {
    private final Path directory;
    private final Reports reports;
    private final List<Query> queries = new ArrayList<>();
    private int rows;

    private record Query(String sql, PlanJson plan, List<Integer> partitions) {}

    Comparison(Path directory, Reports reports) {
        this.directory = directory;
        this.reports = reports;
    }

    /**
     * @param partitions the number of sites in each
     */
    void add(String sql, List<Integer> partitions) {
        try {
            PlanJson plan = PlanMaker.plan("query", Reports.TABLE + sql).plan();
            queries.add(new Query(sql, plan, partitions));
        } catch (ScriptException e) {
            throw new IllegalArgumentException(sql, e);
        }
    }

    /** Runs all; returns how the halves of each differ from the whole, if they do. */
    List<String> run(Order order) throws Exception {
        Path input = reports.write(directory.resolve("reports.ndjson"));
        List<PlanJson> whole = new ArrayList<>();
        List<PlanJson> halves = new ArrayList<>();
        for (int i = 0; i < queries.size(); i++) {
            Query query = queries.get(i);
            whole.add(
                    query.plan
                            .withSource("reports", Tables.json(input))
                            .withSinks(Tables.json(directory.resolve("whole-" + i))));
            halves.add(upper(query, i, order));
        }
        EmbeddedFlink.run(PlanJson.together(whole));
        EmbeddedFlink.run(PlanJson.together(halves));
        List<String> differences = new ArrayList<>();
        for (int i = 0; i < queries.size(); i++) {
            String difference = difference(i);
            if (difference != null) {
                differences.add(difference + "\n" + queries.get(i).sql);
            }
        }
        return differences;
    }

    private PlanJson upper(Query query, int number, Order order) throws Exception {
        Path work = Files.createDirectory(directory.resolve("work-" + number));
        PlanCut cut = Programs.edge().cut(query.plan, work);
        assertThat(cut.hasLower()).as("%s of %s", cut.report(), query.sql).isTrue();
        Halves halves = new Halves(Programs.edge(), cut, work, order);
        int sites = query.partitions.stream().mapToInt(Integer::intValue).sum();
        Map<String, Path> sent = halves.runSites(reports.write(work, sites));
        return halves.upper(
                partitions(sent, query.partitions), directory.resolve("halves-" + number));
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

    private String difference(int number) throws Exception {
        PlanTable table = queries.get(number).plan.sinks().get(0);
        ResultRows whole = ResultRows.read(table, directory.resolve("whole-" + number));
        rows += whole.size();
        return whole.difference(ResultRows.read(table, directory.resolve("halves-" + number)));
    }

    /** Of all whole jobs. */
    int rows() {
        return rows;
    }
}
