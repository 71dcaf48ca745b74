package io.afterbay.workloads.nexmark;

import io.afterbay.workloads.run.AnswerFileSink;

/** Rows of an answer, and who counts them. */
record AnswerRows(NexmarkOptions options) implements AnswerFileSink.Rows<Answer> {
    static AnswerFileSink<Answer> sink(NexmarkOptions options) {
        return new AnswerFileSink<>(
                options.output(), options.query().header(), new AnswerRows(options));
    }

    @Override
    public AnswerFileSink.Observer<Answer> observer() {
        NexmarkStatistics statistics = NexmarkStatistics.of(options.run());
        return new AnswerFileSink.Observer<>() {
            @Override
            public void row(Answer answer) {
                statistics.row(answer, options.generator());
            }

            @Override
            public void end() {
                statistics.end();
            }
        };
    }

    @Override
    public String csv(Answer answer) {
        return answer.csv();
    }
}
