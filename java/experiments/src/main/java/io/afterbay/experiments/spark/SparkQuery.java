package io.afterbay.experiments.spark;

import io.afterbay.experiments.Labelled;
import io.afterbay.workloads.microbatch.StreamQuery;

/** A query of the experiment on Spark. */
enum SparkQuery implements Labelled {
    LR2(StreamQuery.LR2),
    LR4(StreamQuery.LR4),
    CM1(StreamQuery.CM1),
    CM2(StreamQuery.CM2);

    private final StreamQuery query;

    SparkQuery(StreamQuery query) {
        this.query = query;
    }

    StreamQuery query() {
        return query;
    }

    @Override
    public String label() {
        return query.label();
    }

    public static final class Converter extends Labelled.Converter<SparkQuery> {
        public Converter() {
            super(SparkQuery.class);
        }
    }
}
