package io.afterbay.bench;

/** A run with the figures that a test is about. */
final class RunBuilder {
    private final String backend;
    private final int pair;
    private String failure;
    private final Double[] figures = new Double[Figure.values().length];

    private RunBuilder(String backend, int pair) {
        this.backend = backend;
        this.pair = pair;
    }

    static RunBuilder run(String backend, int pair) {
        return new RunBuilder(backend, pair);
    }

    RunBuilder with(Figure figure, double value) {
        figures[figure.ordinal()] = value;
        return this;
    }

    RunBuilder failed(String reason) {
        failure = reason;
        return this;
    }

    Run build() {
        return new Run(
                backend,
                pair,
                failure,
                figures[0],
                figures[1],
                figures[2],
                figures[3],
                figures[4],
                figures[5],
                figures[6],
                figures[7],
                figures[8],
                figures[9],
                figures[10],
                figures[11],
                figures[12],
                figures[13],
                figures[14],
                figures[15],
                figures[16]);
    }
}
